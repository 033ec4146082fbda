//! One golden hash for all results of this crate: it is the same in debug and release builds and on every machine. A
//! change that changes results changes this hash; hosts of both versions must not share a session.

mod walk;

use kinesphere_motion::adaptive::{AdaptiveSettings, MovingBall, proximity};
use kinesphere_motion::company::predict_together;
use kinesphere_motion::convergence::{ConvergenceSettings, Display, Shown};
use kinesphere_motion::owner::{Collision, Lead};
use kinesphere_motion::{Algorithm, Owner, Replica, ReplicaSettings, SendRule, bounds};
use space::workload::Random;
use space::{DVec3, NodeId, ObjectId, Time};
use walk::{Walk, algorithms, room, state, update, vector};

/// FNV-1a over the bits of numbers.
struct Hash(u64);

impl Hash {
    fn number(&mut self, number: f64) {
        for byte in number.to_bits().to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn vector(&mut self, vector: DVec3) {
        vector.to_array().into_iter().for_each(|number| self.number(number));
    }
}

#[test]
fn motion_is_the_same_to_the_bit() {
    let scene = room();
    let mut hash = Hash(0xcbf2_9ce4_8422_2325);
    for (seed, algorithm) in (0..20).flat_map(|seed| algorithms().map(move |algorithm| (seed, algorithm))) {
        let lead = if algorithm == Algorithm::Trend { Lead::Foreseen { us: 100_000 } } else { Lead::Off };
        let rule = SendRule { lead, limit_rot: 0.3, ..SendRule::default() };
        let settings = ReplicaSettings::default();
        let object = ObjectId::new(1).unwrap();
        let mut owner = Owner::new(NodeId::new(1), object, algorithm, rule, settings, |update| *update);
        let mut truth = Walk::new(seed, 15.0);
        let mut display = Display::new(ConvergenceSettings::default());
        for frame in 0..120 {
            let state = truth.step(16_667);
            let bounce = (frame % 50 == 49).then_some(Collision { normal: DVec3::X, vel_before: state.vel });
            let sent = owner.frame(&state, bounce, 0.25, &scene).unwrap();
            let ghost = owner.ghost(state.stamp, &scene).unwrap();
            if sent.update.is_some() {
                let before =
                    Shown { pos: ghost.pos + vector(&mut Random::new(seed), 1.0), vel: state.vel, rot: state.rot };
                display.updated(state.stamp, before, &ghost, false);
            }
            hash.vector(ghost.pos);
            hash.vector(ghost.vel);
            ghost.rot.to_array().into_iter().for_each(|number| hash.number(number));
            hash.vector(display.shown(state.stamp, &ghost, 0.5, &scene).pos);
            hash.number(sent.error_rot);
        }
    }
    let mut random = Random::new(1);
    for algorithm in algorithms() {
        let mut crowd: Vec<Replica> = (0..30)
            .map(|_| {
                let mut replica = Replica::new(ReplicaSettings::default());
                replica.handle(&update(0, algorithm, state(&mut random, Time::default())), &scene).unwrap();
                replica
            })
            .collect();
        let mut timed: Vec<_> = crowd.iter_mut().map(|replica| (replica, Time::from_micros(900_000))).collect();
        let together = predict_together(&mut timed, &scene);
        together.predicted.into_iter().flatten().for_each(|seen| hash.vector(seen.pos));
    }
    for _ in 0..500 {
        let mut mover = || MovingBall {
            pos: vector(&mut random, 9.0),
            vel: vector(&mut random, 9.0),
            acc: vector(&mut random, 9.0),
            radius: 1.0,
        };
        let settings = AdaptiveSettings { is_second_order: true, ..AdaptiveSettings::default() };
        hash.number(proximity(&mover(), &mover(), &settings).min(1e9));
    }
    let delay = bounds::Delay { latency: 0.1, owner_frame: 0.016, observer_frame: 0.02 };
    hash.number(bounds::second_order(0.5, 9.0, 20.0, delay));
    assert_eq!(hash.0, 0xd9e3_1b44_65a6_f9a8, "{:#018x}", hash.0);
}

/// Feature `shapes` brings parry3d, which has glam build without SIMD: that must not reach our results. So the test
/// above is built once more, alone and without the feature.
#[cfg(feature = "shapes")]
#[test]
fn motion_is_the_same_without_shapes() {
    let test = std::process::Command::new(env!("CARGO"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["test", "--quiet", "--offline", "--test", "motion_is_the_same_to_the_bit"])
        .output()
        .expect("cargo starts");
    assert!(test.status.success(), "{}", String::from_utf8_lossy(&test.stderr));
    assert!(String::from_utf8_lossy(&test.stdout).contains("1 passed"), "the test without shapes did not run");
}
