//! A frame of two peers that hear each other's objects, by the number of objects that each of them moves.

use divan::Bencher;
use kinesphere_peer::motion::CollisionScene;
use kinesphere_peer::settings::PeerSettings;
use kinesphere_peer::space::{DVec3, NodeId, Time, workload::Random};
use kinesphere_peer::wire::{Effect, Event, LinkId, Participant};
use kinesphere_peer::{NewObject, NewPeer, Peer};

fn main() {
    divan::main();
}

#[divan::bench(args = [1, 16])]
fn frame(bencher: Bencher, objects: u32) {
    let (mut now, link, mut random) = (Time::default(), LinkId(1), Random::new(1));
    let mut peers = [1, 2].map(|number| {
        let (node, name, settings) = (NodeId::new(number), number.to_string(), PeerSettings::default());
        let mut peer =
            Peer::new(NewPeer { node, name, frame_us: 16_667, settings }, CollisionScene::empty(), now).unwrap();
        for index in 1..=objects {
            let (place, velocity) = ((random.in_ball() * 50.0).as_dvec3(), DVec3::X);
            peer.add(NewObject { index, radius: 0.1, aura: 20.0, place, velocity }, now).unwrap();
        }
        peer.handle(now, Event::Opened { from: link.into(), secret: [0; 16] });
        peer
    });
    bencher.bench_local(|| {
        now = now + 16_667;
        for sender in 0..2 {
            peers[sender].wake(now);
            while let Some(effect) = peers[sender].poll() {
                if let Effect::Send { channel, bytes, .. } = effect {
                    peers[1 - sender].handle(now, Event::Arrived { from: link.into(), channel, bytes: &bytes });
                }
            }
        }
    });
}
