//! Questions about places: the finder against a loop over all objects, on the same world and the same questions.
//!
//! The loop goes over the columns and does the same test of each object; every answer is compared.

use std::hint::black_box;

use clap::Args;
use kinesphere::failure::Failure;
use serde::Serialize;
use space::broad::Finder;
use space::broad::query::{Hit, Neighbour};
use space::impact::spheres::contact;
use space::workload::{self, Motion, Random, Workload};
use space::{Slot, Sphere, Spheres, Vec3};

use super::workload_name;
use crate::allocator::growth;
use crate::report::csv::to_table;
use crate::report::number::{grouped, significant};
use crate::stopwatch::{Stopwatch, timed};
use crate::study::range::range;
use crate::study::{Progress, Report, Results, Study, refused};

/// How fast is a question about a place answered: what is there, what is first on a path, what is nearest?
///
/// Objects within a sphere or a box, first on a ray or a path, nearest: by the finder, and by a loop over all objects.
/// The answers are compared; a difference fails the command.
#[derive(Args, Clone, Debug, Serialize)]
pub struct Settings {
    /// How many objects there are
    #[arg(long, default_value_t = 1_000_000, value_name = "N")]
    pub objects: usize,
    #[arg(
        long,
        default_value = Motion::Uniform.name(),
        value_name = "NAME",
        help = format!("How the objects move: {}", Motion::known())
    )]
    #[serde(serialize_with = "workload_name")]
    pub workload: Motion,
    /// Questions of each kind
    #[arg(long, default_value_t = 2_000, value_name = "N", value_parser = range(1..=1_000_000u32))]
    pub questions: u32,
    /// How many of them the loop is asked, too
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = range(1..=1_000_000u32))]
    pub looped: u32,
    /// Ticks over which taking in what moved is measured
    #[arg(long, default_value_t = 10, value_parser = range(1..=1_000_000u32))]
    pub ticks: u32,
    /// The same seed gives the same world and the same questions
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// What the finder costs beside its answers.
#[derive(Clone, Debug, Serialize)]
pub struct FinderCost {
    /// Processor time to take in all objects, once.
    pub build_cpu_ms: f64,
    /// Processor time to take in what moved, per tick, mean.
    pub update_cpu_ms: f64,
    pub bytes_per_object: f64,
    /// Questions that the finder and the loop answered differently.
    pub disagreements: u32,
}

#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub question: &'static str,
    /// How many objects an answer has, mean.
    pub found: f64,
    pub cpu_us: f64,
    pub loop_cpu_us: f64,
    /// The loop's time over the finder's.
    pub ratio: f64,
}

impl Study for Settings {
    const NAME: &'static str = "bench queries";
    const EXAMPLE: &'static str = "--objects 100000 --json";
    const UNIT: &'static str = "parts";
    const HAS_PAGE: bool = false;
    type Row = Row;
    type Facts = FinderCost;

    fn run(&self, stopwatch: &mut dyn Stopwatch, progress: Progress<'_>) -> Result<Results<Settings>, Failure> {
        let mut workload = Workload::new(workload::Settings {
            objects: self.objects,
            motion: self.workload,
            seed: self.seed,
            ..workload::Settings::default()
        })
        .map_err(refused)?;
        let total = self.ticks + KINDS.len() as u32;
        let mut finder = Finder::new();
        let (((), build), mut bytes) = growth(|| timed(stopwatch, || finder.update(workload.spheres())));
        let mut update_cpu_ms = 0.0;
        for tick in 0..self.ticks {
            progress(tick, total);
            workload.step();
            let (((), elapsed), grown) = growth(|| timed(stopwatch, || finder.update(workload.spheres())));
            bytes += grown;
            update_cpu_ms += elapsed.cpu_ms / f64::from(self.ticks);
        }
        let spheres = workload.spheres();
        let slots: Vec<Slot> = spheres.slots().collect();
        let mut random = Random::new(self.seed);
        let (mut rows, mut disagreements) = (Vec::new(), 0);
        for (number, (question, ask)) in KINDS.into_iter().enumerate() {
            progress(self.ticks + number as u32, total);
            let questions: Vec<Question> = (0..self.questions)
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
            let looped = self.looped.min(self.questions) as usize;
            let (expected, by_loop) = timed(stopwatch, || {
                let asked = questions[..looped].iter();
                black_box(asked.map(|question| by_loop(spheres, question)).collect::<Vec<_>>())
            });
            disagreements +=
                answers.iter().zip(&expected).filter(|(answer, expected)| answer != expected).count() as u32;
            let found = answers.iter().map(Answer::len).sum::<usize>() as f64 / questions.len() as f64;
            let cpu_us = elapsed.cpu_ms * 1e3 / questions.len() as f64;
            let loop_cpu_us = by_loop.cpu_ms * 1e3 / looped as f64;
            rows.push(Row { question, found, cpu_us, loop_cpu_us, ratio: loop_cpu_us / cpu_us });
        }
        progress(total, total);
        let bytes_per_object = bytes.max(0) as f64 / self.objects.max(1) as f64;
        Ok((rows, FinderCost { build_cpu_ms: build.cpu_ms, update_cpu_ms, bytes_per_object, disagreements }))
    }

    fn text(Report { settings, facts, rows, .. }: &Report<Settings>) -> String {
        let table = to_table(rows);
        format!(
            "{} objects, seed {}: {} ms to take in all, {} ms per tick to take in what moved, {} bytes per object\n\n\
             {table}\n",
            grouped(settings.objects as u64),
            settings.seed,
            significant(facts.build_cpu_ms),
            significant(facts.update_cpu_ms),
            significant(facts.bytes_per_object),
        )
    }

    fn failures(report: &Report<Settings>) -> Vec<String> {
        let wrong = report.facts.disagreements;
        let sentence = format!("The finder and the loop disagree about {wrong} questions.");
        (wrong > 0).then_some(sentence).into_iter().collect()
    }
}

/// A question about a place.
#[derive(Clone, Copy, Debug)]
enum Question {
    Sphere(Sphere),
    Box(Vec3, Vec3),
    Motion(Sphere, Vec3),
    Nearest(Vec3, usize),
}

/// An answer of the finder or the loop.
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

/// The meaning of each question: a plain test of every object.
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
            let path = -motion.as_dvec3();
            let hits = all.filter_map(|(slot, other)| {
                let apart = other.center.as_dvec3() - asked.center.as_dvec3();
                let time = contact(apart, path, f64::from(asked.radius) + f64::from(other.radius))?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::tried;

    #[test]
    fn a_bench_compares_every_answer() {
        let report = tried::<Settings>("--objects 3000 --questions 40 --looped 40 --ticks 2", 2);
        assert_eq!((report.rows.len(), report.facts.disagreements), (5, 0));
        assert_eq!(report.rows[0].ratio, 1.0, "the test's clock takes the same time for everything");
        assert!(report.rows.iter().all(|row| row.found > 0.0), "{:?}", report.rows);
    }
}
