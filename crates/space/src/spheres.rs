//! The objects of a world as columns: hot loops see slices, callers see slots and a few verbs.
//!
//! Invariants:
//! - Rows come in blocks of [`Spheres::BLOCK`], so that a wide loop needs no tail.
//! - A dead row has NaN for its centre, so it overlaps nothing.
//! - A live row is finite and within [`Spheres::LIMIT`]; a change that would break this is refused and changes nothing.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::Vec3;

use crate::bits::Bits;
use crate::{Edition, Slot, Sphere, Tick};

/// The bounding spheres of a world's objects, and what changed about them since the tick began.
#[derive(Debug)]
pub struct Spheres {
    x: Vec<f32>,
    y: Vec<f32>,
    z: Vec<f32>,
    radius: Vec<f32>,
    alive: Bits,
    live: usize,
    /// Rows below this have held an object at some time.
    handed_out: usize,
    /// Dead rows, the next to be used last.
    free: Vec<u32>,
    moved: Bits,
    reshaped: Vec<Slot>,
    tick: Tick,
    /// How many changes there have been, and how many before this tick began.
    revision: u64,
    tick_revision: u64,
    /// The last change that brought an object to each row, and to any.
    arrivals: Vec<u64>,
    last_arrival: u64,
    identity: u64,
}

/// The columns of [`Spheres`], one number per row, dead rows included.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a> {
    pub x: &'a [f32],
    pub y: &'a [f32],
    pub z: &'a [f32],
    pub radius: &'a [f32],
}

/// A number of a sphere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    X,
    Y,
    Z,
    Radius,
}

/// Why a change to [`Spheres`] was refused. Nothing has changed then.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SpheresError {
    #[error("{}: `{}` is {value}, expected {}", name(.slot), field.name(), field.expected())]
    OutOfRange {
        /// The object, or `None` for one about to be inserted.
        slot: Option<Slot>,
        field: Field,
        value: f32,
    },
    /// A slot that this world never handed out.
    #[error("{slot}: this world never had an object there")]
    UnknownSlot { slot: Slot },
    /// A slot whose object has been removed.
    #[error("{slot}: its object has been removed")]
    Removed { slot: Slot },
    /// More objects than a world can hold.
    #[error("{requested} objects requested, a world holds at most {}", Spheres::MAX_OBJECTS)]
    TooMany { requested: usize },
}

impl Spheres {
    /// Rows come in multiples of this: the widest vector of `f32` that is used.
    pub const BLOCK: usize = 8;
    /// No coordinate or radius is larger than this, in metres: squares and sums of them stay finite.
    pub const LIMIT: f32 = 1e9;
    /// No world has more objects than this: about 3 GB for them and their broad phase.
    pub const MAX_OBJECTS: usize = 1 << 24;

    pub fn new() -> Spheres {
        static WORLDS: AtomicU64 = AtomicU64::new(1);
        Spheres {
            x: Vec::new(),
            y: Vec::new(),
            z: Vec::new(),
            radius: Vec::new(),
            alive: Bits::new(),
            live: 0,
            handed_out: 0,
            free: Vec::new(),
            moved: Bits::new(),
            reshaped: Vec::new(),
            tick: Tick::new(0),
            revision: 0,
            tick_revision: 0,
            arrivals: Vec::new(),
            last_arrival: 0,
            identity: WORLDS.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Adds an object and returns its slot, reusing the row of a removed one where there is one.
    pub fn insert(&mut self, sphere: Sphere) -> Result<Slot, SpheresError> {
        check_sphere(None, sphere)?;
        if self.live == Self::MAX_OBJECTS {
            return Err(SpheresError::TooMany { requested: self.live + 1 });
        }
        if self.free.is_empty() {
            self.add_block();
        }
        let row = self.free.pop().expect("a block was just added");
        let slot = Slot::new(row);
        self.alive.insert(slot.row());
        self.live += 1;
        self.handed_out = self.handed_out.max(slot.row() + 1);
        self.write_center(slot.row(), sphere.center);
        self.radius[slot.row()] = sphere.radius;
        self.note_reshaped(slot);
        self.arrivals[slot.row()] = self.revision;
        self.last_arrival = self.revision;
        Ok(slot)
    }

    pub fn remove(&mut self, slot: Slot) -> Result<Sphere, SpheresError> {
        let sphere = self.get(slot)?;
        self.alive.remove(slot.row());
        self.live -= 1;
        self.write_center(slot.row(), Vec3::NAN);
        self.radius[slot.row()] = 0.0;
        self.free.push(slot.number());
        self.note_reshaped(slot);
        Ok(sphere)
    }

    /// Puts an object's centre somewhere else, at any distance.
    pub fn move_to(&mut self, slot: Slot, center: Vec3) -> Result<(), SpheresError> {
        self.check_alive(slot)?;
        check_center(Some(slot), center)?;
        let row = slot.row();
        if (self.x[row], self.y[row], self.z[row]) != (center.x, center.y, center.z) {
            self.write_center(row, center);
            self.moved.insert(row);
            self.revision += 1;
        }
        Ok(())
    }

    pub fn resize(&mut self, slot: Slot, radius: f32) -> Result<(), SpheresError> {
        self.check_alive(slot)?;
        check_radius(Some(slot), radius)?;
        if self.radius[slot.row()] != radius {
            self.radius[slot.row()] = radius;
            self.note_reshaped(slot);
        }
        Ok(())
    }

    /// The object in `slot`. Gathers from four columns: not for hot loops.
    pub fn get(&self, slot: Slot) -> Result<Sphere, SpheresError> {
        self.check_alive(slot)?;
        let row = slot.row();
        Ok(Sphere::new(Vec3::new(self.x[row], self.y[row], self.z[row]), self.radius[row]))
    }

    pub fn is_alive(&self, slot: Slot) -> bool {
        self.alive.contains(slot.row())
    }

    pub fn len(&self) -> usize {
        self.live
    }

    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// How many rows the columns have, dead ones included: a multiple of [`Spheres::BLOCK`].
    pub fn rows(&self) -> usize {
        self.x.len()
    }

    /// The columns, for loops over all rows.
    pub fn columns(&self) -> Columns<'_> {
        Columns { x: &self.x, y: &self.y, z: &self.z, radius: &self.radius }
    }

    pub fn alive(&self) -> &Bits {
        &self.alive
    }

    /// The slots of all objects, ascending.
    pub fn slots(&self) -> impl Iterator<Item = Slot> + '_ {
        self.alive.iter().map(|row| Slot::new(row as u32))
    }

    /// The rows whose sphere changed since the tick began, whether by a move, a resize, an insertion or a removal.
    pub fn moved(&self) -> &Bits {
        &self.moved
    }

    /// The slots that were inserted, removed or resized since the tick began, in the order in which that happened;
    /// one that saw several such changes is named several times. What was known about them no longer holds.
    pub fn reshaped(&self) -> &[Slot] {
        &self.reshaped
    }

    /// Whether `slot` was given to a new object after the version `seen`: what was known about the slot is then about
    /// another object. A clone may be asked about a version of the original.
    ///
    /// ```
    /// # use kinesphere_space::{Sphere, Spheres, Vec3};
    /// let mut spheres = Spheres::new();
    /// let ann = spheres.insert(Sphere::new(Vec3::ZERO, 1.0))?;
    /// let seen = spheres.edition();
    /// spheres.remove(ann)?;
    /// let bob = spheres.insert(Sphere::new(Vec3::ONE, 1.0))?;
    /// assert!(bob == ann && spheres.was_taken_since(seen, ann));
    /// # Ok::<(), kinesphere_space::SpheresError>(())
    /// ```
    pub fn was_taken_since(&self, seen: Edition, slot: Slot) -> bool {
        self.arrivals.get(slot.row()).is_some_and(|&arrival| arrival > seen.revision)
    }

    /// Whether any object was inserted after the version `seen`.
    pub fn has_arrivals_since(&self, seen: Edition) -> bool {
        self.last_arrival > seen.revision
    }

    /// Whether `slot` was given to a new object in this tick.
    pub fn was_taken_in_this_tick(&self, slot: Slot) -> bool {
        self.arrivals.get(slot.row()).is_some_and(|&arrival| arrival > self.tick_revision)
    }

    /// The version of this world. Compare it with the last one seen before relying on [`moved`](Spheres::moved): the
    /// world may be another, a tick may be missing, and changes may have followed the last look within a tick that is
    /// over.
    pub fn edition(&self) -> Edition {
        let Spheres { identity, tick, revision, tick_revision, .. } = *self;
        Edition { identity, tick, revision, tick_revision }
    }

    /// The current tick: how often [`Spheres::end_tick`] has been called.
    pub fn tick(&self) -> Tick {
        self.tick
    }

    /// Ends the tick and clears `moved` and `reshaped`. The owner of the world calls this once per tick, after all
    /// readers of the changes. Without it the list of changes only grows.
    pub fn end_tick(&mut self) {
        self.moved.clear();
        self.reshaped.clear();
        self.tick_revision = self.revision;
        self.tick = self.tick.next();
    }

    fn add_block(&mut self) {
        let first = self.x.len();
        let rows = first + Self::BLOCK;
        for column in [&mut self.x, &mut self.y, &mut self.z] {
            column.resize(rows, f32::NAN);
        }
        self.radius.resize(rows, 0.0);
        self.arrivals.resize(rows, 0);
        self.alive.grow(rows);
        self.moved.grow(rows);
        self.free.extend((first as u32..rows as u32).rev());
    }

    fn write_center(&mut self, row: usize, center: Vec3) {
        self.x[row] = center.x;
        self.y[row] = center.y;
        self.z[row] = center.z;
    }

    fn note_reshaped(&mut self, slot: Slot) {
        self.moved.insert(slot.row());
        self.reshaped.push(slot);
        self.revision += 1;
    }

    fn check_alive(&self, slot: Slot) -> Result<(), SpheresError> {
        if self.alive.contains(slot.row()) {
            Ok(())
        } else if slot.row() < self.handed_out {
            Err(SpheresError::Removed { slot })
        } else {
            Err(SpheresError::UnknownSlot { slot })
        }
    }
}

impl Default for Spheres {
    fn default() -> Spheres {
        Spheres::new()
    }
}

/// A clone is a world of its own: it gets its own identity, so that memories of the original are not taken for its own.
impl Clone for Spheres {
    fn clone(&self) -> Spheres {
        Spheres {
            x: self.x.clone(),
            y: self.y.clone(),
            z: self.z.clone(),
            radius: self.radius.clone(),
            alive: self.alive.clone(),
            live: self.live,
            handed_out: self.handed_out,
            free: self.free.clone(),
            moved: self.moved.clone(),
            reshaped: self.reshaped.clone(),
            tick: self.tick,
            revision: self.revision,
            tick_revision: self.tick_revision,
            arrivals: self.arrivals.clone(),
            last_arrival: self.last_arrival,
            identity: Spheres::new().identity,
        }
    }
}

impl Columns<'_> {
    /// The sphere of a row, alive or not.
    ///
    /// # Panics
    ///
    /// If the world has no such row; [`Spheres::get`] asks by slot, and does not panic.
    #[inline]
    pub fn sphere(&self, row: usize) -> Sphere {
        Sphere::new(Vec3::new(self.x[row], self.y[row], self.z[row]), self.radius[row])
    }
}

impl Field {
    fn name(self) -> &'static str {
        match self {
            Field::X => "x",
            Field::Y => "y",
            Field::Z => "z",
            Field::Radius => "radius",
        }
    }

    fn expected(self) -> &'static str {
        match self {
            Field::Radius => "0 to 1e9 metres",
            _ => "-1e9 to 1e9 metres",
        }
    }
}

fn check_sphere(slot: Option<Slot>, sphere: Sphere) -> Result<(), SpheresError> {
    check_center(slot, sphere.center)?;
    check_radius(slot, sphere.radius)
}

fn check_center(slot: Option<Slot>, center: Vec3) -> Result<(), SpheresError> {
    for (field, value) in [(Field::X, center.x), (Field::Y, center.y), (Field::Z, center.z)] {
        // NaN is in no range.
        if !(-Spheres::LIMIT..=Spheres::LIMIT).contains(&value) {
            return Err(SpheresError::OutOfRange { slot, field, value });
        }
    }
    Ok(())
}

fn check_radius(slot: Option<Slot>, radius: f32) -> Result<(), SpheresError> {
    if (0.0..=Spheres::LIMIT).contains(&radius) {
        Ok(())
    } else {
        Err(SpheresError::OutOfRange { slot, field: Field::Radius, value: radius })
    }
}

fn name(slot: &Option<Slot>) -> String {
    slot.map_or_else(|| "the new object".to_owned(), |slot| slot.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::num::f32::ANY;
    use proptest::prelude::*;

    fn at(x: f32) -> Sphere {
        Sphere::new(Vec3::new(x, 0.0, 0.0), 1.0)
    }

    #[test]
    fn a_refused_change_changes_nothing_and_says_why() {
        let mut spheres = Spheres::new();
        let ann = spheres.insert(at(0.0)).unwrap();
        spheres.end_tick();

        let error = spheres.move_to(ann, Vec3::new(0.0, f32::NAN, 0.0)).unwrap_err();
        assert_eq!(error.to_string(), "slot 0: `y` is NaN, expected -1e9 to 1e9 metres");
        let error = spheres.resize(ann, -2.0).unwrap_err();
        assert_eq!(error.to_string(), "slot 0: `radius` is -2, expected 0 to 1e9 metres");
        let error = spheres.insert(Sphere::new(Vec3::splat(2e9), 1.0)).unwrap_err();
        assert_eq!(error.to_string(), "the new object: `x` is 2000000000, expected -1e9 to 1e9 metres");
        let error = spheres.move_to(Slot::new(5), Vec3::ZERO).unwrap_err();
        assert_eq!(error.to_string(), "slot 5: this world never had an object there");

        assert_eq!(spheres.get(ann), Ok(at(0.0)));
        assert_eq!((spheres.len(), spheres.moved().count(), spheres.reshaped().len()), (1, 0, 0));
    }

    #[test]
    fn a_removed_object_cannot_move_and_its_row_is_used_again() {
        let mut spheres = Spheres::new();
        let ann = spheres.insert(at(0.0)).unwrap();
        assert_eq!(spheres.remove(ann), Ok(at(0.0)));
        assert_eq!(spheres.move_to(ann, Vec3::ZERO), Err(SpheresError::Removed { slot: ann }));
        assert_eq!(spheres.remove(ann), Err(SpheresError::Removed { slot: ann }));
        assert!(spheres.columns().x[ann.row()].is_nan());
        assert_eq!(spheres.insert(at(3.0)), Ok(ann));
    }

    #[test]
    fn standing_still_is_not_moving() {
        let mut spheres = Spheres::new();
        let ann = spheres.insert(at(0.0)).unwrap();
        spheres.end_tick();
        spheres.move_to(ann, Vec3::ZERO).unwrap();
        assert_eq!(spheres.moved().count(), 0);
        spheres.move_to(ann, Vec3::Y).unwrap();
        assert!(spheres.moved().iter().eq([ann.row()]));
    }

    #[derive(Clone, Debug)]
    enum Change {
        Insert(Vec3, f32),
        Remove(u32),
        Move(u32, Vec3),
        Resize(u32, f32),
        EndTick,
    }

    /// All that can be seen of a world, to the bit.
    fn state(spheres: &Spheres) -> impl PartialEq + use<> {
        let Columns { x, y, z, radius } = spheres.columns();
        let columns = [x, y, z, radius].map(|column| column.iter().map(|number| number.to_bits()).collect::<Vec<_>>());
        let arrivals = (spheres.arrivals.clone(), spheres.last_arrival);
        let changes = (spheres.moved().clone(), spheres.reshaped().to_vec(), arrivals);
        (columns, spheres.alive().clone(), changes, spheres.edition())
    }

    fn any_change() -> impl Strategy<Value = Change> {
        let vec3 = || (ANY, ANY, ANY).prop_map(|(x, y, z)| Vec3::new(x, y, z));
        let tame = || (-9f32..9.0, -9f32..9.0, -9f32..9.0).prop_map(|(x, y, z)| Vec3::new(x, y, z));
        prop_oneof![
            (vec3(), ANY).prop_map(|(center, radius)| Change::Insert(center, radius)),
            (tame(), ANY).prop_map(|(center, radius)| Change::Insert(center, radius)),
            (tame(), 0f32..2.0).prop_map(|(center, radius)| Change::Insert(center, radius)),
            (0u32..40).prop_map(Change::Remove),
            (any::<u32>(), vec3()).prop_map(|(slot, center)| Change::Move(slot, center)),
            (0u32..40, tame()).prop_map(|(slot, center)| Change::Move(slot, center)),
            (0u32..40, vec3()).prop_map(|(slot, center)| Change::Move(slot, center)),
            (0u32..40, ANY).prop_map(|(slot, radius)| Change::Resize(slot, radius)),
            Just(Change::EndTick),
        ]
    }

    proptest! {
        /// A world never panics, counts right, and holds only numbers in range; a refused change changes nothing.
        #[test]
        fn no_input_breaks_a_world(changes in prop::collection::vec(any_change(), 0..200)) {
            let mut spheres = Spheres::new();
            for change in changes {
                let (before, state) = (spheres.len(), state(&spheres));
                let is_done = match change {
                    Change::Insert(center, radius) => {
                        let inserted = spheres.insert(Sphere::new(center, radius)).is_ok();
                        prop_assert_eq!(spheres.len(), before + usize::from(inserted));
                        inserted
                    }
                    Change::Remove(slot) => {
                        let removed = spheres.remove(Slot::new(slot)).is_ok();
                        prop_assert_eq!(spheres.len(), before - usize::from(removed));
                        removed
                    }
                    Change::Move(slot, center) => {
                        let moved = spheres.move_to(Slot::new(slot), center).is_ok();
                        prop_assert!(!moved || spheres.get(Slot::new(slot)).unwrap().center == center);
                        moved
                    }
                    Change::Resize(slot, radius) => {
                        let resized = spheres.resize(Slot::new(slot), radius).is_ok();
                        prop_assert!(!resized || spheres.get(Slot::new(slot)).unwrap().radius == radius);
                        resized
                    }
                    Change::EndTick => {
                        spheres.end_tick();
                        true
                    }
                };
                prop_assert!(is_done || self::state(&spheres) == state);
                prop_assert_eq!(spheres.rows() % Spheres::BLOCK, 0);
                prop_assert_eq!(spheres.slots().count(), spheres.len());
                let columns = spheres.columns();
                for row in 0..spheres.rows() {
                    let sphere = columns.sphere(row);
                    prop_assert_eq!(spheres.is_alive(Slot::new(row as u32)), check_sphere(None, sphere).is_ok());
                }
            }
        }
    }
}
