//! A crowd predicts the same as its replicas one by one, bit for bit, with and without its plans.

mod walk;

use kinesphere_motion::crowd::Crowd;
use kinesphere_motion::{Algorithm, Replica, ReplicaSettings};
use space::Time;
use space::impact::Ballistic;
use space::workload::Random;
use walk::{room, state, update};

#[test]
fn a_crowd_is_many_replicas() {
    let scene = room();
    let settings = ReplicaSettings::default();
    for seed in 0..10 {
        let mut random = Random::new(seed);
        let mut crowd = Crowd::new(settings.radius, settings.response, settings.extrapolation_us_max);
        let mut replicas: Vec<Replica> = (0..100).map(|_| Replica::new(settings)).collect();
        let mut places = Vec::new();
        let mut now = Time::default();
        for frame in 0..200u32 {
            for (row, replica) in replicas.iter_mut().enumerate() {
                if frame == 0 || random.whole(0, 90) == 0 {
                    let state = state(&mut random, now);
                    replica.handle(&update(frame, Algorithm::Fvw, state), &scene).unwrap();
                    let motion = Ballistic { pos: state.pos, vel: state.vel, acc: state.acc };
                    if frame == 0 {
                        assert_eq!(crowd.insert(now, motion), row);
                    } else {
                        crowd.update(row, now, motion);
                    }
                }
            }
            now = now + i64::from(random.whole(0, 100_000));
            if random.whole(0, 40) == 0 {
                crowd.forget();
            }
            crowd.predict(now, &scene, &mut places);
            for (row, replica) in replicas.iter_mut().enumerate() {
                let expected = replica.predict(now, &scene).unwrap().pos;
                assert_eq!(places[row], expected, "seed {seed}, frame {frame}, row {row}");
            }
        }
        assert!(crowd.bounced() > 10, "seed {seed}: the test is too easy");
    }
}
