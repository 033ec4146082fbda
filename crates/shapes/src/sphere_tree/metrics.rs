//! How closely the levels of a tree wrap an object, for reports.

use rayon::prelude::*;
use space::DVec3;

use super::ball::Ball;
use super::error::error_of;
use super::object::Object;
use super::tree::SphereTree;
use super::volume::outside_volume;
use space::workload::Random;

const TOLERANCE: f64 = 1e-4;
const SURFACE_POINTS: usize = 100_000;
const SPACE_POINTS: usize = 400_000;
/// A point this close to a ball counts as inside, in unit coordinates.
const CLOSE: f64 = 1e-5;
/// Points per parallel task; fixed, so that results do not depend on the number of threads.
const CHUNK: usize = 4_096;

/// The metrics of one level. Lengths are shares of the radius of the smallest ball around the object.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LevelMetrics {
    pub level: usize,
    pub spheres: usize,
    /// The largest distance by which a ball sticks out.
    pub e_max: f64,
    /// The mean over balls of the distance by which each sticks out.
    pub e_avg: f64,
    /// The percentage of the sampled surface that is in no ball.
    pub miss_percent: f64,
    /// The largest distance from a missed point to the balls.
    pub gap: f64,
    /// The volume of the balls' union outside the object, as a share of the object's volume; of the unit ball's for an
    /// object without an inside.
    pub ov: f64,
    /// As `ov`, with overlaps counted once per ball; exact for closed clean objects.
    pub sov: f64,
    /// The percentage of the object's volume that is in no ball.
    pub hole_percent: f64,
}

pub fn measure(object: &Object, tree: &SphereTree) -> Vec<LevelMetrics> {
    measure_in_unit(object, &tree.clone().mapped(1.0 / object.bounds().radius, |ball| object.ball_to_unit(ball)))
}

/// Measures every level of a tree in unit coordinates.
fn measure_in_unit(object: &Object, tree: &SphereTree) -> Vec<LevelMetrics> {
    let surface = surface_points(object);
    (0..=tree.depth()).map(|level| measure_level(object, tree, level, &surface)).collect()
}

/// [`LevelMetrics::e_max`] alone. For most balls one distance shows that they are not the worst.
pub fn farthest_out(object: &Object, tree: &SphereTree, level: usize) -> f64 {
    let mut balls: Vec<(f64, Ball)> = tree
        .level(level)
        .par_iter()
        .map(|node| {
            let ball = object.ball_to_unit(node.ball);
            ((ball.radius - object.depth(ball.center, None).0).max(0.0), ball)
        })
        .collect();
    balls.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut farthest = 0.0;
    for (proven, ball) in balls {
        if proven <= farthest {
            break;
        }
        farthest = error_of(object, ball, TOLERANCE).at_most.max(farthest);
    }
    farthest
}

fn measure_level(object: &Object, tree: &SphereTree, level: usize, surface: &[DVec3]) -> LevelMetrics {
    let balls: Vec<Ball> = tree.level(level).iter().map(|node| node.ball).collect();
    let errors: Vec<f64> = balls.par_iter().map(|&ball| error_of(object, ball, TOLERANCE).at_most).collect();
    let cells = Cells::new(&balls);
    let misses: Vec<(usize, f64)> = surface
        .par_chunks(CHUNK)
        .map(|points| {
            let missed = points.iter().filter(|&&point| !cells.is_covered(&balls, point, CLOSE));
            missed.fold((0, 0.0), |(count, gap), &point| {
                let distance = balls.iter().map(|ball| ball.center.distance(point) - ball.radius);
                (count + 1, distance.fold(f64::INFINITY, f64::min).max(gap))
            })
        })
        .collect();
    let missed: usize = misses.iter().map(|(count, _)| count).sum();
    let gap = misses.iter().map(|&(_, gap)| gap).fold(0.0, f64::max);
    let volumes = measure_volumes(object, &balls, &cells);
    LevelMetrics {
        level,
        spheres: balls.len(),
        e_max: errors.iter().copied().fold(0.0, f64::max),
        e_avg: errors.iter().sum::<f64>() / balls.len() as f64,
        miss_percent: 100.0 * missed as f64 / surface.len() as f64,
        gap,
        ..volumes
    }
}

fn measure_volumes(object: &Object, balls: &[Ball], cells: &Cells) -> LevelMetrics {
    let low = balls.iter().map(|ball| ball.center - ball.radius).fold(DVec3::INFINITY, DVec3::min);
    let high = balls.iter().map(|ball| ball.center + ball.radius).fold(DVec3::NEG_INFINITY, DVec3::max);
    let size = high - low;
    let counts: Vec<[u64; 4]> = (0..SPACE_POINTS.div_ceil(CHUNK))
        .into_par_iter()
        .map(|chunk| {
            let mut random = Random::new(chunk as u64);
            let mut counts = [0; 4];
            let mut hint = None;
            for _ in 0..CHUNK.min(SPACE_POINTS - chunk * CHUNK) {
                let point = low + random.point(1.0).as_dvec3() * size;
                let covering = cells.count(balls, point);
                let (depth, nearest) = object.depth(point, hint);
                hint = Some(nearest.triangle);
                if depth >= 0.0 {
                    counts[2] += 1;
                    counts[3] += u64::from(covering == 0);
                } else {
                    counts[0] += u64::from(covering > 0);
                    counts[1] += covering;
                }
            }
            counts
        })
        .collect();
    let sum = |index: usize| counts.iter().map(|part| part[index]).sum::<u64>() as f64;
    let share = size.x * size.y * size.z / SPACE_POINTS as f64;
    let volume = if object.volume() > 0.0 { object.volume() } else { Ball::new(DVec3::ZERO, 1.0).volume() };
    // For a clean object the sum over balls needs no sampling.
    let exact: Option<f64> =
        balls.par_iter().map(|&ball| outside_volume(object, ball)).collect::<Vec<_>>().into_iter().sum();
    LevelMetrics {
        ov: sum(0) * share / volume,
        sov: exact.unwrap_or(sum(1) * share) / volume,
        hole_percent: if sum(2) > 0.0 { 100.0 * sum(3) / sum(2) } else { 0.0 },
        ..LevelMetrics::default()
    }
}

/// Points spread over the surface by area, plus all corners and midpoints of edges.
fn surface_points(object: &Object) -> Vec<DVec3> {
    let mut sums = Vec::with_capacity(object.triangles().len());
    let mut sum = 0.0;
    for [a, b, c] in object.triangles() {
        sum += (*b - *a).cross(*c - *a).length();
        sums.push(sum);
    }
    let mut random = Random::new(5);
    let mut points: Vec<DVec3> = (0..SURFACE_POINTS)
        .map(|_| {
            let at = f64::from(random.unit()) * sum;
            let index = sums.partition_point(|&sum| sum <= at).min(sums.len() - 1);
            let [a, b, c] = object.triangles()[index];
            let (mut u, mut v) = (f64::from(random.unit()), f64::from(random.unit()));
            if u + v > 1.0 {
                (u, v) = (1.0 - u, 1.0 - v);
            }
            a + (b - a) * u + (c - a) * v
        })
        .collect();
    for [a, b, c] in object.triangles() {
        points.extend([*a, *b, *c, (*a + *b) * 0.5, (*b + *c) * 0.5, (*c + *a) * 0.5]);
    }
    points
}

/// A grid: for each cell, the balls that may contain a point in it.
struct Cells {
    low: DVec3,
    size: DVec3,
    balls: Vec<Vec<u32>>,
}

const CELLS: usize = 24;

impl Cells {
    fn new(balls: &[Ball]) -> Cells {
        let low = balls.iter().map(|ball| ball.center - ball.radius).fold(DVec3::INFINITY, DVec3::min) - 2.0 * CLOSE;
        let high =
            balls.iter().map(|ball| ball.center + ball.radius).fold(DVec3::NEG_INFINITY, DVec3::max) + 2.0 * CLOSE;
        let mut cells =
            Cells { low, size: (high - low) / CELLS as f64, balls: vec![Vec::new(); CELLS * CELLS * CELLS] };
        for (index, ball) in balls.iter().enumerate() {
            let from = cells.cell(ball.center - ball.radius - 2.0 * CLOSE);
            let to = cells.cell(ball.center + ball.radius + 2.0 * CLOSE);
            for x in from[0]..=to[0] {
                for y in from[1]..=to[1] {
                    for z in from[2]..=to[2] {
                        cells.balls[(x * CELLS + y) * CELLS + z].push(index as u32);
                    }
                }
            }
        }
        cells
    }

    fn cell(&self, point: DVec3) -> [usize; 3] {
        let at = (point - self.low) / self.size;
        at.to_array().map(|value| (value.max(0.0) as usize).min(CELLS - 1))
    }

    fn near(&self, point: DVec3) -> &[u32] {
        let [x, y, z] = self.cell(point);
        &self.balls[(x * CELLS + y) * CELLS + z]
    }

    fn count(&self, balls: &[Ball], point: DVec3) -> u64 {
        self.near(point).iter().filter(|&&index| balls[index as usize].contains(point)).count() as u64
    }

    fn is_covered(&self, balls: &[Ball], point: DVec3, slack: f64) -> bool {
        self.near(point).iter().any(|&index| {
            let ball = balls[index as usize];
            Ball::new(ball.center, ball.radius + slack).contains(point)
        })
    }
}
