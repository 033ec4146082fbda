//! Peers, a bad network and a hall to meet in, in a time of their own: a world without a server, from a seed.
//!
//! Every host has a clock of its own. Hosts come late, leave, crash and come back; the network delays, loses, doubles,
//! reorders and falls apart. `watcher` sees it all, and says whether the peers' promises held; `fault` breaks each once.

pub mod fault;
pub mod hall;
mod network;
pub mod outcomes;
pub mod watcher;

use motion::decision::Policy;
use peer::settings::PeerSettings;
use peer::tally::Tally;
use peer::{NewObject, NewPeer, Peer};
use space::workload::Random;
use space::{NodeId, Time};
use wire::{Effect, Endpoint, Event, LinkId, Participant};

use self::fault::Fault;
use self::hall::Pilot;
use self::network::Mesh;
use self::watcher::{Measured, Watcher};
use crate::network::LinkSettings;
use crate::setting::{self, OutOfRange};

/// A host's frame, in microseconds.
pub const FRAME_US: i64 = 16_667;
/// The most hosts.
pub const HOSTS_MAX: usize = 64;
/// After the end everything goes on for so long, so that what is under way arrives and is looked at.
const DRAIN_US: i64 = 14_000_000;
/// Every clock is ahead by this, so that none is before zero.
const CLOCK_US: i64 = 10_000_000;
/// A host that crashed comes back after this, in microseconds: when all have noticed.
const BACK_US: i64 = 9_000_000;
/// The longest partition, in microseconds: shorter than what peers take for a death.
const CUT_US_MAX: u32 = 2_000_000;

/// What to run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many hosts, each with one object.
    pub hosts: usize,
    /// How much room each has: the side of a square, in metres.
    pub cell: f64,
    /// For how long.
    pub seconds: u32,
    /// The rules that all follow.
    pub rules: PeerSettings,
    /// The network between any two.
    pub link: LinkSettings,
    /// Whether hosts come late, leave and crash, and the network falls apart at times.
    pub upsets: bool,
    /// What everything is drawn from.
    pub seed: u64,
    /// What to break.
    pub fault: Option<Fault>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            hosts: 8,
            cell: hall::ROOMY,
            seconds: 30,
            rules: rules(Policy::Velocity),
            link: LinkSettings::steady(100_000),
            upsets: false,
            seed: 1,
            fault: None,
        }
    }
}

impl Settings {
    /// A network that is bad in every way that it can be.
    pub fn rough(latency_ms: i64, loss: f64) -> LinkSettings {
        LinkSettings {
            latency_us_min: latency_ms * 500,
            latency_us_max: latency_ms * 1_000,
            loss,
            duplicates: 0.05,
            reordered: 0.02,
            ..LinkSettings::default()
        }
    }
}

/// The rules of the hall, with this policy.
pub fn rules(policy: Policy) -> PeerSettings {
    PeerSettings { policy, silence_us: 5_000_000, latency_us_max: 150_000, ..PeerSettings::default() }
}

/// A host: its clock, its user, and, unless it crashed, its peer.
#[derive(Debug)]
pub(crate) struct Host {
    pub node: NodeId,
    pub clock_us: i64,
    pub pilot: Pilot,
    pub peer: Option<Peer>,
    /// Since when it is there, by the true time.
    pub since: Time,
    /// Earlier lives' counts.
    pub past: Tally,
    pub leaves_at: Option<Time>,
    pub crashes_at: Option<Time>,
    pub comes_at: Option<Time>,
}

impl Host {
    /// The host's clock at a true moment.
    pub fn here(&self, at: Time) -> Time {
        at + self.clock_us
    }
}

/// Runs it. `progress` is told how many seconds are done, of how many.
pub fn run(settings: &Settings, progress: &mut dyn FnMut(u32, u32)) -> Result<Measured, OutOfRange> {
    check(settings)?;
    let mut random = Random::new(settings.seed ^ 0x9e37_79b9);
    let mut hosts: Vec<Host> = (0..settings.hosts).map(|index| host(settings, index, &mut random)).collect();
    if settings.fault == Some(Fault::Impostor) {
        let mut impostor = host(settings, settings.hosts, &mut random);
        impostor.node = hosts[0].node;
        hosts.push(impostor);
    }
    let mut mesh = Mesh::new(settings.link, settings.seed, hosts.len());
    let mut watcher = Watcher::new(settings);
    let end = Time::from_micros(i64::from(settings.seconds) * 1_000_000 + DRAIN_US);
    let (mut now, mut next_look, mut next_cut) = (Time::default(), Time::default(), Time::from_micros(4_000_000));
    while now < end {
        now = next_moment(&hosts, &mesh).min(next_look).max(now);
        while let Some((index, link, arrival)) = mesh.arrived(now) {
            let host = &mut hosts[index];
            let here = host.here(now);
            let Some(peer) = &mut host.peer else { continue };
            match &arrival {
                network::Arrival::Bytes(channel, bytes) => {
                    peer.handle(here, Event::Arrived { from: link.into(), channel: *channel, bytes });
                }
                network::Arrival::Closed => peer.handle(here, Event::Closed { from: link.into() }),
            }
            carry_out(now, index, &mut hosts, &mut mesh, settings.fault);
        }
        for index in 0..hosts.len() {
            live(now, index, &mut hosts, &mut mesh, settings);
            let here = hosts[index].here(now);
            let host = &mut hosts[index];
            let Some(peer) = host.peer.as_mut().filter(|peer| peer.next_wake() <= here) else { continue };
            let own = peer.own().next();
            if let Some((_, state)) = own {
                let acceleration = host.pilot.steer(now, state.vel);
                peer.steer(1, acceleration);
            }
            peer.wake(here);
            carry_out(now, index, &mut hosts, &mut mesh, settings.fault);
            watcher.frame(now, index, &mut hosts, &mesh);
        }
        if now >= next_look {
            mesh.mend(now, &mut hosts);
            for index in 0..hosts.len() {
                carry_out(now, index, &mut hosts, &mut mesh, settings.fault);
            }
            watcher.look(now, &hosts, &mesh);
            next_look = now + 100_000;
            progress((now.micros() / 1_000_000) as u32, (end.micros() / 1_000_000) as u32);
        }
        let is_lively = now.micros() < i64::from(settings.seconds) * 1_000_000;
        if settings.upsets && is_lively && now >= next_cut {
            let until = now + i64::from(random.whole(300_000, CUT_US_MAX));
            mesh.part(now, until, |_| random.unit() < 0.5);
            next_cut = until + i64::from(random.whole(2_000_000, 8_000_000));
        }
    }
    Ok(watcher.finish(now, &hosts))
}

fn check(settings: &Settings) -> Result<(), OutOfRange> {
    setting::check([
        ("hosts", settings.hosts as f64, 2.0..=HOSTS_MAX as f64, "2 to 64"),
        ("seconds", f64::from(settings.seconds), 1.0..=100_000.0, "1 to 100000"),
        ("cell", settings.cell, 8.0..=1_000.0, "8 to 1000 metres"),
    ])
}

fn host(settings: &Settings, index: usize, random: &mut Random) -> Host {
    let lasting_us = i64::from(settings.seconds) * 1_000_000;
    let clock_us = CLOCK_US + i64::from(random.whole(0, 4_000_000));
    let (luck, moment) = (random.unit(), i64::from(random.whole(300_000, 700_000)) * lasting_us / 1_000_000);
    let mut host = Host {
        node: NodeId::new(index as u64 + 1),
        clock_us,
        pilot: Pilot::new(settings.seed.wrapping_mul(1_000).wrapping_add(index as u64)),
        peer: None,
        since: Time::default(),
        past: Tally::default(),
        leaves_at: None,
        crashes_at: None,
        comes_at: Some(Time::from_micros(index as i64 * 1_117)),
    };
    // The first two stay: somebody has to be there to compare with.
    if settings.upsets && index >= 2 {
        match luck {
            0.0..0.2 => host.comes_at = Some(Time::from_micros(moment)),
            0.2..0.35 => host.leaves_at = Some(Time::from_micros(moment)),
            0.35..0.6 => host.crashes_at = Some(Time::from_micros(moment)),
            _ => {}
        }
    }
    host
}

/// Comings and goings.
fn live(now: Time, index: usize, hosts: &mut [Host], mesh: &mut Mesh, settings: &Settings) {
    let host = &mut hosts[index];
    if host.crashes_at.is_some_and(|at| at <= now) {
        host.crashes_at = None;
        if let Some(peer) = host.peer.take() {
            host.past.add(peer.tally());
        }
        host.comes_at = Some(now + BACK_US);
        mesh.crash(index);
        return;
    }
    if host.leaves_at.is_some_and(|at| at <= now) {
        host.leaves_at = None;
        if let Some(peer) = &mut host.peer {
            peer.leave();
        }
        carry_out(now, index, hosts, mesh, settings.fault);
        let host = &mut hosts[index];
        if let Some(peer) = host.peer.take() {
            host.past.add(peer.tally());
        }
        return;
    }
    if host.comes_at.is_some_and(|at| at <= now) {
        host.comes_at = None;
        host.since = now;
        let here = host.here(now);
        let name = format!("host {}", index + 1);
        let peer_settings = NewPeer { node: host.node, name, frame_us: FRAME_US, settings: settings.rules };
        let mut peer =
            Peer::new(peer_settings, hall::hall(settings.hosts, settings.cell), here).expect("hosts count from one");
        let new = NewObject {
            index: 1,
            radius: hall::RADIUS,
            aura: hall::AURA,
            place: hall::start(index, settings.hosts, settings.cell),
            velocity: host.pilot.first_velocity(),
        };
        peer.add(new, here).expect("the first object of a host is one");
        host.peer = Some(peer);
        mesh.mend(now, hosts);
        for index in 0..hosts.len() {
            carry_out(now, index, hosts, mesh, settings.fault);
        }
    }
}

fn carry_out(now: Time, index: usize, hosts: &mut [Host], mesh: &mut Mesh, fault: Option<Fault>) {
    let Some(peer) = &mut hosts[index].peer else { return };
    while let Some(effect) = peer.poll() {
        match effect {
            Effect::Send { to: Endpoint::Link(link), channel, bytes } => {
                if let Some(bytes) = fault::in_flight(fault, mesh.to(link, index), bytes, now) {
                    mesh.send(now, index, link, channel, bytes);
                }
            }
            Effect::Close { to: Endpoint::Link(link) } => mesh.close(now, index, link),
            _ => {}
        }
    }
}

fn next_moment(hosts: &[Host], mesh: &Mesh) -> Time {
    let wakes = hosts.iter().filter_map(|host| Some(host.peer.as_ref()?.next_wake() + -host.clock_us));
    let comes = hosts.iter().filter_map(|host| host.comes_at);
    let ends = hosts.iter().flat_map(|host| [host.leaves_at, host.crashes_at]).flatten();
    wakes.chain(comes).chain(ends).chain(mesh.next()).min().unwrap_or(Time::from_micros(i64::MAX))
}

/// Opens a link at both ends.
fn open(now: Time, link: LinkId, ends: [usize; 2], hosts: &mut [Host]) {
    for index in ends {
        let here = hosts[index].here(now);
        if let Some(peer) = &mut hosts[index].peer {
            peer.handle(here, Event::Opened { from: link.into(), secret: [0; 16] });
        }
    }
}
