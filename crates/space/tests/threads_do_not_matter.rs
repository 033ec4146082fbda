//! One thread, two or four: the same pairs in the same order, and the same changes, tick after tick.

mod scenes;

use kinesphere_space::workload::{Motion, Settings, Workload};
use kinesphere_space::{BroadPhase, Kinesphere, Pair, Spheres, Work};
use rayon::ThreadPool;
use scenes::SCENES;

/// The method with `threads` threads, in a pool of its own.
struct Team {
    pool: ThreadPool,
    kinesphere: Kinesphere,
    pairs: Vec<Pair>,
}

impl Team {
    fn new(threads: usize) -> Team {
        Team {
            pool: rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap(),
            kinesphere: Kinesphere::with_threads(threads).eager().tracking_changes(),
            pairs: Vec::new(),
        }
    }

    fn look(&mut self, spheres: &Spheres) -> Work {
        let Team { pool, kinesphere, pairs } = self;
        pool.install(|| kinesphere.pairs(spheres, pairs))
    }
}

fn check(teams: &mut [Team], spheres: &Spheres, circumstances: &str) {
    let works: Vec<Work> = teams.iter_mut().map(|team| team.look(spheres)).collect();
    let (one, others) = teams.split_first().unwrap();
    for (other, work) in others.iter().zip(&works[1..]) {
        let threads = other.pool.current_num_threads();
        // Not `assert_eq`, which would print thousands of pairs.
        assert!(one.pairs == other.pairs, "{circumstances}: pairs differ between one thread and {threads}");
        assert!(one.kinesphere.began() == other.kinesphere.began(), "{circumstances}: {threads} threads, began");
        assert!(one.kinesphere.ended() == other.kinesphere.ended(), "{circumstances}: {threads} threads, ended");
        assert_eq!(works[0], *work, "{circumstances}: {threads} threads");
    }
}

fn teams() -> [Team; 3] {
    [1, 2, 4].map(Team::new)
}

#[test]
fn in_every_workload() {
    for (motion, name) in Motion::ALL {
        let settings = Settings { motion, objects: 2_000, seed: 4, ..Settings::default() };
        let mut workload = Workload::new(settings).unwrap();
        let mut teams = teams();
        for tick in 0..60 {
            check(&mut teams, workload.spheres(), &format!("Workload \"{name}\", seed 4, tick {tick}"));
            workload.step();
        }
    }
}

/// Large enough for several schedules, and for tiles that are cut into several slices.
#[test]
fn in_a_large_world() {
    let settings = Settings { objects: 70_000, seed: 6, ..Settings::default() };
    let mut workload = Workload::new(settings).unwrap();
    let mut teams = teams();
    for tick in 0..50 {
        check(&mut teams, workload.spheres(), &format!("70000 objects, seed 6, tick {tick}"));
        workload.step();
    }
    assert!(teams.iter().all(|team| team.kinesphere.is_following()));
}

/// Long enough that flight plans are given up in some, and begin again.
#[test]
fn in_every_scene() {
    let mut began_late = 0;
    for scene in SCENES {
        let mut world = scene.play(5);
        let mut teams = teams();
        for tick in 0..260 {
            let was_following = teams[0].kinesphere.is_following();
            check(&mut teams, &world.spheres, &format!("Scene \"{}\", seed 5, tick {tick}", scene.name));
            began_late += usize::from(tick > 50 && !was_following && teams[0].kinesphere.is_following());
            world.spheres.end_tick();
            scene.step(&mut world);
        }
    }
    assert!(began_late > 5, "flight plans began late only {began_late} times, too seldom to test it");
}
