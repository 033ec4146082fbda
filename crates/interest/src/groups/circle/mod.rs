//! A component of the graph in a few machine words.
//!
//! Crowds have their own company: whoever is joined by pairs, directly or through others, is a *circle*, and few circles
//! have more than 128 members. Within one, a set is two words: a bit per member. Whether somebody fits a group, what a
//! group would cover, and whom nobody else covers then are a few instructions each, where lists take searches and merges.
//!
//! So a circle in which something changed is laid out in words ([`Groups::gather_circle`]), repaired ([`repair`]), tidied
//! ([`tidy`]) and written back. To lay it out takes no look at the graph: by the invariants of the last tick, an object's
//! neighbours are those it shared a group with, less the pairs that ended, and those of the pairs that began. Nothing is
//! kept from tick to tick. A larger component is repaired by lists, which are the twin that tests compare this with: both
//! ways make the same choices.
//!
//! Invariants, while a circle is laid out:
//! - Tags ascend with slots: the lowest bit is the lowest slot.
//! - `of` says of each member which groups have its bit in `masks`.
//! - `reaches` and `uncovered` are symmetric; an uncovered pair is within reach and shares no group.

mod repair;
mod tidy;

use space::Slot;

use super::shadow::Shadow;
use super::{GroupChange, GroupId, Groups, insert, remove};
use crate::Graph;

/// The most members of a circle: a set of them is two words.
pub const MEMBERS_MAX: usize = 128;
/// The most groups of a circle when it is laid out.
const GROUPS_MAX: usize = 1024;
/// Room for so many groups more.
const ROOM: usize = 64;

/// A component, laid out.
#[derive(Clone, Debug, Default)]
pub struct Circle {
    /// Its members, ascending; the place of each is its tag.
    slots: Vec<Slot>,
    /// For each member whom it overlaps, and with whom of them it shares no group.
    reaches: Vec<u128>,
    uncovered: Vec<u128>,
    /// The members of each group, now and when the circle was laid out, and where the group is outside.
    masks: Vec<u128>,
    before: Vec<u128>,
    places: Vec<u32>,
    /// The groups of each member: so many words each, a bit per group.
    of: Vec<u64>,
    words: usize,
    /// Scratch.
    shared: Vec<usize>,
    ranking: Vec<(u32, u32, usize)>,
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
        let sets = self.reaches.capacity() + self.uncovered.capacity() + self.masks.capacity() + self.before.capacity();
        sets * 16
            + 4 * (self.slots.capacity() + self.places.capacity())
            + 8 * (self.of.capacity() + self.shared.capacity())
            + 16 * self.ranking.capacity()
    }

    /// The groups of a member.
    #[inline]
    fn groups_of(&self, tag: usize) -> impl Iterator<Item = usize> + '_ {
        indices(&self.of[tag * self.words..][..self.words])
    }

    /// Everybody with whom a member shares groups, one group apart.
    #[inline]
    fn company_beside(&self, tag: usize, group: usize) -> u128 {
        let others = self.groups_of(tag).filter(|&other| other != group);
        others.fold(0, |company, other| company | self.masks[other])
    }

    #[inline]
    fn join(&mut self, group: usize, tag: usize) {
        self.masks[group] |= 1 << tag;
        self.of[tag * self.words + group / 64] |= 1 << (group % 64);
    }

    #[inline]
    fn leave(&mut self, group: usize, tag: usize) {
        self.masks[group] &= !(1 << tag);
        self.of[tag * self.words + group / 64] &= !(1 << (group % 64));
    }

    /// Takes a member out of a group, and then the last one if nobody else is left.
    fn leave_to_others(&mut self, group: usize, tag: usize) {
        self.leave(group, tag);
        if self.masks[group].count_ones() == 1 {
            self.leave(group, self.masks[group].trailing_zeros() as usize);
        }
    }

    /// Opens a group. `take_near` finds a place for it, near another's.
    fn open(&mut self, members: u128, take_near: &mut dyn FnMut(Option<u32>) -> u32) {
        let near = tags(members).find_map(|tag| self.groups_of(tag).map(|group| self.places[group]).min());
        let group = self.masks.len();
        if group == self.words * 64 {
            self.widen();
        }
        self.places.push(take_near(near));
        self.before.push(0);
        self.masks.push(0);
        tags(members).for_each(|tag| self.join(group, tag));
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
    }

    fn clear(&mut self) {
        self.slots.clear();
        self.masks.clear();
        self.places.clear();
    }
}

impl Groups {
    /// Lays out the circle of an object, unless it is too large.
    pub(super) fn gather_circle(&mut self, seed: Slot, graph: &Graph) -> bool {
        self.circle.clear();
        self.seats.start_circle();
        if !self.seat_everybody(seed, graph) {
            self.seats.send_away(&self.circle.slots);
            return false;
        }
        let Groups { circle, seats, members, .. } = self;
        let Circle { slots, reaches, uncovered, masks, before, places, of, words, .. } = circle;
        slots.sort_unstable();
        seats.tag(slots);
        *words = (places.len() + ROOM).div_ceil(64);
        for (list, len) in [(&mut *reaches, slots.len()), (uncovered, slots.len())] {
            list.clear();
            list.resize(len, 0);
        }
        of.clear();
        of.resize(slots.len() * *words, 0);
        for (group, &place) in places.iter().enumerate() {
            let list = members.get(place as usize);
            let mut mask = 0u128;
            for &member in list {
                let tag = seats.tag_of(member);
                mask |= 1 << tag;
                of[tag * *words + group / 64] |= 1 << (group % 64);
            }
            tags(mask).for_each(|tag| reaches[tag] |= mask);
            masks.push(mask);
        }
        before.clone_from(masks);
        reaches.iter_mut().enumerate().for_each(|(tag, reach)| *reach &= !(1 << tag));
        for (tag, &slot) in slots.iter().enumerate() {
            for pair in seats.ended(slot, graph.ended()) {
                let other = seats.tag_of(pair.b());
                reaches[tag] &= !(1 << other);
                reaches[other] &= !(1 << tag);
            }
        }
        for (tag, &slot) in slots.iter().enumerate() {
            for pair in seats.began(slot, graph.began()) {
                let other = seats.tag_of(pair.b());
                reaches[tag] |= 1 << other;
                reaches[other] |= 1 << tag;
                uncovered[tag] |= 1 << other;
                uncovered[other] |= 1 << tag;
            }
        }
        true
    }

    /// Follows groups and pairs that began from an object to all others that they lead to, and notes the groups.
    fn seat_everybody(&mut self, seed: Slot, graph: &Graph) -> bool {
        self.start_counting();
        let Groups { circle: Circle { slots, places: found, .. }, seats, places, members, memberships, round, .. } = self;
        let mut next = 0;
        seats.sit(seed, slots, MEMBERS_MAX);
        while let Some(&slot) = slots.get(next) {
            next += 1;
            for &group in memberships.get(slot.row()) {
                if std::mem::replace(&mut places[group as usize].round, *round) == *round {
                    continue;
                }
                let list = members.get(group as usize);
                found.push(group);
                let fits = found.len() <= GROUPS_MAX && list.len() <= MEMBERS_MAX;
                if !fits || !list.iter().all(|&member| seats.sit(member, slots, MEMBERS_MAX)) {
                    return false;
                }
            }
            if !seats.sit_with(slot, graph.began(), slots, MEMBERS_MAX) {
                return false;
            }
        }
        true
    }

    /// Writes back what changed, and notes it.
    pub(super) fn write_circle_back(&mut self) {
        let Groups { circle, places, members, memberships, changes, freed, list, groups, joined, .. } = self;
        for (index, &group) in circle.places.iter().enumerate() {
            let (mask, before, place) = (circle.masks[index], circle.before[index], &mut places[group as usize]);
            if mask == before && mask != 0 {
                continue;
            }
            let id = GroupId(u64::from(place.generation) << 32 | u64::from(group));
            if mask == 0 {
                place.generation = place.generation.wrapping_add(1);
                freed.push(group);
            }
            if mask == before {
                continue;
            }
            if before == 0 {
                changes.push(GroupChange::Created(id));
                *groups += 1;
            }
            for tag in tags(mask ^ before) {
                let slot = circle.slots[tag];
                if mask >> tag & 1 == 1 {
                    changes.push(GroupChange::Joined(id, slot));
                    insert(memberships, slot.row(), group);
                } else {
                    changes.push(GroupChange::Left(id, slot));
                    remove(memberships, slot.row(), group);
                }
            }
            if mask == 0 {
                changes.push(GroupChange::Dissolved(id));
                *groups -= 1;
            }
            *joined = *joined + mask.count_ones() as usize - before.count_ones() as usize;
            list.clear();
            list.extend(tags(mask).map(|tag| circle.slots[tag]));
            members.replace(group as usize, list);
            place.shadow = Shadow::of_all(list);
        }
    }
}

/// The bits of a set, ascending.
#[inline]
fn tags(mut set: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let tag = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (tag < MEMBERS_MAX).then_some(tag)
    })
}

/// The bits of some words, ascending.
#[inline]
fn indices(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(index, &word)| {
        let mut word = word;
        std::iter::from_fn(move || {
            let bit = word.trailing_zeros() as usize;
            word &= word.wrapping_sub(1);
            (bit < 64).then_some(index * 64 + bit)
        })
    })
}

#[inline]
fn is_within(set: u128, whole: u128) -> bool {
    set & !whole == 0
}
