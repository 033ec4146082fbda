//! Whole servers of one cluster with their users: messages take their time, ticks come late, servers die and freeze,
//! and users walk from server to server.

use std::collections::BTreeSet;
use std::sync::Arc;

use client::bot::Behaviour;
use client::{Bot, ClientSettings, Phase};
use cluster::{Cluster, ClusterSettings, Status};
use server::{Server, ServerSettings};
use space::{NodeId, ObjectId};
use wire::{Endpoint, Event, ToClient};
use world::{Plaza, Spec, World};

use crate::checker::Checker;
use crate::link::LinkSettings;
use crate::simulator::{Actor, Happened, Machine, Simulator};

/// How bad the network and the machines are. All times are in microseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Weather {
    /// A message takes this long at most.
    pub delay_us: i64,
    /// The share of datagrams that are lost.
    pub loss: f64,
    /// A tick comes this much too late at most.
    pub late_us: u32,
    pub seed: u64,
}

/// How far users hear, in metres.
pub const FOCUS: f32 = 8.0;
/// A bot without a connection tries again after this.
const AGAIN_US: i64 = 4_166;

pub struct Fleet {
    pub sim: Simulator<Connect>,
    /// The machines of servers and of users.
    pub hosts: Vec<usize>,
    pub bots: Vec<usize>,
    /// What the users were told.
    pub checker: Checker,
    pub redirects: u64,
    spec: Arc<Spec>,
    weather: Weather,
    next_node: u64,
}

/// A bot opens a connection.
#[derive(Clone, Copy, Debug)]
pub struct Connect(usize);

fn address(host: usize) -> String {
    format!("http://host{host}")
}

impl Fleet {
    pub fn new(hosts: usize, bots: usize, weather: Weather) -> Fleet {
        let plaza = Plaza { side: 40.0, obstacles: 4, crates: 4, balls: 0, seekers: 0, seed: 3 };
        let Weather { delay_us, loss, seed, .. } = weather;
        let link = LinkSettings { latency_us_min: 1, latency_us_max: delay_us.max(1), loss, ..LinkSettings::default() };
        let mut fleet = Fleet {
            sim: Simulator::new(link, seed),
            hosts: Vec::new(),
            bots: Vec::new(),
            checker: Checker::new(bots).without_guests(),
            redirects: 0,
            spec: Arc::new(plaza.spec()),
            weather,
            next_node: 1,
        };
        (0..hosts).for_each(|_| fleet.add_host(1));
        for number in 0..bots {
            let name = format!("user {number}");
            let bot = Bot::new(ClientSettings::named(&name), Behaviour::Seek, 3.0, number as u64 + 1);
            let machine = fleet.sim.add(Machine::new(name, Some(Actor::Bot(Box::new(bot)))));
            fleet.bots.push(machine);
            fleet.sim.plan(AGAIN_US, Connect(number));
        }
        fleet
    }

    /// A server that founds the cluster or would like to join it, of a world with this fingerprint.
    pub fn add_host(&mut self, fingerprint: u64) {
        let (now, host) = (self.sim.now, self.hosts.len());
        let settings = ClusterSettings {
            node: self.fresh_node(),
            address: address(host),
            is_witness: false,
            copies: 2,
            reach: FOCUS + 1.0,
            world: fingerprint,
        };
        let spec = Arc::clone(&self.spec);
        let (world, cluster) = if host == 0 {
            let mut world = World::new(spec).expect("the plaza is a world");
            let cluster = Cluster::first(settings.clone(), &mut world, now);
            (world, cluster)
        } else {
            let mut world = World::empty(spec).expect("the plaza is a world");
            let cluster = Cluster::joining(settings.clone(), &mut world, now);
            (world, cluster)
        };
        let server_settings = ServerSettings { focus: FOCUS, ..ServerSettings::default() };
        let node = settings.node;
        let server = Server::in_cluster(world, server_settings, cluster, settings, now).expect("an area of 8 m is one");
        let actor = Some(Actor::Server(Box::new(server)));
        let late_us_max = self.weather.late_us;
        let machine = self.sim.add(Machine { node: Some(node), late_us_max, ..Machine::new(address(host), actor) });
        self.hosts.push(machine);
        self.tell_others(host, true);
    }

    fn fresh_node(&mut self) -> NodeId {
        self.next_node += 1;
        NodeId::new(self.next_node - 1)
    }

    /// A server and all others notice that they reach each other, or that they do not any more.
    fn tell_others(&mut self, host: usize, is_open: bool) {
        let machines = self.hosts.clone();
        for &other in machines.iter().filter(|&&other| other != machines[host]) {
            for (to, about) in [(other, machines[host]), (machines[host], other)] {
                let from = Endpoint::Node(self.sim.machines[about].node.expect("a server here is a node"));
                let event = if is_open { Event::Opened { from, secret: [0; 16] } } else { Event::Closed { from } };
                let is_there = self.sim.machines[about].actor.is_some();
                if is_there || !is_open {
                    self.sim.tell(to, event);
                }
            }
        }
    }

    pub fn server(&self, host: usize) -> Option<&Server> {
        self.sim.machines[self.hosts[host]].server()
    }

    pub fn servers(&self) -> impl Iterator<Item = &Server> {
        (0..self.hosts.len()).filter_map(|host| self.server(host))
    }

    pub fn bot(&self, number: usize) -> &Bot {
        self.sim.machines[self.bots[number]].bot().expect("bots do not die")
    }

    pub fn bot_mut(&mut self, number: usize) -> &mut Bot {
        self.sim.machines[self.bots[number]].bot_mut().expect("bots do not die")
    }

    pub fn kill(&mut self, host: usize) {
        self.sim.kill(self.hosts[host]);
        self.tell_others(host, false);
    }

    /// A server stops in order: it says goodbye, and is gone.
    pub fn stop(&mut self, host: usize) {
        let machine = self.hosts[host];
        self.sim.machines[machine].server_mut().expect("it runs").stop();
        self.sim.carry_out(machine);
        self.kill(host);
    }

    /// A server does nothing for a while; what it is sent waits.
    pub fn freeze(&mut self, host: usize, seconds: i64) {
        self.sim.machines[self.hosts[host]].frozen_until = self.sim.now + seconds * 1_000_000;
    }

    /// A bot loses its connection and does not come back; says at which host it was.
    pub fn lose(&mut self, number: usize) -> usize {
        let bot = self.bots[number];
        let (link, server) = self.sim.links_of(bot).next().expect("it is connected");
        self.sim.kill(bot);
        self.sim.tell(server, Event::Closed { from: link.into() });
        self.hosts.iter().position(|&host| host == server).expect("bots are connected with servers")
    }

    pub fn run(&mut self, seconds: i64) {
        let end = self.sim.now + seconds * 1_000_000;
        while let Some(turn) = self.sim.next(end) {
            match turn {
                Happened::Due(machine) => {
                    self.sim.wake(machine);
                    self.rejoin(machine);
                }
                Happened::Planned(Connect(number)) => self.connect(number),
                Happened::Closed { machine, .. } => {
                    let number = self.bots.iter().position(|&bot| bot == machine);
                    number.into_iter().for_each(|number| self.sim.plan(AGAIN_US, Connect(number)));
                }
                Happened::Heard { from: Endpoint::Link(_), to, bytes } => self.heard(to, &bytes),
                Happened::Heard { .. } | Happened::Died(_) => {}
            }
            self.sim.sent.clear();
        }
        self.sim.now = end;
        self.checker.check();
    }

    fn heard(&mut self, to: usize, bytes: &[u8]) {
        let Some(number) = self.bots.iter().position(|&bot| bot == to) else { return };
        match ToClient::decode(bytes) {
            Ok(ToClient::Welcome(welcome)) => self.checker.welcomed(number, &welcome),
            Ok(ToClient::Roster(roster)) => self.checker.enrolled(number, &roster),
            Ok(ToClient::State(state)) => self.checker.heard(number, &state),
            _ => {}
        }
    }

    /// A server that was left out joins again, as its driver would let it.
    fn rejoin(&mut self, machine: usize) {
        let is_left_out = |server: &Server| server.cluster().is_some_and(|one| one.status() == Status::LeftOut);
        if !self.sim.machines[machine].server().is_some_and(is_left_out) {
            return;
        }
        let host = self.hosts.iter().position(|&host| host == machine).expect("servers are hosts");
        self.tell_others(host, false);
        let (node, now) = (self.fresh_node(), self.sim.now);
        let server = self.sim.machines[machine].server_mut().expect("it was just looked at");
        server.rejoin(node, now).expect("an area of 8 m is one");
        self.sim.machines[machine].node = Some(node);
        self.sim.carry_out(machine);
        self.tell_others(host, true);
    }

    fn connect(&mut self, number: usize) {
        let machine = self.bots[number];
        let Some(bot) = self.sim.machines[machine].bot_mut() else { return };
        if matches!(bot.client().phase(), Phase::Ended(_)) {
            return;
        }
        let is_redirected = bot.client().is_redirected();
        let wanted = bot.client_mut().next_address().unwrap_or_else(|| address(0));
        self.redirects += u64::from(is_redirected);
        let host = (0..self.hosts.len()).find(|&host| address(host) == wanted).expect("all addresses are hosts'");
        let server = &self.sim.machines[self.hosts[host]];
        if server.actor.is_none() || server.frozen_until > self.sim.now {
            self.sim.plan(AGAIN_US, Connect(number));
            return;
        }
        self.sim.connect([self.hosts[host], machine], [0, 0]);
        self.checker.connected(number, host);
    }

    /// Lets all stand until none is between two servers, and checks.
    pub fn stand_and_check(&mut self) {
        (0..self.bots.len()).for_each(|number| self.bot_mut(number).freeze(true));
        self.run(2);
        self.check();
    }

    pub fn walk_on(&mut self) {
        (0..self.bots.len()).for_each(|number| self.bot_mut(number).freeze(false));
    }

    /// The avatars of all users.
    pub fn avatars(&self) -> BTreeSet<u64> {
        let own = |number| self.bot(number).client().welcome().map(|welcome| welcome.own.number());
        (0..self.bots.len()).filter_map(own).collect()
    }

    /// All users are in, once, with one avatar, where their server says.
    fn check(&self) {
        let bots: Vec<&Bot> = (0..self.bots.len()).map(|number| self.bot(number)).collect();
        let phases: Vec<&Phase> = bots.iter().map(|bot| bot.client().phase()).collect();
        assert!(phases.iter().all(|phase| **phase == Phase::Joined), "{phases:?}");
        let (mut avatars, mut users) = (BTreeSet::new(), BTreeSet::new());
        for server in self.servers() {
            for object in server.world().dynamic().filter(|object| object.owner.is_some()) {
                assert!(avatars.insert(object.id), "{} is at two servers", object.id);
            }
            for (sender, name, object, link) in server.users() {
                assert!(users.insert(name.to_owned()), "{name} is in twice");
                assert!(link.is_some(), "{name} has no connection");
                assert_eq!(server.world().avatar_of(sender), Some(object));
            }
        }
        assert_eq!((avatars.len(), users.len()), (bots.len(), bots.len()));
        let contradictions: u64 = bots.iter().map(|bot| bot.client().counts().contradictions).sum();
        assert_eq!(contradictions, 0, "rosters contradict each other");
    }

    /// All users hear of what they should, across borders, but for objects at the edge.
    pub fn check_hearing(&self) {
        let objects = |server: &Server| -> Vec<(ObjectId, space::Vec3)> {
            server.world().dynamic().map(|object| (object.id, object.position())).collect()
        };
        let places: Vec<_> = self.servers().flat_map(objects).collect();
        for number in 0..self.bots.len() {
            let client = self.bot(number).client();
            let Some(own) = client.welcome().map(|welcome| welcome.own) else { continue };
            let here = places.iter().find(|(id, _)| *id == own).expect("every user has an avatar").1;
            let heard: BTreeSet<_> = client.others().iter().map(|(_, other)| other.entered.object).collect();
            for (id, place) in places.iter().filter(|(id, _)| *id != own) {
                let distance = place.distance(here);
                assert!(distance > FOCUS - 1.0 || heard.contains(id), "{own} does not hear of {id}, {distance} m away");
                assert!(distance < FOCUS + 2.0 || !heard.contains(id), "{own} hears of {id}, {distance} m away");
            }
        }
    }
}
