//! Marks for all rows that are gone again at once.

use space::Slot;

/// A mark per row; those of an earlier round are none.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    rows: Vec<u32>,
    round: u32,
}

impl Marks {
    /// Makes room for so many rows.
    pub fn grow(&mut self, rows: usize) {
        if self.rows.len() < rows {
            self.rows.resize(rows, 0);
        }
    }

    /// Takes all marks away.
    pub fn start(&mut self) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.rows.fill(0);
            self.round = 1;
        }
    }

    /// Marks a row.
    #[inline]
    pub fn set(&mut self, slot: Slot) {
        self.rows[slot.row()] = self.round;
    }

    /// Whether a row is marked.
    #[inline]
    pub fn has(&self, slot: Slot) -> bool {
        self.rows[slot.row()] == self.round
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.rows.capacity() * 4
    }
}
