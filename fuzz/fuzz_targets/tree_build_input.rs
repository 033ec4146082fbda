//! What bytes mean to `tree_build`: a method, a number of corners, their coordinates, then three bytes per triangle.
//! Shared with the test that replays the corpus.

use shapes::sphere_tree::Method;
use space::DVec3;

/// The method, the corners and the triangles; `None` if there is not even a method.
pub fn input(bytes: &[u8]) -> Option<(Method, Vec<DVec3>, Vec<[u32; 3]>)> {
    let (&[method, corners], rest) = bytes.split_first_chunk::<2>()?;
    let corners = usize::from(corners) % 64;
    let number = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().unwrap_or_default());
    let numbers: Vec<f64> = rest.chunks_exact(8).map(number).take(3 * corners).collect();
    let vertices = numbers.chunks_exact(3).map(|xyz| DVec3::new(xyz[0], xyz[1], xyz[2])).collect();
    let indices = rest.get(24 * corners..).unwrap_or(&[]);
    let triangle = |corners: &[u8]| [0, 1, 2].map(|at: usize| u32::from(corners[at]));
    let triangles = indices.chunks_exact(3).take(64).map(triangle).collect();
    Some((Method::ALL[usize::from(method) % 4], vertices, triangles))
}
