//! What was acknowledged survives: kills, and losses of what was not flushed.

use std::collections::BTreeMap;

use space::{ObjectId, Time};

use super::{Observed, Promise, Score};

/// A server comes back from its disk with the world that was flushed; in a cluster every object is there in
/// the end, once.
#[derive(Clone, Debug, Default)]
pub struct Survives {
    /// When each object last had an owner.
    owned_at: BTreeMap<ObjectId, Time>,
}

/// An object that is handed over has no owner for this long at most, when nothing is wrong.
const ON_THE_WAY_US: i64 = 1_500_000;

impl Survives {
    pub const NAME: &str = "what was acknowledged survives";
}

impl Promise for Survives {
    fn look(&mut self, observed: &Observed<'_>, score: &mut Score) {
        for recovery in &observed.recoveries {
            score.check(recovery.is_ok(), || format!("{}: {recovery:?}", observed.now));
        }
        let owned = || observed.owned.iter().flatten();
        self.owned_at.extend(owned().map(|owned| (owned.object, observed.now)));
        let Some(expected) = observed.expected.filter(|_| observed.is_over) else { return };
        let mut owners: BTreeMap<ObjectId, usize> = BTreeMap::new();
        owned().for_each(|owned| *owners.entry(owned.object).or_default() += 1);
        for object in expected {
            let count = owners.get(object).copied().unwrap_or(0);
            let owned_at = self.owned_at.get(object).copied().unwrap_or_default();
            let is_on_the_way = count == 0 && observed.now - owned_at <= ON_THE_WAY_US;
            score.check(count == 1 || is_on_the_way, || {
                format!("{object} has {count} owners in the end, and had one at {owned_at}")
            });
        }
    }
}
