//! A page at a peer shows the peer's objects, moves the peer's own object, and is told when objects enter and leave.

use client::{Client, ClientSettings, Phase};
use kinesphere_peer::ground::{AURA, FlatGround, RADIUS};
use kinesphere_peer::settings::PeerSettings;
use kinesphere_peer::window::{USER, Window};
use kinesphere_peer::{NewObject, NewPeer, Peer};
use space::{DVec3, NodeId, Time};
use wire::{Channel, Effect, Endpoint, Event, InputStep, LinkId, Participant, ToServer};
use world::{Plaza, World};

const FRAME_US: i64 = 16_667;
const PAGE: LinkId = LinkId(7);
/// The link between the two peers.
const BETWEEN: LinkId = LinkId(1);

/// Two peers, and a page of the first.
struct Scene {
    ground: FlatGround,
    peers: Vec<Peer>,
    window: Window,
    client: Client,
    now: Time,
}

impl Scene {
    fn new() -> Scene {
        let world = World::new(std::sync::Arc::new(Plaza { seekers: 0, ..Plaza::default() }.spec())).unwrap();
        let ground = FlatGround::new(&world).unwrap();
        let now = Time::from_micros(10_000_000);
        let mut taken = Vec::new();
        let mut peer = |number: u64, name: &str| {
            let new = NewPeer {
                node: NodeId::new(number),
                name: name.to_owned(),
                frame_us: FRAME_US,
                settings: PeerSettings::default(),
            };
            let mut peer = Peer::new(new, ground.scene.clone(), now).unwrap();
            let place = ground.free_place(&taken).unwrap();
            taken.push(place);
            let new = NewObject { index: USER, radius: RADIUS, aura: AURA, place, velocity: DVec3::ZERO };
            peer.add(new, now).unwrap();
            peer.walk(USER, DVec3::ZERO);
            peer
        };
        let peers = vec![peer(1, "ann"), peer(2, "bob")];
        let window = Window::new(ground.window("ann", 33_333), now);
        let client = Client::new(ClientSettings::named("page"));
        Scene { ground, peers, window, client, now }
    }

    fn connect(&mut self) {
        for peer in &mut self.peers {
            peer.handle(self.now, Event::Opened { from: BETWEEN.into(), secret: [0; 16] });
        }
        self.window.handle(self.now, Event::Opened { from: PAGE.into(), secret: [3; 16] }, &mut self.peers[0]);
        self.client.handle(self.now, Event::Opened { from: PAGE.into(), secret: [0; 16] });
    }

    /// Runs some frames. All messages arrive within their frame.
    fn run(&mut self, frames: u32) {
        for _ in 0..frames {
            self.now = self.now + FRAME_US;
            for peer in &mut self.peers {
                peer.wake(self.now);
            }
            self.window.wake(self.now, &mut self.peers[0]);
            if self.now >= self.client.next_wake() {
                self.client.wake(self.now);
            }
            self.carry();
        }
    }

    fn carry(&mut self) {
        for from in 0..self.peers.len() {
            while let Some(effect) = self.peers[from].poll() {
                let Some(to) = self.peers.get_mut(1 - from) else { continue };
                match effect {
                    Effect::Send { to: Endpoint::Link(link), channel, bytes } => {
                        to.handle(self.now, Event::Arrived { from: link.into(), channel, bytes: &bytes });
                    }
                    Effect::Close { to: Endpoint::Link(link) } => {
                        to.handle(self.now, Event::Closed { from: link.into() })
                    }
                    _ => {}
                }
            }
        }
        while let Some(effect) = self.client.poll() {
            if let Effect::Send { to: Endpoint::Link(link), channel, bytes } = effect {
                self.window.handle(
                    self.now,
                    Event::Arrived { from: link.into(), channel, bytes: &bytes },
                    &mut self.peers[0],
                );
            }
        }
        while let Some(effect) = self.window.poll() {
            match effect {
                Effect::Send { to: Endpoint::Link(link), channel, bytes } if link == PAGE => {
                    self.client.handle(self.now, Event::Arrived { from: link.into(), channel, bytes: &bytes });
                }
                Effect::Close { to: Endpoint::Link(link) } if link == PAGE => {
                    self.client.handle(self.now, Event::Closed { from: link.into() })
                }
                _ => {}
            }
        }
    }

    /// The texts that the page received, with their speakers.
    fn heard(&mut self) -> Vec<(String, String)> {
        while let Some(words) = self.peers[0].next_words() {
            self.window.hear(&words, &self.peers[0]);
        }
        let mut heard = Vec::new();
        while let Some(effect) = self.window.poll() {
            let Effect::Send { bytes, .. } = effect else { continue };
            if let Ok(wire::ToClient::Said { name, text, .. }) = wire::ToClient::decode(&bytes) {
                heard.push((name, text));
            }
        }
        heard
    }

    fn names(&self) -> Vec<String> {
        self.client.others().iter().map(|(_, other)| other.entered.name.clone()).collect()
    }
}

#[test]
fn it_sees_others_where_the_peer_sees_them_and_walks_as_it_wishes() {
    let mut scene = Scene::new();
    scene.connect();
    scene.run(120);
    assert_eq!(*scene.client.phase(), Phase::Joined);
    assert_eq!(scene.client.welcome().unwrap().nickname, "ann");
    assert_eq!(scene.names(), ["bob"]);

    let start = scene.peers[0].own().next().unwrap().1.pos;
    // Away from the other object.
    let away = (start - scene.peers[1].own().next().unwrap().1.pos).normalize();
    let parts = |speed: f64| (speed * 256.0) as i16;
    scene.client.intend(InputStep { velocity: [parts(away.x), 0, parts(away.z)], ..InputStep::default() });
    scene.peers[1].walk(USER, DVec3::new(0.5, 0.0, 0.5));
    scene.run(60);
    let own = scene.peers[0].own().next().unwrap().1;
    assert!(own.pos.distance(start) > 0.5, "it moved {} m", own.pos.distance(start));
    let shown = scene.client.own().unwrap().confirmed().pos;
    assert!(shown.distance(own.pos) < 0.1, "the page has its user at {shown}, the peer at {}", own.pos);
    assert_eq!(own.pos.y, scene.ground.on(own.pos).y, "it stays on the ground");

    let (_, seen) = scene.peers[0].others().next().unwrap();
    let (_, other) = scene.client.others().iter().next().unwrap();
    let told = other.confirmed.1.position().as_dvec3();
    assert!(told.distance(seen.pos) < 0.1, "the page has bob at {told}, the peer at {}", seen.pos);

    scene.peers[1].leave();
    scene.carry();
    scene.run(10);
    assert!(scene.names().is_empty(), "{:?}", scene.names());
}

#[test]
fn the_last_page_counts_and_invalid_messages_end_a_link() {
    let mut scene = Scene::new();
    scene.connect();
    scene.run(30);
    let other = LinkId(8);
    scene.window.handle(scene.now, Event::Opened { from: other.into(), secret: [4; 16] }, &mut scene.peers[0]);
    let hello = wire::Hello { version: wire::VERSION, nickname: "again".to_owned(), ..wire::Hello::default() };
    let bytes = ToServer::Hello(hello).encode();
    scene.window.handle(
        scene.now,
        Event::Arrived { from: other.into(), channel: Channel::Stream, bytes: &bytes },
        &mut scene.peers[0],
    );
    scene.carry();
    assert!(matches!(scene.client.phase(), Phase::Ended(refused) if refused.reason == wire::CloseReason::Resumed));
    for _ in 0..30 {
        scene.window.handle(
            scene.now,
            Event::Arrived { from: other.into(), channel: Channel::Stream, bytes: &[0xff] },
            &mut scene.peers[0],
        );
    }
    assert!(!scene.window.is_looked_through(), "a page that sends invalid messages is disconnected");
}

#[test]
fn what_users_say_reaches_all_at_a_bounded_rate() {
    let mut scene = Scene::new();
    scene.connect();
    scene.run(30);
    let now = scene.now;
    let says = |scene: &mut Scene, text: &str| {
        let bytes = ToServer::Say { text: text.to_owned() }.encode();
        let event = Event::Arrived { from: PAGE.into(), channel: Channel::Stream, bytes: &bytes };
        scene.window.handle(now, event, &mut scene.peers[0]);
    };
    says(&mut scene, "Is anybody here?");
    assert_eq!(scene.heard(), [("ann".to_owned(), "Is anybody here?".to_owned())]);
    scene.carry();
    let heard = scene.peers[1].next_words().unwrap();
    assert_eq!((heard.node, heard.text.as_str()), (Some(NodeId::new(1)), "Is anybody here?"));
    assert!(scene.peers[1].say("I am.".to_owned(), now));
    scene.carry();
    assert_eq!(scene.heard(), [("bob".to_owned(), "I am.".to_owned())]);
    for _ in 0..30 {
        says(&mut scene, "again");
    }
    let heard = scene.heard();
    let own = heard.iter().filter(|(name, _)| name == "ann").count();
    assert!(own < 30 && heard.iter().any(|(_, text)| text.contains("too often")), "{heard:?}");
    assert!(!scene.peers[0].say("x".repeat(10_000), now), "longer than SAID_MAX");
}
