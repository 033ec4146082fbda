//! A shape at the level of precision that was asked for, and the nearest parts of two shapes.

use space::{DQuat, DVec3};

use super::balls::{BallSet, ball_against, balls_against_balls, balls_against_core};
use super::convex::{self, Convex, Core, Rounded, Separation, turned_half};
use super::pose::WidePose;
use super::proximity::Precision;
use super::shape::Shape;
use super::solid::Mesh;

/// One convex core with a radius, many triangles, or many balls.
#[derive(Clone, Copy, Debug)]
pub(super) enum Geometry<'a> {
    Convex(Rounded<'a>),
    Mesh(&'a Mesh),
    Balls(BallSet<'a>),
}

/// The nearest parts of two shapes, with the first one's position as the origin.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClosestParts {
    pub separation: Separation,
    pub radius_a: f64,
    pub radius_b: f64,
    /// The triangle's number, for a mesh.
    pub part_a: Option<u32>,
    pub part_b: Option<u32>,
}

impl<'a> Geometry<'a> {
    pub fn new(shape: &'a Shape, precision: Precision) -> Geometry<'a> {
        let level = match precision {
            Precision::BoundingSphere => return Geometry::Convex(Rounded::ball(shape.bounding_sphere())),
            Precision::Level(level) => Some(level),
            Precision::Exact => None,
        };
        match (shape, level) {
            (Shape::Balls(balls), level) => {
                Geometry::Balls(BallSet { tree: &balls.tree, level: balls.level.min(level.unwrap_or(u8::MAX)) })
            }
            (Shape::Mesh(mesh), level) => match (&mesh.balls, level) {
                (Some(tree), Some(level)) => Geometry::Balls(BallSet { tree, level }),
                _ => Geometry::Mesh(mesh),
            },
            _ => Geometry::Convex(Rounded::new(shape).unwrap_or_else(|| Rounded::ball(shape.bounding_sphere()))),
        }
    }

    pub fn radius(&self) -> f64 {
        match self {
            Geometry::Convex(rounded) => rounded.radius,
            Geometry::Mesh(_) | Geometry::Balls(_) => 0.0,
        }
    }

    /// A box around it in `pose`, without its radius: centre and half sides.
    pub fn bounds_in(&self, pose: &WidePose) -> (DVec3, DVec3) {
        match self {
            Geometry::Convex(rounded) => rounded.core.bounds_in(pose),
            Geometry::Mesh(mesh) => {
                let bounds = mesh.bounds;
                let (min, max) = (bounds.min.as_dvec3(), bounds.max.as_dvec3());
                let center = pose.position + pose.rotation * ((min + max) * 0.5);
                (center, turned_half(pose.rotation, (max - min) * 0.5))
            }
            Geometry::Balls(set) => {
                let around = set.tree.wrapping(0);
                let center = pose.position + pose.rotation * around.center.as_dvec3();
                (center, DVec3::splat(f64::from(around.radius)))
            }
        }
    }
}

impl Mesh {
    pub(super) fn core(&self, triangle: u32) -> Core<'static> {
        let corners = self.triangles().corners(triangle as usize).unwrap_or_default();
        Core::Triangle(corners.map(|corner| corner.as_dvec3()))
    }

    pub(super) fn triangle(&self, triangle: u32) -> Rounded<'static> {
        Rounded { core: self.core(triangle), radius: 0.0 }
    }
}

impl WidePose {
    /// This pose in the coordinates of `other`.
    pub fn seen_from(&self, other: &WidePose) -> WidePose {
        let back = other.rotation.conjugate();
        WidePose { position: back * (self.position - other.position), rotation: (back * self.rotation).normalize() }
    }

    const ORIGIN: WidePose = WidePose { position: DVec3::ZERO, rotation: DQuat::IDENTITY };
}

impl ClosestParts {
    /// The distance of the surfaces; negative where the radii overlap.
    pub fn gap(&self) -> f64 {
        self.separation.distance - self.radius_a - self.radius_b
    }

    fn swapped(self) -> ClosestParts {
        ClosestParts {
            separation: self.separation.swapped(),
            radius_a: self.radius_b,
            radius_b: self.radius_a,
            part_a: self.part_b,
            part_b: self.part_a,
        }
    }

    /// The same in the world, where `frame` is the pose of what was the origin.
    fn moved(mut self, frame: &WidePose) -> ClosestParts {
        let separation = &mut self.separation;
        separation.on_a = frame.position + frame.rotation * separation.on_a;
        separation.on_b = frame.position + frame.rotation * separation.on_b;
        separation.normal = frame.rotation * separation.normal;
        self
    }
}

/// The nearest parts whose surfaces are at most `within` apart. Parts that cannot be nearer by more than
/// `error` are skipped.
pub(super) fn nearest(
    a: &Geometry<'_>,
    at: &WidePose,
    b: &Geometry<'_>,
    bt: &WidePose,
    within: f64,
    error: f64,
) -> Option<ClosestParts> {
    let radii = a.radius() + b.radius();
    let mut best = ClosestSearch { within: within + radii, error, certain: f64::INFINITY, found: None };
    match (a, b) {
        (Geometry::Convex(first), Geometry::Convex(second)) => {
            let (first_at, second_at) = around(at, bt);
            best.offer(convex::separation(&first.core.place(&first_at), &second.core.place(&second_at)), None, None);
        }
        (Geometry::Mesh(mesh), Geometry::Convex(rounded)) => {
            let seen = bt.seen_from(at);
            best.mesh_against(mesh, &rounded.core, &rounded.core.place(&seen), &seen, None);
            let turn = WidePose { position: DVec3::ZERO, rotation: at.rotation };
            best.found = best.found.map(|found| found.moved(&turn));
        }
        (Geometry::Mesh(first), Geometry::Mesh(second)) => {
            // In the coordinates of the second mesh, one triangle of the first at a time.
            let seen = at.seen_from(bt);
            let (center, half) = b.bounds_in(&bt.seen_from(at));
            first.tree.nearest(center, half, best.within, |triangle| {
                let core = first.core(triangle);
                best.mesh_against(second, &core, &core.place(&seen), &seen, Some(triangle));
                best.of_interest()
            });
            let frame = WidePose { position: bt.position - at.position, rotation: bt.rotation };
            best.found = best.found.map(|found| found.swapped().moved(&frame));
        }
        (Geometry::Balls(set), Geometry::Convex(rounded)) => {
            let (first_at, second_at) = around(at, bt);
            balls_against_core(set, &first_at, &rounded.core.place(&second_at), &mut best);
        }
        (Geometry::Balls(first), Geometry::Balls(second)) => {
            let (first_at, second_at) = around(at, bt);
            balls_against_balls(first, &first_at, second, &second_at, &mut best);
        }
        (Geometry::Mesh(mesh), Geometry::Balls(set)) => {
            best.mesh_against_balls(mesh, set, &bt.seen_from(at));
            let turn = WidePose { position: DVec3::ZERO, rotation: at.rotation };
            best.found = best.found.map(|found| found.moved(&turn));
        }
        (Geometry::Convex(_) | Geometry::Balls(_), Geometry::Balls(_) | Geometry::Mesh(_)) => {
            let there = WidePose { position: bt.position - at.position, rotation: DQuat::IDENTITY };
            return nearest(b, bt, a, at, within, error).map(|found| found.swapped().moved(&there));
        }
    }
    best.found.map(|mut found| {
        found.separation.certain = best.certain;
        ClosestParts { radius_a: a.radius(), radius_b: b.radius(), ..found }
    })
}

/// Both poses, with the first one's position as the origin.
pub(super) fn around(at: &WidePose, bt: &WidePose) -> (WidePose, WidePose) {
    (
        WidePose { position: DVec3::ZERO, rotation: at.rotation },
        WidePose { position: bt.position - at.position, rotation: bt.rotation },
    )
}

pub(super) struct ClosestSearch {
    /// Cores farther apart than this are skipped.
    pub within: f64,
    error: f64,
    certain: f64,
    found: Option<ClosestParts>,
}

impl ClosestSearch {
    fn nothing() -> ClosestSearch {
        ClosestSearch { within: f64::INFINITY, error: 0.0, certain: f64::INFINITY, found: None }
    }

    pub fn offer(&mut self, separation: Separation, part_a: Option<u32>, part_b: Option<u32>) {
        self.certain = self.certain.min(separation.certain);
        let nearer = match &self.found {
            None => separation.distance <= self.within,
            // Ties go to the triangle with the lower number, in whatever order the tree visits them.
            Some(best) => (separation.distance, part_a, part_b) < (best.separation.distance, best.part_a, best.part_b),
        };
        if nearer {
            self.found = Some(ClosestParts { separation, radius_a: 0.0, radius_b: 0.0, part_a, part_b });
            self.within = separation.distance;
        }
    }

    fn of_interest(&self) -> f64 {
        if self.found.is_some() { (self.within - self.error).max(0.0) } else { self.within }
    }

    /// Offers all triangles of `mesh` against the balls of a set, one ball at a time, in the coordinates of the mesh.
    fn mesh_against_balls(&mut self, mesh: &Mesh, set: &BallSet<'_>, pose: &WidePose) {
        for node in set.tree.ends(set.level) {
            let ball = Rounded::ball(set.tree.ball(node));
            let mut own = ClosestSearch { within: self.within + ball.radius, ..ClosestSearch::nothing() };
            own.mesh_against(mesh, &ball.core, &ball.core.place(pose), pose, None);
            if let Some(found) = own.found {
                let certain = Separation { certain: own.certain, ..found.separation };
                self.offer(ball_against(certain.swapped(), ball.radius).swapped(), found.part_a, None);
            }
        }
    }

    /// Offers all triangles of `mesh` against a core placed in its coordinates.
    fn mesh_against(&mut self, mesh: &Mesh, core: &Core<'_>, placed: &Convex<'_>, pose: &WidePose, part: Option<u32>) {
        let (center, half) = core.bounds_in(pose);
        let interest = self.of_interest();
        mesh.tree.nearest(center, half, interest, |triangle| {
            let corners = mesh.core(triangle).place(&WidePose::ORIGIN);
            self.offer(convex::separation(&corners, placed), Some(triangle), part);
            self.of_interest()
        });
    }
}
