//! With auras widened by how far their objects move in a horizon, two objects are connected at least that horizon
//! before their plain auras meet, if no object exceeds its speed.

use kinesphere_interest::{Audience, Aura};
use space::workload::Random;
use space::{Slot, Sphere, Vec3};

const TICKS: usize = 120;

/// Objects that rush about at up to their speeds; for each meeting of the plain auras, how long the two
/// had been joined.
fn meetings(seed: u64, horizon: u32, widened_for: u32, offset: Vec3) -> Vec<Option<u32>> {
    let mut random = Random::new(seed);
    let mut audience = Audience::new();
    let objects: Vec<(Slot, f32, f32)> = (0..60)
        .map(|_| {
            let (radius, speed) = (random.between(0.2, 1.0), random.between(0.0, 0.2));
            let aura = Aura::new(radius).widened(speed, widened_for);
            (audience.insert(random.point(20.0) + offset, aura).unwrap(), radius, speed)
        })
        .collect();
    let targets: Vec<Vec3> = (0..4).map(|_| random.point(20.0) + offset).collect();
    // For each pair, the tick since which they hear each other, and whether they touched in the last one.
    let mut joined = vec![None; objects.len() * objects.len()];
    let mut touching = vec![true; objects.len() * objects.len()];
    let mut waits = Vec::new();
    for tick in 0..TICKS as u32 {
        for (index, &(slot, _, speed)) in objects.iter().enumerate() {
            let place = audience.center(slot).unwrap();
            let way = targets[(index + tick as usize / 40) % targets.len()] - place;
            // At the highest speed, shortened until the rounded step is within the bound.
            let mut next = place + way.normalize_or_zero() * speed;
            let step = |next: Vec3| (next.as_dvec3() - place.as_dvec3()).length();
            let mut factor = 1.0;
            while step(next) > f64::from(speed) {
                factor *= 0.99;
                next = if factor < 1e-3 { place } else { place + way.normalize_or_zero() * speed * factor };
            }
            audience.move_to(slot, next).unwrap();
        }
        audience.update();
        for (i, &(one, radius, _)) in objects.iter().enumerate() {
            for (j, &(other, other_radius, _)) in objects.iter().enumerate().skip(i + 1) {
                let place = i * objects.len() + j;
                joined[place] = joined[place].filter(|_| audience.hears(one, other));
                if audience.hears(one, other) && joined[place].is_none() {
                    joined[place] = Some(tick);
                }
                let center = |slot| audience.center(slot).unwrap();
                let touches = Sphere::new(center(one), radius).overlaps(Sphere::new(center(other), other_radius));
                // Not those that overlap from the start.
                if touches && !touching[place] && tick >= horizon {
                    waits.push(joined[place].map(|since| tick - since));
                }
                touching[place] = touches;
            }
        }
    }
    waits
}

#[test]
fn pairs_are_joined_before_they_meet() {
    let horizon = 10;
    let mut met = 0;
    for seed in 0..30 {
        // Far from the origin coordinates are coarse.
        let offset = if seed % 3 == 0 { Vec3::splat(5e3) } else { Vec3::ZERO };
        for wait in meetings(seed, horizon, horizon, offset) {
            met += 1;
            assert!(wait.is_some_and(|wait| wait >= horizon), "seed {seed}: joined {wait:?} ticks before they met");
        }
    }
    assert!(met > 1_000, "only {met} met");
}

/// The test can fail: with half the widening, some pairs meet too soon.
#[test]
fn half_the_widening_is_not_enough() {
    let late = meetings(1, 10, 5, Vec3::ZERO).iter().filter(|wait| wait.is_none_or(|wait| wait < 10)).count();
    assert!(late > 0);
}
