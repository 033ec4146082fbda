//! The object that a tree wraps: its surface, its inside, and distances.
//!
//! All coordinates are *unit coordinates*: the smallest ball around the vertices is the unit ball. A broken mesh is
//! repaired as far as distances need it; coverage is always proven for the triangles as given.

use space::DVec3;

use super::ball::Ball;
use super::enclosing::smallest_enclosing_ball;
use super::holes::caps;
use super::nearest::{Nearest, TriangleFeature, TriangleTree, Vicinity};
use super::sides::Sides;
use super::topology::{orient, weld};
use super::winding::Winding;
use crate::mesh::corners_of;
use space::workload::Random;

pub const MAX_TRIANGLES: usize = 1 << 22;
/// The largest coordinate: its cube must be finite.
pub const MAX_COORDINATE: f64 = 1e90;
/// Random points that decide whether a mesh with holes has an inside.
const PROBES: usize = 10_000;
/// The largest mean distance of winding numbers from an integer for which there is an inside.
const MAX_DOUBT: f64 = 0.05;
/// The least volume of an inside, in unit coordinates.
const MIN_VOLUME: f64 = 1e-9;
/// The least radius of the ball around an object, in mesh coordinates: a single point has one, too.
const MIN_RADIUS: f64 = 1e-6;

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ObjectError {
    #[error("the mesh has no triangles")]
    Empty,
    #[error("the mesh has {count} triangles, expected at most {MAX_TRIANGLES}")]
    TooMany { count: usize },
    #[error("vertex {vertex} has a coordinate that is not finite")]
    NotFinite { vertex: usize },
    #[error("vertex {vertex} has a coordinate of {value}, expected at most {MAX_COORDINATE} either way")]
    TooFar { vertex: usize, value: f64 },
    #[error("triangle {triangle} has vertex {vertex}, but there are only {vertices}")]
    NoSuchVertex { triangle: usize, vertex: u32, vertices: usize },
}

/// How inside and outside are distinguished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inside {
    /// Closed and clean: by the normal of the nearest feature.
    Normals,
    /// Open, self-intersecting or branching, yet enclosing: by winding number, with caps on holes.
    Winding,
    Nothing,
}

/// A mesh in unit coordinates, prepared for distance queries.
#[derive(Clone, Debug)]
pub struct Object {
    triangles: Vec<[DVec3; 3]>,
    tree: TriangleTree,
    inside: Inside,
    /// For each triangle the normals of its face, edges and corners.
    normals: Vec<[DVec3; 7]>,
    sides: Option<Sides>,
    bounds: Ball,
    has_caps: bool,
    volume: f64,
    area: f64,
}

/// A point's vicinity, and the results of queries there.
#[derive(Clone, Debug)]
pub(super) struct Around<'a> {
    vicinity: Vicinity<'a>,
    /// The centre and the last point, with their depths.
    known: [(DVec3, f64); 2],
    nearest: Nearest,
}

impl Object {
    /// Checks, repairs and prepares a mesh.
    pub fn new(vertices: &[DVec3], triangles: &[[u32; 3]]) -> Result<Object, ObjectError> {
        check(vertices, triangles)?;
        let bounds = bounds(vertices, triangles);
        let unit: Vec<DVec3> = vertices.iter().map(|&vertex| to_unit(&bounds, vertex)).collect();
        let corners = corners_of(&unit, triangles);
        let names = weld(&unit);
        let named = corners_of(&names, triangles);
        let has_area = |index: usize| {
            let [a, b, c] = named[index];
            let [p, q, r] = corners[index];
            a != b && b != c && c != a && (q - p).cross(r - p).length_squared() > 0.0
        };
        let sound: Vec<usize> = (0..named.len()).filter(|&index| has_area(index)).collect();
        let whole: Vec<[u32; 3]> = sound.iter().map(|&index| named[index]).collect();
        let area = corners.iter().map(|[a, b, c]| (*b - *a).cross(*c - *a).length() * 0.5).sum();
        let mut object = Object {
            tree: TriangleTree::new(&corners),
            normals: vec![[DVec3::ZERO; 7]; corners.len()],
            inside: Inside::Nothing,
            sides: None,
            bounds,
            has_caps: false,
            volume: 0.0,
            area,
            triangles: corners,
        };
        let oriented = orient(&unit, &whole);
        let outward = oriented.as_ref().unwrap_or(&whole);
        let turned = corners_of(&unit, outward);
        let caps = caps(&unit, outward);
        if let Some(oriented) = &oriented {
            object.volume = turned.iter().map(|[a, b, c]| a.dot(b.cross(*c)) / 6.0).sum();
            if object.volume > MIN_VOLUME {
                object.inside = Inside::Normals;
                object.set_normals(&sound, oriented, &unit);
                if object.normals_agree_with(&turned) {
                    return Ok(object);
                }
            } else {
                object.volume = 0.0;
                return Ok(object);
            }
        }
        object.decide_by_winding(&turned, caps);
        Ok(object)
    }

    /// The triangles as given, in unit coordinates.
    pub fn triangles(&self) -> &[[DVec3; 3]] {
        &self.triangles
    }

    /// The smallest ball around the mesh, in mesh coordinates.
    pub fn bounds(&self) -> Ball {
        self.bounds
    }

    pub fn inside(&self) -> Inside {
        self.inside
    }

    /// Whether caps close holes; they define the inside and need not be covered.
    pub fn has_caps(&self) -> bool {
        self.has_caps
    }

    pub fn volume(&self) -> f64 {
        self.volume
    }

    pub fn area(&self) -> f64 {
        self.area
    }

    /// Whether no sampled corner is in front of a sampled face (at most ten million tests): then one distance gives a
    /// ball's exact error.
    pub fn looks_convex(&self) -> bool {
        let count = self.triangles.len();
        let stride = (count / 3_000).max(1);
        self.inside == Inside::Normals
            && self.triangles.iter().zip(&self.normals).step_by(stride).all(|([a, ..], normals)| {
                self.triangles.iter().step_by(stride).all(|[corner, ..]| normals[0].dot(*corner - *a) <= 1e-9)
            })
    }

    pub fn to_unit(&self, point: DVec3) -> DVec3 {
        to_unit(&self.bounds, point)
    }

    pub fn ball_to_unit(&self, ball: Ball) -> Ball {
        Ball::new(self.to_unit(ball.center), ball.radius / self.bounds.radius)
    }

    pub fn nearest(&self, point: DVec3, hint: Option<u32>) -> Nearest {
        // Only a point that is not finite has no nearest point.
        self.tree.nearest(point, hint).unwrap_or(Nearest {
            point: DVec3::ZERO,
            squared: point.length_squared(),
            triangle: 0,
            feature: TriangleFeature::Face,
        })
    }

    /// The signed depth of a point, negative outside, and the nearest point of the surface.
    pub fn depth(&self, point: DVec3, hint: Option<u32>) -> (f64, Nearest) {
        let nearest = self.nearest(point, hint);
        let distance = nearest.squared.sqrt();
        (if self.is_inside(point, &nearest) { distance } else { -distance }, nearest)
    }

    /// Calls `found` with each triangle, caps included, that may meet a ball.
    pub(super) fn triangles_near(&self, center: DVec3, radius: f64, found: impl FnMut(usize, &[DVec3; 3])) {
        self.tree.within(center, radius, found);
    }

    /// A point's vicinity, for many queries within about `room` of it.
    pub(super) fn around(&self, center: DVec3, room: f64) -> Around<'_> {
        let (depth, nearest) = self.depth(center, None);
        let vicinity = self.tree.vicinity(center, depth.abs() + room);
        Around { vicinity, known: [(center, depth); 2], nearest }
    }

    /// As [`depth`](Object::depth), for a point near the vicinity's centre.
    pub(super) fn depth_around(&self, around: &mut Around<'_>, point: DVec3) -> (f64, Nearest) {
        let hint = Some(around.nearest.triangle);
        let Some(nearest) = around.vicinity.nearest(point, hint) else { return self.depth(point, hint) };
        let distance = nearest.squared.sqrt();
        // No surface is between two points if one is farther from the surface than from the other.
        let is_known =
            |(other, depth): &&(DVec3, f64)| other.distance(point) < distance.max(depth.abs()) * (1.0 - 1e-9);
        let is_inside = match around.known.iter().find(is_known) {
            Some((_, depth)) => *depth > 0.0,
            None => self.is_inside(point, &nearest),
        };
        let depth = if is_inside { distance } else { -distance };
        around.known[1] = (point, depth);
        around.nearest = nearest;
        (depth, nearest)
    }

    /// The distance of a point from the object; zero inside.
    pub fn out(&self, point: DVec3, hint: Option<u32>) -> (f64, Nearest) {
        let (depth, nearest) = self.depth(point, hint);
        ((-depth).max(0.0), nearest)
    }

    /// The outward normal of a triangle; zero if it has no area or does not exist.
    pub fn face_normal(&self, triangle: usize) -> DVec3 {
        self.normals.get(triangle).map_or(DVec3::ZERO, |normals| normals[0])
    }

    /// The outward normal at a point of the surface, averaged over the faces that meet there; zero where there is none.
    pub fn normal(&self, nearest: &Nearest) -> DVec3 {
        let Some(normals) = self.normals.get(nearest.triangle as usize) else { return DVec3::ZERO };
        let found = match nearest.feature {
            TriangleFeature::Face => normals.first(),
            TriangleFeature::Edge(side) => normals[1..4].get(usize::from(side)),
            TriangleFeature::Corner(corner) => normals[4..].get(usize::from(corner)),
        };
        found.copied().unwrap_or(DVec3::ZERO)
    }

    fn is_inside(&self, point: DVec3, nearest: &Nearest) -> bool {
        match self.inside {
            Inside::Normals => self.normal(nearest).dot(point - nearest.point) < 0.0,
            Inside::Winding => self.sides.as_ref().is_some_and(|sides| sides.is_inside(point, nearest.squared)),
            Inside::Nothing => false,
        }
    }

    /// Sets face normals, and for edges and corners the angle-weighted means of the faces there: only with these the
    /// sign of a distance to an edge or corner is right.
    fn set_normals(&mut self, sound: &[usize], oriented: &[[u32; 3]], unit: &[DVec3]) {
        let mut at_corner = vec![DVec3::ZERO; unit.len()];
        let mut at_edge = std::collections::BTreeMap::new();
        let edge = |a: u32, b: u32| (a.min(b), a.max(b));
        for corners in oriented {
            let points = corners.map(|corner| unit[corner as usize]);
            let normal = (points[1] - points[0]).cross(points[2] - points[0]).normalize_or_zero();
            for side in 0..3 {
                let next = (side + 1) % 3;
                let (u, v) = (points[next] - points[side], points[(side + 2) % 3] - points[side]);
                let angle = libm::atan2(u.cross(v).length(), u.dot(v));
                at_corner[corners[side] as usize] += normal * angle;
                *at_edge.entry(edge(corners[side], corners[next])).or_insert(DVec3::ZERO) += normal;
            }
        }
        for (&index, corners) in sound.iter().zip(oriented) {
            // Features refer to the triangle as given; reversing it swapped two corners.
            let given = self.triangles[index];
            let points = corners.map(|corner| unit[corner as usize]);
            let place = |point: DVec3| {
                (0..3).min_by(|&i, &j| points[i].distance(point).total_cmp(&points[j].distance(point))).unwrap_or(0)
            };
            let name = given.map(|point| corners[place(point)]);
            let normal = (points[1] - points[0]).cross(points[2] - points[0]).normalize_or_zero();
            self.normals[index][0] = normal;
            for side in 0..3 {
                let between = edge(name[side], name[(side + 1) % 3]);
                self.normals[index][1 + side] = at_edge.get(&between).copied().unwrap_or(normal);
                self.normals[index][4 + side] = at_corner[name[side] as usize];
            }
        }
    }

    /// Whether normals and winding numbers agree: on a self-intersecting surface they do not.
    fn normals_agree_with(&self, turned: &[[DVec3; 3]]) -> bool {
        let winding = Winding::new(turned);
        let mut random = Random::new(11);
        let agree = |point: DVec3| {
            let (depth, _) = self.depth(point, None);
            depth.abs() < 1e-3 || (depth > 0.0) == (winding.number(point) >= 0.5)
        };
        let far = (0..128).all(|_| agree(random.in_ball().as_dvec3()));
        let stride = (turned.len() / 128).max(1);
        far && turned.iter().step_by(stride).all(|[a, b, c]| {
            let middle = (*a + *b + *c) / 3.0;
            let normal = (*b - *a).cross(*c - *a).normalize_or_zero();
            agree(middle + normal * 4e-3) && agree(middle - normal * 4e-3)
        })
    }

    /// Decides whether there is an inside by the winding numbers of the surface as given; then the inside is that of
    /// the surface with caps.
    fn decide_by_winding(&mut self, turned: &[[DVec3; 3]], caps: Vec<[DVec3; 3]>) {
        let open = Winding::new(turned);
        let closed = if caps.is_empty() { open.clone() } else { Winding::new(&[turned, caps.as_slice()].concat()) };
        let mut random = Random::new(13);
        let (mut doubt, mut within) = (0.0, 0_usize);
        for _ in 0..PROBES {
            let point = random.in_ball().as_dvec3();
            let number = open.number(point);
            doubt += number.abs().min((1.0 - number).abs());
            let number = if caps.is_empty() { number } else { closed.number(point) };
            within += usize::from(number >= 0.5);
        }
        for (normals, [a, b, c]) in self.normals.iter_mut().zip(&self.triangles) {
            *normals = [(*b - *a).cross(*c - *a).normalize_or_zero(); 7];
        }
        let share = within as f64 / PROBES as f64;
        if doubt / PROBES as f64 > MAX_DOUBT || share <= 1e-3 {
            self.inside = Inside::Nothing;
            self.volume = 0.0;
            return;
        }
        if !caps.is_empty() {
            self.tree = TriangleTree::new(&[self.triangles.as_slice(), caps.as_slice()].concat());
            let normal = |[a, b, c]: &[DVec3; 3]| [(*b - *a).cross(*c - *a).normalize_or_zero(); 7];
            self.normals.extend(caps.iter().map(normal));
            self.has_caps = true;
        }
        self.inside = Inside::Winding;
        self.volume = share * Ball::new(DVec3::ZERO, 1.0).volume();
        self.sides = Some(Sides::new(closed, &self.tree));
    }
}

pub(super) fn check(vertices: &[DVec3], triangles: &[[u32; 3]]) -> Result<(), ObjectError> {
    if triangles.is_empty() {
        return Err(ObjectError::Empty);
    }
    if triangles.len() > MAX_TRIANGLES {
        return Err(ObjectError::TooMany { count: triangles.len() });
    }
    if let Some(vertex) = vertices.iter().position(|vertex| !vertex.is_finite()) {
        return Err(ObjectError::NotFinite { vertex });
    }
    for (vertex, point) in vertices.iter().enumerate() {
        if let Some(value) = point.to_array().into_iter().find(|value| value.abs() > MAX_COORDINATE) {
            return Err(ObjectError::TooFar { vertex, value });
        }
    }
    for (triangle, corners) in triangles.iter().enumerate() {
        if let Some(&vertex) = corners.iter().find(|&&corner| corner as usize >= vertices.len()) {
            return Err(ObjectError::NoSuchVertex { triangle, vertex, vertices: vertices.len() });
        }
    }
    Ok(())
}

/// The smallest ball around the vertices in use; never smaller than [`MIN_RADIUS`].
fn bounds(vertices: &[DVec3], triangles: &[[u32; 3]]) -> Ball {
    let mut used: Vec<u32> = triangles.iter().flatten().copied().collect();
    used.sort_unstable();
    used.dedup();
    let points: Vec<DVec3> = used.iter().map(|&corner| vertices[corner as usize]).collect();
    let low = points.iter().copied().fold(DVec3::INFINITY, DVec3::min);
    let high = points.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
    let middle = low * 0.5 + high * 0.5;
    let scale = (high * 0.5 - low * 0.5).max_element();
    if scale < MIN_RADIUS * 1e-3 {
        return Ball::new(middle, MIN_RADIUS);
    }
    let scaled: Vec<DVec3> = points.iter().map(|&point| (point - middle) / scale).collect();
    let ball = smallest_enclosing_ball(&scaled);
    Ball::new(middle + ball.center * scale, (ball.radius * scale).max(MIN_RADIUS))
}

fn to_unit(bounds: &Ball, point: DVec3) -> DVec3 {
    (point - bounds.center) / bounds.radius
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::catalog::shape;

    /// Keeps out: both were an index out of bounds.
    #[test]
    fn what_is_not_of_the_object_has_no_normal() {
        let mesh = shape("box").unwrap();
        let vertices = mesh.wide_vertices();
        let object = Object::new(&vertices, mesh.triangles()).unwrap();
        let count = object.triangles().len();
        for triangle in [count, usize::MAX] {
            assert_eq!(object.face_normal(triangle), DVec3::ZERO);
        }
        let nearest = object.nearest(DVec3::X * 2.0, None);
        assert!(object.normal(&nearest).length() > 0.5);
        for foreign in [
            Nearest { triangle: count as u32, ..nearest },
            Nearest { triangle: u32::MAX, ..nearest },
            Nearest { feature: TriangleFeature::Edge(3), ..nearest },
            Nearest { feature: TriangleFeature::Corner(u8::MAX), ..nearest },
        ] {
            assert_eq!(object.normal(&foreign), DVec3::ZERO, "{foreign:?}");
        }
    }
}
