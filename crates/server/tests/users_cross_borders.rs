//! Users walk from server to server: sent on, taken up again, never doubled, never forgotten; and when a server dies, another
//! one has them.

mod room;

use std::collections::BTreeSet;

use cluster::Status;
use wire::{Channel, Event, Hello, LinkId, Participant, ToServer};

use room::{Room, Weather};

#[test]
fn users_walk_from_server_to_server() {
    let mut room = Room::new(3, 24, Weather::FINE);
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

/// Everybody's avatar.
fn names(room: &Room) -> BTreeSet<u64> {
    room.bots.iter().map(|bot| bot.client().welcome().unwrap().own.number()).collect()
}

#[test]
fn a_dead_servers_users_are_taken_up_by_others() {
    let mut room = Room::new(3, 24, Weather::FINE);
    room.run(12);
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
fn a_server_that_stops_in_order_sends_its_users_on() {
    let mut room = Room::new(3, 24, Weather::FINE);
    room.run(12);
    room.stand_and_check();
    let (before, redirects) = (names(&room), room.redirects);
    let here = room.hosts[1].server.as_ref().unwrap().users().count() as u64;
    assert!(here > 0);
    room.walk_on();
    room.stop(1);
    room.run(1);
    assert!(room.redirects >= redirects + here, "{} of {here} were sent on at once", room.redirects - redirects);
    room.run(4);
    room.stand_and_check();
    assert_eq!(names(&room), before, "everybody goes on as who they were");
}

#[test]
fn nothing_moves_without_a_majority_and_users_are_told_why() {
    let mut room = Room::new(2, 12, Weather::FINE);
    room.run(12);
    room.stand_and_check();
    room.walk_on();
    let here: BTreeSet<String> = room.hosts[0].server.as_ref().unwrap().users().map(|user| user.1.to_owned()).collect();
    assert!(!here.is_empty() && here.len() < 12);
    room.kill(1);
    room.run(3);
    let places = |room: &Room| -> Vec<_> {
        let world = room.hosts[0].server.as_ref().unwrap().world();
        world.dynamic().map(|object| (object.id, object.at, object.turn)).collect()
    };
    let before = places(&room);
    room.run(3);
    assert_eq!(places(&room), before);
    for (number, bot) in room.bots.iter_mut().enumerate().filter(|(number, _)| here.contains(&format!("user {number}")))
    {
        let said: Vec<String> = std::iter::from_fn(|| bot.client_mut().next_said()).map(|said| said.text).collect();
        assert!(said.iter().any(|text| text.contains("stands still")), "user {number} heard {said:?}");
    }
}

/// Who was let in as new while its connection broke comes back with the key of before, and finds its name kept for itself.
/// The bug that this keeps out: it was told that somebody is called so already, and its page went back to the start.
#[test]
fn who_comes_back_is_not_turned_away_for_its_own_name() {
    let mut room = Room::new(2, 1, Weather::FINE);
    room.run(12);
    room.stand_and_check();
    let server = room.lose(0);
    let (now, link) = (room.now, LinkId(1 << 40));
    let server = room.hosts[server].server.as_mut().unwrap();
    server.handle(now, Event::Opened { from: link.into(), secret: [1; 16] });
    let nickname = "user 0".to_owned();
    let hello = Hello { version: wire::VERSION, nickname, avatar: 0, token: Vec::new(), resume: Some([9; 16]) };
    let bytes = ToServer::Hello(hello).encode();
    server.handle(now, Event::Arrived { from: link.into(), channel: Channel::Stream, bytes: &bytes });
    let refused = |room: &Room| room.servers().map(|server| server.counts().refused).sum::<u64>();
    room.run(5);
    assert_eq!(refused(&room), 0);
    assert_eq!(room.servers().map(|server| server.users().count()).sum::<usize>(), 1, "its avatar stands there still");
    room.run(15);
    assert_eq!(refused(&room), 0);
}

#[test]
fn a_server_of_another_world_is_turned_away() {
    let mut room = Room::new(1, 0, Weather::FINE);
    room.run(1);
    room.add_stranger(2);
    room.run(2);
    assert_eq!(room.hosts[1].server.as_ref().unwrap().turned_away(), Some((wire::cluster::CLUSTER_VERSION, 1)));
    assert_eq!(room.hosts[0].server.as_ref().unwrap().cluster().unwrap().plan().members.len(), 1);
}
