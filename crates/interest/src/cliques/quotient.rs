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
    /// Scratch: a hash of each member's closed neighbourhood, and the member.
    hashes: Vec<(u64, u32)>,
    /// The member that stands for each.
    deputies: Vec<u32>,
}

const NONE: u32 = u32::MAX;
/// Smaller components are searched sooner than twins are found.
const FEW: usize = 16;

impl Quotient {
    /// Takes a component's twins together.
    pub fn make(&mut self, members: &[Slot], components: &Components, graph: &Graph) {
        self.deputies.clear();
        self.deputies.extend(0..members.len() as u32);
        if members.len() > FEW {
            self.find_twins(members, graph);
        }
        self.vertices.clear();
        let mut count = 0;
        for (member, &deputy) in self.deputies.iter().enumerate() {
            let stands = deputy == member as u32;
            self.vertices.push(if stands { count } else { NONE });
            count += u32::from(stands);
        }
        self.gather_twins(members, count as usize);
        self.near.clear();
        for (member, &slot) in members.iter().enumerate() {
            let vertex = self.vertices[member];
            if vertex == NONE {
                continue;
            }
            // Whoever overlaps one of some twins overlaps the one that stands for them.
            let near = graph.neighbours(slot).iter().map(|&other| self.vertices[components.number(other) as usize]);
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
        8 * self.starts.capacity() + 4 * (numbers + self.deputies.capacity()) + 16 * self.hashes.capacity()
    }

    /// Equal neighbourhoods have equal hashes; those with equal hashes are compared.
    fn find_twins(&mut self, members: &[Slot], graph: &Graph) {
        self.hashes.clear();
        for (member, &slot) in members.iter().enumerate() {
            let all = graph.neighbours(slot).iter().chain([&slot]);
            self.hashes.push((all.map(|&other| mixed(other)).fold(0, u64::wrapping_add), member as u32));
        }
        self.hashes.sort_unstable();
        for same in self.hashes.chunk_by(|one, other| one.0 == other.0) {
            let deputy = same[0].1;
            for &(_, member) in &same[1..] {
                if are_twins(members[deputy as usize], members[member as usize], graph) {
                    self.deputies[member as usize] = deputy;
                }
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

/// Whether two overlap each other and the same others.
fn are_twins(one: Slot, other: Slot, graph: &Graph) -> bool {
    let (near, theirs) = (graph.neighbours(one), graph.neighbours(other));
    near.len() == theirs.len()
        && near.binary_search(&other).is_ok()
        && near.iter().filter(|&&slot| slot != other).eq(theirs.iter().filter(|&&slot| slot != one))
}

/// The finaliser of splitmix64.
fn mixed(slot: Slot) -> u64 {
    let number = u64::from(slot.number()).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}
