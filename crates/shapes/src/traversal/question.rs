//! Two placed trees, in the coordinates of one of them.

use space::{DQuat, DVec3};

use crate::Pose;
use crate::pose::WidePose;
use crate::shape::round_up;
use crate::simd::{Isometry, NodePair, Step, TreePair};
use space::Sphere;

use crate::BallTree;

/// A bound of a test's rounding, as a share of the lengths in it: products and sums of three numbers, coordinates
/// rounded to 24 bits, squares compared instead of roots.
const ROUNDING: f64 = 48.0 / (1 << 24) as f64;

/// A tree in a pose, and the level at which walks end.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'t> {
    pub tree: &'t BallTree,
    pub pose: Pose,
    /// Walks go no deeper.
    pub level: u8,
}

impl<'t> Placed<'t> {
    pub fn new(tree: &'t BallTree, pose: Pose) -> Placed<'t> {
        Placed { tree, pose, level: u8::MAX }
    }

    pub fn to_level(tree: &'t BallTree, pose: Pose, level: u8) -> Placed<'t> {
        Placed { tree, pose, level }
    }

    /// A sort key that does not depend on which one is named first.
    fn key(&self) -> ([u64; 2], [u32; 8]) {
        let (p, r) = (self.pose.position, self.pose.rotation);
        let bits = [p.x, p.y, p.z, r.x, r.y, r.z, r.w].map(f32::to_bits);
        let mut numbers = [u32::from(self.level); 8];
        numbers[..7].copy_from_slice(&bits);
        ([self.tree.len() as u64, self.tree.fingerprint()], numbers)
    }
}

/// Two placed trees: whether and where do they touch?
#[derive(Clone, Copy, Debug)]
pub struct Question<'t> {
    pub(super) trees: TreePair<'t>,
    /// Whether `trees.a` is the caller's second tree; `frame` is its pose.
    pub(super) is_swapped: bool,
    pub(super) frame: WidePose,
    /// The pose of `trees.b` in the coordinates of `trees.a`.
    pub(super) relative: WidePose,
    /// Whether both poses are valid; if not, nothing shows that the shapes are apart.
    pub(super) is_sensible: bool,
}

impl<'t> Question<'t> {
    pub fn new(a: Placed<'t>, b: Placed<'t>) -> Question<'t> {
        let is_swapped = b.key() < a.key();
        let (first, second) = if is_swapped { (b, a) } else { (a, b) };
        let is_sensible = a.pose.is_valid() && b.pose.is_valid();
        let nowhere = WidePose { position: DVec3::ZERO, rotation: DQuat::IDENTITY };
        let (frame, relative) = if is_sensible {
            let frame = WidePose::from(&first.pose);
            (frame, WidePose::from(&second.pose).seen_from(&frame))
        } else {
            (nowhere, nowhere)
        };
        let turn = relative.rotation.axes();
        let back = [0, 1, 2].map(|axis| DVec3::from_array(turn.map(|column| column[axis])));
        let away = -relative.position;
        let lengths = relative.position.length() + f64::from(first.tree.reach()) + f64::from(second.tree.reach());
        Question {
            trees: TreePair {
                a: first.tree,
                b: second.tree,
                b_to_a: isometry(turn, relative.position),
                a_to_b: isometry(back, back[0] * away.x + back[1] * away.y + back[2] * away.z),
                slack: round_up(lengths * ROUNDING),
                level_a: first.level,
                level_b: second.level,
            },
            is_swapped,
            frame,
            relative,
            is_sensible,
        }
    }

    /// Whether the roots overlap, up to rounding.
    pub(super) fn roots_overlap(&self) -> bool {
        self.trees.a.ball(0).overlaps(self.trees.ball_b_in_a(0))
    }

    /// Whether a walk reaches this pair: all pairs above it overlap by the walk's own tests.
    pub(super) fn is_reached(&self, pair: NodePair) -> bool {
        let TreePair { a, b, .. } = self.trees;
        let below = |tree: &BallTree, ancestor: u32, node: u32| {
            let mut at = node;
            while at != ancestor && tree.parent(at) != ancestor && at != 0 {
                at = tree.parent(at);
            }
            (at != ancestor && tree.parent(at) == ancestor).then_some(at)
        };
        let mut at = NodePair { a: 0, b: 0 };
        if !self.roots_overlap() {
            return false;
        }
        while at != pair {
            let overlaps = match self.trees.step(at) {
                Step::End => return false,
                Step::First => below(a, at.a, pair.a).is_some_and(|child| {
                    at.a = child;
                    self.trees.ball_b_in_a(at.b).overlaps(a.ball(child))
                }),
                Step::Second => below(b, at.b, pair.b).is_some_and(|child| {
                    at.b = child;
                    self.trees.ball_a_in_b(at.a).overlaps(b.ball(child))
                }),
            };
            if !overlaps {
                return false;
            }
        }
        true
    }

    /// A ball of `trees.b` in the coordinates of `trees.a`, in `f64`.
    pub(super) fn second_ball(&self, node: u32) -> (DVec3, f64) {
        let ball = self.trees.b.ball(node);
        (self.relative.position + self.relative.rotation * ball.center.as_dvec3(), f64::from(ball.radius))
    }

    pub(super) fn first_ball(&self, node: u32) -> (DVec3, f64) {
        let ball = self.trees.a.ball(node);
        (ball.center.as_dvec3(), f64::from(ball.radius))
    }

    /// The overlap of two balls; negative if they are apart.
    pub(super) fn depth(&self, pair: NodePair) -> f64 {
        let ((a, ra), (b, rb)) = (self.first_ball(pair.a), self.second_ball(pair.b));
        ra + rb - a.distance(b)
    }

    /// If the balls of this pair overlap, the shapes are at most this far apart.
    pub(super) fn tolerance(&self, pair: NodePair) -> f32 {
        self.trees.a.error(pair.a) + self.trees.b.error(pair.b) + 2.0 * self.trees.slack
    }

    /// The pair in the caller's order.
    pub(super) fn for_caller(&self, pair: NodePair) -> NodePair {
        if self.is_swapped { NodePair { a: pair.b, b: pair.a } } else { pair }
    }

    /// Whether two inner balls overlap: then the shapes do.
    pub(super) fn inner_overlap(&self, pair: NodePair) -> bool {
        let (Some(a), Some(b)) = (self.trees.a.inner(pair.a), self.trees.b.inner(pair.b)) else {
            return false;
        };
        let other = self.trees.b_to_a.apply(b.center);
        a.overlaps(Sphere::new(other, b.radius - 2.0 * self.trees.slack)) && b.radius > 2.0 * self.trees.slack
    }
}

fn isometry(turn: [DVec3; 3], shift: DVec3) -> Isometry {
    let [x, y, z] = turn.map(DVec3::as_vec3);
    Isometry { x, y, z, shift: shift.as_vec3() }
}
