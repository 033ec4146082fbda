//! A moving sphere against an axis-aligned box: six faces in closed form, rounded edges and corners by safe steps.

use crate::DVec3;

use super::face::{self, Approach};
use super::{Advance, Ballistic, Impact, Probe, Touch};

/// How far a sphere of radius `r` at `pos` is from a box around the origin, and which way out is shortest.
///
/// The distance is negative inside. From the very middle the way out is along the first of the shortest axes.
pub fn separation(pos: DVec3, half: DVec3, r: f64) -> (f64, DVec3) {
    let outside = pos - pos.clamp(-half, half);
    let distance = outside.length();
    if distance > 0.0 {
        return (distance - r, outside / distance);
    }
    let depth = half - pos.abs();
    let axis = if depth.x <= depth.y && depth.x <= depth.z {
        DVec3::X
    } else if depth.y <= depth.z {
        DVec3::Y
    } else {
        DVec3::Z
    };
    (-depth.dot(axis) - r, axis * 1f64.copysign(pos.dot(axis)))
}

/// The first moment of the closed interval at which a sphere of radius `r`, moving relative to a box around the
/// origin, touches it while approaching.
pub fn contact(motion: Ballistic, half: DVec3, r: f64, from: f64, to: f64) -> Option<Touch> {
    let start = motion.position(from);
    let (gap, normal) = separation(start, half, r);
    if gap <= 0.0 && motion.velocity(from).dot(normal) < 0.0 {
        return Some(Touch { time: from, normal });
    }
    let flat = faces(motion, half, r, from, to);
    let until = flat.map_or(to, |touch| touch.time);
    if stays_over_one_face(motion, half, from, until) {
        return flat;
    }
    // No face may be touched before an edge or a corner is. Beyond `until` it no longer matters.
    let search = Advance { from, to: until, acceleration: motion.acc.length(), tolerance: 1e-9 * (1.0 + r) };
    match search.find(|t| probe(motion, half, r, t)) {
        Impact::At(time) if time < until => Some(Touch { time, normal: separation(motion.position(time), half, r).1 }),
        _ => flat,
    }
}

/// The gap between the sphere and the box at one moment.
fn probe(motion: Ballistic, half: DVec3, r: f64, t: f64) -> Probe {
    let (gap, normal) = separation(motion.position(t), half, r);
    Probe { gap, rate: motion.velocity(t).dot(normal) }
}

/// The first face that is touched at a point of its own, edges included.
fn faces(motion: Ballistic, half: DVec3, r: f64, from: f64, to: f64) -> Option<Touch> {
    let mut first: Option<Touch> = None;
    for axis in 0..3 {
        for side in [-1.0, 1.0] {
            let approach = Approach {
                gap: side * motion.pos[axis] - half[axis] - r,
                rate: side * motion.vel[axis],
                acceleration: side * motion.acc[axis],
            };
            // A sphere that is behind this face, inside the box or beyond it, meets another one first.
            if approach.gap + approach.rate * from + 0.5 * approach.acceleration * from * from < -r {
                continue;
            }
            let Some(time) = face::contact(approach, from, to) else { continue };
            let foot = motion.position(time);
            let is_on_face = (0..3).all(|other| other == axis || foot[other].abs() <= half[other]);
            if is_on_face && first.is_none_or(|first| time < first.time) {
                let mut normal = DVec3::ZERO;
                normal[axis] = side;
                first = Some(Touch { time, normal });
            }
        }
    }
    first
}

/// Whether the centre stays, for the whole interval, where the nearest point of the box can only be on a face.
fn stays_over_one_face(motion: Ballistic, half: DVec3, from: f64, to: f64) -> bool {
    let (low, high) = reach(motion, from, to);
    let within = |axis: usize| low[axis] >= -half[axis] && high[axis] <= half[axis];
    [within(0), within(1), within(2)].into_iter().filter(|&is_within| is_within).count() >= 2
}

/// A box around the path between two moments: the ends, and what an acceleration can bulge between them.
pub fn reach(motion: Ballistic, from: f64, to: f64) -> (DVec3, DVec3) {
    let (start, end) = (motion.position(from), motion.position(to));
    let span = to - from;
    let bulge = motion.acc.abs() * (0.125 * span * span);
    (start.min(end) - bulge, start.max(end) + bulge)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF: DVec3 = DVec3::new(1.0, 2.0, 3.0);

    fn uniform(pos: DVec3, vel: DVec3) -> Ballistic {
        Ballistic { pos, vel, acc: DVec3::ZERO }
    }

    #[test]
    fn faces_edges_and_corners() {
        let touch = contact(uniform(DVec3::new(5.0, 0.5, -1.0), -DVec3::X), HALF, 0.5, 0.0, 10.0).unwrap();
        assert_eq!((touch.time, touch.normal), (3.5, DVec3::X));

        // Beside the face by less than the radius: the edge is met later than the face would be.
        let touch = contact(uniform(DVec3::new(5.0, 2.3, 0.0), -DVec3::X), HALF, 0.5, 0.0, 10.0).unwrap();
        assert!((touch.time - 3.6).abs() < 1e-8, "{touch:?}");
        assert!((touch.normal - DVec3::new(0.8, 0.6, 0.0)).length() < 1e-7, "{touch:?}");

        let corner = DVec3::new(1.0, 2.0, 3.0);
        let way = DVec3::new(2.0, 1.0, 2.0) / 3.0;
        let touch = contact(uniform(corner + way * 4.0, -way), HALF, 0.5, 0.0, 10.0).unwrap();
        assert!((touch.time - 3.5).abs() < 1e-8, "{touch:?}");

        // Past the edge.
        assert_eq!(contact(uniform(DVec3::new(5.0, 2.6, 0.0), -DVec3::X), HALF, 0.5, 0.0, 10.0), None);
    }

    #[test]
    fn separation_points_the_shortest_way_out() {
        assert_eq!(separation(DVec3::new(3.0, 0.0, 0.0), HALF, 0.5), (1.5, DVec3::X));
        assert_eq!(separation(DVec3::new(-0.9, 0.0, 0.0), HALF, 0.5), (-0.6, -DVec3::X));
        assert_eq!(separation(DVec3::ZERO, HALF, 0.0).0, -1.0);
    }

    #[test]
    fn a_sphere_inside_may_leave() {
        assert_eq!(contact(uniform(DVec3::new(0.9, 0.0, 0.0), DVec3::X), HALF, 0.5, 0.0, 10.0), None);
        let deeper = contact(uniform(DVec3::new(0.9, 0.0, 0.0), -DVec3::X), HALF, 0.5, 0.0, 10.0).unwrap();
        assert_eq!((deeper.time, deeper.normal), (0.0, DVec3::X));
    }
}
