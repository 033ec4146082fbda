//! A component with its twins taken together.
//!
//! Two members are twins when they overlap each other and exactly the same others, as those do who stand at one point.
//! Twins are in the same relations, so that one of them, the lowest, can stand for all: a crowd that has gathered around a
//! target is a few vertices.

use space::Slot;

use super::components::Components;
use crate::Graph;

/// One vertex per set of twins, numbered from zero, ascending by their lowest members.
#[derive(Debug, Default)]
pub struct Quotient {
    /// Where the neighbours and the twins of each vertex begin; the next one's beginning is their end.
    starts: Vec<(u32, u32)>,
    near: Vec<u32>,
    twins: Vec<Slot>,
    /// For each member the vertex it stands for, or `NONE` if another does.
    vertices: Vec<u32>,
    /// Scratch: the neighbours of each member by their numbers, and where they end.
    neighbours: Vec<u32>,
    ends: Vec<u32>,
    /// Scratch: a number for each member that looks like chance, and the sum of those of its closed neighbourhood.
    mixed: Vec<u64>,
    hashes: Vec<u64>,
    /// The member that stands for each.
    deputies: Vec<u32>,
}

const NONE: u32 = u32::MAX;
/// Smaller components are searched sooner than twins are found.
const FEW: usize = 16;

impl Quotient {
    /// Takes a component's twins together.
    pub fn make(&mut self, members: &[Slot], components: &Components, graph: &Graph) {
        if members.len() <= FEW {
            self.leave_apart(members, components, graph);
            return;
        }
        self.number_neighbours(members, components, graph);
        self.deputies.clear();
        self.deputies.extend(0..members.len() as u32);
        self.find_twins(members, graph);
        self.vertices.clear();
        let mut count = 0;
        for (member, &deputy) in self.deputies.iter().enumerate() {
            let stands = deputy == member as u32;
            self.vertices.push(if stands { count } else { NONE });
            count += u32::from(stands);
        }
        self.gather_twins(members, count as usize);
        self.near.clear();
        for (member, ends) in self.ends.windows(2).enumerate() {
            let vertex = self.vertices[member];
            if vertex == NONE {
                continue;
            }
            // Whoever overlaps one of some twins overlaps the one that stands for them.
            let near = &self.neighbours[ends[0] as usize..ends[1] as usize];
            let near = near.iter().map(|&other| self.vertices[other as usize]);
            self.near.extend(near.filter(|&other| other != NONE));
            self.starts[vertex as usize + 1].0 = self.near.len() as u32;
        }
    }

    /// How many vertices there are.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The neighbours of a vertex, ascending.
    #[inline]
    pub fn near(&self, vertex: u32) -> &[u32] {
        let (start, end) = (self.starts[vertex as usize].0, self.starts[vertex as usize + 1].0);
        &self.near[start as usize..end as usize]
    }

    /// The members that a vertex stands for, ascending.
    #[inline]
    pub fn twins(&self, vertex: u32) -> &[Slot] {
        let (start, end) = (self.starts[vertex as usize].1, self.starts[vertex as usize + 1].1);
        &self.twins[start as usize..end as usize]
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        let numbers = self.near.capacity() + self.twins.capacity() + self.vertices.capacity();
        let scratch = self.deputies.capacity() + self.neighbours.capacity() + self.ends.capacity();
        let hashes = self.mixed.capacity() + self.hashes.capacity();
        4 * (numbers + scratch) + 8 * (self.starts.capacity() + hashes)
    }

    /// Lets every member stand for itself.
    fn leave_apart(&mut self, members: &[Slot], components: &Components, graph: &Graph) {
        self.twins.clear();
        self.twins.extend_from_slice(members);
        self.near.clear();
        self.starts.clear();
        self.starts.push((0, 0));
        for (member, &slot) in members.iter().enumerate() {
            self.near.extend(graph.neighbours(slot).iter().map(|&other| components.number(other)));
            self.starts.push((self.near.len() as u32, member as u32 + 1));
        }
    }

    /// Puts the neighbours of all members one after the other, by their numbers.
    fn number_neighbours(&mut self, members: &[Slot], components: &Components, graph: &Graph) {
        self.neighbours.clear();
        self.ends.clear();
        self.ends.push(0);
        for &slot in members {
            self.neighbours.extend(graph.neighbours(slot).iter().map(|&other| components.number(other)));
            self.ends.push(self.neighbours.len() as u32);
        }
    }

    /// Equal neighbourhoods have equal hashes; those with equal hashes are compared. The deputy of some twins is their
    /// lowest, which is a neighbour of all others.
    fn find_twins(&mut self, members: &[Slot], graph: &Graph) {
        self.mixed.clear();
        self.mixed.extend(members.iter().map(|&slot| mixed(slot)));
        self.hashes.clear();
        for member in 0..members.len() {
            let near = &self.neighbours[self.ends[member] as usize..self.ends[member + 1] as usize];
            let others = near.iter().map(|&other| self.mixed[other as usize]).fold(0, u64::wrapping_add);
            let hash = others.wrapping_add(self.mixed[member]);
            self.hashes.push(hash);
            let earlier = near.iter().take_while(|&&other| (other as usize) < member);
            if let Some(&deputy) = { earlier }.find(|&&other| self.hashes[other as usize] == hash)
                && are_twins(members[deputy as usize], members[member], graph)
            {
                self.deputies[member] = deputy;
            }
        }
    }

    /// Puts the members that each vertex stands for one after the other: counted, then put in place.
    fn gather_twins(&mut self, members: &[Slot], count: usize) {
        self.starts.clear();
        self.starts.resize(count + 1, (0, 0));
        let vertex = |member: usize| self.vertices[self.deputies[member] as usize] as usize;
        (0..members.len()).for_each(|member| self.starts[vertex(member) + 1].1 += 1);
        for index in 1..=count {
            self.starts[index].1 += self.starts[index - 1].1;
        }
        self.twins.clear();
        self.twins.resize(members.len(), Slot::new(0));
        // Backwards, so that a beginning, counted down from its end, is where it belongs at last.
        for member in (0..members.len()).rev() {
            let place = &mut self.starts[vertex(member) + 1].1;
            *place -= 1;
            self.twins[*place as usize] = members[member];
        }
        for index in 0..count {
            self.starts[index].1 = self.starts[index + 1].1;
        }
        self.starts[count].1 = members.len() as u32;
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

/// The finaliser of splitmix64.
fn mixed(slot: Slot) -> u64 {
    let number = u64::from(slot.number()).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}
