//! Any bytes: no panic, one encoding per message, and memory bounded by the number of bytes. Replays the corpus of the
//! fuzz target, then tries random bytes.
#![allow(clippy::disallowed_methods, reason = "the corpus is files")]

mod messages;

use std::collections::BTreeSet;
use std::fmt::Debug;

use kinesphere_wire::operator::{FromOperator, ToOperator};
use kinesphere_wire::{DecodeError, ToClient, ToNode, ToPeer, ToServer};
use proptest::prelude::*;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/decode");

/// The most bytes of memory per byte of a message: a handle takes one byte on the wire and two in memory, a body takes
/// seven and forty.
const MEMORY_PER_BYTE: u64 = 16;

/// Whether these bytes are a message of any family. Each family must follow the rules for all bytes.
fn is_a_message(bytes: &[u8]) -> bool {
    let families = [
        is_read(bytes, ToServer::decode, ToServer::encode),
        is_read(bytes, ToClient::decode, ToClient::encode),
        is_read(bytes, ToPeer::decode, ToPeer::encode),
        is_read(bytes, ToNode::decode, ToNode::encode),
        is_read(bytes, FromOperator::decode, FromOperator::encode),
        is_read(bytes, ToOperator::decode, ToOperator::encode),
    ];
    families.contains(&true)
}

/// Whether one family reads these bytes: then it writes the same ones, within the memory that is allowed.
fn is_read<Message: Debug>(
    bytes: &[u8],
    decode: fn(&[u8]) -> Result<Message, DecodeError>,
    encode: fn(&Message) -> Vec<u8>,
) -> bool {
    let mut read = None;
    let info = allocation_counter::measure(|| read = decode(bytes).ok());
    let allowed = MEMORY_PER_BYTE * bytes.len() as u64;
    assert!(info.bytes_max <= allowed, "{} bytes of memory for {} on the wire", info.bytes_max, bytes.len());
    if let Some(message) = &read {
        assert_eq!(encode(message), bytes, "{message:?} has two encodings");
    }
    read.is_some()
}

/// All golden vectors.
fn samples() -> Vec<Vec<u8>> {
    let up = messages::to_server().into_iter().map(|(_, message)| message.encode());
    let down = messages::to_client().into_iter().map(|(_, message)| message.encode());
    let peers = messages::to_peer().into_iter().map(|(_, message)| message.encode());
    let nodes = messages::to_node().into_iter().map(|(_, message)| message.encode());
    let from_operators = messages::from_operator().into_iter().map(|(_, message)| message.encode());
    let to_operators = messages::to_operator().into_iter().map(|(_, message)| message.encode());
    up.chain(down).chain(peers).chain(nodes).chain(from_operators).chain(to_operators).collect()
}

/// The first byte of every sample.
fn kinds() -> BTreeSet<u8> {
    samples().iter().map(|bytes| bytes[0]).collect()
}

#[test]
fn the_corpus_is_replayed() {
    // Headings are worked out once, at their first use.
    kinesphere_wire::pose::heading(1);
    let mut missing = kinds();
    for entry in std::fs::read_dir(CORPUS).expect("the corpus is in fuzz/corpus/decode") {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        if is_a_message(&bytes) {
            missing.remove(&bytes[0]);
        }
    }
    assert!(missing.is_empty(), "no file of the corpus is a message of these kinds: {missing:x?}");
}

#[test]
fn no_message_can_be_cut_short_or_go_on() {
    kinesphere_wire::pose::heading(1);
    for bytes in samples() {
        assert!(is_a_message(&bytes), "{bytes:x?}");
        // The bodies of a state have no count: they go on to the end of the datagram.
        let is_uncounted = bytes[0] == kinesphere_wire::kind::STATE;
        for end in 0..bytes.len() {
            let is_read = is_a_message(&bytes[..end]);
            assert!(!is_read || is_uncounted, "{bytes:x?}, and only {end} of them");
        }
        for more in [0, 1, 0xff] {
            let longer: Vec<u8> = bytes.iter().copied().chain([more]).collect();
            assert!(!is_a_message(&longer), "{longer:x?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn random_bytes_obey(
        mut bytes in prop::collection::vec(any::<u8>(), 1..300),
        known in any::<prop::sample::Index>(),
    ) {
        kinesphere_wire::pose::heading(1);
        is_a_message(&bytes);
        let kinds: Vec<u8> = kinds().into_iter().collect();
        bytes[0] = kinds[known.index(kinds.len())];
        is_a_message(&bytes);
    }

    #[test]
    fn damaged_messages_obey(
        which in any::<prop::sample::Index>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        end in any::<prop::sample::Index>(),
    ) {
        kinesphere_wire::pose::heading(1);
        let samples = samples();
        let mut bytes = samples[which.index(samples.len())].clone();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        is_a_message(&bytes);
        bytes.truncate(end.index(bytes.len()));
        is_a_message(&bytes);
    }
}
