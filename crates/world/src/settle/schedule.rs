//! A pair that cannot meet before a known time is not tested until then (paper 002, 1.6.2).
//!
//! The narrow phase measures the distance between two shapes. They cannot meet before their odometers together show
//! that distance, whatever their paths. Only shapes that need the narrow phase are scheduled: for upright solids the
//! test is cheaper than the lookup.

use std::collections::BTreeMap;

use shapes::Shape;
use space::{ObjectId, snap};

use super::surroundings::ExactPair;
use crate::solid::GAP;

/// When pairs of shapes that need the narrow phase have to be tested again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schedule {
    /// The sum of both odometers, in steps, before which the two cannot touch.
    meeting: BTreeMap<(ObjectId, ObjectId), i64>,
}

/// With more pairs than this all are dropped: they are measured again when they are needed.
const PAIRS_MAX: usize = 1 << 18;
/// For rounding, in steps.
const SLACK: f64 = 4.0;

impl Schedule {
    /// Whether two shapes that come closer by at most `span` steps may touch. A no is certain.
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
