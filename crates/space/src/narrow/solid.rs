//! Hulls and meshes: shapes of many points, prepared once and shared.

use glam::Vec3;

use super::parry;
use super::parry::Tree;
use super::shape::{Bounds, Shape, ShapeError, sphere_around};
use crate::Sphere;
use crate::mesh::TriangleMesh;

/// The convex hull of some points.
#[derive(Clone, Debug)]
pub struct Hull {
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    bounds: Bounds,
    sphere: Sphere,
}

/// A triangle mesh with a tree of boxes over its triangles.
#[derive(Clone, Debug)]
pub struct Mesh {
    triangles: TriangleMesh,
    pub(super) tree: Tree,
    bounds: Bounds,
    sphere: Sphere,
}

impl Hull {
    /// A hull is made from no more points than this.
    pub const MAX_POINTS: usize = 1 << 13;

    /// The hull of `points`, which need not all be corners of it.
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

    /// Its corners, and where points are nearly in a plane, some that are not quite.
    pub fn vertices(&self) -> &[Vec3] {
        &self.vertices
    }

    /// Its surface, as triangles over the corners.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    pub(super) fn bounds(&self) -> Bounds {
        self.bounds
    }

    pub(super) fn bounding_sphere(&self) -> Sphere {
        self.sphere
    }
}

impl Mesh {
    /// The surface of `triangles`.
    pub fn new(triangles: TriangleMesh) -> Mesh {
        let tree = Tree::new(&triangles);
        let (bounds, sphere) = (Bounds::of(triangles.vertices()), sphere_around(triangles.vertices()));
        Mesh { triangles, tree, bounds, sphere }
    }

    /// What it is made of.
    pub fn triangles(&self) -> &TriangleMesh {
        &self.triangles
    }

    pub(super) fn bounds(&self) -> Bounds {
        self.bounds
    }

    pub(super) fn bounding_sphere(&self) -> Sphere {
        self.sphere
    }
}
