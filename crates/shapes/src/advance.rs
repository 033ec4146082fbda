//! First contact of two moving shapes, by conservative advancement.
//!
//! Two convex cores that are apart have a separating direction. Along it they approach no faster than their velocities
//! and rotations allow, so distance over speed is time that is safe to skip. Steps shrink towards the contact and
//! cannot pass it. A mesh is taken triangle by triangle: those within the other shape's swept box.

use space::DVec3;

use super::balls::walk;
use super::convex::{Convex, Core, Rounded, penetration, separation};
use super::geometry::Geometry;
use super::pose::{RigidMotion, WideMotion, WidePose};

/// Steps after which a pair counts as in contact, which is early but never late. Rarely more than ten are taken.
const MAX_STEPS: usize = 200;
/// Halvings in the search for the longest safe step of a turning core.
const HALVINGS: usize = 8;
/// Two cores are in contact when their distance is within this of the gap, relative to their sizes.
const TOLERANCE: f64 = 1e-5;
/// An approach by less than this, relative to the sizes, is rounding.
const ROUNDING: f64 = 1e-9;

#[derive(Clone, Copy, Debug)]
pub(super) struct FirstContact {
    pub time: f64,
    pub normal: DVec3,
    pub on_a: DVec3,
    pub on_b: DVec3,
}

/// A shape or a core, and how it moves.
#[derive(Clone, Copy)]
struct Moving<'a, T> {
    shape: &'a T,
    motion: &'a WideMotion,
}

/// A part of a moving shape.
fn part<'p, T, U>(whole: Moving<'p, T>, shape: &'p U) -> Moving<'p, U> {
    Moving { shape, motion: whole.motion }
}

/// The first contact of two moving shapes; ties go to the triangle with the lower number.
pub(super) fn first_contact(
    a: &Geometry<'_>,
    a_motion: &RigidMotion,
    b: &Geometry<'_>,
    b_motion: &RigidMotion,
    gap: f64,
) -> Option<FirstContact> {
    let (a_motion, b_motion) = (WideMotion::new(a_motion), WideMotion::new(b_motion));
    first_of(Moving { shape: a, motion: &a_motion }, Moving { shape: b, motion: &b_motion }, gap)
}

fn first_of(a: Moving<'_, Geometry<'_>>, b: Moving<'_, Geometry<'_>>, gap: f64) -> Option<FirstContact> {
    let mut best: Option<FirstContact> = None;
    let mut consider = |one: &Rounded<'_>, other: &Rounded<'_>| {
        let until = best.map_or(1.0, |contact| contact.time);
        let found = meet(part(a, one), part(b, other), gap, until);
        best = match (best, found) {
            (Some(best), Some(found)) => Some(if found.time < best.time { found } else { best }),
            (best, found) => best.or(found),
        };
        best.map_or(1.0, |contact| contact.time)
    };
    let mut until = 1.0;
    // Leaves are compared by `consider`; above them, balls around everything below rule out most pairs.
    match (a.shape, b.shape) {
        (Geometry::Balls(set), Geometry::Convex(rounded)) => {
            let visit = |_, node, _, is_end| {
                if is_end {
                    until = consider(&Rounded::ball(set.tree.ball(node)), rounded);
                    return false;
                }
                may_meet(part(a, &Rounded::ball(set.tree.wrapping(node))), part(b, rounded), gap, until)
            };
            walk(set, None, |_, _| 0.0, visit);
        }
        (Geometry::Balls(set), Geometry::Balls(other)) => {
            let visit = |_, one, two, is_end| {
                if is_end {
                    until = consider(&Rounded::ball(set.tree.ball(one)), &Rounded::ball(other.tree.ball(two)));
                    return false;
                }
                let (one, two) = (Rounded::ball(set.tree.wrapping(one)), Rounded::ball(other.tree.wrapping(two)));
                may_meet(part(a, &one), part(b, &two), gap, until)
            };
            walk(set, Some(other), |_, _| 0.0, visit);
        }
        (Geometry::Balls(set), Geometry::Mesh(_)) => {
            for node in set.tree.ends(set.level) {
                let ball = Geometry::Convex(Rounded::ball(set.tree.ball(node)));
                for_each_pair(part(a, &ball), b, gap, |one, other| _ = consider(one, other));
            }
        }
        (_, Geometry::Balls(_)) => return first_of(b, a, gap).map(FirstContact::swapped),
        _ => for_each_pair(a, b, gap, |one, other| _ = consider(one, other)),
    }
    best
}

/// Calls `visit` with each pair of convex parts that may come closer than `gap`, in ascending order of triangles. Balls
/// of sphere-trees have walks of their own.
fn for_each_pair(
    a: Moving<'_, Geometry<'_>>,
    b: Moving<'_, Geometry<'_>>,
    gap: f64,
    mut visit: impl FnMut(&Rounded<'_>, &Rounded<'_>),
) {
    match (a.shape, b.shape) {
        (Geometry::Convex(one), Geometry::Convex(other)) => visit(one, other),
        (Geometry::Convex(one), Geometry::Mesh(mesh)) => {
            swept(a, b, gap).into_iter().for_each(|at| visit(one, &mesh.triangle(at)));
        }
        (Geometry::Mesh(mesh), Geometry::Convex(other)) => {
            swept(b, a, gap).into_iter().for_each(|at| visit(&mesh.triangle(at), other));
        }
        (Geometry::Mesh(mesh), Geometry::Mesh(other)) => {
            for triangle in swept(b, a, gap) {
                let one = mesh.triangle(triangle);
                for opposite in swept(part(a, &Geometry::Convex(one)), b, gap) {
                    visit(&one, &other.triangle(opposite));
                }
            }
        }
        (Geometry::Balls(_), _) | (_, Geometry::Balls(_)) => {}
    }
}

/// Whether two cores may come as close as `gap` before `until`, or are so close at the start. A no is certain.
fn may_meet(a: Moving<'_, Rounded<'_>>, b: Moving<'_, Rounded<'_>>, gap: f64, until: f64) -> bool {
    let origin = a.motion.start().position;
    let at = |motion: &WideMotion| WidePose {
        position: motion.start().position - origin,
        rotation: motion.start().rotation,
    };
    let found = separation(&a.shape.core.place(&at(a.motion)), &b.shape.core.place(&at(b.motion)));
    found.certain - a.shape.radius - b.shape.radius <= gap || meet(a, b, gap, until).is_some()
}

impl FirstContact {
    fn swapped(self) -> FirstContact {
        FirstContact { normal: -self.normal, on_a: self.on_b, on_b: self.on_a, ..self }
    }
}

/// The first contact of two convex cores before `until`.
fn meet(a: Moving<'_, Rounded<'_>>, b: Moving<'_, Rounded<'_>>, gap: f64, until: f64) -> Option<FirstContact> {
    let (a, a_motion, b, b_motion) = (a.shape, a.motion, b.shape, b.motion);
    let radii = a.radius + b.radius;
    let scale = a.core.size() + b.core.size() + radii;
    let (a_turn, b_turn) = (Turning::new(&a.core, a_motion), Turning::new(&b.core, b_motion));
    let fastest = a_turn.speed() + b_turn.speed();
    let approach = a_motion.velocity - b_motion.velocity;
    let origin = a_motion.start().position;
    let at = |motion: &WideMotion, time: f64| {
        let pose = motion.at(time);
        WidePose { position: pose.position - origin, rotation: pose.rotation }
    };
    let mut time = 0.0;
    let mut target = f64::INFINITY;
    for step in 0.. {
        let (a_pose, b_pose) = (at(a_motion, time), at(b_motion, time));
        let (first, second) = (a.core.place(&a_pose), b.core.place(&b_pose));
        let found = separation(&first, &second);
        let apart = found.certain - radii;
        let contact = |normal: DVec3| FirstContact {
            time,
            normal,
            on_a: origin + found.on_a + normal * a.radius,
            on_b: origin + found.on_b - normal * b.radius,
        };
        if apart <= 0.0 || found.certain == 0.0 {
            let normal = if found.certain > 0.0 { found.normal } else { penetration(&first, &second).1 };
            return Some(contact(normal));
        }
        if step == 0 {
            target = gap.min(apart);
        }
        let spare = apart - target;
        let left = until - time;
        // A bound on the approach along the normal after some time. It is convex and zero at time zero, so if it is at
        // most `spare` at some time, it was so at all times before.
        let used = |after: f64| {
            approach.dot(found.normal) * after
                + a_turn.gain(&first, a_pose.position, found.normal, after)
                + b_turn.gain(&second, b_pose.position, -found.normal, after)
        };
        let speed = approach.dot(found.normal) + fastest;
        if used(left).min(speed * left) <= spare + ROUNDING * scale {
            return None;
        }
        let soon = left.min(1e-3);
        if step >= MAX_STEPS || (spare <= TOLERANCE * scale && used(soon) > 0.0) {
            return Some(contact(found.normal));
        }
        // Positive, or nothing could have been used up.
        let safe = spare / speed;
        // The fastest point need not be the one in front, so a longer step may be safe.
        time += if fastest > 0.0 { bisect(safe, left, |after| used(after) <= spare) } else { safe };
    }
    None
}

/// The longest step found that is safe, between one that is and one that is not.
fn bisect(mut safe: f64, mut too_long: f64, is_safe: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..HALVINGS {
        let middle = (safe + too_long) * 0.5;
        if is_safe(middle) { safe = middle } else { too_long = middle }
    }
    safe
}

/// A core's rotation: its angular velocity in the world, and the distance of its farthest point from the axis.
struct Turning {
    spin: DVec3,
    reach: f64,
}

impl Turning {
    fn new(core: &Core<'_>, motion: &WideMotion) -> Turning {
        if motion.turn == 0.0 {
            return Turning { spin: DVec3::ZERO, reach: 0.0 };
        }
        // The axis is fixed in the world, hence also in the core's coordinates.
        let axis = motion.start().rotation.conjugate() * motion.axis;
        Turning { spin: motion.axis * motion.turn, reach: core.reach_from(axis) }
    }

    /// The greatest speed of a point of the core due to rotation.
    fn speed(&self) -> f64 {
        self.spin.length() * self.reach
    }

    /// A bound on how much farther along `normal` the core reaches after turning about `pivot` for some time: each
    /// point keeps its velocity and deviates by at most half its acceleration times the squared time.
    fn gain(&self, core: &Convex<'_>, pivot: DVec3, normal: DVec3, time: f64) -> f64 {
        if self.reach == 0.0 {
            return 0.0;
        }
        let now = (core.farthest(normal) - pivot).dot(normal);
        let onward = normal + normal.cross(self.spin) * time;
        let then = (core.farthest(onward) - pivot).dot(onward);
        then - now + 0.5 * self.spin.length_squared() * self.reach * time * time
    }
}

/// The triangles of `mesh` that `body` may come closer to than `gap` in motion, ascending.
fn swept(body: Moving<'_, Geometry<'_>>, mesh: Moving<'_, Geometry<'_>>, gap: f64) -> Vec<u32> {
    let (body, motion, mesh, mesh_motion) = (body.shape, body.motion, mesh.shape, mesh.motion);
    let Geometry::Mesh(solid) = mesh else {
        return Vec::new();
    };
    // The body stays within this distance of its position, however it is turned.
    let (center, half) = body.bounds_in(&WidePose { position: DVec3::ZERO, rotation: space::DQuat::IDENTITY });
    let reach = (center.abs() + half).length() + body.radius() + gap;
    let turns = motion.turn != 0.0 || mesh_motion.turn != 0.0;
    // Seen from a turning mesh, the path is curved. It is cut into pieces of little turn; a piece leaves its chord by
    // at most an eighth of its acceleration.
    let pieces = ((mesh_motion.turn / 0.25).ceil() as usize).clamp(1, 16);
    let mut found = Vec::new();
    for piece in 0..pieces {
        let (from, to) = (piece as f64 / pieces as f64, (piece + 1) as f64 / pieces as f64);
        let ends = [from, to].map(|time| motion.at(time).seen_from(&mesh_motion.at(time)));
        let (mut low, mut high) = if turns {
            let (p, q) = (ends[0].position, ends[1].position);
            (p.min(q) - reach, p.max(q) + reach)
        } else {
            let margin = DVec3::splat(body.radius() + gap);
            let boxes = ends.map(|end| body.bounds_in(&end));
            let lows = boxes.map(|(center, half)| center - half - margin);
            let highs = boxes.map(|(center, half)| center + half + margin);
            (lows[0].min(lows[1]), highs[0].max(highs[1]))
        };
        if mesh_motion.turn != 0.0 {
            let speed = (motion.velocity - mesh_motion.velocity).length();
            let far = ends[0].position.length().max(ends[1].position.length()) + speed * (to - from);
            let bend = mesh_motion.turn * (mesh_motion.turn * far + 2.0 * speed) * (to - from) * (to - from) / 8.0;
            low -= bend;
            high += bend;
        }
        let rounding = 1e-12 * (low.abs().max(high.abs()).max_element() + 1.0);
        solid.tree.overlapping((low + high) * 0.5, (high - low) * 0.5 + rounding, |triangle| found.push(triangle));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The deepest overlap of two shapes: how far and in which direction the second must be moved. `None` if
/// they are apart.
pub(super) fn deepest(a: &Geometry<'_>, at: &WidePose, b: &Geometry<'_>, bt: &WidePose) -> Option<(f64, DVec3)> {
    let mut best: Option<(f64, DVec3)> = None;
    let mut consider = |one: &Rounded<'_>, other: &Rounded<'_>| {
        let (first, second) = (one.core.place(at), other.core.place(bt));
        let radii = one.radius + other.radius;
        let found = separation(&first, &second);
        if found.distance > radii {
            return;
        }
        let (depth, normal) = if found.distance > 0.0 {
            (radii - found.distance, found.normal)
        } else {
            let (depth, normal) = penetration(&first, &second);
            (radii + depth, normal)
        };
        if best.is_none_or(|(deepest, _)| depth > deepest) {
            best = Some((depth, normal));
        }
    };
    let rest = [at, bt].map(|pose| WideMotion::resting(*pose));
    let (one, two) = (Moving { shape: a, motion: &rest[0] }, Moving { shape: b, motion: &rest[1] });
    match (a, b) {
        (Geometry::Balls(set), Geometry::Balls(second)) => {
            let place =
                |sphere: space::Sphere, pose: &WidePose| pose.position + pose.rotation * sphere.center.as_dvec3();
            let overlap = |_, one, other, is_end| {
                let (around, beside) = (set.tree.wrapping(one), second.tree.wrapping(other));
                let apart = place(around, at).distance(place(beside, bt));
                if apart > f64::from(around.radius) + f64::from(beside.radius) + 1e-9 * apart {
                    return false;
                }
                if is_end {
                    consider(&Rounded::ball(set.tree.ball(one)), &Rounded::ball(second.tree.ball(other)));
                }
                true
            };
            walk(set, Some(second), |_, _| 0.0, overlap);
        }
        (Geometry::Balls(set), other) => {
            for node in set.tree.ends(set.level) {
                let ball = Geometry::Convex(Rounded::ball(set.tree.ball(node)));
                for_each_pair(part(one, &ball), part(two, other), 0.0, &mut consider);
            }
        }
        (_, Geometry::Balls(_)) => {
            return deepest(b, bt, a, at).map(|(depth, normal)| (depth, -normal));
        }
        _ => for_each_pair(one, two, 0.0, consider),
    }
    best
}
