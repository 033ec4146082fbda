//! Paper 002, figure 2.10: a peer that did not hear of a move walks through the one that made it. Here it is counted
//! how often, for peers that use the last position they heard, for peers that predict by dead reckoning, and for a
//! server that settles every move. Beside it the paper's survey of topologies, in messages per tick.

mod encounter;
mod page;
mod topologies;

use clap::Args;
use kinesphere::failure::Failure;
use rayon::prelude::*;
use serde::Serialize;

use self::encounter::Way;
use self::topologies::TopologyRow;
use crate::report::claim::{ClaimResult, judged};
use crate::report::csv::to_table;
use crate::report::page::{Document, Page};
use crate::stopwatch::Stopwatch;
use crate::study::range::range;
use crate::study::{Progress, Report, Results, Study};

/// The shares of messages lost.
const LOSSES: [f64; 6] = [0.0, 0.01, 0.05, 0.1, 0.2, 0.5];
/// From one host to the other, in milliseconds.
const LATENCIES_MS: [u32; 2] = [0, 100];

/// Paper 002, figure 2.10: how often do avatars walk through each other when messages are lost?
///
/// Lets two avatars walk into each other over a network that loses messages, and counts how often they end up inside
/// each other: with peers that use what they heard last, with dead reckoning, and with a server. Fails if the server
/// misses a collision.
#[derive(Args, Clone, Debug, Serialize)]
pub struct Settings {
    /// Encounters per setting
    #[arg(long, default_value_t = 1_000, value_name = "N", value_parser = range(1..=1_000_000u32))]
    pub encounters: u32,
    /// The first encounter's seed
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// What the survey of topologies comes to.
#[derive(Clone, Debug, Serialize)]
pub struct TopologyFacts {
    /// One per topology and number of users.
    pub topologies: Vec<TopologyRow>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// `naive`, `dead-reckoning` or `server`.
    pub method: &'static str,
    pub loss: f64,
    /// From one host to the other.
    pub latency_ms: u32,
    /// Encounters: the two would collide if neither stopped.
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

impl Study for Settings {
    const NAME: &'static str = "missed-collisions";
    const EXAMPLE: &'static str = "--encounters 200 --json";
    const UNIT: &'static str = "settings";
    const HAS_PAGE: bool = true;
    type Row = Row;
    type Facts = TopologyFacts;

    fn run(&self, _: &mut dyn Stopwatch, progress: Progress<'_>) -> Result<Results<Settings>, Failure> {
        let total = (Way::ALL.len() * LATENCIES_MS.len() * LOSSES.len()) as u32;
        let mut rows = Vec::new();
        for way in Way::ALL {
            for latency_ms in LATENCIES_MS {
                for loss in LOSSES {
                    progress(rows.len() as u32, total);
                    rows.push(count(self, way, latency_ms, loss));
                }
            }
        }
        progress(total, total);
        Ok((rows, TopologyFacts { topologies: topologies::count(self.seed) }))
    }

    fn text(report: &Report<Settings>) -> String {
        format!("{}\n{}", to_table(&report.rows), to_table(&report.facts.topologies))
    }

    fn claims(report: &Report<Settings>) -> Vec<ClaimResult> {
        judge(&report.rows, &report.facts.topologies)
    }

    fn page(report: &Report<Settings>) -> Page {
        page::page(report)
    }

    fn files(report: &Report<Settings>) -> Vec<Document> {
        vec![Document::csv("topologies", &report.facts.topologies)]
    }

    fn failures(report: &Report<Settings>) -> Vec<String> {
        let misses = report.rows.iter().any(|row| row.method == Way::Server.name() && row.missed > 0);
        misses.then(|| "The server missed a collision.".to_owned()).into_iter().collect()
    }
}

fn count(settings: &Settings, way: Way, latency_ms: u32, loss: f64) -> Row {
    let seeds = (0..settings.encounters).into_par_iter().map(|number| settings.seed.wrapping_add(u64::from(number)));
    let all: Vec<encounter::MeetingResult> = seeds.map(|seed| encounter::meet(seed, way, latency_ms, loss)).collect();
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

fn judge(rows: &[Row], topologies: &[TopologyRow]) -> Vec<ClaimResult> {
    let of = |way: Way| rows.iter().filter(move |row| row.method == way.name());
    let missed =
        |way: Way, loss: f64| of(way).find(|row| row.loss == loss && row.latency_ms == 0).map_or(0, |row| row.missed);
    let late =
        |way: Way, loss: f64| of(way).find(|row| row.loss == loss && row.latency_ms > 0).map_or(0, |row| row.missed);
    let pairs = |topology: &str, users: usize| {
        topologies.iter().find(|row| row.topology == topology && row.users == users).map_or(0.0, |row| row.messages)
    };
    vec![
        judged(
            "Peers miss collisions when update messages are lost",
            "paper 002, 2.8.2 and figure 2.10",
            [missed(Way::Naive, 0.2) > missed(Way::Naive, 0.0)],
            format!(
                "naive peers miss {} without loss, {} at 20 % (no latency)",
                missed(Way::Naive, 0.0),
                missed(Way::Naive, 0.2)
            ),
        ),
        judged(
            "With dead reckoning fewer are missed, but some are",
            "paper 002, 2.8.2",
            of(Way::DeadReckoning)
                .zip(of(Way::Naive))
                .filter(|(row, _)| row.loss > 0.0)
                .map(|(predicted, naive)| predicted.missed < naive.missed && predicted.missed > 0),
            format!(
                "at 20 % loss dead reckoning misses {} without latency, naive peers {}; with {} ms it is {} and {}",
                missed(Way::DeadReckoning, 0.2),
                missed(Way::Naive, 0.2),
                LATENCIES_MS[1],
                late(Way::DeadReckoning, 0.2),
                late(Way::Naive, 0.2)
            ),
        ),
        judged(
            "A server that settles every move misses none, whatever is lost",
            "paper 002, 2.8.1",
            of(Way::Server).map(|row| row.missed == 0),
            format!(
                "{} missed in all settings together",
                of(Way::Server).map(|row| u64::from(row.missed)).sum::<u64>()
            ),
        ),
        judged(
            "Messages among peers grow with the square of the users, with a server in proportion to them",
            "paper 002, 2.5",
            [
                pairs("full mesh", 256) > 15.0 * pairs("full mesh", 64),
                pairs("audience", 256) < 5.0 * pairs("audience", 64),
            ],
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::tried;

    #[test]
    fn a_server_misses_none_and_peers_miss_more_the_more_is_lost() {
        let report = tried::<Settings>("--encounters 60", 1);
        assert!(Settings::failures(&report).is_empty());
        assert_eq!(report.rows.len(), 36);
        let missed = |loss: f64| {
            let is_it = |row: &&Row| (row.method, row.loss, row.latency_ms) == ("naive", loss, 0);
            report.rows.iter().find(is_it).unwrap().missed
        };
        assert!(missed(0.5) > missed(0.0));
        assert!(report.rows.iter().all(|row| row.messages_per_s > 0.0));
        assert!(report.documents().iter().any(|document| document.name == "missed-100.svg"));
        let mut full = report.facts.topologies.iter().filter(|row| row.topology == "full mesh");
        assert!(full.all(|row| row.messages == (row.users * (row.users - 1)) as f64));
    }
}
