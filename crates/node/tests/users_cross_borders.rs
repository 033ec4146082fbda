//! Users walk from server to server: sent on, taken up again, never doubled, never forgotten; and when a server dies, another
//! one has them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use node::bot::Behaviour;
use node::client::{ClientSettings, Phase};
use node::cluster::{Cluster, ClusterSettings, Status};
use node::server::ServerSettings;
use node::{Bot, Channel, Effect, Event, LinkId, Node, Server};
use space::{NodeId, Time};
use wire::ToNode;
use world::{Plaza, Spec, World};

const TICK_US: i64 = 33_333;

struct Host {
    address: String,
    number: u64,
    /// `None` while it is dead.
    server: Option<Server>,
}

/// Servers and users in one room: what is said arrives with the next tick.
struct Room {
    spec: std::sync::Arc<Spec>,
    now: Time,
    hosts: Vec<Host>,
    mail: VecDeque<(u64, u64, Vec<u8>)>,
    bots: Vec<Bot>,
    /// Where each bot is connected, and how its link is called there.
    links: BTreeMap<LinkId, (usize, usize)>,
    link_of: Vec<Option<LinkId>>,
    next_link: u64,
    next_number: u64,
    redirects: u64,
}

fn address(index: usize) -> String {
    format!("http://host{index}")
}

impl Room {
    fn new(hosts: usize, bots: usize) -> Room {
        let plaza = Plaza { side: 40.0, obstacles: 4, crates: 4, balls: 0, seekers: 0, seed: 3 };
        let bot = |number: usize| {
            Bot::new(ClientSettings::named(&format!("user {number}")), Behaviour::Seek, 3.0, number as u64 + 1)
        };
        let mut room = Room {
            spec: std::sync::Arc::new(plaza.spec()),
            now: Time::from_micros(0),
            hosts: Vec::new(),
            mail: VecDeque::new(),
            bots: (0..bots).map(bot).collect(),
            links: BTreeMap::new(),
            link_of: vec![None; bots],
            next_link: 1,
            next_number: 1,
            redirects: 0,
        };
        for _ in 0..hosts {
            room.add_host();
        }
        room
    }

    fn add_host(&mut self) {
        let index = self.hosts.len();
        let settings = ClusterSettings {
            node: NodeId::new(self.next_number),
            address: address(index),
            is_witness: false,
            copies: 2,
            reach: 9.0,
            world: 1,
        };
        let server_settings = ServerSettings { focus: 8.0, ..ServerSettings::default() };
        let (world, cluster) = if index == 0 {
            let mut world = World::new(self.spec.clone()).unwrap();
            let cluster = Cluster::first(settings.clone(), &mut world, self.now);
            (world, cluster)
        } else {
            let mut world = World::empty(self.spec.clone()).unwrap();
            let cluster = Cluster::joining(settings.clone(), &mut world, self.now);
            (world, cluster)
        };
        let mut server = Server::in_cluster(world, server_settings, cluster, settings, self.now).unwrap();
        for other in &mut self.hosts {
            if let Some(there) = &mut other.server {
                there.node_connected(NodeId::new(self.next_number));
                server.node_connected(NodeId::new(other.number));
            }
        }
        self.hosts.push(Host { address: address(index), number: self.next_number, server: Some(server) });
        self.next_number += 1;
    }

    fn kill(&mut self, index: usize) {
        self.hosts[index].server = None;
        let number = NodeId::new(self.hosts[index].number);
        self.hosts.iter_mut().filter_map(|host| host.server.as_mut()).for_each(|other| other.node_disconnected(number));
    }

    /// A tick for everybody.
    fn step(&mut self) {
        self.now = self.now + TICK_US;
        let now = self.now;
        for (from, to, bytes) in std::mem::take(&mut self.mail) {
            let host = self.hosts.iter_mut().find(|host| host.number == to);
            if let Some(server) = host.and_then(|host| host.server.as_mut()) {
                server.handle_node(now, NodeId::new(from), &ToNode::decode(&bytes).unwrap());
            }
        }
        for bot in 0..self.bots.len() {
            if self.link_of[bot].is_none() && !matches!(self.bots[bot].client().phase(), Phase::Ended(_)) {
                self.connect(bot);
            }
            self.bots[bot].wake(now);
            self.carry_up(bot);
        }
        for index in 0..self.hosts.len() {
            if let Some(server) = &mut self.hosts[index].server {
                server.tick(now, &mut |_| {});
            }
            self.carry_down(index);
        }
    }

    fn connect(&mut self, bot: usize) {
        self.redirects += u64::from(self.bots[bot].client().is_redirected());
        let address = self.bots[bot].client_mut().next_address().unwrap_or_else(|| address(0));
        let index = self.hosts.iter().position(|host| host.address == address).unwrap();
        let Some(server) = &mut self.hosts[index].server else { return };
        let link = LinkId(self.next_link);
        self.next_link += 1;
        self.links.insert(link, (bot, index));
        self.link_of[bot] = Some(link);
        server.handle(self.now, Event::Opened { link, secret: [self.next_link as u8; 16] });
        self.bots[bot].handle(self.now, Event::Opened { link, secret: [0; 16] });
        self.carry_up(bot);
    }

    fn carry_up(&mut self, bot: usize) {
        while let Some(effect) = self.bots[bot].poll() {
            match effect {
                Effect::Send { link, channel, bytes } => {
                    let Some(&(_, index)) = self.links.get(&link) else { continue };
                    if let Some(server) = &mut self.hosts[index].server {
                        server.handle(self.now, Event::Arrived { link, channel, bytes: &bytes });
                    }
                }
                Effect::Close { link } => self.close(link),
                Effect::Persist(_) => {}
            }
        }
    }

    fn carry_down(&mut self, index: usize) {
        let number = self.hosts[index].number;
        let Some(server) = &mut self.hosts[index].server else { return };
        while let Some((to, message)) = server.poll_node() {
            self.mail.push_back((number, to.number(), message.encode()));
        }
        let mut closed = Vec::new();
        while let Some(effect) = server.poll() {
            match effect {
                Effect::Send { link, channel, bytes } => {
                    let Some(&(bot, _)) = self.links.get(&link) else { continue };
                    let channel: Channel = channel;
                    self.bots[bot].handle(self.now, Event::Arrived { link, channel, bytes: &bytes });
                }
                Effect::Close { link } => closed.push(link),
                Effect::Persist(_) => {}
            }
        }
        closed.into_iter().for_each(|link| self.close(link));
    }

    fn close(&mut self, link: LinkId) {
        let Some((bot, index)) = self.links.remove(&link) else { return };
        self.link_of[bot] = None;
        self.bots[bot].handle(self.now, Event::Closed { link });
        if let Some(server) = &mut self.hosts[index].server {
            server.handle(self.now, Event::Closed { link });
        }
    }

    fn run(&mut self, seconds: i64) {
        for _ in 0..seconds * 30 {
            self.step();
        }
    }

    fn servers(&self) -> impl Iterator<Item = &Server> {
        self.hosts.iter().filter_map(|host| host.server.as_ref())
    }

    /// Lets everybody stand until nobody is between two servers, and looks.
    fn stand_and_check(&mut self) {
        self.bots.iter_mut().for_each(|bot| bot.freeze(true));
        self.run(2);
        self.check();
    }

    fn walk_on(&mut self) {
        self.bots.iter_mut().for_each(|bot| bot.freeze(false));
    }

    /// Everybody is in, once, with one avatar, where its server says.
    fn check(&self) {
        let phases: Vec<&Phase> = self.bots.iter().map(|bot| bot.client().phase()).collect();
        assert!(phases.iter().all(|phase| **phase == Phase::Joined), "{phases:?}");
        let mut avatars = BTreeSet::new();
        let mut users = BTreeSet::new();
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
        assert_eq!((avatars.len(), users.len()), (self.bots.len(), self.bots.len()));
        let contradictions: u64 = self.bots.iter().map(|bot| bot.client().counts().contradictions).sum();
        assert_eq!(contradictions, 0, "rosters contradict each other");
    }

    /// Everybody hears exactly whom they should, across borders, but for those at the edge.
    fn check_hearing(&self) {
        let mut places = Vec::new();
        for server in self.servers() {
            places.extend(server.world().dynamic().map(|object| (object.id, object.position())));
        }
        for bot in &self.bots {
            let own = bot.client().welcome().unwrap().own;
            let here = places.iter().find(|(id, _)| *id == own).unwrap().1;
            let heard: BTreeSet<_> = bot.client().others().iter().map(|(_, other)| other.entered.object).collect();
            for (id, place) in places.iter().filter(|(id, _)| *id != own) {
                let distance = place.distance(here);
                assert!(distance > 7.0 || heard.contains(id), "{own} does not hear of {id}, {distance} m away");
                assert!(distance < 10.0 || !heard.contains(id), "{own} hears of {id}, {distance} m away");
            }
        }
    }
}

#[test]
fn users_walk_from_server_to_server() {
    let mut room = Room::new(3, 24);
    room.run(8);
    assert!(room.servers().all(|server| server.cluster().unwrap().status() == Status::Member));
    for _ in 0..6 {
        room.run(5);
        room.stand_and_check();
        room.check_hearing();
        room.walk_on();
    }
    assert!(room.redirects > 10, "only {} were sent on", room.redirects);
}

#[test]
fn a_dead_servers_users_are_taken_up_by_others() {
    let mut room = Room::new(3, 24);
    room.run(12);
    let names = |room: &Room| -> BTreeSet<u64> {
        room.bots.iter().map(|bot| bot.client().welcome().unwrap().own.number()).collect()
    };
    room.stand_and_check();
    room.walk_on();
    let before = names(&room);
    room.run(1);
    room.kill(1);
    room.run(5);
    room.stand_and_check();
    assert_eq!(names(&room), before, "everybody goes on as who they were");
    room.walk_on();
    room.add_host();
    room.run(10);
    room.stand_and_check();
    let last = room.hosts[3].server.as_ref().unwrap();
    assert!(last.cluster().unwrap().custody().own().count() > 0, "who joins takes load");
}

#[test]
fn a_server_of_another_world_is_turned_away() {
    let mut room = Room::new(1, 0);
    room.run(1);
    let settings = ClusterSettings {
        node: NodeId::new(9),
        address: "http://host9".to_owned(),
        is_witness: false,
        copies: 2,
        reach: 9.0,
        world: 2,
    };
    let mut world = World::empty(room.spec.clone()).unwrap();
    let cluster = Cluster::joining(settings.clone(), &mut world, room.now);
    let mut server = Server::in_cluster(world, ServerSettings::default(), cluster, settings, room.now).unwrap();
    server.node_connected(NodeId::new(1));
    room.hosts[0].server.as_mut().unwrap().node_connected(NodeId::new(9));
    room.hosts.push(Host { address: "http://host9".to_owned(), number: 9, server: Some(server) });
    room.run(2);
    assert_eq!(room.hosts[1].server.as_ref().unwrap().turned_away(), Some((wire::cluster::CLUSTER_VERSION, 1)));
    assert_eq!(room.hosts[0].server.as_ref().unwrap().cluster().unwrap().plan().members.len(), 1);
}
