//! How even are ticks where a few move among many that stand? `cargo run --release --example few_among_many`
//!
//! A few spheres of some size and speed fly through twenty thousand that stand, five in a hundred parts of space
//! filled, and are reflected by the walls. For each mix: the mean of 600 ticks and the slowest of them, after 300
//! others, each tick with the least that it took in four runs, for on a shared machine a slow tick is often somebody
//! else's.

use std::time::{Duration, Instant};

use space::workload::Random;
use space::{BroadPhase, Kinesphere, Slot, Sphere, Spheres, SpheresError, Vec3};

const OBJECTS: usize = 20_000;
const RUNS: usize = 4;
const WARM: usize = 300;
const TICKS: usize = 600;

/// So many spheres of this radius, and how far they get per tick.
#[derive(Clone, Copy)]
struct Movers {
    count: usize,
    radius: f32,
    speed: f32,
}

fn main() -> Result<(), SpheresError> {
    println!("movers  radius  speed   mean, µs  slowest, µs  slowest / mean");
    for (radius, speed) in [(1.0, 0.1), (1.0, 3.0), (1.0, 30.0), (5.0, 1.0), (30.0, 0.1)] {
        for count in [1, 20, 200] {
            let mut least = vec![Duration::MAX; TICKS];
            for _ in 0..RUNS {
                run(Movers { count, radius, speed }, &mut least)?;
            }
            let micros = |duration: &Duration| duration.as_secs_f64() * 1e6;
            let mean = least.iter().map(micros).sum::<f64>() / TICKS as f64;
            let slowest = least.iter().map(micros).fold(0.0, f64::max);
            println!("{count:>6}  {radius:>6}  {speed:>5}  {mean:>9.1}  {slowest:>11.1}  {:>14.2}", slowest / mean);
        }
    }
    Ok(())
}

/// Notes how long each tick takes, where it is less than is known.
fn run(movers: Movers, least: &mut [Duration]) -> Result<(), SpheresError> {
    let side = (OBJECTS as f32 * 84.0).cbrt();
    let mut random = Random::new(7);
    let mut velocities: Vec<Vec3> = (0..movers.count).map(|_| random.direction() * movers.speed).collect();
    let mut spheres = Spheres::new();
    for row in 0..OBJECTS {
        let radius = if row < movers.count { movers.radius } else { 1.0 };
        spheres.insert(Sphere::new(random.point(side), radius))?;
    }
    let (mut broad_phase, mut pairs) = (Kinesphere::new(), Vec::new());
    for tick in 0..WARM + TICKS {
        let start = Instant::now();
        broad_phase.pairs(&spheres, &mut pairs);
        if let Some(least) = tick.checked_sub(WARM).map(|tick| &mut least[tick]) {
            *least = start.elapsed().min(*least);
        }
        spheres.end_tick();
        for (row, velocity) in velocities.iter_mut().enumerate() {
            let slot = Slot::new(row as u32);
            let next = spheres.get(slot)?.center + *velocity;
            let is_outside = next.cmplt(Vec3::ZERO) | next.cmpgt(Vec3::splat(side));
            *velocity = Vec3::select(is_outside, -*velocity, *velocity);
            spheres.move_to(slot, next)?;
        }
    }
    Ok(())
}
