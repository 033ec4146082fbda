//! One step of a walk down two trees: one ball against the children of another node, eight at a time.
//!
//! The only `unsafe` of this crate. The wide version needs AVX2, detected at run time. It does the same operations in
//! the same order as the plain loop, without fused multiply-add, and must equal it.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

use space::Vec3;
use space::{Columns, Sphere};

use crate::ball_tree::{BallTree, PADDING};

/// A pair of nodes whose balls overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodePair {
    pub a: u32,
    pub b: u32,
}

/// A rotation matrix, by columns, and a translation.
#[derive(Clone, Copy, Debug)]
pub struct Isometry {
    pub x: Vec3,
    pub y: Vec3,
    pub z: Vec3,
    pub shift: Vec3,
}

impl Isometry {
    /// The order of operations is part of the definition.
    #[inline(always)]
    pub fn apply(&self, point: Vec3) -> Vec3 {
        self.x * point.x + self.y * point.y + self.z * point.z + self.shift
    }
}

/// Two placed trees, and the levels at which a walk ends.
#[derive(Clone, Copy, Debug)]
pub struct TreePair<'t> {
    pub a: &'t BallTree,
    pub b: &'t BallTree,
    /// Maps the second tree's coordinates to the first one's.
    pub b_to_a: Isometry,
    pub a_to_b: Isometry,
    /// Balls are widened by this before they are called apart; it exceeds all rounding.
    pub slack: f32,
    pub level_a: u8,
    pub level_b: u8,
}

/// The results of a step: pairs to go on with, and pairs of nodes at which the walk ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    pub next: Vec<NodePair>,
    pub ends: Vec<NodePair>,
    /// If measured, the least distance of two balls that were found apart; it is certain up to the slack.
    pub clearance: f32,
}

/// Replaces pairs, from `pairs[0]` on, by the overlapping pairs one step below them while `budget` lasts. A block of up
/// to eight children costs 1. Returns the number of pairs replaced.
pub fn expand(trees: &TreePair<'_>, pairs: &[NodePair], budget: &mut u64, found: &mut Found) -> usize {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: AVX2 was detected.
        return unsafe { expand_wide(trees, pairs, budget, found) };
    }
    walk(trees, pairs, budget, found, |ball, block, _| overlaps_plain(ball, block))
}

/// As [`expand`] for one pair; also measures the clearance.
pub fn expand_measured(trees: &TreePair<'_>, pair: NodePair, budget: &mut u64, found: &mut Found) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: AVX2 was detected.
        unsafe { expand_measured_wide(trees, pair, budget, found) };
        return;
    }
    walk(trees, &[pair], budget, found, measured_plain);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn expand_wide(trees: &TreePair<'_>, pairs: &[NodePair], budget: &mut u64, found: &mut Found) -> usize {
    walk(trees, pairs, budget, found, |ball, block, _| {
        // SAFETY: a tree's columns have padding behind the last node, and a block begins at a node.
        let mask = unsafe { Wide::of(ball).overlaps(block.columns, block.first) };
        mask & block.mask()
    })
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn expand_measured_wide(trees: &TreePair<'_>, pair: NodePair, budget: &mut u64, found: &mut Found) {
    walk(trees, &[pair], budget, found, |ball, block, clearance| {
        // SAFETY: a tree's columns have padding behind the last node, and a block begins at a node.
        let (mask, gaps) = unsafe { Wide::of(ball).overlaps_and_gaps(block.columns, block.first) };
        let mask = mask & block.mask();
        for lane in 0..block.lanes {
            if mask >> lane & 1 == 0 {
                *clearance = clearance.min(gaps[lane as usize]);
            }
        }
        mask
    });
}

#[derive(Clone, Copy)]
struct Block<'t> {
    columns: Columns<'t>,
    first: usize,
    lanes: u32,
}

impl Block<'_> {
    fn mask(&self) -> u32 {
        (1 << self.lanes) - 1
    }
}

/// One bit for each node of the block that overlaps the ball.
fn overlaps_plain(ball: Sphere, block: Block<'_>) -> u32 {
    let overlaps = |lane: u32| ball.overlaps(block.columns.sphere(block.first + lane as usize));
    (0..block.lanes).fold(0, |mask, lane| mask | u32::from(overlaps(lane)) << lane)
}

fn measured_plain(ball: Sphere, block: Block<'_>, clearance: &mut f32) -> u32 {
    let mask = overlaps_plain(ball, block);
    for lane in (0..block.lanes).filter(|lane| mask >> lane & 1 == 0) {
        let other = block.columns.sphere(block.first + lane as usize);
        let (dx, dy, dz) =
            (ball.center.x - other.center.x, ball.center.y - other.center.y, ball.center.z - other.center.z);
        *clearance = clearance.min((dx * dx + dy * dy + dz * dz).sqrt() - (ball.radius + other.radius));
    }
    mask
}

/// The node of a pair that is replaced by its children: the one with the larger ball, unless the walk ends there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    First,
    Second,
    End,
}

impl TreePair<'_> {
    #[inline(always)]
    pub fn step(&self, pair: NodePair) -> Step {
        let ends_a = self.a.link(pair.a).is_end(self.level_a);
        let ends_b = self.b.link(pair.b).is_end(self.level_b);
        let radius = |tree: &BallTree, node: u32| tree.columns().radius[node as usize];
        match (ends_a, ends_b) {
            (true, true) => Step::End,
            (true, false) => Step::Second,
            (false, true) => Step::First,
            (false, false) if radius(self.a, pair.a) >= radius(self.b, pair.b) => Step::First,
            (false, false) => Step::Second,
        }
    }

    /// A ball of the second tree, widened, in the first tree's coordinates.
    #[inline(always)]
    pub fn ball_b_in_a(&self, node: u32) -> Sphere {
        let ball = self.b.ball(node);
        Sphere::new(self.b_to_a.apply(ball.center), ball.radius + self.slack)
    }

    /// A ball of the first tree, widened, in the second tree's coordinates.
    #[inline(always)]
    pub fn ball_a_in_b(&self, node: u32) -> Sphere {
        let ball = self.a.ball(node);
        Sphere::new(self.a_to_b.apply(ball.center), ball.radius + self.slack)
    }
}

#[inline(always)]
fn walk(
    trees: &TreePair<'_>,
    pairs: &[NodePair],
    budget: &mut u64,
    found: &mut Found,
    overlaps: impl Fn(Sphere, Block<'_>, &mut f32) -> u32,
) -> usize {
    for (done, &pair) in pairs.iter().enumerate() {
        let step = trees.step(pair);
        let (ball, tree, link) = match step {
            Step::End => {
                found.ends.push(pair);
                continue;
            }
            Step::First => (trees.ball_b_in_a(pair.b), trees.a, trees.a.link(pair.a)),
            Step::Second => (trees.ball_a_in_b(pair.a), trees.b, trees.b.link(pair.b)),
        };
        let cost = u64::from((link.end - link.first).div_ceil(8));
        if *budget < cost {
            return done;
        }
        *budget -= cost;
        let columns = tree.columns();
        assert!(link.end as usize + PADDING <= columns.x.len(), "columns are padded");
        let mut first = link.first;
        while first < link.end {
            let lanes = (link.end - first).min(8);
            let mut mask = overlaps(ball, Block { columns, first: first as usize, lanes }, &mut found.clearance);
            while mask != 0 {
                let child = first + mask.trailing_zeros();
                mask &= mask - 1;
                found.next.push(match step {
                    Step::First => NodePair { a: child, b: pair.b },
                    _ => NodePair { a: pair.a, b: child },
                });
            }
            first += lanes;
        }
    }
    pairs.len()
}

/// A sphere to be tested against eight others: its four numbers, each in all lanes.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
struct Wide {
    x: __m256,
    y: __m256,
    z: __m256,
    radius: __m256,
}

#[cfg(target_arch = "x86_64")]
impl Wide {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn of(sphere: Sphere) -> Wide {
        Wide {
            x: _mm256_set1_ps(sphere.center.x),
            y: _mm256_set1_ps(sphere.center.y),
            z: _mm256_set1_ps(sphere.center.z),
            radius: _mm256_set1_ps(sphere.radius),
        }
    }

    /// One bit for each of the eight rows from `row` on that overlaps it.
    ///
    /// # Safety
    /// All four columns have the eight rows.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn overlaps(self, others: Columns<'_>, row: usize) -> u32 {
        // SAFETY: the caller promises the eight rows.
        let (distance2, reach) = unsafe { self.distance2_and_reach(others, row) };
        let overlapping = _mm256_cmp_ps::<_CMP_LT_OQ>(distance2, _mm256_mul_ps(reach, reach));
        _mm256_movemask_ps(overlapping) as u32
    }

    /// As [`Wide::overlaps`], with the distance of the surfaces.
    ///
    /// # Safety
    /// All four columns have the eight rows.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn overlaps_and_gaps(self, others: Columns<'_>, row: usize) -> (u32, [f32; 8]) {
        // SAFETY: the caller promises the eight rows.
        let (distance2, reach) = unsafe { self.distance2_and_reach(others, row) };
        let overlapping = _mm256_cmp_ps::<_CMP_LT_OQ>(distance2, _mm256_mul_ps(reach, reach));
        let mut gaps = [0.0; 8];
        // SAFETY: the array has eight elements.
        unsafe { _mm256_storeu_ps(gaps.as_mut_ptr(), _mm256_sub_ps(_mm256_sqrt_ps(distance2), reach)) };
        (_mm256_movemask_ps(overlapping) as u32, gaps)
    }

    /// # Safety
    /// All four columns have the eight rows.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn distance2_and_reach(self, others: Columns<'_>, row: usize) -> (__m256, __m256) {
        // SAFETY: the caller promises the eight rows.
        let (x, y, z, radius) = unsafe {
            (
                _mm256_loadu_ps(others.x.as_ptr().add(row)),
                _mm256_loadu_ps(others.y.as_ptr().add(row)),
                _mm256_loadu_ps(others.z.as_ptr().add(row)),
                _mm256_loadu_ps(others.radius.as_ptr().add(row)),
            )
        };
        let (dx, dy, dz) = (_mm256_sub_ps(self.x, x), _mm256_sub_ps(self.y, y), _mm256_sub_ps(self.z, z));
        let distance2 =
            _mm256_add_ps(_mm256_add_ps(_mm256_mul_ps(dx, dx), _mm256_mul_ps(dy, dy)), _mm256_mul_ps(dz, dz));
        (distance2, _mm256_add_ps(self.radius, radius))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ball_tree::BallNode;
    use space::{Quat, workload::Random};

    fn tree(random: &mut Random, nodes: u32) -> BallTree {
        let made: Vec<BallNode> = (0..nodes)
            .map(|index| BallNode {
                center: random.in_ball().as_dvec3(),
                radius: f64::from(random.between(0.05, 0.6)),
                error: 0.1,
                parent: if index == 0 { 0 } else { random.whole(0, index.min(40)) },
            })
            .collect();
        BallTree::new(&made).unwrap()
    }

    #[test]
    fn wide_walks_equal_plain_ones() {
        for seed in 0..300 {
            let mut random = Random::new(seed);
            let (nodes_a, nodes_b) = (random.whole(1, 200), random.whole(1, 200));
            let (a, b) = (tree(&mut random, nodes_a), tree(&mut random, nodes_b));
            let turn = Quat::from_axis_angle(random.direction(), random.between(0.0, 6.0));
            let isometry = |turn: Quat, shift| {
                let [x, y, z] = turn.axes();
                Isometry { x, y, z, shift }
            };
            let shift = random.in_ball() * 2.0;
            let trees = TreePair {
                a: &a,
                b: &b,
                b_to_a: isometry(turn, shift),
                a_to_b: isometry(turn.conjugate(), -(turn.conjugate() * shift)),
                slack: 1e-5,
                level_a: random.whole(0, 5) as u8,
                level_b: random.whole(0, 5) as u8,
            };
            let mut pairs = vec![NodePair { a: 0, b: 0 }];
            while !pairs.is_empty() {
                let budget = u64::from(random.whole(0, 300));
                let (mut wide, mut plain) = (Found::default(), Found::default());
                let (mut left_wide, mut left_plain) = (budget, budget);
                let done_wide = expand(&trees, &pairs, &mut left_wide, &mut wide);
                let done_plain =
                    walk(&trees, &pairs, &mut left_plain, &mut plain, |ball, block, _| overlaps_plain(ball, block));
                assert_eq!((done_wide, left_wide, &wide), (done_plain, left_plain, &plain), "seed {seed}");
                for &pair in pairs.iter().take(20) {
                    let mut measured = [(); 2].map(|()| Found { clearance: f32::INFINITY, ..Found::default() });
                    expand_measured(&trees, pair, &mut u64::MAX.clone(), &mut measured[0]);
                    walk(&trees, &[pair], &mut u64::MAX.clone(), &mut measured[1], measured_plain);
                    assert_eq!(measured[0], measured[1], "seed {seed}");
                }
                pairs = wide.next;
                pairs.truncate(500);
            }
        }
    }
}
