//! How far a ball sticks out of an object: proven bounds.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use space::DVec3;

use super::ball::Ball;
use super::cut::eighths;
use super::object::Object;

const MAX_CUBES: usize = 20_000;

/// Bounds of the largest distance from a point of the ball to the object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorBounds {
    /// Some point of the ball is this far out.
    pub at_least: f64,
    pub at_most: f64,
}

/// How far the ball sticks out of the object, in unit coordinates, to within `tolerance`.
///
/// One distance gives a bound: a ball whose centre is `d` deep sticks out by at most its radius less `d`. For convex
/// objects this is exact, and a point beyond the nearest surface shows it. Otherwise the ball is searched by cubes, the
/// most promising first, as distance is 1-Lipschitz.
pub fn error_of(object: &Object, ball: Ball, tolerance: f64) -> ErrorBounds {
    let (depth, nearest) = object.depth(ball.center, None);
    let at_most = (ball.radius - depth).max(0.0);
    let away = (nearest.point - ball.center) * depth.signum();
    let mut at_least = (-depth).max(0.0);
    let direction =
        if away.length_squared() > 1e-24 { away.normalize() } else { object.normal(&nearest).normalize_or_zero() };
    let hint = Some(nearest.triangle);
    let rim = ball.radius * (1.0 - 1e-12);
    at_least = at_least.max(object.out(ball.center + direction * rim, hint).0);
    if at_most - at_least <= tolerance {
        return ErrorBounds { at_least, at_most };
    }
    search(object, ball, tolerance, ErrorBounds { at_least, at_most })
}

/// A cube, with an upper bound of how far out its points are.
struct Cube {
    bound: f64,
    center: DVec3,
    half: f64,
    hint: u32,
}

fn search(object: &Object, ball: Ball, tolerance: f64, known: ErrorBounds) -> ErrorBounds {
    let ErrorBounds { mut at_least, at_most } = known;
    // The largest bound among cubes that were dropped.
    let mut settled: f64 = at_least;
    let mut heap = BinaryHeap::new();
    heap.push(Cube { bound: at_most, center: ball.center, half: ball.radius, hint: 0 });
    let mut asked = 0;
    while let Some(cube) = heap.pop() {
        if cube.bound <= at_least + tolerance || asked >= MAX_CUBES {
            settled = settled.max(cube.bound);
            break;
        }
        let half = cube.half * 0.5;
        for center in eighths(cube.center, half) {
            // The cube's points within the ball are within `diagonal` of the probe.
            let offset = center - ball.center;
            let distance = offset.length();
            let diagonal = half * 3.0_f64.sqrt();
            if distance - diagonal > ball.radius {
                continue;
            }
            let probe = if distance > ball.radius { ball.center + offset * (ball.radius / distance) } else { center };
            let (out, nearest) = object.out(probe, Some(cube.hint));
            asked += 1;
            at_least = at_least.max(out);
            // Projecting onto a convex set moves no point of the set farther away.
            let bound = (out + diagonal).min(cube.bound);
            if bound > at_least + tolerance {
                heap.push(Cube { bound, center, half, hint: nearest.triangle });
            } else {
                settled = settled.max(bound);
            }
        }
    }
    let rest = heap.peek().map_or(0.0, |cube| cube.bound);
    ErrorBounds { at_least, at_most: at_most.min(settled.max(rest)).max(at_least) }
}

impl PartialEq for Cube {
    fn eq(&self, other: &Cube) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Cube {}

impl PartialOrd for Cube {
    fn partial_cmp(&self, other: &Cube) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Cube {
    fn cmp(&self, other: &Cube) -> Ordering {
        self.bound.total_cmp(&other.bound)
    }
}
