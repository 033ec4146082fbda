//! What began and what ended is what comparing the pairs of two ticks finds, whatever the method does to find them: while
//! it follows courses, while it does not, and when it changes its mind.
//!
//! One thing lists do not show: where a slot changed hands, pairs of the same two slots ended and began. Who looks again at
//! an unchanged world is not told so again.

mod scenes;

use scenes::SCENES;
use space::workload::{Motion, Settings, Workload};
use space::{BroadPhase, Edition, Kinesphere, Pair, PairChanges, Spheres};

/// The method's own account beside a comparison.
struct Accounts {
    kinesphere: Kinesphere,
    pairs: Vec<Pair>,
    before: Vec<Pair>,
    changes: PairChanges,
    looks: usize,
    switches: usize,
    /// The world when it was looked at last.
    seen: Option<Edition>,
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
            seen: None,
        }
    }

    fn check(&mut self, spheres: &Spheres) -> Result<(), String> {
        let was_following = self.kinesphere.is_following();
        self.looks += 1;
        self.before.clone_from(&self.pairs);
        self.before.sort_unstable();
        self.kinesphere.pairs(spheres, &mut self.pairs);
        self.switches += usize::from(self.kinesphere.is_following() != was_following);
        let seen = Some(spheres.edition());
        let is_new = std::mem::replace(&mut self.seen, seen) != seen;
        self.changes.update(&self.pairs, if is_new { spheres.replaced() } else { &[] });
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
