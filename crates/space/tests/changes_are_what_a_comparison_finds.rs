//! What began and what ended is what comparing the pairs of two ticks finds, whatever the method does to find them:
//! while it has flight plans, while it has none, and when it changes its mind.
//!
//! One thing lists do not show: where a slot was handed on, pairs of the same two slots ended and began. A second look
//! in the same tick does not tell so again.

mod scenes;

use kinesphere_space::workload::{Motion, Settings, Workload};
use kinesphere_space::{BroadPhase, Kinesphere, Pair, PairChanges, Sphere, Spheres, Vec3};
use scenes::SCENES;

/// The method's own account beside a comparison.
struct Accounts {
    kinesphere: Kinesphere,
    pairs: Vec<Pair>,
    before: Vec<Pair>,
    changes: PairChanges,
    looks: usize,
    switches: usize,
}

impl Accounts {
    fn new(threads: usize) -> Accounts {
        Accounts {
            kinesphere: Kinesphere::with_threads(threads).eager().tracking_changes(),
            pairs: Vec::new(),
            before: Vec::new(),
            changes: PairChanges::new(),
            looks: 0,
            switches: 0,
        }
    }

    fn check(&mut self, spheres: &Spheres) -> Result<(), String> {
        let was_following = self.kinesphere.is_following();
        self.looks += 1;
        self.before.clone_from(&self.pairs);
        self.before.sort_unstable();
        self.kinesphere.pairs(spheres, &mut self.pairs);
        self.switches += usize::from(self.kinesphere.is_following() != was_following);
        self.changes.update(spheres, &self.pairs);
        let mut now = self.pairs.clone();
        now.sort_unstable();
        self.same("began", self.kinesphere.began(), &self.changes.began)?;
        self.same("ended", self.kinesphere.ended(), &self.changes.ended)?;

        let mut applied = self.before.clone();
        applied.retain(|pair| self.kinesphere.ended().binary_search(pair).is_err());
        applied.extend_from_slice(self.kinesphere.began());
        applied.sort_unstable();
        self.same("pairs after the changes", &applied, &now)
    }

    fn same(&self, what: &str, found: &[Pair], expected: &[Pair]) -> Result<(), String> {
        if found == expected {
            return Ok(());
        }
        let without = |from: &[Pair], others: &[Pair]| -> Vec<Pair> {
            from.iter().filter(|pair| !others.contains(pair)).take(5).copied().collect()
        };
        Err(format!(
            "{what}: {} found, {} expected, {}; missing {:?}; wrong {:?}",
            found.len(),
            expected.len(),
            if self.kinesphere.is_following() { "following" } else { "not following" },
            without(expected, found),
            without(found, expected),
        ))
    }
}

#[test]
fn in_every_scene() {
    let (mut faults, mut switches) = (Vec::new(), 0);
    for (number, scene) in SCENES.iter().enumerate() {
        let seed = number as u64;
        let mut accounts = Accounts::new(1 + number % 2);
        let mut run = || {
            let mut world = scene.play(seed);
            let other = scene.play(seed + 1_000);
            for tick in 0..280 {
                accounts.check(&world.spheres)?;
                match tick {
                    90 | 250 => accounts.check(&world.spheres)?,
                    120 => {
                        scene.step(&mut world);
                        accounts.check(&world.spheres)?;
                    }
                    150 => world.spheres.end_tick(),
                    180 => scene.step(&mut world),
                    210 => accounts.check(&other.spheres)?,
                    _ => {}
                }
                world.spheres.end_tick();
                scene.step(&mut world);
            }
            Ok(())
        };
        if let Err(fault) = run() {
            let fault: String = fault;
            faults.push(format!("Scene \"{}\", seed {seed}, look {}: {fault}", scene.name, accounts.looks));
        }
        switches += accounts.switches;
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(switches > SCENES.len(), "the method changed its mind only {switches} times, too seldom to test it");
}

#[test]
fn in_every_workload() {
    for (motion, name) in Motion::ALL {
        let settings = Settings { motion, objects: 2_000, seed: 3, ..Settings::default() };
        let mut workload = Workload::new(settings).unwrap();
        let mut accounts = Accounts::new(1);
        for tick in 0..100 {
            accounts
                .check(workload.spheres())
                .unwrap_or_else(|fault| panic!("Workload \"{name}\", seed 3, tick {tick}: {fault}"));
            workload.step();
        }
    }
}

/// A question for the pairs tells which slots were handed on since the last one, however often the world was taken
/// in meanwhile.
#[test]
fn when_a_slot_is_handed_on_between_questions() {
    for is_eager in [false, true] {
        let mut spheres = Spheres::new();
        let slots = [0.0, 1.0, 40.0].map(|x| spheres.insert(Sphere::new(Vec3::new(x, 0.0, 0.0), 1.0)).unwrap());
        let mut kinesphere = Kinesphere::new().tracking_changes();
        kinesphere = if is_eager { kinesphere.eager() } else { kinesphere };
        let (mut pairs, touching) = (Vec::new(), [Pair::new(slots[0], slots[1])]);
        for _ in 0..60 {
            kinesphere.pairs(&spheres, &mut pairs);
            spheres.end_tick();
        }
        assert_eq!(kinesphere.is_following(), is_eager);
        spheres.remove(slots[1]).unwrap();
        assert_eq!(spheres.insert(Sphere::new(Vec3::X, 1.0)).unwrap(), slots[1]);
        kinesphere.update(&spheres);
        kinesphere.update(&spheres);
        spheres.end_tick();
        kinesphere.update(&spheres);
        kinesphere.find(&spheres, &mut pairs);
        assert_eq!((kinesphere.began(), kinesphere.ended()), (&touching[..], &touching[..]), "eager: {is_eager}");
        spheres.move_to(slots[2], Vec3::splat(50.0)).unwrap();
        kinesphere.pairs(&spheres, &mut pairs);
        assert_eq!((kinesphere.began(), kinesphere.ended()), (&[][..], &[][..]), "told before, eager: {is_eager}");
    }
}

/// A slot may be left in one tick and taken in the next one; that there was no question in between makes it no less
/// another's.
#[test]
fn when_a_slot_is_left_and_taken_later_between_questions() {
    for (is_eager, is_updated) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut spheres = Spheres::new();
        let slots = [0.0, 1.0, 40.0].map(|x| spheres.insert(Sphere::new(Vec3::new(x, 0.0, 0.0), 1.0)).unwrap());
        let mut kinesphere = Kinesphere::new().tracking_changes();
        kinesphere = if is_eager { kinesphere.eager() } else { kinesphere };
        let (mut pairs, mut changes, touching) = (Vec::new(), PairChanges::new(), [Pair::new(slots[0], slots[1])]);
        for _ in 0..60 {
            kinesphere.pairs(&spheres, &mut pairs);
            changes.update(&spheres, &pairs);
            spheres.end_tick();
        }
        spheres.remove(slots[1]).unwrap();
        if is_updated {
            kinesphere.update(&spheres);
        }
        spheres.end_tick();
        assert_eq!(spheres.insert(Sphere::new(Vec3::X, 1.0)).unwrap(), slots[1]);
        kinesphere.pairs(&spheres, &mut pairs);
        changes.update(&spheres, &pairs);
        let who = format!("eager: {is_eager}, updated: {is_updated}");
        assert_eq!((&changes.began[..], &changes.ended[..]), (&touching[..], &touching[..]), "{who}");
        assert_eq!((kinesphere.began(), kinesphere.ended()), (&touching[..], &touching[..]), "{who}");
    }
}
