//! One tick of a server: from what clients asked for to what they are told.

use std::ops::Bound;

use space::{NodeId, ObjectId, Time};
use wire::pose::heading_radians;
use wire::session::{Entered, Roster, Welcome};
use wire::state::{Head, Own};
use wire::{CloseReason, Handle, Scene, ToClient, VERSION};
use world::{Act, Input};

use super::session::{Session, Stage};
use super::{Server, ServerSettings};
use wire::{Channel, Effect, Record, SessionRecord};

/// The parts of a tick, in their order: whoever measures is told when each has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// What clients asked for became inputs.
    Inputs,
    /// The world took its step.
    World,
    /// What moved is known to those who tell of it.
    Follow,
    /// Who hears whom was worked out.
    Audience,
    /// Everybody was told.
    FanOut,
}

impl Part {
    /// All of them, with their names.
    pub const ALL: [(Part, &'static str); 5] = [
        (Part::Inputs, "inputs"),
        (Part::World, "world"),
        (Part::Follow, "follow"),
        (Part::Audience, "audience"),
        (Part::FanOut, "fan_out"),
    ];
}

impl Server {
    /// Takes a tick, due or not. `ended` is told when each part has ended.
    pub fn tick(&mut self, now: Time, ended: &mut dyn FnMut(Part)) {
        self.begin_tick(now, ended);
        while self.tell_next(usize::MAX) {}
        ended(Part::FanOut);
    }

    /// All of a tick but the telling: `tell_next` is to be called until it says that it is done. So a driver can send to
    /// the first while the next are still being told.
    pub fn begin_tick(&mut self, now: Time, ended: &mut dyn FnMut(Part)) {
        self.ticked = now;
        // In step with itself, unless it fell behind by more than a tick: then the world is late, not hurried.
        let next = self.next_tick + self.truth.tick_us();
        self.next_tick = if next > now { next } else { now + self.truth.tick_us() };
        self.counts.ticks += 1;

        let may_act = self.may_act(now);
        self.look_after_sessions(now, may_act);
        if may_act {
            self.freeze_inputs();
        } else {
            self.inputs.clear();
        }
        ended(Part::Inputs);

        let inputs = std::mem::take(&mut self.inputs);
        self.counts.inputs += inputs.len() as u64;
        let has_stepped = self.step(now, &inputs);
        self.is_still = !has_stepped;
        self.inputs = inputs;
        self.inputs.clear();
        ended(Part::World);

        if has_stepped {
            self.follow_world();
        } else {
            self.queue_again();
        }
        self.follow_fleet(now, has_stepped);
        ended(Part::Follow);

        self.audience.update();
        self.follow_audience();
        ended(Part::Audience);

        if has_stepped {
            self.greet_joined();
            self.pass_on();
        }
        let journal = self.truth.journal();
        self.effects.extend(journal.map(|bytes| Effect::Persist(Record::Tick(bytes))));
        self.told = None;
        let Server { clocks, truth, .. } = self;
        clocks.clear();
        clocks.extend(truth.world().forms().filter_map(|(object, clock)| Some((truth.slot(object)?, clock))));
    }

    /// Drops whoever was silent for too long, and lets go of those who did not come back.
    fn look_after_sessions(&mut self, now: Time, may_act: bool) {
        let limits = self.settings.limits;
        let is_silent = |link: &super::Link| link.session.is_none() && now - link.opened > limits.hello_us;
        let silent: Vec<_> = self.links.iter().filter(|(_, link)| is_silent(link)).map(|(id, _)| *id).collect();
        for id in silent {
            let seconds = limits.hello_us / 1_000_000;
            self.refuse(id, CloseReason::Idle, format!("You did not say hello within {seconds} seconds."));
        }
        let leaving = self.sessions.values().filter(|session| session.stage == Stage::Leaving);
        for sender in leaving.map(|session| session.sender).collect::<Vec<_>>() {
            // Whatever else it asked for in this tick is of no interest any more.
            self.inputs.retain(|input| input.sender != sender);
            match self.truth.avatar(sender) {
                Some(_) => self.input(sender, Act::Leave),
                None => self.forget(sender),
            }
        }
        let mut ends: Vec<(NodeId, CloseReason, String)> = Vec::new();
        for session in self.sessions.values() {
            if !matches!(session.stage, Stage::In { .. }) {
                continue;
            }
            let seconds = |micros: i64| micros / 1_000_000;
            if session.link.is_none() {
                if now - session.lost_at > limits.resume_us {
                    ends.push((session.sender, CloseReason::Left, String::new()));
                }
            } else if now - session.heard_at > limits.idle_us {
                let sentence = format!("Nothing was heard of you for {} seconds.", seconds(limits.idle_us));
                ends.push((session.sender, CloseReason::Idle, sentence));
            } else if session.behind_since.is_some_and(|since| now - since > limits.unheard_us) {
                let sentence =
                    format!("What you are sent has not been answered for {} seconds.", seconds(limits.unheard_us));
                ends.push((session.sender, CloseReason::Slow, sentence));
            }
        }
        for (sender, reason, sentence) in ends {
            self.send_away(sender, reason, sentence);
        }
        let joins = if may_act { limits.joins_per_tick } else { 0 };
        for _ in 0..joins {
            let Some(sender) = self.queue.pop_front() else { break };
            let Some(session) = self.sessions.get_mut(&sender) else { continue };
            session.stage = Stage::Joining;
            session.sequence = 0;
            let (name, avatar) = (session.nickname.as_str().into(), u16::from(session.avatar));
            self.input(sender, Act::Join { name, avatar, at: None });
        }
    }

    /// Whoever was about to join when the world could not take its step waits on.
    fn queue_again(&mut self) {
        for session in self.sessions.values_mut().rev().filter(|session| session.stage == Stage::Joining) {
            session.stage = Stage::Queued;
            self.queue.push_front(session.sender);
        }
    }

    /// What users want becomes inputs, sorted by sender and number: the order of arrival cannot matter.
    fn freeze_inputs(&mut self) {
        for session in self.sessions.values_mut() {
            let Some(step) = session.wish.take() else { continue };
            session.applied = session.newest;
            let (sender, made_for) = (session.sender, space::Tick::new(session.made_for));
            let mut push = |session: &mut Session, act| {
                let sequence = session.next_sequence();
                self.inputs.push(Input { sender, sequence, made_for, act });
            };
            push(session, Act::Move { velocity: step.wish().as_vec3() });
            if session.heading != Some(step.heading) {
                session.heading = Some(step.heading);
                push(session, Act::Turn { heading: heading_radians(step.heading) });
            }
            if step.is_jump {
                push(session, Act::Jump);
            }
        }
    }

    /// What the world did, for those who hear and are heard.
    fn follow_world(&mut self) {
        let tick = self.truth.tick();
        for at in 0..self.truth.outcome().left.len() {
            let left = self.truth.outcome().left[at];
            if let Some(slot) = self.truth.take_slot(left.object) {
                self.users.remove(&slot);
                self.audience.remove(slot).expect("it was in the audience while it lived");
            }
            self.forget(left.sender);
            self.effects.push_back(Effect::Persist(Record::Ended { sender: left.sender.number() }));
        }
        let Server { truth, audience, bodies, .. } = self;
        truth.each_moved(|slot, place, turn| {
            bodies.moved(slot, tick, place, turn, false);
            audience.move_to(slot, place.position()).expect("a settled place is within every world");
        });
        bodies.settle(tick);
        for at in 0..self.truth.outcome().joined.len() {
            let joined = self.truth.outcome().joined[at];
            let slot = self.show(joined.object).expect("a settled place is within every world");
            let (Some(slot), Some(session)) = (slot, self.sessions.get_mut(&joined.sender)) else { continue };
            if session.stage == Stage::Joining {
                session.stage = Stage::In { object: joined.object, slot };
                self.users.insert(slot, joined.sender);
            }
        }
    }

    /// Who entered and left whose aura, for those who listen.
    fn follow_audience(&mut self) {
        let Server { audience, users, sessions, .. } = self;
        // A row may have changed hands: who left it left before the next one came.
        let left = audience.left().iter().map(|hearing| (hearing, false));
        for (hearing, is_entering) in left.chain(audience.entered().iter().map(|hearing| (hearing, true))) {
            let session = users.get(&hearing.listener).and_then(|sender| sessions.get_mut(sender));
            match session {
                Some(session) if is_entering => session.listener.enter(hearing.speaker),
                Some(session) => session.listener.leave(hearing.speaker),
                None => {}
            }
        }
    }

    /// Those whom the world let in are welcome; those whom it did not are told why.
    fn greet_joined(&mut self) {
        for at in 0..self.truth.outcome().joined.len() {
            let joined = self.truth.outcome().joined[at];
            let Some(session) = self.sessions.get(&joined.sender) else { continue };
            if !matches!(session.stage, Stage::In { .. }) {
                continue;
            }
            let record = SessionRecord {
                sender: joined.sender.number(),
                nickname: session.nickname.as_str().to_owned(),
                resume_key: session.resume_key,
            };
            self.effects.push_back(Effect::Persist(Record::Session(record)));
            self.counts.joined += 1;
            self.welcome(joined.sender, false);
        }
        for at in 0..self.truth.outcome().refused.len() {
            let refusal = self.truth.outcome().refused[at];
            let Some(session) = self.sessions.get(&refusal.sender) else { continue };
            if session.stage != Stage::Joining {
                continue;
            }
            let reason = match refusal.reason {
                world::RefusalReason::NoRoom => CloseReason::NoRoom,
                world::RefusalReason::NoSuchAvatar { .. } => CloseReason::Avatar,
                _ => CloseReason::Full,
            };
            let link = session.link;
            self.forget(refusal.sender);
            let elsewhere = if reason == CloseReason::NoRoom { self.elsewhere() } else { None };
            if let (Some(link), Some(address)) = (link, elsewhere) {
                self.redirect(link, &address);
            } else if let Some(link) = link {
                self.refuse(link, reason, format!("You cannot join: {}.", refusal.reason));
            }
        }
    }

    /// Lets a user in, or in again.
    pub(super) fn welcome(&mut self, sender: NodeId, is_resumed: bool) {
        let Some(session) = self.sessions.get_mut(&sender) else { return };
        let (Stage::In { object, .. }, Some(link)) = (session.stage, session.link) else { return };
        let Some((place, turn)) = self.truth.pose(object).or_else(|| self.truth.ghost_pose(object)) else { return };
        session.behind_since = None;
        let ServerSettings { focus, nimbus, .. } = self.settings;
        let welcome = Welcome {
            version: VERSION,
            resume_key: session.resume_key,
            is_resumed,
            own: object,
            nickname: session.nickname.as_str().to_owned(),
            tick: self.truth.tick(),
            tick_us: self.truth.tick_us() as u32,
            time_us: self.ticked.micros(),
            aura: focus + nimbus,
            walking: self.truth.walking(),
            bounds: self.truth.bounds(),
            shape: self.truth.shape(object),
            place,
            turn,
            newest: session.newest,
        };
        self.tell(link, &ToClient::Welcome(welcome));
        self.tell_servers(link);
    }

    /// What was said and grabbed.
    fn pass_on(&mut self) {
        for at in 0..self.truth.outcome().said.len() {
            let said = &self.truth.outcome().said[at];
            let Some(speaker) = self.sessions.get(&said.sender) else { continue };
            let message = ToClient::Said {
                speaker: Some(said.object),
                name: speaker.nickname.as_str().to_owned(),
                text: said.text.to_string(),
            };
            let Some(slot) = speaker.slot() else { continue };
            let listeners = self.audience.listeners_of(slot).filter_map(|listener| self.users.get(&listener));
            let mut links: Vec<_> = listeners.filter_map(|user| self.sessions.get(user)?.link).collect();
            links.extend(speaker.link);
            links.into_iter().for_each(|link| self.tell(link, &message));
            if let ToClient::Said { speaker: Some(object), name, text } = message {
                self.say_beyond(object, &name, &text);
            }
        }
        let grabs = self.truth.grabs();
        for (sender, object, is_held) in grabs {
            if let Some(link) = self.sessions.get(&sender).and_then(|session| session.link) {
                self.tell(link, &ToClient::Grabbed { object, is_held });
            }
        }
    }

    /// What somebody said at another server, for those who hear them here.
    pub(super) fn pass_on_foreign(&mut self, speaker: Option<ObjectId>, name: &str, text: &str) {
        let Some(slot) = speaker.and_then(|speaker| self.truth.slot(speaker)) else { return };
        let message = ToClient::Said { speaker, name: name.to_owned(), text: text.to_owned() };
        let listeners = self.audience.listeners_of(slot).filter_map(|listener| self.users.get(&listener));
        let links: Vec<_> = listeners.filter_map(|user| self.sessions.get(user)?.link).collect();
        links.into_iter().for_each(|link| self.tell(link, &message));
    }

    /// Scene, roster and state, for the next few who are in and connected; whether there are more.
    pub fn tell_next(&mut self, most: usize) -> bool {
        if self.is_still {
            return false;
        }
        let (tick, now) = (self.truth.tick(), self.ticked);
        let limits = self.settings.limits;
        let mut entered: Vec<(Handle, space::Slot)> = Vec::new();
        let Server { sessions, truth, bodies, fan_out, effects, counts, told, clocks, .. } = self;
        let from = told.map_or(Bound::Unbounded, Bound::Excluded);
        let mut rest = sessions.range_mut((from, Bound::Unbounded));
        for (sender, session) in rest.by_ref().take(most) {
            *told = Some(*sender);
            let (Stage::In { object, slot }, Some(link)) = (session.stage, session.link) else { continue };
            let mut tell = |counts: &mut super::ServerCounts, message: ToClient| {
                let bytes = message.encode();
                counts.messages += 1;
                counts.message_bytes += bytes.len() as u64;
                effects.push_back(Effect::Send { link, channel: Channel::Stream, bytes });
            };
            if let Some(at) = session.scene_at {
                let most = limits.solids_per_tick.clamp(1, wire::scene::SOLIDS_MAX);
                let (solids, is_last) = truth.solids(at, most);
                session.scene_at = (!is_last).then_some(at + solids.len());
                tell(counts, ToClient::Scene(Scene { is_last, solids }));
            }
            if session.listener.is_behind() {
                let (number, left) = session.listener.tell(tick, limits.entered_per_tick, &mut entered);
                let entered = entered.iter().filter_map(|&(handle, slot)| introduce(handle, slot, truth, bodies));
                session.forms.left(&left);
                let roster = Roster { number, tick: tick as u32, left, entered: entered.collect() };
                session.behind_since.get_or_insert(now);
                tell(counts, ToClient::Roster(roster));
            } else if session.listener.is_up_to_date() {
                session.behind_since = None;
            }
            if let Some(forms) = session.forms.tell(tick, clocks, &session.listener) {
                tell(counts, ToClient::Forms(forms));
            }
            // Who is in no world, as the server died that was to take it, is shown where it was. That is not confirmed to
            // anybody: somebody else may have been let in there.
            let own = truth.pose(object).map(|_| {
                let (velocity, is_grounded) = truth.walk(object);
                Own { acknowledged: session.applied as u16, velocity, is_grounded }
            });
            let head = Head { tick: tick as u32, anchor: bodies.place(slot), own };
            let budget = limits.state_bytes_per_tick;
            let sent = fan_out.run(&mut session.listener, bodies, &head, tick, budget, |bytes| {
                effects.push_back(Effect::Send { link, channel: Channel::Datagram, bytes });
            });
            counts.sent.datagrams += sent.datagrams;
            counts.sent.bytes += sent.bytes;
            counts.sent.bodies += sent.bodies;
            counts.sent.waiting += sent.waiting;
        }
        rest.next().is_some()
    }
}

fn introduce(
    handle: Handle,
    slot: space::Slot,
    truth: &super::truth::Truth,
    bodies: &super::Bodies,
) -> Option<Entered> {
    let object: ObjectId = truth.object(slot)?;
    let body = bodies.body(slot);
    Some(Entered {
        handle,
        object,
        kind: truth.kind(object),
        name: truth.name(object),
        shape: truth.shape(object),
        place: body.place,
        turn: body.turn,
        motion: body.motion,
    })
}
