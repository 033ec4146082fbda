//! Coming and going: what arrives for certain and in order.

use serde::Serialize;
use space::{GridPoint, ObjectId, Turn};

use crate::codec::{DecodeError, Reader, Writer};
use crate::pose::{self, Handle};
use crate::shape::Shape;
use crate::state::MOTION_MAX;

/// The most bytes of a nickname: 24 visible characters, each with its accents.
pub const NICKNAME_MAX: usize = 192;
/// The most bytes of a join token.
pub const TOKEN_MAX: usize = 1_024;
/// The most bytes of a sentence that explains something.
pub const SENTENCE_MAX: usize = 300;
/// The most bytes of what somebody says.
pub const SAID_MAX: usize = 600;
/// The most that enter, or leave, in one message.
pub const ROSTER_MAX: usize = 128;
/// What one needs to take one's place again after a lost connection. Whoever has it is that user.
pub type ResumeKey = [u8; 16];

/// The first message of a client.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Hello {
    /// The protocol that it speaks.
    pub version: u16,
    /// What it wants to be called.
    pub nickname: String,
    /// Which of the world's avatars it wants.
    pub avatar: u8,
    /// Whoever asks for a token gets one; otherwise empty.
    pub token: Vec<u8>,
    /// Takes up an earlier session.
    pub resume: Option<ResumeKey>,
}

impl Hello {
    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        writer.u16(self.version);
        writer.text(&self.nickname, NICKNAME_MAX);
        writer.u8(self.avatar);
        writer.bytes(&self.token, TOKEN_MAX);
        writer.u8(u8::from(self.resume.is_some()));
        if let Some(key) = &self.resume {
            writer.raw(key);
        }
    }

    /// The version alone, of a hello of any version: what follows it may have changed.
    pub fn version_of(bytes: &[u8]) -> Option<u16> {
        match bytes {
            [crate::kind::HELLO, low, high, ..] => Some(u16::from_le_bytes([*low, *high])),
            _ => None,
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Hello, DecodeError> {
        Ok(Hello {
            version: reader.u16("version")?,
            nickname: reader.text(NICKNAME_MAX, "nickname")?.to_owned(),
            avatar: reader.u8("avatar")?,
            token: reader.bytes(TOKEN_MAX, "token")?.to_owned(),
            resume: match reader.u8("resume")? {
                0 => None,
                1 => Some(reader.array("resume")?),
                _ => return Err(reader.refuse("resume")),
            },
        })
    }
}

/// How avatars walk: what a client needs to predict its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Walking {
    /// The fastest, in metres per second.
    pub speed_max: f32,
    /// Upwards at the start of a jump, in metres per second.
    pub jump_speed: f32,
    /// Downwards, in metres per second squared; zero is a world to fly in.
    pub gravity: f32,
    /// What is no higher is walked up, in metres.
    pub step_height: f32,
}

/// The answer to a hello that is granted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Welcome {
    /// The protocol that the server speaks.
    pub version: u16,
    /// To come back with.
    pub resume_key: ResumeKey,
    /// Whether an earlier session goes on.
    pub is_resumed: bool,
    /// The client's avatar.
    #[serde(serialize_with = "pose::serialize_object")]
    pub own: ObjectId,
    /// The nickname as it was granted.
    pub nickname: String,
    /// The tick that was completed last.
    pub tick: u64,
    /// How long a tick lasts, in microseconds.
    pub tick_us: u32,
    /// The server's time at the end of that tick, in microseconds.
    pub time_us: i64,
    /// Who is within so many metres, bounds included, is heard.
    pub aura: f32,
    /// How avatars walk.
    pub walking: Walking,
    /// The corners of the world.
    #[serde(serialize_with = "serialize_points")]
    pub bounds: [GridPoint; 2],
    /// The avatar's solid.
    pub shape: Shape,
    /// Where the avatar is.
    #[serde(serialize_with = "pose::serialize_point")]
    pub place: GridPoint,
    /// How it is turned.
    #[serde(serialize_with = "pose::serialize_turn")]
    pub turn: Turn,
    /// The newest input of the earlier session that was applied.
    pub newest: u32,
}

fn serialize_points<S: serde::Serializer>(points: &[GridPoint; 2], serializer: S) -> Result<S::Ok, S::Error> {
    points.map(|point| [point.x, point.y, point.z]).serialize(serializer)
}

/// The longest tick, in microseconds.
pub const TICK_US_MAX: u32 = 1_000_000;
/// No speed, acceleration or reach is more.
const AMOUNT_MAX: f32 = 16_384.0;

impl Welcome {
    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        writer.u16(self.version);
        writer.raw(&self.resume_key);
        writer.u8(u8::from(self.is_resumed));
        pose::write_object(writer, self.own);
        writer.text(&self.nickname, NICKNAME_MAX);
        writer.varint(self.tick);
        writer.varint(u64::from(self.tick_us));
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

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Welcome, DecodeError> {
        let version = reader.u16("version")?;
        let resume_key = reader.array("resume_key")?;
        let is_resumed = match reader.u8("is_resumed")? {
            0 => false,
            1 => true,
            _ => return Err(reader.refuse("is_resumed")),
        };
        let own = pose::read_object(reader)?;
        let nickname = reader.text(NICKNAME_MAX, "nickname")?.to_owned();
        let tick = reader.varint(u64::MAX, "tick")?;
        let tick_us = reader.varint(u64::from(TICK_US_MAX), "tick_us")? as u32;
        if tick_us == 0 {
            return Err(reader.refuse("tick_us"));
        }
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
            shape: Shape::read(reader)?,
            place: pose::read_point(reader, "place")?,
            turn: pose::read_turn(reader)?,
            newest: reader.u32("newest")?,
        })
    }
}

/// Why somebody is not let in, or has to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[repr(u8)]
pub enum Reason {
    /// The two speak different versions.
    Version = 1,
    /// A nickname that cannot be one.
    Nickname = 2,
    /// Somebody else is called so.
    NicknameTaken = 3,
    /// There is no such avatar.
    Avatar = 4,
    /// As many as are allowed are here.
    Full = 5,
    /// There is no free place to stand.
    NoRoom = 6,
    /// The token is missing, wrong or has expired.
    Token = 7,
    /// Not welcome here.
    Banned = 8,
    /// Sent away.
    Kicked = 9,
    /// Nothing was heard for too long.
    Idle = 10,
    /// Too much that cannot be understood, or too much at all.
    Misbehaved = 11,
    /// What is sent is not read.
    Slow = 12,
    /// The session goes on over another connection.
    Resumed = 13,
    /// The server stops.
    Stopping = 14,
    /// The client wished to leave.
    Left = 15,
}

impl Reason {
    /// All there are.
    pub const ALL: [Reason; 15] = [
        Reason::Version,
        Reason::Nickname,
        Reason::NicknameTaken,
        Reason::Avatar,
        Reason::Full,
        Reason::NoRoom,
        Reason::Token,
        Reason::Banned,
        Reason::Kicked,
        Reason::Idle,
        Reason::Misbehaved,
        Reason::Slow,
        Reason::Resumed,
        Reason::Stopping,
        Reason::Left,
    ];

    /// The byte that it is sent as.
    pub const fn number(self) -> u8 {
        self as u8
    }
}

/// No, or the end: why, for programs and for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// The protocol that the server speaks.
    pub version: u16,
    /// Why, for programs.
    pub reason: Reason,
    /// Why, for people, and what to do about it.
    pub sentence: String,
}

impl Refused {
    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        writer.u16(self.version);
        writer.u8(self.reason.number());
        writer.text(&self.sentence, SENTENCE_MAX);
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Refused, DecodeError> {
        let version = reader.u16("version")?;
        let number = reader.u8("reason")?;
        let reason = Reason::ALL.into_iter().find(|reason| reason.number() == number);
        let reason = reason.ok_or_else(|| reader.refuse("reason"))?;
        Ok(Refused { version, reason, sentence: reader.text(SENTENCE_MAX, "sentence")?.to_owned() })
    }
}

/// What kind of thing enters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[repr(u8)]
pub enum EnteredKind {
    /// Somebody.
    Avatar = 0,
    /// Something that can be pushed or held.
    Movable = 1,
    /// A scene object that moves by a rule.
    Mover = 2,
}

/// Something that the client hears of from now on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entered {
    /// How datagrams call it.
    pub handle: Handle,
    /// Its name.
    #[serde(serialize_with = "pose::serialize_object")]
    pub object: ObjectId,
    /// What kind of thing it is.
    pub kind: EnteredKind,
    /// Its nickname, or what the world's file calls it.
    pub name: String,
    /// Its solid.
    pub shape: Shape,
    /// Where it is.
    #[serde(serialize_with = "pose::serialize_point")]
    pub place: GridPoint,
    /// How it is turned.
    #[serde(serialize_with = "pose::serialize_turn")]
    pub turn: Turn,
    /// How it moves, as in a state datagram.
    pub motion: [i16; 3],
}

/// A handle, a name, a kind, no nickname, a sphere, a place, no turn, and no motion.
const ENTERED_BYTES_MIN: usize = 1 + 1 + 1 + 1 + 5 + 3 + 1 + 3;

/// Who entered the client's aura, and who left it. Rosters are numbered; the client says in its move datagrams which
/// was the last.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Roster {
    /// Counts up from 1, in 16 bits.
    pub number: u16,
    /// The low 32 bits of the tick after which this was so. Handles mean nothing in state datagrams of earlier ticks.
    pub tick: u32,
    /// Who left.
    pub left: Vec<Handle>,
    /// Who entered.
    pub entered: Vec<Entered>,
}

impl Roster {
    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        writer.u16(self.number);
        writer.u32(self.tick);
        let left = &self.left[..self.left.len().min(ROSTER_MAX)];
        writer.varint(left.len() as u64);
        left.iter().for_each(|handle| writer.varint(u64::from(handle.0)));
        let entered = &self.entered[..self.entered.len().min(ROSTER_MAX)];
        writer.varint(entered.len() as u64);
        for one in entered {
            writer.varint(u64::from(one.handle.0));
            pose::write_object(writer, one.object);
            writer.u8(one.kind as u8);
            writer.text(&one.name, NICKNAME_MAX);
            one.shape.write(writer);
            pose::write_point(writer, one.place);
            pose::write_turn(writer, one.turn);
            one.motion.iter().for_each(|units| writer.zigzag(i64::from(*units)));
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Roster, DecodeError> {
        let (number, tick) = (reader.u16("number")?, reader.u32("tick")?);
        let count = reader.count(ROSTER_MAX, 1, "left")?;
        let mut left = Vec::with_capacity(count);
        for _ in 0..count {
            left.push(pose::read_handle(reader)?);
        }
        let count = reader.count(ROSTER_MAX, ENTERED_BYTES_MIN, "entered")?;
        let mut entered = Vec::with_capacity(count);
        for _ in 0..count {
            entered.push(read_entered(reader)?);
        }
        Ok(Roster { number, tick, left, entered })
    }
}

fn read_entered(reader: &mut Reader<'_>) -> Result<Entered, DecodeError> {
    Ok(Entered {
        handle: pose::read_handle(reader)?,
        object: pose::read_object(reader)?,
        kind: match reader.u8("kind")? {
            0 => EnteredKind::Avatar,
            1 => EnteredKind::Movable,
            2 => EnteredKind::Mover,
            _ => return Err(reader.refuse("kind")),
        },
        name: reader.text(NICKNAME_MAX, "name")?.to_owned(),
        shape: Shape::read(reader)?,
        place: pose::read_point(reader, "place")?,
        turn: pose::read_turn(reader)?,
        motion: {
            let mut units = || reader.zigzag(i64::from(MOTION_MAX), "motion").map(|units| units as i16);
            [units()?, units()?, units()?]
        },
    })
}
