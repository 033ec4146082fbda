//! Two trees in their places, seen from one of them.

use space::{DQuat, DVec3};

use crate::Pose;
use crate::pose::WidePose;
use crate::shape::round_up;
use crate::simd::{NodePair, Rigid, Scene, Step};
use space::Sphere;

use crate::BallTree;

/// All rounding of a test is less than this, as a share of the lengths that it deals with: products and sums of three
/// numbers, coordinates that were rounded to 24 bits, squares compared instead of roots.
const ROUNDING: f64 = 48.0 / (1 << 24) as f64;

/// A tree somewhere, and how deep to look at it.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'t> {
    /// The tree.
    pub tree: &'t BallTree,
    /// Where it is.
    pub pose: Pose,
    /// Balls on levels below this one are not looked at.
    pub level: u8,
}

impl<'t> Placed<'t> {
    /// The whole tree, there.
    pub fn new(tree: &'t BallTree, pose: Pose) -> Placed<'t> {
        Placed { tree, pose, level: u8::MAX }
    }

    /// The tree down to a level, there.
    pub fn to_level(tree: &'t BallTree, pose: Pose, level: u8) -> Placed<'t> {
        Placed { tree, pose, level }
    }

    /// What puts two of them in an order that does not depend on who asks.
    fn key(&self) -> ([u64; 2], [u32; 8]) {
        let (p, r) = (self.pose.position, self.pose.rotation);
        let bits = [p.x, p.y, p.z, r.x, r.y, r.z, r.w].map(f32::to_bits);
        let mut numbers = [u32::from(self.level); 8];
        numbers[..7].copy_from_slice(&bits);
        ([self.tree.len() as u64, self.tree.fingerprint()], numbers)
    }
}

/// Whether and where two placed trees touch.
#[derive(Clone, Copy, Debug)]
pub struct Question<'t> {
    pub(super) scene: Scene<'t>,
    /// Whether the scene's first tree is the caller's second.
    pub(super) is_swapped: bool,
    /// Where the scene's first tree is.
    pub(super) frame: WidePose,
    /// Where the scene's second tree is, seen from the first.
    pub(super) relative: WidePose,
    /// Whether both poses are valid: what cannot be asked about is not known to be apart.
    pub(super) is_sensible: bool,
}

impl<'t> Question<'t> {
    /// The question about these two.
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
            scene: Scene {
                a: first.tree,
                b: second.tree,
                b_to_a: rigid(turn, relative.position),
                a_to_b: rigid(back, back[0] * away.x + back[1] * away.y + back[2] * away.z),
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

    /// Whether the roots overlap, as far as rounding can tell.
    pub(super) fn roots_overlap(&self) -> bool {
        self.scene.a.ball(0).overlaps(self.scene.ball_b_in_a(0))
    }

    /// Whether a walk from the roots comes to this pair: all pairs on its way overlap, by the tests that a walk makes.
    pub(super) fn is_reached(&self, pair: NodePair) -> bool {
        let Scene { a, b, .. } = self.scene;
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
            let overlaps = match self.scene.step(at) {
                Step::End => return false,
                Step::First => below(a, at.a, pair.a).is_some_and(|child| {
                    at.a = child;
                    self.scene.ball_b_in_a(at.b).overlaps(a.ball(child))
                }),
                Step::Second => below(b, at.b, pair.b).is_some_and(|child| {
                    at.b = child;
                    self.scene.ball_a_in_b(at.a).overlaps(b.ball(child))
                }),
            };
            if !overlaps {
                return false;
            }
        }
        true
    }

    /// The ball of the scene's second tree, exactly where it is, in the first tree's coordinates.
    pub(super) fn second_ball(&self, node: u32) -> (DVec3, f64) {
        let ball = self.scene.b.ball(node);
        (self.relative.position + self.relative.rotation * ball.center.as_dvec3(), f64::from(ball.radius))
    }

    pub(super) fn first_ball(&self, node: u32) -> (DVec3, f64) {
        let ball = self.scene.a.ball(node);
        (ball.center.as_dvec3(), f64::from(ball.radius))
    }

    /// How deep two balls reach into each other.
    pub(super) fn depth(&self, pair: NodePair) -> f64 {
        let ((a, ra), (b, rb)) = (self.first_ball(pair.a), self.second_ball(pair.b));
        ra + rb - a.distance(b)
    }

    /// If balls of these nodes share a point, the two shapes are no farther apart than this.
    pub(super) fn tolerance(&self, pair: NodePair) -> f32 {
        self.scene.a.error(pair.a) + self.scene.b.error(pair.b) + 2.0 * self.scene.slack
    }

    /// The pair as the caller numbers it.
    pub(super) fn for_caller(&self, pair: NodePair) -> NodePair {
        if self.is_swapped { NodePair { a: pair.b, b: pair.a } } else { pair }
    }

    /// Whether two balls that are wholly inside the two shapes overlap: then the shapes do.
    pub(super) fn inner_overlap(&self, pair: NodePair) -> bool {
        let (Some(a), Some(b)) = (self.scene.a.inner(pair.a), self.scene.b.inner(pair.b)) else {
            return false;
        };
        let other = self.scene.b_to_a.apply(b.center);
        a.overlaps(Sphere::new(other, b.radius - 2.0 * self.scene.slack)) && b.radius > 2.0 * self.scene.slack
    }
}

fn rigid(turn: [DVec3; 3], shift: DVec3) -> Rigid {
    let [x, y, z] = turn.map(DVec3::as_vec3);
    Rigid { x, y, z, shift: shift.as_vec3() }
}
