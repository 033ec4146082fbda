//! A component of the graph in a few machine words.
//!
//! Crowds have their own company: whoever is joined by pairs, directly or through others, is a *circle*, and few circles
//! have more than 512 members. Within one, a set is two, four or eight words: a bit per member. Whether somebody fits a
//! group, what a group would cover, and whom nobody else covers then are a few instructions each, where lists take
//! searches and merges.
//!
//! So a circle in which something changed is laid out in words ([`Circle::lay_out`]), repaired ([`repair`]) and tidied
//! ([`tidy`]), and tells what changed. To lay it out takes no look at the graph: by the invariants of the last tick, an
//! object's neighbours are those it shared a group with. A circle of some size is at [`home`](super::homes) then: it stays
//! laid out for the next tick, and neither the graph nor the lists know of its members. A smaller one is written back. A
//! larger component is repaired by lists, which are the twin that tests compare this with: both ways make the same choices.
//!
//! Invariants, while a circle is laid out:
//! - Tags ascend with slots: the lowest bit is the lowest slot.
//! - `of` says of each member which groups have its bit in `masks`.
//! - Reaches and what is uncovered are symmetric; an uncovered pair is within reach and shares no group.

mod of;
mod picks;
mod rank;
mod repair;
mod set;
mod tidy;
mod width;

use space::Slot;

use self::of::Of;
use self::picks::Picks;
use self::set::Set;
pub use self::width::{AnyCircle, Desks, MEMBERS_MAX};
use super::homes::NOWHERE;
use super::ledger::Ledger;
use super::rolls::Rolls;
use super::shadow::Shadow;
use super::tidy::Tidying;
use super::{GroupChange, GroupId};
use crate::Graph;

/// The most groups of a circle when it is laid out.
pub const GROUPS_MAX: usize = 1024;
/// Bytes that memory is fetched by.
const LINE: usize = 64;
/// The place of a group that is no more.
const VACANT: u32 = u32::MAX;

/// A component, laid out.
#[derive(Clone, Debug, Default)]
pub struct Circle<const WORDS: usize> {
    /// Its members, ascending; the place of each is its tag.
    slots: Vec<Slot>,
    /// For each member whom it overlaps.
    reaches: Vec<Set<WORDS>>,
    /// The members of each group, where it is outside, and how often that place has been taken.
    masks: Vec<Set<WORDS>>,
    places: Vec<u32>,
    generations: Vec<u32>,
    /// The groups of each member.
    of: Of,
    /// Groups that are no more.
    vacant: Vec<usize>,
    desk: Desk<WORDS>,
}

/// What a circle needs while it is repaired, and hands on to the next.
#[derive(Clone, Debug, Default)]
pub struct Desk<const WORDS: usize> {
    /// For each member with whom of those it overlaps it shares no group, and who has had any.
    uncovered: Vec<Set<WORDS>>,
    wanting: Set<WORDS>,
    /// For each member whom of higher tags it no longer overlaps, and who has any.
    ended: Vec<Set<WORDS>>,
    parting: Set<WORDS>,
    /// What groups were before they were touched, and which have been: a bit each.
    before: Vec<(usize, Set<WORDS>)>,
    touched: Vec<u64>,
    shared: Picks,
    fitting: Picks,
    ranking: Vec<(u32, u32, usize)>,
}

/// A pair of a circle that began or ended, by its tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct News(u32);

impl News {
    /// That two members overlap from now on, or no longer.
    #[inline]
    pub fn new(one: usize, other: usize, begins: bool) -> News {
        News((one as u32) << 16 | (other as u32) << 1 | u32::from(begins))
    }

    #[inline]
    pub fn tags(self) -> (usize, usize) {
        ((self.0 >> 16) as usize, (self.0 >> 1 & 0x7fff) as usize)
    }

    #[inline]
    pub fn begins(self) -> bool {
        self.0 & 1 == 1
    }
}

impl<const WORDS: usize> Circle<WORDS> {
    /// Heap memory, in bytes.
    fn bytes(&self) -> usize {
        (self.reaches.capacity() + self.masks.capacity()) * size_of::<Set<WORDS>>()
            + 4 * (self.slots.capacity() + self.places.capacity() + self.generations.capacity())
            + 8 * self.vacant.capacity()
            + self.of.bytes()
            + self.desk.bytes()
    }

    /// Begins to fetch all that repairing it will need.
    fn fetch(&self) {
        fetch_all(&self.reaches);
        fetch_all(&self.masks);
        fetch_all(&self.places);
        fetch_all(&self.generations);
        fetch_all(&self.slots);
        self.of.fetch();
    }

    /// The groups of a member.
    #[inline]
    fn groups_of(&self, tag: usize) -> impl Iterator<Item = usize> + '_ {
        self.of.get(tag).iter().map(|&group| usize::from(group))
    }

    /// The name of a group.
    #[inline]
    fn id(&self, group: usize) -> GroupId {
        GroupId::new(self.places[group], self.generations[group])
    }

    /// Everybody in the groups of a member.
    #[inline]
    fn company(&self, tag: usize) -> Set<WORDS> {
        self.groups_of(tag).fold(Set::EMPTY, |company, group| company | self.masks[group])
    }

    #[inline]
    fn join(&mut self, group: usize, tag: usize) {
        self.touch(group);
        self.masks[group].insert(tag);
        self.of.insert(tag, group);
    }

    #[inline]
    fn leave(&mut self, group: usize, tag: usize) {
        self.touch(group);
        self.masks[group].remove(tag);
        self.of.remove(tag, group);
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

    /// Takes in the pairs that ended, and then those that began. What is no news changes nothing.
    fn take_in(&mut self, news: &[News]) {
        let Desk { uncovered, wanting, ended, parting, before, touched, .. } = &mut self.desk;
        for sets in [&mut *uncovered, &mut *ended] {
            sets.clear();
            sets.resize(self.slots.len(), Set::EMPTY);
        }
        (*wanting, *parting) = (Set::EMPTY, Set::EMPTY);
        before.clear();
        touched.clear();
        touched.resize(self.masks.len().div_ceil(64), 0);
        for news in news {
            let (one, other) = news.tags();
            if self.reaches[one].has(other) == news.begins() {
                continue;
            }
            if news.begins() {
                self.reaches[one].put(other);
                self.reaches[other].put(one);
                uncovered[one].put(other);
                uncovered[other].put(one);
                wanting.put(one);
                wanting.put(other);
            } else {
                self.reaches[one].take(other);
                self.reaches[other].take(one);
                ended[one.min(other)].put(one.max(other));
                parting.put(one.min(other));
            }
        }
    }

    /// Takes a member out of a group, and then the last one if nobody else is left.
    fn leave_to_others(&mut self, group: usize, tag: usize) {
        self.leave(group, tag);
        if let Some(last) = self.masks[group].single() {
            self.leave(group, last);
        }
    }

    /// Opens a group. `take_near` finds a place for it, near another's.
    fn open(&mut self, members: Set<WORDS>, take_near: &mut dyn FnMut(Option<u32>) -> (u32, u32)) {
        let near = members.tags().find_map(|tag| self.groups_of(tag).map(|group| self.places[group]).min());
        let group = self.vacant.pop().unwrap_or_else(|| {
            if self.masks.len().is_multiple_of(64) {
                self.desk.touched.push(0);
            }
            self.places.push(VACANT);
            self.generations.push(0);
            self.masks.push(Set::EMPTY);
            self.masks.len() - 1
        });
        (self.places[group], self.generations[group]) = take_near(near);
        self.touch(group);
        self.masks[group] = members;
        members.tags().for_each(|tag| self.of.insert(tag, group));
    }

    /// Lays out some objects, ascending, and their groups, from lists.
    fn lay_out(&mut self, slots: &[Slot], groups: &[u32], ledger: &Ledger, rolls: &Rolls) {
        let Circle { reaches, masks, of, .. } = self;
        self.slots.clear();
        self.slots.extend_from_slice(slots);
        self.places.clear();
        self.places.extend_from_slice(groups);
        self.generations.clear();
        self.generations.extend(groups.iter().map(|&place| ledger.places[place as usize].generation));
        self.vacant.clear();
        masks.clear();
        reaches.clear();
        reaches.resize(slots.len(), Set::EMPTY);
        of.start(slots.len());
        for (group, &place) in groups.iter().enumerate() {
            let mut mask = Set::EMPTY;
            for member in rolls.members.get(place as usize) {
                let tag = slots.binary_search(member).expect("who shares a group with a member is one");
                mask.insert(tag);
                of.insert(tag, group);
            }
            mask.tags().for_each(|tag| reaches[tag] |= mask);
            masks.push(mask);
        }
        reaches.iter_mut().enumerate().for_each(|(tag, reach)| reach.remove(tag));
    }

    /// Repairs what pairs that ended and began ask for, tidies, and tells what changed.
    fn mend(&mut self, news: &[News], tidying: &Tidying, home: u32, ledger: &mut Ledger) {
        self.take_in(news);
        self.part();
        self.cover(&mut |near| ledger.take_place(near));
        self.tidy(tidying);
        self.tell(home, ledger);
    }

    /// Tells what changed.
    fn tell(&mut self, home: u32, ledger: &mut Ledger) {
        for &(group, before) in &self.desk.before {
            let mask = self.masks[group];
            if mask == before && !mask.is_empty() {
                continue;
            }
            let (place, id) = (self.places[group], self.id(group));
            if mask.is_empty() {
                ledger.give_up(place);
                self.places[group] = VACANT;
                self.vacant.push(group);
            }
            if mask == before {
                continue;
            }
            if before.is_empty() {
                ledger.changes.push(GroupChange::Created(id));
                ledger.groups += 1;
                ledger.places[place as usize].home = home;
            }
            for tag in mask.differing(before).tags() {
                let slot = self.slots[tag];
                let has_joined = mask.has(tag);
                let change = if has_joined { GroupChange::Joined(id, slot) } else { GroupChange::Left(id, slot) };
                ledger.joined = if has_joined { ledger.joined + 1 } else { ledger.joined - 1 };
                ledger.changes.push(change);
            }
            if mask.is_empty() {
                ledger.changes.push(GroupChange::Dissolved(id));
                ledger.groups -= 1;
            }
        }
    }

    /// Writes the members of all groups and the groups of all members into lists.
    fn write_rolls(&self, ledger: &mut Ledger, rolls: &mut Rolls) {
        let mut members = Vec::new();
        for (mask, &place) in self.masks.iter().zip(&self.places).filter(|(mask, _)| !mask.is_empty()) {
            members.clear();
            members.extend(mask.tags().map(|tag| self.slots[tag]));
            rolls.members.replace(place as usize, &members);
            ledger.looks[place as usize].shadow = Shadow::of_all(&members);
            ledger.places[place as usize].home = NOWHERE;
        }
        let mut groups = Vec::new();
        for (tag, slot) in self.slots.iter().enumerate() {
            groups.clear();
            groups.extend(self.groups_of(tag).map(|group| self.places[group]));
            groups.sort_unstable();
            rolls.memberships.replace(slot.row(), &groups);
        }
    }

    /// Writes who overlaps whom into a graph.
    fn write_graph(&self, graph: &mut Graph) {
        let mut neighbours = Vec::new();
        for (&slot, reach) in self.slots.iter().zip(&self.reaches) {
            neighbours.clear();
            neighbours.extend(reach.tags().map(|tag| self.slots[tag]));
            graph.replace_neighbours(slot, &neighbours);
        }
    }

    /// Whether pairs lead from each member to all others.
    fn is_one(&self) -> bool {
        let (mut reached, mut next) = (Set::of(0), Set::of(0));
        while !next.is_empty() {
            let further = next.tags().fold(Set::EMPTY, |all, tag| all | self.reaches[tag]);
            next = further.without(reached);
            reached |= next;
        }
        reached.len() as usize == self.slots.len()
    }
}

impl<const WORDS: usize> Desk<WORDS> {
    fn bytes(&self) -> usize {
        let Desk { uncovered, ended, before, touched, shared, fitting, ranking, .. } = self;
        (uncovered.capacity() + ended.capacity()) * size_of::<Set<WORDS>>()
            + before.capacity() * size_of::<(usize, Set<WORDS>)>()
            + ranking.capacity() * size_of::<(u32, u32, usize)>()
            + 8 * touched.capacity()
            + shared.bytes()
            + fitting.bytes()
    }
}

/// Begins to fetch a whole list, a line of memory after the other, and waits for none.
fn fetch_all<T>(list: &[T]) {
    list.iter().step_by((LINE / size_of::<T>()).max(1)).for_each(space::fetch_ahead);
}

#[cfg(test)]
mod tests;
