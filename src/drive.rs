//! Lets a server happen: brings it the time and what arrives, and carries out what it wants done.
//!
//! It runs on a thread of its own and waits for nothing but the next tick and the next message. Sending queues or
//! drops; keeping is another thread's; whoever is slow is slow alone.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use ::cluster::Status as Standing;
use bytes::Bytes;
use server::nickname::Nickname;
use server::{Part, Server};
use space::{NodeId, Time};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Duration, Instant, sleep_until};
use wire::{Channel, CloseReason, Effect, Event, LinkId, Participant, Record, ToClient};

use crate::cluster::{self, Heard, Messenger};
use crate::gate::{Gate, Verdict};
use crate::http::Health;
use crate::link::{Inbox, LinkEvent, Outbox, Party};
use crate::meters::{self, Direction, Meters};
use crate::order::{Answer, Order};
use crate::origin::Origins;
use crate::store::keeper::{KeeperStatus, StoreKeeper};
use crate::watch::Watchers;
use crate::why::{self, Evidence, Reach};
use crate::{kept, token};

/// Messages taken in before the clock is looked at again.
const MESSAGES_AT_ONCE: usize = 256;
/// Clients told before what they are told is sent.
const TOLD_AT_ONCE: usize = 32;
/// How long clients may take to hear that the server stops.
const FAREWELL_MAX: Duration = Duration::from_millis(2_500);

/// A server and all that it needs to happen.
pub struct Drive {
    /// The server.
    pub server: Server,
    /// What arrives.
    pub inbox: Inbox,
    /// Who is let through.
    pub gate: Gate,
    /// What is kept; none for a world that is forgotten.
    pub keeper: Option<StoreKeeper>,
    /// What an operator asks for.
    pub orders: mpsc::Receiver<(Order, oneshot::Sender<Answer>)>,
    /// What `/healthz` tells.
    pub health: Health,
    /// Operators who watch.
    pub watchers: Watchers,
    /// The other servers of its world, if there are any.
    pub nodes: Option<Nodes>,
    /// When the server's time began.
    pub began: Instant,
}

/// How the other servers of a world are reached.
pub struct Nodes {
    /// What carries messages.
    pub messenger: Messenger,
    /// What this server is called among them.
    pub name: String,
    /// Whose pages may connect: theirs, too.
    pub origins: Arc<Origins>,
    /// Told once, when the server belongs to the cluster, or cannot: then it ends.
    pub joined: Option<oneshot::Sender<Result<(), String>>>,
}

/// Waits for another server to say something.
async fn next_of(nodes: &mut Option<Nodes>) -> LinkEvent {
    match nodes {
        Some(nodes) => nodes.messenger.next().await,
        None => std::future::pending().await,
    }
}

impl Drive {
    /// Runs the server until it is ordered to stop, or nobody is left who could order it. Gives the server back.
    pub async fn run(self) -> Server {
        let mut wheel = Wheel { outboxes: BTreeMap::new(), meters: Meters::default(), drive: self };
        wheel.keep_snapshot();
        wheel.begin_with_nodes();
        loop {
            let due = wheel.drive.server.next_wake();
            tokio::select! {
                biased;
                () = sleep_until(wheel.instant(due)) => wheel.tick(due),
                event = next_of(&mut wheel.drive.nodes) => wheel.take_nodes(event),
                event = wheel.drive.inbox.next() => match event {
                    Some(event) => wheel.take_all(event),
                    None => break,
                },
                order = wheel.drive.orders.recv() => match order {
                    Some((Order::Stop, answer)) => {
                        let _ = answer.send(Ok("The server stops; the world is kept.".to_owned()));
                        break;
                    }
                    Some((order, answer)) => {
                        let _ = answer.send(wheel.obey(order));
                    }
                    None => break,
                },
            }
            wheel.carry_out();
            if wheel.is_turned_away() {
                break;
            }
        }
        wheel.stop().await
    }
}

/// A drive that runs.
struct Wheel {
    drive: Drive,
    outboxes: BTreeMap<LinkId, Outbox>,
    meters: Meters,
}

impl Wheel {
    fn now(&self) -> Time {
        Time::from_micros(self.drive.began.elapsed().as_micros() as i64)
    }

    fn instant(&self, time: Time) -> Instant {
        self.drive.began + Duration::from_micros(time.micros().max(0) as u64)
    }

    /// One tick, with the time that each part of it took.
    fn tick(&mut self, due: Time) {
        let begun = Instant::now();
        let mut last = begun;
        let now = self.now();
        let took = |name: &'static str, time: Duration| {
            metrics::histogram!("kinesphere_tick_part_seconds", "part" => name).record(time.as_secs_f64());
        };
        self.drive.server.begin_tick(now, &mut |part: Part| {
            let name = Part::ALL.iter().find(|(known, _)| *known == part).map_or("other", |(_, name)| name);
            let ended = Instant::now();
            took(name, ended - last);
            last = ended;
        });
        // Others are told while what the first are told is encrypted and sent, by other threads.
        let (mut telling, mut sending) = (Duration::ZERO, Duration::ZERO);
        loop {
            let is_more = self.drive.server.tell_next(TOLD_AT_ONCE);
            let told = Instant::now();
            self.carry_out();
            let sent = Instant::now();
            telling += told - last;
            sending += sent - told;
            last = sent;
            if !is_more {
                break;
            }
        }
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
            self.keep_snapshot();
        }
        self.look_after_cluster();
        self.drive.watchers.see(&self.drive.server);
        self.report();
    }

    /// What was heard of other servers before this one could listen.
    fn begin_with_nodes(&mut self) {
        let kept = self.drive.nodes.as_mut().map(|nodes| nodes.messenger.take_kept());
        self.hear(kept.unwrap_or_default());
        self.carry_to_nodes();
    }

    /// Takes in what another server says, and what waits behind it.
    fn take_nodes(&mut self, event: LinkEvent) {
        let mut heard = VecDeque::new();
        if let Some(nodes) = &mut self.drive.nodes {
            nodes.messenger.take(event, &mut heard);
            for _ in 1..MESSAGES_AT_ONCE {
                match nodes.messenger.try_next() {
                    Some(event) => nodes.messenger.take(event, &mut heard),
                    None => break,
                }
            }
        }
        self.hear(heard);
        self.carry_to_nodes();
    }

    fn hear(&mut self, heard: VecDeque<Heard>) {
        let now = self.now();
        for heard in heard {
            match heard {
                Heard::Connected(node) => self.drive.server.node_connected(node),
                Heard::Disconnected(node) => self.drive.server.node_disconnected(node),
                Heard::Said(from, message) => self.drive.server.handle_node(now, from, &message),
            }
        }
    }

    fn carry_to_nodes(&mut self) {
        let Drive { server, nodes: Some(nodes), .. } = &mut self.drive else { return };
        while let Some((to, message)) = server.poll_node() {
            if let Some(bytes) = nodes.messenger.send(to, &message) {
                server.sent_to_node(&message, bytes);
            }
        }
    }

    /// Whether the others do not want it.
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

    /// Notices when it belongs to the cluster, and begins anew where the others have gone on without it.
    fn look_after_cluster(&mut self) {
        let now = self.now();
        let Drive { server, nodes: Some(nodes), watchers, .. } = &mut self.drive else { return };
        let Some(cluster) = server.cluster() else { return };
        metrics::gauge!("kinesphere_cluster_nodes").set(cluster.plan().members.len() as f64);
        metrics::gauge!("kinesphere_cluster_objects").set(cluster.custody().own().count() as f64);
        metrics::gauge!("kinesphere_cluster_lag_seconds").set(cluster.lag_us(now) as f64 * 1e-6);
        metrics::gauge!("kinesphere_cluster_acts").set(f64::from(u8::from(cluster.may_act(now))));
        watchers.set_borders(cluster::status::borders(server, &nodes.messenger, &nodes.name));
        let Some(cluster) = server.cluster() else { return };
        nodes.messenger.set_plan(cluster.plan().version);
        let servers = cluster.plan().members.iter().filter(|member| !member.is_witness);
        nodes.origins.share_with(&servers.map(|member| member.address.clone()).collect::<Vec<_>>());
        match cluster.status() {
            Standing::Joining => {}
            Standing::Member => {
                if let Some(joined) = nodes.joined.take() {
                    let _ = joined.send(Ok(()));
                }
            }
            Standing::LeftOut => {
                tracing::warn!("the others have gone on without this server; it begins anew, and is empty");
                let me = cluster::fresh_number();
                if let Err(error) = server.rejoin(me, now) {
                    tracing::error!(%error, "it cannot begin anew");
                }
                nodes.messenger.renumber(me);
                nodes.messenger.nodes().for_each(|node| server.node_connected(node));
            }
        }
        self.carry_to_nodes();
    }

    /// Takes in an event and those that wait behind it.
    fn take_all(&mut self, event: LinkEvent) {
        self.take(event);
        for _ in 1..MESSAGES_AT_ONCE {
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
                // Nodes do not come in by this door.
                let Party::Address(address) = peer else { return outbox.close() };
                self.outboxes.insert(link, outbox);
                self.drive.gate.opened(link, address);
                self.drive.server.handle(now, Event::Opened { link, secret: token::random() });
            }
            LinkEvent::Received { link, channel, bytes, room: _room } => {
                self.meters.passed(Direction::In, &bytes);
                let Drive { gate, server, .. } = &self.drive;
                match gate.look(link, &bytes, now_s(), || server.speaker(link)) {
                    Verdict::Pass => self.drive.server.handle(now, Event::Arrived { link, channel, bytes: &bytes }),
                    Verdict::Drop => {}
                    Verdict::Refuse(refused) => {
                        metrics::counter!("kinesphere_refused_at_gate_total").increment(1);
                        if let Some(outbox) = self.outboxes.get(&link) {
                            let answer = ToClient::Refused(refused).encode();
                            self.meters.passed(Direction::Out, &answer);
                            let _ = outbox.send(Channel::Stream, answer.into());
                            outbox.close();
                        }
                        self.drive.server.handle(now, Event::Closed { link });
                    }
                }
            }
            LinkEvent::Closed { link, why } => {
                tracing::debug!(link = link.0, why, "a link closes");
                self.outboxes.remove(&link);
                self.drive.gate.closed(link);
                self.drive.server.handle(now, Event::Closed { link });
            }
        }
    }

    /// Does what the server wants done. A message that cannot be sent has a link that closes: it will be told so.
    fn carry_out(&mut self) {
        self.carry_to_nodes();
        let tick = self.drive.server.world().tick().number();
        while let Some(effect) = self.drive.server.poll() {
            match effect {
                Effect::Send { link, channel, bytes } => {
                    self.meters.passed(Direction::Out, &bytes);
                    if let Some(outbox) = self.outboxes.get(&link) {
                        let _ = outbox.send(channel, Bytes::from(bytes));
                    }
                }
                Effect::Close { link } => {
                    if let Some(outbox) = self.outboxes.get(&link) {
                        outbox.close();
                    }
                }
                Effect::Persist(record) => {
                    let Some(keeper) = &self.drive.keeper else { continue };
                    match record {
                        Record::Tick(bytes) => keeper.append(tick, bytes),
                        Record::Session(record) => {
                            let (name, bytes) = kept::session_note(&record);
                            keeper.note(&name, bytes);
                        }
                        Record::Ended { sender } => keeper.note(&kept::session_name(sender), Vec::new()),
                    }
                }
            }
        }
    }

    fn keep_snapshot(&self) {
        let Some(keeper) = &self.drive.keeper else { return };
        let world = self.drive.server.world();
        let mut bytes = Vec::new();
        world.snapshot(&mut bytes);
        keeper.snapshot(world.tick().number(), bytes);
    }

    /// Tells metrics and health how it goes.
    fn report(&mut self) {
        self.meters.report(&self.drive.server, &self.drive.inbox, &self.outboxes);
        if let Some(keeper) = &self.drive.keeper {
            meters::report_keeping(keeper);
            self.drive.health.set(keeper.status().paused.map(|why| format!("keeping pauses: {why}")));
        }
    }

    fn obey(&mut self, order: Order) -> Answer {
        let named = |who: &str| Nickname::new(who).map_err(|error| error.to_string());
        match order {
            Order::Say { text } => {
                if text.trim().is_empty() || text.len() > wire::session::SAID_MAX {
                    return Err(format!("There is something to say, of at most {} bytes.", wire::session::SAID_MAX));
                }
                self.drive.server.announce(text.trim());
                Ok("Everybody was told.".to_owned())
            }
            Order::Kick { who } => {
                let name = named(&who)?;
                self.send_away(&name, CloseReason::Kicked, "An operator sent you away.")
            }
            Order::Ban { who } => {
                let name = named(&who)?;
                let note = self.drive.gate.ban(&name, true);
                self.note(note);
                let _ = self.send_away(&name, CloseReason::Banned, "An operator banned you from this world.");
                Ok(format!("{} is banned.", name.as_str()))
            }
            Order::Unban { who } => {
                let name = named(&who)?;
                let note = self.drive.gate.ban(&name, false);
                self.note(note);
                Ok(format!("{} may come back.", name.as_str()))
            }
            Order::Mute { who } => {
                let name = named(&who)?;
                let note = self.drive.gate.mute(&name, true);
                self.note(note);
                Ok(format!("Nobody hears {} any more.", name.as_str()))
            }
            Order::Unmute { who } => {
                let name = named(&who)?;
                let note = self.drive.gate.mute(&name, false);
                self.note(note);
                Ok(format!("{} is heard again.", name.as_str()))
            }
            Order::Users => {
                let users = self.drive.server.users().map(|(_, name, object, link)| {
                    let away = if link.is_some() { "" } else { " (connection lost)" };
                    format!("{name}: {object}{away}")
                });
                Ok(users.collect::<Vec<_>>().join("\n"))
            }
            Order::Status => Ok(self.status()),
            Order::Cluster => {
                let Drive { server, nodes, .. } = &self.drive;
                let nodes = nodes.as_ref().ok_or("This server is alone: it belongs to no cluster.")?;
                let found = cluster::status::status(server, &nodes.messenger, &nodes.name, self.now());
                let found = found.ok_or("This server is alone: it belongs to no cluster.")?;
                Ok(serde_json::to_string(&found).expect("a status is plain data"))
            }
            Order::Why { listener, speaker } => {
                let server = &self.drive.server;
                let settings = server.settings();
                let begins = settings.focus + settings.nimbus;
                let reach = Reach { begins, ends: begins * settings.hysteresis };
                let [one, other] = [why::find(server.world(), &listener)?.id, why::find(server.world(), &speaker)?.id];
                let known = Evidence::Live(server.hears(one, other), server.attention(one, other).map(Into::into));
                let found = why::explain(server.world(), reach, &listener, &speaker, known)?;
                Ok(serde_json::to_string(&found).expect("an explanation is plain data"))
            }
            Order::Save => match &self.drive.keeper {
                Some(keeper) => {
                    self.keep_snapshot();
                    keeper.flush();
                    Ok("The world is being written down.".to_owned())
                }
                None => Err("This world is kept in memory only.".to_owned()),
            },
            Order::Stop => Ok(String::new()),
        }
    }

    /// How the server is, in sentences.
    fn status(&self) -> String {
        let server = &self.drive.server;
        let tick = server.world().tick().number();
        let (users, queued, links) = (server.users().count(), server.queued(), self.outboxes.len());
        let kept = match self.drive.keeper.as_ref().map(StoreKeeper::status) {
            None => "The world is kept in memory only.".to_owned(),
            Some(KeeperStatus { paused: Some(why), .. }) => {
                format!("Keeping pauses, and what happens now would be lost by a crash: {why}")
            }
            Some(KeeperStatus { flushed_tick: Some(flushed), .. }) => {
                format!("The world is kept up to tick {flushed}.")
            }
            Some(_) => "The world is about to be kept.".to_owned(),
        };
        format!(
            "Tick {tick}: {users} users are here, {queued} wait to be let in, {links} connections are open.\n{kept}"
        )
    }

    fn send_away(&mut self, name: &Nickname, reason: CloseReason, sentence: &str) -> Answer {
        let key = name.key();
        let is_meant = |known: &str| Nickname::new(known).is_ok_and(|known| known.key() == key);
        let found: Option<NodeId> = {
            let mut users = self.drive.server.users();
            users.find(|(_, known, ..)| is_meant(known)).map(|(sender, ..)| sender)
        };
        match found {
            Some(sender) if self.drive.server.drop_user(sender, reason, sentence) => {
                Ok(format!("{} was sent away.", name.as_str()))
            }
            _ => Err(format!("Nobody here is called {}.", name.as_str())),
        }
    }

    fn note(&self, (name, bytes): (String, Vec<u8>)) {
        if let Some(keeper) = &self.drive.keeper {
            keeper.note(&name, bytes);
        }
    }

    /// Says goodbye, waits until that has been heard, and writes everything down.
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
        self.keep_snapshot();
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
