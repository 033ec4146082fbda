//! Exact collision prediction: no replica is in a wall by more than a micrometre, elastic bounces keep the speed, a
//! contact exactly on a frame is found, and the observer's frames do not show in the result.

mod walk;

use kinesphere_motion::collision_prediction::{CONTACTS_MAX, CollisionMode, Response, Trajectory};
use kinesphere_motion::curve::{AccelerationPolicy, Curve};
use kinesphere_motion::scene::{CollisionScene, SceneObject, SceneShape};
use kinesphere_motion::{Algorithm, KinematicState, Replica, ReplicaSettings};
use space::impact::Ballistic;
use space::workload::Random;
use space::{DVec3, Time};
use walk::{algorithms, room, state, update};

fn depth(scene: &CollisionScene, pos: DVec3, radius: f64, at: Time) -> f64 {
    scene.objects().iter().map(|object| -object.separation(at, pos, radius).0).fold(f64::NEG_INFINITY, f64::max)
}

/// A state that is in no wall.
fn free_state(random: &mut Random, scene: &CollisionScene) -> KinematicState {
    loop {
        let state = state(random, Time::default());
        if depth(scene, state.pos, 0.5, state.stamp) < -0.01 {
            return state;
        }
    }
}

#[test]
fn no_replica_is_in_a_wall() {
    let scene = room();
    for seed in 0..150 {
        for algorithm in algorithms() {
            let mut random = Random::new(seed);
            let mut replica = Replica::new(ReplicaSettings::default());
            replica.handle(&update(0, algorithm, free_state(&mut random, &scene)), &scene).unwrap();
            for step in 0..300 {
                let at = Time::from_micros(step * 20_011);
                let pos = replica.predict(at, &scene).unwrap().pos;
                let depth = depth(&scene, pos, 0.5, at);
                assert!(depth < 1e-6, "seed {seed}, {algorithm:?}: {depth:e} m deep at {at}");
            }
        }
    }
}

#[test]
fn elastic_bounces_keep_the_speed() {
    let scene = room();
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let start = free_state(&mut random, &scene);
        let mut replica = Replica::new(ReplicaSettings::default());
        replica.handle(&update(0, Algorithm::Fpw, start), &scene).unwrap();
        for step in 0..100 {
            let seen = replica.predict(Time::from_micros(step * 50_000), &scene).unwrap();
            let stopped = replica.trajectory().unwrap().is_stopped();
            let change = (seen.vel.length() - start.vel.length()).abs();
            assert!(stopped || change < 1e-12 * start.vel.length(), "seed {seed}: {change:e}");
        }
    }
}

#[test]
fn a_contact_exactly_on_a_frame_is_found() {
    // A wall that is reached after exactly one second, and frames that fall on it.
    let wall = SceneObject::standing(SceneShape::Cuboid(DVec3::new(1.0, 9.0, 9.0)), DVec3::new(10.0, 0.0, 0.0));
    let scene = CollisionScene::new(vec![wall]).unwrap();
    let mut start = KinematicState::at_rest(Time::default(), DVec3::new(4.5, 0.0, 0.0));
    start.vel = DVec3::new(4.0, 1.0, 0.0);
    for frames_per_s in [20, 30, 50, 60] {
        let mut replica = Replica::new(ReplicaSettings::default());
        replica.handle(&update(0, Algorithm::Fpw, start), &scene).unwrap();
        for frame in 0..=2 * frames_per_s {
            let seen = replica.predict(Time::from_micros(frame * 1_000_000 / frames_per_s), &scene).unwrap();
            let expected = if frame < frames_per_s { 4.0 } else { -4.0 };
            assert!(frame == 0 || seen.vel.x == expected, "{frames_per_s} Hz, frame {frame}: {seen:?}");
            assert!(seen.pos.x <= 8.5 + 1e-9);
        }
    }
}

#[test]
fn the_observers_frames_have_no_effect() {
    let scene = room();
    for seed in 0..100 {
        for algorithm in algorithms() {
            let mut random = Random::new(seed);
            let update = update(0, algorithm, free_state(&mut random, &scene));
            let mut once = Replica::new(ReplicaSettings::default());
            once.handle(&update, &scene).unwrap();
            let at = Time::from_micros(i64::from(random.whole(0, 6_000_000)));
            let expected = once.predict(at, &scene);
            for frame_us in [16_667, 33_333, 50_000] {
                let mut often = Replica::new(ReplicaSettings::default());
                often.handle(&update, &scene).unwrap();
                for us in (0..at.micros()).step_by(frame_us) {
                    often.predict(Time::from_micros(us), &scene);
                }
                assert_eq!(often.predict(at, &scene), expected, "seed {seed}, {algorithm:?}, {frame_us} us");
            }
        }
    }
}

#[test]
fn a_late_update_replays_from_its_stamp_and_a_later_one_replaces_everything() {
    let scene = room();
    let mut random = Random::new(3);
    let first = free_state(&mut random, &scene);
    let second = KinematicState { stamp: Time::from_micros(300_000), ..free_state(&mut random, &scene) };
    let at = Time::from_micros(2_000_000);
    let mut both = Replica::new(ReplicaSettings::default());
    both.handle(&update(0, Algorithm::Fvw, first), &scene).unwrap();
    both.predict(at, &scene);
    both.handle(&update(1, Algorithm::Fvw, second), &scene).unwrap();
    let mut fresh = Replica::new(ReplicaSettings::default());
    fresh.handle(&update(1, Algorithm::Fvw, second), &scene).unwrap();
    assert_eq!(both.predict(at, &scene), fresh.predict(at, &scene));
}

#[test]
fn contacts_are_bounded_and_the_last_one_holds() {
    // A ball falls into a sticky floor: without a bound it would bounce forever.
    let floor = SceneObject::standing(SceneShape::Cuboid(DVec3::new(50.0, 1.0, 50.0)), DVec3::new(0.0, -1.0, 0.0));
    let scene = CollisionScene::new(vec![floor]).unwrap();
    let fall = Ballistic { pos: DVec3::new(0.0, 3.0, 0.0), vel: DVec3::X, acc: DVec3::new(0.0, -10.0, 0.0) };
    let mut trajectory = Trajectory::new(Time::default(), Curve::Ballistic(fall), 0.5);
    let response = Response { restitution: 0.5, friction: 0.1, acceleration: AccelerationPolicy::Keep };
    trajectory.plan(30.0, CollisionMode::Exact, &response, &scene);
    assert_eq!(trajectory.contacts().count(), CONTACTS_MAX);
    assert!(trajectory.is_stopped());
    let rest = trajectory.at(30.0);
    assert!((rest.pos.y - 0.5).abs() < 1e-6 && rest.vel == DVec3::ZERO, "{rest:?}");
}

#[test]
fn moving_objects_are_met_where_they_are() {
    let lift = SceneObject {
        shape: SceneShape::Cuboid(DVec3::new(5.0, 0.5, 5.0)),
        pos: DVec3::new(0.0, -4.0, 0.0),
        vel: DVec3::new(0.0, 1.0, 0.0),
        epoch: Time::from_micros(-2_000_000),
    };
    let scene = CollisionScene::new(vec![lift]).unwrap();
    let mut start = KinematicState::at_rest(Time::from_micros(1_000_000), DVec3::new(0.0, 5.0, 0.0));
    start.vel = DVec3::new(0.0, -2.0, 0.0);
    let mut replica = Replica::new(ReplicaSettings::default());
    replica.handle(&update(0, Algorithm::Fpw, start), &scene).unwrap();
    // At the stamp the lift's top is at -0.5, the ball's lowest point at 4.5: they close at 3 m/s.
    let seen = replica.predict(Time::from_micros(2_700_000), &scene).unwrap();
    assert!((seen.vel.y - 4.0).abs() < 1e-9, "an elastic bounce, relative to the lift: {seen:?}");
}

#[test]
fn the_papers_mode_turns_at_the_penetrated_place() {
    let wall = SceneObject::standing(SceneShape::Cuboid(DVec3::new(1.0, 9.0, 9.0)), DVec3::new(10.0, 0.0, 0.0));
    let scene = CollisionScene::new(vec![wall]).unwrap();
    let mut start = KinematicState::at_rest(Time::default(), DVec3::new(4.4, 0.0, 0.0));
    start.vel = DVec3::new(4.0, 0.0, 0.0);
    let collisions = CollisionMode::Discrete { frame_at: Time::default(), frame_us: 100_000 };
    let mut replica = Replica::new(ReplicaSettings { collisions, ..ReplicaSettings::default() });
    replica.handle(&update(0, Algorithm::Fpw, start), &scene).unwrap();
    let seen = replica.predict(Time::from_micros(1_100_000), &scene).unwrap();
    assert!((seen.pos.x - 8.8).abs() < 1e-9 && seen.vel.x == -4.0, "{seen:?}");
    let seen = replica.predict(Time::from_micros(1_200_000), &scene).unwrap();
    assert!((seen.pos.x - 8.4).abs() < 1e-9, "{seen:?}");
}
