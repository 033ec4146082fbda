//! Trees that cover a solid: the surface and everything inside.
//!
//! Every level's balls, enlarged by a margin, cover what is at most that deep. What is deeper and in no ball of some
//! level is covered by *inner balls*, each completely inside. The proof cuts space into cubes until each is in a
//! ball of every level, in an inner ball, or not deeper than the margin. Where it fails while building, an inner
//! ball is added.

use space::DVec3;

use super::ball::Ball;
use super::cut::eighths;
use super::medial::inner_ball_at;
use super::object::{Inside, Object};
use super::samples::SurfaceSample;
use super::tree::SphereTree;

const MAX_CUBES: usize = 1 << 23;
/// The least margin, as a share of the radius of the smallest ball around the object.
pub const MIN_MARGIN: f64 = 1e-3;
/// The largest margin, likewise.
pub const MAX_MARGIN: f64 = 0.1;
/// Inner balls are smaller by this, in unit coordinates: room for rounding.
const ROOM: f64 = 1e-10;

/// The share of the margin that counts as covered; the rest is room for rounding.
const SURE: f64 = 1.0 - 1e-6;

/// A tree and inner balls that together cover an object, in mesh coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct Solid {
    /// Its balls are enlarged by the margin.
    pub tree: SphereTree,
    /// Balls completely inside, which cover the object together with those of any one level.
    pub inner: Vec<Ball>,
    /// In the mesh's unit.
    pub margin: f64,
}

impl Solid {
    /// The tree without the margin, for [`certify`](super::certify()) to prove that it covers the surface. `None` if a
    /// ball is no larger than the margin.
    pub fn surface(&self) -> Option<SphereTree> {
        let margin = self.margin * SURE;
        let is_larger = self.tree.nodes().iter().all(|node| node.ball.radius > margin);
        is_larger.then(|| self.tree.clone().mapped(1.0, |ball| Ball::new(ball.center, ball.radius - margin)))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SolidError {
    /// The mesh has no inside, or holes that would have to be covered.
    #[error("the mesh is not closed: there is no inside to cover")]
    Open,
    #[error("the margin is {margin}, expected {MIN_MARGIN} to {MAX_MARGIN} of the radius of the ball around the mesh")]
    Margin { margin: f64 },
    #[error("no proof within {MAX_CUBES} cubes, expected a larger margin")]
    TooFine,
    #[error("what is inside near ({}, {}, {}) is in no ball of some level, and in no inner ball", at.x, at.y, at.z)]
    Uncovered { at: DVec3 },
}

/// Enlarges the balls of a tree that covers the surface by `margin`, a share of the radius of the ball around the
/// object, and adds inner balls.
pub fn cover_solid(object: &Object, tree: &SphereTree, margin: f64) -> Result<Solid, SolidError> {
    if object.inside() == Inside::Nothing || object.has_caps() {
        return Err(SolidError::Open);
    }
    if !(MIN_MARGIN..=MAX_MARGIN).contains(&margin) {
        return Err(SolidError::Margin { margin });
    }
    let grown = margin * object.bounds().radius;
    let tree = tree.clone().mapped(1.0, |ball| Ball::new(ball.center, ball.radius + grown));
    let mut solid = Solid { tree, inner: Vec::new(), margin: grown };
    let mut inner = Vec::new();
    walk(object, &solid.tree, margin * SURE, &mut inner, Gaps::AreFilled)?;
    let bounds = object.bounds();
    let to_mesh = |ball: &Ball| Ball::new(bounds.center + ball.center * bounds.radius, ball.radius * bounds.radius);
    solid.inner = inner.iter().map(to_mesh).collect();
    Ok(solid)
}

/// Proves that inner balls are inside and that, together with any one level, they cover the object.
/// [`certify`](super::certify()) proves that the levels of [`Solid::surface`] cover the surface.
pub fn certify_solid(object: &Object, solid: &Solid) -> Result<(), SolidError> {
    if object.inside() == Inside::Nothing || object.has_caps() {
        return Err(SolidError::Open);
    }
    let margin = solid.margin / object.bounds().radius;
    if !(MIN_MARGIN * (1.0 - 1e-9)..=MAX_MARGIN * (1.0 + 1e-9)).contains(&margin) {
        return Err(SolidError::Margin { margin });
    }
    let mut inner: Vec<Ball> = solid.inner.iter().map(|&ball| object.ball_to_unit(ball)).collect();
    if let Some(ball) = inner.iter().find(|ball| object.depth(ball.center, None).0 < ball.radius) {
        return Err(SolidError::Uncovered { at: to_mesh(object, ball.center) });
    }
    walk(object, &solid.tree, margin * SURE, &mut inner, Gaps::AreFound)
}

/// What to do with a cube that is in no ball.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gaps {
    AreFound,
    AreFilled,
}

/// A cube, and the balls that may contain it: nodes of the tree, and inner balls.
struct Cube {
    center: DVec3,
    half: f64,
    nodes: Vec<u32>,
    inner: Vec<u32>,
    hint: u32,
}

fn walk(object: &Object, tree: &SphereTree, margin: f64, inner: &mut Vec<Ball>, gaps: Gaps) -> Result<(), SolidError> {
    let balls: Vec<Ball> = tree.nodes().iter().map(|node| object.ball_to_unit(node.ball)).collect();
    // Lists pass to smaller cubes; inner balls that are added later are tested separately.
    let known = inner.len();
    let mut waiting = vec![Cube {
        center: DVec3::ZERO,
        half: 1.0,
        nodes: (0..balls.len() as u32).collect(),
        inner: (0..known as u32).collect(),
        hint: 0,
    }];
    let mut count = 0;
    while let Some(cube) = waiting.pop() {
        count += 1;
        if count > MAX_CUBES {
            return Err(SolidError::TooFine);
        }
        let diagonal = cube.half * 3.0_f64.sqrt();
        let (depth, nearest) = object.depth(cube.center, Some(cube.hint));
        if depth + diagonal <= margin {
            continue;
        }
        let holds = |ball: &Ball| ball.center.distance(cube.center) + diagonal <= ball.radius;
        if cube.inner.iter().any(|&index| holds(&inner[index as usize])) || inner[known..].iter().any(holds) {
            continue;
        }
        let meets = |ball: &Ball| ball.center.distance(cube.center) <= ball.radius + diagonal;
        let nodes: Vec<u32> = cube.nodes.iter().copied().filter(|&node| meets(&balls[node as usize])).collect();
        let is_held = |level: usize| {
            let range = tree.level_range(level);
            let from = nodes.partition_point(|&node| (node as usize) < range.start);
            let own = nodes[from..].iter().take_while(|&&node| (node as usize) < range.end);
            own.into_iter().any(|&node| holds(&balls[node as usize]))
        };
        if (0..=tree.depth()).all(is_held) {
            continue;
        }
        if depth >= diagonal + ROOM && gaps == Gaps::AreFilled {
            inner.push(largest_from(object, cube.center, nearest.point, depth));
            continue;
        }
        // A smaller cube is either not deeper than the margin or deep enough for an inner ball.
        if diagonal < margin * 0.25 {
            return Err(SolidError::Uncovered { at: to_mesh(object, cube.center) });
        }
        let near = cube.inner.iter().copied().filter(|&index| meets(&inner[index as usize])).collect::<Vec<u32>>();
        let half = cube.half * 0.5;
        waiting.extend(eighths(cube.center, half).map(|center| {
            let (nodes, inner) = (nodes.clone(), near.clone());
            Cube { center, half, nodes, inner, hint: nearest.triangle }
        }));
    }
    Ok(())
}

/// The largest inner ball that touches the surface where the ball at `center` does, if it contains that one.
fn largest_from(object: &Object, center: DVec3, touching: DVec3, depth: f64) -> Ball {
    let outward = (touching - center).normalize_or_zero();
    let small = Ball::new(center, depth);
    let contains = |ball: &Ball| ball.center.distance(center) + depth <= ball.radius + ROOM;
    let ball =
        inner_ball_at(object, &SurfaceSample { center: touching, normal: outward }).filter(contains).unwrap_or(small);
    Ball::new(ball.center, (ball.radius - ROOM).max(f64::MIN_POSITIVE))
}

fn to_mesh(object: &Object, point: DVec3) -> DVec3 {
    object.bounds().center + point * object.bounds().radius
}
