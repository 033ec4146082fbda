//! Twins: two objects that overlap each other and the same others, as objects at one point do.
//!
//! Twins are in the same relations, so the lowest of them, their *deputy*, represents all in a search: a crowd at one
//! target is a few vertices.

use space::Slot;

use crate::Graph;

/// The deputies, computed on demand and kept while the graph does not change.
#[derive(Debug, Default)]
pub struct Twins {
    /// The number of states of the graph.
    round: u32,
    known: Vec<Known>,
}

/// The neighbours of an object, in families of twins.
#[derive(Debug, Default)]
pub struct Families {
    /// All neighbours, one family after the other.
    members: Vec<Slot>,
    /// The deputy of each family, ascending, and the start of the family in `members`. The object's own
    /// twins come first.
    deputies: Vec<Slot>,
    starts: Vec<usize>,
    /// Scratch memory for sorting.
    pairs: Vec<(Slot, Slot)>,
}

/// What is known about a row, and in which rounds it was computed.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// The sum of a hash of each slot of its closed neighbourhood, which twins share.
    hash: u64,
    hash_round: u32,
    deputy_round: u32,
    deputy: u32,
}

impl Twins {
    /// Begins with another graph.
    pub fn start(&mut self) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.known.clear();
            self.round = 1;
        }
    }

    /// The lowest of a slot and its twins.
    pub fn deputy(&mut self, slot: Slot, graph: &Graph) -> Slot {
        if self.known.len() < graph.rows() {
            self.known.resize(graph.rows(), Known::default());
        }
        let known = &self.known[slot.row()];
        if known.deputy_round == self.round {
            return Slot::new(known.deputy);
        }
        let near = graph.neighbours(slot);
        let hash = self.hash(slot, graph);
        let mut is_twin = |other: &&Slot| {
            graph.neighbours(**other).len() == near.len()
                && self.hash(**other, graph) == hash
                && are_twins(**other, slot, graph)
        };
        let deputy =
            near.iter().take_while(|&&other| other < slot).find(|other| is_twin(other)).copied().unwrap_or(slot);
        let known = &mut self.known[slot.row()];
        (known.deputy, known.deputy_round) = (deputy.number(), self.round);
        deputy
    }

    fn hash(&mut self, slot: Slot, graph: &Graph) -> u64 {
        let known = &mut self.known[slot.row()];
        if known.hash_round != self.round {
            known.hash = graph.neighbours(slot).iter().fold(mixed(slot), |sum, &other| sum.wrapping_add(mixed(other)));
            known.hash_round = self.round;
        }
        known.hash
    }
}

impl Families {
    /// Groups the neighbours of an object, which is a deputy, by their deputies.
    pub fn gather(&mut self, slot: Slot, near: &[Slot], graph: &Graph, twins: &mut Twins) {
        self.pairs.clear();
        self.pairs.extend(near.iter().map(|&other| (twins.deputy(other, graph), other)));
        self.pairs.sort_unstable_by_key(|&(deputy, other)| (deputy != slot, deputy, other));
        self.members.clear();
        self.deputies.clear();
        self.starts.clear();
        for &(deputy, member) in &self.pairs {
            if member == deputy {
                self.deputies.push(deputy);
                self.starts.push(self.members.len());
            }
            self.members.push(member);
        }
        self.starts.push(self.members.len());
    }

    /// The deputies of all families but the object's own, ascending.
    pub fn deputies(&self) -> &[Slot] {
        &self.deputies
    }

    /// The object's own twins.
    pub fn own(&self) -> &[Slot] {
        &self.members[..self.starts[0]]
    }

    pub fn members(&self, number: usize) -> &[Slot] {
        &self.members[self.starts[number]..self.starts[number + 1]]
    }
}

/// Whether two objects are twins.
fn are_twins(lower: Slot, higher: Slot, graph: &Graph) -> bool {
    let (near, theirs) = (graph.neighbours(lower), graph.neighbours(higher));
    let (Ok(place), Ok(their_place)) = (near.binary_search(&higher), theirs.binary_search(&lower)) else {
        return false;
    };
    // The lists are equal but for each other, so between the two places one list is ahead by one.
    near.len() == theirs.len()
        && their_place <= place
        && near[..their_place] == theirs[..their_place]
        && near[their_place..place] == theirs[their_place + 1..=place]
        && near[place + 1..] == theirs[place + 1..]
}

/// The finaliser of splitmix64, shortened; equal hashes are compared exactly.
fn mixed(slot: Slot) -> u64 {
    let number = (u64::from(slot.number()) + 1).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (number ^ number >> 29).wrapping_mul(0x94d0_49bb_1331_11eb)
}
