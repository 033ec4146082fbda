//! The generalized winding number, which defines inside and outside of surfaces with holes and self-intersections.

use space::DVec3;

use super::topology::half_solid_angle;

const LEAF: usize = 8;
/// A group of triangles farther away than this many times its radius is approximated.
const FAR: f64 = 2.5;

#[derive(Clone, Copy, Debug)]
struct Node {
    center: DVec3,
    radius: f64,
    area: DVec3,
    first: u32,
    count: u32,
}

/// Triangles in a hierarchy of groups, each with a far-field approximation.
#[derive(Clone, Debug)]
pub struct Winding {
    nodes: Vec<Node>,
    corners: Vec<[DVec3; 3]>,
}

impl Winding {
    pub fn new(triangles: &[[DVec3; 3]]) -> Winding {
        let mut corners = triangles.to_vec();
        let mut nodes = Vec::new();
        if !corners.is_empty() {
            build(&mut nodes, &mut corners, 0);
        }
        Winding { nodes, corners }
    }

    /// The winding number: one inside a closed surface with outward normals, zero outside, between them near holes.
    pub fn number(&self, point: DVec3) -> f64 {
        let mut far = 0.0;
        let mut near = Turns::default();
        // Each level halves the triangles, so the depth is below 64.
        let mut stack = [0_usize; 64];
        let mut waiting = usize::from(!self.nodes.is_empty());
        while waiting > 0 {
            waiting -= 1;
            let index = stack[waiting];
            let node = &self.nodes[index];
            let offset = node.center - point;
            let squared = offset.length_squared();
            if squared > FAR * FAR * node.radius * node.radius && squared > 0.0 {
                far += node.area.dot(offset) / (squared * squared.sqrt());
            } else if node.count > 0 {
                for corners in &self.corners[node.first as usize..(node.first + node.count) as usize] {
                    near.add(half_solid_angle(point, corners));
                }
            } else {
                stack[waiting] = node.first as usize;
                stack[waiting + 1] = index + 1;
                waiting += 2;
            }
        }
        far / (4.0 * std::f64::consts::PI) + near.sum() / (2.0 * std::f64::consts::PI)
    }
}

/// A sum of angles as a product of complex numbers, so that one arctangent suffices.
#[derive(Clone, Copy, Debug)]
struct Turns {
    cosine: f64,
    sine: f64,
    whole: i32,
}

impl Default for Turns {
    fn default() -> Turns {
        Turns { cosine: 1.0, sine: 0.0, whole: 0 }
    }
}

impl Turns {
    /// Adds the angle of a direction of any length; the zero vector has none.
    #[inline]
    fn add(&mut self, [cosine, sine]: [f64; 2]) {
        let product = [self.cosine * cosine - self.sine * sine, self.cosine * sine + self.sine * cosine];
        let size = product[0].abs().max(product[1].abs());
        if size == 0.0 {
            return;
        }
        // Two angles of one sign may exceed a half turn.
        if self.sine >= 0.0 && sine >= 0.0 && product[1] < 0.0 {
            self.whole += 1;
        } else if self.sine < 0.0 && sine < 0.0 && product[1] >= 0.0 {
            self.whole -= 1;
        }
        let scale = if (1e-90..1e90).contains(&size) { 1.0 } else { size.recip() };
        (self.cosine, self.sine) = (product[0] * scale, product[1] * scale);
    }

    fn sum(&self) -> f64 {
        // Removes the sign of zero: half a turn is positive.
        libm::atan2(self.sine + 0.0, self.cosine) + f64::from(self.whole) * 2.0 * std::f64::consts::PI
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
    use crate::sphere_tree::topology::solid_angle;
    use space::workload::Random;

    #[test]
    fn turns_are_what_angles_add_up_to() {
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let mut turns = Turns::default();
            let mut sum = 0.0;
            for _ in 0..random.whole(1, 60) {
                let angle = match random.whole(0, 4) {
                    0 => f64::from(random.whole(0, 5)) * std::f64::consts::FRAC_PI_4,
                    1 => 1e-6 * f64::from(random.between(-1.0, 1.0)),
                    _ => std::f64::consts::PI * f64::from(random.between(-1.0, 1.0)),
                };
                let length = 10_f64.powi(random.whole(0, 120) as i32 - 60);
                turns.add([libm::cos(angle) * length, libm::sin(angle) * length]);
                sum += angle;
            }
            assert!((turns.sum() - sum).abs() < 1e-9, "seed {seed}: {} instead of {sum}", turns.sum());
        }
    }

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
