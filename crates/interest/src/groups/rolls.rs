//! Who is in which group, as lists from both sides.

use space::Slot;

use crate::lists::{Lists, Word};

/// The groups of whoever has no home.
#[derive(Clone, Debug)]
pub struct Rolls {
    /// The members of each group, ascending.
    pub members: Lists<Slot>,
    /// The groups of each object, ascending.
    pub memberships: Lists<u32>,
}

impl Rolls {
    pub fn new() -> Rolls {
        Rolls { members: Lists::new(), memberships: Lists::new() }
    }

    /// Puts an object into a group, unless it is in.
    pub fn insert(&mut self, group: u32, slot: Slot) {
        insert(&mut self.members, group as usize, slot);
        insert(&mut self.memberships, slot.row(), group);
    }

    /// Takes an object out of a group, if it is in.
    pub fn remove(&mut self, group: u32, slot: Slot) {
        remove(&mut self.members, group as usize, slot);
        remove(&mut self.memberships, slot.row(), group);
    }

    /// Forgets some objects, and groups that have no other members.
    pub fn forget(&mut self, slots: &[Slot], groups: &[u32]) {
        groups.iter().for_each(|&group| self.members.replace(group as usize, &[]));
        slots.iter().for_each(|slot| self.memberships.replace(slot.row(), &[]));
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.members.bytes() + self.memberships.bytes()
    }
}

fn insert<T: Word + Ord>(lists: &mut Lists<T>, row: usize, entry: T) {
    if let Err(place) = lists.get(row).binary_search(&entry) {
        lists.insert(row, place, entry);
    }
}

fn remove<T: Word + Ord>(lists: &mut Lists<T>, row: usize, entry: T) {
    if let Ok(place) = lists.get(row).binary_search(&entry) {
        lists.remove(row, place);
    }
}
