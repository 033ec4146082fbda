//! What does collision prediction cost? A million replicas among ten thousand standing objects, against extrapolating
//! the same million through them.
//!
//! Both run in every tick, in alternating order, on the same replicas. Updates arrive all the time, spread evenly, and
//! taking them in is counted: after an update nothing is known about what a replica will meet.

use std::hint::black_box;

use ::motion::collision_prediction::Response;
use ::motion::crowd::Crowd;
use ::motion::scene::{CollisionScene, SceneObject, SceneShape};
use clap::Args;
use kinesphere::failure::Failure;
use serde::Serialize;
use space::impact::Ballistic;
use space::workload::Random;
use space::{DVec3, Time};

use crate::report::csv::to_table;
use crate::report::number::grouped;
use crate::stopwatch::{Elapsed, Stopwatch, TickTimes, timed};
use crate::study::range::range;
use crate::study::{Progress, Report, Results, Study};

/// A replica's radius, in metres.
const RADIUS: f64 = 0.5;
const TICK_US: i64 = 16_667;
/// Processor time over that of plain extrapolation: what must be reached, and what should be.
const RATIO: (f64, f64) = (20.0, 5.0);

/// What does predicting the collisions of replicas cost, over extrapolating them?
///
/// Replicas with collision prediction against the same ones extrapolated through everything, in one run. Fails if the
/// prediction takes more than twenty times as long.
#[derive(Args, Clone, Debug, Serialize)]
pub struct Settings {
    /// How many replicas there are
    #[arg(long, default_value_t = 1_000_000, value_name = "N", value_parser = range(1..=10_000_000usize))]
    pub replicas: usize,
    /// How many objects stand in their way
    #[arg(long, default_value_t = 10_000, value_name = "N", value_parser = range(0..=100_000usize))]
    pub objects: usize,
    /// Updates per replica and second
    #[arg(
        long = "updates",
        default_value_t = 1.0,
        value_name = "PER_SECOND",
        value_parser = range(0.0..=60.0).of("per second")
    )]
    pub updates_per_s: f64,
    /// Ticks before measuring
    #[arg(long, default_value_t = 60, value_name = "TICKS", value_parser = range(0..=100_000u32))]
    pub warm: u32,
    /// Ticks measured
    #[arg(long, default_value_t = 60, value_parser = range(1..=100_000u32))]
    pub ticks: u32,
    /// The same seed gives the same world
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// How the ways compare.
#[derive(Clone, Debug, Serialize)]
pub struct PredictionCost {
    /// The share of replicas with a bounce behind them or planned, at the end.
    pub bounced: f64,
    /// Processor time of collision prediction over that of plain extrapolation.
    pub ratio: f64,
    /// The same when nothing is remembered from tick to tick.
    pub ratio_from_scratch: f64,
}

#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// `extrapolation`, `collision-prediction`, or `from-scratch`, which forgets everything after each tick.
    pub method: &'static str,
    #[serde(flatten)]
    pub times: TickTimes,
    pub ns_per_replica: f64,
}

impl Study for Settings {
    const NAME: &'static str = "bench motion";
    const EXAMPLE: &'static str = "--replicas 100000 --json";
    const UNIT: &'static str = "ticks";
    const HAS_PAGE: bool = false;
    type Row = Row;
    type Facts = PredictionCost;

    fn run(&self, stopwatch: &mut dyn Stopwatch, progress: Progress<'_>) -> Result<Results<Settings>, Failure> {
        let mut random = Random::new(self.seed);
        let city = City::new(self, &mut random);
        // Two equal crowds: each takes in its own updates, so that neither finds the other's in its cache.
        let mut plain = Crowd::new(RADIUS, Response::default(), 6_000_000);
        for _ in 0..self.replicas {
            // Stamps are spread over the time between updates, as they are in a session that has been running.
            let age_us = (f64::from(random.unit()) * 1e6 / self.updates_per_s.max(0.1)) as i64;
            plain.insert(Time::from_micros(-age_us), city.state(&mut random));
        }
        let mut exact = plain.clone();
        let per_tick = self.replicas as f64 * self.updates_per_s * TICK_US as f64 * 1e-6;
        let (mut due, mut next) = (0.0, 0);
        let mut places = Vec::new();
        let mut times: [Vec<Elapsed>; 3] = Default::default();
        let total = self.warm + self.ticks;
        for tick in 0..total {
            progress(tick, total);
            let now = Time::from_micros(i64::from(tick) * TICK_US);
            due += per_tick;
            let updates: Vec<(usize, Ballistic)> = (0..due as usize)
                .map(|_| {
                    next = (next + 1) % self.replicas;
                    (next, city.state(&mut random))
                })
                .collect();
            due -= updates.len() as f64;
            for turn in 0..2 {
                let is_plain = (turn + tick).is_multiple_of(2);
                let crowd = if is_plain { &mut plain } else { &mut exact };
                let ((), elapsed) = timed(stopwatch, || {
                    for &(row, motion) in &updates {
                        crowd.update(row, now, motion);
                    }
                    if is_plain {
                        crowd.extrapolate(now, &mut places);
                    } else {
                        crowd.predict(now, &city.scene, &mut places);
                    }
                    black_box(&places);
                });
                if tick >= self.warm {
                    times[usize::from(!is_plain)].push(elapsed);
                }
            }
        }
        let bounced = exact.bounced() as f64 / self.replicas as f64;
        // Without memory, the whole span since each update is looked at again: some ticks are enough.
        let now = Time::from_micros(i64::from(total - 1) * TICK_US);
        for _ in 0..self.ticks.min(5) {
            exact.forget();
            let ((), elapsed) = timed(stopwatch, || {
                exact.predict(now, &city.scene, &mut places);
                black_box(&places);
            });
            times[2].push(elapsed);
        }
        progress(total, total);
        let row = |(method, times): (_, &Vec<Elapsed>)| {
            let times = TickTimes::of(times);
            Row { method, times, ns_per_replica: times.cpu_ms_mean * 1e6 / self.replicas as f64 }
        };
        let methods = ["extrapolation", "collision-prediction", "from-scratch"];
        let rows: Vec<Row> = methods.into_iter().zip(&times).map(row).collect();
        let ratio = |row: &Row| row.times.cpu_ms_mean / rows[0].times.cpu_ms_mean;
        let facts = PredictionCost { bounced, ratio: ratio(&rows[1]), ratio_from_scratch: ratio(&rows[2]) };
        Ok((rows, facts))
    }

    fn text(Report { settings, facts, rows, .. }: &Report<Settings>) -> String {
        let table = to_table(rows);
        format!(
            "{} replicas among {} objects, {} updates per second each, {} ticks after {}, seed {}\n\
             {:.1} % have a bounce behind them or ahead\n\n{table}\n\
             Collision prediction takes {:.2} times as long as extrapolation (goal {}, must {}); {:.1} times \
             with nothing remembered.\n",
            grouped(settings.replicas as u64),
            grouped(settings.objects as u64),
            settings.updates_per_s,
            settings.ticks,
            settings.warm,
            settings.seed,
            100.0 * facts.bounced,
            facts.ratio,
            RATIO.1,
            RATIO.0,
            facts.ratio_from_scratch
        )
    }

    fn failures(report: &Report<Settings>) -> Vec<String> {
        let ratio = report.facts.ratio;
        let (must, _) = RATIO;
        let sentence =
            format!("Collision prediction takes {ratio:.1} times as long as extrapolation, {must} are allowed.");
        (ratio > must).then_some(sentence).into_iter().collect()
    }
}

/// Blocks and pillars on a square, among which replicas walk and fly.
struct City {
    scene: CollisionScene,
    side: f32,
    height: f32,
}

impl City {
    fn new(settings: &Settings, random: &mut Random) -> City {
        // One object per 100 square metres: about as dense as a town.
        let (side, height) = ((settings.objects.max(1) as f32 * 100.0).sqrt(), 20.0);
        let objects = (0..settings.objects)
            .map(|number| {
                let center = DVec3::new(
                    f64::from(random.between(0.0, side)),
                    f64::from(random.between(0.0, height)),
                    f64::from(random.between(0.0, side)),
                );
                let size = f64::from(random.between(0.5, 2.5));
                let shape = if number % 4 == 0 {
                    SceneShape::Ball(size)
                } else {
                    SceneShape::Cuboid(DVec3::new(
                        size,
                        f64::from(random.between(0.5, 5.0)),
                        f64::from(random.between(0.5, 2.5)),
                    ))
                };
                SceneObject::standing(shape, center)
            })
            .collect();
        City { scene: CollisionScene::new(objects).expect("blocks and pillars are a scene"), side, height }
    }

    /// A replica that is in no object, at up to 8 m/s, some of them turning.
    fn state(&self, random: &mut Random) -> Ballistic {
        loop {
            let pos = DVec3::new(
                f64::from(random.between(0.0, self.side)),
                f64::from(random.between(0.0, self.height)),
                f64::from(random.between(0.0, self.side)),
            );
            let mut is_free = true;
            self.scene.near(pos - RADIUS, pos + RADIUS, |index| {
                is_free &= self.scene.objects()[index].separation(Time::default(), pos, RADIUS).0 > 0.0;
            });
            if is_free {
                let vel = random.in_ball().as_dvec3() * 8.0;
                let acc = if random.unit() < 0.5 { random.in_ball().as_dvec3() * 4.0 } else { DVec3::ZERO };
                return Ballistic { pos, vel, acc };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::tried;

    #[test]
    fn a_bench_measures_both() {
        let report = tried::<Settings>("--replicas 2000 --objects 200 --warm 20 --ticks 20", 2);
        assert_eq!(report.rows.len(), 3);
        assert_eq!(report.facts.ratio, 1.0, "the test's clock takes the same time for everything");
        assert!(report.facts.bounced > 0.01, "only {} of the replicas meet an object", report.facts.bounced);
    }
}
