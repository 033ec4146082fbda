//! `kinesphere witness`: a node without objects, for votes.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use cluster::Status;
use kinesphere::cluster::witness::{self, WitnessError};
use kinesphere::link::NodeName;
use server::ServerSettings;

use super::cluster::{ClusterArguments, unreached};
use super::interrupt::interrupted;
use super::serve::{log, made_of, metres};
use super::{Failure, runtime};
use kinesphere::output::print;

/// How long the end waits for the log to be read.
const LOG_MAX: Duration = Duration::from_millis(500);

/// Takes part in the votes of a cluster without serving users: with a witness, two servers go on when one of them dies.
/// It needs the same world as the servers.
#[derive(Args)]
#[command(after_help = "Example: kinesphere witness --cluster plaza --join 192.0.2.7:7447 --join 192.0.2.8:7447")]
pub struct Witness {
    /// A world file [default: the built-in plaza]
    #[arg(value_name = "WORLD")]
    world: Option<PathBuf>,
    /// What the cluster is called
    #[arg(long, value_name = "NAME", env = "KINESPHERE_CLUSTER")]
    cluster: NodeName,
    #[command(flatten)]
    among: ClusterArguments,
    /// How many walk about the plaza by themselves, as the servers were told [default: 60]
    #[arg(long, value_name = "N", env = "KINESPHERE_CROWD", value_parser = clap::value_parser!(u32).range(0..=10_000))]
    crowd: Option<u32>,
    /// How far a user hears, in metres, as the servers were told
    #[arg(long, value_name = "METRES", env = "KINESPHERE_AURA", default_value_t = 20.0, value_parser = metres)]
    aura: f32,
    /// What is logged, as in info,kinesphere=debug
    #[arg(long, value_name = "FILTER", env = "KINESPHERE_LOG", default_value = "warn,zenoh=off,kinesphere=info")]
    log: String,
}

/// Runs the command.
pub fn run(arguments: Witness) -> Result<(), Failure> {
    if arguments.among.join.is_empty() {
        return Err(Failure::Input("a witness needs a node to join: name one with --join HOST:PORT".to_owned()));
    }
    let log = log(&arguments.log, false)?;
    let ended = take_part(&arguments);
    log.finish(LOG_MAX);
    ended
}

fn take_part(arguments: &Witness) -> Result<(), Failure> {
    let world = made_of(arguments.world.as_deref(), arguments.crowd)?;
    let fabric = arguments.among.fabric(&arguments.cluster)?;
    let ServerSettings { nimbus, hysteresis, .. } = ServerSettings::default();
    let reach = (arguments.aura + nimbus) * hysteresis;
    runtime()?.block_on(async {
        let name = fabric.node.clone();
        let mut printed = Ok(());
        let mut told = |status: Status| {
            let line = match status {
                Status::Joining => "wants to join",
                Status::Member => "is a witness",
                Status::LeftOut => "was left out, and begins anew",
            };
            if let Err(error) = print(&format!("{name} {line}\n")) {
                printed = Err(error);
            }
        };
        let ended = witness::run(&fabric, world, reach, interrupted(), &mut told).await;
        ended.map_err(|error| match error {
            WitnessError::Fabric(error) => unreached(error),
            WitnessError::NotTakenIn => Failure::Machine(error.to_string()),
            _ => Failure::Input(error.to_string()),
        })?;
        printed
    })
}
