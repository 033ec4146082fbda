//! A session: one user, from hello to goodbye, over one connection or several in a row.

use space::{NodeId, ObjectId, Slot, Time};
use wire::InputStep;
use wire::session::ResumeKey;

use super::forms::FormsTold;
use super::heard::HeardObjects;
use crate::nickname::Nickname;
use wire::LinkId;

/// How far a session has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionStage {
    /// It waits to be let in.
    Queued,
    /// The world is asked in this tick.
    Joining,
    /// It has an avatar.
    In {
        object: ObjectId,
        /// The avatar's row in the audience.
        slot: Slot,
    },
    /// The world is told in the next tick that the user leaves.
    Leaving,
}

/// A user's session.
#[derive(Debug)]
pub struct Session {
    /// The number under which the world knows the user.
    pub sender: NodeId,
    pub nickname: Nickname,
    /// An index into the world's avatars.
    pub avatar: u8,
    /// What the user's client shows to resume.
    pub resume_key: ResumeKey,
    pub stage: SessionStage,
    /// Its connection, if it has one.
    pub link: Option<LinkId>,
    /// When its connection was lost.
    pub lost_at: Time,
    /// When its last valid message arrived.
    pub heard_at: Time,
    /// What it hears.
    pub listener: HeardObjects,
    /// Since when a roster waits for its acknowledgement.
    pub behind_since: Option<Time>,
    /// The newest input that arrived, and the newest that the world was given.
    pub newest: u32,
    pub applied: u32,
    /// What it wants, if that is new.
    pub wish: Option<InputStep>,
    /// The tick for which the wish was made.
    pub made_for: u64,
    /// The heading that the world was told.
    pub heading: Option<u8>,
    /// The number of its last input to the world.
    pub sequence: u32,
    /// The newest input that its passport contains, if it has one.
    pub noted: Option<u32>,
    /// How many fixed objects it was told of; `None` when that is all.
    pub scene_at: Option<usize>,
    /// What it was told of the clocks of objects that change their form.
    pub forms: FormsTold,
}

impl Session {
    pub fn new(
        sender: NodeId,
        nickname: Nickname,
        avatar: u8,
        resume_key: ResumeKey,
        link: Option<LinkId>,
        now: Time,
    ) -> Session {
        Session {
            sender,
            nickname,
            avatar,
            resume_key,
            stage: SessionStage::Queued,
            link,
            lost_at: now,
            heard_at: now,
            listener: HeardObjects::new(),
            behind_since: None,
            newest: 0,
            applied: 0,
            wish: None,
            made_for: 0,
            heading: None,
            sequence: 0,
            noted: None,
            scene_at: Some(0),
            forms: FormsTold::default(),
        }
    }

    /// Goes on over another connection: both sides forget what was told over the last one.
    pub fn resume(&mut self, link: LinkId, now: Time) {
        self.link = Some(link);
        self.heard_at = now;
        self.listener = HeardObjects::new();
        self.behind_since = None;
        self.wish = None;
        self.scene_at = Some(0);
        self.forms = FormsTold::default();
    }

    /// The row of its avatar in the audience.
    pub fn slot(&self) -> Option<Slot> {
        match self.stage {
            SessionStage::In { slot, .. } => Some(slot),
            _ => None,
        }
    }

    /// The number of its next input to the world.
    pub fn next_sequence(&mut self) -> u32 {
        self.sequence = self.sequence.wrapping_add(1);
        self.sequence
    }
}
