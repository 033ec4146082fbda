//! The keys under which nodes publish. They are few and fixed: a node that joins or leaves changes only its own.

use crate::link::{Channel, NodeName};

/// The liveliness token of this node.
pub(super) fn alive(world: &NodeName, node: &NodeName) -> String {
    format!("ks/{world}/live/{node}")
}

pub(super) fn all_tokens(world: &NodeName) -> String {
    format!("ks/{world}/live/*")
}

/// What one node sends to another.
pub(super) fn batch(world: &NodeName, from: &NodeName, to: &NodeName, channel: Channel) -> String {
    let last = match channel {
        Channel::Datagram => "state",
        Channel::Stream => "event",
    };
    format!("ks/{world}/b/{from}/{to}/{last}")
}

/// What one node sends to another, on both channels.
pub(super) fn batches(world: &NodeName, from: &NodeName, to: &NodeName) -> String {
    format!("ks/{world}/b/{from}/{to}/*")
}

/// What all nodes send to a node: its one subscription.
pub(super) fn all_batches_to(world: &NodeName, to: &NodeName) -> String {
    format!("ks/{world}/b/*/{to}/**")
}

/// What a node sends to any other.
pub(super) fn all_batches_from(world: &NodeName, from: &NodeName) -> String {
    format!("ks/{world}/b/{from}/**")
}

/// All messages of a world.
pub(super) fn everything(world: &NodeName) -> String {
    format!("ks/{world}/**")
}

/// The sender and channel of a key; `None` if it is not a key of messages.
pub(super) fn parse_batch(key: &str) -> Option<(NodeName, Channel)> {
    let mut chunks = key.split('/').skip(2);
    let (kind, from, _to, last) = (chunks.next()?, chunks.next()?, chunks.next()?, chunks.next()?);
    let channel = match last {
        "state" => Channel::Datagram,
        "event" => Channel::Stream,
        _ => return None,
    };
    (kind == "b" && chunks.next().is_none()).then_some((from.parse().ok()?, channel))
}

/// The node of a token.
pub(super) fn parse_alive(key: &str) -> Option<NodeName> {
    let mut chunks = key.split('/').skip(2);
    let (kind, node) = (chunks.next()?, chunks.next()?);
    if kind == "live" && chunks.next().is_none() { node.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_as_it_was_written() {
        let [world, ann, bob] = ["hall", "ann", "bob"].map(|name| name.parse::<NodeName>().unwrap());
        for channel in [Channel::Stream, Channel::Datagram] {
            assert_eq!(parse_batch(&batch(&world, &ann, &bob, channel)), Some((ann.clone(), channel)));
        }
        assert_eq!(parse_alive(&alive(&world, &bob)), Some(bob));
        for key in
            ["", "ks", "ks/hall/b/ann/bob", "ks/hall/b/ann/bob/other", "ks/hall/b/ann/bob/state/x", "ks/hall/live/a b"]
        {
            assert_eq!((parse_batch(key), parse_alive(key)), (None, None), "{key}");
        }
    }
}
