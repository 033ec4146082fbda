//! Seeded crowds: the same worlds serve tests, benches, experiments and demos, so that their numbers can be compared.
//!
//! All live in a cube from the origin whose volume is such that the spheres' volumes sum to the coverage. The smallest
//! radius is 1, and speeds are given in smallest radii per tick.

mod random;
mod wishes;

pub use random::Random;
pub use wishes::Wishes;

use std::str::FromStr;

use crate::Vec3;

use crate::{Slot, Sphere, Spheres, SpheresError};

/// How the objects of a [`Workload`] look and move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// Straight lines, reflected at the walls.
    Uniform,
    /// Towards one of few targets, which change now and then: objects cluster and disperse, as in the papers.
    Seekers,
    /// As `Uniform`, with radii from 1 to 100, log-uniform.
    Mixed,
    /// As `Uniform`, but all except one in a hundred stand still.
    Static,
    /// Steady turns, a new one every 50 to 150 ticks, at up to 0.05 radians per tick.
    Turning,
    /// A new random direction every tick.
    Jitter,
    /// A new random place every tick: nothing to remember.
    Teleport,
    /// Drifting crowds of 100, within which each object moves: 30 neighbours in the middle of a crowd, 20 on average.
    Crowds,
    /// All on one line, moving along it.
    Line,
}

impl Motion {
    /// All of them, with the names that the command line knows.
    pub const ALL: [(Motion, &'static str); 9] = [
        (Motion::Uniform, "uniform"),
        (Motion::Seekers, "seekers"),
        (Motion::Mixed, "mixed"),
        (Motion::Static, "static"),
        (Motion::Turning, "turning"),
        (Motion::Jitter, "jitter"),
        (Motion::Teleport, "teleport"),
        (Motion::Crowds, "crowds"),
        (Motion::Line, "line"),
    ];

    /// The name that the command line knows.
    pub fn name(self) -> &'static str {
        Motion::ALL.iter().find(|(motion, _)| *motion == self).expect("every motion has a name").1
    }

    /// All names, separated by commas.
    pub fn known() -> String {
        Motion::ALL.map(|(_, name)| name).join(", ")
    }
}

impl FromStr for Motion {
    type Err = WorkloadError;
    fn from_str(name: &str) -> Result<Motion, WorkloadError> {
        let found = Motion::ALL.iter().find(|(_, known)| *known == name);
        found.map(|(motion, _)| *motion).ok_or_else(|| WorkloadError::UnknownMotion(name.to_owned()))
    }
}

/// What to make. Every number that shapes a world is here.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub motion: Motion,
    pub objects: usize,
    /// The spheres' volumes, as a percentage of the cube's.
    pub coverage_percent: f32,
    /// How far an object moves per tick, in smallest radii.
    pub speed: f32,
    /// The same seed gives the same world, to the bit.
    pub seed: u64,
    /// Largest over smallest radius, for [`Motion::Mixed`].
    pub radius_ratio: f32,
    /// One object in this many moves, for [`Motion::Static`].
    pub objects_per_mover: usize,
    /// Objects per target, for [`Motion::Seekers`].
    pub objects_per_target: usize,
    /// After how many ticks a seeker picks another target: from, to.
    pub seeker_patience: (u32, u32),
    /// After how many ticks a target picks another place: from, to.
    pub target_patience: (u32, u32),
    /// Fastest turn, in radians per tick, for [`Motion::Turning`].
    pub turn_rate: f32,
    /// Objects per crowd, for [`Motion::Crowds`].
    pub crowd_size: usize,
    /// The number of neighbours in the middle of a crowd, for [`Motion::Crowds`]; towards its edge there are fewer.
    pub crowd_neighbours: f32,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            motion: Motion::Uniform,
            objects: 1_000,
            coverage_percent: 5.0,
            speed: 0.1,
            seed: 1,
            radius_ratio: 100.0,
            objects_per_mover: 100,
            objects_per_target: 50,
            seeker_patience: (50, 500),
            target_patience: (200, 1_000),
            turn_rate: 0.05,
            crowd_size: 100,
            crowd_neighbours: 30.0,
        }
    }
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WorkloadError {
    #[error("no workload is called `{0}`; there are {known}", known = Motion::known())]
    UnknownMotion(String),
    #[error("`{field}` is {value}, expected {expected}")]
    OutOfRange { field: &'static str, value: f32, expected: &'static str },
    /// An object that no world can hold, or too many of them.
    #[error(transparent)]
    Spheres(#[from] SpheresError),
}

/// A seeded world that moves when told to.
#[derive(Clone, Debug)]
pub struct Workload {
    settings: Settings,
    random: Random,
    side: f32,
    spheres: Spheres,
    slots: Vec<Slot>,
    velocities: Vec<Vec3>,
    seeking: Vec<Seeking>,
    targets: Vec<Target>,
    turns: Vec<Turn>,
    crowds: Vec<Crowd>,
}

#[derive(Clone, Copy, Debug)]
struct Seeking {
    target: u32,
    until: u32,
}

#[derive(Clone, Copy, Debug)]
struct Target {
    place: Vec3,
    until: u32,
}

#[derive(Clone, Copy, Debug)]
struct Turn {
    rate: Vec3,
    until: u32,
}

#[derive(Clone, Copy, Debug)]
struct Crowd {
    center: Vec3,
    velocity: Vec3,
}

impl Workload {
    pub fn new(settings: Settings) -> Result<Workload, WorkloadError> {
        check(&settings)?;
        let mut random = Random::new(settings.seed);
        let n = settings.objects;
        let radii: Vec<f32> = (0..n)
            .map(|_| if settings.motion == Motion::Mixed { random.log_uniform(settings.radius_ratio) } else { 1.0 })
            .collect();
        let volume: f64 = radii.iter().map(|&r| f64::from(r).powi(3)).sum::<f64>() * std::f64::consts::PI * 4.0 / 3.0;
        let side = (volume * 100.0 / f64::from(settings.coverage_percent)).cbrt() as f32;

        let mut workload = Workload {
            side: side.max(1.0),
            spheres: Spheres::new(),
            slots: Vec::with_capacity(n),
            velocities: Vec::new(),
            seeking: Vec::new(),
            targets: Vec::new(),
            turns: Vec::new(),
            crowds: Vec::new(),
            random,
            settings,
        };
        workload.make_company();
        for (index, &radius) in radii.iter().enumerate() {
            let center = workload.start(index);
            workload.slots.push(workload.spheres.insert(Sphere::new(center, radius))?);
            let velocity = workload.first_velocity(index);
            workload.velocities.push(velocity);
        }
        Ok(workload)
    }

    pub fn spheres(&self) -> &Spheres {
        &self.spheres
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The edge of the cube that the objects live in.
    pub fn side(&self) -> f32 {
        self.side
    }

    /// Ends the tick and moves all objects into the next one.
    pub fn step(&mut self) {
        self.spheres.end_tick();
        let tick = self.spheres.tick().number() as u32;
        self.move_company(tick);
        for index in 0..self.slots.len() {
            let slot = self.slots[index];
            if self.settings.motion == Motion::Static && self.velocities[index] == Vec3::ZERO {
                continue;
            }
            let place = self.spheres.columns().sphere(slot.row()).center;
            let next = self.next_place(index, place, tick).clamp(Vec3::ZERO, Vec3::splat(self.side));
            self.spheres.move_to(slot, next).expect("the cube is within a world's limits");
        }
    }

    /// Makes what objects follow: targets, turns, crowds.
    fn make_company(&mut self) {
        let n = self.settings.objects;
        match self.settings.motion {
            Motion::Seekers => {
                let targets = n.div_ceil(self.settings.objects_per_target).max(1);
                self.targets = (0..targets).map(|_| self.new_target(0)).collect();
                self.seeking = (0..n).map(|_| self.new_seeking(0)).collect();
            }
            Motion::Turning => self.turns = (0..n).map(|_| self.new_turn(0)).collect(),
            Motion::Crowds => {
                let speed = self.settings.speed;
                let (side, random) = (self.side, &mut self.random);
                self.crowds = (0..n.div_ceil(self.settings.crowd_size))
                    .map(|_| Crowd { center: random.point(side), velocity: random.direction() * speed })
                    .collect();
            }
            _ => {}
        }
    }

    fn start(&mut self, index: usize) -> Vec3 {
        match self.settings.motion {
            Motion::Line => Vec3::new(self.random.unit() * self.side, self.side / 2.0, self.side / 2.0),
            Motion::Crowds => {
                let crowd = self.crowds[index / self.settings.crowd_size];
                (crowd.center + self.random.in_ball() * self.crowd_radius()).clamp(Vec3::ZERO, Vec3::splat(self.side))
            }
            _ => self.random.point(self.side),
        }
    }

    fn first_velocity(&mut self, index: usize) -> Vec3 {
        let direction = self.random.direction();
        let speed = self.settings.speed;
        match self.settings.motion {
            Motion::Static if !index.is_multiple_of(self.settings.objects_per_mover) => Vec3::ZERO,
            Motion::Line => Vec3::X.copysign(direction) * speed * self.random.between(0.2, 1.0),
            Motion::Crowds => direction * speed * 0.5,
            _ => direction * speed,
        }
    }

    fn move_company(&mut self, tick: u32) {
        for index in 0..self.targets.len() {
            if tick >= self.targets[index].until {
                self.targets[index] = self.new_target(tick);
            }
        }
        for crowd in &mut self.crowds {
            crowd.center += crowd.velocity;
            reflect(&mut crowd.center, &mut crowd.velocity, self.side);
        }
    }

    fn next_place(&mut self, index: usize, place: Vec3, tick: u32) -> Vec3 {
        let speed = self.settings.speed;
        match self.settings.motion {
            Motion::Teleport => self.random.point(self.side),
            Motion::Jitter => place + self.random.direction() * speed,
            Motion::Seekers => {
                if tick >= self.seeking[index].until {
                    self.seeking[index] = self.new_seeking(tick);
                }
                let way = self.targets[self.seeking[index].target as usize].place - place;
                let distance = way.length();
                if distance <= speed { place + way } else { place + way * (speed / distance) }
            }
            Motion::Crowds => {
                let crowd = self.crowds[index / self.settings.crowd_size];
                let (center, radius) = (crowd.center, self.crowd_radius());
                let velocity = &mut self.velocities[index];
                let next = place + crowd.velocity + *velocity;
                // At the crowd's edge an object turns back towards the middle.
                let outward = next - center;
                if outward.length_squared() > radius * radius && velocity.dot(outward) > 0.0 {
                    *velocity = -*velocity;
                }
                next
            }
            Motion::Turning => {
                if tick >= self.turns[index].until {
                    self.turns[index] = self.new_turn(tick);
                }
                let velocity = self.velocities[index];
                let turned = velocity + self.turns[index].rate.cross(velocity);
                self.velocities[index] = turned.normalize_or_zero() * speed;
                self.bounced(index, place)
            }
            Motion::Uniform | Motion::Mixed | Motion::Static | Motion::Line => self.bounced(index, place),
        }
    }

    fn bounced(&mut self, index: usize, place: Vec3) -> Vec3 {
        let mut next = place + self.velocities[index];
        reflect(&mut next, &mut self.velocities[index], self.side);
        next
    }

    fn crowd_radius(&self) -> f32 {
        // Two radii hold `crowd_neighbours` others.
        2.0 * (self.settings.crowd_size as f32 / self.settings.crowd_neighbours).cbrt()
    }

    fn new_target(&mut self, tick: u32) -> Target {
        let (from, to) = self.settings.target_patience;
        Target { place: self.random.point(self.side), until: tick.saturating_add(self.random.whole(from, to)) }
    }

    fn new_seeking(&mut self, tick: u32) -> Seeking {
        let (from, to) = self.settings.seeker_patience;
        let target = self.random.whole(0, self.targets.len() as u32);
        Seeking { target, until: tick.saturating_add(self.random.whole(from, to)) }
    }

    fn new_turn(&mut self, tick: u32) -> Turn {
        let rate = self.random.direction() * self.random.between(0.0, self.settings.turn_rate);
        Turn { rate, until: tick.saturating_add(self.random.whole(50, 150)) }
    }
}

/// Folds a place back into the cube and turns the velocity with it.
fn reflect(place: &mut Vec3, velocity: &mut Vec3, side: f32) {
    for axis in 0..3 {
        if place[axis] < 0.0 {
            place[axis] = -place[axis];
            velocity[axis] = velocity[axis].abs();
        } else if place[axis] > side {
            place[axis] = 2.0 * side - place[axis];
            velocity[axis] = -velocity[axis].abs();
        }
    }
}

fn check(settings: &Settings) -> Result<(), WorkloadError> {
    if settings.objects > Spheres::MAX_OBJECTS {
        return Err(SpheresError::TooMany { requested: settings.objects }.into());
    }
    let rules = [
        ("coverage", settings.coverage_percent, 1e-3..=1e6, "a percentage from 0.001 to 1,000,000"),
        ("speed", settings.speed, 0.0..=1e6, "0 to 1,000,000 radii per tick"),
        ("radius_ratio", settings.radius_ratio, 1.0..=1e4, "1 to 10,000"),
        ("turn_rate", settings.turn_rate, 0.0..=3.2, "0 to 3.2 radians per tick"),
        ("crowd_neighbours", settings.crowd_neighbours, 1e-3..=1e9, "0.001 to 1e9"),
        ("objects_per_mover", settings.objects_per_mover as f32, 1.0..=1e9, "1 to 1,000,000,000"),
        ("objects_per_target", settings.objects_per_target as f32, 1.0..=1e9, "1 to 1,000,000,000"),
        ("crowd_size", settings.crowd_size as f32, 1.0..=1e9, "1 to 1,000,000,000"),
    ];
    for (field, value, range, expected) in rules {
        // NaN is in no range.
        if !range.contains(&value) {
            return Err(WorkloadError::OutOfRange { field, value, expected });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::num::f32::ANY;
    use proptest::prelude::*;

    fn make(motion: Motion, objects: usize) -> Workload {
        Workload::new(Settings { motion, objects, ..Settings::default() }).unwrap()
    }

    #[test]
    fn a_seed_gives_the_same_world_and_stays_in_its_cube() {
        for (motion, name) in Motion::ALL {
            assert_eq!(name.parse(), Ok(motion));
            let (mut one, mut two) = (make(motion, 500), make(motion, 500));
            for _ in 0..50 {
                one.step();
                two.step();
            }
            let side = one.side();
            for slot in one.spheres().slots() {
                let center = one.spheres().get(slot).unwrap().center;
                assert_eq!(Ok(center), two.spheres().get(slot).map(|sphere| sphere.center), "{name}");
                assert!(center.min_element() >= 0.0 && center.max_element() <= side, "{name}: {center}");
            }
        }
    }

    #[test]
    fn speed_is_what_was_asked_for() {
        for motion in [Motion::Uniform, Motion::Turning, Motion::Jitter] {
            let mut workload = make(motion, 200);
            let before: Vec<Vec3> = workload.slots.iter().map(|&s| workload.spheres.get(s).unwrap().center).collect();
            workload.step();
            let far = workload.side() * 0.5;
            for (slot, before) in workload.slots.iter().zip(before) {
                let inside = (before - far).abs().max_element() < far - 1.0;
                let step = (workload.spheres.get(*slot).unwrap().center - before).length();
                assert!(!inside || (step - 0.1).abs() < 1e-4, "{motion:?}: {step}");
            }
        }
    }

    #[test]
    fn only_one_in_a_hundred_of_a_static_world_moves() {
        let mut workload = make(Motion::Static, 1_000);
        workload.step();
        assert_eq!(workload.spheres().moved().count(), 10);
    }

    #[test]
    fn a_world_that_cannot_be_is_refused() {
        let refused = |settings| Workload::new(settings).unwrap_err().to_string();
        assert_eq!(
            refused(Settings { objects: 1_000_000_000, ..Settings::default() }),
            "1000000000 objects requested, a world holds at most 16777216"
        );
        assert_eq!(
            refused(Settings { coverage_percent: f32::NAN, ..Settings::default() }),
            "`coverage` is NaN, expected a percentage from 0.001 to 1,000,000"
        );
        let too_large = refused(Settings { crowd_size: usize::MAX, ..Settings::default() });
        assert!(too_large.ends_with(", expected 1 to 1,000,000,000"), "{too_large}");
        let unknown = "walkers".parse::<Motion>().unwrap_err().to_string();
        assert!(unknown.starts_with("no workload is called `walkers`; there are uniform, "), "{unknown}");
        assert!(Motion::ALL.iter().all(|(_, name)| unknown.contains(name)), "{unknown}");
        assert_eq!(make(Motion::Seekers, 0).spheres().len(), 0);
    }

    proptest! {
        /// Every setting makes a workload that moves within its cube, or is refused.
        #[test]
        fn no_setting_breaks_a_workload(
            (motion, objects, seed) in (0..Motion::ALL.len(), 0usize..40, any::<u64>()),
            // A power of ten: most worlds can be, and some are at the ends of what can.
            coverage in prop_oneof![ANY, (-3i32..6).prop_map(|exponent| 10f32.powi(exponent))],
            speed in prop_oneof![ANY, (-40i32..7).prop_map(|exponent| 10f32.powi(exponent))],
            radius_ratio in prop_oneof![ANY, Just(1e4)],
            turn_rate in prop_oneof![ANY, Just(3.1)],
            crowd_neighbours in prop_oneof![ANY, (-3i32..9).prop_map(|exponent| 10f32.powi(exponent))],
            (objects_per_mover, objects_per_target, crowd_size) in (0usize..4, 0usize..4, 0usize..4),
            (seeker_patience, target_patience) in (any::<(u32, u32)>(), (0u32..9, 0u32..9)),
        ) {
            let settings = Settings {
                motion: Motion::ALL[motion].0,
                objects,
                coverage_percent: coverage,
                speed,
                seed,
                radius_ratio,
                objects_per_mover,
                objects_per_target,
                seeker_patience,
                target_patience,
                turn_rate,
                crowd_size,
                crowd_neighbours,
            };
            if let Ok(mut workload) = Workload::new(settings) {
                for _ in 0..12 {
                    workload.step();
                }
                prop_assert_eq!(workload.spheres().len(), objects);
                let side = workload.side();
                for slot in workload.spheres().slots() {
                    let center = workload.spheres().get(slot).unwrap().center;
                    prop_assert!(center.min_element() >= 0.0 && center.max_element() <= side, "{}", center);
                }
            }
        }
    }
}
