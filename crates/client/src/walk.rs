//! How a client moves its own avatar before the server has answered: as the server does, where only the fixed objects
//! matter. Other objects in the way are left to the server, and corrected later.

use space::impact::rounded;
use space::{DVec3, GridPoint, Vec3, snap};
use wire::CollisionShape;
use wire::scene::FixedObject;
use wire::session::Walking;

/// A wall is approached to this distance, in metres: the world's skin.
const SKIN: f64 = 3.0 / 1_024.0;
/// Directions that one step follows: along a wall, and along the next.
const SLIDES_MAX: usize = 3;

/// A walker's state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Walker {
    pub pos: DVec3,
    /// Metres per second; upwards is positive.
    pub vertical: f64,
    pub is_grounded: bool,
    /// Where the server said that it stands, perhaps on something that the client does not know as ground. It does not
    /// fall from there before it has walked away.
    pub support: Option<DVec3>,
}

impl Walker {
    /// A walker that the server has confirmed to stand.
    pub fn standing(pos: DVec3) -> Walker {
        Walker { pos, vertical: 0.0, is_grounded: true, support: Some(pos) }
    }
}

/// How far a walker goes before it can fall from what only the server knows, in metres.
const SUPPORT_REACH: f64 = 0.4;

/// What one walker knows of a world's fixed part.
#[derive(Clone, Debug, Default)]
pub struct Ground {
    walking: Walking,
    /// Obstacles grown by the walker's size, so the walker is a point (a Minkowski sum).
    obstacles: Vec<Obstacle>,
    low: DVec3,
    high: DVec3,
}

#[derive(Clone, Copy, Debug)]
struct Obstacle {
    pos: DVec3,
    half: DVec3,
    radius: f64,
}

impl Ground {
    /// The part of a world for a walker of this shape, an upright capsule or a ball.
    pub fn new(walking: Walking, bounds: [GridPoint; 2], shape: &CollisionShape) -> Ground {
        let (half_height, radius) = upright(shape);
        let [low, high] = bounds.map(|corner| corner.position().as_dvec3());
        let body = DVec3::new(radius, radius + half_height, radius);
        Ground { walking, obstacles: Vec::new(), low: low + body, high: high - body }
    }

    /// Adds a fixed object. A turned box or a model is taken for the ball or upright cylinder inside it: a client must
    /// not feel walls where there are none.
    pub fn add(&mut self, solid: &FixedObject, shape: &CollisionShape) {
        let (half_height, radius) = upright(shape);
        let is_turned = solid.turn != space::Turn::IDENTITY;
        let (half, own) = match &solid.shape {
            CollisionShape::Sphere { radius } => (DVec3::ZERO, f64::from(*radius)),
            CollisionShape::Capsule { half_height, radius } if !is_turned => {
                (DVec3::new(0.0, f64::from(*half_height), 0.0), f64::from(*radius))
            }
            CollisionShape::Box { half } if !is_turned => (Vec3::from_array(*half).as_dvec3(), 0.0),
            CollisionShape::Box { half } => (DVec3::ZERO, f64::from(Vec3::from_array(*half).min_element())),
            CollisionShape::Capsule { radius, .. } => (DVec3::ZERO, f64::from(*radius)),
            CollisionShape::Model { .. } => return,
        };
        let half = half + DVec3::new(0.0, half_height, 0.0);
        self.obstacles.push(Obstacle { pos: solid.place.position().as_dvec3(), half, radius: own + radius });
    }

    pub fn walking(&self) -> &Walking {
        &self.walking
    }

    /// A walker after one step of this length, with this wish.
    pub fn step(&self, walker: Walker, wish: DVec3, is_jump: bool, seconds: f64) -> Walker {
        let speed_max = f64::from(self.walking.speed_max);
        let wish = if wish.length() > speed_max { wish.normalize_or_zero() * speed_max } else { wish };
        let gravity = f64::from(self.walking.gravity);
        if gravity == 0.0 {
            let pos = self.slide(walker.pos, wish * seconds);
            return Walker { pos, vertical: 0.0, is_grounded: false, support: None };
        }
        let level = DVec3::new(wish.x, 0.0, wish.z) * seconds;
        let mut vertical = walker.vertical;
        if is_jump && walker.is_grounded {
            vertical = f64::from(self.walking.jump_speed);
        }
        // Up a step: lift the path, move, lower; kept only if it gets farther.
        let straight = self.slide(walker.pos, level);
        let mut pos = straight;
        let is_short = (straight - walker.pos - level).length() > 1e-6;
        if walker.is_grounded && is_short && vertical <= 0.0 {
            let lift = DVec3::new(0.0, f64::from(self.walking.step_height), 0.0);
            let lifted = self.advance(walker.pos, lift);
            let across = self.slide(lifted, level);
            let lowered = self.advance(across, -lift);
            if level.dot(lowered - walker.pos) > level.dot(straight - walker.pos) + 1e-9 {
                pos = lowered;
            }
        }
        vertical -= gravity * seconds;
        let fall = DVec3::new(0.0, vertical * seconds, 0.0);
        let mut landed = self.advance(pos, fall);
        let support = walker.support.filter(|support| {
            let away = pos - *support;
            away.x * away.x + away.z * away.z < SUPPORT_REACH * SUPPORT_REACH
        });
        if let Some(support) = support.filter(|support| pos.y >= support.y) {
            landed.y = landed.y.max(support.y);
        }
        let is_stopped = (landed.y - pos.y - fall.y).abs() > 1e-9;
        let is_grounded = is_stopped && vertical < 0.0;
        Walker { pos: landed, vertical: if is_stopped { 0.0 } else { vertical }, is_grounded, support }
    }

    /// Moves along a way, and along the surfaces that it meets.
    fn slide(&self, from: DVec3, way: DVec3) -> DVec3 {
        let (mut pos, mut way) = (from, way);
        for _ in 0..SLIDES_MAX {
            let Some((time, normal)) = self.first_contact(pos, way) else { return self.within(pos + way) };
            pos += way * time;
            let left = way * (1.0 - time);
            way = left - normal * left.dot(normal).min(0.0);
            way.y = if from.y == pos.y { 0.0 } else { way.y };
        }
        self.within(pos)
    }

    /// Moves along a way, up to the first surface.
    fn advance(&self, from: DVec3, way: DVec3) -> DVec3 {
        let time = self.first_contact(from, way).map_or(1.0, |(time, _)| time);
        self.within(from + way * time)
    }

    /// The share of a way up to the first surface, and its normal.
    fn first_contact(&self, from: DVec3, way: DVec3) -> Option<(f64, DVec3)> {
        let length = way.length();
        if length < 1e-12 {
            return None;
        }
        let mut first: Option<(f64, DVec3)> = None;
        for obstacle in &self.obstacles {
            let d = from - obstacle.pos;
            let reach = obstacle.half + (obstacle.radius + length);
            if d.x.abs() > reach.x || d.y.abs() > reach.y || d.z.abs() > reach.z {
                continue;
            }
            let touch = rounded::contact(d, way, obstacle.half, obstacle.radius, 1.0);
            if let Some(touch) = touch.filter(|touch| first.is_none_or(|(time, _)| touch.time < time)) {
                first = Some((touch.time, touch.normal));
            }
        }
        // The skin, along the way: less of it where the surface is met at a slant, none where it is only grazed.
        first.map(|(time, normal)| {
            let into = -way.dot(normal) / length;
            ((time - SKIN / (length * into.max(0.1))).max(0.0), normal)
        })
    }

    fn within(&self, pos: DVec3) -> DVec3 {
        pos.max(self.low).min(self.high.max(self.low))
    }
}

fn upright(shape: &CollisionShape) -> (f64, f64) {
    match shape {
        CollisionShape::Capsule { half_height, radius } => (f64::from(*half_height), f64::from(*radius)),
        other => (0.0, f64::from(other.radius())),
    }
}

/// A grid point in metres.
pub fn metres(place: GridPoint) -> DVec3 {
    place.position().as_dvec3()
}

/// A motion of a state datagram, in metres per second.
pub fn motion_velocity(motion: [i16; 3], tick_us: u32) -> DVec3 {
    let unit = f64::from(wire::state::MOTION_UNIT) / f64::from(snap::STEPS_PER_METRE);
    let per_second = unit * 1e6 / f64::from(tick_us.max(1));
    DVec3::new(f64::from(motion[0]), f64::from(motion[1]), f64::from(motion[2])) * per_second
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::{ObjectId, Turn};

    fn plaza() -> (Ground, Walker) {
        let walking = Walking { speed_max: 6.0, jump_speed: 4.5, gravity: 9.81, step_height: 0.35 };
        let shape = CollisionShape::Capsule { half_height: 0.55, radius: 0.35 };
        let bounds = [GridPoint::new(-20_480, 0, -20_480), GridPoint::new(20_480, 20_480, 20_480)];
        let mut ground = Ground::new(walking, bounds, &shape);
        let mut put = |x: i32, y: i32, half: [f32; 3]| {
            let object = ObjectId::new(1).unwrap();
            let solid = FixedObject {
                object,
                shape: CollisionShape::Box { half },
                place: GridPoint::new(x, y, 0),
                turn: Turn::IDENTITY,
            };
            ground.add(&solid, &shape);
        };
        put(5 * 1_024, 2 * 1_024, [0.5, 2.0, 4.0]);
        put(-5 * 1_024, 128, [1.0, 0.125, 4.0]);
        (ground, Walker::standing(DVec3::new(0.0, 0.9, 0.0)))
    }

    fn walk(ground: &Ground, mut walker: Walker, wish: DVec3, steps: u32) -> Walker {
        for _ in 0..steps {
            walker = ground.step(walker, wish, false, 1.0 / 30.0);
        }
        walker
    }

    #[test]
    fn a_wall_stops_and_lets_slide() {
        let (ground, walker) = plaza();
        let stopped = walk(&ground, walker, DVec3::new(2.0, 0.0, 0.0), 120);
        assert!((stopped.pos.x - (4.5 - 0.35)).abs() < 0.01, "{stopped:?}");
        let slid = walk(&ground, walker, DVec3::new(2.0, 0.0, 1.0), 90);
        assert!((slid.pos.x - 4.15).abs() < 0.01 && slid.pos.z > 2.5, "{slid:?}");
        let away = walk(&ground, stopped, DVec3::new(-2.0, 0.0, 0.0), 30);
        assert!((away.pos.x - (stopped.pos.x - 2.0)).abs() < 0.01, "{away:?}");
    }

    #[test]
    fn a_step_is_walked_up_and_a_jump_comes_down() {
        let (ground, walker) = plaza();
        let up = walk(&ground, walker, DVec3::new(-2.0, 0.0, 0.0), 75);
        assert!((up.pos.y - 1.15).abs() < 0.02 && up.is_grounded, "{up:?}");
        let mut jumper = ground.step(walker, DVec3::ZERO, true, 1.0 / 30.0);
        assert!(!jumper.is_grounded && jumper.vertical > 4.0);
        jumper = walk(&ground, jumper, DVec3::ZERO, 60);
        assert!(jumper.is_grounded && (jumper.pos.y - 0.9).abs() < 0.01, "{jumper:?}");
    }

    #[test]
    fn no_walker_leaves_the_world() {
        let (ground, walker) = plaza();
        let gone = walk(&ground, walker, DVec3::new(0.0, 0.0, -6.0), 400);
        assert!((gone.pos.z + 19.65).abs() < 1e-3, "{gone:?}");
    }

    #[test]
    fn ground_of_the_server_is_believed_until_the_walker_leaves_it() {
        let (ground, _) = plaza();
        // On a crate that only the server knows.
        let on_crate = Walker::standing(DVec3::new(0.0, 1.9, 0.0));
        let stays = walk(&ground, on_crate, DVec3::ZERO, 60);
        assert!(stays.pos.y == 1.9 && stays.is_grounded, "{stays:?}");
        let walks = walk(&ground, on_crate, DVec3::new(0.0, 0.0, 2.0), 60);
        assert!((walks.pos.y - 0.9).abs() < 0.01, "{walks:?}");
    }
}
