//! Conversions between `motion`'s numbers and those of the wire.

use motion::decision::Digest;
use motion::state::{Flags, Sequence};
use motion::trend::Trend;
use motion::{Algorithm, KinematicState, Update};
use space::{DQuat, DVec3, NodeId, Quat, Time, Turn};
use wire::peer::{self, PLACE_MAX, RATE_MAX, STEPS_PER_METRE, name};

/// Rounds to the wire's steps and clamps to its range.
pub fn steps(vector: DVec3, max: i32) -> [i32; 3] {
    let max = f64::from(max);
    // NaN would become zero.
    vector.to_array().map(|x| libm::rint(x * f64::from(STEPS_PER_METRE)).clamp(-max, max) as i32)
}

pub fn vector(steps: [i32; 3]) -> DVec3 {
    DVec3::from_array(steps.map(|step| f64::from(step) / f64::from(STEPS_PER_METRE)))
}

/// The wire's form of an update, in a report made at `now`.
pub fn to_wire(update: &Update, now: Time) -> peer::MotionUpdate {
    let state = &update.state;
    let number = Algorithm::DIS.iter().position(|known| *known == update.algorithm).unwrap_or(0);
    let rot = state.rot.to_array().map(|part| part as f32);
    peer::MotionUpdate {
        index: name::index(update.object),
        seq: update.seq.number(),
        algorithm: number as u8 + 1,
        flags: update.flags.bits() & 7,
        age_us: (now - state.stamp).clamp(0, peer::Report::AGE_US_MAX) as u32,
        place: steps(state.pos, PLACE_MAX),
        velocity: steps(state.vel, RATE_MAX),
        acceleration: steps(state.acc, RATE_MAX),
        turn: if state.rot == DQuat::IDENTITY { Turn::IDENTITY } else { Turn::nearest(Quat::from_array(rot)) },
        spin: steps(state.angvel, RATE_MAX),
    }
}

/// The update from a report that `owner` made at `time`. `None` for an index or an algorithm out of range.
pub fn from_wire(owner: NodeId, time: Time, motion: &peer::MotionUpdate) -> Option<Update> {
    let rot = motion.turn.quat().to_array().map(f64::from);
    Some(Update {
        owner,
        object: name::object(owner, motion.index)?,
        seq: Sequence::new(motion.seq),
        algorithm: *Algorithm::DIS.get(usize::from(motion.algorithm).checked_sub(1)?)?,
        state: KinematicState {
            stamp: time + -i64::from(motion.age_us),
            pos: vector(motion.place),
            vel: vector(motion.velocity),
            acc: vector(motion.acceleration),
            rot: if motion.turn == Turn::IDENTITY { DQuat::IDENTITY } else { DQuat::from_array(rot).normalize() },
            angvel: vector(motion.spin),
        },
        trend: Trend::default(),
        flags: Flags::from_bits(motion.flags),
    })
}

/// An update after encoding and decoding, which an owner's ghost gets.
pub fn round(update: &Update) -> Update {
    from_wire(update.owner, update.state.stamp, &to_wire(update, update.state.stamp)).unwrap_or(*update)
}

/// The wire's form of a digest; a watch has the epoch once for all of them.
pub fn digest_to_wire(digest: &Digest) -> peer::StateDigest {
    let narrow = |steps: [i64; 3], max: i32| steps.map(|step| step.clamp(-i64::from(max), i64::from(max)) as i32);
    peer::StateDigest {
        place: narrow(digest.pos, PLACE_MAX),
        velocity: narrow(digest.vel, RATE_MAX),
        sees: digest.sees,
    }
}

pub fn digest_from_wire(epoch: u32, digest: &peer::StateDigest) -> Digest {
    Digest { epoch, pos: digest.place.map(i64::from), vel: digest.velocity.map(i64::from), sees: digest.sees }
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::workload::Random;

    #[test]
    fn a_rounded_update_is_encoded_exactly() {
        let owner = NodeId::new(7);
        for seed in 0..500 {
            let mut random = Random::new(seed);
            let mut any = |size: f32| DVec3::from_array([0; 3].map(|_| f64::from(random.between(-size, size))));
            let update = Update {
                owner,
                object: name::object(owner, 3).unwrap(),
                seq: Sequence::new(seed as u32),
                algorithm: Algorithm::DIS[seed as usize % 9],
                state: KinematicState {
                    stamp: Time::from_micros(seed as i64 * 1_234_567),
                    pos: any(1e4),
                    vel: any(30.0),
                    acc: any(9.0),
                    rot: DQuat::IDENTITY,
                    angvel: any(2.0),
                },
                trend: Trend::default(),
                flags: Flags::DISCONTINUITY,
            };
            let rounded = round(&update);
            assert_eq!(round(&rounded), rounded, "seed {seed}");
            let later = update.state.stamp + 33_333;
            assert_eq!(from_wire(owner, later, &to_wire(&rounded, later)), Some(rounded), "seed {seed}");
            assert!((rounded.state.pos - update.state.pos).abs().max_element() <= 0.5 / 1024.0);
        }
    }
}
