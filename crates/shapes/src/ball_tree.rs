//! A sphere-tree in the form in which walks use it: columns of `f32`, siblings side by side, so that eight are
//! tested at once.
//!
//! Builders make trees in `f64` and repeat a node on every level below the one on which it could not be improved. Here
//! such a node is stored once, and balls are rounded outward: each contains the ball that it was made from.

use space::{DVec3, Vec3};

use space::{Columns, Sphere, Spheres};

use crate::shape::round_up;
/// Rows of padding, since eight children are loaded at once.
pub(crate) const PADDING: usize = 8;

/// A node as a builder makes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BallNode {
    pub center: DVec3,
    pub radius: f64,
    /// An upper bound of the distance from any point of the ball to the object.
    pub error: f64,
    /// The parent's index in the list; the root is its own.
    pub parent: u32,
}

/// A node's children and their level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChildRange {
    pub first: u32,
    pub end: u32,
    /// The level of the children; meaningless without any.
    pub child_level: u8,
}

impl ChildRange {
    /// Whether a walk down to `level` ends at this node.
    #[inline(always)]
    pub fn is_end(&self, level: u8) -> bool {
        self.first == self.end || self.child_level > level
    }
}

/// The low bits hold the first child, the others the children's level. Children are in their parents' order, so one
/// node's end where the next one's begin.
const FIRST_BITS: u32 = 24;
const FIRST: u32 = (1 << FIRST_BITS) - 1;

/// The part of the surface that a node covers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Patch {
    /// The mean outward unit normal; zero if there is none.
    pub normal: Vec3,
    /// The cosine of the widest angle between `normal` and a normal of the patch.
    pub cone: f32,
    /// The point of the patch nearest to the ball's centre.
    pub point: Vec3,
}

/// A patch in twelve bytes, precise enough for a contact's position and normal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PackedPatch {
    /// Octahedral encoding; [`NO_NORMAL`] if there is none.
    normal: [i16; 2],
    /// Rounded down, so the cone is not narrower than stated.
    cone: i16,
    /// Relative to the ball's centre, in shares of its radius.
    point: [i16; 3],
}

const NO_NORMAL: [i16; 2] = [i16::MIN; 2];
const SHARES: f32 = i16::MAX as f32;

impl PackedPatch {
    pub fn new(patch: &Patch, ball: Sphere) -> PackedPatch {
        let share = |value: f32| (value.clamp(-1.0, 1.0) * SHARES).round() as i16;
        let offset = (patch.point - ball.center) / ball.radius;
        PackedPatch {
            normal: fold(patch.normal).map_or(NO_NORMAL, |folded| folded.map(share)),
            cone: (patch.cone.clamp(-1.0, 1.0) * SHARES).floor() as i16,
            point: offset.to_array().map(share),
        }
    }

    fn open(&self, ball: Sphere) -> Patch {
        let share = |value: i16| f32::from(value) / SHARES;
        Patch {
            normal: if self.normal == NO_NORMAL { Vec3::ZERO } else { unfold(self.normal.map(share)) },
            cone: share(self.cone),
            point: ball.center + Vec3::from_array(self.point.map(share)) * ball.radius,
        }
    }
}

/// Octahedral encoding of a direction; `None` for the zero vector.
fn fold(direction: Vec3) -> Option<[f32; 2]> {
    let sum = direction.x.abs() + direction.y.abs() + direction.z.abs();
    let [x, y] = [direction.x / sum, direction.y / sum];
    (sum > 0.0).then(|| if direction.z < 0.0 { outward(x, y) } else { [x, y] })
}

fn unfold([x, y]: [f32; 2]) -> Vec3 {
    let z = 1.0 - x.abs() - y.abs();
    let [x, y] = if z < 0.0 { outward(x, y) } else { [x, y] };
    Vec3::new(x, y, z).normalize()
}

/// Folds the lower half of the octahedron over the upper one, and back.
fn outward(x: f32, y: f32) -> [f32; 2] {
    [(1.0 - y.abs()).copysign(x), (1.0 - x.abs()).copysign(y)]
}

/// A tree of balls around a surface.
///
/// Invariant: each point of the surface is in all balls of some path from the root to a leaf. A child's ball need not
/// be inside its parent's.
///
/// Methods that take a node panic if there is none of that number.
#[derive(Clone, Debug, PartialEq)]
pub struct BallTree {
    x: Vec<f32>,
    y: Vec<f32>,
    z: Vec<f32>,
    radius: Vec<f32>,
    /// Packed as `FIRST_BITS` says; one more than there are nodes.
    links: Vec<u32>,
    error: Vec<f32>,
    /// The parent's index; the root's is 0.
    parent: Vec<u32>,
    /// The radius of a ball about the node's centre that contains all balls below.
    wrap: Vec<f32>,
    /// The index in the builder's list; the deepest where several became one.
    source: Vec<u32>,
    pub(crate) patches: Vec<PackedPatch>,
    /// A point of the surface, unpacked: containment may depend on its last bits.
    pub(crate) surface_point: Option<Vec3>,
    /// For each node, a ball wholly inside the object; of radius zero where none is known.
    pub(crate) inner: Vec<Sphere>,
    depth: u8,
    reach: f32,
    fingerprint: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum BallTreeError {
    #[error("{nodes} nodes, expected 1 to {}", BallTree::MAX_NODES)]
    Size { nodes: usize },
    /// A number that is not finite or out of range, or a parent that is not an earlier node.
    #[error("node {node}: its {field} is {value}, expected {expected}")]
    Node { node: usize, field: &'static str, value: f64, expected: &'static str },
}

impl BallTree {
    pub const MAX_NODES: usize = 1 << 20;
    pub const MAX_DEPTH: u8 = 32;

    /// Makes a tree of nodes in an order in which parents precede their children.
    pub fn new(nodes: &[BallNode]) -> Result<BallTree, BallTreeError> {
        if nodes.is_empty() || nodes.len() > Self::MAX_NODES {
            return Err(BallTreeError::Size { nodes: nodes.len() });
        }
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); nodes.len()];
        let mut level = vec![0_u8; nodes.len()];
        for (index, node) in nodes.iter().enumerate() {
            check(index, node)?;
            if index > 0 {
                let parent = node.parent as usize;
                let is_known = parent < index && level[parent] < Self::MAX_DEPTH;
                if !is_known {
                    let expected = "an earlier node, not too deep";
                    return Err(BallTreeError::Node { node: index, field: "parent", value: parent as f64, expected });
                }
                level[index] = level[parent] + 1;
                children[parent].push(index as u32);
            }
        }
        let mut tree = BallTree {
            x: Vec::new(),
            y: Vec::new(),
            z: Vec::new(),
            radius: Vec::new(),
            links: Vec::new(),
            error: Vec::new(),
            parent: vec![0],
            wrap: Vec::new(),
            source: vec![0],
            patches: Vec::new(),
            surface_point: None,
            inner: Vec::new(),
            depth: level.iter().copied().max().unwrap_or(0),
            reach: 0.0,
            fingerprint: 0,
        };
        let mut at = 0;
        while at < tree.source.len() {
            // An only child with an equal ball is the same node, one level deeper.
            let mut own = tree.source[at] as usize;
            let first = &nodes[own];
            let mut error = first.error;
            while let [only] = children[own][..]
                && (nodes[only as usize].center, nodes[only as usize].radius) == (first.center, first.radius)
            {
                own = only as usize;
                error = error.min(nodes[own].error);
            }
            tree.source[at] = own as u32;
            let begin = tree.source.len() as u32;
            tree.source.extend_from_slice(&children[own]);
            tree.parent.resize(tree.source.len(), at as u32);
            tree.links.push(begin | u32::from(level[own] + 1) << FIRST_BITS);
            tree.push(first.center, first.radius, error);
            at += 1;
        }
        tree.links.push(tree.source.len() as u32);
        tree.finish();
        Ok(tree)
    }

    /// The tree of a solid box around the origin, by half of its sides: each level cuts every part in eight, its
    /// longest side first. Depth is at most six levels; seven would be two million balls.
    pub fn around_box(half: Vec3, depth: u8) -> Result<BallTree, BallTreeError> {
        let depth = depth.min(6);
        let mut nodes = Vec::new();
        let mut parts = vec![(DVec3::ZERO, half.as_dvec3(), 0_u32)];
        for level in 0..=depth {
            let mut finer = Vec::new();
            for (center, half, parent) in parts {
                let own = nodes.len() as u32;
                let radius = half.length() * (1.0 + 1e-12);
                // The nearest face is no farther from the centre than half the shortest side.
                nodes.push(BallNode { center, radius, error: radius - half.min_element().min(radius), parent });
                if level == depth {
                    continue;
                }
                let mut pieces = vec![(center, half)];
                for _ in 0..3 {
                    pieces = pieces.into_iter().flat_map(|(center, half)| halves(center, half)).collect();
                }
                finer.extend(pieces.into_iter().map(|(center, half)| (center, half, own)));
            }
            parts = finer;
        }
        BallTree::new(&nodes)
    }

    /// The same tree with new balls, in the order of the builder's list. Patches and inner balls are dropped, as they
    /// may no longer be true.
    pub fn refitted(&self, nodes: &[BallNode]) -> Result<BallTree, BallTreeError> {
        let mut tree = self.clone();
        for column in [&mut tree.x, &mut tree.y, &mut tree.z, &mut tree.radius, &mut tree.error] {
            column.clear();
        }
        (tree.patches, tree.surface_point, tree.inner) = (Vec::new(), None, Vec::new());
        for &source in &self.source {
            let node = nodes.get(source as usize).ok_or(BallTreeError::Size { nodes: nodes.len() })?;
            check(source as usize, node)?;
            tree.push(node.center, node.radius, node.error);
        }
        tree.finish();
        Ok(tree)
    }

    fn push(&mut self, center: DVec3, radius: f64, error: f64) {
        let middle = center.as_vec3();
        let wide = round_up(radius + middle.as_dvec3().distance(center)).next_up();
        self.x.push(middle.x);
        self.y.push(middle.y);
        self.z.push(middle.z);
        self.radius.push(wide);
        // The error grows by at most what the radius grew, which includes the shift of the centre.
        self.error.push(round_up(error + (f64::from(wide) - radius)).next_up());
    }

    fn finish(&mut self) {
        let nodes = self.len();
        let far = |node: usize| {
            DVec3::new(self.x[node].into(), self.y[node].into(), self.z[node].into()).length()
                + f64::from(self.radius[node])
        };
        self.reach = round_up((0..nodes).map(far).fold(0.0, f64::max)).next_up();
        self.wrap = self.radius.clone();
        // Children follow their parents.
        for node in (1..nodes).rev() {
            let parent = self.parent[node] as usize;
            let [own, above] = [node, parent].map(|node| self.ball(node as u32).center.as_dvec3());
            let far = own.distance(above) + f64::from(self.wrap[node]);
            self.wrap[parent] = self.wrap[parent].max(round_up(far).next_up());
        }
        let mut sum = 0xcbf2_9ce4_8422_2325_u64;
        let mut stir = |number: u64| sum = (sum ^ number).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
        for node in 0..nodes {
            let bits = |value: f32| u64::from(value.to_bits());
            stir(bits(self.x[node]) << 32 | bits(self.y[node]));
            stir(bits(self.z[node]) << 32 | bits(self.radius[node]));
            let ChildRange { first, end, .. } = self.link(node as u32);
            stir(u64::from(first) << 32 | u64::from(end));
        }
        self.fingerprint = sum;
        for column in [&mut self.x, &mut self.y, &mut self.z, &mut self.radius] {
            column.resize(nodes + PADDING, 0.0);
        }
    }

    pub fn len(&self) -> usize {
        self.links.len() - 1
    }

    pub fn is_empty(&self) -> bool {
        false
    }

    pub fn depth(&self) -> u8 {
        self.depth
    }

    /// The ball of a node. The root is node 0.
    #[inline]
    pub fn ball(&self, node: u32) -> Sphere {
        let node = node as usize;
        Sphere::new(Vec3::new(self.x[node], self.y[node], self.z[node]), self.radius[node])
    }

    /// An upper bound of the distance from any point of the node's ball to the object.
    #[inline]
    pub fn error(&self, node: u32) -> f32 {
        self.error[node as usize]
    }

    /// The children of a node, if they are on `level` or above it.
    #[inline]
    pub fn children(&self, node: u32, level: u8) -> std::ops::Range<u32> {
        let link = self.link(node);
        if link.is_end(level) { 0..0 } else { link.first..link.end }
    }

    #[inline(always)]
    pub(crate) fn link(&self, node: u32) -> ChildRange {
        let [own, next] = [self.links[node as usize], self.links[node as usize + 1]];
        ChildRange { first: own & FIRST, end: next & FIRST, child_level: (own >> FIRST_BITS) as u8 }
    }

    /// The lowest level of a node: without children it is on all levels below its own, too.
    pub fn level(&self, node: u32) -> u8 {
        let link = self.link(node);
        if link.first == link.end { self.depth } else { link.child_level - 1 }
    }

    /// The parent; the root is its own.
    #[inline]
    pub fn parent(&self, node: u32) -> u32 {
        self.parent[node as usize]
    }

    /// A ball about a node's centre that contains the balls of all nodes below.
    #[inline]
    pub fn wrapping(&self, node: u32) -> Sphere {
        Sphere::new(self.ball(node).center, self.wrap[node as usize])
    }

    /// The nodes in which walks down to `level` end, ascending.
    pub fn ends(&self, level: u8) -> Vec<u32> {
        let mut ends = Vec::new();
        let mut waiting = vec![0];
        while let Some(node) = waiting.pop() {
            let children = self.children(node, level);
            if children.is_empty() {
                ends.push(node);
            }
            waiting.extend(children);
        }
        ends.sort_unstable();
        ends
    }

    /// The largest error of the balls in which walks down to `level` end.
    pub fn error_at(&self, level: u8) -> f32 {
        self.ends(level).into_iter().map(|node| self.error(node)).fold(0.0, f32::max)
    }

    /// The index of a node in the builder's list.
    pub fn source(&self, node: u32) -> u32 {
        self.source[node as usize]
    }

    /// The part of the surface that a node covers, if known.
    pub fn patch(&self, node: u32) -> Option<Patch> {
        Some(self.patches.get(node as usize)?.open(self.ball(node)))
    }

    /// A ball wholly inside the object, near the node's part of the surface.
    pub fn inner(&self, node: u32) -> Option<Sphere> {
        self.inner.get(node as usize).copied().filter(|ball| ball.radius > 0.0)
    }

    /// The distance from the origin to the farthest point of any ball.
    pub fn reach(&self) -> f32 {
        self.reach
    }

    /// A hash of the balls and children: it orders pairs of trees.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    #[inline]
    pub(crate) fn columns(&self) -> Columns<'_> {
        Columns { x: &self.x, y: &self.y, z: &self.z, radius: &self.radius }
    }
}

/// The two halves of a box, cut across its longest side.
fn halves(center: DVec3, half: DVec3) -> [(DVec3, DVec3); 2] {
    let axis = (0..3).fold(0, |longest, axis| if half[axis] > half[longest] { axis } else { longest });
    let mut shorter = half;
    shorter[axis] *= 0.5;
    let mut aside = DVec3::ZERO;
    aside[axis] = shorter[axis];
    [(center - aside, shorter), (center + aside, shorter)]
}

fn check(node: usize, given: &BallNode) -> Result<(), BallTreeError> {
    let limit = f64::from(Spheres::LIMIT);
    let wrong = |field, value, expected| Err(BallTreeError::Node { node, field, value, expected });
    // A comparison with NaN is false.
    if let Some(value) = given.center.to_array().into_iter().find(|value| value.is_nan() || value.abs() > limit) {
        return wrong("center", value, "coordinates within a billion metres");
    }
    if !(given.radius > 0.0 && given.radius <= limit) {
        return wrong("radius", given.radius, "above zero and within a billion metres");
    }
    if !(given.error >= 0.0 && given.error <= limit) {
        return wrong("error", given.error, "at least zero and within a billion metres");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::workload::Random;

    fn node(x: f64, radius: f64, error: f64, parent: u32) -> BallNode {
        BallNode { center: DVec3::new(x, 0.1, 0.0), radius, error, parent }
    }

    #[test]
    fn a_node_that_repeats_itself_stands_once() {
        let nodes = [
            node(0.0, 2.0, 1.0, 0),
            node(1.0, 1.0, 0.5, 0),
            node(-1.0, 1.0, 0.5, 0),
            node(1.0, 1.0, 0.5, 1),
            node(-1.2, 0.5, 0.1, 2),
            node(-0.8, 0.5, 0.1, 2),
        ];
        let tree = BallTree::new(&nodes).unwrap();
        assert_eq!((tree.len(), tree.depth()), (5, 2));
        assert_eq!(tree.children(0, 2), 1..3);
        assert!(tree.children(1, 2).is_empty() && tree.source(1) == 3);
        assert_eq!(tree.ends(0), [0]);
        assert_eq!(tree.ends(1), [1, 2]);
        assert_eq!(tree.ends(2), [1, 3, 4]);
        assert_eq!([0, 1, 2, 3].map(|node| tree.level(node)), [0, 2, 1, 2]);
        assert!(tree.error_at(2) > 0.5 && tree.error_at(2) < 0.5001);
    }

    #[test]
    fn a_packed_patch_says_nearly_the_same() {
        let mut random = Random::new(7);
        let ball = Sphere::new(Vec3::new(3.0, -1.0, 0.5), 0.25);
        for _ in 0..2000 {
            let normal = random.in_ball().normalize_or(Vec3::NEG_Z);
            let point = ball.center + random.in_ball() * ball.radius;
            let patch = Patch { normal, cone: 2.0 * random.unit() - 1.0, point };
            let packed = PackedPatch::new(&patch, ball);
            let opened = packed.open(ball);
            assert!(opened.normal.distance(normal) < 1e-4 && opened.normal.is_normalized(), "{patch:?}, {opened:?}");
            assert!(opened.cone <= patch.cone + 1e-6 && opened.cone > patch.cone - 1e-4);
            assert!(opened.point.distance(point) < 1e-4 * ball.radius);
        }
        for normal in [Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Y, Vec3::Z, Vec3::NEG_Z, Vec3::ZERO] {
            let patch = Patch { normal, cone: -1.0, point: ball.center };
            assert_eq!(PackedPatch::new(&patch, ball).open(ball), patch);
        }
        assert_eq!(size_of::<PackedPatch>(), 12);
    }

    #[test]
    fn balls_are_rounded_outward() {
        let mut random = Random::new(3);
        for _ in 0..1000 {
            let center = random.in_ball().as_dvec3() * 1e3 / 3.0;
            let given = BallNode { center, radius: f64::from(random.unit()) + 1e-3, error: 0.1, parent: 0 };
            let tree = BallTree::new(&[given]).unwrap();
            let ball = tree.ball(0);
            let grown = f64::from(ball.radius) - given.radius;
            assert!(ball.center.as_dvec3().distance(center) <= grown);
            assert!(f64::from(tree.error(0)) >= given.error + grown);
        }
    }

    #[test]
    fn a_box_is_covered_on_every_level() {
        let half = Vec3::new(5.0, 0.5, 50.0);
        let tree = BallTree::around_box(half, 3).unwrap();
        assert_eq!(tree.ends(3).len(), 512);
        let mut random = Random::new(1);
        for _ in 0..300 {
            let point = (random.point(2.0) - Vec3::ONE) * half;
            for level in 0..=3 {
                let is_in = |node: u32| tree.ball(node).center.distance(point) <= tree.ball(node).radius * 1.000_001;
                assert!(tree.ends(level).into_iter().any(is_in), "{point} on level {level}");
            }
        }
        assert!(tree.ball(0).radius > 50.2 && tree.error_at(3) < 1.5);
        assert!(BallTree::around_box(Vec3::splat(f32::NAN), 2).is_err());
        assert!(BallTree::around_box(Vec3::ZERO, 2).is_err());
    }

    #[test]
    fn what_is_no_tree_is_refused() {
        assert!(matches!(BallTree::new(&[]), Err(BallTreeError::Size { nodes: 0 })));
        for bad in [f64::NAN, f64::INFINITY, 2e9] {
            assert!(BallTree::new(&[node(bad, 1.0, 0.0, 0)]).is_err());
            assert!(BallTree::new(&[node(0.0, bad, 0.0, 0)]).is_err());
            assert!(BallTree::new(&[node(0.0, 1.0, bad, 0)]).is_err());
        }
        assert!(BallTree::new(&[node(0.0, 1.0, 0.0, 0), node(0.0, 1.0, 0.0, 1)]).is_err());
    }
}
