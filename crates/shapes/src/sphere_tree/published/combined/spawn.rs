//! Spawn: balls of a given error grow from uncovered points to where they cover most.

use super::Region;
use crate::sphere_tree::minimise::minimise;
use crate::sphere_tree::site::Site;

const STEPS: usize = 7;
const EVALUATIONS: usize = 40;
/// The weight of an uncovered point just outside a ball, relative to a covered one.
const NEAR: f64 = 0.1;

pub(super) fn spawn(region: &Region<'_>) -> Vec<Site> {
    let mut found = Vec::new();
    let (mut low, mut high) = (0.0, region.error);
    for _ in 0..STEPS {
        let error = (low + high) * 0.5;
        match spawn_at(region, error) {
            Some(sites) => {
                found = sites;
                high = error;
            }
            None => low = error,
        }
    }
    found
}

/// Balls of this error that cover everything; `None` if that takes more than the limit.
fn spawn_at(region: &Region<'_>, error: f64) -> Option<Vec<Site>> {
    let points = &region.task.points;
    let mut left: Vec<u32> = (0..points.len() as u32).collect();
    let mut sites = Vec::new();
    while let Some(&seed) = left.first() {
        if sites.len() == region.limit {
            return None;
        }
        // A subset of the points suffices to find a good centre.
        let stride = left.len().div_ceil(128);
        let mut hint = 0;
        let (center, _) = minimise(points[seed as usize], (4.0 * error).min(0.5), EVALUATIONS, |center| {
            let (depth, nearest) = region.judge.object.depth(center, Some(hint));
            hint = nearest.triangle;
            let reach = depth + error;
            if reach <= 0.0 {
                return -reach;
            }
            let gain = |&point: &u32| {
                let outside = points[point as usize].distance(center) - reach;
                if outside <= 0.0 { 1.0 } else { NEAR * (1.0 - outside / error).max(0.0) }
            };
            -left.iter().step_by(stride).map(gain).sum::<f64>()
        });
        let mut site = region.judge.site(center, 0, None);
        if points[seed as usize].distance(center) > site.reach(error) {
            site = region.judge.site(points[seed as usize], 0, None);
        }
        let reach = site.reach(error);
        let before = left.len();
        left.retain(|&point| points[point as usize].distance(site.center) > reach);
        if left.len() == before {
            return None;
        }
        sites.push(site);
    }
    Some(sites)
}
