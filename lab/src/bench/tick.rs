//! What does a whole tick of a server cost, from bytes to bytes?
//!
//! A plaza full of target seekers, all moving; some of them are clients who send a move datagram in every tick and hear
//! those around them. The server is the one that serves users, with the aura that it gives to users unless told otherwise;
//! the plaza is as wide as it has to be for a client to hear so many. Making the clients' datagrams is not counted.

use ::world::{Plaza, World};
use serde::Serialize;
use server::limits::Limits;
use server::{Server, ServerSettings, TickPart};
use space::workload::Random;
use space::{Time, Vec3};
use wire::{
    Channel, Effect, Endpoint, Event, Hello, InputStep, LinkId, Moves, Participant, ToClient, ToServer, VERSION,
};

use crate::report::number::{grouped, significant};
use crate::setting::{self, OutOfRange};
use crate::stopwatch::{Reading, Stopwatch};
use kinesphere::table::Table;

/// The most objects.
pub const OBJECTS_MAX: usize = 1_000_000;
/// The most clients.
pub const CLIENTS_MAX: usize = 20_000;
/// What must be reached, per tick.
pub const CPU_MS_MAX: f64 = 33.0;
/// What should be reached, per tick.
pub const CPU_MS_GOAL: f64 = 10.0;
/// What must be reached, per object and update.
pub const BYTES_MAX: f64 = 16.0;
/// What should be reached, per object and update.
pub const BYTES_GOAL: f64 = 10.0;
/// A tick, in microseconds.
const TICK_US: i64 = 33_333;
/// The parts of a tick, in the order of their columns.
const PARTS: [&str; 7] = ["receive", "inputs", "world", "follow", "audience", "fan_out", "hand_out"];

/// What to measure.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many avatars there are, clients included.
    pub objects: usize,
    /// How many of them are clients.
    pub clients: usize,
    /// How many objects a client should hear, on average.
    pub listened: f64,
    /// From how far it hears them, in metres: the smaller, the denser the crowd.
    pub aura: f32,
    /// Ticks before measuring.
    pub warm: u32,
    /// Ticks measured.
    pub ticks: u32,
    /// The same seed gives the same world.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            objects: 100_000,
            clients: 1_000,
            listened: 30.0,
            aura: ServerSettings::default().focus,
            warm: 30,
            ticks: 60,
            seed: 1,
        }
    }
}

/// What came out.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The command that repeats the run.
    pub command: String,
    /// How many avatars there were.
    pub objects: usize,
    /// How many of them were clients.
    pub clients: usize,
    /// Ticks before measuring.
    pub warm: u32,
    /// Ticks measured.
    pub ticks: u32,
    /// What the world was made from.
    pub seed: u64,
    /// How far a client hears, in metres.
    pub aura_m: f32,
    /// The ground that each avatar has, in square metres.
    pub ground_m2: f32,
    /// How many objects a client heard, on average.
    pub listened_mean: f64,
    /// How many objects moved per tick, on average.
    pub moved_mean: f64,
    /// Processor time of a whole tick, mean.
    pub cpu_ms_mean: f64,
    /// Time on the wall of a whole tick, mean.
    pub wall_ms_mean: f64,
    /// State bytes per object and update, its share of heads included.
    pub state_bytes_per_object: f64,
    /// State bytes per client and second.
    pub state_bytes_per_client_s: f64,
    /// Updates that had to wait, as a fraction.
    pub waiting: f64,
    /// One per part of a tick.
    pub rows: Vec<Row>,
}

/// How long one part takes.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// `receive`, `inputs`, `world`, `follow`, `audience`, `fan_out` or `hand_out`.
    pub stage: &'static str,
    /// Processor time per tick, mean.
    pub cpu_ms_mean: f64,
    /// Processor time of the fastest tick.
    pub cpu_ms_min: f64,
    /// Processor time of the slowest tick.
    pub cpu_ms_max: f64,
}

/// Measures. `progress` is told how many ticks are done, of how many.
pub fn measure(
    settings: &Settings,
    stopwatch: &mut dyn Stopwatch,
    progress: &mut dyn FnMut(u32, u32),
) -> Result<Report, OutOfRange> {
    check(settings)?;
    let mut bench = Bench::new(settings);
    let total = settings.warm + settings.ticks;
    bench.let_in();
    let mut before = bench.server.counts();
    let (mut heard, mut moved) = (0, 0);
    for tick in 0..total {
        progress(tick, total);
        if tick == settings.warm {
            bench.times = Default::default();
            bench.wall_ms = 0.0;
            before = bench.server.counts();
            (heard, moved) = (0, 0);
        }
        bench.tick(stopwatch);
        heard += bench.hearings();
        moved += bench.server.world().outcome().moved.len();
    }
    progress(total, total);
    let counts = bench.server.counts();
    let (bytes, bodies) = (counts.sent.bytes - before.sent.bytes, counts.sent.bodies - before.sent.bodies);
    let waiting = counts.sent.waiting - before.sent.waiting;
    let ticks = f64::from(settings.ticks);
    let rows: Vec<Row> = PARTS.iter().zip(&bench.times).map(|(stage, times)| row(stage, times)).collect();
    Ok(Report {
        command: settings.command(),
        objects: settings.objects,
        clients: settings.clients,
        warm: settings.warm,
        ticks: settings.ticks,
        seed: settings.seed,
        aura_m: settings.aura,
        ground_m2: bench.side.powi(2) / settings.objects as f32,
        listened_mean: heard as f64 / ticks / settings.clients as f64,
        moved_mean: moved as f64 / ticks,
        cpu_ms_mean: rows.iter().map(|row| row.cpu_ms_mean).sum(),
        wall_ms_mean: bench.wall_ms / ticks,
        state_bytes_per_object: bytes as f64 / (bodies as f64).max(1.0),
        state_bytes_per_client_s: bytes as f64 / settings.clients as f64 / (ticks * TICK_US as f64 * 1e-6),
        waiting: waiting as f64 / ((bodies + waiting) as f64).max(1.0),
        rows,
    })
}

impl Settings {
    /// The command line that repeats the run.
    pub fn command(&self) -> String {
        let Settings { objects, clients, listened, aura, warm, ticks, seed } = self;
        format!(
            "cargo run --release -p lab -- bench tick --objects {objects} --clients {clients} --listened {listened} --aura {aura} --warm \
             {warm} --ticks {ticks} --seed {seed}"
        )
    }
}

impl Report {
    /// The report for a terminal.
    pub fn to_text(&self) -> String {
        let mut table = Table::new(["stage", "cpu ms", "min", "max"]);
        for row in &self.rows {
            let numbers = [row.cpu_ms_mean, row.cpu_ms_min, row.cpu_ms_max].map(significant);
            table.row(std::iter::once(row.stage.to_owned()).chain(numbers));
        }
        format!(
            "{table}\nA whole tick: {} ms of processor time (must {CPU_MS_MAX}, goal {CPU_MS_GOAL}), {} ms on the wall.\n\
             {} objects, {} of them moving; {} clients hear {:.1} each, within {:.1} m; \
             {:.1} square metres for each avatar.\n\
             {:.2} state bytes per object and update (must {BYTES_MAX}, goal {BYTES_GOAL}), {} per client and second; \
             {:.2} % had to wait.\n",
            significant(self.cpu_ms_mean),
            significant(self.wall_ms_mean),
            grouped(self.objects as u64),
            grouped(self.moved_mean as u64),
            grouped(self.clients as u64),
            self.listened_mean,
            self.aura_m,
            self.ground_m2,
            self.state_bytes_per_object,
            grouped(self.state_bytes_per_client_s as u64),
            100.0 * self.waiting
        )
    }
}

struct Bench {
    server: Server,
    clients: Vec<Caller>,
    random: Random,
    now: Time,
    side: f32,
    times: [Vec<f64>; PARTS.len()],
    wall_ms: f64,
}

/// A client of which only the bytes are there.
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
        // Whoever was heard is heard for a while beyond the aura.
        let heard_within = std::f64::consts::PI * f64::from(hearing.focus * 0.5 * (1.0 + hearing.hysteresis)).powi(2);
        let side = (settings.objects as f64 / settings.listened * heard_within).sqrt() as f32;
        let side = side.clamp(Plaza::SIDES.0, Plaza::SIDES.1);
        let plaza = Plaza { seekers, seed: settings.seed, side, ..Plaza::for_avatars(settings.objects as u32) };
        let mut spec = plaza.spec();
        // Clients are spread as all others are, not crowded where users usually come in.
        let (mut random, edge) = (Random::new(settings.seed), 0.48 * plaza.side);
        let mut along = || random.between(-edge, edge);
        spec.spawns = (0..settings.clients.min(4_096)).map(|_| Vec3::new(along(), 0.0, along())).collect();
        let world = World::new(spec).expect("a plaza for so many is a world");
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
        Bench { server, clients, random, now, side, times: Default::default(), wall_ms: 0.0 }
    }

    /// Everybody joins, not all at once.
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
        let start = stopwatch.read();
        let mut last = start;
        let mut lap = |times: &mut Vec<f64>, stopwatch: &mut dyn Stopwatch| {
            let read: Reading = stopwatch.read();
            times.push(read.cpu.saturating_sub(last.cpu).as_secs_f64() * 1e3);
            last = read;
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
        self.wall_ms += (stopwatch.read().wall.saturating_sub(start.wall)).as_secs_f64() * 1e3;
        for (link, bytes) in streams {
            self.clients[link.0 as usize].take(&bytes);
        }
    }

    fn hearings(&self) -> usize {
        self.clients.iter().map(|client| client.hearing).sum()
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

fn check(settings: &Settings) -> Result<(), OutOfRange> {
    let rules = [
        ("objects", settings.objects as f64, settings.clients as f64..=OBJECTS_MAX as f64, "the clients to 1000000"),
        ("clients", settings.clients as f64, 1.0..=CLIENTS_MAX as f64, "1 to 20000"),
        ("listened", settings.listened, 1.0..=1_000.0, "1 to 1000"),
        ("aura", f64::from(settings.aura), 1.0..=1_000.0, "1 to 1000"),
        ("ticks", f64::from(settings.ticks), 1.0..=1e6, "1 to 1000000"),
        ("warm", f64::from(settings.warm), 0.0..=1e6, "0 to 1000000"),
    ];
    setting::check(rules)
}

fn row(stage: &'static str, times: &[f64]) -> Row {
    Row {
        stage,
        cpu_ms_mean: times.iter().sum::<f64>() / times.len().max(1) as f64,
        cpu_ms_min: times.iter().copied().fold(f64::INFINITY, f64::min),
        cpu_ms_max: times.iter().copied().fold(0.0, f64::max),
    }
}
