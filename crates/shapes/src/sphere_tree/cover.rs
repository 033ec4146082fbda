//! Few balls that cover many points: chosen greedily, then exchanged one by one until nothing is left uncovered.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rayon::prelude::*;
use space::DVec3;

use super::exchange::exchange;
use super::samples::PointCells;
use super::site::Site;

/// Candidates per task.
const CHUNK: usize = 64;
/// A candidate is tried below this many nodes of the level above.
const MAX_PARENTS: usize = 2;

/// Which points are a node's to cover: those in its ball and in all balls above.
#[derive(Clone, Debug)]
pub struct Share(Vec<u64>);

impl Share {
    /// The points for which `is_in` holds.
    pub fn new(count: usize, is_in: impl Fn(usize) -> bool) -> Share {
        let mut bits = vec![0; count.div_ceil(64)];
        for index in (0..count).filter(|&index| is_in(index)) {
            bits[index / 64] |= 1 << (index % 64);
        }
        Share(bits)
    }

    /// Whether it has the point.
    #[inline]
    pub fn has(&self, point: u32) -> bool {
        self.0[point as usize / 64] >> (point % 64) & 1 == 1
    }
}

/// Points to cover, and whose they are.
pub struct Task {
    /// The points.
    pub points: Vec<DVec3>,
    /// The same, sorted into cubes.
    pub cells: PointCells,
    /// For each node of the level above, its points.
    pub shares: Vec<Share>,
    /// For each point, whose it is: where its list begins in the next, and where the last one ends.
    starts: Vec<u32>,
    parents: Vec<u32>,
}

impl Task {
    /// The task of covering these points; `spacing` is about how far they are apart.
    pub fn new(points: Vec<DVec3>, spacing: f64, shares: Vec<Share>) -> Task {
        let cells = PointCells::new(&points, spacing * 2.0);
        let mut starts = vec![0];
        let mut parents = Vec::new();
        for point in 0..points.len() as u32 {
            parents.extend((0..shares.len() as u32).filter(|&parent| shares[parent as usize].has(point)));
            starts.push(parents.len() as u32);
        }
        Task { points, cells, shares, starts, parents }
    }
}

/// A chosen ball: which candidate, below which parent, and what it covers.
struct Offer {
    candidate: u32,
    parent: u32,
    points: Vec<u32>,
}

/// Chooses candidates whose balls, none sticking out farther than `error`, cover all points; at most `limit` of them.
/// `None` if no such choice was found within so many exchanges.
pub fn cover(task: &Task, candidates: &[Site], error: f64, limit: usize, exchanges: usize) -> Option<Vec<(u32, u32)>> {
    let offers: Vec<Offer> = candidates
        .par_chunks(CHUNK)
        .enumerate()
        .map(|(chunk, sites)| {
            let mut offers = Vec::new();
            for (index, site) in sites.iter().enumerate() {
                offers_of(task, site, (chunk * CHUNK + index) as u32, error, &mut offers);
            }
            offers
        })
        .collect::<Vec<_>>()
        .into_iter()
        .flatten()
        .collect();
    let chosen = choose(task.points.len(), &offers, 2 * limit + 4)?;
    let mut needed = without_idle(task.points.len(), &offers, chosen);
    if needed.len() > limit {
        // Many too many: no exchange will help.
        if needed.len() > limit + limit / 3 + 2 {
            return None;
        }
        let lists: Vec<&[u32]> = offers.iter().map(|offer| offer.points.as_slice()).collect();
        needed = exchange(task.points.len(), &lists, needed, limit, exchanges)?;
    }
    Some(needed.into_iter().map(|index| (offers[index].candidate, offers[index].parent)).collect())
}

fn offers_of(task: &Task, site: &Site, candidate: u32, error: f64, offers: &mut Vec<Offer>) {
    let reach = site.reach(error);
    if reach <= 0.0 {
        return;
    }
    let mut points = Vec::new();
    task.cells.within(site.center, reach, |point, _| points.push(point));
    if points.is_empty() {
        return;
    }
    let mut counts: Vec<(usize, u32)> = (0..task.shares.len() as u32).map(|parent| (0, parent)).collect();
    for &point in &points {
        let [from, to] = [0, 1].map(|next| task.starts[point as usize + next] as usize);
        for &parent in &task.parents[from..to] {
            counts[parent as usize].0 += 1;
        }
    }
    counts.retain(|&(count, _)| count > 0);
    counts.sort_by_key(|&(count, parent)| (Reverse(count), parent));
    for &(_, parent) in counts.iter().take(MAX_PARENTS) {
        let share = &task.shares[parent as usize];
        let points = points.iter().copied().filter(|&point| share.has(point)).collect();
        offers.push(Offer { candidate, parent, points });
    }
}

/// Always the one that covers most of what is not yet covered; a count can only fall, so old ones are bounds.
fn choose(points: usize, offers: &[Offer], limit: usize) -> Option<Vec<usize>> {
    let mut covered = vec![false; points];
    let mut left = points;
    let mut heap: BinaryHeap<(usize, Reverse<usize>)> =
        offers.iter().enumerate().map(|(index, offer)| (offer.points.len(), Reverse(index))).collect();
    let mut chosen = Vec::new();
    while left > 0 {
        let (_, Reverse(index)) = heap.pop()?;
        let gain = offers[index].points.iter().filter(|&&point| !covered[point as usize]).count();
        if gain == 0 {
            continue;
        }
        if heap.peek().is_some_and(|&(next, Reverse(other))| (gain, Reverse(index)) < (next, Reverse(other))) {
            heap.push((gain, Reverse(index)));
            continue;
        }
        if chosen.len() == limit {
            return None;
        }
        for &point in &offers[index].points {
            covered[point as usize] = true;
        }
        left -= gain;
        chosen.push(index);
    }
    Some(chosen)
}

/// Leaves out those all of whose points others cover, the smallest first.
fn without_idle(points: usize, offers: &[Offer], mut chosen: Vec<usize>) -> Vec<usize> {
    let mut times = vec![0_u32; points];
    for &index in &chosen {
        for &point in &offers[index].points {
            times[point as usize] += 1;
        }
    }
    chosen.sort_by_key(|&index| (offers[index].points.len(), index));
    chosen.retain(|&index| {
        let is_idle = offers[index].points.iter().all(|&point| times[point as usize] > 1);
        if is_idle {
            for &point in &offers[index].points {
                times[point as usize] -= 1;
            }
        }
        !is_idle
    });
    chosen
}
