//! `kinesphere bots`: company, load, and a check of the server's promises.

use std::ops::ControlFlow;

use clap::{Args, ValueEnum};
use client::bot::Behaviour;
use kinesphere::bots::{self, BotsReport, BotsSettings, Company};
use kinesphere::fetch::{Address, FetchError};
use kinesphere::link::client::ConnectError;
use tokio::sync::oneshot;

use super::address::resolve;
use super::interrupt::interrupted;
use super::proof::Proof;
use super::{Failure, runtime};
use kinesphere::output::{print, print_json};
use kinesphere::progress::Bar;

/// Connects many clients to a server and checks what they were told: no two solid objects overlap, and each client
/// hears of all objects near it and of no others. Fails if a client could not join or a promise was broken.
#[derive(Args)]
#[command(
    after_help = "Example: kinesphere bots http://localhost:7777 --count 100 --behaviour seek --seconds 30 --json"
)]
pub struct Bots {
    /// The server, as in http://localhost:7777
    #[arg(value_name = "URL")]
    url: String,
    /// How many clients
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    count: u32,
    /// How they move
    #[arg(long, value_name = "NAME", default_value = "wander")]
    behaviour: Name,
    /// For how long, after all have joined; Ctrl-C ends it earlier
    #[arg(long, value_name = "S", default_value_t = 20.0, value_parser = seconds)]
    seconds: f64,
    /// Send packets here instead, as to `kinesphere relay`
    #[arg(long, value_name = "HOST:PORT")]
    through: Option<String>,
    /// The join token that they show
    #[arg(
        long,
        value_name = "TOKEN",
        env = "KINESPHERE_TOKEN",
        default_value = "",
        hide_env_values = true,
        hide_default_value = true
    )]
    token: String,
    /// Their name, followed by a number
    #[arg(long, value_name = "NAME", default_value = "bot")]
    name: String,
    /// The same seed makes the same decisions
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    proof: Proof,
    /// Print one JSON document instead of sentences
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Name {
    Wander,
    Seek,
    Crowd,
    Stand,
    Hostile,
}

/// Runs the command.
pub fn run(arguments: Bots) -> Result<(), Failure> {
    let is_hostile = matches!(arguments.behaviour, Name::Hostile);
    let runtime = runtime()?;
    // An address that makes no sense is refused below.
    let proof = Address::parse(&arguments.url).ok().map(|server| arguments.proof.token(&server, None)).transpose()?;
    let settings = BotsSettings {
        url: arguments.url,
        through: arguments.through.map(|through| runtime.block_on(resolve(&through))).transpose()?,
        count: arguments.count as usize,
        company: match arguments.behaviour {
            Name::Wander => Company::Honest(Behaviour::Wander),
            Name::Seek => Company::Honest(Behaviour::Seek),
            Name::Crowd => Company::Honest(Behaviour::Crowd),
            Name::Stand => Company::Honest(Behaviour::Stand),
            Name::Hostile => Company::Hostile,
        },
        seconds: arguments.seconds,
        token: arguments.token,
        operator_token: proof.flatten(),
        name: arguments.name,
        seed: arguments.seed,
    };
    let bar = Bar::new("seconds");
    let total = settings.seconds.ceil() as u32;
    let report = runtime.block_on(async {
        // Ctrl-C ends the run, not the report.
        let (enough, mut is_enough) = oneshot::channel();
        let stop = interrupted();
        tokio::spawn(async move {
            stop.await;
            let _ = enough.send(());
        });
        let mut progress = |_: usize, seconds: f64| {
            bar.set(seconds as u32, total);
            if is_enough.try_recv().is_ok() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        bots::run(&settings, &mut progress).await
    });
    drop(bar);
    let report = report.map_err(|error| match error {
        ConnectError::Fetch(FetchError::NotAnAddress(_)) => Failure::Input(error.to_string()),
        _ => Failure::Machine(error.to_string()),
    })?;
    if arguments.json {
        print_json(&report)?;
    } else {
        print(&text(&report))?;
    }
    // Hostile bots must be sent away.
    if !is_hostile && report.joined < report.count {
        let said = report.refusals.keys().next().cloned().unwrap_or_default();
        return Err(Failure::Check(format!("{} of {} bots are in. {said}", report.joined, report.count)));
    }
    if !report.violations.is_none() {
        let examples = report.violations.examples.join("\n  ");
        return Err(Failure::Check(format!("the server broke its promises:\n  {examples}")));
    }
    Ok(())
}

fn text(report: &BotsReport) -> String {
    let latency = report.update_latency_ms;
    let tick = report.server_tick_ms.map_or("unknown".to_owned(), |tick| {
        format!("p50 {:.2} ms, p99 {:.2} ms, max {:.2} ms", tick.p50, tick.p99, tick.max)
    });
    let overruns = report.overruns.map_or("unknown".to_owned(), |share| format!("{:.2} %", share * 100.0));
    let wrong = &report.violations;
    let mut text = format!(
        "{} of {} joined and ran for {:.1} s\n\
         moves sent       {}\nupdates received {}\n\
         update latency   p50 {:.1} ms, p99 {:.1} ms ({} samples)\n\
         server tick      {tick}; overruns {overruns}\n\
         bytes            {:.0} per client and second\n\
         sent on          {} times, out of the world for p50 {:.0} ms, p99 {:.0} ms; lost {} times, longest {:.0} ms\n\
         violations       {} overlaps, {} unheard, {} overheard, {} contradictions\n",
        report.joined,
        report.count,
        report.seconds,
        report.moves_sent,
        report.updates_received,
        latency.p50,
        latency.p99,
        report.latency_samples,
        report.bytes_per_client_s,
        report.redirected,
        report.redirected_ms.p50,
        report.redirected_ms.p99,
        report.reconnected,
        report.resumed_ms.max,
        wrong.overlaps,
        wrong.unheard,
        wrong.overheard,
        wrong.contradictions,
    );
    for (sentence, times) in &report.refusals {
        text += &format!("{times} times        {sentence}\n");
    }
    text
}

fn seconds(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    if (0.0..=1e6).contains(&value) { Ok(value) } else { Err("expected 0 to 1000000 seconds".to_owned()) }
}
