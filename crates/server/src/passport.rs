//! The passport that goes with an avatar to another server: the session of its user.

use space::NodeId;
use space::bytes::{Malformed, Reader, Writer};
use wire::session::{NICKNAME_MAX, ResumeKey};

use super::session::Session;
use crate::nickname::Nickname;

/// The first byte, which counts versions.
const KIND: u8 = 1;
/// More than any passport has.
const BYTES_MAX: usize = 512;

/// A session on its way to another server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passport {
    /// The number under which the world knows the user.
    pub sender: NodeId,
    pub nickname: String,
    pub avatar: u8,
    /// What the user's client shows to resume.
    pub resume_key: ResumeKey,
    /// The newest input that arrived.
    pub newest: u32,
}

impl Passport {
    /// Encodes a session's passport.
    pub fn of(session: &Session) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        writer.u8(KIND);
        writer.varint(session.sender.number());
        writer.text(session.nickname.as_str(), NICKNAME_MAX);
        writer.u8(session.avatar);
        writer.raw(&session.resume_key);
        writer.u32(session.newest);
        bytes
    }

    /// Decodes a passport.
    pub fn read(bytes: &[u8]) -> Result<Passport, Malformed> {
        let mut reader = Reader::new(bytes);
        let kind = reader.u8("a version")?;
        reader.check(kind == KIND && bytes.len() <= BYTES_MAX, "a version")?;
        let passport = Passport {
            sender: NodeId::new(reader.varint(u64::MAX, "sender")?),
            nickname: reader.text(NICKNAME_MAX, "nickname")?.to_owned(),
            avatar: reader.u8("avatar")?,
            resume_key: reader.array("resume_key")?,
            newest: reader.u32("newest")?,
        };
        reader.end()?;
        Ok(passport)
    }

    /// The session that goes on with it; `None` if the nickname is not valid.
    pub fn session(&self, now: space::Time) -> Option<Session> {
        let nickname = Nickname::new(&self.nickname).ok()?;
        let mut session = Session::new(self.sender, nickname, self.avatar, self.resume_key, None, now);
        (session.newest, session.applied) = (self.newest, self.newest);
        Some(session)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passport_is_read_as_it_was_written() {
        let nickname = Nickname::new("Zoë").unwrap();
        let mut session = Session::new(NodeId::new(1 << 50), nickname, 3, [7; 16], None, space::Time::default());
        session.newest = 90;
        let bytes = Passport::of(&session);
        let passport = Passport::read(&bytes).unwrap();
        assert_eq!((passport.sender, passport.newest), (session.sender, 90));
        assert_eq!(passport.session(space::Time::default()).unwrap().nickname.as_str(), "Zoë");
        for length in 0..bytes.len() {
            assert!(Passport::read(&bytes[..length]).is_err());
        }
    }
}
