//! Positions and orientations as the world settles them: grid points and turns. Encoding rounds nothing.

use std::sync::OnceLock;

use serde::{Serialize, Serializer};
use space::bytes::{Malformed, Reader, Writer};
use space::{Grid, GridPoint, ObjectId, Turn, snap};

use crate::bits::{BitReader, BitWriter};

/// The largest coordinate of a grid point.
pub const STEPS_MAX: i32 = Grid::REACH * snap::STEPS_PER_METRE;

/// A short name for an object between a server and one client, valid while the client hears the object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Handle(pub u16);

impl Handle {
    /// The highest handle: a client hears at most 4,096 objects at once.
    pub const MAX: Handle = Handle(4_095);
}

/// The number of headings.
pub const HEADINGS: usize = 256;

/// The turn about the upright axis by `part` 256ths of a whole turn.
pub fn heading(part: u8) -> Turn {
    headings().turns[usize::from(part)]
}

/// The heading that makes exactly this turn, if there is one.
pub fn heading_of(turn: Turn) -> Option<u8> {
    let headings = headings();
    let at = headings.by_bits.binary_search_by_key(&turn.bits(), |&(bits, _)| bits).ok()?;
    Some(headings.by_bits[at].1)
}

/// The angle of a heading, in radians: a world that turns an avatar by it settles on [`heading`].
pub fn heading_radians(part: u8) -> f32 {
    f32::from(part) * (std::f32::consts::TAU / HEADINGS as f32)
}

/// The heading nearest to an angle in radians, at most 0.0123 radians from it; 0 for an infinite angle or NaN.
pub fn nearest_heading(radians: f32) -> u8 {
    let parts = f64::from(radians) * (HEADINGS as f64 / std::f64::consts::TAU);
    if parts.is_finite() { parts.round().rem_euclid(HEADINGS as f64) as u8 } else { 0 }
}

struct Headings {
    turns: [Turn; HEADINGS],
    by_bits: Vec<(u64, u8)>,
}

fn headings() -> &'static Headings {
    static HELD: OnceLock<Headings> = OnceLock::new();
    HELD.get_or_init(|| {
        let turns = std::array::from_fn(|part| Turn::upright(heading_radians(part as u8)));
        let mut by_bits: Vec<(u64, u8)> = turns.iter().zip(0..=255).map(|(turn, part)| (turn.bits(), part)).collect();
        by_bits.sort_unstable();
        Headings { turns, by_bits }
    })
}

/// A turn about the upright axis leaves two of its three levels at zero: 16 bits remain.
fn upright_bits(turn: Turn) -> Option<u64> {
    const ZERO: u64 = 16_383;
    let level = |shift: u32| turn.bits() >> shift & 0x7fff;
    match (turn.bits() >> 45, level(30), level(15), level(0)) {
        (3, ZERO, upright, ZERO) => Some(upright),
        (1, ZERO, ZERO, upright) => Some(1 << 15 | upright),
        _ => None,
    }
}

fn upright_turn(bits: u64) -> Option<Turn> {
    const ZERO: u64 = 16_383;
    let level = bits & 0x7fff;
    let is_beyond_a_right_angle = bits >> 15 & 1 == 1;
    let bits = if is_beyond_a_right_angle {
        1 << 45 | ZERO << 30 | ZERO << 15 | level
    } else {
        3 << 45 | ZERO << 30 | level << 15 | ZERO
    };
    Turn::from_bits(bits)
}

/// The form of a turn (0 none, 1 a heading in 8 bits, 2 upright in 16 bits, 3 whole in 47), its bits and their number.
pub(crate) fn turn_bits(turn: Turn) -> (u64, u64, u32) {
    if turn == Turn::IDENTITY {
        (0, 0, 0)
    } else if let Some(part) = heading_of(turn) {
        (1, u64::from(part), 8)
    } else if let Some(bits) = upright_bits(turn) {
        (2, bits, 16)
    } else {
        (3, turn.bits(), Turn::BITS)
    }
}

/// `None` if there are too few bits, or if this is not the encoding of the turn.
pub(crate) fn take_turn(form: u64, reader: &mut BitReader<'_>) -> Option<Turn> {
    let turn = match form {
        0 => return Some(Turn::IDENTITY),
        1 => {
            // A heading of zero has form 0.
            let part = reader.take(8)? as u8;
            return (part != 0).then(|| heading(part));
        }
        2 => upright_turn(reader.take(16)?)?,
        _ => Turn::from_bits(reader.take(Turn::BITS)?)?,
    };
    (turn_bits(turn).0 == form).then_some(turn)
}

pub(crate) fn write_point(writer: &mut Writer<'_>, point: GridPoint) {
    for steps in [point.x, point.y, point.z] {
        writer.zigzag(steps);
    }
}

pub(crate) fn read_point(reader: &mut Reader<'_>, field: &'static str) -> Result<GridPoint, Malformed> {
    let mut steps = || reader.zigzag(STEPS_MAX, field).map(|steps| steps as i32);
    Ok(GridPoint::new(steps()?, steps()?, steps()?))
}

/// Writes a turn in whole bytes.
pub(crate) fn write_turn(writer: &mut Writer<'_>, turn: Turn) {
    let mut bits = BitWriter::new(writer.buffer());
    let (form, turn, width) = turn_bits(turn);
    bits.push(form, 2);
    bits.push(turn, width);
    bits.end();
}

pub(crate) fn read_turn(reader: &mut Reader<'_>) -> Result<Turn, Malformed> {
    let first = reader.u8("turn")?;
    let more = [0, 1, 2, 6][usize::from(first & 3)];
    let mut bytes = [first, 0, 0, 0, 0, 0, 0];
    bytes[1..=more].copy_from_slice(reader.raw(more, "turn")?);
    let mut bits = BitReader::new(&bytes[..=more]);
    let form = bits.take(2).unwrap_or(0);
    match take_turn(form, &mut bits) {
        Some(turn) if bits.is_at_end() => Ok(turn),
        _ => Err(reader.refuse("turn")),
    }
}

pub(crate) fn write_object(writer: &mut Writer<'_>, object: ObjectId) {
    writer.varint(object.number());
}

pub(crate) fn read_object(reader: &mut Reader<'_>) -> Result<ObjectId, Malformed> {
    let number = reader.varint(u64::MAX, "object")?;
    ObjectId::new(number).ok_or_else(|| reader.refuse("object"))
}

pub(crate) fn read_handle(reader: &mut Reader<'_>) -> Result<Handle, Malformed> {
    reader.varint(Handle::MAX.0.into(), "handle").map(|number| Handle(number as u16))
}

/// For golden vectors: a point as three numbers.
pub(crate) fn serialize_point<S: Serializer>(point: &GridPoint, serializer: S) -> Result<S::Ok, S::Error> {
    [point.x, point.y, point.z].serialize(serializer)
}

/// For golden vectors: a turn as its bits.
pub(crate) fn serialize_turn<S: Serializer>(turn: &Turn, serializer: S) -> Result<S::Ok, S::Error> {
    turn.bits().serialize(serializer)
}

/// For golden vectors: an object as its number.
pub(crate) fn serialize_object<S: Serializer>(object: &ObjectId, serializer: S) -> Result<S::Ok, S::Error> {
    object.number().serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_is_the_turn_it_stands_for() {
        for part in 0..=255 {
            assert_eq!(heading_of(heading(part)), Some(part));
            let angle = f32::from(part) * (std::f32::consts::TAU / 256.0);
            assert_eq!(nearest_heading(angle), part);
            assert_eq!(nearest_heading(angle - 20.0 * std::f32::consts::TAU), part);
        }
        assert_eq!(nearest_heading(f32::NAN), 0);
        assert_eq!(heading_of(Turn::upright(0.01)), None);
    }

    #[test]
    fn upright_turns_take_two_bytes_of_bits() {
        for step in 0..1_000 {
            let turn = Turn::upright(step as f32 * 0.0077);
            let bits = upright_bits(turn).expect("it is upright");
            assert_eq!(upright_turn(bits), Some(turn));
        }
    }
}
