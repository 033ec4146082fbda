//! `kinesphere token`: makes join tokens.

use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use kinesphere::token::{self, Secret};
use server::nickname::Nickname;

use super::Failure;
use super::store::Place;
use kinesphere::output::print;

/// Makes a join token: a permission to enter a world that asks for one. It is signed with the secret of the world's
/// folder, so that the server need not run.
#[derive(Args)]
#[command(after_help = "Example: kinesphere token --nickname Ann --hours 48")]
pub struct Token {
    #[command(flatten)]
    place: Place,
    /// The only nickname that it is good for [default: any]
    #[arg(long, value_name = "NAME")]
    nickname: Option<String>,
    /// For how long it is good
    #[arg(long, value_name = "HOURS", default_value_t = 24, value_parser = clap::value_parser!(u64).range(1..=87_600))]
    hours: u64,
}

/// Runs the command.
pub fn run(arguments: Token) -> Result<(), Failure> {
    let folder = arguments.place.folder()?;
    if let Some(Err(error)) = arguments.nickname.as_deref().map(Nickname::new) {
        return Err(Failure::Input(error.to_string()));
    }
    if !folder.join(Secret::FILE).exists() {
        let folder = folder.display();
        return Err(Failure::Input(format!(
            "there is no world in {folder}: {} is missing\nStart its server once, or name its folder with --data, or \
             the world file with --world.",
            Secret::FILE
        )));
    }
    let secret = Secret::read_or_make(&folder)
        .map_err(|error| Failure::Machine(format!("cannot use the secret in {}: {error}", folder.display())))?;
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let made = token::make(&secret, arguments.nickname.as_deref(), now_s + arguments.hours * 3_600);
    print(&format!("{made}\n"))
}
