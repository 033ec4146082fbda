//! What balls leave uncovered between the points that they were planned with.
//!
//! Points stand for a surface while its balls are sought; where three balls meet, the surface between the points may be in
//! none of them. These places become points as well, so that what is planned is nearly what can be proven.

use rayon::prelude::*;
use space::DVec3;

use super::ball::Ball;

/// Cuts of one triangle, one within the other.
const MAX_CUTS: u32 = 48;
/// The most places per triangle.
const MAX_PLACES: usize = 4_096;

/// The middles of all parts of the triangles, no longer than `finest`, that no path has in all of its balls. The first ball
/// of a path is the one planned, the others are those above it.
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
        let length = |side: usize| corners[side].distance_squared(corners[(side + 1) % 3]);
        let side = (0..3).max_by(|&i, &j| length(i).total_cmp(&length(j))).unwrap_or(0);
        if length(side) <= finest * finest || cuts >= MAX_CUTS {
            places.push(middle);
            if places.len() >= MAX_PLACES {
                break;
            }
            continue;
        }
        let between = (corners[side] + corners[(side + 1) % 3]) * 0.5;
        let (mut first, mut second) = (corners, corners);
        first[(side + 1) % 3] = between;
        second[side] = between;
        waiting.push((second, near.clone(), cuts + 1));
        waiting.push((first, near, cuts + 1));
    }
    places
}
