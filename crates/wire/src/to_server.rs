//! What a client says.

use serde::Serialize;
use space::ObjectId;

use crate::codec::{DecodeError, Reader, Writer};
use crate::input::Moves;
use crate::session::{Hello, SAID_MAX};
use crate::{MESSAGE_MAX, kind, pose};

/// A message from a client to a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum ToServer {
    /// I would like to join.
    Hello(Hello),
    /// I say something.
    Say {
        /// What.
        text: String,
    },
    /// I would like to hold that.
    Grab {
        /// What.
        #[serde(serialize_with = "pose::serialize_object")]
        object: ObjectId,
    },
    /// I let go of what I hold.
    Release,
    /// I leave.
    Leave,
    /// How I would like to move; a datagram.
    Moves(Moves),
    /// What time is it? A datagram.
    Ping {
        /// My clock, in microseconds.
        asked_us: i64,
    },
}

impl ToServer {
    /// Whether it is worthless when late, and so travels as a datagram.
    pub fn is_datagram(&self) -> bool {
        matches!(self, ToServer::Moves(_) | ToServer::Ping { .. })
    }

    /// The bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self {
            ToServer::Hello(hello) => hello.write(&mut Writer::new(&mut bytes, kind::HELLO)),
            ToServer::Say { text } => Writer::new(&mut bytes, kind::SAY).text(text, SAID_MAX),
            ToServer::Grab { object } => pose::write_object(&mut Writer::new(&mut bytes, kind::GRAB), *object),
            ToServer::Release => bytes.push(kind::RELEASE),
            ToServer::Leave => bytes.push(kind::LEAVE),
            ToServer::Moves(moves) => moves.write(&mut Writer::new(&mut bytes, kind::MOVES)),
            ToServer::Ping { asked_us } => Writer::new(&mut bytes, kind::PING).i64(*asked_us),
        }
        bytes
    }

    /// The message that these bytes are.
    pub fn decode(bytes: &[u8]) -> Result<ToServer, DecodeError> {
        let mut reader = Reader::new(bytes, MESSAGE_MAX)?;
        let message = match reader.kind() {
            kind::HELLO => ToServer::Hello(Hello::read(&mut reader)?),
            kind::SAY => ToServer::Say { text: reader.text(SAID_MAX, "text")?.to_owned() },
            kind::GRAB => ToServer::Grab { object: pose::read_object(&mut reader)? },
            kind::RELEASE => ToServer::Release,
            kind::LEAVE => ToServer::Leave,
            kind::MOVES => ToServer::Moves(Moves::read(&mut reader)?),
            kind::PING => ToServer::Ping { asked_us: reader.i64("asked_us")? },
            unknown => return Err(DecodeError::UnknownKind(unknown)),
        };
        reader.end()?;
        Ok(message)
    }
}
