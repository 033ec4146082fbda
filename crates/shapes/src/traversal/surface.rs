//! A tree around a mesh, with the surface's normals and inner balls at every node. Inner balls are sought from this
//! many parts of a leaf's surface, the largest ones.

use space::{DVec3, Vec3};

use crate::ball_tree::{BallNode, BallTree, BallTreeError, PackedPatch, Patch};
use crate::mesh::{TriangleMesh, corners_of};
use crate::sphere_tree::{
    BuildError, Built, Inside, Method, Object, ObjectError, SphereTree, SurfaceSample, TrianglePart, build,
    default_caps, inner_ball_at, nearest_of_triangle,
};
use space::Sphere;

use crate::shape::round_down;

/// From how many parts of a leaf's surface inner balls are looked for, the largest ones.
const PROBES: usize = 3;
/// Room for rounding of an inner ball, as a share of the object's size.
const INNER_ROUNDING: f64 = 1e-6;

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WrapError {
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Tree(#[from] BallTreeError),
}

impl From<ObjectError> for WrapError {
    fn from(error: ObjectError) -> WrapError {
        WrapError::Build(error.into())
    }
}

/// Builds a tree of `depth` levels around a mesh, each with eight times as many balls as the one above.
pub fn wrap(mesh: &TriangleMesh, method: Method, depth: usize) -> Result<BallTree, WrapError> {
    let vertices = mesh.wide_vertices();
    let built = build(&vertices, mesh.triangles(), method, &default_caps(depth))?;
    let object = Object::new(&vertices, mesh.triangles())?;
    wrap_around(&object, &corners_of(&vertices, mesh.triangles()), &built)
}

/// Makes a [`BallTree`] of a built tree around this object with these triangles.
pub fn wrap_around(object: &Object, corners: &[[DVec3; 3]], built: &Built) -> Result<BallTree, WrapError> {
    let mut tree = BallTree::new(&nodes_of(&built.tree))?;
    let leaves = built.tree.level_range(built.tree.depth());
    let mut summaries: Vec<Summary> = (0..tree.len() as u32).map(|node| Summary::new(tree.ball(node))).collect();
    for node in (0..tree.len() as u32).rev() {
        let source = tree.source(node) as usize;
        if leaves.contains(&source) {
            let pieces = built.regions.leaves.get(source - leaves.start).map_or(&[][..], Vec::as_slice);
            summaries[node as usize].inner = inner_ball(object, corners, pieces);
            let mut above = node;
            // Each node above has its own centre, to which another point may be nearest.
            loop {
                for piece in pieces {
                    summaries[above as usize].add(object, corners, piece);
                }
                if above == 0 {
                    break;
                }
                above = tree.parent(above);
            }
        }
        let inner = summaries[node as usize].inner;
        let parent = &mut summaries[tree.parent(node) as usize].inner;
        if inner.radius > parent.radius {
            *parent = inner;
        }
    }
    // A second pass, as the cones need the mean normals.
    for node in 0..tree.len() as u32 {
        let source = tree.source(node) as usize;
        if !leaves.contains(&source) {
            continue;
        }
        for piece in built.regions.leaves.get(source - leaves.start).into_iter().flatten() {
            let normal = normal_of(object, corners, piece);
            let mut above = node;
            loop {
                let summary = &mut summaries[above as usize];
                summary.cone = summary.cone.min(normal.dot(summary.normal.normalize_or_zero()));
                if above == 0 {
                    break;
                }
                above = tree.parent(above);
            }
        }
    }
    tree.surface_point = summaries.first().map(|summary| summary.patch().point);
    let packed = |(node, summary): (u32, &Summary)| PackedPatch::new(&summary.patch(), tree.ball(node));
    tree.patches = (0..).zip(&summaries).map(packed).collect();
    if object.inside() != Inside::Nothing {
        tree.inner = summaries.iter().map(|summary| summary.inner).collect();
    }
    Ok(tree)
}

/// The nodes from which a [`BallTree`] is made.
pub(crate) fn nodes_of(tree: &SphereTree) -> Vec<BallNode> {
    let node = |node: &crate::sphere_tree::Node| BallNode {
        center: node.ball.center,
        radius: node.ball.radius,
        error: node.error,
        parent: node.parent,
    };
    tree.nodes().iter().map(node).collect()
}

/// What is gathered about a node's part of the surface. `normal` is a sum weighted by area.
struct Summary {
    center: DVec3,
    normal: DVec3,
    cone: f64,
    point: DVec3,
    squared: f64,
    inner: Sphere,
}

impl Summary {
    fn new(ball: Sphere) -> Summary {
        let center = ball.center.as_dvec3();
        let inner = Sphere::new(Vec3::ZERO, 0.0);
        Summary { center, normal: DVec3::ZERO, cone: 1.0, point: center, squared: f64::INFINITY, inner }
    }

    fn add(&mut self, object: &Object, corners: &[[DVec3; 3]], piece: &TrianglePart) {
        let Some(triangle) = corners.get(piece.triangle as usize) else { return };
        let part = piece.positions(triangle);
        let area = (part[1] - part[0]).cross(part[2] - part[0]).length() * 0.5;
        self.normal += normal_of(object, corners, piece) * area;
        let (point, _) = nearest_of_triangle(self.center, &part);
        let squared = point.distance_squared(self.center);
        if squared < self.squared {
            (self.point, self.squared) = (point, squared);
        }
    }

    fn patch(&self) -> Patch {
        let normal = self.normal.normalize_or_zero();
        let cone = if normal == DVec3::ZERO { -1.0 } else { self.cone.max(-1.0) };
        Patch { normal: normal.as_vec3(), cone: round_down(cone), point: self.point.as_vec3() }
    }
}

fn normal_of(object: &Object, corners: &[[DVec3; 3]], piece: &TrianglePart) -> DVec3 {
    let known = object.face_normal(piece.triangle as usize);
    if known != DVec3::ZERO {
        return known;
    }
    let Some([a, b, c]) = corners.get(piece.triangle as usize) else { return DVec3::ZERO };
    (*b - *a).cross(*c - *a).normalize_or_zero()
}

/// The largest ball found that is inside the object and touches one of these parts; of radius zero if there is none.
fn inner_ball(object: &Object, corners: &[[DVec3; 3]], pieces: &[TrianglePart]) -> Sphere {
    let none = Sphere::new(Vec3::ZERO, 0.0);
    if object.inside() == Inside::Nothing {
        return none;
    }
    let mut probes: Vec<(f64, SurfaceSample)> = pieces
        .iter()
        .filter_map(|piece| {
            let [a, b, c] = piece.positions(corners.get(piece.triangle as usize)?);
            let area = (b - a).cross(c - a).length();
            let center = object.to_unit((a + b + c) / 3.0);
            Some((area, SurfaceSample { center, normal: normal_of(object, corners, piece) }))
        })
        .collect();
    probes.sort_by(|one, other| other.0.total_cmp(&one.0));
    let mut best = none;
    let bounds = object.bounds();
    for (_, sample) in probes.iter().take(PROBES) {
        let Some(ball) = inner_ball_at(object, sample) else { continue };
        let place = bounds.center + ball.center * bounds.radius;
        let lost = place.as_vec3().as_dvec3().distance(place) + INNER_ROUNDING * bounds.radius;
        let radius = round_down(ball.radius * bounds.radius - lost);
        if radius > best.radius {
            best = Sphere::new(place.as_vec3(), radius);
        }
    }
    best
}
