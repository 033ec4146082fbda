//! Balls on the medial axis: inside an object, touching its surface at least twice. Their centres cover much of it.

use rayon::prelude::*;
use space::DVec3;

use super::ball::Ball;
use super::object::{Inside, Object};
use super::samples::SurfaceSample;

const MAX_STEPS: usize = 24;
/// Samples per parallel task.
const CHUNK: usize = 256;

/// The inner ball that touches each sample; near-equal balls once. None for an object without an inside.
pub fn medial_balls(object: &Object, patches: &[SurfaceSample], same: f64) -> Vec<Ball> {
    if object.inside() == Inside::Nothing {
        return Vec::new();
    }
    let found: Vec<Vec<Ball>> = patches
        .par_chunks(CHUNK)
        .map(|patches| patches.iter().filter_map(|patch| inner_ball_at(object, patch)).collect())
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

/// The largest inner ball that touches a sample, found by shrinking a ball until the surface is outside. `None` if its
/// centre is not inside the object.
pub(crate) fn inner_ball_at(object: &Object, patch: &SurfaceSample) -> Option<Ball> {
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
        // The nearest point is the sample itself, up to rounding.
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
