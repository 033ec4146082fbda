//! Meshes made from a few numbers: closed, edge-manifold, counter-clockwise seen from outside.

use space::{DVec3, Vec3};

use super::triangles::{TriangleMesh, TriangleMeshError};

pub fn cuboid(half: Vec3) -> Result<TriangleMesh, TriangleMeshError> {
    let vertices = (0..8u32)
        .map(|corner| {
            let side = |axis: u32| if corner >> axis & 1 == 1 { 1.0 } else { -1.0 };
            half * Vec3::new(side(0), side(1), side(2))
        })
        .collect();
    let triangles = (0..3u32)
        .flat_map(|axis| {
            // The face's two axes, ordered so that the third points along them.
            let (u, v) = (1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3));
            let top = 1 << axis;
            [[top, top | u, top | u | v], [top, top | u | v, top | v], [0, u | v, u], [0, v, u | v]]
        })
        .collect();
    TriangleMesh::new(vertices, triangles)
}

/// A sphere around the origin: an octahedron whose triangles are cut in four, `levels` times, eight at most.
/// It has `8 · 4^levels` triangles.
pub fn ball(radius: f32, levels: u32) -> Result<TriangleMesh, TriangleMeshError> {
    // Triangles of a face are in rows; each point of the flat face is projected onto the sphere.
    let steps = 1u32 << levels.min(8);
    let mut made = Builder::default();
    for face in 0..8u32 {
        let sign = |axis: u32| if face >> axis & 1 == 1 { -1.0 } else { 1.0 };
        let (x, y, z) = (DVec3::X * sign(0), DVec3::Y * sign(1), DVec3::Z * sign(2));
        let inside_out = sign(0) * sign(1) * sign(2) < 0.0;
        let mut point = |i: u32, j: u32| {
            let k = steps - i - j;
            let flat = x * f64::from(i) + y * f64::from(j) + z * f64::from(k);
            made.vertex((flat.normalize() * f64::from(radius)).as_vec3())
        };
        let mut corners = Vec::new();
        for i in 0..steps {
            for j in 0..steps - i {
                corners.push([point(i, j), point(i + 1, j), point(i, j + 1)]);
                if i + j + 1 < steps {
                    corners.push([point(i + 1, j), point(i + 1, j + 1), point(i, j + 1)]);
                }
            }
        }
        for [a, b, c] in corners {
            made.triangles.push(if inside_out { [a, c, b] } else { [a, b, c] });
        }
    }
    made.finish()
}

/// A torus around the y axis: a tube of radius `tube` around a circle of radius `ring`, of `around` times `across`
/// quads, 3 to 512 of each.
pub fn torus(ring: f32, tube: f32, around: u32, across: u32) -> Result<TriangleMesh, TriangleMeshError> {
    let (around, across) = (around.clamp(3, 512), across.clamp(3, 512));
    let mut vertices = Vec::new();
    for i in 0..around {
        let (out_z, out_x) = turn(i, around);
        for j in 0..across {
            let (round_y, round_x) = turn(j, across);
            let from_axis = f64::from(ring) + f64::from(tube) * round_x;
            vertices.push(DVec3::new(out_x * from_axis, f64::from(tube) * round_y, -out_z * from_axis).as_vec3());
        }
    }
    let mut triangles = Vec::new();
    for i in 0..around {
        for j in 0..across {
            let at = |i: u32, j: u32| (i % around) * across + j % across;
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    TriangleMesh::new(vertices, triangles)
}

/// An open cup on y = 0 around the y axis, with wall and floor of thickness `wall`. Not convex, and its
/// hollow is outside.
pub fn cup(radius: f32, height: f32, wall: f32, around: u32) -> Result<TriangleMesh, TriangleMeshError> {
    let around = around.clamp(3, 512);
    // An outline from the middle of the underside to the middle of the floor, turned about the axis.
    let inner = radius - wall;
    let outline = [(radius, 0.0), (radius, height), (inner, height), (inner, wall)];
    let mut vertices = vec![Vec3::ZERO, Vec3::Y * wall];
    for i in 0..around {
        let (z, x) = turn(i, around);
        vertices.extend(outline.map(|(r, y)| Vec3::new(x as f32 * r, y, -(z as f32) * r)));
    }
    let mut triangles = Vec::new();
    for i in 0..around {
        let at = |i: u32, ring: u32| 2 + (i % around) * 4 + ring;
        triangles.push([0, at(i + 1, 0), at(i, 0)]);
        for ring in 0..3 {
            let [a, b, c, d] = [at(i, ring), at(i + 1, ring), at(i + 1, ring + 1), at(i, ring + 1)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
        triangles.push([1, at(i, 3), at(i + 1, 3)]);
    }
    TriangleMesh::new(vertices, triangles)
}

/// Sine and cosine of `step` steps, of which `of` make a full turn.
fn turn(step: u32, of: u32) -> (f64, f64) {
    libm::sincos(std::f64::consts::TAU * f64::from(step) / f64::from(of))
}

/// Vertices that are shared with neighbouring faces.
#[derive(Default)]
struct Builder {
    known: std::collections::BTreeMap<[u32; 3], u32>,
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
}

impl Builder {
    fn vertex(&mut self, point: Vec3) -> u32 {
        // Adding zero turns -0 into 0: one vertex for both faces.
        let key = (point + Vec3::ZERO).to_array().map(f32::to_bits);
        *self.known.entry(key).or_insert_with(|| {
            self.vertices.push(point);
            self.vertices.len() as u32 - 1
        })
    }

    fn finish(self) -> Result<TriangleMesh, TriangleMeshError> {
        TriangleMesh::new(self.vertices, self.triangles)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Every edge is used once in each direction: closed, edge-manifold and consistently oriented.
    fn assert_closed(mesh: &TriangleMesh) {
        let mut passes = BTreeMap::new();
        for &[a, b, c] in mesh.triangles() {
            for edge in [(a, b), (b, c), (c, a)] {
                *passes.entry(edge).or_insert(0) += 1;
            }
        }
        for (&(a, b), &count) in &passes {
            assert_eq!((count, passes.get(&(b, a))), (1, Some(&1)), "edge {a} to {b}");
        }
    }

    #[test]
    fn generated_meshes_are_closed_and_the_right_way_out() {
        let pi = std::f64::consts::PI;
        let made = [
            (cuboid(Vec3::new(1.0, 2.0, 3.0)).unwrap(), 48.0, 1e-6),
            (ball(2.0, 5).unwrap(), 4.0 / 3.0 * pi * 8.0, 0.01),
            (ball(2.0, 0).unwrap(), 4.0 / 3.0 * 8.0, 1e-6),
            (torus(3.0, 1.0, 64, 48).unwrap(), 2.0 * pi * pi * 3.0, 0.01),
            (cup(1.0, 2.0, 0.1, 64).unwrap(), pi * (2.0 - 0.81 * 1.9), 0.01),
        ];
        for (mesh, volume, tolerance) in made {
            assert_closed(&mesh);
            assert!((mesh.volume() / volume - 1.0).abs() < tolerance, "{} for {volume}", mesh.volume());
        }
    }

    #[test]
    fn any_numbers_are_answered() {
        for bad in [f32::NAN, f32::INFINITY, -1.0, 0.0, 1e30] {
            let _ = (cuboid(Vec3::splat(bad)), ball(bad, 3), torus(bad, bad, 0, u32::MAX), cup(bad, bad, bad, 1));
        }
        assert!(ball(f32::NAN, 1).is_err());
    }
}
