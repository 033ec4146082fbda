//! Messages of a server to a client.

use serde::Serialize;
use space::ObjectId;
use space::bytes::{Malformed, Reader};

use crate::codec::{DecodeError, begin, decode};
use crate::form::Forms;
use crate::scene::Scene;
use crate::session::{NICKNAME_MAX, Refused, Roster, SAID_MAX, Welcome};
use crate::state::State;
use crate::{ADDRESS_MAX, DATAGRAM_MAX, MESSAGE_MAX, kind, pose};

/// The most addresses of servers in one message.
pub const SERVERS_MAX: usize = 64;
/// The least bytes of an address.
const ADDRESS_MIN: usize = 4;

/// A message from a server to a client.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum ToClient {
    /// Lets the client in.
    Welcome(Welcome),
    /// Refuses the client.
    Refused(Refused),
    Scene(Scene),
    /// Objects that entered the client's aura, and those that left it.
    Roster(Roster),
    /// A user, or the server, says something.
    Said {
        /// `None` if the server speaks.
        #[serde(serialize_with = "serialize_speaker")]
        speaker: Option<ObjectId>,
        name: String,
        text: String,
    },
    /// The result of a grab, and later the loss of what was held.
    Grabbed {
        #[serde(serialize_with = "pose::serialize_object")]
        object: ObjectId,
        is_held: bool,
    },
    /// Ends the session.
    Closed(Refused),
    /// Another server has the client's avatar: connect there, as in `http://localhost:7777`, and take up the session.
    Redirect {
        address: String,
    },
    /// The servers of this world: if one is silent, try another.
    Servers {
        addresses: Vec<String>,
    },
    /// Positions of objects; a datagram.
    State(State),
    /// The time; a datagram.
    Pong {
        /// The client's clock when it asked, in microseconds.
        asked_us: i64,
        /// The server's clock when the question came, in microseconds.
        received_us: i64,
        /// The server's clock when it answered, in microseconds.
        replied_us: i64,
        /// The low 32 bits of the last tick.
        tick: u32,
        /// The server's clock at that tick, in microseconds.
        ticked_us: i64,
    },
    /// Clocks of objects that deform.
    Forms(Forms),
}

fn serialize_speaker<S: serde::Serializer>(speaker: &Option<ObjectId>, serializer: S) -> Result<S::Ok, S::Error> {
    speaker.map(ObjectId::number).serialize(serializer)
}

impl ToClient {
    /// Whether it is worthless when late, and so travels as a datagram.
    pub fn is_datagram(&self) -> bool {
        matches!(self, ToClient::State(_) | ToClient::Pong { .. })
    }

    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self {
            ToClient::Welcome(welcome) => welcome.write(&mut begin(&mut bytes, kind::WELCOME)),
            ToClient::Refused(refused) => refused.write(&mut begin(&mut bytes, kind::REFUSED)),
            ToClient::Scene(scene) => scene.write(&mut begin(&mut bytes, kind::SCENE)),
            ToClient::Roster(roster) => roster.write(&mut begin(&mut bytes, kind::ROSTER)),
            ToClient::Said { speaker, name, text } => {
                let mut writer = begin(&mut bytes, kind::SAID);
                writer.varint(speaker.map_or(0, ObjectId::number));
                writer.text(name, NICKNAME_MAX);
                writer.text(text, SAID_MAX);
            }
            ToClient::Grabbed { object, is_held } => {
                let mut writer = begin(&mut bytes, kind::GRABBED);
                pose::write_object(&mut writer, *object);
                writer.flag(*is_held);
            }
            ToClient::Closed(refused) => refused.write(&mut begin(&mut bytes, kind::CLOSED)),
            ToClient::Redirect { address } => begin(&mut bytes, kind::REDIRECT).text(address, ADDRESS_MAX),
            ToClient::Servers { addresses } => {
                let mut writer = begin(&mut bytes, kind::SERVERS);
                writer.list(addresses, SERVERS_MAX, |address, writer| writer.text(address, ADDRESS_MAX));
            }
            ToClient::State(state) => return state.encode(),
            ToClient::Forms(forms) => forms.write(&mut begin(&mut bytes, kind::FORMS)),
            ToClient::Pong { asked_us, received_us, replied_us, tick, ticked_us } => {
                let mut writer = begin(&mut bytes, kind::PONG);
                [asked_us, received_us, replied_us].into_iter().for_each(|time| writer.i64(*time));
                writer.u32(*tick);
                writer.i64(*ticked_us);
            }
        }
        bytes
    }

    pub fn decode(bytes: &[u8]) -> Result<ToClient, DecodeError> {
        let max = if bytes.first() == Some(&kind::STATE) { DATAGRAM_MAX } else { MESSAGE_MAX };
        decode(bytes, max, |kind, reader| {
            Ok(Some(match kind {
                kind::WELCOME => ToClient::Welcome(Welcome::read(reader)?),
                kind::REFUSED => ToClient::Refused(Refused::read(reader)?),
                kind::SCENE => ToClient::Scene(Scene::read(reader)?),
                kind::ROSTER => ToClient::Roster(Roster::read(reader)?),
                kind::SAID => ToClient::Said {
                    speaker: ObjectId::new(reader.varint(u64::MAX, "speaker")?),
                    name: reader.text(NICKNAME_MAX, "name")?.to_owned(),
                    text: reader.text(SAID_MAX, "text")?.to_owned(),
                },
                kind::GRABBED => {
                    ToClient::Grabbed { object: pose::read_object(reader)?, is_held: reader.flag("is_held")? }
                }
                kind::CLOSED => ToClient::Closed(Refused::read(reader)?),
                kind::REDIRECT => ToClient::Redirect { address: read_address(reader)? },
                kind::SERVERS => {
                    let addresses = reader.list(SERVERS_MAX, 1 + ADDRESS_MIN, "addresses", read_address)?;
                    ToClient::Servers { addresses }
                }
                kind::STATE => ToClient::State(State::read(reader)?),
                kind::FORMS => ToClient::Forms(Forms::read(reader)?),
                kind::PONG => ToClient::Pong {
                    asked_us: reader.i64("asked_us")?,
                    received_us: reader.i64("received_us")?,
                    replied_us: reader.i64("replied_us")?,
                    tick: reader.u32("tick")?,
                    ticked_us: reader.i64("ticked_us")?,
                },
                _ => return Ok(None),
            }))
        })
    }
}

fn read_address(reader: &mut Reader<'_>) -> Result<String, Malformed> {
    let address = reader.text(ADDRESS_MAX, "address")?;
    reader.check(address.len() >= ADDRESS_MIN, "address")?;
    Ok(address.to_owned())
}
