//! How even are ticks in any world? `cargo run --release --example worlds_at_random 0 130`
//!
//! Worlds of spheres in a room, from one seed to another: few or many, sparse or dense; some stand, some walk, some race, some
//! are large, and some turn every now and then. For each: the mean of 400 ticks and the slowest of them, after 400 others, each
//! tick with the least that it took in three runs, for on a shared machine a slow tick is often somebody else's.

use std::time::Instant;

use space::workload::Random;
use space::{BroadPhase, Kinesphere, Slot, Sphere, Spheres, SpheresError, Vec3};

const RUNS: usize = 3;
const WARM: usize = 400;
const TICKS: usize = 400;

/// What a world is like: one object in so many walks, races, is large, or turns in a tick.
#[derive(Debug)]
struct Mix {
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
    fn draw(random: &mut Random) -> Mix {
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
}

fn main() -> Result<(), SpheresError> {
    let seeds: Vec<u64> = std::env::args().skip(1).map_while(|seed| seed.parse().ok()).collect();
    let (first, end) = (seeds.first().copied().unwrap_or(0), seeds.get(1).copied().unwrap_or(2));
    println!("seed   mean, µs  slowest, µs  slowest / mean");
    for seed in first..end {
        let mut least = [f64::INFINITY; TICKS];
        for _ in 0..RUNS {
            run(seed, &mut least)?;
        }
        let mean = least.iter().sum::<f64>() / TICKS as f64;
        let slowest = least.iter().copied().fold(0.0, f64::max);
        let mix = Mix::draw(&mut Random::new(seed));
        println!("{seed:>4}  {mean:>9.1}  {slowest:>11.1}  {:>14.2}  {mix:?}", slowest / mean);
    }
    Ok(())
}

/// Notes how many microseconds each tick takes, where it is less than is known.
fn run(seed: u64, least: &mut [f64]) -> Result<(), SpheresError> {
    let mut random = Random::new(seed);
    let mix = Mix::draw(&mut random);
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
    let (mut broad_phase, mut pairs) = (Kinesphere::new(), Vec::new());
    for tick in 0..WARM + TICKS {
        let start = Instant::now();
        broad_phase.pairs(&spheres, &mut pairs);
        let time = start.elapsed().as_secs_f64() * 1e6;
        if let Some(least) = tick.checked_sub(WARM).map(|tick| &mut least[tick]) {
            *least = least.min(time);
        }
        spheres.end_tick();
        for (row, velocity) in velocities.iter_mut().enumerate().filter(|(_, velocity)| **velocity != Vec3::ZERO) {
            if random.whole(0, mix.turns) == 0 {
                *velocity = random.direction() * velocity.length();
            }
            let slot = Slot::new(row as u32);
            let next = spheres.get(slot)?.center + *velocity;
            let is_outside = next.cmplt(Vec3::ZERO) | next.cmpgt(Vec3::splat(side));
            *velocity = Vec3::select(is_outside, -*velocity, *velocity);
            spheres.move_to(slot, next)?;
        }
    }
    Ok(())
}
