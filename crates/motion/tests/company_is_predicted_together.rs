//! Replicas bounce off each other as two bodies of equal mass do.

mod walk;

use kinesphere_motion::company::predict_together;
use kinesphere_motion::scene::CollisionScene;
use kinesphere_motion::{Algorithm, KinematicState, Replica, ReplicaSettings};
use space::{DVec3, Time};
use walk::update;

fn replica(pos: DVec3, vel: DVec3, stamp_us: i64, scene: &CollisionScene) -> Replica {
    let mut state = KinematicState::at_rest(Time::from_micros(stamp_us), pos);
    state.vel = vel;
    let mut replica = Replica::new(ReplicaSettings::default());
    replica.handle(&update(0, Algorithm::Fpw, state), scene).unwrap();
    replica
}

#[test]
fn two_replicas_bounce_and_keep_momentum_and_energy() {
    let scene = CollisionScene::empty();
    // Their stamps are one second apart.
    let mut pair = [
        replica(DVec3::new(-5.0, 0.2, 0.0), DVec3::X * 2.0, 0, &scene),
        replica(DVec3::new(4.0, -0.2, 0.0), DVec3::X * -1.0, 1_000_000, &scene),
    ];
    let together = predict_together(&mut pair.each_mut().map(|one| (one, Time::from_micros(5_000_000))), &scene);
    assert_eq!(together.contacts, 1);
    let [one, other] = [together.predicted[0].unwrap(), together.predicted[1].unwrap()];
    assert!((one.vel + other.vel - DVec3::X).length() < 1e-9, "{one:?} {other:?}");
    assert!((one.vel.length_squared() + other.vel.length_squared() - 5.0).abs() < 1e-9);
    assert!((one.pos - other.pos).length() > 1.0);
}

#[test]
fn a_stale_replica_takes_no_part() {
    let scene = CollisionScene::empty();
    let mut pair = [
        replica(DVec3::new(-5.0, 0.0, 0.0), DVec3::X, 0, &scene),
        replica(DVec3::new(5.0, 0.0, 0.0), DVec3::X * -1.0, 19_000_000, &scene),
    ];
    let together = predict_together(&mut pair.each_mut().map(|one| (one, Time::from_micros(24_000_000))), &scene);
    assert_eq!(together.contacts, 0);
}
