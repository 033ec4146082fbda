//! How often a surface winds around a point: tells in from out where the surface has holes or crosses itself.

use glam::DVec3;

use super::topology::solid_angle;

const LEAF: usize = 8;
/// A group of triangles farther away than this many times its radius is seen as one.
const FAR: f64 = 2.5;

#[derive(Clone, Copy, Debug)]
struct Node {
    center: DVec3,
    radius: f64,
    /// Sum of the triangles' area vectors.
    area: DVec3,
    first: u32,
    count: u32,
}

/// Triangles in groups, each with what it looks like from afar.
#[derive(Clone, Debug)]
pub struct Winding {
    nodes: Vec<Node>,
    corners: Vec<[DVec3; 3]>,
}

impl Winding {
    /// Groups the triangles.
    pub fn new(triangles: &[[DVec3; 3]]) -> Winding {
        let mut corners = triangles.to_vec();
        let mut nodes = Vec::new();
        if !corners.is_empty() {
            build(&mut nodes, &mut corners, 0);
        }
        Winding { nodes, corners }
    }

    /// The winding number: one inside a closed surface that looks outward, zero outside, between them near holes.
    pub fn number(&self, point: DVec3) -> f64 {
        let mut sum = 0.0;
        let mut stack = vec![0_usize];
        while let Some(index) = stack.pop() {
            let Some(node) = self.nodes.get(index) else { continue };
            let offset = node.center - point;
            let distance = offset.length();
            if distance > FAR * node.radius && distance > 0.0 {
                sum += node.area.dot(offset) / (distance * distance * distance);
            } else if node.count > 0 {
                let leaf = &self.corners[node.first as usize..(node.first + node.count) as usize];
                sum += leaf.iter().map(|corners| solid_angle(point, corners)).sum::<f64>();
            } else {
                stack.push(node.first as usize);
                stack.push(index + 1);
            }
        }
        sum / (4.0 * std::f64::consts::PI)
    }
}

fn build(nodes: &mut Vec<Node>, corners: &mut [[DVec3; 3]], first: u32) {
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let (mut weighted, mut total, mut area) = (DVec3::ZERO, 0.0, DVec3::ZERO);
    for &[a, b, c] in corners.iter() {
        let vector = (b - a).cross(c - a) * 0.5;
        let middle = (a + b + c) / 3.0;
        area += vector;
        weighted += middle * vector.length();
        total += vector.length();
        low = low.min(middle);
        high = high.max(middle);
    }
    let center = if total > 0.0 { weighted / total } else { (low + high) * 0.5 };
    let radius = corners.iter().flatten().map(|corner| corner.distance(center)).fold(0.0, f64::max);
    let index = nodes.len();
    nodes.push(Node { center, radius, area, first, count: corners.len() as u32 });
    if corners.len() <= LEAF {
        return;
    }
    let extent = high - low;
    let axis = (0..3).max_by(|&i, &j| extent[i].total_cmp(&extent[j])).unwrap_or(0);
    let middle = corners.len() / 2;
    let key = |[a, b, c]: &[DVec3; 3]| a[axis] + b[axis] + c[axis];
    corners.select_nth_unstable_by(middle, |a, b| key(a).total_cmp(&key(b)));
    let (left, right) = corners.split_at_mut(middle);
    build(nodes, left, first);
    nodes[index].first = nodes.len() as u32;
    nodes[index].count = 0;
    build(nodes, right, first + middle as u32);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Random;

    #[test]
    fn groups_see_nearly_what_single_triangles_see() {
        for seed in 0..20 {
            let mut random = Random::new(seed);
            let triangles: Vec<[DVec3; 3]> = (0..150)
                .map(|_| {
                    let at = random.in_ball().as_dvec3();
                    [0, 1, 2].map(|_| at + random.in_ball().as_dvec3() * 0.2)
                })
                .collect();
            let winding = Winding::new(&triangles);
            for _ in 0..20 {
                let point = random.in_ball().as_dvec3();
                let all: f64 = triangles.iter().map(|corners| solid_angle(point, corners)).sum();
                let exact = all / (4.0 * std::f64::consts::PI);
                assert!((winding.number(point) - exact).abs() < 0.02, "seed {seed}");
            }
        }
    }
}
