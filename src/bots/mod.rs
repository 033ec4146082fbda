//! Many clients in one process: company, load test, and a check whether the server keeps its promises.

mod latency;
mod report;
mod says;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use client::bot::Behaviour;
use client::hostile::Malice;
use client::{Bot, ClientSettings, Hostile, Phase};
use sim::checker::Checker;
use space::Time;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};
use wire::{Channel, Effect, Endpoint, Event, LinkId, Participant, ToClient, ToServer, kind};

use self::latency::Latencies;
use self::report::quantiles;
pub use self::report::{BotsReport, Quantiles, nearest_rank};
use self::says::ServerSays;
use crate::fetch::Address;
use crate::link::client::{ConnectError, Connector, ServerAddress};
use crate::link::{Inbox, LinkEvent, LinkLimits, Links, Outbox};

/// Handshakes at the same time. More would not be done sooner where processors are scarce, but each would take longer,
/// until they are given up and all that was done for them was in vain.
const CONNECTING_MAX: usize = 8;
/// Bots that are connected and not let in yet: a server lets in a few per tick, and keeps no long queue.
const ARRIVING_MAX: usize = 64;
/// Bots that share a UDP socket. The server tells all of them at once: more would not fit into the system's buffer.
const BOTS_PER_SOCKET: usize = 16;
/// A bot that lost its connection tries again after this.
const AGAIN_AFTER: Duration = Duration::from_secs(1);
/// How long a server may take to answer: the first that is tried, and any.
const PATIENCE_MIN: Duration = Duration::from_secs(3);
const PATIENCE_MAX: Duration = Duration::from_secs(20);
/// A bot that knows of another server goes there after this.
const BRIEFLY: Duration = Duration::from_millis(150);
/// Servers that are told apart.
const SERVERS_MAX: usize = 64;
/// Times out of the world that are remembered.
const GAPS_MAX: usize = 100_000;
/// Different refusals that are told apart: hostile bots provoke any number of them.
const REFUSALS_MAX: usize = 32;
/// Messages taken in before the clock is looked at again.
const MESSAGES_AT_ONCE: usize = 512;
/// How long bots may take to join, beyond the seconds that they run; and how long those may take to arrive who are on
/// the way to another server when the time is over.
const JOINING_MAX: Duration = Duration::from_secs(60);
/// How fast a bot walks, in metres per second.
const SPEED: f64 = 2.0;

/// What kind of company.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Company {
    /// Clients that behave.
    Honest(Behaviour),
    /// Clients that do not, of all kinds.
    Hostile,
}

/// What is wanted.
#[derive(Clone, Debug)]
pub struct BotsSettings {
    /// The server's address, as in `http://localhost:7777`.
    pub url: String,
    /// Where packets are sent instead of to the server, as to a relay.
    pub through: Option<std::net::SocketAddr>,
    pub count: usize,
    /// What they do.
    pub company: Company,
    /// For how long, after all have joined.
    pub seconds: f64,
    /// What they show to be let in.
    pub token: String,
    /// What they are called, with a number.
    pub name: String,
    /// The same seed makes the same decisions.
    pub seed: u64,
}

/// Lets bots loose on a server. `progress` is told how many have joined, and then how many seconds have passed; when
/// it says that this is enough, bots come to an end before their time.
pub async fn run(
    settings: &BotsSettings,
    progress: &mut dyn FnMut(usize, f64) -> ControlFlow<()>,
) -> Result<BotsReport, ConnectError> {
    let mut host = ServerAddress::find(&settings.url).await?;
    if let Some(address) = settings.through {
        host.address = address;
    }
    let address = Address::parse(&settings.url)?;
    // Each may still be taking leave of one server when it comes to the next.
    let limits = LinkLimits { links_max: 2 * settings.count + CONNECTING_MAX, ..LinkLimits::default() };
    let (links, inbox) = Links::new(limits);
    let mut crowd = Crowd::new(settings, &address.to_string(), host, links, inbox)?;

    let deadline = Instant::now() + JOINING_MAX;
    let mut is_enough = false;
    while !crowd.is_complete() && Instant::now() < deadline && !is_enough {
        crowd.run_until(Instant::now() + Duration::from_millis(100)).await;
        is_enough = progress(crowd.joined(), 0.0).is_break();
    }
    let before = ServerSays::ask(&address).await;
    let begun = crowd.tally();
    crowd.latencies.forget();
    let start = Instant::now();
    let end = start + Duration::from_secs_f64(settings.seconds.max(0.0));
    while Instant::now() < end && !is_enough {
        crowd.run_until(end.min(Instant::now() + Duration::from_millis(250))).await;
        is_enough = progress(crowd.joined(), start.elapsed().as_secs_f64()).is_break();
    }
    let seconds = start.elapsed().as_secs_f64();
    let after = ServerSays::ask(&address).await;
    let ended = crowd.tally();
    crowd.stand().await;
    let joined = crowd.joined();
    let refusals = crowd.refusals.clone();
    let servers = crowd.servers();
    let gaps = crowd.gaps.clone();
    crowd.leave().await;
    crowd.check();

    let latencies = crowd.latencies.sorted_us();
    let clients = joined.max(1) as f64;
    Ok(BotsReport {
        count: settings.count,
        joined,
        seconds,
        moves_sent: ended.moves - begun.moves,
        updates_received: ended.bodies - begun.bodies,
        update_latency_ms: quantiles(&latencies),
        latency_samples: latencies.len(),
        server_tick_ms: after.as_ref().and_then(|after| after.tick_ms),
        overruns: before.zip(after).and_then(|(before, after)| after.overruns_since(&before)),
        violations: crowd.checker.violations(),
        ticks_checked: crowd.checker.checked(),
        bytes_per_client_s: (ended.bytes - begun.bytes) as f64 / clients / seconds.max(1e-9),
        reconnected: crowd.reconnected,
        redirected: gaps[1].len() as u64,
        resumed_ms: quantiles(&gaps[0]),
        redirected_ms: quantiles(&gaps[1]),
        servers,
        refusals,
    })
}

/// One of the crowd.
enum Member {
    Honest(Box<Bot>),
    Hostile(Box<Hostile>),
}

impl Member {
    fn node(&mut self) -> &mut dyn Participant {
        match self {
            Member::Honest(bot) => bot.as_mut(),
            Member::Hostile(hostile) => hostile.as_mut(),
        }
    }

    fn phase(&self) -> Option<&Phase> {
        match self {
            Member::Honest(bot) => Some(bot.client().phase()),
            Member::Hostile(_) => None,
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    moves: u64,
    bodies: u64,
    bytes: u64,
}

/// A handshake that has ended: whose it was, with which server, and what came of it.
type Connected = (usize, usize, Result<(LinkId, ServerAddress), ConnectError>);

struct Crowd {
    members: Vec<Member>,
    /// When each is to be woken.
    wakes: BTreeSet<(Time, usize)>,
    wake_of: Vec<Time>,
    members_of: BTreeMap<LinkId, usize>,
    outboxes: Vec<Option<(LinkId, Outbox)>>,
    /// Which have been in at some time; of hostile ones, who has been connected.
    has_come: Vec<bool>,
    /// How often in a row each has tried to connect, in vain.
    failed: Vec<u8>,
    /// Bots that wait for a connection, and from when on.
    waiting: VecDeque<(Instant, usize)>,
    connecting: JoinSet<Connected>,
    /// Links whose member is not known yet, and members whose link is not.
    unclaimed: BTreeMap<LinkId, Outbox>,
    claims: BTreeMap<LinkId, (usize, usize)>,
    /// Servers by their addresses, and as they were found.
    addresses: Vec<String>,
    hosts: Vec<Option<ServerAddress>>,
    /// Which server each is at, or goes to.
    server_of: Vec<usize>,
    /// Since when a bot is out of the world, and whether it was redirected.
    out: Vec<Option<(Instant, bool)>>,
    /// How long they were, in microseconds, sorted: lost, and sent on.
    gaps: [Vec<i64>; 2],
    /// Taken in turn.
    sockets: Vec<Arc<Connector>>,
    links: Links,
    inbox: Inbox,
    began: Instant,
    checker: Checker,
    latencies: Latencies,
    heard: Tally,
    reconnected: u64,
    refusals: BTreeMap<String, u64>,
    is_leaving: bool,
}

impl Crowd {
    fn new(
        settings: &BotsSettings,
        url: &str,
        host: ServerAddress,
        links: Links,
        inbox: Inbox,
    ) -> Result<Crowd, ConnectError> {
        let member = |number: usize| {
            let name = format!("{} {}", settings.name, number + 1);
            let seed = settings.seed.wrapping_mul(1_000_003).wrapping_add(number as u64);
            match settings.company {
                Company::Honest(behaviour) => {
                    let token = settings.token.clone().into_bytes();
                    let client = ClientSettings { token, ..ClientSettings::named(&name) };
                    Member::Honest(Box::new(Bot::new(client, behaviour, SPEED, seed)))
                }
                Company::Hostile => {
                    let malice = Malice::ALL[number % Malice::ALL.len()];
                    Member::Hostile(Box::new(Hostile::new(malice, &name, seed)))
                }
            }
        };
        let count = settings.count;
        Ok(Crowd {
            members: (0..count).map(member).collect(),
            wakes: BTreeSet::new(),
            wake_of: vec![Time::from_micros(i64::MAX); count],
            members_of: BTreeMap::new(),
            outboxes: (0..count).map(|_| None).collect(),
            has_come: vec![false; count],
            failed: vec![0; count],
            waiting: (0..count).map(|number| (Instant::now(), number)).collect(),
            connecting: JoinSet::new(),
            unclaimed: BTreeMap::new(),
            claims: BTreeMap::new(),
            addresses: vec![url.to_owned()],
            hosts: vec![Some(host)],
            server_of: vec![0; count],
            out: vec![None; count],
            gaps: [Vec::new(), Vec::new()],
            sockets: (0..count.div_ceil(BOTS_PER_SOCKET))
                .map(|_| Connector::new().map(Arc::new))
                .collect::<Result<_, _>>()?,
            links,
            inbox,
            began: Instant::now(),
            checker: Checker::new(count),
            latencies: Latencies::new(count),
            heard: Tally::default(),
            reconnected: 0,
            refusals: BTreeMap::new(),
            is_leaving: false,
        })
    }

    fn now(&self) -> Time {
        Time::from_micros(self.began.elapsed().as_micros() as i64)
    }

    /// How many are in; a hostile one is in when it is connected.
    fn joined(&self) -> usize {
        let is_in = |(member, outbox): (&Member, &Option<_>)| match member.phase() {
            Some(phase) => *phase == Phase::Joined,
            None => outbox.is_some(),
        };
        self.members.iter().zip(&self.outboxes).filter(|&pair| is_in(pair)).count()
    }

    /// Whether every bot was let in, or will never be. Hostile ones are cut off again and again, and bots that walk
    /// from server to server are between two now and then: never are all of them in at once.
    fn is_complete(&self) -> bool {
        let is_settled = |(member, &has_come): (&Member, &bool)| match member.phase() {
            Some(Phase::Joined | Phase::Ended(_)) => true,
            _ => has_come,
        };
        self.members.iter().zip(&self.has_come).all(is_settled)
    }

    /// All bots stand until none is between two servers, so that they can be counted.
    async fn stand(&mut self) {
        for member in &mut self.members {
            if let Member::Honest(bot) = member {
                bot.freeze(true);
            }
        }
        let is_on_the_way = |member: &Member| !matches!(member.phase(), None | Some(Phase::Joined | Phase::Ended(_)));
        let end = Instant::now() + JOINING_MAX;
        while self.members.iter().any(is_on_the_way) && Instant::now() < end {
            self.run_until(Instant::now() + Duration::from_millis(50)).await;
        }
    }

    fn tally(&self) -> Tally {
        self.heard
    }

    async fn run_until(&mut self, end: Instant) {
        while Instant::now() < end {
            self.connect();
            let due = self.wakes.first().map_or(end, |&(time, _)| self.instant(time)).min(end);
            tokio::select! {
                biased;
                () = sleep_until(due) => {}
                event = self.inbox.next() => if let Some(event) = event {
                    self.take(event);
                },
                Some(connected) = self.connecting.join_next() => if let Ok(connected) = connected {
                    self.connected(connected);
                },
            }
            // What has arrived is taken in before a bot looks at the time: one that was held up would take its
            // server for silent.
            for _ in 1..MESSAGES_AT_ONCE {
                match self.inbox.try_next() {
                    Some(event) => self.take(event),
                    None => break,
                }
            }
            while let Some(connected) = self.connecting.try_join_next() {
                connected.into_iter().for_each(|connected| self.connected(connected));
            }
            self.wake();
        }
        self.check();
    }

    /// Lets the promises look at what has settled.
    fn check(&mut self) {
        self.checker.check();
        self.latencies.settle(self.checker.checked());
    }

    fn refused(&mut self, sentence: String) {
        let is_room = self.refusals.len() < REFUSALS_MAX || self.refusals.contains_key(&sentence);
        let sentence = if is_room { sentence } else { "and other sentences".to_owned() };
        *self.refusals.entry(sentence).or_default() += 1;
    }

    fn instant(&self, time: Time) -> Instant {
        self.began + Duration::from_micros(time.micros().clamp(0, i64::MAX / 4) as u64)
    }

    /// Begins as many handshakes as may be under way.
    fn connect(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let now = Instant::now();
        let is_arriving = |member: &&Member| member.phase() == Some(&Phase::Greeting);
        let room = ARRIVING_MAX.saturating_sub(self.members.iter().filter(is_arriving).count());
        while self.connecting.len() < CONNECTING_MAX.min(room) {
            let Some(at) = self.waiting.iter().position(|(from, _)| *from <= now) else { break };
            let Some((_, number)) = self.waiting.remove(at) else { break };
            self.sockets.rotate_left(1);
            let (client, links, server) = (self.sockets[0].clone(), self.links.clone(), self.server_of[number]);
            let (host, address) = (self.hosts[server].clone(), self.addresses[server].clone());
            let patience = self.patience(number);
            self.connecting.spawn(async move {
                let reached = async {
                    let host = match host {
                        Some(host) => host,
                        None => ServerAddress::find(&address).await?,
                    };
                    client.connect(&host, &links).await.map(|link| (link, host))
                };
                let reached = tokio::time::timeout(patience, reached).await;
                (number, server, reached.unwrap_or(Err(ConnectError::Silent { address, patience })))
            });
        }
    }

    /// Where there are other servers, a bot does not wait long for one that does not answer; but longer each time, as
    /// all of them may be busy.
    fn patience(&self, number: usize) -> Duration {
        let tries = u32::from(self.failed[number]);
        if self.addresses.len() > 1 { (PATIENCE_MIN * 2_u32.pow(tries.min(8))).min(PATIENCE_MAX) } else { PATIENCE_MAX }
    }

    /// A handshake has ended.
    fn connected(&mut self, (number, server, reached): Connected) {
        match reached {
            Ok((link, host)) => {
                self.hosts[server] = Some(host);
                match self.unclaimed.remove(&link) {
                    Some(outbox) => self.opened(link, outbox, number, server),
                    None => drop(self.claims.insert(link, (number, server))),
                }
            }
            Err(error) => {
                self.refused(error.to_string());
                self.failed[number] = self.failed[number].saturating_add(1);
                self.hosts[server] = self.hosts[server].take().filter(|_| self.addresses.len() == 1);
                self.look_elsewhere(number);
            }
        }
    }

    fn opened(&mut self, link: LinkId, outbox: Outbox, number: usize, server: usize) {
        let now = self.now();
        self.members_of.insert(link, number);
        self.outboxes[number] = Some((link, outbox));
        self.has_come[number] |= self.members[number].phase().is_none();
        self.checker.connected(number, server);
        self.members[number].node().handle(now, Event::Opened { from: link.into(), secret: [0; 16] });
        self.carry_out(number, now);
    }

    /// A bot without a connection tries again: where it was sent, at the next server it knows of, or where it was.
    fn look_elsewhere(&mut self, number: usize) {
        let mut after = AGAIN_AFTER;
        if let Member::Honest(bot) = &mut self.members[number] {
            let is_sent = bot.client().is_redirected();
            let is_known = bot.client().servers().len() > 1;
            if let Some(address) = bot.client_mut().next_address() {
                after = if is_sent { Duration::ZERO } else { BRIEFLY };
                self.server_of[number] = self.server(address);
            } else if is_known {
                after = BRIEFLY;
            }
        }
        self.waiting.push_back((Instant::now() + after, number));
    }

    /// The place of a server's address.
    fn server(&mut self, address: String) -> usize {
        match self.addresses.iter().position(|known| *known == address) {
            Some(server) => server,
            None if self.addresses.len() < SERVERS_MAX => {
                self.addresses.push(address);
                self.hosts.push(None);
                self.addresses.len() - 1
            }
            None => 0,
        }
    }

    /// How many are at each server.
    fn servers(&self) -> BTreeMap<String, usize> {
        let mut servers: BTreeMap<String, usize> = BTreeMap::new();
        for (number, member) in self.members.iter().enumerate() {
            if member.phase() == Some(&Phase::Joined) {
                *servers.entry(self.addresses[self.server_of[number]].clone()).or_default() += 1;
            }
        }
        servers
    }

    fn wake(&mut self) {
        let now = self.now();
        while let Some(&(time, number)) = self.wakes.first()
            && time <= now
        {
            self.members[number].node().wake(now);
            self.carry_out(number, now);
        }
    }

    fn take(&mut self, event: LinkEvent) {
        let now = self.now();
        match event {
            LinkEvent::Opened { link, outbox, .. } => match self.claims.remove(&link) {
                Some((number, server)) => self.opened(link, outbox, number, server),
                None => drop(self.unclaimed.insert(link, outbox)),
            },
            LinkEvent::Received { link, channel, bytes, .. } => {
                let Some(&number) = self.members_of.get(&link) else { return };
                let own = self.note(number, &bytes, now);
                let bytes = own.as_deref().unwrap_or(&bytes);
                self.members[number].node().handle(now, Event::Arrived { from: link.into(), channel, bytes });
                self.carry_out(number, now);
            }
            LinkEvent::Closed { link, .. } => {
                self.unclaimed.remove(&link);
                self.part(link);
            }
        }
    }

    /// A link is gone, or as good as gone.
    fn part(&mut self, link: LinkId) {
        let now = self.now();
        let Some(number) = self.members_of.remove(&link) else { return };
        self.outboxes[number] = None;
        self.members[number].node().handle(now, Event::Closed { from: link.into() });
        let is_over = matches!(self.members[number].phase(), Some(Phase::Ended(_)));
        if !is_over && !self.is_leaving {
            let is_sent = matches!(&self.members[number], Member::Honest(bot) if bot.client().is_redirected());
            self.reconnected += u64::from(!is_sent);
            self.out[number].get_or_insert((Instant::now(), is_sent));
            self.look_elsewhere(number);
        }
    }

    /// Remembers what a member is told. Of a state, gives what concerns the member's own avatar: what a bot
    /// would predict of others is shown to no one.
    fn note(&mut self, number: usize, bytes: &[u8], now: Time) -> Option<Vec<u8>> {
        let matters =
            matches!(bytes.first(), Some(&(kind::WELCOME | kind::ROSTER | kind::STATE | kind::REFUSED | kind::CLOSED)));
        let message = matters.then(|| ToClient::decode(bytes).ok()).flatten()?;
        match message {
            ToClient::Refused(refused) | ToClient::Closed(refused) if !self.is_leaving => {
                self.refused(refused.sentence);
            }
            _ if self.members[number].phase().is_none() => {}
            ToClient::Welcome(welcome) => {
                (self.has_come[number], self.failed[number]) = (true, 0);
                self.checker.welcomed(number, &welcome);
                self.latencies.welcomed(number);
                if let Some((since, is_sent)) = self.out[number].take() {
                    let gaps = &mut self.gaps[usize::from(is_sent)];
                    let gap = since.elapsed().as_micros() as i64;
                    if gaps.len() < GAPS_MAX {
                        gaps.insert(gaps.partition_point(|known| *known < gap), gap);
                    }
                }
            }
            ToClient::Roster(roster) => self.checker.enrolled(number, &roster),
            ToClient::State(mut state) => {
                self.checker.heard(number, &state);
                // Each state gives one sample, of another body each time: enough to know, and cheap.
                let tick = u64::from(state.head.tick);
                let sampled = state.bodies.get(tick as usize % state.bodies.len().max(1));
                let mover = sampled.and_then(|(handle, _)| self.checker.mover(number, *handle, tick));
                self.latencies.told(number, &state, mover, now.micros());
                self.heard.bodies += state.bodies.len() as u64;
                self.heard.bytes += bytes.len() as u64;
                state.bodies.clear();
                return Some(state.encode());
            }
            _ => {}
        }
        None
    }

    fn carry_out(&mut self, number: usize, now: Time) {
        while let Some(effect) = self.members[number].node().poll() {
            match effect {
                Effect::Send { to: Endpoint::Link(link), channel, bytes } => {
                    let outbox = self.outboxes[number].as_ref().filter(|(known, _)| *known == link);
                    let Some((_, outbox)) = outbox else { continue };
                    if channel == Channel::Datagram
                        && bytes.first() == Some(&kind::MOVES)
                        && let (Ok(ToServer::Moves(moves)), true) =
                            (ToServer::decode(&bytes), self.members[number].phase().is_some())
                    {
                        self.heard.moves += 1;
                        self.latencies.moved(number, moves.newest, now.micros());
                    }
                    let _ = outbox.send(channel, Bytes::from(bytes));
                }
                Effect::Close { to: Endpoint::Link(link) } => {
                    if let Some((_, outbox)) = &self.outboxes[number] {
                        outbox.close();
                    }
                    // A bot that goes elsewhere does not wait until a server that may be dead has heard of it.
                    let goes_on = matches!(&self.members[number], Member::Honest(bot)
                        if *bot.client().phase() == Phase::Apart && bot.client().servers().len() > 1);
                    if goes_on && !self.is_leaving {
                        self.part(link);
                    }
                }
                _ => {}
            }
        }
        let next = self.members[number].node().next_wake();
        self.wakes.remove(&(self.wake_of[number], number));
        self.wake_of[number] = next;
        if self.outboxes[number].is_some() {
            self.wakes.insert((next, number));
        }
    }

    /// All bots leave for good, and wait a little for the farewell.
    async fn leave(&mut self) {
        self.is_leaving = true;
        let now = self.now();
        for number in 0..self.members.len() {
            if let Member::Honest(bot) = &mut self.members[number] {
                bot.client_mut().leave();
            }
            self.carry_out(number, now);
        }
        let end = Instant::now() + Duration::from_secs(2);
        while self.outboxes.iter().any(Option::is_some) && Instant::now() < end {
            self.run_until(Instant::now() + Duration::from_millis(50)).await;
        }
    }
}
