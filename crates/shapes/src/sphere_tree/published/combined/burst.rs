//! Burst: removes one ball at a time; its neighbours take over its points.

use super::group::PointGroup;
use super::merge::merge_to;
use super::{MEDIAL, Region};
use crate::sphere_tree::site::Site;

/// Bursting many balls is slow: merge down to this many times the limit first.
const BEGIN: usize = 3;
/// A sum of this power of the errors approximates the largest, and counts how many are large.
const POWER: i32 = 6;
const NEIGHBOURS: usize = 6;

pub(super) fn burst(region: &Region<'_>) -> Vec<Site> {
    let mut groups = merge_to(region, region.groups(MEDIAL), BEGIN * region.limit);
    while groups.len() > region.limit {
        let removals: Vec<(f64, Vec<(usize, PointGroup)>)> =
            (0..groups.len()).map(|index| without(region, &groups, index)).collect();
        let Some(gone) = (0..groups.len()).min_by(|&a, &b| removals[a].0.total_cmp(&removals[b].0)) else { break };
        for (neighbour, grown) in removals.into_iter().nth(gone).map(|(_, grown)| grown).unwrap_or_default() {
            groups[neighbour] = grown;
        }
        groups.remove(gone);
    }
    groups.iter().map(|group| region.judge.site(group.center, 0, None)).collect()
}

/// The cost of removing a ball, and its neighbours with its points.
fn without(region: &Region<'_>, groups: &[PointGroup], index: usize) -> (f64, Vec<(usize, PointGroup)>) {
    let group = &groups[index];
    let mut near: Vec<usize> = (0..groups.len()).filter(|&other| other != index).collect();
    let apart = |other: usize| groups[other].center.distance(group.center) - groups[other].radius;
    near.sort_by(|&a, &b| apart(a).total_cmp(&apart(b)).then(a.cmp(&b)));
    near.truncate(NEIGHBOURS);
    let mut taken: Vec<Vec<u32>> = vec![Vec::new(); near.len()];
    for &point in &group.points {
        let place = region.task.points[point as usize];
        let outside = |other: usize| groups[other].center.distance(place) - groups[other].radius;
        let to = (0..near.len()).min_by(|&a, &b| outside(near[a]).total_cmp(&outside(near[b])));
        if let Some(to) = to {
            taken[to].push(point);
        }
    }
    let mut grown = Vec::new();
    let (mut worst, mut sum) = (0.0_f64, 0.0);
    for (&neighbour, points) in near.iter().zip(taken).filter(|(_, points)| !points.is_empty()) {
        let before = &groups[neighbour];
        let points = before.points.iter().copied().chain(points).collect();
        let after = PointGroup::around(region, points, &[before.center]);
        worst = worst.max(after.error);
        sum += after.error.powi(POWER);
        grown.push((neighbour, after));
    }
    // An improvement: the worst such ball goes first.
    (if worst <= group.error { -group.error } else { sum }, grown)
}
