//! Components that may be crowds.
//!
//! Everybody's search has an quota of its own. As long as nobody exceeds it, no component can exceed what its members
//! have together, and nobody needs to know the components. Those who exceed it are *heavy*: their component is
//! gathered, and they share what it is allowed as a whole. If that is not enough, it is a crowd: in which order they
//! are searched does not matter, and the rest need not be.
//!
//! Invariants, after an update:
//! - Whoever is in a component with somebody heavy is labelled with its lowest slot; nobody else is.
//! - The components are known by their lowest slots.

use std::collections::BTreeMap;

use space::Slot;

use super::Budget;
use super::quota::Quota;
use crate::Graph;

/// The components of those who are heavy.
#[derive(Debug, Default)]
pub struct Crowds {
    labels: Vec<u32>,
    components: BTreeMap<u32, Component>,
    crowds: usize,
}

/// A component with somebody heavy.
#[derive(Debug)]
pub struct Component {
    /// Everybody, ascending.
    pub members: Vec<Slot>,
    /// Those whose relations were found with what is allowed to all together, and what is left of it.
    pub heavy: Vec<Slot>,
    pub quota: Quota,
    pub is_crowd: bool,
}

/// Not in such a component.
const NONE: u32 = u32::MAX;

impl Crowds {
    /// Whether nobody is heavy.
    pub fn is_empty(&self) -> bool {
        self.components.is_empty()
    }

    /// How many components are crowds.
    pub fn len(&self) -> usize {
        self.crowds
    }

    /// The members of each crowd, by the lowest.
    pub fn iter(&self) -> impl Iterator<Item = &[Slot]> {
        self.components.values().filter(|component| component.is_crowd).map(|component| &component.members[..])
    }

    /// Whether a slot is in a crowd.
    pub fn contains(&self, slot: Slot) -> bool {
        let label = self.labels.get(slot.row());
        label.and_then(|label| self.components.get(label)).is_some_and(|component| component.is_crowd)
    }

    /// Takes out the component that a slot is in.
    pub fn remove(&mut self, slot: Slot) -> Option<Component> {
        let component = self.components.remove(self.labels.get(slot.row())?)?;
        component.members.iter().for_each(|member| self.labels[member.row()] = NONE);
        self.crowds -= usize::from(component.is_crowd);
        Some(component)
    }

    /// The component of a slot that is heavy, gathered if it is not known yet.
    pub fn of(&mut self, slot: Slot, graph: &Graph, budget: Budget) -> &mut Component {
        if self.labels.len() < graph.rows() {
            self.labels.resize(graph.rows(), NONE);
        }
        if self.labels[slot.row()] == NONE {
            let members = self.gather(slot, graph);
            let quota = Quota::together(budget, members.len());
            let component = Component { members, heavy: Vec::new(), quota, is_crowd: false };
            self.components.insert(self.labels[slot.row()], component);
        }
        self.components.get_mut(&self.labels[slot.row()]).expect("a label is that of a component")
    }

    /// Counts one more crowd.
    pub fn count(&mut self) {
        self.crowds += 1;
    }

    /// Gathers the component of a slot and labels it.
    fn gather(&mut self, slot: Slot, graph: &Graph) -> Vec<Slot> {
        let mut members = vec![slot];
        self.labels[slot.row()] = slot.number();
        let mut next = 0;
        while next < members.len() {
            for &neighbour in graph.neighbours(members[next]) {
                let label = &mut self.labels[neighbour.row()];
                if *label == NONE {
                    *label = slot.number();
                    members.push(neighbour);
                }
            }
            next += 1;
        }
        members.sort_unstable();
        members.iter().for_each(|member| self.labels[member.row()] = members[0].number());
        members
    }
}
