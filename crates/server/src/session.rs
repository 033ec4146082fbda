//! One user, from hello to goodbye: over one connection, or over several in a row.

use space::{NodeId, ObjectId, Slot, Time};
use wire::InputStep;
use wire::session::ResumeKey;

use super::forms::FormsTold;
use super::listener::Listener;
use crate::nickname::Nickname;
use wire::LinkId;

/// How far a session has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It waits to be let in.
    Queued,
    /// The world is asked in this tick.
    Joining,
    /// It has an avatar.
    In {
        /// Its name.
        object: ObjectId,
        /// Its row in the audience.
        slot: Slot,
    },
    /// The world is told that it goes.
    Leaving,
}

/// One user.
#[derive(Debug)]
pub struct Session {
    /// Who the world knows it as.
    pub sender: NodeId,
    /// What it is called.
    pub nickname: Nickname,
    /// Which avatar it asked for.
    pub avatar: u8,
    /// What it comes back with.
    pub resume_key: ResumeKey,
    /// How far it has come.
    pub stage: Stage,
    /// Its connection, if it has one.
    pub link: Option<LinkId>,
    /// When its connection was lost.
    pub lost_at: Time,
    /// When something sensible was heard of it.
    pub heard_at: Time,
    /// What it hears.
    pub listener: Listener,
    /// Since when it owes an answer to a roster.
    pub behind_since: Option<Time>,
    /// The newest input that arrived, and the newest that the world was given.
    pub newest: u32,
    /// See above.
    pub applied: u32,
    /// What it wants, if that is new.
    pub wish: Option<InputStep>,
    /// The tick that the wish was made for.
    pub made_for: u64,
    /// Where it looks, as the world was told.
    pub heading: Option<u8>,
    /// The number of its last input to the world.
    pub sequence: u32,
    /// The newest input that its passport knows of, where it has one.
    pub noted: Option<u32>,
    /// How many things of the scene it was told of; `None` when that is all.
    pub scene_at: Option<usize>,
    /// What it was told of the clocks of things that change their form.
    pub forms: FormsTold,
}

impl Session {
    /// Somebody who said hello.
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
            stage: Stage::Queued,
            link,
            lost_at: now,
            heard_at: now,
            listener: Listener::new(),
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

    /// Goes on over another connection: what was told over the last one is forgotten, on both sides.
    pub fn resume(&mut self, link: LinkId, now: Time) {
        self.link = Some(link);
        self.heard_at = now;
        self.listener = Listener::new();
        self.behind_since = None;
        self.wish = None;
        self.scene_at = Some(0);
        self.forms = FormsTold::default();
    }

    /// Where its avatar is in the audience.
    pub fn slot(&self) -> Option<Slot> {
        match self.stage {
            Stage::In { slot, .. } => Some(slot),
            _ => None,
        }
    }

    /// The number of its next input to the world.
    pub fn next_sequence(&mut self) -> u32 {
        self.sequence = self.sequence.wrapping_add(1);
        self.sequence
    }
}
