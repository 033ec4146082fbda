//! What does a whole tick of a server cost, from the bytes that arrive to the bytes that are sent?
//!
//! A plaza full of target seekers, all moving. Some of them are clients that send a move datagram in every tick and
//! hear those around them. The server is the one that serves users, with the area of interest that users have by
//! default; the plaza is as wide as it takes for a client to hear `--listened` objects. Making the clients' datagrams
//! is not counted.

use ::world::{Plaza, World};
use clap::Args;
use kinesphere::failure::Failure;
use serde::Serialize;
use server::limits::Limits;
use server::{Server, ServerSettings, TickPart};
use space::workload::Random;
use space::{Time, Vec3};
use wire::{
    Channel, Effect, Endpoint, Event, Hello, InputStep, LinkId, Moves, Participant, ToClient, ToServer, VERSION,
};

use crate::report::csv::to_table;
use crate::report::number::{grouped, significant};
use crate::stopwatch::{Elapsed, Reading, Stopwatch, TickTimes, between};
use crate::study::range::range;
use crate::study::{Progress, Report, Results, Study, refused};

/// Milliseconds of processor time per tick that must be reached, and that should be.
const CPU_MS: (f64, f64) = (33.0, 10.0);
/// Bytes per object and update that must be reached, and that should be.
const BYTES: (f64, f64) = (16.0, 10.0);
const TICK_US: i64 = 33_333;
/// The parts of a tick, in the order of their rows.
const PARTS: [&str; 7] = ["receive", "inputs", "world", "follow", "audience", "fan_out", "hand_out"];

/// What does a whole tick of a server cost, from bytes to bytes?
///
/// Runs a server with a plaza full of seekers and says what a tick costs, from the bytes that arrive to the bytes that
/// are sent, and how many bytes those are.
#[derive(Args, Clone, Debug, Serialize)]
pub struct Settings {
    /// How many avatars there are, clients included
    #[arg(long, default_value_t = 100_000, value_name = "N", value_parser = range(1..=1_000_000usize))]
    pub objects: usize,
    /// How many of them are clients
    #[arg(long, default_value_t = 1_000, value_name = "N", value_parser = range(1..=20_000usize))]
    pub clients: usize,
    /// How many objects a client hears, on average, if they were spread evenly
    #[arg(long, default_value_t = 30.0, value_name = "N", value_parser = range(1.0..=1_000.0))]
    pub listened: f64,
    /// From how far it hears them, in metres; the plaza is as wide as that takes, so that less is a denser crowd
    #[arg(
        long,
        default_value_t = ServerSettings::default().focus,
        value_name = "METRES",
        value_parser = range(1.0f32..=1_000.0)
    )]
    pub aura: f32,
    /// Ticks before measuring
    #[arg(long, default_value_t = 30, value_name = "TICKS", value_parser = range(0..=1_000_000u32))]
    pub warm: u32,
    /// Ticks measured
    #[arg(long, default_value_t = 60, value_parser = range(1..=1_000_000u32))]
    pub ticks: u32,
    /// The same seed gives the same world
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// What was measured of whole ticks.
#[derive(Clone, Debug, Serialize)]
pub struct TickFacts {
    /// The ground that each avatar has, in square metres.
    pub ground_m2: f32,
    /// How many objects a client heard, on average.
    pub listened_mean: f64,
    /// How many objects moved per tick, on average.
    pub moved_mean: f64,
    pub cpu_ms_mean: f64,
    pub wall_ms_mean: f64,
    /// State bytes per object and update, with a share of the datagrams' headers.
    pub state_bytes_per_object: f64,
    pub state_bytes_per_client_s: f64,
    /// The share of updates that had to wait.
    pub waiting: f64,
}

#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub stage: &'static str,
    #[serde(flatten)]
    pub times: TickTimes,
}

impl Study for Settings {
    const NAME: &'static str = "bench tick";
    const EXAMPLE: &'static str = "--objects 100000 --clients 1000 --json";
    const UNIT: &'static str = "ticks";
    const HAS_PAGE: bool = false;
    type Row = Row;
    type Facts = TickFacts;

    fn run(&self, stopwatch: &mut dyn Stopwatch, progress: Progress<'_>) -> Result<Results<Settings>, Failure> {
        if self.objects < self.clients {
            let (objects, clients) = (self.objects, self.clients);
            return Err(refused(format!("`objects` is {objects}, expected at least as many as `clients`: {clients}")));
        }
        let mut bench = Bench::new(self);
        let total = self.warm + self.ticks;
        bench.let_in();
        let mut before = bench.server.counts();
        let (mut heard, mut moved) = (0, 0);
        for tick in 0..total {
            progress(tick, total);
            if tick == self.warm {
                bench.times = Default::default();
                before = bench.server.counts();
                (heard, moved) = (0, 0);
            }
            bench.tick(stopwatch);
            heard += bench.clients.iter().map(|client| client.hearing).sum::<usize>();
            moved += bench.server.world().outcome().moved.len();
        }
        progress(total, total);
        let counts = bench.server.counts();
        let (bytes, bodies) = (counts.sent.bytes - before.sent.bytes, counts.sent.bodies - before.sent.bodies);
        let waiting = counts.sent.waiting - before.sent.waiting;
        let ticks = f64::from(self.ticks);
        let rows: Vec<Row> = PARTS
            .into_iter()
            .zip(&bench.times)
            .map(|(stage, times)| Row { stage, times: TickTimes::of(times) })
            .collect();
        let facts = TickFacts {
            ground_m2: bench.side.powi(2) / self.objects as f32,
            listened_mean: heard as f64 / ticks / self.clients as f64,
            moved_mean: moved as f64 / ticks,
            cpu_ms_mean: rows.iter().map(|row| row.times.cpu_ms_mean).sum(),
            wall_ms_mean: rows.iter().map(|row| row.times.wall_ms_mean).sum(),
            state_bytes_per_object: bytes as f64 / (bodies as f64).max(1.0),
            state_bytes_per_client_s: bytes as f64 / self.clients as f64 / (ticks * TICK_US as f64 * 1e-6),
            waiting: waiting as f64 / ((bodies + waiting) as f64).max(1.0),
        };
        Ok((rows, facts))
    }

    fn text(Report { settings, facts, rows, .. }: &Report<Settings>) -> String {
        let table = to_table(rows);
        format!(
            "{table}\nA whole tick: {} ms of processor time (must {}, goal {}), {} ms on the wall.\n\
             {} objects, {} of them moving; {} clients hear {:.1} each, within {:.1} m; \
             {:.1} square metres for each avatar.\n\
             {:.2} state bytes per object and update (must {}, goal {}), {} per client and second; \
             {:.2} % had to wait.\n",
            significant(facts.cpu_ms_mean),
            CPU_MS.0,
            CPU_MS.1,
            significant(facts.wall_ms_mean),
            grouped(settings.objects as u64),
            grouped(facts.moved_mean as u64),
            grouped(settings.clients as u64),
            facts.listened_mean,
            settings.aura,
            facts.ground_m2,
            facts.state_bytes_per_object,
            BYTES.0,
            BYTES.1,
            grouped(facts.state_bytes_per_client_s as u64),
            100.0 * facts.waiting
        )
    }
}

struct Bench {
    server: Server,
    clients: Vec<Caller>,
    random: Random,
    now: Time,
    side: f32,
    times: [Vec<Elapsed>; PARTS.len()],
}

/// A client of which only the bytes exist.
struct Caller {
    link: LinkId,
    heard: u16,
    number: u32,
    step: InputStep,
    hearing: usize,
}

impl Bench {
    fn new(settings: &Settings) -> Bench {
        let seekers = (settings.objects - settings.clients) as u32;
        let hearing = ServerSettings { focus: settings.aura, ..ServerSettings::default() };
        // An object that was heard is heard for a while beyond the aura.
        let heard_within = std::f64::consts::PI * f64::from(hearing.focus * 0.5 * (1.0 + hearing.hysteresis)).powi(2);
        let side = (settings.objects as f64 / settings.listened * heard_within).sqrt() as f32;
        let side = side.clamp(Plaza::SIDES.0, Plaza::SIDES.1);
        let plaza = Plaza { seekers, seed: settings.seed, side, ..Plaza::for_avatars(settings.objects as u32) };
        let mut spec = plaza.spec();
        // Clients are spread as all others are, not crowded where users usually come in.
        let (mut random, edge) = (Random::new(settings.seed), 0.48 * plaza.side);
        let mut along = || random.between(-edge, edge);
        spec.spawns = (0..settings.clients.min(4_096)).map(|_| Vec3::new(along(), 0.0, along())).collect();
        let world = World::new(spec).expect("a plaza for that number of avatars is a world");
        let limits = Limits {
            clients: settings.clients,
            links: settings.clients,
            join_queue: settings.clients,
            joins_per_tick: 100,
            entered_per_tick: 128,
            ..Limits::default()
        };
        let server_settings = ServerSettings { limits, ..hearing };
        let now = Time::from_micros(0);
        let server = Server::new(world, server_settings, now).expect("auras are positive");
        let clients = (0..settings.clients as u64)
            .map(|number| Caller { link: LinkId(number), heard: 0, number: 0, step: InputStep::default(), hearing: 0 })
            .collect();
        Bench { server, clients, random, now, side, times: Default::default() }
    }

    /// Lets all clients join, a hundred per tick.
    fn let_in(&mut self) {
        for at in 0..self.clients.len() {
            let link = self.clients[at].link;
            let mut secret = [0; 16];
            secret[..8].copy_from_slice(&link.0.to_le_bytes());
            self.server.handle(self.now, Event::Opened { from: link.into(), secret });
            let hello = Hello { version: VERSION, nickname: format!("client {}", link.0), ..Hello::default() };
            let bytes = ToServer::Hello(hello).encode();
            self.server.handle(self.now, Event::Arrived { from: link.into(), channel: Channel::Stream, bytes: &bytes });
        }
        for _ in 0..self.clients.len().div_ceil(100) + 20 {
            self.tick(&mut Standstill);
        }
    }

    fn tick(&mut self, stopwatch: &mut dyn Stopwatch) {
        self.now = self.now + TICK_US;
        let datagrams: Vec<(LinkId, Vec<u8>)> =
            self.clients.iter_mut().map(|client| client.call(&mut self.random)).collect();
        let mut last = stopwatch.read();
        let mut lap = |times: &mut Vec<Elapsed>, stopwatch: &mut dyn Stopwatch| {
            let now = stopwatch.read();
            times.push(between(last, now));
            last = now;
        };
        for (link, bytes) in &datagrams {
            self.server.handle(self.now, Event::Arrived { from: (*link).into(), channel: Channel::Datagram, bytes });
        }
        lap(&mut self.times[0], stopwatch);
        let times = &mut self.times;
        self.server.tick(self.now, &mut |part| {
            let at = TickPart::ALL.iter().position(|(known, _)| *known == part).expect("all parts are known");
            lap(&mut times[1 + at], stopwatch);
        });
        let mut streams: Vec<(LinkId, Vec<u8>)> = Vec::new();
        while let Some(effect) = self.server.poll() {
            if let Effect::Send { to: Endpoint::Link(link), channel: Channel::Stream, bytes } = effect {
                streams.push((link, bytes));
            }
        }
        lap(&mut self.times[PARTS.len() - 1], stopwatch);
        for (link, bytes) in streams {
            self.clients[link.0 as usize].take(&bytes);
        }
    }
}

impl Caller {
    fn call(&mut self, random: &mut Random) -> (LinkId, Vec<u8>) {
        self.number += 1;
        if self.number % 90 == 1 {
            let (speed, heading) = (2.0 * 256.0, random.whole(0, 256) as u8);
            let angle = f64::from(wire::pose::heading_radians(heading));
            let velocity = [(speed * libm::sin(angle)) as i16, 0, (speed * libm::cos(angle)) as i16];
            self.step = InputStep { velocity, heading, is_jump: false };
        }
        let steps = vec![self.step; 3];
        let moves = Moves { heard: self.heard, tick: self.number, newest: self.number, steps };
        (self.link, ToServer::Moves(moves).encode())
    }

    fn take(&mut self, bytes: &[u8]) {
        if let Ok(ToClient::Roster(roster)) = ToClient::decode(bytes) {
            self.heard = roster.number;
            self.hearing = (self.hearing + roster.entered.len()).saturating_sub(roster.left.len());
        }
    }
}

/// For what is not measured.
struct Standstill;

impl Stopwatch for Standstill {
    fn read(&mut self) -> Reading {
        Reading::default()
    }
}
