//! The proof that nothing of a surface is missed, and the parts of it that each leaf answers for.
//!
//! A ball that contains the corners of a triangle contains all of it. So a triangle is in order if some path from the
//! root to a leaf has it in every ball; if none has, it is cut in two, and both halves must be. This proves coverage of
//! every level at once, and that the parts nest: what a leaf contains, all above it contain.

use space::DVec3;

use super::ball::Ball;
use super::tree::{Node, SphereTree};

/// A triangle is not cut further when its longest edge is this short, as a share of the tree's scale.
const FINEST: f64 = 1e-6;
/// Cuts of one triangle, one within the other.
const MAX_CUTS: u32 = 96;
/// Parts of a surface beyond which no proof is attempted.
const MAX_PIECES: usize = 1 << 22;

/// A part of a triangle: where its corners are between those of the triangle, as weights of the second and the third.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// The triangle.
    pub triangle: u32,
    /// Its corners. All weights are sums of a few powers of two, hence exact.
    pub corners: [[f64; 2]; 3],
}

impl Piece {
    /// All of a triangle.
    pub fn whole(triangle: u32) -> Piece {
        Piece { triangle, corners: [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]] }
    }

    /// Where its corners are, if the triangle's are these.
    pub fn positions(&self, &[a, b, c]: &[DVec3; 3]) -> [DVec3; 3] {
        self.corners.map(|[u, v]| a * (1.0 - u - v) + b * u + c * v)
    }

    /// Its halves: the edge from corner `side` to the next is cut in the middle.
    fn halves(&self, side: usize) -> [Piece; 2] {
        let (from, to) = (self.corners[side], self.corners[(side + 1) % 3]);
        let middle = [(from[0] + to[0]) * 0.5, (from[1] + to[1]) * 0.5];
        let mut halves = [*self, *self];
        halves[0].corners[(side + 1) % 3] = middle;
        halves[1].corners[side] = middle;
        halves
    }
}

/// Which part of the surface each leaf answers for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Regions {
    /// By leaf, in the order of the lowest level.
    pub leaves: Vec<Vec<Piece>>,
}

/// A part of the surface that is in no leaf whose whole path contains it.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("triangle {triangle} is not covered near ({}, {}, {})", at.x, at.y, at.z)]
pub struct Uncovered {
    /// The triangle.
    pub triangle: u32,
    /// The middle of what is not covered.
    pub at: DVec3,
}

/// Proves that the tree covers the triangles, and says which leaf covers what; or says where it does not.
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

/// Covers what is missing by growing the balls that need the least of it, path by path, and says which leaf covers what
/// and how often something grew. Parts smaller than `finest` are not cut further before a ball grows around them.
pub fn mend(tree: &mut SphereTree, triangles: &[[DVec3; 3]], finest: f64) -> (Regions, usize) {
    let finest = finest.max(FINEST * tree.scale());
    let mut regions = Regions { leaves: vec![Vec::new(); tree.level(tree.depth()).len()] };
    let mut grown = 0;
    for (index, corners) in triangles.iter().enumerate() {
        let mut waiting = vec![Waiting::whole(tree, corners, index as u32)];
        while let Some(next) = waiting.pop() {
            match next.look(tree, corners, finest, Gaps::AreMended, &mut waiting) {
                Found::Leaf(leaf) => regions.leaves[leaf].push(next.piece),
                Found::Halves => {}
                Found::Nothing(near) => {
                    let leaf = grow(tree, &next.piece.positions(corners), &near);
                    regions.leaves[leaf].push(next.piece);
                    grown += 1;
                }
            }
        }
    }
    (regions, grown)
}

/// A piece that must be covered, by one of these leaves.
struct Waiting {
    piece: Piece,
    leaves: Vec<u32>,
    cuts: u32,
}

/// What is to become of a part that is in no ball.
#[derive(Clone, Copy)]
enum Gaps {
    AreFound,
    AreMended,
}

enum Found {
    /// A leaf, by its place in the lowest level, contains it, and so do all above.
    Leaf(usize),
    /// It was cut in two.
    Halves,
    /// It is too small to be cut; these leaves are near.
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
        Waiting { piece: Piece::whole(triangle), leaves, cuts: 0 }
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
        // In an overlap the least power decides, so that the parts of two leaves meet in a plane.
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
        let length = |side: usize| corners[side].distance_squared(corners[(side + 1) % 3]);
        let side = (0..3).max_by(|&i, &j| length(i).total_cmp(&length(j))).unwrap_or(0);
        if near.is_empty() {
            match gaps {
                Gaps::AreFound => return Found::Nothing(near),
                // Cut further: a ball should grow around a small part, not around a whole triangle far away.
                Gaps::AreMended => near.clone_from(&self.leaves),
            }
        }
        if length(side) <= finest * finest || self.cuts >= MAX_CUTS {
            return Found::Nothing(near);
        }
        let [first, second] = self.piece.halves(side);
        waiting.push(Waiting { piece: second, leaves: near.clone(), cuts: self.cuts + 1 });
        waiting.push(Waiting { piece: first, leaves: near, cuts: self.cuts + 1 });
        Found::Halves
    }
}

/// Makes the path that needs the least of it contain the triangle, and says which leaf it leads to.
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
            // As a share of the error that it has anyway: a coarse level can bear more than a fine one. Yet a leaf is soon
            // fitted anew to what it got, while a node above has to hold all that its leaves got: the more the higher it is.
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
        // The error grows by no more than the radius does.
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
