//! The eighths of the box around a region, so that no node is worse than an octree's.

use space::DVec3;

use super::Region;
use super::group::PointGroup;
use crate::sphere_tree::site::Site;

pub(super) fn octants(region: &Region<'_>) -> Vec<Site> {
    let points = &region.task.points;
    let low = points.iter().copied().fold(DVec3::INFINITY, DVec3::min);
    let high = points.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
    let middle = (low + high) * 0.5;
    let mut lists = vec![Vec::new(); 8];
    for (index, point) in points.iter().enumerate() {
        let octant =
            usize::from(point.x > middle.x) + 2 * usize::from(point.y > middle.y) + 4 * usize::from(point.z > middle.z);
        lists[octant].push(index as u32);
    }
    let full = lists.into_iter().filter(|list| !list.is_empty());
    full.map(|list| region.judge.site(PointGroup::around(region, list, &[]).center, 0, None)).collect()
}
