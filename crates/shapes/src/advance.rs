//! First contact of shapes in motion, by conservative advancement.
//!
//! At any time two convex cores that are apart have a direction along which they are apart by their whole distance.
//! Along that direction they approach no faster than their velocities and turns allow. So the distance to be lost,
//! divided by that speed, is time in which nothing can happen: go there and look again. Steps shrink towards the
//! contact and cannot jump over it. A mesh is taken triangle by triangle, those that the other's path comes near.

use space::DVec3;

use super::balls::{BallSet, pairs_of};
use super::body::Body;
use super::convex::{Convex, Core, Rounded, penetration, separation};
use super::pose::{Course, Motion, WidePose};

/// After so many steps a pair counts as met: early, but never late. Rarely more than ten are taken.
const MAX_STEPS: usize = 200;
/// How often a step of a turning core is halved towards the longest that is safe.
const HALVINGS: usize = 8;
/// A contact is where the distance is within this of the gap, relative to the sizes of the two.
const TOLERANCE: f64 = 1e-5;
/// An approach by less than this, relative to the sizes, is rounding: they keep their distance.
const ROUNDING: f64 = 1e-9;

/// A first contact.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meeting {
    pub time: f64,
    pub normal: DVec3,
    pub on_a: DVec3,
    pub on_b: DVec3,
}

/// The first contact of two bodies; ties go to the triangle with the lower number.
pub(super) fn first_meeting(
    a: &Body<'_>,
    a_motion: &Motion,
    b: &Body<'_>,
    b_motion: &Motion,
    gap: f64,
) -> Option<Meeting> {
    let (first, second) = (Course::new(a_motion), Course::new(b_motion));
    let mut best: Option<Meeting> = None;
    let until = |best: &Option<Meeting>| best.map_or(1.0, |meeting| meeting.time);
    match (a, b) {
        (Body::Balls(set), _) => {
            best = balls_meet(set, &first, b, &second, gap);
        }
        (_, Body::Balls(set)) => {
            best = balls_meet(set, &second, a, &first, gap).map(Meeting::swapped);
        }
        (Body::Convex(a), Body::Convex(b)) => best = meet(a, &first, b, &second, gap, 1.0),
        (Body::Mesh(mesh), Body::Convex(rounded)) => {
            for triangle in swept(b, &second, a, &first, gap) {
                let corner = Rounded { core: mesh.core(triangle), radius: 0.0 };
                let found = meet(&corner, &first, rounded, &second, gap, until(&best));
                best = earlier(best, found);
            }
        }
        (Body::Convex(rounded), Body::Mesh(mesh)) => {
            for triangle in swept(a, &first, b, &second, gap) {
                let corner = Rounded { core: mesh.core(triangle), radius: 0.0 };
                let found = meet(rounded, &first, &corner, &second, gap, until(&best));
                best = earlier(best, found);
            }
        }
        (Body::Mesh(mesh), Body::Mesh(other)) => {
            for triangle in swept(b, &second, a, &first, gap) {
                let corner = Rounded { core: mesh.core(triangle), radius: 0.0 };
                for opposite in swept(&Body::Convex(corner), &first, b, &second, gap) {
                    let facing = Rounded { core: other.core(opposite), radius: 0.0 };
                    let found = meet(&corner, &first, &facing, &second, gap, until(&best));
                    best = earlier(best, found);
                }
            }
        }
    }
    best
}

/// The first contact of balls with a body. A ball around all that is below a node rules most of them out.
fn balls_meet(
    set: &BallSet<'_>,
    course: &Course,
    other: &Body<'_>,
    other_course: &Course,
    gap: f64,
) -> Option<Meeting> {
    let mut best: Option<Meeting> = None;
    match other {
        Body::Convex(rounded) => {
            let mut waiting = vec![0];
            while let Some(node) = waiting.pop() {
                let until = best.map_or(1.0, |meeting| meeting.time);
                let children = set.tree.children(node, set.level);
                if children.is_empty() {
                    let ball = Rounded::ball(set.tree.ball(node));
                    best = earlier(best, meet(&ball, course, rounded, other_course, gap, until));
                } else if may_meet(&Rounded::ball(set.tree.wrapping(node)), course, rounded, other_course, gap, until) {
                    waiting.extend(children.rev());
                }
            }
        }
        Body::Balls(second) => {
            let mut waiting = vec![(0, 0)];
            while let Some((a, b)) = waiting.pop() {
                let until = best.map_or(1.0, |meeting| meeting.time);
                match pairs_of(set, a, second, b) {
                    None => {
                        let balls = (Rounded::ball(set.tree.ball(a)), Rounded::ball(second.tree.ball(b)));
                        best = earlier(best, meet(&balls.0, course, &balls.1, other_course, gap, until));
                    }
                    Some(pairs) => {
                        let balls = (Rounded::ball(set.tree.wrapping(a)), Rounded::ball(second.tree.wrapping(b)));
                        if may_meet(&balls.0, course, &balls.1, other_course, gap, until) {
                            waiting.extend(pairs.rev());
                        }
                    }
                }
            }
        }
        Body::Mesh(mesh) => {
            for node in set.tree.ends(set.level) {
                let ball = Rounded::ball(set.tree.ball(node));
                for triangle in swept(&Body::Convex(ball), course, other, other_course, gap) {
                    let until = best.map_or(1.0, |meeting| meeting.time);
                    let corner = Rounded { core: mesh.core(triangle), radius: 0.0 };
                    best = earlier(best, meet(&ball, course, &corner, other_course, gap, until));
                }
            }
        }
    }
    best
}

/// Whether two cores may come as close as `gap` before `until`, or are so close at the start. A no is certain.
fn may_meet(a: &Rounded<'_>, a_course: &Course, b: &Rounded<'_>, b_course: &Course, gap: f64, until: f64) -> bool {
    let origin = a_course.start().position;
    let at =
        |course: &Course| WidePose { position: course.start().position - origin, rotation: course.start().rotation };
    let found = separation(&a.core.place(&at(a_course)), &b.core.place(&at(b_course)));
    found.certain - a.radius - b.radius <= gap || meet(a, a_course, b, b_course, gap, until).is_some()
}

impl Meeting {
    fn swapped(self) -> Meeting {
        Meeting { normal: -self.normal, on_a: self.on_b, on_b: self.on_a, ..self }
    }
}

fn earlier(best: Option<Meeting>, found: Option<Meeting>) -> Option<Meeting> {
    match (best, found) {
        (Some(best), Some(found)) => Some(if found.time < best.time { found } else { best }),
        (best, found) => best.or(found),
    }
}

/// Two convex cores in motion.
fn meet(
    a: &Rounded<'_>,
    a_course: &Course,
    b: &Rounded<'_>,
    b_course: &Course,
    gap: f64,
    until: f64,
) -> Option<Meeting> {
    let radii = a.radius + b.radius;
    let scale = a.core.size() + b.core.size() + radii;
    let (a_turn, b_turn) = (Turning::new(&a.core, a_course), Turning::new(&b.core, b_course));
    let fastest = a_turn.speed() + b_turn.speed();
    let approach = a_course.velocity - b_course.velocity;
    let origin = a_course.start().position;
    let at = |course: &Course, time: f64| {
        let pose = course.at(time);
        WidePose { position: pose.position - origin, rotation: pose.rotation }
    };
    let mut time = 0.0;
    let mut target = f64::INFINITY;
    for step in 0.. {
        let (a_pose, b_pose) = (at(a_course, time), at(b_course, time));
        let (first, second) = (a.core.place(&a_pose), b.core.place(&b_pose));
        let found = separation(&first, &second);
        let apart = found.certain - radii;
        let meeting = |normal: DVec3| Meeting {
            time,
            normal,
            on_a: origin + found.on_a + normal * a.radius,
            on_b: origin + found.on_b - normal * b.radius,
        };
        if apart <= 0.0 || found.certain == 0.0 {
            let normal = if found.certain > 0.0 { found.normal } else { penetration(&first, &second).1 };
            return Some(meeting(normal));
        }
        if step == 0 {
            target = gap.min(apart);
        }
        let spare = apart - target;
        let left = until - time;
        // How much nearer they can have come along the normal, after some time: convex, and nothing at first. So what
        // is not used up after a while was not used up before.
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
            return Some(meeting(found.normal));
        }
        // Positive, or nothing could have been used up.
        let mut safe = spare / speed;
        if fastest > 0.0 {
            // The fastest point need not be the one in front: halve towards the longest wait that is safe.
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

/// How a core turns: about which axis in the world, how fast, and how far from the axis it reaches.
struct Turning {
    spin: DVec3,
    reach: f64,
}

impl Turning {
    fn new(core: &Core<'_>, course: &Course) -> Turning {
        if course.turn == 0.0 {
            return Turning { spin: DVec3::ZERO, reach: 0.0 };
        }
        // The axis stands still in the world, and so it does for the core.
        let axis = course.start().rotation.conjugate() * course.axis;
        Turning { spin: course.axis * course.turn, reach: core.reach_from(axis) }
    }

    /// How fast any point of the core moves because it turns.
    fn speed(&self) -> f64 {
        self.spin.length() * self.reach
    }

    /// How much farther along `normal` the core may reach after turning about `pivot` for some time. Each point goes on
    /// as it does now, and bends off by half its acceleration at most.
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

/// The triangles of `mesh` that `body` may come closer to than `gap` on its way, in ascending order.
fn swept(body: &Body<'_>, course: &Course, mesh: &Body<'_>, mesh_course: &Course, gap: f64) -> Vec<u32> {
    let Body::Mesh(solid) = mesh else {
        return Vec::new();
    };
    // Whatever way it is turned, the body stays within this of its position.
    let (center, half) = body.bounds_in(&WidePose { position: DVec3::ZERO, rotation: space::DQuat::IDENTITY });
    let reach = (center.abs() + half).length() + body.radius() + gap;
    let turns = course.turn != 0.0 || mesh_course.turn != 0.0;
    // The mesh stands still in its own coordinates, so the path seen from there bends when the mesh turns. In pieces of
    // little turn it is nearly straight: it leaves its chord by no more than an eighth of its acceleration.
    let pieces = ((mesh_course.turn / 0.25).ceil() as usize).clamp(1, 16);
    let mut found = Vec::new();
    for piece in 0..pieces {
        let (from, to) = (piece as f64 / pieces as f64, (piece + 1) as f64 / pieces as f64);
        let ends = [from, to].map(|time| course.at(time).seen_from(&mesh_course.at(time)));
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
        if mesh_course.turn != 0.0 {
            let speed = (course.velocity - mesh_course.velocity).length();
            let far = ends[0].position.length().max(ends[1].position.length()) + speed * (to - from);
            let bend = mesh_course.turn * (mesh_course.turn * far + 2.0 * speed) * (to - from) * (to - from) / 8.0;
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

/// The deepest overlap of two bodies: how far and which way the second must be moved. `None` when they are apart.
pub(super) fn deepest(a: &Body<'_>, at: &WidePose, b: &Body<'_>, bt: &WidePose) -> Option<(f64, DVec3)> {
    let mut best: Option<(f64, DVec3)> = None;
    let radii = a.radius() + b.radius();
    let mut consider = |first: &Convex<'_>, second: &Convex<'_>, radii: f64| {
        let found = separation(first, second);
        let overlap = if found.distance > radii {
            None
        } else if found.distance > 0.0 {
            Some((radii - found.distance, found.normal))
        } else {
            let (depth, normal) = penetration(first, second);
            Some((radii + depth, normal))
        };
        if let Some((depth, normal)) = overlap
            && best.is_none_or(|(deepest, _)| depth > deepest)
        {
            best = Some((depth, normal));
        }
    };
    let still = |pose: &WidePose| Course::resting(*pose);
    match (a, b) {
        (Body::Convex(a), Body::Convex(b)) => consider(&a.core.place(at), &b.core.place(bt), radii),
        (Body::Mesh(mesh), Body::Convex(rounded)) => {
            for triangle in swept(b, &still(bt), a, &still(at), 0.0) {
                consider(&mesh.core(triangle).place(at), &rounded.core.place(bt), radii);
            }
        }
        (Body::Convex(rounded), Body::Mesh(mesh)) => {
            for triangle in swept(a, &still(at), b, &still(bt), 0.0) {
                consider(&rounded.core.place(at), &mesh.core(triangle).place(bt), radii);
            }
        }
        (Body::Mesh(mesh), Body::Mesh(other)) => {
            for triangle in swept(b, &still(bt), a, &still(at), 0.0) {
                let core = mesh.core(triangle);
                let corner = Body::Convex(Rounded { core, radius: 0.0 });
                for opposite in swept(&corner, &still(at), b, &still(bt), 0.0) {
                    consider(&core.place(at), &other.core(opposite).place(bt), radii);
                }
            }
        }
        (Body::Balls(set), Body::Balls(second)) => {
            let mut waiting = vec![(0, 0)];
            while let Some((one, other)) = waiting.pop() {
                let place =
                    |sphere: space::Sphere, pose: &WidePose| pose.position + pose.rotation * sphere.center.as_dvec3();
                let (around, beside) = (set.tree.wrapping(one), second.tree.wrapping(other));
                let apart = place(around, at).distance(place(beside, bt));
                if apart > f64::from(around.radius) + f64::from(beside.radius) + 1e-9 * apart {
                    continue;
                }
                match pairs_of(set, one, second, other) {
                    Some(pairs) => waiting.extend(pairs.rev()),
                    None => {
                        let balls = (Rounded::ball(set.tree.ball(one)), Rounded::ball(second.tree.ball(other)));
                        let radii = balls.0.radius + balls.1.radius;
                        consider(&balls.0.core.place(at), &balls.1.core.place(bt), radii);
                    }
                }
            }
        }
        (Body::Balls(set), other) => {
            for node in set.tree.ends(set.level) {
                let ball = Rounded::ball(set.tree.ball(node));
                match other {
                    Body::Convex(rounded) => {
                        let radii = ball.radius + rounded.radius;
                        consider(&ball.core.place(at), &rounded.core.place(bt), radii);
                    }
                    Body::Mesh(mesh) => {
                        for triangle in swept(&Body::Convex(ball), &still(at), other, &still(bt), 0.0) {
                            consider(&ball.core.place(at), &mesh.core(triangle).place(bt), ball.radius);
                        }
                    }
                    Body::Balls(_) => {}
                }
            }
        }
        (_, Body::Balls(_)) => {
            return deepest(b, bt, a, at).map(|(depth, normal)| (depth, -normal));
        }
    }
    best
}
