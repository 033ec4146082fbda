//! Adaptive tracking: the limit is within its range, falls as objects come close, and does not change
//! without remote objects.

mod walk;

use kinesphere_motion::adaptive::{Adaptive, AdaptiveSettings, MovingBall, Tightening, closest, proximity};
use space::DVec3;
use space::workload::Random;
use walk::vector;

fn mover(random: &mut Random) -> MovingBall {
    MovingBall {
        pos: vector(random, 20.0),
        vel: vector(random, 10.0),
        acc: vector(random, 6.0),
        radius: f64::from(random.between(0.1, 2.0)),
    }
}

fn settings() -> [AdaptiveSettings; 4] {
    let paper = AdaptiveSettings::default();
    [
        paper,
        AdaptiveSettings { tightening: Tightening::Graded, tau: 1.0, ..paper },
        AdaptiveSettings { is_second_order: true, latency: 0.2, ..paper },
        AdaptiveSettings { has_hysteresis: true, ..paper },
    ]
}

#[test]
fn the_limit_is_between_its_ends() {
    for settings in settings() {
        let mut adaptive = Adaptive::new(settings);
        let mut random = Random::new(1);
        for _ in 0..2_000 {
            let limit = adaptive.limit(proximity(&mover(&mut random), &mover(&mut random), &settings));
            assert!((settings.limit_close..=settings.limit).contains(&limit), "{limit}");
        }
        assert_eq!(Adaptive::new(settings).limit(0.0), settings.limit_close);
        assert_eq!(Adaptive::new(settings).limit(f64::INFINITY), settings.limit);
    }
}

#[test]
fn the_graded_limit_is_monotone() {
    let settings = settings()[1];
    let mut last = 0.0;
    for step in 0..=1_500 {
        let limit = Adaptive::new(settings).limit(f64::from(step) * 1e-3);
        assert!(limit >= last, "{step}");
        last = limit;
    }
    assert_eq!(last, settings.limit);
}

#[test]
fn proximity_is_the_papers() {
    let own = MovingBall { pos: DVec3::ZERO, vel: DVec3::X * 2.0, acc: DVec3::ZERO, radius: 1.0 };
    let other =
        |x: f64, y: f64| MovingBall { pos: DVec3::new(x, y, 0.0), vel: DVec3::ZERO, acc: DVec3::ZERO, radius: 1.0 };
    let paper = AdaptiveSettings::default();
    assert_eq!(proximity(&own, &other(1.5, 0.0), &paper), 0.0);
    assert_eq!(proximity(&own, &other(6.0, 0.0), &paper), 2.0);
    assert_eq!(proximity(&own, &other(-6.0, 0.0), &paper), 4.0, "what lies behind counts double");
    assert_eq!(proximity(&own, &other(6.0, 3.0), &paper), f64::INFINITY);
}

#[test]
fn hysteresis_holds_on_for_three_frames() {
    let mut adaptive = Adaptive::new(settings()[3]);
    let limits: Vec<f64> = [0.4, 0.55, 0.7, 0.7, 0.55, 0.7, 0.7, 0.7].map(|delta| adaptive.limit(delta)).into();
    assert_eq!(limits, [0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.5]);
}

#[test]
fn without_remote_objects_nothing_changes() {
    for settings in settings() {
        let mut adaptive = Adaptive::new(settings);
        let own = mover(&mut Random::new(1));
        for _ in 0..10 {
            assert_eq!(adaptive.limit(closest(&own, &[], &settings)), settings.limit);
        }
    }
}
