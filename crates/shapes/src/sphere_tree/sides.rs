//! A grid of precomputed inside tests, as winding numbers are slow.

use rayon::prelude::*;
use space::DVec3;

use super::nearest::TriangleTree;
use super::winding::Winding;

/// Nodes along an axis of the grid around the unit ball.
const NODES: usize = 48;
const PITCH: f64 = 2.0 / (NODES - 1) as f64;

/// A closed surface within the unit ball, and for each node whether it is inside.
#[derive(Clone, Debug)]
pub struct Sides {
    winding: Winding,
    is_inside: Vec<bool>,
}

impl Sides {
    /// Tests every node, or copies a neighbour: no surface is between two nodes if one is farther from the surface than
    /// from the other.
    pub fn new(winding: Winding, surface: &TriangleTree) -> Sides {
        let distances: Vec<f64> = (0..NODES * NODES * NODES)
            .into_par_iter()
            .map(|index| surface.nearest(node(index), None).map_or(f64::INFINITY, |nearest| nearest.squared.sqrt()))
            .collect();
        let mut is_inside = vec![false; distances.len()];
        for index in 0..is_inside.len() {
            let [x, y, z] = place(index);
            let before = [(x, NODES * NODES), (y, NODES), (z, 1)];
            let mut neighbours = before.into_iter().filter(|&(at, _)| at > 0).map(|(_, step)| index - step);
            let known = neighbours.find(|&other| distances[index].max(distances[other]) > PITCH * 1.001);
            is_inside[index] = match known {
                Some(other) => is_inside[other],
                None => winding.number(node(index)) >= 0.5,
            };
        }
        Sides { winding, is_inside }
    }

    /// Whether a point with this squared distance from the surface is inside.
    pub fn is_inside(&self, point: DVec3, squared: f64) -> bool {
        let at = ((point + 1.0) / PITCH).round();
        if at.min_element() >= 0.0 && at.max_element() < NODES as f64 {
            let [x, y, z] = at.to_array().map(|value| value as usize);
            let index = (x * NODES + y) * NODES + z;
            if node(index).distance_squared(point) < squared * 0.999 {
                return self.is_inside[index];
            }
        }
        self.winding.number(point) >= 0.5
    }
}

fn place(index: usize) -> [usize; 3] {
    [index / (NODES * NODES), index / NODES % NODES, index % NODES]
}

fn node(index: usize) -> DVec3 {
    let [x, y, z] = place(index).map(|at| at as f64);
    DVec3::new(x, y, z) * PITCH - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::catalog::shape;
    use crate::mesh::corners_of;
    use space::workload::Random;

    #[test]
    fn what_is_looked_up_is_what_winding_numbers_say() {
        for name in ["chair", "vessel", "torus-knot"] {
            let mesh = shape(name).unwrap();
            let triangles = corners_of(&mesh.wide_vertices(), mesh.triangles());
            let surface = TriangleTree::new(&triangles);
            let winding = Winding::new(&triangles);
            let sides = Sides::new(winding.clone(), &surface);
            let mut random = Random::new(4);
            for _ in 0..3_000 {
                let point = random.in_ball().as_dvec3() * 0.8;
                let squared = surface.nearest(point, None).unwrap().squared;
                if squared > 1e-8 {
                    assert_eq!(sides.is_inside(point, squared), winding.number(point) >= 0.5, "{name}: {point}");
                }
            }
        }
    }
}
