//! Messages of a client to a server.

use serde::Serialize;
use space::ObjectId;

use crate::codec::{DecodeError, begin, decode};
use crate::input::Moves;
use crate::session::{Hello, SAID_MAX};
use crate::{MESSAGE_MAX, kind, pose};

/// A message from a client to a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum ToServer {
    /// Asks to join.
    Hello(Hello),
    Say {
        text: String,
    },
    /// Asks to hold an object.
    Grab {
        #[serde(serialize_with = "pose::serialize_object")]
        object: ObjectId,
    },
    /// Lets go of what it holds.
    Release,
    Leave,
    /// Inputs; a datagram.
    Moves(Moves),
    /// Asks for the time, with the client's clock in microseconds; a datagram.
    Ping {
        asked_us: i64,
    },
}

impl ToServer {
    /// Whether it is worthless when late, and so travels as a datagram.
    pub fn is_datagram(&self) -> bool {
        matches!(self, ToServer::Moves(_) | ToServer::Ping { .. })
    }

    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self {
            ToServer::Hello(hello) => hello.write(&mut begin(&mut bytes, kind::HELLO)),
            ToServer::Say { text } => begin(&mut bytes, kind::SAY).text(text, SAID_MAX),
            ToServer::Grab { object } => pose::write_object(&mut begin(&mut bytes, kind::GRAB), *object),
            ToServer::Release => bytes.push(kind::RELEASE),
            ToServer::Leave => bytes.push(kind::LEAVE),
            ToServer::Moves(moves) => moves.write(&mut begin(&mut bytes, kind::MOVES)),
            ToServer::Ping { asked_us } => begin(&mut bytes, kind::PING).i64(*asked_us),
        }
        bytes
    }

    pub fn decode(bytes: &[u8]) -> Result<ToServer, DecodeError> {
        decode(bytes, MESSAGE_MAX, |kind, reader| {
            Ok(Some(match kind {
                kind::HELLO => ToServer::Hello(Hello::read(reader)?),
                kind::SAY => ToServer::Say { text: reader.text(SAID_MAX, "text")?.to_owned() },
                kind::GRAB => ToServer::Grab { object: pose::read_object(reader)? },
                kind::RELEASE => ToServer::Release,
                kind::LEAVE => ToServer::Leave,
                kind::MOVES => ToServer::Moves(Moves::read(reader)?),
                kind::PING => ToServer::Ping { asked_us: reader.i64("asked_us")? },
                _ => return Ok(None),
            }))
        })
    }
}
