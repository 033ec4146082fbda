//! Groups: few sets of objects such that whoever overlaps shares one, and whoever does not shares none.
//!
//! What a multicast service needs is less than all relations: an *edge clique cover* of the intersection graph. Every
//! colliding pair is in at least one group, and no group holds two that do not collide. A crowd of 200 has thousands of
//! relations and some two hundred groups.
//!
//! The cover is repaired from tick to tick rather than made anew, for each join and leave costs traffic. What a tick
//! does: whoever no longer fits leaves, what is no longer covered joins a group that it fits, or opens one, who has become
//! redundant leaves ([`repair`]), and a small budget is spent on dissolving small groups ([`tidy`]), so that the cover does
//! not drift away from a fresh one. A component of up to 512 objects is repaired in machine words ([`circle`]), and most
//! stay laid out in them ([`homes`]); a larger one is repaired by lists. Both ways make the same choices.
//!
//! Invariants, after an update:
//! - Every pair shares a group; every two members of a group are a pair; a group has two members or more.
//! - The graph and the rolls know all pairs and groups of whoever has no home, and none of whoever has.
//! - The rolls' `members` and `memberships` say the same, and the shadows of groups are theirs.

mod circle;
mod free;
mod gather;
mod greedy;
mod homes;
mod ledger;
mod marks;
mod members;
mod repair;
mod rolls;
mod seats;
mod shadow;
mod tidy;
mod uncovered;

use space::{Pair, Slot};

use self::circle::AnyCircle;
use self::homes::{Homes, NOWHERE};
use self::ledger::{Ledger, Look};
use self::rolls::Rolls;
use self::seats::Seats;
use self::shadow::Shadow;
use self::uncovered::Uncovered;
use crate::Graph;

pub use greedy::greedy_cover;
pub use members::Members;

/// The name of a group, never given twice while it matters: not for four thousand million groups of one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(u64);

impl GroupId {
    fn new(place: u32, generation: u32) -> GroupId {
        GroupId(u64::from(generation) << 32 | u64::from(place))
    }

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
/// use interest::Groups;
/// use space::Pair;
///
/// let mut groups = Groups::new();
/// let pairs = [Pair::of_rows(0, 1), Pair::of_rows(0, 2), Pair::of_rows(1, 2), Pair::of_rows(2, 3)];
/// assert_eq!(groups.update(&pairs, &[]).len(), 7, "two groups are created, three join the one, two the other");
/// groups.update(&[], &[Pair::of_rows(2, 3)]);
/// assert_eq!(groups.iter().map(|(_, members)| members.len()).collect::<Vec<_>>(), [3]);
/// ```
#[derive(Clone, Debug)]
pub struct Groups {
    tidying: usize,
    ledger: Ledger,
    homes: Homes,
    /// Who overlaps whom, and who is in which group, of those who have no home.
    graph: Graph,
    rolls: Rolls,
    seats: Seats,
    journal: Journal,
    uncovered: Uncovered,
    /// Who was gathered last, and their groups.
    gathered: Vec<Slot>,
    gathered_groups: Vec<u32>,
    /// A circle that will have no home.
    visitor: AnyCircle,
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

/// What groups were when the tick touched them first.
#[derive(Clone, Debug, Default)]
struct Journal {
    tick: u32,
    /// Place, generation, and where its members then are in `members`.
    before: Vec<(u32, u32, u32, u32)>,
    members: Vec<Slot>,
}

impl Groups {
    /// No groups; one in ten is looked at per tick, to see whether others can take its pairs.
    pub fn new() -> Groups {
        Groups::with_tidying(10)
    }

    /// No groups; one in so many is looked at per tick. More tidying means fewer groups and more changes; 0 never tidies.
    pub fn with_tidying(one_in: usize) -> Groups {
        Groups {
            tidying: one_in,
            ledger: Ledger::default(),
            homes: Homes::default(),
            graph: Graph::new(),
            rolls: Rolls::new(),
            seats: Seats::default(),
            journal: Journal::default(),
            uncovered: Uncovered::default(),
            gathered: Vec::new(),
            gathered_groups: Vec::new(),
            visitor: AnyCircle::default(),
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

    /// Takes in which pairs ended since the last tick, and then which began, and says what changed. That is what
    /// [`Kinesphere::began`](space::Kinesphere::began) and `ended` tell, and [`PairChanges`](space::PairChanges) for any
    /// other broad phase. What is no change is ignored, as [`Graph::update`] does.
    pub fn update(&mut self, began: &[Pair], ended: &[Pair]) -> &[GroupChange] {
        self.journal.start(&mut self.ledger.looks);
        self.ledger.start();
        let tidying = self.next_tidying();
        let mut graph = std::mem::take(&mut self.graph);
        self.homes.clear();
        if self.homes.is_empty() {
            graph.update(began, ended);
        } else {
            self.address(began, ended, &mut graph);
        }
        self.homes.deliver();
        self.seats.start(graph.rows());
        self.mend_homes(&tidying, &mut graph);
        if graph.ended().len() + graph.began().len() > UPHEAVAL {
            self.repair_by_lists(graph.began(), graph.ended(), &graph);
        } else {
            self.repair_circles(&mut graph, &tidying);
        }
        self.tidy(&tidying, &mut graph);
        self.write_changes();
        self.graph = graph;
        &self.ledger.changes
    }

    /// Every group with its members.
    pub fn iter(&self) -> impl Iterator<Item = (GroupId, Members<'_>)> {
        let places = 0..self.ledger.places.len() as u32;
        let listed =
            places.map(|place| (self.ledger.id(place), Members::of_list(self.rolls.members.get(place as usize))));
        let at_home = self.homes.iter().map(|home| self.homes.circle(home)).flat_map(|circle| {
            let members = |group| Members::of_circle(circle.slots(), circle.mask(group));
            (0..circle.places().len()).map(move |group| (circle.id(group), members(group)))
        });
        listed.chain(at_home).filter(|(_, members)| members.len() > 0)
    }

    /// The members of a group; none if it is no more.
    pub fn members(&self, group: GroupId) -> Members<'_> {
        let number = group.0 as u32;
        let nobody = Members::of_list(&[]);
        let Some(place) = self.ledger.places.get(number as usize) else { return nobody };
        if place.generation != (group.0 >> 32) as u32 {
            return nobody;
        }
        if place.home == NOWHERE {
            return Members::of_list(self.rolls.members.get(number as usize));
        }
        let circle = self.homes.circle(place.home);
        let index = circle.places().iter().position(|&place| place == number);
        index.map_or(nobody, |index| Members::of_circle(circle.slots(), circle.mask(index)))
    }

    /// The groups that an object is in.
    pub fn groups_of(&self, slot: Slot) -> impl Iterator<Item = GroupId> + '_ {
        let listed = self.rolls.memberships.get(slot.row()).iter().map(|&place| self.ledger.id(place));
        listed.chain(self.homes.circle_of(slot).into_iter().flat_map(|(circle, tag)| circle.groups_of(tag)))
    }

    /// How many groups there are.
    pub fn len(&self) -> usize {
        self.ledger.groups
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ledger.groups == 0
    }

    /// How many objects are in how many groups, counted together.
    pub fn memberships(&self) -> usize {
        self.ledger.joined
    }

    /// What the last update changed.
    pub fn changes(&self) -> &[GroupChange] {
        &self.ledger.changes
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.ledger.bytes()
            + self.homes.bytes()
            + self.graph.bytes()
            + self.rolls.bytes()
            + self.uncovered.bytes()
            + self.journal.bytes()
            + self.seats.bytes()
            + self.visitor.bytes()
            + 8 * (self.ended.capacity() + self.began.capacity() + self.ranking.capacity())
            + 4 * (self.candidates.capacity() + self.list.capacity() + self.shared.capacity())
            + 4 * (self.gathered.capacity() + self.gathered_groups.capacity())
    }

    /// Repairs what some pairs that ended and began ask for.
    fn repair_by_lists(&mut self, began: &[Pair], ended: &[Pair], graph: &Graph) {
        self.part(began, ended, graph);
        self.cover(graph);
        self.uncovered.release();
    }

    fn open(&mut self, members: &[Slot]) {
        let near = members.iter().find_map(|member| self.rolls.memberships.get(member.row()).first().copied());
        let (group, _) = self.ledger.take_place(near);
        self.touch(group);
        self.ledger.groups += 1;
        self.ledger.joined += members.len();
        self.ledger.looks[group as usize].shadow = Shadow::of_all(members);
        members.iter().for_each(|&member| self.rolls.insert(group, member));
    }

    fn join(&mut self, group: u32, slot: Slot) {
        self.touch(group);
        self.rolls.insert(group, slot);
        self.ledger.looks[group as usize].shadow |= Shadow::of(slot);
        self.ledger.joined += 1;
    }

    /// Takes an object out of a group that it is in; who leaves last dissolves it.
    fn leave(&mut self, group: u32, slot: Slot) {
        self.touch(group);
        self.rolls.remove(group, slot);
        self.ledger.joined -= 1;
        let members = self.rolls.members.get(group as usize);
        self.ledger.looks[group as usize].shadow = Shadow::of_all(members);
        if members.is_empty() {
            self.ledger.groups -= 1;
            self.ledger.give_up(group);
        }
    }

    /// Keeps what a group was when the tick began.
    fn touch(&mut self, group: u32) {
        let look = &mut self.ledger.looks[group as usize];
        if std::mem::replace(&mut look.touched, self.journal.tick) != self.journal.tick {
            let generation = self.ledger.places[group as usize].generation;
            self.journal.keep(group, generation, self.rolls.members.get(group as usize));
        }
    }

    /// From here on no group has been counted.
    fn start_counting(&mut self) {
        self.candidates.clear();
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.ledger.looks.iter_mut().for_each(|look| look.round = 0);
            self.round = 1;
        }
    }

    /// Compares what was touched with what it was.
    fn write_changes(&mut self) {
        let changes = &mut self.ledger.changes;
        for &(group, generation, start, end) in &self.journal.before {
            let id = GroupId::new(group, generation);
            let old = &self.journal.members[start as usize..end as usize];
            // A place that was given up has no members until the next tick.
            let new = self.rolls.members.get(group as usize);
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
        self.journal.clear();
    }
}

impl Default for Groups {
    fn default() -> Groups {
        Groups::new()
    }
}

impl Journal {
    fn start(&mut self, looks: &mut [Look]) {
        self.tick = self.tick.wrapping_add(1);
        if self.tick == 0 {
            looks.iter_mut().for_each(|look| look.touched = 0);
            self.tick = 1;
        }
    }

    fn clear(&mut self) {
        self.before.clear();
        self.members.clear();
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
