//! Faults to plant: a checker that cannot fail is worth nothing.

use space::{GridPoint, ObjectId};
use wire::{Channel, LinkId, Record, ToClient};
use world::Kind;

use crate::checker::{SentBytes, TruthObject};

/// Something that must not go unnoticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Somebody enters, and one client is not told.
    LostEnter,
    /// An avatar is there twice.
    DoubledAvatar,
    /// Two avatars are in the same place.
    Overlap,
    /// A client is told of somebody far away.
    Leak,
    /// A client is told of a place that is not quite true.
    FalsePlace,
    /// A client no longer hears of its own avatar.
    Unconfirmed,
    /// A client is shown others far from where they are.
    Astray,
    /// A client is sent what is no message.
    Garbled,
    /// The disk forgets what was asked for in some ticks, and the server has to come back from it.
    LostRecord,
}

impl Fault {
    /// All of them, with the promise that each breaks.
    pub const ALL: [(Fault, &'static str); 9] = [
        (Fault::LostEnter, "all in aura are heard"),
        (Fault::DoubledAvatar, "no avatar is doubled"),
        (Fault::Overlap, "nothing overlaps"),
        (Fault::Leak, "nothing but the truth is sent, and only within the aura"),
        (Fault::FalsePlace, "nothing but the truth is sent, and only within the aura"),
        (Fault::Unconfirmed, "own avatars are reconciled"),
        (Fault::Astray, "shown errors are within their bound"),
        (Fault::Garbled, "who means well is served"),
        (Fault::LostRecord, "the journal brings the world back"),
    ];
}

/// Faults begin at this tick, when everybody has settled in: as everybody begins to stand.
const FROM_TICK: u64 = 440;
/// The server is killed at this tick, if that is part of the fault: a flush or two later.
const KILL_TICK: u64 = FROM_TICK + 70;

/// Plants a fault.
#[derive(Debug)]
pub struct Planter {
    fault: Option<Fault>,
    is_on: bool,
    /// Whom it hit.
    victim: Option<LinkId>,
    is_done: bool,
    /// What to leak.
    far: Option<(ObjectId, GridPoint)>,
}

impl Planter {
    pub fn new(fault: Option<Fault>) -> Planter {
        Planter { fault, is_on: false, victim: None, is_done: false, far: None }
    }

    /// Changes what the server says, before anybody sees it.
    pub fn tamper(&mut self, sent: &mut [SentBytes], tick: u64) {
        // Somebody has to enter after that.
        let is_early = matches!(self.fault, Some(Fault::LostEnter | Fault::Leak));
        let from = if is_early { FROM_TICK / 4 } else { FROM_TICK };
        self.is_on = tick >= from;
        let Some(fault) = self.fault.filter(|_| self.is_on && !self.is_done) else { return };
        for one in sent.iter_mut().filter(|one| one.client == Some(0)) {
            match (fault, ToClient::decode(&one.bytes)) {
                (Fault::FalsePlace, Ok(ToClient::State(mut state))) => {
                    if let Some((_, body)) = state.bodies.first_mut() {
                        body.place.x += 1;
                        one.bytes = state.encode();
                        self.is_done = true;
                    }
                }
                (Fault::Leak, Ok(ToClient::Roster(mut roster))) => {
                    if let (Some((object, place)), Some(entered)) = (self.far, roster.entered.first().cloned()) {
                        let handle = wire::Handle(4_000);
                        roster.entered.push(wire::Entered { object, place, handle, ..entered });
                        one.bytes = ToClient::Roster(roster).encode();
                        self.is_done = true;
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether a message is lost on its way, though it should not be.
    pub fn is_swallowed(&mut self, sent: &SentBytes) -> bool {
        if !self.is_on || sent.client != Some(0) {
            return false;
        }
        match self.fault {
            Some(Fault::LostEnter) => {
                let enters = sent.channel == Channel::Stream
                    && matches!(ToClient::decode(&sent.bytes), Ok(ToClient::Roster(roster)) if !roster.entered.is_empty());
                if enters && self.victim.is_none() {
                    self.victim = Some(sent.link);
                }
                enters && self.victim == Some(sent.link)
            }
            Some(Fault::Unconfirmed) => sent.channel == Channel::Datagram,
            _ => false,
        }
    }

    /// Whether the disk forgets something, though it should not.
    pub fn is_forgotten(&self, record: &Record) -> bool {
        self.is_on && self.fault == Some(Fault::LostRecord) && matches!(record, Record::Tick(_))
    }

    /// Whether the server dies after this tick.
    pub fn is_deadly(&self, tick: u64) -> bool {
        self.fault == Some(Fault::LostRecord) && tick == KILL_TICK
    }

    /// The bytes as they arrive.
    pub fn in_flight(&self, sent: &SentBytes) -> Vec<u8> {
        if self.fault == Some(Fault::Garbled) && self.is_on && sent.client == Some(0) {
            return vec![0xff];
        }
        if self.fault == Some(Fault::Astray)
            && self.is_on
            && sent.client == Some(0)
            && let Ok(ToClient::State(mut state)) = ToClient::decode(&sent.bytes)
        {
            for (_, body) in &mut state.bodies {
                body.place.x += 20 * 1_024;
            }
            return state.encode();
        }
        sent.bytes.clone()
    }

    /// Changes what the checkers take for the truth.
    pub fn bend(&mut self, truth: &mut Vec<TruthObject>, tick: u64) {
        let avatars: Vec<usize> =
            (0..truth.len()).filter(|at| truth[*at].kind == Kind::Avatar && truth[*at].owner.is_some()).collect();
        if let (Some(Fault::Leak), [first, ..]) = (self.fault, &avatars[..]) {
            let here = truth[*first].at;
            let farthest = truth.iter().filter(|object| object.kind != Kind::Fixed).max_by(|one, other| {
                let away = |object: &TruthObject| crate::checker::distance(here, object.at);
                away(one).total_cmp(&away(other))
            });
            self.far = farthest.map(|object| (object.id, object.at));
        }
        let (Some(fault), [first, second, ..], true) = (self.fault, &avatars[..], tick >= FROM_TICK) else { return };
        match fault {
            Fault::Overlap => truth[*second].at = truth[*first].at,
            Fault::DoubledAvatar => {
                let mut double = truth[*first].clone();
                double.id = ObjectId::new(u64::MAX).expect("not zero");
                double.solid = None;
                truth.push(double);
            }
            _ => {}
        }
    }
}
