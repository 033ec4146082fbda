//! Shapes by name, made from a few numbers: what builders and reports are tried on.

use space::{DVec3, Vec3};

use super::generated::{ball, cuboid, torus};
use super::{TriangleMesh, TriangleMeshError};
use space::workload::Random;

/// The names of all shapes, in the order of reports.
pub const NAMES: [&str; 9] = ["box", "ball", "torus", "torus-knot", "vessel", "rabbit", "chair", "plate", "soup"];

/// The shape of this name. Besides those of reports there is `flag`, a sheet that deforms.
pub fn shape(name: &str) -> Option<TriangleMesh> {
    let made = match name {
        "box" => cuboid(Vec3::splat(0.5)),
        "ball" => ball(0.5, 3),
        "torus" => torus(0.5, 0.2, 32, 16),
        "torus-knot" => torus_knot(96, 10),
        "vessel" => vessel(),
        "rabbit" => rabbit(),
        "chair" => chair(),
        "plate" => cuboid(Vec3::new(0.5, 0.4, 0.005)),
        "soup" => soup(200, 7),
        "flag" => sheet(1.5, 1.0, 12, 8),
        _ => return None,
    };
    made.ok()
}

/// An open sheet in the xy plane with a corner at the origin, of `across` times `up` quads.
pub fn sheet(width: f32, height: f32, across: u32, up: u32) -> Result<TriangleMesh, TriangleMeshError> {
    let (across, up) = (across.clamp(1, 512), up.clamp(1, 512));
    let place = |i: u32, j: u32| Vec3::new(width * i as f32 / across as f32, height * j as f32 / up as f32, 0.0);
    let vertices = (0..=up).flat_map(|j| (0..=across).map(move |i| place(i, j))).collect();
    let at = |i: u32, j: u32| j * (across + 1) + i;
    let quads = (0..up).flat_map(|j| (0..across).map(move |i| (i, j)));
    let triangles = quads.flat_map(|(i, j)| {
        let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
        [[a, b, c], [a, c, d]]
    });
    TriangleMesh::new(vertices, triangles.collect())
}

/// A tube along a (2, 3) torus knot.
pub fn torus_knot(along: u32, across: u32) -> Result<TriangleMesh, TriangleMeshError> {
    let (along, across) = (along.clamp(24, 1024), across.clamp(3, 64));
    let at = |step: u32| {
        let angle = std::f64::consts::TAU * f64::from(step % along) / f64::from(along);
        let (out, up) = (1.0 + 0.42 * libm::cos(3.0 * angle), 0.42 * libm::sin(3.0 * angle));
        DVec3::new(out * libm::cos(2.0 * angle), out * libm::sin(2.0 * angle), up) * 0.35
    };
    let mut vertices = Vec::new();
    for step in 0..along {
        let ahead = (at(step + 1) - at(step + along - 1)).normalize_or_zero();
        // This side is the same after a full turn.
        let center = at(step);
        let outward = DVec3::new(center.x, center.y, 0.0).normalize_or_zero();
        let side = ahead.cross(outward).normalize_or_zero();
        let other = side.cross(ahead);
        for corner in 0..across {
            let angle = std::f64::consts::TAU * f64::from(corner) / f64::from(across);
            let offset = side * libm::cos(angle) + other * libm::sin(angle);
            vertices.push((center + offset * 0.06).as_vec3());
        }
    }
    let mut triangles = Vec::new();
    for step in 0..along {
        for corner in 0..across {
            let index = |step: u32, corner: u32| (step % along) * across + corner % across;
            let [a, b] = [index(step, corner), index(step + 1, corner)];
            let [c, d] = [index(step + 1, corner + 1), index(step, corner + 1)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    outward(vertices, triangles)
}

/// A cup with a thin wall, a floor and a ring-shaped handle.
pub fn vessel() -> Result<TriangleMesh, TriangleMeshError> {
    let solid = |point: DVec3| {
        let radius = DVec3::new(point.x, point.y, 0.0).length();
        let outer = (radius - 0.36).max(point.z.abs() - 0.42);
        let cavity = (radius - 0.29).max(-0.35 - point.z);
        let ring = DVec3::new(point.x - 0.40, 0.0, point.z).length() - 0.22;
        let handle = DVec3::new(ring, point.y, 0.0).length() - 0.05;
        outer.min(handle).max(-cavity)
    };
    upright(of_implicit(DVec3::new(-0.45, -0.45, -0.5), DVec3::new(0.75, 0.45, 0.5), 0.055, solid)?)
}

pub fn rabbit() -> Result<TriangleMesh, TriangleMeshError> {
    let egg = |point: DVec3, center: DVec3, radii: DVec3| {
        let scaled = (point - center) / radii;
        (scaled.length() - 1.0) * radii.min_element()
    };
    let capsule = |point: DVec3, from: DVec3, to: DVec3, radius: f64| {
        let along = to - from;
        let t = ((point - from).dot(along) / along.length_squared()).clamp(0.0, 1.0);
        point.distance(from + along * t) - radius
    };
    let solid = |point: DVec3| {
        let mirrored = DVec3::new(point.x, point.y.abs(), point.z);
        let parts = [
            egg(point, DVec3::new(0.05, 0.0, -0.12), DVec3::new(0.32, 0.25, 0.26)),
            egg(point, DVec3::new(-0.26, 0.0, 0.14), DVec3::new(0.17, 0.14, 0.14)),
            capsule(mirrored, DVec3::new(-0.24, 0.07, 0.16), DVec3::new(-0.08, 0.13, 0.5), 0.075),
            capsule(mirrored, DVec3::new(-0.08, 0.14, -0.34), DVec3::new(-0.26, 0.15, -0.36), 0.07),
            capsule(mirrored, DVec3::new(0.2, 0.17, -0.3), DVec3::new(0.02, 0.2, -0.35), 0.08),
            point.distance(DVec3::new(0.38, 0.0, -0.2)) - 0.08,
        ];
        parts
            .into_iter()
            .reduce(|a, b| {
                let near = (1.0 - (a - b).abs() / 0.06).max(0.0);
                a.min(b) - near * near * 0.06 * 0.25
            })
            .unwrap_or(1.0)
    };
    upright(of_implicit(DVec3::new(-0.5, -0.4, -0.5), DVec3::new(0.52, 0.4, 0.64), 0.1, solid)?)
}

/// A seat, a back and four legs: six boxes that intersect.
pub fn chair() -> Result<TriangleMesh, TriangleMeshError> {
    let mut vertices = Vec::new();
    let mut triangles = Vec::new();
    let mut add = |center: Vec3, half: Vec3| -> Result<(), TriangleMeshError> {
        let (corners, faces) = cuboid(half)?.into_parts();
        let first = vertices.len() as u32;
        vertices.extend(corners.into_iter().map(|corner| corner + center));
        triangles.extend(faces.into_iter().map(|face| face.map(|corner| corner + first)));
        Ok(())
    };
    add(Vec3::new(0.0, 0.0, 0.0), Vec3::new(0.25, 0.25, 0.025))?;
    add(Vec3::new(-0.23, 0.0, 0.27), Vec3::new(0.02, 0.25, 0.28))?;
    for (x, y) in [(-0.22, -0.22), (-0.22, 0.22), (0.22, -0.22), (0.22, 0.22)] {
        add(Vec3::new(x, y, -0.23), Vec3::new(0.022, 0.022, 0.24))?;
    }
    upright(TriangleMesh::new(vertices, triangles)?)
}

/// Random triangles without an inside.
pub fn soup(count: u32, seed: u64) -> Result<TriangleMesh, TriangleMeshError> {
    let mut random = Random::new(seed);
    let mut vertices = Vec::new();
    for _ in 0..count.clamp(1, 1 << 16) {
        let center = random.in_ball() * 0.5;
        for _ in 0..3 {
            vertices.push(center + random.in_ball() * 0.1);
        }
    }
    let triangles = (0..vertices.len() as u32 / 3).map(|index| [3 * index, 3 * index + 1, 3 * index + 2]).collect();
    TriangleMesh::new(vertices, triangles)
}

/// The zero set of a function that is negative inside, by marching tetrahedra: each cube of a grid is cut into six
/// tetrahedra. Neighbours share faces, so the result is closed.
fn of_implicit(
    low: DVec3,
    high: DVec3,
    pitch: f64,
    solid: impl Fn(DVec3) -> f64,
) -> Result<TriangleMesh, TriangleMeshError> {
    const PATHS: [[usize; 4]; 6] = [[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]];
    let counts = ((high - low) / pitch).to_array().map(|count| count as usize + 2);
    let name = |at: [usize; 3]| (at[0] * counts[1] + at[1]) * counts[2] + at[2];
    let place = |at: [usize; 3]| low + DVec3::new(at[0] as f64, at[1] as f64, at[2] as f64) * pitch;
    let mut corners = std::collections::BTreeMap::new();
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for x in 0..counts[0] - 1 {
        for y in 0..counts[1] - 1 {
            for z in 0..counts[2] - 1 {
                let cube: [[usize; 3]; 8] =
                    std::array::from_fn(|bits| [x + (bits & 1), y + (bits >> 1 & 1), z + (bits >> 2)]);
                let values = cube.map(|at| {
                    let value = solid(place(at));
                    // Keeps corners off the surface, where a triangle would have no area.
                    if value.abs() < 0.05 * pitch { 0.05 * pitch * if value < 0.0 { -1.0 } else { 1.0 } } else { value }
                });
                for path in PATHS {
                    let mut crossing = |a: usize, b: usize| {
                        let ends = (name(cube[a]).min(name(cube[b])), name(cube[a]).max(name(cube[b])));
                        *corners.entry(ends).or_insert_with(|| {
                            let t = values[a] / (values[a] - values[b]);
                            vertices.push((place(cube[a]) + (place(cube[b]) - place(cube[a])) * t).as_vec3());
                            vertices.len() as u32 - 1
                        })
                    };
                    let (inner, outer): (Vec<usize>, Vec<usize>) =
                        path.iter().partition(|&&corner| values[corner] < 0.0);
                    let middle = |list: &[usize]| {
                        list.iter().map(|&corner| place(cube[corner])).sum::<DVec3>() / list.len() as f64
                    };
                    let faces: Vec<[u32; 3]> = match (inner.as_slice(), outer.as_slice()) {
                        (&[a], &[b, c, d]) | (&[b, c, d], &[a]) => {
                            vec![[crossing(a, b), crossing(a, c), crossing(a, d)]]
                        }
                        (&[a, b], &[c, d]) => {
                            let ring = [crossing(a, c), crossing(b, c), crossing(b, d), crossing(a, d)];
                            vec![[ring[0], ring[1], ring[2]], [ring[0], ring[2], ring[3]]]
                        }
                        _ => continue,
                    };
                    let out = middle(&outer) - middle(&inner);
                    for face in faces {
                        let [p, q, r] = face.map(|corner| vertices[corner as usize].as_dvec3());
                        let is_out = (q - p).cross(r - p).dot(out) > 0.0;
                        triangles.push(if is_out { face } else { [face[0], face[2], face[1]] });
                    }
                }
            }
        }
    }
    TriangleMesh::new(vertices, triangles)
}

fn upright(mesh: TriangleMesh) -> Result<TriangleMesh, TriangleMeshError> {
    let (vertices, triangles) = mesh.into_parts();
    TriangleMesh::new(vertices.into_iter().map(|vertex| Vec3::new(vertex.x, vertex.z, -vertex.y)).collect(), triangles)
}

/// Reverses the triangles if the volume is negative.
fn outward(vertices: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Result<TriangleMesh, TriangleMeshError> {
    let mesh = TriangleMesh::new(vertices, triangles)?;
    if mesh.volume() >= 0.0 {
        return Ok(mesh);
    }
    let (vertices, triangles) = mesh.into_parts();
    TriangleMesh::new(vertices, triangles.into_iter().map(|[a, b, c]| [a, c, b]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Whether each edge is used once in either direction, and the number of connected pieces.
    fn is_closed_in_pieces(mesh: &TriangleMesh) -> (bool, usize) {
        let mut edges = BTreeMap::new();
        let mut group: Vec<usize> = (0..mesh.vertices().len()).collect();
        fn root(group: &mut [usize], mut at: usize) -> usize {
            while group[at] != at {
                group[at] = group[group[at]];
                at = group[at];
            }
            at
        }
        for corners in mesh.triangles() {
            for side in 0..3 {
                let (from, to) = (corners[side], corners[(side + 1) % 3]);
                *edges.entry((from, to)).or_insert(0) += 1;
                let (a, b) = (root(&mut group, from as usize), root(&mut group, to as usize));
                group[a] = b;
            }
        }
        let closed = edges.iter().all(|(&(from, to), &count)| count == 1 && edges.contains_key(&(to, from)));
        (closed, (0..group.len()).filter(|&at| root(&mut group, at) == at).count())
    }

    #[test]
    fn solids_are_closed_look_outward_and_hang_together() {
        for name in NAMES {
            let mesh = shape(name).unwrap_or_else(|| panic!("{name}"));
            let (closed, pieces) = is_closed_in_pieces(&mesh);
            match name {
                "soup" => assert!(!closed),
                "chair" => assert!(closed && pieces == 6 && mesh.volume() > 0.0),
                _ => assert!(closed && pieces == 1 && mesh.volume() > 0.0, "{name}: {closed}, {pieces} pieces"),
            }
        }
        assert!(shape("teapot").is_none());
    }

    #[test]
    fn the_rabbit_has_about_1500_triangles() {
        let count = rabbit().unwrap().triangles().len();
        assert!((1_300..=1_700).contains(&count), "{count}");
    }
}
