//! A server and its clients on a bad network, with every promise checked at every tick.

use clap::Args;
use client::bot::Behaviour;
use kinesphere::failure::Failure;
use kinesphere::table::Table;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use sim::plaza;
use sim::promises::Score;

use crate::report::number::grouped;
use crate::stopwatch::Stopwatch;
use crate::study::{Progress, Report, Results, Study, refused};

/// Does the server keep its promises on a bad network, whatever its clients do?
///
/// Runs a server and its clients over a simulated network, with losses, cut connections, partitions, restarts and
/// hostile clients, and checks every promise at every tick. Fails if one is broken; the same seed repeats the run to
/// the bit.
#[derive(Args, Clone, Debug, Serialize)]
pub struct Settings {
    /// The same seed gives the same run
    #[arg(long, default_value_t = plaza::Settings::default().seed)]
    pub seed: u64,
    /// Clients that follow the protocol
    #[arg(long, default_value_t = plaza::Settings::default().clients, value_name = "N")]
    pub clients: usize,
    /// Clients that do not
    #[arg(long, default_value_t = plaza::Settings::default().hostile, value_name = "N")]
    pub hostile: usize,
    /// Ticks of the server, 30 a second
    #[arg(long, default_value_t = plaza::Settings::default().ticks, value_name = "T")]
    pub ticks: u64,
    /// The share of datagrams that are lost, as a fraction
    #[arg(long, default_value_t = plaza::Settings::default().loss, value_name = "P")]
    pub loss: f64,
    /// One way, in milliseconds
    #[arg(long = "latency", default_value_t = plaza::Settings::default().latency_ms, value_name = "MS")]
    pub latency_ms: f64,
    /// What is added to that at most, in milliseconds [default: a third of the latency]
    #[arg(long = "jitter", value_name = "MS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter_ms: Option<f64>,
    /// How fast clients move, in metres per second
    #[arg(long, default_value_t = plaza::Settings::default().speed, value_name = "M/S")]
    pub speed: f64,
    /// Avatars of the world's own crowd
    #[arg(long, default_value_t = plaza::Settings::default().seekers, value_name = "N")]
    pub crowd: u32,
    /// How clients move: wander, seek, crowd or stand [default: a mixture]
    #[arg(long, value_name = "NAME", value_parser = behaviour)]
    #[serde(serialize_with = "behaviour_name", skip_serializing_if = "Option::is_none")]
    pub behaviour: Option<Behaviour>,
    /// No cut connections, no partitions, no restarts
    #[arg(long)]
    pub calm: bool,
}

fn behaviour(name: &str) -> Result<Behaviour, String> {
    let known = Behaviour::ALL.iter().find(|(known, _)| *known == name);
    known.map(|(_, behaviour)| *behaviour).ok_or_else(|| "expected wander, seek, crowd or stand".to_owned())
}

fn behaviour_name<S: Serializer>(behaviour: &Option<Behaviour>, serializer: S) -> Result<S::Ok, S::Error> {
    let name = |sought: &Behaviour| Behaviour::ALL.iter().find(|(_, known)| known == sought).map(|(name, _)| *name);
    behaviour.as_ref().and_then(name).serialize(serializer)
}

/// What the simulator measured, without its settings and its promises.
#[derive(Clone, Debug, Serialize)]
pub struct PlazaFacts {
    #[serde(flatten)]
    measured: Map<String, Value>,
    #[serde(skip)]
    report: plaza::Report,
}

impl Study for Settings {
    const NAME: &'static str = "simulate";
    const EXAMPLE: &'static str = "--seed 7 --clients 50 --ticks 9000 --loss 0.1 --latency 120";
    const UNIT: &'static str = "ticks";
    const HAS_PAGE: bool = false;
    /// A promise, how often it was checked and broken, and examples.
    type Row = Value;
    type Facts = PlazaFacts;

    fn run(&self, _: &mut dyn Stopwatch, progress: Progress<'_>) -> Result<Results<Settings>, Failure> {
        let settings = plaza::Settings {
            seed: self.seed,
            clients: self.clients,
            hostile: self.hostile,
            ticks: self.ticks,
            loss: self.loss,
            latency_ms: self.latency_ms,
            jitter_ms: self.jitter_ms.unwrap_or(self.latency_ms / 3.0),
            upsets: !self.calm,
            behaviour: self.behaviour,
            speed: self.speed,
            seekers: self.crowd,
            ..plaza::Settings::default()
        };
        let report = plaza::run(&settings, progress).map_err(refused)?;
        let fields = |document: Result<Value, _>| match document {
            Ok(Value::Object(fields)) => fields,
            other => unreachable!("a report is a struct of plain values: {other:?}"),
        };
        let mut measured = fields(serde_json::to_value(&report));
        let own = fields(serde_json::to_value(self));
        let rows = measured.remove("rows").and_then(|rows| rows.as_array().cloned()).unwrap_or_default();
        measured.retain(|name, _| name != "command" && !own.contains_key(name));
        Ok((rows, PlazaFacts { measured, report }))
    }

    fn text(Report { facts: PlazaFacts { report, .. }, .. }: &Report<Settings>) -> String {
        let mut table = Table::new(["promise", "checks", "broken"]);
        for Score { promise, checks, violations, .. } in report.promises.iter() {
            table.row([(*promise).to_owned(), grouped(*checks), grouped(*violations)]);
        }
        format!(
            "{table}\n{:.0} simulated seconds, {} clients and {} hostile ones, loss {}, {} ms and up to {} ms more \
             one way.\n\
             {} joined, {} resumed, {} in at the end; {} cuts, {} partitions, {} restarts; {} messages rejected.\n\
             Avatars are shown {:.3} m from where they are, on average. {:.2} state bytes per object and update.\n\
             World at the end: {}\n",
            report.seconds,
            report.clients,
            report.hostile,
            report.loss,
            report.latency_ms,
            report.jitter_ms,
            report.joined,
            report.resumed,
            report.in_at_end,
            report.cuts,
            report.partitions,
            report.restarts,
            grouped(report.rejected),
            report.shown_error_m,
            report.state_bytes_per_object,
            report.hash
        )
    }

    fn failures(report: &Report<Settings>) -> Vec<String> {
        report.facts.report.promises.failures()
    }
}
