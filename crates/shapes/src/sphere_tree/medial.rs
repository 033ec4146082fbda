//! Balls inside an object that touch its surface at least twice: centres from which much of it is covered.

use rayon::prelude::*;
use space::DVec3;

use super::ball::Ball;
use super::object::{Inside, Object};
use super::samples::Patch;

/// Steps after which a ball is taken as it is.
const MAX_STEPS: usize = 24;
/// Patches per task.
const CHUNK: usize = 256;

/// The inner ball that touches each patch, found by shrinking: begin with one too large, and make it touch whatever is
/// within it, until nothing is. Near-equal balls are kept once. An object without an inside has none.
pub fn medial_balls(object: &Object, patches: &[Patch], same: f64) -> Vec<Ball> {
    if object.inside() == Inside::Nothing {
        return Vec::new();
    }
    let found: Vec<Vec<Ball>> = patches
        .par_chunks(CHUNK)
        .map(|patches| patches.iter().filter_map(|patch| shrink(object, patch)).collect())
        .collect();
    let mut balls = found.concat();
    let cell = |ball: &Ball| {
        let [x, y, z] = (ball.center / same).floor().to_array();
        (x, y, z, (ball.radius / same).floor())
    };
    balls.sort_by(|a, b| cell(a).partial_cmp(&cell(b)).unwrap_or(std::cmp::Ordering::Equal));
    balls.dedup_by(|a, b| cell(a) == cell(b));
    balls
}

/// The largest inner ball that touches a patch and another place; `None` if none is inside.
pub(super) fn shrink(object: &Object, patch: &Patch) -> Option<Ball> {
    let inward = -patch.normal;
    let mut radius = 1.0;
    let mut hint = None;
    for _ in 0..MAX_STEPS {
        let center = patch.center + inward * radius;
        let nearest = object.nearest(center, hint);
        hint = Some(nearest.triangle);
        let distance = nearest.squared.sqrt();
        if distance >= radius * (1.0 - 1e-6) {
            break;
        }
        let offset = nearest.point - patch.center;
        let ahead = inward.dot(offset);
        // Nothing ahead: the nearest point is the patch itself, seen through rounding.
        if ahead <= 1e-12 {
            break;
        }
        let touching = offset.length_squared() / (2.0 * ahead);
        if touching >= radius {
            break;
        }
        radius = touching;
    }
    let center: DVec3 = patch.center + inward * radius;
    let (depth, _) = object.depth(center, hint);
    (depth > 0.0).then_some(Ball::new(center, depth))
}
