//! Whatever arrives: no panic, one encoding per message, and no more memory than the bytes allow. The corpus of the fuzz
//! target is replayed, and random bytes are tried after it.
#![allow(clippy::disallowed_methods, reason = "the corpus is files")]

mod messages;

use proptest::prelude::*;
use wire::operator::{FromOperator, ToOperator};
use wire::{ToClient, ToNode, ToPeer, ToServer};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/decode");

/// Bytes of memory per byte of a message, at most: a handle takes one byte on the wire and two in memory, a body seven
/// and forty.
const MEMORY_PER_BYTE: u64 = 16;

fn obeys(bytes: &[u8]) {
    let mut decoded = (None, None, None, None);
    let info = allocation_counter::measure(|| {
        decoded = (
            ToServer::decode(bytes).ok(),
            ToClient::decode(bytes).ok(),
            ToPeer::decode(bytes).ok(),
            ToNode::decode(bytes).ok(),
        );
    });
    let allowed = MEMORY_PER_BYTE * bytes.len() as u64;
    assert!(info.bytes_max <= allowed, "{} bytes of memory for {} on the wire", info.bytes_max, bytes.len());
    if let Some(message) = decoded.0 {
        assert_eq!(message.encode(), bytes, "{message:?} has two encodings");
    }
    if let Some(message) = decoded.1 {
        assert_eq!(message.encode(), bytes, "{message:?} has two encodings");
    }
    if let Some(message) = decoded.2 {
        assert_eq!(message.encode(), bytes, "{message:?} has two encodings");
    }
    if let Some(message) = decoded.3 {
        assert_eq!(message.encode(), bytes, "{message:?} has two encodings");
    }
}

/// The same of the operator's stream.
fn obeys_for_operators(bytes: &[u8]) {
    let mut decoded = (None, None);
    let info =
        allocation_counter::measure(|| decoded = (FromOperator::decode(bytes).ok(), ToOperator::decode(bytes).ok()));
    let allowed = MEMORY_PER_BYTE * bytes.len() as u64;
    assert!(info.bytes_max <= allowed, "{} bytes of memory for {} on the wire", info.bytes_max, bytes.len());
    if let Some(message) = decoded.0 {
        assert_eq!(message.encode(), bytes, "{message:?} has two encodings");
    }
    if let Some(message) = decoded.1 {
        assert_eq!(message.encode(), bytes, "{message:?} has two encodings");
    }
}

/// All vectors, so that bytes near them can be tried.
fn samples() -> Vec<Vec<u8>> {
    let up = messages::to_server().into_iter().map(|(_, message)| message.encode());
    let down = messages::to_client().into_iter().map(|(_, message)| message.encode());
    let peers = messages::to_peer().into_iter().map(|(_, message)| message.encode());
    let nodes = messages::to_node().into_iter().map(|(_, message)| message.encode());
    up.chain(down).chain(peers).chain(nodes).collect()
}

#[test]
fn the_corpus_is_replayed() {
    // Headings are worked out once, at their first use.
    wire::pose::heading(1);
    let mut replayed = 0;
    for entry in std::fs::read_dir(CORPUS).expect("the corpus is in fuzz/corpus/decode") {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        obeys(&bytes);
        obeys_for_operators(&bytes);
        replayed += 1;
    }
    assert!(replayed >= 20, "{replayed} files");
}

#[test]
fn no_message_can_be_cut_short_or_go_on() {
    wire::pose::heading(1);
    for bytes in samples() {
        obeys(&bytes);
        for end in 0..bytes.len() {
            obeys(&bytes[..end]);
        }
        for more in [0, 1, 0xff] {
            let longer: Vec<u8> = bytes.iter().copied().chain([more]).collect();
            let is_refused = ToServer::decode(&longer).is_err() && ToClient::decode(&longer).is_err();
            assert!(is_refused && ToPeer::decode(&longer).is_err(), "{longer:x?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn damaged_messages_of_operators_obey(which in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        wire::pose::heading(1);
        let up = messages::from_operator().into_iter().map(|(_, message)| message.encode());
        let all: Vec<Vec<u8>> = up.chain(messages::to_operator().into_iter().map(|(_, message)| message.encode())).collect();
        let mut bytes = all[which.index(all.len())].clone();
        obeys_for_operators(&bytes);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        obeys_for_operators(&bytes);
        bytes.truncate(at.max(1));
        obeys_for_operators(&bytes);
    }

    #[test]
    fn random_bytes_obey(mut bytes in prop::collection::vec(any::<u8>(), 1..300), known in any::<prop::sample::Index>()) {
        wire::pose::heading(1);
        obeys(&bytes);
        let kinds = [1, 2, 3, 4, 5, 6, 7, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x50, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86];
        bytes[0] = kinds[known.index(kinds.len())];
        obeys(&bytes);
    }

    #[test]
    fn damaged_messages_obey(
        which in any::<prop::sample::Index>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        wire::pose::heading(1);
        let samples = samples();
        let mut bytes = samples[which.index(samples.len())].clone();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        obeys(&bytes);
    }
}
