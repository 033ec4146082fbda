//! Where everybody is, in one datagram that stands alone.
//!
//! A client hears of objects near its own, so a datagram carries its own place in full, the *anchor*, and of all others
//! only the low bits of theirs: the receiver takes the place nearest to the anchor that ends in them. What is sent of
//! an object therefore does not depend on who hears it. It is [prepared](Body::prepare) once per tick and copied to
//! each listener, behind the handle that the listener knows it by.

use serde::Serialize;
use space::{GridPoint, Turn};

use crate::bits::{BitReader, BitWriter};
use crate::codec::{DecodeError, Reader, Writer};
use crate::pose::{self, Handle, STEPS_MAX};
use crate::{DATAGRAM_MAX, kind};

/// Motion is told in units of so many steps per tick: at 30 ticks a second 0.117 m/s, with half of that as its error.
/// It serves prediction alone; places are exact.
pub const MOTION_UNIT: i32 = 4;
/// The fastest motion, in units per tick: at 30 ticks a second 960 m/s. What is faster is told as this.
pub const MOTION_MAX: i32 = 8_191;
/// An own velocity is told in so many parts of a metre per second.
pub const VELOCITY_PARTS: i32 = 256;

/// What a datagram says of one object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Body {
    /// Where it is.
    #[serde(serialize_with = "pose::serialize_point")]
    pub place: GridPoint,
    /// How it is turned.
    #[serde(serialize_with = "pose::serialize_turn")]
    pub turn: Turn,
    /// By how much it moved in the last tick, in [`MOTION_UNIT`]s.
    pub motion: [i16; 3],
    /// It did not come here along a path: nobody should see it glide.
    pub is_elsewhere: bool,
}

impl Body {
    /// Motion for [`Body::motion`]: the displacement of one tick, in steps, to the nearest unit.
    pub fn motion_of(before: GridPoint, after: GridPoint) -> [i16; 3] {
        let units = |steps: i32| {
            let half = if steps < 0 { -MOTION_UNIT / 2 } else { MOTION_UNIT / 2 };
            (steps.saturating_add(half) / MOTION_UNIT).clamp(-MOTION_MAX, MOTION_MAX) as i16
        };
        let steps = |before: i32, after: i32| units(after.saturating_sub(before));
        [steps(before.x, after.x), steps(before.y, after.y), steps(before.z, after.z)]
    }

    /// Works out all bits that do not depend on who hears it.
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

/// The bits of motion along x, y and z, by how much there is: none, level and slow, fast, very fast.
const MOTION_WIDTHS: [[u32; 3]; 4] = [[0, 0, 0], [6, 0, 6], [8, 8, 8], [14, 14, 14]];

/// The first size that holds this motion.
fn motion_size(motion: [i16; 3]) -> usize {
    let fits = |widths: &[u32; 3]| {
        motion.iter().zip(widths).all(|(&units, &width)| match width {
            0 => units == 0,
            width => (-(1 << (width - 1))..1 << (width - 1)).contains(&i32::from(units)),
        })
    };
    MOTION_WIDTHS.iter().position(fits).unwrap_or(MOTION_WIDTHS.len() - 1)
}

/// A body whose bits are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prepared {
    place: GridPoint,
    bits: u128,
    width: u32,
}

/// How many bits tell a place, by form: few low bits of x and z and fewer of y; more; many of all; everything.
const PLACE_WIDTHS: [[u32; 3]; 4] = [[14, 9, 14], [16, 11, 16], [16, 16, 16], [25, 25, 25]];
/// The form that tells everything.
const ANYWHERE: usize = PLACE_WIDTHS.len() - 1;

impl Prepared {
    /// How many bits it takes in a datagram with this anchor, its handle not counted.
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

/// What a client is told of its own avatar, so that it can correct what it predicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Own {
    /// The low 16 bits of the newest input that is in this state.
    pub acknowledged: u16,
    /// Metres per second, in [`VELOCITY_PARTS`].
    pub velocity: [i16; 3],
    /// Whether it stands on something.
    pub is_grounded: bool,
}

/// What comes before the bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Head {
    /// The low 32 bits of the tick after which this was true.
    pub tick: u32,
    /// The receiver's own place, or one that it watches from.
    #[serde(serialize_with = "pose::serialize_point")]
    pub anchor: GridPoint,
    /// The receiver's own avatar, if it has one.
    pub own: Option<Own>,
}

/// A state datagram.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct State {
    /// What comes first.
    pub head: Head,
    /// Bodies, by handles in rising order.
    pub bodies: Vec<(Handle, Body)>,
}

impl State {
    /// The bytes; bodies that do not fit, or whose handle is not above the one before, are left out.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = StateWriter::new(&mut bytes, &self.head);
        for (handle, body) in &self.bodies {
            writer.push(*handle, &body.prepare());
        }
        writer.end();
        bytes
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<State, DecodeError> {
        let tick = reader.u32("tick")?;
        let flags = reader.u8("flags")?;
        let (is_own, is_grounded) = (flags & 1 != 0, flags & 2 != 0);
        if flags > 3 || (is_grounded && !is_own) {
            return Err(reader.refuse("flags"));
        }
        let anchor = pose::read_point(reader, "anchor")?;
        let own = if is_own {
            let acknowledged = reader.u16("acknowledged")?;
            let mut part = || reader.zigzag(i64::from(i16::MAX), "velocity").map(|part| part as i16);
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
        if bits.is_at_end() { Ok(State { head, bodies }) } else { Err(reader.refuse("bodies")) }
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
        // The number that ends in these bits and is nearest to the anchor; with all bits, the number itself.
        let near = if form == ANYWHERE { 0 } else { anchor };
        let unused = 32 - width;
        let away = steps.wrapping_sub(near) << unused >> unused;
        Some(near + away).filter(|steps| steps.abs() <= STEPS_MAX)
    };
    let place = GridPoint::new(along(anchor.x, x)?, along(anchor.y, y)?, along(anchor.z, z)?);
    let is_elsewhere = bits.take(1)? == 1;
    let size = bits.take(2)? as usize;
    // The form of the turn stands before the motion, its bits after.
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

/// Writes a state datagram body by body, as long as they fit.
#[derive(Debug)]
pub struct StateWriter<'a> {
    writer: BitWriter<'a>,
    anchor: GridPoint,
    /// Where this datagram begins in the buffer.
    last: i32,
    /// Bits that are left.
    room: i64,
}

impl<'a> StateWriter<'a> {
    /// Begins a datagram in an empty buffer.
    pub fn new(bytes: &'a mut Vec<u8>, head: &Head) -> StateWriter<'a> {
        let begin = bytes.len();
        let mut writer = Writer::new(bytes, kind::STATE);
        writer.u32(head.tick);
        let flags = head.own.map_or(0, |own| 1 | u8::from(own.is_grounded) << 1);
        writer.u8(flags);
        pose::write_point(&mut writer, head.anchor);
        if let Some(own) = &head.own {
            writer.u16(own.acknowledged);
            own.velocity.iter().for_each(|part| writer.zigzag(i64::from((*part).max(-i16::MAX))));
        }
        let room = 8 * (DATAGRAM_MAX as i64 - (bytes.len() - begin) as i64);
        StateWriter { writer: BitWriter::new(bytes), anchor: head.anchor, last: -1, room }
    }

    /// Appends a body if it fits and its handle is above the last; says whether it did.
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
