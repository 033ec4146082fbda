//! What does a tick of a world cost, stage by stage?
//!
//! A plaza with about five square metres per avatar, among obstacles, crates and balls. Every avatar belongs to a
//! participant; those that move send a request in every tick, towards targets that change now and then. Making the
//! requests is not counted, checking them is.

use ::world::{Act, Input, Plaza, Stage, World};
use clap::Args;
use kinesphere::failure::Failure;
use serde::Serialize;
use space::workload::{Random, Wishes};
use space::{NodeId, Tick, Vec3};

use crate::report::csv::to_table;
use crate::report::number::{grouped, significant};
use crate::stopwatch::{Reading, Stopwatch, between};
use crate::study::range::range;
use crate::study::{Progress, Report, Results, Study, refused};

/// The ticks per second of a server.
const TICK_RATE: f64 = 30.0;
const STAGES: [&str; 5] = ["propose", "broad", "narrow", "settle", "snapshot"];

/// What does a tick of a world cost, stage by stage?
///
/// Steps a plaza full of avatars and says what a tick costs, stage by stage. Fails if two solids overlap at the end.
#[derive(Args, Clone, Debug, Serialize)]
pub struct Settings {
    /// How many avatars there are
    #[arg(long = "objects", default_value_t = 10_000, value_name = "N", value_parser = range(1..=200_000usize))]
    pub avatars: usize,
    /// How many of them walk
    #[arg(
        long = "movers",
        default_value_t = 100.0,
        value_name = "PERCENT",
        value_parser = range(0.0..=100.0).of("percent")
    )]
    pub movers_percent: f64,
    /// Ticks before measuring
    #[arg(long, default_value_t = 60, value_name = "TICKS", value_parser = range(0..=100_000u32))]
    pub warm: u32,
    /// Ticks measured
    #[arg(long, default_value_t = 120, value_parser = range(1..=100_000u32))]
    pub ticks: u32,
    /// The same seed gives the same world
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// What was measured of whole ticks.
#[derive(Clone, Debug, Serialize)]
pub struct WorldFacts {
    /// All objects, fixed ones included.
    pub objects: usize,
    /// All stages but `snapshot`, which a server does not take in every tick.
    pub cpu_ms_per_tick: f64,
    pub ns_per_avatar: f64,
    /// How many such avatars one core could serve at 30 ticks per second.
    pub avatars_per_core: f64,
    /// The slowest tick.
    pub cpu_ms_max: f64,
    /// Pairs whose motions could meet, per tick.
    pub pairs: f64,
    /// Movers that were stopped or turned aside, per tick.
    pub contacts: f64,
    /// Whether no two solids overlap at the end.
    pub holds: bool,
    /// The world's hash at the end.
    pub hash: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub stage: &'static str,
    pub cpu_ms_mean: f64,
    pub ns_per_avatar: f64,
}

impl Study for Settings {
    const NAME: &'static str = "bench world";
    const EXAMPLE: &'static str = "--objects 50000 --movers 20 --json";
    const UNIT: &'static str = "ticks";
    const HAS_PAGE: bool = false;
    type Row = Row;
    type Facts = WorldFacts;

    fn run(&self, stopwatch: &mut dyn Stopwatch, progress: Progress<'_>) -> Result<Results<Settings>, Failure> {
        let plaza = Plaza { seed: self.seed, ..Plaza::for_avatars(self.avatars as u32) };
        let mut spec = plaza.spec();
        spec.limits.avatars = self.avatars as u32;
        let mut world = World::new(spec).expect("a plaza is a world");
        let found = Walkers::join(&mut world, self.avatars, self.seed);
        if found != self.avatars {
            return Err(refused(format!("only {found} of {} avatars found a place", self.avatars)));
        }
        let movers = (self.avatars as f64 * self.movers_percent / 100.0).round() as usize;
        let mut walkers = Walkers::new(&world, self.avatars, movers, self.seed);
        let (mut inputs, mut snapshot) = (Vec::new(), Vec::new());
        let mut spent = [0.0; STAGES.len()];
        let (mut pairs, mut contacts, mut slowest) = (0, 0, 0f64);
        let total = self.warm + self.ticks;
        for tick in 0..total {
            progress(tick, total);
            walkers.inputs(&world, &mut inputs);
            let mut readings = [Reading::default(); 5];
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
            let after = stopwatch.read();
            if tick >= self.warm {
                for (spent, readings) in spent.iter_mut().zip(readings.windows(2)) {
                    *spent += between(readings[0], readings[1]).cpu_ms;
                }
                spent[4] += between(before, after).cpu_ms;
                slowest = slowest.max(between(readings[0], readings[4]).cpu_ms);
                pairs += world.outcome().work.pairs;
                contacts += world.outcome().contacts.len() as u64;
            }
        }
        progress(total, total);
        let ticks = f64::from(self.ticks);
        let per_avatar = 1e6 / self.avatars as f64;
        let row =
            |(stage, ms): (_, f64)| Row { stage, cpu_ms_mean: ms / ticks, ns_per_avatar: ms / ticks * per_avatar };
        let cpu_ms_per_tick = spent[..4].iter().sum::<f64>() / ticks;
        let facts = WorldFacts {
            objects: world.len(),
            cpu_ms_per_tick,
            ns_per_avatar: cpu_ms_per_tick * per_avatar,
            avatars_per_core: self.avatars as f64 * (1e3 / TICK_RATE) / cpu_ms_per_tick,
            cpu_ms_max: slowest,
            pairs: pairs as f64 / ticks,
            contacts: contacts as f64 / ticks,
            holds: world.overlap_near().is_none(),
            hash: world.hash().to_string(),
        };
        Ok((STAGES.into_iter().zip(spent).map(row).collect(), facts))
    }

    fn text(Report { settings, facts, rows, .. }: &Report<Settings>) -> String {
        let table = to_table(rows);
        format!(
            "{} avatars, {} % of them walking, {} objects in all, {} ticks after {}, seed {}\n\n{table}\n\
             A tick takes {} ms ({} at most), {} ns per avatar: {} avatars at 30 Hz on one core.\n\
             {} pairs may meet in a tick, {} contacts. {} State {}.\n",
            grouped(settings.avatars as u64),
            settings.movers_percent,
            grouped(facts.objects as u64),
            settings.ticks,
            settings.warm,
            settings.seed,
            significant(facts.cpu_ms_per_tick),
            significant(facts.cpu_ms_max),
            significant(facts.ns_per_avatar),
            grouped(facts.avatars_per_core as u64),
            significant(facts.pairs),
            significant(facts.contacts),
            if facts.holds { "Nothing overlaps." } else { "SOLIDS OVERLAP." },
            facts.hash,
        )
    }

    fn failures(report: &Report<Settings>) -> Vec<String> {
        (!report.facts.holds).then(|| "Solids overlap at the end.".to_owned()).into_iter().collect()
    }
}

/// Avatars that walk towards targets.
struct Walkers {
    wishes: Wishes,
    movers: usize,
    sequence: u32,
    speeds: Vec<f32>,
}

impl Walkers {
    /// One for each avatar, of which the first `movers` walk.
    fn new(world: &World, avatars: usize, movers: usize, seed: u64) -> Walkers {
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

    /// Lets the avatars join at places spread evenly, and says how many found room.
    fn join(world: &mut World, avatars: usize, seed: u64) -> usize {
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
    fn inputs(&mut self, world: &World, inputs: &mut Vec<Input>) {
        inputs.clear();
        self.sequence += 1;
        let tick = world.tick().next();
        self.wishes.begin(tick.number());
        for (number, object) in world.dynamic().filter(|object| object.owner.is_some()).take(self.movers).enumerate() {
            let way = (self.wishes.place(number, tick.number()) - object.position()) * Vec3::new(1.0, 0.0, 1.0);
            // None stands still: one that has arrived walks around its target.
            let way = if way.length() > 1.5 { way } else { Vec3::new(way.z, 0.0, -way.x) };
            let velocity = way.normalize_or(Vec3::X) * self.speeds[number];
            let sender = object.owner.expect("only those with an owner are left");
            inputs.push(Input { sender, sequence: self.sequence, made_for: tick, act: Act::Move { velocity } });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::tried;

    #[test]
    fn a_bench_measures_every_stage() {
        let report = tried::<Settings>("--objects 200 --warm 10 --ticks 10", 2);
        assert!(report.rows.iter().all(|row| (row.cpu_ms_mean - 2.0).abs() < 1e-9), "{:?}", report.rows);
        assert!(report.facts.holds && report.facts.contacts > 0.0, "{:?}", report.facts);
    }
}
