//! Refits a tree to a deformed mesh: same nodes, new balls, and the certificate still holds.

use space::DVec3;

use super::ball::Ball;
use super::certificate::Regions;
use super::tree::{SphereTree, TreeError};

/// Fits every ball to the moved parts that it covers. `before` and `after` are the corners of the same triangles.
///
/// A part is known by its barycentric corners, and triangles stay flat, so a ball around the moved corners contains the
/// moved part. Balls of inner nodes contain all that their leaves cover. The new errors are bounds: the old error plus
/// the growth of the ball, the shift of its centre, and the largest shift of a corner.
pub fn refit(
    tree: &SphereTree,
    regions: &Regions,
    before: &[[DVec3; 3]],
    after: &[[DVec3; 3]],
) -> Result<SphereTree, TreeError> {
    let depth = tree.depth();
    let shift = before.iter().flatten().zip(after.iter().flatten()).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    let mut points: Vec<Vec<DVec3>> = regions
        .leaves
        .iter()
        .map(|pieces| {
            let known = pieces.iter().filter_map(|piece| Some(piece.positions(after.get(piece.triangle as usize)?)));
            known.flatten().collect()
        })
        .collect();
    points.resize(tree.level(depth).len(), Vec::new());
    let mut levels: Vec<Vec<(Ball, f64, u32)>> = Vec::new();
    for level in (0..=depth).rev() {
        let nodes = tree.level(level);
        let start = if level == 0 { 0 } else { tree.level_range(level - 1).start };
        let fitted = nodes.iter().zip(&points).map(|(node, own)| {
            // Follow the middle of the part, so that the balls of a shape that only moves keep their size.
            let ball = if own.is_empty() { node.ball } else { follow(node.ball, own) };
            let error =
                node.error + shift + ball.center.distance(node.ball.center) + (ball.radius - node.ball.radius).max(0.0);
            (ball, error, node.parent - start as u32)
        });
        levels.push(fitted.collect());
        let mut gathered = vec![Vec::new(); if level == 0 { 0 } else { tree.level(level - 1).len() }];
        if level > 0 {
            for (node, own) in nodes.iter().zip(&points) {
                gathered[node.parent as usize - start].extend_from_slice(own);
            }
        }
        points = gathered;
    }
    levels.reverse();
    let scale = levels[0][0].0.radius;
    SphereTree::new(&levels, scale)
}

/// The smaller of two balls around the points: about the old centre, or about the middle of their box.
fn follow(old: Ball, points: &[DVec3]) -> Ball {
    let low = points.iter().copied().fold(DVec3::INFINITY, DVec3::min);
    let high = points.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
    let [kept, moved] = [old.center, (low + high) * 0.5].map(|center| Ball::around(center, points.iter().copied()));
    let ball = if kept.radius <= moved.radius { kept } else { moved };
    Ball::new(ball.center, ball.radius.max(f64::MIN_POSITIVE))
}
