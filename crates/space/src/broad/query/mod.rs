//! Spatial queries: the objects within a sphere or a box, the first on a ray or in the path of a sphere, the nearest.
//!
//! [`Finder`] keeps a tree of cubes over the objects and answers from it. Each answer is defined by a test of one
//! object, and equals that of a loop over all objects; the tree only spares most of the tests. It rules objects out
//! with a margin for the rounding of the test.

mod tree;

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::{DVec3, Vec3};

use crate::impact::spheres::contact;
use crate::{Edition, Slot, Sphere, Spheres};
use tree::{Cube, Entry, Tree};

/// Answers questions about places, as the world was at the last [`update`](Finder::update).
///
/// ```
/// use kinesphere_space::broad::Finder;
/// use kinesphere_space::{Sphere, Spheres, Vec3};
///
/// let mut spheres = Spheres::new();
/// let ann = spheres.insert(Sphere::new(Vec3::new(0.0, 0.0, 0.0), 1.0))?;
/// let bob = spheres.insert(Sphere::new(Vec3::new(5.0, 0.0, 0.0), 1.0))?;
/// let mut finder = Finder::new();
/// finder.update(&spheres);
///
/// let mut found = Vec::new();
/// finder.within_sphere(Sphere::new(Vec3::new(2.0, 0.0, 0.0), 1.5), &mut found);
/// assert_eq!(found, [ann]);
/// let hit = finder.first_on_ray(Vec3::new(9.0, 0.0, 0.0), Vec3::new(-9.0, 0.0, 0.0)).unwrap();
/// assert_eq!((hit.slot, (hit.time * 9.0).round()), (bob, 3.0));
/// let nearest = finder.nearest(Vec3::new(3.0, 0.0, 0.0), 1);
/// assert_eq!((nearest[0].slot, nearest[0].distance), (bob, 1.0));
/// # Ok::<(), kinesphere_space::SpheresError>(())
/// ```
#[derive(Debug, Default)]
pub struct Finder {
    tree: Tree,
    /// Which state of which world the tree holds.
    seen: Option<Edition>,
}

/// The object that a ray or a moving sphere meets first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    pub slot: Slot,
    /// When, from 0 at the start of the motion to 1 at its end.
    pub time: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    pub slot: Slot,
    /// From the point to the object's sphere, in metres; zero inside.
    pub distance: f64,
}

impl Finder {
    pub fn new() -> Finder {
        Finder::default()
    }

    /// Takes in the world as it is now. The cost follows what moved, when it saw the same world before, in this tick or
    /// in the one before; otherwise it follows the number of objects.
    pub fn update(&mut self, spheres: &Spheres) {
        let now = spheres.edition();
        let follows = self.seen.is_some_and(|seen| now.is_of_the_same_tick_as(seen) || now.is_next_after(seen));
        if self.seen == Some(now) {
            return;
        }
        if !follows {
            self.tree.clear();
        }
        self.seen = Some(now);
        self.tree.make_room(spheres.rows());
        let columns = spheres.columns();
        let entry = |row: usize| {
            let place = [columns.x[row], columns.y[row], columns.z[row]];
            Entry { center: Vec3::from_array(place), radius: columns.radius[row], row: row as u32 }
        };
        let is_alive = |row: usize| spheres.alive().contains(row);
        if !follows {
            spheres.alive().iter().for_each(|row| self.tree.set(entry(row), true));
        } else if spheres.moved().count() < self.tree.len() / 4 {
            spheres.moved().iter().for_each(|row| self.tree.set(entry(row), is_alive(row)));
        } else {
            let leaving = self.tree.refresh(|row| is_alive(row as usize).then(|| entry(row as usize)));
            leaving.into_iter().for_each(|row| self.tree.set(entry(row as usize), is_alive(row as usize)));
            for &slot in spheres.reshaped() {
                self.tree.set(entry(slot.row()), is_alive(slot.row()));
            }
        }
    }

    /// Replaces `found` by the objects that overlap `sphere` ([`Sphere::overlaps`]), ascending; by none if its radius
    /// is negative or NaN, or its centre is not finite.
    pub fn within_sphere(&self, sphere: Sphere, found: &mut Vec<Slot>) {
        found.clear();
        if !sphere.center.is_finite() || sphere.radius.is_nan() || sphere.radius < 0.0 {
            return;
        }
        let (center, radius) = (sphere.center.as_dvec3(), sphere.radius as f64);
        self.tree.visit(
            |cube| cube.distance_to(center) <= outward(radius + cube.widest),
            |entry| {
                if sphere.overlaps(entry.sphere()) {
                    found.push(Slot::new(entry.row));
                }
            },
        );
        found.sort_unstable();
    }

    /// Replaces `found` by the objects whose centre is in the box from `min` to `max`, its surface included, or whose
    /// sphere reaches into it, ascending.
    pub fn within_box(&self, min: Vec3, max: Vec3, found: &mut Vec<Slot>) {
        found.clear();
        if min.is_nan() || max.is_nan() || !min.cmple(max).all() {
            return;
        }
        let (low, high) = (min.as_dvec3(), max.as_dvec3());
        self.tree.visit(
            |cube| cube.distance_to_box(low, high) <= outward(cube.widest),
            |entry| {
                if reaches_into(entry.sphere(), min, max) {
                    found.push(Slot::new(entry.row));
                }
            },
        );
        found.sort_unstable();
    }

    /// The first object on the ray from `origin` to `origin + motion`; of several at once, the one with the lowest
    /// slot. An object around the origin is met at time 0. A ray passes points, as they have no surface.
    pub fn first_on_ray(&self, origin: Vec3, motion: Vec3) -> Option<Hit> {
        self.first_of_motion(Sphere::new(origin, 0.0), motion)
    }

    /// The first object that a sphere touches while it moves by `motion` ([`contact`]). An object that overlaps it at
    /// the start is met at time 0; one that only touches it and is left behind is not met. Of several at once, the one
    /// with the lowest slot.
    pub fn first_of_motion(&self, sphere: Sphere, motion: Vec3) -> Option<Hit> {
        if !sphere.center.is_finite() || !motion.is_finite() || !sphere.radius.is_finite() || sphere.radius < 0.0 {
            return None;
        }
        let (origin, way) = (sphere.center.as_dvec3(), motion.as_dvec3());
        let radius = sphere.radius as f64;
        let mut best: Option<Hit> = None;
        self.tree.visit_in_order(
            |cube| cube.entered_by(origin, way, radius),
            |entry| {
                let met = contact(entry.center.as_dvec3() - origin, -way, radius + entry.radius as f64);
                if let Some(time) = met
                    && time <= 1.0
                {
                    let hit = Hit { slot: Slot::new(entry.row), time };
                    if best.is_none_or(|best| (time, hit.slot) < (best.time, best.slot)) {
                        best = Some(hit);
                    }
                }
                best.map_or(1.0, |best| best.time)
            },
        );
        best
    }

    /// The `count` objects nearest to `point`, nearest first; of several equally near, lower slots first.
    pub fn nearest(&self, point: Vec3, count: usize) -> Vec<Neighbour> {
        if !point.is_finite() || count == 0 {
            return Vec::new();
        }
        let from = point.as_dvec3();
        let mut best: BinaryHeap<ByDistance> = BinaryHeap::new();
        self.tree.visit_in_order(
            |cube| Some((cube.distance_to(from) - outward(cube.widest)).max(0.0)),
            |entry| {
                let distance = (entry.center.as_dvec3().distance(from) - entry.radius as f64).max(0.0);
                let neighbour = ByDistance(Neighbour { slot: Slot::new(entry.row), distance });
                if best.len() < count {
                    best.push(neighbour);
                } else if best.peek().is_some_and(|farthest| neighbour < *farthest) {
                    best.pop();
                    best.push(neighbour);
                }
                if best.len() < count { f64::INFINITY } else { best.peek().map_or(f64::INFINITY, |far| far.0.distance) }
            },
        );
        best.into_sorted_vec().into_iter().map(|ByDistance(neighbour)| neighbour).collect()
    }

    pub fn len(&self) -> usize {
        self.tree.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Checks everything that must hold of the tree.
    #[doc(hidden)]
    pub fn assert_well_formed(&self) {
        self.tree.assert_well_formed();
    }
}

/// Whether the centre is in the box, or the sphere shares more than a point of its surface with it.
fn reaches_into(sphere: Sphere, min: Vec3, max: Vec3) -> bool {
    let beyond = sphere.center - sphere.center.clamp(min, max);
    beyond == Vec3::ZERO
        || beyond.x * beyond.x + beyond.y * beyond.y + beyond.z * beyond.z < sphere.radius * sphere.radius
}

/// An upper bound of the reach that an `f32` test computes with: each operation is off by at most a part in sixteen
/// million, or, where squares underflow, by far less than 1e-20 m.
fn outward(reach: f64) -> f64 {
    reach * (1.0 + 1e-6) + 1e-20
}

impl Cube {
    /// A lower bound of the distance: the rounding of the subtractions is taken off.
    fn distance_to(&self, point: DVec3) -> f64 {
        self.distance_to_box(point, point)
    }

    /// No more than the distance.
    fn distance_to_box(&self, low: DVec3, high: DVec3) -> f64 {
        let beyond = (low - self.center).max(self.center - high) - self.half;
        let rounding = 1e-15 * (beyond.abs().max_element() + self.center.abs().max_element() + self.half);
        (beyond - rounding).max(DVec3::ZERO).length()
    }

    /// The time at which a moving sphere first reaches an object that may be in this cube, or a little earlier. `None`
    /// if it never does.
    fn entered_by(&self, origin: DVec3, motion: DVec3, radius: f64) -> Option<f64> {
        let from = origin - self.center;
        let scale = from.abs().max_element() + motion.abs().max_element() + self.half + self.widest + radius;
        let reach = self.half + self.widest + radius + 1e-9 * scale;
        let (mut entry, mut exit) = (0.0f64, 1.0f64);
        for axis in 0..3 {
            if motion[axis] == 0.0 {
                if from[axis].abs() > reach {
                    return None;
                }
                continue;
            }
            let (first, second) = ((-reach - from[axis]) / motion[axis], (reach - from[axis]) / motion[axis]);
            entry = entry.max(first.min(second));
            exit = exit.min(first.max(second));
        }
        (entry <= exit).then_some(entry - 1e-9)
    }
}

/// Ordered by distance, then by slot.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ByDistance(Neighbour);

impl Eq for ByDistance {}

impl Ord for ByDistance {
    fn cmp(&self, other: &ByDistance) -> Ordering {
        self.0.distance.total_cmp(&other.0.distance).then(self.0.slot.cmp(&other.0.slot))
    }
}

impl PartialOrd for ByDistance {
    fn partial_cmp(&self, other: &ByDistance) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
