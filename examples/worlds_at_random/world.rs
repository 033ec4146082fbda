//! Spheres in a room: some stand, some walk, some race, some are large, and some turn every now and then.

use space::workload::Random;
use space::{Slot, Sphere, Spheres, SpheresError, Vec3};

/// What a world is like: one object in so many walks, races, is large, or turns in a tick.
#[derive(Debug)]
pub struct Mix {
    objects: u32,
    /// How much space there is for each, in cubic radii of the smallest.
    space: f32,
    walks: u32,
    races: u32,
    large: u32,
    turns: u32,
    /// The speed of the fastest, in tenths of a radius, and the size of the largest.
    speed: f32,
    size: f32,
}

impl Mix {
    /// Any mix.
    pub fn draw(random: &mut Random) -> Mix {
        let mut one_of = |choice: &[u32]| choice[random.whole(0, choice.len() as u32) as usize];
        let objects = one_of(&[2_000, 8_000, 20_000, 50_000]);
        let space = random.log_uniform(50.0) * 8.0;
        let mut one_of = |choice: &[u32]| choice[random.whole(0, choice.len() as u32) as usize];
        let walks = one_of(&[1, 2, 10, 100, 1_000, 100_000]);
        let races = one_of(&[20, 100, 1_000, 10_000, 100_000]);
        let large = one_of(&[20, 100, 1_000, 10_000, 100_000]);
        let turns = one_of(&[200, 1_000, 100_000]);
        let (speed, size) = (random.log_uniform(100.0).max(1.01), 2.0 * random.log_uniform(20.0));
        Mix { objects, space, walks, races, large, turns, speed, size }
    }

    /// Any mix in which more race, and all turn more often.
    pub fn draw_turbulent(random: &mut Random) -> Mix {
        let mix = Mix::draw(random);
        let objects = (1_000.0 * random.log_uniform(60.0)) as u32;
        let mut one_of = |choice: &[u32]| choice[random.whole(0, choice.len() as u32) as usize];
        let walks = one_of(&[1, 3, 10, 30, 100, 1_000]);
        let races = one_of(&[5, 10, 20, 50, 100, 1_000, 100_000]);
        let turns = one_of(&[20, 50, 100, 200, 1_000]);
        Mix { objects, walks, races, turns, ..mix }
    }
}

/// A world, and how everybody moves.
pub struct World {
    pub spheres: Spheres,
    velocities: Vec<Vec3>,
    random: Random,
    side: f32,
    turns: u32,
}

impl World {
    /// A world of this mix.
    pub fn new(mix: &Mix, mut random: Random) -> Result<World, SpheresError> {
        let side = (mix.objects as f32 * mix.space).cbrt();
        let (mut spheres, mut velocities) = (Spheres::new(), Vec::new());
        for _ in 0..mix.objects {
            let speed = match random.whole(0, mix.races) {
                0 => random.log_uniform(mix.speed) * 0.1,
                _ if random.whole(0, mix.walks) == 0 => 0.1,
                _ => 0.0,
            };
            let radius = if random.whole(0, mix.large) == 0 { random.log_uniform(mix.size) } else { 1.0 };
            spheres.insert(Sphere::new(random.point(side), radius))?;
            velocities.push(random.direction() * speed);
        }
        Ok(World { spheres, velocities, random, side, turns: mix.turns })
    }

    /// Moves everybody on by a tick; walls reflect them.
    pub fn step(&mut self) -> Result<(), SpheresError> {
        let World { spheres, velocities, random, side, turns } = self;
        spheres.end_tick();
        for (row, velocity) in velocities.iter_mut().enumerate().filter(|(_, velocity)| **velocity != Vec3::ZERO) {
            if random.whole(0, *turns) == 0 {
                *velocity = random.direction() * velocity.length();
            }
            let slot = Slot::new(row as u32);
            let next = spheres.get(slot)?.center + *velocity;
            let is_outside = next.cmplt(Vec3::ZERO) | next.cmpgt(Vec3::splat(*side));
            *velocity = Vec3::select(is_outside, -*velocity, *velocity);
            spheres.move_to(slot, next)?;
        }
        Ok(())
    }
}
