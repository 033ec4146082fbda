//! `kinesphere lab four-users`: paper 002's test with people, as a script.

use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::Arc;

use clap::Args;
use client::bot::Behaviour;
use kinesphere::bots::{self, BotsReport, BotsSettings, Company, Quantiles};
use kinesphere::relay::Relay;
use kinesphere::relay::impairment::ImpairmentSettings;
use kinesphere::serve::{Options, Service};
use serde::Serialize;
use world::Plaza;

use crate::command::{Failure, runtime};
use crate::output::{print, print_json};
use crate::progress::Bar;

/// Beyond what the network takes, this is what nobody notices, in milliseconds: a tick to wait for and a tick to send,
/// with room for a busy machine. People begin to notice at about a tenth of a second.
const UNNOTICED_MS: f64 = 100.0;

/// Lets four users walk into each other and apart again, over a real server and real sockets of this machine, and measures
/// how long it takes until another sees what one did. Fails if that is noticeable beyond what the network itself takes, or
/// if two were ever in one place.
#[derive(Args)]
#[command(after_help = "Example: kinesphere lab four-users --seconds 30 --json")]
pub struct FourUsers {
    /// For how long, per network
    #[arg(long, value_name = "S", default_value_t = 30, value_parser = clap::value_parser!(u32).range(5..=3_600))]
    seconds: u32,
    /// The same seed makes the same decisions
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print one JSON document instead of a table
    #[arg(long)]
    json: bool,
}

/// A network: its name, milliseconds each way, how much more some packets take, and the share that is lost.
const NETWORKS: [(&str, f64, f64, f64); 3] =
    [("this machine", 0.0, 0.0, 0.0), ("a city", 10.0, 2.0, 0.0), ("a continent", 40.0, 10.0, 0.02)];

#[derive(Serialize)]
struct Report {
    users: usize,
    seconds: u32,
    seed: u64,
    unnoticed_ms: f64,
    holds: bool,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    network: &'static str,
    one_way_ms: f64,
    jitter_ms: f64,
    loss: f64,
    /// From one user's input to another's knowing of its effect.
    update_latency_ms: Quantiles,
    /// What of the 99th percentile is not the network's.
    beyond_network_ms: f64,
    samples: usize,
    violations: u64,
    joined: usize,
}

/// Runs the command.
pub fn run(arguments: FourUsers) -> Result<(), Failure> {
    let (bar, total) = (Bar::new("seconds"), arguments.seconds * NETWORKS.len() as u32);
    let mut rows = Vec::new();
    let runtime = runtime()?;
    for (number, network) in NETWORKS.into_iter().enumerate() {
        let done = number as u32 * arguments.seconds;
        let row = runtime.block_on(walk(&arguments, network, &mut |seconds| bar.set(done + seconds as u32, total)));
        rows.push(row?);
    }
    drop(bar);
    let holds = rows.iter().all(|row| row.joined == 4 && row.violations == 0 && row.beyond_network_ms < UNNOTICED_MS);
    let FourUsers { seconds, seed, json } = arguments;
    let report = Report { users: 4, seconds, seed, unnoticed_ms: UNNOTICED_MS, holds, rows };
    if json {
        print_json(&report)?
    } else {
        print(&text(&report))?
    }
    if holds {
        return Ok(());
    }
    Err(Failure::Check(format!(
        "four users noticed something.\nTo see it again: kinesphere lab four-users --seed {seed}"
    )))
}

async fn walk(
    arguments: &FourUsers,
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
    let relay = Relay::bind(here, service.quic(), impairment, arguments.seed).await.map_err(|error| machine(&error))?;
    let through = relay.local_addr().map_err(|error| machine(&error))?;
    let relaying = tokio::spawn(relay.run());
    let settings = BotsSettings {
        url: service.url(),
        through: Some(through),
        count: 4,
        // They meet in the middle, and part again.
        company: Company::Honest(Behaviour::Crowd),
        seconds: f64::from(arguments.seconds),
        token: String::new(),
        name: "user".to_owned(),
        seed: arguments.seed,
    };
    let mut go_on = |_: usize, seconds: f64| {
        progress(seconds);
        ControlFlow::Continue(())
    };
    let found = bots::run(&settings, &mut go_on).await;
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

fn text(report: &Report) -> String {
    let mut text = "Four users: from one's input to another's knowing of its effect, in milliseconds.\n\n\
                    network         one way  jitter  loss    p50    p99    max  beyond the network  violations\n"
        .to_owned();
    for row in &report.rows {
        let Quantiles { p50, p99, max } = row.update_latency_ms;
        text += &format!(
            "{:<14}  {:>7} {:>7} {:>4}%  {p50:>5.1}  {p99:>5.1}  {max:>5.1}  {:>18.1}  {:>10}\n",
            row.network,
            row.one_way_ms,
            row.jitter_ms,
            100.0 * row.loss,
            row.beyond_network_ms,
            row.violations
        );
    }
    let verdict = if report.holds { "Nobody notices a delay" } else { "Somebody notices a delay" };
    text + &format!(
        "\n{verdict}: {} ms beyond the network are allowed to the slowest of a hundred.\n",
        report.unnoticed_ms
    )
}
