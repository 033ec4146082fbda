//! Proximity by sphere-trees: an object that walks along a long wall is close only if a part of the wall is, and no
//! close object is missed.

#![cfg(feature = "shapes")]

use kinesphere_motion::adaptive::{AdaptiveSettings, MovingBall, proximity};
use kinesphere_motion::adaptive_trees::{Formed, tree_proximity};
use shapes::BallTree;
use space::workload::Random;
use space::{DQuat, DVec3, Vec3};

/// The wall of paper 001: 10 x 1 x 100 metres. The ball around it has a radius of 50.25.
fn wall() -> BallTree {
    BallTree::around_box(Vec3::new(5.0, 0.5, 50.0), 4).unwrap()
}

fn mover(pos: DVec3, vel: DVec3, radius: f64) -> MovingBall {
    MovingBall { pos, vel, acc: DVec3::ZERO, radius }
}

fn settings() -> AdaptiveSettings {
    AdaptiveSettings::default()
}

#[test]
fn walking_along_a_wall_far_away_is_not_near_and_flying_at_it_is() {
    let tree = wall();
    let still = Formed::wrapped(mover(DVec3::ZERO, DVec3::ZERO, 0.0), DQuat::IDENTITY, &tree);
    let round = Formed::ball(mover(DVec3::ZERO, DVec3::ZERO, 50.25));
    for away in [15.0, 30.0] {
        for along in [-40.0, -10.0, 0.0, 25.0, 45.0] {
            let walks = Formed::ball(mover(DVec3::new(away, 0.0, along), DVec3::Z * 3.0, 0.5));
            assert!(tree_proximity(&walks, &still, &settings(), 10_000) >= settings().tau, "{away} m away at {along}");
            let is_in_the_ball = DVec3::new(away, 0.0, along).length() < 50.25;
            assert_eq!(tree_proximity(&walks, &round, &settings(), 10_000) == 0.0, is_in_the_ball, "by one ball");
        }
        let flies = |speed: f64| Formed::ball(mover(DVec3::new(away, 0.0, 20.0), DVec3::NEG_X * speed, 0.5));
        // It meets the wall's side in 0.3 s.
        let speed = (away - 5.5) / 0.3;
        let found = tree_proximity(&flies(speed), &still, &settings(), 10_000);
        assert!(found < settings().tau && found > 0.2, "{found}");
        assert!(tree_proximity(&flies(1.0), &still, &settings(), 10_000) >= settings().tau);
    }
    // Beside the wall, and close to it.
    let beside = Formed::ball(mover(DVec3::new(5.8, 0.0, 33.0), DVec3::NEG_X, 0.5));
    assert!(tree_proximity(&beside, &still, &settings(), 10_000) < settings().tau);
}

fn random_object<'t>(random: &mut Random, trees: &'t [BallTree]) -> Formed<'t> {
    let moves = MovingBall {
        pos: random.in_ball().as_dvec3() * 60.0,
        vel: random.in_ball().as_dvec3() * 20.0,
        acc: random.in_ball().as_dvec3(),
        radius: f64::from(random.unit()),
    };
    let rotation = DQuat::from_axis_angle(random.direction().as_dvec3(), f64::from(random.unit()) * 6.0);
    match random.whole(0, 3) {
        0 => Formed::ball(moves),
        1 => Formed::wrapped(moves, rotation, &trees[random.whole(0, trees.len() as u32) as usize]),
        _ => Formed {
            spin: f64::from(random.between(-2.0, 2.0)),
            level: random.whole(0, 4) as u8,
            ..Formed::wrapped(moves, rotation, &trees[random.whole(0, trees.len() as u32) as usize])
        },
    }
}

#[test]
fn a_tree_is_never_closer_than_its_root_nor_farther_than_what_it_holds() {
    // Few balls, as all pairs are compared.
    let trees = [[5.0, 0.5, 50.0], [3.0, 2.0, 1.0]].map(|half| BallTree::around_box(half.into(), 2).unwrap());
    let (mut close, mut far) = (0, 0);
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let (own, remote) = (random_object(&mut random, &trees), random_object(&mut random, &trees));
        let tau = settings().threshold();
        let found = tree_proximity(&own, &remote, &settings(), usize::MAX);
        let ball = |object: &Formed<'_>, node: u32| match object.tree {
            None => object.mover,
            Some(tree) => {
                let ball = tree.ball(node);
                let swept = ball.center.as_dvec3().length() * object.spin.abs() * tau;
                let pos = object.mover.pos + object.rotation * ball.center.as_dvec3();
                MovingBall { pos, radius: f64::from(ball.radius) + object.mover.radius + swept, ..object.mover }
            }
        };
        let root = proximity(&ball(&own, 0), &ball(&remote, 0), &settings());
        assert!(found >= root, "seed {seed}: {found} < {root}");
        let ends = |object: &Formed<'_>| object.tree.map_or(vec![0], |tree| tree.ends(object.level));
        let mut least = f64::INFINITY;
        for a in ends(&own) {
            for b in ends(&remote) {
                least = least.min(proximity(&ball(&own, a), &ball(&remote, b), &settings()));
            }
        }
        assert!(found >= least.min(tau) || found >= root, "seed {seed}");
        if found < tau {
            assert!(least <= found, "seed {seed}: {found}, but no leaves are closer than {least}");
            close += 1;
        } else {
            far += 1;
        }
        // With fewer pairs the result is a lower bound.
        for pairs in [1, 10, 100] {
            assert!(tree_proximity(&own, &remote, &settings(), pairs) <= found, "seed {seed}, {pairs} pairs");
        }
    }
    assert!(close > 10 && far > 10, "{close} close, {far} far");
}

#[test]
fn invalid_numbers_are_answered() {
    let tree = wall();
    let here = Formed::wrapped(mover(DVec3::ZERO, DVec3::ZERO, 0.0), DQuat::IDENTITY, &tree);
    for bad in [f64::NAN, f64::INFINITY, 1e300] {
        let there = Formed::wrapped(mover(DVec3::splat(bad), DVec3::splat(bad), bad), DQuat::IDENTITY, &tree);
        let _ = tree_proximity(&here, &there, &settings(), 100);
    }
}
