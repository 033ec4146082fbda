//! What can be sent of each object, row by row as the audience knows them: worked out once per tick, by the first
//! listener that needs it, and copied for all others.

use space::{GridPoint, Slot, Turn};
use wire::state::{Body, Prepared};

/// All objects, as they are sent.
#[derive(Clone, Debug, Default)]
pub struct Bodies {
    rows: Vec<Row>,
    /// Who moved in the last tick, and may stand now.
    moving: Vec<Slot>,
    before: Vec<Slot>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Row {
    place: GridPoint,
    turn: Turn,
    motion: [i16; 3],
    is_elsewhere: bool,
    /// The tick that last changed anything above.
    changed: u64,
    /// The tick that last changed its place.
    moved: u64,
    /// The tick for which `prepared` holds, or zero.
    prepared_for: u64,
    prepared: Prepared,
}

impl Bodies {
    /// Nobody yet.
    pub fn new() -> Bodies {
        Bodies::default()
    }

    /// Somebody new in this row.
    pub fn insert(&mut self, slot: Slot, tick: u64, place: GridPoint, turn: Turn) {
        if self.rows.len() <= slot.row() {
            self.rows.resize(slot.row() + 1, Row::default());
        }
        self.rows[slot.row()] = Row { place, turn, changed: tick, ..Row::default() };
    }

    /// An object faces another way after this tick.
    pub fn turned(&mut self, slot: Slot, tick: u64, turn: Turn) {
        if let Some(row) = self.rows.get_mut(slot.row()).filter(|row| row.turn != turn) {
            (row.turn, row.changed) = (turn, tick);
        }
    }

    /// An object has another pose after this tick. `is_elsewhere` says that it did not come along a path.
    pub fn moved(&mut self, slot: Slot, tick: u64, place: GridPoint, turn: Turn, is_elsewhere: bool) {
        let Some(row) = self.rows.get_mut(slot.row()) else { return };
        let motion = if is_elsewhere { [0; 3] } else { Body::motion_of(row.place, place) };
        *row = Row { place, turn, motion, is_elsewhere, changed: tick, moved: tick, ..*row };
        self.moving.push(slot);
    }

    /// Ends the tick: who moved in the one before and not in this one stands now.
    pub fn settle(&mut self, tick: u64) {
        for slot in self.before.drain(..) {
            let row = &mut self.rows[slot.row()];
            if row.moved < tick && (row.motion != [0; 3] || row.is_elsewhere) {
                (row.motion, row.is_elsewhere, row.changed) = ([0; 3], false, tick);
            }
        }
        std::mem::swap(&mut self.before, &mut self.moving);
    }

    /// What is sent of an object.
    pub fn body(&self, slot: Slot) -> Body {
        let Row { place, turn, motion, is_elsewhere, .. } = self.rows[slot.row()];
        Body { place, turn, motion, is_elsewhere }
    }

    /// Where an object is.
    pub fn place(&self, slot: Slot) -> GridPoint {
        self.rows[slot.row()].place
    }

    /// The last tick that changed anything about it.
    pub fn changed(&self, slot: Slot) -> u64 {
        self.rows[slot.row()].changed
    }

    /// The bits of an object, worked out if nobody asked for them since they changed.
    pub fn prepared(&mut self, slot: Slot) -> &Prepared {
        let row = &mut self.rows[slot.row()];
        if row.prepared_for < row.changed || row.prepared_for == 0 {
            let Row { place, turn, motion, is_elsewhere, .. } = *row;
            row.prepared = Body { place, turn, motion, is_elsewhere }.prepare();
            row.prepared_for = row.changed.max(1);
        }
        &row.prepared
    }
}
