//! A server, its clients and the network between them, in a time of their own: a night passes in a minute, and a seed
//! repeats it to the bit.
//!
//! The server and the clients are those that users meet, to the line; only what carries their bytes is the lab's. Clients
//! lose their connections and resume, the network parts and heals, hostile clients join in, and the server is killed and
//! comes back from its journal. After every tick all [checkers](crate::checker) look.

mod fault;
mod report;
mod store;

pub use fault::Fault;
pub use report::Report;

use std::collections::BTreeMap;
use std::rc::Rc;

use client::bot::Behaviour;
use client::hostile::Malice;
use client::{Bot, ClientSettings, Hostile, Phase};
use server::{Server, ServerSettings};
use space::Time;
use space::workload::Random;
use wire::{Channel, Effect, Endpoint, Event, LinkId, Participant};
use world::{Plaza, World};

use self::store::Store;
use crate::checker::{self, Checker, ClientState, Observed, SentBytes, Shown};
use crate::network::{LinkSettings, Path, Stream};
use crate::planned::Calendar;
use crate::promise::Promise;
use crate::setting::{self, OutOfRange};

/// The most clients.
pub const CLIENTS_MAX: usize = 1_000;
/// The most ticks.
pub const TICKS_MAX: u64 = 100_000_000;

/// What to simulate.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The same seed gives the same run.
    pub seed: u64,
    /// Clients that mean well.
    pub clients: usize,
    /// Hostile ones.
    pub hostile: usize,
    /// How many ticks.
    pub ticks: u64,
    /// The share of datagrams that are lost.
    pub loss: f64,
    /// One way, in milliseconds; jitter comes on top.
    pub latency_ms: f64,
    /// By how much the latency varies, in milliseconds.
    pub jitter_ms: f64,
    /// Whether connections are cut, the network parts and the server is killed.
    pub upsets: bool,
    /// How clients move; `None` mixes all ways.
    pub behaviour: Option<Behaviour>,
    /// How fast clients move, in metres per second.
    pub speed: f64,
    /// How many of the world's own crowd walk among them.
    pub seekers: u32,
    /// Whether all clients stand for a while now and then, so that it can be seen whether everything settles.
    pub rests: bool,
    /// A fault to plant: its checker must find it.
    pub fault: Option<Fault>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            seed: 1,
            clients: 20,
            hostile: 3,
            ticks: 3_000,
            loss: 0.05,
            latency_ms: 60.0,
            jitter_ms: 20.0,
            upsets: true,
            behaviour: None,
            speed: 2.0,
            seekers: 20,
            rests: true,
            fault: None,
        }
    }
}

impl Settings {
    fn check(&self) -> Result<(), OutOfRange> {
        let rules = [
            ("clients", self.clients as f64, 0.0..=CLIENTS_MAX as f64, "0 to 1000"),
            ("hostile", self.hostile as f64, 0.0..=CLIENTS_MAX as f64, "0 to 1000"),
            ("ticks", self.ticks as f64, 1.0..=TICKS_MAX as f64, "1 to 100000000"),
            ("loss", self.loss, 0.0..=0.9, "a fraction of 0 to 0.9"),
            ("latency", self.latency_ms, 0.0..=2_000.0, "0 to 2000 ms"),
            ("jitter", self.jitter_ms, 0.0..=2_000.0, "0 to 2000 ms"),
            ("speed", self.speed, 0.0..=6.0, "0 to 6 m/s"),
        ];
        setting::check(rules)
    }
}

/// Everybody stands for the last part of each of these periods, in microseconds.
const PERIOD_US: i64 = 20_000_000;
/// From here on in each period nothing is upset any more, in microseconds.
const CALM_FROM_US: i64 = 11_000_000;
/// From here on everybody stands, in microseconds.
const REST_FROM_US: i64 = 15_000_000;
/// What was persisted is flushed every so many ticks.
const FLUSH_TICKS: u64 = 30;
/// The journal begins anew every so many ticks.
const COMPACT_TICKS: u64 = 1_800;

/// Runs a simulation. `progress` is told how many ticks are done, of how many.
pub fn run(settings: &Settings, progress: &mut dyn FnMut(u32, u32)) -> Result<Report, OutOfRange> {
    settings.check()?;
    let mut simulation = Simulation::new(settings.clone());
    let total = u32::try_from(settings.ticks).unwrap_or(u32::MAX);
    while simulation.ticks < settings.ticks {
        if simulation.ticks.is_multiple_of(64) {
            progress(simulation.ticks as u32, total);
        }
        simulation.advance();
    }
    progress(total, total);
    Ok(simulation.report())
}

/// Who is at the far end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Player {
    Client(usize),
    Hostile(usize),
}

/// A connection: both directions, both channels.
#[derive(Debug)]
struct Wires {
    player: Player,
    up: (Path, Stream),
    down: (Path, Stream),
}

#[derive(Clone, Debug)]
enum What {
    WakeServer,
    Wake(Player),
    /// Bytes arrive; at the server, or at the player.
    Arrive {
        link: LinkId,
        is_up: bool,
        channel: Channel,
        bytes: Rc<Vec<u8>>,
    },
    Open {
        link: LinkId,
        is_up: bool,
    },
    Close {
        link: LinkId,
        is_up: bool,
    },
    Connect(Player),
    Restart,
    /// Every second: what goes wrong in it?
    Second,
}

struct HostileState {
    node: Hostile,
    link: Option<LinkId>,
}

/// A run under way.
struct Simulation {
    settings: Settings,
    server_settings: ServerSettings,
    random: Random,
    now: Time,
    calendar: Calendar<What>,
    server: Option<Server>,
    store: Store,
    clients: Vec<ClientState>,
    hostile: Vec<HostileState>,
    links: BTreeMap<LinkId, Wires>,
    next_link: u64,
    sent: Vec<SentBytes>,
    checkers: Vec<(Promise, Box<dyn Checker>)>,
    shown: (Promise, Shown),
    ticks: u64,
    tally: report::Tally,
    tick_us: i64,
    fault: fault::Planter,
}

impl Simulation {
    fn new(settings: Settings) -> Simulation {
        let spec = Plaza { seekers: settings.seekers, seed: settings.seed, ..Plaza::default() }.spec();
        let world = World::new(spec).expect("a plaza is a world");
        let tick_us = 1_000_000 / i64::from(world.spec().tick_rate);
        let store = Store::new(&world);
        let server_settings = ServerSettings::default();
        let now = Time::from_micros(0);
        let server = Server::new(world, server_settings, now).expect("the default auras make sense");
        let mut random = Random::new(settings.seed ^ 0x5eed_0001);
        let clients = (0..settings.clients)
            .map(|index| {
                let behaviour = settings.behaviour.unwrap_or(match index % 4 {
                    0 | 1 => Behaviour::Wander,
                    2 => Behaviour::Seek,
                    _ => Behaviour::Crowd,
                });
                let name = format!("bot {index}");
                let seed = settings.seed.wrapping_mul(1_000_003).wrapping_add(index as u64);
                let mut client = ClientSettings::named(&name);
                // The price of predicting collisions among others is quadratic; some pay it.
                client.others.company_max = if index.is_multiple_of(8) { 16 } else { 0 };
                ClientState {
                    bot: Bot::new(client, behaviour, settings.speed, seed),
                    name,
                    clock_us: i64::from(random.whole(0, 60_000_000)) - 30_000_000,
                    link: None,
                    calm_since: now,
                }
            })
            .collect();
        let hostile = (0..settings.hostile)
            .map(|index| {
                let malice = Malice::ALL[index % Malice::ALL.len()];
                let seed = settings.seed.wrapping_mul(7_919).wrapping_add(index as u64);
                HostileState { node: Hostile::new(malice, &format!("mallory {index}"), seed), link: None }
            })
            .collect();
        let fault = fault::Planter::new(settings.fault);
        // The one that measures is kept by its type: it has something to report.
        let shown = Shown::default();
        let others = checker::all().into_iter().filter(|checker| checker.name() != shown.name());
        let checkers = others.map(|checker| (Promise::new(checker.name()), checker)).collect();
        let mut simulation = Simulation {
            server_settings,
            random,
            now,
            calendar: Calendar::new(),
            server: Some(server),
            store,
            clients,
            hostile,
            links: BTreeMap::new(),
            next_link: 1,
            sent: Vec::new(),
            checkers,
            shown: (Promise::new(shown.name()), shown),
            ticks: 0,
            tally: report::Tally::default(),
            tick_us,
            fault,
            settings,
        };
        simulation.calendar.plan(now, What::WakeServer);
        simulation.calendar.plan(now + 1_000_000, What::Second);
        for player in simulation.players() {
            let after = i64::from(simulation.random.whole(0, 2_000_000));
            simulation.calendar.plan(now + after, What::Connect(player));
        }
        simulation
    }

    fn players(&self) -> Vec<Player> {
        let clients = (0..self.clients.len()).map(Player::Client);
        clients.chain((0..self.hostile.len()).map(Player::Hostile)).collect()
    }

    /// The next thing happens.
    fn advance(&mut self) {
        let Some((at, what)) = self.calendar.next() else {
            // Without a server nothing might be planned any more; there always is a restart.
            self.ticks = self.settings.ticks;
            return;
        };
        self.now = at;
        match what {
            What::WakeServer => self.wake_server(),
            What::Wake(player) => self.wake(player),
            What::Arrive { link, is_up, channel, bytes } => {
                self.deliver(link, is_up, Event::Arrived { from: link.into(), channel, bytes: &bytes });
            }
            What::Open { link, is_up } => {
                let secret = std::array::from_fn(|_| self.random.whole(0, 256) as u8);
                self.deliver(link, is_up, Event::Opened { from: link.into(), secret });
            }
            What::Close { link, is_up } => {
                self.deliver(link, is_up, Event::Closed { from: link.into() });
                if !is_up {
                    self.lose(link);
                }
            }
            What::Connect(player) => self.connect(player),
            What::Restart => self.restart(),
            What::Second => {
                self.upset();
                self.calendar.plan(self.now + 1_000_000, What::Second);
            }
        }
    }

    fn deliver(&mut self, link: LinkId, is_up: bool, event: Event<'_>) {
        let now = self.now;
        if is_up {
            if let Some(server) = &mut self.server {
                server.handle(now, event);
                self.carry_out_server();
            }
            return;
        }
        let Some(player) = self.links.get(&link).map(|wires| wires.player) else { return };
        match player {
            Player::Client(index) => {
                let state = &mut self.clients[index];
                state.bot.handle(now + state.clock_us, event);
            }
            Player::Hostile(index) => self.hostile[index].node.handle(now, event),
        }
        self.carry_out(player);
    }

    fn wake(&mut self, player: Player) {
        let (now, is_rest) = (self.now, self.is_rest());
        match player {
            Player::Client(index) => {
                let state = &mut self.clients[index];
                let local = now + state.clock_us;
                if state.bot.next_wake() <= local {
                    state.bot.freeze(is_rest);
                    state.bot.wake(local);
                    let next = state.bot.next_wake() + -state.clock_us;
                    self.calendar.plan(next.max(now + 1), What::Wake(player));
                }
            }
            Player::Hostile(index) => {
                let state = &mut self.hostile[index];
                if state.node.next_wake() <= now {
                    state.node.wake(now);
                    let next = state.node.next_wake();
                    self.calendar.plan(next.max(now + 1), What::Wake(player));
                }
            }
        }
        self.carry_out(player);
    }

    /// What a player wants done.
    fn carry_out(&mut self, player: Player) {
        loop {
            let effect = match player {
                Player::Client(index) => self.clients[index].bot.poll(),
                Player::Hostile(index) => self.hostile[index].node.poll(),
            };
            let Some(Effect::Send { to: Endpoint::Link(link), channel, bytes }) = effect else { break };
            let now = self.now;
            let Some(wires) = self.links.get_mut(&link) else { continue };
            let bytes = Rc::new(bytes);
            let arrivals = match channel {
                Channel::Datagram => wires.up.0.arrivals(now),
                Channel::Stream => [Some(wires.up.1.arrival(now)), None],
            };
            for at in arrivals.into_iter().flatten() {
                let bytes = Rc::clone(&bytes);
                self.calendar.plan(at, What::Arrive { link, is_up: true, channel, bytes });
            }
        }
        let next = match player {
            Player::Client(index) => self.clients[index].bot.next_wake() + -self.clients[index].clock_us,
            Player::Hostile(index) => self.hostile[index].node.next_wake(),
        };
        // A client that was just let in wants to wake at once; a wake that comes too early does nothing.
        if next <= self.now {
            self.calendar.plan(self.now + 1, What::Wake(player));
        }
    }

    /// What the server wants done.
    fn carry_out_server(&mut self) {
        let now = self.now;
        while let Some(effect) = self.server.as_mut().and_then(Server::poll) {
            match effect {
                Effect::Send { to: Endpoint::Link(link), channel, bytes } => {
                    let Some(wires) = self.links.get_mut(&link) else { continue };
                    let client = match wires.player {
                        Player::Client(index) => Some(index),
                        Player::Hostile(_) => None,
                    };
                    self.sent.push(SentBytes { link, client, channel, bytes });
                }
                Effect::Close { to: Endpoint::Link(link) } => {
                    self.flush_sent();
                    if let Some(wires) = self.links.get_mut(&link) {
                        let at = wires.down.1.arrival(now);
                        self.calendar.plan(at, What::Close { link, is_up: false });
                    }
                }
                Effect::Persist(record) if self.fault.is_forgotten(&record) => {}
                Effect::Persist(record) => self.store.keep(record),
                _ => {}
            }
        }
        self.flush_sent();
    }

    /// What the server sent goes on its way.
    fn flush_sent(&mut self) {
        let now = self.now;
        let from = self.tally.flushed;
        self.fault.tamper(&mut self.sent[from..], self.ticks);
        for at in from..self.sent.len() {
            let SentBytes { link, client, channel, .. } = self.sent[at];
            let Some(wires) = self.links.get_mut(&link) else { continue };
            let arrivals = match channel {
                Channel::Datagram => wires.down.0.arrivals(now),
                Channel::Stream => {
                    let arrival = wires.down.1.arrival(now);
                    let usual = self.settings.latency_us_max() + 3 * wires.down.1.patience_us();
                    if arrival - now > usual
                        && let Some(index) = client
                    {
                        let state = &mut self.clients[index];
                        state.calm_since = state.calm_since.max(arrival);
                    }
                    [Some(arrival), None]
                }
            };
            if self.fault.is_swallowed(&self.sent[at]) {
                continue;
            }
            let bytes = Rc::new(self.fault.in_flight(&self.sent[at]));
            for at in arrivals.into_iter().flatten() {
                let bytes = Rc::clone(&bytes);
                self.calendar.plan(at, What::Arrive { link, is_up: false, channel, bytes });
            }
        }
        self.tally.flushed = self.sent.len();
    }

    fn wake_server(&mut self) {
        let now = self.now;
        let Some(server) = &mut self.server else { return };
        let next = server.next_wake();
        if next > now {
            self.calendar.plan(next, What::WakeServer);
            return;
        }
        server.wake(now);
        let next = server.next_wake();
        self.calendar.plan(next, What::WakeServer);
        self.carry_out_server();
        self.ticks += 1;
        self.look();
        let Some(server) = &self.server else { return };
        let tick = server.world().tick().number();
        if tick.is_multiple_of(COMPACT_TICKS) {
            self.store.compact(server.world());
        } else if tick.is_multiple_of(FLUSH_TICKS) {
            self.store.flush(server.world());
        }
        if self.fault.is_deadly(self.ticks) {
            self.kill();
        }
    }

    /// All checkers look at what this tick has brought.
    fn look(&mut self) {
        let Some(server) = &self.server else { return };
        let mut truth = checker::truth_of(server.world());
        self.fault.bend(&mut truth, self.ticks);
        let ServerSettings { focus, nimbus, hysteresis, .. } = self.server_settings;
        let mut observed = Observed {
            tick: server.world().tick().number(),
            tick_us: self.tick_us,
            now: self.now,
            is_rested: self.is_rest() && self.phase_us() >= PERIOD_US - 1_000_000,
            reach: focus + nimbus,
            reach_max: (focus + nimbus) * hysteresis,
            settled_us: self.settings.settled_us(self.tick_us),
            truth: &truth,
            sent: &self.sent,
            clients: &mut self.clients,
        };
        for (promise, checker) in &mut self.checkers {
            checker.look(&mut observed, promise);
        }
        let (promise, checker) = &mut self.shown;
        checker.look(&mut observed, promise);
        self.tally.note(&self.sent);
        self.sent.clear();
        self.tally.flushed = 0;
    }

    fn phase_us(&self) -> i64 {
        self.now.micros().rem_euclid(PERIOD_US)
    }

    fn is_rest(&self) -> bool {
        self.settings.rests && self.phase_us() >= REST_FROM_US
    }

    /// A player opens a connection: an answer comes after a round trip, if there is a server.
    fn connect(&mut self, player: Player) {
        let held = match player {
            Player::Client(index) => &mut self.clients[index].link,
            Player::Hostile(index) => &mut self.hostile[index].link,
        };
        if held.is_some() {
            return;
        }
        if self.server.is_none() {
            self.calendar.plan(self.now + 500_000, What::Connect(player));
            return;
        }
        let link = LinkId(self.next_link);
        *held = Some(link);
        self.next_link += 1;
        let network = self.settings.network();
        let seed = self.settings.seed.wrapping_mul(31).wrapping_add(link.0 * 4);
        let wires = Wires {
            player,
            up: (Path::new(network, seed), Stream::new(network, seed + 1)),
            down: (Path::new(network, seed + 2), Stream::new(network, seed + 3)),
        };
        self.links.insert(link, wires);
        let way = self.settings.latency_us_max();
        self.calendar.plan(self.now + way, What::Open { link, is_up: true });
        self.calendar.plan(self.now + 2 * way + 1, What::Open { link, is_up: false });
        self.disturb(player, self.now + 2 * way);
    }

    fn disturb(&mut self, player: Player, until: Time) {
        if let Player::Client(index) = player {
            let state = &mut self.clients[index];
            state.calm_since = state.calm_since.max(until);
        }
    }

    /// A connection is gone at the player's end: it tries again after a while.
    fn lose(&mut self, link: LinkId) {
        let Some(wires) = self.links.remove(&link) else { return };
        let wait = i64::from(self.random.whole(200_000, 3_000_000));
        match wires.player {
            Player::Client(index) => {
                self.clients[index].link = None;
                if let Phase::Ended(refused) = self.clients[index].bot.client().phase() {
                    self.tally.refusals.entry(format!("{:?}", refused.reason)).and_modify(|n| *n += 1).or_insert(1);
                }
            }
            Player::Hostile(index) => self.hostile[index].link = None,
        }
        self.disturb(wires.player, self.now);
        self.calendar.plan(self.now + wait, What::Connect(wires.player));
    }

    /// What goes wrong in this second.
    fn upset(&mut self) {
        let draws: [f32; 3] = std::array::from_fn(|_| self.random.unit());
        let which = self.random.whole(0, self.clients.len().max(1) as u32) as usize;
        let span = i64::from(self.random.whole(300_000, 3_000_000));
        let is_time = self.settings.upsets && (!self.settings.rests || self.phase_us() < CALM_FROM_US);
        let Some(link) = self.clients.get(which).and_then(|state| state.link).filter(|_| is_time) else { return };
        if draws[0] < 0.3 {
            // A cable is pulled: the player knows at once, the server after a while.
            self.tally.cuts += 1;
            self.deliver(link, false, Event::Closed { from: link.into() });
            self.lose(link);
            self.calendar.plan(self.now + span, What::Close { link, is_up: true });
        } else if draws[1] < 0.3 {
            self.tally.partitions += 1;
            let until = self.now + span;
            if let Some(wires) = self.links.get_mut(&link) {
                wires.up.0.cut(until);
                wires.up.1.cut(until);
                wires.down.0.cut(until);
                wires.down.1.cut(until);
            }
            self.disturb(Player::Client(which), until + self.settings.latency_us_max());
        } else if draws[2] < 0.03 && self.server.is_some() {
            self.kill();
        }
    }

    /// The server is no more; a new one comes soon.
    fn kill(&mut self) {
        self.tally.restarts += 1;
        self.server = None;
        self.sent.clear();
        self.tally.flushed = 0;
        let links: Vec<LinkId> = self.links.keys().copied().collect();
        for link in links {
            let after = i64::from(self.random.whole(100_000, 600_000));
            self.calendar.plan(self.now + after, What::Close { link, is_up: false });
        }
        self.calendar.plan(self.now + 1_000_000, What::Restart);
    }

    fn restart(&mut self) {
        let (world, sessions) = match self.store.recover() {
            Ok(recovered) => recovered,
            Err(error) => {
                self.tally.broken_replays.push(error);
                self.ticks = self.settings.ticks;
                return;
            }
        };
        let server = Server::restore(world, self.server_settings, &sessions, self.now);
        self.server = Some(server.expect("the default auras make sense"));
        self.calendar.plan(self.now, What::WakeServer);
    }

    fn report(self) -> Report {
        report::report(self)
    }
}

impl Settings {
    fn latency_us_max(&self) -> i64 {
        ((self.latency_ms + self.jitter_ms) * 1e3) as i64
    }

    fn network(&self) -> LinkSettings {
        LinkSettings {
            latency_us_min: (self.latency_ms * 1e3) as i64,
            latency_us_max: self.latency_us_max(),
            loss: self.loss,
            duplicates: 0.01,
            keeps_order: true,
            reordered: 0.02,
        }
    }

    /// After so long without disturbance a client knows whom it hears: its welcome, a roster that had to be sent three
    /// times, an answer, and the next roster, with some ticks for pacing.
    fn settled_us(&self, tick_us: i64) -> i64 {
        let patience = 2 * self.latency_us_max() + 30_000;
        3 * self.latency_us_max() + 6 * patience + 20 * tick_us
    }
}
