//! Replicas bounce off each other, with the momentum that two equal masses keep; and not looking at what nobody sees
//! changes nothing that somebody sees.

mod walk;

use motion::company::{View, predict_together};
use motion::scene::Scene;
use motion::{Algorithm, KinematicState, Replica, ReplicaSettings};
use space::workload::Random;
use space::{DVec3, Time};
use walk::{update, vector};

fn replica(pos: DVec3, vel: DVec3, stamp_us: i64, scene: &Scene) -> Replica {
    let mut state = KinematicState::at_rest(Time::from_micros(stamp_us), pos);
    state.vel = vel;
    let mut replica = Replica::new(ReplicaSettings::default());
    replica.handle(&update(0, Algorithm::Fpw, state), scene).unwrap();
    replica
}

#[test]
fn two_replicas_bounce_and_keep_momentum_and_energy() {
    let scene = Scene::empty();
    // One second apart by stamp; they meet at 2.5 s, half a metre from each other's centre to the contact.
    let mut pair = [
        replica(DVec3::new(-5.0, 0.2, 0.0), DVec3::X * 2.0, 0, &scene),
        replica(DVec3::new(4.0, -0.2, 0.0), DVec3::X * -1.0, 1_000_000, &scene),
    ];
    let together = predict_together(&mut pair, Time::from_micros(5_000_000), &scene, None, |_| false);
    assert_eq!(together.contacts, 1);
    let [one, other] = [together.predicted[0].unwrap(), together.predicted[1].unwrap()];
    assert!((one.vel + other.vel - DVec3::X).length() < 1e-9, "{one:?} {other:?}");
    assert!((one.vel.length_squared() + other.vel.length_squared() - 5.0).abs() < 1e-9);
    assert!((one.pos - other.pos).length() > 1.0);
}

#[test]
fn a_stale_replica_takes_no_part() {
    let scene = Scene::empty();
    let mut pair = [
        replica(DVec3::new(-5.0, 0.0, 0.0), DVec3::X, 0, &scene),
        replica(DVec3::new(5.0, 0.0, 0.0), DVec3::X * -1.0, 19_000_000, &scene),
    ];
    let together = predict_together(&mut pair, Time::from_micros(24_000_000), &scene, None, |_| false);
    assert_eq!(together.contacts, 0);
}

#[test]
fn culling_changes_nothing_that_is_seen() {
    let scene = Scene::empty();
    let (mut culled, mut contacts) = (0, 0);
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let mut crowd: Vec<Replica> =
            (0..40).map(|_| replica(vector(&mut random, 12.0), vector(&mut random, 3.0), 0, &scene)).collect();
        let at = Time::from_micros(300_000);
        // The half space x > 0; the margin is what three bodies can hand on in that time.
        let view = View { planes: vec![(DVec3::X, 0.0)], margin: 4.0 };
        let all = predict_together(&mut crowd, at, &scene, None, |_| false);
        let some = predict_together(&mut crowd, at, &scene, Some(&view), |_| false);
        culled += some.culled;
        contacts += all.contacts;
        for (index, (all, some)) in all.predicted.iter().zip(&some.predicted).enumerate() {
            let (all, some) = (all.unwrap(), some.unwrap());
            assert!(all.pos.x + 0.5 < 0.0 || all == some, "seed {seed}, replica {index}: {all:?} {some:?}");
        }
        let near = predict_together(&mut crowd, at, &scene, Some(&view), |_| true);
        assert_eq!(near.culled, 0);
    }
    assert!(culled > 1_000 && contacts > 50, "{culled} culled, {contacts} contacts: the test is too easy");
}
