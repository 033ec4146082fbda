//! One tick of a server: from what clients asked for to what they are told.

use std::ops::Bound;

use space::{NodeId, ObjectId, Slot, Tick, Time};
use wire::pose::heading_radians;
use wire::session::{Entered, EnteredKind, Roster, Welcome};
use wire::state::{Head, Own};
use wire::{
    Channel, CloseReason, CollisionShape, Effect, Handle, LinkId, Record, Scene, SessionRecord, ToClient, VERSION,
};
use world::{Act, Input, journal};

use crate::link::Link;
use crate::session::{Session, SessionStage};
use crate::slots::SlotTable;
use crate::truth::Truth;
use crate::{Bodies, Server, ServerCounts, ServerSettings};

/// The parts of a tick in their order, for measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TickPart {
    /// What clients asked for becomes inputs.
    Inputs,
    /// The world takes its step.
    World,
    /// Objects that moved, came or went are moved in the audience.
    Follow,
    /// Areas of interest are updated.
    Audience,
    /// Clients are told.
    FanOut,
}

impl TickPart {
    /// All of them, with their names.
    pub const ALL: [(TickPart, &'static str); 5] = [
        (TickPart::Inputs, "inputs"),
        (TickPart::World, "world"),
        (TickPart::Follow, "follow"),
        (TickPart::Audience, "audience"),
        (TickPart::FanOut, "fan_out"),
    ];
}

impl Server {
    /// Takes a tick, due or not, and writes at once what clients are told of it. `ended` is called after each part.
    pub fn tick(&mut self, now: Time, ended: &mut dyn FnMut(TickPart)) {
        self.begin_tick(now, ended);
        self.tell_next(usize::MAX);
        ended(TickPart::FanOut);
    }

    /// Takes a tick, due or not; [`poll`](wire::Participant::poll) writes what clients are told of it. `ended` is
    /// called after each part but the last.
    pub fn begin_tick(&mut self, now: Time, ended: &mut dyn FnMut(TickPart)) {
        self.tell_next(usize::MAX);
        self.ticked = now;
        // Ticks keep their rhythm, unless the server is late by more than a tick: then the world is late, not hurried.
        let next = self.next_tick + self.truth.tick_us();
        self.next_tick = if next > now { next } else { now + self.truth.tick_us() };
        self.counts.ticks += 1;

        let may_act = self.truth.may_act(now);
        self.look_after_sessions(now, may_act);
        if may_act {
            self.freeze_inputs();
        } else {
            self.inputs.clear();
        }
        ended(TickPart::Inputs);

        let mut inputs = std::mem::take(&mut self.inputs);
        self.counts.inputs += inputs.len() as u64;
        let mut record = Vec::new();
        journal::write(self.world().tick().next(), &inputs, &mut record);
        let has_stepped = self.truth.step(now, &inputs);
        ended(TickPart::World);

        if has_stepped {
            self.follow_world();
        } else {
            self.queue_again();
        }
        self.follow_cluster(now, has_stepped);
        ended(TickPart::Follow);

        self.audience.update();
        self.follow_audience();
        ended(TickPart::Audience);

        if has_stepped {
            self.greet_joined();
            self.pass_on(&inputs);
        }
        // What came meanwhile, such as the leaving of an avatar without a session, is for the next tick.
        inputs.clear();
        inputs.append(&mut self.inputs);
        self.inputs = inputs;
        self.effects.push_back(Effect::Persist(Record::Tick(record)));
        (self.is_telling, self.told) = (has_stepped, None);
        let Server { clocks, truth, slots, .. } = self;
        clocks.clear();
        clocks.extend(truth.world().forms().filter_map(|(object, clock)| Some((slots.slot(object)?, clock))));
    }

    /// Ends sessions of users that were silent for too long or did not resume, and lets in the first of the queue.
    fn look_after_sessions(&mut self, now: Time, may_act: bool) {
        let limits = self.settings.limits;
        let is_silent = |link: &Link| link.session.is_none() && now - link.opened > limits.hello_us;
        let silent: Vec<_> = self.links.iter().filter(|(_, link)| is_silent(link)).map(|(id, _)| *id).collect();
        for id in silent {
            let seconds = limits.hello_us / 1_000_000;
            self.refuse(id, CloseReason::Idle, format!("You did not say hello within {seconds} seconds."));
        }
        let leaving = self.sessions.values().filter(|session| session.stage == SessionStage::Leaving);
        for sender in leaving.map(|session| session.sender).collect::<Vec<_>>() {
            // Its other inputs of this tick are dropped.
            self.inputs.retain(|input| input.sender != sender);
            match self.truth.avatar(sender) {
                Some(_) => self.input(sender, Act::Leave),
                None => self.forget(sender),
            }
        }
        let mut ends: Vec<(NodeId, CloseReason, String)> = Vec::new();
        for session in self.sessions.values() {
            if !matches!(session.stage, SessionStage::In { .. }) {
                continue;
            }
            if session.link.is_none() {
                if now - session.lost_at > limits.resume_us {
                    ends.push((session.sender, CloseReason::Left, String::new()));
                }
            } else if now - session.heard_at > limits.idle_us {
                let sentence = format!("Nothing was heard of you for {} seconds.", limits.idle_us / 1_000_000);
                ends.push((session.sender, CloseReason::Idle, sentence));
            } else if session.behind_since.is_some_and(|since| now - since > limits.unheard_us) {
                let seconds = limits.unheard_us / 1_000_000;
                let sentence = format!("What you are sent has not been answered for {seconds} seconds.");
                ends.push((session.sender, CloseReason::Slow, sentence));
            }
        }
        for (sender, reason, sentence) in ends {
            self.end_session(sender, reason, sentence);
        }
        let joins = if may_act { limits.joins_per_tick } else { 0 };
        for _ in 0..joins {
            let Some(sender) = self.queue.pop_front() else { break };
            let Some(session) = self.sessions.get_mut(&sender) else { continue };
            session.stage = SessionStage::Joining;
            session.sequence = 0;
            let (name, avatar) = (session.nickname.as_str().into(), u16::from(session.avatar));
            self.input(sender, Act::Join { name, avatar, at: None });
        }
    }

    /// Puts users back into the queue that were about to join when the world could not take its step.
    fn queue_again(&mut self) {
        for session in self.sessions.values_mut().rev().filter(|session| session.stage == SessionStage::Joining) {
            session.stage = SessionStage::Queued;
            self.queue.push_front(session.sender);
        }
    }

    /// Turns users' wishes into inputs, sorted by sender and sequence: the order of arrival cannot matter.
    fn freeze_inputs(&mut self) {
        for session in self.sessions.values_mut() {
            let Some(step) = session.wish.take() else { continue };
            session.applied = session.newest;
            let (sender, made_for) = (session.sender, Tick::new(session.made_for));
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

    /// Brings audience, bodies and sessions up to date with the world's step.
    fn follow_world(&mut self) {
        let tick = self.truth.tick();
        for at in 0..self.truth.outcome().left.len() {
            let left = self.truth.outcome().left[at];
            if let Some(slot) = self.slots.remove(left.object) {
                self.users.remove(&slot);
                self.audience.remove(slot).expect("it was in the audience while it lived");
            }
            self.forget(left.sender);
            self.effects.push_back(Effect::Persist(Record::Ended { sender: left.sender.number() }));
        }
        let Server { truth, slots, audience, bodies, .. } = self;
        for (object, place, turn) in truth.world().moved() {
            let Some(slot) = slots.slot(object) else { continue };
            bodies.moved(slot, tick, place, turn, false);
            audience.move_to(slot, place.position()).expect("a settled place is within every world");
        }
        bodies.settle(tick);
        for at in 0..self.truth.outcome().joined.len() {
            let joined = self.truth.outcome().joined[at];
            let slot = self.show(joined.object).expect("a settled place is within every world");
            let (Some(slot), Some(session)) = (slot, self.sessions.get_mut(&joined.sender)) else { continue };
            if session.stage == SessionStage::Joining {
                session.stage = SessionStage::In { object: joined.object, slot };
                self.users.insert(slot, joined.sender);
            }
        }
    }

    /// Passes on to each listener what entered and left its area of interest.
    fn follow_audience(&mut self) {
        let Server { audience, users, sessions, .. } = self;
        // A row may have a new object: the old one left before the new one entered.
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

    /// Welcomes users that the world let in, and tells the others why not.
    fn greet_joined(&mut self) {
        for at in 0..self.truth.outcome().joined.len() {
            let joined = self.truth.outcome().joined[at];
            let Some(session) = self.sessions.get(&joined.sender) else { continue };
            if !matches!(session.stage, SessionStage::In { .. }) {
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
            if session.stage != SessionStage::Joining {
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

    /// Tells a user that it is in, for the first time or again.
    pub(super) fn welcome(&mut self, sender: NodeId, is_resumed: bool) {
        let Some(session) = self.sessions.get_mut(&sender) else { return };
        let (SessionStage::In { object, .. }, Some(link)) = (session.stage, session.link) else { return };
        let Some(seen) = self.truth.seen(object) else { return };
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
            shape: seen.shape,
            place: seen.place,
            turn: seen.turn,
            newest: session.newest,
        };
        self.tell(link, &ToClient::Welcome(welcome));
        self.tell_servers(link);
    }

    /// Passes on what was said in this tick, and answers those who tried to grab something.
    fn pass_on(&mut self, inputs: &[Input]) {
        for at in 0..self.truth.outcome().said.len() {
            let said = &self.truth.outcome().said[at];
            let Some(speaker) = self.sessions.get(&said.sender) else { continue };
            let message = ToClient::Said {
                speaker: Some(said.object),
                name: speaker.nickname.as_str().to_owned(),
                text: said.text.to_string(),
            };
            let Some(slot) = speaker.slot() else { continue };
            let mut links = self.links_of_listeners(slot);
            links.extend(speaker.link);
            links.into_iter().for_each(|link| self.tell(link, &message));
            if let ToClient::Said { speaker: Some(object), name, text } = message {
                self.say_to_nodes(object, &name, &text);
            }
        }
        for input in inputs {
            let Act::Grab { object } = input.act else { continue };
            let refused = &self.truth.outcome().refused;
            let is_held = !refused.iter().any(|one| (one.sender, one.sequence) == (input.sender, input.sequence));
            if let Some(link) = self.sessions.get(&input.sender).and_then(|session| session.link) {
                self.tell(link, &ToClient::Grabbed { object, is_held });
            }
        }
    }

    /// The links of the users that hear the object in this row.
    pub(crate) fn links_of_listeners(&self, slot: Slot) -> Vec<LinkId> {
        let users = self.audience.listeners_of(slot).filter_map(|listener| self.users.get(&listener));
        users.filter_map(|user| self.sessions.get(user)?.link).collect()
    }

    /// Writes scene, roster and state for the next `most` sessions.
    pub(crate) fn tell_next(&mut self, most: usize) {
        if !self.is_telling {
            return;
        }
        let (tick, now) = (self.truth.tick(), self.ticked);
        let limits = self.settings.limits;
        let mut entered: Vec<(Handle, Slot)> = Vec::new();
        let Server { sessions, truth, fixed, slots, bodies, fan_out, effects, counts, told, clocks, .. } = self;
        let from = told.map_or(Bound::Unbounded, Bound::Excluded);
        let mut rest = sessions.range_mut((from, Bound::Unbounded));
        for (sender, session) in rest.by_ref().take(most) {
            *told = Some(*sender);
            let (SessionStage::In { object, slot }, Some(link)) = (session.stage, session.link) else { continue };
            let mut tell = |counts: &mut ServerCounts, message: ToClient| {
                let bytes = message.encode();
                counts.messages += 1;
                counts.message_bytes += bytes.len() as u64;
                effects.push_back(Effect::Send { to: link.into(), channel: Channel::Stream, bytes });
            };
            if let Some(at) = session.scene_at {
                let most = limits.solids_per_tick.clamp(1, wire::scene::SOLIDS_MAX);
                let end = fixed.len().min(at.saturating_add(most));
                let (solids, is_last) = (fixed[at.min(end)..end].to_vec(), end == fixed.len());
                session.scene_at = (!is_last).then_some(end);
                tell(counts, ToClient::Scene(Scene { is_last, solids }));
            }
            if session.listener.is_behind() {
                let (number, left) = session.listener.tell(tick, limits.entered_per_tick, &mut entered);
                let entered =
                    entered.iter().filter_map(|&(handle, slot)| introduce(handle, slot, truth, slots, bodies));
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
            // An avatar whose server died during a hand-over is shown where it was, but that is not confirmed to its
            // user: another object may have come there.
            let own = truth.pose(object).map(|_| {
                let (velocity, is_grounded) = truth.walk(object);
                Own { acknowledged: session.applied as u16, velocity, is_grounded }
            });
            let head = Head { tick: tick as u32, anchor: bodies.place(slot), own };
            let budget = limits.state_bytes_per_tick;
            let sent = fan_out.run(&mut session.listener, bodies, &head, tick, budget, |bytes| {
                effects.push_back(Effect::Send { to: link.into(), channel: Channel::Datagram, bytes });
            });
            counts.sent.datagrams += sent.datagrams;
            counts.sent.bytes += sent.bytes;
            counts.sent.bodies += sent.bodies;
            counts.sent.waiting += sent.waiting;
        }
        self.is_telling = rest.next().is_some();
    }
}

fn introduce(handle: Handle, slot: Slot, truth: &Truth, slots: &SlotTable, bodies: &Bodies) -> Option<Entered> {
    let object: ObjectId = slots.object(slot)?;
    let seen = truth.seen(object);
    let body = bodies.body(slot);
    Some(Entered {
        handle,
        object,
        kind: seen.as_ref().map_or(EnteredKind::Mover, |seen| seen.kind),
        name: seen.as_ref().map_or_else(String::new, |seen| seen.name.clone()),
        shape: seen.map_or(CollisionShape::Sphere { radius: 0.0 }, |seen| seen.shape),
        place: body.place,
        turn: body.turn,
        motion: body.motion,
    })
}
