//! Sample points of a surface. Plans use points; proofs use triangles.

use space::{Buckets, DVec3};

use super::cut::{halves, longest_side};
use super::object::Object;

/// The most points; above that they are spread thinner.
const MAX_POINTS: f64 = 200_000.0;

const MAX_TRIES: usize = 12;

/// A triangle narrower than this share of the spacing is sampled as a line.
const NEEDLE: f64 = 1e-3;

/// A point of the surface with its normal: the middle of a small triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceSample {
    pub center: DVec3,
    pub normal: DVec3,
}

#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// The distinct corners of the small triangles.
    pub points: Vec<DVec3>,
    pub patches: Vec<SurfaceSample>,
    /// The longest edge of a small triangle.
    pub spacing: f64,
}

/// Cuts every triangle at its longest edge until there are about `target` points.
pub fn sample(object: &Object, target: usize) -> Samples {
    let target = (target as f64).min(MAX_POINTS);
    let spacing = (3.0 * object.area() / target).sqrt().max(1e-4);
    let mut samples = sample_at(object, spacing);
    // Long triangles give more points than their area asks for; corners alone may exceed `target`.
    for _ in 0..MAX_TRIES {
        let excess = samples.points.len() as f64 / target;
        if excess <= 1.5 {
            break;
        }
        let fewer = sample_at(object, samples.spacing * excess.min(16.0).sqrt());
        let is_last = fewer.points.len() * 10 > samples.points.len() * 9;
        samples = fewer;
        if is_last {
            break;
        }
    }
    samples
}

fn sample_at(object: &Object, mut spacing: f64) -> Samples {
    // Needles have long edges and little area, so estimate the number before cutting.
    while estimate(object, spacing) > 4.0 * MAX_POINTS + object.triangles().len() as f64 {
        spacing *= 1.5;
    }
    let mut samples = Samples { spacing, ..Samples::default() };
    let mut waiting = Vec::new();
    for (index, &corners) in object.triangles().iter().enumerate() {
        waiting.push(corners);
        let normal = object.face_normal(index);
        while let Some(corners) = waiting.pop() {
            let (side, squared) = longest_side(&corners);
            let is_short = squared <= spacing * spacing;
            if !is_short && width(&corners) <= NEEDLE * spacing {
                let (from, to) = (corners[side], corners[(side + 1) % 3]);
                let parts = (squared.sqrt() / spacing).ceil().max(1.0);
                let place = |part: usize| from + (to - from) * (part as f64 / parts);
                samples.points.extend((0..=parts as usize).map(place));
                samples.patches.extend(
                    (0..parts as usize)
                        .map(|part| SurfaceSample { center: (place(part) + place(part + 1)) * 0.5, normal }),
                );
                continue;
            }
            if is_short {
                samples.points.extend(corners);
                samples.patches.push(SurfaceSample { center: (corners[0] + corners[1] + corners[2]) / 3.0, normal });
                continue;
            }
            let [first, second] = halves(corners, side);
            waiting.extend([second, first]);
        }
    }
    let key = |point: &DVec3| (point.x, point.y, point.z);
    samples.points.sort_by(|a, b| key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal));
    samples.points.dedup();
    samples
}

fn estimate(object: &Object, spacing: f64) -> f64 {
    let parts = object.triangles().iter().map(|corners| {
        let width = width(corners);
        let along = 1.0 + longest(corners) / spacing;
        if width <= NEEDLE * spacing {
            return along;
        }
        // Two cuts halve both long edges of a needle and leave three needles, until they are as long as wide.
        let of_a_needle = libm::pow((longest(corners) / width.max(spacing)).max(1.0), 1.585);
        (along * (1.0 + 2.0 * width / spacing)).max(of_a_needle)
    });
    parts.sum()
}

fn longest([a, b, c]: &[DVec3; 3]) -> f64 {
    a.distance(*b).max(b.distance(*c)).max(c.distance(*a))
}

/// The height above the longest edge.
fn width(corners: &[DVec3; 3]) -> f64 {
    let [a, b, c] = corners;
    let longest = longest(corners);
    if longest > 0.0 { (*b - *a).cross(*c - *a).length() / longest } else { 0.0 }
}

/// Points sorted into a uniform grid, to find those within a ball.
#[derive(Clone, Debug)]
pub struct PointCells {
    low: DVec3,
    size: f64,
    counts: [usize; 3],
    /// Each point with its index.
    points: Buckets<(u32, DVec3)>,
}

impl PointCells {
    /// Sorts the points into cells of about this size.
    pub fn new(points: &[DVec3], size: f64) -> PointCells {
        let low = points.iter().copied().fold(DVec3::INFINITY, DVec3::min).min(DVec3::splat(0.0));
        let high = points.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max).max(low);
        let size = size.max((high - low).max_element() / 64.0).max(1e-6);
        let counts = ((high - low) / size).to_array().map(|count| count as usize + 1);
        let cell = |point: DVec3| {
            let at = ((point - low) / size).to_array().map(|value| value.max(0.0) as usize);
            (at[0].min(counts[0] - 1) * counts[1] + at[1].min(counts[1] - 1)) * counts[2] + at[2].min(counts[2] - 1)
        };
        let mut sorted = Buckets::default();
        let count = counts.iter().product();
        sorted.fill(count, (0..).zip(points).map(|(index, &point)| (cell(point), (index, point))));
        PointCells { low, size, counts, points: sorted }
    }

    /// Calls `found` with each point within `radius` of `center`, and its squared distance.
    pub fn within(&self, center: DVec3, radius: f64, mut found: impl FnMut(u32, f64)) {
        let clamp = |value: f64, count: usize| (value.max(0.0) as usize).min(count - 1);
        let low = (center - radius - self.low) / self.size;
        let high = (center + radius - self.low) / self.size;
        if high.min_element() < 0.0 {
            return;
        }
        let limit = radius * radius;
        for x in clamp(low.x, self.counts[0])..=clamp(high.x, self.counts[0]) {
            for y in clamp(low.y, self.counts[1])..=clamp(high.y, self.counts[1]) {
                let row = (x * self.counts[1] + y) * self.counts[2];
                let cells = row + clamp(low.z, self.counts[2])..=row + clamp(high.z, self.counts[2]);
                for &(index, point) in self.points.of_all(cells) {
                    let squared = point.distance_squared(center);
                    if squared <= limit {
                        found(index, squared);
                    }
                }
            }
        }
    }
}
