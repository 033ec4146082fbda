//! However the default broad phase predicts, and however the world breaks the predictions, it finds what brute force
//! finds, tick after tick for hundreds of ticks; and where motion is smooth it does predict.
//!
//! A failure prints the scene, the seed, the tick, and the pairs that are missing or too many.

mod scenes;

use kinesphere_space::broad::{BruteForce, PlainGrid};
use kinesphere_space::workload::{Motion, Settings, Workload};
use kinesphere_space::{BroadPhase, Kinesphere, Pair, Sphere, Spheres};
use scenes::{SCENES, Scene, World};

const TICKS: u64 = 400;

/// The method under test beside one that remembers nothing.
struct Contest {
    kinesphere: Kinesphere,
    reference: Box<dyn BroadPhase>,
    found: Vec<Pair>,
    expected: Vec<Pair>,
    ticks: usize,
    followed: usize,
}

impl Contest {
    fn new(reference: impl BroadPhase + 'static) -> Contest {
        Contest {
            kinesphere: Kinesphere::new().eager(),
            reference: Box::new(reference),
            found: Vec::new(),
            expected: Vec::new(),
            ticks: 0,
            followed: 0,
        }
    }

    fn check(&mut self, spheres: &Spheres) -> Result<(), String> {
        self.kinesphere.pairs(spheres, &mut self.found);
        self.kinesphere.assert_well_formed(spheres);
        self.compare(spheres)
    }

    fn compare(&mut self, spheres: &Spheres) -> Result<(), String> {
        self.ticks += 1;
        self.followed += usize::from(self.kinesphere.is_following());
        self.reference.pairs(spheres, &mut self.expected);
        self.found.sort_unstable();
        self.expected.sort_unstable();
        if self.found == self.expected {
            return Ok(());
        }
        let describe = |pair: &Pair| (*pair, spheres.get(pair.a()), spheres.get(pair.b()));
        let missing = self.expected.iter().filter(|pair| self.found.binary_search(pair).is_err());
        let wrong = self.found.iter().filter(|pair| self.expected.binary_search(pair).is_err());
        let twice = self.found.windows(2).filter(|two| two[0] == two[1]).map(|two| &two[0]);
        let some = |pairs: &mut dyn Iterator<Item = &Pair>| pairs.take(3).map(describe).collect::<Vec<_>>();
        Err(format!(
            "{}, {} pairs expected; missing {:?}; wrong {:?}; twice {:?}",
            if self.kinesphere.is_following() { "following" } else { "not following" },
            self.expected.len(),
            some(&mut missing.into_iter()),
            some(&mut wrong.into_iter()),
            some(&mut twice.into_iter()),
        ))
    }

    /// Whether flight plans were followed for at least this share of the ticks.
    fn expect_followed(&self, percent: usize) -> Result<(), String> {
        let followed = 100 * self.followed / self.ticks;
        if followed >= percent { Ok(()) } else { Err(format!("{followed} % followed, expected {percent} %")) }
    }
}

/// Plays all scenes with `seeds` seeds; says which went wrong, and how.
fn in_scenes(seeds: u64, play: impl Fn(&Scene, World, &mut Contest) -> Result<(), String>) {
    let mut faults = Vec::new();
    for scene in &SCENES {
        for seed in 0..seeds {
            let mut contest = Contest::new(BruteForce);
            if let Err(fault) = play(scene, scene.play(seed), &mut contest) {
                faults.push(format!("Scene \"{}\", seed {seed}, tick {}: {fault}", scene.name, contest.ticks));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn in_every_scene() {
    in_scenes(2, |scene, mut world, contest| {
        for _ in 0..TICKS {
            contest.check(&world.spheres)?;
            world.spheres.end_tick();
            scene.step(&mut world);
        }
        contest.expect_followed(scene.followed_percent)
    });
}

/// Asking twice in a tick gives the same answer twice, and does not wear predictions out.
#[test]
fn when_asked_twice_per_tick() {
    in_scenes(1, |scene, mut world, contest| {
        for _ in 0..200 {
            contest.check(&world.spheres)?;
            contest.check(&world.spheres)?;
            world.spheres.end_tick();
            scene.step(&mut world);
        }
        contest.expect_followed(scene.followed_percent)
    });
}

/// Half of a tick's changes come after the first question and before the second.
#[test]
fn when_asked_in_the_middle_of_a_tick() {
    in_scenes(1, |scene, mut world, contest| {
        for tick in 0..250 {
            contest.check(&world.spheres)?;
            if tick % 3 == 0 {
                scene.step(&mut world);
                contest.check(&world.spheres)?;
            }
            world.spheres.end_tick();
            scene.step(&mut world);
        }
        Ok(())
    });
}

/// Now and then a tick ends unseen, ends twice, or changes after it was looked at; a clone is handed in, or takes over;
/// or another world comes in between.
#[test]
fn whatever_is_seen_of_it() {
    in_scenes(1, |scene, mut world, contest| {
        let mut other = scene.play(99);
        for tick in 0..250 {
            contest.check(&world.spheres)?;
            match tick {
                100 => scene.step(&mut world),
                140 => world.spheres.end_tick(),
                180 => {
                    world.spheres.end_tick();
                    scene.step(&mut world);
                }
                200 => contest.check(&other.spheres)?,
                220 => {
                    other = world.clone();
                    contest.check(&other.spheres)?;
                    other.spheres.end_tick();
                    scene.step(&mut other);
                    contest.check(&other.spheres)?;
                }
                230 => world.spheres = world.spheres.clone(),
                _ => {}
            }
            // A tick that never ends may still change.
            if tick != 240 {
                world.spheres.end_tick();
            }
            scene.step(&mut world);
        }
        Ok(())
    });
}

#[test]
fn in_every_workload() {
    let mut faults = Vec::new();
    for (motion, name) in Motion::ALL {
        for (seed, objects, ticks) in [(1, 700, 200), (2, 4_000, 60)] {
            let settings = Settings { motion, objects, seed, ..Settings::default() };
            let mut workload = Workload::new(settings).unwrap();
            let mut contest =
                if objects > 1_000 { Contest::new(PlainGrid::default()) } else { Contest::new(BruteForce) };
            let mut run = || {
                for _ in 0..ticks {
                    contest.check(workload.spheres())?;
                    workload.step();
                }
                let is_smooth = matches!(motion, Motion::Uniform | Motion::Seekers | Motion::Mixed | Motion::Static);
                contest.expect_followed(if is_smooth { 50 } else { 0 })
            };
            if let Err(fault) = run() {
                faults.push(format!(
                    "Workload \"{name}\", {objects} objects, seed {seed}, tick {}: {fault}",
                    contest.ticks
                ));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// After updates without a question, the next question gets all pairs.
#[test]
fn when_there_was_no_question_for_a_while() {
    in_scenes(1, |scene, mut world, contest| {
        for tick in 0..250 {
            if tick % 40 != 39 {
                contest.check(&world.spheres)?;
            } else {
                contest.kinesphere.update(&world.spheres);
            }
            if tick % 50 == 30 {
                // Twice in the same tick, with changes in between and no question.
                scene.step(&mut world);
                contest.kinesphere.update(&world.spheres);
                contest.check(&world.spheres)?;
            }
            world.spheres.end_tick();
            scene.step(&mut world);
        }
        Ok(())
    });
}

/// Versions are counted modulo 256: hundreds in one tick bring no old encounter back to life.
#[test]
fn when_a_tick_is_asked_about_hundreds_of_times() {
    let mut world = SCENES[0].play(7);
    let stout = world.slots()[200];
    let mut contest = Contest::new(BruteForce);
    for tick in 0..150 {
        contest.check(&world.spheres).unwrap_or_else(|fault| panic!("tick {tick}: {fault}"));
        if tick % 50 == 25 {
            for change in 0..256 {
                world.spheres.resize(stout, [1.01, 1.0][change % 2]).unwrap();
                contest.check(&world.spheres).unwrap_or_else(|fault| panic!("tick {tick}, change {change}: {fault}"));
            }
        }
        world.spheres.end_tick();
        SCENES[0].step(&mut world);
    }
}

/// A slot that is handed on hundreds of times in a tick has one flight plan in the end: encounters of its first object
/// are void, however many objects came in between.
#[test]
fn when_a_slot_is_handed_on_hundreds_of_times() {
    let mut world = SCENES[0].play(7);
    let mut contest = Contest::new(BruteForce);
    for times in (1..=6).chain(253..=258).cycle().take(120) {
        contest.check(&world.spheres).unwrap_or_else(|fault| panic!("{times} times: {fault}"));
        world.spheres.end_tick();
        SCENES[0].step(&mut world);
        let (slot, other) = (world.slots()[contest.ticks], world.slots()[contest.ticks + 1]);
        for _ in 0..times {
            let (gone, next) = (world.spheres.remove(slot).unwrap(), world.spheres.get(other).unwrap());
            let elsewhere = Sphere { radius: gone.radius, ..next };
            assert_eq!(world.spheres.insert(elsewhere).unwrap(), slot, "the row that was left last is used first");
        }
    }
    contest.expect_followed(50).unwrap();
}
