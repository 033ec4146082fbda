//! The part of a core that faces a direction.

use space::DVec3;

use super::convex::Core;
use super::proximity::Feature;

/// Directions that differ by less are equal: about half a degree.
const SAME: f64 = 0.01;

impl Core<'_> {
    /// The corner, edge or face that is farthest along a unit vector in the core's own coordinates.
    pub fn feature(&self, direction: DVec3) -> Feature {
        match self {
            Core::Box { .. } => block_feature(direction),
            Core::Hull(hull) => {
                let along = |index: usize| hull.vertices()[index].as_dvec3().dot(direction);
                let count = hull.vertices().len();
                let most = (0..count).map(along).fold(f64::NEG_INFINITY, f64::max);
                let near = most - SAME * hull.sphere.radius as f64;
                let faces = hull
                    .triangles()
                    .iter()
                    .position(|corners| corners.iter().all(|&corner| along(corner as usize) >= near));
                if let Some(face) = faces {
                    return Feature::Face(face as u32);
                }
                let mut on = (0..count).filter(|&index| along(index) >= near).map(|index| index as u32);
                match (on.next(), on.next()) {
                    (Some(first), Some(second)) => Feature::Edge(first, second),
                    (Some(only), None) => Feature::Vertex(only),
                    _ => Feature::Surface,
                }
            }
            Core::Bar { .. } | Core::Triangle(_) => Feature::Surface,
        }
    }
}

fn block_feature(direction: DVec3) -> Feature {
    let decided: Vec<usize> = (0..3).filter(|&axis| direction[axis].abs() > SAME).collect();
    let side = |axis: usize| if direction[axis] > 0.0 { 1u32 << axis } else { 0 };
    match decided[..] {
        [axis] => Feature::Face(2 * axis as u32 + u32::from(direction[axis] > 0.0)),
        [first, second] => {
            let corner = side(first) | side(second);
            Feature::Edge(corner, corner | 1 << (3 - first - second))
        }
        _ => Feature::Vertex(side(0) | side(1) | side(2)),
    }
}
