//! Straight uniform motion is predicted without error at any latency and frame rate, constant acceleration by
//! the second order, a steady turn by model 7; at its stamp the sent state is exact, and predictions are
//! continuous in time.

mod walk;

use kinesphere_motion::scene::CollisionScene;
use kinesphere_motion::{Algorithm, KinematicState, Owner, Replica, ReplicaSettings, SendRule, rotation};
use space::workload::Random;
use space::{DVec3, NodeId, ObjectId, Time};
use walk::{algorithms, orientation, state, update, vector};

/// The largest error of an observer of a motion over a link, after it has received `heard_min` updates.
fn largest_error(
    algorithm: Algorithm,
    truth: impl Fn(f64) -> KinematicState,
    latency_us: i64,
    owner_us: i64,
    observer_us: i64,
    heard_min: usize,
) -> f64 {
    let scene = CollisionScene::empty();
    let settings = ReplicaSettings::default();
    let rule = SendRule { heartbeat_us: 700_000, ..SendRule::default() };
    let (me, object) = (NodeId::new(1), ObjectId::new(1).unwrap());
    let mut owner = Owner::new(me, object, algorithm, rule, settings, |update| *update);
    let mut observer = Replica::new(settings);
    let (mut sent, mut heard, mut worst) = (Vec::new(), 0, 0.0_f64);
    let at = |us: i64| KinematicState { stamp: Time::from_micros(us), ..truth(us as f64 * 1e-6) };
    for us in (0..5_000_000).step_by(owner_us as usize) {
        sent.extend(owner.frame(&at(us), None, 1e9, &scene).unwrap().update.map(|update| (us + latency_us, update)));
    }
    for us in (0..5_000_000).step_by(observer_us as usize) {
        while heard < sent.len() && sent[heard].0 <= us {
            observer.handle(&sent[heard].1, &scene).unwrap();
            heard += 1;
        }
        if heard >= heard_min {
            let seen = observer.predict(Time::from_micros(us), &scene).unwrap();
            worst = worst.max((seen.pos - at(us).pos).length());
            if algorithm == Algorithm::Rpb {
                worst = worst.max(rotation::angle_between(seen.rot, at(us).rot) * 1e-2);
            }
        }
    }
    worst
}

#[test]
fn straight_motion_has_no_error() {
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let start = KinematicState { acc: DVec3::ZERO, angvel: DVec3::ZERO, ..state(&mut random, Time::default()) };
        let truth = |t: f64| KinematicState { pos: start.pos + start.vel * t, ..start };
        for algorithm in algorithms().filter(|&algorithm| algorithm != Algorithm::Static) {
            for (latency_us, owner_us, observer_us) in
                [(0, 16_667, 16_667), (200_000, 16_667, 50_000), (990_001, 20_000, 33_333)]
            {
                let heard_min = if algorithm == Algorithm::PositionHistory { 2 } else { 1 };
                let error = largest_error(algorithm, truth, latency_us, owner_us, observer_us, heard_min);
                assert!(error < 1e-9, "seed {seed}, {algorithm:?}, {latency_us} us: {error:e}");
            }
        }
    }
}

#[test]
fn constant_acceleration_has_no_error_in_the_second_order() {
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let start = KinematicState { angvel: DVec3::ZERO, ..state(&mut random, Time::default()) };
        let truth = |t: f64| KinematicState {
            pos: start.pos + start.vel * t + start.acc * (0.5 * t * t),
            vel: start.vel + start.acc * t,
            ..start
        };
        for (algorithm, heard_min) in
            [(Algorithm::Rvw, 1), (Algorithm::Fvw, 1), (Algorithm::Rvb, 1), (Algorithm::Fvb, 1)]
        {
            let error = largest_error(algorithm, truth, 300_000, 16_667, 20_000, heard_min);
            assert!(error < 1e-9, "seed {seed}, {algorithm:?}: {error:e}");
        }
        // Three positions fit the parabola, unless it turns back on itself.
        if start.vel.length() > 12.0 * start.acc.length() {
            let error = largest_error(Algorithm::PositionHistory, truth, 300_000, 16_667, 20_000, 3);
            assert!(error < 1e-9, "seed {seed}: {error:e}");
        }
    }
}

#[test]
fn a_steady_turn_has_no_error_in_model_seven() {
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let (rot, angvel, body_vel, start) =
            (orientation(&mut random), vector(&mut random, 1.0), vector(&mut random, 8.0), vector(&mut random, 20.0));
        let truth = |t: f64| {
            let turned = rotation::advanced(rot, angvel, t);
            KinematicState {
                stamp: Time::default(),
                pos: start + rot * kinesphere_motion::dead_reckoning::first_integral(angvel, t, body_vel),
                vel: turned * body_vel,
                acc: DVec3::ZERO,
                rot: turned,
                angvel,
            }
        };
        let error = largest_error(Algorithm::Rpb, truth, 400_000, 16_667, 16_667, 1);
        assert!(error < 1e-9, "seed {seed}: {error:e}");
    }
}

#[test]
fn at_its_stamp_the_sent_state_is_exact() {
    let scene = walk::room();
    for seed in 0..50 {
        for algorithm in algorithms() {
            let mut random = Random::new(seed);
            let sent = state(&mut random, Time::from_micros(1_234_567));
            let mut replica = Replica::new(ReplicaSettings::default());
            replica.handle(&update(0, algorithm, sent), &scene).unwrap();
            let before = replica.predict(Time::from_micros(0), &scene).unwrap();
            for seen in [replica.predict(sent.stamp, &scene).unwrap(), before] {
                assert_eq!((seen.pos, seen.vel, seen.acc, seen.rot), (sent.pos, sent.vel, sent.acc, sent.rot));
            }
        }
    }
}

#[test]
fn prediction_is_continuous_in_time() {
    let scene = walk::room();
    for seed in 0..50 {
        for algorithm in algorithms() {
            let mut random = Random::new(seed);
            let mut replica = Replica::new(ReplicaSettings::default());
            let sent = state(&mut random, Time::default());
            replica.handle(&update(0, algorithm, sent), &scene).unwrap();
            let mut last = replica.predict(sent.stamp, &scene).unwrap();
            for step in 1..8_000 {
                let seen = replica.predict(Time::from_micros(step * 1_000), &scene).unwrap();
                let way = (seen.pos - last.pos).length();
                // A millisecond at the highest speed after five seconds of acceleration.
                assert!(way < 0.2, "seed {seed}, {algorithm:?}: {way} m in a millisecond at {step} ms");
                assert!(rotation::angle_between(seen.rot, last.rot) < 0.02);
                last = seen;
            }
        }
    }
}
