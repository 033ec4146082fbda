//! Merge: unites the two balls for which it costs least, until few enough are left.

use super::group::PointGroup;
use super::{MEDIAL, Region};
use crate::sphere_tree::site::Site;

/// A ball is merged with one of this many neighbours; when few are left, with any.
const NEIGHBOURS: usize = 8;

/// A pair of groups, and their union.
struct Candidate {
    a: usize,
    b: usize,
    united: PointGroup,
}

pub(super) fn merge(region: &Region<'_>) -> Vec<Site> {
    let groups = merge_to(region, region.groups(MEDIAL), region.limit);
    groups.iter().map(|group| region.judge.site(group.center, 0, None)).collect()
}

pub(super) fn merge_to(region: &Region<'_>, groups: Vec<PointGroup>, limit: usize) -> Vec<PointGroup> {
    let mut live: Vec<Option<PointGroup>> = groups.into_iter().map(Some).collect();
    let mut count = live.len();
    let mut pairs: Vec<Candidate> = Vec::new();
    for index in 0..live.len() {
        join(region, &live, &mut pairs, index, NEIGHBOURS);
    }
    while count > limit {
        let all = if count <= 3 * limit { usize::MAX } else { NEIGHBOURS };
        if pairs.is_empty() {
            for index in 0..live.len() {
                join(region, &live, &mut pairs, index, usize::MAX);
            }
        }
        let Some(chosen) = choose(&live, &pairs) else { break };
        let Candidate { a, b, united } = pairs.swap_remove(chosen);
        live[a] = Some(united);
        live[b] = None;
        count -= 1;
        pairs.retain(|pair| ![pair.a, pair.b].iter().any(|&end| end == a || end == b));
        join(region, &live, &mut pairs, a, all);
    }
    live.into_iter().flatten().collect()
}

/// A merge that improves the worst ball, if there is one; else the merge with the least error.
fn choose(live: &[Option<PointGroup>], pairs: &[Candidate]) -> Option<usize> {
    let error = |index: usize| live[index].as_ref().map_or(0.0, |group| group.error);
    let worst = (0..live.len()).max_by(|&a, &b| error(a).total_cmp(&error(b)).then(b.cmp(&a)))?;
    let gain = |pair: &Candidate| pair.united.error - error(pair.a).max(error(pair.b));
    let order = |a: f64, b: f64, i: usize, j: usize| {
        a.total_cmp(&b).then((pairs[i].a, pairs[i].b).cmp(&(pairs[j].a, pairs[j].b)))
    };
    let helpful = (0..pairs.len())
        .filter(|&index| (pairs[index].a == worst || pairs[index].b == worst) && gain(&pairs[index]) < 0.0)
        .min_by(|&i, &j| order(gain(&pairs[i]), gain(&pairs[j]), i, j));
    helpful.or_else(|| (0..pairs.len()).min_by(|&i, &j| order(pairs[i].united.error, pairs[j].united.error, i, j)))
}

/// Adds the pairs of one group with its `most` nearest.
fn join(region: &Region<'_>, live: &[Option<PointGroup>], pairs: &mut Vec<Candidate>, index: usize, most: usize) {
    let Some(group) = &live[index] else { return };
    let apart = |other: usize| {
        live[other]
            .as_ref()
            .map_or(f64::INFINITY, |other| other.center.distance(group.center) - other.radius - group.radius)
    };
    let mut others: Vec<usize> = (0..live.len()).filter(|&other| other != index && live[other].is_some()).collect();
    others.sort_by(|&a, &b| apart(a).total_cmp(&apart(b)).then(a.cmp(&b)));
    for other in others.into_iter().take(most) {
        let (a, b) = (index.min(other), index.max(other));
        if pairs.iter().any(|pair| pair.a == a && pair.b == b) {
            continue;
        }
        if let (Some(first), Some(second)) = (&live[a], &live[b]) {
            pairs.push(Candidate { a, b, united: PointGroup::united(region, first, second) });
        }
    }
}
