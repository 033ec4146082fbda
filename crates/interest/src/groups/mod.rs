//! Groups: an *edge clique cover* of the intersection graph, repaired from tick to tick.
//!
//! A multicast service needs fewer sets than all maximal cliques. Every pair of overlapping objects has to share at
//! least one group, and no group may hold two objects that do not overlap. A crowd of 200 has thousands of maximal
//! cliques and some two hundred groups.
//!
//! The cover is repaired rather than computed anew, because each join and leave costs traffic. One update:
//!
//! ```text
//! ended pairs ─▶ part: one of the two leaves each shared group ─▶ uncovered pairs
//! began pairs ──────────────────────────────────────────────────▶ uncovered pairs
//! uncovered   ─▶ cover: join a group, invite the other object, or open a group; then leave redundant groups
//! a few small groups ─▶ tidy: dissolve those whose pairs other groups can take
//! ```
//!
//! [`repair`] is the first three lines, [`tidy`] the last. Without it the cover would drift away from a fresh one.
//!
//! Invariants, after an update:
//! - Two objects share a group if and only if they are a pair. A group has two members or more.
//! - [`GroupTable`] lists groups by member and members by group, and the two say the same.

mod repair;
mod signature;
mod table;
mod tidy;
mod uncovered;

use space::{Pair, Slot};

use self::table::GroupTable;
use self::uncovered::UncoveredPairs;
use crate::Graph;

pub use uncovered::greedy_cover;

/// The name of a group. It returns only after 2^32 other groups had the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(u64);

impl GroupId {
    fn new(place: u32, generation: u32) -> GroupId {
        GroupId(u64::from(generation) << 32 | u64::from(place))
    }

    /// The group's place in the lower 32 bits, and above them the number of groups that had the place before.
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// What happened to a group. All changes of a tick, applied in order, turn the last tick's groups into this one's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupChange {
    /// A new group, still empty; `Joined` follows for each member.
    Created(GroupId),
    Joined(GroupId, Slot),
    Left(GroupId, Slot),
    /// The group is gone; `Left` was told of each member.
    Dissolved(GroupId),
}

/// The groups of a world, kept up to date.
///
/// ```
/// use kinesphere_interest::GroupCover;
/// use space::Pair;
///
/// let mut groups = GroupCover::new();
/// let pairs = [Pair::of_rows(0, 1), Pair::of_rows(0, 2), Pair::of_rows(1, 2), Pair::of_rows(2, 3)];
/// assert_eq!(groups.update(&pairs, &[]).len(), 7, "two groups are created; three objects join one, two the other");
/// groups.update(&[], &[Pair::of_rows(2, 3)]);
/// assert_eq!(groups.iter().map(|(_, members)| members.len()).collect::<Vec<_>>(), [3]);
/// ```
#[derive(Clone, Debug)]
pub struct GroupCover {
    /// One group in this many is tidied per tick; 0 for none.
    tidy_one_in: usize,
    /// The place at which tidying goes on.
    next_tidied: u32,
    graph: Graph,
    table: GroupTable,
    uncovered: UncoveredPairs,
    /// Scratch memory, empty between two calls.
    ranking: Vec<(u32, u32)>,
    shared: Vec<u32>,
}

impl GroupCover {
    /// No groups. Each tick tries to dissolve one group in ten.
    pub fn new() -> GroupCover {
        GroupCover::with_tidying(10)
    }

    /// No groups. Each tick tries to dissolve one group in `one_in`: more tidying means fewer groups and more changes.
    /// 0 never tidies.
    pub fn with_tidying(one_in: usize) -> GroupCover {
        GroupCover {
            tidy_one_in: one_in,
            next_tidied: 0,
            graph: Graph::new(),
            table: GroupTable::new(),
            uncovered: UncoveredPairs::default(),
            ranking: Vec::new(),
            shared: Vec::new(),
        }
    }

    /// Applies the pairs that ended since the last tick and then those that began, and returns what changed.
    ///
    /// [`Kinesphere::began`](space::Kinesphere::began) and `ended` tell them, and [`PairChanges`](space::PairChanges)
    /// for any other broad phase. Pairs that change nothing are ignored, as [`Graph::update`] does.
    pub fn update(&mut self, began: &[Pair], ended: &[Pair]) -> &[GroupChange] {
        self.table.start_tick();
        let mut graph = std::mem::take(&mut self.graph);
        graph.update(began, ended);
        self.part(&graph);
        self.cover(&graph);
        self.uncovered.release();
        self.tidy(&graph);
        self.graph = graph;
        self.table.end_tick();
        self.table.changes()
    }

    /// Every group with its members, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (GroupId, &[Slot])> {
        self.table.iter()
    }

    /// The members of a group, ascending; empty if it is gone.
    pub fn members(&self, group: GroupId) -> &[Slot] {
        let place = group.0 as u32;
        if self.table.id(place) == Some(group) { self.table.members(place) } else { &[] }
    }

    pub fn groups_of(&self, slot: Slot) -> impl Iterator<Item = GroupId> + '_ {
        self.table.groups_of(slot).iter().filter_map(|&place| self.table.id(place))
    }

    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether there are no groups.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sum of all groups' sizes.
    pub fn memberships(&self) -> usize {
        self.table.memberships()
    }

    /// What the last update changed.
    pub fn changes(&self) -> &[GroupChange] {
        self.table.changes()
    }
}

impl Default for GroupCover {
    fn default() -> GroupCover {
        GroupCover::new()
    }
}
