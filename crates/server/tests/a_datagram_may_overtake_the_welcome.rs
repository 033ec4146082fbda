//! Keeps out a bug: after a cut, a datagram of the new connection that came before its welcome was taken to speak of
//! the objects that the last connection's handles had meant.

mod hall;

use client::{Client, ClientSettings, Phase};
use hall::Hall;
use kinesphere_server::ServerSettings;
use wire::{Channel, Effect, Event, LinkId, Participant, ToClient};

/// Carries everything that waits between the client and the server; says what the client was told and not given.
fn exchange(hall: &mut Hall, client: &mut Client, link: LinkId, is_welcome_held: bool) -> Vec<ToClient> {
    while let Some(effect) = client.poll() {
        if let Effect::Send { channel, bytes, .. } = effect {
            hall.bytes(link, channel, &bytes);
        }
    }
    hall.ticks(1);
    let mut held = Vec::new();
    for (to, message) in std::mem::take(&mut hall.sent) {
        let channel = if message.is_datagram() { Channel::Datagram } else { Channel::Stream };
        if to == link && is_welcome_held && channel == Channel::Stream {
            held.push(message);
        } else if to == link {
            client.handle(hall.now, Event::Arrived { from: link.into(), channel, bytes: &message.encode() });
        }
    }
    client.wake(hall.now);
    held
}

#[test]
fn and_nothing_comes_of_it() {
    let mut hall = Hall::new(ServerSettings::default());
    let mut client = Client::new(ClientSettings::named("Ann"));
    let first = hall.open(1);
    client.handle(hall.now, Event::Opened { from: first.into(), secret: [0; 16] });
    for _ in 0..30 {
        exchange(&mut hall, &mut client, first, false);
    }
    assert!(*client.phase() == Phase::Joined && !client.others().is_empty());

    client.handle(hall.now, Event::Closed { from: first.into() });
    hall.server.handle(hall.now, Event::Closed { from: first.into() });
    let second = hall.open(2);
    client.handle(hall.now, Event::Opened { from: second.into(), secret: [0; 16] });
    let before = client.counts();
    let mut held = Vec::new();
    for _ in 0..5 {
        held.extend(exchange(&mut hall, &mut client, second, true));
    }
    assert!(matches!(held.first(), Some(ToClient::Welcome(welcome)) if welcome.is_resumed), "{held:?}");
    assert_eq!(client.counts(), before, "it listened to datagrams that it could not understand");
    for message in held {
        client.handle(
            hall.now,
            Event::Arrived { from: second.into(), channel: Channel::Stream, bytes: &message.encode() },
        );
    }
    for _ in 0..5 {
        exchange(&mut hall, &mut client, second, false);
    }
    assert!(client.counts().states > before.states && !client.others().is_empty());
    assert_eq!(client.counts().contradictions, 0);
}
