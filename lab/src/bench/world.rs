//! What does a tick of a world cost, stage by stage?
//!
//! A plaza with about five square metres per avatar, among obstacles, crates and balls. Every avatar belongs to a
//! participant; those that move send a request in every tick, towards targets that change now and then. Making the
//! requests is not counted, checking them is.

use ::world::{Act, Input, Plaza, Stage, World};
use serde::Serialize;
use space::workload::{Random, Wishes};
use space::{NodeId, Tick, Vec3};

use crate::report::number::{grouped, significant};
use crate::setting::{self, OutOfRange};
use crate::stopwatch::{Reading, Stopwatch};
use kinesphere::table::Table;

/// The most avatars.
pub const AVATARS_MAX: usize = 200_000;
/// The ticks per second that a server keeps.
const TICK_RATE: f64 = 30.0;

/// What to measure.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many avatars there are.
    pub avatars: usize,
    /// How many of them move, in percent.
    pub movers_percent: f64,
    /// Ticks before measuring.
    pub warm: u32,
    /// Ticks measured.
    pub ticks: u32,
    /// The same seed gives the same world.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { avatars: 10_000, movers_percent: 100.0, warm: 60, ticks: 120, seed: 1 }
    }
}

/// Why nothing was measured.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BenchError {
    /// A setting that makes no sense.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// There was no place for somebody.
    #[error("only {found} of {avatars} avatars found a place")]
    NoRoom {
        /// How many did.
        found: usize,
        /// How many there should be.
        avatars: usize,
    },
}

/// What came out.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The command that repeats the run.
    pub command: String,
    /// How many avatars there were.
    pub avatars: usize,
    /// How many objects in all, fixed ones included.
    pub objects: usize,
    /// How many avatars moved, in percent.
    pub movers_percent: f64,
    /// Ticks before measuring.
    pub warm: u32,
    /// Ticks measured.
    pub ticks: u32,
    /// What the world was made from.
    pub seed: u64,
    /// Processor time per tick of all stages but `snapshot`, which is not taken in every tick.
    pub cpu_ms_per_tick: f64,
    /// The same, per avatar.
    pub ns_per_avatar: f64,
    /// How many such avatars one core could serve at 30 ticks per second.
    pub avatars_per_core: f64,
    /// The slowest tick.
    pub cpu_ms_max: f64,
    /// Pairs whose motions could meet, per tick.
    pub pairs: f64,
    /// Who was stopped or turned aside, per tick.
    pub contacts: f64,
    /// Whether no two solids overlap at the end.
    pub holds: bool,
    /// The world's fingerprint at the end.
    pub hash: String,
    /// One per stage.
    pub rows: Vec<Row>,
}

/// How long a stage takes.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// `propose`, `broad`, `narrow`, `settle`, or `snapshot`.
    pub stage: &'static str,
    /// Processor time per tick, mean.
    pub cpu_ms_mean: f64,
    /// The same, per avatar, in nanoseconds.
    pub ns_per_avatar: f64,
}

/// People who walk towards targets.
pub struct Walkers {
    wishes: Wishes,
    movers: usize,
    sequence: u32,
    speeds: Vec<f32>,
}

impl Walkers {
    /// As many as there are avatars, of which the first `movers` walk.
    pub fn new(world: &World, avatars: usize, movers: usize, seed: u64) -> Walkers {
        let spec = world.spec();
        let margin = Vec3::new(3.0, 0.0, 3.0);
        let mut random = Random::new(seed);
        Walkers {
            wishes: Wishes::new(seed, avatars, spec.low + margin, spec.high - margin),
            movers,
            sequence: 1,
            speeds: (0..avatars).map(|_| random.between(1.0, 2.0)).collect(),
        }
    }

    /// Everybody joins, at places spread evenly.
    pub fn join(world: &mut World, avatars: usize, seed: u64) -> usize {
        let (low, high) = (world.spec().low, world.spec().high);
        let mut random = Random::new(seed);
        let inputs: Vec<Input> = (0..avatars)
            .map(|number| {
                let share = Vec3::new(random.unit(), 0.0, random.unit());
                let at = Some(low + Vec3::new(2.0, 0.0, 2.0) + (high - low - 4.0) * share * Vec3::new(1.0, 0.0, 1.0));
                let act = Act::Join { name: "walker".into(), avatar: 0, at };
                Input { sender: NodeId::new(number as u64), sequence: 1, made_for: Tick::new(1), act }
            })
            .collect();
        world.step(&inputs).joined.len()
    }

    /// The requests of a tick, appended to `inputs`.
    pub fn inputs(&mut self, world: &World, inputs: &mut Vec<Input>) {
        inputs.clear();
        self.sequence += 1;
        let tick = world.tick().next();
        self.wishes.begin(tick.number());
        for (number, object) in world.dynamic().filter(|object| object.owner.is_some()).take(self.movers).enumerate() {
            let way = (self.wishes.place(number, tick.number()) - object.position()) * Vec3::new(1.0, 0.0, 1.0);
            // Nobody stands still: who has arrived walks around.
            let way = if way.length() > 1.5 { way } else { Vec3::new(way.z, 0.0, -way.x) };
            let velocity = way.normalize_or(Vec3::X) * self.speeds[number];
            let sender = object.owner.expect("only those with an owner are left");
            inputs.push(Input { sender, sequence: self.sequence, made_for: tick, act: Act::Move { velocity } });
        }
    }
}

/// Measures. `progress` is told how many ticks are done, of how many.
pub fn measure(
    settings: &Settings,
    stopwatch: &mut dyn Stopwatch,
    progress: &mut dyn FnMut(u32, u32),
) -> Result<Report, BenchError> {
    check(settings)?;
    let plaza = Plaza { seed: settings.seed, ..Plaza::for_avatars(settings.avatars as u32) };
    let mut world = World::new(plaza_spec(&plaza, settings.avatars)).expect("a plaza is a world");
    let found = Walkers::join(&mut world, settings.avatars, settings.seed);
    if found != settings.avatars {
        return Err(BenchError::NoRoom { found, avatars: settings.avatars });
    }
    let movers = (settings.avatars as f64 * settings.movers_percent / 100.0).round() as usize;
    let mut walkers = Walkers::new(&world, settings.avatars, movers, settings.seed);
    let (mut inputs, mut snapshot) = (Vec::new(), Vec::new());
    let mut spent = [0.0; 5];
    let (mut pairs, mut contacts, mut slowest) = (0, 0, 0f64);
    let total = settings.warm + settings.ticks;
    for tick in 0..total {
        progress(tick, total);
        walkers.inputs(&world, &mut inputs);
        let mut readings = [Reading::default(); 6];
        readings[0] = stopwatch.read();
        world.step_observed(&inputs, &mut |stage| {
            let index = match stage {
                Stage::Propose => 1,
                Stage::Broad => 2,
                Stage::Narrow => 3,
                Stage::Settle => 4,
            };
            readings[index] = stopwatch.read();
        });
        let before = stopwatch.read();
        snapshot.clear();
        world.snapshot(&mut snapshot);
        readings[5] = stopwatch.read();
        if tick >= settings.warm {
            let ms = |to: Reading, from: Reading| to.cpu.saturating_sub(from.cpu).as_secs_f64() * 1e3;
            for stage in 0..4 {
                spent[stage] += ms(readings[stage + 1], readings[stage]);
            }
            spent[4] += ms(readings[5], before);
            slowest = slowest.max(ms(readings[4], readings[0]));
            pairs += world.outcome().work.pairs;
            contacts += world.outcome().contacts.len() as u64;
        }
    }
    progress(total, total);
    let ticks = f64::from(settings.ticks);
    let per_avatar = 1e6 / settings.avatars as f64;
    let names = ["propose", "broad", "narrow", "settle", "snapshot"];
    let rows = names.into_iter().zip(spent).map(|(stage, ms)| Row {
        stage,
        cpu_ms_mean: ms / ticks,
        ns_per_avatar: ms / ticks * per_avatar,
    });
    let cpu_ms_per_tick = spent[..4].iter().sum::<f64>() / ticks;
    Ok(Report {
        command: settings.command(),
        avatars: settings.avatars,
        objects: world.len(),
        movers_percent: settings.movers_percent,
        warm: settings.warm,
        ticks: settings.ticks,
        seed: settings.seed,
        cpu_ms_per_tick,
        ns_per_avatar: cpu_ms_per_tick * per_avatar,
        avatars_per_core: settings.avatars as f64 * (1e3 / TICK_RATE) / cpu_ms_per_tick,
        cpu_ms_max: slowest,
        pairs: pairs as f64 / ticks,
        contacts: contacts as f64 / ticks,
        holds: world.overlap_near().is_none(),
        hash: world.hash().to_string(),
        rows: rows.collect(),
    })
}

fn plaza_spec(plaza: &Plaza, avatars: usize) -> ::world::Spec {
    let mut spec = plaza.spec();
    spec.limits.avatars = avatars as u32;
    spec
}

impl Settings {
    /// The command line that repeats the run.
    pub fn command(&self) -> String {
        let Settings { avatars, movers_percent, warm, ticks, seed } = self;
        format!(
            "cargo run --release -p lab -- bench world --objects {avatars} --movers {movers_percent} --warm {warm} --ticks {ticks} --seed {seed}"
        )
    }
}

impl Report {
    /// The report for a terminal.
    pub fn to_text(&self) -> String {
        let mut table = Table::new(["stage", "cpu ms/tick", "ns/avatar"]);
        for row in &self.rows {
            table.row([row.stage.to_owned(), significant(row.cpu_ms_mean), significant(row.ns_per_avatar)]);
        }
        format!(
            "{} avatars, {} % of them walking, {} objects in all, {} ticks after {}, seed {}\n\n{table}\n\
             A tick takes {} ms ({} at most), {} ns per avatar: {} avatars at 30 Hz on one core.\n\
             {} pairs may meet in a tick, {} contacts. {} State {}.\n",
            grouped(self.avatars as u64),
            self.movers_percent,
            grouped(self.objects as u64),
            self.ticks,
            self.warm,
            self.seed,
            significant(self.cpu_ms_per_tick),
            significant(self.cpu_ms_max),
            significant(self.ns_per_avatar),
            grouped(self.avatars_per_core as u64),
            significant(self.pairs),
            significant(self.contacts),
            if self.holds { "Nothing overlaps." } else { "SOLIDS OVERLAP." },
            self.hash,
        )
    }
}

fn check(settings: &Settings) -> Result<(), BenchError> {
    let rules = [
        ("objects", settings.avatars as f64, 1.0..=AVATARS_MAX as f64, "1 to 200,000"),
        ("movers", settings.movers_percent, 0.0..=100.0, "0 to 100 percent"),
        ("ticks", f64::from(settings.ticks), 1.0..=100_000.0, "1 to 100,000"),
        ("warm", f64::from(settings.warm), 0.0..=100_000.0, "0 to 100,000"),
    ];
    setting::check(rules)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stopwatch::SteadyStopwatch;

    #[test]
    fn a_bench_measures_every_stage_and_refuses_nonsense() {
        let settings = Settings { avatars: 200, warm: 10, ticks: 10, ..Settings::default() };
        let report = measure(&settings, &mut SteadyStopwatch::new(2), &mut |_, _| {}).unwrap();
        let stages: Vec<&str> = report.rows.iter().map(|row| row.stage).collect();
        assert_eq!(stages, ["propose", "broad", "narrow", "settle", "snapshot"]);
        assert!(report.rows.iter().all(|row| (row.cpu_ms_mean - 2.0).abs() < 1e-9), "{:?}", report.rows);
        assert!(report.holds && report.contacts > 0.0, "{report:?}");
        let refused = measure(&Settings { ticks: 0, ..settings }, &mut SteadyStopwatch::new(2), &mut |_, _| {});
        assert_eq!(refused.unwrap_err().to_string(), "`ticks` is 0, expected 1 to 100,000");
    }
}
