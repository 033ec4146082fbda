//! What every broad phase is held to: worlds, what happens to them, and brute force beside it. The file that has this
//! module says in `methods` which broad phases take part; the lab has another for its rivals.

use std::fmt::Display;

use kinesphere_space::broad::BruteForce;
use kinesphere_space::workload::{Motion, Random, Settings, Workload};
use kinesphere_space::{BroadPhase, Pair, Slot, Sphere, Spheres, Vec3};

use super::methods;

type MakeSphere = fn(&mut Random) -> Sphere;
type Change = fn(&mut Spheres, &mut Random, MakeSphere);

/// How the objects of a random world are strewn.
const WORLDS: [(&str, MakeSphere); 16] = [
    ("equal radii", |random| Sphere::new(random.point(14.0), 1.0)),
    ("mixed radii", |random| Sphere::new(random.point(400.0), random.log_uniform(1_000.0) * 0.1)),
    ("one giant in fifty", |random| {
        let radius = if random.whole(0, 50) == 0 { 300.0 } else { 0.5 };
        Sphere::new(random.point(100.0), radius)
    }),
    ("clustered", |random| {
        let cluster = Vec3::splat(random.whole(0, 4) as f32 * 1_000.0);
        Sphere::new(cluster + random.in_ball() * 5.0, 0.7)
    }),
    ("coplanar", |random| Sphere::new(random.point(40.0) * Vec3::new(1.0, 0.0, 1.0), 1.0)),
    ("in a line", |random| Sphere::new(Vec3::new(3.0, random.unit() * 200.0, -4.0), 0.8)),
    ("all at one point", |random| Sphere::new(Vec3::new(7.0, -7.0, 0.1), random.unit())),
    ("points at one point", |_| Sphere::new(Vec3::ONE, 0.0)),
    ("touching exactly", |random| {
        let place = random.point(7.0).floor();
        Sphere::new(place * 2.0, 1.0)
    }),
    ("a lattice that rounds", |random| Sphere::new(random.point(7.0).floor() * 0.1, 0.05)),
    ("a million away", |random| Sphere::new(random.point(14.0) + Vec3::new(1e6, -1e6, 1e6), 1.0)),
    ("a hundred million away", |random| Sphere::new(random.point(100.0) + Vec3::new(-1e8, 1e8, 1e8), 9.0)),
    ("half here, half far away", |random| {
        let place = if random.whole(0, 2) == 0 { Vec3::ZERO } else { Vec3::splat(1e9 - 100.0) };
        Sphere::new(place + random.point(20.0), 2.0)
    }),
    ("everywhere, of every size", |random| {
        let radius = random.log_uniform(1e12) * 1e-3;
        Sphere::new((random.point(2.0) - Vec3::ONE) * 1e9, radius)
    }),
    ("tiny", |random| Sphere::new(random.point(14.0) * 1e-20, 1e-20)),
    ("of any numbers", |random| {
        let [x, y, z, radius] = [(); 4].map(|()| any_number(random));
        Sphere::new(Vec3::new(x, y, z), radius.abs())
    }),
];

/// Any number that a world may hold, whatever its bits are.
fn any_number(random: &mut Random) -> f32 {
    loop {
        let number = f32::from_bits(random.whole(0, 1 << 16) << 16 | random.whole(0, 1 << 16));
        if number.abs() <= Spheres::LIMIT {
            return number;
        }
    }
}

/// What is done to a world before a tick, after the last one has ended.
const CHANGES: [(&str, Change); 9] = [
    ("moved a little", |spheres, random, _| {
        for slot in slots(spheres) {
            let sphere = spheres.get(slot).unwrap();
            move_to(spheres, slot, sphere.center + random.direction() * sphere.radius * 0.2);
        }
    }),
    ("moved some", |spheres, random, _| {
        for slot in slots(spheres) {
            if random.whole(0, 10) == 0 {
                let sphere = spheres.get(slot).unwrap();
                move_to(spheres, slot, sphere.center + random.direction() * sphere.radius);
            }
        }
    }),
    ("nothing", |_, _, _| {}),
    ("teleported all", |spheres, random, make| {
        for slot in slots(spheres) {
            move_to(spheres, slot, make(random).center);
        }
    }),
    ("teleported one", |spheres, random, make| {
        if let Some(&slot) = slots(spheres).first() {
            move_to(spheres, slot, make(random).center);
        }
    }),
    ("resized some", |spheres, random, make| {
        for slot in slots(spheres) {
            if random.whole(0, 5) == 0 {
                spheres.resize(slot, make(random).radius * random.unit()).unwrap();
            }
        }
    }),
    ("removed some", |spheres, random, _| {
        for slot in slots(spheres) {
            if random.whole(0, 5) == 0 {
                spheres.remove(slot).unwrap();
            }
        }
    }),
    ("inserted some", |spheres, random, make| {
        for _ in 0..random.whole(0, 40) {
            spheres.insert(make(random)).unwrap();
        }
    }),
    ("replaced some", |spheres, random, make| {
        for slot in slots(spheres) {
            if random.whole(0, 5) == 0 {
                spheres.remove(slot).unwrap();
                spheres.insert(make(random)).unwrap();
            }
        }
    }),
];

/// Which worlds a method is shown in a tick.
#[derive(Clone, Copy, Debug)]
enum Seen {
    Once,
    NotAtAll,
    TwiceAndChanged,
    ChangedAfterTheLook,
    WithAnother,
    WithItsClone,
    AsClone,
    TakenInOnly,
    NotTakenIn,
    AfterAnotherWasTakenIn,
}

const SIGHTS: [Seen; 10] = [
    Seen::Once,
    Seen::NotAtAll,
    Seen::TwiceAndChanged,
    Seen::ChangedAfterTheLook,
    Seen::WithAnother,
    Seen::WithItsClone,
    Seen::AsClone,
    Seen::TakenInOnly,
    Seen::NotTakenIn,
    Seen::AfterAnotherWasTakenIn,
];

/// All methods, each with what it remembers.
struct Contest {
    methods: Vec<(&'static str, Box<dyn BroadPhase>)>,
}

impl Contest {
    fn new() -> Contest {
        Contest { methods: methods() }
    }

    /// Lets all methods take a world in, and asks none of them for its pairs.
    fn take_in(&mut self, spheres: &Spheres) {
        self.methods.iter_mut().for_each(|(_, method)| _ = method.update(spheres));
    }

    fn check(&mut self, spheres: &Spheres, circumstances: impl Display) {
        self.take_in(spheres);
        self.ask(spheres, circumstances);
    }

    /// Asks all methods for the pairs of a world, whatever they took in last.
    fn ask(&mut self, spheres: &Spheres, circumstances: impl Display) {
        let expected = sorted_pairs(&mut BruteForce, spheres);
        for (name, method) in &mut self.methods {
            let mut found = Vec::new();
            method.find(spheres, &mut found);
            found.sort_unstable();
            if found != expected {
                let missing = expected.iter().filter(|pair| found.binary_search(pair).is_err());
                let wrong = found.iter().filter(|pair| expected.binary_search(pair).is_err());
                let twice = found.windows(2).filter(|pairs| pairs[0] == pairs[1]).map(|pairs| &pairs[0]);
                let example = missing.clone().chain(wrong.clone()).chain(twice.clone()).next();
                let example = example.map(|pair| (pair, spheres.get(pair.a()), spheres.get(pair.b())));
                panic!(
                    "{name} disagrees with brute force. {circumstances}.\n\
                     {} pairs expected; {} missing, {} wrong, {} twice; for example {example:?}",
                    expected.len(),
                    missing.count(),
                    wrong.count(),
                    twice.count(),
                );
            }
        }
    }
}

fn sorted_pairs(method: &mut dyn BroadPhase, spheres: &Spheres) -> Vec<Pair> {
    let mut pairs = Vec::new();
    method.pairs(spheres, &mut pairs);
    pairs.sort_unstable();
    pairs
}

fn slots(spheres: &Spheres) -> Vec<Slot> {
    spheres.slots().collect()
}

fn move_to(spheres: &mut Spheres, slot: Slot, place: Vec3) {
    let limit = Vec3::splat(Spheres::LIMIT);
    spheres.move_to(slot, place.clamp(-limit, limit)).unwrap();
}

fn strew(make: MakeSphere, objects: u32, random: &mut Random) -> Spheres {
    let mut spheres = Spheres::new();
    for _ in 0..objects {
        spheres.insert(make(random)).unwrap();
    }
    spheres
}

#[test]
fn whatever_happens_to_whichever_world() {
    for (world, make) in WORLDS {
        for seed in 0..16 {
            let mut random = Random::new(seed);
            // From no object to more than a grid of few cells holds well.
            let objects = [0, 1, 2, 9, 40, 100, 200, 350][seed as usize % 8];
            let mut spheres = strew(make, objects, &mut random);
            let mut contest = Contest::new();
            contest.check(&spheres, format!("World \"{world}\", seed {seed}, first tick"));
            for tick in 1..=25 {
                spheres.end_tick();
                let (happened, change) = CHANGES[random.whole(0, CHANGES.len() as u32) as usize];
                change(&mut spheres, &mut random, make);
                contest.check(&spheres, format!("World \"{world}\", seed {seed}, tick {tick}, {happened}"));
            }
        }
    }
}

/// A method sees some ticks twice, others not at all, and other worlds in between.
#[test]
fn whatever_a_method_gets_to_see() {
    for (world, make) in WORLDS {
        for seed in 0..5 {
            let mut random = Random::new(seed);
            let mut spheres = strew(make, 120, &mut random);
            let other = strew(WORLDS[random.whole(0, WORLDS.len() as u32) as usize].1, 90, &mut random);
            let mut contest = Contest::new();
            for tick in 0..25 {
                let (happened, change) = CHANGES[random.whole(0, CHANGES.len() as u32) as usize];
                change(&mut spheres, &mut random, make);
                let seen = SIGHTS[random.whole(0, SIGHTS.len() as u32) as usize];
                let circumstances = format!("World \"{world}\", seed {seed}, tick {tick}, {happened}, {seen:?}");
                match seen {
                    Seen::Once => contest.check(&spheres, &circumstances),
                    Seen::NotAtAll => {}
                    Seen::TwiceAndChanged => {
                        contest.check(&spheres, &circumstances);
                        contest.check(&spheres, &circumstances);
                        change(&mut spheres, &mut random, make);
                        contest.check(&spheres, &circumstances);
                    }
                    Seen::ChangedAfterTheLook => {
                        contest.check(&spheres, &circumstances);
                        change(&mut spheres, &mut random, make);
                    }
                    Seen::WithAnother => {
                        contest.check(&spheres, &circumstances);
                        contest.check(&other, &circumstances);
                    }
                    Seen::WithItsClone => {
                        contest.check(&spheres, &circumstances);
                        let mut twin = spheres.clone();
                        twin.end_tick();
                        change(&mut twin, &mut random, make);
                        contest.check(&twin, &circumstances);
                    }
                    Seen::AsClone => {
                        spheres = spheres.clone();
                        contest.check(&spheres, &circumstances);
                    }
                    Seen::TakenInOnly => contest.take_in(&spheres),
                    Seen::NotTakenIn => contest.ask(&spheres, &circumstances),
                    Seen::AfterAnotherWasTakenIn => {
                        contest.take_in(&other);
                        contest.ask(&spheres, &circumstances);
                        contest.ask(&Spheres::new(), &circumstances);
                    }
                }
                spheres.end_tick();
            }
        }
    }
}

#[test]
fn in_every_workload() {
    for (motion, name) in Motion::ALL {
        for (seed, objects) in [(1, 300), (2, 1_500)] {
            let settings =
                Settings { motion, objects, seed, coverage_percent: 20.0, speed: 0.3, ..Settings::default() };
            let mut workload = Workload::new(settings).unwrap();
            let mut contest = Contest::new();
            for tick in 0..20 {
                contest.check(
                    workload.spheres(),
                    format!("Workload \"{name}\", {objects} objects, seed {seed}, tick {tick}"),
                );
                workload.step();
            }
        }
    }
}

/// A crowd in one place is slow for some, but neither panics nor fills the memory: two that are 2e9 apart, thousands
/// in one spot, and giants that overlap all objects.
#[test]
fn in_worlds_made_to_break_them() {
    let mut random = Random::new(1);
    let mut spheres = Spheres::new();
    for corner in [-1e9f32, 1e9] {
        spheres.insert(Sphere::new(Vec3::splat(corner), 1e9)).unwrap();
    }
    for _ in 0..3_000 {
        spheres.insert(Sphere::new(random.in_ball() * 0.3, 0.01)).unwrap();
    }
    for _ in 0..20 {
        spheres.insert(Sphere::new(random.in_ball() * 1e9, 5e8)).unwrap();
    }
    let mut contest = Contest::new();
    for tick in 0..3 {
        contest.check(&spheres, format!("World made to break them, tick {tick}"));
        spheres.end_tick();
        (CHANGES[0].1)(&mut spheres, &mut random, WORLDS[0].1);
    }
}

/// A method may be asked for pairs without an update first.
#[test]
fn when_asked_before_anything_was_taken_in() {
    Contest::new().ask(&Spheres::new(), "An empty world");
    let spheres = strew(WORLDS[0].1, 200, &mut Random::new(1));
    Contest::new().ask(&spheres, format!("World \"{}\", seed 1", WORLDS[0].0));
}
