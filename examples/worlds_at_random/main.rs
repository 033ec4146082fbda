//! How even are ticks in any world, and are they ever slower than a plain grid's?
//!
//! `cargo run --release --example worlds_at_random 0 130`: worlds of spheres, from one seed to another, few or many, sparse or
//! dense. For each: the mean of 400 ticks and the slowest of them, after 400 others, each tick with the least that it took in
//! three runs, for on a shared machine a slow tick is often somebody else's.
//!
//! `cargo run --release --example worlds_at_random grid 0 1500`: worlds in which many race and turn, where following them may not
//! pay. For each: the mean of 400 ticks after 400 others, and that of the plain grid on the same frames, turn by turn. Worlds
//! where the grid is slow in the first place are left out.

mod world;

use std::time::Instant;

use space::broad::PlainGrid;
use space::workload::Random;
use space::{BroadPhase, Kinesphere, Pair, Spheres, SpheresError};

use self::world::{Mix, World};

const RUNS: usize = 3;
const WARM: usize = 400;
const TICKS: usize = 400;

/// Where a grid takes longer than this, following wins by far.
const SLOW_GRID: f64 = 1_500.0;

fn main() -> Result<(), SpheresError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_against_grid = arguments.first().is_some_and(|word| word == "grid");
    let seeds: Vec<u64> = arguments.iter().filter_map(|seed| seed.parse().ok()).collect();
    let (first, end) = (seeds.first().copied().unwrap_or(0), seeds.get(1).copied().unwrap_or(2));
    if is_against_grid {
        println!("seed   ours, µs  plain grid, µs  ours / plain grid");
        return (first..end).try_for_each(compare_with_grid);
    }
    println!("seed   mean, µs  slowest, µs  slowest / mean");
    (first..end).try_for_each(find_slowest)
}

/// Tells the mean of a world's ticks, and the slowest.
fn find_slowest(seed: u64) -> Result<(), SpheresError> {
    let mut least = [f64::INFINITY; TICKS];
    for _ in 0..RUNS {
        let mut random = Random::new(seed);
        let mix = Mix::draw(&mut random);
        let mut world = World::new(&mix, random)?;
        let (mut kinesphere, mut pairs) = (Kinesphere::new(), Vec::new());
        for tick in 0..WARM + TICKS {
            let time = time(&mut kinesphere, &world.spheres, &mut pairs);
            if let Some(least) = tick.checked_sub(WARM).map(|tick| &mut least[tick]) {
                *least = least.min(time);
            }
            world.step()?;
        }
    }
    let mean = least.iter().sum::<f64>() / TICKS as f64;
    let slowest = least.iter().copied().fold(0.0, f64::max);
    let mix = Mix::draw(&mut Random::new(seed));
    println!("{seed:>4}  {mean:>9.1}  {slowest:>11.1}  {:>14.2}  {mix:?}", slowest / mean);
    Ok(())
}

/// Tells the mean of a world's ticks, and that of the plain grid's.
fn compare_with_grid(seed: u64) -> Result<(), SpheresError> {
    let mut random = Random::new(seed);
    let mix = Mix::draw_turbulent(&mut random);
    let mut world = World::new(&mix, random)?;
    let (mut kinesphere, mut grid, mut pairs) = (Kinesphere::new(), PlainGrid::default(), Vec::new());
    let (mut ours, mut plain) = (0.0, 0.0);
    for tick in 0..WARM + TICKS {
        // Who comes second finds the spheres in cache.
        let mut times = [0.0; 2];
        for turn in [tick % 2, (tick + 1) % 2] {
            let method: &mut dyn BroadPhase = if turn == 0 { &mut kinesphere } else { &mut grid };
            times[turn] = time(method, &world.spheres, &mut pairs);
        }
        if tick == 2 && times[1] > SLOW_GRID {
            return Ok(());
        }
        if tick >= WARM {
            ours += times[0] / TICKS as f64;
            plain += times[1] / TICKS as f64;
        }
        world.step()?;
    }
    println!("{seed:>4}  {ours:>9.1}  {plain:>14.1}  {:>17.2}  {mix:?}", ours / plain);
    Ok(())
}

/// How many microseconds it takes to find all pairs.
fn time(method: &mut dyn BroadPhase, spheres: &Spheres, pairs: &mut Vec<Pair>) -> f64 {
    let start = Instant::now();
    method.pairs(spheres, pairs);
    start.elapsed().as_secs_f64() * 1e6
}
