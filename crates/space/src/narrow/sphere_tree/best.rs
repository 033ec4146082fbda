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
use super::certificate::{Regions, certify, mend};
use super::cover::{Share, Task, cover};
use super::division::{Division, Effort, fit, improve};
use super::error::error_of;
use super::field::Field;
use super::medial::medial_balls;
use super::object::Object;
use super::samples::{PointCells, Samples, sample};
use super::site::{Judge, Site};
use super::tree::{SphereTree, TreeError};

/// Halvings of the interval in which the common error lies.
const SEARCH_STEPS: usize = 7;
/// How exactly errors are known while building.
const TOLERANCE: f64 = 4e-3;
/// Rounds of fitting balls to their final parts of the surface.
const POLISH_ROUNDS: usize = 2;

/// Builds a tree in unit coordinates, with at most `caps[l - 1]` balls on level `l`.
pub fn build_best(object: &Object, caps: &[usize]) -> Result<SphereTree, TreeError> {
    let field = Field::new(object);
    let root = Ball::new(DVec3::ZERO, 1.0).grown_to(object.triangles().iter().flatten().copied());
    let root_error = error_of(object, root, TOLERANCE).at_most;
    let mut plans = vec![Plan { balls: vec![root], parents: vec![0], error: root_error }];
    for &cap in caps {
        let plan = plan_level(object, &field, &plans, cap.max(1));
        plans.push(plan);
    }
    let mut tree = assemble(&mut plans, root, root_error)?;
    let finest = (plans[plans.len() - 1].error / 16.0).max(1e-4);
    let (mut regions, _) = mend(&mut tree, object.triangles(), finest);
    for round in 0..POLISH_ROUNDS {
        polish(object, &field, &mut tree, &regions);
        if round + 1 < POLISH_ROUNDS {
            regions = match certify(&tree, object.triangles()) {
                Ok(regions) => regions,
                Err(_) => mend(&mut tree, object.triangles(), finest).0,
            };
        }
    }
    Ok(tree)
}

/// A level as far as it is known before all are: balls as large as the level's error allows.
struct Plan {
    balls: Vec<Ball>,
    parents: Vec<u32>,
    error: f64,
}

fn plan_level(object: &Object, field: &Field, plans: &[Plan], cap: usize) -> Plan {
    let above = &plans[plans.len() - 1];
    let samples = sample(object, (70 * cap).clamp(4_000, 60_000));
    let is_coarse = above.error * 0.5 > 2.0 * Field::PITCH;
    let radius_max = above.balls.iter().map(|ball| ball.radius).fold(0.0, f64::max).min(1.2);
    let judge = Judge { object, field: is_coarse.then_some(field), radius_max };
    let task = task(plans, &samples);
    let candidates = candidates(object, judge, above, &samples, cap, is_coarse);
    let mut found: Option<Vec<Site>> = None;
    let (mut low, mut high) = (above.error / 12.0, above.error * 1.02 + 1e-9);
    for step in 0..=SEARCH_STEPS {
        let error = if step == 0 { high } else { (low * high).sqrt() };
        match cover(&task, &candidates, error, cap) {
            Some(chosen) => {
                let site = |(candidate, parent): (u32, u32)| candidates[candidate as usize].below(parent);
                found = Some(chosen.into_iter().map(site).collect());
                high = error;
            }
            None if step == 0 => break,
            None => low = error,
        }
    }
    let effort = if cap <= 128 {
        Effort { sweeps: 24, transfers: 30, evaluations: 60 }
    } else {
        Effort { sweeps: 10, transfers: 16, evaluations: 40 }
    };
    let as_above = || -> Vec<Site> {
        let sites = above.balls.iter().enumerate();
        sites.map(|(parent, ball)| judge.site(ball.center, parent as u32, None)).collect()
    };
    let division = improve(&task, judge, found.unwrap_or_else(as_above), cap, effort);
    plan_of(&task, division)
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
fn task(plans: &[Plan], samples: &Samples) -> Task {
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
    // The level above was planned with fewer points: what it missed goes to whom it is nearest.
    let nearest: Vec<Option<usize>> = samples
        .points
        .par_iter()
        .map(|&point| {
            if paths.iter().any(|path| lack(path, point) <= 0.0) {
                return None;
            }
            (0..paths.len()).min_by(|&a, &b| lack(&paths[a], point).total_cmp(&lack(&paths[b], point)))
        })
        .collect();
    let shares = paths
        .par_iter()
        .enumerate()
        .map(|(index, path)| {
            Share::new(count, |point| nearest[point] == Some(index) || lack(path, samples.points[point]) <= 0.0)
        })
        .collect();
    let cells = PointCells::new(&samples.points, samples.spacing * 2.0);
    Task { points: samples.points.clone(), cells, shares }
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
fn polish(object: &Object, field: &Field, tree: &mut SphereTree, regions: &Regions) {
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
        let worst = nodes.iter().map(|node| node.error).fold(0.0, f64::max);
        let is_coarse = worst > 2.0 * Field::PITCH;
        let judge = Judge { object, field: is_coarse.then_some(field), radius_max: 1.2 };
        let fitted: Vec<(Ball, f64)> = nodes
            .par_iter()
            .zip(&points)
            .map(|(node, points)| {
                if points.is_empty() {
                    return (node.ball, node.error);
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

