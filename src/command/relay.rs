//! `kinesphere relay`: delays and loses packets between a server and its clients.

use clap::Args;
use kinesphere::relay::impairment::ImpairmentSettings;

use super::address::resolve;
use super::interrupt::interrupted;
use super::{Failure, runtime};
use kinesphere::output::{print, print_json};

/// Stands between UDP peers, such as a server and its clients, and delays, loses, doubles and reorders their packets.
/// Runs until it is interrupted, and then says what became of them.
#[derive(Args)]
#[command(after_help = "Example: kinesphere relay 127.0.0.1:7777 --delay-ms 60 --jitter-ms 20 --loss 0.02")]
pub struct RelayArguments {
    /// Where packets go
    #[arg(value_name = "HOST:PORT")]
    target: String,
    /// Where packets come from
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    listen: String,
    /// How long each packet takes, each way, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 0.0, value_parser = milliseconds)]
    delay_ms: f64,
    /// How much longer some take; the order is kept
    #[arg(long, value_name = "MS", default_value_t = 0.0, value_parser = milliseconds)]
    jitter_ms: f64,
    /// The share of packets that never arrive, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    loss: f64,
    /// The share of packets that arrive twice
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    duplicates: f64,
    /// The share of packets that later ones overtake
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    reordering: f64,
    /// The same seed draws the same fate for the same packets
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print what became of packets as one JSON document
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: RelayArguments) -> Result<(), Failure> {
    let settings = ImpairmentSettings {
        delay_us: (arguments.delay_ms * 1_000.0) as u64,
        jitter_us: (arguments.jitter_ms * 1_000.0) as u64,
        loss: arguments.loss,
        duplicates: arguments.duplicates,
        reordering: arguments.reordering,
    };
    runtime()?.block_on(async {
        let stop = interrupted();
        let (listen, target) = (resolve(&arguments.listen).await?, resolve(&arguments.target).await?);
        let relay = kinesphere::relay::Relay::bind(listen, target, settings, arguments.seed).await;
        let relay = relay.map_err(|error| {
            Failure::Machine(format!("cannot listen on {listen}: {error}\nName another with --listen."))
        })?;
        let address = relay.local_addr().map_err(|error| Failure::Machine(error.to_string()))?;
        if !arguments.json {
            print(&format!("relaying udp={address} to={target}\n"))?;
        }
        let counts = relay.counts();
        tokio::select! {
            ended = relay.run() => return ended.map_err(|error| Failure::Machine(format!("the relay ended: {error}"))),
            () = stop => {}
        }
        let counts = *counts.lock().expect("no thread panics while holding counts");
        if arguments.json {
            return print_json(&counts);
        }
        let line = |name: &str, way: kinesphere::relay::impairment::ImpairmentCounts| {
            format!(
                "{name:>6}  {:>10} {:>10} {:>8} {:>8} {:>10}\n",
                way.taken, way.passed, way.lost, way.doubled, way.held_back
            )
        };
        let head = "             taken     passed     lost  doubled  held back\n";
        print(&format!("{head}{}{}", line("there", counts.there), line("back", counts.back)))
    })
}

fn milliseconds(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "expected a number of milliseconds".to_owned())?;
    if (0.0..=60_000.0).contains(&value) { Ok(value) } else { Err("expected 0 to 60000 milliseconds".to_owned()) }
}

fn share(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "expected a share, from 0 to 1".to_owned())?;
    if (0.0..=1.0).contains(&value) { Ok(value) } else { Err("expected a share, from 0 to 1".to_owned()) }
}
