//! Expand: all inner balls grow by the same least amount, and the fewest that cover are kept.

use super::Region;
use crate::sphere_tree::cover::cover;
use crate::sphere_tree::site::Site;

/// Steps of the search for that amount.
const STEPS: usize = 10;

pub(super) fn expand(region: &Region<'_>) -> Vec<Site> {
    let centers = region.medial.iter().map(|ball| ball.center);
    let mut candidates: Vec<Site> = centers.map(|center| region.judge.site(center, 0, None)).collect();
    if candidates.is_empty() {
        let points = region.task.points.iter().step_by(3);
        candidates = points.map(|&point| region.judge.site(point, 0, None)).collect();
    }
    let mut found = Vec::new();
    let (mut low, mut high) = (0.0, region.error);
    let mut error = region.error;
    for _ in 0..STEPS {
        match cover(&region.task, &candidates, error, region.limit, 0) {
            Some(chosen) => {
                found = chosen.into_iter().map(|(index, _)| candidates[index as usize].clone()).collect();
                high = error;
            }
            None => low = error,
        }
        error = (low + high) * 0.5;
    }
    found
}
