//! A shape as the questions see it, at the level of precision that was asked for, and the nearest parts of two.

use space::{DQuat, DVec3};

use super::balls::{BallSet, ball_against, balls_against_balls, balls_against_core};
use super::convex::{self, Convex, Core, Rounded, Separation, turned_half};
use super::pose::WidePose;
use super::proximity::Precision;
use super::shape::Shape;
use super::solid::Mesh;

/// One convex core with a radius, many triangles, or many balls.
#[derive(Clone, Copy, Debug)]
pub(super) enum Body<'a> {
    Convex(Rounded<'a>),
    Mesh(&'a Mesh),
    Balls(BallSet<'a>),
}

/// The nearest parts of two bodies, with the first body's position as the origin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nearest {
    /// Of the cores.
    pub separation: Separation,
    /// Around the cores.
    pub radius_a: f64,
    pub radius_b: f64,
    /// Which triangle, of a mesh.
    pub part_a: Option<u32>,
    pub part_b: Option<u32>,
}

impl<'a> Body<'a> {
    pub fn new(shape: &'a Shape, precision: Precision) -> Body<'a> {
        let level = match precision {
            Precision::BoundingSphere => return Body::Convex(Rounded::ball(shape.bounding_sphere())),
            Precision::Level(level) => Some(level),
            Precision::Exact => None,
        };
        match (shape, level) {
            (Shape::Balls(balls), level) => {
                Body::Balls(BallSet { tree: &balls.tree, level: balls.level.min(level.unwrap_or(u8::MAX)) })
            }
            (Shape::Mesh(mesh), level) => match (&mesh.balls, level) {
                (Some(tree), Some(level)) => Body::Balls(BallSet { tree, level }),
                _ => Body::Mesh(mesh),
            },
            _ => Body::Convex(Rounded::new(shape).unwrap_or_else(|| Rounded::ball(shape.bounding_sphere()))),
        }
    }

    pub fn radius(&self) -> f64 {
        match self {
            Body::Convex(rounded) => rounded.radius,
            Body::Mesh(_) | Body::Balls(_) => 0.0,
        }
    }

    /// A box around it in `pose`, without its radius: middle and half sides.
    pub fn bounds_in(&self, pose: &WidePose) -> (DVec3, DVec3) {
        match self {
            Body::Convex(rounded) => rounded.core.bounds_in(pose),
            Body::Mesh(mesh) => {
                let bounds = mesh.bounds();
                let (min, max) = (bounds.min.as_dvec3(), bounds.max.as_dvec3());
                let center = pose.position + pose.rotation * ((min + max) * 0.5);
                (center, turned_half(pose.rotation, (max - min) * 0.5))
            }
            Body::Balls(set) => {
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
}

impl WidePose {
    /// This pose as seen from `other`.
    pub fn seen_from(&self, other: &WidePose) -> WidePose {
        let back = other.rotation.conjugate();
        WidePose { position: back * (self.position - other.position), rotation: (back * self.rotation).normalize() }
    }

    const ORIGIN: WidePose = WidePose { position: DVec3::ZERO, rotation: DQuat::IDENTITY };
}

impl Nearest {
    /// How far the surfaces are apart; negative when the radii reach into each other.
    pub fn gap(&self) -> f64 {
        self.separation.distance - self.radius_a - self.radius_b
    }

    fn swapped(self) -> Nearest {
        Nearest {
            separation: self.separation.swapped(),
            radius_a: self.radius_b,
            radius_b: self.radius_a,
            part_a: self.part_b,
            part_b: self.part_a,
        }
    }

    /// The same, seen from where `frame` is the pose of what was the origin.
    fn moved(mut self, frame: &WidePose) -> Nearest {
        let separation = &mut self.separation;
        separation.on_a = frame.position + frame.rotation * separation.on_a;
        separation.on_b = frame.position + frame.rotation * separation.on_b;
        separation.normal = frame.rotation * separation.normal;
        self
    }
}

/// The nearest parts, among those whose surfaces are no farther apart than `within`; give or take `error`, which spares
/// looking at parts that cannot be nearer by more than that.
pub(super) fn nearest(
    a: &Body<'_>,
    at: &WidePose,
    b: &Body<'_>,
    bt: &WidePose,
    within: f64,
    error: f64,
) -> Option<Nearest> {
    let radii = a.radius() + b.radius();
    let mut best = Best { within: within + radii, error, certain: f64::INFINITY, found: None };
    match (a, b) {
        (Body::Convex(first), Body::Convex(second)) => {
            let (first_at, second_at) = around(at, bt);
            best.offer(convex::separation(&first.core.place(&first_at), &second.core.place(&second_at)), None, None);
        }
        (Body::Mesh(mesh), Body::Convex(rounded)) => {
            let seen = bt.seen_from(at);
            best.mesh_against(mesh, &rounded.core, &rounded.core.place(&seen), &seen, None);
            let turn = WidePose { position: DVec3::ZERO, rotation: at.rotation };
            best.found = best.found.map(|found| found.moved(&turn));
        }
        (Body::Mesh(first), Body::Mesh(second)) => {
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
        (Body::Balls(set), Body::Convex(rounded)) => {
            let (first_at, second_at) = around(at, bt);
            balls_against_core(set, &first_at, &rounded.core.place(&second_at), &mut best);
        }
        (Body::Balls(first), Body::Balls(second)) => {
            let (first_at, second_at) = around(at, bt);
            balls_against_balls(first, &first_at, second, &second_at, &mut best);
        }
        (Body::Mesh(mesh), Body::Balls(set)) => {
            // In the coordinates of the mesh, one ball at a time.
            let seen = bt.seen_from(at);
            for node in set.tree.ends(set.level) {
                let ball = Rounded::ball(set.tree.ball(node));
                let mut own = Best { within: best.within + ball.radius, ..Best::nothing() };
                own.mesh_against(mesh, &ball.core, &ball.core.place(&seen), &seen, None);
                if let Some(found) = own.found {
                    let certain = Separation { certain: own.certain, ..found.separation };
                    best.offer(ball_against(certain.swapped(), ball.radius).swapped(), found.part_a, None);
                }
            }
            let turn = WidePose { position: DVec3::ZERO, rotation: at.rotation };
            best.found = best.found.map(|found| found.moved(&turn));
        }
        (Body::Convex(_) | Body::Balls(_), Body::Balls(_) | Body::Mesh(_)) => {
            let there = WidePose { position: bt.position - at.position, rotation: DQuat::IDENTITY };
            return nearest(b, bt, a, at, within, error).map(|found| found.swapped().moved(&there));
        }
    }
    best.found.map(|mut found| {
        found.separation.certain = best.certain;
        Nearest { radius_a: a.radius(), radius_b: b.radius(), ..found }
    })
}

/// Both poses, with the first one's position as the origin.
pub(super) fn around(at: &WidePose, bt: &WidePose) -> (WidePose, WidePose) {
    (
        WidePose { position: DVec3::ZERO, rotation: at.rotation },
        WidePose { position: bt.position - at.position, rotation: bt.rotation },
    )
}

/// The nearest so far.
pub(super) struct Best {
    /// Cores farther apart than this do not matter.
    pub within: f64,
    error: f64,
    certain: f64,
    found: Option<Nearest>,
}

impl Best {
    fn nothing() -> Best {
        Best { within: f64::INFINITY, error: 0.0, certain: f64::INFINITY, found: None }
    }

    pub fn offer(&mut self, separation: Separation, part_a: Option<u32>, part_b: Option<u32>) {
        self.certain = self.certain.min(separation.certain);
        let nearer = match &self.found {
            None => separation.distance <= self.within,
            // Ties go to the triangle with the lower number, whatever the order of the tree.
            Some(best) => (separation.distance, part_a, part_b) < (best.separation.distance, best.part_a, best.part_b),
        };
        if nearer {
            self.found = Some(Nearest { separation, radius_a: 0.0, radius_b: 0.0, part_a, part_b });
            self.within = separation.distance;
        }
    }

    fn of_interest(&self) -> f64 {
        if self.found.is_some() { (self.within - self.error).max(0.0) } else { self.within }
    }

    /// All triangles of `mesh`, in its coordinates, against a core placed there.
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
