//! Our own builder: for each level, the least error with which the allowed number of balls covers the surface.
//!
//! A ball with error `e` has the largest radius for which it sticks out of the object by at most `e`. The builder seeks
//! the fewest such balls that cover the surface, and lowers `e` until the level's number of balls just suffices. All
//! balls of a level then stick out about equally, and a node has as many children as it needs.
//!
//! Which part of the surface a node covers stays open until its children are known: a child may cover whatever is in
//! all the balls above it. So an early cut does not bind later levels.

use rayon::prelude::*;
use space::DVec3;

use super::ball::Ball;
use super::certificate::mend;
use super::cover::{Task, cover, share};
use super::division::{Division, Effort, divide, fit, improve, settle};
use super::error::error_of;
use super::field::DistanceField;
use super::gaps::gaps;
use super::medial::medial_balls;
use super::object::Object;
use super::polish::{Coarse, polish, slim, tighten};
use super::samples::{Samples, sample};
use super::site::{Judge, Site};
use super::tree::{SphereTree, TreeError};

/// A level with at most this error is repeated below: finer levels gain nothing and cost much.
const CLOSE_ENOUGH: f64 = 1e-3;
/// Steps of the search for a level's error.
const SEARCH_STEPS: usize = 6;
/// Up to this number of balls, several starts are tried.
const FEW: usize = 16;
/// Exchanges of balls per search for a cover.
const EXCHANGES: usize = 2_000;
/// Rounds of adding points where the surface between points is uncovered.
const REFINEMENTS: usize = 4;
/// Uncovered parts are sought down to this length, as a share of the points' spacing.
const GAP: f64 = 0.25;
const TOLERANCE: f64 = 4e-3;

/// Builds a tree in unit coordinates with at most `caps[l - 1]` balls on level `l`.
pub fn build_best(object: &Object, caps: &[usize]) -> Result<SphereTree, TreeError> {
    let field = (!object.looks_convex()).then(|| DistanceField::new(object));
    let field = field.as_ref();
    let root = Ball::new(DVec3::ZERO, 1.0).grown_to(object.triangles().iter().flatten().copied());
    let root_error = error_of(object, root, TOLERANCE).at_most;
    let mut plans = vec![Plan { balls: vec![root], parents: vec![0], error: root_error }];
    for &cap in caps {
        let plan = plan_level(object, field, &plans, cap.max(1));
        plans.push(plan);
    }
    let mut tree = assemble(&mut plans, root, root_error)?;
    let finest = (plans[plans.len() - 1].error / 16.0).max(1e-4);
    let regions = mend(&mut tree, object.triangles(), finest);
    polish(object, field, &mut tree, &regions, Coarse::AreFitted);
    let mut tree = tighten(object, field, tree, finest);
    let regions = mend(&mut tree, object.triangles(), finest);
    polish(object, field, &mut tree, &regions, Coarse::AreFitted);
    slim(object, field, &mut tree, &regions);
    Ok(tree)
}

/// A planned level: balls as large as the level's error allows.
struct Plan {
    balls: Vec<Ball>,
    parents: Vec<u32>,
    error: f64,
}

fn plan_level(object: &Object, field: Option<&DistanceField>, plans: &[Plan], cap: usize) -> Plan {
    let above = &plans[plans.len() - 1];
    if above.error <= CLOSE_ENOUGH {
        let parents = (0..above.balls.len() as u32).collect();
        return Plan { balls: above.balls.clone(), parents, error: above.error };
    }
    let samples = sample(object, (36 * cap).clamp(4_000, 40_000));
    // The error falls by about this power of the number of balls.
    let expected = above.error * (above.balls.len() as f64 / cap as f64).powf(0.65);
    let is_coarse = field.is_some() && expected * 1.25 > 2.0 * DistanceField::PITCH;
    let radius_max = above.balls.iter().map(|ball| ball.radius).fold(0.0, f64::max).min(1.2);
    let judge = Judge { object, field: field.filter(|_| is_coarse), radius_max };
    // Errors by the distance field are slow, and so are many balls.
    let effort = match judge.field {
        Some(_) => Effort { sweeps: 8, transfers: 4, evaluations: 30 },
        None if cap <= 128 => Effort { sweeps: 12, transfers: 6, evaluations: 36 },
        None => Effort { sweeps: 5, transfers: 4, evaluations: 28 },
    };
    let effort = Effort { evaluations: fewer(object, effort.evaluations), ..effort };
    let task = task_of(plans, samples.points.clone(), samples.spacing, samples.points.len());
    let (sites, guess) = match search_cover(judge, plans, &samples, cap, expected) {
        Some(found) => found,
        None => {
            let sites = (0..).zip(&above.balls).map(|(parent, ball)| judge.site(ball.center, parent, None));
            (sites.collect(), above.error)
        }
    };
    let mut division = improve(&task, judge, sites, guess, cap, effort);
    if cap <= FEW && above.balls.len() == 1 {
        // For few balls other starts are cheap, and a greedy start is often not the best.
        for sites in beginnings(&task, judge, cap) {
            let tried = improve(&task, judge, sites, above.error, cap, effort);
            if tried.worst() < division.worst() {
                division = tried;
            }
        }
    }
    fill_gaps(judge, plans, samples, task, division, cap, effort)
}

/// A cover with at most `cap` balls and the least error found, bisected from the expected one; `None` if there is none.
fn search_cover(
    judge: Judge<'_>,
    plans: &[Plan],
    samples: &Samples,
    cap: usize,
    expected: f64,
) -> Option<(Vec<Site>, f64)> {
    // The search computes many covers, so it uses fewer points.
    let few = sample(judge.object, (16 * cap).clamp(1_200, 30_000));
    let count = few.points.len();
    let rough = task_of(plans, few.points, few.spacing, count);
    let candidates = candidates(judge, &plans[plans.len() - 1], samples, cap);
    let mut found = None;
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let mut error = expected;
    for _ in 0..SEARCH_STEPS {
        match cover(&rough, &candidates, error, cap, EXCHANGES.min(60 * cap)) {
            Some(chosen) => {
                found = Some(chosen);
                high = error;
            }
            None => low = error,
        }
        error = match (low, high) {
            (0.0, high) => high / 1.3,
            (low, f64::INFINITY) => low * 1.3,
            (low, high) => (low * high).sqrt(),
        };
    }
    let site = |(candidate, parent): (u32, u32)| judge.site(candidates[candidate as usize].center, parent, None);
    Some((found?.into_iter().map(site).collect(), high))
}

/// Adds points where the surface is uncovered between points and moves the balls again, so that the plan is close to
/// what can be proven.
fn fill_gaps(
    judge: Judge<'_>,
    plans: &[Plan],
    samples: Samples,
    mut task: Task,
    mut division: Division,
    cap: usize,
    effort: Effort,
) -> Plan {
    let object = judge.object;
    let Samples { mut points, spacing, .. } = samples;
    let firm = points.len();
    let above = paths_to(plans);
    for round in 1..=fewer(object, REFINEMENTS) {
        let plan = plan_of(&task, division.clone());
        let planned = plan.balls.iter().zip(&plan.parents);
        let paths: Vec<Vec<Ball>> =
            planned.map(|(&ball, &parent)| [&[ball], above[parent as usize].as_slice()].concat()).collect();
        let missed = gaps(object.triangles(), &paths, spacing * GAP);
        if missed.is_empty() {
            break;
        }
        // Thin winding shapes leave very many gaps: a sample of them suffices.
        let stride = missed.len().div_ceil((firm / 2).max(64)).max(1);
        points.extend(missed.into_iter().step_by(stride));
        task = task_of(plans, points.clone(), spacing, firm);
        let worst = division.worst();
        // A moved ball leaves other gaps, so move balls only in rounds after which gaps are sought again.
        division = if round % 2 == 1 && judge.field.is_none() {
            improve(&task, judge, division.sites, worst, cap, Effort { transfers: 3, ..effort })
        } else {
            settle(&task, judge, divide(&task, division.sites, worst), Effort { sweeps: 4, ..effort })
        };
    }
    plan_of(&task, division)
}

/// Fewer attempts for objects with many triangles, where each query takes longer.
pub(super) fn fewer(object: &Object, attempts: usize) -> usize {
    match object.triangles().len() {
        0..=4_000 => attempts,
        4_001..=16_000 => attempts * 3 / 4,
        _ => attempts / 2,
    }
}

/// Other starts: the octants of the points' box, and balls around points far from each other.
fn beginnings(task: &Task, judge: Judge<'_>, cap: usize) -> Vec<Vec<Site>> {
    let low = task.points.iter().copied().fold(DVec3::INFINITY, DVec3::min);
    let high = task.points.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
    let mut beginnings = Vec::new();
    if cap >= 8 {
        let center = |octant: u32| {
            let share = |bit: u32| if octant >> bit & 1 == 1 { 0.75 } else { 0.25 };
            low + (high - low) * DVec3::new(share(0), share(1), share(2))
        };
        beginnings.push((0..8).map(|octant| judge.site(center(octant), 0, None)).collect());
    }
    let mut far = vec![task.points[0]];
    while far.len() < cap {
        let distance =
            |point: &DVec3| far.iter().map(|other| other.distance_squared(*point)).fold(f64::INFINITY, f64::min);
        let Some(&next) = task.points.iter().max_by(|a, b| distance(a).total_cmp(&distance(b))) else { break };
        far.push(next);
    }
    let groups = far.iter().enumerate().map(|(index, _)| {
        let own = task.points.iter().copied().filter(|point| {
            let nearest = (0..far.len())
                .min_by(|&a, &b| far[a].distance_squared(*point).total_cmp(&far[b].distance_squared(*point)));
            nearest == Some(index)
        });
        own.collect::<Vec<DVec3>>()
    });
    let sites = groups.filter(|group| !group.is_empty()).map(|group| {
        let start = group.iter().copied().sum::<DVec3>() / group.len() as f64;
        judge.site(fit(judge, &group, start, 60).0, 0, None)
    });
    beginnings.push(sites.collect());
    beginnings
}

fn plan_of(task: &Task, division: Division) -> Plan {
    let error = division.worst();
    let balls = division
        .sites
        .iter()
        .zip(&division.regions)
        .map(|(site, region)| {
            let own = Ball::around(site.center, region.iter().map(|&point| task.points[point as usize]));
            Ball::new(site.center, own.radius.max(site.reach(error)).max(1e-9))
        })
        .collect();
    Plan { balls, parents: division.sites.iter().map(|site| site.parent).collect(), error }
}

/// For each node of the lowest planned level, its ball and all balls above it.
fn paths_to(plans: &[Plan]) -> Vec<Vec<Ball>> {
    let path = |mut node: usize| {
        let balls = plans.iter().rev().map(|plan| {
            let ball = plan.balls[node];
            node = plan.parents[node] as usize;
            ball
        });
        balls.collect()
    };
    (0..plans[plans.len() - 1].balls.len()).map(path).collect()
}

/// The points of a level, with those that the children of each node above may cover.
fn task_of(plans: &[Plan], points: Vec<DVec3>, spacing: f64, firm: usize) -> Task {
    let count = points.len();
    let paths = paths_to(plans);
    let lack = |path: &[Ball], point: DVec3| {
        path.iter().map(|ball| ball.center.distance(point) - ball.radius).fold(f64::NEG_INFINITY, f64::max)
    };
    // Not up to the rim: between two points in two balls, their children must meet within both. A point near the rim of
    // all balls goes to the nearest. Points from uncovered parts have no margin.
    let margin = |point: usize| if point < firm { 0.5 * spacing } else { 0.0 };
    let is_in = |path: &[Ball], point: usize| {
        let margin = margin(point);
        path.iter().all(|ball| {
            let reach = ball.radius - margin;
            reach > 0.0 && ball.center.distance_squared(points[point]) <= reach * reach
        })
    };
    let nearest: Vec<Option<usize>> = (0..count)
        .into_par_iter()
        .map(|point| {
            if paths.iter().any(|path| is_in(path, point)) {
                return None;
            }
            (0..paths.len()).min_by(|&a, &b| lack(&paths[a], points[point]).total_cmp(&lack(&paths[b], points[point])))
        })
        .collect();
    let shares = paths
        .par_iter()
        .enumerate()
        .map(|(index, path)| share(count, |point| nearest[point] == Some(index) || is_in(path, point)))
        .collect();
    Task::new(points, spacing, shares)
}

/// Candidate centres: those of inner balls that touch the surface twice and of the level above; for coarse levels,
/// where balls may fill dents, a grid; without an inside, points of the surface.
fn candidates(judge: Judge<'_>, above: &Plan, samples: &Samples, cap: usize) -> Vec<Site> {
    // Few balls have few good centres, and far outside the object each query takes long.
    let (least, pitch) = if cap <= FEW { (700, 0.19) } else { (1_500, 0.14) };
    let wanted = (12 * cap).clamp(least, 10_000);
    let stride = samples.patches.len().div_ceil(wanted).max(1);
    let patches: Vec<_> = samples.patches.iter().copied().step_by(stride).collect();
    let mut centers: Vec<DVec3> = above.balls.iter().map(|ball| ball.center).collect();
    let medial = medial_balls(judge.object, &patches, samples.spacing * 0.5);
    if medial.is_empty() {
        centers.extend(patches.iter().map(|patch| patch.center));
    }
    centers.extend(medial.iter().map(|ball| ball.center));
    if judge.field.is_some() {
        let steps = (1.0 / pitch) as i32;
        for x in -steps..=steps {
            for y in -steps..=steps {
                for z in -steps..=steps {
                    let center = DVec3::new(f64::from(x), f64::from(y), f64::from(z)) * pitch;
                    if center.length_squared() <= 1.0 {
                        centers.push(center);
                    }
                }
            }
        }
    }
    centers.par_iter().map(|&center| judge.site(center, 0, None)).collect()
}

/// Makes a tree of the planned balls, without those that have no children.
fn assemble(plans: &mut [Plan], root: Ball, root_error: f64) -> Result<SphereTree, TreeError> {
    for level in (1..plans.len()).rev() {
        if level + 1 < plans.len() {
            let mut is_used = vec![false; plans[level].balls.len()];
            for &parent in &plans[level + 1].parents {
                is_used[parent as usize] = true;
            }
            let mut renamed = vec![0; is_used.len()];
            let mut next = 0;
            for (index, &used) in is_used.iter().enumerate() {
                renamed[index] = next;
                next += u32::from(used);
            }
            for parent in &mut plans[level + 1].parents {
                *parent = renamed[*parent as usize];
            }
            let mut used = is_used.iter();
            plans[level].balls.retain(|_| *used.next().unwrap_or(&true));
            let mut used = is_used.iter();
            plans[level].parents.retain(|_| *used.next().unwrap_or(&true));
        }
    }
    let mut levels = vec![vec![(root, root_error, 0)]];
    for level in 1..plans.len() {
        // Siblings must be side by side in the order of their parents, so the parents' indices of the level
        // below change too.
        let mut order: Vec<usize> = (0..plans[level].balls.len()).collect();
        order.sort_by_key(|&index| (plans[level].parents[index], index));
        let mut renamed = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            renamed[old] = new as u32;
        }
        let plan = &plans[level];
        levels.push(order.iter().map(|&index| (plan.balls[index], plan.error, plan.parents[index])).collect());
        if let Some(below) = plans.get_mut(level + 1) {
            for parent in &mut below.parents {
                *parent = renamed[*parent as usize];
            }
        }
    }
    SphereTree::new(&levels, 1.0)
}
