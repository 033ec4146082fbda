//! Joining and leaving, and the objects that a client hears: messages that must arrive, and in order.

use crate::pose::{self, Handle};
use crate::shape::CollisionShape;
use crate::state::MOTION_MAX;
use serde::Serialize;
use space::bytes::{Malformed, Reader, Writer};
use space::{GridPoint, ObjectId, Turn};

/// The most bytes of a nickname: 24 visible characters, each with its accents.
pub const NICKNAME_MAX: usize = 192;
/// The most bytes of a join token.
pub const TOKEN_MAX: usize = 1_024;
/// The most bytes of an explaining sentence.
pub const SENTENCE_MAX: usize = 300;
/// The most bytes of what a user says.
pub const SAID_MAX: usize = 600;
/// The most objects that enter, or leave, in one message.
pub const ROSTER_MAX: usize = 128;
/// The secret that takes up a session again after a lost connection: its holder is that user.
pub type ResumeKey = [u8; 16];

/// The first message of a client.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Hello {
    /// The version of the protocol.
    pub version: u16,
    pub nickname: String,
    /// The index of the avatar that it wants.
    pub avatar: u8,
    /// Empty where none is needed.
    pub token: Vec<u8>,
    /// The key of an earlier session to take up.
    pub resume: Option<ResumeKey>,
}

impl Hello {
    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        writer.u16(self.version);
        writer.text(&self.nickname, NICKNAME_MAX);
        writer.u8(self.avatar);
        writer.bytes(&self.token, TOKEN_MAX);
        writer.flag(self.resume.is_some());
        if let Some(key) = &self.resume {
            writer.raw(key);
        }
    }

    /// The version in the first bytes of a hello of any version: what follows it may differ.
    pub fn version_of(bytes: &[u8]) -> Option<u16> {
        match bytes {
            [crate::kind::HELLO, low, high, ..] => Some(u16::from_le_bytes([*low, *high])),
            _ => None,
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Hello, Malformed> {
        Ok(Hello {
            version: reader.u16("version")?,
            nickname: reader.text(NICKNAME_MAX, "nickname")?.to_owned(),
            avatar: reader.u8("avatar")?,
            token: reader.bytes(TOKEN_MAX, "token")?.to_owned(),
            resume: if reader.flag("resume")? { Some(reader.array("resume")?) } else { None },
        })
    }
}

/// The parameters of walking: a client predicts its own avatar with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Walking {
    /// The highest speed, in metres per second.
    pub speed_max: f32,
    /// Upward speed at the start of a jump, in metres per second.
    pub jump_speed: f32,
    /// Downward, in metres per second squared; zero is a world to fly in.
    pub gravity: f32,
    /// The height of a step that is walked up, in metres.
    pub step_height: f32,
}

/// The answer to a hello that is accepted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Welcome {
    /// The version that the server speaks.
    pub version: u16,
    /// The secret that takes up this session again.
    pub resume_key: ResumeKey,
    /// Whether an earlier session goes on.
    pub is_resumed: bool,
    /// The client's avatar.
    #[serde(serialize_with = "pose::serialize_object")]
    pub own: ObjectId,
    /// The nickname as it was accepted.
    pub nickname: String,
    /// The last completed tick.
    pub tick: u64,
    /// The duration of a tick, in microseconds.
    pub tick_us: u32,
    /// The server's time at the end of the last tick, in microseconds.
    pub time_us: i64,
    /// How far users hear, in metres.
    pub aura: f32,
    pub walking: Walking,
    /// The lowest and the highest corner of the world.
    #[serde(serialize_with = "serialize_points")]
    pub bounds: [GridPoint; 2],
    /// The avatar's shape.
    pub shape: CollisionShape,
    /// The avatar's position.
    #[serde(serialize_with = "pose::serialize_point")]
    pub place: GridPoint,
    /// The avatar's orientation.
    #[serde(serialize_with = "pose::serialize_turn")]
    pub turn: Turn,
    /// The number of the newest input of the earlier session that was applied.
    pub newest: u32,
}

fn serialize_points<S: serde::Serializer>(points: &[GridPoint; 2], serializer: S) -> Result<S::Ok, S::Error> {
    points.map(|point| [point.x, point.y, point.z]).serialize(serializer)
}

/// The longest tick, in microseconds.
pub const TICK_US_MAX: u32 = 1_000_000;
/// The largest speed, acceleration and distance.
const AMOUNT_MAX: f32 = 16_384.0;

impl Welcome {
    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        writer.u16(self.version);
        writer.raw(&self.resume_key);
        writer.flag(self.is_resumed);
        pose::write_object(writer, self.own);
        writer.text(&self.nickname, NICKNAME_MAX);
        writer.varint(self.tick);
        writer.varint(self.tick_us);
        writer.i64(self.time_us);
        let Walking { speed_max, jump_speed, gravity, step_height } = self.walking;
        for amount in [self.aura, speed_max, jump_speed, gravity, step_height] {
            writer.f32(amount);
        }
        self.bounds.iter().for_each(|corner| pose::write_point(writer, *corner));
        self.shape.write(writer);
        pose::write_point(writer, self.place);
        pose::write_turn(writer, self.turn);
        writer.u32(self.newest);
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Welcome, Malformed> {
        let version = reader.u16("version")?;
        let resume_key = reader.array("resume_key")?;
        let is_resumed = reader.flag("is_resumed")?;
        let own = pose::read_object(reader)?;
        let nickname = reader.text(NICKNAME_MAX, "nickname")?.to_owned();
        let tick = reader.varint(u64::MAX, "tick")?;
        let tick_us = reader.positive(TICK_US_MAX.into(), "tick_us")? as u32;
        let time_us = reader.i64("time_us")?;
        let mut amount = |field| reader.f32(0.0, AMOUNT_MAX, field);
        let aura = amount("aura")?;
        let walking = Walking {
            speed_max: amount("speed_max")?,
            jump_speed: amount("jump_speed")?,
            gravity: amount("gravity")?,
            step_height: amount("step_height")?,
        };
        Ok(Welcome {
            version,
            resume_key,
            is_resumed,
            own,
            nickname,
            tick,
            tick_us,
            time_us,
            aura,
            walking,
            bounds: [pose::read_point(reader, "bounds")?, pose::read_point(reader, "bounds")?],
            shape: CollisionShape::read(reader)?,
            place: pose::read_point(reader, "place")?,
            turn: pose::read_turn(reader)?,
            newest: reader.u32("newest")?,
        })
    }
}

/// Why a user is not let in, or has to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[repr(u8)]
pub enum CloseReason {
    /// The client speaks another version.
    Version = 1,
    /// The nickname is not allowed.
    Nickname = 2,
    /// Another user has the nickname.
    NicknameTaken = 3,
    /// The world has no such avatar.
    Avatar = 4,
    /// The server has as many users as it allows.
    Full = 5,
    /// There is no free place for the avatar.
    NoRoom = 6,
    /// The token is missing, wrong or has expired.
    Token = 7,
    Banned = 8,
    Kicked = 9,
    /// Nothing was received for too long.
    Idle = 10,
    /// Too many malformed messages, or too many messages.
    Misbehaved = 11,
    /// The client does not read what it is sent.
    Slow = 12,
    /// The session goes on over another connection.
    Resumed = 13,
    /// The server stops.
    Stopping = 14,
    /// The client asked to leave.
    Left = 15,
}

impl CloseReason {
    const ALL: [CloseReason; 15] = [
        CloseReason::Version,
        CloseReason::Nickname,
        CloseReason::NicknameTaken,
        CloseReason::Avatar,
        CloseReason::Full,
        CloseReason::NoRoom,
        CloseReason::Token,
        CloseReason::Banned,
        CloseReason::Kicked,
        CloseReason::Idle,
        CloseReason::Misbehaved,
        CloseReason::Slow,
        CloseReason::Resumed,
        CloseReason::Stopping,
        CloseReason::Left,
    ];
}

/// A refusal, or the end of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// The version that the server speaks.
    pub version: u16,
    pub reason: CloseReason,
    /// An explanation for people, with a way out.
    pub sentence: String,
}

impl Refused {
    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        writer.u16(self.version);
        writer.u8(self.reason as u8);
        writer.text(&self.sentence, SENTENCE_MAX);
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Refused, Malformed> {
        let version = reader.u16("version")?;
        let number = reader.u8("reason")?;
        let reason = CloseReason::ALL.into_iter().find(|&reason| reason as u8 == number);
        let reason = reason.ok_or_else(|| reader.refuse("reason"))?;
        Ok(Refused { version, reason, sentence: reader.text(SENTENCE_MAX, "sentence")?.to_owned() })
    }
}

/// The kind of an object that a client hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[repr(u8)]
pub enum EnteredKind {
    /// A user's object.
    Avatar = 0,
    /// An object that can be pushed or held.
    Movable = 1,
    /// An object that moves along a route.
    Mover = 2,
}

impl EnteredKind {
    pub(crate) fn from_number(number: u8) -> Option<EnteredKind> {
        [EnteredKind::Avatar, EnteredKind::Movable, EnteredKind::Mover].get(usize::from(number)).copied()
    }
}

/// An object that the client hears from now on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entered {
    /// Its name in datagrams.
    pub handle: Handle,
    #[serde(serialize_with = "pose::serialize_object")]
    pub object: ObjectId,
    pub kind: EnteredKind,
    /// Its user's nickname, or its name in the world's file.
    pub name: String,
    pub shape: CollisionShape,
    #[serde(serialize_with = "pose::serialize_point")]
    pub place: GridPoint,
    #[serde(serialize_with = "pose::serialize_turn")]
    pub turn: Turn,
    /// In units of [`MOTION_UNIT`](crate::state::MOTION_UNIT), as in a state datagram.
    pub motion: [i16; 3],
}

/// A handle, a name, a kind, no nickname, a sphere, a place, no turn, and no motion.
const ENTERED_BYTES_MIN: usize = 1 + 1 + 1 + 1 + 5 + 3 + 1 + 3;

/// The objects that entered the client's aura and those that left it. The client's move datagrams acknowledge the
/// number of the last roster.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Roster {
    /// Counts up from 1, in 16 bits.
    pub number: u16,
    /// The low 32 bits of the tick of this change. In state datagrams of earlier ticks these handles mean other
    /// objects.
    pub tick: u32,
    pub left: Vec<Handle>,
    pub entered: Vec<Entered>,
}

impl Roster {
    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        writer.u16(self.number);
        writer.u32(self.tick);
        writer.list(&self.left, ROSTER_MAX, |handle, writer| writer.varint(handle.0));
        writer.list(&self.entered, ROSTER_MAX, |one, writer| {
            writer.varint(one.handle.0);
            pose::write_object(writer, one.object);
            writer.u8(one.kind as u8);
            writer.text(&one.name, NICKNAME_MAX);
            one.shape.write(writer);
            pose::write_point(writer, one.place);
            pose::write_turn(writer, one.turn);
            one.motion.iter().for_each(|units| writer.zigzag(*units));
        });
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Roster, Malformed> {
        Ok(Roster {
            number: reader.u16("number")?,
            tick: reader.u32("tick")?,
            left: reader.list(ROSTER_MAX, 1, "left", pose::read_handle)?,
            entered: reader.list(ROSTER_MAX, ENTERED_BYTES_MIN, "entered", read_entered)?,
        })
    }
}

fn read_entered(reader: &mut Reader<'_>) -> Result<Entered, Malformed> {
    Ok(Entered {
        handle: pose::read_handle(reader)?,
        object: pose::read_object(reader)?,
        kind: EnteredKind::from_number(reader.u8("kind")?).ok_or_else(|| reader.refuse("kind"))?,
        name: reader.text(NICKNAME_MAX, "name")?.to_owned(),
        shape: CollisionShape::read(reader)?,
        place: pose::read_point(reader, "place")?,
        turn: pose::read_turn(reader)?,
        motion: {
            let mut units = || reader.zigzag(MOTION_MAX, "motion").map(|units| units as i16);
            [units()?, units()?, units()?]
        },
    })
}
