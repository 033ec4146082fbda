//! Parts of the surface between sample points that balls leave uncovered.
//!
//! Plans use points. Where three balls meet, the surface between points may be in none of them. The uncovered parts
//! become points too, so that the plan is close to what can be proven.

use rayon::prelude::*;
use space::DVec3;

use super::ball::Ball;
use super::cut::{halves, longest_side};

/// Nested cuts of one triangle.
const MAX_CUTS: u32 = 48;
const MAX_PLACES: usize = 4_096;

/// The middles of all parts of the triangles, cut down to `finest`, that no path contains. A path is a planned ball
/// followed by those above it.
pub fn gaps(triangles: &[[DVec3; 3]], paths: &[Vec<Ball>], finest: f64) -> Vec<DVec3> {
    let found: Vec<Vec<DVec3>> = triangles.par_iter().map(|corners| gaps_of(*corners, paths, finest)).collect();
    found.concat()
}

fn gaps_of(corners: [DVec3; 3], paths: &[Vec<Ball>], finest: f64) -> Vec<DVec3> {
    let mut places = Vec::new();
    let mut waiting = vec![(corners, (0..paths.len() as u32).collect::<Vec<u32>>(), 0)];
    while let Some((corners, near, cuts)) = waiting.pop() {
        let middle = (corners[0] + corners[1] + corners[2]) / 3.0;
        let around = Ball::around(middle, corners).radius;
        let meets = |&path: &u32| {
            let Some(ball) = paths[path as usize].first() else { return false };
            ball.center.distance_squared(middle) <= (ball.radius + around) * (ball.radius + around)
        };
        let near: Vec<u32> = near.into_iter().filter(meets).collect();
        if near.iter().any(|&path| paths[path as usize].iter().all(|ball| ball.contains_all(&corners))) {
            continue;
        }
        let (side, length) = longest_side(&corners);
        if length <= finest * finest || cuts >= MAX_CUTS {
            places.push(middle);
            if places.len() >= MAX_PLACES {
                break;
            }
            continue;
        }
        let [first, second] = halves(corners, side);
        waiting.push((second, near.clone(), cuts + 1));
        waiting.push((first, near, cuts + 1));
    }
    places
}
