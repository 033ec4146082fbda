//! Pairs that cannot meet before a known time are not tested until then (paper 002, 1.6.2).
//!
//! The narrow phase measures how far two shapes are apart. Until they have together come that far, by their odometers,
//! they cannot have met, whatever ways they went. Only shapes that need the narrow phase are scheduled: for upright
//! solids the test itself is cheaper than to look up when it is due.

use std::collections::BTreeMap;

use shapes::Shape;
use space::{ObjectId, snap};

use super::surroundings::ExactPair;
use crate::solid::GAP;

/// What is known about pairs of shapes that need the narrow phase.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schedule {
    /// What both odometers have to show together before the two can touch, in steps.
    meeting: BTreeMap<(ObjectId, ObjectId), i64>,
}

/// More pairs than this are forgotten, all at once: they are measured again when they are needed.
const PAIRS_MAX: usize = 1 << 18;
/// For rounding, in steps.
const SLACK: f64 = 4.0;

impl Schedule {
    /// Whether two shapes may come as close as motions end, when they come `span` steps closer at most. A no is certain.
    pub fn may_meet(
        &mut self,
        shapes: &[Shape],
        names: (ObjectId, ObjectId),
        pair: &ExactPair,
        odometers: i64,
        span: f64,
    ) -> bool {
        let names = (names.0.min(names.1), names.0.max(names.1));
        let needed = span + f64::from(GAP) + SLACK;
        if let Some(&meeting) = self.meeting.get(&names)
            && (meeting - odometers) as f64 > needed
        {
            return false;
        }
        let distance = f64::from(pair.distance(shapes, [0; 3])) * f64::from(snap::STEPS_PER_METRE);
        if distance <= needed {
            return true;
        }
        if self.meeting.len() >= PAIRS_MAX {
            self.meeting.clear();
        }
        self.meeting.insert(names, odometers + distance as i64);
        false
    }

    pub fn forget(&mut self, object: ObjectId) {
        self.meeting.retain(|&(one, other), _| one != object && other != object);
    }

    pub fn pairs(&self) -> usize {
        self.meeting.len()
    }
}
