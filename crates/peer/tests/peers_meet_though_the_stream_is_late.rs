//! A stream that lost its first packets delays all later messages. Hellos and announcements are also sent in datagrams
//! until they are answered, so two peers know each other without the stream. Announcements on the stream have priority.

use kinesphere_peer::settings::PeerSettings;
use kinesphere_peer::{NewObject, NewPeer, Peer};
use motion::CollisionScene;
use space::workload::Random;
use space::{DVec3, NodeId, Time};
use wire::peer::{Owns, PEER_VERSION, PeerHello, Report};
use wire::{Channel, Effect, Event, LinkId, Participant, ToPeer};

const LINK: LinkId = LinkId(1);
const FRAME_US: i64 = 16_667;

fn at(us: i64) -> Time {
    Time::from_micros(10_000_000 + us)
}

fn peer(node: u64) -> Peer {
    let new =
        NewPeer { node: NodeId::new(node), name: "Ann".into(), frame_us: FRAME_US, settings: PeerSettings::default() };
    let mut peer = Peer::new(new, CollisionScene::empty(), at(0)).unwrap();
    let place = DVec3::X * (10.0 * node as f64);
    peer.add(NewObject { index: 1, radius: 1.0, aura: 30.0, place, velocity: DVec3::ZERO }, at(0)).unwrap();
    peer
}

/// The number of frames until both peers have each other's objects, if each datagram is lost with this probability and
/// the stream brings nothing.
fn frames_without_a_stream(loss: f32, seed: u64) -> Option<u32> {
    let mut random = Random::new(seed);
    let mut peers = [peer(1), peer(2)];
    for peer in &mut peers {
        peer.handle(at(0), Event::Opened { from: LINK.into(), secret: [0; 16] });
    }
    (0..200).find(|&frame| {
        let now = at(i64::from(frame) * FRAME_US);
        for from in 0..2 {
            peers[from].wake(now);
            while let Some(effect) = peers[from].poll() {
                if let Effect::Send { channel: Channel::Datagram, bytes, .. } = effect
                    && random.unit() >= loss
                {
                    let event = Event::Arrived { from: LINK.into(), channel: Channel::Datagram, bytes: &bytes };
                    peers[1 - from].handle(now, event);
                }
            }
        }
        let is_complete = |peer: &Peer| peer.others().count() == 1 && peer.hearers(1).len() == 1;
        peers.iter().all(|peer| peer.tally().refused.total() == 0) && peers.iter().all(is_complete)
    })
}

#[test]
fn datagrams_are_enough_even_if_most_are_lost() {
    // Every 0.1 s each side sends again what the other lacks: hello, answer, objects.
    assert!(frames_without_a_stream(0.0, 1).is_some_and(|frames| frames <= 40));
    for seed in 0..200 {
        let frames = frames_without_a_stream(0.2, seed);
        assert!(frames.is_some_and(|frames| frames <= 120), "seed {seed}: {frames:?} frames");
    }
    assert_eq!(frames_without_a_stream(1.0, 1), None);
}

fn hear(peer: &mut Peer, channel: Channel, message: &ToPeer) {
    peer.handle(at(0), Event::Arrived { from: LINK.into(), channel, bytes: &message.encode() });
}

#[test]
fn a_late_datagram_brings_nothing_back_and_the_stream_counts() {
    let mut peer = peer(1);
    peer.handle(at(0), Event::Opened { from: LINK.into(), secret: [0; 16] });
    let hello = PeerHello {
        version: PEER_VERSION,
        node: 9,
        name: "Bob".into(),
        settings: PeerSettings::default().hash(),
        time_us: at(0).micros(),
    };
    hear(&mut peer, Channel::Datagram, &ToPeer::Hello(hello));
    let owns = |radius: f32| Owns { index: 1, radius, aura: 30.0 };
    let report = |radius: f32| ToPeer::Report(Report { owns: vec![owns(radius)], ..Report::default() });
    let moves = ToPeer::Report(Report { motions: vec![motion()], ..Report::default() });
    let is_known = |peer: &mut Peer| {
        let early = peer.tally().early;
        hear(peer, Channel::Datagram, &moves);
        peer.tally().early == early
    };

    hear(&mut peer, Channel::Datagram, &report(1.0));
    assert!(is_known(&mut peer), "before the announcement on the stream");
    hear(&mut peer, Channel::Stream, &ToPeer::Owns(owns(2.0)));
    hear(&mut peer, Channel::Datagram, &report(1.0));
    hear(&mut peer, Channel::Datagram, &report(2.0));
    assert_eq!(peer.tally().refused.total(), 0, "late datagrams are not refused");
    hear(&mut peer, Channel::Stream, &ToPeer::Owns(owns(1.0)));
    assert_eq!(peer.tally().refused.beyond_bounds, 1, "the stream announces an object once");

    hear(&mut peer, Channel::Stream, &ToPeer::Drops { index: 1 });
    hear(&mut peer, Channel::Datagram, &report(2.0));
    assert!(!is_known(&mut peer), "it was removed");
    hear(&mut peer, Channel::Stream, &ToPeer::Owns(owns(3.0)));
    assert!(is_known(&mut peer), "it was announced again");
    assert_eq!(peer.tally().refused.total(), 1);
}

fn motion() -> wire::peer::MotionUpdate {
    wire::peer::MotionUpdate {
        index: 1,
        seq: 1,
        algorithm: 2,
        flags: 0,
        age_us: 0,
        place: [20_480, 0, 0],
        velocity: [0; 3],
        acceleration: [0; 3],
        turn: space::Turn::IDENTITY,
        spin: [0; 3],
    }
}
