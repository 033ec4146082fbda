//! Where peers meet: a walled hall with pillars, and pilots that fly through it as the paper's test object does,
//! straight on and in curves, off walls and off each other.

use motion::CollisionScene;
use motion::scene::{SceneObject, SceneShape};
use space::workload::Random;
use space::{DVec3, Time};

/// The paper's object: 5.42 m wide.
pub const RADIUS: f32 = 2.71;
/// The paper's pace: 40 pi metres in 15 seconds.
pub const SPEED: f64 = 8.377_580_409_572_781;
/// The radius of an object's focus and nimbus, in metres.
pub const AURA: f32 = 30.0;

/// The side of a square cell in which one object starts, in metres: there is room to curve.
pub const ROOMY: f64 = 24.0;
/// The same where objects meet often: twice as wide as they are.
pub const CROWDED: f64 = 11.0;

/// The hall for this many hosts, with cells of this side.
pub fn hall(hosts: usize, cell: f64) -> CollisionScene {
    let side = cells(hosts) as f64 * cell;
    let (half, thick) = (0.5 * side, 1.0);
    let wall = |x: f64, z: f64| {
        let shape = SceneShape::Cuboid(DVec3::new(
            if x == 0.0 { half + 2.0 * thick } else { thick },
            6.0,
            if z == 0.0 { half + 2.0 * thick } else { thick },
        ));
        SceneObject::standing(shape, DVec3::new(x * (half + thick), 0.0, z * (half + thick)))
    };
    let mut objects = vec![wall(1.0, 0.0), wall(-1.0, 0.0), wall(0.0, 1.0), wall(0.0, -1.0)];
    for row in 1..cells(hosts) {
        for column in 1..cells(hosts) {
            // Every other corner, so that there is room to curve.
            if (row + column) % 2 == 0 {
                let place = DVec3::new(column as f64 * cell - half, 0.0, row as f64 * cell - half);
                objects.push(SceneObject::standing(SceneShape::Cuboid(DVec3::new(1.5, 6.0, 1.5)), place));
            }
        }
    }
    CollisionScene::new(objects).expect("a few walls are a scene")
}

/// Where the object of a host starts: in the middle of a cell.
pub fn start(host: usize, hosts: usize, cell: f64) -> DVec3 {
    let cells = cells(hosts);
    let half = 0.5 * cells as f64 * cell;
    let middle = |number: usize| (number as f64 + 0.5) * cell - half;
    DVec3::new(middle(host % cells), 0.0, middle(host / cells % cells))
}

fn cells(hosts: usize) -> usize {
    (1..).find(|side| side * side >= hosts.max(1)).unwrap_or(1)
}

/// Steers one object at random, from a seed.
#[derive(Clone, Debug)]
pub struct Pilot {
    random: Random,
    /// Radians per second, about the upright axis.
    turn: f64,
    until: Time,
}

impl Pilot {
    pub fn new(seed: u64) -> Pilot {
        Pilot { random: Random::new(seed), turn: 0.0, until: Time::from_micros(i64::MIN) }
    }

    /// A velocity to start with.
    pub fn first_velocity(&mut self) -> DVec3 {
        let angle = f64::from(self.random.between(0.0, std::f32::consts::TAU));
        DVec3::new(libm::cos(angle), 0.0, libm::sin(angle)) * SPEED
    }

    /// The acceleration of an object with this velocity: it goes straight on or curves, half of the time each, and
    /// tends to the paper's pace.
    pub fn steer(&mut self, now: Time, vel: DVec3) -> DVec3 {
        if now >= self.until {
            self.until = now + i64::from(self.random.whole(500_000, 2_500_000));
            let is_straight = self.random.unit() < 0.5;
            let turn = f64::from(self.random.between(-1.0, 1.0));
            self.turn = if is_straight { 0.0 } else { turn };
        }
        let speed = vel.length();
        let aside = DVec3::new(vel.z, 0.0, -vel.x) * self.turn;
        let along = if speed > 0.01 { vel * ((SPEED - speed) / speed) } else { DVec3::X * SPEED };
        aside + along
    }
}
