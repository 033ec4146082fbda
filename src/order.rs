//! What an operator may ask of a running server, and what is done about it.

use serde::{Deserialize, Serialize};
use server::nickname::Nickname;
use space::{NodeId, Time};
use tokio::sync::{mpsc, oneshot};
use wire::CloseReason;

use crate::cluster;
use crate::drive::Driver;
use crate::store::keeper::{KeeperStatus, StoreKeeper};
use crate::why::{self, Evidence, Reach};

/// An order, as in `{"do": "kick", "who": "Ann"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Order {
    /// Send a text to all users.
    Say { text: String },
    /// End the session of the user with this nickname.
    Kick { who: String },
    /// End the session, and refuse this nickname from now on.
    Ban { who: String },
    /// Lift a ban.
    Unban { who: String },
    /// Drop what the user with this nickname says.
    Mute { who: String },
    /// Lift a mute.
    Unmute { who: String },
    /// List the users.
    Users,
    /// Describe the server, and whether the world is kept.
    Status,
    /// Describe the cluster, as JSON.
    Cluster,
    /// Explain why one user or object is told of another or not, as JSON.
    Why { listener: String, speaker: String },
    /// Write everything to the disk now.
    Save,
    /// Stop the server; the world is kept.
    Stop,
}

/// The answer to an order, a sentence or JSON.
pub type Reply = Result<String, String>;

/// Hands orders to the driver of the server.
pub type Orders = mpsc::Sender<(Order, oneshot::Sender<Reply>)>;

/// Gives an order, and waits for the answer.
pub async fn give(orders: &Orders, order: Order) -> Reply {
    let (sender, answer) = oneshot::channel();
    let stopped = || "The server stops.".to_owned();
    orders.send((order, sender)).await.map_err(|_| stopped())?;
    answer.await.unwrap_or_else(|_| Err(stopped()))
}

/// Obeys an order. The driver stops by itself after [`Order::Stop`].
pub fn obey(drive: &mut Driver, order: Order, now: Time, links: usize) -> Reply {
    let named = |who: &str| Nickname::new(who).map_err(|error| error.to_string());
    match order {
        Order::Say { text } => {
            if text.trim().is_empty() || text.len() > wire::session::SAID_MAX {
                return Err(format!("There is something to say, of at most {} bytes.", wire::session::SAID_MAX));
            }
            drive.server.announce(text.trim());
            Ok("Everybody was told.".to_owned())
        }
        Order::Kick { who } => drop_user(drive, &named(&who)?, CloseReason::Kicked, "An operator sent you away."),
        Order::Ban { who } => {
            let name = named(&who)?;
            let note = drive.admission.ban(&name, true);
            drive.note(note);
            let _ = drop_user(drive, &name, CloseReason::Banned, "An operator banned you from this world.");
            Ok(format!("{} is banned.", name.as_str()))
        }
        Order::Unban { who } => {
            let name = named(&who)?;
            let note = drive.admission.ban(&name, false);
            drive.note(note);
            Ok(format!("{} may come back.", name.as_str()))
        }
        Order::Mute { who } => {
            let name = named(&who)?;
            let note = drive.admission.mute(&name, true);
            drive.note(note);
            Ok(format!("Nobody hears {} any more.", name.as_str()))
        }
        Order::Unmute { who } => {
            let name = named(&who)?;
            let note = drive.admission.mute(&name, false);
            drive.note(note);
            Ok(format!("{} is heard again.", name.as_str()))
        }
        Order::Users => {
            let users = drive.server.users().map(|(_, name, object, link)| {
                let away = if link.is_some() { "" } else { " (connection lost)" };
                format!("{name}: {object}{away}")
            });
            Ok(users.collect::<Vec<_>>().join("\n"))
        }
        Order::Status => Ok(status(drive, links)),
        Order::Cluster => {
            let alone = "This server is alone: it belongs to no cluster.";
            let nodes = drive.nodes.as_ref().ok_or(alone)?;
            let found = cluster::status::status(&drive.server, &nodes.messenger, &nodes.name, now).ok_or(alone)?;
            Ok(serde_json::to_string(&found).expect("a status is plain data"))
        }
        Order::Why { listener, speaker } => {
            let server = &drive.server;
            let settings = server.settings();
            let begins = settings.focus + settings.nimbus;
            let reach = Reach { begins, ends: begins * settings.hysteresis };
            let [one, other] = [why::find(server.world(), &listener)?.id, why::find(server.world(), &speaker)?.id];
            let known = Evidence::Live(server.hears(one, other), server.attention(one, other).map(Into::into));
            let found = why::explain(server.world(), reach, &listener, &speaker, known)?;
            Ok(serde_json::to_string(&found).expect("an explanation is plain data"))
        }
        Order::Save => match &drive.keeper {
            Some(keeper) => {
                drive.keep_snapshot();
                keeper.flush();
                Ok("The world is being written down.".to_owned())
            }
            None => Err("This world is kept in memory only.".to_owned()),
        },
        Order::Stop => Ok("The server stops; the world is kept.".to_owned()),
    }
}

/// Describes the server in sentences.
fn status(drive: &Driver, links: usize) -> String {
    let server = &drive.server;
    let tick = server.world().tick().number();
    let (users, queued) = (server.users().count(), server.queued());
    let kept = match drive.keeper.as_ref().map(StoreKeeper::status) {
        None => "The world is kept in memory only.".to_owned(),
        Some(KeeperStatus { paused: Some(why), .. }) => {
            format!("Keeping pauses, and what happens now would be lost by a crash: {why}")
        }
        Some(KeeperStatus { flushed_tick: Some(flushed), .. }) => format!("The world is kept up to tick {flushed}."),
        Some(_) => "The world is about to be kept.".to_owned(),
    };
    format!("Tick {tick}: {users} users are here, {queued} wait to be let in, {links} connections are open.\n{kept}")
}

fn drop_user(drive: &mut Driver, name: &Nickname, reason: CloseReason, sentence: &str) -> Reply {
    let key = name.key();
    let is_meant = |known: &str| Nickname::new(known).is_ok_and(|known| known.key() == key);
    let found: Option<NodeId> = drive.server.users().find(|(_, known, ..)| is_meant(known)).map(|(sender, ..)| sender);
    match found {
        Some(sender) if drive.server.drop_user(sender, reason, sentence) => {
            Ok(format!("{} was sent away.", name.as_str()))
        }
        _ => Err(format!("Nobody here is called {}.", name.as_str())),
    }
}
