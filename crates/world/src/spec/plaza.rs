//! The built-in world: a plaza with fixed obstacles, crates, balls, and a crowd.

use space::workload::Random;
use space::{Quat, Vec3};

use super::{AvatarSpec, ContactPolicy, CrowdSpec, ObjectKind, ObjectSpec, Route, Shape, Spec, WorldLimits};

/// The parameters of the built-in world. The same numbers give the same plaza.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plaza {
    /// The plaza's edge, in metres; at least 60.
    pub side: f32,
    /// The number of fixed obstacles, besides those in the middle.
    pub obstacles: u32,
    pub crates: u32,
    pub balls: u32,
    /// The number of avatars in the crowd.
    pub seekers: u32,
    /// The seed of places and of the crowd's wishes.
    pub seed: u64,
}

impl Default for Plaza {
    fn default() -> Plaza {
        Plaza { side: 80.0, obstacles: 24, crates: 30, balls: 12, seekers: 60, seed: 1 }
    }
}

impl Plaza {
    /// The least and the greatest edge, in metres.
    pub const SIDES: (f32, f32) = (60.0, 8000.0);

    /// A plaza with about five square metres for each of `avatars`.
    pub fn for_avatars(avatars: u32) -> Plaza {
        let side = ((f64::from(avatars) * 5.0).sqrt() as f32).clamp(80.0, Plaza::SIDES.1).ceil();
        let area = side * side / 6400.0;
        let many = |count: f32| (count * area).min(100_000.0) as u32;
        Plaza { side, obstacles: many(24.0), crates: many(30.0), balls: many(12.0), seekers: 0, seed: 1 }
    }

    pub fn spec(&self) -> Spec {
        let half = self.side.clamp(Plaza::SIDES.0, Plaza::SIDES.1) * 0.5;
        let mut spec = Spec {
            name: "plaza".to_owned(),
            sky: [0x9f, 0xc6, 0xe8],
            low: Vec3::new(-half, 0.0, -half),
            high: Vec3::new(half, 30.0, half),
            gravity: 9.81,
            tick_rate: 30,
            limits: WorldLimits::default(),
            spawns: (0..4).map(|corner| Vec3::new([-6.0, 6.0][corner % 2], 0.0, [-6.0, 6.0][corner / 2])).collect(),
            avatars: vec![
                AvatarSpec::walker(),
                AvatarSpec { name: "child".to_owned(), radius: 0.25, height: 1.2, policy: ContactPolicy::Slide },
            ],
            objects: Vec::new(),
            crowd: (self.seekers > 0).then_some(CrowdSpec { seekers: self.seekers, seed: self.seed }),
        };
        self.add_middle(&mut spec);
        let mut free = Free { random: Random::new(self.seed), half, taken: vec![(Vec3::ZERO, 14.0)] };
        self.scatter(&mut spec, &mut free);
        spec
    }

    /// Adds a fountain with a step around it, a carousel, a cart and a ball in flight.
    fn add_middle(&self, spec: &mut Spec) {
        let mut add = |name: &str, kind, shape, at, policy| {
            let name = name.to_owned();
            spec.objects.push(ObjectSpec { name, kind, shape, at, rotation: Quat::IDENTITY, policy });
        };
        let fixed = || ObjectKind::Fixed;
        let block = |x: f32, y: f32, z: f32| Shape::Box { half: Vec3::new(x, y, z) };
        add("fountain step", fixed(), block(2.5, 0.15, 2.5), Vec3::new(0.0, 0.15, 0.0), ContactPolicy::Block);
        add("fountain", fixed(), block(1.5, 0.5, 1.5), Vec3::new(0.0, 0.8, 0.0), ContactPolicy::Block);
        let column = Shape::Capsule { half_height: 1.0, radius: 0.4 };
        add("fountain column", fixed(), column, Vec3::new(0.0, 2.7, 0.0), ContactPolicy::Block);
        let orbit = ObjectKind::Moving(Route::Orbit { center: Vec3::new(0.0, 0.0, 0.0), period_s: 30.0 });
        add("carousel", orbit, Shape::Sphere { radius: 0.8 }, Vec3::new(10.0, 1.2, 0.0), ContactPolicy::Block);
        let path = Route::Path { through: vec![Vec3::new(-11.0, 0.7, 8.0)], speed: 0.8, closed: false };
        add("cart", ObjectKind::Moving(path), block(0.6, 0.5, 0.9), Vec3::new(-11.0, 0.7, -8.0), ContactPolicy::Block);
        let flight = Route::Flight { velocity: Vec3::new(4.0, 7.0, 0.0), period_s: 1.4 };
        let ball = Shape::Sphere { radius: 0.2 };
        add("thrown ball", ObjectKind::Moving(flight), ball, Vec3::new(-3.0, 2.5, 11.0), ContactPolicy::Block);
    }

    fn scatter(&self, spec: &mut Spec, free: &mut Free) {
        for number in 0..self.obstacles {
            let name = format!("obstacle {number}");
            let (shape, reach, height) = match number % 3 {
                0 => {
                    let half = Vec3::new(free.random.between(0.5, 3.0), free.random.between(0.1, 2.0), 0.5);
                    (Shape::Box { half }, half.x + 0.5, half.y)
                }
                1 => {
                    let radius = free.random.between(0.3, 0.8);
                    (Shape::Capsule { half_height: 1.5, radius }, radius, 1.5 + radius)
                }
                _ => {
                    let radius = free.random.between(0.5, 1.5);
                    (Shape::Sphere { radius }, radius, radius)
                }
            };
            let Some(at) = free.place(reach) else { continue };
            let at = Vec3::new(at.x, height, at.z);
            let (kind, policy) = (ObjectKind::Fixed, ContactPolicy::Block);
            spec.objects.push(ObjectSpec { name, kind, shape, at, rotation: Quat::IDENTITY, policy });
        }
        for number in 0..self.crates {
            let half = free.random.between(0.2, 0.5);
            let Some(at) = free.place(half * 1.5) else { continue };
            let (name, kind, shape) =
                (format!("crate {number}"), ObjectKind::Movable, Shape::Box { half: Vec3::splat(half) });
            let at = Vec3::new(at.x, half + 0.01, at.z);
            spec.objects.push(ObjectSpec {
                name,
                kind,
                shape,
                at,
                rotation: Quat::IDENTITY,
                policy: ContactPolicy::Block,
            });
        }
        for number in 0..self.balls {
            let radius = free.random.between(0.15, 0.4);
            let Some(at) = free.place(radius) else { continue };
            let (name, kind, shape) = (format!("ball {number}"), ObjectKind::Movable, Shape::Sphere { radius });
            let at = Vec3::new(at.x, radius + free.random.between(0.1, 3.0), at.z);
            spec.objects.push(ObjectSpec {
                name,
                kind,
                shape,
                at,
                rotation: Quat::IDENTITY,
                policy: ContactPolicy::Bounce,
            });
        }
    }
}

/// Chooses free places on the ground.
struct Free {
    random: Random,
    half: f32,
    taken: Vec<(Vec3, f32)>,
}

impl Free {
    fn place(&mut self, reach: f32) -> Option<Vec3> {
        let most = self.half - reach - 1.0;
        for _ in 0..50 {
            let at = Vec3::new(self.random.between(-most, most), 0.0, self.random.between(-most, most));
            if self.taken.iter().all(|(other, other_reach)| other.distance(at) > reach + other_reach + 0.5) {
                self.taken.push((at, reach));
                return Some(at);
            }
        }
        None
    }
}
