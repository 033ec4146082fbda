//! One file per command; a folder where there are many of a kind.

mod address;
pub mod bots;
#[cfg(feature = "zenoh")]
pub mod cluster;
mod interrupt;
#[cfg(feature = "zenoh")]
pub mod join;
mod proof;
pub mod relay;
pub mod replay;
pub mod serve;
pub mod store;
pub mod token;
pub mod tree;
pub mod why;
#[cfg(feature = "zenoh")]
pub mod witness;

use clap::Subcommand;

pub use kinesphere::failure::Failure;

#[derive(Subcommand)]
pub enum Command {
    /// Serve a world that one can enter.
    Serve(Box<serve::Serve>),
    /// Take part in a world without a server.
    #[cfg(feature = "zenoh")]
    Join(join::Join),
    /// Take part in the votes of a cluster of servers.
    #[cfg(feature = "zenoh")]
    Witness(witness::Witness),
    /// Look at a cluster of servers.
    #[cfg(feature = "zenoh")]
    #[command(subcommand, after_help = "Example: kinesphere cluster status http://localhost:7777")]
    Cluster(cluster::ClusterCommand),
    /// Connect many clients to a server, and check its promises.
    Bots(bots::Bots),
    /// Delay, lose and reorder packets between a server and its clients.
    Relay(relay::RelayArguments),
    /// Play a kept world again, and compare it with its snapshots.
    Replay(replay::Replay),
    /// Say why a user is, or is not, told of an object.
    Why(why::Why),
    /// Make a join token, which lets a guest in.
    Token(token::Token),
    /// Check, back up or export a kept world.
    #[command(subcommand, after_help = "Example: kinesphere store check")]
    Store(store::StoreCommand),
    /// Build, show and check sphere-trees.
    #[command(subcommand, after_help = "Example: kinesphere tree build rabbit -o rabbit.tree")]
    Tree(tree::TreeCommand),
}

/// The runtime that a command's tasks run on.
pub fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|error| Failure::Machine(format!("no threads could be had: {error}")))
}
