//! A frame's datagram between peers: updates of the sender's objects that passed their threshold, and digests for those
//! that may soon meet an object of the receiver. It also lists the sender's objects for a new peer, as a stream that
//! lost a packet delays what follows.

use serde::Serialize;
use space::Turn;
use space::bytes::{Malformed, Reader, Writer};

use super::{Owns, PLACE_MAX, RATE_MAX, name, read_steps, write_steps};
use crate::pose;

/// The most motions, watches and objects in one report, each.
const ITEMS_MAX: usize = 64;
/// The most digests in a watch: those of the longest partition after which two peers still know each other.
const DIGESTS_MAX: usize = 32;
/// The largest age of a state that is sent, in microseconds.
const AGE_US_MAX: u64 = 10_000_000;
/// The highest number of a dead-reckoning algorithm.
const ALGORITHM_MAX: u64 = 9;

/// A frame's datagram.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// The sender's clock, in microseconds.
    pub time_us: i64,
    /// Objects of the sender, for peers that may not know them yet.
    pub owns: Vec<Owns>,
    /// Updates of objects.
    pub motions: Vec<MotionUpdate>,
    /// Digests, for each pair that is watched.
    pub watches: Vec<Watch>,
}

/// The motion of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MotionUpdate {
    /// Its number among the sender's objects.
    pub index: u32,
    /// The number of the update.
    pub seq: u32,
    /// The dead-reckoning algorithm, numbered as in DIS.
    pub algorithm: u8,
    /// 1 discontinuity, 2 teleport, 4 at rest.
    pub flags: u8,
    /// The age of the state at the report's time, in microseconds.
    pub age_us: u32,
    pub place: [i32; 3],
    pub velocity: [i32; 3],
    pub acceleration: [i32; 3],
    #[serde(serialize_with = "pose::serialize_turn")]
    pub turn: Turn,
    /// Angular velocity along the body's axes.
    pub spin: [i32; 3],
}

const HAS_ACCELERATION: u8 = 0x08;
const HAS_TURN: u8 = 0x10;
const HAS_SPIN: u8 = 0x20;

impl MotionUpdate {
    fn write(&self, writer: &mut Writer<'_>) {
        let form = |is_there: bool, bit: u8| if is_there { bit } else { 0 };
        let (has_acceleration, has_turn, has_spin) =
            (self.acceleration != [0; 3], self.turn != Turn::IDENTITY, self.spin != [0; 3]);
        writer.varint(self.index);
        writer.varint(self.seq);
        writer.u8(self.algorithm);
        writer.u8(self.flags & 7
            | form(has_acceleration, HAS_ACCELERATION)
            | form(has_turn, HAS_TURN)
            | form(has_spin, HAS_SPIN));
        writer.varint(self.age_us);
        write_steps(writer, self.place);
        write_steps(writer, self.velocity);
        if has_acceleration {
            write_steps(writer, self.acceleration);
        }
        if has_turn {
            pose::write_turn(writer, self.turn);
        }
        if has_spin {
            write_steps(writer, self.spin);
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<MotionUpdate, Malformed> {
        let index = name::read_index(reader)?;
        let seq = reader.varint32("seq")?;
        let algorithm = reader.u8("algorithm")?;
        reader.check((1..=ALGORITHM_MAX).contains(&u64::from(algorithm)), "algorithm")?;
        let form = reader.bits(0x3f, "flags")?;
        let age_us = reader.varint(AGE_US_MAX, "age_us")? as u32;
        let place = read_steps(reader, PLACE_MAX, "place")?;
        let velocity = read_steps(reader, RATE_MAX, "velocity")?;
        let acceleration = read_part(reader, form & HAS_ACCELERATION, "acceleration")?;
        let turn = if form & HAS_TURN == 0 { Turn::IDENTITY } else { pose::read_turn(reader)? };
        reader.check(form & HAS_TURN == 0 || turn != Turn::IDENTITY, "turn")?;
        let spin = read_part(reader, form & HAS_SPIN, "spin")?;
        Ok(MotionUpdate { index, seq, algorithm, flags: form & 7, age_us, place, velocity, acceleration, turn, spin })
    }
}

/// A part that is left out if it is zero, so that there is one encoding.
fn read_part(reader: &mut Reader<'_>, is_there: u8, field: &'static str) -> Result<[i32; 3], Malformed> {
    if is_there == 0 {
        return Ok([0; 3]);
    }
    let steps = read_steps(reader, RATE_MAX, field)?;
    reader.check(steps != [0; 3], field)?;
    Ok(steps)
}

/// Digests of one of the sender's objects, which may meet one of the receiver's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Watch {
    /// The sender's object.
    pub own: u32,
    /// The receiver's object.
    pub other: u32,
    /// The first epoch of which the sender made a digest for this pair.
    pub first: u32,
    /// The epoch of the newest digest.
    pub newest: u32,
    /// The first epoch of which the sender lacks the receiver's digest: earlier ones need not be sent again.
    pub lacks: u32,
    /// The newest digest, then those of the epochs before it.
    pub digests: Vec<StateDigest>,
}

/// The state of the sender's object at an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StateDigest {
    pub place: [i32; 3],
    pub velocity: [i32; 3],
    /// Whether the sender's user sees the other object.
    pub sees: bool,
}

impl Watch {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.own);
        writer.varint(self.other);
        writer.varint(self.first);
        writer.varint(self.newest.saturating_sub(self.first));
        writer.zigzag(i64::from(self.newest) - i64::from(self.lacks));
        // Older digests as differences: those of neighbouring epochs are small.
        let mut newer = ([0; 3], [0; 3]);
        writer.list(&self.digests, usize::MAX, |digest, writer| {
            let less = |one: [i32; 3], other: [i32; 3]| std::array::from_fn(|axis| one[axis].wrapping_sub(other[axis]));
            write_steps(writer, less(digest.place, newer.0));
            write_steps(writer, less(digest.velocity, newer.1));
            writer.flag(digest.sees);
            newer = (digest.place, digest.velocity);
        });
    }

    fn read(reader: &mut Reader<'_>) -> Result<Watch, Malformed> {
        let (own, other) = (name::read_index(reader)?, name::read_index(reader)?);
        let first = reader.varint32("first")?;
        let since = reader.varint(u64::from(u32::MAX - first), "newest")?;
        let newest = first + since as u32;
        let behind = reader.zigzag(u32::MAX, "lacks")?;
        let lacks = u32::try_from(i64::from(newest) - behind).map_err(|_| reader.refuse("lacks"))?;
        let mut newer = ([0; 3], [0; 3]);
        let digests = reader.list(DIGESTS_MAX, 7, "digests", |reader| {
            let place = read_difference(reader, newer.0, PLACE_MAX, "place")?;
            let velocity = read_difference(reader, newer.1, RATE_MAX, "velocity")?;
            newer = (place, velocity);
            Ok(StateDigest { place, velocity, sees: reader.flag("sees")? })
        })?;
        // At least the newest, and none from before the first.
        reader.check((1..=since + 1).contains(&(digests.len() as u64)), "digests")?;
        Ok(Watch { own, other, first, newest, lacks, digests })
    }
}

fn read_difference(
    reader: &mut Reader<'_>,
    from: [i32; 3],
    max: i32,
    field: &'static str,
) -> Result<[i32; 3], Malformed> {
    let steps = read_steps(reader, 2 * max, field)?;
    // At most 2^26 and 2^27: the sum does not overflow.
    let sum: [i32; 3] = std::array::from_fn(|axis| from[axis] + steps[axis]);
    reader.check(sum.iter().all(|step| step.abs() <= max), field)?;
    Ok(sum)
}

impl Report {
    /// The most motions, watches and objects in one report, each.
    pub const ITEMS_MAX: usize = ITEMS_MAX;
    /// The most digests in a watch.
    pub const DIGESTS_MAX: usize = DIGESTS_MAX;
    /// The largest age of a state that is sent, in microseconds.
    pub const AGE_US_MAX: i64 = AGE_US_MAX as i64;

    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.i64(self.time_us);
        writer.list(&self.owns, usize::MAX, Owns::write);
        writer.list(&self.motions, usize::MAX, MotionUpdate::write);
        writer.list(&self.watches, usize::MAX, Watch::write);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Report, Malformed> {
        Ok(Report {
            time_us: reader.i64("time_us")?,
            owns: reader.list(ITEMS_MAX, 9, "owns", Owns::read)?,
            motions: reader.list(ITEMS_MAX, 11, "motions", MotionUpdate::read)?,
            watches: reader.list(ITEMS_MAX, 13, "watches", Watch::read)?,
        })
    }
}
