//! Policies that choose the decider from integers that both hosts have.

use space::{DVec3, NodeId};

/// Steps per metre, and per metre per second.
pub const STEPS_PER_METRE: i64 = 1024;
/// The largest number in a digest; sums of its squares fit in 128 bits.
const LARGEST: i64 = 1 << 40;

/// The state of a host's object at an epoch, in integers, so both hosts compute with the same numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest {
    pub epoch: u32,
    /// The position, in 1/1024 m.
    pub pos: [i64; 3],
    /// The velocity, in 1/1024 m/s.
    pub vel: [i64; 3],
    /// Whether the host's user sees the other object.
    pub sees: bool,
}

impl Digest {
    /// Rounds a state to the digest's steps and clamps it to its range.
    pub fn new(epoch: u32, pos: DVec3, vel: DVec3, sees: bool) -> Digest {
        let steps = |vector: DVec3| {
            vector.to_array().map(|x| (libm::rint(x * STEPS_PER_METRE as f64) as i64).clamp(-LARGEST, LARGEST))
        };
        Digest { epoch, pos: steps(pos), vel: steps(vel), sees }
    }

    pub fn speed_squared(&self) -> i128 {
        dot(self.vel, self.vel)
    }
}

pub(super) fn dot(a: [i64; 3], b: [i64; 3]) -> i128 {
    (0..3).map(|axis| i128::from(a[axis]) * i128::from(b[axis])).sum()
}

pub(super) fn minus(a: [i64; 3], b: [i64; 3]) -> [i64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// How the decider of two hosts is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    HostId,
    /// The host of the faster object, whose position is known least precisely elsewhere.
    Velocity,
    /// The host of the object that moved farther over the last epochs, which changes less often than the faster one.
    VelocityHistory,
    /// The host whose user sees the contact, if only one does; else the lower id.
    FieldOfView,
}

impl Policy {
    /// All policies, with their names in reports.
    pub const ALL: [(Policy, &'static str); 4] = [
        (Policy::HostId, "host-id"),
        (Policy::Velocity, "velocity"),
        (Policy::VelocityHistory, "velocity-history"),
        (Policy::FieldOfView, "field-of-view"),
    ];

    pub fn name(self) -> &'static str {
        Policy::ALL.iter().find(|(policy, _)| *policy == self).expect("every policy has a name").1
    }

    /// The number of past epochs that [`Policy::VelocityHistory`] uses.
    pub const HISTORY: usize = 3;

    /// The decider of two hosts, given the recent digests of each, oldest first. The lower id decides ties, and if a
    /// host has no digest.
    pub fn decider(self, one: (NodeId, &[Digest]), other: (NodeId, &[Digest])) -> NodeId {
        let lower = one.0.min(other.0);
        let (Some(a), Some(b)) = (one.1.last(), other.1.last()) else { return lower };
        let larger = |a: i128, b: i128| match a.cmp(&b) {
            std::cmp::Ordering::Greater => one.0,
            std::cmp::Ordering::Less => other.0,
            std::cmp::Ordering::Equal => lower,
        };
        match self {
            Policy::HostId => lower,
            Policy::Velocity => larger(a.speed_squared(), b.speed_squared()),
            Policy::VelocityHistory => larger(way(one.1), way(other.1)),
            Policy::FieldOfView => larger(i128::from(a.sees), i128::from(b.sees)),
        }
    }
}

/// The sum of the squared distances between successive epochs.
fn way(past: &[Digest]) -> i128 {
    let recent = &past[past.len().saturating_sub(Policy::HISTORY + 1)..];
    recent.windows(2).map(|two| minus(two[1].pos, two[0].pos)).map(|step| dot(step, step)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_hosts_choose_the_same_decider() {
        let (ann, bob) = (NodeId::new(1), NodeId::new(2));
        let past = |speed: f64, sees: bool| -> Vec<Digest> {
            (0..5).map(|m| Digest::new(m, DVec3::X * speed * f64::from(m), DVec3::X * speed, sees)).collect()
        };
        let (slow, fast) = (past(1.0, true), past(2.0, false));
        for (policy, expected) in
            [(Policy::HostId, ann), (Policy::Velocity, bob), (Policy::VelocityHistory, bob), (Policy::FieldOfView, ann)]
        {
            assert_eq!(policy.decider((ann, &slow), (bob, &fast)), expected, "{policy:?}");
            assert_eq!(policy.decider((bob, &fast), (ann, &slow)), expected, "{policy:?}");
            assert_eq!(policy.decider((bob, &slow), (ann, &slow)), ann, "{policy:?}: a tie");
        }
    }

    #[test]
    fn digests_of_any_state_are_within_range() {
        let digest = Digest::new(0, DVec3::new(f64::NAN, f64::INFINITY, -1e300), DVec3::ZERO, false);
        assert_eq!(digest.pos, [0, LARGEST, -LARGEST]);
    }
}
