//! Positions of objects in one datagram, complete in itself.
//!
//! A datagram has the listener's own place in full, the *anchor*, and of every other place only the low bits: the
//! receiver takes the place nearest to the anchor that ends in them. The bits of an object therefore do not depend on
//! the listener. They are [prepared](Body::prepare) once per tick and copied into each listener's datagram, behind its
//! handle for the object.

use serde::Serialize;
use space::bytes::{Malformed, Reader};
use space::{GridPoint, Turn};

use crate::bits::{BitReader, BitWriter};
use crate::codec::begin;
use crate::pose::{self, Handle, STEPS_MAX};
use crate::{DATAGRAM_MAX, kind};

/// The unit of motion, in steps per tick: at 30 ticks a second 0.117 m/s, with half of that as its error. Motion serves
/// prediction only; places are exact.
pub const MOTION_UNIT: i32 = 4;
/// The fastest motion, in units per tick: at 30 ticks a second 960 m/s. Faster motion is told as this.
pub const MOTION_MAX: i32 = 8_191;
/// The unit of an own velocity is one metre per second divided by this.
pub const VELOCITY_PARTS: i32 = 256;

/// One object in a datagram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Body {
    #[serde(serialize_with = "pose::serialize_point")]
    pub place: GridPoint,
    #[serde(serialize_with = "pose::serialize_turn")]
    pub turn: Turn,
    /// The displacement of the last tick, in [`MOTION_UNIT`]s.
    pub motion: [i16; 3],
    /// Whether it was put here: the picture must not let it glide.
    pub is_elsewhere: bool,
}

impl Body {
    /// The motion of a displacement in one tick, to the nearest unit.
    pub fn motion_of(before: GridPoint, after: GridPoint) -> [i16; 3] {
        let units = |steps: i32| {
            let half = if steps < 0 { -MOTION_UNIT / 2 } else { MOTION_UNIT / 2 };
            (steps.saturating_add(half) / MOTION_UNIT).clamp(-MOTION_MAX, MOTION_MAX) as i16
        };
        let steps = |before: i32, after: i32| units(after.saturating_sub(before));
        [steps(before.x, after.x), steps(before.y, after.y), steps(before.z, after.z)]
    }

    /// Computes all bits that do not depend on the listener.
    pub fn prepare(&self) -> Prepared {
        let (mut bits, mut width) = (0_u128, 0);
        let mut push = |value: u64, count: u32| {
            bits |= u128::from(value & ((1 << count) - 1)) << width;
            width += count;
        };
        let size = motion_size(self.motion);
        push(u64::from(self.is_elsewhere), 1);
        push(size as u64, 2);
        let (form, turn, turn_width) = pose::turn_bits(self.turn);
        push(form, 2);
        for (motion, count) in self.motion.into_iter().zip(MOTION_WIDTHS[size]) {
            push(motion as u64, count);
        }
        push(turn, turn_width);
        Prepared { place: self.place, bits, width }
    }
}

/// The bits of motion along x, y and z: at rest, level and slow, fast, very fast.
const MOTION_WIDTHS: [[u32; 3]; 4] = [[0, 0, 0], [6, 0, 6], [8, 8, 8], [14, 14, 14]];

/// The first row of [`MOTION_WIDTHS`] that holds this motion.
fn motion_size(motion: [i16; 3]) -> usize {
    let fits = |widths: &[u32; 3]| {
        motion.iter().zip(widths).all(|(&units, &width)| match width {
            0 => units == 0,
            width => (-(1 << (width - 1))..1 << (width - 1)).contains(&i32::from(units)),
        })
    };
    MOTION_WIDTHS.iter().position(fits).unwrap_or(MOTION_WIDTHS.len() - 1)
}

/// A body whose bits are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prepared {
    place: GridPoint,
    bits: u128,
    width: u32,
}

/// The bits of a place along x, y and z: near, farther, far, and anywhere.
const PLACE_WIDTHS: [[u32; 3]; 4] = [[14, 9, 14], [16, 11, 16], [16, 16, 16], [25, 25, 25]];
/// The form with all bits of a place.
const ANYWHERE: usize = PLACE_WIDTHS.len() - 1;

impl Prepared {
    /// The number of its bits in a datagram with this anchor, without its handle.
    pub fn bits(&self, anchor: GridPoint) -> u32 {
        2 + PLACE_WIDTHS[place_form(self.place, anchor)].iter().sum::<u32>() + self.width
    }

    fn write(&self, writer: &mut BitWriter<'_>, anchor: GridPoint) {
        let form = place_form(self.place, anchor);
        writer.push(form as u64, 2);
        let [x, y, z] = PLACE_WIDTHS[form];
        let steps = |steps: i32, width: u32| (steps as u64) & ((1 << width) - 1);
        let (low, high) = (steps(self.place.x, x) | steps(self.place.y, y) << x, steps(self.place.z, z));
        writer.push(low, x + y);
        writer.push(high, z);
        let first = self.width.min(56);
        writer.push(self.bits as u64, first);
        if self.width > 56 {
            writer.push((self.bits >> 56) as u64, self.width - 56);
        }
    }
}

fn place_form(place: GridPoint, anchor: GridPoint) -> usize {
    let fits = |steps: i32, anchor: i32, width: u32| {
        let away = steps.wrapping_sub(anchor);
        (-(1 << (width - 1))..1 << (width - 1)).contains(&away)
    };
    let is_near = |widths: &[u32; 3]| {
        fits(place.x, anchor.x, widths[0]) && fits(place.y, anchor.y, widths[1]) && fits(place.z, anchor.z, widths[2])
    };
    PLACE_WIDTHS[..ANYWHERE].iter().position(is_near).unwrap_or(ANYWHERE)
}

/// The client's own avatar, so that the client can correct its prediction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Own {
    /// The low 16 bits of the newest input that is in this state.
    pub acknowledged: u16,
    /// In metres per second times [`VELOCITY_PARTS`].
    pub velocity: [i16; 3],
    /// Whether it stands on something.
    pub is_grounded: bool,
}

/// The fields before the bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Head {
    /// The low 32 bits of the tick.
    pub tick: u32,
    /// The receiver's own place, or the place that it watches from.
    #[serde(serialize_with = "pose::serialize_point")]
    pub anchor: GridPoint,
    /// The receiver's own avatar, if it has one.
    pub own: Option<Own>,
}

/// A state datagram.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct State {
    pub head: Head,
    /// By rising handles.
    pub bodies: Vec<(Handle, Body)>,
}

impl State {
    /// Encodes the datagram. Bodies that do not fit, or whose handle is not above the last, are left out.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = StateWriter::new(&mut bytes, &self.head);
        for (handle, body) in &self.bodies {
            writer.push(*handle, &body.prepare());
        }
        writer.end();
        bytes
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<State, Malformed> {
        let tick = reader.u32("tick")?;
        let flags = reader.bits(3, "flags")?;
        let (is_own, is_grounded) = (flags & 1 != 0, flags & 2 != 0);
        reader.check(is_own || !is_grounded, "flags")?;
        let anchor = pose::read_point(reader, "anchor")?;
        let own = if is_own {
            let acknowledged = reader.u16("acknowledged")?;
            let mut part = || reader.zigzag(i16::MAX, "velocity").map(|part| part as i16);
            Some(Own { acknowledged, velocity: [part()?, part()?, part()?], is_grounded })
        } else {
            None
        };
        let head = Head { tick, anchor, own };
        let mut bits = BitReader::new(reader.rest());
        let mut bodies = Vec::with_capacity(bits.remaining() / BODY_BITS_MIN);
        let mut last = -1;
        while bits.remaining() >= BODY_BITS_MIN {
            let Some((handle, body)) = take_body(&mut bits, last, anchor) else { return Err(reader.refuse("bodies")) };
            last = i32::from(handle.0);
            bodies.push((handle, body));
        }
        reader.check(bits.is_at_end(), "bodies")?;
        Ok(State { head, bodies })
    }
}

/// A handle of one bit, the shortest place, and a body that neither moves nor turns.
const BODY_BITS_MIN: usize = 1 + 2 + 37 + 5;

fn take_body(bits: &mut BitReader<'_>, last: i32, anchor: GridPoint) -> Option<(Handle, Body)> {
    let gap = i32::try_from(bits.take_gamma()?).ok()?;
    let handle = last.checked_add(gap).filter(|&handle| handle <= i32::from(Handle::MAX.0))?;
    let form = bits.take(2)? as usize;
    let [x, y, z] = *PLACE_WIDTHS.get(form)?;
    let mut along = |anchor: i32, width: u32| {
        let steps = bits.take_signed(width)?;
        // The number nearest to the anchor that ends in these bits; with all bits, the number itself.
        let near = if form == ANYWHERE { 0 } else { anchor };
        let unused = 32 - width;
        let away = steps.wrapping_sub(near) << unused >> unused;
        Some(near + away).filter(|steps| steps.abs() <= STEPS_MAX)
    };
    let place = GridPoint::new(along(anchor.x, x)?, along(anchor.y, y)?, along(anchor.z, z)?);
    let is_elsewhere = bits.take(1)? == 1;
    let size = bits.take(2)? as usize;
    // The form of the turn is before the motion, its bits are after it.
    let turn_form = bits.take(2)?;
    let mut motion = [0; 3];
    for (units, width) in motion.iter_mut().zip(MOTION_WIDTHS[size]) {
        *units = bits.take_signed(width)? as i16;
    }
    let turn = pose::take_turn(turn_form, bits)?;
    let body = Body { place, turn, motion, is_elsewhere };
    let is_shortest = place_form(place, anchor) == form && motion_size(motion) == size;
    let is_within = motion.iter().all(|units| i32::from(*units) >= -MOTION_MAX);
    (is_shortest && is_within).then_some((Handle(handle as u16), body))
}

/// Writes a state datagram body by body while they fit.
#[derive(Debug)]
pub struct StateWriter<'a> {
    writer: BitWriter<'a>,
    anchor: GridPoint,
    /// The last handle.
    last: i32,
    /// The number of bits that are left.
    room: i64,
}

impl<'a> StateWriter<'a> {
    /// Starts a datagram at the end of `bytes`.
    pub fn new(bytes: &'a mut Vec<u8>, head: &Head) -> StateWriter<'a> {
        let start = bytes.len();
        let mut writer = begin(bytes, kind::STATE);
        writer.u32(head.tick);
        let flags = head.own.map_or(0, |own| 1 | u8::from(own.is_grounded) << 1);
        writer.u8(flags);
        pose::write_point(&mut writer, head.anchor);
        if let Some(own) = &head.own {
            writer.u16(own.acknowledged);
            own.velocity.iter().for_each(|part| writer.zigzag((*part).max(-i16::MAX)));
        }
        let room = 8 * (DATAGRAM_MAX as i64 - (bytes.len() - start) as i64);
        StateWriter { writer: BitWriter::new(bytes), anchor: head.anchor, last: -1, room }
    }

    /// Appends a body if it fits and its handle is above the last; returns whether it did.
    pub fn push(&mut self, handle: Handle, body: &Prepared) -> bool {
        let gap = i32::from(handle.0) - self.last;
        if gap < 1 || handle > Handle::MAX {
            return false;
        }
        let gap_bits = 2 * gap.ilog2() + 1;
        let bits = i64::from(gap_bits + body.bits(self.anchor));
        if bits > self.room {
            return false;
        }
        self.room -= bits;
        self.last = i32::from(handle.0);
        self.writer.push_gamma(gap as u32);
        body.write(&mut self.writer, self.anchor);
        true
    }

    /// Completes the datagram.
    pub fn end(self) {
        self.writer.end();
    }
}
