//! `kinesphere why`: explains why a user is, or is not, told of an object.

use std::path::PathBuf;

use clap::Args;
use kinesphere::fetch::{Address, post};
use kinesphere::kept;
use kinesphere::order::Order;
use kinesphere::store::Store;
use kinesphere::why::{Evidence, Explanation, Reach, explain};
use server::ServerSettings;

use super::proof::Proof;
use super::replay::{MadeOf, restored};
use super::store::{cannot_go_on, refused};
use super::{Failure, runtime};
use kinesphere::output::{print, print_json};

/// Explains why a user is, or is not, told of another object: the distance, the aura, and the byte budget. Asks a
/// running server, or replays a journal, which does not hold what was sent.
#[derive(Args)]
#[command(after_help = "Example: kinesphere why Ann Bob --journal my-world --at 1200")]
pub struct Why {
    /// The listener: a nickname, or an object's name or number
    #[arg(value_name = "A")]
    listener: String,
    /// The speaker, named in the same way
    #[arg(value_name = "B")]
    speaker: String,
    /// Explain the state after this tick [default: the last]
    #[arg(long, value_name = "TICK", conflicts_with = "server")]
    at: Option<u64>,
    /// A running server; on another machine over https://
    #[arg(long, value_name = "URL", default_value = "http://localhost:7777", conflicts_with = "journal")]
    server: String,
    /// The folder of a kept world whose server does not run
    #[arg(long, value_name = "DIR")]
    journal: Option<PathBuf>,
    #[command(flatten)]
    made_of: MadeOf,
    /// The aura in metres, as it was served
    #[arg(long, value_name = "METRES", default_value_t = 20.0)]
    aura: f32,
    #[command(flatten)]
    proof: Proof,
    /// Print one JSON document instead of a sentence
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: Why) -> Result<(), Failure> {
    let found = match &arguments.journal {
        Some(folder) => from_journal(&arguments, folder)?,
        None => from_server(&arguments)?,
    };
    if arguments.json { print_json(&found) } else { print(&format!("{}\n", found.sentence)) }
}

fn from_journal(arguments: &Why, folder: &std::path::Path) -> Result<Explanation, Failure> {
    let store = Store::open(folder).map_err(refused)?;
    let until = arguments.at.unwrap_or(u64::MAX);
    let mut world = restored(&store, &arguments.made_of.spec()?, until)?;
    let ServerSettings { nimbus, hysteresis, .. } = ServerSettings::default();
    let begins = arguments.aura + nimbus;
    let reach = Reach { begins, ends: begins * hysteresis };
    let (listener, speaker) = (arguments.listener.as_str(), arguments.speaker.as_str());
    // Between the two distances hearing depends on the ticks before.
    let mut known = Evidence::Unknown;
    kept::replay(&store, &mut world, until, &mut |world| {
        if let Ok(now) = explain(world, reach, listener, speaker, known) {
            let goes_on = known == Evidence::Replayed(true) && now.distance_m <= reach.ends;
            known = Evidence::Replayed(now.distance_m <= reach.begins || goes_on);
        }
    })
    .map_err(cannot_go_on)?;
    if arguments.at.is_some_and(|at| at != world.tick().number()) {
        let last = world.tick().number();
        return Err(Failure::Input(format!("tick {until} is not in the journal; the last before it is {last}")));
    }
    explain(&world, reach, listener, speaker, known).map_err(Failure::Input)
}

fn from_server(arguments: &Why) -> Result<Explanation, Failure> {
    let address = Address::parse(&arguments.server).map_err(|error| Failure::Input(error.to_string()))?;
    let order = Order::Why { listener: arguments.listener.clone(), speaker: arguments.speaker.clone() };
    let body = serde_json::to_string(&order).expect("an order is plain data");
    let token = arguments.proof.token(&address, arguments.made_of.file())?;
    let answer = runtime()?.block_on(post(&address, "/operator", &body, token.as_deref()));
    let answer = answer.map_err(|error| Failure::Machine(error.to_string()))?;
    serde_json::from_str(&answer).map_err(|_| Failure::Machine(answer.trim().to_owned()))
}
