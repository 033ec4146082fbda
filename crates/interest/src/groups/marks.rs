//! Counts for all rows that are zero again at once.

use space::Slot;

/// A count per row; those of an earlier round are zero.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    rows: Vec<(u32, u32)>,
    round: u32,
}

impl Marks {
    /// Makes room for so many rows.
    pub fn grow(&mut self, rows: usize) {
        if self.rows.len() < rows {
            self.rows.resize(rows, (0, 0));
        }
    }

    /// Sets all counts to zero.
    pub fn start(&mut self) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.rows.fill((0, 0));
            self.round = 1;
        }
    }

    /// Marks a row.
    #[inline]
    pub fn set(&mut self, slot: Slot) {
        self.rows[slot.row()] = (self.round, 1);
    }

    /// Whether a row is marked.
    #[inline]
    pub fn has(&self, slot: Slot) -> bool {
        self.rows[slot.row()].0 == self.round
    }

    /// Counts a row.
    #[inline]
    pub fn add(&mut self, slot: Slot) {
        let row = &mut self.rows[slot.row()];
        *row = (self.round, if row.0 == self.round { row.1 + 1 } else { 1 });
    }

    /// Takes one from a row's count, which is not zero.
    #[inline]
    pub fn take(&mut self, slot: Slot) {
        self.rows[slot.row()].1 -= 1;
    }

    /// How often a row was counted.
    #[inline]
    pub fn count(&self, slot: Slot) -> u32 {
        let row = self.rows[slot.row()];
        if row.0 == self.round { row.1 } else { 0 }
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.rows.capacity() * 8
    }
}
