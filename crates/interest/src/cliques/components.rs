//! Who hangs together: the connected components around what changed.

use space::Slot;
use space::bits::Bits;

use crate::Graph;

/// Which component everybody is in.
#[derive(Debug, Default)]
pub struct Components {
    /// Who is not alone, and who is the lowest of a component.
    connected: Bits,
    leading: Bits,
    places: Vec<Place>,
    /// Counts the times that components were gathered.
    round: u32,
    /// The members of all components gathered in this round, each component's ascending.
    members: Vec<Slot>,
    ranges: Vec<Range>,
}

/// What is known about a slot.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The lowest slot of its component, or `NOBODY` if it is alone.
    head: u32,
    /// The round in which it was gathered last.
    round: u32,
    /// Its number within its component, as of that round.
    number: u32,
}

/// Where a component's members are.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    start: u32,
    end: u32,
}

const NOBODY: u32 = u32::MAX;

impl Components {
    /// Takes a slot out of its component, whose head is returned.
    #[inline]
    pub fn forget(&mut self, slot: Slot) -> Option<Slot> {
        let head = std::mem::replace(&mut self.places.get_mut(slot.row())?.head, NOBODY);
        if head == NOBODY {
            return None;
        }
        self.connected.remove(slot.row());
        self.leading.remove(head as usize);
        Some(Slot::new(head))
    }

    /// Who is not alone.
    pub fn connected(&self) -> &Bits {
        &self.connected
    }

    /// The lowest slots of all components.
    pub fn leading(&self) -> &Bits {
        &self.leading
    }

    /// The number of a member within its component.
    #[inline]
    pub fn number(&self, slot: Slot) -> u32 {
        self.places[slot.row()].number
    }

    /// Fetches what is known about slots into the cache, all at once rather than one after the other.
    pub fn fetch(&self, slots: impl Iterator<Item = Slot>) {
        let places = slots.filter_map(|slot| self.places.get(slot.row()));
        std::hint::black_box(places.fold(0u32, |sum, place| sum.wrapping_add(place.head)));
    }

    /// Gathers the components of these slots.
    ///
    /// When pairs end, a component may fall apart; each part then has an end of a pair that ended, so that nobody whose
    /// component changed is missed if both ends of all changes are given.
    pub fn gather(&mut self, graph: &Graph, around: impl Iterator<Item = Slot>) {
        if self.places.len() < graph.rows() {
            self.places.resize(graph.rows(), Place { head: NOBODY, round: 0, number: 0 });
        }
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.places.iter_mut().for_each(|place| place.round = 0);
            self.round = 1;
        }
        let round = self.round;
        self.members.clear();
        self.ranges.clear();
        for slot in around {
            let place = &mut self.places[slot.row()];
            if place.round == round {
                continue;
            }
            place.round = round;
            if graph.neighbours(slot).is_empty() {
                continue;
            }
            let start = self.members.len();
            self.members.push(slot);
            let mut next = start;
            while next < self.members.len() {
                for &neighbour in graph.neighbours(self.members[next]) {
                    let place = &mut self.places[neighbour.row()];
                    if place.round != round {
                        place.round = round;
                        self.members.push(neighbour);
                    }
                }
                next += 1;
            }
            let members = &mut self.members[start..];
            members.sort_unstable();
            let head = members[0].number();
            for (number, member) in members.iter().enumerate() {
                let place = &mut self.places[member.row()];
                (place.head, place.number) = (head, number as u32);
                self.connected.insert(member.row());
            }
            self.leading.insert(head as usize);
            self.ranges.push(Range { start: start as u32, end: self.members.len() as u32 });
        }
    }

    /// What was gathered: components of two members and more.
    pub fn gathered(&self) -> &[Range] {
        &self.ranges
    }

    /// The members of a component that was gathered, ascending.
    #[inline]
    pub fn members(&self, range: Range) -> &[Slot] {
        &self.members[range.start as usize..range.end as usize]
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.connected.bytes()
            + self.leading.bytes()
            + self.places.capacity() * size_of::<Place>()
            + self.members.capacity() * size_of::<Slot>()
            + self.ranges.capacity() * size_of::<Range>()
    }
}
