//! Small worlds that move in ways made to break predictions, for the tests of the default broad phase.
//!
//! A scene depends on its seed and on nothing else, so that a failure's name, seed and tick repeat it.

use kinesphere_space::workload::Random;
use kinesphere_space::{Slot, Sphere, Spheres, Vec3};

/// A way to fill a world and to move it.
#[derive(Clone, Copy)]
pub struct Scene {
    /// What happens in it.
    pub name: &'static str,
    start: fn(&mut World),
    step: fn(&mut World),
    /// In at least this percentage of the ticks, motion is smooth enough for flight plans.
    #[allow(dead_code)] // Not every test asks.
    pub followed_percent: usize,
}

/// A scene as it is played.
#[derive(Clone)]
pub struct World {
    pub spheres: Spheres,
    random: Random,
    /// How each row moves per tick.
    velocities: Vec<Vec3>,
    /// The corners of the box that some scenes keep to.
    low: Vec3,
    high: Vec3,
    tick: u32,
}

/// All scenes. Where predictions are hopeless or the scene is too far out to be planned, no share is asked for.
pub const SCENES: [Scene; 31] = [
    scene("straight lines between walls", 60, |world| world.fill(450, 35.0, 1.0, 0.1), World::bounce),
    scene(
        "many turn at once",
        30,
        |world| world.fill(450, 35.0, 1.0, 0.1),
        |world| {
            world.every(150, |world| world.turn_one_in(3, 0.1));
            world.bounce();
        },
    ),
    scene(
        "all turn at once",
        30,
        |world| world.fill(450, 35.0, 1.0, 0.1),
        |world| {
            world.every(90, |world| world.turn_one_in(1, 0.1));
            world.bounce();
        },
    ),
    scene(
        "half of them teleport",
        30,
        |world| world.fill(450, 35.0, 1.0, 0.1),
        |world| {
            world.bounce();
            world.every(150, |world| world.teleport_one_in(2));
        },
    ),
    scene(
        "some teleport every tick",
        0,
        |world| world.fill(450, 35.0, 1.0, 0.05),
        |world| {
            world.bounce();
            world.teleport_one_in(60);
        },
    ),
    scene(
        "stop and go",
        20,
        |world| world.fill(450, 35.0, 1.0, 0.1),
        |world| {
            let tick = world.tick;
            world.bounce_those(|row| (tick + 13 * row) % 90 < 60);
        },
    ),
    scene(
        "a crowd freezes and starts",
        30,
        |world| world.fill(450, 35.0, 1.0, 0.1),
        |world| {
            world.every(130, |world| {
                if world.tick % 260 == 130 {
                    world.velocities.fill(Vec3::ZERO);
                } else {
                    world.turn_one_in(1, 0.1);
                }
            });
            world.bounce();
        },
    ),
    scene(
        "faster and faster",
        0,
        |world| world.fill(400, 50.0, 1.0, 0.01),
        |world| {
            for velocity in &mut world.velocities {
                *velocity *= if velocity.length() > 1.0 { 0.01 } else { 1.03 };
            }
            world.bounce();
        },
    ),
    scene(
        "falling and bouncing",
        0,
        |world| world.fill(400, 50.0, 1.0, 0.1),
        |world| {
            for velocity in &mut world.velocities {
                velocity.z -= 0.002;
            }
            world.bounce();
        },
    ),
    scene("ten radii per tick in a box", 0, |world| world.fill(450, 100.0, 1.0, 10.0), World::bounce),
    scene("two swarms fly through each other", 0, |world| world.fill_swarms(10.0), World::bounce),
    scene("two swarms pass slowly", 30, |world| world.fill_swarms(0.3), World::bounce),
    scene(
        "bullets through a standing crowd",
        0,
        |world| {
            world.fill(400, 60.0, 1.0, 0.0);
            for velocity in world.velocities.iter_mut().step_by(9) {
                *velocity = Vec3::new(5.0, 0.3, -0.2);
            }
        },
        World::bounce,
    ),
    scene("a hundred kilometres out", 0, |world| world.fill_far(1e5, 1.0), World::bounce),
    scene("a thousand kilometres out", 0, |world| world.fill_far(1e6, 1.0), World::bounce),
    scene("ten thousand kilometres out", 0, |world| world.fill_far(1e7, 4.0), World::bounce),
    scene("at the end of the world", 0, |world| world.fill_far(1e9 - 2e4, 300.0), World::bounce),
    scene(
        "a giant walks among dwarfs",
        0,
        |world| {
            world.fill(500, 60.0, 0.05, 0.02);
            for _ in 0..40 {
                let place = world.low + world.random.in_ball().abs() * 3.0;
                world.add(place, 0.05, 0.02);
            }
            let middle = (world.low + world.high) * 0.5;
            world.add(middle, 50.0, 0.2);
        },
        World::bounce,
    ),
    scene(
        "points among spheres",
        30,
        |world| {
            world.fill(200, 20.0, 0.0, 0.05);
            world.fill(150, 20.0, 0.8, 0.05);
        },
        World::bounce,
    ),
    scene(
        "radii of every size",
        30,
        |world| {
            world.fill(0, 300.0, 1.0, 0.0);
            for _ in 0..450 {
                let (place, radius) = (world.place(), world.random.log_uniform(1_000.0) * 0.05);
                world.add(place, radius, 0.1);
            }
        },
        World::bounce,
    ),
    scene(
        "some move, most stand",
        60,
        |world| {
            world.fill(450, 35.0, 1.0, 0.0);
            world.turn_one_in(8, 0.1);
        },
        World::bounce,
    ),
    scene(
        "circling",
        0,
        |world| world.fill(450, 35.0, 1.0, 0.1),
        |world| {
            for (row, velocity) in world.velocities.iter_mut().enumerate() {
                let rate = 0.01 + 0.0001 * row as f32;
                let turned = *velocity + Vec3::new(-velocity.y, velocity.x, 0.0) * rate;
                *velocity = turned.normalize_or_zero() * 0.1;
            }
            world.bounce();
        },
    ),
    scene(
        "all to one point and apart again",
        0,
        |world| {
            world.fill(300, 40.0, 0.4, 0.0);
            world.head_for_the_middle(200.0);
        },
        |world| {
            world.every(380, |world| world.velocities.iter_mut().for_each(|velocity| *velocity = -*velocity));
            world.bounce();
        },
    ),
    scene(
        "numbers double and halve",
        15,
        |world| world.fill(150, 30.0, 1.0, 0.08),
        |world| {
            world.bounce();
            world.every(130, |world| {
                if world.tick % 260 == 130 {
                    world.fill(world.spheres.len(), 30.0, 1.0, 0.08);
                } else {
                    world.remove_one_in(2);
                }
            });
        },
    ),
    scene(
        "coming, going, growing, shrinking",
        2,
        |world| world.fill(450, 35.0, 1.0, 0.08),
        |world| {
            world.bounce();
            world.replace_one_in(90);
            world.resize_one_in(90);
            world.remove_one_in(200);
            while world.spheres.len() < 450 {
                let place = world.place();
                world.add(place, 1.0, 0.08);
            }
        },
    ),
    scene(
        "all replaced in place",
        0,
        |world| world.fill(300, 25.0, 1.0, 0.0),
        |world| {
            world.every(2, |world| {
                for slot in world.slots() {
                    let sphere = world.spheres.remove(slot).unwrap();
                    world.spheres.insert(sphere).unwrap();
                }
            });
        },
    ),
    scene(
        "a formation whose members touch exactly",
        0,
        |world| {
            world.fill(0, 20.0, 1.0, 0.0);
            for number in 0..343 {
                let place = Vec3::new((number % 7) as f32, (number / 7 % 7) as f32, (number / 49) as f32);
                world.add(place * 2.0, 1.0, 0.0);
            }
            world.velocities.fill(Vec3::new(0.1, 0.07, -0.03));
        },
        World::glide,
    ),
    scene(
        "smooth, then jitter, then anywhere, then smooth",
        20,
        |world| world.fill(450, 35.0, 1.0, 0.1),
        |world| match world.tick % 400 {
            0..150 | 250..400 => world.bounce(),
            150..220 => {
                world.turn_one_in(1, 0.3);
                world.bounce();
            }
            _ => world.teleport_one_in(1),
        },
    ),
    scene("hardly moving at all", 60, |world| world.fill(450, 22.0, 1.0, 2e-5), World::bounce),
    scene("smaller than an atom's nucleus", 0, |world| world.fill(300, 14e-21, 1e-21, 1e-22), World::bounce),
    scene("so small that squares vanish", 0, |world| world.fill(300, 14e-22, 1e-22, 1e-23), World::bounce),
];

const fn scene(name: &'static str, followed_percent: usize, start: fn(&mut World), step: fn(&mut World)) -> Scene {
    Scene { name, start, step, followed_percent }
}

impl Scene {
    /// The scene at its first tick.
    pub fn play(&self, seed: u64) -> World {
        let mut world = World {
            spheres: Spheres::new(),
            random: Random::new(seed),
            velocities: Vec::new(),
            low: Vec3::ZERO,
            high: Vec3::ZERO,
            tick: 0,
        };
        (self.start)(&mut world);
        world
    }

    /// Moves all objects; ending the tick is left to the caller.
    pub fn step(&self, world: &mut World) {
        world.tick += 1;
        (self.step)(world);
    }
}

impl World {
    /// The slots of all objects.
    pub fn slots(&self) -> Vec<Slot> {
        self.spheres.slots().collect()
    }

    fn fill(&mut self, objects: usize, side: f32, radius: f32, speed: f32) {
        (self.low, self.high) = (Vec3::ZERO, Vec3::splat(side));
        for _ in 0..objects {
            let place = self.place();
            self.add(place, radius, speed);
        }
    }

    fn fill_far(&mut self, distance: f32, radius: f32) {
        self.low = Vec3::new(distance, -distance, distance);
        self.high = self.low + radius * 30.0;
        for _ in 0..350 {
            let place = self.place();
            self.add(place, radius, radius * 0.1);
        }
    }

    fn fill_swarms(&mut self, speed: f32) {
        (self.low, self.high) = (Vec3::splat(-200.0 * speed), Vec3::splat(200.0 * speed));
        for number in 0..400 {
            let side = if number % 2 == 0 { 1.0 } else { -1.0 };
            let place = Vec3::X * (side * speed * 100.0) + self.random.in_ball() * 12.0;
            self.add(place, 1.0, speed * 0.01);
            let row = self.velocities.len() - 1;
            self.velocities[row].x = -side * speed;
        }
    }

    fn head_for_the_middle(&mut self, ticks: f32) {
        let middle = (self.low + self.high) * 0.5;
        for slot in self.slots() {
            let place = self.spheres.get(slot).unwrap().center;
            self.velocities[slot.row()] = (middle - place) / ticks;
        }
    }

    fn place(&mut self) -> Vec3 {
        self.low + (self.high - self.low) * self.random.point(1.0)
    }

    fn add(&mut self, place: Vec3, radius: f32, speed: f32) -> Slot {
        let slot = self.spheres.insert(Sphere::new(place, radius)).unwrap();
        self.velocities.resize(self.velocities.len().max(slot.row() + 1), Vec3::ZERO);
        self.velocities[slot.row()] = self.random.direction() * speed;
        slot
    }

    fn every(&mut self, ticks: u32, act: impl Fn(&mut World)) {
        if self.tick.is_multiple_of(ticks) {
            act(self);
        }
    }

    fn bounce(&mut self) {
        self.bounce_those(|_| true);
    }

    fn bounce_those(&mut self, moves: impl Fn(u32) -> bool) {
        for slot in self.slots() {
            let velocity = &mut self.velocities[slot.row()];
            if *velocity == Vec3::ZERO || !moves(slot.number()) {
                continue;
            }
            let mut place = self.spheres.get(slot).unwrap().center + *velocity;
            for axis in 0..3 {
                let (low, high) = (self.low[axis], self.high[axis]);
                if place[axis] < low {
                    velocity[axis] = velocity[axis].abs();
                    place[axis] = (2.0 * low - place[axis]).min(high);
                } else if place[axis] > high {
                    velocity[axis] = -velocity[axis].abs();
                    place[axis] = (2.0 * high - place[axis]).max(low);
                }
            }
            self.spheres.move_to(slot, place).unwrap();
        }
    }

    fn glide(&mut self) {
        for slot in self.slots() {
            let place = self.spheres.get(slot).unwrap().center + self.velocities[slot.row()];
            self.spheres.move_to(slot, place).unwrap();
        }
    }

    fn chosen(&mut self, one_in: u32) -> Vec<Slot> {
        let slots = self.slots();
        slots.into_iter().filter(|_| self.random.whole(0, one_in) == 0).collect()
    }

    fn turn_one_in(&mut self, one_in: u32, speed: f32) {
        for slot in self.chosen(one_in) {
            self.velocities[slot.row()] = self.random.direction() * speed;
        }
    }

    fn teleport_one_in(&mut self, one_in: u32) {
        for slot in self.chosen(one_in) {
            let place = self.place();
            self.spheres.move_to(slot, place).unwrap();
        }
    }

    fn remove_one_in(&mut self, one_in: u32) {
        for slot in self.chosen(one_in) {
            self.spheres.remove(slot).unwrap();
        }
    }

    /// Others take the slots, near to where the old ones were.
    fn replace_one_in(&mut self, one_in: u32) {
        for slot in self.chosen(one_in) {
            let old = self.spheres.remove(slot).unwrap();
            let place = (old.center + self.random.direction() * 0.3).clamp(self.low, self.high);
            self.add(place, old.radius, 0.08);
        }
    }

    fn resize_one_in(&mut self, one_in: u32) {
        for slot in self.chosen(one_in) {
            let radius = self.random.between(0.5, 1.5);
            self.spheres.resize(slot, radius).unwrap();
        }
    }
}
