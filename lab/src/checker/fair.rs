//! Who means well is not sent away, whatever others do.

use std::collections::BTreeSet;

use client::Phase;
use wire::CloseReason;

use super::{Checker, Observed};
use crate::promise::Promise;

/// No client that means well is dropped for misbehaving, being idle or being slow; none hears contradictions.
#[derive(Clone, Debug, Default)]
pub struct Fair {
    known: BTreeSet<(usize, CloseReason)>,
    contradictions: Vec<u64>,
}

impl Checker for Fair {
    fn name(&self) -> &'static str {
        "who means well is served"
    }

    fn look(&mut self, observed: &mut Observed<'_>, promise: &mut Promise) {
        self.contradictions.resize(observed.clients.len(), 0);
        for (index, state) in observed.clients.iter().enumerate() {
            let client = state.bot.client();
            let counts = client.counts();
            let bad = counts.contradictions + counts.bad;
            promise.check(bad == self.contradictions[index], || {
                format!("tick {}: {} heard what cannot be", observed.tick, state.name)
            });
            self.contradictions[index] = bad;
            if let Phase::Ended(refused) = client.phase() {
                let is_unfair =
                    matches!(refused.reason, CloseReason::Misbehaved | CloseReason::Idle | CloseReason::Slow);
                if is_unfair && self.known.insert((index, refused.reason)) {
                    promise.check(false, || {
                        format!("tick {}: {} was sent away: {}", observed.tick, state.name, refused.sentence)
                    });
                }
            }
        }
    }
}
