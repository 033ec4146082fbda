//! Mistakes to make: a promise that nothing can break is worth nothing.

use wire::ToNode;
use wire::cluster::{Answer, Batch, Granted, Offer};

use super::watcher::promise;

/// Something that must not go unnoticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Every node is told that all others support its lease.
    IgnoresLease,
    /// Every node is told that it has the rooms that it asks for.
    GrantsEverything,
    /// Offers are lost, and their senders told that they were taken.
    LostOffers,
    /// The first host hears of nobody.
    Deaf,
    /// Whoever carries something is offered without it.
    EmptyHands,
    /// Nobody's word for the first host arrives.
    Unvouched,
}

impl Fault {
    /// All of them, with the promise that each breaks.
    pub const ALL: [(Fault, &'static str); 6] = [
        (Fault::IgnoresLease, promise::ONE_OWNER),
        (Fault::GrantsEverything, promise::APART),
        (Fault::LostOffers, promise::NOBODY_LOST),
        (Fault::Deaf, promise::AUDIENCE),
        (Fault::EmptyHands, promise::CARRIED),
        (Fault::Unvouched, promise::TOGETHER),
    ];
}

/// What becomes of a message on its way; `back` is an answer that its sender gets at once, though nobody gave it.
pub fn in_flight(fault: Option<Fault>, to: usize, message: ToNode, back: &mut Option<ToNode>) -> Option<ToNode> {
    match (fault, message) {
        (Some(Fault::LostOffers), ToNode::Offer(offer)) if to == 0 => {
            *back = Some(ToNode::Taken { object: offer.object, seq: offer.seq });
            None
        }
        (Some(Fault::IgnoresLease), ToNode::Beat(beat)) => {
            *back = Some(ToNode::Vouch { version: beat.version, sent_us: beat.sent_us });
            Some(ToNode::Beat(beat))
        }
        (Some(Fault::GrantsEverything), ToNode::Batch(batch)) => {
            let answers: Vec<Answer> = batch
                .asks
                .iter()
                .map(|ask| Answer {
                    object: ask.object,
                    seq: ask.seq,
                    asked: ask.asked,
                    granted: ask.wants.map(|room| Granted { room, standing: Vec::new() }),
                })
                .collect();
            let Batch { version, tick, .. } = batch;
            *back = (!answers.is_empty()).then_some(ToNode::Batch(Batch {
                version,
                tick,
                guests: Vec::new(),
                asks: Vec::new(),
                answers,
            }));
            Some(ToNode::Batch(batch))
        }
        (Some(Fault::Deaf), ToNode::Introduce { .. }) if to == 0 => None,
        (Some(Fault::Unvouched), ToNode::Vouch { .. }) if to == 0 => None,
        (Some(Fault::EmptyHands), ToNode::Offer(offer)) => Some(ToNode::Offer(Offer { load: None, ..offer })),
        (_, message) => Some(message),
    }
}
