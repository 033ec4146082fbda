//! The points of a region that one ball covers.

use space::DVec3;

use super::Region;
use crate::sphere_tree::ball::Ball;
use crate::sphere_tree::enclosing::smallest_enclosing_ball;
use crate::sphere_tree::site::Hints;

/// Points, a ball around them, and its error.
#[derive(Clone, Debug)]
pub(super) struct PointGroup {
    pub points: Vec<u32>,
    pub center: DVec3,
    pub radius: f64,
    pub error: f64,
}

impl PointGroup {
    /// The smallest ball around the points, or one around a hint, whichever sticks out least.
    pub fn around(region: &Region<'_>, points: Vec<u32>, hints: &[DVec3]) -> PointGroup {
        let places: Vec<DVec3> = points.iter().map(|&point| region.task.points[point as usize]).collect();
        let smallest = smallest_enclosing_ball(&places);
        let mut best = PointGroup { points, center: smallest.center, radius: smallest.radius, error: f64::INFINITY };
        let mut seen = Hints::default();
        for center in std::iter::once(smallest.center).chain(hints.iter().copied()) {
            let radius = Ball::around(center, places.iter().copied()).radius;
            let error = region.judge.error(center, radius, &mut seen);
            if error < best.error {
                (best.center, best.radius, best.error) = (center, radius, error);
            }
        }
        best
    }

    pub fn united(region: &Region<'_>, a: &PointGroup, b: &PointGroup) -> PointGroup {
        let points = a.points.iter().chain(&b.points).copied().collect();
        PointGroup::around(region, points, &[a.center, b.center])
    }

    /// One group for each of at most `most` inner balls; each point goes to the ball that it is least outside of.
    /// Without inner balls, points of the surface replace them.
    pub fn from_medial(region: &Region<'_>, most: usize) -> Vec<PointGroup> {
        let mut balls = region.medial.clone();
        if balls.is_empty() {
            balls = region.task.points.iter().map(|&point| Ball::new(point, 0.0)).collect();
        }
        let stride = balls.len().div_ceil(most).max(1);
        let balls: Vec<Ball> = balls.into_iter().step_by(stride).collect();
        let mut lists = vec![Vec::new(); balls.len()];
        for (index, &point) in region.task.points.iter().enumerate() {
            let outside = |ball: &Ball| ball.center.distance(point) - ball.radius;
            let nearest = (0..balls.len()).min_by(|&a, &b| outside(&balls[a]).total_cmp(&outside(&balls[b])));
            if let Some(nearest) = nearest {
                lists[nearest].push(index as u32);
            }
        }
        let full = lists.into_iter().zip(&balls).filter(|(list, _)| !list.is_empty());
        full.map(|(list, ball)| PointGroup::around(region, list, &[ball.center])).collect()
    }
}
