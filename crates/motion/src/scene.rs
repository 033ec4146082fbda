//! What every host knows exactly: things that stand, and things that move by a rule.

use space::impact::{Advance, Ballistic, Impact, Probe, Touch, accelerated, boxes};
use space::{DVec3, Time};

use crate::curve::Curve;

/// The shape of a scene object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// A ball of this radius.
    Ball(f64),
    /// A box along the world's axes, by its half extents.
    Cuboid(DVec3),
}

/// A thing whose place at any time is known everywhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SceneObject {
    /// Its shape.
    pub shape: Shape,
    /// Where its centre is at `epoch`.
    pub pos: DVec3,
    /// Its velocity, forever; zero for what stands.
    pub vel: DVec3,
    /// When it is at `pos`.
    pub epoch: Time,
}

impl SceneObject {
    /// A thing that stands.
    pub fn standing(shape: Shape, pos: DVec3) -> SceneObject {
        SceneObject { shape, pos, vel: DVec3::ZERO, epoch: Time::default() }
    }

    /// Where its centre is at a moment.
    pub fn position(&self, at: Time) -> DVec3 {
        if self.vel == DVec3::ZERO { self.pos } else { self.pos + self.vel * at.seconds_since(self.epoch) }
    }

    /// How far a ball is from it at a moment, negative inside, and which way out is shortest.
    pub fn separation(&self, at: Time, center: DVec3, radius: f64) -> (f64, DVec3) {
        self.shape.separation(center - self.position(at), radius)
    }

    /// The first contact of a ball on `curve`, which started at `start`, within the closed interval of seconds after
    /// that. What is not known to be a contact is none.
    pub fn contact(&self, start: Time, curve: &Curve, radius: f64, from: f64, to: f64) -> Option<Touch> {
        let origin = self.position(start);
        if let Curve::Ballistic(motion) = curve {
            let relative = Ballistic { pos: motion.pos - origin, vel: motion.vel - self.vel, acc: motion.acc };
            return match self.shape {
                Shape::Cuboid(half) => boxes::contact(relative, half, radius, from, to),
                Shape::Ball(size) => ball_contact(relative, radius + size, from, to),
            };
        }
        let search =
            Advance { from, to, acceleration: curve.acceleration_max(from, to), tolerance: 1e-9 * (1.0 + radius) };
        let found = search.find(|t| {
            let motion = curve.at(t);
            let (gap, normal) = self.shape.separation(motion.pos - origin - self.vel * t, radius);
            Probe { gap, rate: (motion.vel - self.vel).dot(normal) }
        });
        let Impact::At(time) = found else { return None };
        let place = curve.at(time).pos - origin - self.vel * time;
        Some(Touch { time, normal: self.shape.separation(place, radius).1 })
    }
}

impl Shape {
    fn separation(self, place: DVec3, radius: f64) -> (f64, DVec3) {
        match self {
            Shape::Cuboid(half) => boxes::separation(place, half, radius),
            Shape::Ball(size) => {
                let distance = place.length();
                let normal = if distance > 0.0 { place / distance } else { DVec3::Y };
                (distance - size - radius, normal)
            }
        }
    }

    fn half_extents(self) -> DVec3 {
        match self {
            Shape::Ball(radius) => DVec3::splat(radius),
            Shape::Cuboid(half) => half,
        }
    }
}

/// When a ball meets another of summed radius `r` at the origin, approaching.
fn ball_contact(motion: Ballistic, r: f64, from: f64, to: f64) -> Option<Touch> {
    let search = Advance { from, to, acceleration: motion.acc.length(), tolerance: 1e-9 * (1.0 + r) };
    let time = if motion.acc == DVec3::ZERO {
        // Closed form; a ball that overlaps is in contact only while it goes deeper.
        let passage = space::impact::spheres::passage(motion.pos, motion.vel, r)?;
        let time = passage.entry.max(from);
        let is_closing = motion.position(time).dot(motion.vel) < 0.0;
        (is_closing && time <= to && passage.exit >= from).then_some(time)?
    } else {
        match search.find(|t| accelerated::probe(motion, r, t)) {
            Impact::At(time) => time,
            _ => return None,
        }
    };
    Some(Touch { time, normal: motion.position(time).normalize_or(DVec3::Y) })
}

/// Why a scene cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SceneError {
    /// More objects than an index holds.
    #[error("{requested} scene objects requested, a scene holds at most {}", Scene::MAX_OBJECTS)]
    TooMany {
        /// How many there would have been.
        requested: usize,
    },
    /// More moving objects than are tested one by one.
    #[error("{requested} moving scene objects requested, a scene holds at most {}", Scene::MAX_MOVING)]
    TooManyMoving {
        /// How many there would have been.
        requested: usize,
    },
    /// A place, a size or a velocity that is not finite, or a size that is not positive.
    #[error("scene object {index} has a place, size or velocity that is no number, or a size below zero")]
    Nonsense {
        /// Which of the objects given.
        index: usize,
    },
}

/// All scene objects, with an index of those that stand.
#[derive(Clone, Debug)]
pub struct Scene {
    objects: Vec<SceneObject>,
    /// The box around each object that stands.
    boxes: Vec<(DVec3, DVec3)>,
    moving: Vec<u32>,
    low: DVec3,
    cell: f64,
    size: [usize; 3],
    /// For each cell where its list begins in `entries`; one more at the end.
    starts: Vec<u32>,
    entries: Vec<u32>,
}

impl Default for Scene {
    fn default() -> Scene {
        Scene::empty()
    }
}

impl Scene {
    /// Objects at most.
    pub const MAX_OBJECTS: usize = 1 << 20;
    /// Moving objects at most: they are tested one by one.
    pub const MAX_MOVING: usize = 1 << 10;
    /// Cells at most: the index stays within some megabytes.
    const CELLS_MAX: f64 = 262_144.0;

    /// Nothing at all.
    pub fn empty() -> Scene {
        Scene {
            objects: Vec::new(),
            boxes: Vec::new(),
            moving: Vec::new(),
            low: DVec3::ZERO,
            cell: 1.0,
            size: [0; 3],
            starts: vec![0],
            entries: Vec::new(),
        }
    }

    /// The scene of these objects.
    pub fn new(objects: Vec<SceneObject>) -> Result<Scene, SceneError> {
        if objects.len() > Self::MAX_OBJECTS {
            return Err(SceneError::TooMany { requested: objects.len() });
        }
        for (index, object) in objects.iter().enumerate() {
            let half = object.shape.half_extents();
            if !(object.pos.is_finite() && object.vel.is_finite() && half.is_finite() && half.min_element() >= 0.0) {
                return Err(SceneError::Nonsense { index });
            }
        }
        let is_moving = |index: &u32| objects[*index as usize].vel != DVec3::ZERO;
        let (moving, standing): (Vec<u32>, Vec<u32>) = (0..objects.len() as u32).partition(is_moving);
        if moving.len() > Self::MAX_MOVING {
            return Err(SceneError::TooManyMoving { requested: moving.len() });
        }
        let around = |object: &SceneObject| {
            let half = object.shape.half_extents();
            (object.pos - half, object.pos + half)
        };
        let boxes = objects.iter().map(around).collect();
        let mut scene = Scene { objects, boxes, moving, ..Scene::empty() };
        scene.index(&standing);
        Ok(scene)
    }

    /// The objects, in the order in which they were given.
    pub fn objects(&self) -> &[SceneObject] {
        &self.objects
    }

    /// Calls `visit` with the number of every object that may reach into the box, moving ones always; one that
    /// covers several cells is named several times.
    pub fn near(&self, low: DVec3, high: DVec3, mut visit: impl FnMut(usize)) {
        self.cells(low, high, |cell| {
            for &index in &self.entries[self.starts[cell] as usize..self.starts[cell + 1] as usize] {
                let (from, to) = self.boxes[index as usize];
                // Most of a cell's objects are elsewhere in it; this is cheaper than asking when they are touched.
                if from.cmple(high).all() && to.cmpge(low).all() {
                    visit(index as usize);
                }
            }
        });
        for &index in &self.moving {
            visit(index as usize);
        }
    }

    fn index(&mut self, standing: &[u32]) {
        let bounds = |index: u32| self.boxes[index as usize];
        let Some((mut low, mut high)) = standing.first().map(|&index| bounds(index)) else { return };
        for &index in standing {
            let (from, to) = bounds(index);
            (low, high) = (low.min(from), high.max(to));
        }
        let extent = (high - low).max(DVec3::splat(1e-3));
        // About eight cells per object, so that most are empty and most lists are short.
        let wanted = (8.0 * standing.len() as f64).clamp(1.0, Self::CELLS_MAX);
        let cell = libm::cbrt(extent.x * extent.y * extent.z / wanted).max(extent.max_element() / 1024.0);
        self.low = low;
        self.cell = cell;
        self.size = [0, 1, 2].map(|axis| (extent[axis] / cell) as usize + 1);
        let cells = self.size[0] * self.size[1] * self.size[2];
        let mut counts = vec![0u32; cells + 1];
        for &index in standing {
            let (from, to) = bounds(index);
            self.cells(from, to, |cell| counts[cell + 1] += 1);
        }
        for cell in 0..cells {
            counts[cell + 1] += counts[cell];
        }
        let mut entries = vec![0u32; counts[cells] as usize];
        let mut next = counts.clone();
        for &index in standing {
            let (from, to) = bounds(index);
            self.cells(from, to, |cell| {
                entries[next[cell] as usize] = index;
                next[cell] += 1;
            });
        }
        self.starts = counts;
        self.entries = entries;
    }

    /// Calls `visit` with every cell of the index that the box touches.
    fn cells(&self, low: DVec3, high: DVec3, mut visit: impl FnMut(usize)) {
        let mut from = [0; 3];
        let mut to = [0; 3];
        for axis in 0..3 {
            let (first, last) = ((low[axis] - self.low[axis]) / self.cell, (high[axis] - self.low[axis]) / self.cell);
            // Also leaves when a bound is NaN, or when there is no cell at all.
            if self.size[axis] == 0 || !(last >= 0.0 && first < self.size[axis] as f64) {
                return;
            }
            // Casts saturate: what is below the first cell is in the first one.
            from[axis] = first as usize;
            to[axis] = (last as usize).min(self.size[axis] - 1);
        }
        for z in from[2]..=to[2] {
            for y in from[1]..=to[1] {
                for x in from[0]..=to[0] {
                    visit((z * self.size[1] + y) * self.size[0] + x);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::workload::Random;

    #[test]
    fn the_index_names_everything_that_is_near() {
        for seed in 0..20 {
            let mut random = Random::new(seed);
            let objects: Vec<SceneObject> = (0..200)
                .map(|_| {
                    let half = random.point(3.0).as_dvec3();
                    SceneObject::standing(Shape::Cuboid(half), random.point(100.0).as_dvec3())
                })
                .collect();
            let scene = Scene::new(objects).unwrap();
            for _ in 0..50 {
                let low = random.point(120.0).as_dvec3() - 10.0;
                let high = low + random.point(10.0).as_dvec3();
                let mut named = Vec::new();
                scene.near(low, high, |index| named.push(index));
                for (index, object) in scene.objects().iter().enumerate() {
                    let half = object.shape.half_extents();
                    let apart = (object.pos - half).cmpgt(high).any() || (object.pos + half).cmplt(low).any();
                    assert!(apart || named.contains(&index), "seed {seed}: object {index} is not named");
                }
            }
        }
    }

    #[test]
    fn nonsense_is_refused_by_number() {
        let wall = SceneObject::standing(Shape::Ball(1.0), DVec3::ZERO);
        let broken = SceneObject::standing(Shape::Ball(f64::NAN), DVec3::ZERO);
        assert_eq!(Scene::new(vec![wall, broken]).unwrap_err(), SceneError::Nonsense { index: 1 });
        Scene::empty().near(DVec3::splat(-1e9), DVec3::splat(1e9), |index| panic!("object {index} of an empty scene"));
    }
}
