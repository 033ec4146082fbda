//! A component of the graph in a few machine words.
//!
//! Crowds have their own company: whoever is joined by pairs, directly or through others, is a *circle*, and few circles
//! have more than 256 members. Within one, a set is four words: a bit per member. Whether somebody fits a group, what a
//! group would cover, and whom nobody else covers then are a few instructions each, where lists take searches and merges.
//!
//! So a circle in which something changed is laid out in words ([`Groups::gather_circle`]), repaired ([`repair`]), tidied
//! ([`tidy`]) and written back. To lay it out takes no look at the graph: by the invariants of the last tick, an object's
//! neighbours are those it shared a group with, less the pairs that ended, and those of the pairs that began. Most
//! circles are [`kept`] for the next tick. A larger component is repaired by lists, which are the twin that tests compare this with: both
//! ways make the same choices.
//!
//! Invariants, while a circle is laid out:
//! - Tags ascend with slots: the lowest bit is the lowest slot.
//! - `of` says of each member which groups have its bit in `masks`.
//! - Reaches and what is uncovered are symmetric; an uncovered pair is within reach and shares no group.

mod kept;
mod repair;
mod set;
mod tidy;

use std::hint::black_box;

use space::Slot;

pub use self::kept::Kept;
use self::set::{MEMBERS_MAX, Set};
use super::shadow::Shadow;
use super::{GroupChange, GroupId, Groups, insert, remove};
use crate::Graph;

/// The most groups of a circle when it is laid out.
const GROUPS_MAX: usize = 1024;
/// Room for so many groups more.
const ROOM: usize = 64;
/// The place of a group that is no more.
const VACANT: u32 = u32::MAX;

/// A component, laid out.
#[derive(Clone, Debug, Default)]
pub struct Circle {
    /// Its members, ascending; the place of each is its tag.
    slots: Vec<Slot>,
    /// For each member whom it overlaps.
    reaches: Vec<Set>,
    /// The members of each group, and where it is outside.
    masks: Vec<Set>,
    places: Vec<u32>,
    /// The groups of each member: so many words each, a bit per group.
    of: Vec<u64>,
    words: usize,
    /// Groups that are no more.
    vacant: Vec<usize>,
    /// The tick in which its members were found.
    found: u32,
    desk: Desk,
}

/// What a circle needs while it is repaired, and hands on to the next.
#[derive(Clone, Debug, Default)]
struct Desk {
    /// For each member with whom of those it overlaps it shares no group.
    uncovered: Vec<Set>,
    /// What groups were before they were touched, and which have been: a bit each.
    before: Vec<(usize, Set)>,
    touched: Vec<u64>,
    shared: Vec<usize>,
    ranking: Vec<(u32, u32, usize)>,
    /// The groups of some members: a bit each.
    candidates: Vec<u64>,
}

impl Circle {
    /// Its members, ascending.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Where its groups are.
    pub fn places(&self) -> &[u32] {
        &self.places
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        let Desk { uncovered, before, touched, shared, ranking, candidates } = &self.desk;
        let sets = self.reaches.capacity() + self.masks.capacity() + uncovered.capacity();
        sets * size_of::<Set>()
            + before.capacity() * size_of::<(usize, Set)>()
            + ranking.capacity() * size_of::<(u32, u32, usize)>()
            + 4 * (self.slots.capacity() + self.places.capacity())
            + 8 * (self.of.capacity() + self.vacant.capacity() + shared.capacity())
            + 8 * (touched.capacity() + candidates.capacity())
    }

    /// The groups of a member.
    #[inline]
    fn groups_of(&self, tag: usize) -> impl Iterator<Item = usize> + '_ {
        indices(&self.of[tag * self.words..][..self.words])
    }

    /// Everybody with whom a member shares groups, one group apart.
    #[inline]
    fn company_beside(&self, tag: usize, group: usize) -> Set {
        let mut company = Set::EMPTY;
        for (index, &word) in self.of[tag * self.words..][..self.words].iter().enumerate() {
            let mut rest = if index == group / 64 { word & !(1 << (group % 64)) } else { word };
            while rest != 0 {
                company |= self.masks[index * 64 + rest.trailing_zeros() as usize];
                rest &= rest - 1;
            }
        }
        company
    }

    #[inline]
    fn join(&mut self, group: usize, tag: usize) {
        self.touch(group);
        self.masks[group].insert(tag);
        self.of[tag * self.words + group / 64] |= 1 << (group % 64);
    }

    #[inline]
    fn leave(&mut self, group: usize, tag: usize) {
        self.touch(group);
        self.masks[group].remove(tag);
        self.of[tag * self.words + group / 64] &= !(1 << (group % 64));
    }

    /// Keeps what a group was when the tick began.
    #[inline]
    fn touch(&mut self, group: usize) {
        let word = &mut self.desk.touched[group / 64];
        if *word >> (group % 64) & 1 == 0 {
            *word |= 1 << (group % 64);
            self.desk.before.push((group, self.masks[group]));
        }
    }

    /// Clears the desk for a circle that is to be repaired.
    fn begin(&mut self) {
        let Desk { uncovered, before, touched, .. } = &mut self.desk;
        uncovered.clear();
        uncovered.resize(self.slots.len(), Set::EMPTY);
        before.clear();
        touched.clear();
        touched.resize(self.words, 0);
    }

    /// Takes a member out of a group, and then the last one if nobody else is left.
    fn leave_to_others(&mut self, group: usize, tag: usize) {
        self.leave(group, tag);
        let mut rest = self.masks[group].tags();
        if let (Some(last), None) = (rest.next(), rest.next()) {
            self.leave(group, last);
        }
    }

    /// Opens a group. `take_near` finds a place for it, near another's.
    fn open(&mut self, members: Set, take_near: &mut dyn FnMut(Option<u32>) -> u32) {
        let near = members.tags().find_map(|tag| self.groups_of(tag).map(|group| self.places[group]).min());
        let group = self.vacant.pop().unwrap_or_else(|| {
            if self.masks.len() == self.words * 64 {
                self.widen();
            }
            self.places.push(VACANT);
            self.masks.push(Set::EMPTY);
            self.masks.len() - 1
        });
        self.places[group] = take_near(near);
        members.tags().for_each(|tag| self.join(group, tag));
    }

    /// Makes room for more groups.
    #[cold]
    fn widen(&mut self) {
        let wider = self.words * 2;
        let mut of = vec![0; self.slots.len() * wider];
        for (new, old) in of.chunks_exact_mut(wider).zip(self.of.chunks_exact(self.words)) {
            new[..self.words].copy_from_slice(old);
        }
        (self.of, self.words) = (of, wider);
        self.desk.touched.resize(wider, 0);
    }

    fn clear(&mut self) {
        self.slots.clear();
        self.masks.clear();
        self.places.clear();
        self.vacant.clear();
    }
}

impl Groups {
    /// Lays out the circle of an object, unless it is too large.
    pub(super) fn gather_circle(&mut self, seed: Slot, graph: &Graph) -> bool {
        self.circle.clear();
        self.seats.start_circle();
        if !self.seat_everybody(seed, graph) {
            self.seats.send_away(&self.circle.slots);
            self.forget_homes();
            return false;
        }
        self.forget_homes();
        self.circle.slots.sort_unstable();
        self.circle.found = self.seats.tick();
        self.seats.tag(&self.circle.slots);
        self.lay_out();
        self.take_in_news(graph);
        true
    }

    /// Lays out the circle once more, after its groups were changed elsewhere.
    pub(super) fn lay_out_anew(&mut self) {
        self.start_counting();
        let Groups { circle, places, memberships, round, .. } = self;
        circle.places.clear();
        circle.masks.clear();
        circle.vacant.clear();
        for &group in circle.slots.iter().flat_map(|slot| memberships.get(slot.row())) {
            if std::mem::replace(&mut places[group as usize].round, *round) != *round {
                circle.places.push(group);
            }
        }
        self.lay_out();
    }

    /// Lays out the groups of the circle.
    pub(super) fn lay_out(&mut self) {
        let Groups { circle, seats, members, .. } = self;
        let Circle { slots, reaches, masks, places, of, words, .. } = circle;
        *words = (places.len() + ROOM).div_ceil(64);
        reaches.clear();
        reaches.resize(slots.len(), Set::EMPTY);
        of.clear();
        of.resize(slots.len() * *words, 0);
        for (group, &place) in places.iter().enumerate() {
            let list = members.get(place as usize);
            let mut mask = Set::EMPTY;
            for &member in list {
                let tag = seats.tag_of(member);
                mask.insert(tag);
                of[tag * *words + group / 64] |= 1 << (group % 64);
            }
            mask.tags().for_each(|tag| reaches[tag] |= mask);
            masks.push(mask);
        }
        reaches.iter_mut().enumerate().for_each(|(tag, reach)| reach.remove(tag));
    }

    /// Takes in the pairs that ended and began.
    pub(super) fn take_in_news(&mut self, graph: &Graph) {
        self.circle.begin();
        let Groups { circle: Circle { slots, reaches, desk, .. }, seats, .. } = self;
        let uncovered = &mut desk.uncovered;
        for (tag, &slot) in slots.iter().enumerate() {
            for pair in seats.ended(slot, graph.ended()) {
                let other = seats.tag_of(pair.b());
                reaches[tag].remove(other);
                reaches[other].remove(tag);
            }
        }
        for (tag, &slot) in slots.iter().enumerate() {
            for pair in seats.began(slot, graph.began()) {
                let other = seats.tag_of(pair.b());
                reaches[tag].insert(other);
                reaches[other].insert(tag);
                uncovered[tag].insert(other);
                uncovered[other].insert(tag);
            }
        }
    }

    /// Follows groups and pairs that began from an object to all others that they lead to, and notes the groups.
    fn seat_everybody(&mut self, seed: Slot, graph: &Graph) -> bool {
        self.start_counting();
        let Groups { circle: Circle { slots, places: found, .. }, seats, places, members, memberships, round, .. } =
            self;
        seats.sit(seed, slots, MEMBERS_MAX);
        let (mut seen, mut seen_groups) = (0, 0);
        // Ring by ring, and each ring is fetched at once: one by one, every list would be waited for.
        while seen < slots.len() {
            let ring = seen..slots.len();
            memberships.fetch(slots[ring.clone()].iter().map(|slot| slot.row()));
            for slot in &slots[ring.clone()] {
                for &group in memberships.get(slot.row()) {
                    if std::mem::replace(&mut places[group as usize].round, *round) != *round {
                        found.push(group);
                    }
                }
                if found.len() > GROUPS_MAX {
                    return false;
                }
            }
            members.fetch(found[seen_groups..].iter().map(|&group| group as usize));
            for &group in &found[seen_groups..] {
                if !members.get(group as usize).iter().all(|&member| seats.sit(member, slots, MEMBERS_MAX)) {
                    return false;
                }
            }
            seen = ring.end;
            seen_groups = found.len();
            for index in ring {
                if !seats.sit_with(slots[index], graph.began(), slots, MEMBERS_MAX) {
                    return false;
                }
            }
        }
        true
    }

    /// Writes back what changed, and notes it.
    pub(super) fn write_circle_back(&mut self) {
        let Groups { circle, places, members, memberships, changes, freed, list, groups, joined, .. } = self;
        // One by one, each list would be waited for.
        let touched = || circle.desk.before.iter().map(|&(index, _)| circle.places[index] as usize);
        black_box(touched().fold(0u32, |sum, group| sum.wrapping_add(places[group].generation)));
        members.fetch(touched());
        memberships.fetch(circle.slots.iter().map(|slot| slot.row()));
        for &(index, before) in &circle.desk.before {
            let (group, mask) = (circle.places[index], circle.masks[index]);
            if mask == before && !mask.is_empty() {
                continue;
            }
            let place = &mut places[group as usize];
            let id = GroupId(u64::from(place.generation) << 32 | u64::from(group));
            if mask.is_empty() {
                place.generation = place.generation.wrapping_add(1);
                freed.push(group);
                circle.places[index] = VACANT;
                circle.vacant.push(index);
            }
            if mask == before {
                continue;
            }
            if before.is_empty() {
                changes.push(GroupChange::Created(id));
                *groups += 1;
            }
            for tag in mask.differing(before).tags() {
                let slot = circle.slots[tag];
                if mask.has(tag) {
                    changes.push(GroupChange::Joined(id, slot));
                    insert(memberships, slot.row(), group);
                } else {
                    changes.push(GroupChange::Left(id, slot));
                    remove(memberships, slot.row(), group);
                }
            }
            if mask.is_empty() {
                changes.push(GroupChange::Dissolved(id));
                *groups -= 1;
            }
            *joined = *joined + mask.len() as usize - before.len() as usize;
            list.clear();
            for tag in mask.tags() {
                list.push(circle.slots[tag]);
            }
            members.replace(group as usize, list);
            place.shadow = Shadow::of_all(list);
        }
    }
}

/// The bits of some words, ascending.
#[inline]
fn indices(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    let (mut index, mut rest) = (0, words.first().copied().unwrap_or(0));
    std::iter::from_fn(move || {
        while rest == 0 {
            index += 1;
            rest = *words.get(index)?;
        }
        let bit = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        Some(index * 64 + bit)
    })
}

#[cfg(test)]
mod tests;
