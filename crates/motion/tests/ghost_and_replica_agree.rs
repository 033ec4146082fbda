//! Ghost and replica agree bit for bit at equal times after equal messages, also late ones, after clocks that go back,
//! gaps of an hour, and sequence numbers that wrap around.

mod walk;

use kinesphere_motion::state::Sequence;
use kinesphere_motion::{Owner, Replica, ReplicaSettings, SendRule};
use space::workload::Random;
use space::{NodeId, ObjectId, Time};
use walk::{Walk, algorithms, room};

/// A wire that rounds positions to the millimetre and the rest to `f32`.
fn rounded(update: &kinesphere_motion::Update) -> kinesphere_motion::Update {
    let mut rounded = *update;
    rounded.state.pos = (rounded.state.pos * 1e3).round() / 1e3;
    rounded.state.vel = rounded.state.vel.as_vec3().as_dvec3();
    rounded.state.acc = rounded.state.acc.as_vec3().as_dvec3();
    rounded
}

#[test]
fn ghost_and_replica_agree_bit_for_bit() {
    let scene = room();
    for seed in 0..60 {
        for algorithm in algorithms() {
            let mut random = Random::new(seed);
            let mut truth = Walk::new(seed, 20.0);
            let settings = ReplicaSettings::default();
            let rule = SendRule { limit_rot: 0.5, ..SendRule::default() };
            let mut owner = Owner::new(NodeId::new(1), ObjectId::new(1).unwrap(), algorithm, rule, settings, rounded);
            owner.start_from(Sequence::new(u32::MAX - 3));
            let (mut prompt, mut late) = (Replica::new(settings), Replica::new(settings));
            let mut under_way = Vec::new();
            for frame in 0..150 {
                let mut state = truth.step(16_667);
                match random.whole(0, 200) {
                    0 => truth.state.stamp = state.stamp + 3_600_000_000,
                    1 => truth.state.stamp = state.stamp + -2_000_000,
                    _ => {}
                }
                state.stamp = truth.state.stamp;
                let sent = owner.frame(&state, None, 0.3, &scene).unwrap();
                for update in sent.repeat.into_iter().chain(sent.update) {
                    let _ = prompt.handle(&update, &scene);
                    under_way.push(update);
                }
                let at = state.stamp;
                // Only in some frames, as earlier evaluations must have no effect.
                if random.whole(0, 3) == 0 {
                    let (ghost, seen) = (owner.ghost(at, &scene), prompt.predict(at, &scene));
                    assert_eq!(ghost, seen, "seed {seed}, {algorithm:?}, frame {frame}");
                }
            }
            for update in under_way {
                let _ = late.handle(&update, &scene);
            }
            for later_us in [0, 1, 12_345, 500_000, 3_000_000, 60_000_000] {
                let at = truth.state.stamp + later_us;
                let (ghost, seen) = (owner.ghost(at, &scene), late.predict(at, &scene));
                assert_eq!(ghost, seen, "seed {seed}, {algorithm:?}, {later_us} us later");
            }
        }
    }
}

#[test]
fn an_object_at_rest_sends_one_message_per_heartbeat() {
    let scene = room();
    let settings = ReplicaSettings::default();
    for algorithm in algorithms() {
        let mut owner =
            Owner::new(NodeId::new(1), ObjectId::new(1).unwrap(), algorithm, SendRule::default(), settings, |update| {
                *update
            });
        let mut sent = Vec::new();
        for frame in 0..=60 * 60 {
            let at = Time::from_micros(frame * 1_000_000 / 60);
            let truth = kinesphere_motion::KinematicState::at_rest(at, space::DVec3::ONE);
            if owner.frame(&truth, None, 0.5, &scene).unwrap().update.is_some() {
                sent.push(at.micros());
            }
        }
        let expected: Vec<i64> = (0..=12).map(|beat| beat * 5_000_000).collect();
        assert_eq!(sent, expected, "{algorithm:?}");
    }
}
