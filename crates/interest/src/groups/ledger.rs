//! Which groups there are, where each is, and what became of them in this tick.

use super::free::Free;
use super::homes::NOWHERE;
use super::shadow::Shadow;
use super::{GroupChange, GroupId};

/// The book of all groups.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    pub places: Vec<Place>,
    /// What lists need to know about each place.
    pub looks: Vec<Look>,
    free: Free,
    /// Places that became free in this tick, and may be taken from the next on.
    pub freed: Vec<u32>,
    /// How many groups there are, and how many members they have together.
    pub groups: usize,
    pub joined: usize,
    /// What changed in this tick.
    pub changes: Vec<GroupChange>,
}

/// A group, or room for one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    /// How often the place has been taken.
    pub generation: u32,
    /// The home of the circle that it belongs to, if not [`NOWHERE`].
    pub home: u32,
}

/// How lists see a group that has no home.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look {
    /// The shadow of its members.
    pub shadow: Shadow,
    /// The tick in which the group was touched last.
    pub touched: u32,
    /// The round in which it was counted last, and how often.
    pub round: u32,
    pub gain: u32,
}

impl Ledger {
    /// From here on nothing has changed.
    pub fn start(&mut self) {
        self.freed.drain(..).for_each(|place| self.free.insert(place));
        self.changes.clear();
    }

    /// A place for another group, near that of one of the same crowd: what is looked at together is together in memory
    /// then. Also how often it had been taken.
    pub fn take_place(&mut self, near: Option<u32>) -> (u32, u32) {
        let place = self.free.take_near(near, self.places.len()).unwrap_or_else(|| {
            self.places.push(Place::default());
            self.looks.push(Look::default());
            self.places.len() as u32 - 1
        });
        (place, self.places[place as usize].generation)
    }

    /// The group at a place is no more.
    pub fn give_up(&mut self, place: u32) {
        let given_up = &mut self.places[place as usize];
        given_up.generation = given_up.generation.wrapping_add(1);
        given_up.home = NOWHERE;
        self.freed.push(place);
    }

    /// The name of the group at a place.
    pub fn id(&self, place: u32) -> GroupId {
        GroupId::new(place, self.places[place as usize].generation)
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.places.capacity() * size_of::<Place>()
            + self.looks.capacity() * size_of::<Look>()
            + self.free.bytes()
            + 4 * self.freed.capacity()
            + self.changes.capacity() * size_of::<GroupChange>()
    }
}

impl Look {
    /// Counts a group once more, if it may lie within somebody's reach. One that is counted first becomes a candidate.
    #[inline]
    pub fn count(&mut self, group: u32, reach: Shadow, round: u32, candidates: &mut Vec<u32>) {
        if self.round == round {
            self.gain += 1;
        } else if self.shadow.may_lie_within(reach) {
            (self.round, self.gain) = (round, 1);
            candidates.push(group);
        }
    }
}
