//! Points of a surface divided among balls so that the largest error is least.
//!
//! Covering a point costs a ball the error that it would then have. Each point goes to the ball that it costs least,
//! then each ball moves to where its points cost least, and so on; no step makes the worst ball worse. When that
//! converges, balls that others can replace are moved to where the worst one is.

use rayon::prelude::*;
use space::DVec3;

use super::cover::Task;
use super::enclosing::smallest_enclosing_ball;
use super::minimise::minimise;
use super::site::{Hints, Judge, Site};

/// A relative gain below this counts as none.
const LEAST_GAIN: f64 = 1e-3;
/// The number of sweeps without gain after which to stop.
const PATIENCE: usize = 3;

#[derive(Clone, Copy, Debug)]
pub struct Effort {
    pub sweeps: usize,
    pub transfers: usize,
    pub evaluations: usize,
}

/// Balls, and the points that each covers.
#[derive(Clone, Debug)]
pub struct Division {
    pub sites: Vec<Site>,
    /// For each ball, its points.
    pub regions: Vec<Vec<u32>>,
    /// For each ball, how far it sticks out.
    pub errors: Vec<f64>,
    /// For each ball, the error that others would need to replace it.
    lacks: Vec<f64>,
}

impl Division {
    pub fn worst(&self) -> f64 {
        self.errors.iter().copied().fold(0.0, f64::max)
    }
}

/// Divides, moves and transfers until nothing is gained, with at most `cap` balls.
pub fn improve(task: &Task, judge: Judge<'_>, sites: Vec<Site>, guess: f64, cap: usize, effort: Effort) -> Division {
    let mut best = settle(task, judge, divide(task, sites, guess), effort);
    fill(task, judge, &mut best, cap, effort);
    let mut idle = 0;
    for _ in 0..effort.transfers {
        if idle >= 3 {
            break;
        }
        let moves = if idle == 0 { (cap / 24).max(1) } else { 1 + idle };
        let Some(sites) = transfer(task, judge, &best, moves) else { break };
        let guess = best.worst();
        let tried = settle(task, judge, divide(task, sites, guess), Effort { sweeps: 3, ..effort });
        if tried.worst() < best.worst() * (1.0 - 1e-4) {
            best = tried;
            idle = 0;
        } else {
            idle += 1;
        }
    }
    settle(task, judge, best, effort)
}

/// Gives each point to the ball that it costs least. Balls without points are dropped.
pub fn divide(task: &Task, sites: Vec<Site>, guess: f64) -> Division {
    let count = task.points.len();
    let mut owner = vec![(f64::INFINITY, u32::MAX); count];
    let mut second = vec![f64::INFINITY; count];
    let reach_error = guess * 1.3;
    let offer = |point: u32, cost: f64, index: usize, owner: &mut [(f64, u32)], second: &mut [f64]| {
        let at = point as usize;
        if cost < owner[at].0 {
            second[at] = owner[at].0;
            owner[at] = (cost, index as u32);
        } else if cost < second[at] {
            second[at] = cost;
        }
    };
    for (index, site) in sites.iter().enumerate() {
        let share = &task.shares[site.parent as usize];
        task.cells.within(site.center, site.reach(reach_error), |point, squared| {
            if share.contains(point as usize) {
                offer(point, site.error_at(squared.sqrt()), index, &mut owner, &mut second);
            }
        });
    }
    // A point that no ball reaches is compared with all.
    for point in 0..count {
        if owner[point].1 != u32::MAX {
            continue;
        }
        for (index, site) in sites.iter().enumerate() {
            if task.shares[site.parent as usize].contains(point) {
                let cost = site.error_at(site.center.distance(task.points[point]));
                offer(point as u32, cost, index, &mut owner, &mut second);
            }
        }
    }
    let mut regions = vec![Vec::new(); sites.len()];
    let mut errors = vec![0.0_f64; sites.len()];
    let mut lacks = vec![0.0_f64; sites.len()];
    let mut orphans = Vec::new();
    for point in 0..count {
        let (cost, index) = owner[point];
        let Some(region) = regions.get_mut(index as usize) else {
            orphans.push(point as u32);
            continue;
        };
        region.push(point as u32);
        errors[index as usize] = errors[index as usize].max(cost);
        lacks[index as usize] = lacks[index as usize].max(second[point]);
    }
    let mut division = Division { sites, regions, errors, lacks };
    adopt(task, &mut division, orphans);
    division.drop_empty();
    division
}

/// Points that no ball's parent may cover go to a new ball below a parent that may.
fn adopt(task: &Task, division: &mut Division, orphans: Vec<u32>) {
    for point in orphans {
        let place = task.points[point as usize];
        let near = (0..division.sites.len())
            .filter(|&index| task.shares[division.sites[index].parent as usize].contains(point as usize))
            .min_by(|&a, &b| {
                let cost = |index: usize| division.sites[index].error_at(division.sites[index].center.distance(place));
                cost(a).total_cmp(&cost(b))
            });
        let index = near.unwrap_or_else(|| {
            let parent = task.shares.iter().position(|share| share.contains(point as usize)).unwrap_or(0);
            let mut site = division.sites[0].clone();
            site.parent = parent as u32;
            division.sites.push(site);
            division.regions.push(Vec::new());
            division.errors.push(0.0);
            division.lacks.push(f64::INFINITY);
            division.sites.len() - 1
        });
        let site = &division.sites[index];
        let cost = site.error_at(site.center.distance(place));
        division.regions[index].push(point);
        division.errors[index] = division.errors[index].max(cost);
        division.lacks[index] = f64::INFINITY;
    }
}

impl Division {
    fn drop_empty(&mut self) {
        let keep: Vec<bool> = self.regions.iter().map(|region| !region.is_empty()).collect();
        let mut index = 0;
        let mut kept = || {
            index += 1;
            keep[(index - 1) % keep.len()]
        };
        self.sites.retain(|_| kept());
        self.errors.retain(|_| kept());
        self.lacks.retain(|_| kept());
        self.regions.retain(|region| !region.is_empty());
    }
}

/// Moves balls and divides points until [`PATIENCE`] sweeps gain nothing: the worst ball often stays while the
/// rest makes room.
pub fn settle(task: &Task, judge: Judge<'_>, division: Division, effort: Effort) -> Division {
    let mut best = division.clone();
    let mut now = division;
    let mut idle = 0;
    for _ in 0..effort.sweeps {
        let moved: Vec<Site> = (0..now.sites.len())
            .into_par_iter()
            .map(|index| move_site(task, judge, &now, index, effort.evaluations))
            .collect();
        now = divide(task, moved, now.worst());
        idle = if now.worst() < best.worst() * (1.0 - LEAST_GAIN) { 0 } else { idle + 1 };
        if now.worst() <= best.worst() {
            best = now.clone();
        }
        if idle >= PATIENCE {
            break;
        }
    }
    best
}

fn move_site(task: &Task, judge: Judge<'_>, division: &Division, index: usize, evaluations: usize) -> Site {
    let site = &division.sites[index];
    let moved_for = sum_of(&division.regions[index]);
    if site.moved_for == moved_for && site.times > 1 {
        return site.clone();
    }
    let points: Vec<DVec3> = division.regions[index].iter().map(|&point| task.points[point as usize]).collect();
    let (center, error) = fit(judge, &points, site.center, evaluations);
    let mut moved =
        if error < division.errors[index] { judge.site(center, site.parent, Some(site.hint)) } else { site.clone() };
    moved.times = if site.moved_for == moved_for { site.times + 1 } else { 1 };
    moved.moved_for = moved_for;
    moved
}

/// A hash of the points (FNV-1a).
fn sum_of(points: &[u32]) -> u64 {
    points.iter().fold(0xcbf2_9ce4_8422_2325, |sum, &point| (sum ^ u64::from(point)).wrapping_mul(0x100_0000_01b3))
}

/// The centre at which a ball around the points sticks out least, searched from `start` or the middle of the smallest
/// enclosing ball; and how far.
pub fn fit(judge: Judge<'_>, points: &[DVec3], start: DVec3, evaluations: usize) -> (DVec3, f64) {
    let smallest = smallest_enclosing_ball(points);
    let step = (smallest.radius * 0.25).max(1e-6);
    let mut around = judge.object.around(start, 2.0 * step);
    let mut hints = Hints::default();
    let mut value = |center: DVec3| {
        let squared = points.iter().map(|&point| center.distance_squared(point)).fold(0.0, f64::max);
        judge.error_around(&mut around, center, squared.sqrt(), &mut hints)
    };
    let (from_start, from_middle) = (value(start), value(smallest.center));
    let best = if from_start <= from_middle { start } else { smallest.center };
    let least = from_start.min(from_middle);
    let (center, error) = minimise(best, step, evaluations, &mut value);
    if error < least { (center, error) } else { (best, least) }
}

/// Splits the worst balls until there are `cap`.
fn fill(task: &Task, judge: Judge<'_>, division: &mut Division, cap: usize, effort: Effort) {
    for _ in 0..cap {
        let room = cap.saturating_sub(division.sites.len());
        if room == 0 {
            return;
        }
        let mut sites = division.sites.clone();
        let order = by_error(division);
        let mut is_split = false;
        for &index in order.iter().take(room.min(order.len() / 4 + 1)) {
            if let Some([first, second]) = split(task, judge, division, index) {
                sites[index] = first;
                sites.push(second);
                is_split = true;
            }
        }
        if !is_split {
            return;
        }
        let worst = division.worst();
        let tried = settle(task, judge, divide(task, sites, worst), Effort { sweeps: 3, ..effort });
        if tried.worst() > worst || tried.sites.len() <= division.sites.len() {
            return;
        }
        *division = tried;
    }
}

fn by_error(division: &Division) -> Vec<usize> {
    let mut order: Vec<usize> = (0..division.sites.len()).collect();
    order.sort_by(|&a, &b| division.errors[b].total_cmp(&division.errors[a]).then(a.cmp(&b)));
    order
}

/// Moves the most replaceable balls to where the worst ones are; `None` if none can be spared.
fn transfer(task: &Task, judge: Judge<'_>, division: &Division, moves: usize) -> Option<Vec<Site>> {
    let worst = division.worst();
    let order = by_error(division);
    let mut spare: Vec<usize> =
        (0..division.sites.len()).filter(|&index| division.lacks[index] < worst * 0.98).collect();
    spare.sort_by(|&a, &b| division.lacks[a].total_cmp(&division.lacks[b]).then(a.cmp(&b)));
    let mut sites: Vec<Option<Site>> = division.sites.iter().cloned().map(Some).collect();
    let mut added = Vec::new();
    // Neighbours that replace a removed ball must not be removed too: keep a distance.
    let mut gone: Vec<DVec3> = Vec::new();
    for &index in &order {
        if added.len() >= moves {
            break;
        }
        let apart = |&&other: &&usize| {
            let site = &division.sites[other];
            let reach = site.reach(worst) * 2.0;
            sites[other].is_some()
                && other != index
                && gone.iter().all(|place| place.distance(site.center) > reach)
                && division.errors[other] < division.errors[index]
        };
        let Some(&leaves) = spare.iter().find(apart) else { break };
        let Some([first, second]) = split(task, judge, division, index) else { continue };
        gone.push(division.sites[leaves].center);
        sites[leaves] = None;
        sites[index] = Some(first);
        added.push(second);
    }
    if added.is_empty() {
        return None;
    }
    Some(sites.into_iter().flatten().chain(added).collect())
}

/// Two balls for one: one for the points nearer to each of two distant points.
fn split(task: &Task, judge: Judge<'_>, division: &Division, index: usize) -> Option<[Site; 2]> {
    let region = &division.regions[index];
    let site = &division.sites[index];
    let place = |point: u32| task.points[point as usize];
    let farthest_from = |from: DVec3| {
        let far = region.iter().copied().max_by(|&a, &b| {
            place(a).distance_squared(from).total_cmp(&place(b).distance_squared(from)).then(b.cmp(&a))
        });
        far.map(place)
    };
    let first = farthest_from(site.center)?;
    let second = farthest_from(first)?;
    if first == second {
        return None;
    }
    let halves = [(first, second), (second, first)].map(|(near, far)| {
        let own = region.iter().map(|&point| place(point));
        own.filter(|point| point.distance_squared(near) <= point.distance_squared(far)).collect::<Vec<DVec3>>()
    });
    Some(halves.map(|points| {
        let (center, _) = fit(judge, &points, site.center, 40);
        judge.site(center, site.parent, Some(site.hint))
    }))
}
