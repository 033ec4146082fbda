//! Many clients in one process: company, load test, and witness to what the server promises.

pub mod witness;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use node::bot::Behaviour;
use node::client::{ClientSettings, Phase};
use node::hostile::Malice;
use node::{Bot, Channel, Effect, Event, Hostile, LinkId, Node};
use serde::Serialize;
use space::Time;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};
use wire::{ToClient, ToServer, kind};

use self::witness::{Violations, Witness};
use crate::fetch::{Address, fetch};
use crate::link::client::{Client, ConnectError, Host};
use crate::link::{Inbox, LinkEvent, LinkLimits, Links, Outbox};

/// Handshakes at the same time.
const CONNECTING_MAX: usize = 16;
/// Who is connected and not let in yet: a server lets in a few per tick, and keeps no long queue.
const ARRIVING_MAX: usize = 64;
/// Bots that share a UDP socket. The server tells all of them at once: more would not fit into the system's buffer.
const BOTS_PER_SOCKET: usize = 16;
/// Who lost its connection tries again after this.
const AGAIN_AFTER: Duration = Duration::from_secs(1);
/// Different refusals that are told apart: hostile bots provoke any number of them.
const REFUSALS_MAX: usize = 32;
/// Messages taken in before the clock is looked at again.
const MESSAGES_AT_ONCE: usize = 512;
/// How long bots may take to join, beyond the seconds that they run.
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
    /// How many.
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

/// Milliseconds below which a share of the samples is.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Quantiles {
    /// Half of them.
    pub p50: f64,
    /// All but one in a hundred.
    pub p99: f64,
    /// All.
    pub max: f64,
}

/// What came of it.
#[derive(Clone, Debug, Serialize)]
pub struct BotsReport {
    /// How many there were to be.
    pub count: usize,
    /// How many were let in.
    pub joined: usize,
    /// How long they ran after that.
    pub seconds: f64,
    /// Inputs sent while they ran.
    pub moves_sent: u64,
    /// Bodies heard of while they ran.
    pub updates_received: u64,
    /// From the mover's sending to a listener's receipt, on one clock.
    pub update_latency_ms: Quantiles,
    /// How many of those were measured.
    pub latency_samples: usize,
    /// How long the server's ticks took, as it says.
    pub server_tick_ms: Option<Quantiles>,
    /// The share of the server's ticks that ended after the next was due.
    pub overruns: Option<f64>,
    /// Promises that were broken.
    pub violations: Violations,
    /// Ticks whose promises were checked.
    pub ticks_checked: u64,
    /// What a client received of states, per second.
    pub bytes_per_client_s: f64,
    /// Connections that were lost and made again.
    pub reconnected: u64,
    /// What the server said to those it refused or sent away, and how often.
    pub refusals: BTreeMap<String, u64>,
}

/// Lets bots loose on a server. `progress` is told how many have joined, and then how many seconds have passed.
pub async fn run(settings: &BotsSettings, progress: &mut dyn FnMut(usize, f64)) -> Result<BotsReport, ConnectError> {
    let mut host = Host::find(&settings.url).await?;
    if let Some(address) = settings.through {
        host.address = address;
    }
    let address = Address::parse(&settings.url)?;
    let limits = LinkLimits { links_max: settings.count + CONNECTING_MAX, ..LinkLimits::default() };
    let (links, inbox) = Links::new(limits);
    let mut crowd = Crowd::new(settings, host, links, inbox)?;

    let deadline = Instant::now() + JOINING_MAX;
    while !crowd.is_complete() && Instant::now() < deadline {
        crowd.run_until(Instant::now() + Duration::from_millis(100)).await;
        progress(crowd.joined(), 0.0);
    }
    let before = ServerSays::ask(&address).await;
    let begun = crowd.tally();
    crowd.witness.forget_latencies();
    let start = Instant::now();
    let end = start + Duration::from_secs_f64(settings.seconds.max(0.0));
    while Instant::now() < end {
        crowd.run_until(end.min(Instant::now() + Duration::from_millis(250))).await;
        progress(crowd.joined(), start.elapsed().as_secs_f64());
    }
    let seconds = start.elapsed().as_secs_f64();
    let after = ServerSays::ask(&address).await;
    let ended = crowd.tally();
    let joined = crowd.joined();
    let refusals = crowd.refusals.clone();
    crowd.leave().await;
    crowd.witness.check();

    let latencies = crowd.witness.latencies_us();
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
        violations: crowd.witness.violations().clone(),
        ticks_checked: crowd.witness.checked(),
        bytes_per_client_s: (ended.bytes - begun.bytes) as f64 / clients / seconds.max(1e-9),
        reconnected: crowd.reconnected,
        refusals,
    })
}

fn quantiles(sorted_us: &[i64]) -> Quantiles {
    let at = |share: f64| {
        let last = sorted_us.len().checked_sub(1)?;
        Some(sorted_us[((last as f64 * share).round() as usize).min(last)] as f64 / 1_000.0)
    };
    let at = |share| at(share).unwrap_or(0.0);
    Quantiles { p50: at(0.5), p99: at(0.99), max: at(1.0) }
}

/// One of the crowd.
enum Member {
    Honest(Box<Bot>),
    Hostile(Box<Hostile>),
}

impl Member {
    fn node(&mut self) -> &mut dyn Node {
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

struct Crowd {
    members: Vec<Member>,
    /// When each is to be woken.
    wakes: BTreeSet<(Time, usize)>,
    wake_of: Vec<Time>,
    members_of: BTreeMap<LinkId, usize>,
    outboxes: Vec<Option<(LinkId, Outbox)>>,
    /// Who has been connected at some time.
    has_come: Vec<bool>,
    /// Who waits for a connection, and from when on.
    waiting: VecDeque<(Instant, usize)>,
    connecting: JoinSet<Result<(), ConnectError>>,
    /// Taken in turn.
    sockets: Vec<Arc<Client>>,
    host: Host,
    links: Links,
    inbox: Inbox,
    began: Instant,
    witness: Witness,
    heard: Tally,
    reconnected: u64,
    refusals: BTreeMap<String, u64>,
    is_leaving: bool,
}

impl Crowd {
    fn new(settings: &BotsSettings, host: Host, links: Links, inbox: Inbox) -> Result<Crowd, ConnectError> {
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
            waiting: (0..count).map(|number| (Instant::now(), number)).collect(),
            connecting: JoinSet::new(),
            sockets: (0..count.div_ceil(BOTS_PER_SOCKET))
                .map(|_| Client::new().map(Arc::new))
                .collect::<Result<_, _>>()?,
            host,
            links,
            inbox,
            began: Instant::now(),
            witness: Witness::new(count),
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

    /// Whether nobody is still on the way. Hostile ones are cut off again and again: never are all of them in at once.
    fn is_complete(&self) -> bool {
        let is_settled = |(member, &has_come): (&Member, &bool)| match member.phase() {
            Some(Phase::Joined | Phase::Ended(_)) => true,
            Some(_) => false,
            None => has_come,
        };
        self.members.iter().zip(&self.has_come).all(is_settled)
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
                    for _ in 1..MESSAGES_AT_ONCE {
                        match self.inbox.try_next() {
                            Some(event) => self.take(event),
                            None => break,
                        }
                    }
                },
                Some(connected) = self.connecting.join_next() => if let Ok(Err(error)) = connected {
                    self.refused(error.to_string());
                },
            }
            self.wake();
        }
        self.witness.check();
    }

    fn refused(&mut self, sentence: String) {
        let is_room = self.refusals.len() < REFUSALS_MAX || self.refusals.contains_key(&sentence);
        let sentence = if is_room { sentence } else { "and other sentences".to_owned() };
        *self.refusals.entry(sentence).or_default() += 1;
    }

    fn instant(&self, time: Time) -> Instant {
        self.began + Duration::from_micros(time.micros().clamp(0, i64::MAX / 4) as u64)
    }

    /// Begins as many handshakes as may be under way. Whoever is connected first gets the first link.
    fn connect(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let now = Instant::now();
        let due = self.waiting.iter().filter(|(from, _)| *from <= now).count();
        let is_arriving = |member: &&Member| member.phase() == Some(&Phase::Greeting);
        let room = ARRIVING_MAX.saturating_sub(self.members.iter().filter(is_arriving).count());
        while self.connecting.len() < CONNECTING_MAX.min(due).min(room) {
            self.sockets.rotate_left(1);
            let (client, host, links) = (self.sockets[0].clone(), self.host.clone(), self.links.clone());
            self.connecting.spawn(async move { client.connect(&host, &links).await.map(|_| ()) });
        }
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
            LinkEvent::Opened { link, outbox, .. } => {
                let Some((_, number)) = self.waiting.pop_front() else { return outbox.close() };
                self.members_of.insert(link, number);
                self.outboxes[number] = Some((link, outbox));
                self.has_come[number] = true;
                self.witness.connected(number);
                self.members[number].node().handle(now, Event::Opened { link, secret: [0; 16] });
                self.carry_out(number, now);
            }
            LinkEvent::Received { link, channel, bytes, .. } => {
                let Some(&number) = self.members_of.get(&link) else { return };
                let own = self.witness(number, &bytes, now);
                let bytes = own.as_deref().unwrap_or(&bytes);
                self.members[number].node().handle(now, Event::Arrived { link, channel, bytes });
                self.carry_out(number, now);
            }
            LinkEvent::Closed { link, .. } => {
                let Some(number) = self.members_of.remove(&link) else { return };
                self.outboxes[number] = None;
                self.members[number].node().handle(now, Event::Closed { link });
                let is_over = matches!(self.members[number].phase(), Some(Phase::Ended(_)));
                if !is_over && !self.is_leaving {
                    self.reconnected += 1;
                    self.waiting.push_back((Instant::now() + AGAIN_AFTER, number));
                }
            }
        }
    }

    /// Remembers what a member is told. Of a state, gives what concerns the member's own avatar: bots look at nobody, and
    /// nobody would see what it predicts of all others.
    fn witness(&mut self, number: usize, bytes: &[u8], now: Time) -> Option<Vec<u8>> {
        let matters =
            matches!(bytes.first(), Some(&(kind::WELCOME | kind::ROSTER | kind::STATE | kind::REFUSED | kind::CLOSED)));
        let message = matters.then(|| ToClient::decode(bytes).ok()).flatten()?;
        match message {
            ToClient::Refused(refused) | ToClient::Closed(refused) if !self.is_leaving => {
                self.refused(refused.sentence);
            }
            _ if self.members[number].phase().is_none() => {}
            ToClient::Welcome(welcome) => self.witness.welcomed(number, &welcome),
            ToClient::Roster(roster) => self.witness.enrolled(number, &roster),
            ToClient::State(mut state) => {
                self.witness.heard(number, &state, now.micros());
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
                Effect::Send { link, channel, bytes } => {
                    let outbox = self.outboxes[number].as_ref().filter(|(known, _)| *known == link);
                    let Some((_, outbox)) = outbox else { continue };
                    if channel == Channel::Datagram
                        && bytes.first() == Some(&kind::MOVES)
                        && let (Ok(ToServer::Moves(moves)), true) =
                            (ToServer::decode(&bytes), self.members[number].phase().is_some())
                    {
                        self.heard.moves += 1;
                        self.witness.moved(number, moves.newest, now.micros());
                    }
                    let _ = outbox.send(channel, Bytes::from(bytes));
                }
                Effect::Close { .. } => {
                    if let Some((_, outbox)) = &self.outboxes[number] {
                        outbox.close();
                    }
                }
                Effect::Persist(_) => {}
            }
        }
        let next = self.members[number].node().next_wake();
        self.wakes.remove(&(self.wake_of[number], number));
        self.wake_of[number] = next;
        if self.outboxes[number].is_some() {
            self.wakes.insert((next, number));
        }
    }

    /// Everybody leaves for good, and waits a little for the farewell.
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

/// What a server says of itself.
struct ServerSays {
    ticks: f64,
    overruns: f64,
    tick_ms: Option<Quantiles>,
}

impl ServerSays {
    async fn ask(address: &Address) -> Option<ServerSays> {
        ServerSays::read(&fetch(address, "/metrics").await.ok()?)
    }

    fn read(metrics: &str) -> Option<ServerSays> {
        let value = |name: &str| {
            metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse::<f64>().ok())
        };
        let quantile =
            |share: &str| Some(value(&format!("kinesphere_tick_seconds{{quantile=\"{share}\"}}"))? * 1_000.0);
        let tick_ms = || Some(Quantiles { p50: quantile("0.5")?, p99: quantile("0.99")?, max: quantile("1")? });
        Some(ServerSays {
            ticks: value("kinesphere_ticks_total")?,
            // It is not there before the first.
            overruns: value("kinesphere_tick_overruns_total").unwrap_or(0.0),
            tick_ms: tick_ms(),
        })
    }

    fn overruns_since(&self, before: &ServerSays) -> Option<f64> {
        let ticks = self.ticks - before.ticks;
        (ticks > 0.0).then(|| (self.overruns - before.overruns) / ticks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_says_of_itself_is_read() {
        let text = "# TYPE kinesphere_ticks_total counter\nkinesphere_ticks_total 95\n\
             kinesphere_tick_seconds{quantile=\"0.5\"} 0.0002\nkinesphere_tick_seconds{quantile=\"0.99\"} 0.001\n\
             kinesphere_tick_seconds{quantile=\"1\"} 0.002\n";
        let says = ServerSays::read(text).unwrap();
        assert_eq!((says.ticks, says.overruns), (95.0, 0.0));
        assert_eq!(says.tick_ms.unwrap().p99, 1.0);
        let later = ServerSays { ticks: 195.0, overruns: 1.0, tick_ms: None };
        assert_eq!(later.overruns_since(&says), Some(0.01));
        assert!(ServerSays::read("nothing").is_none());
    }

    #[test]
    fn quantiles_are_of_what_there_is() {
        assert_eq!(quantiles(&[]).max, 0.0);
        let sorted: Vec<i64> = (0..=100).map(|number| number * 1_000).collect();
        let Quantiles { p50, p99, max } = quantiles(&sorted);
        assert_eq!((p50, p99, max), (50.0, 99.0, 100.0));
    }
}
