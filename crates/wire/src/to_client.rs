//! What a server says.

use serde::Serialize;
use space::ObjectId;

use crate::codec::{DecodeError, Reader, Writer};
use crate::form::Forms;
use crate::scene::Scene;
use crate::session::{NICKNAME_MAX, Refused, Roster, SAID_MAX, Welcome};
use crate::state::State;
use crate::{ADDRESS_MAX, MESSAGE_MAX, kind, pose};

/// The most servers that a client is told of.
pub const SERVERS_MAX: usize = 64;
/// Nothing shorter is an address.
const ADDRESS_MIN: usize = 4;

/// A message from a server to a client.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum ToClient {
    /// You are in.
    Welcome(Welcome),
    /// You are not in, and why.
    Refused(Refused),
    /// Things that stand in the world.
    Scene(Scene),
    /// Who entered your aura, and who left it.
    Roster(Roster),
    /// Somebody said something.
    Said {
        /// Who; nobody when the server itself speaks.
        #[serde(serialize_with = "serialize_speaker")]
        speaker: Option<ObjectId>,
        /// What it is called.
        name: String,
        /// What it said.
        text: String,
    },
    /// What became of a grab.
    Grabbed {
        /// What was to be held.
        #[serde(serialize_with = "pose::serialize_object")]
        object: ObjectId,
        /// Whether it is.
        is_held: bool,
    },
    /// This is the end, and why.
    Closed(Refused),
    /// Another server of this world has your avatar: connect there, and take up your session.
    Redirect {
        /// Where, as in `http://localhost:7777`.
        address: String,
    },
    /// Who serves this world: whoever finds one of them silent tries another.
    Servers {
        /// Where, as in `http://localhost:7777`.
        addresses: Vec<String>,
    },
    /// Where everybody is; a datagram.
    State(State),
    /// The time; a datagram.
    Pong {
        /// The client's clock when it asked, in microseconds.
        asked_us: i64,
        /// The server's clock when the question came, in microseconds.
        received_us: i64,
        /// The server's clock when it answered, in microseconds.
        replied_us: i64,
        /// The low 32 bits of the last tick, so that a client knows which tick it is at which time.
        tick: u32,
        /// The server's clock at that tick, in microseconds.
        ticked_us: i64,
    },
    /// What time it is for things that change their form.
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

    /// The bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self {
            ToClient::Welcome(welcome) => welcome.write(&mut Writer::new(&mut bytes, kind::WELCOME)),
            ToClient::Refused(refused) => refused.write(&mut Writer::new(&mut bytes, kind::REFUSED)),
            ToClient::Scene(scene) => scene.write(&mut Writer::new(&mut bytes, kind::SCENE)),
            ToClient::Roster(roster) => roster.write(&mut Writer::new(&mut bytes, kind::ROSTER)),
            ToClient::Said { speaker, name, text } => {
                let mut writer = Writer::new(&mut bytes, kind::SAID);
                writer.varint(speaker.map_or(0, ObjectId::number));
                writer.text(name, NICKNAME_MAX);
                writer.text(text, SAID_MAX);
            }
            ToClient::Grabbed { object, is_held } => {
                let mut writer = Writer::new(&mut bytes, kind::GRABBED);
                pose::write_object(&mut writer, *object);
                writer.u8(u8::from(*is_held));
            }
            ToClient::Closed(refused) => refused.write(&mut Writer::new(&mut bytes, kind::CLOSED)),
            ToClient::Redirect { address } => Writer::new(&mut bytes, kind::REDIRECT).text(address, ADDRESS_MAX),
            ToClient::Servers { addresses } => {
                let mut writer = Writer::new(&mut bytes, kind::SERVERS);
                let addresses = &addresses[..addresses.len().min(SERVERS_MAX)];
                writer.varint(addresses.len() as u64);
                addresses.iter().for_each(|address| writer.text(address, ADDRESS_MAX));
            }
            ToClient::State(state) => return state.encode(),
            ToClient::Forms(forms) => forms.write(&mut Writer::new(&mut bytes, kind::FORMS)),
            ToClient::Pong { asked_us, received_us, replied_us, tick, ticked_us } => {
                let mut writer = Writer::new(&mut bytes, kind::PONG);
                [asked_us, received_us, replied_us].into_iter().for_each(|time| writer.i64(*time));
                writer.u32(*tick);
                writer.i64(*ticked_us);
            }
        }
        bytes
    }

    /// The message that these bytes are.
    pub fn decode(bytes: &[u8]) -> Result<ToClient, DecodeError> {
        let mut reader = Reader::new(bytes, MESSAGE_MAX)?;
        let message = match reader.kind() {
            kind::WELCOME => ToClient::Welcome(Welcome::read(&mut reader)?),
            kind::REFUSED => ToClient::Refused(Refused::read(&mut reader)?),
            kind::SCENE => ToClient::Scene(Scene::read(&mut reader)?),
            kind::ROSTER => ToClient::Roster(Roster::read(&mut reader)?),
            kind::SAID => ToClient::Said {
                speaker: ObjectId::new(reader.varint(u64::MAX, "speaker")?),
                name: reader.text(NICKNAME_MAX, "name")?.to_owned(),
                text: reader.text(SAID_MAX, "text")?.to_owned(),
            },
            kind::GRABBED => ToClient::Grabbed {
                object: pose::read_object(&mut reader)?,
                is_held: match reader.u8("is_held")? {
                    0 => false,
                    1 => true,
                    _ => return Err(reader.refuse("is_held")),
                },
            },
            kind::CLOSED => ToClient::Closed(Refused::read(&mut reader)?),
            kind::REDIRECT => ToClient::Redirect { address: read_address(&mut reader)? },
            kind::SERVERS => {
                let count = reader.count(SERVERS_MAX, 1 + ADDRESS_MIN, "addresses")?;
                let mut addresses = Vec::with_capacity(count);
                for _ in 0..count {
                    addresses.push(read_address(&mut reader)?);
                }
                ToClient::Servers { addresses }
            }
            kind::STATE => ToClient::State(State::read(&mut Reader::new(bytes, crate::DATAGRAM_MAX)?)?),
            kind::FORMS => ToClient::Forms(Forms::read(&mut reader)?),
            kind::PONG => ToClient::Pong {
                asked_us: reader.i64("asked_us")?,
                received_us: reader.i64("received_us")?,
                replied_us: reader.i64("replied_us")?,
                tick: reader.u32("tick")?,
                ticked_us: reader.i64("ticked_us")?,
            },
            unknown => return Err(DecodeError::UnknownKind(unknown)),
        };
        // A state takes all there is.
        if !matches!(message, ToClient::State(_)) {
            reader.end()?;
        }
        Ok(message)
    }
}

fn read_address(reader: &mut Reader<'_>) -> Result<String, DecodeError> {
    let address = reader.text(ADDRESS_MAX, "address")?;
    if address.len() < ADDRESS_MIN { Err(reader.refuse("address")) } else { Ok(address.to_owned()) }
}
