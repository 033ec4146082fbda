//! From a mesh to a tree with a certificate.

use space::DVec3;

use super::ball::Ball;
use super::best::build_best;
use super::certificate::{Regions, Uncovered, certify, mend};
use super::combined::{Reducer, build_combined};
use super::frame::Frame;
use super::monotone::monotone;
use super::object::{Object, ObjectError, check};
use super::octree::build_octree;
use super::tree::{MAX_DEPTH, MAX_NODES, SphereTree, TreeError};

/// The most balls on a level for which a method searches: an octree only counts. Search takes longer than linear time.
pub const MAX_SEARCHED: usize = 4_096;

/// How a tree is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// The spherical octree: balls around cubes.
    Octree,
    /// The same cubes, with balls around what they hold.
    OctreeTight,
    /// Bradshaw and O'Sullivan's Combined algorithm, eight children per node.
    Combined,
    /// Ours: the least common error per level.
    Best,
}

impl Method {
    /// All of them.
    pub const ALL: [Method; 4] = [Method::Octree, Method::OctreeTight, Method::Combined, Method::Best];

    /// Its name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Method::Octree => "octree",
            Method::OctreeTight => "octree-tight",
            Method::Combined => "combined",
            Method::Best => "best",
        }
    }

    /// The method of this name.
    pub fn of_name(name: &str) -> Option<Method> {
        Method::ALL.into_iter().find(|method| method.name() == name)
    }
}

/// Why there is no tree.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BuildError {
    /// The mesh cannot be wrapped.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// No levels, too many, a level without balls, or too many balls.
    #[error("level {level} of {depth} may have {cap} balls, expected 1 to {MAX_DEPTH} levels of 1 to {} balls", MAX_NODES / 8)]
    Caps {
        /// Which level, from one.
        level: usize,
        /// How many levels were asked for.
        depth: usize,
        /// How many balls.
        cap: usize,
    },
    /// Beyond [`MAX_SEARCHED`], and not an octree.
    #[error("level {level} may have {cap} balls, expected at most {MAX_SEARCHED} with {}", method.name())]
    TooMany {
        /// Which level, from one.
        level: usize,
        /// How many balls.
        cap: usize,
        /// Which method.
        method: Method,
    },
    /// The levels do not make a tree.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// The certificate was refused: a bug.
    #[error("the tree has no certificate: {0}")]
    Uncovered(#[from] Uncovered),
}

/// A tree in the mesh's coordinates, and which part of the surface each leaf answers for.
#[derive(Clone, Debug)]
pub struct Built {
    /// The tree.
    pub tree: SphereTree,
    /// The proof.
    pub regions: Regions,
}

/// The default caps: eight times as many balls on every level.
pub fn default_caps(depth: usize) -> Vec<usize> {
    (1..=depth.min(MAX_DEPTH) as u32).map(|level| 8_usize.saturating_pow(level).min(MAX_NODES / 8)).collect()
}

/// Builds a tree around a mesh; level `l` has at most `caps[l - 1]` balls. The result is certified: every part of every
/// triangle is in all balls of a path from the root to a leaf.
pub fn build(vertices: &[DVec3], triangles: &[[u32; 3]], method: Method, caps: &[usize]) -> Result<Built, BuildError> {
    check(vertices, triangles)?;
    let frame = Frame::of(vertices);
    let turned: Vec<DVec3> = vertices.iter().map(|&vertex| frame.turned(vertex)).collect();
    let tree = search(&Object::new(&turned, triangles)?, method, caps)?;
    let tree = tree.mapped(1.0, |ball| Ball::new(frame.back(ball.center), ball.radius));
    let corners: Vec<[DVec3; 3]> =
        triangles.iter().map(|corners| corners.map(|corner| vertices[corner as usize])).collect();
    proven(tree, &corners)
}

/// A tree in the mesh's coordinates, not yet proven.
fn search(object: &Object, method: Method, caps: &[usize]) -> Result<SphereTree, BuildError> {
    let depth = caps.len();
    if depth == 0 || depth > MAX_DEPTH {
        return Err(BuildError::Caps { level: depth, depth, cap: 0 });
    }
    if let Some(level) = caps.iter().position(|&cap| cap == 0 || cap > MAX_NODES / 8) {
        return Err(BuildError::Caps { level: level + 1, depth, cap: caps[level] });
    }
    let searches = matches!(method, Method::Combined | Method::Best);
    if let Some(level) = caps.iter().position(|&cap| searches && cap > MAX_SEARCHED) {
        return Err(BuildError::TooMany { level: level + 1, cap: caps[level], method });
    }
    let tree = match method {
        Method::Octree => build_octree(object, caps, false)?,
        Method::OctreeTight => monotone(&build_octree(object, caps, true)?)?,
        Method::Combined => monotone(&build_combined(object, caps, &Reducer::ALL)?.tree)?,
        Method::Best => monotone(&build_best(object, caps)?)?,
    };
    Ok(to_mesh(object, tree))
}

/// The tree with its certificate.
fn proven(mut tree: SphereTree, corners: &[[DVec3; 3]]) -> Result<Built, BuildError> {
    let regions = match certify(&tree, corners) {
        Ok(regions) => regions,
        // The last bits: coordinates were scaled and moved.
        Err(_) => {
            let finest = 1e-4 * tree.scale();
            mend(&mut tree, corners, finest);
            tree = monotone(&tree)?;
            certify(&tree, corners)?
        }
    };
    Ok(Built { tree, regions })
}

/// From unit coordinates to the mesh's, with room for the rounding on the way.
fn to_mesh(object: &Object, tree: SphereTree) -> SphereTree {
    let bounds = object.bounds();
    let room = 16.0 * f64::EPSILON * (bounds.center.abs().max_element() + bounds.radius);
    tree.mapped(bounds.radius, |ball| {
        let center = bounds.center + ball.center * bounds.radius;
        Ball::new(center, ball.radius * bounds.radius * (1.0 + 1e-14) + room)
    })
}
