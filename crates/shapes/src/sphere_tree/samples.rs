//! Points of a surface, dense enough to plan with. What is planned with points is proven with triangles afterwards.

use space::DVec3;

use super::object::Object;

/// The most points; beyond, they are spread thinner.
const MAX_POINTS: f64 = 200_000.0;

/// Attempts to come near the number of points that was asked for.
const MAX_TRIES: usize = 12;

/// A triangle no wider than this share of the spacing is sampled as the line that it nearly is: cutting a needle leaves
/// three where a line would have two.
const NEEDLE: f64 = 1e-3;

/// Where the surface is, and where it looks: a small triangle's middle and normal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Patch {
    /// The middle.
    pub center: DVec3,
    /// Outward.
    pub normal: DVec3,
}

/// Points and patches of a surface.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// Corners of the small triangles, each once.
    pub points: Vec<DVec3>,
    /// One per small triangle.
    pub patches: Vec<Patch>,
    /// No edge of a small triangle is longer.
    pub spacing: f64,
}

/// Cuts every triangle at its longest edge until there are about `target` points.
pub fn sample(object: &Object, target: usize) -> Samples {
    let target = (target as f64).min(MAX_POINTS);
    let spacing = (3.0 * object.area() / target).sqrt().max(1e-4);
    let mut samples = sample_at(object, spacing);
    // Long triangles are cut oftener than their area asks for; corners alone may be more than that.
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
    // Needles have long edges and little area: count before cutting.
    while estimate(object, spacing) > 4.0 * MAX_POINTS + object.triangles().len() as f64 {
        spacing *= 1.5;
    }
    let mut samples = Samples { spacing, ..Samples::default() };
    let mut waiting = Vec::new();
    for (index, &corners) in object.triangles().iter().enumerate() {
        waiting.push(corners);
        let normal = object.face_normal(index);
        while let Some(corners) = waiting.pop() {
            let length = |side: usize| corners[side].distance_squared(corners[(side + 1) % 3]);
            let side = (0..3).max_by(|&i, &j| length(i).total_cmp(&length(j))).unwrap_or(0);
            let is_short = length(side) <= spacing * spacing;
            if !is_short && width(&corners) <= NEEDLE * spacing {
                let (from, to) = (corners[side], corners[(side + 1) % 3]);
                let parts = (length(side).sqrt() / spacing).ceil().max(1.0);
                let place = |part: usize| from + (to - from) * (part as f64 / parts);
                samples.points.extend((0..=parts as usize).map(place));
                samples.patches.extend(
                    (0..parts as usize).map(|part| Patch { center: (place(part) + place(part + 1)) * 0.5, normal }),
                );
                continue;
            }
            if is_short {
                samples.points.extend(corners);
                samples.patches.push(Patch { center: (corners[0] + corners[1] + corners[2]) / 3.0, normal });
                continue;
            }
            let middle = (corners[side] + corners[(side + 1) % 3]) * 0.5;
            let (mut first, mut second) = (corners, corners);
            first[(side + 1) % 3] = middle;
            second[side] = middle;
            waiting.extend([second, first]);
        }
    }
    let key = |point: &DVec3| (point.x, point.y, point.z);
    samples.points.sort_by(|a, b| key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal));
    samples.points.dedup();
    samples
}

/// About how many small triangles there would be.
fn estimate(object: &Object, spacing: f64) -> f64 {
    let parts = object.triangles().iter().map(|corners| {
        let width = width(corners);
        let along = 1.0 + longest(corners) / spacing;
        if width <= NEEDLE * spacing {
            return along;
        }
        // Two cuts halve both long edges of a needle, and leave three needles, until they are as long as wide.
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

/// Points sorted into cubes, to find those within a ball.
#[derive(Clone, Debug)]
pub struct PointCells {
    low: DVec3,
    size: f64,
    counts: [usize; 3],
    starts: Vec<u32>,
    names: Vec<u32>,
    points: Vec<DVec3>,
}

impl PointCells {
    /// Sorts the points into cubes of about this size.
    pub fn new(points: &[DVec3], size: f64) -> PointCells {
        let low = points.iter().copied().fold(DVec3::INFINITY, DVec3::min).min(DVec3::splat(0.0));
        let high = points.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max).max(low);
        let size = size.max((high - low).max_element() / 64.0).max(1e-6);
        let counts = ((high - low) / size).to_array().map(|count| count as usize + 1);
        let cell = |point: DVec3| {
            let at = ((point - low) / size).to_array().map(|value| value.max(0.0) as usize);
            (at[0].min(counts[0] - 1) * counts[1] + at[1].min(counts[1] - 1)) * counts[2] + at[2].min(counts[2] - 1)
        };
        let mut starts = vec![0_u32; counts[0] * counts[1] * counts[2] + 1];
        for &point in points {
            starts[cell(point) + 1] += 1;
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut next = starts.clone();
        let mut names = vec![0; points.len()];
        for (index, &point) in points.iter().enumerate() {
            let place = &mut next[cell(point)];
            names[*place as usize] = index as u32;
            *place += 1;
        }
        let sorted = names.iter().map(|&name| points[name as usize]).collect();
        PointCells { low, size, counts, starts, names, points: sorted }
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
                let from = self.starts[row + clamp(low.z, self.counts[2])] as usize;
                let to = self.starts[row + clamp(high.z, self.counts[2]) + 1] as usize;
                for place in from..to {
                    let squared = self.points[place].distance_squared(center);
                    if squared <= limit {
                        found(self.names[place], squared);
                    }
                }
            }
        }
    }
}
