//! A list that is too long for one message is told in pieces. Each says which of how many it is, so that whoever gathers them
//! knows when it has all, in whatever order and however often they come.

use serde::Serialize;

use crate::codec::{DecodeError, Reader, Writer};

/// The most objects in one piece: with the longest names and numbers they are a fifth of what a message may have.
pub const PIECE_OBJECTS_MAX: usize = 4_096;
/// The most pieces of one list: together they hold as many objects as a world can.
pub const PIECES_MAX: u32 = 4_096;

/// Which part of a list a message has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Piece {
    /// Which, from zero.
    pub number: u32,
    /// Of how many; one at least.
    pub count: u32,
}

impl Piece {
    /// A list that is told at once.
    pub const WHOLE: Piece = Piece { number: 0, count: 1 };

    pub(super) fn write(self, writer: &mut Writer<'_>) {
        writer.varint(u64::from(self.number));
        writer.varint(u64::from(self.count));
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Piece, DecodeError> {
        let number = reader.varint(u64::from(PIECES_MAX), "piece")? as u32;
        let count = reader.varint(u64::from(PIECES_MAX), "pieces")? as u32;
        if number < count { Ok(Piece { number, count }) } else { Err(reader.refuse("piece")) }
    }
}
