//! A small world for pictures: spheres of radius 1 that go straight and bounce off the walls.

use space::workload::Random;
use space::{Slot, Sphere, Spheres, Vec3};

/// A room and what is in it.
pub struct DrawnRoom {
    pub spheres: Spheres,
    /// All objects, in the order in which they came.
    pub slots: Vec<Slot>,
    velocities: Vec<Vec3>,
    size: Vec3,
    random: Random,
}

impl DrawnRoom {
    /// So many objects of this speed. A room without height is a plane.
    pub fn new(seed: u64, objects: usize, size: Vec3, speed: f32) -> DrawnRoom {
        let mut room =
            DrawnRoom { spheres: Spheres::new(), slots: vec![], velocities: vec![], size, random: Random::new(seed) };
        let flat = size.cmpgt(Vec3::ZERO);
        for _ in 0..objects {
            let place = room.random_place();
            let slot = room.spheres.insert(Sphere::new(place, 1.0)).expect("the room is within a world's limits");
            let way = Vec3::select(flat, room.random.direction(), Vec3::ZERO);
            room.slots.push(slot);
            room.velocities.push(way.normalize_or(Vec3::X) * speed);
        }
        room
    }

    /// Where an object is.
    pub fn place(&self, slot: Slot) -> Vec3 {
        self.spheres.columns().sphere(slot.row()).center
    }

    /// All objects move on.
    pub fn step(&mut self) {
        self.spheres.end_tick();
        for index in 0..self.slots.len() {
            let next = self.place(self.slots[index]) + self.velocities[index];
            let outside = next.cmplt(Vec3::ZERO) | next.cmpgt(self.size);
            self.velocities[index] = Vec3::select(outside, -self.velocities[index], self.velocities[index]);
            self.put(index, next.clamp(Vec3::ZERO, self.size));
        }
    }

    /// All objects are suddenly elsewhere.
    pub fn shuffle(&mut self) {
        self.spheres.end_tick();
        for index in 0..self.slots.len() {
            let place = self.random_place();
            self.put(index, place);
        }
    }

    fn put(&mut self, index: usize, place: Vec3) {
        self.spheres.move_to(self.slots[index], place).expect("the room is within a world's limits");
    }

    fn random_place(&mut self) -> Vec3 {
        self.random.point(1.0) * self.size
    }
}
