//! What users expect: walking, steps, jumps, pushing, carrying, falling, flying.

mod crowd;

use crowd::{Person, empty, object};
use kinesphere_world::spec::{ObjectKind, Shape};
use kinesphere_world::{Act, ContactPolicy, Kind, RefusalReason, Route, World};
use space::Vec3;

fn block(x: f32, y: f32, z: f32) -> Shape {
    Shape::Box { half: Vec3::new(x, y, z) }
}

#[test]
fn a_walker_walks_straight_and_at_the_speed_asked_for() {
    let mut world = World::new(empty()).unwrap();
    let mut ann = Person::join(&mut world, 1, Vec3::ZERO);
    let start = ann.position(&world);
    ann.walk(&mut world, Vec3::new(1.234, 0.0, 0.567), 300);
    let way = ann.position(&world) - start;
    let expected = Vec3::new(12.34, 0.0, 5.67);
    assert!((way - expected).length() < 0.01, "{way}");
    assert!(world.object(ann.avatar).unwrap().is_standing);
}

#[test]
fn a_step_is_climbed_and_descended_and_a_wall_is_not() {
    let mut spec = empty();
    spec.objects.push(object("step", ObjectKind::Fixed, block(1.0, 0.15, 3.0), Vec3::new(3.0, 0.15, 0.0)));
    spec.objects.push(object("wall", ObjectKind::Fixed, block(0.5, 0.25, 3.0), Vec3::new(10.0, 0.25, 0.0)));
    let mut world = World::new(spec).unwrap();
    let mut ann = Person::join(&mut world, 1, Vec3::ZERO);
    let ground = ann.position(&world).y;
    let mut highest = ground;
    for _ in 0..60 {
        ann.walk(&mut world, Vec3::X * 2.0, 1);
        highest = highest.max(ann.position(&world).y);
    }
    assert!((highest - ground - 0.3).abs() < 0.01, "climbed {}", highest - ground);
    ann.walk(&mut world, Vec3::X * 4.0, 90);
    let at = ann.position(&world);
    assert!((at.y - ground).abs() < 0.01, "{at} is not on the ground");
    assert!((at.x - 9.2).abs() < 0.02, "{at} is not at the wall");
    // Over the wall, by a jump.
    ann.ask(&mut world, Act::Jump);
    ann.walk(&mut world, Vec3::X * 4.0, 60);
    assert!(ann.position(&world).x > 10.0, "{}", ann.position(&world));
}

#[test]
fn a_jump_goes_up_and_comes_down() {
    let mut world = World::new(empty()).unwrap();
    let mut ann = Person::join(&mut world, 1, Vec3::ZERO);
    let ground = ann.position(&world).y;
    ann.ask(&mut world, Act::Jump);
    let mut highest = ground;
    for _ in 0..40 {
        let sequence = ann.next();
        let outcome = world.step(&[ann.input(sequence, Act::Jump)]);
        if highest > ground + 0.1 && !outcome.refused.is_empty() {
            assert_eq!(outcome.refused[0].reason, RefusalReason::NotStanding);
        }
        highest = highest.max(ann.position(&world).y);
    }
    // v² / 2g, a little less as it is stepped.
    assert!((0.8..1.1).contains(&(highest - ground)), "{}", highest - ground);
    ann.walk(&mut world, Vec3::ZERO, 60);
    assert!((ann.position(&world).y - ground).abs() < 0.005);
}

#[test]
fn a_walker_slides_along_a_wall_and_a_blocked_one_stops() {
    let mut spec = empty();
    spec.avatars.truncate(1);
    spec.avatars.push(spec.avatars[0].clone());
    spec.avatars[1].policy = ContactPolicy::Block;
    spec.avatars.push(spec.avatars[0].clone());
    spec.avatars[2].policy = ContactPolicy::PassThrough;
    spec.objects.push(object("wall", ObjectKind::Fixed, block(0.5, 2.0, 9.0), Vec3::new(3.0, 2.0, 0.0)));
    let mut ends = Vec::new();
    for avatar in 0..3 {
        let mut world = World::new(spec.clone()).unwrap();
        let mut ann = Person::join_as(&mut world, 1, Vec3::ZERO, avatar);
        ann.walk(&mut world, Vec3::new(3.0, 0.0, 3.0), 60);
        ends.push(ann.position(&world));
    }
    assert!((ends[0].x - 2.2).abs() < 0.02 && (ends[0].z - 6.0).abs() < 0.1, "slide: {}", ends[0]);
    assert!((ends[1].x - 2.2).abs() < 0.02 && (ends[1].z - 2.2).abs() < 0.1, "block: {}", ends[1]);
    assert!((ends[2].x - 6.0).abs() < 0.02, "ghost: {}", ends[2]);
}

#[test]
fn crates_fall_rest_stack_and_are_pushed() {
    let mut spec = empty();
    let at = |x: f32, y: f32| Vec3::new(x, y, 0.0);
    spec.objects.push(object("low", ObjectKind::Movable, block(0.5, 0.5, 0.5), at(3.0, 2.0)));
    spec.objects.push(object("high", ObjectKind::Movable, block(0.3, 0.3, 0.3), at(3.2, 5.0)));
    let mut world = World::new(spec).unwrap();
    let mut ann = Person::join(&mut world, 1, Vec3::ZERO);
    ann.walk(&mut world, Vec3::ZERO, 90);
    let place = |world: &World, number| world.object(space::ObjectId::new(number).unwrap()).unwrap().position();
    assert!((place(&world, 1).y - 0.5).abs() < 0.006, "{}", place(&world, 1));
    assert!((place(&world, 2).y - 1.3).abs() < 0.012, "{}", place(&world, 2));
    assert_eq!(world.step(&[]).work.movers, 0, "an object moves though all are at rest");
    // The lower one is pushed away, and the upper one falls.
    ann.walk(&mut world, Vec3::X * 2.0, 90);
    let (low, high) = (place(&world, 1), place(&world, 2));
    assert!((low.x - ann.position(&world).x - 0.8).abs() < 0.02, "{low} is pushed by {}", ann.position(&world));
    assert!(low.x > 4.5, "{low}");
    ann.walk(&mut world, Vec3::ZERO, 60);
    assert!((place(&world, 2).y - 0.3).abs() < 0.006 || high.x > 4.0, "{high} hangs in the air");
    assert_eq!(world.first_overlap(), None);
}

#[test]
fn what_is_held_moves_along_as_one_body() {
    let mut spec = empty();
    spec.objects.push(object("crate", ObjectKind::Movable, block(0.3, 0.3, 0.3), Vec3::new(1.0, 0.31, 0.0)));
    spec.objects.push(object("post", ObjectKind::Fixed, block(0.1, 1.0, 0.1), Vec3::new(1.0, 1.0, 4.0)));
    let mut world = World::new(spec).unwrap();
    let mut ann = Person::join(&mut world, 1, Vec3::ZERO);
    let mut bob = Person::join(&mut world, 2, Vec3::new(2.0, 0.0, 0.0));
    ann.walk(&mut world, Vec3::ZERO, 10);
    let crate_id = space::ObjectId::new(1).unwrap();
    // Both grab at once: one gets it, the other is refused.
    let grab = Act::Grab { object: crate_id };
    let inputs = [ann.next_input(grab.clone()), bob.next_input(grab)];
    let outcome = world.step(&inputs).clone();
    assert_eq!((outcome.grabbed.len(), outcome.refused.len()), (1, 1));
    assert_eq!(outcome.refused[0].reason, RefusalReason::AlreadyHeld);
    let (holder, other) =
        if outcome.grabbed[0].carrier == ann.avatar { (&mut ann, &mut bob) } else { (&mut bob, &mut ann) };
    other.ask(&mut world, Act::Move { velocity: Vec3::new(0.0, 0.0, -5.0) });
    let offset = world.object(crate_id).unwrap().position() - holder.position(&world);
    holder.walk(&mut world, Vec3::Z * 2.0, 120);
    let (crate_at, at) = (world.object(crate_id).unwrap().position(), holder.position(&world));
    assert_eq!(crate_at - at, offset);
    // The crate meets the post, and so its holder is stopped.
    assert!((crate_at.z - 3.6).abs() < 0.02, "{crate_at}");
    assert_eq!(world.object(crate_id).unwrap().held_by, Some(holder.avatar));
    let sequence = holder.next();
    let outcome = world.step(&[holder.input(sequence, Act::Leave)]);
    assert_eq!((outcome.released.len(), outcome.left.len()), (1, 1));
    assert_eq!(world.object(crate_id).unwrap().held_by, None);
}

#[test]
fn balls_bounce_and_come_to_rest() {
    let mut spec = empty();
    let mut ball = object("ball", ObjectKind::Movable, Shape::Sphere { radius: 0.3 }, Vec3::new(0.0, 5.0, 0.0));
    ball.policy = ContactPolicy::Bounce;
    spec.objects.push(ball);
    let mut world = World::new(spec).unwrap();
    let height = |world: &World| world.dynamic().next().unwrap().position().y - 0.3;
    let (mut lowest, mut second) = (false, 0f32);
    for _ in 0..900 {
        world.step(&[]);
        lowest |= height(&world) < 0.15;
        if lowest {
            second = second.max(height(&world));
        }
    }
    assert!((1.2..3.5).contains(&second), "bounced to {second}");
    assert!(height(&world) < 0.01, "{}", height(&world));
    assert_eq!(world.outcome().work.movers, 0, "it rests");
}

#[test]
fn without_gravity_people_fly() {
    let mut spec = empty();
    spec.gravity = 0.0;
    let mut world = World::new(spec).unwrap();
    let mut ann = Person::join(&mut world, 1, Vec3::ZERO);
    let start = ann.position(&world);
    ann.walk(&mut world, Vec3::new(1.0, 2.0, 0.0), 60);
    assert!((ann.position(&world) - start - Vec3::new(2.0, 4.0, 0.0)).length() < 0.01);
    ann.walk(&mut world, Vec3::ZERO, 60);
    assert!(ann.position(&world).y - start.y > 3.9);
}

#[test]
fn a_routed_object_waits_for_an_avatar_in_its_way() {
    let mut spec = empty();
    let path = Route::Path { through: vec![Vec3::new(9.0, 1.0, 0.0)], speed: 2.0, closed: false };
    spec.objects.push(object("tram", ObjectKind::Moving(path), block(0.5, 0.9, 0.5), Vec3::new(3.0, 1.0, 0.0)));
    let mut world = World::new(spec).unwrap();
    let tram = |world: &World| world.dynamic().find(|object| object.kind == Kind::Moving).unwrap().position();
    for _ in 0..60 {
        world.step(&[]);
    }
    assert!((tram(&world).x - 7.0).abs() < 0.002, "{}", tram(&world));
    let mut ann = Person::join(&mut world, 1, Vec3::new(5.0, 0.0, 0.0));
    ann.walk(&mut world, Vec3::ZERO, 300);
    assert!((tram(&world).x - 5.8).abs() < 0.02, "{} waits for ann at {}", tram(&world), ann.position(&world));
    ann.walk(&mut world, Vec3::Z * 3.0, 30);
    ann.walk(&mut world, Vec3::ZERO, 15);
    assert!(tram(&world).x < 5.0, "{} goes on", tram(&world));
}

#[test]
fn nonsense_is_refused_by_name() {
    let mut world = World::new(empty()).unwrap();
    let mut ann = Person::join(&mut world, 1, Vec3::ZERO);
    let mut refused = |act: Act| {
        let input = ann.next_input(act);
        world.step(&[input]).refused.first().map(|refusal| refusal.reason.to_string()).unwrap_or_default()
    };
    assert_eq!(refused(Act::Move { velocity: Vec3::X * 99.0 }), "99 m/s is faster than 6 m/s");
    assert_eq!(refused(Act::Move { velocity: Vec3::NAN }), "`velocity` is not finite");
    assert_eq!(refused(Act::Turn { heading: f32::INFINITY }), "`heading` is not finite");
    assert_eq!(refused(Act::Release), "the sender holds nothing");
    assert_eq!(refused(Act::Say { text: "".into() }), "`text` has 0 bytes, expected 1 to 1000");
    assert_eq!(refused(Act::Grab { object: space::ObjectId::new(77).unwrap() }), "there is no such movable object");
    let join = Act::Join { name: "ann".into(), avatar: 0, at: None };
    assert_eq!(refused(join), "the sender has joined already");
    let stranger = Person::stranger(9);
    let outcome = world.step(&[stranger.input(1, Act::Leave)]);
    assert_eq!(outcome.refused[0].reason, RefusalReason::UnknownSender);
    let many: Vec<_> = (0..20).map(|_| ann.next_input(Act::Turn { heading: 0.0 })).collect();
    assert_eq!(world.step(&many).refused.len(), 12);
    let old = ann.input(2, Act::Turn { heading: 0.0 });
    assert!(matches!(world.step(&[old]).refused[0].reason, RefusalReason::OldSequence { .. }));
}
