//! A list of vertices and a list of triangles, checked once.

use space::{DVec3, Vec3};

/// Triangles over shared vertices. There is at least one triangle, every coordinate is finite and within
/// [`TriangleMesh::LIMIT`], and every index is valid.
#[derive(Clone, Debug, PartialEq)]
pub struct TriangleMesh {
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
}

#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum TriangleMeshError {
    #[error("a mesh without triangles")]
    Empty,
    #[error("{count} {what}, a mesh holds at most {limit}")]
    TooMany { what: &'static str, count: usize, limit: usize },
    #[error("vertex {vertex}: coordinate {value}, expected a number within {} metres", TriangleMesh::LIMIT)]
    OutOfRange { vertex: usize, value: f32 },
    #[error("triangle {triangle}: vertex {index} of {vertices}")]
    NoSuchVertex { triangle: usize, index: u32, vertices: usize },
}

impl TriangleMesh {
    /// The largest coordinate, in metres.
    pub const LIMIT: f32 = 1e5;
    pub const MAX_VERTICES: usize = 1 << 22;
    pub const MAX_TRIANGLES: usize = 1 << 22;

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

    pub fn vertices(&self) -> &[Vec3] {
        &self.vertices
    }

    /// Three indices into the vertices each, counter-clockwise seen from outside.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    pub fn corners(&self, triangle: usize) -> Option<[Vec3; 3]> {
        self.triangles.get(triangle).map(|corners| corners.map(|index| self.vertices[index as usize]))
    }

    pub fn wide_vertices(&self) -> Vec<DVec3> {
        self.vertices.iter().map(|vertex| vertex.as_dvec3()).collect()
    }

    /// The enclosed volume of a closed mesh, in cubic metres; negative if it is inside out.
    pub fn volume(&self) -> f64 {
        let origin = self.vertices.first().map_or(DVec3::ZERO, |vertex| vertex.as_dvec3());
        let sixfold: f64 = (0..self.triangles.len())
            .filter_map(|triangle| self.corners(triangle))
            .map(|corners| {
                let [a, b, c] = corners.map(|corner| corner.as_dvec3() - origin);
                a.dot(b.cross(c))
            })
            .sum();
        sixfold / 6.0
    }

    pub fn into_parts(self) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        (self.vertices, self.triangles)
    }
}

/// What belongs to the three corners of each triangle.
pub fn corners_of<T: Copy>(vertices: &[T], triangles: &[[u32; 3]]) -> Vec<[T; 3]> {
    triangles.iter().map(|corners| corners.map(|corner| vertices[corner as usize])).collect()
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
