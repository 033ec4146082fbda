//! Continuous collision detection on the grid: how far a body can go, and what stops it.
//!
//! The time of first contact, in `f64`, gives the place where a motion ends, and that place is rounded to the grid.
//! Then integers, or for hulls and meshes the narrow phase, say whether the rounded place is free. It nearly always is,
//! as motions end before the contact; if it is not, the body stops earlier. The place where a motion starts is free, so
//! there is always an answer. By this induction nothing ever overlaps.

use shapes::Shape;
use space::{DVec3, ObjectId};

/// The obstacle of a motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Other {
    /// The bounds of the world, or a wall of space that another node decides about.
    Bounds,
    /// A fixed object, by index.
    Scenery(u32),
    /// An object that can move, by row.
    Object(u32),
    /// An object of another node, or space that is kept for it, by name.
    Beyond(ObjectId),
}

/// The contact that stops a motion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SweepHit {
    /// From 0 to 1 along the motion.
    pub time: f64,
    /// From the obstacle towards the body.
    pub normal: DVec3,
    pub other: Other,
}

/// The obstacles around a body at this moment, and sweeps of the body among them. Places are offsets from where the
/// body stands, in steps.
pub(super) trait Sweep {
    /// The first contact of a motion by `v` steps.
    fn first(&mut self, shapes: &[Shape], from: [i32; 3], v: DVec3) -> Option<SweepHit>;

    /// The number of the first obstacle that is too close to a place.
    fn violated(&self, shapes: &[Shape], offset: [i32; 3]) -> Option<usize>;

    /// From the box of an obstacle, before rounding, to a place: zero along the axes on which they meet.
    fn outside(&self, number: usize, offset: [i32; 3]) -> [i64; 3];

    /// Whether [`outside`](Sweep::outside) is exact, and not only of the box around a hull or a mesh.
    fn is_on_grid(&self, number: usize) -> bool;

    fn other(&self, number: usize) -> Other;

    /// The place nearest to `to` within the bounds, which contain `from`.
    fn within_bounds(&self, from: [i32; 3], to: [i32; 3]) -> [i32; 3];

    /// Moves as far as `v` steps, stopping at the first contact. The place it returns is free.
    fn advance(&mut self, shapes: &[Shape], from: [i32; 3], v: DVec3) -> ([i32; 3], Option<SweepHit>) {
        let hit = self.first(shapes, from, v);
        self.stop_at(shapes, from, v, hit)
    }

    /// The same, where the first contact is known.
    fn stop_at(
        &self,
        shapes: &[Shape],
        from: [i32; 3],
        v: DVec3,
        hit: Option<SweepHit>,
    ) -> ([i32; 3], Option<SweepHit>) {
        let mut time = hit.map_or(1.0, |hit| hit.time);
        let mut to = self.rounded(from, v * time);
        let Some(mut blocked) = self.violated(shapes, to) else { return (to, hit) };
        // Rounding brought it too close to an obstacle beside its way: try a step aside.
        let mut aside = to;
        for _ in 0..3 {
            let outside = self.outside(blocked, aside);
            let axis = (0..3).max_by_key(|&axis| outside[axis].abs()).expect("there are three");
            if !self.is_on_grid(blocked) || outside[axis] == 0 {
                break;
            }
            aside[axis] += outside[axis].signum() as i32;
            aside = self.within_bounds(from, aside);
            match self.violated(shapes, aside) {
                None => return (aside, hit),
                Some(next) => blocked = next,
            }
        }
        let normal = DVec3::from_array(self.outside(blocked, to).map(|steps| steps as f64));
        let normal = if normal == DVec3::ZERO { -v } else { normal }.normalize_or_zero();
        let hit = hit.unwrap_or(SweepHit { time, normal, other: self.other(blocked) });
        for _ in 0..8 {
            time *= 0.5;
            to = self.rounded(from, v * time);
            if self.violated(shapes, to).is_none() {
                return (to, Some(SweepHit { time, ..hit }));
            }
        }
        (from, Some(SweepHit { time: 0.0, ..hit }))
    }

    /// Moves by up to `v` steps and slides along the surfaces that it meets. `normal_of` may change a contact's normal.
    fn slide(
        &mut self,
        shapes: &[Shape],
        from: [i32; 3],
        v: DVec3,
        normal_of: impl Fn(DVec3) -> DVec3,
    ) -> ([i32; 3], Option<SweepHit>) {
        let first = self.first(shapes, from, v);
        self.slide_from(shapes, from, v, first, normal_of)
    }

    /// The same, where the first contact is known.
    fn slide_from(
        &mut self,
        shapes: &[Shape],
        from: [i32; 3],
        v: DVec3,
        mut known: Option<SweepHit>,
        normal_of: impl Fn(DVec3) -> DVec3,
    ) -> ([i32; 3], Option<SweepHit>) {
        let mut planes = [DVec3::ZERO; 3];
        let (mut place, mut rest, mut first) = (from, v, None);
        for turn in 0..4 {
            if turn > 0 {
                known = self.first(shapes, place, rest);
            }
            let (to, hit) = self.stop_at(shapes, place, rest, known);
            place = to;
            let Some(hit) = hit else { break };
            first = first.or(Some(hit));
            if turn == 3 {
                break;
            }
            planes[turn] = normal_of(hit.normal);
            rest *= 1.0 - hit.time;
            // Along the new surface, or along the edge between it and an earlier one.
            let mut along = without(rest, planes[turn]);
            for plane in 0..turn {
                if along.dot(planes[plane]) < -1e-9 {
                    let edge = planes[plane].cross(planes[turn]).normalize_or_zero();
                    along = edge * rest.dot(edge);
                }
            }
            let is_blocked = (0..=turn).any(|plane| along.dot(planes[plane]) < -1e-6 * (1.0 + along.length()));
            // A slide of less than half a step would be rounded away.
            if is_blocked || along.length_squared() < 0.25 || along.dot(v) <= 0.0 {
                break;
            }
            rest = along;
        }
        (place, first)
    }

    /// The place on the grid nearest to the end of a motion.
    fn rounded(&self, from: [i32; 3], v: DVec3) -> [i32; 3] {
        let to = [from[0] + nearest(v.x), from[1] + nearest(v.y), from[2] + nearest(v.z)];
        self.within_bounds(from, to)
    }
}

/// [`f64::round`], which is a function call on processors without an instruction for it.
#[inline]
pub(super) fn nearest(number: f64) -> i32 {
    let whole = number as i32;
    let rest = number - f64::from(whole);
    whole + i32::from(rest >= 0.5) - i32::from(rest <= -0.5)
}

fn without(v: DVec3, normal: DVec3) -> DVec3 {
    let into = v.dot(normal);
    if into < 0.0 { v - normal * into } else { v }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_whole_number_is_the_platforms() {
        let mut random = space::workload::Random::new(3);
        let halves = (-40..40).map(|number| f64::from(number) * 0.5);
        let beside = halves.clone().flat_map(|number| [number.next_up(), number.next_down()]);
        let any = std::iter::repeat_with(|| f64::from(random.between(-3e4, 3e4))).take(10_000);
        for number in halves.chain(beside).chain(any) {
            assert_eq!(nearest(number), number.round() as i32, "{number}");
        }
    }
}
