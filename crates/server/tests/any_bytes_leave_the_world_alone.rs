//! A server takes any bytes without a panic, and none of them reach the world unchecked.
//! is, to the bit, the world without.

mod hall;

use hall::Hall;
use kinesphere_server::ServerSettings;
use proptest::prelude::*;
use wire::{Channel, Event, InputStep, Moves, Participant, ToServer};

fn channels() -> impl Strategy<Value = Channel> {
    prop_oneof![Just(Channel::Stream), Just(Channel::Datagram)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn strangers_change_nothing(
        arrivals in prop::collection::vec(
            (0..4_u64, channels(), prop::collection::vec(any::<u8>(), 0..80), 0..3_u32),
            1..120,
        ),
    ) {
        let (mut hall, mut quiet) = (Hall::new(ServerSettings::default()), Hall::new(ServerSettings::default()));
        for number in 0..4 {
            hall.open(number);
        }
        for (number, channel, bytes, ticks) in arrivals {
            // A hello that happens to be well formed would be a user: that is not what is tried here.
            prop_assume!(!matches!(ToServer::decode(&bytes), Ok(ToServer::Hello(_))));
            hall.bytes(wire::LinkId(number), channel, &bytes);
            hall.ticks(ticks);
            quiet.ticks(ticks);
        }
        prop_assert_eq!(hall.server.world().hash(), quiet.server.world().hash());
    }

    #[test]
    fn nonsense_from_a_user_never_reaches_the_world(
        velocities in prop::collection::vec(prop::array::uniform3(any::<i16>()), 1..60),
        garbage in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 0..20),
    ) {
        let mut hall = Hall::new(ServerSettings::default());
        let (link, _) = hall.join(1, "Ann");
        let speed_max = hall.server.world().spec().limits.speed;
        for (number, velocity) in (1..).zip(velocities) {
            let speed = velocity.map(|part| f32::from(part) / 256.0).iter().map(|part| part * part).sum::<f32>().sqrt();
            let before = hall.server.counts();
            let step = InputStep { velocity, heading: 0, is_jump: false };
            hall.say(link, &ToServer::Moves(Moves { heard: 0, tick: 0, newest: number, steps: vec![step] }));
            if speed > speed_max + 0.02 {
                prop_assert_eq!(hall.server.counts().rejected, before.rejected + 1);
            }
            hall.ticks(1);
            let refused = &hall.server.world().outcome().refused;
            prop_assert!(refused.is_empty(), "the server let pass what the world refused");
            if hall.end(link).is_some() {
                // Dropped for too much of it, as it should be.
                break;
            }
        }
        for bytes in garbage {
            hall.bytes(link, Channel::Datagram, &bytes);
            hall.ticks(1);
            prop_assert!(hall.server.world().outcome().refused.is_empty(), "garbage reached the world: {:x?}", bytes);
        }
        prop_assert_eq!(hall.server.world().first_overlap(), None);
    }
}

#[test]
fn a_flood_is_dropped_and_others_are_served() {
    let mut hall = Hall::new(ServerSettings::default());
    let (ann, _) = hall.join(1, "Ann");
    let (mallory, _) = hall.join(2, "Mallory");
    for number in 1..2_000_u32 {
        let moves = Moves { heard: 0, tick: 0, newest: number, steps: vec![InputStep::default()] };
        hall.server.handle(
            hall.now,
            Event::Arrived {
                from: mallory.into(),
                channel: Channel::Datagram,
                bytes: &ToServer::Moves(moves).encode(),
            },
        );
    }
    hall.collect();
    let end = hall.end(mallory).expect("it is sent away");
    assert_eq!(end.reason, wire::CloseReason::Misbehaved);
    hall.sent.clear();
    hall.ticks(5);
    assert_eq!(hall.users(), 1);
    assert!(hall.to(ann).len() >= 5);
}
