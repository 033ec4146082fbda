//! Paper 003's room: boxes that fly straight on until they touch each other or a wall, and then turn back.
//!
//! What the paper leaves open is decided here. An object is a sphere of radius 0.5, so that the boxes which the methods
//! sort and list are the paper's, 1 x 1 x 1 (a sphere around such a box would need a box of 1.7). The speed is 0.1 per
//! frame: a walk, at thirty frames per second. A movement in the plane is one that keeps its height: heights are drawn
//! as in space, so that both kinds of movement have the same density.

use serde::Serialize;
use space::workload::Random;
use space::{Pair, Slot, Sphere, Spheres, Vec3};

/// Half the edge of an object.
pub const RADIUS: f32 = 0.5;
/// The room's corner opposite the origin.
pub const SIZE: Vec3 = Vec3::new(100.0, 25.0, 100.0);

/// Where an object may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Movement {
    Plane,
    Space,
}

impl Movement {
    pub const ALL: [Movement; 2] = [Movement::Plane, Movement::Space];

    pub fn name(self) -> &'static str {
        match self {
            Movement::Plane => "plane",
            Movement::Space => "space",
        }
    }

    /// The axes, as the paper writes them.
    pub fn axes(self) -> &'static str {
        match self {
            Movement::Plane => "XZ",
            Movement::Space => "XYZ",
        }
    }
}

pub struct FlightRoom {
    spheres: Spheres,
    slots: Vec<Slot>,
    velocities: Vec<Vec3>,
    radius: f32,
}

impl FlightRoom {
    /// Objects at random places, flying in random directions.
    pub fn new(objects: usize, movement: Movement, speed: f32, seed: u64) -> FlightRoom {
        FlightRoom::with_radius(objects, RADIUS, movement, speed, seed)
    }

    /// The same with spheres of another radius: those around bodies for the narrow phase.
    pub fn with_radius(objects: usize, radius: f32, movement: Movement, speed: f32, seed: u64) -> FlightRoom {
        let mut random = Random::new(seed);
        let mut spheres = Spheres::new();
        let mut velocities = Vec::with_capacity(objects);
        for _ in 0..objects {
            let place = Vec3::splat(radius) + random.point(1.0) * (SIZE - Vec3::splat(2.0 * radius));
            spheres.insert(Sphere::new(place, radius)).expect("the room is within a world's limits");
            let direction = random.direction();
            velocities.push(
                speed
                    * match movement {
                        Movement::Plane => Vec3::new(direction.x, 0.0, direction.z).normalize_or(Vec3::X),
                        Movement::Space => direction,
                    },
            );
        }
        FlightRoom { slots: spheres.slots().collect(), spheres, velocities, radius }
    }

    pub fn spheres(&self) -> &Spheres {
        &self.spheres
    }

    /// Lets objects that touch turn away from each other, and moves all into the next frame.
    pub fn step(&mut self, touching: &[Pair]) {
        for pair in touching {
            self.turn_away(pair.a(), pair.b());
            self.turn_away(pair.b(), pair.a());
        }
        self.move_on();
    }

    /// The same, where the narrow phase says in which direction the other is.
    pub fn step_along(&mut self, touching: &[(Pair, Vec3)]) {
        for &(pair, normal) in touching {
            self.turn_back(pair.a(), normal);
            self.turn_back(pair.b(), -normal);
        }
        self.move_on();
    }

    fn move_on(&mut self) {
        self.spheres.end_tick();
        let (low, high) = (Vec3::splat(self.radius), SIZE - Vec3::splat(self.radius));
        for (&slot, velocity) in self.slots.iter().zip(&mut self.velocities) {
            let place = self.spheres.columns().sphere(slot.row()).center + *velocity;
            for axis in 0..3 {
                if place[axis] < low[axis] || place[axis] > high[axis] {
                    velocity[axis] = -velocity[axis];
                }
            }
            self.spheres.move_to(slot, place.clamp(low, high)).expect("the room is within a world's limits");
        }
    }

    /// Negates the components of a velocity that led into the other: those along which the boxes' intervals overlap
    /// least, within a step, since it is there that the boxes have just met.
    fn turn_away(&mut self, slot: Slot, other: Slot) {
        let columns = self.spheres.columns();
        let towards = columns.sphere(other.row()).center - columns.sphere(slot.row()).center;
        let overlap = Vec3::splat(2.0 * self.radius) - towards.abs();
        // Slots are handed out in order and never removed here, so that a row is an index.
        let velocity = &mut self.velocities[slot.row()];
        let step = velocity.length();
        for axis in 0..3 {
            if overlap[axis] <= overlap.min_element() + step && velocity[axis] * towards[axis] > 0.0 {
                velocity[axis] = -velocity[axis];
            }
        }
    }

    /// Negates the components of a velocity that lead towards the other, of those along which the contact mostly is.
    fn turn_back(&mut self, slot: Slot, towards: Vec3) {
        let velocity = &mut self.velocities[slot.row()];
        let most = towards.abs().max_element();
        for axis in 0..3 {
            if towards[axis].abs() >= 0.5 * most && velocity[axis] * towards[axis] > 0.0 {
                velocity[axis] = -velocity[axis];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::BroadPhase;
    use space::broad::BruteForce;

    #[test]
    fn objects_stay_in_the_room_and_keep_their_speed() {
        for movement in Movement::ALL {
            let mut room = FlightRoom::new(500, movement, 0.1, 3);
            let heights: Vec<f32> = room.spheres().columns().y.to_vec();
            let mut pairs = Vec::new();
            let mut touched = 0;
            for _ in 0..300 {
                BruteForce.pairs(room.spheres(), &mut pairs);
                touched += pairs.len();
                room.step(&pairs);
            }
            assert!(touched > 0);
            for (slot, velocity) in room.slots.iter().zip(&room.velocities) {
                let place = room.spheres.get(*slot).unwrap().center;
                assert!(place.cmpge(Vec3::splat(RADIUS)).all() && place.cmple(SIZE - RADIUS).all(), "{place}");
                assert!((velocity.length() - 0.1).abs() < 1e-4);
            }
            let same = room.spheres().columns().y.iter().zip(&heights).all(|(now, then)| now == then || then.is_nan());
            assert_eq!(same, movement == Movement::Plane);
        }
    }

    #[test]
    fn an_object_that_meets_another_head_on_turns_back_and_one_hit_from_behind_goes_on() {
        let mut room = FlightRoom::new(2, Movement::Space, 0.1, 1);
        let [a, b] = room.slots[..] else { unreachable!() };
        room.spheres.move_to(a, Vec3::new(50.0, 10.0, 50.0)).unwrap();
        room.spheres.move_to(b, Vec3::new(50.95, 10.0, 50.0)).unwrap();
        room.velocities = vec![Vec3::new(0.1, 0.0, 0.0), Vec3::new(-0.1, 0.0, 0.0)];
        room.step(&[Pair::new(a, b)]);
        assert_eq!(room.velocities, [Vec3::new(-0.1, 0.0, 0.0), Vec3::new(0.1, 0.0, 0.0)]);
        room.velocities = vec![Vec3::new(0.1, 0.0, 0.0), Vec3::new(0.05, 0.0, 0.0)];
        room.step(&[Pair::new(a, b)]);
        assert_eq!(room.velocities, [Vec3::new(-0.1, 0.0, 0.0), Vec3::new(0.05, 0.0, 0.0)]);
    }
}
