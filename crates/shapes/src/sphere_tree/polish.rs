//! Fits balls to the parts of the surface that they cover, until the worst of a level gains nothing more.

use rayon::prelude::*;
use space::DVec3;

use super::ball::Ball;
use super::best::fewer;
use super::certificate::{Regions, mend};
use super::division::fit;
use super::error::error_of;
use super::field::DistanceField;
use super::minimise::minimise;
use super::object::Object;
use super::site::{Hints, Judge};
use super::tree::SphereTree;
use super::volume::outside_volume;

const TOLERANCE: f64 = 4e-3;
/// Rounds of shrinking balls and fitting again.
const TIGHTENINGS: usize = 9;
/// Rounds without gain after which steps become smaller.
const PATIENCE: usize = 2;
/// A ball with at most this share of the worst error is not moved.
const HARMLESS: f64 = 0.85;
const EVALUATIONS: usize = 36;
/// Evaluations per search for a centre with less volume outside.
const SLIMMING: usize = 24;

/// Makes all balls a little smaller than the level's worst, covers the gaps by enlarging the balls that need least, and
/// fits again. Returns the best tree found.
pub fn tighten(object: &Object, field: Option<&DistanceField>, mut best: SphereTree, finest: f64) -> SphereTree {
    let product = |tree: &SphereTree| (1..=tree.depth()).map(|level| worst_of(tree, level).max(1e-9)).product::<f64>();
    let mut now = best.clone();
    let mut least = product(&best);
    let mut factor: f64 = 0.94;
    let mut idle = 0;
    for _ in 0..TIGHTENINGS {
        for level in 1..=now.depth() {
            let worst = worst_of(&best, level);
            let judge = judge_of(object, field, worst);
            if judge.field.is_some() {
                continue;
            }
            let first = now.level_range(level).start as u32;
            let reaches: Vec<f64> = now
                .level(level)
                .par_iter()
                .map(|node| judge.site(node.ball.center, 0, None).reach(worst * factor).max(1e-9))
                .collect();
            for (index, reach) in reaches.into_iter().enumerate() {
                now.node_mut(first + index as u32).ball.radius = reach;
            }
        }
        let regions = mend(&mut now, object.triangles(), finest);
        polish(object, field, &mut now, &regions, Coarse::AreKept);
        let found = product(&now);
        if found < least * (1.0 - 2e-3) {
            (best, least, idle) = (now.clone(), found, 0);
            continue;
        }
        idle += 1;
        if idle >= PATIENCE {
            now = best.clone();
            factor = factor.sqrt();
            idle = 0;
            if factor > 0.985 {
                break;
            }
        }
    }
    best
}

fn worst_of(tree: &SphereTree, level: usize) -> f64 {
    tree.level(level).iter().map(|node| node.error).fold(0.0, f64::max)
}

/// Only errors well above the field's pitch are judged with it.
fn judge_of<'a>(object: &'a Object, field: Option<&'a DistanceField>, worst: f64) -> Judge<'a> {
    Judge { object, field: field.filter(|_| worst > 2.0 * DistanceField::PITCH), radius_max: 1.2 }
}

/// What to do with levels whose balls fill dents, as fitting them is slow.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Coarse {
    /// Keep their balls, enlarged where necessary.
    AreKept,
    AreFitted,
}

/// Fits every ball, from the leaves up, to the part of the surface that it covers.
pub fn polish(
    object: &Object,
    field: Option<&DistanceField>,
    tree: &mut SphereTree,
    regions: &Regions,
    coarse: Coarse,
) {
    let depth = tree.depth();
    let mut points = points_of(object, regions);
    for level in (1..=depth).rev() {
        let nodes = tree.level(level).to_vec();
        let worst = worst_of(tree, level);
        let judge = judge_of(object, field, worst);
        let fitted: Vec<(Ball, f64)> = nodes
            .par_iter()
            .zip(&points)
            .map(|(node, points)| {
                if judge.field.is_some() && coarse == Coarse::AreKept {
                    return (node.ball, node.error);
                }
                if points.is_empty() {
                    // Other balls cover its part: a tiny ball on the surface takes its place.
                    let speck = Ball::new(object.nearest(node.ball.center, None).point, 1e-9);
                    return (speck, judge.error(speck.center, speck.radius, &mut Hints::default()));
                }
                let fat = |ball: Ball| Ball::new(ball.center, ball.radius.max(1e-9));
                let kept = fat(Ball::around(node.ball.center, points.iter().copied()));
                let is_harmless = |error: f64| coarse == Coarse::AreKept && error <= HARMLESS * worst;
                let mut hints = Hints::default();
                let error = judge.error(kept.center, kept.radius, &mut hints);
                let ball = if is_harmless(error) {
                    kept
                } else {
                    let (center, less) = fit(judge, points, node.ball.center, fewer(object, EVALUATIONS));
                    if less < error { fat(Ball::around(center, points.iter().copied())) } else { kept }
                };
                match judge.field {
                    Some(_) => (ball, error_of(object, ball, TOLERANCE.max(0.02 * worst)).at_most),
                    None => (ball, judge.error(ball.center, ball.radius, &mut hints)),
                }
            })
            .collect();
        let first = tree.level_range(level).start as u32;
        for (index, (ball, error)) in fitted.into_iter().enumerate() {
            let node = tree.node_mut(first + index as u32);
            node.ball = ball;
            node.error = error;
        }
        points = points_above(tree, level, &points);
    }
}

/// Moves every ball to where less of its volume is outside, while it sticks out no farther than the worst of its level.
/// Only for objects whose outside volume is known.
pub fn slim(object: &Object, field: Option<&DistanceField>, tree: &mut SphereTree, regions: &Regions) {
    let mut points = points_of(object, regions);
    for level in (1..=tree.depth()).rev() {
        let worst = worst_of(tree, level);
        let judge = judge_of(object, field, worst);
        let slimmed: Vec<Option<(Ball, f64)>> = tree
            .level(level)
            .par_iter()
            .zip(&points)
            .map(|(node, points)| slimmed(judge, node.ball, points, worst))
            .collect();
        let first = tree.level_range(level).start as u32;
        for (index, better) in slimmed.into_iter().enumerate() {
            if let Some((ball, error)) = better {
                let node = tree.node_mut(first + index as u32);
                (node.ball, node.error) = (ball, error);
            }
        }
        points = points_above(tree, level, &points);
    }
}

fn slimmed(judge: Judge<'_>, ball: Ball, points: &[DVec3], worst: f64) -> Option<(Ball, f64)> {
    let object = judge.object;
    let before = outside_volume(object, ball).filter(|_| !points.is_empty())?;
    let mut hints = Hints::default();
    let (center, outside) = minimise(ball.center, 0.15 * ball.radius, fewer(object, SLIMMING), |center| {
        let ball = Ball::around(center, points.iter().copied());
        let excess = judge.error(center, ball.radius, &mut hints) - worst;
        if excess > 0.0 { 1e3 + excess } else { outside_volume(object, ball).unwrap_or(1e3) }
    });
    if outside >= before * (1.0 - 1e-3) {
        return None;
    }
    let slim = Ball::around(center, points.iter().copied());
    let slim = Ball::new(slim.center, slim.radius.max(1e-9));
    let error = match judge.field {
        Some(_) => error_of(object, slim, TOLERANCE.max(0.02 * worst)).at_most,
        None => judge.error(slim.center, slim.radius, &mut hints),
    };
    (error <= worst).then_some((slim, error))
}

/// The corners of the parts that each leaf covers.
fn points_of(object: &Object, regions: &Regions) -> Vec<Vec<DVec3>> {
    let of_leaf = |pieces: &Vec<super::certificate::TrianglePart>| {
        let corners = pieces.iter().map(|piece| piece.positions(&object.triangles()[piece.triangle as usize]));
        distinct(corners.flatten().collect())
    };
    regions.leaves.iter().map(of_leaf).collect()
}

/// The points of a level's nodes, gathered by parent.
fn points_above(tree: &SphereTree, level: usize, points: &[Vec<DVec3>]) -> Vec<Vec<DVec3>> {
    let above = tree.level_range(level - 1);
    let mut gathered = vec![Vec::new(); above.len()];
    for (node, own) in tree.level(level).iter().zip(points) {
        gathered[node.parent as usize - above.start].extend_from_slice(own);
    }
    gathered.into_iter().map(distinct).collect()
}

fn distinct(mut points: Vec<DVec3>) -> Vec<DVec3> {
    let key = |point: &DVec3| (point.x, point.y, point.z);
    points.sort_by(|a, b| key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal));
    points.dedup();
    points
}
