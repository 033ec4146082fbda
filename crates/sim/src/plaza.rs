//! A server and its clients on a bad network: clients lose their connections and resume, the network is cut and
//! heals, hostile clients join in, and the server is killed and comes back from its disk. All promises are checked
//! after every tick.

use std::collections::BTreeMap;

use client::bot::Behaviour;
use client::hostile::Malice;
use client::{Bot, ClientSettings, Hostile, Phase};
use motion::convergence::Shown as ShownPose;
use serde::{Serialize, Serializer};
use server::{Server, ServerSettings};
use shapes::Shape;
use space::{Time, Turn as Rotation};
use wire::session::EnteredKind;
use wire::{CloseReason, Handle, kind};
use world::{ContactPolicy, Kind, Plaza, RoundedBox, World};

use crate::disk::Disk;
use crate::link::LinkSettings;
use crate::promises::{
    AllHeard, Apart, AvatarSeen, Doubled, Earshot, Fair, Observed, Promises, Reconciled, SeenObject, SeenServer,
    SeenSolid, ShownClose, ShownObject, Survives, Treated, Truthful, Watcher, distance, object, steps,
};
use crate::settings::{self, OutOfRange};
use crate::simulator::{Actor, Happened, Machine, Meddler, Simulator};

/// The promises that a server makes.
pub const PROMISES: [&str; 8] = [
    Apart::NAME,
    Survives::NAME,
    AllHeard::NAME,
    Truthful::NAME,
    Reconciled::NAME,
    ShownClose::NAME,
    Doubled::NAME,
    Fair::NAME,
];

pub const CLIENTS_MAX: usize = 1_000;
pub const TICKS_MAX: u64 = 100_000_000;

/// What to simulate.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The same seed gives the same run.
    pub seed: u64,
    /// Clients that follow the protocol.
    pub clients: usize,
    pub hostile: usize,
    pub ticks: u64,
    /// The share of datagrams that are lost.
    pub loss: f64,
    /// One way, in milliseconds; jitter comes on top.
    pub latency_ms: f64,
    pub jitter_ms: f64,
    /// Whether connections are cut, the network is partitioned and the server is killed.
    pub upsets: bool,
    /// How clients move; `None` mixes all ways.
    pub behaviour: Option<Behaviour>,
    /// How fast clients move, in metres per second.
    pub speed: f64,
    /// How many of the world's own crowd walk among them.
    pub seekers: u32,
    /// Whether all clients stand for a while now and then, so that it can be seen whether everything settles.
    pub rests: bool,
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
        }
    }
}

impl Settings {
    fn check(&self) -> Result<(), OutOfRange> {
        settings::check([
            ("clients", self.clients as f64, 0.0..=CLIENTS_MAX as f64, "0 to 1000"),
            ("hostile", self.hostile as f64, 0.0..=CLIENTS_MAX as f64, "0 to 1000"),
            ("ticks", self.ticks as f64, 1.0..=TICKS_MAX as f64, "1 to 100000000"),
            ("loss", self.loss, 0.0..=0.9, "a fraction of 0 to 0.9"),
            ("latency", self.latency_ms, 0.0..=2_000.0, "0 to 2000 ms"),
            ("jitter", self.jitter_ms, 0.0..=2_000.0, "0 to 2000 ms"),
            ("speed", self.speed, 0.0..=6.0, "0 to 6 m/s"),
        ])
    }

    /// The command line that repeats the run.
    pub fn command(&self) -> String {
        let Settings { seed, clients, hostile, ticks, loss, latency_ms, jitter_ms, speed, seekers, .. } = self;
        let behaviour = Behaviour::ALL.iter().find(|(_, behaviour)| Some(*behaviour) == self.behaviour);
        let behaviour = behaviour.map_or_else(String::new, |(name, _)| format!(" --behaviour {name}"));
        let calm = if self.upsets { "" } else { " --calm" };
        format!(
            "cargo run --release -p lab -- simulate --seed {seed} --clients {clients} --hostile {hostile} --ticks \
             {ticks} --loss {loss} --latency {latency_ms} --jitter {jitter_ms} --speed {speed} --crowd \
             {seekers}{behaviour}{calm}"
        )
    }

    fn link(&self) -> LinkSettings {
        LinkSettings {
            latency_us_min: (self.latency_ms * 1e3) as i64,
            latency_us_max: ((self.latency_ms + self.jitter_ms) * 1e3) as i64,
            loss: self.loss,
            duplicates: 0.01,
            keeps_order: true,
            reordered: 0.02,
        }
    }

    /// After this time without disturbance a client knows what it hears: its welcome, a roster that had to be sent
    /// three times, an answer, and the next roster, with some ticks for pacing.
    fn settled_us(&self, tick_us: i64) -> i64 {
        3 * self.link().latency_us_max + 6 * self.link().patience_us() + 20 * tick_us
    }
}

/// All clients stand for the last part of each period, in microseconds.
const PERIOD_US: i64 = 20_000_000;
/// From here on in each period nothing is upset any more, so that all is calm before the rest.
const CALM_FROM_US: i64 = 11_000_000;
const REST_FROM_US: i64 = 15_000_000;
/// Records are flushed to the disk every this many ticks.
const FLUSH_TICKS: u64 = 30;
/// The journal begins anew every this many ticks.
const COMPACT_TICKS: u64 = 1_800;
const RESTART_US: i64 = 1_000_000;
const SERVER: usize = 0;

/// What came out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The command that repeats the run.
    pub command: String,
    pub seed: u64,
    pub clients: usize,
    pub hostile: usize,
    pub ticks: u64,
    pub seconds: f64,
    pub loss: f64,
    pub latency_ms: f64,
    pub jitter_ms: f64,
    /// Users let in by the last server.
    pub joined: u64,
    pub resumed: u64,
    pub in_at_end: usize,
    pub cuts: u64,
    pub partitions: u64,
    /// Times that the server was killed and came back from its disk.
    pub restarts: u64,
    /// Messages that the last server rejected.
    pub rejected: u64,
    /// How often clients that follow the protocol were refused or sent away, by reason.
    pub refusals: BTreeMap<String, u64>,
    /// How far avatars are shown from where they are, on average.
    pub shown_error_m: f64,
    /// State bytes per object and update, its share of heads included.
    pub state_bytes_per_object: f64,
    /// Messages that the server sent.
    pub messages: u64,
    /// The world's hash at the end.
    pub hash: String,
    #[serde(rename = "rows", serialize_with = "serialize_with_examples")]
    pub promises: Promises,
}

/// One run is looked at more closely than many: its promises are told with all examples.
fn serialize_with_examples<S: Serializer>(promises: &Promises, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Row<'a> {
        checker: &'static str,
        checks: u64,
        violations: u64,
        examples: &'a [String],
    }
    serializer.collect_seq(promises.iter().map(|score| Row {
        checker: score.promise,
        checks: score.checks,
        violations: score.violations,
        examples: &score.examples,
    }))
}

enum What {
    Connect(usize),
    Restart,
    Second,
}

struct Run {
    settings: Settings,
    server_settings: ServerSettings,
    sim: Simulator<What>,
    watcher: Watcher,
    tick_us: i64,
    ticks: u64,
    cuts: u64,
    partitions: u64,
    restarts: u64,
    recoveries: Vec<Result<(), String>>,
    refusals: BTreeMap<String, u64>,
    messages: u64,
    state_bytes: u64,
    state_bodies: u64,
}

/// Runs a simulation. `progress` is told how many ticks are done, of how many.
pub fn run(settings: &Settings, progress: &mut dyn FnMut(u32, u32)) -> Result<Report, OutOfRange> {
    run_with(settings, None, progress)
}

/// The same with a meddler, by which tests show that a promise can fail.
pub fn run_with(
    settings: &Settings,
    meddler: Option<Meddler>,
    progress: &mut dyn FnMut(u32, u32),
) -> Result<Report, OutOfRange> {
    settings.check()?;
    let mut run = Run::new(settings.clone());
    run.sim.meddler = meddler;
    let total = u32::try_from(settings.ticks).unwrap_or(u32::MAX);
    while run.ticks < settings.ticks {
        if run.ticks.is_multiple_of(64) {
            progress(run.ticks as u32, total);
        }
        let Some(turn) = run.sim.next(Time::from_micros(i64::MAX)) else { break };
        run.take(turn);
    }
    progress(total, total);
    Ok(run.report())
}

impl Run {
    fn new(settings: Settings) -> Run {
        let spec = Plaza { seekers: settings.seekers, seed: settings.seed, ..Plaza::default() }.spec();
        let world = World::new(spec).expect("a plaza is a world");
        let tick_us = 1_000_000 / i64::from(world.spec().tick_rate);
        let mut sim = Simulator::new(settings.link(), settings.seed);
        let (disk, server_settings) = (Disk::new(&world), ServerSettings::default());
        let server = Server::new(world, server_settings, sim.now).expect("the default areas of interest make sense");
        sim.add(Machine { disk: Some(disk), ..Machine::new("server".into(), Some(Actor::Server(Box::new(server)))) });
        for index in 0..settings.clients {
            let behaviour = settings.behaviour.unwrap_or(match index % 4 {
                0 | 1 => Behaviour::Wander,
                2 => Behaviour::Seek,
                _ => Behaviour::Crowd,
            });
            let name = format!("bot {index}");
            let seed = settings.seed.wrapping_mul(1_000_003).wrapping_add(index as u64);
            let mut client = ClientSettings::named(&name);
            // Predicting collisions among others costs the square of their number; some bots pay it.
            client.others.company_max = if index.is_multiple_of(8) { 16 } else { 0 };
            let bot = Actor::Bot(Box::new(Bot::new(client, behaviour, settings.speed, seed)));
            let clock_us = i64::from(sim.random.whole(0, 60_000_000)) - 30_000_000;
            sim.add(Machine { clock_us, ..Machine::new(name, Some(bot)) });
        }
        for index in 0..settings.hostile {
            let malice = Malice::ALL[index % Malice::ALL.len()];
            let seed = settings.seed.wrapping_mul(7_919).wrapping_add(index as u64);
            let name = format!("mallory {index}");
            let hostile = Actor::Hostile(Box::new(Hostile::new(malice, &name, seed)));
            sim.add(Machine::new(name, Some(hostile)));
        }
        sim.plan(1_000_000, What::Second);
        for index in 1..sim.machines.len() {
            let after_us = i64::from(sim.random.whole(0, 2_000_000));
            sim.plan(after_us, What::Connect(index));
        }
        Run {
            settings,
            server_settings,
            sim,
            watcher: Watcher::new(&PROMISES),
            tick_us,
            ticks: 0,
            cuts: 0,
            partitions: 0,
            restarts: 0,
            recoveries: Vec::new(),
            refusals: BTreeMap::new(),
            messages: 0,
            state_bytes: 0,
            state_bodies: 0,
        }
    }

    fn take(&mut self, turn: Happened<What>) {
        match turn {
            Happened::Due(SERVER) => self.tick(),
            Happened::Due(index) => {
                let is_rest = self.is_rest();
                if let Some(bot) = self.sim.machines[index].bot_mut() {
                    bot.freeze(is_rest);
                }
                self.sim.wake(index);
            }
            Happened::Closed { machine: SERVER, .. } => {}
            Happened::Closed { machine, .. } => self.lost(machine),
            Happened::Planned(What::Connect(index)) => self.connect(index),
            Happened::Planned(What::Restart) => self.restart(),
            Happened::Planned(What::Second) => {
                self.upset();
                self.sim.plan(1_000_000, What::Second);
            }
            Happened::Heard { .. } | Happened::Died(_) => {}
        }
    }

    fn tick(&mut self) {
        self.sim.wake(SERVER);
        self.ticks += 1;
        self.look();
        let Machine { actor: Some(Actor::Server(server)), disk: Some(disk), .. } = &mut self.sim.machines[SERVER]
        else {
            return;
        };
        let tick = server.world().tick().number();
        if tick.is_multiple_of(COMPACT_TICKS) {
            disk.compact(server.world());
        } else if tick.is_multiple_of(FLUSH_TICKS) {
            disk.flush(server.world());
        }
    }

    /// Gathers what this tick has brought, and lets all promises look at it.
    fn look(&mut self) {
        let now = self.sim.now;
        let sent: Vec<_> = std::mem::take(&mut self.sim.sent).into_iter().filter(|sent| sent.from == SERVER).collect();
        let Some(server) = self.sim.machines[SERVER].server() else { return };
        let (tick, objects) = (server.world().tick().number(), objects_of(server.world()));
        let ServerSettings { focus, nimbus, hysteresis, .. } = self.server_settings;
        let patience_us = self.settings.settled_us(self.tick_us);
        let is_rested = self.is_rest() && self.phase_us() >= PERIOD_US - 1_000_000;
        let mut observed = Observed {
            now,
            tick,
            tick_us: self.tick_us,
            patience_us,
            solids: Some(objects.iter().filter_map(seen_solid).collect()),
            recoveries: std::mem::take(&mut self.recoveries),
            ..Observed::default()
        };
        let (mut hearings, mut avatars, mut pictures) = (Vec::new(), Vec::new(), Vec::new());
        for (index, machine) in self.sim.machines.iter_mut().enumerate() {
            let (name, here, calm_since) = (machine.name.clone(), machine.here(now), machine.calm_since);
            let Some(bot) = machine.bot_mut() else { continue };
            let client = bot.client();
            let sent_away = match client.phase() {
                Phase::Ended(refused)
                    if matches!(refused.reason, CloseReason::Misbehaved | CloseReason::Idle | CloseReason::Slow) =>
                {
                    Some(refused.sentence.clone())
                }
                _ => None,
            };
            let complaints = client.counts().contradictions + client.counts().bad;
            observed.treated.push(Treated { host: index, name: name.clone(), complaints, sent_away });
            let Some(own) = client.welcome().and_then(|welcome| object(&objects, welcome.own)) else { continue };
            let is_joined = *client.phase() == Phase::Joined;
            let calm_since = if is_joined { calm_since } else { now };
            let is_calm = now - calm_since >= patience_us;
            if let Some(avatar) = client.own() {
                let (confirmed, predicted) = (avatar.confirmed().pos, avatar.predicted().pos);
                let is_settled = is_rested && is_calm;
                avatars.push(AvatarSeen { name, object: own.id, at: own.at, confirmed, predicted, is_settled });
            }
            let mut heard: Vec<_> = client.others().iter().map(|(_, other)| other.entered.object).collect();
            heard.sort_unstable();
            let of = |speaker, metres: f64| Earshot {
                listener: own.id,
                speaker,
                metres,
                is_near: metres < f64::from(focus + nimbus) - 0.001,
                is_far: metres > f64::from((focus + nimbus) * hysteresis) + 0.001,
                is_heard: heard.binary_search(&speaker).is_ok(),
                calm_since,
            };
            let others = objects.iter().filter(|other| other.kind != Kind::Fixed && other.id != own.id);
            hearings.extend(others.map(|other| of(other.id, distance(own.at, other.at))));
            let gone = heard.iter().filter(|&&id| object(&objects, id).is_none());
            hearings.extend(gone.map(|&id| of(id, f64::INFINITY)));
            if is_calm {
                pictures.extend(pictures_of(bot, index, here, tick, self.tick_us, &objects));
            }
        }
        (observed.hearings, observed.avatars, observed.pictures) = (Some(hearings), Some(avatars), Some(pictures));
        observed.server = Some(SeenServer { objects, sent: &sent, reach_max: (focus + nimbus) * hysteresis });
        self.sim.meddle(&mut observed);
        self.watcher.look(&observed);
        for one in &sent {
            self.messages += 1;
            if one.bytes.first() == Some(&kind::STATE)
                && let Ok(wire::ToClient::State(state)) = wire::ToClient::decode(&one.bytes)
            {
                self.state_bytes += one.bytes.len() as u64;
                self.state_bodies += state.bodies.len() as u64;
            }
        }
    }

    fn phase_us(&self) -> i64 {
        self.sim.now.micros().rem_euclid(PERIOD_US)
    }

    fn is_rest(&self) -> bool {
        self.settings.rests && self.phase_us() >= REST_FROM_US
    }

    /// A client opens a connection: an answer comes after a round trip, if there is a server.
    fn connect(&mut self, index: usize) {
        if self.sim.links_of(index).next().is_some() {
            return;
        }
        if self.sim.machines[SERVER].actor.is_none() {
            self.sim.plan(500_000, What::Connect(index));
            return;
        }
        let way_us = self.settings.link().latency_us_max;
        self.sim.connect([SERVER, index], [way_us, 2 * way_us + 1]);
        self.disturb(index, 2 * way_us);
    }

    fn disturb(&mut self, index: usize, until_us: i64) {
        let calm_since = &mut self.sim.machines[index].calm_since;
        *calm_since = self.sim.now.max(*calm_since).max(self.sim.now + until_us);
    }

    /// A connection is gone at the client's end: it tries again after a while.
    fn lost(&mut self, index: usize) {
        if let Some(bot) = self.sim.machines[index].bot()
            && let Phase::Ended(refused) = bot.client().phase()
        {
            *self.refusals.entry(format!("{:?}", refused.reason)).or_default() += 1;
        }
        self.disturb(index, 0);
        let wait_us = i64::from(self.sim.random.whole(200_000, 3_000_000));
        self.sim.plan(wait_us, What::Connect(index));
    }

    /// Once a second: what goes wrong?
    fn upset(&mut self) {
        let sim = &mut self.sim;
        let draws: [f32; 3] = std::array::from_fn(|_| sim.random.unit());
        let which = 1 + sim.random.whole(0, self.settings.clients.max(1) as u32) as usize;
        let span_us = i64::from(sim.random.whole(300_000, 3_000_000));
        let is_time = self.settings.upsets && (!self.settings.rests || self.phase_us() < CALM_FROM_US);
        let link = self.sim.links_of(which.min(self.sim.machines.len() - 1)).next();
        let Some((link, _)) = link.filter(|_| is_time && which <= self.settings.clients) else { return };
        if draws[0] < 0.3 {
            // A cable is pulled: the client knows at once, the server after a while.
            self.cuts += 1;
            self.sim.close(which, link, 0);
            self.sim.close(SERVER, link, span_us);
        } else if draws[1] < 0.3 {
            self.partitions += 1;
            self.sim.cut(SERVER, which, self.sim.now + span_us);
            self.disturb(which, span_us + self.settings.link().latency_us_max);
        } else if draws[2] < 0.03 && self.sim.machines[SERVER].actor.is_some() {
            self.kill();
        }
    }

    fn kill(&mut self) {
        self.restarts += 1;
        let links: Vec<_> = self.sim.links_of(SERVER).collect();
        self.sim.kill(SERVER);
        self.sim.sent.clear();
        for (link, client) in links {
            let after_us = i64::from(self.sim.random.whole(100_000, 600_000));
            self.sim.close(client, link, after_us);
        }
        self.sim.plan(RESTART_US, What::Restart);
    }

    fn restart(&mut self) {
        let disk = self.sim.machines[SERVER].disk.as_mut().expect("a server has a disk");
        let recovered = disk.recover();
        self.recoveries.push(recovered.as_ref().map(|_| ()).map_err(String::clone));
        match recovered {
            Ok((world, sessions)) => {
                let server = Server::restore(world, self.server_settings, &sessions, self.sim.now);
                let server = server.expect("the default areas of interest make sense");
                self.sim.start(SERVER, Actor::Server(Box::new(server)));
            }
            // The run is over: what the disk gave is not what was written.
            Err(_) => self.ticks = self.settings.ticks,
        }
    }

    fn report(mut self) -> Report {
        if !self.recoveries.is_empty() {
            let recoveries = std::mem::take(&mut self.recoveries);
            self.watcher.look(&Observed { now: self.sim.now, recoveries, ..Observed::default() });
        }
        let Run { settings, sim, watcher, .. } = &self;
        let promises = watcher.promises();
        let (sum, count) = promises.get(ShownClose::NAME).map_or((0.0, 0), |score| score.measured);
        let server = sim.machines[SERVER].server();
        let counts = server.map(Server::counts).unwrap_or_default();
        let clients = || sim.machines.iter().filter_map(Machine::bot).map(Bot::client);
        Report {
            command: settings.command(),
            seed: settings.seed,
            clients: settings.clients,
            hostile: settings.hostile,
            ticks: self.ticks,
            seconds: sim.now.micros() as f64 * 1e-6,
            loss: settings.loss,
            latency_ms: settings.latency_ms,
            jitter_ms: settings.jitter_ms,
            joined: counts.joined,
            resumed: clients().map(|client| client.counts().resumed).sum(),
            in_at_end: clients().filter(|client| *client.phase() == Phase::Joined).count(),
            cuts: self.cuts,
            partitions: self.partitions,
            restarts: self.restarts,
            rejected: counts.rejected,
            refusals: self.refusals.clone(),
            shown_error_m: sum / (count as f64).max(1.0),
            state_bytes_per_object: self.state_bytes as f64 / (self.state_bodies as f64).max(1.0),
            messages: self.messages,
            hash: server.map_or_else(String::new, |server| format!("{:?}", server.world().hash())),
            promises,
        }
    }
}

/// Everything in a world, by id.
pub fn objects_of(world: &World) -> Vec<SeenObject> {
    let mut objects: Vec<SeenObject> = world
        .objects()
        .map(|object| SeenObject {
            id: object.id,
            kind: object.kind,
            at: object.at,
            turn: object.turn,
            name: object.name.to_owned(),
            owner: object.owner,
            solid: upright(object.shape, object.kind, object.turn)
                .filter(|_| object.policy != ContactPolicy::PassThrough),
        })
        .collect();
    objects.sort_by_key(|object| object.id);
    objects
}

/// The rounded box of a shape, unless it is turned.
fn upright(shape: &Shape, kind: Kind, turn: Rotation) -> Option<RoundedBox> {
    let is_turned = turn != Rotation::IDENTITY;
    match shape {
        Shape::Sphere { radius } => Some(RoundedBox { core: [0; 3], radius: steps(*radius) }),
        // An avatar's capsule stays upright however it is turned.
        Shape::Capsule { half_height, radius } if kind == Kind::Avatar || !is_turned => {
            Some(RoundedBox { core: [0, steps(*half_height), 0], radius: steps(*radius) })
        }
        Shape::Box { half } if !is_turned => Some(RoundedBox { core: half.to_array().map(steps), radius: 0 }),
        _ => None,
    }
}

fn seen_solid(object: &SeenObject) -> Option<SeenSolid> {
    let (id, at, is_fixed) = (object.id, object.at, object.kind == Kind::Fixed);
    object.solid.map(|solid| SeenSolid { id, at, solid, is_fixed, is_certain: true })
}

/// Where a bot shows all others, by its clock.
fn pictures_of(
    bot: &mut Bot,
    index: usize,
    here: Time,
    tick: u64,
    tick_us: i64,
    objects: &[SeenObject],
) -> Vec<ShownObject> {
    let mut shown: Vec<(Handle, ShownPose)> = Vec::new();
    bot.client_mut().show(here, &mut shown);
    let mut shown = shown.into_iter().peekable();
    let mut pictures = Vec::new();
    for (handle, other) in bot.client().others().iter() {
        let Some((_, shown)) = shown.next_if(|(shown, _)| *shown == handle) else { continue };
        let Some(object) = object(objects, other.entered.object) else { continue };
        pictures.push(ShownObject {
            client: index,
            object: object.id,
            is_avatar: other.entered.kind == EnteredKind::Avatar,
            shown: shown.pos,
            at: object.at,
            age_s: tick.saturating_sub(other.confirmed.0) as f64 * tick_us as f64 * 1e-6,
        });
    }
    pictures
}
