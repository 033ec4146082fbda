//! Hulls, meshes and balls: shapes of many parts, prepared once and shared.

use std::sync::Arc;

use space::Vec3;

use super::parry;
use super::parry::TriangleBvh;
use super::shape::{Bounds, Shape, ShapeError, round_down, round_up, sphere_around};
use crate::mesh::TriangleMesh;
use space::Sphere;

use crate::BallTree;

#[derive(Clone, Debug)]
pub struct Hull {
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    pub(super) bounds: Bounds,
    pub(super) sphere: Sphere,
}

/// A triangle mesh with a bounding volume hierarchy.
#[derive(Clone, Debug)]
pub struct Mesh {
    triangles: TriangleMesh,
    pub(super) tree: TriangleBvh,
    pub(super) balls: Option<Arc<BallTree>>,
    pub(super) bounds: Bounds,
    pub(super) sphere: Sphere,
}

/// The balls of a sphere-tree in which walks to some level end.
#[derive(Clone, Debug)]
pub struct Balls {
    pub(super) tree: Arc<BallTree>,
    pub(super) level: u8,
    pub(super) bounds: Bounds,
    pub(super) sphere: Sphere,
    mesh: Option<TriangleMesh>,
}

impl Balls {
    /// The balls of this level, or of the deepest level.
    pub fn new(tree: Arc<BallTree>, level: u8) -> Result<Balls, ShapeError> {
        if tree.reach().is_nan() || tree.reach() > Shape::LARGEST {
            return Err(ShapeError::OutOfRange { field: "radius", value: tree.reach() });
        }
        let level = level.min(tree.depth());
        let (mut low, mut high) = (space::DVec3::INFINITY, space::DVec3::NEG_INFINITY);
        for node in tree.ends(level) {
            let ball = tree.ball(node);
            let (center, radius) = (ball.center.as_dvec3(), f64::from(ball.radius));
            (low, high) = (low.min(center - radius), high.max(center + radius));
        }
        let outward =
            |value: space::DVec3, round: fn(f64) -> f32| Vec3::new(round(value.x), round(value.y), round(value.z));
        let bounds = Bounds { min: outward(low, round_down), max: outward(high, round_up) };
        let sphere = tree.wrapping(0);
        Ok(Balls { tree, level, bounds, sphere, mesh: None })
    }

    /// Adds the mesh that the tree was built around, for drawing.
    #[must_use]
    pub fn with_mesh(self, mesh: TriangleMesh) -> Balls {
        Balls { mesh: Some(mesh), ..self }
    }

    pub fn mesh(&self) -> Option<&TriangleMesh> {
        self.mesh.as_ref()
    }

    pub fn tree(&self) -> &Arc<BallTree> {
        &self.tree
    }

    pub fn level(&self) -> u8 {
        self.level
    }
}

impl Hull {
    pub const MAX_POINTS: usize = 1 << 13;

    /// The hull of `points`, which may be inside it.
    pub fn new(points: &[Vec3]) -> Result<Hull, ShapeError> {
        if points.len() > Self::MAX_POINTS {
            return Err(ShapeError::TooManyPoints { count: points.len() });
        }
        for (point, place) in points.iter().enumerate() {
            let bad = |value: &f32| value.is_nan() || value.abs() > Shape::LARGEST;
            if let Some(value) = place.to_array().into_iter().find(bad) {
                return Err(ShapeError::BadPoint { point, value });
            }
        }
        let (vertices, triangles) = parry::hull(points).ok_or(ShapeError::Flat { count: points.len() })?;
        let (bounds, sphere) = (Bounds::of(&vertices), sphere_around(&vertices));
        Ok(Hull { vertices, triangles, bounds, sphere })
    }

    /// Its vertices; of nearly coplanar points also some that are barely inside.
    pub fn vertices(&self) -> &[Vec3] {
        &self.vertices
    }

    /// Its surface, as triangles over the vertices.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }
}

impl Mesh {
    pub fn new(triangles: TriangleMesh) -> Mesh {
        let tree = TriangleBvh::new(&triangles);
        let (bounds, sphere) = (Bounds::of(triangles.vertices()), sphere_around(triangles.vertices()));
        Mesh { triangles, tree, balls: None, bounds, sphere }
    }

    #[must_use]
    pub fn with_tree(self, tree: Arc<BallTree>) -> Mesh {
        Mesh { balls: Some(tree), ..self }
    }

    pub fn sphere_tree(&self) -> Option<&Arc<BallTree>> {
        self.balls.as_ref()
    }

    pub fn triangles(&self) -> &TriangleMesh {
        &self.triangles
    }
}
