//! Proximity of objects that are not round, between the balls of their sphere-trees.
//!
//! The ball around a wall 100 m long has a radius of 50 m, so an object that walks along the wall 30 m away is inside
//! the ball. Here the proximity of [`adaptive`](crate::adaptive) is taken between pairs of balls of two trees, the
//! closest pair first. Of a pair the larger ball is replaced by its children; a pair that is not close is left out with
//! everyobject below it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use shapes::BallTree;
use space::DQuat;

use crate::adaptive::{AdaptiveSettings, MovingBall, proximity};

/// A moving object with a shape, as one host sees it.
#[derive(Clone, Copy, Debug)]
pub struct Formed<'t> {
    /// The motion of the origin. Its radius is added to that of every ball of the tree; without a tree it
    /// is the object's.
    pub mover: MovingBall,
    pub rotation: DQuat,
    /// Angular speed about the origin, in radians per second.
    pub spin: f64,
    pub tree: Option<&'t BallTree>,
    /// The deepest level of the tree that is used.
    pub level: u8,
}

impl<'t> Formed<'t> {
    pub fn ball(mover: MovingBall) -> Formed<'t> {
        Formed { mover, rotation: DQuat::IDENTITY, spin: 0.0, tree: None, level: 0 }
    }

    /// An object with a tree that does not turn.
    pub fn wrapped(mover: MovingBall, rotation: DQuat, tree: &'t BallTree) -> Formed<'t> {
        Formed { mover, rotation, spin: 0.0, tree: Some(tree), level: u8::MAX }
    }

    /// A node's ball as it moves. It is widened by the path that its centre can take around the origin
    /// within the threshold.
    fn node(&self, node: u32, threshold: f64) -> MovingBall {
        let Some(tree) = self.tree else { return self.mover };
        let ball = tree.ball(node);
        let center = ball.center.as_dvec3();
        let swept = if self.spin == 0.0 { 0.0 } else { center.length() * self.spin.abs() * threshold };
        MovingBall {
            pos: self.mover.pos + self.rotation * center,
            radius: f64::from(ball.radius) + self.mover.radius + swept,
            ..self.mover
        }
    }

    fn children(&self, node: u32) -> std::ops::Range<u32> {
        self.tree.map_or(0..0, |tree| tree.children(node, self.level))
    }
}

/// The proximity of two objects: the least value of any pair of their leaves. A pair of leaves has the largest value of
/// all pairs of balls around them, as a part is no closer than any ball that contains it.
///
/// The result is never less than the proximity of the two roots. A value at the threshold or above is not refined.
/// After `max_pairs` pairs the search ends with a lower bound.
pub fn tree_proximity(own: &Formed<'_>, remote: &Formed<'_>, settings: &AdaptiveSettings, max_pairs: usize) -> f64 {
    let tau = settings.threshold();
    let value = |a: u32, b: u32| proximity(&own.node(a, tau), &remote.node(b, tau), settings);
    let root = value(0, 0);
    if root >= tau || root.is_nan() {
        return root;
    }
    // The bits of non-negative numbers have the order of the numbers.
    let mut waiting = BinaryHeap::from([Reverse((root.to_bits(), 0_u32, 0_u32))]);
    let mut left_out = f64::INFINITY;
    let mut looked = 1;
    while let Some(Reverse((bits, a, b))) = waiting.pop() {
        let least = f64::from_bits(bits);
        let (mine, theirs) = (own.children(a), remote.children(b));
        if (mine.is_empty() && theirs.is_empty()) || looked >= max_pairs {
            // It is the least of all waiting pairs, and no pair below any of them has less.
            return least;
        }
        let is_wider = own.node(a, tau).radius >= remote.node(b, tau).radius;
        let takes_own = !mine.is_empty() && (theirs.is_empty() || is_wider);
        for child in if takes_own { mine } else { theirs } {
            looked += 1;
            let pair = if takes_own { (child, b) } else { (a, child) };
            let found = value(pair.0, pair.1).max(least);
            if found < tau {
                waiting.push(Reverse((found.to_bits(), pair.0, pair.1)));
            } else {
                left_out = left_out.min(found);
            }
        }
    }
    left_out
}
