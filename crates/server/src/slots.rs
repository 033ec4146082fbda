//! Which object is in which row of the audience.

use std::collections::BTreeMap;

use space::{ObjectId, Slot};

/// Objects with higher numbers are kept in a map: there are few, unless the world is very old.
const DENSE_MAX: u64 = 1 << 22;

/// Objects and their rows in the audience.
#[derive(Debug, Default)]
pub(crate) struct SlotTable {
    /// By the numbers of objects.
    dense: Vec<Option<Slot>>,
    sparse: BTreeMap<ObjectId, Slot>,
    objects: Vec<Option<ObjectId>>,
}

impl SlotTable {
    pub fn slot(&self, object: ObjectId) -> Option<Slot> {
        if object.number() < DENSE_MAX {
            return self.dense.get(object.number() as usize).copied().flatten();
        }
        self.sparse.get(&object).copied()
    }

    pub fn object(&self, slot: Slot) -> Option<ObjectId> {
        self.objects.get(slot.row()).copied().flatten()
    }

    pub fn insert(&mut self, object: ObjectId, slot: Slot) {
        if object.number() < DENSE_MAX {
            let at = object.number() as usize;
            if self.dense.len() <= at {
                self.dense.resize(at + 1, None);
            }
            self.dense[at] = Some(slot);
        } else {
            self.sparse.insert(object, slot);
        }
        if self.objects.len() <= slot.row() {
            self.objects.resize(slot.row() + 1, None);
        }
        self.objects[slot.row()] = Some(object);
    }

    pub fn remove(&mut self, object: ObjectId) -> Option<Slot> {
        let slot = if object.number() < DENSE_MAX {
            self.dense.get_mut(object.number() as usize)?.take()
        } else {
            self.sparse.remove(&object)
        }?;
        self.objects[slot.row()] = None;
        Some(slot)
    }
}
