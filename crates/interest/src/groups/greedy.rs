//! A cover made anew: what repaired ones are measured against.

use space::{Pair, Slot};

use super::uncovered::Uncovered;
use crate::Graph;

/// A greedy cover of a graph: its uncovered pairs in the order of their slots, each grown by whoever covers the most
/// uncovered pairs, of equals the lowest.
pub fn greedy_cover(graph: &Graph) -> Vec<Vec<Slot>> {
    let mut uncovered = Uncovered::default();
    uncovered.clear();
    let mut owners = Vec::new();
    for row in 0..graph.rows() as u32 {
        let slot = Slot::new(row);
        let later = graph.neighbours(slot).iter().filter(|&&neighbour| neighbour > slot);
        later.for_each(|&neighbour| uncovered.note(Pair::new(slot, neighbour)));
        owners.push(slot);
    }
    uncovered.sort(graph.rows());
    let mut groups = Vec::new();
    for slot in owners {
        while let Some(&other) = uncovered.of(slot).first() {
            groups.push(uncovered.grow(slot, other, graph).to_vec());
        }
    }
    groups
}
