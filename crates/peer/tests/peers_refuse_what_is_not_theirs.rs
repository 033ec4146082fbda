//! Updates of a peer that is not the owner, forged digests, claims and verdicts, impostors and random bytes are
//! refused, counted, and without effect on a peer's own objects.

use kinesphere_peer::settings::PeerSettings;
use kinesphere_peer::{NewObject, NewPeer, Peer};
use motion::CollisionScene;
use proptest::prelude::*;
use space::{DVec3, NodeId, Time};
use wire::peer::{
    After, ContactClaim, ContactVerdict, MotionUpdate, Owns, PEER_VERSION, PeerHello, Report, StateDigest, Watch, name,
};
use wire::{Channel, Effect, Event, LinkId, Participant, ToPeer};

const LINK: LinkId = LinkId(1);

fn at(ms: i64) -> Time {
    Time::from_micros(10_000_000 + ms * 1_000)
}

/// A peer with one object, connected to peer 9 with one object.
fn peer() -> Peer {
    let new = NewPeer { node: NodeId::new(1), name: "Ann".into(), frame_us: 16_667, settings: PeerSettings::default() };
    let mut peer = Peer::new(new, CollisionScene::empty(), at(0)).unwrap();
    let new = NewObject { index: 1, radius: 1.0, aura: 30.0, place: DVec3::ZERO, velocity: DVec3::X };
    peer.add(new, at(0)).unwrap();
    peer.handle(at(0), Event::Opened { from: LINK.into(), secret: [0; 16] });
    hear(&mut peer, LINK, &hello(9));
    hear(&mut peer, LINK, &ToPeer::Owns(Owns { index: 1, radius: 1.0, aura: 30.0 }));
    hear(&mut peer, LINK, &report(motion(1, 1)));
    peer.wake(at(0));
    // Without an answer to its ping it could not predict the other's object.
    let time_us = at(0).micros();
    hear(&mut peer, LINK, &ToPeer::Pong { asked_us: time_us, received_us: time_us, replied_us: time_us });
    peer.wake(at(20));
    while peer.poll().is_some() {}
    assert_eq!(peer.others().count(), 1);
    assert_eq!(peer.tally().refused.total(), 0);
    peer
}

fn hello(node: u64) -> ToPeer {
    let settings = PeerSettings::default().hash();
    ToPeer::Hello(PeerHello { version: PEER_VERSION, node, name: "Bob".into(), settings, time_us: 0 })
}

fn motion(index: u32, seq: u32) -> MotionUpdate {
    MotionUpdate {
        index,
        seq,
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

fn report(motion: MotionUpdate) -> ToPeer {
    ToPeer::Report(Report { motions: vec![motion], ..Report::default() })
}

fn hear(peer: &mut Peer, link: LinkId, message: &ToPeer) {
    let channel = if message.is_datagram() { Channel::Datagram } else { Channel::Stream };
    peer.handle(at(0), Event::Arrived { from: link.into(), channel, bytes: &message.encode() });
}

#[test]
fn a_peer_can_name_only_its_own_objects() {
    let mut peer = peer();
    let own: Vec<_> = peer.own().collect();
    // An index names an object of the sender.
    hear(&mut peer, LINK, &report(motion(2, 9)));
    assert_eq!((peer.tally().early, peer.others().count()), (1, 1));
    hear(&mut peer, LINK, &ToPeer::Drops { index: 2 });
    assert_eq!(peer.tally().refused.not_the_owner, 1);
    assert_eq!(peer.own().collect::<Vec<_>>(), own);
    assert_eq!(peer.own().map(|(object, _)| name::owner(object)).collect::<Vec<_>>(), [NodeId::new(1)]);
}

#[test]
fn an_impostor_gets_no_number_that_is_taken() {
    let mut peer = peer();
    for (link, taken) in [(LinkId(2), 9), (LinkId(3), 1)] {
        peer.handle(at(0), Event::Opened { from: link.into(), secret: [0; 16] });
        while peer.poll().is_some() {}
        hear(&mut peer, link, &hello(taken));
        assert_eq!(peer.poll(), Some(Effect::Close { to: link.into() }));
    }
    assert_eq!(peer.tally().refused.hellos, 2);
    assert_eq!(peer.peers().count(), 1);
    hear(&mut peer, LINK, &hello(9));
    assert_eq!(peer.tally().refused.hellos, 2, "a hello may be repeated");
    hear(&mut peer, LINK, &hello(8));
    assert_eq!((peer.tally().refused.hellos, peer.peers().count()), (3, 1), "but not under another number");
}

#[test]
fn forged_digests_are_refused() {
    let mut peer = peer();
    let epoch = (at(0).micros() / 100_000) as u32;
    let digest = |x: i32| StateDigest { place: [x, 0, 0], velocity: [0; 3], sees: false };
    let watch = |other: u32, newest: u32, x: i32| {
        let watches = vec![Watch { own: 1, other, first: newest, newest, lacks: 0, digests: vec![digest(x)] }];
        ToPeer::Report(Report { watches, ..Report::default() })
    };
    hear(&mut peer, LINK, &watch(1, epoch, 5));
    hear(&mut peer, LINK, &watch(1, epoch, 5));
    assert_eq!(peer.tally().refused.digests, 0);
    hear(&mut peer, LINK, &watch(1, epoch, 6));
    assert_eq!(peer.tally().refused.digests, 1, "it contradicts an earlier one");
    hear(&mut peer, LINK, &watch(1, epoch + 50, 5));
    assert_eq!(peer.tally().refused.digests, 2, "of a future epoch");
    hear(&mut peer, LINK, &watch(7, epoch, 5));
    assert_eq!(peer.tally().refused.digests, 3, "no own object has this index");
}

#[test]
fn forged_claims_and_verdicts_are_refused() {
    let mut peer = peer();
    let own: Vec<_> = peer.own().collect();
    let now_us = at(0).micros();
    let claim = ContactClaim { own: 1, other: 1, term: 0, contact_us: now_us };
    for forged in [
        ContactClaim { own: 2, ..claim },
        ContactClaim { other: 2, ..claim },
        ContactClaim { contact_us: now_us + 60_000_000, ..claim },
        ContactClaim { contact_us: now_us - 60_000_000, ..claim },
    ] {
        hear(&mut peer, LINK, &ToPeer::Claim(forged));
    }
    assert_eq!(peer.tally().refused.claims, 4);
    let after = |x: i32| After { place: [x, 0, 0], velocity: [0; 3] };
    let near = Some([after(2_048), after(0)]);
    let verdict = ContactVerdict { own: 1, node: 1, other: 1, term: 90, contact_us: now_us, after: near };
    for forged in [
        ContactVerdict { own: 2, ..verdict },
        ContactVerdict { other: 2, ..verdict },
        ContactVerdict { node: 9, other: 2, ..verdict },
        ContactVerdict { term: 0, ..verdict },
        ContactVerdict { term: 1_000_000, ..verdict },
        ContactVerdict { contact_us: now_us + 60_000_000, ..verdict },
        ContactVerdict { after: Some([after(2_048), after(5_000_000)]), ..verdict },
        ContactVerdict { after: Some([after(0), After { velocity: [1_000_000, 0, 0], ..after(0) }]), ..verdict },
    ] {
        hear(&mut peer, LINK, &ToPeer::Verdict(forged));
    }
    assert_eq!(peer.tally().refused.verdicts, 8);
    assert_eq!(peer.verdicts().count(), 0);
    assert_eq!(peer.own().collect::<Vec<_>>(), own);
    hear(&mut peer, LINK, &ToPeer::Verdict(verdict));
    assert_eq!((peer.verdicts().count(), peer.tally().refused.verdicts), (1, 8));
    hear(&mut peer, LINK, &ToPeer::Verdict(ContactVerdict { contact_us: now_us + 1_000, ..verdict }));
    assert_eq!((peer.verdicts().count(), peer.tally().refused.verdicts), (1, 9), "a decider issues one verdict");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_bytes_leave_own_objects_alone(messages in prop::collection::vec(
        (prop::collection::vec(any::<u8>(), 0..60), 0x80_u8..0x8b), 1..20,
    )) {
        let mut peer = peer();
        for (frame, (mut bytes, kind)) in messages.into_iter().enumerate() {
            if let Some(first) = bytes.first_mut() {
                *first = kind;
            }
            peer.handle(at(0), Event::Arrived { from: LINK.into(), channel: Channel::Datagram, bytes: &bytes });
            peer.wake(at(20 * (frame as i64 + 2)));
            let states: Vec<_> = peer.own().collect();
            prop_assert_eq!(states.len(), 1);
            prop_assert!(states[0].1.pos.is_finite() && states[0].1.vel.is_finite());
        }
    }
}
