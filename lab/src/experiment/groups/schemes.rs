//! The ways to deliver other than the cover.

use std::collections::{BTreeMap, BTreeSet};

use interest::Graph;
use interest::published::{Budget, Cliques};
use space::{Slot, Spheres, Vec3};

/// A running mean.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mean {
    sum: usize,
    count: usize,
}

impl Mean {
    pub fn add(&mut self, number: usize) {
        self.sum += number;
        self.count += 1;
    }

    pub fn mean(self) -> f64 {
        self.sum as f64 / self.count.max(1) as f64
    }
}

/// Relations of two members and more, each a group.
#[derive(Debug, Default)]
pub struct RelationGroups {
    groups: BTreeSet<Vec<Slot>>,
    /// Whether some component had too many relations to list.
    pub is_crowd: bool,
}

/// A hundred times the default, as the lab has time.
const PATIENT: Budget = Budget { work: 1 << 21, memberships: 1 << 17 };

impl RelationGroups {
    /// Takes in a tick, and says how many joins and leaves that takes: a relation that changes is another group.
    pub fn update(&mut self, graph: &Graph) -> usize {
        let mut cliques = Cliques::with(PATIENT);
        cliques.restart(graph);
        self.is_crowd = cliques.crowds_len() > 0;
        let groups: BTreeSet<Vec<Slot>> = cliques.iter().map(<[Slot]>::to_vec).collect();
        let changes = self.groups.symmetric_difference(&groups).map(Vec::len).sum();
        self.groups = groups;
        changes
    }

    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Members of all groups together.
    pub fn memberships(&self) -> usize {
        self.sizes().sum()
    }

    pub fn sizes(&self) -> impl Iterator<Item = usize> + '_ {
        self.groups.iter().map(Vec::len)
    }
}

type Cell = [i32; 3];

/// Cells as wide as an aura. Objects that may have a neighbour in a cell are in its group; an update goes to the cell
/// of its sender's centre alone, so that no object gets it twice.
#[derive(Debug, Default)]
pub struct CellGroups {
    /// The members of each cell's group.
    members: BTreeMap<Cell, Vec<Slot>>,
    /// How many centres are in each cell.
    senders: BTreeMap<Cell, usize>,
    subscriptions: BTreeSet<(Slot, Cell)>,
}

impl CellGroups {
    /// Takes in a tick, and says how many joins and leaves that takes.
    pub fn update(&mut self, auras: &Spheres) -> usize {
        let columns = auras.columns();
        let largest = auras.slots().map(|slot| columns.radius[slot.row()]).fold(0.0, f32::max);
        let side = (2.0 * largest).max(f32::MIN_POSITIVE);
        self.members.clear();
        self.senders.clear();
        let mut subscriptions = BTreeSet::new();
        for slot in auras.slots() {
            let sphere = columns.sphere(slot.row());
            let reach = sphere.radius + largest;
            let cell_of = |point: Vec3| (point / side).floor().to_array().map(|number| number as i32);
            let home = cell_of(sphere.center);
            *self.senders.entry(home).or_default() += 1;
            let low = cell_of(sphere.center - reach);
            let high = cell_of(sphere.center + reach);
            for x in low[0]..=high[0] {
                for y in low[1]..=high[1] {
                    for z in low[2]..=high[2] {
                        let cell = [x, y, z];
                        // How far the centre is from the cell.
                        let outside: f32 = (0..3)
                            .map(|axis| {
                                let (from, to) = (cell[axis] as f32 * side, (cell[axis] + 1) as f32 * side);
                                (from - sphere.center[axis]).max(sphere.center[axis] - to).max(0.0).powi(2)
                            })
                            .sum();
                        if outside <= reach * reach {
                            self.members.entry(cell).or_default().push(slot);
                            subscriptions.insert((slot, cell));
                        }
                    }
                }
            }
        }
        let changes = self.subscriptions.symmetric_difference(&subscriptions).count();
        self.subscriptions = subscriptions;
        changes
    }

    /// How many cells have members.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Members of all groups together.
    pub fn memberships(&self) -> usize {
        self.subscriptions.len()
    }

    /// Copies delivered when each object sends one update.
    pub fn copies(&self) -> f64 {
        let members = |cell: &Cell| self.members.get(cell).map_or(0, Vec::len);
        self.senders.iter().map(|(cell, &count)| (count * members(cell).saturating_sub(1)) as f64).sum()
    }
}
