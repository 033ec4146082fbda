//! parry3d: hulls (GJK and EPA), bounding volume hierarchies over triangles, convex decomposition.
//!
//! parry computes in `f32`, with absolute tolerances made for metres, and stops when the distance is known to a
//! thousandth. So both cores are scaled to a size of about one, and results are checked in `f64`: the direction that
//! parry finds gives a lower bound that holds whatever parry did.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use parry3d::bounding_volume::Aabb;
use parry3d::math::{Pose as ParryPose, Vector as ParryVector};
use parry3d::partitioning::{Bvh, BvhBuildStrategy, BvhNode, TraversalAction};
use parry3d::query::epa::EPA;
use parry3d::query::gjk::{self, CsoPoint, GJKResult, VoronoiSimplex};
use parry3d::shape::SupportMap;
use parry3d::transformation::vhacd::{VHACD, VHACDParameters};
use space::{DVec3, Vec3};

use super::convex::{Convex, Separation, apart_along};
use super::decompose::Decomposition;
use super::shape::{Bounds, Shape, round_down, round_up};
use crate::mesh::TriangleMesh;

/// Distance and closest points of two cores, by GJK.
pub(super) fn separation(a: &Convex<'_>, b: &Convex<'_>) -> Separation {
    let question = Question::new(a, b);
    let simplex = &mut VoronoiSimplex::new();
    let found = question.closest(simplex);
    let mut best = (0.0, DVec3::Y);
    let mut consider = |normal: Option<DVec3>| {
        if let Some(normal) = normal {
            let apart = apart_along(a, b, normal);
            if apart > best.0 {
                best = (apart, normal);
            }
        }
    };
    let points = match found {
        GJKResult::ClosestPoints(on_a, on_b, direction) => {
            let (on_a, on_b) = (question.to_world(on_a), question.to_world(on_b));
            consider((on_b - on_a).try_normalize());
            consider(from_parry(direction).as_dvec3().try_normalize());
            Some((on_a, on_b))
        }
        // GJK also reports this for shapes that nearly touch. A negative depth shows them apart.
        GJKResult::Intersection => {
            consider(Some(way_out(a, b, &question, simplex).1));
            None
        }
        // GJK gave up. Any direction that shows them apart serves.
        GJKResult::NoIntersection(_) | GJKResult::Proximity(_) => {
            consider((b.center() - a.center()).try_normalize());
            for axis in DVec3::AXES {
                consider(Some(axis));
                consider(Some(-axis));
            }
            None
        }
    };
    let (apart, normal) = best;
    // Hull points are turned in `f64`, the same everywhere; what remains is the rounding of `farthest`.
    let certain = (apart - 1e-13 * question.size).max(0.0);
    match points {
        Some((on_a, on_b)) => {
            let distance = on_a.distance(on_b).max(certain);
            Separation { distance, certain, on_a, on_b, normal }
        }
        None => {
            let (on_a, on_b) = (a.farthest(normal), b.farthest(-normal));
            Separation { distance: certain, certain, on_a, on_b, normal }
        }
    }
}

/// The way out of an overlap, by EPA; where EPA fails, a way out that need not be the shortest.
pub(super) fn penetration(a: &Convex<'_>, b: &Convex<'_>) -> (f64, DVec3) {
    let question = Question::new(a, b);
    let simplex = &mut VoronoiSimplex::new();
    question.closest(simplex);
    let (depth, normal) = way_out(a, b, &question, simplex);
    (depth.max(0.0), normal)
}

/// The way out, from GJK's last simplex. Its length is negative when they are apart.
fn way_out(a: &Convex<'_>, b: &Convex<'_>, question: &Question<'_>, simplex: &VoronoiSimplex) -> (f64, DVec3) {
    let by_parry = EPA::new()
        .closest_points(&ParryPose::IDENTITY, &question.a, &question.b, simplex)
        .and_then(|(_, _, normal)| from_parry(normal).as_dvec3().try_normalize());
    let mut best: Option<(f64, DVec3)> = None;
    let mut consider = |normal: DVec3| {
        let depth = -apart_along(a, b, normal);
        if best.is_none_or(|(least, _)| depth < least) {
            best = Some((depth, normal));
        }
    };
    if let Some(normal) = by_parry {
        // Also backwards, so that parry's sign convention does not matter.
        consider(normal);
        consider(-normal);
    }
    // Face normals of each hull are cheap to try and often the shortest way.
    for face in faces(a).chain(faces(b)) {
        consider(face);
        consider(-face);
    }
    best.unwrap_or_else(|| (-apart_along(a, b, DVec3::Y), DVec3::Y))
}

/// Normals of at most `ENOUGH` faces, a safeguard where EPA fails.
fn faces<'a>(convex: &'a Convex<'_>) -> impl Iterator<Item = DVec3> + 'a {
    const ENOUGH: usize = 64;
    let placed = if let Convex::Hull(placed) = convex { Some(placed) } else { None };
    placed.into_iter().flat_map(|placed| {
        let vertices = placed.hull.vertices();
        placed.hull.triangles().iter().take(ENOUGH).filter_map(move |corners| {
            let [p, q, r] = corners.map(|corner| vertices[corner as usize].as_dvec3());
            (q - p).cross(r - p).try_normalize().map(|normal| placed.pose.rotation * normal)
        })
    })
}

/// Two cores scaled to a size of about one, around a point between them.
struct Question<'a> {
    a: Scaled<'a>,
    b: Scaled<'a>,
    origin: DVec3,
    unit: f64,
    size: f64,
}

struct Scaled<'a> {
    convex: &'a Convex<'a>,
    origin: DVec3,
    unit: f64,
}

impl<'a> Question<'a> {
    fn new(a: &'a Convex<'a>, b: &'a Convex<'a>) -> Question<'a> {
        let origin = (a.center() + b.center()) * 0.5;
        let extent = |convex: &Convex<'_>| {
            DVec3::AXES
                .iter()
                .flat_map(|&axis| [axis, -axis])
                .map(|axis| (convex.farthest(axis) - origin).abs().max_element())
                .fold(0.0, f64::max)
        };
        let size = extent(a).max(extent(b)).max(1e-9);
        // A power of two, so scaling is exact.
        let unit = f64::from_bits(size.to_bits() & 0x7ff0_0000_0000_0000);
        let scaled = |convex| Scaled { convex, origin, unit };
        Question { a: scaled(a), b: scaled(b), origin, unit, size }
    }

    fn closest(&self, simplex: &mut VoronoiSimplex) -> GJKResult {
        let towards = (self.b.convex.center() - self.a.convex.center()).as_vec3();
        let direction = to_parry(towards.normalize_or(Vec3::X));
        simplex.reset(CsoPoint::from_shapes(&ParryPose::IDENTITY, &self.a, &self.b, direction));
        gjk::closest_points(&ParryPose::IDENTITY, &self.a, &self.b, f32::MAX, true, simplex)
    }

    fn to_world(&self, point: ParryVector) -> DVec3 {
        self.origin + from_parry(point).as_dvec3() * self.unit
    }
}

impl SupportMap for Scaled<'_> {
    fn local_support_point(&self, direction: ParryVector) -> ParryVector {
        let farthest = self.convex.farthest(from_parry(direction).as_dvec3());
        to_parry(((farthest - self.origin) / self.unit).as_vec3())
    }
}

/// The convex hull of finite points: vertices and triangles. `None` when it has no volume.
pub(super) fn hull(points: &[Vec3]) -> Option<(Vec<Vec3>, Vec<[u32; 3]>)> {
    let bounds = Bounds::of(points);
    let size = (bounds.max - bounds.min).max_element();
    if points.len() < 4 || size < Shape::SMALLEST {
        return None;
    }
    // parry asserts on some inputs; here that is a refusal.
    let made = catch_unwind(AssertUnwindSafe(|| parry3d::transformation::try_convex_hull(&all_to_parry(points)).ok()));
    let (vertices, triangles) = made.ok().flatten()?;
    let mesh = TriangleMesh::new(vertices.into_iter().map(from_parry).collect(), triangles).ok()?;
    // Coplanar points give a hull of two sides.
    if mesh.volume() <= 1e-9 * (size as f64).powi(3) {
        return None;
    }
    let left_out = left_out(&mesh, points, 1e-6 * size as f64);
    let (mut vertices, triangles) = mesh.into_parts();
    vertices.extend(left_out);
    Some((vertices, triangles))
}

/// The points that are outside a hull by more than `most`. parry loses some of thin clouds. Distances use vertices, not
/// triangles, so adding these as vertices is enough.
fn left_out(hull: &TriangleMesh, points: &[Vec3], most: f64) -> Vec<Vec3> {
    let planes: Vec<(DVec3, f64)> = (0..hull.triangles().len())
        .filter_map(|triangle| {
            let [a, b, c] = hull.corners(triangle)?.map(|corner| corner.as_dvec3());
            let normal = (b - a).cross(c - a).try_normalize()?;
            Some((normal, normal.dot(a) + most))
        })
        .collect();
    let sticks_out = |point: &Vec3| planes.iter().any(|(normal, reach)| normal.dot(point.as_dvec3()) > *reach);
    points.iter().copied().filter(sticks_out).collect()
}

/// Point clouds whose hulls cover a mesh. `None` when VHACD fails.
pub(super) fn decompose(mesh: &TriangleMesh, settings: &Decomposition) -> Option<Vec<Vec<Vec3>>> {
    let bounds = Bounds::of(mesh.vertices());
    if (bounds.max - bounds.min).max_element() < Shape::SMALLEST {
        return None;
    }
    let parameters = VHACDParameters {
        resolution: settings.resolution,
        concavity: settings.concavity,
        max_convex_hulls: settings.parts,
        ..VHACDParameters::default()
    };
    // As for hulls, an assertion of parry is a refusal.
    let made = catch_unwind(AssertUnwindSafe(|| {
        let vertices = all_to_parry(mesh.vertices());
        let parts = VHACD::decompose(&parameters, &vertices, mesh.triangles(), true);
        parts.compute_exact_convex_hulls(&vertices, mesh.triangles())
    }));
    made.ok().map(|parts| parts.into_iter().map(|(points, _)| points.into_iter().map(from_parry).collect()).collect())
}

/// A bounding volume hierarchy over the triangles of a mesh.
#[derive(Clone, Debug)]
pub(super) struct TriangleBvh(Bvh);

impl TriangleBvh {
    pub fn new(mesh: &TriangleMesh) -> TriangleBvh {
        let boxes = (0..mesh.triangles().len()).filter_map(|triangle| {
            let [a, b, c] = mesh.corners(triangle)?;
            Some((triangle, Aabb { mins: to_parry(a.min(b).min(c)), maxs: to_parry(a.max(b).max(c)) }))
        });
        TriangleBvh(Bvh::from_iter(BvhBuildStrategy::Binned, boxes))
    }

    /// Visits the triangles whose box is at most `within` from the box with this centre and these half sides, roughly
    /// nearest first. `visit` returns the distance that is of interest from then on.
    pub fn nearest(&self, center: DVec3, half: DVec3, within: f64, visit: impl FnMut(u32) -> f64) {
        let visit = RefCell::new(visit);
        // Rounded so that a box exactly as near as the best so far is still visited.
        self.0.find_best(
            round_up(within).next_up(),
            |node: &BvhNode, _| round_down(gap(node, center, half)),
            |triangle, _| Some(round_up(visit.borrow_mut()(triangle)).next_up()),
        );
    }

    /// Visits the triangles whose box meets the box with this centre and these half sides.
    pub fn overlapping(&self, center: DVec3, half: DVec3, mut visit: impl FnMut(u32)) {
        self.0.traverse(|node| {
            if gap(node, center, half) > 0.0 {
                return TraversalAction::Prune;
            }
            if let Some(triangle) = node.leaf_data() {
                visit(triangle);
            }
            TraversalAction::Continue
        });
    }
}

/// The distance between a node's box and the box with this centre and these half sides.
fn gap(node: &BvhNode, center: DVec3, half: DVec3) -> f64 {
    let (mins, maxs) = (from_parry(node.mins()).as_dvec3(), from_parry(node.maxs()).as_dvec3());
    let beyond = (mins - center - half).max(center - half - maxs);
    beyond.max(DVec3::ZERO).length()
}

fn to_parry(vector: Vec3) -> ParryVector {
    ParryVector::new(vector.x, vector.y, vector.z)
}

fn all_to_parry(points: &[Vec3]) -> Vec<ParryVector> {
    points.iter().copied().map(to_parry).collect()
}

fn from_parry(vector: ParryVector) -> Vec3 {
    Vec3::new(vector.x, vector.y, vector.z)
}
