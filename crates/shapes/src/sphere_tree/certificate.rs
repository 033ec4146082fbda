//! The proof that a tree covers a surface, and the part of it that each leaf covers.
//!
//! A ball that contains the corners of a triangle contains the triangle. So a triangle is covered if all balls of some
//! path from the root to a leaf contain it; if none does, it is cut in two, and both halves must be covered. This
//! proves coverage on every level and nesting: what a leaf contains, all nodes above it contain.

use space::DVec3;

use super::ball::Ball;
use super::cut::longest_side;
use super::tree::{Node, SphereTree};

/// Triangles with a longest edge of this share of the tree's scale are not cut.
const FINEST: f64 = 1e-6;
/// Nested cuts of one triangle.
const MAX_CUTS: u32 = 96;
const MAX_PIECES: usize = 1 << 22;

/// A part of a triangle, by its corners' barycentric weights of the triangle's second and third corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrianglePart {
    pub triangle: u32,
    /// All weights are sums of a few powers of two, hence exact.
    pub corners: [[f64; 2]; 3],
}

impl TrianglePart {
    pub fn whole(triangle: u32) -> TrianglePart {
        TrianglePart { triangle, corners: [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]] }
    }

    pub fn positions(&self, &[a, b, c]: &[DVec3; 3]) -> [DVec3; 3] {
        self.corners.map(|[u, v]| a * (1.0 - u - v) + b * u + c * v)
    }

    fn halves(&self, side: usize) -> [TrianglePart; 2] {
        let (from, to) = (self.corners[side], self.corners[(side + 1) % 3]);
        let middle = [(from[0] + to[0]) * 0.5, (from[1] + to[1]) * 0.5];
        let mut halves = [*self, *self];
        halves[0].corners[(side + 1) % 3] = middle;
        halves[1].corners[side] = middle;
        halves
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Regions {
    /// For each leaf, in the order of the lowest level, the parts that it covers.
    pub leaves: Vec<Vec<TrianglePart>>,
}

/// A part of the surface that no path from the root to a leaf contains.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("triangle {triangle} is not covered near ({}, {}, {})", at.x, at.y, at.z)]
pub struct Uncovered {
    pub triangle: u32,
    pub at: DVec3,
}

/// Proves that the tree covers the triangles and returns what each leaf covers, or a place that is not covered.
pub fn certify(tree: &SphereTree, triangles: &[[DVec3; 3]]) -> Result<Regions, Uncovered> {
    let mut regions = Regions { leaves: vec![Vec::new(); tree.level(tree.depth()).len()] };
    let mut pieces = 0;
    for (index, corners) in triangles.iter().enumerate() {
        let mut waiting = vec![Waiting::whole(tree, corners, index as u32)];
        while let Some(next) = waiting.pop() {
            match next.look(tree, corners, FINEST * tree.scale(), Gaps::AreFound, &mut waiting) {
                Found::Leaf(leaf) if pieces < MAX_PIECES => {
                    pieces += 1;
                    regions.leaves[leaf].push(next.piece);
                }
                Found::Halves => {}
                _ => {
                    return Err(Uncovered {
                        triangle: index as u32,
                        at: around(&next.piece.positions(corners)).center,
                    });
                }
            }
        }
    }
    Ok(regions)
}

/// Enlarges balls until the tree covers the triangles, on the path that needs the least for each uncovered part, and
/// returns what each leaf covers. Parts smaller than `finest` are not cut further.
pub fn mend(tree: &mut SphereTree, triangles: &[[DVec3; 3]], finest: f64) -> Regions {
    let finest = finest.max(FINEST * tree.scale());
    let mut regions = Regions { leaves: vec![Vec::new(); tree.level(tree.depth()).len()] };
    for (index, corners) in triangles.iter().enumerate() {
        let mut waiting = vec![Waiting::whole(tree, corners, index as u32)];
        while let Some(next) = waiting.pop() {
            match next.look(tree, corners, finest, Gaps::AreMended, &mut waiting) {
                Found::Leaf(leaf) => regions.leaves[leaf].push(next.piece),
                Found::Halves => {}
                Found::Nothing(near) => {
                    let leaf = grow(tree, &next.piece.positions(corners), &near);
                    regions.leaves[leaf].push(next.piece);
                }
            }
        }
    }
    regions
}

/// A part that one of these leaves must cover.
struct Waiting {
    piece: TrianglePart,
    leaves: Vec<u32>,
    cuts: u32,
}

/// What to do with a part that is in no ball.
#[derive(Clone, Copy)]
enum Gaps {
    AreFound,
    AreMended,
}

enum Found {
    /// The index, in the lowest level, of a leaf whose whole path contains the part.
    Leaf(usize),
    Halves,
    /// The part is too small to be cut; these leaves are near.
    Nothing(Vec<u32>),
}

impl Waiting {
    /// A whole triangle, and the leaves whose path meets the ball around it.
    fn whole(tree: &SphereTree, corners: &[DVec3; 3], triangle: u32) -> Waiting {
        let around = around(corners);
        let mut leaves = Vec::new();
        let mut nodes = vec![0_u32];
        while let Some(index) = nodes.pop() {
            let node = &tree.nodes()[index as usize];
            if !meet(&node.ball, &around) {
                continue;
            }
            if node.children == 0 {
                leaves.push(index);
            } else {
                nodes.extend((node.first_child..node.first_child + node.children).rev());
            }
        }
        Waiting { piece: TrianglePart::whole(triangle), leaves, cuts: 0 }
    }

    fn look(
        &self,
        tree: &SphereTree,
        triangle: &[DVec3; 3],
        finest: f64,
        gaps: Gaps,
        waiting: &mut Vec<Waiting>,
    ) -> Found {
        let corners = self.piece.positions(triangle);
        let around = around(&corners);
        let ball = |node: u32| &tree.nodes()[node as usize].ball;
        let mut near: Vec<u32> = self.leaves.iter().copied().filter(|&leaf| meet(ball(leaf), &around)).collect();
        let contains = |leaf: u32| tree.chain(leaf).all(|node| ball(node).contains_all(&corners));
        // Where leaves overlap the least power distance decides, so that their parts meet in a plane.
        let mut best: Option<(f64, u32)> = None;
        for &leaf in &near {
            let ball = ball(leaf);
            let power = ball.center.distance_squared(around.center) - ball.radius * ball.radius;
            if best.is_none_or(|(least, _)| power < least) && contains(leaf) {
                best = Some((power, leaf));
            }
        }
        if let Some((_, leaf)) = best {
            return Found::Leaf(leaf as usize - tree.level_range(tree.depth()).start);
        }
        let (side, length) = longest_side(&corners);
        if near.is_empty() {
            match gaps {
                Gaps::AreFound => return Found::Nothing(near),
                // Cut further: a ball should grow around a small part, not around a whole distant triangle.
                Gaps::AreMended => near.clone_from(&self.leaves),
            }
        }
        if length <= finest * finest || self.cuts >= MAX_CUTS {
            return Found::Nothing(near);
        }
        let [first, second] = self.piece.halves(side);
        waiting.push(Waiting { piece: second, leaves: near.clone(), cuts: self.cuts + 1 });
        waiting.push(Waiting { piece: first, leaves: near, cuts: self.cuts + 1 });
        Found::Halves
    }
}

/// Enlarges the balls of the path that needs the least to contain the triangle, and returns its leaf.
fn grow(tree: &mut SphereTree, corners: &[DVec3; 3], leaves: &[u32]) -> usize {
    let all: Vec<u32>;
    let leaves = if leaves.is_empty() {
        all = tree.level_range(tree.depth()).map(|leaf| leaf as u32).collect();
        &all
    } else {
        leaves
    };
    let needs = |leaf: u32| {
        let mut weight = 1.0;
        let lacks = tree.chain(leaf).map(|node| {
            let Node { ball, error, .. } = tree.nodes()[node as usize];
            // Relative to the node's error: a coarse level can bear more than a fine one. A leaf is soon fitted again
            // to its part, while a node above must contain what all its leaves got, so higher nodes weigh more.
            let lack =
                weight * (Ball::around(ball.center, *corners).radius - ball.radius) / error.max(1e-6 * ball.radius);
            weight *= 3.0;
            lack
        });
        lacks.fold(0.0, f64::max)
    };
    let leaf = leaves.iter().copied().min_by(|&a, &b| needs(a).total_cmp(&needs(b))).unwrap_or(0);
    let path: Vec<u32> = tree.chain(leaf).collect();
    for index in path {
        let node = tree.node_mut(index);
        let grown = node.ball.grown_to(*corners);
        // The error grows by at most as much as the radius.
        node.error += grown.radius - node.ball.radius;
        node.ball = grown;
    }
    leaf as usize - tree.level_range(tree.depth()).start
}

fn around(corners: &[DVec3; 3]) -> Ball {
    let center = (corners[0] + corners[1] + corners[2]) / 3.0;
    Ball::around(center, *corners)
}

fn meet(a: &Ball, b: &Ball) -> bool {
    let reach = a.radius + b.radius;
    a.center.distance_squared(b.center) <= reach * reach
}
