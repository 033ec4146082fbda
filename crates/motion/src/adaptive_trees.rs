//! Closeness of things that are not round: their sphere-trees stand for them, so that a long wall is not near everywhere.
//!
//! A ball around a wall of a hundred metres is as wide as it is long: whoever walks along it at thirty metres is "inside".
//! The measure of [`adaptive`](crate::adaptive) is taken between balls of two trees instead. Pairs that are not close are
//! left out with all below them; of the others the larger ball is replaced by its children.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use shapes::BallTree;
use space::{BroadPhase, DQuat, DVec3, Sphere, Vec3};

use crate::adaptive::{AdaptiveSettings, Mover, closest_by, proximity};

/// A moving thing, as seen by the host that asks.
#[derive(Clone, Copy, Debug)]
pub struct Formed<'t> {
    /// How its origin moves. Its radius is what every ball is widened by: of a remote object, how far its replica may be
    /// off. Without a tree it is a ball of that radius.
    pub mover: Mover,
    /// How it is turned.
    pub rotation: DQuat,
    /// How fast it turns about its origin, in radians per second.
    pub spin: f64,
    /// The balls around it.
    pub tree: Option<&'t BallTree>,
    /// Balls below this level are not looked at.
    pub level: u8,
}

impl<'t> Formed<'t> {
    /// A ball.
    pub fn ball(mover: Mover) -> Formed<'t> {
        Formed { mover, rotation: DQuat::IDENTITY, spin: 0.0, tree: None, level: 0 }
    }

    /// A thing with a tree, not turning.
    pub fn wrapped(mover: Mover, rotation: DQuat, tree: &'t BallTree) -> Formed<'t> {
        Formed { mover, rotation, spin: 0.0, tree: Some(tree), level: u8::MAX }
    }

    /// A node's ball as it moves. What turns sweeps more than it fills: within the threshold, no point of a node comes
    /// farther than its way around the origin.
    fn node(&self, node: u32, threshold: f64) -> Mover {
        let Some(tree) = self.tree else { return self.mover };
        let ball = tree.ball(node);
        let center = ball.center.as_dvec3();
        let swept = if self.spin == 0.0 { 0.0 } else { center.length() * self.spin.abs() * threshold };
        Mover {
            pos: self.mover.pos + self.rotation * center,
            radius: f64::from(ball.radius) + self.mover.radius + swept,
            ..self.mover
        }
    }

    fn children(&self, node: u32) -> std::ops::Range<u32> {
        self.tree.map_or(0..0, |tree| tree.children(node, self.level))
    }

    /// A ball around the way from half the threshold ago to the threshold ahead.
    fn swept(&self, settings: &AdaptiveSettings) -> Sphere {
        let tau = settings.threshold();
        let mover = match self.tree {
            None => self.mover,
            // The root may stick out of nothing below it: all balls are within the reach.
            Some(tree) => Mover { radius: f64::from(tree.reach()) + self.mover.radius, ..self.mover },
        };
        let center = mover.pos + mover.vel * (0.25 * tau);
        let bulge = if settings.is_second_order { 0.5 * mover.acc.length() * tau * tau } else { 0.0 };
        let reach = mover.radius + mover.vel.length() * (0.75 * tau) + bulge;
        let slack = 1e-6 * (center.abs().max_element() + reach);
        Sphere::new(Vec3::new(center.x as f32, center.y as f32, center.z as f32), (reach + slack) as f32)
    }
}

/// How close two things are, as [`proximity`] measures it between balls: the least value of any pair of their leaves, of
/// which each counts with the largest value on the way down to it, since a part is as far as any ball around it is.
///
/// Never less than what the two roots give. Values from the threshold on are not looked into. After `max_pairs` pairs the
/// coarse value is taken, which is not more than the exact one.
pub fn tree_proximity(own: &Formed<'_>, remote: &Formed<'_>, settings: &AdaptiveSettings, max_pairs: usize) -> f64 {
    let tau = settings.threshold();
    let value = |a: u32, b: u32| proximity(&own.node(a, tau), &remote.node(b, tau), settings);
    let root = value(0, 0);
    if root >= tau || root.is_nan() {
        return root;
    }
    // Of numbers that are not below zero the bits are in the numbers' order.
    let mut waiting = BinaryHeap::from([Reverse((root.to_bits(), 0_u32, 0_u32))]);
    let mut left_out = f64::INFINITY;
    let mut looked = 1;
    while let Some(Reverse((bits, a, b))) = waiting.pop() {
        let least = f64::from_bits(bits);
        let (mine, theirs) = (own.children(a), remote.children(b));
        if (mine.is_empty() && theirs.is_empty()) || looked >= max_pairs {
            // The least of all that are left, and nothing below any of them is less.
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

/// The smallest closeness of one own thing to any of the remote ones: the plain loop, and the meaning of
/// [`closest_formed`].
pub fn closest_formed_plain(
    own: &Formed<'_>,
    remote: &[Formed<'_>],
    settings: &AdaptiveSettings,
    max_pairs: usize,
) -> f64 {
    let each = remote.iter().map(|remote| tree_proximity(own, remote, settings, max_pairs));
    each.fold(f64::INFINITY, f64::min)
}

/// The smallest closeness of each own thing, by a broad phase over the ways that all can make in time. What is not close
/// may be reported as infinitely far. Things outside the limits of [`Spheres`](space::Spheres) are compared with all.
pub fn closest_formed(
    own: &[Formed<'_>],
    remote: &[Formed<'_>],
    settings: &AdaptiveSettings,
    max_pairs: usize,
    broad_phase: &mut dyn BroadPhase,
) -> Vec<f64> {
    closest_by(
        own,
        remote,
        broad_phase,
        |thing| thing.swept(settings),
        |own, remote| tree_proximity(own, remote, settings, max_pairs),
    )
}

/// A ball that moves: shorthand for tests and callers without radius of their own.
pub fn mover(pos: DVec3, vel: DVec3, radius: f64) -> Mover {
    Mover { pos, vel, acc: DVec3::ZERO, radius }
}
