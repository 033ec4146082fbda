//! Closest points in closed form, in `f64`: segments, boxes and triangles.
//!
//! Spheres and capsules are segments with a radius; boxes and triangles have edges and faces. Two of these that are
//! apart are closest where an edge of one is closest to the other, so a segment against each is enough. Worlds promise
//! that spheres, capsules and boxes never overlap, without a tolerance; an iteration in `f32` that stops near the
//! answer could not keep that.

use space::DVec3;

/// A closest pair of points.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClosestPoints {
    pub on_a: DVec3,
    pub on_b: DVec3,
    pub squared: f64,
}

impl ClosestPoints {
    fn new(on_a: DVec3, on_b: DVec3) -> ClosestPoints {
        ClosestPoints { on_a, on_b, squared: on_a.distance_squared(on_b) }
    }

    pub fn swapped(self) -> ClosestPoints {
        ClosestPoints { on_a: self.on_b, on_b: self.on_a, squared: self.squared }
    }

    /// The nearer of two; the first when they are equal.
    pub fn or(self, other: ClosestPoints) -> ClosestPoints {
        if other.squared < self.squared { other } else { self }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct OrientedBox {
    pub center: DVec3,
    pub axes: [DVec3; 3],
    pub half: DVec3,
}

impl OrientedBox {
    pub fn to_local(self, point: DVec3) -> DVec3 {
        let from = point - self.center;
        DVec3::new(self.axes[0].dot(from), self.axes[1].dot(from), self.axes[2].dot(from))
    }

    pub fn to_world(self, point: DVec3) -> DVec3 {
        self.center + self.axes[0] * point.x + self.axes[1] * point.y + self.axes[2] * point.z
    }

    pub fn edges(self) -> impl Iterator<Item = [DVec3; 2]> {
        (0..3).flat_map(move |axis| {
            let along = self.axes[axis] * self.half[axis];
            let (side, other) = ((axis + 1) % 3, (axis + 2) % 3);
            [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)].into_iter().map(move |(s, o)| {
                let middle =
                    self.center + self.axes[side] * (self.half[side] * s) + self.axes[other] * (self.half[other] * o);
                [middle - along, middle + along]
            })
        })
    }
}

/// The parameter of the segment's nearest point, from 0 to 1.
fn nearest_on_segment(point: DVec3, [p, q]: [DVec3; 2]) -> f64 {
    let along = q - p;
    let length = along.length_squared();
    if length == 0.0 { 0.0 } else { ((point - p).dot(along) / length).clamp(0.0, 1.0) }
}

fn along([p, q]: [DVec3; 2], t: f64) -> DVec3 {
    // So that both ends are exact.
    if t == 1.0 { q } else { p + (q - p) * t }
}

/// Segment against segment; either may be a point.
pub(crate) fn segments(a: [DVec3; 2], b: [DVec3; 2]) -> ClosestPoints {
    let end_of_a = |end: DVec3| ClosestPoints::new(end, along(b, nearest_on_segment(end, b)));
    let end_of_b = |end: DVec3| ClosestPoints::new(along(a, nearest_on_segment(end, a)), end);
    let mut best = end_of_a(a[0]).or(end_of_a(a[1])).or(end_of_b(b[0])).or(end_of_b(b[1]));
    // The closest points of the lines, if they are inside both segments. For nearly parallel lines they are imprecise,
    // but then the ends above are good.
    let (d, e, r) = (a[1] - a[0], b[1] - b[0], a[0] - b[0]);
    let (dd, ee, de) = (d.dot(d), e.dot(e), d.dot(e));
    let determinant = d.cross(e).length_squared();
    if determinant > 1e-28 * dd * ee && determinant > 0.0 {
        let s = (de * e.dot(r) - ee * d.dot(r)) / determinant;
        if (0.0..=1.0).contains(&s) {
            let on_a = along(a, s);
            let t = nearest_on_segment(on_a, b);
            let on_b = along(b, t);
            best = best.or(ClosestPoints::new(along(a, nearest_on_segment(on_b, a)), on_b));
        }
    }
    best
}

pub(crate) fn segment_box(segment: [DVec3; 2], block: &OrientedBox) -> ClosestPoints {
    let local = segment.map(|end| block.to_local(end));
    let (p, d, half) = (local[0], local[1] - local[0], block.half);
    // The squared distance is convex along the segment and changes its formula where the segment crosses the plane of a
    // face. Its slope is increasing and linear between crossings: find its zero.
    let slope = |t: f64| {
        let x = p + d * t;
        d.dot(x - x.clamp(-half, half))
    };
    let mut best = 0.0;
    let mut below = slope(0.0);
    if below < 0.0 {
        let mut crossings = [1.0; 7];
        for axis in 0..3 {
            if d[axis] != 0.0 {
                crossings[2 * axis] = ((-half[axis] - p[axis]) / d[axis]).clamp(0.0, 1.0);
                crossings[2 * axis + 1] = ((half[axis] - p[axis]) / d[axis]).clamp(0.0, 1.0);
            }
        }
        crossings.sort_unstable_by(f64::total_cmp);
        for t in crossings {
            let here = slope(t);
            if here >= 0.0 {
                best += (t - best) * (below / (below - here));
                break;
            }
            (best, below) = (t, here);
        }
    }
    let on = along(local, best);
    let in_block = on.clamp(-half, half);
    let squared = on.distance_squared(in_block);
    ClosestPoints { on_a: along(segment, best), on_b: block.to_world(in_block), squared }
}

pub(crate) fn nearest_on_triangle(point: DVec3, [a, b, c]: [DVec3; 3]) -> DVec3 {
    let (ab, ac) = (b - a, c - a);
    let normal = ab.cross(ac);
    let edges = [[a, b], [b, c], [c, a]];
    let size = normal.length_squared();
    // A triangle without area has only its edges.
    if size > 0.0 && edges.iter().all(|&[p, q]| normal.cross(q - p).dot(point - p) >= 0.0) {
        return point - normal * (normal.dot(point - a) / size);
    }
    edges
        .into_iter()
        .map(|edge| along(edge, nearest_on_segment(point, edge)))
        .min_by(|p, q| p.distance_squared(point).total_cmp(&q.distance_squared(point)))
        .unwrap_or(a)
}

/// Segment against triangle; the segment may be a point.
pub(crate) fn segment_triangle(segment: [DVec3; 2], triangle: [DVec3; 3]) -> ClosestPoints {
    let [p, q] = segment;
    let mut best = ClosestPoints::new(p, nearest_on_triangle(p, triangle));
    if p == q {
        return best;
    }
    best = best.or(ClosestPoints::new(q, nearest_on_triangle(q, triangle)));
    let [a, b, c] = triangle;
    for edge in [[a, b], [b, c], [c, a]] {
        best = best.or(segments(segment, edge));
    }
    let normal = (b - a).cross(c - a);
    let (above, below) = (normal.dot(p - a), normal.dot(q - a));
    if above * below < 0.0 {
        let cut = along(segment, above / (above - below));
        if [[a, b], [b, c], [c, a]].iter().all(|&[s, e]| normal.cross(e - s).dot(cut - s) >= 0.0) {
            return ClosestPoints { on_a: cut, on_b: cut, squared: 0.0 };
        }
    }
    best
}

pub(crate) fn boxes(a: &OrientedBox, b: &OrientedBox) -> ClosestPoints {
    let mut best = ClosestPoints { squared: f64::INFINITY, ..ClosestPoints::new(a.center, b.center) };
    for edge in a.edges() {
        best = best.or(segment_box(edge, b));
    }
    for edge in b.edges() {
        best = best.or(segment_box(edge, a).swapped());
    }
    best
}

pub(crate) fn box_triangle(block: &OrientedBox, triangle: [DVec3; 3]) -> ClosestPoints {
    let [a, b, c] = triangle;
    let mut best = ClosestPoints { squared: f64::INFINITY, ..ClosestPoints::new(block.center, a) };
    for edge in [[a, b], [b, c], [c, a]] {
        best = best.or(segment_box(edge, block).swapped());
    }
    for edge in block.edges() {
        best = best.or(segment_triangle(edge, triangle));
    }
    best
}

pub(crate) fn triangles(a: [DVec3; 3], b: [DVec3; 3]) -> ClosestPoints {
    let edges = |[p, q, r]: [DVec3; 3]| [[p, q], [q, r], [r, p]];
    let mut best = ClosestPoints { squared: f64::INFINITY, ..ClosestPoints::new(a[0], b[0]) };
    for edge in edges(a) {
        best = best.or(segment_triangle(edge, b));
    }
    for edge in edges(b) {
        best = best.or(segment_triangle(edge, a).swapped());
    }
    best
}
