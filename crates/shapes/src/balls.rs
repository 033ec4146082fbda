//! A level of a sphere-tree as a shape: many balls, of which a ball around all that is below a node rules out most.

use space::DVec3;

use super::body::Best;
use super::convex::{self, Convex, Separation};
use super::pose::WidePose;
use space::Sphere;

use crate::BallTree;

/// The balls in which walks down to `level` end.
#[derive(Clone, Copy, Debug)]
pub(super) struct BallSet<'a> {
    pub tree: &'a BallTree,
    pub level: u8,
}

/// The pairs one step below a pair: the children of the node that reaches farther, with the other. `None` where both ends.
pub(super) fn pairs_of(
    first: &BallSet<'_>,
    a: u32,
    second: &BallSet<'_>,
    b: u32,
) -> Option<impl DoubleEndedIterator<Item = (u32, u32)>> {
    let (own, other) = (first.tree.children(a, first.level), second.tree.children(b, second.level));
    let is_wider = first.tree.wrapping(a).radius >= second.tree.wrapping(b).radius;
    let takes_first = !own.is_empty() && (other.is_empty() || is_wider);
    let children = if takes_first { own } else { other };
    (!children.is_empty()).then(|| children.map(move |child| if takes_first { (child, b) } else { (a, child) }))
}

/// The separation of a point from a core, made that of a ball around the point. The point is the first.
pub(super) fn ball_against(found: Separation, radius: f64) -> Separation {
    Separation {
        distance: (found.distance - radius).max(0.0),
        certain: (found.certain - radius).max(0.0),
        on_a: found.on_a + found.normal * radius.min(found.distance),
        ..found
    }
}

/// Offers the nearest balls of a set, against a core that is placed.
pub(super) fn balls_against_core(set: &BallSet<'_>, at: &WidePose, core: &Convex<'_>, best: &mut Best) {
    let mut waiting = vec![(0.0, 0)];
    while let Some((bound, node)) = waiting.pop() {
        if bound > best.within {
            continue;
        }
        let mut nearer: Vec<(f64, u32)> = Vec::new();
        let children = set.tree.children(node, set.level);
        if children.is_empty() {
            let ball = set.tree.ball(node);
            best.offer(ball_against(to_core(at, ball, core), f64::from(ball.radius)), None, None);
        }
        for child in children {
            let around = set.tree.wrapping(child);
            nearer.push((to_core(at, around, core).certain - f64::from(around.radius), child));
        }
        // The nearest last, so that it comes next.
        nearer.sort_by(|one, other| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)));
        waiting.extend(nearer);
    }
}

/// Offers the nearest balls of two sets.
pub(super) fn balls_against_balls(
    first: &BallSet<'_>,
    at: &WidePose,
    second: &BallSet<'_>,
    bt: &WidePose,
    best: &mut Best,
) {
    let place = |pose: &WidePose, ball: Sphere| pose.position + pose.rotation * ball.center.as_dvec3();
    let mut waiting = vec![(f64::NEG_INFINITY, (0, 0))];
    while let Some((bound, (a, b))) = waiting.pop() {
        if bound > best.within {
            continue;
        }
        let Some(pairs) = pairs_of(first, a, second, b) else {
            let (one, other) = (first.tree.ball(a), second.tree.ball(b));
            let (from, to) = (place(at, one), place(bt, other));
            let apart = from.distance(to);
            let normal = (to - from).try_normalize().unwrap_or(DVec3::Y);
            let (ra, rb) = (f64::from(one.radius), f64::from(other.radius));
            let distance = (apart - ra - rb).max(0.0);
            // Rounding of places that were turned.
            let certain = (distance - 1e-13 * (from.length() + to.length() + ra + rb)).max(0.0);
            let separation = Separation { distance, certain, on_a: from + normal * ra, on_b: to - normal * rb, normal };
            best.offer(separation, None, None);
            continue;
        };
        let mut nearer: Vec<(f64, (u32, u32))> = pairs
            .map(|(a, b)| {
                let (one, other) = (first.tree.wrapping(a), second.tree.wrapping(b));
                let apart = place(at, one).distance(place(bt, other));
                (apart - f64::from(one.radius) - f64::from(other.radius), (a, b))
            })
            .collect();
        nearer.sort_by(|one, other| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)));
        waiting.extend(nearer);
    }
}

fn to_core(at: &WidePose, ball: Sphere, core: &Convex<'_>) -> Separation {
    let center = at.position + at.rotation * ball.center.as_dvec3();
    convex::separation(&Convex::Bar([center, center]), core)
}
