//! Caps that close the holes of a surface, so that inside and outside are defined everywhere.
//!
//! Winding numbers of an open surface fade near holes, and a ball that does not meet the surface may be half inside: no
//! distance would prove anything. With a cap on every hole they are integers and change at the surface and the caps
//! only. Caps need not be covered by a tree.

use std::collections::BTreeMap;

use space::DVec3;

/// Triangles that close a surface: a cone over every rim, with its tip in the rim's middle. The rims are the edges that
/// are not used equally often in both directions; they form closed walks, so the cones close them.
pub fn caps(positions: &[DVec3], triangles: &[[u32; 3]]) -> Vec<[DVec3; 3]> {
    let mut walked: BTreeMap<(u32, u32), i32> = BTreeMap::new();
    for corners in triangles {
        for side in 0..3 {
            let (from, to) = (corners[side], corners[(side + 1) % 3]);
            *walked.entry((from.min(to), from.max(to))).or_default() += if from < to { 1 } else { -1 };
        }
    }
    walked.retain(|_, times| *times != 0);
    let mut rims = Rims::default();
    for &(a, b) in walked.keys() {
        rims.join(a, b);
    }
    let mut tips: BTreeMap<u32, (DVec3, f64)> = BTreeMap::new();
    for &(a, b) in walked.keys() {
        let tip = tips.entry(rims.rim(a)).or_insert((DVec3::ZERO, 0.0));
        tip.0 += positions[a as usize] + positions[b as usize];
        tip.1 += 2.0;
    }
    let mut caps = Vec::new();
    for (&(a, b), &times) in &walked {
        let Some(&(sum, count)) = tips.get(&rims.rim(a)) else { continue };
        // Opposite to the surface's direction.
        let (from, to) = if times > 0 { (b, a) } else { (a, b) };
        let cap = [positions[from as usize], positions[to as usize], sum / count];
        caps.extend(std::iter::repeat_n(cap, times.unsigned_abs() as usize));
    }
    caps
}

/// A union-find of vertices connected by open edges.
#[derive(Default)]
struct Rims {
    above: BTreeMap<u32, u32>,
}

impl Rims {
    fn rim(&mut self, corner: u32) -> u32 {
        let mut top = corner;
        while let Some(&above) = self.above.get(&top) {
            top = above;
        }
        let mut at = corner;
        while at != top {
            at = self.above.insert(at, top).unwrap_or(top);
        }
        top
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.rim(a), self.rim(b));
        if a != b {
            self.above.insert(a.max(b), a.min(b));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::catalog::{NAMES, shape};
    use crate::sphere_tree::topology::solid_angle;
    use space::workload::Random;

    #[test]
    fn with_caps_every_winding_number_is_whole() {
        for (seed, name) in NAMES.into_iter().enumerate() {
            let mesh = shape(name).unwrap();
            let positions = mesh.wide_vertices();
            let mut random = Random::new(seed as u64);
            // Some triangles missing, others doubled.
            let mut triangles: Vec<[u32; 3]> =
                mesh.triangles().iter().copied().filter(|_| random.unit() < 0.7).collect();
            triangles.extend(mesh.triangles().iter().copied().filter(|_| random.unit() < 0.1));
            let of = |corners: [u32; 3]| corners.map(|corner| positions[corner as usize]);
            let mut surface: Vec<[DVec3; 3]> = triangles.iter().copied().map(of).collect();
            surface.extend(caps(&positions, &triangles));
            for _ in 0..20 {
                let point = random.in_ball().as_dvec3() * 0.6;
                let all: f64 = surface.iter().map(|corners| solid_angle(point, corners)).sum();
                let number = all / (4.0 * std::f64::consts::PI);
                assert!((number - number.round()).abs() < 1e-6, "{name}: {number} at {point}");
            }
        }
    }

    #[test]
    fn what_is_closed_gets_no_caps() {
        for name in NAMES.into_iter().filter(|&name| name != "soup") {
            let mesh = shape(name).unwrap();
            let positions = mesh.wide_vertices();
            assert!(caps(&positions, mesh.triangles()).is_empty(), "{name}");
        }
    }
}
