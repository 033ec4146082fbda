//! What clients send: each message is decoded and checked, and becomes an input of the next tick or a session, or is
//! counted against its sender.

use space::{NodeId, Tick, Time};
use wire::session::ResumeKey;
use wire::{Channel, CloseReason, Effect, Hello, LinkId, Moves, Refused, ToClient, ToServer, VERSION};
use world::{Act, Input};

use crate::Server;
use crate::limits::Limits;
use crate::nickname::{Nickname, NicknameError};
use crate::session::{Session, SessionStage};

/// A hello, with its nickname as it was understood.
#[derive(Clone, Debug)]
pub(crate) struct Greeting {
    pub hello: Hello,
    pub nickname: Result<Nickname, NicknameError>,
}

impl Server {
    /// Takes in a hello that the driver has decoded already, to decide who may come in.
    pub fn hello(&mut self, now: Time, link: LinkId, hello: Hello, nickname: Nickname) {
        let Some(session) = self.admit(now, link, Channel::Stream) else { return };
        if session.is_some() {
            return self.fault(now, link);
        }
        if hello.version != VERSION {
            return self.refuse_version(link, hello.version);
        }
        self.greet(now, link, Greeting { hello, nickname: Ok(nickname) });
    }

    pub(crate) fn receive(&mut self, now: Time, link: LinkId, channel: Channel, bytes: &[u8]) {
        let Some(session) = self.admit(now, link, channel) else { return };
        if session.is_none()
            && let Some(version) = Hello::version_of(bytes).filter(|version| *version != VERSION)
        {
            return self.refuse_version(link, version);
        }
        let message = match ToServer::decode(bytes) {
            Ok(message) if message.is_datagram() == (channel == Channel::Datagram) => message,
            _ => return self.fault(now, link),
        };
        let Some(sender) = session else {
            match message {
                ToServer::Hello(hello) => {
                    let nickname = Nickname::new(&hello.nickname);
                    self.greet(now, link, Greeting { hello, nickname });
                }
                _ => self.fault(now, link),
            }
            return;
        };
        let is_valid = self.ask(now, link, sender, message);
        if !is_valid {
            self.fault(now, link);
        } else if let Some(session) = self.sessions.get_mut(&sender) {
            session.heard_at = now;
        }
    }

    /// Counts a message against its link's rate; gives the link's session, or `None` if the message is dropped.
    fn admit(&mut self, now: Time, id: LinkId, channel: Channel) -> Option<Option<NodeId>> {
        let link = self.links.get_mut(&id)?;
        let session = link.session;
        if !link.admits(now, channel) {
            self.fault(now, id);
            return None;
        }
        Some(session)
    }

    /// A message of a user. False if it makes no sense.
    fn ask(&mut self, now: Time, id: LinkId, sender: NodeId, message: ToServer) -> bool {
        let Some(session) = self.sessions.get_mut(&sender) else { return true };
        match message {
            ToServer::Hello(_) => return false,
            ToServer::Ping { asked_us } => {
                let (tick, ticked_us) = (self.truth.tick() as u32, self.ticked.micros());
                let [received_us, replied_us] = [now.micros(); 2];
                self.tell(id, &ToClient::Pong { asked_us, received_us, replied_us, tick, ticked_us });
            }
            ToServer::Leave => self.end_session(sender, CloseReason::Left, "Goodbye.".to_owned()),
            // A client that is not in yet may not know that.
            _ if session.slot().is_none() => {}
            ToServer::Moves(moves) => return self.wish(now, sender, &moves),
            ToServer::Say { text } => {
                let text = text.trim();
                if text.is_empty() || text.chars().any(char::is_control) {
                    return false;
                }
                self.input(sender, Act::Say { text: text.into() });
            }
            ToServer::Grab { object } => self.input(sender, Act::Grab { object }),
            ToServer::Release => self.input(sender, Act::Release),
        }
        true
    }

    pub(crate) fn input(&mut self, sender: NodeId, act: Act) {
        let Some(session) = self.sessions.get_mut(&sender) else { return };
        let made_for = Tick::new(session.made_for);
        let sequence = session.next_sequence();
        self.inputs.push(Input { sender, sequence, made_for, act });
    }

    fn wish(&mut self, now: Time, sender: NodeId, moves: &Moves) -> bool {
        let (speed_max, tick) = (self.world().spec().limits.speed, self.truth.tick());
        let Some(session) = self.sessions.get_mut(&sender) else { return true };
        let was_behind = session.listener.untaken();
        if !session.listener.taken(moves.heard) {
            return false;
        }
        if session.listener.untaken() < was_behind {
            session.behind_since = Some(now);
        }
        let ahead = moves.newest.wrapping_sub(session.newest);
        if ahead == 0 || ahead > u32::MAX / 2 {
            // A duplicate, or overtaken by a newer datagram.
            return true;
        }
        let new = &moves.steps[..moves.steps.len().min(ahead as usize)];
        let speed = |velocity: [i16; 3]| {
            let [x, y, z] = velocity.map(|part| f32::from(part) / wire::state::VELOCITY_PARTS as f32);
            (x * x + y * y + z * z).sqrt()
        };
        // Rounding to the wire's parts may add a little.
        if new.iter().any(|step| speed(step.velocity) > speed_max + 0.01) {
            return false;
        }
        session.newest = moves.newest;
        let mut wish = new[0];
        // A jump must not be lost because its datagram was.
        wish.is_jump = new.iter().any(|step| step.is_jump) || session.wish.is_some_and(|wish| wish.is_jump);
        session.wish = Some(wish);
        session.made_for = tick.saturating_add_signed(i64::from(moves.tick.wrapping_sub(tick as u32) as i32));
        true
    }

    fn greet(&mut self, now: Time, id: LinkId, greeting: Greeting) {
        match greeting.hello.resume.and_then(|key| self.resumable(&key)) {
            Some(sender) => self.resume(now, id, sender),
            None if self.has_others() => self.seek_elsewhere(now, id, greeting),
            None => self.greet_new(now, id, greeting),
        }
    }

    /// Queues a new user, or says why not.
    pub(crate) fn greet_new(&mut self, now: Time, id: LinkId, greeting: Greeting) {
        let Greeting { hello, nickname } = greeting;
        let nickname = match nickname {
            Ok(nickname) => nickname,
            Err(error) => return self.refuse(id, CloseReason::Nickname, error.to_string()),
        };
        let Limits { clients, join_queue, .. } = self.settings.limits;
        if self.names.contains_key(&nickname.key()) {
            return self.refuse_taken(id, nickname.as_str());
        }
        let avatars = self.world().spec().avatars.len();
        if usize::from(hello.avatar) >= avatars {
            let sentence = format!("This world has {avatars} avatars, there is no number {}.", hello.avatar);
            return self.refuse(id, CloseReason::Avatar, sentence);
        }
        if self.sessions.len() >= clients {
            return self.refuse(
                id,
                CloseReason::Full,
                format!("The server is full: {clients} users. Try again later."),
            );
        }
        if self.queue.len() >= join_queue {
            let sentence = format!("{join_queue} users wait to be let in already. Try again in some seconds.");
            return self.refuse(id, CloseReason::Full, sentence);
        }
        let Some(link) = self.links.get_mut(&id) else { return };
        let sender = NodeId::new(self.next_sender);
        self.next_sender += 1;
        link.session = Some(sender);
        self.names.insert(nickname.key(), sender);
        self.sessions.insert(sender, Session::new(sender, nickname, hello.avatar, link.secret, Some(id), now));
        self.queue.push_back(sender);
    }

    /// The user with this key, if its avatar is in.
    pub(crate) fn resumable(&self, key: &ResumeKey) -> Option<NodeId> {
        let found = self.sessions.values().find(|session| is_same_key(&session.resume_key, key));
        found.filter(|session| session.slot().is_some()).map(|session| session.sender)
    }

    pub(crate) fn resume(&mut self, now: Time, id: LinkId, sender: NodeId) {
        let Some(session) = self.sessions.get_mut(&sender) else { return };
        let last = session.link;
        session.resume(id, now);
        if let Some(slot) = session.slot() {
            self.audience.heard_by(slot).for_each(|heard| session.listener.enter(heard));
        }
        if let Some(link) = self.links.get_mut(&id) {
            link.session = Some(sender);
        }
        if let Some(last) = last {
            self.links.remove(&last);
            let sentence = "Your session goes on over another connection.".to_owned();
            self.tell(last, &ToClient::Closed(refusal(CloseReason::Resumed, sentence)));
            self.effects.push_back(Effect::Close { to: last.into() });
        }
        self.counts.resumed += 1;
        self.welcome(sender, true);
    }

    pub(crate) fn refuse(&mut self, id: LinkId, reason: CloseReason, sentence: String) {
        self.counts.refused += 1;
        self.tell(id, &ToClient::Refused(refusal(reason, sentence)));
        self.effects.push_back(Effect::Close { to: id.into() });
        self.links.remove(&id);
    }

    fn refuse_version(&mut self, id: LinkId, version: u16) {
        let sentence = format!("This server speaks version {VERSION} of the protocol, you speak version {version}.");
        self.refuse(id, CloseReason::Version, sentence);
    }

    pub(crate) fn refuse_taken(&mut self, id: LinkId, name: &str) {
        let sentence = format!("Somebody is called {name} already; choose another name.");
        self.refuse(id, CloseReason::NicknameTaken, sentence);
    }

    /// Counts a bad message against its sender.
    fn fault(&mut self, now: Time, id: LinkId) {
        self.counts.rejected += 1;
        let most = self.settings.limits.faults;
        let Some(link) = self.links.get_mut(&id) else { return };
        if link.fault(now) <= most {
            return;
        }
        let sentence = format!("More than {most} of your messages within a minute made no sense or came too fast.");
        match link.session {
            Some(sender) => self.end_session(sender, CloseReason::Misbehaved, sentence),
            None => self.refuse(id, CloseReason::Misbehaved, sentence),
        }
    }

    /// Ends a session: its avatar leaves with the next tick.
    pub(crate) fn end_session(&mut self, sender: NodeId, reason: CloseReason, sentence: String) {
        let Some(session) = self.sessions.get_mut(&sender) else { return };
        self.counts.dropped += u64::from(reason != CloseReason::Left);
        let link = session.link.take();
        if let SessionStage::In { slot, .. } = session.stage {
            self.users.remove(&slot);
        }
        if session.stage == SessionStage::Queued {
            self.forget(sender);
        } else {
            session.stage = SessionStage::Leaving;
        }
        if let Some(link) = link {
            self.links.remove(&link);
            self.tell(link, &ToClient::Closed(refusal(reason, sentence)));
            self.effects.push_back(Effect::Close { to: link.into() });
        }
    }

    /// Removes a session.
    pub(crate) fn forget(&mut self, sender: NodeId) {
        if let Some(session) = self.sessions.remove(&sender) {
            let key = session.nickname.key();
            if self.names.get(&key) == Some(&sender) {
                self.names.remove(&key);
            }
            if let Some(slot) = session.slot() {
                self.users.remove(&slot);
            }
        }
        self.queue.retain(|queued| *queued != sender);
    }
}

pub(crate) fn refusal(reason: CloseReason, sentence: String) -> Refused {
    Refused { version: VERSION, reason, sentence }
}

/// Compares in constant time: how long it takes tells nothing about the key.
pub(crate) fn is_same_key(one: &ResumeKey, other: &ResumeKey) -> bool {
    one.iter().zip(other).fold(0, |differences, (one, other)| differences | (one ^ other)) == 0
}
