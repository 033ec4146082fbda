//! What does collision prediction cost? A million replicas among ten thousand standing objects, against extrapolating
//! the same million through them.
//!
//! Both run in every tick, in alternating order, on the same replicas. Updates arrive all the time, spread evenly, and
//! taking them in is counted: after an update nothing is known about what a replica will meet.

use std::hint::black_box;

use ::motion::collision_prediction::Response;
use ::motion::crowd::Crowd;
use ::motion::scene::{CollisionScene, SceneObject, SceneShape};
use serde::Serialize;
use space::impact::Ballistic;
use space::workload::Random;
use space::{DVec3, Time};

use crate::report::number::{grouped, significant};
use crate::setting::{self, OutOfRange};
use crate::stopwatch::{Elapsed, Stopwatch, timed};
use kinesphere::table::Table;

/// The most replicas.
pub const REPLICAS_MAX: usize = 10_000_000;
/// A replica's radius, in metres.
const RADIUS: f64 = 0.5;
/// A tick, in microseconds.
const TICK_US: i64 = 16_667;
/// What must be reached, as processor time over plain extrapolation.
pub const RATIO_MAX: f64 = 20.0;
/// What should be reached.
pub const RATIO_GOAL: f64 = 5.0;

/// What to measure.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many replicas there are.
    pub replicas: usize,
    /// How many objects stand in their way.
    pub objects: usize,
    /// Updates per replica and second.
    pub updates_per_s: f64,
    /// Ticks before measuring.
    pub warm: u32,
    /// Ticks measured.
    pub ticks: u32,
    /// The same seed gives the same world.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { replicas: 1_000_000, objects: 10_000, updates_per_s: 1.0, warm: 60, ticks: 60, seed: 1 }
    }
}

/// What came out.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The command that repeats the run.
    pub command: String,
    /// How many replicas there were.
    pub replicas: usize,
    /// How many objects stood in their way.
    pub objects: usize,
    /// Updates per replica and second.
    pub updates_per_s: f64,
    /// Ticks before measuring.
    pub warm: u32,
    /// Ticks measured.
    pub ticks: u32,
    /// What the world was made from.
    pub seed: u64,
    /// The share of replicas with a bounce behind them or planned, at the end.
    pub bounced: f64,
    /// Processor time of collision prediction over that of plain extrapolation.
    pub ratio: f64,
    /// The same when nothing is remembered from tick to tick.
    pub ratio_from_scratch: f64,
    /// One per way to predict.
    pub rows: Vec<Row>,
}

/// How long one way takes.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// `extrapolation`, `collision-prediction`, or `from-scratch`, which forgets everything after each tick.
    pub method: &'static str,
    /// Processor time per tick, mean.
    pub cpu_ms_mean: f64,
    /// Processor time of the fastest tick.
    pub cpu_ms_min: f64,
    /// Processor time of the slowest tick.
    pub cpu_ms_max: f64,
    /// Time on the wall per tick, mean.
    pub wall_ms_mean: f64,
    /// Nanoseconds of processor time per replica.
    pub ns_per_replica: f64,
}

/// Measures. `progress` is told how many ticks are done, of how many.
pub fn measure(
    settings: &Settings,
    stopwatch: &mut dyn Stopwatch,
    progress: &mut dyn FnMut(u32, u32),
) -> Result<Report, OutOfRange> {
    check(settings)?;
    let mut random = Random::new(settings.seed);
    let city = City::new(settings, &mut random);
    // Two equal crowds: each takes in its own updates, so that neither finds the other's in its cache.
    let mut plain = Crowd::new(RADIUS, Response::default(), 6_000_000);
    for _ in 0..settings.replicas {
        // Stamps are spread over the time between updates, as they are in a session that has been running.
        let age_us = (f64::from(random.unit()) * 1e6 / settings.updates_per_s.max(0.1)) as i64;
        plain.insert(Time::from_micros(-age_us), city.state(&mut random));
    }
    let mut exact = plain.clone();
    let per_tick = settings.replicas as f64 * settings.updates_per_s * TICK_US as f64 * 1e-6;
    let (mut due, mut next) = (0.0, 0);
    let mut places = Vec::new();
    let mut times: [Vec<Elapsed>; 3] = Default::default();
    let total = settings.warm + settings.ticks;
    for tick in 0..total {
        progress(tick, total);
        let now = Time::from_micros(i64::from(tick) * TICK_US);
        due += per_tick;
        let updates: Vec<(usize, Ballistic)> = (0..due as usize)
            .map(|_| {
                next = (next + 1) % settings.replicas;
                (next, city.state(&mut random))
            })
            .collect();
        due -= updates.len() as f64;
        let is_measured = tick >= settings.warm;
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
            if is_measured {
                times[usize::from(!is_plain)].push(elapsed);
            }
        }
    }
    let bounced = exact.bounced() as f64 / settings.replicas as f64;
    // Without memory, every span since each update is looked at again: some ticks are enough.
    let now = Time::from_micros(i64::from(total - 1) * TICK_US);
    for _ in 0..settings.ticks.min(5) {
        exact.forget();
        let ((), elapsed) = timed(stopwatch, || {
            exact.predict(now, &city.scene, &mut places);
            black_box(&places);
        });
        times[2].push(elapsed);
    }
    progress(total, total);
    Ok(report(settings, bounced, times))
}

impl Settings {
    /// The command line that repeats the run.
    pub fn command(&self) -> String {
        let Settings { replicas, objects, updates_per_s, warm, ticks, seed } = self;
        format!(
            "cargo run --release -p lab -- bench motion --replicas {replicas} --objects {objects} --updates {updates_per_s} --warm {warm} \
             --ticks {ticks} --seed {seed}"
        )
    }
}

impl Report {
    /// Whether prediction costs no more than it may.
    pub fn holds(&self) -> bool {
        self.ratio <= RATIO_MAX
    }

    /// The report for a terminal.
    pub fn to_text(&self) -> String {
        let mut table = Table::new(["method", "cpu ms", "min", "max", "wall ms", "ns/replica"]);
        for row in &self.rows {
            let numbers = [row.cpu_ms_mean, row.cpu_ms_min, row.cpu_ms_max, row.wall_ms_mean, row.ns_per_replica];
            table.row(std::iter::once(row.method.to_owned()).chain(numbers.map(significant)));
        }
        format!(
            "{} replicas among {} objects, {} updates per second each, {} ticks after {}, seed {}\n\
             {:.1} % have a bounce behind them or ahead\n\n{table}\n\
             Collision prediction takes {:.2} times as long as extrapolation (goal {RATIO_GOAL}, must {RATIO_MAX}); {:.1} times \
             with nothing remembered.\n",
            grouped(self.replicas as u64),
            grouped(self.objects as u64),
            self.updates_per_s,
            self.ticks,
            self.warm,
            self.seed,
            100.0 * self.bounced,
            self.ratio,
            self.ratio_from_scratch
        )
    }
}

/// Blocks and pillars on a square, and who walks and flies among them.
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

fn check(settings: &Settings) -> Result<(), OutOfRange> {
    let rules = [
        ("replicas", settings.replicas as f64, 1.0..=REPLICAS_MAX as f64, "1 to 10,000,000"),
        ("objects", settings.objects as f64, 0.0..=100_000.0, "0 to 100,000"),
        ("updates", settings.updates_per_s, 0.0..=60.0, "0 to 60 per second"),
        ("ticks", f64::from(settings.ticks), 1.0..=100_000.0, "1 to 100,000"),
        ("warm", f64::from(settings.warm), 0.0..=100_000.0, "0 to 100,000"),
    ];
    setting::check(rules)
}

fn report(settings: &Settings, bounced: f64, times: [Vec<Elapsed>; 3]) -> Report {
    let names = ["extrapolation", "collision-prediction", "from-scratch"];
    let rows: Vec<Row> = names
        .into_iter()
        .zip(&times)
        .map(|(method, times)| {
            let cpu = || times.iter().map(|time| time.cpu_ms);
            let mean = |sum: f64| sum / times.len().max(1) as f64;
            let cpu_ms_mean = mean(cpu().sum());
            Row {
                method,
                cpu_ms_mean,
                cpu_ms_min: cpu().fold(f64::INFINITY, f64::min),
                cpu_ms_max: cpu().fold(0.0, f64::max),
                wall_ms_mean: mean(times.iter().map(|time| time.wall_ms).sum()),
                ns_per_replica: cpu_ms_mean * 1e6 / settings.replicas as f64,
            }
        })
        .collect();
    Report {
        command: settings.command(),
        replicas: settings.replicas,
        objects: settings.objects,
        updates_per_s: settings.updates_per_s,
        warm: settings.warm,
        ticks: settings.ticks,
        seed: settings.seed,
        bounced,
        ratio: rows[1].cpu_ms_mean / rows[0].cpu_ms_mean,
        ratio_from_scratch: rows[2].cpu_ms_mean / rows[0].cpu_ms_mean,
        rows,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stopwatch::SteadyStopwatch;

    #[test]
    fn a_bench_measures_both_and_refuses_nonsense() {
        let settings = Settings { replicas: 2_000, objects: 200, warm: 20, ticks: 20, ..Settings::default() };
        let report = measure(&settings, &mut SteadyStopwatch::new(2), &mut |_, _| {}).unwrap();
        assert_eq!(report.rows.len(), 3);
        assert_eq!(report.ratio, 1.0, "the test's clock takes the same time for everything");
        assert!(report.bounced > 0.01, "{}: nobody meets anything", report.bounced);
        let refused = measure(&Settings { ticks: 0, ..settings }, &mut SteadyStopwatch::new(2), &mut |_, _| {});
        assert_eq!(refused.unwrap_err().to_string(), "`ticks` is 0, expected 1 to 100,000");
    }
}
