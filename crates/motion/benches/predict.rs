//! A frame of 10,000 replicas: in columns, and one trajectory after the other.

use divan::Bencher;
use kinesphere_motion::collision_prediction::{CollisionMode, Response, Trajectory};
use kinesphere_motion::crowd::Crowd;
use kinesphere_motion::curve::Curve;
use kinesphere_motion::space::{DVec3, Time, impact::Ballistic, workload::Random};
use kinesphere_motion::{CollisionScene, ReplicaSettings};

fn main() {
    divan::main();
}

fn motions() -> impl Iterator<Item = Ballistic> {
    let mut random = Random::new(1);
    let mut vector = move |size: f32| (random.in_ball() * size).as_dvec3();
    (0..10_000).map(move |_| Ballistic { pos: vector(100.0), vel: vector(5.0), acc: DVec3::ZERO })
}

#[divan::bench]
fn crowd(bencher: Bencher) {
    let (settings, scene, mut places) = (ReplicaSettings::default(), CollisionScene::empty(), Vec::new());
    let mut crowd = Crowd::new(settings.radius, settings.response, settings.extrapolation_us_max);
    motions().for_each(|motion| _ = crowd.insert(Time::default(), motion));
    bencher.bench_local(|| crowd.predict(Time::from_micros(300_000), &scene, &mut places));
}

#[divan::bench]
fn trajectories(bencher: Bencher) {
    let scene = CollisionScene::empty();
    let made = |motion| Trajectory::new(Time::default(), Curve::Ballistic(motion), 0.5);
    let mut trajectories: Vec<Trajectory> = motions().map(made).collect();
    bencher.bench_local(|| {
        let mut place = |trajectory: &mut Trajectory| {
            trajectory.plan(0.3, CollisionMode::Exact, &Response::default(), &scene);
            trajectory.at(0.3).pos
        };
        trajectories.iter_mut().map(&mut place).sum::<DVec3>()
    });
}
