//! Paper 002's test with people, as a script: four users who walk into each other and apart again.

use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::Arc;

use clap::Args;
use client::bot::Behaviour;
use kinesphere::bots::{self, BotsReport, BotsSettings, Company, Quantiles};
use kinesphere::failure::Failure;
use kinesphere::relay::Relay;
use kinesphere::relay::impairment::ImpairmentSettings;
use kinesphere::serve::{Options, Service};
use serde::Serialize;
use world::Plaza;

use crate::report::csv::to_table;
use crate::stopwatch::Stopwatch;
use crate::study::range::range;
use crate::study::{Progress, Report, Results, Study};

/// Milliseconds beyond what the network takes that users do not notice: a tick to wait for and a tick to send, with
/// room for a busy machine. People begin to notice at about a tenth of a second.
const UNNOTICED_MS: f64 = 100.0;
/// A network: its name, milliseconds each way, how much more some packets take, and the share that is lost.
const NETWORKS: [(&str, f64, f64, f64); 3] =
    [("this machine", 0.0, 0.0, 0.0), ("a city", 10.0, 2.0, 0.0), ("a continent", 40.0, 10.0, 0.02)];

/// Paper 002, section 3.5: do four users at once notice a delay?
///
/// Lets four users walk into each other and apart again, over a real server and real sockets of this machine, and
/// measures how long it takes until another sees what one did. Fails if that is noticeable beyond what the network
/// itself takes, or if two were ever in one place.
#[derive(Args, Clone, Debug, Serialize)]
pub struct Settings {
    /// For how long, per network
    #[arg(long, value_name = "S", default_value_t = 30, value_parser = range(5..=3_600u32).of("seconds"))]
    pub seconds: u32,
    /// The same seed makes the same decisions
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

#[derive(Clone, Debug, Serialize)]
pub struct FourUsersFacts {
    pub users: usize,
    pub unnoticed_ms: f64,
    pub holds: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub network: &'static str,
    pub one_way_ms: f64,
    pub jitter_ms: f64,
    pub loss: f64,
    /// From one user's input to when another hears of its effect.
    pub update_latency_ms: Quantiles,
    /// The part of the 99th percentile that is not the network's.
    pub beyond_network_ms: f64,
    pub samples: usize,
    pub violations: u64,
    pub joined: usize,
}

impl Study for Settings {
    const NAME: &'static str = "four-users";
    const EXAMPLE: &'static str = "--seconds 30 --json";
    const UNIT: &'static str = "seconds";
    const HAS_PAGE: bool = false;
    type Row = Row;
    type Facts = FourUsersFacts;

    fn run(&self, _: &mut dyn Stopwatch, progress: Progress<'_>) -> Result<Results<Settings>, Failure> {
        let total = self.seconds * NETWORKS.len() as u32;
        let mut rows = Vec::new();
        let runtime = tokio::runtime::Runtime::new()
            .map_err(|error| Failure::Machine(format!("cannot start threads: {error}")))?;
        for (number, network) in NETWORKS.into_iter().enumerate() {
            let done = number as u32 * self.seconds;
            rows.push(runtime.block_on(walk(self, network, &mut |seconds| progress(done + seconds as u32, total)))?);
        }
        let is_good = |row: &Row| row.joined == 4 && row.violations == 0 && row.beyond_network_ms < UNNOTICED_MS;
        let holds = rows.iter().all(is_good);
        Ok((rows, FourUsersFacts { users: 4, unnoticed_ms: UNNOTICED_MS, holds }))
    }

    fn text(report: &Report<Settings>) -> String {
        let table = to_table(&report.rows);
        let noticed = if report.facts.holds { "No user notices a delay" } else { "A user notices a delay" };
        format!(
            "Four users: from one's input to when another hears of its effect, in milliseconds.\n\n{table}\n\
             {noticed}: {UNNOTICED_MS} ms beyond the network are allowed at the 99th percentile.\n"
        )
    }

    fn failures(report: &Report<Settings>) -> Vec<String> {
        let sentence = "Four users would notice a delay, or two of them were in one place.";
        (!report.facts.holds).then(|| sentence.to_owned()).into_iter().collect()
    }
}

async fn walk(
    settings: &Settings,
    (network, one_way_ms, jitter_ms, loss): (&'static str, f64, f64, f64),
    progress: &mut dyn FnMut(f64),
) -> Result<Row, Failure> {
    let machine = |error: &dyn std::fmt::Display| Failure::Machine(error.to_string());
    let options = Options {
        world: Arc::new(Plaza { seekers: 0, ..Plaza::default() }.spec()),
        listen: "localhost:0".to_owned(),
        ..Options::default()
    };
    let service = Service::start(options).await.map_err(|error| machine(&error))?;
    let impairment = ImpairmentSettings {
        delay_us: (one_way_ms * 1_000.0) as u64,
        jitter_us: (jitter_ms * 1_000.0) as u64,
        loss,
        ..ImpairmentSettings::default()
    };
    let here = SocketAddr::new(service.quic().ip(), 0);
    let relay = Relay::bind(here, service.quic(), impairment, settings.seed).await.map_err(|error| machine(&error))?;
    let through = relay.local_addr().map_err(|error| machine(&error))?;
    let relaying = tokio::spawn(relay.run());
    let bots_settings = BotsSettings {
        url: service.url(),
        through: Some(through),
        count: 4,
        // The users meet in the middle, and part again.
        company: Company::Honest(Behaviour::Crowd),
        seconds: f64::from(settings.seconds),
        token: String::new(),
        operator_token: Some(service.operator_token().reveal().to_owned()),
        name: "user".to_owned(),
        seed: settings.seed,
    };
    let mut go_on = |_: usize, seconds: f64| {
        progress(seconds);
        ControlFlow::Continue(())
    };
    let found = bots::run(&bots_settings, &mut go_on).await;
    relaying.abort();
    service.stop().await;
    let BotsReport { joined, update_latency_ms, latency_samples, violations, .. } =
        found.map_err(|error| machine(&error))?;
    Ok(Row {
        network,
        one_way_ms,
        jitter_ms,
        loss,
        update_latency_ms,
        beyond_network_ms: update_latency_ms.p99 - 2.0 * (one_way_ms + jitter_ms),
        samples: latency_samples,
        violations: violations.overlaps + violations.unheard + violations.overheard + violations.contradictions,
        joined,
    })
}
