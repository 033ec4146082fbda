//! What happened to one server of a cluster, to be done again to a twin of it.
//!
//! Servers that are simulated in one process share its heap and its caches, as servers on machines of their own do
//! not. But a server knows nothing but what it is told, and when. Told the same once more, a twin does the same, with
//! a machine to itself: what that takes is what such a server takes.

use std::sync::Arc;

use cluster::{Cluster, ClusterSettings};
use interest::Aura;
use server::limits::Limits;
use server::{Server, ServerSettings, TickPart};
use space::{NodeId, Time};
use wire::cluster::Plan;
use wire::{Channel, Effect, Endpoint, Event, LinkId, Participant};
use world::{Spec, StateHash, World};

use super::spent::{ARRIVALS, BETWEEN, FAN_OUT, Spent};
use crate::stopwatch::Stopwatch;

/// How far users hear, in metres.
const FOCUS: f32 = 20.0;

/// What a server is made from.
#[derive(Clone, Debug)]
pub(super) struct Founding {
    pub node: NodeId,
    pub address: String,
    /// The whole world, with spawn places in this server's part of it.
    pub spec: Arc<Spec>,
    pub plan: Plan,
    pub limits: Limits,
}

impl Founding {
    pub fn server(&self) -> Server {
        let mut world = World::new(Arc::clone(&self.spec)).expect("a plaza is a world");
        let (node, address) = (self.node, self.address.clone());
        let settings =
            ClusterSettings { node, address, is_witness: false, copies: 2, reach: Aura::HYSTERESIS * FOCUS, world: 7 };
        let now = Time::from_micros(0);
        let cluster = Cluster::founding(settings.clone(), &mut world, self.plan.clone(), now);
        let server = ServerSettings { limits: self.limits, focus: FOCUS, ..ServerSettings::default() };
        Server::in_cluster(world, server, cluster, settings, now).expect("an aura of some metres is one")
    }
}

/// What can happen to a server. Its bytes, if it has any, are on the tape.
#[derive(Clone, Copy, Debug)]
pub(super) enum TapeEvent {
    Opened(LinkId, [u8; 16]),
    Greeted(LinkId),
    /// Sends a datagram.
    Sent(LinkId),
    /// A tick is due.
    Ticked,
    /// What it has to say to other nodes is fetched.
    Asked,
    /// Another node says something.
    Heard(NodeId),
}

impl TapeEvent {
    /// What the time goes to that it takes; how users come in is not counted.
    fn part(self) -> Option<usize> {
        match self {
            TapeEvent::Opened(..) | TapeEvent::Greeted(_) => None,
            TapeEvent::Sent(_) => Some(ARRIVALS),
            TapeEvent::Ticked => Some(FAN_OUT),
            TapeEvent::Asked | TapeEvent::Heard(_) => Some(BETWEEN),
        }
    }
}

/// Everything that happened to one server.
#[derive(Clone, Debug)]
pub struct Tape {
    founding: Founding,
    /// How long its borders with others are, in metres.
    pub border_m: f32,
    /// For how many nodes of its cluster it stands, itself included.
    pub stands_for: f64,
    /// When, what, and where its bytes end.
    happenings: Vec<(Time, TapeEvent, usize)>,
    bytes: Vec<u8>,
    /// From which on time counts, and what its world was at the end.
    timed_from: usize,
    hash: Option<StateHash>,
}

impl Tape {
    pub(super) fn new(founding: Founding, border_m: f32, stands_for: f64) -> Tape {
        let (happenings, bytes) = (Vec::new(), Vec::new());
        Tape { founding, border_m, stands_for, happenings, bytes, timed_from: 0, hash: None }
    }

    pub(super) fn note(&mut self, now: Time, happening: TapeEvent, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.happenings.push((now, happening, self.bytes.len()));
    }

    /// Time counts from here on.
    pub(super) fn start_timing(&mut self) {
        self.timed_from = self.happenings.len();
    }

    pub(super) fn end(&mut self, server: &Server) {
        self.hash = Some(server.world().hash());
    }

    #[cfg(test)]
    pub(super) fn lose_the_end(&mut self) {
        self.happenings.truncate(self.happenings.len() - 200);
    }

    /// Does everything again to a twin, and says what each tick took that counts.
    pub fn replay(&self, stopwatch: &mut dyn Stopwatch) -> Vec<Spent> {
        let mut server = self.founding.server();
        let mut ticks: Vec<Spent> = Vec::new();
        let (mut spent, mut last) = (Spent::default(), stopwatch.read().cpu);
        let (mut part, mut from) = (None, 0);
        for (index, &(now, happening, to)) in self.happenings.iter().enumerate() {
            if part != happening.part() {
                if let Some(part) = part {
                    spent.lap(part, &mut last, stopwatch);
                }
                // A tick ends with what nodes say to each other.
                if part == Some(BETWEEN) {
                    ticks.push(std::mem::take(&mut spent));
                }
                part = happening.part();
                last = stopwatch.read().cpu;
            }
            if index == self.timed_from {
                ticks.clear();
            }
            let bytes = &self.bytes[from..to];
            from = to;
            match happening {
                TapeEvent::Opened(link, secret) => server.handle(now, Event::Opened { from: link.into(), secret }),
                TapeEvent::Greeted(link) => {
                    server.handle(now, Event::Arrived { from: link.into(), channel: Channel::Stream, bytes })
                }
                TapeEvent::Sent(link) => {
                    server.handle(now, Event::Arrived { from: link.into(), channel: Channel::Datagram, bytes })
                }
                TapeEvent::Ticked => tick(&mut server, now, &mut spent, &mut last, stopwatch),
                TapeEvent::Asked => ask(&mut server, &mut spent, |_, _| {}, |_, _| {}),
                TapeEvent::Heard(node) => hear(&mut server, now, node, bytes),
            }
        }
        if let Some(part) = part {
            spent.lap(part, &mut last, stopwatch);
        }
        ticks.push(spent);
        let hash = Some(server.world().hash());
        assert_eq!(hash, self.hash, "a twin that is told the same does the same, as nothing else is known to it");
        ticks
    }
}

/// Takes a server's tick and notes what each part of it took since `last`.
pub(super) fn tick(
    server: &mut Server,
    now: Time,
    spent: &mut Spent,
    last: &mut std::time::Duration,
    stopwatch: &mut dyn Stopwatch,
) {
    server.tick(now, &mut |part| {
        let part = 1 + TickPart::ALL.iter().position(|(known, _)| *known == part).expect("it is one of all");
        spent.lap(part, last, stopwatch);
    });
}

/// Carries out what a server has to send: stream messages go to `told`, messages to other nodes to `said`.
pub(super) fn ask(
    server: &mut Server,
    spent: &mut Spent,
    mut told: impl FnMut(LinkId, Vec<u8>),
    mut said: impl FnMut(NodeId, Vec<u8>),
) {
    while let Some(effect) = server.poll() {
        match effect {
            Effect::Send { to: Endpoint::Link(link), channel: Channel::Stream, bytes } => told(link, bytes),
            Effect::Send { to: Endpoint::Node(to), bytes, .. } => {
                spent.count(&bytes);
                said(to, bytes);
            }
            _ => {}
        }
    }
}

/// A server takes in what another node says.
pub(super) fn hear(server: &mut Server, now: Time, from: NodeId, bytes: &[u8]) {
    server.handle(now, Event::Arrived { from: from.into(), channel: Channel::Stream, bytes });
}
