//! Groups: few sets of objects such that whoever overlaps shares one, and whoever does not shares none.
//!
//! What a multicast service needs is less than all relations: an *edge clique cover* of the intersection graph. Every
//! colliding pair is in at least one group, and no group holds two that do not collide. A crowd of 200 has thousands of
//! relations and some two hundred groups.
//!
//! The cover is repaired from tick to tick rather than made anew, for each join and leave costs traffic. What a tick
//! does: whoever no longer fits leaves, what is no longer covered joins a group that it fits, or opens one, who has become
//! redundant leaves ([`repair`]), and a small budget is spent on dissolving small groups ([`tidy`]), so that the cover does
//! not drift away from a fresh one.
//!
//! Invariants, after a repair:
//! - Every pair of the graph shares a group; every two members of a group are a pair; a group has two members or more.
//! - `members` and `memberships` say the same.

mod greedy;
mod marks;
mod repair;
mod tidy;
mod uncovered;

use space::Slot;

use self::marks::Marks;
use self::uncovered::Uncovered;
use crate::Graph;
use crate::lists::Lists;

pub use greedy::greedy_cover;

/// The name of a group, never given twice while it matters: not for four thousand million groups of one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(u64);

/// What happened to a group. Applied in order to the last tick's groups, all changes of a tick give this one's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupChange {
    /// There is a new group; its members join next.
    Created(GroupId),
    /// An object joined.
    Joined(GroupId, Slot),
    /// An object left.
    Left(GroupId, Slot),
    /// A group is no more; its members have left.
    Dissolved(GroupId),
}

/// The groups of a world, kept up to date.
///
/// ```
/// use interest::{Graph, Groups};
/// use space::{Pair, Slot};
///
/// let mut graph = Graph::new();
/// let mut groups = Groups::new();
/// graph.update(&[Pair::of_rows(0, 1), Pair::of_rows(0, 2), Pair::of_rows(1, 2), Pair::of_rows(2, 3)], &[]);
/// assert_eq!(groups.repair(&graph).len(), 7, "two groups are created, three join the one, two the other");
/// graph.update(&[], &[Pair::of_rows(2, 3)]);
/// groups.repair(&graph);
/// assert_eq!(groups.iter().map(|(_, members)| members.len()).collect::<Vec<_>>(), [3]);
/// ```
#[derive(Clone, Debug)]
pub struct Groups {
    tidying: usize,
    /// The members of each group, ascending; a place without members is free.
    members: Lists<Slot>,
    /// How often each place has been taken.
    generations: Vec<u32>,
    free: Vec<u32>,
    /// Places that became free in this tick, and may be taken from the next on.
    freed: Vec<u32>,
    /// The groups of each object, ascending.
    memberships: Lists<u32>,
    groups: usize,
    joined: usize,
    journal: Journal,
    changes: Vec<GroupChange>,
    uncovered: Uncovered,
    marks: Marks,
    /// Where tidying goes on.
    next_tidied: u32,
    /// Scratch.
    list: Vec<Slot>,
    numbers: Vec<u32>,
    ranking: Vec<(u32, u32)>,
    shared: Vec<u32>,
    parting: Vec<Slot>,
}

/// What groups were when the tick touched them first.
#[derive(Clone, Debug, Default)]
struct Journal {
    /// For each place the tick in which it was touched last.
    touched: Vec<u32>,
    tick: u32,
    /// Place, generation, and where its members then are in `members`.
    before: Vec<(u32, u32, u32, u32)>,
    members: Vec<Slot>,
}

impl Groups {
    /// No groups; one in eight is looked at per tick, to see whether others can take its pairs.
    pub fn new() -> Groups {
        Groups::with_tidying(8)
    }

    /// No groups; one in so many is looked at per tick. More tidying means fewer groups and more changes; 0 never tidies.
    pub fn with_tidying(one_in: usize) -> Groups {
        Groups {
            tidying: one_in,
            members: Lists::new(),
            generations: Vec::new(),
            free: Vec::new(),
            freed: Vec::new(),
            memberships: Lists::new(),
            groups: 0,
            joined: 0,
            journal: Journal::default(),
            changes: Vec::new(),
            uncovered: Uncovered::default(),
            marks: Marks::default(),
            next_tidied: 0,
            list: Vec::new(),
            numbers: Vec::new(),
            ranking: Vec::new(),
            shared: Vec::new(),
            parting: Vec::new(),
        }
    }

    /// Follows the graph's last update, and says what changed. Every update of the graph must be followed by one of these.
    pub fn repair(&mut self, graph: &Graph) -> &[GroupChange] {
        self.journal.start(self.generations.len());
        self.free.append(&mut self.freed);
        self.marks.grow(graph.rows());
        self.part(graph);
        self.cover(graph);
        self.tidy(graph);
        self.write_changes();
        &self.changes
    }

    /// Every group with its members, which are ascending.
    pub fn iter(&self) -> impl Iterator<Item = (GroupId, &[Slot])> {
        let all = (0..self.generations.len() as u32).map(|group| (self.id(group), self.members.get(group as usize)));
        all.filter(|(_, members)| !members.is_empty())
    }

    /// The members of a group, ascending; none if it is no more.
    pub fn members(&self, group: GroupId) -> &[Slot] {
        let place = group.0 as u32;
        if self.generations.get(place as usize) == Some(&((group.0 >> 32) as u32)) {
            self.members.get(place as usize)
        } else {
            &[]
        }
    }

    /// The groups that an object is in.
    pub fn groups_of(&self, slot: Slot) -> impl Iterator<Item = GroupId> + '_ {
        self.memberships.get(slot.row()).iter().map(|&group| self.id(group))
    }

    /// How many groups there are.
    pub fn len(&self) -> usize {
        self.groups
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.groups == 0
    }

    /// How many objects are in how many groups, counted together.
    pub fn memberships(&self) -> usize {
        self.joined
    }

    /// What the last repair changed.
    pub fn changes(&self) -> &[GroupChange] {
        &self.changes
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.members.bytes()
            + self.memberships.bytes()
            + self.uncovered.bytes()
            + self.marks.bytes()
            + self.journal.bytes()
            + 4 * (self.generations.capacity() + self.free.capacity() + self.freed.capacity())
            + 8 * self.ranking.capacity()
            + self.changes.capacity() * size_of::<GroupChange>()
    }

    fn open(&mut self, members: &[Slot]) {
        let group = self.free.pop().unwrap_or_else(|| {
            self.generations.push(0);
            self.generations.len() as u32 - 1
        });
        self.journal.touch(group, self.generations[group as usize], &[]);
        self.groups += 1;
        self.joined += members.len();
        self.members.replace(group as usize, members);
        for member in members {
            self.numbers.clear();
            self.numbers.extend_from_slice(self.memberships.get(member.row()));
            insert(&mut self.numbers, group);
            self.memberships.replace(member.row(), &self.numbers);
        }
    }

    fn join(&mut self, group: u32, slot: Slot) {
        self.journal.touch(group, self.generations[group as usize], self.members.get(group as usize));
        self.list.clear();
        self.list.extend_from_slice(self.members.get(group as usize));
        insert(&mut self.list, slot);
        self.members.replace(group as usize, &self.list);
        self.numbers.clear();
        self.numbers.extend_from_slice(self.memberships.get(slot.row()));
        insert(&mut self.numbers, group);
        self.memberships.replace(slot.row(), &self.numbers);
        self.joined += 1;
    }

    /// Takes an object out of a group that it is in; who leaves last dissolves it.
    fn leave(&mut self, group: u32, slot: Slot) {
        self.journal.touch(group, self.generations[group as usize], self.members.get(group as usize));
        self.list.clear();
        self.list.extend(self.members.get(group as usize).iter().filter(|&&member| member != slot));
        self.members.replace(group as usize, &self.list);
        self.numbers.clear();
        self.numbers.extend(self.memberships.get(slot.row()).iter().filter(|&&other| other != group));
        self.memberships.replace(slot.row(), &self.numbers);
        self.joined -= 1;
        if self.members.len(group as usize) == 0 {
            self.groups -= 1;
            self.generations[group as usize] = self.generations[group as usize].wrapping_add(1);
            self.freed.push(group);
        }
    }

    /// Compares what was touched with what it was.
    fn write_changes(&mut self) {
        self.changes.clear();
        for &(group, generation, start, end) in &self.journal.before {
            let id = GroupId(u64::from(generation) << 32 | u64::from(group));
            let old = &self.journal.members[start as usize..end as usize];
            // A place that was given up has no members until the next tick.
            let new = self.members.get(group as usize);
            if old.is_empty() && !new.is_empty() {
                self.changes.push(GroupChange::Created(id));
            }
            let (mut i, mut j) = (0, 0);
            while i < old.len() || j < new.len() {
                match (old.get(i), new.get(j)) {
                    (Some(one), Some(other)) if one == other => (i, j) = (i + 1, j + 1),
                    (Some(&one), other) if other.is_none_or(|&other| one < other) => {
                        self.changes.push(GroupChange::Left(id, one));
                        i += 1;
                    }
                    (_, Some(&other)) => {
                        self.changes.push(GroupChange::Joined(id, other));
                        j += 1;
                    }
                    (_, None) => break,
                }
            }
            if new.is_empty() && !old.is_empty() {
                self.changes.push(GroupChange::Dissolved(id));
            }
        }
    }

    fn id(&self, group: u32) -> GroupId {
        GroupId(u64::from(self.generations[group as usize]) << 32 | u64::from(group))
    }
}

impl Default for Groups {
    fn default() -> Groups {
        Groups::new()
    }
}

impl Journal {
    fn start(&mut self, places: usize) {
        self.before.clear();
        self.members.clear();
        self.tick = self.tick.wrapping_add(1);
        if self.tick == 0 {
            self.touched.fill(0);
            self.tick = 1;
        }
        self.touched.resize(places, 0);
    }

    fn touch(&mut self, group: u32, generation: u32, members: &[Slot]) {
        if self.touched.len() <= group as usize {
            self.touched.resize(group as usize + 1, 0);
        }
        if std::mem::replace(&mut self.touched[group as usize], self.tick) != self.tick {
            let start = self.members.len() as u32;
            self.members.extend_from_slice(members);
            self.before.push((group, generation, start, self.members.len() as u32));
        }
    }

    fn bytes(&self) -> usize {
        4 * (self.touched.capacity() + self.members.capacity()) + 16 * self.before.capacity()
    }
}

fn insert<T: Ord + Copy>(list: &mut Vec<T>, item: T) {
    if let Err(place) = list.binary_search(&item) {
        list.insert(place, item);
    }
}
