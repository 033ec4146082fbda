//! Twins: two who overlap each other and exactly the same others, as those do who stand at one point.
//!
//! Twins are in the same relations, so that one of them, the lowest, can stand for all: a crowd that has gathered
//! around a target is a few vertices.

use space::Slot;

use crate::Graph;

/// Who stands for whom, found out when asked, and remembered while the graph stays as it is.
#[derive(Debug, Default)]
pub struct Twins {
    /// Counts the states of the graph.
    round: u32,
    known: Vec<Known>,
}

/// The neighbours of an object, twins together.
#[derive(Debug, Default)]
pub struct Families {
    /// Everybody with its deputy: those of one family one after the other.
    members: Vec<Slot>,
    /// Who stands for each family, ascending, and where the family begins. The object's own twins come first.
    deputies: Vec<Slot>,
    starts: Vec<usize>,
    /// Scratch.
    pairs: Vec<(Slot, Slot)>,
}

/// What is known about a slot, and as of which rounds.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// The sum of numbers that look like chance, one for each of its closed neighbourhood: twins have the same.
    hash: u64,
    hash_round: u32,
    deputy_round: u32,
    deputy: u32,
}

impl Twins {
    /// Forgets everything: the graph is another one.
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
    /// Takes together the twins among the neighbours of an object that stands for its own.
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

    /// Who stands for each family but the object's own, ascending.
    pub fn deputies(&self) -> &[Slot] {
        &self.deputies
    }

    /// The object's own twins.
    pub fn own(&self) -> &[Slot] {
        &self.members[..self.starts[0]]
    }

    /// A family by its number.
    pub fn members(&self, number: usize) -> &[Slot] {
        &self.members[self.starts[number]..self.starts[number + 1]]
    }
}

/// Whether two, the lower one first, overlap each other and the same others.
fn are_twins(lower: Slot, higher: Slot, graph: &Graph) -> bool {
    let (near, theirs) = (graph.neighbours(lower), graph.neighbours(higher));
    let (Ok(place), Ok(their_place)) = (near.binary_search(&higher), theirs.binary_search(&lower)) else {
        return false;
    };
    // But for each other, the lists are the same; each is one entry ahead between the two.
    near.len() == theirs.len()
        && their_place <= place
        && near[..their_place] == theirs[..their_place]
        && near[their_place..place] == theirs[their_place + 1..=place]
        && near[place + 1..] == theirs[place + 1..]
}

/// The finaliser of splitmix64, shortened: what it is for is compared in the end.
fn mixed(slot: Slot) -> u64 {
    let number = (u64::from(slot.number()) + 1).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (number ^ number >> 29).wrapping_mul(0x94d0_49bb_1331_11eb)
}
