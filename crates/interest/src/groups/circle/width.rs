//! Circles of any size: as many words per set as it takes, of three widths.

use space::Slot;

use super::super::GroupId;
use super::super::ledger::Ledger;
use super::super::rolls::Rolls;
use super::super::tidy::Tidying;
use super::{Circle, Desk, News, VACANT};
use crate::Graph;

/// The most members of a circle.
pub const MEMBERS_MAX: usize = 512;

/// A circle whose sets are as wide as it needs.
#[derive(Clone, Debug)]
pub enum AnyCircle {
    /// Of up to 128 members.
    Two(Circle<2>),
    /// Of up to 256.
    Four(Circle<4>),
    /// Of up to [`MEMBERS_MAX`].
    Eight(Circle<8>),
}

/// What circles need while they are repaired: for each width.
#[derive(Clone, Debug, Default)]
pub struct Desks {
    two: Desk<2>,
    four: Desk<4>,
    eight: Desk<8>,
}

/// Does the same with a circle of any width.
macro_rules! with {
    ($any:expr, $circle:ident => $do:expr) => {
        match $any {
            AnyCircle::Two($circle) => $do,
            AnyCircle::Four($circle) => $do,
            AnyCircle::Eight($circle) => $do,
        }
    };
}

impl AnyCircle {
    /// Lays out some objects, ascending, and their groups, from lists.
    pub fn lay_out(&mut self, slots: &[Slot], groups: &[u32], ledger: &Ledger, rolls: &Rolls) {
        let is_as_wide = match self {
            AnyCircle::Two(_) => slots.len() <= 128,
            AnyCircle::Four(_) => (129..=256).contains(&slots.len()),
            AnyCircle::Eight(_) => slots.len() > 256,
        };
        if !is_as_wide {
            *self = match slots.len() {
                0..=128 => AnyCircle::Two(Circle::default()),
                129..=256 => AnyCircle::Four(Circle::default()),
                _ => AnyCircle::Eight(Circle::default()),
            };
        }
        with!(self, circle => circle.lay_out(slots, groups, ledger, rolls));
    }

    /// Repairs what pairs that ended and began ask for, tidies, and tells what changed.
    pub fn mend(&mut self, desks: &mut Desks, news: &[News], tidying: &Tidying, home: u32, ledger: &mut Ledger) {
        match self {
            AnyCircle::Two(circle) => circle.mend_at(&mut desks.two, news, tidying, home, ledger),
            AnyCircle::Four(circle) => circle.mend_at(&mut desks.four, news, tidying, home, ledger),
            AnyCircle::Eight(circle) => circle.mend_at(&mut desks.eight, news, tidying, home, ledger),
        }
    }

    /// Begins to fetch all that repairing it will need, and does not wait for it.
    pub fn fetch(&self) {
        with!(self, circle => circle.fetch());
    }

    /// Writes the members of all groups and the groups of all members into lists.
    pub fn write_rolls(&self, ledger: &mut Ledger, rolls: &mut Rolls) {
        with!(self, circle => circle.write_rolls(ledger, rolls));
    }

    /// Writes who overlaps whom into a graph.
    pub fn write_graph(&self, graph: &mut Graph) {
        with!(self, circle => circle.write_graph(graph));
    }

    /// Whether pairs lead from each member to all others.
    pub fn is_one(&self) -> bool {
        with!(self, circle => circle.is_one())
    }

    /// Its members, ascending; the place of each is its tag.
    pub fn slots(&self) -> &[Slot] {
        with!(self, circle => &circle.slots)
    }

    /// Where its groups are. A group that is no more is nowhere.
    pub fn places(&self) -> &[u32] {
        with!(self, circle => &circle.places)
    }

    /// Where those groups are that are still there.
    pub fn live_places(&self) -> impl Iterator<Item = u32> + '_ {
        self.places().iter().copied().filter(|&place| place != VACANT)
    }

    /// The name of a group.
    pub fn id(&self, group: usize) -> GroupId {
        with!(self, circle => circle.id(group))
    }

    /// The tags of a group's members, as words.
    pub fn mask(&self, group: usize) -> &[u64] {
        with!(self, circle => circle.masks[group].words())
    }

    /// The names of a member's groups.
    pub fn groups_of(&self, tag: usize) -> impl Iterator<Item = GroupId> + '_ {
        let groups = with!(self, circle => circle.of.get(tag));
        groups.iter().map(|&group| self.id(usize::from(group)))
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        with!(self, circle => circle.bytes())
    }
}

impl Default for AnyCircle {
    fn default() -> AnyCircle {
        AnyCircle::Two(Circle::default())
    }
}

impl Desks {
    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.two.bytes() + self.four.bytes() + self.eight.bytes()
    }
}

impl<const WORDS: usize> Circle<WORDS> {
    fn mend_at(&mut self, desk: &mut Desk<WORDS>, news: &[News], tidying: &Tidying, home: u32, ledger: &mut Ledger) {
        std::mem::swap(&mut self.desk, desk);
        self.mend(news, tidying, home, ledger);
        std::mem::swap(&mut self.desk, desk);
    }
}
