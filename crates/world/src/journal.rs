//! The inputs of each tick as bytes: with a snapshot they replay a world.
//!
//! ```text
//! a record:   u64 tick, u32 number of inputs, then each input
//! an input:   u64 sender, u32 sequence, u64 the tick for which it was made, u8 kind of act, then its fields
//! ```
//! Records follow each other, so that a journal can be appended to, and cut between any two of them.

use space::bytes::{Malformed, Reader, Writer};
use space::{NodeId, ObjectId, Tick, Vec3};

use crate::hash::StateHash;
use crate::input::{Act, Input};
use crate::snapshot::{read_text, write_text};
use crate::world::World;

/// The least bytes of an input.
const INPUT_BYTES: usize = 21;

/// One tick of a journal.
#[derive(Clone, Debug, PartialEq)]
pub struct JournalRecord {
    pub tick: Tick,
    pub inputs: Vec<Input>,
}

/// Why a journal could not be replayed.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ReplayError {
    #[error("the journal is damaged {0}")]
    Malformed(#[from] Malformed),
    /// A tick is missing.
    #[error("the journal goes on with {found}, expected {expected}")]
    Gap { found: Tick, expected: Tick },
}

/// Appends the inputs of one tick to a journal.
pub fn write(tick: Tick, inputs: &[Input], journal: &mut Vec<u8>) {
    let mut writer = Writer::new(journal);
    writer.u64(tick.number());
    writer.u32(inputs.len() as u32);
    for input in inputs {
        writer.u64(input.sender.number());
        writer.u32(input.sequence);
        writer.u64(input.made_for.number());
        write_act(&input.act, &mut writer);
    }
}

fn write_act(act: &Act, writer: &mut Writer<'_>) {
    let vector =
        |value: Vec3, writer: &mut Writer<'_>| value.to_array().into_iter().for_each(|number| writer.f32(number));
    match act {
        Act::Join { name, avatar, at } => {
            writer.u8(0);
            write_text(name, writer);
            writer.u16(*avatar);
            writer.flag(at.is_some());
            if let Some(at) = at {
                vector(*at, writer);
            }
        }
        Act::Leave => writer.u8(1),
        Act::Move { velocity } => {
            writer.u8(2);
            vector(*velocity, writer);
        }
        Act::Turn { heading } => {
            writer.u8(3);
            writer.f32(*heading);
        }
        Act::Jump => writer.u8(4),
        Act::Grab { object } => {
            writer.u8(5);
            writer.u64(object.number());
        }
        Act::Release => writer.u8(6),
        Act::Say { text } => {
            writer.u8(7);
            write_text(text, writer);
        }
    }
}

/// Reads a journal record by record, up to the first one that is damaged.
pub fn read(journal: &[u8]) -> impl Iterator<Item = Result<JournalRecord, Malformed>> {
    let mut reader = Some(Reader::new(journal));
    std::iter::from_fn(move || {
        let record = match reader.as_mut()? {
            reader if reader.remaining() == 0 => return None,
            reader => read_record(reader),
        };
        if record.is_err() {
            reader = None;
        }
        Some(record)
    })
}

/// Steps a world through a journal, without the ticks that are behind it. `after` is called after each step.
pub fn replay(world: &mut World, journal: &[u8], after: &mut dyn FnMut(&World)) -> Result<StateHash, ReplayError> {
    for record in read(journal) {
        let record = record?;
        if record.tick <= world.tick() {
            continue;
        }
        let expected = world.tick().next();
        if record.tick != expected {
            return Err(ReplayError::Gap { found: record.tick, expected });
        }
        world.step(&record.inputs);
        after(world);
    }
    Ok(world.hash())
}

fn read_record(reader: &mut Reader<'_>) -> Result<JournalRecord, Malformed> {
    let tick = Tick::new(reader.u64("a tick")?);
    let count = reader.u32("a count")? as usize;
    reader.check(count <= reader.remaining() / INPUT_BYTES, "as many inputs as there are bytes")?;
    let mut inputs = Vec::with_capacity(count);
    for _ in 0..count {
        let sender = NodeId::new(reader.u64("a sender")?);
        let sequence = reader.u32("a sequence")?;
        let made_for = Tick::new(reader.u64("a tick")?);
        inputs.push(Input { sender, sequence, made_for, act: read_act(reader)? });
    }
    Ok(JournalRecord { tick, inputs })
}

/// Reads an act. Its numbers may be out of range, as the world refuses such inputs in a replay again.
fn read_act(reader: &mut Reader<'_>) -> Result<Act, Malformed> {
    let most = usize::from(u16::MAX);
    Ok(match reader.u8("an act")? {
        0 => Act::Join {
            name: read_text(reader, most, "a name")?.into(),
            avatar: reader.u16("an avatar")?,
            at: if reader.u8("whether a place follows")? == 0 { None } else { Some(read_vector(reader)?) },
        },
        1 => Act::Leave,
        2 => Act::Move { velocity: read_vector(reader)? },
        3 => Act::Turn { heading: read_number(reader)? },
        4 => Act::Jump,
        5 => Act::Grab { object: ObjectId::new(reader.u64("an object")?).ok_or_else(|| reader.refuse("an object"))? },
        6 => Act::Release,
        7 => Act::Say { text: read_text(reader, most, "a text")?.into() },
        _ => return Err(reader.refuse("an act")),
    })
}

fn read_vector(reader: &mut Reader<'_>) -> Result<Vec3, Malformed> {
    Ok(Vec3::new(read_number(reader)?, read_number(reader)?, read_number(reader)?))
}

fn read_number(reader: &mut Reader<'_>) -> Result<f32, Malformed> {
    reader.array("a number").map(f32::from_le_bytes)
}
