//! The driver of a server: it brings the server the time and what arrives, and carries out its effects.
//!
//! It runs on a thread of its own and waits for nothing but the next tick and the next event. Sending queues or drops,
//! and another thread writes to the disk, so a slow client or disk delays no other client.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use server::{Server, TickPart};
use space::Time;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Duration, Instant, sleep_until};
use wire::{Channel, Effect, Endpoint, Event, LinkId, Participant, Record, ToClient};

use crate::admission::{Admission, Admitted};
use crate::cluster::{self, Messenger, NodeEvent};
use crate::http::Health;
use crate::link::{Inbox, LinkEvent, Outbox, Party};
use crate::meters::{self, Direction, Meters};
use crate::order::{self, Order, Reply};
use crate::origin::Origins;
use crate::store::keeper::StoreKeeper;
use crate::watch::Watchers;
use crate::{kept, token};

/// Events taken in before the clock is looked at again.
const EVENTS_AT_ONCE: usize = 256;
/// How long the server waits, when it stops, for clients to hear of it.
const FAREWELL_MAX: Duration = Duration::from_millis(2_500);

/// A server and what it runs with.
pub struct Driver {
    pub server: Server,
    pub inbox: Inbox,
    pub admission: Admission,
    /// `None` for a world that is not kept.
    pub keeper: Option<StoreKeeper>,
    pub orders: mpsc::Receiver<(Order, oneshot::Sender<Reply>)>,
    /// What `/healthz` answers.
    pub health: Health,
    /// Operators who watch.
    pub watchers: Watchers,
    /// The other nodes of its cluster, if it has one.
    pub nodes: Option<Nodes>,
    /// When the server's time began.
    pub began: Instant,
}

/// How the other nodes of a cluster are reached.
pub struct Nodes {
    pub messenger: Messenger,
    /// This server's name among them.
    pub name: String,
    /// The origins whose pages may connect: those of the other servers are added.
    pub origins: Arc<Origins>,
    /// Sent once, when the server belongs to the cluster, or when it cannot and ends.
    pub joined: Option<oneshot::Sender<Result<(), String>>>,
}

async fn next_node_event(nodes: &mut Option<Nodes>) -> LinkEvent {
    match nodes {
        Some(nodes) => nodes.messenger.next().await,
        None => std::future::pending().await,
    }
}

impl Driver {
    /// Runs the server until it is ordered to stop, or until no orders can come any more. Returns the server.
    pub async fn run(self) -> Server {
        let mut running = Running { outboxes: BTreeMap::new(), meters: Meters::default(), drive: self };
        running.drive.keep_snapshot();
        running.take_kept_node_events();
        loop {
            let due = running.drive.server.next_wake();
            tokio::select! {
                biased;
                () = sleep_until(running.instant(due)) => running.tick(due),
                event = next_node_event(&mut running.drive.nodes) => running.take_node_events(event),
                event = running.drive.inbox.next() => match event {
                    Some(event) => running.take_all(event),
                    None => break,
                },
                order = running.drive.orders.recv() => {
                    let Some((order, answer)) = order else { break };
                    let is_last = order == Order::Stop;
                    let _ = answer.send(running.obey(order));
                    if is_last {
                        break;
                    }
                }
            }
            running.carry_out();
            if running.is_turned_away() {
                break;
            }
        }
        running.stop().await
    }

    pub(crate) fn keep_snapshot(&self) {
        let Some(keeper) = &self.keeper else { return };
        let world = self.server.world();
        let mut bytes = Vec::new();
        world.snapshot(&mut bytes);
        keeper.snapshot(world.tick().number(), bytes);
    }

    pub(crate) fn note(&self, (name, bytes): (String, Vec<u8>)) {
        if let Some(keeper) = &self.keeper {
            keeper.note(&name, bytes);
        }
    }
}

/// A server that runs.
struct Running {
    drive: Driver,
    outboxes: BTreeMap<LinkId, Outbox>,
    meters: Meters,
}

impl Running {
    fn now(&self) -> Time {
        Time::from_micros(self.drive.began.elapsed().as_micros() as i64)
    }

    fn instant(&self, time: Time) -> Instant {
        self.drive.began + Duration::from_micros(time.micros().max(0) as u64)
    }

    /// Takes one tick, and measures how long each part of it takes.
    fn tick(&mut self, due: Time) {
        let begun = Instant::now();
        let mut last = begun;
        let now = self.now();
        let took = |name: &'static str, time: Duration| {
            metrics::histogram!("kinesphere_tick_part_seconds", "part" => name).record(time.as_secs_f64());
        };
        self.drive.server.begin_tick(now, &mut |part: TickPart| {
            let name = TickPart::ALL.iter().find(|(known, _)| *known == part).map_or("other", |(_, name)| name);
            let ended = Instant::now();
            took(name, ended - last);
            last = ended;
        });
        // What is sent to some clients is encrypted and sent by other threads while the next are told.
        let (mut telling, mut sending) = (Duration::ZERO, Duration::ZERO);
        while let Some(effect) = self.drive.server.poll() {
            let told = Instant::now();
            self.carry_out_one(effect);
            while self.drive.server.has_effects() {
                self.drive.server.poll().into_iter().for_each(|effect| self.carry_out_one(effect));
            }
            let sent = Instant::now();
            telling += told - last;
            sending += sent - told;
            last = sent;
        }
        telling += last.elapsed();
        took("fan_out", telling);
        took("send", sending);
        metrics::histogram!("kinesphere_tick_seconds").record(begun.elapsed().as_secs_f64());
        metrics::histogram!("kinesphere_tick_lateness_seconds").record(now.seconds_since(due).max(0.0));
        metrics::counter!("kinesphere_ticks_total").increment(1);
        let tick_us = 1_000_000 / i64::from(self.drive.server.world().spec().tick_rate.max(1));
        if self.now() - due > tick_us {
            metrics::counter!("kinesphere_tick_overruns_total").increment(1);
        }
        if self.drive.keeper.as_ref().is_some_and(StoreKeeper::wants_snapshot) {
            self.drive.keep_snapshot();
        }
        self.look_after_cluster();
        self.drive.watchers.see(&self.drive.server);
        self.report();
    }

    /// Takes in what came from other nodes before the server ran.
    fn take_kept_node_events(&mut self) {
        let kept = self.drive.nodes.as_mut().map(|nodes| nodes.messenger.take_kept());
        self.handle_node_events(kept.unwrap_or_default());
        self.carry_out();
    }

    /// Takes in what another node sent, and what waits behind it.
    fn take_node_events(&mut self, event: LinkEvent) {
        let mut events = VecDeque::new();
        if let Some(nodes) = &mut self.drive.nodes {
            nodes.messenger.take(event, &mut events);
            for _ in 1..EVENTS_AT_ONCE {
                match nodes.messenger.try_next() {
                    Some(event) => nodes.messenger.take(event, &mut events),
                    None => break,
                }
            }
        }
        self.handle_node_events(events);
    }

    fn handle_node_events(&mut self, events: VecDeque<NodeEvent>) {
        let now = self.now();
        for event in events {
            self.drive.server.handle(now, event.as_event());
        }
    }

    /// Whether the cluster refuses this server.
    fn is_turned_away(&mut self) -> bool {
        let Some((version, _)) = self.drive.server.turned_away() else { return false };
        let sentence = if version == wire::cluster::CLUSTER_VERSION {
            "the cluster serves another world, or its users hear differently far: all need the same file, --crowd and \
             --aura"
                .to_owned()
        } else {
            format!(
                "the cluster speaks version {version} of its protocol, this server {}",
                wire::cluster::CLUSTER_VERSION
            )
        };
        tracing::error!(why = sentence, "the cluster does not take this server");
        if let Some(joined) = self.drive.nodes.as_mut().and_then(|nodes| nodes.joined.take()) {
            let _ = joined.send(Err(sentence));
        }
        true
    }

    /// Reports when the server belongs to its cluster, and starts anew if the cluster has left it out.
    fn look_after_cluster(&mut self) {
        let now = self.now();
        let Driver { server, nodes: Some(nodes), watchers, .. } = &mut self.drive else { return };
        let Some(cluster) = server.cluster() else { return };
        metrics::gauge!("kinesphere_cluster_nodes").set(cluster.plan().members.len() as f64);
        metrics::gauge!("kinesphere_cluster_objects").set(cluster.custody().own().count() as f64);
        metrics::gauge!("kinesphere_cluster_lag_seconds").set(cluster.lag_us(now) as f64 * 1e-6);
        metrics::gauge!("kinesphere_cluster_acts").set(f64::from(u8::from(cluster.may_act(now))));
        watchers.set_borders(cluster::status::borders(server, &nodes.messenger, &nodes.name));
        let servers = cluster.plan().members.iter().filter(|member| !member.is_witness);
        nodes.origins.share_with(&servers.map(|member| member.address.clone()).collect::<Vec<_>>());
        match cluster.status() {
            ::cluster::Status::Joining => {}
            ::cluster::Status::Member => {
                if let Some(joined) = nodes.joined.take() {
                    let _ = joined.send(Ok(()));
                }
            }
            ::cluster::Status::LeftOut => {
                tracing::warn!("the others have gone on without this server; it begins anew, and is empty");
                let me = cluster::fresh_number();
                if let Err(error) = server.rejoin(me, now) {
                    tracing::error!(%error, "it cannot begin anew");
                }
                nodes.messenger.renumber(me);
            }
        }
    }

    /// Takes in an event and those that wait behind it.
    fn take_all(&mut self, event: LinkEvent) {
        self.take(event);
        for _ in 1..EVENTS_AT_ONCE {
            match self.drive.inbox.try_next() {
                Some(event) => self.take(event),
                None => break,
            }
        }
    }

    fn take(&mut self, event: LinkEvent) {
        let now = self.now();
        match event {
            LinkEvent::Opened { link, peer, transport, outbox } => {
                tracing::debug!(link = link.0, %peer, transport = transport.name(), "a link opens");
                metrics::counter!("kinesphere_links_total", "transport" => transport.name()).increment(1);
                // Nodes of a cluster are not taken in as clients.
                let Party::Address(address) = peer else { return outbox.close() };
                self.outboxes.insert(link, outbox);
                self.drive.admission.opened(link, address);
                self.drive.server.handle(now, Event::Opened { from: link.into(), secret: token::random() });
            }
            LinkEvent::Received { link, channel, bytes, room: _room } => {
                self.meters.passed(Direction::In, &bytes);
                let Driver { admission, server, .. } = &mut self.drive;
                match admission.admit(link, &bytes, now_s(), || server.speaker(link)) {
                    Admitted::Hello(hello, nickname) if channel == Channel::Stream => {
                        server.hello(now, link, hello, nickname);
                    }
                    Admitted::Message | Admitted::Hello(..) => {
                        server.handle(now, Event::Arrived { from: link.into(), channel, bytes: &bytes });
                    }
                    Admitted::Nothing => {}
                    Admitted::Refused(refused) => {
                        metrics::counter!("kinesphere_refused_at_gate_total").increment(1);
                        if let Some(outbox) = self.outboxes.get(&link) {
                            let answer = ToClient::Refused(refused).encode();
                            self.meters.passed(Direction::Out, &answer);
                            let _ = outbox.send(Channel::Stream, answer.into());
                            outbox.close();
                        }
                        self.drive.server.handle(now, Event::Closed { from: link.into() });
                    }
                }
            }
            LinkEvent::Closed { link, why } => {
                tracing::debug!(link = link.0, why, "a link closes");
                self.outboxes.remove(&link);
                self.drive.admission.closed(link);
                self.drive.server.handle(now, Event::Closed { from: link.into() });
            }
        }
    }

    /// Carries out the effects of the server.
    fn carry_out(&mut self) {
        while let Some(effect) = self.drive.server.poll() {
            self.carry_out_one(effect);
        }
    }

    /// A message that cannot be sent has a link that closes; the link's event will say so.
    fn carry_out_one(&mut self, effect: Effect) {
        let Driver { server, keeper, nodes, .. } = &mut self.drive;
        match effect {
            Effect::Send { to: Endpoint::Link(link), channel, bytes } => {
                self.meters.passed(Direction::Out, &bytes);
                if let Some(outbox) = self.outboxes.get(&link) {
                    let _ = outbox.send(channel, Bytes::from(bytes));
                }
            }
            Effect::Close { to: Endpoint::Link(link) } => {
                if let Some(outbox) = self.outboxes.get(&link) {
                    outbox.close();
                }
            }
            Effect::Send { to: Endpoint::Node(node), channel, bytes } => {
                let (Some(nodes), Some(cluster)) = (nodes, server.cluster()) else { return };
                nodes.messenger.set_plan(cluster.plan().version);
                nodes.messenger.send(node, channel, &bytes);
            }
            // A server never closes the connection to another node.
            Effect::Close { to: Endpoint::Node(_) } => {}
            Effect::Malformed { from, error } => {
                nodes.iter_mut().for_each(|nodes| nodes.messenger.malformed(from, &error));
            }
            Effect::Persist(record) => {
                let Some(keeper) = keeper else { return };
                match record {
                    Record::Tick(bytes) => keeper.append(server.world().tick().number(), bytes),
                    Record::Session(record) => {
                        let (name, bytes) = kept::session_note(&record);
                        keeper.note(&name, bytes);
                    }
                    Record::Ended { sender } => keeper.note(&kept::session_name(sender), Vec::new()),
                }
            }
        }
    }

    /// Updates metrics and health.
    fn report(&mut self) {
        self.meters.report(&self.drive.server, &self.drive.inbox, &self.outboxes);
        if let Some(keeper) = &self.drive.keeper {
            meters::report_keeping(keeper);
            self.drive.health.set(keeper.status().paused.map(|why| format!("keeping pauses: {why}")));
        }
    }

    fn obey(&mut self, order: Order) -> Reply {
        let now = self.now();
        order::obey(&mut self.drive, order, now, self.outboxes.len())
    }

    /// Tells clients that the server stops, waits until they have heard it, and writes everything down.
    async fn stop(mut self) -> Server {
        self.drive.server.stop();
        self.carry_out();
        let farewell = async {
            while !self.outboxes.is_empty() {
                match self.drive.inbox.next().await {
                    Some(LinkEvent::Closed { link, .. }) => drop(self.outboxes.remove(&link)),
                    Some(LinkEvent::Opened { outbox, .. }) => outbox.close(),
                    Some(LinkEvent::Received { .. }) => {}
                    None => break,
                }
            }
        };
        let _ = tokio::time::timeout(FAREWELL_MAX, farewell).await;
        self.drive.keep_snapshot();
        if let Some(keeper) = self.drive.keeper.take()
            && let Err(error) = keeper.stop()
        {
            tracing::error!(%error, "the last ticks could not be kept");
        }
        self.drive.server
    }
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
