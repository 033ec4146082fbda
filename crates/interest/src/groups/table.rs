//! All groups: members by group, groups by member, their names, and what a tick changed about them.
//!
//! Invariants:
//! - `members` and `memberships` are ascending and say the same. `signature` is that of a group's members.
//! - A place that loses its last member gets the next generation, and no new group before the next tick.

use space::Slot;

use super::signature::Signature;
use super::{GroupChange, GroupId};
use crate::lists::{Lists, Word};

#[derive(Clone, Debug)]
pub struct GroupTable {
    places: Vec<GroupPlace>,
    members: Lists<Slot>,
    /// The groups of each object, by row.
    memberships: Lists<u32>,
    free: Vec<u32>,
    /// Places given up in this tick.
    freed: Vec<u32>,
    len: usize,
    memberships_len: usize,
    /// Each group touched in this tick, with its generation and members before: a range of `members_before`.
    touched: Vec<(u32, u32, usize, usize)>,
    members_before: Vec<Slot>,
    tick: u32,
    changes: Vec<GroupChange>,
    /// Groups counted since [`start_count`](GroupTable::start_count).
    candidates: Vec<u32>,
    count: u32,
}

/// A group, or room for one.
#[derive(Clone, Copy, Debug, Default)]
struct GroupPlace {
    generation: u32,
    signature: Signature,
    /// The tick in which the group changed last.
    touched: u32,
    /// The count in which it was counted last, and how often.
    count: u32,
    gain: u32,
}

impl GroupTable {
    pub fn new() -> GroupTable {
        GroupTable {
            places: Vec::new(),
            members: Lists::new(),
            memberships: Lists::new(),
            free: Vec::new(),
            freed: Vec::new(),
            len: 0,
            memberships_len: 0,
            touched: Vec::new(),
            members_before: Vec::new(),
            tick: 0,
            changes: Vec::new(),
            candidates: Vec::new(),
            count: 0,
        }
    }

    /// Forgets the last tick's changes.
    pub fn start_tick(&mut self) {
        self.free.append(&mut self.freed);
        self.changes.clear();
        self.touched.clear();
        self.members_before.clear();
        self.tick = self.tick.wrapping_add(1);
        if self.tick == 0 {
            self.places.iter_mut().for_each(|place| place.touched = 0);
            self.tick = 1;
        }
    }

    /// Compares each touched group with what it was before the tick.
    pub fn end_tick(&mut self) {
        let changes = &mut self.changes;
        for &(place, generation, start, end) in &self.touched {
            let id = GroupId::new(place, generation);
            let (old, new) = (&self.members_before[start..end], self.members.get(place as usize));
            if old.is_empty() && !new.is_empty() {
                changes.push(GroupChange::Created(id));
            }
            let (mut i, mut j) = (0, 0);
            while i < old.len() || j < new.len() {
                match (old.get(i), new.get(j)) {
                    (Some(one), Some(other)) if one == other => (i, j) = (i + 1, j + 1),
                    (Some(&one), other) if other.is_none_or(|&other| one < other) => {
                        changes.push(GroupChange::Left(id, one));
                        i += 1;
                    }
                    (_, Some(&other)) => {
                        changes.push(GroupChange::Joined(id, other));
                        j += 1;
                    }
                    (_, None) => break,
                }
            }
            if new.is_empty() && !old.is_empty() {
                changes.push(GroupChange::Dissolved(id));
            }
        }
    }

    pub fn changes(&self) -> &[GroupChange] {
        &self.changes
    }

    pub fn iter(&self) -> impl Iterator<Item = (GroupId, &[Slot])> {
        let all = (0..).zip(&self.places);
        let all = all.map(|(place, known)| (GroupId::new(place, known.generation), self.members(place)));
        all.filter(|(_, members)| !members.is_empty())
    }

    /// The number of places, free ones included.
    pub fn places(&self) -> usize {
        self.places.len()
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// The sum of all groups' sizes.
    pub fn memberships(&self) -> usize {
        self.memberships_len
    }

    pub fn id(&self, place: u32) -> Option<GroupId> {
        self.places.get(place as usize).map(|known| GroupId::new(place, known.generation))
    }

    #[inline]
    pub fn members(&self, group: u32) -> &[Slot] {
        self.members.get(group as usize)
    }

    #[inline]
    pub fn groups_of(&self, slot: Slot) -> &[u32] {
        self.memberships.get(slot.row())
    }

    #[inline]
    pub fn signature(&self, group: u32) -> Signature {
        self.places[group as usize].signature
    }

    /// Opens a group of some members, ascending.
    pub fn open(&mut self, members: &[Slot]) {
        let group = self.free.pop().unwrap_or_else(|| {
            self.places.push(GroupPlace::default());
            self.places.len() as u32 - 1
        });
        self.touch(group);
        self.len += 1;
        self.memberships_len += members.len();
        self.places[group as usize].signature = Signature::of_all(members);
        self.members.replace(group as usize, members);
        members.iter().for_each(|slot| insert(&mut self.memberships, slot.row(), group));
    }

    /// Adds an object to a group that it is not in.
    pub fn join(&mut self, group: u32, slot: Slot) {
        self.touch(group);
        let place = &mut self.places[group as usize];
        place.signature = place.signature | Signature::of(slot);
        self.memberships_len += 1;
        insert(&mut self.members, group as usize, slot);
        insert(&mut self.memberships, slot.row(), group);
    }

    /// Takes an object out of its group. The last to leave dissolves it.
    pub fn leave(&mut self, group: u32, slot: Slot) {
        self.touch(group);
        self.memberships_len -= 1;
        remove(&mut self.members, group as usize, slot);
        remove(&mut self.memberships, slot.row(), group);
        let members = self.members.get(group as usize);
        let place = &mut self.places[group as usize];
        place.signature = Signature::of_all(members);
        if members.is_empty() {
            place.generation = place.generation.wrapping_add(1);
            self.len -= 1;
            self.freed.push(group);
        }
    }

    /// Takes an object out of its group, and the last member too if only one is left.
    pub fn leave_to_others(&mut self, group: u32, slot: Slot) {
        self.leave(group, slot);
        if let [last] = *self.members(group) {
            self.leave(group, last);
        }
    }

    /// Begins another count of groups.
    pub fn start_count(&mut self) {
        self.candidates.clear();
        self.count = self.count.wrapping_add(1);
        if self.count == 0 {
            self.places.iter_mut().for_each(|place| place.count = 0);
            self.count = 1;
        }
    }

    /// Counts a group once more. It becomes a candidate if it may lie within `reach`.
    #[inline]
    pub fn count(&mut self, group: u32, reach: Signature) {
        let place = &mut self.places[group as usize];
        if place.count == self.count {
            place.gain += 1;
        } else if place.signature.may_lie_within(reach) {
            (place.count, place.gain) = (self.count, 1);
            self.candidates.push(group);
        }
    }

    #[inline]
    pub fn count_groups_of(&mut self, slot: Slot, reach: Signature, except: Option<u32>) {
        for index in 0..self.memberships.len(slot.row()) {
            let group = self.memberships.get(slot.row())[index];
            if Some(group) != except {
                self.count(group, reach);
            }
        }
    }

    /// The candidate that was counted most often, and more than `more_than` times, among those that lie within an
    /// ascending list of neighbours; of equals the lowest. Returns its count and its place.
    pub fn best_candidate(&mut self, neighbours: &[Slot], more_than: u32) -> Option<(u32, u32)> {
        let GroupTable { places, candidates, members, .. } = self;
        let gain = |group: u32| places[group as usize].gain;
        candidates.retain(|&group| gain(group) > more_than);
        loop {
            let rank = |&index: &usize| (gain(candidates[index]), std::cmp::Reverse(candidates[index]));
            let best = (0..candidates.len()).max_by_key(rank)?;
            let group = candidates.swap_remove(best);
            if is_within(members.get(group as usize), neighbours) {
                return Some((gain(group), group));
            }
        }
    }

    /// Copies a group's members when it changes for the first time in a tick.
    fn touch(&mut self, group: u32) {
        let place = &mut self.places[group as usize];
        if std::mem::replace(&mut place.touched, self.tick) != self.tick {
            let start = self.members_before.len();
            self.members_before.extend_from_slice(self.members.get(group as usize));
            self.touched.push((group, place.generation, start, self.members_before.len()));
        }
    }
}

/// Whether all entries of an ascending list are in another one.
pub fn is_within(list: &[Slot], whole: &[Slot]) -> bool {
    let mut rest = whole;
    list.len() <= whole.len()
        && list.iter().all(|slot| {
            let place = rest.partition_point(|other| other < slot);
            let is_there = rest.get(place) == Some(slot);
            rest = &rest[place..];
            is_there
        })
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
