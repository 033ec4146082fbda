//! What was asked for, tick by tick, as bytes: with a snapshot, enough to see everything again.
//!
//! ```text
//! each tick:  u64 tick, u32 how many inputs, then each input
//! an input:   u64 sender, u32 sequence, u64 the tick it was made for, u8 what, then what that needs
//! ```
//! Records stand one after the other, so that a journal can be appended to and cut between any two of them.

use space::bytes::{Malformed, Reader};
use space::{NodeId, ObjectId, Tick, Vec3};

use crate::hash::StateHash;
use crate::input::{Act, Input};
use crate::snapshot::{read_text, write_text};
use crate::world::World;

/// What an input takes at least.
const INPUT_BYTES: usize = 21;

/// One tick of a journal.
#[derive(Clone, Debug, PartialEq)]
pub struct JournalRecord {
    /// The tick that the inputs were taken in.
    pub tick: Tick,
    /// What was asked for, in the order in which it was handed in.
    pub inputs: Vec<Input>,
}

/// Why a journal could not be replayed.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ReplayError {
    /// Bytes that are not what they should be.
    #[error("the journal is damaged {0}")]
    Malformed(#[from] Malformed),
    /// A tick is missing.
    #[error("the journal goes on with {found}, expected {expected}")]
    Gap {
        /// What comes.
        found: Tick,
        /// What should.
        expected: Tick,
    },
}

/// Appends the inputs of one tick to a journal.
pub fn write(tick: Tick, inputs: &[Input], journal: &mut Vec<u8>) {
    journal.extend_from_slice(&tick.number().to_le_bytes());
    journal.extend_from_slice(&(inputs.len() as u32).to_le_bytes());
    let mut sink = |bytes: &[u8]| journal.extend_from_slice(bytes);
    for input in inputs {
        sink(&input.sender.number().to_le_bytes());
        sink(&input.sequence.to_le_bytes());
        sink(&input.made_for.number().to_le_bytes());
        let vector = |value: Vec3, sink: &mut dyn FnMut(&[u8])| {
            value.to_array().iter().for_each(|number| sink(&number.to_bits().to_le_bytes()));
        };
        match &input.act {
            Act::Join { name, avatar, at } => {
                sink(&[0]);
                write_text(name, &mut sink);
                sink(&avatar.to_le_bytes());
                sink(&[u8::from(at.is_some())]);
                if let Some(at) = at {
                    vector(*at, &mut sink);
                }
            }
            Act::Leave => sink(&[1]),
            Act::Move { velocity } => {
                sink(&[2]);
                vector(*velocity, &mut sink);
            }
            Act::Turn { heading } => {
                sink(&[3]);
                sink(&heading.to_bits().to_le_bytes());
            }
            Act::Jump => sink(&[4]),
            Act::Grab { object } => {
                sink(&[5]);
                sink(&object.number().to_le_bytes());
            }
            Act::Release => sink(&[6]),
            Act::Say { text } => {
                sink(&[7]);
                write_text(text, &mut sink);
            }
        }
    }
}

/// Reads a journal record by record, and stops at the first one that is damaged.
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

/// Steps a world through a journal, skipping the ticks that it has behind it. `after` sees the world after each.
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

/// Whether the numbers make sense is the world's question: it has seen them before, and judges the same again.
fn read_act(reader: &mut Reader<'_>) -> Result<Act, Malformed> {
    let most = usize::from(u16::MAX);
    Ok(match reader.u8("what was asked for")? {
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
        _ => return Err(reader.refuse("something that can be asked for")),
    })
}

fn read_vector(reader: &mut Reader<'_>) -> Result<Vec3, Malformed> {
    Ok(Vec3::new(read_number(reader)?, read_number(reader)?, read_number(reader)?))
}

fn read_number(reader: &mut Reader<'_>) -> Result<f32, Malformed> {
    reader.array("a number").map(f32::from_le_bytes)
}
