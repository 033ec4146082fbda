//! What an operator may ask of a running server.

use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

use crate::operator::Role;

/// An order, as in `{"do": "kick", "who": "Ann"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Order {
    /// Tell everybody something.
    Say {
        /// What.
        text: String,
    },
    /// Send somebody away.
    Kick {
        /// The nickname.
        who: String,
    },
    /// Send somebody away for good.
    Ban {
        /// The nickname.
        who: String,
    },
    /// Let somebody come back.
    Unban {
        /// The nickname.
        who: String,
    },
    /// Let nobody hear what somebody says.
    Mute {
        /// The nickname.
        who: String,
    },
    /// Let everybody hear it again.
    Unmute {
        /// The nickname.
        who: String,
    },
    /// Who is here?
    Users,
    /// How is the server, and is the world kept?
    Status,
    /// How is the cluster? Answered as JSON.
    Cluster,
    /// Why is one told of another, or not? Answered as JSON.
    Why {
        /// Who hears, or not.
        listener: String,
        /// Who is heard, or not.
        speaker: String,
    },
    /// Write everything to the disk now.
    Save,
    /// Stop the server; the world is kept.
    Stop,
}

impl Order {
    /// The least role that may give it.
    pub fn least_role(&self) -> Role {
        match self {
            Order::Users | Order::Status | Order::Cluster | Order::Why { .. } => Role::Watcher,
            Order::Say { .. }
            | Order::Kick { .. }
            | Order::Ban { .. }
            | Order::Unban { .. }
            | Order::Mute { .. }
            | Order::Unmute { .. } => Role::Moderator,
            Order::Save | Order::Stop => Role::Operator,
        }
    }
}

/// What became of an order: a sentence.
pub type Answer = Result<String, String>;

/// Hands orders to whoever drives the server.
pub type Orders = mpsc::Sender<(Order, oneshot::Sender<Answer>)>;

/// Gives an order, and waits for the answer.
pub async fn give(orders: &Orders, order: Order) -> Answer {
    let (sender, answer) = oneshot::channel();
    let stopped = || "The server stops.".to_owned();
    orders.send((order, sender)).await.map_err(|_| stopped())?;
    answer.await.unwrap_or_else(|_| Err(stopped()))
}
