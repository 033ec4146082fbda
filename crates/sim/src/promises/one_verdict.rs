//! A peer holds one verdict about a contact.

use super::{Observed, Promise, Score};

/// No host keeps two verdicts about one contact.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneVerdict;

impl OneVerdict {
    pub const NAME: &str = "one verdict is kept about a contact";
}

impl Promise for OneVerdict {
    fn look(&mut self, observed: &Observed<'_>, score: &mut Score) {
        let Some(peers) = &observed.peers else { return };
        for two in peers.verdicts.windows(2) {
            let (one, other) = (two[0].verdict, two[1].verdict);
            if two[0].host == two[1].host && one.pair == other.pair {
                let is_apart = other.contact - one.contact > peers.contact_us;
                score.check(is_apart, || format!("host {} at {}: {one:?} {other:?}", two[0].host + 1, observed.now));
            }
        }
    }
}
