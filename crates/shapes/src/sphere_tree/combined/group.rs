//! Points of a region that one ball is to cover.

use space::DVec3;

use super::super::ball::Ball;
use super::super::enclosing::smallest_enclosing_ball;
use super::super::site::Hints;
use super::Region;

/// Points, a centre for them, and how far the ball around it sticks out.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub points: Vec<u32>,
    pub center: DVec3,
    pub radius: f64,
    pub error: f64,
}

impl Group {
    /// A ball around the points: the smallest, or around one of the hints, whichever sticks out least.
    pub fn around(region: &Region<'_>, points: Vec<u32>, hints: &[DVec3]) -> Group {
        let places: Vec<DVec3> = points.iter().map(|&point| region.task.points[point as usize]).collect();
        let smallest = smallest_enclosing_ball(&places);
        let mut best = Group { points, center: smallest.center, radius: smallest.radius, error: f64::INFINITY };
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

    /// Two groups as one.
    pub fn united(region: &Region<'_>, a: &Group, b: &Group) -> Group {
        let points = a.points.iter().chain(&b.points).copied().collect();
        Group::around(region, points, &[a.center, b.center])
    }

    /// Begins with the inner balls, at most so many: each point goes to the one that it is least outside of. Without inner
    /// balls, points of the surface stand in for them.
    pub fn from_medial(region: &Region<'_>, most: usize) -> Vec<Group> {
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
        full.map(|(list, ball)| Group::around(region, list, &[ball.center])).collect()
    }
}
