//! A peer as a process: a `Peer` with its links to others, a page for its own user, and a clock.
//!
//! ```text
//! other peers ◀── zenoh ──▶ Peer ◀── Window ──▶ HTTP, links ──▶ the user's page
//! ```
//!
//! Other peers are reached over [`zenoh`](crate::link::zenoh) and known by their names there. A peer's number is a hash
//! of its name, so a hello under another number is refused before the peer receives it.

mod view;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use peer::ground::{self, FlatGround};
use peer::settings::PeerSettings;
use peer::wanderer::Wanderer;
use peer::window::{USER, Window};
use peer::{Happening, NewObject, NewPeer, Peer, PeerError};
use space::{DVec3, NodeId, ObjectId, Time};
use thiserror::Error;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};
use wire::peer::name;
use wire::{Effect, Endpoint, Event, LinkId, Participant, ToPeer};
use world::{Spec, World};

use crate::certificate::Certificates;
use crate::http::{Answers, Health};
use crate::link::zenoh::{Fabric, FabricError, FabricSettings};
use crate::link::{Inbox, LinkEvent, LinkLimits, Links, NodeName, Outbox, Party};
use crate::origin::Origins;
use crate::serve::{self, Ports, ServeError};
use crate::token;

pub use self::view::{EventLine, PeerOverview, PeerRow};

/// A frame, in microseconds: 60 a second.
const FRAME_US: i64 = 16_667;
/// The page's tick, in microseconds.
const TICK_US: u32 = 33_333;
/// How long a peer waits for others before it chooses a place.
const ARRIVAL: Duration = Duration::from_millis(1_200);
/// The time at which clocks begin, so that no time is negative.
const BEGINNING_US: i64 = 10_000_000;
/// A bot's speed, as a share of a user's.
const BOT_SPEED: f64 = 0.6;
/// How often the state is shown.
const SHOW: Duration = Duration::from_millis(500);
/// The bits of a peer's number: names of objects must be exact as JavaScript numbers.
const NUMBER_BITS: u32 = 28;

#[derive(Clone, Debug)]
pub struct JoinSettings {
    /// The links to other peers, and this peer's name.
    pub fabric: FabricSettings,
    /// The world, which must be the same at all peers.
    pub world: Arc<Spec>,
    /// Host and port of the page; port 0 is any free one.
    pub page: String,
    /// The number of objects that walk about without a user.
    pub bots: u32,
}

/// Why a peer cannot join.
#[derive(Debug, Error)]
pub enum JoinError {
    /// No other peer can be reached.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// The page cannot be served.
    #[error(transparent)]
    Page(#[from] ServeError),
    #[error("no world can be made: {0}")]
    World(#[from] world::SpecError),
    /// The world has too many walls.
    #[error("no world can be made: {0}")]
    Scene(#[from] motion::scene::SceneError),
    /// There is no free place.
    #[error("the world has no free place to begin at")]
    NoRoom,
    /// An object is refused.
    #[error(transparent)]
    Peer(#[from] PeerError),
}

/// A peer with its links and its page.
pub struct PeerProcess {
    fabric: Fabric,
    inbox: Inbox,
    page_inbox: Inbox,
    page_url: String,
    page_tasks: Vec<JoinHandle<()>>,
    peer: Peer,
    window: Window,
    ground: FlatGround,
    bots: Vec<(u32, Wanderer)>,
    outboxes: BTreeMap<LinkId, (NodeName, Outbox)>,
    page_outboxes: BTreeMap<LinkId, Outbox>,
    /// By number, also of peers that have left, as events still name them.
    names: BTreeMap<NodeId, NodeName>,
    refused: u64,
    began: Instant,
}

/// The number of a peer, a hash of its name of `NUMBER_BITS` bits.
pub fn number(name: &NodeName) -> NodeId {
    let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = name.as_str().bytes().fold(0xcbf2_9ce4_8422_2325, fold);
    let mixed = hash ^ hash >> NUMBER_BITS ^ hash >> (2 * NUMBER_BITS);
    NodeId::new((mixed & ((1 << NUMBER_BITS) - 1)).max(1))
}

impl PeerProcess {
    /// Connects to other peers, serves the page, and finds a place.
    pub async fn start(options: &JoinSettings) -> Result<PeerProcess, JoinError> {
        let world = World::new(options.world.clone())?;
        let ground = FlatGround::new(&world)?;
        let me = options.fabric.node.clone();
        let began = Instant::now();
        let now = Time::from_micros(BEGINNING_US);
        let settings = PeerSettings { speed_max: 2.0 * ground.speed_max().max(1.0), ..PeerSettings::default() };
        let new = NewPeer { node: number(&me), name: me.as_str().to_owned(), frame_us: FRAME_US, settings };
        let peer = Peer::new(new, ground.scene.clone(), now)?;
        let window = Window::new(ground.window(me.as_str(), TICK_US), now);

        let (page_links, page_inbox) = Links::new(LinkLimits { links_max: 16, ..LinkLimits::default() });
        let certificates = Arc::new(Certificates::self_signed(SystemTime::now()).map_err(ServeError::from)?);
        let origins = Arc::new(Origins::new(Vec::new()));
        let ports = Ports::bind(&options.page, &certificates, &page_links, &origins).await?;
        origins.serve_page_at(ports.http.port());
        let page_url = format!("http://{}", ports.http);
        let answers = Answers {
            links: page_links,
            origins,
            certificates,
            quic: ports.quic,
            metrics: serve::metrics(),
            health: Health::default(),
            operator: None,
            peer: Some(me.as_str().to_owned()),
        };
        let page_tasks = ports.serve(&answers);

        let (links, inbox) = Links::new(LinkLimits::between_nodes());
        let fabric = Fabric::open(&options.fabric, links).await?;
        let names = BTreeMap::from([(number(&me), me)]);
        let mut join = PeerProcess {
            fabric,
            inbox,
            page_inbox,
            page_url,
            page_tasks,
            peer,
            window,
            ground,
            bots: Vec::new(),
            outboxes: BTreeMap::new(),
            page_outboxes: BTreeMap::new(),
            names,
            refused: 0,
            began,
        };
        join.arrive(options.bots).await?;
        Ok(join)
    }

    pub fn page_url(&self) -> &str {
        &self.page_url
    }

    pub fn name(&self) -> &NodeName {
        self.fabric.node()
    }

    /// Runs until `stop`, then leaves. `say` gets each event, `show` the state every `SHOW`.
    pub async fn run(
        mut self,
        stop: impl Future<Output = ()>,
        say: &mut dyn FnMut(&EventLine),
        show: &mut dyn FnMut(&PeerOverview),
    ) {
        let mut stop = std::pin::pin!(stop);
        let mut next_show = Instant::now();
        loop {
            let due = self.instant(self.peer.next_wake().min(self.window.next_wake())).min(next_show);
            tokio::select! {
                biased;
                () = &mut stop => break,
                () = sleep_until(due) => self.wake(),
                event = self.inbox.next() => if let Some(event) = event {
                    self.take(event);
                },
                event = self.page_inbox.next() => if let Some(event) = event {
                    self.take_page(event);
                },
            }
            while let Some(words) = self.peer.next_words() {
                self.window.hear(&words, &self.peer);
                say(&EventLine::Said(self.peer_called(words.node.unwrap_or(self.peer.node())), words.text));
            }
            self.carry_out();
            while let Some(happening) = self.peer.next_happening() {
                say(&self.line(happening));
            }
            if Instant::now() >= next_show {
                show(&self.overview());
                next_show = Instant::now() + SHOW;
            }
        }
        self.peer.leave();
        self.window.stop();
        self.carry_out();
        // The last messages to pages must be sent before the links are closed.
        let farewell = async {
            while !self.page_outboxes.is_empty() {
                match self.page_inbox.next().await {
                    Some(LinkEvent::Closed { link, .. }) => drop(self.page_outboxes.remove(&link)),
                    Some(_) => {}
                    None => break,
                }
            }
        };
        let _ = tokio::time::timeout(Duration::from_millis(1_000), farewell).await;
        self.page_tasks.iter().for_each(JoinHandle::abort);
        self.fabric.close().await;
    }

    /// Waits for other peers' objects, then adds the own ones at free places.
    async fn arrive(&mut self, bots: u32) -> Result<(), JoinError> {
        let until = Instant::now() + ARRIVAL;
        while Instant::now() < until {
            let due = self.instant(self.peer.next_wake()).min(until);
            tokio::select! {
                () = sleep_until(due) => self.peer.wake(self.now()),
                event = self.inbox.next() => if let Some(event) = event {
                    self.take(event);
                },
            }
            self.carry_out();
        }
        for index in USER..=USER + bots {
            let own = self.peer.own().map(|(_, state)| state.pos);
            let there: Vec<DVec3> = own.chain(self.peer.others().map(|(_, seen)| seen.pos)).collect();
            let place = self.ground.free_place(&there).ok_or(JoinError::NoRoom)?;
            let new = NewObject { index, radius: ground::RADIUS, aura: ground::AURA, place, velocity: DVec3::ZERO };
            self.peer.add(new, self.now())?;
            if index != USER {
                let seed = self.peer.node().number() << 8 | u64::from(index);
                self.bots.push((index, Wanderer::new(seed, BOT_SPEED * self.ground.speed_max())));
            }
        }
        self.peer.walk(USER, DVec3::ZERO);
        Ok(())
    }

    fn wake(&mut self) {
        let now = self.now();
        if now >= self.peer.next_wake() {
            self.steer_bots(now);
            self.peer.wake(now);
        }
        self.window.wake(now, &mut self.peer);
    }

    fn steer_bots(&mut self, now: Time) {
        let own: Vec<(u32, DVec3)> = self.peer.own().map(|(object, state)| (name::index(object), state.pos)).collect();
        let others: Vec<DVec3> = self.peer.others().map(|(_, seen)| seen.pos).collect();
        for (index, wanderer) in &mut self.bots {
            let Some(&(_, here)) = own.iter().find(|(own, _)| own == index) else { continue };
            let distance = |place: &&DVec3| here.distance_squared(**place);
            let next = others.iter().min_by(|one, other| distance(one).total_cmp(&distance(other)));
            self.peer.walk(*index, wanderer.wish(now, here, next.copied()));
        }
    }

    fn take(&mut self, event: LinkEvent) {
        let now = self.now();
        match event {
            LinkEvent::Opened { link, peer: Party::Node(node), outbox, .. } => {
                self.names.insert(number(&node), node.clone());
                self.outboxes.insert(link, (node, outbox));
                self.peer.handle(now, Event::Opened { from: link.into(), secret: token::random() });
            }
            // The fabric has only links of nodes.
            LinkEvent::Opened { outbox, .. } => outbox.close(),
            LinkEvent::Received { link, channel, bytes, .. } => {
                let Some((node, outbox)) = self.outboxes.get(&link) else { return };
                // A hello must have the number of the link's name.
                if let Ok(ToPeer::Hello(hello)) = ToPeer::decode(&bytes)
                    && NodeId::new(hello.node) != number(node)
                {
                    self.refused += 1;
                    outbox.close();
                    self.peer.handle(now, Event::Closed { from: link.into() });
                    return;
                }
                self.peer.handle(now, Event::Arrived { from: link.into(), channel, bytes: &bytes });
            }
            LinkEvent::Closed { link, .. } => {
                self.outboxes.remove(&link);
                self.peer.handle(now, Event::Closed { from: link.into() });
            }
        }
    }

    fn take_page(&mut self, event: LinkEvent) {
        let now = self.now();
        match event {
            LinkEvent::Opened { link, outbox, .. } => {
                self.page_outboxes.insert(link, outbox);
                self.window.handle(now, Event::Opened { from: link.into(), secret: token::random() }, &mut self.peer);
            }
            LinkEvent::Received { link, channel, bytes, .. } => {
                self.window.handle(now, Event::Arrived { from: link.into(), channel, bytes: &bytes }, &mut self.peer);
            }
            LinkEvent::Closed { link, .. } => {
                self.page_outboxes.remove(&link);
                self.window.handle(now, Event::Closed { from: link.into() }, &mut self.peer);
            }
        }
    }

    fn carry_out(&mut self) {
        while let Some(effect) = self.peer.poll() {
            let outbox = |link: &LinkId| self.outboxes.get(link).map(|(_, outbox)| outbox);
            carry(effect, outbox);
        }
        while let Some(effect) = self.window.poll() {
            carry(effect, |link| self.page_outboxes.get(link));
        }
    }

    fn now(&self) -> Time {
        Time::from_micros(BEGINNING_US + self.began.elapsed().as_micros() as i64)
    }

    fn instant(&self, time: Time) -> Instant {
        self.began + Duration::from_micros((time.micros() - BEGINNING_US).max(0) as u64)
    }

    fn line(&self, happening: Happening) -> EventLine {
        let called = |object: ObjectId| self.called(object);
        match happening {
            Happening::Joined(node) => EventLine::Joined(self.peer_called(node)),
            Happening::Left(node) => EventLine::Left(self.peer_called(node)),
            Happening::Met { pair, contact } => EventLine::Met(pair.objects().map(called), contact),
            Happening::Decided(verdict) => EventLine::Decided(verdict.pair.objects().map(called)),
            Happening::Dropped { pair, contact } => EventLine::Dropped(pair.objects().map(called), contact),
            Happening::Kept(verdict) => EventLine::Kept {
                pair: verdict.pair.objects().map(called),
                term: verdict.term,
                decider: self.peer_called(verdict.decider),
                contact: verdict.contact,
                has_bounced: verdict.after.is_some(),
            },
        }
    }

    fn overview(&self) -> PeerOverview {
        let tally = self.peer.tally();
        let places = |own: bool| {
            let own_objects = self.peer.own().map(|(object, state)| (object, state.pos)).filter(move |_| own);
            let others = self.peer.others().map(|(object, seen)| (object, seen.pos)).filter(move |_| !own);
            own_objects.chain(others).map(|(object, pos)| (self.called(object), pos)).collect::<Vec<_>>()
        };
        let mut peers: Vec<PeerRow> = self
            .peer
            .peers()
            .map(|(node, _, latency_us)| PeerRow {
                name: self.peer_called(node),
                latency_ms: latency_us.map(|latency| latency as f64 * 1e-3),
                objects: self.peer.others().filter(|(object, _)| name::owner(*object) == node).count(),
            })
            .collect();
        peers.sort_by(|one, other| one.name.cmp(&other.name));
        PeerOverview {
            name: self.name().to_string(),
            page: self.page_url.clone(),
            has_page: self.window.is_looked_through(),
            peers,
            own: places(true),
            others: places(false),
            watched: self.peer.watched(),
            contacts: tally.contacts,
            decided: tally.decided,
            claims: tally.claims,
            followed: tally.followed,
            dropped: tally.dropped,
            predicted: tally.predicted_bounces,
            sent: tally.datagrams_sent + tally.messages_sent,
            refused: tally.refused.total() + self.refused,
        }
    }

    fn peer_called(&self, node: NodeId) -> String {
        self.names.get(&node).map_or_else(|| node.to_string(), NodeName::to_string)
    }

    fn called(&self, object: ObjectId) -> String {
        let owner = self.peer_called(name::owner(object));
        match name::index(object) {
            USER => owner,
            index => format!("{owner}/{index}"),
        }
    }
}

/// A message that cannot be sent is dropped: its link is closing.
fn carry<'a>(effect: Effect, outbox: impl Fn(&LinkId) -> Option<&'a Outbox>) {
    match effect {
        Effect::Send { to: Endpoint::Link(link), channel, bytes } => {
            if let Some(outbox) = outbox(&link) {
                let _ = outbox.send(channel, Bytes::from(bytes));
            }
        }
        Effect::Close { to: Endpoint::Link(link) } => {
            if let Some(outbox) = outbox(&link) {
                outbox.close();
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_hashes_of_names_and_fit_a_page() {
        let numbers: std::collections::BTreeSet<u64> =
            (0..1_000).map(|count| number(&format!("node-{count}").parse().unwrap()).number()).collect();
        assert_eq!(numbers.len(), 1_000);
        let highest = name::object(NodeId::new((1 << NUMBER_BITS) - 1), name::INDEX_MAX).unwrap();
        assert!(numbers.iter().all(|number| (1..1 << NUMBER_BITS).contains(number)));
        assert!(highest.number() < 1 << 53, "exact as a double");
    }
}
