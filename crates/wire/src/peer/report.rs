//! A frame's datagram: where the sender's objects are, by threshold, and digests for those that may soon meet an object
//! of the receiver. To a newcomer also which objects the sender has: a stream that lost a packet holds up what it says next.

use serde::Serialize;
use space::Turn;

use super::{Owns, PLACE_MAX, RATE_MAX, name, read_steps, write_steps};
use crate::codec::{DecodeError, Reader, Writer};
use crate::pose;

/// The most motions, the most watches and the most objects in one report.
const ITEMS_MAX: usize = 64;
/// The most digests in a watch: those of the longest partition after which two peers still know each other.
const DIGESTS_MAX: usize = 32;
/// A state is at most so old when it is sent, in microseconds.
const AGE_US_MAX: u64 = 10_000_000;
/// The highest number of an algorithm of dead reckoning.
const ALGORITHM_MAX: u64 = 9;

/// Where objects are, and what they were.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// The sender's clock, in microseconds.
    pub time_us: i64,
    /// Objects of the sender, to those who may not have heard of them yet.
    pub owns: Vec<Owns>,
    /// Updates.
    pub motions: Vec<Motion>,
    /// Digests, per pair that is watched.
    pub watches: Vec<Watch>,
}

/// How an object moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Motion {
    /// Which of the sender's objects.
    pub index: u32,
    /// The update's number.
    pub seq: u32,
    /// How to go on from here, numbered as in DIS.
    pub algorithm: u8,
    /// 1 discontinuity, 2 teleport, 4 at rest.
    pub flags: u8,
    /// How long before the report's time this was so, in microseconds.
    pub age_us: u32,
    /// Position.
    pub place: [i32; 3],
    /// Velocity.
    pub velocity: [i32; 3],
    /// Acceleration.
    pub acceleration: [i32; 3],
    /// Orientation.
    #[serde(serialize_with = "pose::serialize_turn")]
    pub turn: Turn,
    /// Angular velocity, along the body's axes.
    pub spin: [i32; 3],
}

const HAS_ACCELERATION: u8 = 0x08;
const HAS_TURN: u8 = 0x10;
const HAS_SPIN: u8 = 0x20;

impl Motion {
    fn write(&self, writer: &mut Writer<'_>) {
        let form = |is_there: bool, bit: u8| if is_there { bit } else { 0 };
        let (has_acceleration, has_turn, has_spin) =
            (self.acceleration != [0; 3], self.turn != Turn::IDENTITY, self.spin != [0; 3]);
        writer.varint(u64::from(self.index));
        writer.varint(u64::from(self.seq));
        writer.u8(self.algorithm);
        writer.u8(self.flags & 7
            | form(has_acceleration, HAS_ACCELERATION)
            | form(has_turn, HAS_TURN)
            | form(has_spin, HAS_SPIN));
        writer.varint(u64::from(self.age_us));
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

    fn read(reader: &mut Reader<'_>) -> Result<Motion, DecodeError> {
        let index = name::read_index(reader)?;
        let seq = reader.varint(u64::from(u32::MAX), "seq")? as u32;
        let algorithm = reader.u8("algorithm")?;
        if !(1..=ALGORITHM_MAX).contains(&u64::from(algorithm)) {
            return Err(reader.refuse("algorithm"));
        }
        let form = reader.u8("flags")?;
        if form >= 0x40 {
            return Err(reader.refuse("flags"));
        }
        let age_us = reader.varint(AGE_US_MAX, "age_us")? as u32;
        let place = read_steps(reader, PLACE_MAX, "place")?;
        let velocity = read_steps(reader, RATE_MAX, "velocity")?;
        let acceleration = read_part(reader, form & HAS_ACCELERATION, "acceleration")?;
        let turn = if form & HAS_TURN == 0 { Turn::IDENTITY } else { pose::read_turn(reader)? };
        if form & HAS_TURN != 0 && turn == Turn::IDENTITY {
            return Err(reader.refuse("turn"));
        }
        let spin = read_part(reader, form & HAS_SPIN, "spin")?;
        Ok(Motion { index, seq, algorithm, flags: form & 7, age_us, place, velocity, acceleration, turn, spin })
    }
}

/// What is nothing is left out: there is one way to say it.
fn read_part(reader: &mut Reader<'_>, is_there: u8, field: &'static str) -> Result<[i32; 3], DecodeError> {
    if is_there == 0 {
        return Ok([0; 3]);
    }
    let steps = read_steps(reader, RATE_MAX, field)?;
    if steps == [0; 3] { Err(reader.refuse(field)) } else { Ok(steps) }
}

/// Digests of one of the sender's objects that may meet one of the receiver's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Watch {
    /// Which of the sender's objects.
    pub own: u32,
    /// Which of the receiver's.
    pub other: u32,
    /// The first epoch of which the sender made a digest for this pair.
    pub first: u32,
    /// The epoch of the newest digest.
    pub newest: u32,
    /// The first epoch of which the sender lacks the receiver's digest: those before it need not be sent again.
    pub lacks: u32,
    /// The newest digest, and those of the epochs before it.
    pub digests: Vec<Digest>,
}

/// What the sender's object was at an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Digest {
    /// Position.
    pub place: [i32; 3],
    /// Velocity.
    pub velocity: [i32; 3],
    /// Whether the sender's user sees the other object.
    pub sees: bool,
}

impl Watch {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(u64::from(self.own));
        writer.varint(u64::from(self.other));
        writer.varint(u64::from(self.first));
        writer.varint(u64::from(self.newest.saturating_sub(self.first)));
        writer.zigzag(i64::from(self.newest) - i64::from(self.lacks));
        writer.varint(self.digests.len() as u64);
        // Older digests as differences: those of neighbouring epochs are small.
        let mut newer = ([0; 3], [0; 3]);
        for digest in &self.digests {
            let less = |one: [i32; 3], other: [i32; 3]| std::array::from_fn(|axis| one[axis].wrapping_sub(other[axis]));
            write_steps(writer, less(digest.place, newer.0));
            write_steps(writer, less(digest.velocity, newer.1));
            writer.u8(u8::from(digest.sees));
            newer = (digest.place, digest.velocity);
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Watch, DecodeError> {
        let (own, other) = (name::read_index(reader)?, name::read_index(reader)?);
        let first = reader.varint(u64::from(u32::MAX), "first")? as u32;
        let since = reader.varint(u64::from(u32::MAX - first), "newest")?;
        let newest = first + since as u32;
        let behind = reader.zigzag(i64::from(u32::MAX), "lacks")?;
        let lacks = u32::try_from(i64::from(newest) - behind).map_err(|_| reader.refuse("lacks"))?;
        let count = reader.count(DIGESTS_MAX, 7, "digests")?;
        // None from before the first, and at least the newest.
        if count == 0 || count as u64 > since + 1 {
            return Err(reader.refuse("digests"));
        }
        let mut digests: Vec<Digest> = Vec::with_capacity(count);
        for _ in 0..count {
            let (place, velocity) = digests.last().map_or(([0; 3], [0; 3]), |newer| (newer.place, newer.velocity));
            let place = read_difference(reader, place, PLACE_MAX, "place")?;
            let velocity = read_difference(reader, velocity, RATE_MAX, "velocity")?;
            let sees = match reader.u8("sees")? {
                0 => false,
                1 => true,
                _ => return Err(reader.refuse("sees")),
            };
            digests.push(Digest { place, velocity, sees });
        }
        Ok(Watch { own, other, first, newest, lacks, digests })
    }
}

fn read_difference(
    reader: &mut Reader<'_>,
    from: [i32; 3],
    max: i32,
    field: &'static str,
) -> Result<[i32; 3], DecodeError> {
    let steps = read_steps(reader, 2 * max, field)?;
    // Within 2^26 and 2^27: no sum of the two overflows.
    let sum: [i32; 3] = std::array::from_fn(|axis| from[axis] + steps[axis]);
    if sum.iter().all(|step| step.abs() <= max) { Ok(sum) } else { Err(reader.refuse(field)) }
}

impl Report {
    /// A report holds at most so many motions, so many watches, and so many objects.
    pub const ITEMS_MAX: usize = ITEMS_MAX;
    /// A watch holds at most so many digests.
    pub const DIGESTS_MAX: usize = DIGESTS_MAX;
    /// A state is at most so old when it is sent, in microseconds.
    pub const AGE_US_MAX: i64 = AGE_US_MAX as i64;

    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.i64(self.time_us);
        writer.varint(self.owns.len() as u64);
        for owns in &self.owns {
            owns.write(writer);
        }
        writer.varint(self.motions.len() as u64);
        for motion in &self.motions {
            motion.write(writer);
        }
        writer.varint(self.watches.len() as u64);
        for watch in &self.watches {
            watch.write(writer);
        }
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Report, DecodeError> {
        let time_us = reader.i64("time_us")?;
        let count = reader.count(ITEMS_MAX, 9, "owns")?;
        let owns = (0..count).map(|_| Owns::read(reader)).collect::<Result<_, _>>()?;
        let count = reader.count(ITEMS_MAX, 11, "motions")?;
        let motions = (0..count).map(|_| Motion::read(reader)).collect::<Result<_, _>>()?;
        let count = reader.count(ITEMS_MAX, 13, "watches")?;
        let watches = (0..count).map(|_| Watch::read(reader)).collect::<Result<_, _>>()?;
        Ok(Report { time_us, owns, motions, watches })
    }
}
