//! A list of corners and a list of triangles between them, checked once.

use space::Vec3;

/// Triangles over shared corners. Whatever its source, it has at least one triangle, every number in it is finite and
/// within [`TriangleMesh::LIMIT`], and every index names a corner.
#[derive(Clone, Debug, PartialEq)]
pub struct TriangleMesh {
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
}

/// Why vertices and triangles do not make a mesh.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum TriangleMeshError {
    /// Nothing to touch.
    #[error("a mesh without triangles")]
    Empty,
    /// More than [`TriangleMesh::MAX_VERTICES`] or [`TriangleMesh::MAX_TRIANGLES`].
    #[error("{count} {what}, a mesh holds at most {limit}")]
    TooMany {
        /// `vertices` or `triangles`.
        what: &'static str,
        /// How many there were.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// A corner that is not finite or too far away.
    #[error("vertex {vertex}: coordinate {value}, expected a number within {} metres", TriangleMesh::LIMIT)]
    OutOfRange {
        /// Which corner, from zero.
        vertex: usize,
        /// What was given.
        value: f32,
    },
    /// A triangle that names a corner which is not there.
    #[error("triangle {triangle}: vertex {index} of {vertices}")]
    NoSuchVertex {
        /// Which triangle, from zero.
        triangle: usize,
        /// The corner that it names.
        index: u32,
        /// How many there are.
        vertices: usize,
    },
}

impl TriangleMesh {
    /// No coordinate is larger than this, in metres.
    pub const LIMIT: f32 = 1e5;
    /// The most corners of one mesh.
    pub const MAX_VERTICES: usize = 1 << 22;
    /// The most triangles of one mesh.
    pub const MAX_TRIANGLES: usize = 1 << 22;

    /// The mesh of these triangles, if they make one.
    pub fn new(vertices: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Result<TriangleMesh, TriangleMeshError> {
        for (what, count, limit) in
            [("vertices", vertices.len(), Self::MAX_VERTICES), ("triangles", triangles.len(), Self::MAX_TRIANGLES)]
        {
            if count > limit {
                return Err(TriangleMeshError::TooMany { what, count, limit });
            }
        }
        if triangles.is_empty() {
            return Err(TriangleMeshError::Empty);
        }
        for (vertex, point) in vertices.iter().enumerate() {
            if let Some(value) = point.to_array().into_iter().find(|value| value.is_nan() || value.abs() > Self::LIMIT)
            {
                return Err(TriangleMeshError::OutOfRange { vertex, value });
            }
        }
        for (triangle, corners) in triangles.iter().enumerate() {
            if let Some(&index) = corners.iter().find(|&&index| index as usize >= vertices.len()) {
                return Err(TriangleMeshError::NoSuchVertex { triangle, index, vertices: vertices.len() });
            }
        }
        Ok(TriangleMesh { vertices, triangles })
    }

    /// The corners.
    pub fn vertices(&self) -> &[Vec3] {
        &self.vertices
    }

    /// The triangles: three indices into the vertices each, counter-clockwise seen from outside.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The three corners of one triangle.
    pub fn corners(&self, triangle: usize) -> Option<[Vec3; 3]> {
        self.triangles.get(triangle).map(|corners| corners.map(|index| self.vertices[index as usize]))
    }

    /// The enclosed volume, in cubic metres, for a closed mesh; negative when its triangles are turned inside out.
    pub fn volume(&self) -> f64 {
        let origin = self.vertices.first().map_or(space::DVec3::ZERO, |vertex| vertex.as_dvec3());
        let sixfold: f64 = (0..self.triangles.len())
            .filter_map(|triangle| self.corners(triangle))
            .map(|corners| {
                let [a, b, c] = corners.map(|corner| corner.as_dvec3() - origin);
                a.dot(b.cross(c))
            })
            .sum();
        sixfold / 6.0
    }

    /// The vertices and triangles themselves.
    pub fn into_parts(self) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        (self.vertices, self.triangles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_mesh_is_refused_by_name() {
        let corners = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
        assert!(TriangleMesh::new(corners.clone(), vec![[0, 1, 2]]).is_ok());
        assert_eq!(TriangleMesh::new(corners.clone(), vec![]), Err(TriangleMeshError::Empty));
        assert_eq!(
            TriangleMesh::new(corners.clone(), vec![[0, 1, 2], [0, 1, 3]]).unwrap_err().to_string(),
            "triangle 1: vertex 3 of 3"
        );
        let mut wrong = corners;
        wrong[1].y = f32::INFINITY;
        assert_eq!(
            TriangleMesh::new(wrong, vec![[0, 1, 2]]).unwrap_err().to_string(),
            "vertex 1: coordinate inf, expected a number within 100000 metres"
        );
    }
}
