//! Every user hears of all objects in its area of interest, and of no others.

use std::collections::BTreeMap;

use space::{ObjectId, Time};

use super::{Observed, Promise, Score};

/// An object that has been near for long enough, while nothing disturbed the listener, is known to it; one that has
/// been far for as long is forgotten.
#[derive(Clone, Debug, Default)]
pub struct AllHeard {
    /// Listener and speaker, since when they are near, or far and still heard.
    near: BTreeMap<(ObjectId, ObjectId), Time>,
    far: BTreeMap<(ObjectId, ObjectId), Time>,
}

impl AllHeard {
    pub const NAME: &str = "all in an area of interest are heard, and no others";
}

impl Promise for AllHeard {
    fn look(&mut self, observed: &Observed<'_>, score: &mut Score) {
        let Some(hearings) = &observed.hearings else { return };
        let (mut near, mut far) = (BTreeMap::new(), BTreeMap::new());
        for one in hearings {
            let pair = (one.listener, one.speaker);
            let is_due = |since: Time| observed.now - since.max(one.calm_since) > observed.patience_us;
            let text = |since: Time, what: &str| {
                let (tick, metres) = (observed.tick, one.metres);
                format!("tick {tick}: {} {what} {}, {metres:.2} m away, since {since}", one.listener, one.speaker)
            };
            if one.is_near {
                let since = *near.entry(pair).or_insert(self.near.get(&pair).copied().unwrap_or(observed.now));
                if is_due(since) {
                    score.check(one.is_heard, || text(since, "does not hear of"));
                }
            }
            if one.is_far && one.is_heard {
                let since = *far.entry(pair).or_insert(self.far.get(&pair).copied().unwrap_or(observed.now));
                score.check(!is_due(since), || text(since, "still hears of"));
            }
        }
        (self.near, self.far) = (near, far);
    }
}
