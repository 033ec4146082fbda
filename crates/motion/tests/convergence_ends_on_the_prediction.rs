//! Every convergence ends exactly on the prediction, only `Jump` jumps, and no shown state is in a wall.

mod walk;

use kinesphere_motion::convergence::{Convergence, ConvergenceSettings, Display, Shown};
use kinesphere_motion::scene::CollisionScene;
use kinesphere_motion::{Predicted, rotation};
use space::workload::Random;
use space::{DVec3, Time};
use walk::{orientation, room, vector};

const ALL: [Convergence; 4] = [Convergence::Jump, Convergence::Linear, Convergence::Projective, Convergence::Hermite];

fn predicted(random: &mut Random) -> Predicted {
    Predicted { pos: vector(random, 2.0), vel: vector(random, 4.0), acc: vector(random, 4.0), rot: orientation(random) }
}

fn later(start: &Predicted, t: f64) -> Predicted {
    Predicted { pos: start.pos + start.vel * t + start.acc * (0.5 * t * t), vel: start.vel + start.acc * t, ..*start }
}

#[test]
fn it_ends_on_the_prediction_and_begins_where_it_was() {
    let scene = CollisionScene::empty();
    for seed in 0..100 {
        for convergence in ALL {
            let mut random = Random::new(seed);
            let (at, start) = (Time::from_micros(1_000_000), predicted(&mut random));
            let before = Shown {
                pos: start.pos + vector(&mut random, 1.0),
                vel: vector(&mut random, 4.0),
                rot: orientation(&mut random),
            };
            let settings = ConvergenceSettings { convergence, ..ConvergenceSettings::default() };
            let mut display = Display::new(settings);
            display.updated(at, before, &start, false);
            let first = display.shown(at, &start, 0.0, &scene);
            if convergence != Convergence::Jump {
                assert!((first.pos - before.pos).length() < 1e-12, "seed {seed}, {convergence:?}");
                assert!(rotation::angle_between(first.rot, before.rot) < 1e-7);
            }
            let mut last = first;
            for us in (0..=settings.blend_us).step_by(1_000) {
                let shown = display.shown(at + us, &later(&start, us as f64 * 1e-6), 0.0, &scene);
                assert!((shown.pos - last.pos).length() < 0.1, "seed {seed}, {convergence:?}: a jump at {us} us");
                last = shown;
            }
            for us in [settings.blend_us, settings.blend_us + 1, 9_000_000] {
                let end = later(&start, us as f64 * 1e-6);
                let shown = display.shown(at + us, &end, 0.0, &scene);
                assert_eq!(
                    (shown.pos, shown.vel, shown.rot),
                    (end.pos, end.vel, end.rot),
                    "seed {seed}, {convergence:?}"
                );
            }
        }
    }
}

#[test]
fn a_second_update_starts_from_what_is_shown() {
    let scene = CollisionScene::empty();
    for seed in 0..50 {
        for convergence in [Convergence::Linear, Convergence::Projective, Convergence::Hermite] {
            let mut random = Random::new(seed);
            let start = predicted(&mut random);
            let before = Shown { pos: start.pos + vector(&mut random, 1.0), vel: start.vel, rot: start.rot };
            let mut display = Display::new(ConvergenceSettings { convergence, ..ConvergenceSettings::default() });
            display.updated(Time::default(), before, &start, false);
            let middle = Time::from_micros(70_000);
            let shown = display.shown(middle, &later(&start, 0.07), 0.0, &scene);
            let next = Predicted { pos: start.pos + vector(&mut random, 1.0), ..predicted(&mut random) };
            display.updated(middle, shown, &next, false);
            let again = display.shown(middle, &next, 0.0, &scene);
            assert!((again.pos - shown.pos).length() < 1e-12, "seed {seed}, {convergence:?}");
        }
    }
}

#[test]
fn teleports_and_long_ways_jump() {
    let scene = CollisionScene::empty();
    let start = predicted(&mut Random::new(1));
    let near = Shown { pos: start.pos + DVec3::X, vel: start.vel, rot: start.rot };
    let far = Shown { pos: start.pos + DVec3::X * 6.0, ..near };
    for (before, is_teleport) in [(near, true), (far, false)] {
        let mut display = Display::new(ConvergenceSettings::default());
        display.updated(Time::default(), before, &start, is_teleport);
        assert_eq!(display.shown(Time::default(), &start, 0.0, &scene).pos, start.pos);
    }
}

#[test]
fn what_is_shown_is_in_no_wall() {
    let scene = room();
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let place = Predicted { pos: vector(&mut random, 30.5), ..predicted(&mut random) };
        let shown = Display::new(ConvergenceSettings::default()).shown(Time::default(), &place, 0.5, &scene);
        for object in scene.objects() {
            let (gap, _) = object.separation(Time::default(), shown.pos, 0.5);
            assert!(gap > -1e-9, "seed {seed}: {gap}");
        }
    }
}
