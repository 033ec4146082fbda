//! The one simulator: machines with clocks of their own, links between them, and one event queue.
//!
//! A machine runs a server, a bot, a hostile client, a peer or a node of a cluster, to the line as users meet
//! them. What carries their bytes and keeps their records is the simulator's: messages are delayed, lost, doubled
//! and reordered, links are cut and break, machines freeze, die at any message and start again. A seed repeats a
//! run to the bit.

use std::collections::BTreeMap;
use std::rc::Rc;

use client::{Bot, Hostile};
use peer::Peer;
use server::Server;
use space::workload::Random;
use space::{NodeId, Time};
use wire::{Channel, Effect, Endpoint, Event, LinkId, Participant, Record};

use crate::disk::Disk;
use crate::event_queue::EventQueue;
use crate::link::{Lane, LinkSettings};
use crate::nodes::ClusterNode;
use crate::promises::{Observed, SentBytes};

/// What a machine runs.
#[derive(Debug)]
pub enum Actor {
    Server(Box<Server>),
    Bot(Box<Bot>),
    Hostile(Box<Hostile>),
    Peer(Box<Peer>),
    Node(Box<ClusterNode>),
}

impl Actor {
    fn participant(&self) -> &dyn Participant {
        match self {
            Actor::Server(server) => &**server,
            Actor::Bot(bot) => &**bot,
            Actor::Hostile(hostile) => &**hostile,
            Actor::Peer(peer) => &**peer,
            Actor::Node(node) => &**node,
        }
    }

    fn participant_mut(&mut self) -> &mut dyn Participant {
        match self {
            Actor::Server(server) => &mut **server,
            Actor::Bot(bot) => &mut **bot,
            Actor::Hostile(hostile) => &mut **hostile,
            Actor::Peer(peer) => &mut **peer,
            Actor::Node(node) => &mut **node,
        }
    }
}

/// A computer: what it runs, its clock, and its disk if it has one.
#[derive(Debug)]
pub struct Machine {
    pub name: String,
    /// `None` while it is down.
    pub actor: Option<Actor>,
    /// Under which id nodes of a cluster know it.
    pub node: Option<NodeId>,
    /// What its clock shows at the true time zero, in microseconds, and how fast it runs.
    pub clock_us: i64,
    pub rate: f64,
    pub disk: Option<Disk>,
    /// Until then it does nothing, and what arrives waits.
    pub frozen_until: Time,
    /// It dies when it has handled this many more messages.
    pub dies_after: Option<u32>,
    /// A wake comes this much too late at most, in microseconds.
    pub late_us_max: u32,
    /// Since when it runs.
    pub since: Time,
    /// Since when nothing has disturbed its connection.
    pub calm_since: Time,
    /// Messages that it could not decode, of those that carriers count.
    pub malformed: u64,
    /// Counts lives: what was planned for an earlier one does not happen.
    pub(crate) life: u32,
    pub(crate) wake_at: Option<Time>,
}

impl Machine {
    pub fn new(name: String, actor: Option<Actor>) -> Machine {
        let zero = Time::from_micros(0);
        Machine {
            name,
            actor,
            node: None,
            clock_us: 0,
            rate: 1.0,
            disk: None,
            frozen_until: zero,
            dies_after: None,
            late_us_max: 0,
            since: zero,
            calm_since: zero,
            malformed: 0,
            life: 0,
            wake_at: None,
        }
    }

    /// What its clock shows at a true time.
    pub fn here(&self, now: Time) -> Time {
        Time::from_micros(self.clock_us + (now.micros() as f64 * self.rate) as i64)
    }

    fn true_time(&self, here: Time) -> Time {
        Time::from_micros(((here.micros().saturating_sub(self.clock_us)) as f64 / self.rate) as i64)
    }

    pub fn server(&self) -> Option<&Server> {
        let Some(Actor::Server(server)) = &self.actor else { return None };
        Some(server)
    }

    pub fn server_mut(&mut self) -> Option<&mut Server> {
        let Some(Actor::Server(server)) = &mut self.actor else { return None };
        Some(server)
    }

    pub fn bot(&self) -> Option<&Bot> {
        let Some(Actor::Bot(bot)) = &self.actor else { return None };
        Some(bot)
    }

    pub fn bot_mut(&mut self) -> Option<&mut Bot> {
        let Some(Actor::Bot(bot)) = &mut self.actor else { return None };
        Some(bot)
    }

    pub fn peer(&self) -> Option<&Peer> {
        let Some(Actor::Peer(peer)) = &self.actor else { return None };
        Some(peer)
    }

    pub fn peer_mut(&mut self) -> Option<&mut Peer> {
        let Some(Actor::Peer(peer)) = &mut self.actor else { return None };
        Some(peer)
    }

    pub fn cluster_node(&self) -> Option<&ClusterNode> {
        let Some(Actor::Node(node)) = &self.actor else { return None };
        Some(node)
    }

    pub fn cluster_node_mut(&mut self) -> Option<&mut ClusterNode> {
        let Some(Actor::Node(node)) = &mut self.actor else { return None };
        Some(node)
    }
}

/// What the simulator hands to the scenario that it runs.
#[derive(Debug)]
pub enum Happened<What> {
    /// A machine is to be woken: the scenario calls [`Simulator::wake`].
    Due(usize),
    /// What the scenario has planned.
    Planned(What),
    /// A machine was told that its link with another is closed.
    Closed { machine: usize, other: usize, link: LinkId },
    /// A machine has taken in a message.
    Heard { from: Endpoint, to: usize, bytes: Rc<Vec<u8>> },
    /// A machine dies at this message: the scenario calls [`Simulator::kill`].
    Died(usize),
}

/// What a test may change to see whether a promise can fail. Scenarios never do.
pub enum Meddled<'a, 'b> {
    /// `back` is what its sender takes for an answer of the receiver.
    Sent {
        now: Time,
        from: usize,
        to: usize,
        channel: Channel,
        bytes: &'a mut Vec<u8>,
        back: &'a mut Option<Vec<u8>>,
    },
    Record {
        now: Time,
        record: &'a Record,
    },
    Observed(&'a mut Observed<'b>),
}

/// Answers whether a message arrives, or a record is kept.
pub type Meddler = Box<dyn FnMut(Meddled<'_, '_>) -> bool>;

#[derive(Debug)]
enum Coming<What> {
    Wake { to: usize, life: u32 },
    Open { to: usize, life: u32, link: LinkId },
    Arrive { to: usize, life: u32, from: Endpoint, channel: Channel, bytes: Rc<Vec<u8>>, over: Option<(usize, u32)> },
    Close { to: usize, life: u32, link: LinkId },
    Planned(What),
}

/// A connection between two machines.
#[derive(Clone, Copy, Debug)]
struct Connection {
    ends: [usize; 2],
    is_closed: [bool; 2],
    since: Time,
}

/// All machines, all links, and what is to come.
pub struct Simulator<What> {
    pub now: Time,
    pub machines: Vec<Machine>,
    /// Whether connections break over which nothing arrives for long.
    pub breaks: bool,
    /// What machines sent, until the scenario takes it.
    pub sent: Vec<SentBytes>,
    pub meddler: Option<Meddler>,
    pub random: Random,
    settings: LinkSettings,
    seed: u64,
    event_queue: EventQueue<Coming<What>>,
    lanes: BTreeMap<(usize, usize), Lane>,
    links: BTreeMap<LinkId, Connection>,
    next_link: u64,
}

impl<What> Simulator<What> {
    pub fn new(settings: LinkSettings, seed: u64) -> Simulator<What> {
        Simulator {
            now: Time::from_micros(0),
            machines: Vec::new(),
            breaks: false,
            sent: Vec::new(),
            meddler: None,
            random: Random::new(seed ^ 0x5eed_0001),
            settings,
            seed,
            event_queue: EventQueue::default(),
            lanes: BTreeMap::new(),
            links: BTreeMap::new(),
            next_link: 1,
        }
    }

    pub fn add(&mut self, machine: Machine) -> usize {
        self.machines.push(machine);
        self.plan_wake(self.machines.len() - 1);
        self.machines.len() - 1
    }

    pub fn plan(&mut self, after_us: i64, what: What) {
        self.event_queue.plan(self.now + after_us, Coming::Planned(what));
    }

    /// Lets time go on to the next thing at which the scenario has a say; `None` when that is later than `end`.
    pub fn next(&mut self, end: Time) -> Option<Happened<What>> {
        while self.event_queue.next_at()? <= end {
            let (at, coming) = self.event_queue.pop()?;
            self.now = at;
            if let Some(turn) = self.take(coming) {
                return Some(turn);
            }
        }
        None
    }

    fn take(&mut self, coming: Coming<What>) -> Option<Happened<What>> {
        match coming {
            Coming::Planned(what) => Some(Happened::Planned(what)),
            Coming::Wake { to, life } => {
                let machine = &mut self.machines[to];
                if machine.life != life || machine.wake_at != Some(self.now) {
                    return None;
                }
                machine.wake_at = None;
                let here = machine.here(self.now);
                if self.now >= machine.frozen_until
                    && machine.actor.as_ref().is_some_and(|actor| actor.participant().next_wake() <= here)
                {
                    return Some(Happened::Due(to));
                }
                self.plan_wake(to);
                None
            }
            Coming::Open { to, life, link } => {
                if self.machines[to].life == life && self.end(link, to).is_some() {
                    let secret = std::array::from_fn(|_| self.random.whole(0, 256) as u8);
                    self.tell(to, Event::Opened { from: link.into(), secret });
                }
                None
            }
            Coming::Close { to, life, link } => {
                let end = self.end(link, to)?;
                let connection = self.links.get_mut(&link)?;
                connection.is_closed[end] = true;
                let other = connection.ends[1 - end];
                if connection.is_closed == [true; 2] {
                    self.links.remove(&link);
                }
                if self.machines[to].life != life {
                    return None;
                }
                self.tell(to, Event::Closed { from: link.into() });
                Some(Happened::Closed { machine: to, other, link })
            }
            Coming::Arrive { to, life, from, channel, bytes, over } => {
                self.arrive(to, life, from, channel, bytes, over)
            }
        }
    }

    fn arrive(
        &mut self,
        to: usize,
        life: u32,
        from: Endpoint,
        channel: Channel,
        bytes: Rc<Vec<u8>>,
        over: Option<(usize, u32)>,
    ) -> Option<Happened<What>> {
        let stands = |(by, connection): (usize, u32)| self.lanes[&(by, to)].stands(Some(connection));
        if !over.is_none_or(stands) || matches!(from, Endpoint::Link(link) if self.end(link, to).is_none()) {
            return None;
        }
        let machine = &mut self.machines[to];
        if machine.life != life || machine.actor.is_none() {
            return None;
        }
        if self.now < machine.frozen_until {
            // It lies in a queue until the machine goes on.
            let at = machine.frozen_until;
            self.event_queue.plan(at, Coming::Arrive { to, life, from, channel, bytes, over: None });
            return None;
        }
        if let Some(left) = &mut machine.dies_after {
            if *left == 0 {
                return Some(Happened::Died(to));
            }
            *left -= 1;
        }
        self.tell(to, Event::Arrived { from, channel, bytes: &bytes });
        Some(Happened::Heard { from, to, bytes })
    }

    /// Hands an event to a machine at once.
    pub fn tell(&mut self, to: usize, event: Event<'_>) {
        let machine = &mut self.machines[to];
        let here = machine.here(self.now);
        if let Some(actor) = &mut machine.actor {
            actor.participant_mut().handle(here, event);
        }
        self.carry_out(to);
    }

    /// Wakes a machine that is due.
    pub fn wake(&mut self, index: usize) {
        let machine = &mut self.machines[index];
        let here = machine.here(self.now);
        if let Some(actor) = &mut machine.actor {
            actor.participant_mut().wake(here);
        }
        self.carry_out(index);
    }

    /// Does what a machine wants done.
    pub fn carry_out(&mut self, index: usize) {
        while let Some(effect) = self.machines[index].actor.as_mut().and_then(|actor| actor.participant_mut().poll()) {
            match effect {
                Effect::Send { to, channel, bytes } => self.send(index, to, channel, bytes),
                Effect::Close { to: Endpoint::Link(link) } => {
                    let Some(end) = self.end(link, index) else { continue };
                    let other = self.links[&link].ends[1 - end];
                    let now = self.now;
                    let at = self.lane(index, other).send(now, Channel::Stream).at[0].unwrap_or(now);
                    self.close(index, link, 1);
                    self.close(other, link, at - now);
                }
                Effect::Close { to: Endpoint::Node(_) } => {}
                Effect::Malformed { .. } => self.machines[index].malformed += 1,
                Effect::Persist(record) => {
                    let meddled = Meddled::Record { now: self.now, record: &record };
                    if self.meddler.as_mut().is_none_or(|meddler| meddler(meddled))
                        && let Some(disk) = &mut self.machines[index].disk
                    {
                        disk.keep(record);
                    }
                }
            }
        }
        self.plan_wake(index);
    }

    fn send(&mut self, from: usize, endpoint: Endpoint, channel: Channel, mut bytes: Vec<u8>) {
        let to = match endpoint {
            Endpoint::Link(link) => self.end(link, from).map(|end| self.links[&link].ends[1 - end]),
            Endpoint::Node(node) => self.machines.iter().position(|machine| machine.node == Some(node)),
        };
        let Some(to) = to else { return };
        let now = self.now;
        let mut back = None;
        let meddled = Meddled::Sent { now, from, to, channel, bytes: &mut bytes, back: &mut back };
        let arrives = self.meddler.as_mut().is_none_or(|meddler| meddler(meddled));
        if let Some(back) = back {
            let (life, bytes) = (self.machines[from].life, Rc::new(back));
            let coming = Coming::Arrive { to: from, life, from: endpoint, channel, bytes, over: None };
            self.event_queue.plan(now + 1_000, coming);
        }
        if !arrives {
            return;
        }
        let arrivals = self.lane(from, to).send(now, channel);
        let usual_us = self.settings.latency_us_max + 3 * self.settings.patience_us();
        if let (Channel::Stream, Some(at)) = (channel, arrivals.at[0])
            && at - now > usual_us
        {
            let machine = &mut self.machines[to];
            machine.calm_since = machine.calm_since.max(at);
        }
        let from_endpoint = match endpoint {
            Endpoint::Link(link) => Endpoint::Link(link),
            Endpoint::Node(_) => match self.machines[from].node {
                Some(node) => Endpoint::Node(node),
                None => return,
            },
        };
        let (life, over) = (self.machines[to].life, arrivals.connection.map(|connection| (from, connection)));
        let bytes = Rc::new(bytes);
        self.sent.push(SentBytes { endpoint, from, to, channel, bytes: Rc::clone(&bytes) });
        for at in arrivals.at.into_iter().flatten() {
            let bytes = Rc::clone(&bytes);
            self.event_queue.plan(at, Coming::Arrive { to, life, from: from_endpoint, channel, bytes, over });
        }
    }

    fn plan_wake(&mut self, index: usize) {
        let machine = &mut self.machines[index];
        let Some(actor) = &machine.actor else { return };
        let due = machine.true_time(actor.participant().next_wake()).max(self.now + 1).max(machine.frozen_until);
        if machine.wake_at.is_some_and(|planned| planned <= due + i64::from(machine.late_us_max)) {
            return;
        }
        let late_us = if machine.late_us_max == 0 { 0 } else { self.random.whole(0, machine.late_us_max) };
        let (at, life) = (due + i64::from(late_us), machine.life);
        machine.wake_at = Some(at);
        self.event_queue.plan(at, Coming::Wake { to: index, life });
    }

    fn lane(&mut self, from: usize, to: usize) -> &mut Lane {
        let seed = self.seed.wrapping_mul(31).wrapping_add((from * 1_009 + to) as u64);
        let settings = self.settings;
        self.lanes.entry((from, to)).or_insert_with(|| Lane::new(settings, seed))
    }

    /// Which end of a link a machine is, while the link is open there.
    fn end(&self, link: LinkId, machine: usize) -> Option<usize> {
        let connection = self.links.get(&link)?;
        (0..2).find(|&end| connection.ends[end] == machine && !connection.is_closed[end])
    }

    /// Connects two machines; each is told so after its time, in microseconds.
    pub fn connect(&mut self, ends: [usize; 2], after_us: [i64; 2]) -> LinkId {
        let link = LinkId(self.next_link);
        self.next_link += 1;
        self.links.insert(link, Connection { ends, is_closed: [false; 2], since: self.now });
        for (to, after_us) in ends.into_iter().zip(after_us) {
            let life = self.machines[to].life;
            self.event_queue.plan(self.now + after_us, Coming::Open { to, life, link });
        }
        link
    }

    /// A machine is told that a link is closed, after a time.
    pub fn close(&mut self, to: usize, link: LinkId, after_us: i64) {
        let life = self.machines[to].life;
        self.event_queue.plan(self.now + after_us, Coming::Close { to, life, link });
    }

    /// The links of a machine that are open there, with the machine at the other end.
    pub fn links_of(&self, machine: usize) -> impl Iterator<Item = (LinkId, usize)> + '_ {
        self.links
            .keys()
            .filter_map(move |&link| self.end(link, machine).map(|end| (link, self.links[&link].ends[1 - end])))
    }

    /// Since when two machines are connected.
    pub fn linked_since(&self, one: usize, other: usize) -> Option<Time> {
        let is_between = |connection: &&Connection| {
            (connection.ends == [one, other] || connection.ends == [other, one]) && connection.is_closed == [false; 2]
        };
        self.links.values().find(is_between).map(|connection| connection.since)
    }

    /// A machine dies with all that it has not written to its disk. Machines that are connected with it are not told.
    pub fn kill(&mut self, index: usize) -> Option<Actor> {
        for connection in self.links.values_mut() {
            (0..2).filter(|&end| connection.ends[end] == index).for_each(|end| connection.is_closed[end] = true);
        }
        let machine = &mut self.machines[index];
        machine.life += 1;
        (machine.dies_after, machine.wake_at) = (None, None);
        machine.actor.take()
    }

    /// A machine runs again.
    pub fn start(&mut self, index: usize, actor: Actor) {
        let machine = &mut self.machines[index];
        (machine.actor, machine.since) = (Some(actor), self.now);
        self.carry_out(index);
    }

    /// Nothing gets from one machine to the other, nor back. Says whether their connection breaks.
    pub fn cut(&mut self, one: usize, other: usize, until: Time) -> bool {
        let (now, breaks) = (self.now, self.breaks);
        self.lane(one, other).cut(now, until, breaks);
        self.lane(other, one).cut(now, until, breaks);
        breaks && until - now > crate::link::GIVEN_UP_US
    }

    /// All others give up their connections with a machine.
    pub fn break_all(&mut self, index: usize, until: Time) {
        let lanes = self.lanes.iter_mut().filter(|((from, to), _)| (*from == index) != (*to == index));
        lanes.for_each(|(_, lane)| lane.break_until(until));
    }

    /// Until when two machines are, or were last, cut from each other.
    pub fn cut_until(&self, one: usize, other: usize) -> Option<Time> {
        self.lanes.get(&(one, other)).map(Lane::cut_until).filter(|until| until.micros() > i64::MIN)
    }

    pub fn is_any_cut(&self) -> bool {
        self.lanes.values().any(|lane| lane.cut_until() > self.now)
    }

    /// Lets a test falsify what the promises are about to look at.
    pub fn meddle(&mut self, observed: &mut Observed<'_>) {
        if let Some(meddler) = &mut self.meddler {
            meddler(Meddled::Observed(observed));
        }
    }
}
