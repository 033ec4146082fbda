//! Questions about places: the finder against a loop over all objects, on the same world and the same questions.
//!
//! The loop goes over the columns and does the same test of each object; every answer is compared.

use std::hint::black_box;

use serde::Serialize;
use space::broad::Finder;
use space::broad::query::{Hit, Neighbour};
use space::impact::spheres::contact;
use space::workload::{self, Motion, Random, Workload};
use space::{Slot, Sphere, Spheres, Vec3};

use crate::allocator::growth;
use crate::report::number::{grouped, significant};
use crate::setting::{self, SettingsError};
use crate::stopwatch::{Stopwatch, timed};
use kinesphere::table::Table;

/// What to measure.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many objects there are.
    pub objects: usize,
    /// How they move.
    pub motion: Motion,
    /// Questions of each kind that the finder is asked.
    pub questions: u32,
    /// Of these, how many the loop is asked, too.
    pub looped: u32,
    /// Ticks over which taking in what moved is measured.
    pub ticks: u32,
    /// The same seed gives the same world and the same questions.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { objects: 1_000_000, motion: Motion::Uniform, questions: 2_000, looped: 20, ticks: 10, seed: 1 }
    }
}

/// What came out.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The command that repeats the run.
    pub command: String,
    /// How many objects there were.
    pub objects: usize,
    /// What the world was made from.
    pub seed: u64,
    /// Processor time for taking in everybody, once.
    pub build_cpu_ms: f64,
    /// Processor time for taking in what moved, per tick, mean.
    pub update_cpu_ms: f64,
    /// Memory of the finder per object.
    pub bytes_per_object: f64,
    /// Questions that the two answered differently.
    pub disagreements: u32,
    /// One per kind of question.
    pub rows: Vec<Row>,
}

/// How long one kind of question takes.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Which kind.
    pub question: &'static str,
    /// How many objects an answer has, mean.
    pub found: f64,
    /// Microseconds of processor time that the finder takes.
    pub cpu_us: f64,
    /// Microseconds of processor time that the loop takes.
    pub loop_cpu_us: f64,
    /// The loop's time over the finder's.
    pub ratio: f64,
}

/// A question about a place.
#[derive(Clone, Copy, Debug)]
enum Question {
    Sphere(Sphere),
    Box(Vec3, Vec3),
    Motion(Sphere, Vec3),
    Nearest(Vec3, usize),
}

/// An answer of either, to be compared.
#[derive(Clone, Debug, PartialEq)]
enum Answer {
    Slots(Vec<Slot>),
    Hit(Option<Hit>),
    Neighbours(Vec<Neighbour>),
}

type Ask = fn(&mut Random, Sphere) -> Question;

/// The kinds, each about a place near some object; distances are in radii of that object.
const KINDS: [(&str, Ask); 5] = [
    ("within a sphere of 10 radii", |random, one| {
        Question::Sphere(Sphere::new(one.center + random.in_ball() * one.radius, 10.0 * one.radius))
    }),
    ("within a box of 20 radii", |random, one| {
        let middle = one.center + random.in_ball() * one.radius;
        Question::Box(middle - 10.0 * one.radius, middle + 10.0 * one.radius)
    }),
    ("first on a ray of 1,000 radii", |random, one| {
        let from = Sphere::new(one.center + random.direction() * (2.0 * one.radius), 0.0);
        Question::Motion(from, random.direction() * (1_000.0 * one.radius))
    }),
    ("first of a motion of 100 radii", |random, one| {
        let from = Sphere::new(one.center + random.direction() * (4.0 * one.radius), one.radius);
        Question::Motion(from, random.direction() * (100.0 * one.radius))
    }),
    ("10 nearest", |random, one| Question::Nearest(one.center + random.in_ball() * (5.0 * one.radius), 10)),
];

/// Measures. `progress` is told how many parts are done, of how many.
pub fn measure(
    settings: &Settings,
    stopwatch: &mut dyn Stopwatch,
    progress: &mut dyn FnMut(u32, u32),
) -> Result<Report, SettingsError> {
    let counts = [("questions", settings.questions), ("looped", settings.looped), ("ticks", settings.ticks)];
    setting::check(counts.map(|(field, count)| (field, count as f64, 1.0..=1e6, "1 to 1,000,000")))?;
    let mut workload = Workload::new(workload::Settings {
        objects: settings.objects,
        motion: settings.motion,
        seed: settings.seed,
        ..workload::Settings::default()
    })?;
    let total = settings.ticks + KINDS.len() as u32;
    let mut finder = Finder::new();
    let (((), build), mut bytes) = growth(|| timed(stopwatch, || finder.update(workload.spheres())));
    let mut update_cpu_ms = 0.0;
    for tick in 0..settings.ticks {
        progress(tick, total);
        workload.step();
        let (((), elapsed), grown) = growth(|| timed(stopwatch, || finder.update(workload.spheres())));
        bytes += grown;
        update_cpu_ms += elapsed.cpu_ms / f64::from(settings.ticks);
    }
    let spheres = workload.spheres();
    let slots: Vec<Slot> = spheres.slots().collect();
    let mut random = Random::new(settings.seed);
    let (mut rows, mut disagreements) = (Vec::new(), 0);
    for (number, (name, ask)) in KINDS.into_iter().enumerate() {
        progress(settings.ticks + number as u32, total);
        let questions: Vec<Question> = (0..settings.questions)
            .map(|_| {
                let pick = random.whole(0, slots.len() as u32) as usize;
                let one = slots.get(pick).and_then(|&slot| spheres.get(slot).ok());
                ask(&mut random, one.unwrap_or(Sphere::new(Vec3::ZERO, 1.0)))
            })
            .collect();
        let (answers, elapsed) = timed(stopwatch, || {
            let answers: Vec<Answer> = questions.iter().map(|question| by_finder(&finder, question)).collect();
            black_box(answers)
        });
        let looped = settings.looped.min(settings.questions) as usize;
        let (expected, by_loop) = timed(stopwatch, || {
            let asked = questions[..looped].iter();
            black_box(asked.map(|question| by_loop(spheres, question)).collect::<Vec<_>>())
        });
        disagreements += answers.iter().zip(&expected).filter(|(answer, expected)| answer != expected).count() as u32;
        let found: usize = answers.iter().map(Answer::len).sum();
        let cpu_us = elapsed.cpu_ms * 1e3 / questions.len() as f64;
        let loop_cpu_us = by_loop.cpu_ms * 1e3 / looped as f64;
        let found = found as f64 / questions.len() as f64;
        rows.push(Row { question: name, found, cpu_us, loop_cpu_us, ratio: loop_cpu_us / cpu_us });
    }
    progress(total, total);
    Ok(Report {
        command: settings.command(),
        objects: settings.objects,
        seed: settings.seed,
        build_cpu_ms: build.cpu_ms,
        update_cpu_ms,
        bytes_per_object: bytes.max(0) as f64 / settings.objects.max(1) as f64,
        disagreements,
        rows,
    })
}

impl Answer {
    fn len(&self) -> usize {
        match self {
            Answer::Slots(slots) => slots.len(),
            Answer::Hit(hit) => usize::from(hit.is_some()),
            Answer::Neighbours(neighbours) => neighbours.len(),
        }
    }
}

fn by_finder(finder: &Finder, question: &Question) -> Answer {
    let mut found = Vec::new();
    match *question {
        Question::Sphere(sphere) => finder.within_sphere(sphere, &mut found),
        Question::Box(min, max) => finder.within_box(min, max, &mut found),
        Question::Motion(sphere, motion) => return Answer::Hit(finder.first_of_motion(sphere, motion)),
        Question::Nearest(point, count) => return Answer::Neighbours(finder.nearest(point, count)),
    }
    Answer::Slots(found)
}

/// The meaning of each question: a test of every object, as plain as it can be.
fn by_loop(spheres: &Spheres, question: &Question) -> Answer {
    let columns = spheres.columns();
    let all = (0..spheres.rows()).filter(|&row| spheres.alive().contains(row)).map(|row| {
        let center = Vec3::new(columns.x[row], columns.y[row], columns.z[row]);
        (Slot::new(row as u32), Sphere::new(center, columns.radius[row]))
    });
    match *question {
        Question::Sphere(asked) => {
            Answer::Slots(all.filter(|(_, other)| asked.overlaps(*other)).map(|(slot, _)| slot).collect())
        }
        Question::Box(min, max) => {
            let reaches = |sphere: &Sphere| {
                let beyond = sphere.center - sphere.center.clamp(min, max);
                beyond == Vec3::ZERO || beyond.length_squared() < sphere.radius * sphere.radius
            };
            Answer::Slots(all.filter(|(_, sphere)| reaches(sphere)).map(|(slot, _)| slot).collect())
        }
        Question::Motion(asked, motion) => {
            let way = -motion.as_dvec3();
            let hits = all.filter_map(|(slot, other)| {
                let apart = other.center.as_dvec3() - asked.center.as_dvec3();
                let time = contact(apart, way, f64::from(asked.radius) + f64::from(other.radius))?;
                (time <= 1.0).then_some(Hit { slot, time })
            });
            Answer::Hit(hits.min_by(|a, b| a.time.total_cmp(&b.time).then(a.slot.cmp(&b.slot))))
        }
        Question::Nearest(point, count) => {
            let mut near: Vec<Neighbour> = all
                .map(|(slot, other)| {
                    let distance = other.center.as_dvec3().distance(point.as_dvec3()) - f64::from(other.radius);
                    Neighbour { slot, distance: distance.max(0.0) }
                })
                .collect();
            let order = |a: &Neighbour, b: &Neighbour| a.distance.total_cmp(&b.distance).then(a.slot.cmp(&b.slot));
            if near.len() > count {
                near.select_nth_unstable_by(count, order);
                near.truncate(count);
            }
            near.sort_by(order);
            Answer::Neighbours(near)
        }
    }
}

impl Settings {
    /// The command line that repeats the run.
    pub fn command(&self) -> String {
        let Settings { objects, motion, questions, looped, ticks, seed } = self;
        let workload = Motion::ALL.iter().find(|(known, _)| known == motion).map_or("uniform", |(_, name)| name);
        format!(
            "cargo run --release -p lab -- bench queries --objects {objects} --workload {workload} --questions {questions} \
             --looped {looped} --ticks {ticks} --seed {seed}"
        )
    }
}

impl Report {
    /// The report for a terminal.
    pub fn to_text(&self) -> String {
        let mut table = Table::new(["question", "found", "cpu us", "loop cpu us", "ratio"]);
        for row in &self.rows {
            let numbers = [row.found, row.cpu_us, row.loop_cpu_us, row.ratio];
            table.row(std::iter::once(row.question.to_owned()).chain(numbers.map(significant)));
        }
        format!(
            "{} objects, seed {}: {} ms to take in everybody, {} ms per tick to take in who moved, {} bytes per object\n\n\
             {table}\n",
            grouped(self.objects as u64),
            self.seed,
            significant(self.build_cpu_ms),
            significant(self.update_cpu_ms),
            significant(self.bytes_per_object),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stopwatch::SteadyStopwatch;

    #[test]
    fn a_bench_compares_every_answer() {
        let settings = Settings { objects: 3_000, questions: 40, looped: 40, ticks: 2, ..Settings::default() };
        let report = measure(&settings, &mut SteadyStopwatch::new(2), &mut |_, _| {}).unwrap();
        assert_eq!((report.rows.len(), report.disagreements), (5, 0));
        assert_eq!(report.rows[0].ratio, 1.0, "the test's clock takes the same time for everything");
        assert!(report.rows.iter().all(|row| row.found > 0.0), "{:?}", report.rows);
        let refused = measure(&Settings { ticks: 0, ..settings }, &mut SteadyStopwatch::new(2), &mut |_, _| {});
        assert_eq!(refused.unwrap_err().to_string(), "`ticks` is 0, expected 1 to 1,000,000");
    }
}
