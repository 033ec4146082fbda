//! Versions of a world: which one a method saw last, and whether the reported changes lead from it to the current one.

use crate::Tick;

/// A version of a [`Spheres`](crate::Spheres). It must not reach a result: the number of a world depends on how many
/// were made before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edition {
    /// No other world of this process has this number.
    pub(crate) identity: u64,
    pub(crate) tick: Tick,
    /// How many changes there have been, and how many before this tick began.
    pub(crate) revision: u64,
    pub(crate) tick_revision: u64,
}

impl Edition {
    /// Whether this is the same world in the same tick: changed since then, or not.
    #[must_use]
    pub fn is_of_the_same_tick_as(self, earlier: Edition) -> bool {
        self.identity == earlier.identity && self.tick == earlier.tick
    }

    /// Whether this is the same world in the next tick, and nothing was changed in the tick that is over after it was
    /// looked at. Only then does [`Spheres::moved`](crate::Spheres::moved) name every object that moved since.
    #[must_use]
    pub fn is_next_after(self, earlier: Edition) -> bool {
        self.identity == earlier.identity && self.tick == earlier.tick.next() && self.tick_revision == earlier.revision
    }
}

#[cfg(test)]
mod tests {
    use crate::{Sphere, Spheres, Vec3};

    #[test]
    fn the_next_tick_follows_unless_something_changed_after_the_look() {
        let mut world = Spheres::new();
        let slot = world.insert(Sphere::new(Vec3::ZERO, 1.0)).unwrap();
        let seen = world.edition();
        assert!(seen.is_of_the_same_tick_as(seen) && !seen.is_next_after(seen));

        let mut left_alone = world.clone();
        assert!(!left_alone.edition().is_of_the_same_tick_as(seen), "a clone is another world");
        let seen_alone = left_alone.edition();
        left_alone.end_tick();
        assert!(left_alone.edition().is_next_after(seen_alone));
        left_alone.move_to(slot, Vec3::X).unwrap();
        assert!(left_alone.edition().is_next_after(seen_alone), "what moved in this tick is told");
        left_alone.end_tick();
        assert!(!left_alone.edition().is_next_after(seen_alone), "a tick was not seen");

        world.move_to(slot, Vec3::X).unwrap();
        assert!(world.edition().is_of_the_same_tick_as(seen) && world.edition() != seen);
        world.end_tick();
        assert!(!world.edition().is_next_after(seen), "a move after the look is not reported");
    }
}
