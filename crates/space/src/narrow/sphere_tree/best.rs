//! Our own builder: the least common error for a number of balls.
//!
//! A ball that may stick out by `e` is as large as its centre allows, and the fewest such balls that cover the surface
//! are sought; `e` falls until the level's number of balls just suffices. All of a level's balls then stick out about
//! equally, which is what makes the farthest one least: a node has as many children as it needs, not eight.
//!
//! Which part of the surface a node answers for is left open until its children are known: a child may cover whatever
//! is in the balls above it. So a cut made early does not bind later levels.

use glam::DVec3;
use rayon::prelude::*;

use super::ball::Ball;
use super::certificate::{Regions, mend};
use super::cover::{Share, Task, cover};
use super::division::{Division, Effort, fit, improve};
use super::error::error_of;
use super::field::Field;
use super::medial::medial_balls;
use super::object::Object;
use super::samples::{Samples, sample};
use super::site::{Judge, Site};
use super::tree::{SphereTree, TreeError};

/// A level that sticks out no farther is repeated below: there is nothing to gain, and much to compute.
const CLOSE_ENOUGH: f64 = 1e-3;
/// Halvings of the interval in which the common error lies.
const SEARCH_STEPS: usize = 8;
/// Up to so many balls, several beginnings are tried.
const FEW: usize = 16;
/// Balls exchanged in search of a cover.
const EXCHANGES: usize = 2_000;
/// How exactly errors are known while building.
const TOLERANCE: f64 = 4e-3;
/// Rounds of taking from the worst balls and giving to the others.
const TIGHTENINGS: usize = 8;

/// Builds a tree in unit coordinates, with at most `caps[l - 1]` balls on level `l`.
pub fn build_best(object: &Object, caps: &[usize]) -> Result<SphereTree, TreeError> {
    let field = (!object.looks_convex()).then(|| Field::new(object));
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
    let (regions, _) = mend(&mut tree, object.triangles(), finest);
    polish(object, field, &mut tree, &regions);
    Ok(tighten(object, field, tree, finest))
}

/// Takes the balls a little smaller than the worst of their level, all alike, covers what is then missed by growing
/// whoever needs least, and fits again: the worst give to the others. What is better stays.
fn tighten(object: &Object, field: Option<&Field>, mut best: SphereTree, finest: f64) -> SphereTree {
    let mut factor: f64 = 0.94;
    for _ in 0..TIGHTENINGS {
        let mut tree = best.clone();
        for level in 1..=tree.depth() {
            let worst = worst_of(&best, level);
            let judge = judge_of(object, field, worst);
            let first = tree.level_range(level).start as u32;
            let reaches: Vec<f64> = tree
                .level(level)
                .par_iter()
                .map(|node| judge.site(node.ball.center, 0, None).reach(worst * factor).max(1e-9))
                .collect();
            for (index, reach) in reaches.into_iter().enumerate() {
                tree.node_mut(first + index as u32).ball.radius = reach;
            }
        }
        let (regions, _) = mend(&mut tree, object.triangles(), finest);
        polish(object, field, &mut tree, &regions);
        let product =
            |tree: &SphereTree| (1..=tree.depth()).map(|level| worst_of(tree, level).max(1e-9)).product::<f64>();
        if product(&tree) < product(&best) * (1.0 - 1e-3) {
            best = tree;
        } else {
            factor = factor.sqrt();
            if factor > 0.98 {
                break;
            }
        }
    }
    best
}

fn worst_of(tree: &SphereTree, level: usize) -> f64 {
    tree.level(level).iter().map(|node| node.error).fold(0.0, f64::max)
}

/// Errors well above the field's pitch are judged with it.
fn judge_of<'a>(object: &'a Object, field: Option<&'a Field>, worst: f64) -> Judge<'a> {
    Judge { object, field: field.filter(|_| worst > 2.0 * Field::PITCH), radius_max: 1.2, stride: 1 }
}

/// A level as far as it is known before all are: balls as large as the level's error allows.
struct Plan {
    balls: Vec<Ball>,
    parents: Vec<u32>,
    error: f64,
}

fn plan_level(object: &Object, field: Option<&Field>, plans: &[Plan], cap: usize) -> Plan {
    let above = &plans[plans.len() - 1];
    if above.error <= CLOSE_ENOUGH {
        let parents = (0..above.balls.len() as u32).collect();
        return Plan { balls: above.balls.clone(), parents, error: above.error };
    }
    let samples = sample(object, (70 * cap).clamp(4_000, 40_000));
    let is_coarse = field.is_some() && above.error * 0.5 > 2.0 * Field::PITCH;
    let radius_max = above.balls.iter().map(|ball| ball.radius).fold(0.0, f64::max).min(1.2);
    let judge = Judge { object, field: field.filter(|_| is_coarse), radius_max, stride: 1 };
    let task = task_of(plans, &samples);
    // The search looks at many covers: it gets fewer points.
    let rough = task_of(plans, &sample(object, (24 * cap).clamp(1_200, 30_000)));
    let candidates = candidates(object, Judge { stride: 2, ..judge }, above, &samples, cap, is_coarse);
    let mut found: Option<Vec<Site>> = None;
    // More balls, less error, by about this power: begin there, and widen until it is between two.
    let ratio = above.balls.len() as f64 / cap as f64;
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let mut error = above.error * ratio.powf(0.65);
    for _ in 0..SEARCH_STEPS {
        match cover(&rough, &candidates, error, cap, EXCHANGES.min(60 * cap)) {
            Some(chosen) => {
                let site =
                    |(candidate, parent): (u32, u32)| judge.site(candidates[candidate as usize].center, parent, None);
                found = Some(chosen.into_iter().map(site).collect());
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
    let effort = if cap <= 128 {
        Effort { sweeps: 16, transfers: 20, evaluations: 50 }
    } else {
        Effort { sweeps: 5, transfers: 4, evaluations: 28 }
    };
    let as_above = || -> Vec<Site> {
        let sites = above.balls.iter().enumerate();
        sites.map(|(parent, ball)| judge.site(ball.center, parent as u32, None)).collect()
    };
    let guess = if high.is_finite() { high } else { above.error };
    let mut division = improve(&task, judge, found.unwrap_or_else(as_above), guess, cap, effort);
    if cap <= FEW && above.balls.len() == 1 {
        // Few balls are quickly tried from other beginnings, and a greedy beginning is often not the best.
        for sites in beginnings(&task, judge, cap) {
            let tried = improve(&task, judge, sites, above.error, cap, effort);
            if tried.worst() < division.worst() {
                division = tried;
            }
        }
    }
    plan_of(&task, division)
}

/// Other ways to begin: the octants of the box around the points, and balls around points far from one another.
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

/// The points of a level, and which of them each node above may have covered by its children.
fn task_of(plans: &[Plan], samples: &Samples) -> Task {
    let above = plans.len() - 1;
    let count = samples.points.len();
    let path = |node: usize| {
        let mut balls = Vec::new();
        let mut node = node;
        for level in (0..=above).rev() {
            balls.push(plans[level].balls[node]);
            node = plans[level].parents[node] as usize;
        }
        balls
    };
    let paths: Vec<Vec<Ball>> = (0..plans[above].balls.len()).map(path).collect();
    let lack = |path: &[Ball], point: DVec3| {
        path.iter().map(|ball| ball.center.distance(point) - ball.radius).fold(f64::NEG_INFINITY, f64::max)
    };
    // Not up to the rim: between two points, one in each of two balls, their children must meet within both. What is near
    // the rim of all goes to whom it is nearest.
    let margin = 0.5 * samples.spacing;
    let nearest: Vec<Option<usize>> = samples
        .points
        .par_iter()
        .map(|&point| {
            if paths.iter().any(|path| lack(path, point) <= -margin) {
                return None;
            }
            (0..paths.len()).min_by(|&a, &b| lack(&paths[a], point).total_cmp(&lack(&paths[b], point)))
        })
        .collect();
    let shares = paths
        .par_iter()
        .enumerate()
        .map(|(index, path)| {
            Share::new(count, |point| nearest[point] == Some(index) || lack(path, samples.points[point]) <= -margin)
        })
        .collect();
    Task::new(samples.points.clone(), samples.spacing, shares)
}

/// Centres worth trying: those of inner balls that touch twice, those of the level above, and where dents may be filled
/// or there is no inside, points of space and of the surface.
fn candidates(
    object: &Object,
    judge: Judge<'_>,
    above: &Plan,
    samples: &Samples,
    cap: usize,
    is_coarse: bool,
) -> Vec<Site> {
    let wanted = (20 * cap).clamp(1_500, 10_000);
    let stride = samples.patches.len().div_ceil(wanted).max(1);
    let patches: Vec<_> = samples.patches.iter().copied().step_by(stride).collect();
    let mut centers: Vec<DVec3> = above.balls.iter().map(|ball| ball.center).collect();
    let medial = medial_balls(object, &patches, samples.spacing * 0.5);
    if medial.is_empty() {
        centers.extend(patches.iter().map(|patch| patch.center));
    }
    centers.extend(medial.iter().map(|ball| ball.center));
    if is_coarse {
        let pitch = 0.14;
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

/// A tree of the planned balls, without those that have nothing below them. Each ball is as large as planned.
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
        // Children side by side, in the order of their parents: names of a level change, so those below must follow.
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

/// Fits every ball, from the leaves up, to the part of the surface that it answers for.
fn polish(object: &Object, field: Option<&Field>, tree: &mut SphereTree, regions: &Regions) {
    let depth = tree.depth();
    let mut points: Vec<Vec<DVec3>> = regions
        .leaves
        .iter()
        .map(|pieces| {
            let corners = pieces.iter().map(|piece| piece.positions(&object.triangles()[piece.triangle as usize]));
            distinct(corners.flatten().collect())
        })
        .collect();
    for level in (1..=depth).rev() {
        let nodes = tree.level(level).to_vec();
        let worst = worst_of(tree, level);
        let judge = judge_of(object, field, worst);
        let is_coarse = judge.field.is_some();
        let fitted: Vec<(Ball, f64)> = nodes
            .par_iter()
            .zip(&points)
            .map(|(node, points)| {
                if points.is_empty() {
                    // Others cover all that it was for: a speck on the surface takes its place.
                    let speck = Ball::new(object.nearest(node.ball.center, None).point, 1e-9);
                    return (speck, quick_error(object, speck, false));
                }
                let kept = Ball::around(node.ball.center, points.iter().copied());
                let (center, _) = fit(judge, points, node.ball.center, 80);
                let moved = Ball::around(center, points.iter().copied());
                let [kept, moved] = [kept, moved].map(|ball| {
                    let ball = Ball::new(ball.center, ball.radius.max(1e-9));
                    (ball, quick_error(object, ball, is_coarse))
                });
                if moved.1 < kept.1 { moved } else { kept }
            })
            .collect();
        let first = tree.level_range(level).start as u32;
        for (index, (ball, error)) in fitted.into_iter().enumerate() {
            let node = tree.node_mut(first + index as u32);
            node.ball = ball;
            node.error = error;
        }
        let above = tree.level_range(level - 1);
        let mut gathered = vec![Vec::new(); above.len()];
        for (node, own) in nodes.iter().zip(&points) {
            gathered[node.parent as usize - above.start].extend_from_slice(own);
        }
        points = gathered.into_iter().map(distinct).collect();
    }
}

fn quick_error(object: &Object, ball: Ball, is_coarse: bool) -> f64 {
    if is_coarse {
        error_of(object, ball, TOLERANCE).at_most
    } else {
        (ball.radius - object.depth(ball.center, None).0).max(0.0)
    }
}

fn distinct(mut points: Vec<DVec3>) -> Vec<DVec3> {
    let key = |point: &DVec3| (point.x, point.y, point.z);
    points.sort_by(|a, b| key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal));
    points.dedup();
    points
}
