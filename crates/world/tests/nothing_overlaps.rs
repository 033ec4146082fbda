//! Nothing overlaps in any tick: random worlds, hostile inputs, any speed, every policy.
//!
//! Spheres, capsules and boxes are compared in integers, without tolerance; hulls, meshes and turned boxes are half the
//! skin apart.

mod crowd;

use crowd::{Hostile, Person, empty, object};
use kinesphere_world::spec::{ObjectKind, Shape, Spec};
use kinesphere_world::{Act, ContactPolicy, Input, Plaza, Route, World};
use proptest::prelude::*;
use space::workload::Random;
use space::{NodeId, Quat, Tick, Vec3};

/// Steps a world under hostile inputs and checks all pairs after each tick.
fn hold(world: &mut World, seed: u64, senders: u64, ticks: u32) {
    let mut hostile = Hostile::new(seed, senders);
    for tick in 0..ticks {
        let inputs = hostile.inputs(world);
        world.step(&inputs);
        if let Some((one, other)) = world.first_overlap() {
            let (one, other) = (world.object(one).unwrap(), world.object(other).unwrap());
            panic!("seed {seed}, tick {tick}: {one:?} and {other:?}");
        }
    }
}

#[test]
fn nothing_overlaps_on_the_plaza() {
    for seed in 0..8 {
        let plaza = Plaza { seekers: 80, side: 60.0, seed, ..Plaza::default() };
        hold(&mut World::new(plaza.spec()).unwrap(), seed, 20, 150);
    }
}

/// A small world with objects of all kinds, without those that would overlap.
fn random_world(seed: u64) -> Spec {
    let mut random = Random::new(seed);
    let mut spec = empty();
    let side = random.between(4.0, 12.0);
    spec.low = Vec3::new(-side, 0.0, -side);
    spec.high = Vec3::new(side, random.between(4.0, 9.0), side);
    spec.spawns = vec![Vec3::ZERO];
    spec.gravity = [9.81, 0.0, 30.0][random.whole(0, 3) as usize];
    spec.tick_rate = [30, 10, 60][random.whole(0, 3) as usize];
    spec.limits.speed = [2.0, 6.0, 90.0][random.whole(0, 3) as usize];
    spec.limits.terminal_speed = 300.0;
    spec.avatars[0].policy =
        [ContactPolicy::Slide, ContactPolicy::Block, ContactPolicy::Slide][random.whole(0, 3) as usize];
    spec.avatars[1].policy = [ContactPolicy::Slide, ContactPolicy::PassThrough][random.whole(0, 2) as usize];
    for number in 0..random.whole(5, 40) {
        let policy = [ContactPolicy::Block, ContactPolicy::Slide, ContactPolicy::Bounce, ContactPolicy::PassThrough]
            [random.whole(0, 4) as usize];
        let size = |random: &mut Random| random.between(0.05, 0.8);
        let shape = match random.whole(0, 8) {
            0 => {
                let points: Vec<Vec3> = (0..random.whole(4, 12)).map(|_| random.in_ball()).collect();
                match Shape::hull(&points) {
                    Ok(hull) => hull,
                    Err(_) => continue,
                }
            }
            1..3 => Shape::Sphere { radius: size(&mut random) },
            3 => Shape::Capsule { half_height: size(&mut random), radius: size(&mut random) },
            _ => Shape::Box { half: Vec3::new(size(&mut random), size(&mut random), size(&mut random)) },
        };
        let place = |random: &mut Random| {
            spec.low + (spec.high - spec.low) * Vec3::new(random.unit(), random.unit(), random.unit())
        };
        let at = place(&mut random);
        let kind = match random.whole(0, 5) {
            0 => ObjectKind::Fixed,
            1 => ObjectKind::Moving(match random.whole(0, 4) {
                0 => Route::Orbit { center: place(&mut random), period_s: random.between(0.5, 9.0) },
                1 => Route::Spin { degrees_per_s: random.between(-900.0, 900.0) },
                2 => Route::Flight { velocity: random.in_ball() * 40.0, period_s: random.between(0.2, 2.0) },
                _ => Route::Path { through: vec![place(&mut random)], speed: random.between(0.1, 200.0), closed: true },
            }),
            _ => ObjectKind::Movable,
        };
        let mut object = object(&format!("object {number}"), kind, shape, at);
        object.policy = policy;
        if random.unit() < 0.15 {
            object.rotation = Quat::from_rotation_y(random.unit() * 6.0) * Quat::from_rotation_x(random.unit());
        }
        spec.objects.push(object);
        if World::new(spec.clone()).is_err() {
            spec.objects.pop();
        }
    }
    spec
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn nothing_overlaps_in_random_worlds(seed in any::<u64>()) {
        let spec = random_world(seed);
        hold(&mut World::new(spec).unwrap(), seed, 8, 50);
    }
}

/// Keeps out four bugs by which an object left its reach, or met another one without a test.
#[test]
fn seeds_that_once_failed() {
    for seed in [
        // A mover that was diverted twice ended beyond the ball over the wanted motion as a diameter.
        3895810306397891123,
        // A ball that was kicked before its own turn moved by the kick in the same tick.
        5201278049254151840,
        // A walker stepped onto an obstacle and jumped in the same tick.
        3627652531651897677,
        // A spinning box was scheduled by its way, and not by the way of its corners.
        17433176349285634774,
    ] {
        hold(&mut World::new(random_world(seed)).unwrap(), seed, 8, 50);
    }
}

/// Paper 002's own test: two fast objects, head on, that would pass through each other between two ticks.
#[test]
fn nothing_tunnels_at_any_speed() {
    for speed in [1.0, 10.0, 90.0] {
        for policy in [ContactPolicy::Block, ContactPolicy::Slide] {
            let mut spec = empty();
            spec.gravity = 0.0;
            spec.tick_rate = 10;
            spec.limits.speed = 100.0;
            spec.avatars[0].policy = policy;
            spec.objects.push(object(
                "thin wall",
                ObjectKind::Fixed,
                Shape::Box { half: Vec3::new(0.01, 5.0, 30.0) },
                Vec3::new(25.0, 5.0, 0.0),
            ));
            let mut world = World::new(spec).unwrap();
            let mut ann = Person::join(&mut world, 1, Vec3::new(-20.0, 1.0, 0.0));
            let mut bob = Person::join(&mut world, 2, Vec3::new(20.0, 1.0, 0.0));
            for _ in 0..(60.0 * 10.0 / speed) as u32 + 10 {
                let inputs = [
                    ann.next_input(Act::Move { velocity: Vec3::X * speed }),
                    bob.next_input(Act::Move { velocity: Vec3::X * -speed }),
                ];
                world.step(&inputs);
                assert_eq!(world.first_overlap(), None);
            }
            let (a, b) = (ann.position(&world), bob.position(&world));
            assert!(a.x < b.x && b.x - a.x < 0.62, "{policy:?} at {speed} m/s: {a} and {b}");
            // Both run into a wall that is thinner than a tick's motion.
            for _ in 0..(60.0 * 10.0 / speed) as u32 + 10 {
                let velocity = Vec3::X * speed;
                world.step(&[ann.next_input(Act::Move { velocity }), bob.next_input(Act::Move { velocity })]);
            }
            let b = bob.position(&world);
            assert!(b.x < 25.0 && b.x > 24.6, "{policy:?} at {speed} m/s went to {b}");
        }
    }
}

#[test]
fn fast_balls_stay_between_thin_plates() {
    let mut spec = empty();
    spec.gravity = 0.0;
    spec.limits.terminal_speed = 2_000.0;
    for (name, x) in [("left", -2.0), ("right", 2.0)] {
        let plate = Shape::Box { half: Vec3::new(0.01, 5.0, 39.0) };
        spec.objects.push(object(name, ObjectKind::Fixed, plate, Vec3::new(x, 5.0, 0.0)));
    }
    // An avatar kicks it at 90 m/s.
    spec.limits.speed = 100.0;
    let mut ball = object("ball", ObjectKind::Movable, Shape::Sphere { radius: 0.2 }, Vec3::new(0.7, 1.0, 0.0));
    ball.policy = ContactPolicy::Bounce;
    spec.objects.push(ball);
    let mut world = World::new(spec).unwrap();
    let mut ann = Person::join(&mut world, 1, Vec3::new(-1.2, 0.1, 0.0));
    for _ in 0..20 {
        ann.walk(&mut world, Vec3::X * 90.0, 1);
    }
    let mut speed = 0f32;
    for _ in 0..300 {
        ann.walk(&mut world, Vec3::X * -90.0, 1);
        let ball = world.object(space::ObjectId::new(3).unwrap()).unwrap();
        speed = speed.max(ball.velocity.length());
        assert!(ball.position().x.abs() < 2.0, "{}", ball.position());
        assert_eq!(world.first_overlap(), None);
    }
}

/// Shoulder to shoulder, from both ends of a corridor.
#[test]
fn a_packed_corridor_stays_without_overlap() {
    let mut spec = empty();
    for (name, z) in [("left", -1.25), ("right", 1.25)] {
        let wall = Shape::Box { half: Vec3::new(20.0, 2.0, 0.25) };
        spec.objects.push(object(name, ObjectKind::Fixed, wall, Vec3::new(0.0, 2.0, z)));
    }
    spec.spawns = (0..40).map(|place| Vec3::new(place as f32 - 20.0, 0.0, 0.0)).collect();
    let mut world = World::new(spec).unwrap();
    let mut people: Vec<Person> = (0..80)
        .map(|number| Person::join(&mut world, number + 1, Vec3::new(number as f32 * 0.45 - 18.0, 0.0, 0.0)))
        .collect();
    for tick in 0..150 {
        let inputs: Vec<Input> = people
            .iter_mut()
            .enumerate()
            .map(|(number, person)| {
                let towards = if number % 2 == 0 { 4.0 } else { -4.0 };
                let drift = ((tick / 20 + number) % 3) as f32 - 1.0;
                person.next_input(Act::Move { velocity: Vec3::new(towards, 0.0, drift) })
            })
            .collect();
        world.step(&inputs);
        assert_eq!(world.first_overlap(), None, "tick {tick}");
    }
}

/// Five hundred avatars at one door. If they only pushed ahead they would form a stable arch, so each gives way now and
/// then.
#[test]
fn five_hundred_at_one_door() {
    let mut spec = empty();
    for (name, x) in [("left", -20.5), ("right", 20.5)] {
        let wall = Shape::Box { half: Vec3::new(19.5, 2.0, 0.25) };
        spec.objects.push(object(name, ObjectKind::Fixed, wall, Vec3::new(x, 2.0, 0.0)));
    }
    let mut world = World::new(spec).unwrap();
    let joins: Vec<Input> = (0..500)
        .map(|number: u64| {
            let at = Vec3::new((number % 25) as f32 - 12.0, 0.0, 3.0 + (number / 25) as f32);
            let act = Act::Join { name: "visitor".into(), avatar: 0, at: Some(at) };
            Input { sender: NodeId::new(number), sequence: 1, made_for: Tick::new(0), act }
        })
        .collect();
    assert_eq!(world.step(&joins).joined.len(), 500);
    for tick in 0..240u32 {
        let inputs: Vec<Input> = world
            .dynamic()
            .map(|object| {
                let at = object.position();
                let goal = if at.z > 0.3 { Vec3::new(0.0, at.y, 0.0) } else { Vec3::new(at.x * 2.0, at.y, -30.0) };
                let gives_way = (u64::from(tick) / 8 + 7 * object.id.number()) % 5 == 0;
                let velocity = (goal - at).normalize_or_zero() * if gives_way { -2.0 } else { 4.0 };
                let sender = object.owner.expect("all are visitors");
                Input { sender, sequence: tick + 2, made_for: Tick::new(0), act: Act::Move { velocity } }
            })
            .collect();
        world.step(&inputs);
        if tick % 4 == 0 {
            assert_eq!(world.first_overlap(), None, "tick {tick}");
        }
    }
    let through = world.dynamic().filter(|object| object.position().z < 0.0).count();
    assert!(through > 12, "only {through} got through the door");
}
