//! A list that is too long for one message is sent in pieces. Each has its number and their count, so that the receiver
//! knows when it has all, in any order and with duplicates.

use serde::Serialize;
use space::bytes::{Malformed, Reader, Writer};

/// The most objects in one piece: with the longest names and numbers a fifth of what a message may have.
pub const PIECE_OBJECTS_MAX: usize = 4_096;
/// The most pieces of one list: together they hold as many objects as a world can.
pub const PIECES_MAX: u32 = 4_096;

/// The place of a message among the pieces of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Piece {
    /// Counted from zero.
    pub number: u32,
    /// At least one.
    pub count: u32,
}

impl Piece {
    /// A list in one piece.
    pub const WHOLE: Piece = Piece { number: 0, count: 1 };

    pub(super) fn write(self, writer: &mut Writer<'_>) {
        writer.varint(self.number);
        writer.varint(self.count);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Piece, Malformed> {
        let number = reader.varint(PIECES_MAX.into(), "piece")? as u32;
        let count = reader.varint(PIECES_MAX.into(), "pieces")? as u32;
        reader.check(number < count, "piece")?;
        Ok(Piece { number, count })
    }
}
