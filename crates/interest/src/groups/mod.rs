//! Groups: few sets of objects such that whoever overlaps shares one, and whoever does not shares none.
//!
//! What a multicast service needs is less than all relations: an *edge clique cover* of the intersection graph. Every
//! colliding pair is in at least one group, and no group holds two that do not collide. A crowd of 200 has thousands of
//! relations and some two hundred groups.
//!
//! The cover is repaired from tick to tick rather than made anew, for each join and leave costs traffic. What a tick
//! does: whoever no longer fits leaves, what is no longer covered joins a group that it fits, or opens one, who has become
//! redundant leaves ([`repair`]), and a small budget is spent on dissolving small groups ([`tidy`]), so that the cover does
//! not drift away from a fresh one. A component of up to 256 objects is repaired in machine words ([`circle`]), a larger one
//! by lists; both ways make the same choices.
//!
//! Invariants, after a repair:
//! - Every pair of the graph shares a group; every two members of a group are a pair; a group has two members or more.
//! - `members` and `memberships` say the same, the shadows of groups are theirs, and circles that are kept say the same.

mod circle;
mod free;
mod greedy;
mod marks;
mod repair;
mod seats;
mod shadow;
mod tidy;
mod uncovered;

use space::{Pair, Slot};

use self::circle::{Circle, Kept};
use self::free::Free;
use self::seats::Seats;
use self::shadow::Shadow;
use self::tidy::Tidying;
use self::uncovered::Uncovered;
use crate::Graph;
use crate::lists::{Lists, Word};

pub use greedy::greedy_cover;

/// The name of a group, never given twice while it matters: not for four thousand million groups of one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(u64);

impl GroupId {
    /// Its number: below 2^32 where the group is, and above how many others were there before.
    pub const fn number(self) -> u64 {
        self.0
    }
}

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
    /// What else there is to know about each group.
    places: Vec<Place>,
    free: Free,
    /// Places that became free in this tick, and may be taken from the next on.
    freed: Vec<u32>,
    /// The groups of each object, ascending.
    memberships: Lists<u32>,
    groups: usize,
    joined: usize,
    journal: Journal,
    changes: Vec<GroupChange>,
    uncovered: Uncovered,
    seats: Seats,
    circle: Circle,
    kept: Kept,
    /// Whether circles are repaired by lists too, as a twin of what they are for.
    by_lists: bool,
    /// Where tidying goes on.
    next_tidied: u32,
    /// Scratch.
    list: Vec<Slot>,
    /// Groups that were counted in this round.
    candidates: Vec<u32>,
    round: u32,
    ranking: Vec<(u32, u32)>,
    shared: Vec<u32>,
    ended: Vec<Pair>,
    began: Vec<Pair>,
}

/// When more pairs change than this, everything is repaired by lists: to note who is new to whom would take too much room.
const UPHEAVAL: usize = 1 << 19;

/// A group, or room for one, in half a line of the cache.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    shadow: Shadow,
    /// How often the place has been taken.
    generation: u32,
    /// The tick in which the group was touched last.
    touched: u32,
    /// The round in which it was counted last, and how often.
    round: u32,
    gain: u32,
}

/// What groups were when the tick touched them first.
#[derive(Clone, Debug, Default)]
struct Journal {
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
            places: Vec::new(),
            free: Free::default(),
            freed: Vec::new(),
            memberships: Lists::new(),
            groups: 0,
            joined: 0,
            journal: Journal::default(),
            changes: Vec::new(),
            uncovered: Uncovered::default(),
            seats: Seats::default(),
            circle: Circle::default(),
            kept: Kept::default(),
            by_lists: false,
            next_tidied: 0,
            list: Vec::new(),
            candidates: Vec::new(),
            round: 0,
            ranking: Vec::new(),
            shared: Vec::new(),
            ended: Vec::new(),
            began: Vec::new(),
        }
    }

    /// Follows the graph's last update, and says what changed. Every update of the graph must be followed by one of these.
    pub fn repair(&mut self, graph: &Graph) -> &[GroupChange] {
        self.journal.start(&mut self.places);
        self.freed.drain(..).for_each(|place| self.free.insert(place));
        self.changes.clear();
        self.seats.start(graph.rows());
        let tidying = self.next_tidying();
        if graph.ended().len() + graph.began().len() > UPHEAVAL {
            self.repair_by_lists(graph.ended(), graph.began(), graph);
        } else {
            self.repair_circles(graph, &tidying);
        }
        self.tidy(&tidying, graph);
        self.write_changes();
        &self.changes
    }

    /// Every group with its members, which are ascending.
    pub fn iter(&self) -> impl Iterator<Item = (GroupId, &[Slot])> {
        let all = (0..self.places.len() as u32).map(|group| (self.id(group), self.members.get(group as usize)));
        all.filter(|(_, members)| !members.is_empty())
    }

    /// The members of a group, ascending; none if it is no more.
    pub fn members(&self, group: GroupId) -> &[Slot] {
        let place = group.0 as u32;
        if self.places.get(place as usize).is_some_and(|place| place.generation == (group.0 >> 32) as u32) {
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
            + self.journal.bytes()
            + self.places.capacity() * size_of::<Place>()
            + self.seats.bytes()
            + self.circle.bytes()
            + self.kept.bytes()
            + 8 * (self.ended.capacity() + self.began.capacity())
            + self.free.bytes()
            + 4 * (self.freed.capacity() + self.candidates.capacity() + self.list.capacity())
            + 8 * self.ranking.capacity()
            + self.changes.capacity() * size_of::<GroupChange>()
    }

    /// Repairs circle by circle, and by lists what is too large for one.
    fn repair_circles(&mut self, graph: &Graph, tidying: &Tidying) {
        self.seats.take_in(graph);
        let mut are_all_seated = true;
        for pair in graph.ended().iter().chain(graph.began()) {
            if self.seats.is_seated(pair.a()) {
                continue;
            }
            if !self.recall_circle(pair.a(), graph) && !self.gather_circle(pair.a(), graph) {
                are_all_seated = false;
                continue;
            }
            if self.by_lists {
                self.repair_circle_by_lists(graph, tidying);
            } else {
                self.repair_circle(graph, tidying);
            }
            self.keep_circle();
        }
        if !are_all_seated {
            let is_left = |pair: &&Pair| !self.seats.is_in_circle(pair.a());
            let [mut ended, mut began] = [&mut self.ended, &mut self.began].map(std::mem::take);
            ended.clear();
            ended.extend(graph.ended().iter().filter(is_left));
            began.clear();
            began.extend(graph.began().iter().filter(is_left));
            self.repair_by_lists(&ended, &began, graph);
            (self.ended, self.began) = (ended, began);
        }
    }

    /// Repairs the circle that has been gathered.
    fn repair_circle(&mut self, graph: &Graph, tidying: &Tidying) {
        let Groups { circle, seats, free, places, .. } = self;
        circle.part(graph.ended(), seats);
        circle.cover(&mut |near| take_place(near, free, places));
        circle.tidy(tidying);
        self.write_circle_back();
    }

    /// Does the same by lists.
    fn repair_circle_by_lists(&mut self, graph: &Graph, tidying: &Tidying) {
        self.seats.settle(self.circle.slots(), seats::NOWHERE);
        let (mut ended, mut began) = (Vec::new(), Vec::new());
        for &slot in self.circle.slots() {
            ended.extend_from_slice(self.seats.ended(slot, graph.ended()));
            began.extend_from_slice(self.seats.began(slot, graph.began()));
        }
        self.repair_by_lists(&ended, &began, graph);
        self.lay_out_anew();
        let turns = self.circle.places().iter().filter_map(|&place| Some((tidying.turn(place)?, place)));
        let mut turns: Vec<(u32, u32)> = turns.collect();
        turns.sort_unstable();
        turns.into_iter().for_each(|(_, group)| self.tidy_group(group, tidying, graph));
        self.lay_out_anew();
    }

    /// Repairs what some pairs that ended and began ask for.
    fn repair_by_lists(&mut self, ended: &[Pair], began: &[Pair], graph: &Graph) {
        self.part(ended, began, graph);
        self.cover(graph);
        self.uncovered.release();
    }

    fn open(&mut self, members: &[Slot]) {
        // Near a group of the same crowd, if there is one: what is looked at together is together in memory then.
        let near = members.iter().find_map(|member| self.memberships.get(member.row()).first().copied());
        let group = take_place(near, &mut self.free, &mut self.places);
        members.iter().for_each(|&member| self.forget(self.seats.home(member)));
        self.touch(group);
        self.groups += 1;
        self.joined += members.len();
        self.members.replace(group as usize, members);
        self.places[group as usize].shadow = Shadow::of_all(members);
        members.iter().for_each(|&member| insert(&mut self.memberships, member.row(), group));
    }

    fn join(&mut self, group: u32, slot: Slot) {
        self.forget(self.seats.home(slot));
        self.touch(group);
        insert(&mut self.members, group as usize, slot);
        insert(&mut self.memberships, slot.row(), group);
        self.places[group as usize].shadow |= Shadow::of(slot);
        self.joined += 1;
    }

    /// Takes an object out of a group that it is in; who leaves last dissolves it.
    fn leave(&mut self, group: u32, slot: Slot) {
        self.touch(group);
        remove(&mut self.members, group as usize, slot);
        remove(&mut self.memberships, slot.row(), group);
        self.joined -= 1;
        let members = self.members.get(group as usize);
        let place = &mut self.places[group as usize];
        place.shadow = Shadow::of_all(members);
        if members.is_empty() {
            self.groups -= 1;
            place.generation = place.generation.wrapping_add(1);
            self.freed.push(group);
        }
    }

    /// Keeps what a group was when the tick began.
    fn touch(&mut self, group: u32) {
        // Of a circle that was kept, a group has all its members or none.
        if let Some(&member) = self.members.get(group as usize).first() {
            self.forget(self.seats.home(member));
        }
        let place = &mut self.places[group as usize];
        if std::mem::replace(&mut place.touched, self.journal.tick) != self.journal.tick {
            self.journal.keep(group, place.generation, self.members.get(group as usize));
        }
    }

    /// From here on no group has been counted.
    fn start_counting(&mut self) {
        self.candidates.clear();
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.places.iter_mut().for_each(|place| place.round = 0);
            self.round = 1;
        }
    }

    /// Compares what was touched with what it was.
    fn write_changes(&mut self) {
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
        GroupId(u64::from(self.places[group as usize].generation) << 32 | u64::from(group))
    }
}

impl Default for Groups {
    fn default() -> Groups {
        Groups::new()
    }
}

impl Place {
    /// Counts a group once more, if it may lie within somebody's reach. One that is counted first becomes a candidate.
    #[inline]
    fn count(&mut self, group: u32, reach: Shadow, round: u32, candidates: &mut Vec<u32>) {
        if self.round == round {
            self.gain += 1;
        } else if self.shadow.may_lie_within(reach) {
            (self.round, self.gain) = (round, 1);
            candidates.push(group);
        }
    }
}

impl Journal {
    fn start(&mut self, places: &mut [Place]) {
        self.before.clear();
        self.members.clear();
        self.tick = self.tick.wrapping_add(1);
        if self.tick == 0 {
            places.iter_mut().for_each(|place| place.touched = 0);
            self.tick = 1;
        }
    }

    fn keep(&mut self, group: u32, generation: u32, members: &[Slot]) {
        let start = self.members.len() as u32;
        self.members.extend_from_slice(members);
        self.before.push((group, generation, start, self.members.len() as u32));
    }

    fn bytes(&self) -> usize {
        4 * self.members.capacity() + 16 * self.before.capacity()
    }
}

/// A place for another group.
fn take_place(near: Option<u32>, free: &mut Free, places: &mut Vec<Place>) -> u32 {
    free.take_near(near, places.len()).unwrap_or_else(|| {
        places.push(Place::default());
        places.len() as u32 - 1
    })
}

/// Puts an entry into the list of a row, unless it is there.
fn insert<T: Word + Ord>(lists: &mut Lists<T>, row: usize, entry: T) {
    if let Err(place) = lists.get(row).binary_search(&entry) {
        lists.insert(row, place, entry);
    }
}

/// Takes an entry out of the list of a row, if it is there.
fn remove<T: Word + Ord>(lists: &mut Lists<T>, row: usize, entry: T) {
    if let Ok(place) = lists.get(row).binary_search(&entry) {
        lists.remove(row, place);
    }
}

/// Whether an ascending list has all entries of a shorter one.
fn is_within(list: &[Slot], whole: &[Slot]) -> bool {
    let mut rest = whole;
    list.len() <= whole.len()
        && list.iter().all(|slot| {
            let place = rest.partition_point(|other| other < slot);
            let is_there = rest.get(place) == Some(slot);
            rest = &rest[place..];
            is_there
        })
}
