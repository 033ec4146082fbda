//! Circles that are kept from tick to tick: most crowds meet nobody else, and need not be laid out anew.
//!
//! A kept circle is what would be laid out for its members, as long as nothing else touches their groups and pairs. It is
//! the *home* of its members, and is forgotten when one of them meets somebody from elsewhere, and when one of its groups
//! is changed by lists. After some time it is forgotten as well: two crowds that met and parted are two circles then.

use space::Slot;

use super::super::Groups;
use super::super::seats::NOWHERE;
use super::Circle;
use crate::Graph;

/// Smaller circles are laid out in no time, and are not kept.
const KEPT_MIN: usize = 24;
/// For so many ticks a circle is kept at least, and at most for twice as many: not all are forgotten at once.
const KEPT_TICKS: u32 = 32;

/// The circles that are kept.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// That of home 1 is the first.
    circles: Vec<Circle>,
    free: Vec<u32>,
}

impl Kept {
    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.circles.iter().map(|circle| size_of::<Circle>() + circle.bytes()).sum::<usize>() + 4 * self.free.capacity()
    }
}

impl Groups {
    /// Takes the circle of an object that was kept, if it is still whole.
    pub(in super::super) fn recall_circle(&mut self, seed: Slot, graph: &Graph) -> bool {
        let home = self.seats.home(seed);
        if home == NOWHERE {
            return false;
        }
        let circle = &self.kept.circles[home as usize - 1];
        let age = self.seats.tick().wrapping_sub(circle.found);
        let is_old = age > KEPT_TICKS + circle.slots[0].number() % KEPT_TICKS;
        if is_old || !self.seats.keep_to_themselves(&circle.slots, home, graph.began()) {
            self.forget(home);
            return false;
        }
        self.swap_circle(home);
        self.kept.free.push(home);
        self.seats.start_circle();
        self.seats.sit_again(&self.circle.slots);
        self.take_in_news(graph);
        true
    }

    /// The circle of an object, if it is kept.
    #[cfg(test)]
    pub(super) fn kept_circle(&self, slot: Slot) -> Option<&Circle> {
        self.kept.circles.get((self.seats.home(slot) as usize).checked_sub(1)?)
    }

    /// Keeps the present circle, if it is worth it.
    pub(in super::super) fn keep_circle(&mut self) {
        if self.circle.slots.len() < KEPT_MIN {
            self.seats.settle(&self.circle.slots, NOWHERE);
            return;
        }
        let home = self.kept.free.pop().unwrap_or_else(|| {
            self.kept.circles.push(Circle::default());
            self.kept.circles.len() as u32
        });
        self.seats.settle(&self.circle.slots, home);
        self.swap_circle(home);
    }

    /// Swaps the present circle for another. What lies on the desk stays.
    fn swap_circle(&mut self, home: u32) {
        let other = &mut self.kept.circles[home as usize - 1];
        std::mem::swap(&mut self.circle, other);
        std::mem::swap(&mut self.circle.desk, &mut other.desk);
    }

    /// Forgets a circle that was kept, if there is one.
    #[inline]
    pub(in super::super) fn forget(&mut self, home: u32) {
        if home != NOWHERE {
            self.seats.settle(&self.kept.circles[home as usize - 1].slots, NOWHERE);
            self.kept.free.push(home);
        }
    }

    /// Forgets all circles that were kept and hold somebody of the present one.
    pub(in super::super) fn forget_homes(&mut self) {
        for index in 0..self.circle.slots.len() {
            self.forget(self.seats.home(self.circle.slots[index]));
        }
    }
}
