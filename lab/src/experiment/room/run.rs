//! Moves the rooms on, and times the trees in them.

use shapes::BallTree;
use shapes::Pose;
use shapes::mesh::catalog::shape;
use shapes::sphere_tree::Method;
use shapes::traversal::{Intersection, Placed, Question, Search, WrapError, wrap};
use space::broad::{Kinesphere, SweepAndPrune};
use space::{BroadPhase, Pair, Vec3};

use super::{PAPER_OBJECTS_MAX, RoomTrees, Row, Settings, TreeInfo};
use crate::experiment::flight_room::{FlightRoom, Movement};
use crate::stopwatch::{Stopwatch, timed};
use crate::study::Results;

/// Frames before measuring, so that no method is judged by its first.
const WARM: u32 = 5;
pub const BODIES: [&str; 2] = ["box", "rabbit"];
/// The paper's trees, by levels below the root (its four and five levels are depths three and four), and ours.
pub const TREES: [(Method, usize); 8] = [
    (Method::Best, 3),
    (Method::Best, 2),
    (Method::Best, 1),
    (Method::Octree, 3),
    (Method::Octree, 4),
    (Method::Combined, 1),
    (Method::Combined, 2),
    (Method::Combined, 3),
];

/// Runs some of the trees around some of the bodies in every room; the first tree's contacts move a room on.
pub fn run_bodies(
    settings: &Settings,
    bodies: &[&'static str],
    trees: &[(Method, usize)],
    stopwatch: &mut dyn Stopwatch,
    progress: &mut dyn FnMut(u32, u32),
) -> Result<Results<Settings>, WrapError> {
    let total = (bodies.len() * settings.objects.len()) as u32 * (WARM + settings.frames);
    let (mut rows, mut infos, mut done) = (Vec::new(), Vec::new(), 0);
    for &name in bodies {
        let mesh = shape(name).expect("the room's bodies are shipped");
        let mut wrapped = Vec::new();
        for &(method, depth) in trees {
            let tree = wrap(&mesh, method, depth)?;
            infos.push(TreeInfo {
                bodies: name,
                method: method.name(),
                depth,
                leaves: tree.ends(u8::MAX).len(),
                error: f64::from(tree.error_at(u8::MAX) / tree.ball(0).radius),
            });
            wrapped.push(TreeRunner {
                method,
                depth,
                tree,
                search: Search::default(),
                narrow_ms: 0.0,
                touching: 0,
                operations: 0,
            });
        }
        for &objects in &settings.objects {
            let scene = Flight { name, objects, settings };
            rows.extend(scene.run(&mut wrapped, stopwatch, &mut |frame| progress(done + frame, total)));
            done += WARM + settings.frames;
        }
    }
    progress(total, total);
    Ok((rows, RoomTrees { trees: infos }))
}

/// A tree at work, and what was measured of it in a room.
struct TreeRunner {
    method: Method,
    depth: usize,
    tree: BallTree,
    search: Search,
    narrow_ms: f64,
    touching: usize,
    operations: u64,
}

struct Flight<'s> {
    name: &'static str,
    objects: usize,
    settings: &'s Settings,
}

/// What a broad phase took.
#[derive(Default)]
struct Broad {
    update_ms: f64,
    find_ms: f64,
    clock_ms: f64,
}

impl Broad {
    fn run(
        &mut self,
        phase: &mut dyn BroadPhase,
        room: &FlightRoom,
        pairs: &mut Vec<Pair>,
        stopwatch: &mut dyn Stopwatch,
        is_measured: bool,
    ) {
        let ((), nothing) = timed(stopwatch, || ());
        let (_, update) = timed(stopwatch, || phase.update(room.spheres()));
        let (_, find) = timed(stopwatch, || phase.find(room.spheres(), pairs));
        if is_measured {
            self.clock_ms += nothing.cpu_ms;
            self.update_ms += update.cpu_ms;
            self.find_ms += find.cpu_ms;
        }
    }
}

impl Flight<'_> {
    fn run(
        &self,
        runners: &mut [TreeRunner],
        stopwatch: &mut dyn Stopwatch,
        progress: &mut dyn FnMut(u32),
    ) -> Vec<Row> {
        let Settings { frames, speed, seed, .. } = *self.settings;
        let radius = runners.iter().map(|runner| runner.tree.ball(0).radius).fold(0.0, f32::max);
        let mut room = FlightRoom::with_radius(self.objects, radius, Movement::Space, speed, seed);
        let (mut ours, mut theirs) = (Kinesphere::with_threads(1), SweepAndPrune::default());
        let (mut our_time, mut their_time) = (Broad::default(), Broad::default());
        let (mut pairs, mut again, mut touching) = (Vec::new(), Vec::new(), Vec::new());
        let mut all_pairs = 0;
        let runs = |runner: &TreeRunner| {
            self.objects <= PAPER_OBJECTS_MAX || (runner.method, runner.depth) == (Method::Best, 3)
        };
        for runner in runners.iter_mut() {
            (runner.narrow_ms, runner.touching, runner.operations) = (0.0, 0, 0);
        }
        for frame in 0..WARM + frames {
            progress(frame);
            let is_measured = frame >= WARM;
            our_time.run(&mut ours, &room, &mut pairs, stopwatch, is_measured);
            if self.objects <= PAPER_OBJECTS_MAX {
                their_time.run(&mut theirs, &room, &mut again, stopwatch, is_measured);
            }
            pairs.sort_unstable();
            all_pairs += if is_measured { pairs.len() } else { 0 };
            for (index, runner) in runners.iter_mut().enumerate().filter(|(_, runner)| runs(runner)) {
                let mut found = Vec::new();
                let (operations, elapsed) = timed(stopwatch, || runner.walk(&room, &pairs, &mut found));
                if is_measured {
                    runner.narrow_ms += elapsed.cpu_ms;
                    runner.touching += found.len();
                    runner.operations += operations;
                }
                if index == 0 {
                    touching = found;
                }
            }
            room.step_along(&touching);
        }
        // What is shorter than the clock can tell counts as ten nanoseconds: no rate is infinite.
        let per_frame = |sum: f64| (sum / f64::from(frames)).max(1e-5);
        let row = |runner: &TreeRunner| {
            let is_ours = runner.method == Method::Best;
            let time = if is_ours { &our_time } else { &their_time };
            let [update_ms, broad_ms, narrow_ms] =
                [time.update_ms - time.clock_ms, time.find_ms - time.clock_ms, runner.narrow_ms - time.clock_ms]
                    .map(per_frame);
            Row {
                bodies: self.name,
                method: runner.method.name(),
                depth: runner.depth,
                objects: self.objects,
                broad: if is_ours { "kinesphere" } else { "sweep-and-prune" },
                fps: 1e3 / (update_ms + broad_ms + narrow_ms),
                update_ms,
                broad_ms,
                narrow_ms,
                pairs: all_pairs as f64 / f64::from(frames),
                touching: runner.touching as f64 / f64::from(frames),
                operations: runner.operations as f64 / (all_pairs as f64).max(1.0),
            }
        };
        runners.iter().filter(|runner| runs(runner)).map(row).collect()
    }
}

impl TreeRunner {
    /// Walks down the trees of each pair; for those that touch, notes the direction of the second at the deepest
    /// contact.
    fn walk(&mut self, room: &FlightRoom, pairs: &[Pair], found: &mut Vec<(Pair, Vec3)>) -> u64 {
        let columns = room.spheres().columns();
        // A body's sphere is around its tree's root; nothing turns.
        let origin = self.tree.ball(0).center;
        let mut operations = 0;
        for &pair in pairs {
            let place = |row: usize| Placed::new(&self.tree, Pose::at(columns.sphere(row).center - origin));
            let question = Question::new(place(pair.a().row()), place(pair.b().row()));
            let answer = self.search.run(&question);
            operations += answer.operations;
            if answer.intersection != Intersection::Apart
                && let Some(contact) = self.search.deepest(&question)
            {
                found.push((pair, contact.normal));
            }
        }
        operations
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::claim::ClaimOutcome;
    use crate::stopwatch::{Reading, SteadyStopwatch};
    use crate::study::{self, Report};

    fn tried(arguments: &str, trees: &[(Method, usize)], stopwatch: &mut dyn Stopwatch) -> Report<Settings> {
        let settings: Settings = study::settings(arguments).unwrap();
        let results = run_bodies(&settings, &["box"], trees, stopwatch, &mut |_, _| {}).unwrap();
        Report::new(settings, results)
    }

    #[test]
    fn every_tree_is_timed_in_every_room() {
        let trees = [(Method::OctreeTight, 2), (Method::Octree, 3), (Method::Octree, 4)];
        let report = tried("--objects 300,1000 --frames 3", &trees, &mut SteadyStopwatch::new(2));
        assert_eq!(report.rows.len(), 6);
        assert_eq!(report.facts.trees.len(), 3);
        let crowded = report.row("box", "octree", 4, 1_000).unwrap();
        assert!(crowded.pairs > crowded.touching && crowded.touching > 0.0, "{crowded:?}");
        // A finer tree says yes less often.
        assert!(crowded.touching <= report.row("box", "octree", 3, 1_000).unwrap().touching);
        assert!(report.claims.iter().any(|claim| claim.outcome != ClaimOutcome::Untested));
        assert!(report.to_text().contains("octree-tight"));
        assert!(report.documents().len() > 3);
    }

    /// Keeps out: without a room of 1,000 bodies a claim said 18,446,744,073,709,551,615 frames per second.
    #[test]
    fn what_was_not_measured_has_no_frame_rate() {
        struct Stopped;
        impl Stopwatch for Stopped {
            fn read(&mut self) -> Reading {
                Reading::default()
            }
        }
        let trees = [(Method::Octree, 3), (Method::Combined, 1), (Method::Combined, 2)];
        for stopwatch in [&mut SteadyStopwatch::new(2) as &mut dyn Stopwatch, &mut Stopped] {
            let report = tried("--objects 100,300 --frames 5", &trees, stopwatch);
            let text = report.to_text();
            for wrong in ["18,446", "inf", "NaN"] {
                assert!(!text.contains(wrong), "{text}");
            }
            assert!(report.rows.iter().all(|row| row.fps.is_finite()));
            let thousand = report.claims.iter().find(|claim| claim.claim.starts_with("1,000")).unwrap();
            assert_eq!((thousand.outcome, &*thousand.evidence), (ClaimOutcome::Untested, "Not measured."));
        }
    }
}
