//! The keys under which nodes speak. They are few and fixed: whoever joins or leaves changes none but its own.

use crate::link::{Channel, Label};

/// Who is alive: a token of this node.
pub(super) fn alive(world: &Label, node: &Label) -> String {
    format!("ks/{world}/live/{node}")
}

/// All tokens.
pub(super) fn everybody_alive(world: &Label) -> String {
    format!("ks/{world}/live/*")
}

/// What one node says to another.
pub(super) fn batch(world: &Label, from: &Label, to: &Label, channel: Channel) -> String {
    let last = match channel {
        Channel::Datagram => "state",
        Channel::Stream => "event",
    };
    format!("ks/{world}/b/{from}/{to}/{last}")
}

/// What one node says to another, on both channels.
pub(super) fn batches(world: &Label, from: &Label, to: &Label) -> String {
    format!("ks/{world}/b/{from}/{to}/*")
}

/// What all say to a node: its one subscription.
pub(super) fn all_batches_to(world: &Label, to: &Label) -> String {
    format!("ks/{world}/b/*/{to}/**")
}

/// What a node says to anybody.
pub(super) fn all_batches_from(world: &Label, from: &Label) -> String {
    format!("ks/{world}/b/{from}/**")
}

/// Whatever is said in a world.
pub(super) fn everything(world: &Label) -> String {
    format!("ks/{world}/**")
}

/// Who said what is under this key, and how; `None` if it is not a batch.
pub(super) fn parse_batch(key: &str) -> Option<(Label, Channel)> {
    let mut chunks = key.split('/').skip(2);
    let (kind, from, _to, last) = (chunks.next()?, chunks.next()?, chunks.next()?, chunks.next()?);
    let channel = match last {
        "state" => Channel::Datagram,
        "event" => Channel::Stream,
        _ => return None,
    };
    (kind == "b" && chunks.next().is_none()).then_some((from.parse().ok()?, channel))
}

/// Whose token this is.
pub(super) fn parse_alive(key: &str) -> Option<Label> {
    let mut chunks = key.split('/').skip(2);
    let (kind, node) = (chunks.next()?, chunks.next()?);
    if kind == "live" && chunks.next().is_none() { node.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_into_a_key_is_read_out_of_it() {
        let [world, ann, bob] = ["hall", "ann", "bob"].map(|name| name.parse::<Label>().unwrap());
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
