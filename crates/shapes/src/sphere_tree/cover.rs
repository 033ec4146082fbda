//! Few balls that cover many points: a greedy set cover, improved by exchanges.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rayon::prelude::*;
use space::bits::Bits;
use space::{Buckets, DVec3};

use super::exchange::exchange;
use super::samples::PointCells;
use super::site::Site;

/// Candidates per parallel task.
const CHUNK: usize = 64;
/// A candidate is tried below at most this many nodes of the level above.
const MAX_PARENTS: usize = 2;

/// Points to cover, and the nodes of the level above below which each may be covered.
pub struct Task {
    pub points: Vec<DVec3>,
    /// The same points in a grid.
    pub cells: PointCells,
    /// For each node of the level above, the points in its ball and in all balls above.
    pub shares: Vec<Bits>,
    /// For each point, the nodes whose share has it.
    parents: Buckets<u32>,
}

impl Task {
    /// `spacing` is about the distance between neighbouring points.
    pub fn new(points: Vec<DVec3>, spacing: f64, shares: Vec<Bits>) -> Task {
        let cells = PointCells::new(&points, spacing * 2.0);
        let mut parents = Buckets::default();
        let points_of = |(parent, share)| Bits::iter(share).map(move |point| (point, parent));
        let members: Vec<(usize, u32)> = (0..).zip(&shares).flat_map(points_of).collect();
        parents.fill(points.len(), members.iter().copied());
        Task { points, cells, shares, parents }
    }
}

pub fn share(count: usize, is_in: impl Fn(usize) -> bool) -> Bits {
    let mut share = Bits::new();
    (0..count).filter(|&point| is_in(point)).for_each(|point| share.insert(point));
    share
}

/// A candidate ball below a parent, and the points that it covers.
struct Offer {
    candidate: u32,
    parent: u32,
    points: Vec<u32>,
}

/// At most `limit` candidates, with parents, whose balls of this error cover all points; `None` if no such choice was
/// found within `exchanges`.
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
        // Far too many for exchanges to help.
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
        for &parent in task.parents.get(point as usize) {
            counts[parent as usize].0 += 1;
        }
    }
    counts.retain(|&(count, _)| count > 0);
    counts.sort_by_key(|&(count, parent)| (Reverse(count), parent));
    for &(_, parent) in counts.iter().take(MAX_PARENTS) {
        let share = &task.shares[parent as usize];
        let points = points.iter().copied().filter(|&point| share.contains(point as usize)).collect();
        offers.push(Offer { candidate, parent, points });
    }
}

/// Greedy: always the offer that covers the most uncovered points. Gains only fall, so old ones are upper bounds.
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

/// Drops offers whose points others cover too, the smallest first.
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
