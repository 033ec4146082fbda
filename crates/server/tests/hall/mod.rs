//! A server in a plaza, and connections of which the test is the other end.
#![allow(dead_code, reason = "each test uses what it needs")]

use kinesphere_server::{Server, ServerSettings};
use space::Time;
use wire::{Channel, Effect, Endpoint, Event, Hello, LinkId, Participant, ToClient, ToServer, VERSION};
use world::{Plaza, World};

/// A tick, in microseconds.
pub const TICK_US: i64 = 33_333;

pub struct Hall {
    pub server: Server,
    pub now: Time,
    pub sent: Vec<(LinkId, ToClient)>,
    pub closed: Vec<LinkId>,
}

impl Hall {
    pub fn new(settings: ServerSettings) -> Hall {
        let world = World::new(Plaza { seekers: 5, ..Plaza::default() }.spec()).unwrap();
        let now = Time::from_micros(0);
        let server = Server::new(world, settings, now).unwrap();
        Hall { server, now, sent: Vec::new(), closed: Vec::new() }
    }

    pub fn collect(&mut self) {
        while let Some(effect) = self.server.poll() {
            match effect {
                Effect::Send { to: Endpoint::Link(link), bytes, channel } => {
                    let message = ToClient::decode(&bytes).expect("a server sends messages");
                    assert_eq!(message.is_datagram(), channel == Channel::Datagram);
                    self.sent.push((link, message));
                }
                Effect::Close { to: Endpoint::Link(link) } => self.closed.push(link),
                _ => {}
            }
        }
    }

    pub fn ticks(&mut self, count: u32) {
        for _ in 0..count {
            self.now = self.server.next_wake().max(self.now);
            self.server.wake(self.now);
            self.collect();
        }
    }

    pub fn open(&mut self, number: u64) -> LinkId {
        let link = LinkId(number);
        let mut secret = [7; 16];
        secret[..8].copy_from_slice(&number.to_le_bytes());
        self.server.handle(self.now, Event::Opened { from: link.into(), secret });
        self.collect();
        link
    }

    pub fn say(&mut self, link: LinkId, message: &ToServer) {
        let channel = if message.is_datagram() { Channel::Datagram } else { Channel::Stream };
        self.bytes(link, channel, &message.encode());
    }

    pub fn bytes(&mut self, link: LinkId, channel: Channel, bytes: &[u8]) {
        self.server.handle(self.now, Event::Arrived { from: link.into(), channel, bytes });
        self.collect();
    }

    pub fn hello(&mut self, link: LinkId, nickname: &str, resume: Option<[u8; 16]>) {
        let hello = Hello { version: VERSION, nickname: nickname.into(), resume, ..Hello::default() };
        self.say(link, &ToServer::Hello(hello));
    }

    /// Joins, and returns the welcome.
    pub fn join(&mut self, number: u64, nickname: &str) -> (LinkId, wire::Welcome) {
        let link = self.open(number);
        self.hello(link, nickname, None);
        self.ticks(2);
        (link, self.welcome(link).expect("there is room"))
    }

    pub fn welcome(&self, link: LinkId) -> Option<wire::Welcome> {
        self.to(link).into_iter().find_map(|message| match message {
            ToClient::Welcome(welcome) => Some(welcome),
            _ => None,
        })
    }

    pub fn to(&self, link: LinkId) -> Vec<ToClient> {
        self.sent.iter().filter(|(to, _)| *to == link).map(|(_, message)| message.clone()).collect()
    }

    /// Why a link was refused or closed.
    pub fn end(&self, link: LinkId) -> Option<wire::Refused> {
        self.to(link).into_iter().find_map(|message| match message {
            ToClient::Refused(refused) | ToClient::Closed(refused) => Some(refused),
            _ => None,
        })
    }

    pub fn users(&self) -> usize {
        self.server.world().dynamic().filter(|object| object.owner.is_some()).count()
    }
}
