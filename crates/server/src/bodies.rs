//! What can be sent of each object, by the rows of the audience. It is computed once per tick, for the first listener
//! that needs it, and copied for all others.

use space::{GridPoint, Slot, Turn};
use wire::state::{Body, Prepared};

/// All objects, as they are sent.
#[derive(Clone, Debug, Default)]
pub struct Bodies {
    rows: Vec<Row>,
    /// Apart from the rows: every object may move, and few are listened to.
    prepared: Vec<Bits>,
    /// The last tick that was completed.
    now: u64,
}

/// What is sent of an object, and for which of its changes: one cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Bits {
    changed: u64,
    prepared: Prepared,
}

#[derive(Clone, Copy, Debug, Default)]
struct Row {
    place: GridPoint,
    turn: Turn,
    /// In the tick that last moved it; in all later ones it stands.
    motion: [i16; 3],
    is_elsewhere: bool,
    /// The tick in which it came, and the one that last moved or turned it.
    inserted: u64,
    moved: u64,
}

impl Row {
    /// Whether it moved in the last tick.
    fn is_moving(&self, now: u64) -> bool {
        self.moved >= now
    }

    fn body(&self, now: u64) -> Body {
        let Row { place, turn, motion, is_elsewhere, .. } = *self;
        if self.is_moving(now) {
            Body { place, turn, motion, is_elsewhere }
        } else {
            Body { place, turn, ..Body::default() }
        }
    }

    /// The tick that last changed what is sent. An object that stopped changed in the tick after its last move.
    fn changed(&self, now: u64) -> u64 {
        let has_stopped = !self.is_moving(now) & ((self.motion != [0; 3]) | self.is_elsewhere);
        self.inserted.max(self.moved + u64::from(has_stopped))
    }
}

impl Bodies {
    pub fn new() -> Bodies {
        Bodies::default()
    }

    /// Adds an object in this row.
    pub fn insert(&mut self, slot: Slot, tick: u64, place: GridPoint, turn: Turn) {
        if self.rows.len() <= slot.row() {
            self.rows.resize(slot.row() + 1, Row::default());
            self.prepared.resize(slot.row() + 1, Bits::default());
        }
        self.rows[slot.row()] = Row { place, turn, inserted: tick, ..Row::default() };
        self.prepared[slot.row()].changed = 0;
    }

    /// An object has another pose after this tick. `is_elsewhere` says that it did not come along a path.
    pub fn moved(&mut self, slot: Slot, tick: u64, place: GridPoint, turn: Turn, is_elsewhere: bool) {
        let Some(row) = self.rows.get_mut(slot.row()) else { return };
        let motion = if is_elsewhere { [0; 3] } else { Body::motion_of(row.place, place) };
        *row = Row { place, turn, motion, is_elsewhere, inserted: row.inserted, moved: tick };
    }

    /// Ends the tick: objects that did not move in it stand now.
    pub fn settle(&mut self, tick: u64) {
        self.now = tick;
    }

    /// What is sent of an object.
    pub fn body(&self, slot: Slot) -> Body {
        self.rows[slot.row()].body(self.now)
    }

    pub fn place(&self, slot: Slot) -> GridPoint {
        self.rows[slot.row()].place
    }

    /// The last tick that changed anything about an object.
    #[inline]
    pub fn changed(&self, slot: Slot) -> u64 {
        self.rows[slot.row()].changed(self.now)
    }

    /// The same, and prefetches the object's bits.
    #[inline]
    pub fn changed_and_fetched(&self, slot: Slot) -> u64 {
        space::fetch_ahead(&self.prepared[slot.row()]);
        self.changed(slot)
    }

    /// The bits of an object, computed if they were not asked for since it changed.
    pub fn prepared(&mut self, slot: Slot) -> &Prepared {
        let (row, bits) = (&self.rows[slot.row()], &mut self.prepared[slot.row()]);
        let changed = row.changed(self.now).max(1);
        if bits.changed != changed {
            *bits = Bits { changed, prepared: row.body(self.now).prepare() };
        }
        &bits.prepared
    }
}
