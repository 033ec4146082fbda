//! The border of a world that is a part of a larger one, whose space several nodes share.
//!
//! One node decides about each point of space. An object reaches into the space of another node only within *rooms*
//! that this node has granted to it. An object of another node that reaches in here is a *guest*, and its rooms are
//! closed to the objects of this node. So if two solids shared a point, one node would have decided about both, and it
//! keeps them apart: nothing overlaps, whatever node owns it.
//!
//! To settling, a border is walls and obstacles. An object whose place is in no room stays there.

use std::collections::{BTreeMap, BTreeSet};

use space::{GridPoint, NodeId, ObjectId};

use crate::solid::{GridBox, RoundedBox};

/// What a world knows of the world around it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Border {
    /// Space that this node decides about.
    pub home: Vec<GridBox>,
    /// Space that other nodes decide about.
    pub abroad: Vec<(NodeId, GridBox)>,
    /// Rooms that other nodes have granted to objects of this world.
    pub rooms: BTreeMap<ObjectId, Vec<Room>>,
    /// Objects of other nodes that may be in here, by name.
    pub guests: Vec<Guest>,
    /// Objects that must stay in their places.
    pub held: BTreeSet<ObjectId>,
}

/// Space that another node has granted to one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    /// The node that granted it: it counts in the space that this node decides about.
    pub grantor: NodeId,
    pub block: GridBox,
    /// Solids in there, which stay while the room is granted.
    pub standing: Vec<PlacedSolid>,
}

/// A solid in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacedSolid {
    pub object: ObjectId,
    pub solid: RoundedBox,
    pub at: GridPoint,
}

/// An object of another node that reaches in here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guest {
    /// Its last known place.
    pub standing: PlacedSolid,
    /// Rooms that it was granted: if there are any, it may be anywhere in them.
    pub rooms: Vec<GridBox>,
}

impl PlacedSolid {
    /// The box around it.
    pub fn block(&self) -> GridBox {
        GridBox::around(self.at, self.solid.half_extents())
    }
}

impl Guest {
    /// The solids that objects of this world have to keep out of.
    pub fn obstacles(&self) -> impl Iterator<Item = (RoundedBox, GridPoint)> {
        let solid = self.rooms.is_empty().then_some((self.standing.solid, self.standing.at));
        self.rooms.iter().map(GridBox::as_solid).chain(solid)
    }

    /// Whether a box meets the space in which the guest may be.
    pub fn meets(&self, block: &GridBox) -> bool {
        if self.rooms.is_empty() {
            self.standing.block().meets(block)
        } else {
            self.rooms.iter().any(|r| r.meets(block))
        }
    }
}

impl Border {
    /// Whether a motion within `reach` may leave home or meet a guest.
    pub(crate) fn concerns(&self, reach: &GridBox) -> bool {
        !self.home.iter().any(|home| home.contains(reach)) || self.guests.iter().any(|guest| guest.meets(reach))
    }

    /// For each box of home, a large part of it that no guest reaches into. Motions within need no test with the
    /// border; guests are near borders, so that this holds for most.
    pub(crate) fn calm(&self) -> Vec<GridBox> {
        let spare = |calm: GridBox, guest: &Guest| {
            if guest.rooms.is_empty() {
                beside(calm, &guest.standing.block())
            } else {
                guest.rooms.iter().fold(calm, beside)
            }
        };
        self.home.iter().map(|&home| self.guests.iter().fold(home, spare)).collect()
    }

    /// The walls within `reach`: space abroad that is in none of the object's rooms.
    pub(crate) fn walls(&self, object: ObjectId, reach: &GridBox, mut wall: impl FnMut(GridBox)) {
        if self.home.iter().any(|home| home.contains(reach)) {
            return;
        }
        let rooms = self.rooms.get(&object).map_or(&[][..], Vec::as_slice);
        let near = reach.grown(16).even();
        for (decider, abroad) in &self.abroad {
            if !abroad.meets(reach) {
                continue;
            }
            let mut pieces = vec![abroad.within(&near)];
            for room in rooms.iter().filter(|room| room.grantor == *decider) {
                pieces = pieces.iter().flat_map(|piece| piece.without(&room.block)).collect();
            }
            pieces.into_iter().for_each(&mut wall);
        }
    }

    /// Solids in an object's rooms.
    pub(crate) fn standing_in_rooms(&self, object: ObjectId) -> impl Iterator<Item = &PlacedSolid> {
        self.rooms.get(&object).into_iter().flatten().flat_map(|room| &room.standing)
    }

    /// Whether an object has to stay in its place: by order, or because it reaches into a wall.
    pub(crate) fn holds(&self, standing: &PlacedSolid) -> bool {
        if self.held.contains(&standing.object) {
            return true;
        }
        let mut is_held = false;
        self.walls(standing.object, &standing.block(), |wall| {
            let (solid, at) = wall.as_solid();
            is_held |= standing.solid.overlaps(standing.at, solid, at);
        });
        is_held
    }

    /// Whether a new object may stand here: at home, and beside all guests.
    pub(crate) fn is_free(&self, block: &GridBox) -> bool {
        self.home.iter().any(|home| home.contains(block)) && !self.guests.iter().any(|guest| guest.meets(block))
    }
}

/// The largest part of a box that lies on one side of another, seen from above, and does not touch it.
fn beside(whole: GridBox, other: &GridBox) -> GridBox {
    if !whole.meets(other) {
        return whole;
    }
    let sides = [0, 2].into_iter().flat_map(|axis| {
        let (mut lower, mut upper) = (whole, whole);
        (lower.high[axis], upper.low[axis]) = (other.low[axis] - 1, other.high[axis] + 1);
        [lower, upper]
    });
    let long = |block: &GridBox, axis: usize| i64::from(block.high[axis]) - i64::from(block.low[axis]);
    sides.max_by_key(|side| long(side, 0).max(0) * long(side, 2).max(0)).expect("there are four")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_motion_within_the_calm_does_not_concern_the_border() {
        let mut random = space::workload::Random::new(5);
        let mut left = 0;
        for _ in 0..500 {
            let mut place = |from: i32, to: i32| from + random.whole(0, (to - from) as u32) as i32;
            let home = GridBox { low: [-2_000; 3], high: [2_000; 3] };
            let solid = RoundedBox { core: [0, 50, 0], radius: 40 };
            let guest = |number: u64, place: &mut dyn FnMut(i32, i32) -> i32| {
                let at = GridPoint::new(place(-2_400, 2_400), place(-90, 90), place(-2_400, 2_400));
                let standing = PlacedSolid { object: ObjectId::new(number).unwrap(), solid, at };
                let rooms = (0..place(0, 3)).map(|_| GridBox::around(at, [place(0, 300), 90, place(0, 300)])).collect();
                Guest { standing, rooms }
            };
            let guests = (1..=place(0, 6) as u64).map(|number| guest(number, &mut place)).collect();
            let border = Border { home: vec![home], guests, ..Border::default() };
            let calm = border.calm();
            for _ in 0..50 {
                let at = GridPoint::new(place(-2_100, 2_100), place(-200, 200), place(-2_100, 2_100));
                let reach = GridBox::around(at, [place(0, 200), 60, place(0, 200)]);
                if calm.iter().any(|calm| calm.contains(&reach)) {
                    assert!(!border.concerns(&reach), "{border:?} {reach:?}");
                    left += 1;
                }
            }
        }
        assert!(left > 1_000, "little was calm: {left}");
    }

    #[test]
    fn a_box_without_another_is_the_rest() {
        let mut random = space::workload::Random::new(11);
        let mut corner = || [0; 3].map(|_: i32| 2 * random.whole(0, 6) as i32);
        for _ in 0..2_000 {
            let (a, b, c, d) = (corner(), corner(), corner(), corner());
            let make = |one: [i32; 3], other: [i32; 3]| GridBox {
                low: std::array::from_fn(|axis| one[axis].min(other[axis])),
                high: std::array::from_fn(|axis| one[axis].max(other[axis]) + 2),
            };
            let (whole, part) = (make(a, b), make(c, d));
            let pieces = whole.without(&part);
            // In the middles of cells, where no two boxes only touch.
            for x in (-1..16).step_by(2) {
                for y in (-1..16).step_by(2) {
                    for z in (-1..16).step_by(2) {
                        let cell = GridBox { low: [x, y, z], high: [x, y, z] };
                        let expected = usize::from(whole.contains(&cell) && !part.contains(&cell));
                        let found = pieces.iter().filter(|piece| piece.contains(&cell)).count();
                        assert_eq!(found, expected, "{whole:?} without {part:?} at {cell:?}");
                    }
                }
            }
        }
    }
}
