//! Messages in any order and with duplicates give the same replica as the sorted list, and no message, whatever its
//! bits, makes a prediction that is not finite.

mod walk;

use kinesphere_motion::scene::CollisionScene;
use kinesphere_motion::state::{Flags, KinematicState, Sequence, Update};
use kinesphere_motion::track::Rejected;
use kinesphere_motion::trend::Trend;
use kinesphere_motion::{Algorithm, Owner, Replica, ReplicaSettings, SendRule};
use proptest::prelude::*;
use space::workload::Random;
use space::{DQuat, DVec3, NodeId, ObjectId, Time};
use walk::{algorithms, state, update};

#[test]
fn order_and_duplicates_do_not_matter() {
    let scene = walk::room();
    for seed in 0..100 {
        for algorithm in algorithms().filter(|&algorithm| algorithm != Algorithm::PositionHistory) {
            let mut random = Random::new(seed);
            let first = u32::MAX - random.whole(0, 6);
            let updates: Vec<Update> = (0..6)
                .map(|i| {
                    let stamp = Time::from_micros(i64::from(i) * 100_000);
                    update(first.wrapping_add(i), algorithm, state(&mut random, stamp))
                })
                .collect();
            let mut sorted = Replica::new(ReplicaSettings::default());
            for update in &updates {
                sorted.handle(update, &scene).unwrap();
            }
            let mut shuffled = Replica::new(ReplicaSettings::default());
            for _ in 0..random.whole(0, 20) {
                let _ = shuffled.handle(&updates[random.whole(0, 6) as usize], &scene);
            }
            let mut order: Vec<usize> = (0..6).collect();
            for i in (1..6).rev() {
                order.swap(i, random.whole(0, i as u32 + 1) as usize);
            }
            for index in order {
                let _ = shuffled.handle(&updates[index], &scene);
            }
            for us in [500_000, 600_001, 2_000_000] {
                let at = Time::from_micros(us);
                assert_eq!(sorted.predict(at, &scene), shuffled.predict(at, &scene), "seed {seed}, {algorithm:?}");
            }
        }
    }
}

fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<u64>().prop_map(f64::from_bits),
        -100.0..100.0,
        prop_oneof![Just(0.0), Just(-0.0), Just(f64::MIN_POSITIVE), Just(1e9), Just(f64::MAX), Just(5e-324)],
    ]
}

fn any_vector() -> impl Strategy<Value = DVec3> {
    (any_number(), any_number(), any_number()).prop_map(|(x, y, z)| DVec3::new(x, y, z))
}

fn any_update() -> impl Strategy<Value = Update> {
    let state = (any::<i64>(), any_vector(), any_vector(), any_vector(), any_vector());
    let rot = prop_oneof![
        (any_number(), any_number(), any_number(), any_number()).prop_map(|(x, y, z, w)| DQuat::from_xyzw(x, y, z, w)),
        Just(DQuat::from_xyzw(0.0, 0.6, 0.0, 0.8)),
    ];
    let algorithm = (0..11usize).prop_map(|number| algorithms().nth(number).unwrap());
    let trend = (any_vector(), any_number(), any_number());
    (any::<u32>(), algorithm, state, rot, trend, any::<u8>()).prop_map(
        |(seq, algorithm, (stamp, pos, vel, acc, angvel), rot, (before, first, second), bits)| Update {
            owner: NodeId::new(1),
            object: ObjectId::new(1).unwrap(),
            seq: Sequence::new(seq),
            algorithm,
            state: KinematicState { stamp: Time::from_micros(stamp), pos, vel, acc, rot, angvel },
            trend: Trend { before, first, second, ..Trend::default() },
            flags: Flags::from_bits(bits),
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn no_nan_leaves_whatever_comes_in(updates in prop::collection::vec(any_update(), 1..6), at in any::<i64>()) {
        let scene = walk::room();
        let mut replica = Replica::new(ReplicaSettings::default());
        for update in &updates {
            let before = replica.newest().copied();
            match replica.handle(update, &scene) {
                Err(Rejected::Unbelievable(_) | Rejected::Duplicate | Rejected::Old) => {
                    prop_assert_eq!(replica.newest(), before.as_ref(), "rejected input changes nothing");
                }
                Ok(_) => {}
            }
            for at in [Time::from_micros(at), update.state.stamp, update.state.stamp + 3_000_000] {
                if let Some(seen) = replica.predict(at, &scene) {
                    prop_assert!(seen.pos.is_finite() && seen.vel.is_finite() && seen.acc.is_finite(), "{seen:?}");
                    prop_assert!((seen.rot.length() - 1.0).abs() < 1e-9, "{seen:?}");
                }
            }
        }
    }

    #[test]
    fn an_owner_never_sends_nonsense(update in any_update()) {
        let scene = CollisionScene::empty();
        let settings = ReplicaSettings::default();
        let rule = SendRule::default();
        let mut owner = Owner::new(NodeId::new(1), update.object, update.algorithm, rule, settings, |update| *update);
        let calm = KinematicState::at_rest(Time::default(), DVec3::ONE);
        owner.frame(&calm, None, 0.5, &scene).unwrap();
        let before = owner.ghost(Time::from_micros(5), &scene);
        match owner.frame(&update.state, None, 0.5, &scene) {
            Err(_) => prop_assert_eq!(owner.ghost(Time::from_micros(5), &scene), before),
            Ok(frame) => if let Some(sent) = frame.update {
                prop_assert!(kinesphere_motion::state::believable(&sent, &settings.limits).is_ok());
            }
        }
    }
}
