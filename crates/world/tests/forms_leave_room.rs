//! A deforming object takes its next form if there is room, and waits otherwise.

mod crowd;

use crowd::{Person, empty, object};
use kinesphere_world::spec::{Deformation, ObjectKind, Shape, Spec};
use kinesphere_world::{Act, Route, World};
use shapes::mesh::catalog::shape;
use shapes::{Pose, exact};
use space::Vec3;

fn with_flag() -> Spec {
    let mut spec = empty();
    let wave = Deformation::Wave { along: Vec3::X, push: Vec3::Z * 0.4, length: 1.2, period_s: 1.0 };
    let flag = Shape::mesh(shape("flag").unwrap());
    let kind = ObjectKind::Moving(Route::Deform(wave));
    spec.objects.push(object("flag", kind, flag, Vec3::new(0.0, 0.4, 0.0)));
    let breath = Deformation::Breathe { share: 0.3, period_s: 2.0 };
    let blob = Shape::mesh(shape("ball").unwrap());
    spec.objects.push(object("blob", ObjectKind::Moving(Route::Deform(breath)), blob, Vec3::new(6.0, 1.2, 0.0)));
    spec
}

/// The distance of a place from an object.
fn distance(world: &World, index: usize, place: Vec3) -> f32 {
    let one = world.objects().nth(index).unwrap();
    let ball = Shape::sphere(0.01).unwrap();
    exact::distance(one.shape, &Pose::new(one.position(), one.turn.quat()), &ball, &Pose::at(place))
}

#[test]
fn a_flag_waves_and_a_blob_breathes() {
    let mut world = World::new(with_flag()).unwrap();
    let (mut ends, mut sides) = ((f32::INFINITY, 0.0_f32), (f32::INFINITY, 0.0_f32));
    for _ in 0..90 {
        world.step(&[]);
        assert_eq!(world.first_overlap(), None);
        let (end, side) =
            (distance(&world, 0, Vec3::new(1.5, 0.9, 0.6)), distance(&world, 1, Vec3::new(7.2, 1.2, 0.0)));
        ends = (ends.0.min(end), ends.1.max(end));
        sides = (sides.0.min(side), sides.1.max(side));
    }
    assert!(ends.1 - ends.0 > 0.25, "the flag's end goes from side to side: {ends:?}");
    assert!(sides.1 - sides.0 > 0.15, "the blob grows and shrinks: {sides:?}");
}

#[test]
fn an_avatar_stops_the_flag_and_lets_it_go_on() {
    let mut world = World::new(with_flag()).unwrap();
    let mut ann = Person::join(&mut world, 1, Vec3::new(1.2, 0.0, 3.0));
    // Towards the flag's end, until it or the flag stops.
    for _ in 0..60 {
        let input = ann.next_input(Act::Move { velocity: Vec3::new(0.0, 0.0, -2.0) });
        world.step(&[input]);
        assert_eq!(world.first_overlap(), None);
    }
    let hash_of_flag = |world: &World| {
        let one = world.objects().next().unwrap();
        let Shape::Balls(balls) = one.shape else { panic!("what deforms is wrapped") };
        balls.tree().fingerprint()
    };
    let mut forms = Vec::new();
    for _ in 0..40 {
        world.step(&[]);
        assert_eq!(world.first_overlap(), None);
        forms.push(hash_of_flag(&world));
    }
    forms.dedup();
    assert_eq!(forms.len(), 1, "it moved into the avatar");
    for _ in 0..60 {
        let input = ann.next_input(Act::Move { velocity: Vec3::new(0.0, 0.0, 3.0) });
        world.step(&[input]);
    }
    assert_ne!(hash_of_flag(&world), forms[0], "it goes on when she has left");
}

#[test]
fn a_restored_world_has_the_same_forms() {
    let spec = with_flag();
    let mut world = World::new(spec.clone()).unwrap();
    for _ in 0..25 {
        world.step(&[]);
    }
    let mut bytes = Vec::new();
    world.snapshot(&mut bytes);
    let mut again = World::restore(spec, &bytes).unwrap();
    for _ in 0..25 {
        let place = Vec3::new(1.5, 0.9, 0.6);
        assert_eq!(distance(&again, 0, place), distance(&world, 0, place));
        world.step(&[]);
        again.step(&[]);
        assert_eq!(again.hash(), world.hash());
    }
}

#[test]
fn what_cannot_deform_is_refused_by_name() {
    let mut spec = with_flag();
    spec.objects[0].shape = Shape::Sphere { radius: 1.0 };
    assert!(World::new(spec.clone()).unwrap_err().to_string().starts_with("`flag`: `shape` is sphere"));
    let mut spec = with_flag();
    let breath = Deformation::Breathe { share: 2.0, period_s: 2.0 };
    spec.objects[1].kind = ObjectKind::Moving(Route::Deform(breath));
    assert_eq!(World::new(spec).unwrap_err().to_string(), "`blob`: `breathe.share` is 2, expected 0 to 0.9");
}
