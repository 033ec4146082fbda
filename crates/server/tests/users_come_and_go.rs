//! Joining, leaving and coming back, and each refusal with its sentence.

mod hall;

use hall::Hall;
use kinesphere_server::ServerSettings;
use kinesphere_server::limits::Limits;
use wire::{CloseReason, Event, Hello, Participant, ToClient, ToServer, VERSION};

fn limited(change: fn(&mut Limits)) -> Hall {
    let mut settings = ServerSettings::default();
    change(&mut settings.limits);
    Hall::new(settings)
}

#[test]
fn a_user_joins_and_leaves() {
    let mut hall = limited(|_| {});
    let (link, welcome) = hall.join(1, "Ann");
    assert_eq!((welcome.nickname.as_str(), welcome.is_resumed), ("Ann", false));
    assert_eq!(hall.users(), 1);
    hall.ticks(3);
    let messages = hall.to(link);
    assert!(messages.iter().any(|message| matches!(message, ToClient::Scene(scene) if scene.is_last)));
    assert!(messages.iter().any(|message| matches!(message, ToClient::Roster(_))));
    assert!(messages.iter().any(|message| matches!(message, ToClient::State(_))));
    hall.say(link, &ToServer::Leave);
    hall.ticks(2);
    assert_eq!(hall.users(), 0);
    assert_eq!(hall.end(link).unwrap().reason, CloseReason::Left);
    assert_eq!(hall.closed, [link]);
    // The name is free again.
    hall.join(2, "ANN");
}

#[test]
fn a_lost_connection_is_resumed_without_a_second_avatar() {
    let mut hall = limited(|_| {});
    let (link, welcome) = hall.join(1, "Ann");
    hall.server.handle(hall.now, Event::Closed { from: link.into() });
    hall.ticks(30);
    assert_eq!(hall.users(), 1, "the avatar waits");
    let again = hall.open(2);
    hall.hello(again, "Ann", Some(welcome.resume_key));
    let resumed = hall.welcome(again).expect("it comes back at once");
    assert!(resumed.is_resumed && resumed.own == welcome.own);
    hall.ticks(5);
    assert_eq!(hall.users(), 1);
    // A second connection takes over, and the first is told.
    let third = hall.open(3);
    hall.hello(third, "Ann", Some(welcome.resume_key));
    assert_eq!(hall.end(again).unwrap().reason, CloseReason::Resumed);
    // With a wrong key one is a stranger, and the name is taken.
    let fourth = hall.open(4);
    hall.hello(fourth, "Ann", Some([1; 16]));
    assert_eq!(hall.end(fourth).unwrap().reason, CloseReason::NicknameTaken);
    // A lost session is not kept for ever.
    hall.server.handle(hall.now, Event::Closed { from: third.into() });
    hall.ticks(30 * 16);
    assert_eq!(hall.users(), 0);
}

#[test]
fn every_refusal_has_its_sentence() {
    let mut hall = limited(|limits| (limits.clients, limits.links) = (2, 4));
    hall.join(1, "Ann");
    let mut refused = |number: u64, nickname: &str, avatar: u8, version: u16| {
        let link = hall.open(number);
        hall.say(link, &ToServer::Hello(Hello { version, nickname: nickname.into(), avatar, ..Hello::default() }));
        let end = hall.end(link).expect("a refusal");
        assert!(hall.closed.contains(&link));
        (end.reason, end.sentence)
    };
    let sentence = |reason: CloseReason, (found, sentence): (CloseReason, String), part: &str| {
        assert_eq!(found, reason, "{sentence}");
        assert!(sentence.contains(part), "{sentence}");
    };
    let next = format!("you speak version {}", VERSION + 1);
    sentence(CloseReason::Version, refused(2, "Bob", 0, VERSION + 1), &next);
    sentence(CloseReason::Nickname, refused(3, "\u{200b}", 0, VERSION), "visible");
    sentence(CloseReason::NicknameTaken, refused(4, "ann", 0, VERSION), "Somebody is called ann already");
    sentence(CloseReason::Avatar, refused(5, "Bob", 200, VERSION), "there is no number 200");
    hall.join(6, "Bob");
    let mut refused = |number: u64, nickname: &str| {
        let link = hall.open(number);
        hall.hello(link, nickname, None);
        hall.end(link).expect("a refusal")
    };
    sentence(CloseReason::Full, (CloseReason::Full, refused(7, "Cat").sentence), "full: 2 users");
    for number in 8..12 {
        hall.open(number);
    }
    let end = hall.end(wire::LinkId(11)).expect("too many connections");
    sentence(CloseReason::Full, (end.reason, end.sentence), "4 connections");
}

#[test]
fn silent_users_are_dropped_with_a_reason() {
    let mut hall = limited(|limits| (limits.hello_us, limits.idle_us) = (1_000_000, 2_000_000));
    let mute = hall.open(1);
    let (link, _) = hall.join(2, "Ann");
    hall.ticks(70);
    assert!(hall.end(mute).unwrap().sentence.contains("did not say hello within 1 seconds"));
    let end = hall.end(link).unwrap();
    assert_eq!(end.reason, CloseReason::Idle);
    assert_eq!(hall.users(), 0);
}

#[test]
fn joining_is_paced_and_starves_nobody() {
    let mut hall = limited(|limits| (limits.joins_per_tick, limits.join_queue) = (2, 50));
    let (first, _) = hall.join(1, "first");
    for number in 2..=41 {
        let link = hall.open(number);
        hall.hello(link, &format!("user {number}"), None);
    }
    hall.sent.clear();
    for tick in 1..=20 {
        hall.ticks(1);
        let states = hall.to(first).iter().filter(|message| matches!(message, ToClient::State(_))).count();
        assert!(states >= tick, "the first client is served in every tick");
        assert!(hall.users() <= 1 + 2 * tick);
    }
    hall.ticks(3);
    assert_eq!(hall.users(), 41);
}
