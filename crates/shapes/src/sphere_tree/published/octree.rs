//! The spherical octree: cubes cut into eight, with a ball around each that meets the surface.
//!
//! Classic, as published: the ball around the cube. Tight: the smallest ball around the surface within the cube, where
//! that sticks out less. Both use the same cubes.

use rayon::prelude::*;
use space::DVec3;

use crate::sphere_tree::ball::Ball;
use crate::sphere_tree::cut::eighths;
use crate::sphere_tree::enclosing::smallest_enclosing_ball;
use crate::sphere_tree::error::error_of;
use crate::sphere_tree::object::Object;
use crate::sphere_tree::tree::{MAX_NODES, SphereTree, TreeError};

/// The precision of errors when a tight ball is chosen, in unit coordinates.
const TOLERANCE: f64 = 5e-3;
/// The most cubes that a node without children tries.
const MAX_CELLS: usize = 4_096;
/// Tight balls also contain the surface this far outside their cube, as a share of it: so neighbours overlap, and the
/// certificate need not cut the surface finely along borders.
const MARGIN: f64 = 1e-3;

/// A cube, and the triangles that meet it. `half` is half its side.
#[derive(Clone)]
struct Cell {
    center: DVec3,
    half: f64,
    triangles: Vec<u32>,
    ball: Ball,
    error: f64,
}

/// A node, and the cubes into which it may be cut. Where eight balls would stick out farther than the one that they
/// replace, the node stays, and the next level tries sixty-four.
struct Member {
    ball: Ball,
    error: f64,
    cells: Vec<Cell>,
}

/// Builds the octree in unit coordinates. Level `l` has at most `caps[l - 1]` balls: if cutting all cubes would give
/// more, those with the largest error are cut.
pub fn build_octree(object: &Object, caps: &[usize], is_tight: bool) -> Result<SphereTree, TreeError> {
    let mut levels = vec![vec![(Ball::new(DVec3::ZERO, 1.0), 0.0, 0)]];
    let corners = object.triangles().iter().flatten().copied();
    let root = Ball::new(DVec3::ZERO, 1.0).grown_to(corners.clone());
    let error = error_of(object, root, TOLERANCE).at_most;
    levels[0][0] = (root, error, 0);
    let low = corners.clone().fold(DVec3::INFINITY, DVec3::min);
    let high = corners.fold(DVec3::NEG_INFINITY, DVec3::max);
    // Slightly larger than the box, so that a face of the object is inside the cube, not on its face.
    let half = ((high - low).max_element() * 0.5).max(1e-6);
    let all = (0..object.triangles().len() as u32).collect();
    let cell = Cell { center: (low + high) * 0.5, half, triangles: all, ball: root, error };
    let mut members = vec![Member { ball: root, error, cells: vec![cell] }];
    for &cap in caps {
        let (below, level) = next_level(object, members, cap.min(MAX_NODES / 2), is_tight);
        members = below;
        levels.push(level);
    }
    SphereTree::new(&levels, 1.0)
}

type Level = Vec<(Ball, f64, u32)>;

fn next_level(object: &Object, members: Vec<Member>, cap: usize, is_tight: bool) -> (Vec<Member>, Level) {
    let mut order: Vec<usize> = (0..members.len()).collect();
    order.sort_by(|&a, &b| members[b].error.total_cmp(&members[a].error).then(a.cmp(&b)));
    let families: Vec<Vec<Cell>> = members
        .par_iter()
        .map(|member| member.cells.iter().flat_map(|cell| cut(object, cell, is_tight)).collect())
        .collect();
    let mut is_cut = vec![false; members.len()];
    let mut count = members.len();
    for index in order {
        let children = &families[index];
        let worst = children.iter().map(|child| child.error).fold(0.0, f64::max);
        let is_better = !is_tight || worst <= members[index].error;
        if is_better && !children.is_empty() && count + children.len() - 1 <= cap {
            count += children.len() - 1;
            is_cut[index] = true;
        }
    }
    let mut below = Vec::with_capacity(count);
    for (parent, (mut member, children)) in members.into_iter().zip(families).enumerate() {
        if is_cut[parent] {
            let member = |cell: Cell| Member { ball: cell.ball, error: cell.error, cells: vec![cell] };
            below.extend(children.into_iter().map(|cell| (member(cell), parent as u32)));
        } else {
            if children.len() <= MAX_CELLS {
                member.cells = children;
            }
            below.push((member, parent as u32));
        }
    }
    let level = below.iter().map(|(member, parent)| (member.ball, member.error, *parent)).collect();
    (below.into_iter().map(|(member, _)| member).collect(), level)
}

/// The eighths of a cube that meet the surface.
fn cut(object: &Object, cell: &Cell, is_tight: bool) -> Vec<Cell> {
    let half = cell.half * 0.5;
    let mut children = Vec::new();
    for center in eighths(cell.center, half) {
        let met =
            |&&index: &&u32| triangle_meets_cube(&object.triangles()[index as usize], center, half * (1.0 + 1e-6));
        let triangles: Vec<u32> = cell.triangles.iter().filter(met).copied().collect();
        if triangles.is_empty() {
            continue;
        }
        // As wide as the test that selected the triangles.
        let classic = Ball::new(center, half * (1.0 + 2e-6) * 3.0_f64.sqrt());
        let mut ball = classic;
        // Without a choice to make, the bound from one distance suffices.
        let mut error = (classic.radius - object.depth(center, None).0).max(0.0);
        if is_tight {
            error = error_of(object, classic, TOLERANCE).at_most;
            let mut points = Vec::new();
            for &index in &triangles {
                points.extend(clip(&object.triangles()[index as usize], center, half * (1.0 + MARGIN)));
            }
            let smallest = smallest_enclosing_ball(&points);
            // Room for the rounding of clipped corners, for the certificate.
            let tight = Ball::new(smallest.center, smallest.radius * (1.0 + 1e-12) + 1e-12);
            let sticks_out = error_of(object, tight, TOLERANCE).at_most;
            if !points.is_empty() && sticks_out <= error {
                (ball, error) = (tight, sticks_out);
            }
        }
        children.push(Cell { center, half, triangles, ball, error });
    }
    children
}

/// Whether a triangle meets a cube, by the separating axis theorem: thirteen axes.
pub fn triangle_meets_cube(corners: &[DVec3; 3], center: DVec3, half: f64) -> bool {
    let points = corners.map(|corner| corner - center);
    let edges = [points[1] - points[0], points[2] - points[1], points[0] - points[2]];
    let axes = [DVec3::X, DVec3::Y, DVec3::Z];
    let separates = |axis: DVec3| {
        let reach = half * (axis.x.abs() + axis.y.abs() + axis.z.abs());
        let along = points.map(|point| point.dot(axis));
        let low = along[0].min(along[1]).min(along[2]);
        let high = along[0].max(along[1]).max(along[2]);
        low > reach || high < -reach
    };
    !(axes.into_iter().any(separates)
        || separates(edges[0].cross(edges[1]))
        || edges.into_iter().any(|edge| axes.into_iter().any(|axis| separates(edge.cross(axis)))))
}

/// The corners of the part of a triangle within a cube.
fn clip(corners: &[DVec3; 3], center: DVec3, half: f64) -> Vec<DVec3> {
    let mut polygon: Vec<DVec3> = corners.iter().map(|&corner| corner - center).collect();
    for axis in 0..3 {
        for sign in [1.0, -1.0] {
            let mut kept = Vec::with_capacity(polygon.len() + 1);
            for (index, &from) in polygon.iter().enumerate() {
                let to = polygon[(index + 1) % polygon.len()];
                let (a, b) = (half - sign * from[axis], half - sign * to[axis]);
                if a >= 0.0 {
                    kept.push(from);
                }
                if (a > 0.0 && b < 0.0) || (a < 0.0 && b > 0.0) {
                    kept.push(from + (to - from) * (a / (a - b)));
                }
            }
            polygon = kept;
        }
    }
    polygon.iter().map(|&point| point + center).collect()
}
