//! The Combined algorithm of Bradshaw and O'Sullivan: every node gets up to eight children, and several reducers
//! compete to find them.
//!
//! All reducers begin with the same part of the surface and the same inner balls. Their results are fitted alike, and
//! the one that sticks out least is kept. Unlike in [`best`](crate::sphere_tree::best), nodes do not share their
//! numbers of balls.

mod burst;
mod expand;
mod group;
mod merge;
mod octants;
mod spawn;

use rayon::prelude::*;
use space::DVec3;

use self::group::PointGroup;
use crate::sphere_tree::ball::Ball;
use crate::sphere_tree::certificate::mend;
use crate::sphere_tree::cover::{Task, share};
use crate::sphere_tree::division::{Division, Effort, divide, settle};
use crate::sphere_tree::error::error_of;
use crate::sphere_tree::field::DistanceField;
use crate::sphere_tree::medial::medial_balls;
use crate::sphere_tree::object::Object;
use crate::sphere_tree::samples::{SurfaceSample, sample};
use crate::sphere_tree::site::{Judge, Site};
use crate::sphere_tree::tree::{SphereTree, TreeError};

const CHILDREN: usize = 8;
/// A ball with at most this error has no children of its own and is repeated.
const CLOSE_ENOUGH: f64 = 1e-3;
/// Approximate points of the surface per node.
const POINTS: usize = 400;
const MEDIAL: usize = 96;
const TOLERANCE: f64 = 4e-3;
const REFIT: Effort = Effort { sweeps: 3, transfers: 0, evaluations: 60 };

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reducer {
    Merge,
    Burst,
    /// All balls grow alike, and the fewest that cover are kept.
    Expand,
    Spawn,
    Octants,
}

impl Reducer {
    /// In the order in which ties are broken.
    pub const ALL: [Reducer; 5] = [Reducer::Merge, Reducer::Burst, Reducer::Expand, Reducer::Spawn, Reducer::Octants];
}

/// A part of the surface that needs children, and what they are made from.
pub(super) struct Region<'a> {
    pub task: Task,
    pub medial: Vec<Ball>,
    pub judge: Judge<'a>,
    pub error: f64,
    pub limit: usize,
}

impl Region<'_> {
    fn reduce(&self, reducer: Reducer) -> Vec<Site> {
        match reducer {
            Reducer::Merge => merge::merge(self),
            Reducer::Burst => burst::burst(self),
            Reducer::Expand => expand::expand(self),
            Reducer::Spawn => spawn::spawn(self),
            Reducer::Octants => octants::octants(self),
        }
    }

    /// The best result of these reducers; `None` if none finds anything.
    pub(super) fn best_of(&self, reducers: &[Reducer]) -> Option<Division> {
        let entrants = reducers.par_iter().map(|&reducer| {
            let sites = self.reduce(reducer);
            let is_valid = !sites.is_empty() && sites.len() <= self.limit;
            is_valid.then(|| settle(&self.task, self.judge, divide(&self.task, sites, self.error), REFIT))
        });
        let entrants: Vec<Option<Division>> = entrants.collect();
        entrants.into_iter().flatten().min_by(|a, b| {
            // Within half a percent the smaller balls win: they fill less around the object.
            let size = |division: &Division| {
                division.sites.iter().map(|site| site.reach(division.worst()).powi(3)).sum::<f64>()
            };
            if (a.worst() - b.worst()).abs() <= 0.005 * a.worst().max(b.worst()) {
                size(a).total_cmp(&size(b))
            } else {
                a.worst().total_cmp(&b.worst())
            }
        })
    }

    fn groups(&self, most: usize) -> Vec<PointGroup> {
        PointGroup::from_medial(self, most)
    }
}

/// Builds a tree in unit coordinates with at most eight children per node and at most `caps[l - 1]` balls on level `l`.
pub fn build_combined(object: &Object, caps: &[usize], reducers: &[Reducer]) -> Result<SphereTree, TreeError> {
    let field = (!object.looks_convex()).then(|| DistanceField::new(object));
    let root = Ball::new(DVec3::ZERO, 1.0).grown_to(object.triangles().iter().flatten().copied());
    let error = error_of(object, root, TOLERANCE).at_most;
    let mut levels = vec![vec![(root, error, 0)]];
    for &cap in caps {
        levels.push(next_level(object, field.as_ref(), &levels, cap, reducers));
    }
    let mut tree = SphereTree::new(&levels, 1.0)?;
    let finest = levels.last().map_or(0.0, |level| level.iter().map(|node| node.1).fold(0.0, f64::max)) / 16.0;
    mend(&mut tree, object.triangles(), finest.max(1e-4));
    Ok(tree)
}

type Level = Vec<(Ball, f64, u32)>;

fn next_level(
    object: &Object,
    field: Option<&DistanceField>,
    levels: &[Level],
    cap: usize,
    reducers: &[Reducer],
) -> Level {
    let above = &levels[levels.len() - 1];
    let limit = (cap / above.len()).clamp(1, CHILDREN);
    let samples = sample(object, (POINTS * above.len()).clamp(1_500, 60_000));
    let mut points: Vec<Vec<DVec3>> = vec![Vec::new(); above.len()];
    for &point in &samples.points {
        points[owner(levels, point)].push(point);
    }
    let mut patches: Vec<Vec<SurfaceSample>> = vec![Vec::new(); above.len()];
    for &patch in &samples.patches {
        patches[owner(levels, patch.center)].push(patch);
    }
    let families: Vec<Level> = (0..above.len())
        .into_par_iter()
        .map(|node| {
            let (ball, error, _) = above[node];
            let kept = vec![(ball, error, node as u32)];
            if points[node].len() < 2 || limit < 2 || error <= CLOSE_ENOUGH {
                return kept;
            }
            let stride = patches[node].len().div_ceil(2 * MEDIAL).max(1);
            let some: Vec<SurfaceSample> = patches[node].iter().copied().step_by(stride).collect();
            let is_coarse = error * 0.5 > 2.0 * DistanceField::PITCH;
            let radius_max = (ball.radius * 1.1).min(1.2);
            let count = points[node].len();
            let region = Region {
                task: Task::new(points[node].clone(), samples.spacing, vec![share(count, |_| true)]),
                medial: medial_balls(object, &some, samples.spacing * 0.5),
                judge: Judge { object, field: field.filter(|_| is_coarse), radius_max },
                error,
                limit,
            };
            let Some(division) = region.best_of(reducers) else { return kept };
            let children: Level = division
                .sites
                .iter()
                .zip(&division.regions)
                .map(|(site, own)| {
                    let own = own.iter().map(|&point| region.task.points[point as usize]);
                    let ball = Ball::around(site.center, own);
                    let ball = Ball::new(ball.center, ball.radius.max(1e-9));
                    (ball, error_of(object, ball, TOLERANCE).at_most, node as u32)
                })
                .collect();
            let worst = children.iter().map(|child| child.1).fold(0.0, f64::max);
            if worst < error * 0.98 { children } else { kept }
        })
        .collect();
    families.concat()
}

/// The node that owns a point: on every level the child that it is least outside of.
fn owner(levels: &[Level], point: DVec3) -> usize {
    let mut node = 0;
    for level in &levels[1..] {
        let first = level.partition_point(|child| (child.2 as usize) < node);
        let last = level.partition_point(|child| child.2 as usize <= node);
        let outside = |index: usize| {
            let ball = level[index].0;
            ball.center.distance_squared(point) - ball.radius * ball.radius
        };
        node = (first..last).min_by(|&a, &b| outside(a).total_cmp(&outside(b))).unwrap_or(first);
    }
    node
}
