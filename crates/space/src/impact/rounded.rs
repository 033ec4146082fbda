//! A moving point against a rounded box: every upright solid against every other, in closed form.
//!
//! A sphere is a point with a radius, an upright capsule a vertical line with a radius, an axis-aligned box a box
//! without one. Two of them touch when the point between their centres touches the sum of both: a box of summed half
//! extents, rounded by summed radii. So one function answers all nine pairs of shapes, as long as none rotates.

use crate::DVec3;

use super::{Touch, spheres};

/// The distance from a point to a rounded box around the origin, negative inside, and the direction away from it.
pub fn separation(d: DVec3, half: DVec3, r: f64) -> (f64, DVec3) {
    super::boxes::separation(d, half, r)
}

/// The first moment of `0..=until` at which a point, `d + v t`, touches the box of half extents `half` around the
/// origin, rounded by `r`, while it approaches.
///
/// A point that is inside and goes deeper is in contact now; one that leaves is not: otherwise a blocked object could
/// never leave.
pub fn contact(d: DVec3, v: DVec3, half: DVec3, r: f64, until: f64) -> Option<Touch> {
    if half.x == 0.0 && half.z == 0.0 {
        return upright(d, v, half.y, r, until);
    }
    if let Some(verdict) = from_within(d, v, half, r) {
        return verdict;
    }
    let (entry, axis) = slab_entry(d, v, half + r)?;
    if entry > until {
        return None;
    }
    let at = d + v * entry;
    let outside = [at.x.abs() > half.x, at.y.abs() > half.y, at.z.abs() > half.z];
    let beyond = (0..3).filter(|&other| other != axis && outside[other]).count();
    if beyond == 0 {
        let mut normal = DVec3::ZERO;
        normal[axis] = -v[axis].signum();
        return Some(Touch { time: entry, normal });
    }
    // It passes the box's corner region: the edges that meet there decide, with their rounded ends.
    let corner = DVec3::new(half.x.copysign(at.x), half.y.copysign(at.y), half.z.copysign(at.z));
    let mut first: Option<Touch> = None;
    for along in 0..3 {
        // Where it enters beside one edge only, no other can be met before that one (both are convex together).
        if beyond == 1 && outside[along] {
            continue;
        }
        let found = edge(d, v, corner, along, half[along], r, until);
        if let Some(touch) = found
            && first.is_none_or(|first| touch.time < first.time)
        {
            first = found;
        }
    }
    first
}

/// The same against an upright capsule around the origin: the crowd's own question, so it has its own short way.
#[inline]
pub fn upright(d: DVec3, v: DVec3, half_height: f64, r: f64, until: f64) -> Option<Touch> {
    let half = DVec3::new(0.0, half_height, 0.0);
    if let Some(verdict) = from_within(d, v, half, r) {
        return verdict;
    }
    edge(d, v, half, 1, half_height, r, until)
}

/// The verdict where the point starts inside or on the surface.
#[inline]
fn from_within(d: DVec3, v: DVec3, half: DVec3, r: f64) -> Option<Option<Touch>> {
    let outside = d - d.clamp(-half, half);
    if outside.length_squared() > r * r {
        return None;
    }
    let (_, normal) = separation(d, half, r);
    Some((v.dot(normal) < 0.0).then_some(Touch { time: 0.0, normal }))
}

/// When a point enters a box around the origin, and through a face of which axis. It starts outside.
fn slab_entry(d: DVec3, v: DVec3, half: DVec3) -> Option<(f64, usize)> {
    let (mut enter, mut exit, mut axis) = (0.0, f64::INFINITY, 3);
    for index in 0..3 {
        if v[index] == 0.0 {
            if d[index].abs() > half[index] {
                return None;
            }
            continue;
        }
        let towards = v[index].signum();
        let near = (-towards * half[index] - d[index]) / v[index];
        let far = (towards * half[index] - d[index]) / v[index];
        if near > enter || axis == 3 && near >= enter {
            (enter, axis) = (near, index);
        }
        exit = exit.min(far);
    }
    if enter > exit {
        return None;
    }
    if axis == 3 {
        // It is inside the box and outside what is rounded: beside an edge or a corner, which the caller tries.
        axis = (0..3).max_by(|&one, &other| (d[one].abs() - half[one]).total_cmp(&(d[other].abs() - half[other])))?;
    }
    Some((enter, axis))
}

/// The first contact with one edge, a line along an axis through `corner`, rounded by `r` along its sides and at both
/// ends.
#[inline]
fn edge(d: DVec3, v: DVec3, corner: DVec3, along: usize, half_length: f64, r: f64, until: f64) -> Option<Touch> {
    let (one, other) = ((along + 1) % 3, (along + 2) % 3);
    let (dx, dy) = (d[one] - corner[one], d[other] - corner[other]);
    let (vx, vy) = (v[one], v[other]);
    let speed = vx * vx + vy * vy;
    let away = dx * dx + dy * dy - r * r;
    let mut time = 0.0;
    if away > 0.0 {
        let b = dx * vx + dy * vy;
        let cross = dx * vy - dy * vx;
        let discriminant = speed * (r * r) - cross * cross;
        if b >= 0.0 || discriminant.is_nan() || discriminant < 0.0 {
            return None;
        }
        time = away / (-b + discriminant.sqrt());
    }
    let height = d[along] + v[along] * time;
    if height.abs() <= half_length {
        if away <= 0.0 || time > until {
            return None;
        }
        let mut normal = DVec3::ZERO;
        normal[one] = dx + vx * time;
        normal[other] = dy + vy * time;
        return Some(Touch { time, normal: normal.normalize_or_zero() });
    }
    // It reaches the line's sides beyond an end: only that end's ball can be met.
    let mut end = corner;
    end[along] = half_length.copysign(height);
    let from = d - end;
    let time = spheres::contact(from, v, r)?;
    (time <= until).then(|| Touch { time, normal: (from + v * time).normalize_or_zero() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impact::{Ballistic, boxes};
    use proptest::prelude::*;

    #[test]
    fn capsules_meet_side_by_side_and_top_to_bottom() {
        let touch = upright(DVec3::new(3.0, 0.2, 0.0), DVec3::new(-4.0, 0.0, 0.0), 1.2, 0.6, 1.0).unwrap();
        assert_eq!((touch.time, touch.normal), (0.6, DVec3::X));
        let touch = upright(DVec3::new(0.0, 4.0, 0.0), DVec3::new(0.0, -4.0, 0.0), 1.2, 0.6, 1.0).unwrap();
        assert!((touch.time - 0.55).abs() < 1e-12 && touch.normal == DVec3::Y, "{touch:?}");
        assert_eq!(upright(DVec3::new(3.0, 0.2, 0.0), DVec3::new(-4.0, 0.0, 0.0), 1.2, 0.6, 0.5), None);
        assert_eq!(upright(DVec3::new(0.6, 0.0, 0.0), DVec3::new(1.0, 0.0, 0.0), 1.2, 0.6, 1.0), None);
    }

    #[test]
    fn sharp_boxes_touch_by_their_faces() {
        let touch = contact(DVec3::new(5.0, 1.0, 0.0), -DVec3::X * 8.0, DVec3::new(1.0, 2.0, 3.0), 0.0, 1.0).unwrap();
        assert_eq!((touch.time, touch.normal), (0.5, DVec3::X));
        // Along a face that is touched: nothing is in the way.
        assert_eq!(contact(DVec3::new(1.0, 0.0, 0.0), DVec3::Y * 9.0, DVec3::ONE, 0.0, 1.0), None);
        assert_eq!(contact(DVec3::new(1.0, 0.0, 0.0), -DVec3::X, DVec3::ONE, 0.0, 1.0).unwrap().time, 0.0);
    }

    fn axis() -> impl Strategy<Value = f64> {
        prop_oneof![Just(0.0), -4f64..4.0, (-4i32..=4).prop_map(f64::from)]
    }

    fn vector() -> impl Strategy<Value = DVec3> {
        (axis(), axis(), axis()).prop_map(|(x, y, z)| DVec3::new(x, y, z))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        /// The closed form against steps that cannot jump over a contact.
        #[test]
        fn contacts_are_where_small_steps_find_them(d in vector(), v in vector(), half in vector(), r in 0f64..1.5) {
            let half = half.abs() * 0.5;
            let (gap, _) = separation(d, half, r);
            prop_assume!(gap > 1e-6);
            let motion = Ballistic { pos: d, vel: v, acc: DVec3::ZERO };
            let slow = boxes::contact(motion, half, r, 0.0, 1.0);
            match contact(d, v, half, r, 1.0) {
                Some(touch) => {
                    let (gap, normal) = separation(d + v * touch.time, half, r);
                    prop_assert!(gap.abs() < 1e-7, "{touch:?} is {gap} away");
                    prop_assert!(r == 0.0 || (normal - touch.normal).length() < 1e-5, "{touch:?} {normal}");
                    // No earlier: the distance to something convex falls and then rises.
                    for part in 1..40 {
                        let earlier = touch.time * f64::from(part) / 40.0;
                        prop_assert!(separation(d + v * earlier, half, r).0 > -1e-9, "{touch:?} is late");
                    }
                }
                None => {
                    let least = (0..=400).map(|part| separation(d + v * (f64::from(part) / 400.0), half, r).0);
                    let least = least.fold(f64::INFINITY, f64::min);
                    prop_assert!(least > -1e-4, "lost, {least} deep; {slow:?}");
                    prop_assert!(slow.is_none_or(|slow| {
                        let (gap, normal) = separation(d + v * slow.time, half, r);
                        gap > -1e-6 && v.dot(normal) > -1e-2 || slow.time > 1.0 - 1e-6
                    }), "lost: {slow:?}");
                }
            }
        }
    }
}
