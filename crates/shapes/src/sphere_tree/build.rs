//! From a mesh to a certified tree.

use space::DVec3;

use super::ball::Ball;
use super::best::build_best;
use super::certificate::{Regions, Uncovered, certify, mend};
use super::frame::CanonicalFrame;
use super::monotone::monotone;
use super::object::{Object, ObjectError, check};
use super::published::combined::{Reducer, build_combined};
use super::published::octree::build_octree;
use super::tree::{MAX_DEPTH, MAX_NODES, SphereTree, TreeError};
use crate::mesh::corners_of;

/// The most balls per level for methods that search, in more than linear time; octrees only count.
pub const MAX_SEARCHED: usize = 4_096;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// The spherical octree: balls around cubes.
    Octree,
    /// The same cubes, with balls around their part of the surface.
    OctreeTight,
    Combined,
    /// Ours: the least error per level.
    Best,
}

impl Method {
    pub const ALL: [Method; 4] = [Method::Octree, Method::OctreeTight, Method::Combined, Method::Best];

    pub fn name(self) -> &'static str {
        match self {
            Method::Octree => "octree",
            Method::OctreeTight => "octree-tight",
            Method::Combined => "combined",
            Method::Best => "best",
        }
    }

    pub fn of_name(name: &str) -> Option<Method> {
        Method::ALL.into_iter().find(|method| method.name() == name)
    }
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BuildError {
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// No levels, too many levels, or a level with no or too many balls.
    #[error(
        "level {level} of {depth} may have {cap} balls, expected 1 to {MAX_DEPTH} levels of 1 to {} balls",
        MAX_NODES / 8
    )]
    Caps { level: usize, depth: usize, cap: usize },
    /// More than [`MAX_SEARCHED`], with a method that searches.
    #[error("level {level} may have {cap} balls, expected at most {MAX_SEARCHED} with {}", method.name())]
    TooMany { level: usize, cap: usize, method: Method },
    #[error(transparent)]
    Tree(#[from] TreeError),
    #[error("the tree has no certificate: {0}")]
    Uncovered(#[from] Uncovered),
}

/// A tree in the mesh's coordinates, and the part of the surface that each leaf covers.
#[derive(Clone, Debug)]
pub struct Built {
    pub tree: SphereTree,
    pub regions: Regions,
}

/// Eight times as many balls on every level.
pub fn default_caps(depth: usize) -> Vec<usize> {
    (1..=depth.min(MAX_DEPTH) as u32).map(|level| 8_usize.saturating_pow(level).min(MAX_NODES / 8)).collect()
}

/// Builds a tree around a mesh; level `l` has at most `caps[l - 1]` balls. The result is certified: every part of every
/// triangle is in all balls of some path from the root to a leaf.
pub fn build(vertices: &[DVec3], triangles: &[[u32; 3]], method: Method, caps: &[usize]) -> Result<Built, BuildError> {
    check(vertices, triangles)?;
    let frame = CanonicalFrame::of(vertices);
    let turned: Vec<DVec3> = vertices.iter().map(|&vertex| frame.turned(vertex)).collect();
    let tree = search(&Object::new(&turned, triangles)?, method, caps)?;
    let tree = tree.mapped(1.0, |ball| Ball::new(frame.back(ball.center), ball.radius));
    proven(tree, &corners_of(vertices, triangles))
}

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
        Method::Combined => monotone(&build_combined(object, caps, &Reducer::ALL)?)?,
        Method::Best => monotone(&build_best(object, caps)?)?,
    };
    Ok(to_mesh(object, tree))
}

fn proven(mut tree: SphereTree, corners: &[[DVec3; 3]]) -> Result<Built, BuildError> {
    let regions = match certify(&tree, corners) {
        Ok(regions) => regions,
        // Scaling and moving changed the last bits.
        Err(_) => {
            let finest = 1e-4 * tree.scale();
            mend(&mut tree, corners, finest);
            tree = monotone(&tree)?;
            certify(&tree, corners)?
        }
    };
    Ok(Built { tree, regions })
}

/// From unit coordinates to the mesh's, with room for rounding.
fn to_mesh(object: &Object, tree: SphereTree) -> SphereTree {
    let bounds = object.bounds();
    let room = 16.0 * f64::EPSILON * (bounds.center.abs().max_element() + bounds.radius);
    tree.mapped(bounds.radius, |ball| {
        let center = bounds.center + ball.center * bounds.radius;
        Ball::new(center, ball.radius * bounds.radius * (1.0 + 1e-14) + room)
    })
}
