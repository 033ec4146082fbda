//! Paper 002, figure 2.10: a peer that did not hear of a move walks through the one who made it. Here it is counted how
//! often, for peers who believe the last position they heard, for peers who predict by dead reckoning, and for a server
//! that settles every move. Beside it the paper's survey of topologies, in messages per tick.

mod encounter;
mod figures;
mod topologies;

use rayon::prelude::*;
use serde::Serialize;

pub use self::encounter::Way;
pub use self::topologies::TopologyRow;
use super::Document;
use crate::report::number::grouped;
use crate::report::page::{Block, Page, Section};
use crate::report::verdict::{Outcome, Verdict};
use crate::setting::{self, OutOfRange};
use kinesphere::table::Table;

/// The most encounters per setting.
pub const ENCOUNTERS_MAX: u32 = 1_000_000;
/// The shares of messages lost.
const LOSSES: [f64; 6] = [0.0, 0.01, 0.05, 0.1, 0.2, 0.5];
/// One way, in milliseconds.
const LATENCIES_MS: [u32; 2] = [0, 100];

/// What to run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Encounters per setting.
    pub encounters: u32,
    /// The first encounter's seed.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { encounters: 1_000, seed: 1 }
    }
}

/// What came out.
#[derive(Clone, Debug, Serialize)]
pub struct MissedCollisions {
    /// The command that repeats the run.
    pub command: String,
    /// Encounters per setting.
    pub encounters: u32,
    /// The first encounter's seed.
    pub seed: u64,
    /// One per way, latency and loss.
    pub rows: Vec<Row>,
    /// One per topology and number of users.
    pub topologies: Vec<TopologyRow>,
    /// The paper's claims.
    pub verdicts: Vec<Verdict>,
}

/// How one way did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// `naive`, `dead-reckoning` or `server`.
    pub method: &'static str,
    /// The share of messages lost.
    pub loss: f64,
    /// One way.
    pub latency_ms: u32,
    /// Encounters in which the two would collide if nobody looked.
    pub encounters: u32,
    /// Encounters in which they were inside each other at some time.
    pub missed: u32,
    /// The same, of all encounters, in percent.
    pub missed_percent: f64,
    /// How deep they were, at most, in metres.
    pub deepest_m: f64,
    /// Messages per encounter and second.
    pub messages_per_s: f64,
}

/// Runs everything. `progress` is told how many settings are done, of how many.
pub fn run(settings: &Settings, progress: &mut dyn FnMut(u32, u32)) -> Result<MissedCollisions, OutOfRange> {
    setting::check([("encounters", f64::from(settings.encounters), 1.0..=f64::from(ENCOUNTERS_MAX), "1 to 1000000")])?;
    let total = (Way::ALL.len() * LATENCIES_MS.len() * LOSSES.len()) as u32;
    let mut rows = Vec::new();
    for way in Way::ALL {
        for latency_ms in LATENCIES_MS {
            for loss in LOSSES {
                progress(rows.len() as u32, total);
                rows.push(count(settings, way, latency_ms, loss));
            }
        }
    }
    progress(total, total);
    let topologies = topologies::count(settings.seed);
    let verdicts = judge(&rows, &topologies);
    let command = format!(
        "cargo run --release -p lab -- missed-collisions --encounters {} --seed {}",
        settings.encounters, settings.seed
    );
    Ok(MissedCollisions { command, encounters: settings.encounters, seed: settings.seed, rows, topologies, verdicts })
}

fn count(settings: &Settings, way: Way, latency_ms: u32, loss: f64) -> Row {
    let seeds = (0..settings.encounters).into_par_iter().map(|number| settings.seed.wrapping_add(u64::from(number)));
    let all: Vec<encounter::Met> = seeds.map(|seed| encounter::meet(seed, way, latency_ms, loss)).collect();
    let missed = all.iter().filter(|met| met.depth_m > 0.0).count() as u32;
    let seconds: f64 = all.iter().map(|met| met.seconds).sum();
    Row {
        method: way.name(),
        loss,
        latency_ms,
        encounters: settings.encounters,
        missed,
        missed_percent: 100.0 * f64::from(missed) / f64::from(settings.encounters),
        deepest_m: all.iter().map(|met| met.depth_m).fold(0.0, f64::max),
        messages_per_s: all.iter().map(|met| met.messages as f64).sum::<f64>() / seconds,
    }
}

fn judge(rows: &[Row], topologies: &[TopologyRow]) -> Vec<Verdict> {
    let of = |way: Way| rows.iter().filter(move |row| row.method == way.name());
    let missed =
        |way: Way, loss: f64| of(way).find(|row| row.loss == loss && row.latency_ms == 0).map_or(0, |row| row.missed);
    let late =
        |way: Way, loss: f64| of(way).find(|row| row.loss == loss && row.latency_ms > 0).map_or(0, |row| row.missed);
    let verdict = |claim: &str, source: &str, outcome, evidence: String| Verdict {
        claim: claim.to_owned(),
        source: source.to_owned(),
        outcome,
        evidence,
    };
    let pairs = |topology: &str, users: usize| {
        topologies.iter().find(|row| row.topology == topology && row.users == users).map_or(0.0, |row| row.messages)
    };
    vec![
        verdict(
            "Peers miss collisions when update messages are lost",
            "paper 002, 2.8.2 and figure 2.10",
            Outcome::of_cases([missed(Way::Naive, 0.2) > missed(Way::Naive, 0.0)]),
            format!(
                "naive peers miss {} without loss, {} at 20 % (no latency)",
                missed(Way::Naive, 0.0),
                missed(Way::Naive, 0.2)
            ),
        ),
        verdict(
            "With dead reckoning fewer are missed, but some are",
            "paper 002, 2.8.2",
            Outcome::of_cases(
                of(Way::DeadReckoning)
                    .zip(of(Way::Naive))
                    .filter(|(row, _)| row.loss > 0.0)
                    .map(|(predicted, naive)| predicted.missed < naive.missed && predicted.missed > 0),
            ),
            format!(
                "at 20 % loss dead reckoning misses {} without latency, naive peers {}; with {} ms it is {} and {}",
                missed(Way::DeadReckoning, 0.2),
                missed(Way::Naive, 0.2),
                LATENCIES_MS[1],
                late(Way::DeadReckoning, 0.2),
                late(Way::Naive, 0.2)
            ),
        ),
        verdict(
            "A server that settles every move misses none, whatever is lost",
            "paper 002, 2.8.1",
            Outcome::of_cases(of(Way::Server).map(|row| row.missed == 0)),
            format!(
                "{} missed in all settings together",
                of(Way::Server).map(|row| u64::from(row.missed)).sum::<u64>()
            ),
        ),
        verdict(
            "Messages among peers grow with the square of the users, with a server in proportion to them",
            "paper 002, 2.5",
            Outcome::of_cases([
                pairs("full mesh", 256) > 15.0 * pairs("full mesh", 64),
                pairs("audience", 256) < 5.0 * pairs("audience", 64),
            ]),
            format!(
                "256 users: full mesh {}, broadcast {}, client-server {}, audience {} messages per tick",
                pairs("full mesh", 256),
                pairs("broadcast", 256),
                pairs("client-server", 256),
                pairs("audience", 256)
            ),
        ),
    ]
}

impl MissedCollisions {
    /// Whether the server missed none: that is a promise. All else is a result.
    pub fn holds(&self) -> bool {
        self.rows.iter().all(|row| row.method != Way::Server.name() || row.missed == 0)
    }

    /// Everything worth keeping.
    pub fn documents(&self) -> Vec<Document> {
        let page = Page {
            title: "Who walks through whom?".to_owned(),
            lead: format!(
                "Two avatars walk towards each other and turn abruptly now and then; hosts hear of each other over a \
                 network that loses messages. {} encounters per setting.",
                grouped(u64::from(self.encounters))
            ),
            sections: vec![
                Section { heading: "Verdicts".to_owned(), blocks: vec![Block::Verdicts(self.verdicts.clone())] },
                Section {
                    heading: "Missed collisions: figure 2.10".to_owned(),
                    blocks: vec![Block::Figures(figures::missed(self)), Block::Table(self.missed_table())],
                },
                Section {
                    heading: "Topologies: section 2.5".to_owned(),
                    blocks: vec![Block::Figures(figures::topologies(self)), Block::Table(self.topology_table())],
                },
            ],
            command: self.command.clone(),
        };
        let mut documents = vec![
            Document::page(&page),
            Document::csv("missed-collisions", &self.rows),
            Document::csv("topologies", &self.topologies),
            Document::json("missed-collisions", self),
        ];
        documents.extend(Document::plots(figures::missed(self).into_iter().chain(figures::topologies(self)).collect()));
        documents
    }

    /// The report for a terminal.
    pub fn to_text(&self) -> String {
        format!("{}\n{}\n{}\n", self.missed_table(), self.topology_table(), Verdict::list(&self.verdicts))
    }

    fn missed_table(&self) -> Table {
        let mut table = Table::new(["method", "latency ms", "loss", "missed %", "deepest m", "messages/s"]);
        for row in &self.rows {
            table.row([
                row.method.to_owned(),
                row.latency_ms.to_string(),
                row.loss.to_string(),
                format!("{:.1}", row.missed_percent),
                format!("{:.3}", row.deepest_m),
                format!("{:.1}", row.messages_per_s),
            ]);
        }
        table
    }

    fn topology_table(&self) -> Table {
        let mut table = Table::new(["topology", "users", "messages/tick", "copies/tick", "busiest host"]);
        for row in &self.topologies {
            let numbers = [row.messages, row.copies, row.busiest].map(|number| grouped(number as u64));
            table.row([row.topology.to_owned(), row.users.to_string()].into_iter().chain(numbers));
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_misses_none_and_peers_miss_more_the_more_is_lost() {
        let report = run(&Settings { encounters: 60, seed: 1 }, &mut |_, _| {}).unwrap();
        assert!(report.holds());
        assert_eq!(report.rows.len(), 36);
        let missed = |method: &str, loss: f64| {
            report
                .rows
                .iter()
                .find(|row| row.method == method && row.loss == loss && row.latency_ms == 0)
                .unwrap()
                .missed
        };
        assert!(missed("naive", 0.5) > missed("naive", 0.0));
        assert!(report.rows.iter().all(|row| row.messages_per_s > 0.0));
        assert!(report.documents().iter().any(|document| document.name == "missed-100.svg"));
        let full = report.topologies.iter().filter(|row| row.topology == "full mesh");
        assert!(full.into_iter().all(|row| row.messages == (row.users * (row.users - 1)) as f64));
    }
}
