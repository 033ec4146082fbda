//! The ground of a world file as peers use it: level, with upright walls.
//!
//! Peers move balls of one size on the level ground, so contacts push them apart horizontally. All peers must compute
//! the same contacts to the bit, so every fixed object is a box along the axes: it is as wide as its bounding box and
//! reaches up to `HIGH`. Objects above the balls are left out.

use motion::CollisionScene;
use motion::scene::{SceneError, SceneObject, SceneShape};
use space::{DVec3, GridPoint, Quat, Time, Vec3};
use wire::scene::FixedObject;
use wire::session::Walking;
use world::{Kind, World};

use super::window::WindowSettings;
use server::shape_of;

/// The radius of every ball, in metres.
pub const RADIUS: f32 = 0.4;
/// The radius of a ball's area of interest, in metres.
pub const AURA: f32 = 20.0;
/// The height of walls, in metres.
const HIGH: f64 = 64.0;
/// Balls pass over objects that are no higher than this, in metres.
const LOW: f32 = 0.02;
/// The distance between places to begin at, in metres, and the most in a row.
const SPACING: f64 = 1.5;
const PLACES_MAX: usize = 64;
/// The distance of a place to begin at from walls, in metres.
const CLEARANCE: f64 = 0.3;

/// The level ground of a world.
#[derive(Clone, Debug)]
pub struct FlatGround {
    pub scene: CollisionScene,
    low: DVec3,
    high: DVec3,
    spawn: DVec3,
    solids: Vec<FixedObject>,
    walking: Walking,
    bounds: [GridPoint; 2],
}

impl FlatGround {
    /// The ground of a world with its fixed objects; movable ones are left out.
    pub fn new(world: &World) -> Result<FlatGround, SceneError> {
        let spec = world.spec();
        let (low, high) = (spec.low.as_dvec3(), spec.high.as_dvec3());
        let (middle, half, thick) = ((low + high) * 0.5, (high - low) * 0.5, 1.0);
        let mut objects = Vec::new();
        for (x, z) in [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)] {
            let size = DVec3::new(
                if x == 0.0 { half.x + 2.0 } else { thick },
                HIGH,
                if z == 0.0 { half.z + 2.0 } else { thick },
            );
            let place = DVec3::new(middle.x + x * (half.x + thick), low.y, middle.z + z * (half.z + thick));
            objects.push(SceneObject::standing(SceneShape::Cuboid(size), place));
        }
        let mut solids = Vec::new();
        for object in world.objects().filter(|object| object.kind == Kind::Fixed) {
            let solid =
                FixedObject { object: object.id, shape: shape_of(&object), place: object.at, turn: object.turn };
            let bounds = object.shape.bounds();
            let (center, size) =
                rotated((bounds.min + bounds.max) * 0.5, (bounds.max - bounds.min) * 0.5, object.turn.quat());
            let center = object.at.position() + center;
            let (bottom, top) = (center.y - size.y, center.y + size.y);
            if top > spec.low.y + LOW && bottom < spec.low.y + 2.0 * RADIUS {
                let place = DVec3::new(f64::from(center.x), low.y, f64::from(center.z));
                let size = DVec3::new(f64::from(size.x), HIGH, f64::from(size.z));
                objects.push(SceneObject::standing(SceneShape::Cuboid(size), place));
            }
            solids.push(solid);
        }
        let spawn = spec.spawns.first().map_or(middle, |spawn| spawn.as_dvec3());
        let walking = Walking {
            speed_max: spec.limits.speed,
            jump_speed: 0.0,
            // Pages walk only where there is gravity.
            gravity: if spec.gravity > 0.0 { spec.gravity } else { 9.81 },
            step_height: 0.0,
        };
        let bounds = [world.grid().low(), world.grid().high()];
        Ok(FlatGround { scene: CollisionScene::new(objects)?, low, high, spawn, solids, walking, bounds })
    }

    /// The settings of a page's window.
    pub fn window(&self, nickname: &str, tick_us: u32) -> WindowSettings {
        let FlatGround { bounds, ref solids, walking, .. } = *self;
        WindowSettings { bounds, solids: solids.clone(), walking, tick_us, nickname: nickname.to_owned() }
    }

    /// The highest speed of users, in metres per second.
    pub fn speed_max(&self) -> f64 {
        f64::from(self.walking.speed_max)
    }

    /// The centre of a ball that stands at a place.
    pub fn on(&self, place: DVec3) -> DVec3 {
        DVec3::new(place.x, self.low.y + f64::from(RADIUS), place.z)
    }

    /// A place to begin at: free of walls, as far from others as possible, up to ten metres, and then near the world
    /// file's first spawn. `None` if there is no free place.
    pub fn free_place(&self, others: &[DVec3]) -> Option<DVec3> {
        let extent = self.high - self.low;
        let count = |length: f64| ((length / SPACING) as usize).clamp(1, PLACES_MAX);
        let (columns, rows) = (count(extent.x), count(extent.z));
        let share = |at: usize, of: usize| (at as f64 + 0.5) / of as f64;
        let places = (0..columns)
            .flat_map(|x| (0..rows).map(move |z| (x, z)))
            .map(|(x, z)| self.on(self.low + DVec3::new(share(x, columns) * extent.x, 0.0, share(z, rows) * extent.z)));
        let free = places.filter(|&place| self.is_free(place));
        let rank = |place: DVec3| {
            let nearest = others.iter().map(|other| place.distance(*other)).fold(f64::INFINITY, f64::min);
            (nearest.min(10.0), -place.distance(self.on(self.spawn)))
        };
        free.max_by(|&one, &other| {
            let (one, other) = (rank(one), rank(other));
            one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1))
        })
    }

    fn is_free(&self, place: DVec3) -> bool {
        let reach = f64::from(RADIUS) + CLEARANCE;
        self.scene.objects().iter().all(|object| object.separation(Time::default(), place, reach).0 > 0.0)
    }
}

/// The box along the axes around a rotated box.
fn rotated(center: Vec3, half: Vec3, turn: Quat) -> (Vec3, Vec3) {
    let [x, y, z] = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| (turn * axis).abs());
    (turn * center, x * half.x + y * half.y + z * half.z)
}
