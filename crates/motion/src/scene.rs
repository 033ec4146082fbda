//! The scene: obstacles that every host knows exactly, at rest or in uniform motion.
//!
//! Objects at rest are in a uniform grid; moving ones are few and are tested one by one.

use space::impact::{Advance, Ballistic, Impact, Probe, Touch, accelerated, boxes};
use space::{Buckets, DVec3, Time};

use crate::curve::Curve;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SceneShape {
    /// By its radius.
    Ball(f64),
    /// A box along the axes of the world, by its half extents.
    Cuboid(DVec3),
}

/// An obstacle whose position at any time every host knows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SceneObject {
    pub shape: SceneShape,
    /// The position of its centre at `epoch`.
    pub pos: DVec3,
    /// Its constant velocity.
    pub vel: DVec3,
    pub epoch: Time,
}

impl SceneObject {
    pub fn standing(shape: SceneShape, pos: DVec3) -> SceneObject {
        SceneObject { shape, pos, vel: DVec3::ZERO, epoch: Time::default() }
    }

    /// The position of its centre at a moment.
    pub fn position(&self, at: Time) -> DVec3 {
        if self.vel == DVec3::ZERO { self.pos } else { self.pos + self.vel * at.seconds_since(self.epoch) }
    }

    /// The distance of a ball at a moment, negative if they overlap, and the direction of the shortest way out.
    pub fn separation(&self, at: Time, center: DVec3, radius: f64) -> (f64, DVec3) {
        self.shape.separation(center - self.position(at), radius)
    }

    /// The first contact with a ball on `curve`, which starts at `start`, between `from` and `to` seconds after that.
    /// `None` also if the search ends without certainty.
    pub fn contact(&self, start: Time, curve: &Curve, radius: f64, from: f64, to: f64) -> Option<Touch> {
        let origin = self.position(start);
        if let Curve::Ballistic(motion) = curve {
            let relative = Ballistic { pos: motion.pos - origin, vel: motion.vel - self.vel, acc: motion.acc };
            return match self.shape {
                SceneShape::Cuboid(half) => boxes::contact(relative, half, radius, from, to),
                SceneShape::Ball(size) => ball_contact(relative, radius + size, from, to),
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

impl SceneShape {
    fn separation(self, place: DVec3, radius: f64) -> (f64, DVec3) {
        match self {
            SceneShape::Cuboid(half) => boxes::separation(place, half, radius),
            SceneShape::Ball(size) => {
                let distance = place.length();
                let normal = if distance > 0.0 { place / distance } else { DVec3::Y };
                (distance - size - radius, normal)
            }
        }
    }

    fn half_extents(self) -> DVec3 {
        match self {
            SceneShape::Ball(radius) => DVec3::splat(radius),
            SceneShape::Cuboid(half) => half,
        }
    }
}

/// The first contact with a ball at the origin, of summed radius `r`.
fn ball_contact(motion: Ballistic, r: f64, from: f64, to: f64) -> Option<Touch> {
    let search = Advance { from, to, acceleration: motion.acc.length(), tolerance: 1e-9 * (1.0 + r) };
    let time = if motion.acc == DVec3::ZERO {
        // A ball that overlaps is in contact only while it goes deeper.
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
    /// More than [`CollisionScene::MAX_OBJECTS`].
    #[error("{requested} scene objects requested, a scene holds at most {}", CollisionScene::MAX_OBJECTS)]
    TooMany {
        /// How many there would have been.
        requested: usize,
    },
    /// More than [`CollisionScene::MAX_MOVING`].
    #[error("{requested} moving scene objects requested, a scene holds at most {}", CollisionScene::MAX_MOVING)]
    TooManyMoving {
        /// How many there would have been.
        requested: usize,
    },
    /// A number that is not finite, or a negative size.
    #[error("scene object {index} has a position, size or velocity that is not finite, or a negative size")]
    Nonsense { index: usize },
}

/// All scene objects, with a uniform grid of those at rest.
#[derive(Clone, Debug)]
pub struct CollisionScene {
    objects: Vec<SceneObject>,
    /// The box around each object at its `epoch`.
    boxes: Vec<(DVec3, DVec3)>,
    moving: Vec<u32>,
    low: DVec3,
    cell: f64,
    size: [usize; 3],
    cells: Buckets<u32>,
}

impl Default for CollisionScene {
    fn default() -> CollisionScene {
        CollisionScene::empty()
    }
}

impl CollisionScene {
    pub const MAX_OBJECTS: usize = 1 << 20;
    /// They are tested one by one.
    pub const MAX_MOVING: usize = 1 << 10;
    /// So the grid takes some megabytes at most.
    const CELLS_MAX: f64 = 262_144.0;

    /// A scene without objects.
    pub fn empty() -> CollisionScene {
        CollisionScene {
            objects: Vec::new(),
            boxes: Vec::new(),
            moving: Vec::new(),
            low: DVec3::ZERO,
            cell: 1.0,
            size: [0; 3],
            cells: Buckets::default(),
        }
    }

    pub fn new(objects: Vec<SceneObject>) -> Result<CollisionScene, SceneError> {
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
        let mut scene = CollisionScene { objects, boxes, moving, ..CollisionScene::empty() };
        scene.index(&standing);
        Ok(scene)
    }

    /// The objects, in the order in which they were given.
    pub fn objects(&self) -> &[SceneObject] {
        &self.objects
    }

    /// Calls `visit` with the index of every object that may overlap the box, and of all moving ones. An object in
    /// several cells is visited several times.
    pub fn near(&self, low: DVec3, high: DVec3, mut visit: impl FnMut(usize)) {
        for &index in self.cells_of(low, high).flat_map(|cell| self.cells.get(cell)) {
            let (from, to) = self.boxes[index as usize];
            // Cheaper than a search for a contact with each object of a cell.
            if from.cmple(high).all() && to.cmpge(low).all() {
                visit(index as usize);
            }
        }
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
        // About eight cells per object, so most cells are empty.
        let wanted = (8.0 * standing.len() as f64).clamp(1.0, Self::CELLS_MAX);
        let cell = libm::cbrt(extent.x * extent.y * extent.z / wanted).max(extent.max_element() / 1024.0);
        self.low = low;
        self.cell = cell;
        self.size = [0, 1, 2].map(|axis| (extent[axis] / cell) as usize + 1);
        let mut cells = std::mem::take(&mut self.cells);
        let entries = standing.iter().flat_map(|&index| {
            let (from, to) = bounds(index);
            self.cells_of(from, to).map(move |cell| (cell, index))
        });
        cells.fill(self.size[0] * self.size[1] * self.size[2], entries);
        self.cells = cells;
    }

    /// The cells that a box touches.
    fn cells_of(&self, low: DVec3, high: DVec3) -> impl Iterator<Item = usize> + Clone + use<> {
        let (mut from, mut end) = ([0; 3], [0; 3]);
        for axis in 0..3 {
            let (first, last) = ((low[axis] - self.low[axis]) / self.cell, (high[axis] - self.low[axis]) / self.cell);
            // Also false if a bound is NaN: the range is empty then.
            if self.size[axis] > 0 && last >= 0.0 && first < self.size[axis] as f64 {
                // Casts saturate: what is below the first cell is in the first one.
                (from[axis], end[axis]) = (first as usize, (last as usize).min(self.size[axis] - 1) + 1);
            }
        }
        let [width, height, _] = self.size;
        (from[2]..end[2]).flat_map(move |z| {
            (from[1]..end[1]).flat_map(move |y| (from[0]..end[0]).map(move |x| (z * height + y) * width + x))
        })
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
                    SceneObject::standing(SceneShape::Cuboid(half), random.point(100.0).as_dvec3())
                })
                .collect();
            let scene = CollisionScene::new(objects).unwrap();
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
        let wall = SceneObject::standing(SceneShape::Ball(1.0), DVec3::ZERO);
        let broken = SceneObject::standing(SceneShape::Ball(f64::NAN), DVec3::ZERO);
        assert_eq!(CollisionScene::new(vec![wall, broken]).unwrap_err(), SceneError::Nonsense { index: 1 });
        CollisionScene::empty()
            .near(DVec3::splat(-1e9), DVec3::splat(1e9), |index| panic!("object {index} of an empty scene"));
    }
}
