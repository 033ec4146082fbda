//! Hostile clients: garbage, floods, forged senders and positions, and never reading. Other users must not notice them.

use std::collections::VecDeque;

use space::workload::Random;
use space::{ObjectId, Time};
use wire::{Hello, InputStep, Moves, ToServer, VERSION};

use wire::{Channel, Effect, Endpoint, Event, LinkId, Participant};

/// What a hostile client does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malice {
    /// Sends random bytes.
    Garbage,
    /// Sends messages with a few bits changed.
    Damaged,
    /// Sends as much as it may before it is dropped.
    Flood,
    /// Sends impossible wishes, old and future numbers, and objects that do not exist.
    Forged,
    /// Joins, and never answers.
    Deaf,
}

impl Malice {
    pub const ALL: [Malice; 5] = [Malice::Garbage, Malice::Damaged, Malice::Flood, Malice::Forged, Malice::Deaf];
}

/// How often it acts, in microseconds.
const ACT_US: i64 = 20_000;
/// Datagrams of a flood at once: 1,000 per second.
const FLOOD: usize = 20;

/// A hostile client.
#[derive(Clone, Debug)]
pub struct Hostile {
    malice: Malice,
    nickname: String,
    random: Random,
    link: Option<LinkId>,
    number: u32,
    next_wake: Time,
    effects: VecDeque<Effect>,
}

impl Hostile {
    /// The hostile client of this seed.
    pub fn new(malice: Malice, nickname: &str, seed: u64) -> Hostile {
        Hostile {
            malice,
            nickname: nickname.to_owned(),
            random: Random::new(seed),
            link: None,
            number: 0,
            next_wake: Time::default(),
            effects: VecDeque::new(),
        }
    }

    fn send(&mut self, channel: Channel, bytes: Vec<u8>) {
        if let Some(link) = self.link {
            self.effects.push_back(Effect::Send { to: link.into(), channel, bytes });
        }
    }

    fn moves(&mut self) -> Moves {
        self.number = self.number.wrapping_add(1);
        let mut velocity = || self.random.whole(0, 65_536) as u16 as i16;
        let step = InputStep { velocity: [velocity(), velocity(), velocity()], heading: 3, is_jump: true };
        Moves { heard: 0, tick: 0, newest: self.number, steps: vec![step] }
    }

    fn random_bytes(&mut self) -> Vec<u8> {
        let length = self.random.whole(0, 200) as usize;
        let mut bytes: Vec<u8> = (0..length).map(|_| self.random.whole(0, 256) as u8).collect();
        if let (Some(first), true) = (bytes.first_mut(), self.random.unit() < 0.7) {
            *first = self.random.whole(0, 9) as u8;
        }
        bytes
    }

    fn random_channel(&mut self) -> Channel {
        if self.random.unit() < 0.5 { Channel::Stream } else { Channel::Datagram }
    }

    fn act(&mut self) {
        match self.malice {
            Malice::Garbage => {
                let (channel, bytes) = (self.random_channel(), self.random_bytes());
                self.send(channel, bytes);
            }
            Malice::Damaged => {
                let message = match self.random.whole(0, 4) {
                    0 => self.hello(),
                    1 => ToServer::Say { text: "\u{202e}x".repeat(self.random.whole(1, 150) as usize) },
                    2 => ToServer::Grab { object: ObjectId::new(1).expect("not zero") },
                    _ => ToServer::Moves(self.moves()),
                };
                let mut bytes = message.encode();
                let at = self.random.whole(0, bytes.len() as u32) as usize;
                bytes[at] ^= 1 << self.random.whole(0, 8);
                let channel = self.random_channel();
                self.send(channel, bytes);
            }
            Malice::Flood => {
                for _ in 0..FLOOD {
                    let bytes = ToServer::Moves(self.moves()).encode();
                    self.send(Channel::Datagram, bytes);
                }
                self.send(Channel::Stream, ToServer::Say { text: "again".into() }.encode());
            }
            Malice::Forged => {
                let mut moves = self.moves();
                moves.newest = moves.newest.wrapping_add(self.random.whole(0, u32::MAX));
                moves.heard = self.random.whole(0, 65_536) as u16;
                moves.tick = self.random.whole(0, u32::MAX);
                self.send(Channel::Datagram, ToServer::Moves(moves).encode());
                let number = 1 + u64::from(self.random.whole(0, 5_000));
                let object = ObjectId::new(number).expect("not zero");
                self.send(Channel::Stream, ToServer::Grab { object }.encode());
                self.send(Channel::Stream, ToServer::Release.encode());
            }
            Malice::Deaf => {}
        }
    }

    fn hello(&self) -> ToServer {
        let nickname = self.nickname.clone();
        ToServer::Hello(Hello { version: VERSION, nickname, ..Hello::default() })
    }
}

impl Participant for Hostile {
    fn handle(&mut self, now: Time, event: Event<'_>) {
        match event {
            Event::Opened { from: Endpoint::Link(link), .. } => {
                self.link = Some(link);
                self.next_wake = now;
                // Half of those that send garbage never say hello.
                if self.malice != Malice::Garbage || self.random.unit() < 0.5 {
                    let hello = self.hello().encode();
                    self.send(Channel::Stream, hello);
                }
            }
            Event::Closed { .. } => self.link = None,
            Event::Opened { .. } | Event::Arrived { .. } => {}
        }
    }

    fn wake(&mut self, now: Time) {
        if now >= self.next_wake {
            self.next_wake = now + ACT_US;
            if self.link.is_some() {
                self.act();
            }
        }
    }

    fn next_wake(&self) -> Time {
        self.next_wake
    }

    fn poll(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }
}
