//! Moves the rooms on, and times the methods in them.

use space::{BroadPhase, Pair};

use super::voxels::{self, VoxelRow};
use super::{Row, Settings};
use crate::experiment::flight_room::{FlightRoom, Movement};
use crate::fingerprint::Fingerprint;
use crate::method::BroadPhaseMethod;
use crate::stopwatch::{Stopwatch, timed};

/// Frames before measuring, so that no method is judged by its first.
const WARM: u32 = 10;
/// How far an object moves per frame, in the room where that is varied.
const SPEEDS: [f32; 6] = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3];
/// How many objects a room has at most where something else is varied: figure 5 ends there.
const CROWDED_MAX: usize = 1_000;

/// Runs these methods in every room; and the grid with voxels of several sizes in one of them.
pub fn run_methods(
    settings: &Settings,
    methods: &[&'static BroadPhaseMethod],
    stopwatch: &mut dyn Stopwatch,
    progress: &mut dyn FnMut(u32, u32),
) -> (Vec<Row>, Vec<VoxelRow>) {
    let scenes = scenes(settings);
    let crowded = crowded(settings);
    let per_scene = WARM + settings.frames;
    let total = per_scene * (scenes.len() as u32 + u32::from(crowded.is_some()));
    let mut rows = Vec::new();
    for (index, scene) in scenes.iter().enumerate() {
        let done = per_scene * index as u32;
        let room = FlightRoom::new(scene.objects, scene.movement, scene.speed, settings.seed);
        let timed = methods.iter().map(|method| TimedMethod::of(method)).collect();
        let timed = run_room(room, settings.frames, timed, stopwatch, &mut |frame| progress(done + frame, total));
        rows.extend(timed.iter().map(|method| method.row(scene, settings.frames)));
    }
    let voxels = crowded.map_or(Vec::new(), |scene| {
        let done = per_scene * scenes.len() as u32;
        let (frames, seed) = (settings.frames, settings.seed);
        voxels::run(&scene, (frames, seed), stopwatch, &mut |frame| progress(done + frame, total))
    });
    progress(total, total);
    (rows, voxels)
}

pub struct RoomSetup {
    pub movement: Movement,
    pub objects: usize,
    pub speed: f32,
}

/// The fullest room in which more is varied than objects and movement.
fn crowded(settings: &Settings) -> Option<RoomSetup> {
    let objects = settings.objects.iter().copied().filter(|&objects| objects <= CROWDED_MAX).max()?;
    Some(RoomSetup { movement: Movement::Space, objects, speed: settings.speed })
}

/// Every number of objects with both kinds of movement, and one of them at every speed.
fn scenes(settings: &Settings) -> Vec<RoomSetup> {
    let speed = settings.speed;
    let mut scenes = Vec::new();
    // Rooms that are compared are measured one after the other: a machine does not stay the same for minutes.
    for &objects in &settings.objects {
        scenes.extend(Movement::ALL.map(|movement| RoomSetup { movement, objects, speed }));
    }
    if let Some(crowded) = crowded(settings) {
        let others = SPEEDS.into_iter().filter(|&other| other != speed);
        scenes.extend(others.map(|speed| RoomSetup { speed, ..crowded }));
    }
    scenes
}

/// Runs all methods in every frame of a room. The pairs of the first one move it on, and are what the others should
/// find.
pub fn run_room(
    mut room: FlightRoom,
    frames: u32,
    mut methods: Vec<TimedMethod>,
    stopwatch: &mut dyn Stopwatch,
    progress: &mut dyn FnMut(u32),
) -> Vec<TimedMethod> {
    let count = methods.len();
    let mut touching = Vec::new();
    for frame in 0..WARM + frames {
        progress(frame);
        for turn in 0..count {
            // The first to run rotates, so that none always meets the cold cache.
            methods[(turn + frame as usize) % count].run(&room, stopwatch, frame >= WARM);
        }
        let expected = methods.first().map(|first| Fingerprint::of(&first.pairs)).unwrap_or_default();
        for method in &mut methods {
            method.agrees &= Fingerprint::of(&method.pairs) == expected;
        }
        // A list's order is its method's own, and must not reach the room.
        touching.clear();
        touching.extend(methods.iter().take(1).flat_map(|first| &first.pairs));
        touching.sort_unstable();
        room.step(&touching);
    }
    methods
}

/// A method at work, and what was measured of it.
pub struct TimedMethod {
    method: &'static str,
    broad_phase: Box<dyn BroadPhase>,
    pairs: Vec<Pair>,
    update_ms: f64,
    find_ms: f64,
    /// What reading the clock took in each of the two.
    clock_ms: f64,
    /// Cells that objects entered or left, where the method counts that.
    pub updates: u64,
    sphere_tests: u64,
    pairs_found: usize,
    agrees: bool,
}

impl TimedMethod {
    fn of(method: &'static BroadPhaseMethod) -> TimedMethod {
        let contenders = (method.make)(1);
        TimedMethod::new(method.name, contenders.into_iter().next().expect("every method can be made").broad_phase)
    }

    pub fn new(method: &'static str, broad_phase: Box<dyn BroadPhase>) -> TimedMethod {
        TimedMethod {
            method,
            broad_phase,
            pairs: Vec::new(),
            update_ms: 0.0,
            find_ms: 0.0,
            clock_ms: 0.0,
            updates: 0,
            sphere_tests: 0,
            pairs_found: 0,
            agrees: true,
        }
    }

    fn run(&mut self, room: &FlightRoom, stopwatch: &mut dyn Stopwatch, is_measured: bool) {
        let ((), nothing) = timed(stopwatch, || ());
        let (updating, update) = timed(stopwatch, || self.broad_phase.update(room.spheres()));
        let (finding, find) = timed(stopwatch, || self.broad_phase.find(room.spheres(), &mut self.pairs));
        if is_measured {
            self.clock_ms += nothing.cpu_ms;
            self.update_ms += update.cpu_ms;
            self.find_ms += find.cpu_ms;
            self.updates += updating.cells;
            self.sphere_tests += (updating + finding).sphere_tests;
            self.pairs_found += self.pairs.len();
        }
    }

    pub fn row(&self, scene: &RoomSetup, frames: u32) -> Row {
        let per_frame = |sum: f64| sum / f64::from(frames);
        // What is shorter than the clock can tell counts as ten nanoseconds: no rate is infinite.
        let microseconds = |sum_ms: f64| per_frame(sum_ms - self.clock_ms).max(1e-5) * 1e3;
        let (update_us, find_us) = (microseconds(self.update_ms), microseconds(self.find_ms));
        Row {
            movement: scene.movement,
            objects: scene.objects,
            speed: scene.speed,
            method: self.method,
            frames_per_second: 1e6 / (update_us + find_us),
            update_us,
            find_us,
            update_share: update_us / (update_us + find_us),
            sphere_tests: per_frame(self.sphere_tests as f64),
            pairs: per_frame(self.pairs_found as f64),
            agrees: self.agrees,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::Contender;
    use crate::report::claim::ClaimOutcome;
    use crate::stopwatch::Reading;
    use crate::study::Study;
    use crate::study::{self, Report};
    use space::broad::BruteForce;
    use space::{Spheres, Work};
    use std::cell::Cell;
    use std::time::Duration;

    thread_local! {
        /// What the clock of this test shows: methods say how long they take.
        static NOW_US: Cell<u64> = const { Cell::new(0) };
    }

    struct Script;

    impl Stopwatch for Script {
        fn read(&mut self) -> Reading {
            // Reading it takes 7 microseconds, which must not be seen.
            let now = NOW_US.with(|now| now.replace(now.get() + 7) + 7);
            Reading { cpu: Duration::from_micros(now), wall: Duration::from_micros(now) }
        }
    }

    /// Right, and exactly as slow as told.
    struct Scripted {
        update_us: u64,
        find_us: u64,
        is_wrong: bool,
    }

    impl BroadPhase for Scripted {
        fn update(&mut self, _spheres: &Spheres) -> Work {
            NOW_US.with(|now| now.set(now.get() + self.update_us));
            Work::default()
        }
        fn find(&mut self, spheres: &Spheres, pairs: &mut Vec<Pair>) -> Work {
            NOW_US.with(|now| now.set(now.get() + self.find_us));
            let work = BruteForce.pairs(spheres, pairs);
            if self.is_wrong {
                pairs.push(Pair::of_rows(0, 1));
            }
            work
        }
    }

    const fn scripted(name: &'static str, make: fn(usize) -> Vec<Contender>) -> BroadPhaseMethod {
        BroadPhaseMethod { name, objects_max: 0, make }
    }

    fn one(update_us: u64, find_us: u64) -> Vec<Contender> {
        vec![Contender { variant: None, broad_phase: Box::new(Scripted { update_us, find_us, is_wrong: false }) }]
    }

    /// What the paper reports, as if its machine were here.
    static PAPER: [BroadPhaseMethod; 6] = [
        scripted("brute-force", |_| one(1, 999)),
        scripted("octree", |_| one(300, 100)),
        scripted("uniform-grid", |_| one(120, 80)),
        scripted("sweep-and-prune", |_| one(45, 5)),
        scripted("grid-sweep-and-prune", |_| one(45, 35)),
        scripted("kinesphere", |_| one(4, 1)),
    ];

    fn run(arguments: &str, methods: &[&'static BroadPhaseMethod]) -> Report<Settings> {
        let settings: Settings = study::settings(arguments).unwrap();
        let results = settings.run_methods(methods, &mut Script, &mut |_, _| {});
        Report::new(settings, results)
    }

    const TINY: &str = "--objects 100,200 --frames 4";

    fn agree(report: &Report<Settings>) -> bool {
        Settings::failures(report).is_empty()
    }

    #[test]
    fn a_world_as_the_paper_describes_it_makes_every_claim_true() {
        let report = run(TINY, &PAPER.iter().collect::<Vec<_>>());
        for claim in &report.claims {
            assert_eq!(claim.outcome, ClaimOutcome::True, "{claim}");
        }
        let grid = report.row(Movement::Space, 200, "uniform-grid").unwrap();
        assert!((grid.frames_per_second - 5_000.0).abs() < 1e-6 && (grid.update_share - 0.6).abs() < 1e-9, "{grid:?}");
        let text = report.to_text();
        let words: Vec<&str> = text.split_whitespace().collect();
        let text = words.join(" ");
        assert!(text.contains("its time is 75 % lower and its rate is 300 % higher"), "{text}");
        assert!(
            text.contains("Sweep and prune: 90 %. Grid: 60 %. A share counts as the paper's if it is within 5 points")
        );
        assert!(
            text.contains("with 200 objects sweep and prune is the fastest at every speed that was tried"),
            "{text}"
        );
    }

    #[test]
    fn without_a_small_room_no_figure_is_empty_and_no_list_of_evidence_either() {
        let methods: Vec<&BroadPhaseMethod> = PAPER.iter().collect();
        let report = run("--objects 1500 --frames 1", &methods);
        let untested = report.claims.iter().filter(|claim| claim.outcome == ClaimOutcome::Untested);
        assert_eq!(untested.clone().count(), report.claims.len() - 1, "all but the one about ours");
        for claim in untested {
            assert!(claim.evidence.to_lowercase().contains("not measured"), "{claim}");
        }
        for claim in &report.claims {
            assert!(!claim.evidence.contains(": .") && !claim.evidence.contains("  "), "{claim}");
        }
        let names: Vec<String> = report.documents().into_iter().map(|document| document.name).collect();
        let plots: Vec<&String> = names.iter().filter(|name| name.ends_with(".svg")).collect();
        assert_eq!(plots, ["everybody-space.svg", "everybody-plane.svg"]);
    }

    #[test]
    fn objects_at_rest_leave_a_plot_of_speeds_that_one_can_read() {
        let report = run("--objects 100,200 --frames 4 --speed 0", &[&PAPER[3], &PAPER[5]]);
        let documents = report.documents();
        let plot = documents.iter().find(|document| document.name == "speeds.svg").unwrap();
        assert!(plot.contents.contains(">0.001</text>"), "{}", plot.contents);
        assert_eq!(plot.contents.matches("<circle").count(), 2 * SPEEDS.len(), "all but those at rest");
    }

    #[test]
    fn a_world_that_is_otherwise_makes_claims_false_and_what_was_not_seen_stays_untested() {
        static SLOW_SWEEP: BroadPhaseMethod = scripted("sweep-and-prune", |_| one(10, 990));
        let report = run(TINY, &[&PAPER[0], &PAPER[2], &SLOW_SWEEP]);
        let outcomes: Vec<ClaimOutcome> = report.claims.iter().map(|claim| claim.outcome).collect();
        use ClaimOutcome::*;
        assert_eq!(
            outcomes,
            [True, Untested, False, False, Partly, Untested, True, True, Untested],
            "{:#?}",
            report.claims
        );
    }

    #[test]
    fn a_method_that_finds_other_pairs_is_named() {
        static WRONG: BroadPhaseMethod = scripted("octree", |_| {
            vec![Contender {
                variant: None,
                broad_phase: Box::new(Scripted { update_us: 1, find_us: 1, is_wrong: true }),
            }]
        });
        let report = run(TINY, &[&PAPER[0], &WRONG]);
        assert!(!agree(&report));
        assert!(report.rows.iter().all(|row| row.agrees == (row.method != "octree")));
    }

    #[test]
    fn the_real_methods_agree_and_leave_a_report() {
        let mut last = (0, 0);
        let settings: Settings = study::settings(TINY).unwrap();
        let report = study::run(settings, &mut Script, &mut |done, total| last = (done, total)).unwrap();
        assert!(agree(&report));
        assert_eq!(last, (14 * 10, 14 * 10));
        assert_eq!(report.rows.len(), 9 * report.methods().len());
        let documents = report.documents();
        let names: Vec<&str> = documents.iter().map(|document| document.name.as_str()).collect();
        for name in ["index.html", "broad-phases.csv", "broad-phases.json", "figure-4-space.svg", "voxels.svg"] {
            assert!(names.contains(&name), "{names:?}");
        }
        let json: serde_json::Value = serde_json::from_str(&documents[2].contents).unwrap();
        assert_eq!(json["rows"].as_array().unwrap().len(), report.rows.len());
        assert_eq!(documents[1].contents.lines().count(), 1 + report.rows.len());
        assert!(documents[1].contents.contains("space,200,0.1,octree,"), "{}", documents[1].contents);
        assert!(documents[1].contents.starts_with("movement,objects,speed,method,frames_per_second,"));
    }
}
