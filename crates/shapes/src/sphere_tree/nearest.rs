//! The nearest point of many triangles, by a bounding volume hierarchy.

use space::DVec3;

use super::cut::longest_side;

const LEAF: usize = 4;
const MAX_VICINITY: usize = 192;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriangleFeature {
    Face,
    Edge(u8),
    Corner(u8),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    pub point: DVec3,
    pub squared: f64,
    pub triangle: u32,
    pub feature: TriangleFeature,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    low: DVec3,
    high: DVec3,
    /// The first triangle of a leaf, or the right child; the left child follows its parent.
    first: u32,
    /// The number of triangles of a leaf; zero for an inner node.
    count: u32,
}

#[derive(Clone, Debug)]
pub struct TriangleTree {
    nodes: Vec<Node>,
    /// Corners in the order of the leaves, and the triangle's index in `names`.
    corners: Vec<[DVec3; 3]>,
    names: Vec<u32>,
    /// A ball around each, in the same order, which rules out most triangles of a leaf.
    around: Vec<(DVec3, f64)>,
    /// The plane of each, in the same order: unit normal and offset. The triangle is not nearer than its plane.
    planes: Vec<(DVec3, f64)>,
    /// The place in that order of each triangle.
    places: Vec<u32>,
}

impl TriangleTree {
    pub fn new(triangles: &[[DVec3; 3]]) -> TriangleTree {
        let mut names: Vec<u32> = (0..triangles.len() as u32).collect();
        let centers: Vec<DVec3> = triangles.iter().map(|[a, b, c]| (*a + *b + *c) / 3.0).collect();
        let mut nodes = Vec::with_capacity(triangles.len());
        if !names.is_empty() {
            build(&mut nodes, triangles, &centers, &mut names, 0);
        }
        let corners: Vec<[DVec3; 3]> = names.iter().map(|&name| triangles[name as usize]).collect();
        let ball = |corners: &[DVec3; 3]| {
            // Around the midpoint of the longest edge: the smallest ball if the opposite angle is obtuse.
            let (side, _) = longest_side(corners);
            let center = (corners[side] + corners[(side + 1) % 3]) * 0.5;
            let radius = corners.iter().map(|corner| corner.distance(center)).fold(0.0, f64::max);
            (center, radius * (1.0 + 1e-9) + 1e-300)
        };
        let around = corners.iter().map(ball).collect();
        let plane = |[a, b, c]: &[DVec3; 3]| {
            let normal = (*b - *a).cross(*c - *a).normalize_or_zero();
            // The normal of a needle is imprecise.
            let wide =
                (*b - *a).cross(*c - *a).length() > 1e-6 * (*b - *a).length_squared().max((*c - *a).length_squared());
            if wide { (normal, normal.dot(*a)) } else { (DVec3::ZERO, 0.0) }
        };
        let planes = corners.iter().map(plane).collect();
        let mut places = vec![0; names.len()];
        for (place, &name) in names.iter().enumerate() {
            places[name as usize] = place as u32;
        }
        TriangleTree { nodes, corners, names, around, planes, places }
    }

    /// The nearest point; `hint` is a triangle that may be near. `None` without triangles.
    pub fn nearest(&self, point: DVec3, hint: Option<u32>) -> Option<Nearest> {
        self.nearest_within(point, hint, f64::INFINITY)
    }

    /// The nearest point with a squared distance below `limit`. Ties go to the triangle found first.
    pub fn nearest_within(&self, point: DVec3, hint: Option<u32>, limit: f64) -> Option<Nearest> {
        let mut best: Option<Nearest> = None;
        let mut squared = limit;
        let mut reach = limit.sqrt() * (1.0 + 1e-12);
        if let Some(&place) = hint.and_then(|name| self.places.get(name as usize)) {
            self.try_triangle(place as usize, point, &mut squared, &mut best);
            reach = squared.sqrt() * (1.0 + 1e-12);
        }
        if self.nodes.is_empty() {
            return None;
        }
        let mut stack = [(0_u32, 0.0_f64); 64];
        let mut top = 1;
        stack[0] = (0, distance_to_box(&self.nodes[0], point));
        while top > 0 {
            top -= 1;
            let (index, distance) = stack[top];
            if distance >= squared {
                continue;
            }
            let node = &self.nodes[index as usize];
            if node.count > 0 {
                for place in node.first as usize..(node.first + node.count) as usize {
                    if self.may_be_within(place, point, reach) {
                        self.try_triangle(place, point, &mut squared, &mut best);
                        reach = squared.sqrt() * (1.0 + 1e-12);
                    }
                }
                continue;
            }
            let (left, right) = (index + 1, node.first);
            let to_left = distance_to_box(&self.nodes[left as usize], point);
            let to_right = distance_to_box(&self.nodes[right as usize], point);
            let (near, far) = if to_left <= to_right {
                ((left, to_left), (right, to_right))
            } else {
                ((right, to_right), (left, to_left))
            };
            for entry in [far, near] {
                if entry.1 < squared && top < stack.len() {
                    stack[top] = entry;
                    top += 1;
                }
            }
        }
        best
    }

    /// The triangles around a point, for many queries close to it.
    pub fn vicinity(&self, center: DVec3, radius: f64) -> Vicinity<'_> {
        let mut order: Vec<(f64, u32)> = Vec::new();
        self.places_within(center, radius, |place, least| order.push((least, place)));
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let known = order.get(MAX_VICINITY).map_or(radius, |&(least, _)| least);
        order.truncate(MAX_VICINITY);
        Vicinity { tree: self, center, order, known }
    }

    /// Calls `found` with the index and corners of each triangle that may be within `radius` of `center`.
    pub fn within(&self, center: DVec3, radius: f64, mut found: impl FnMut(usize, &[DVec3; 3])) {
        self.places_within(center, radius, |place, _| {
            found(self.names[place as usize] as usize, &self.corners[place as usize]);
        });
    }

    /// Places of triangles, with a lower bound of their distance.
    fn places_within(&self, center: DVec3, radius: f64, mut found: impl FnMut(u32, f64)) {
        let mut waiting = vec![0_u32];
        while let Some(index) = waiting.pop() {
            let Some(node) = self.nodes.get(index as usize) else { continue };
            if distance_to_box(node, center) > radius * radius {
                continue;
            }
            if node.count == 0 {
                waiting.extend([node.first, index + 1]);
                continue;
            }
            for place in node.first..node.first + node.count {
                let (middle, reach) = self.around[place as usize];
                let least = (middle.distance(center) - reach) * (1.0 - 1e-12);
                if least <= radius {
                    found(place, least);
                }
            }
        }
    }

    /// Whether the ball around a triangle and its plane allow it to be within `reach`.
    #[inline]
    fn may_be_within(&self, place: usize, point: DVec3, reach: f64) -> bool {
        let (center, radius) = self.around[place];
        let far = reach + radius;
        if center.distance_squared(point) > far * far {
            return false;
        }
        let (normal, offset) = self.planes[place];
        (normal.dot(point) - offset).abs() <= reach + 1e-9
    }

    #[inline]
    fn try_triangle(&self, place: usize, point: DVec3, squared: &mut f64, best: &mut Option<Nearest>) {
        let (on, feature) = nearest_of_triangle(point, &self.corners[place]);
        let distance = on.distance_squared(point);
        if distance < *squared {
            *squared = distance;
            *best = Some(Nearest { point: on, squared: distance, triangle: self.names[place], feature });
        }
    }
}

/// The triangles around a point, by their least distance from it.
#[derive(Clone, Debug)]
pub struct Vicinity<'a> {
    tree: &'a TriangleTree,
    center: DVec3,
    /// Lower bounds of the distance from the centre, and places.
    order: Vec<(f64, u32)>,
    /// All triangles that can be nearer than this are in `order`.
    known: f64,
}

impl Vicinity<'_> {
    /// The nearest point of all triangles, as [`TriangleTree::nearest`].
    pub fn nearest(&self, point: DVec3, hint: Option<u32>) -> Option<Nearest> {
        let moved = point.distance(self.center) * (1.0 + 1e-12);
        let mut best = None;
        let (mut squared, mut reach) = (f64::INFINITY, f64::INFINITY);
        // The triangle that was nearest before often still is, and rules out others.
        if let Some(&place) = hint.and_then(|name| self.tree.places.get(name as usize)) {
            self.tree.try_triangle(place as usize, point, &mut squared, &mut best);
            reach = squared.sqrt() * (1.0 + 1e-12);
        }
        for &(least, place) in &self.order {
            if least - moved > reach {
                return best;
            }
            if self.tree.may_be_within(place as usize, point, reach) {
                self.tree.try_triangle(place as usize, point, &mut squared, &mut best);
                reach = squared.sqrt() * (1.0 + 1e-12);
            }
        }
        if reach <= self.known - moved { best } else { self.tree.nearest(point, hint) }
    }
}

fn build(nodes: &mut Vec<Node>, triangles: &[[DVec3; 3]], centers: &[DVec3], names: &mut [u32], first: u32) {
    let mut low = DVec3::INFINITY;
    let mut high = DVec3::NEG_INFINITY;
    let (mut center_low, mut center_high) = (low, high);
    for &name in names.iter() {
        for corner in triangles[name as usize] {
            low = low.min(corner);
            high = high.max(corner);
        }
        center_low = center_low.min(centers[name as usize]);
        center_high = center_high.max(centers[name as usize]);
    }
    let index = nodes.len();
    nodes.push(Node { low, high, first, count: names.len() as u32 });
    if names.len() <= LEAF {
        return;
    }
    let extent = center_high - center_low;
    let axis = if extent.x >= extent.y && extent.x >= extent.z {
        0
    } else if extent.y >= extent.z {
        1
    } else {
        2
    };
    let middle = names.len() / 2;
    let key = |name: u32| (centers[name as usize][axis], name);
    names.select_nth_unstable_by(middle, |&a, &b| key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal));
    let (left, right) = names.split_at_mut(middle);
    build(nodes, triangles, centers, left, first);
    nodes[index].first = nodes.len() as u32;
    nodes[index].count = 0;
    build(nodes, triangles, centers, right, first + middle as u32);
}

#[inline]
fn distance_to_box(node: &Node, point: DVec3) -> f64 {
    let outside = (node.low - point).max(point - node.high).max(DVec3::ZERO);
    outside.length_squared()
}

/// The nearest point of a triangle, by the Voronoi region of the point.
pub fn nearest_of_triangle(point: DVec3, &[a, b, c]: &[DVec3; 3]) -> (DVec3, TriangleFeature) {
    let (ab, ac, ap) = (b - a, c - a, point - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return (a, TriangleFeature::Corner(0));
    }
    let bp = point - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return (b, TriangleFeature::Corner(1));
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 && d1 > d3 {
        return (a + ab * (d1 / (d1 - d3)), TriangleFeature::Edge(0));
    }
    let cp = point - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return (c, TriangleFeature::Corner(2));
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 && d2 > d6 {
        return (a + ac * (d2 / (d2 - d6)), TriangleFeature::Edge(2));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 && (d4 - d3) + (d5 - d6) > 0.0 {
        return (b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6))), TriangleFeature::Edge(1));
    }
    let sum = va + vb + vc;
    if sum > 0.0 {
        return (a + ab * (vb / sum) + ac * (vc / sum), TriangleFeature::Face);
    }
    // A needle whose areas all round to zero has only its edges.
    let on_edge = |from: DVec3, along: DVec3| {
        let length = along.length_squared();
        let t = if length > 0.0 { ((point - from).dot(along) / length).clamp(0.0, 1.0) } else { 0.0 };
        from + along * t
    };
    let edges = [on_edge(a, ab), on_edge(b, c - b), on_edge(c, a - c)];
    let nearest = (0..3).min_by(|&i, &j| {
        let [di, dj] = [i, j].map(|edge: usize| edges[edge].distance_squared(point));
        di.partial_cmp(&dj).unwrap_or(std::cmp::Ordering::Equal)
    });
    let nearest = nearest.unwrap_or(0);
    (edges[nearest], TriangleFeature::Edge(nearest as u8))
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::workload::Random;

    #[test]
    fn the_tree_finds_what_a_loop_finds() {
        for seed in 0..40 {
            let mut random = Random::new(seed);
            let count = random.whole(1, 200);
            let triangles: Vec<[DVec3; 3]> = (0..count)
                .map(|_| {
                    let at = random.in_ball().as_dvec3();
                    [0, 1, 2].map(|_| at + random.in_ball().as_dvec3() * 0.2)
                })
                .collect();
            let tree = TriangleTree::new(&triangles);
            for _ in 0..50 {
                let point = random.in_ball().as_dvec3() * 1.5;
                let hint = Some(random.whole(0, count));
                let found = tree.nearest(point, hint).unwrap();
                let looped = triangles.iter().map(|corners| nearest_of_triangle(point, corners).0.distance(point));
                let expected = looped.fold(f64::INFINITY, f64::min);
                assert!((found.squared.sqrt() - expected).abs() < 1e-12, "seed {seed}");
                // Queries nearby, beyond the known triangles, and without any.
                for radius in [0.0, 0.3, 4.0] {
                    let near = tree.vicinity(point + random.in_ball().as_dvec3() * 0.2, radius);
                    let found = near.nearest(point, hint).unwrap();
                    assert!((found.squared.sqrt() - expected).abs() < 1e-12, "seed {seed}, vicinity of {radius}");
                }
            }
        }
    }

    #[test]
    fn no_sample_of_a_triangle_is_nearer() {
        let mut random = Random::new(3);
        for _ in 0..500 {
            let corners = [0, 1, 2].map(|_| random.in_ball().as_dvec3());
            let point = random.in_ball().as_dvec3() * 2.0;
            let found = nearest_of_triangle(point, &corners).0.distance(point);
            for i in 0..=20 {
                for j in 0..=20 - i {
                    let (u, v) = (f64::from(i) / 20.0, f64::from(j) / 20.0);
                    let sample = corners[0] + (corners[1] - corners[0]) * u + (corners[2] - corners[0]) * v;
                    assert!(found <= sample.distance(point) + 1e-12);
                }
            }
        }
    }
}
