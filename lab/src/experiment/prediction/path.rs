//! The motions on which predictors are judged: the paper's, steered ones in a corridor, and random ones.

use std::f64::consts::PI;

use motion::owner::Collision;
use motion::scene::{CollisionScene, SceneObject, SceneShape};
use motion::state::KinematicState;
use space::workload::Random;
use space::{DQuat, DVec3, Time};

/// How long every path is, in microseconds.
pub const DURATION_US: i64 = 15_000_000;
/// The radius of the paper's moving object: it is 5.42 m wide.
pub const RADIUS: f64 = 2.71;
/// When the paper's object hits something, in microseconds; the last is the end of the path.
pub const COLLISIONS_US: [i64; 5] = [3_750_000, 7_500_000, 9_375_000, 11_250_000, 13_125_000];
/// When the paper's object passes closest to the remote ones, and a control where there is none, in microseconds.
pub const WINDOWS_US: [i64; 4] = [10_312_500, 12_187_500, 14_062_500, 8_437_500];

/// Along the paper's path, in metres per second.
const SPEED: f64 = 40.0 * PI / 15.0;

/// A motion and the objects around it.
#[derive(Clone, Debug)]
pub struct MotionPath {
    motion: Motion,
    pub scene: CollisionScene,
    /// Centres of other hosts' objects, which stand, and their radius.
    pub remotes: Vec<(DVec3, f64)>,
    /// The moving object's radius.
    pub radius: f64,
    collisions: Vec<(Time, Collision)>,
}

#[derive(Clone, Debug)]
enum Motion {
    Paper,
    /// States at equal steps, with constant acceleration in between.
    Recorded {
        step_us: f64,
        states: Vec<(DVec3, DVec3, DVec3)>,
    },
}

impl MotionPath {
    /// The path of the paper: straight to a wall and off it, then in arcs from wall to wall past remote objects.
    pub fn paper() -> MotionPath {
        let wall = |inner: f64, outward: f64, along: f64| {
            let half = DVec3::new(0.5, 5.0, 2.5 * PI);
            SceneObject::standing(
                SceneShape::Cuboid(half),
                DVec3::new(inner + outward * (RADIUS + half.x), 0.0, -along),
            )
        };
        let mut walls = vec![wall(10.0 * PI / 6.0, 1.0, 10.0 * PI)];
        walls.extend((0..5).map(|i| wall(0.0, -1.0, (20.0 + 5.0 * f64::from(i)) * PI)));
        let mut path = MotionPath {
            motion: Motion::Paper,
            scene: CollisionScene::new(walls).expect("six walls are a scene"),
            remotes: [27.5, 32.5, 37.5].map(|s| (DVec3::new(8.0, 0.0, -s * PI), 0.25)).into(),
            radius: RADIUS,
            collisions: Vec::new(),
        };
        for (index, at_us) in COLLISIONS_US.into_iter().chain([DURATION_US]).enumerate() {
            let normal = if index == 0 { -DVec3::X } else { DVec3::X };
            let vel_before = path.state(Time::from_micros(at_us - 1)).vel;
            path.collisions.push((Time::from_micros(at_us), Collision { normal, vel_before }));
        }
        path
    }

    /// A steered walk in a corridor: noisy acceleration, elastic bounces at 6 m to either side.
    pub fn corridor(seed: u64) -> MotionPath {
        const STEPS_PER_S: f64 = 960.0;
        const DEVIATION: f64 = 6.0;
        const CORRELATION_S: f64 = 0.6;
        let dt = 1.0 / STEPS_PER_S;
        let keep = libm::exp(-dt / CORRELATION_S);
        let fresh = DEVIATION * (1.0 - keep * keep).sqrt();
        let mut random = Normal(Random::new(seed));
        let mut noise = DVec3::new(random.draw(), 0.0, random.draw()) * DEVIATION;
        let (mut pos, mut vel) = (DVec3::ZERO, DVec3::new(0.0, 0.0, -6.0));
        let mut states = Vec::new();
        let mut collisions = Vec::new();
        for step in 0..=(15.5 * STEPS_PER_S) as i64 {
            let along = DVec3::new(0.0, 0.0, -1.0);
            let mut acc = noise + along * (0.3 * (6.0 - vel.dot(along)));
            let speed = vel.length();
            if speed > 12.0 {
                acc -= vel * ((speed - 12.0) / speed);
            }
            states.push((pos, vel, acc));
            pos += vel * dt + acc * (0.5 * dt * dt);
            vel += acc * dt;
            if pos.x.abs() > 6.0 {
                let side = 1f64.copysign(pos.x);
                let at = Time::from_micros(((step + 1) as f64 * dt * 1e6) as i64);
                collisions.push((at, Collision { normal: DVec3::new(-side, 0.0, 0.0), vel_before: vel }));
                pos.x = 12.0 * side - pos.x;
                vel.x = -vel.x;
            }
            noise = noise * keep + DVec3::new(random.draw(), 0.0, random.draw()) * fresh;
        }
        let wall = |side: f64| {
            let half = DVec3::new(0.5, 5.0, 400.0);
            SceneObject::standing(SceneShape::Cuboid(half), DVec3::new(side * (6.0 + RADIUS + half.x), 0.0, -200.0))
        };
        MotionPath {
            motion: Motion::Recorded { step_us: dt * 1e6, states },
            scene: CollisionScene::new(vec![wall(-1.0), wall(1.0)]).expect("two walls are a scene"),
            remotes: Vec::new(),
            radius: RADIUS,
            collisions,
        }
    }

    /// A walker in a crowd: another velocity of up to 6 m/s every 0.1 to 0.5 s, and no wall anywhere.
    pub fn random(seed: u64) -> MotionPath {
        const STEPS_PER_S: f64 = 960.0;
        let dt = 1.0 / STEPS_PER_S;
        let mut random = Random::new(seed);
        let (mut pos, mut vel, mut until) = (DVec3::ZERO, DVec3::ZERO, 0);
        let mut states = Vec::new();
        for step in 0..=(15.5 * STEPS_PER_S) as u32 {
            if step >= until {
                let direction = random.direction().as_dvec3();
                vel = DVec3::new(direction.x, 0.0, direction.z) * f64::from(random.between(0.0, 6.0));
                until = step + random.whole(96, 480);
            }
            states.push((pos, vel, DVec3::ZERO));
            pos += vel * dt;
        }
        MotionPath {
            motion: Motion::Recorded { step_us: dt * 1e6, states },
            scene: CollisionScene::empty(),
            remotes: Vec::new(),
            radius: 0.5,
            collisions: Vec::new(),
        }
    }

    /// The truth at a moment. At a kink it is what comes after.
    pub fn state(&self, at: Time) -> KinematicState {
        let (pos, vel, acc) = match &self.motion {
            Motion::Paper => paper_state(at),
            Motion::Recorded { step_us, states } => {
                // A microsecond is added, because frames fall on steps and stamps are rounded down.
                let step = ((at.micros() + 1) as f64 / step_us) as usize;
                let (pos, vel, acc) = states[step.min(states.len() - 1)];
                let dt = ((at.micros() as f64 - step as f64 * step_us) * 1e-6).max(0.0);
                (pos + vel * dt + acc * (0.5 * dt * dt), vel + acc * dt, acc)
            }
        };
        KinematicState { stamp: at, pos, vel, acc, rot: DQuat::IDENTITY, angvel: DVec3::ZERO }
    }

    /// The last collision after one moment and up to another.
    pub fn collision(&self, after: Time, until: Time) -> Option<Collision> {
        self.collisions.iter().rev().find(|(at, _)| *at > after && *at <= until).map(|&(_, collision)| collision)
    }
}

/// The paper's equation, with its slips of sign read so that it agrees with its own figures: z is negative
/// throughout, and s is its magnitude.
fn paper_state(at: Time) -> (DVec3, DVec3, DVec3) {
    let s = SPEED * at.seconds_since(Time::default());
    let us = at.micros();
    let (x, slope, bend) = if us < COLLISIONS_US[0] {
        (s / 6.0, 1.0 / 6.0, 0.0)
    } else if us < COLLISIONS_US[1] {
        ((20.0 * PI - s) / 6.0, -1.0 / 6.0, 0.0)
    } else {
        // Which arc, from the clock: the sign of a sine near its zero would be decided by rounding.
        let arc = (us - COLLISIONS_US[1]) / 1_875_000;
        let sign = if arc % 2 == 0 { 1.0 } else { -1.0 };
        let (sin, cos) = (libm::sin(s / 5.0), libm::cos(s / 5.0));
        (sign * 5.0 * sin, sign * cos, -sign * sin / 5.0)
    };
    let pos = DVec3::new(x, 0.0, -s);
    (pos, DVec3::new(SPEED * slope, 0.0, -SPEED), DVec3::new(SPEED * SPEED * bend, 0.0, 0.0))
}

/// Numbers around zero with deviation one.
struct Normal(Random);

impl Normal {
    fn draw(&mut self) -> f64 {
        // Box-Muller transform; one minus, because zero has no logarithm.
        let radius = (-2.0 * libm::log(1.0 - f64::from(self.0.unit()))).sqrt();
        radius * libm::cos(2.0 * PI * f64::from(self.0.unit()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_path_touches_its_walls_and_no_remote_object() {
        let path = MotionPath::paper();
        let mut touched = 0;
        for ms in 0..=15_000 {
            let at = Time::from_micros(ms * 1_000);
            let state = path.state(at);
            for wall in path.scene.objects() {
                let (gap, _) = wall.separation(at, state.pos, RADIUS);
                assert!(gap > -1e-9, "inside a wall at {at}: {gap}");
                touched += u32::from(gap < 1e-9);
            }
            for &(center, radius) in &path.remotes {
                assert!((center - state.pos).length() > RADIUS + radius, "in a remote object at {at}");
            }
        }
        assert!(touched >= 5, "{touched} touches");
        assert!((path.state(Time::from_micros(8_437_500)).pos.x - 5.0).abs() < 1e-9);
    }

    #[test]
    fn the_corridor_is_steered_and_stays_between_its_walls() {
        let mut speeds = 0.0;
        for seed in 101..111 {
            let path = MotionPath::corridor(seed);
            for frame in 0..900 {
                let state = path.state(Time::from_micros(frame * 1_000_000 / 60));
                assert!(state.pos.x.abs() <= 6.0 + 1e-9, "seed {seed}: {}", state.pos.x);
                speeds += state.vel.length() / 9_000.0;
            }
        }
        assert!((5.0..10.0).contains(&speeds), "{speeds}");
    }
}
