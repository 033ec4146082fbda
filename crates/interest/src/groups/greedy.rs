//! A cover made anew: what repaired ones are measured against.

use space::{Pair, Slot};

use super::uncovered::Uncovered;
use crate::Graph;

/// A greedy cover of a graph: its uncovered pairs in the order of their slots, each grown by whoever covers the most
/// uncovered pairs, of equals the lowest.
pub fn greedy_cover(graph: &Graph) -> Vec<Vec<Slot>> {
    let slots = || (0..graph.rows() as u32).map(Slot::new);
    let later = |slot: Slot| graph.neighbours(slot).iter().filter(move |&&neighbour| neighbour > slot);
    let pairs: Vec<Pair> = slots().flat_map(|slot| later(slot).map(move |&other| Pair::new(slot, other))).collect();
    let mut uncovered = Uncovered::default();
    uncovered.clear();
    uncovered.gather(graph.rows(), &pairs);
    let mut groups = Vec::new();
    for slot in slots() {
        while let Some(&other) = uncovered.of(slot).first() {
            groups.push(uncovered.grow(slot, other, graph).to_vec());
        }
    }
    groups
}
