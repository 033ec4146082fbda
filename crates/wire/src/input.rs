//! A client's inputs. Each datagram repeats the newest few, so that a lost one is in the next.

use serde::Serialize;
use space::DVec3;
use space::bytes::{Malformed, Reader, Writer};

use crate::state::VELOCITY_PARTS;

/// The most inputs in one datagram.
pub const STEPS_MAX: usize = 8;

/// What a client wants in one tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InputStep {
    /// Metres per second along x, y and z, in 256ths; a walker's y is ignored.
    pub velocity: [i16; 3],
    /// The direction that it faces, in 256ths of a turn about the upright axis.
    pub heading: u8,
    /// Whether it jumps, if it stands on something.
    pub is_jump: bool,
}

impl InputStep {
    /// The velocity in metres per second.
    pub fn wish(&self) -> DVec3 {
        DVec3::from_array(self.velocity.map(|part| f64::from(part) / f64::from(VELOCITY_PARTS)))
    }
}

/// Whether one number came after another; numbers wrap around.
pub fn is_newer(number: u32, other: u32) -> bool {
    number.wrapping_sub(other) as i32 > 0
}

/// A datagram of inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Moves {
    /// The low 16 bits of the number of the last roster received: handles that left in later ones are not reused yet.
    pub heard: u16,
    /// The low 32 bits of the tick that the newest input is for.
    pub tick: u32,
    /// The number of the newest input; the others count down from it.
    pub newest: u32,
    /// One per tick, the newest first, at least one.
    pub steps: Vec<InputStep>,
}

const JUMP: u8 = 1;
const SAME_VELOCITY: u8 = 2;
const SAME_HEADING: u8 = 4;
const LEVEL: u8 = 8;

impl Moves {
    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        writer.u16(self.heard);
        writer.u32(self.tick);
        writer.u32(self.newest);
        let steps = &self.steps[..self.steps.len().min(STEPS_MAX)];
        writer.u8(steps.len() as u8);
        let mut last = InputStep::default();
        for step in steps {
            writer.u8(step.flags(&last));
            if step.velocity != last.velocity {
                let [x, y, z] = step.velocity;
                writer.u16(x as u16);
                if y != 0 {
                    writer.u16(y as u16);
                }
                writer.u16(z as u16);
            }
            if step.heading != last.heading {
                writer.u8(step.heading);
            }
            last = *step;
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Moves, Malformed> {
        let (heard, tick, newest) = (reader.u16("heard")?, reader.u32("tick")?, reader.u32("newest")?);
        let count = usize::from(reader.u8("steps")?);
        reader.check((1..=STEPS_MAX).contains(&count), "steps")?;
        let mut steps = Vec::with_capacity(count.min(reader.remaining()));
        let mut last = InputStep::default();
        for _ in 0..count {
            let flags = reader.u8("flags")?;
            let mut step = last;
            step.is_jump = flags & JUMP != 0;
            if flags & SAME_VELOCITY == 0 {
                let mut part = || reader.u16("velocity").map(|part| part as i16);
                step.velocity = [part()?, if flags & LEVEL == 0 { part()? } else { 0 }, part()?];
            }
            if flags & SAME_HEADING == 0 {
                step.heading = reader.u8("heading")?;
            }
            reader.check(step.flags(&last) == flags, "flags")?;
            steps.push(step);
            last = step;
        }
        Ok(Moves { heard, tick, newest, steps })
    }
}

impl InputStep {
    /// Flags for the fields that need not be written.
    fn flags(&self, last: &InputStep) -> u8 {
        let when = |is: bool, flag: u8| if is { flag } else { 0 };
        let is_same = self.velocity == last.velocity;
        when(self.is_jump, JUMP)
            | when(is_same, SAME_VELOCITY)
            | when(self.heading == last.heading, SAME_HEADING)
            | when(!is_same && self.velocity[1] == 0, LEVEL)
    }
}
