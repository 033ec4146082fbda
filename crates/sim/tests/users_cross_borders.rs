//! Users walk from server to server: sent on, taken up again, never doubled, never forgotten; and when a server dies,
//! another one has them.

use std::collections::BTreeSet;

use cluster::Status;
use wire::{Channel, Event, Hello, LinkId, ToServer};

use kinesphere_sim::fleet::{Fleet, Weather};

#[test]
fn users_walk_from_server_to_server() {
    let mut fleet = Fleet::new(3, 24, Weather::default());
    fleet.run(8);
    assert!(fleet.servers().all(|server| server.cluster().unwrap().status() == Status::Member));
    for _ in 0..6 {
        fleet.run(5);
        fleet.stand_and_check();
        fleet.check_hearing();
        fleet.walk_on();
    }
    assert!(fleet.redirects > 10, "only {} were sent on", fleet.redirects);
}

#[test]
fn a_dead_servers_users_are_taken_up_by_others() {
    let mut fleet = Fleet::new(3, 24, Weather::default());
    fleet.run(12);
    fleet.stand_and_check();
    fleet.walk_on();
    let before = fleet.avatars();
    fleet.run(1);
    fleet.kill(1);
    fleet.run(5);
    fleet.stand_and_check();
    assert_eq!(fleet.avatars(), before, "all users go on as who they were");
    fleet.walk_on();
    fleet.add_host(1);
    fleet.run(10);
    fleet.stand_and_check();
    let last = fleet.server(3).unwrap();
    assert!(last.cluster().unwrap().custody().own().count() > 0, "who joins takes load");
}

#[test]
fn a_server_that_stops_in_order_sends_its_users_on() {
    let mut fleet = Fleet::new(3, 24, Weather::default());
    fleet.run(12);
    fleet.stand_and_check();
    let (before, redirects) = (fleet.avatars(), fleet.redirects);
    let here = fleet.server(1).unwrap().users().count() as u64;
    assert!(here > 0);
    fleet.walk_on();
    fleet.stop(1);
    fleet.run(1);
    assert!(fleet.redirects >= redirects + here, "{} of {here} were sent on at once", fleet.redirects - redirects);
    fleet.run(4);
    fleet.stand_and_check();
    assert_eq!(fleet.avatars(), before, "all users go on as who they were");
}

#[test]
fn nothing_moves_without_a_majority_and_users_are_told_why() {
    let mut fleet = Fleet::new(2, 12, Weather::default());
    fleet.run(12);
    fleet.stand_and_check();
    fleet.walk_on();
    let here: BTreeSet<String> = fleet.server(0).unwrap().users().map(|user| user.1.to_owned()).collect();
    assert!(!here.is_empty() && here.len() < 12);
    fleet.kill(1);
    fleet.run(3);
    let places = |fleet: &Fleet| -> Vec<_> {
        let world = fleet.server(0).unwrap().world();
        world.dynamic().map(|object| (object.id, object.at, object.turn)).collect()
    };
    let before = places(&fleet);
    fleet.run(3);
    assert_eq!(places(&fleet), before);
    for number in (0..12).filter(|number| here.contains(&format!("user {number}"))) {
        let bot = fleet.bot_mut(number);
        let said: Vec<String> = std::iter::from_fn(|| bot.client_mut().next_said()).map(|said| said.text).collect();
        assert!(said.iter().any(|text| text.contains("stands still")), "user {number} heard {said:?}");
    }
}

/// A user that was let in as new while its connection broke comes back with the key of before, and finds its name kept
/// for itself. The bug that this keeps out: it was told that the name is taken, and its page went back to the start.
#[test]
fn a_user_that_comes_back_is_not_turned_away_for_its_own_name() {
    let mut fleet = Fleet::new(2, 1, Weather::default());
    fleet.run(12);
    fleet.stand_and_check();
    let server = fleet.lose(0);
    let (server, from) = (fleet.hosts[server], LinkId(1 << 40).into());
    fleet.sim.tell(server, Event::Opened { from, secret: [1; 16] });
    let nickname = "user 0".to_owned();
    let hello = Hello { version: wire::VERSION, nickname, avatar: 0, token: Vec::new(), resume: Some([9; 16]) };
    let bytes = ToServer::Hello(hello).encode();
    fleet.sim.tell(server, Event::Arrived { from, channel: Channel::Stream, bytes: &bytes });
    let refused = |fleet: &Fleet| fleet.servers().map(|server| server.counts().refused).sum::<u64>();
    fleet.run(5);
    assert_eq!(refused(&fleet), 0);
    assert_eq!(fleet.servers().map(|server| server.users().count()).sum::<usize>(), 1, "its avatar stands there still");
    fleet.run(15);
    assert_eq!(refused(&fleet), 0);
}

#[test]
fn a_server_of_another_world_is_turned_away() {
    let mut fleet = Fleet::new(1, 0, Weather::default());
    fleet.run(1);
    fleet.add_host(2);
    fleet.run(2);
    assert_eq!(fleet.server(1).unwrap().turned_away(), Some((wire::cluster::CLUSTER_VERSION, 1)));
    assert_eq!(fleet.server(0).unwrap().cluster().unwrap().plan().members.len(), 1);
}
