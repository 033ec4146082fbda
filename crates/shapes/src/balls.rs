//! A level of a sphere-tree as a shape, the union of its balls, and the depth-first walk down one or two such trees.

use space::DVec3;

use super::convex::{self, Convex, Separation};
use super::geometry::ClosestSearch;
use super::pose::WidePose;
use space::Sphere;

use crate::BallTree;

#[derive(Clone, Copy, Debug)]
pub(super) struct BallSet<'a> {
    pub tree: &'a BallTree,
    pub level: u8,
}

/// Walks down a tree, or down two at once, from the roots.
///
/// `visit` gets a pair's bound, the two nodes, and whether the walk ends there, and returns whether to go on below. Of
/// a pair the node that reaches farther is replaced by its children; those with the least `bound` come first, ties in
/// ascending order. Without a second tree its node is always 0.
pub(super) fn walk(
    first: &BallSet<'_>,
    second: Option<&BallSet<'_>>,
    bound: impl Fn(u32, u32) -> f64,
    mut visit: impl FnMut(f64, u32, u32, bool) -> bool,
) {
    let mut waiting = vec![(f64::NEG_INFINITY, 0, 0)];
    let mut below: Vec<(f64, u32, u32)> = Vec::new();
    while let Some((least, a, b)) = waiting.pop() {
        let own = first.tree.children(a, first.level);
        let other = second.map_or(0..0, |second| second.tree.children(b, second.level));
        let is_end = own.is_empty() && other.is_empty();
        if !visit(least, a, b, is_end) || is_end {
            continue;
        }
        let is_wider = |second: &BallSet<'_>| first.tree.wrapping(a).radius >= second.tree.wrapping(b).radius;
        if !own.is_empty() && (other.is_empty() || second.is_none_or(is_wider)) {
            below.extend(own.map(|child| (bound(child, b), child, b)));
        } else {
            below.extend(other.map(|child| (bound(a, child), a, child)));
        }
        // The nearest pair last, so that it is popped next.
        below.sort_by(|one, two| two.0.total_cmp(&one.0).then((two.1, two.2).cmp(&(one.1, one.2))));
        waiting.append(&mut below);
    }
}

/// Turns the separation of a point from a core into that of a ball around the point. The point is the first.
pub(super) fn ball_against(found: Separation, radius: f64) -> Separation {
    Separation {
        distance: (found.distance - radius).max(0.0),
        certain: (found.certain - radius).max(0.0),
        on_a: found.on_a + found.normal * radius.min(found.distance),
        ..found
    }
}

/// Offers the nearest balls of a set against a placed core.
pub(super) fn balls_against_core(set: &BallSet<'_>, at: &WidePose, core: &Convex<'_>, best: &mut ClosestSearch) {
    let to_core = |ball: Sphere| {
        let center = at.position + at.rotation * ball.center.as_dvec3();
        convex::separation(&Convex::Bar([center, center]), core)
    };
    let bound = |node, _| {
        let around = set.tree.wrapping(node);
        to_core(around).certain - f64::from(around.radius)
    };
    walk(set, None, bound, |bound, node, _, is_end| {
        if bound > best.within {
            return false;
        }
        if is_end {
            let ball = set.tree.ball(node);
            best.offer(ball_against(to_core(ball), f64::from(ball.radius)), None, None);
        }
        true
    });
}

/// Offers the nearest balls of two sets.
pub(super) fn balls_against_balls(
    first: &BallSet<'_>,
    at: &WidePose,
    second: &BallSet<'_>,
    bt: &WidePose,
    best: &mut ClosestSearch,
) {
    let place = |pose: &WidePose, ball: Sphere| pose.position + pose.rotation * ball.center.as_dvec3();
    let bound = |a, b| {
        let (one, other) = (first.tree.wrapping(a), second.tree.wrapping(b));
        let apart = place(at, one).distance(place(bt, other));
        apart - f64::from(one.radius) - f64::from(other.radius)
    };
    walk(first, Some(second), bound, |bound, a, b, is_end| {
        if bound > best.within {
            return false;
        }
        if is_end {
            let (one, other) = (first.tree.ball(a), second.tree.ball(b));
            let (from, to) = (place(at, one), place(bt, other));
            let apart = from.distance(to);
            let normal = (to - from).try_normalize().unwrap_or(DVec3::Y);
            let (ra, rb) = (f64::from(one.radius), f64::from(other.radius));
            let distance = (apart - ra - rb).max(0.0);
            // Less the rounding of the turned centres.
            let certain = (distance - 1e-13 * (from.length() + to.length() + ra + rb)).max(0.0);
            let separation = Separation { distance, certain, on_a: from + normal * ra, on_b: to - normal * rb, normal };
            best.offer(separation, None, None);
        }
        true
    });
}
