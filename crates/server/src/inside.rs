//! What an operator sees of the engine: groups of users that hear each other, the cells of the ground, and what one
//! object hears.
//!
//! It is computed only on request. Groups are repaired from look to look, so that a group keeps its number while it
//! lasts.

use interest::GroupCover;
use space::{ObjectId, PairChanges};
use wire::inside::{CELLS_MAX, Group, HEARINGS_MAX, Hearing, Wanted};
use wire::operator::ToOperator;
use world::GroundCells;

use crate::Server;

/// With more pairs of users than this, no groups are computed: the tick has other work.
const PAIRS_MAX: usize = 50_000;

/// What was looked at last.
#[derive(Debug, Default)]
pub struct Insight {
    pairs: PairChanges,
    groups: GroupCover,
}

/// What there was to see of a server after a tick.
#[derive(Clone, Debug, Default)]
pub struct EngineView {
    tick: u64,
    /// `None` if it was not asked for, or if there are too many pairs.
    groups: Option<Vec<Group>>,
    cells: Option<GroundCells>,
    hearings: Vec<Hearing>,
}

impl Insight {
    pub fn new() -> Insight {
        Insight::default()
    }

    /// Looks at what any operator wants to know.
    pub fn look(&mut self, server: &Server, wanted: &[Wanted]) -> EngineView {
        let groups = if wanted.iter().any(|wanted| wanted.groups) { self.group(server) } else { None };
        if groups.is_none() {
            *self = Insight::new();
        }
        let mut asked: Vec<ObjectId> = wanted.iter().filter_map(|wanted| wanted.object).collect();
        asked.sort_unstable();
        asked.dedup();
        EngineView {
            tick: server.world().tick().number(),
            groups,
            cells: wanted.iter().any(|wanted| wanted.cells).then(|| server.world().cells()),
            hearings: asked.iter().filter_map(|&object| hearing(server, object)).collect(),
        }
    }

    fn group(&mut self, server: &Server) -> Option<Vec<Group>> {
        let pairs = server.mutual_hearings(PAIRS_MAX)?;
        // A slot with a new object is in the same groups: members are looked up at every look.
        self.pairs.compare(&pairs);
        self.groups.update(&self.pairs.began, &self.pairs.ended);
        let mut groups: Vec<Group> = Vec::with_capacity(self.groups.len());
        for (group, slots) in self.groups.iter() {
            let mut members: Vec<ObjectId> = slots.iter().filter_map(|&slot| server.object_of(slot)).collect();
            members.sort_unstable();
            groups.push(Group { number: group.number(), members });
        }
        groups.sort_unstable_by_key(|group| group.number);
        Some(groups)
    }
}

impl EngineView {
    /// Groups of users that hear each other, by rising numbers; `None` if not asked for, or for too many pairs.
    pub fn groups(&self) -> Option<&[Group]> {
        self.groups.as_deref()
    }

    /// Objects that an answer to `wanted` names.
    pub fn named(&self, wanted: &Wanted) -> impl Iterator<Item = ObjectId> + '_ {
        let hearing = self.hearing(wanted);
        hearing.into_iter().flat_map(|hearing| {
            std::iter::once(hearing.object).chain(hearing.hears.iter().chain(&hearing.heard_by).copied())
        })
    }

    /// Messages that answer this; where there is not room for all, what is near the object comes first.
    pub fn tell(&self, wanted: &Wanted, place: Option<[i32; 2]>) -> Vec<ToOperator> {
        let mut messages = Vec::new();
        if let (true, Some(groups)) = (wanted.groups, &self.groups) {
            messages.push(ToOperator::Groups(self.some_groups(groups, wanted.object)));
        }
        if let (true, Some(cells)) = (wanted.cells, &self.cells) {
            messages.push(ToOperator::Cells(self.some_cells(cells, place)));
        }
        messages.extend(self.hearing(wanted).cloned().map(ToOperator::Hearing));
        messages
    }

    fn hearing(&self, wanted: &Wanted) -> Option<&Hearing> {
        let object = wanted.object?;
        self.hearings.iter().find(|hearing| hearing.object == object)
    }

    fn some_groups(&self, groups: &[Group], object: Option<ObjectId>) -> wire::inside::Groups {
        let is_of = |group: &&Group| object.is_some_and(|object| group.members.binary_search(&object).is_ok());
        let (own, others): (Vec<&Group>, Vec<&Group>) = groups.iter().partition(is_of);
        let mut room = wire::inside::MEMBERS_MAX;
        let mut some = Vec::new();
        for group in own.into_iter().chain(others).take(wire::inside::GROUPS_MAX) {
            if group.members.len() > room {
                break;
            }
            room -= group.members.len();
            some.push(group.clone());
        }
        some.sort_unstable_by_key(|group| group.number);
        wire::inside::Groups { tick: self.tick, all: groups.len() as u32, groups: some }
    }

    fn some_cells(&self, cells: &GroundCells, place: Option<[i32; 2]>) -> wire::inside::OccupiedCells {
        let mut occupied = cells.occupied.clone();
        if occupied.len() > CELLS_MAX {
            let around = place.unwrap_or([0; 2]);
            let away = |&(cell, _): &(u32, u32)| {
                let at = [cell % cells.counts[0].max(1), cell / cells.counts[0].max(1)];
                let along = |axis: usize| {
                    let middle = i64::from(cells.low[axis]) + i64::from(at[axis]) * i64::from(cells.edge);
                    (middle - i64::from(around[axis])).abs()
                };
                along(0).max(along(1))
            };
            occupied.select_nth_unstable_by_key(CELLS_MAX, away);
            occupied.truncate(CELLS_MAX);
            occupied.sort_unstable();
        }
        let &GroundCells { low, edge, counts, .. } = cells;
        wire::inside::OccupiedCells { tick: self.tick, low, edge, counts, all: cells.occupied.len() as u32, occupied }
    }
}

fn hearing(server: &Server, object: ObjectId) -> Option<Hearing> {
    let (mut hears, mut heard_by) = server.hearing(object)?;
    let (hears_all, heard_by_all) = (hears.len() as u32, heard_by.len() as u32);
    for list in [&mut hears, &mut heard_by] {
        list.sort_unstable();
        list.truncate(HEARINGS_MAX);
    }
    Some(Hearing { tick: server.world().tick().number(), object, hears_all, hears, heard_by_all, heard_by })
}
