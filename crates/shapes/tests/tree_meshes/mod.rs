//! Meshes for tests of trees: the shipped shapes, and broken ones.

#![allow(dead_code)] // Not every test uses everything.

use kinesphere_shapes::mesh::catalog::{NAMES, shape};
use kinesphere_shapes::mesh::corners_of;
use space::DVec3;
use space::workload::Random;

/// A mesh with a name that identifies it.
pub struct Case {
    pub name: String,
    pub vertices: Vec<DVec3>,
    pub triangles: Vec<[u32; 3]>,
}

impl Case {
    pub fn corners(&self) -> Vec<[DVec3; 3]> {
        corners_of(&self.vertices, &self.triangles)
    }
}

pub fn shipped() -> Vec<Case> {
    NAMES.into_iter().map(shipped_one).collect()
}

pub fn shipped_one(name: &str) -> Case {
    let mesh = shape(name).unwrap_or_else(|| panic!("{name} is not shipped"));
    Case { name: name.to_owned(), vertices: mesh.wide_vertices(), triangles: mesh.triangles().to_vec() }
}

/// A broken mesh that depends on the seed: torn, inconsistent, degenerate, huge, needles, points.
pub fn broken(seed: u64) -> Case {
    let mut random = Random::new(seed);
    let kind = seed % 8;
    let mut case = shipped_one(if kind.is_multiple_of(2) { "torus" } else { "box" });
    case.name = format!("broken mesh, seed {seed}");
    match kind {
        // Triangles missing: open.
        0 | 1 => {
            let keep = random.between(0.3, 0.95);
            case.triangles.retain(|_| random.unit() < keep);
            case.triangles.push([0, 1, 2]);
        }
        // Turned at random: inconsistent.
        2 => case.triangles.iter_mut().filter(|_| random.unit() < 0.4).for_each(|triangle| triangle.swap(0, 1)),
        // Doubled corners and triangles without area.
        3 => {
            let count = case.vertices.len() as u32;
            case.vertices.extend(case.vertices.clone());
            case.triangles.extend((0..6).map(|index| [index, index + count, index]));
            case.triangles.extend((0..3).map(|index| [index, index, index]));
        }
        // Jitter, far away, huge or tiny.
        4 => {
            let scale = f64::from(random.log_uniform(1e6)) * if random.unit() < 0.5 { 1e-3 } else { 1e60 };
            for vertex in &mut case.vertices {
                *vertex = (*vertex + random.in_ball().as_dvec3() * 1e-4) * scale + DVec3::splat(scale * 100.0);
            }
        }
        // A soup of needles.
        5 => {
            case.vertices = (0..60).map(|_| random.in_ball().as_dvec3() * DVec3::new(1.0, 1e-6, 1.0)).collect();
            case.triangles = (0..20).map(|index| [3 * index, 3 * index + 1, 3 * index + 2]).collect();
        }
        // A few triangles.
        6 => {
            let count = random.whole(1, 6);
            case.vertices = (0..3 * count).map(|_| random.in_ball().as_dvec3()).collect();
            case.triangles = (0..count).map(|index| [3 * index, 3 * index + 1, 3 * index + 2]).collect();
        }
        // A point, or a line.
        _ => {
            let line = f64::from(random.whole(0, 2));
            case.vertices = vec![DVec3::ONE, DVec3::ONE + DVec3::X * line, DVec3::ONE + DVec3::X * line * 0.5];
            case.triangles = vec![[0, 1, 2]];
        }
    }
    case
}
