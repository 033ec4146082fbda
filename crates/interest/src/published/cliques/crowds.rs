//! Connected components that may be crowds.
//!
//! The search of each object has a quota of its own. While no search exceeds it, no component can exceed the sum,
//! and components are not needed. An object whose search exceeds its quota is *heavy*. Its component is gathered,
//! and its heavy objects share the quota of the whole. If that is exceeded, the component is a crowd, whatever the
//! order of searches.
//!
//! Invariants, after an update:
//! - All members of a component with a heavy object are labelled with its lowest slot; other objects have no label.
//! - `components` is by lowest slot.

use std::collections::BTreeMap;

use space::Slot;

use super::Budget;
use super::quota::Quota;
use crate::Graph;

/// The components of heavy objects.
#[derive(Debug, Default)]
pub struct Crowds {
    labels: Vec<u32>,
    components: BTreeMap<u32, Component>,
    crowds: usize,
}

/// A component with a heavy object.
#[derive(Debug)]
pub struct Component {
    pub members: Vec<Slot>,
    /// The heavy objects whose relations were found within `quota`, and what is left of that.
    pub heavy: Vec<Slot>,
    pub quota: Quota,
    pub is_crowd: bool,
}

const NONE: u32 = u32::MAX;

impl Crowds {
    /// Whether no object is heavy.
    pub fn is_empty(&self) -> bool {
        self.components.is_empty()
    }

    pub fn len(&self) -> usize {
        self.crowds
    }

    /// The members of each crowd, by lowest member.
    pub fn iter(&self) -> impl Iterator<Item = &[Slot]> {
        self.components.values().filter(|component| component.is_crowd).map(|component| &component.members[..])
    }

    pub fn contains(&self, slot: Slot) -> bool {
        let label = self.labels.get(slot.row());
        label.and_then(|label| self.components.get(label)).is_some_and(|component| component.is_crowd)
    }

    pub fn remove(&mut self, slot: Slot) -> Option<Component> {
        let component = self.components.remove(self.labels.get(slot.row())?)?;
        component.members.iter().for_each(|member| self.labels[member.row()] = NONE);
        self.crowds -= usize::from(component.is_crowd);
        Some(component)
    }

    /// The component of a heavy slot, gathered if it is not known yet.
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
