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

/// The first contact of two moving shapes; ties go to the triangle with the lower number.
pub(super) fn first_contact(
    a: &Geometry<'_>,
    a_motion: &RigidMotion,
    b: &Geometry<'_>,
    b_motion: &RigidMotion,
    gap: f64,
) -> Option<FirstContact> {
    first_of(a, &WideMotion::new(a_motion), b, &WideMotion::new(b_motion), gap)
}

fn first_of(
    a: &Geometry<'_>,
    a_motion: &WideMotion,
    b: &Geometry<'_>,
    b_motion: &WideMotion,
    gap: f64,
) -> Option<FirstContact> {
    let mut best: Option<FirstContact> = None;
    let mut consider = |one: &Rounded<'_>, other: &Rounded<'_>| {
        let until = best.map_or(1.0, |contact| contact.time);
        let found = meet(one, a_motion, other, b_motion, gap, until);
        best = match (best, found) {
            (Some(best), Some(found)) => Some(if found.time < best.time { found } else { best }),
            (best, found) => best.or(found),
        };
        best.map_or(1.0, |contact| contact.time)
    };
    let mut until = 1.0;
    // Leaves are compared by `consider`; above them, balls around everything below rule out most pairs.
    match (a, b) {
        (Geometry::Balls(set), Geometry::Convex(rounded)) => walk(
            set,
            None,
            |_, _| 0.0,
            |_, node, _, is_end| {
                if is_end {
                    until = consider(&Rounded::ball(set.tree.ball(node)), rounded);
                    return false;
                }
                may_meet(&Rounded::ball(set.tree.wrapping(node)), a_motion, rounded, b_motion, gap, until)
            },
        ),
        (Geometry::Balls(set), Geometry::Balls(other)) => walk(
            set,
            Some(other),
            |_, _| 0.0,
            |_, a, b, is_end| {
                if is_end {
                    until = consider(&Rounded::ball(set.tree.ball(a)), &Rounded::ball(other.tree.ball(b)));
                    return false;
                }
                let (one, two) = (Rounded::ball(set.tree.wrapping(a)), Rounded::ball(other.tree.wrapping(b)));
                may_meet(&one, a_motion, &two, b_motion, gap, until)
            },
        ),
        (Geometry::Balls(set), Geometry::Mesh(_)) => {
            for node in set.tree.ends(set.level) {
                let ball = Geometry::Convex(Rounded::ball(set.tree.ball(node)));
                for_each_pair(&ball, a_motion, b, b_motion, gap, |one, other| _ = consider(one, other));
            }
        }
        (_, Geometry::Balls(_)) => {
            return first_of(b, b_motion, a, a_motion, gap).map(FirstContact::swapped);
        }
        _ => for_each_pair(a, a_motion, b, b_motion, gap, |one, other| _ = consider(one, other)),
    }
    best
}

/// Calls `visit` with each pair of convex parts that may come closer than `gap`, in ascending order of triangles. Balls
/// of sphere-trees have walks of their own.
fn for_each_pair(
    a: &Geometry<'_>,
    a_motion: &WideMotion,
    b: &Geometry<'_>,
    b_motion: &WideMotion,
    gap: f64,
    mut visit: impl FnMut(&Rounded<'_>, &Rounded<'_>),
) {
    match (a, b) {
        (Geometry::Convex(one), Geometry::Convex(other)) => visit(one, other),
        (Geometry::Convex(one), Geometry::Mesh(mesh)) => {
            swept(a, a_motion, b, b_motion, gap).into_iter().for_each(|at| visit(one, &mesh.triangle(at)));
        }
        (Geometry::Mesh(mesh), Geometry::Convex(other)) => {
            swept(b, b_motion, a, a_motion, gap).into_iter().for_each(|at| visit(&mesh.triangle(at), other));
        }
        (Geometry::Mesh(mesh), Geometry::Mesh(other)) => {
            for triangle in swept(b, b_motion, a, a_motion, gap) {
                let one = mesh.triangle(triangle);
                for opposite in swept(&Geometry::Convex(one), a_motion, b, b_motion, gap) {
                    visit(&one, &other.triangle(opposite));
                }
            }
        }
        (Geometry::Balls(_), _) | (_, Geometry::Balls(_)) => {}
    }
}

/// Whether two cores may come as close as `gap` before `until`, or are so close at the start. A no is certain.
fn may_meet(
    a: &Rounded<'_>,
    a_motion: &WideMotion,
    b: &Rounded<'_>,
    b_motion: &WideMotion,
    gap: f64,
    until: f64,
) -> bool {
    let origin = a_motion.start().position;
    let at = |motion: &WideMotion| WidePose {
        position: motion.start().position - origin,
        rotation: motion.start().rotation,
    };
    let found = separation(&a.core.place(&at(a_motion)), &b.core.place(&at(b_motion)));
    found.certain - a.radius - b.radius <= gap || meet(a, a_motion, b, b_motion, gap, until).is_some()
}

impl FirstContact {
    fn swapped(self) -> FirstContact {
        FirstContact { normal: -self.normal, on_a: self.on_b, on_b: self.on_a, ..self }
    }
}

/// The first contact of two convex cores before `until`.
fn meet(
    a: &Rounded<'_>,
    a_motion: &WideMotion,
    b: &Rounded<'_>,
    b_motion: &WideMotion,
    gap: f64,
    until: f64,
) -> Option<FirstContact> {
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
        let mut safe = spare / speed;
        if fastest > 0.0 {
            // The fastest point need not be the one in front, so a longer step may be safe: bisect.
            let mut too_long = left;
            for _ in 0..HALVINGS {
                let middle = (safe + too_long) * 0.5;
                if used(middle) <= spare { safe = middle } else { too_long = middle }
            }
        }
        time += safe;
    }
    None
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
fn swept(
    body: &Geometry<'_>,
    motion: &WideMotion,
    mesh: &Geometry<'_>,
    mesh_motion: &WideMotion,
    gap: f64,
) -> Vec<u32> {
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

/// The deepest overlap of two shapes: how far and in which direction the second must be moved. `None` if they are
/// apart.
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
    let (a_rest, b_rest) = (WideMotion::resting(*at), WideMotion::resting(*bt));
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
                for_each_pair(&ball, &a_rest, other, &b_rest, 0.0, &mut consider);
            }
        }
        (_, Geometry::Balls(_)) => {
            return deepest(b, bt, a, at).map(|(depth, normal)| (depth, -normal));
        }
        _ => for_each_pair(a, &a_rest, b, &b_rest, 0.0, consider),
    }
    best
}
