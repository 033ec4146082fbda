//! Platforms carry their riders up, down, along and around, and never into an obstacle.

mod crowd;

use crowd::{Person, empty, object};
use kinesphere_world::spec::{ObjectKind, Shape, Spec};
use kinesphere_world::{Kind, Placing, Route, World};
use space::{ObjectId, Vec3};

fn block(x: f32, y: f32, z: f32) -> Shape {
    Shape::Box { half: Vec3::new(x, y, z) }
}

/// A flat platform at the origin.
fn with_platform(route: Route) -> Spec {
    let mut spec = empty();
    spec.objects.push(object("platform", ObjectKind::Moving(route), block(1.5, 0.1, 1.5), Vec3::new(0.0, 0.15, 0.0)));
    spec
}

fn of_kind(world: &World, kind: Kind) -> ObjectId {
    world.dynamic().find(|object| object.kind == kind).unwrap().id
}

fn at(world: &World, id: ObjectId) -> Vec3 {
    world.object(id).unwrap().position()
}

fn stand(world: &mut World, ticks: u32) {
    for tick in 0..ticks {
        world.step(&[]);
        assert_eq!(world.first_overlap(), None, "tick {tick}");
    }
}

#[test]
fn a_lift_takes_people_and_what_is_stacked_up_and_down() {
    let path = Route::Path { through: vec![Vec3::new(0.0, 4.15, 0.0)], speed: 1.0, closed: false };
    let mut spec = with_platform(path);
    for (name, height) in [("below", 0.6), ("above", 1.3)] {
        spec.objects.push(object(name, ObjectKind::Movable, block(0.3, 0.3, 0.3), Vec3::new(1.0, height, 0.0)));
    }
    let mut world = World::new(spec).unwrap();
    let ann = Person::join(&mut world, 1, Vec3::new(-0.8, 0.4, 0.0));
    let lift = of_kind(&world, Kind::Moving);
    let crates: Vec<ObjectId> =
        world.dynamic().filter(|object| object.kind == Kind::Movable).map(|object| object.id).collect();
    // Until all are at rest on it.
    stand(&mut world, 30);
    let riders = [ann.avatar, crates[0], crates[1]];
    let above = |world: &World| riders.map(|rider| at(world, rider).y - at(world, lift).y);
    let (start, heights) = (at(&world, lift).y, above(&world));
    let (mut highest, mut lowest) = (start, start);
    for _ in 0..240 {
        stand(&mut world, 1);
        for (now, then) in above(&world).into_iter().zip(heights) {
            assert!((now - then).abs() < 0.06, "{:?} instead of {heights:?} above the lift", above(&world));
        }
        highest = highest.max(at(&world, lift).y);
        lowest = lowest.min(at(&world, lift).y);
    }
    assert!(highest > 4.1 && lowest < 0.2, "from {lowest} to {highest}");
}

#[test]
fn a_lift_waits_under_a_ceiling_that_its_rider_would_meet() {
    let path = Route::Path { through: vec![Vec3::new(0.0, 4.15, 0.0)], speed: 1.0, closed: false };
    let mut spec = with_platform(path);
    spec.objects.push(object("ceiling", ObjectKind::Fixed, block(2.0, 0.1, 2.0), Vec3::new(0.0, 4.0, 0.0)));
    let mut world = World::new(spec).unwrap();
    let ann = Person::join(&mut world, 1, Vec3::new(0.0, 0.4, 0.0));
    stand(&mut world, 200);
    let top = at(&world, ann.avatar).y + 0.9;
    assert!((3.8..3.9).contains(&top), "her head is at {top}");
}

#[test]
fn a_tram_takes_riders_along_until_a_wall_holds_them() {
    let path = Route::Path { through: vec![Vec3::new(8.0, 0.15, 0.0)], speed: 2.0, closed: false };
    let mut spec = with_platform(path);
    // It hangs over the platform's way.
    spec.objects.push(object("beam", ObjectKind::Fixed, block(0.2, 0.3, 3.0), Vec3::new(7.0, 1.3, 0.0)));
    let mut world = World::new(spec).unwrap();
    let ann = Person::join(&mut world, 1, Vec3::new(-0.5, 0.4, 0.0));
    let tram = of_kind(&world, Kind::Moving);
    stand(&mut world, 15);
    let beside = at(&world, ann.avatar).x - at(&world, tram).x;
    stand(&mut world, 75);
    let now = at(&world, ann.avatar).x - at(&world, tram).x;
    assert!((now - beside).abs() < 0.1, "from {beside} to {now} beside the middle");
    stand(&mut world, 28);
    let (person, platform) = (at(&world, ann.avatar).x, at(&world, tram).x);
    assert!(platform > 7.5 && person < 6.8, "the tram at {platform}, she at {person}");
}

#[test]
fn a_carousel_takes_people_around() {
    let mut world = World::new(with_platform(Route::Spin { degrees_per_s: 60.0 })).unwrap();
    let ann = Person::join(&mut world, 1, Vec3::new(1.0, 0.4, 0.0));
    stand(&mut world, 15);
    let start = at(&world, ann.avatar);
    stand(&mut world, 90);
    let half_way = at(&world, ann.avatar);
    assert!((half_way + start).with_y(0.0).length() < 0.1, "from {start} to {half_way}");
    stand(&mut world, 90);
    assert!((at(&world, ann.avatar) - start).length() < 0.1, "from {start} to {}", at(&world, ann.avatar));
}

/// Keeps out a bug: an object that was put down beside its route leapt back, metres in one tick. It comes back at the
/// speed of a walker.
#[test]
fn an_object_beside_its_route_walks_back() {
    let orbit = Route::Orbit { center: Vec3::ZERO, period_s: 30.0 };
    let mut spec = empty();
    spec.objects.push(object("carousel", ObjectKind::Moving(orbit), block(0.8, 0.5, 0.8), Vec3::new(6.0, 0.6, 0.0)));
    let mut world = World::new(spec).unwrap();
    let carousel = of_kind(&world, Kind::Moving);
    let parcel = world.parcel(carousel).unwrap();
    world.take_out(carousel);
    let in_the_way = Person::join(&mut world, 1, Vec3::new(6.0, 0.1, 0.0));
    world.put_in(&parcel, Placing::Nearest).unwrap();
    world.take_out(in_the_way.avatar);
    let away = |world: &World| (at(world, carousel).with_y(0.0).length() - 6.0).abs();
    let beside = (at(&world, carousel) - Vec3::new(6.0, 0.6, 0.0)).length();
    assert!(beside > 0.8, "it was put down {beside} m beside its way");
    let most = world.spec().limits.speed / world.spec().tick_rate as f32 + 0.01;
    for tick in 0..60 {
        let before = at(&world, carousel);
        stand(&mut world, 1);
        let step = (at(&world, carousel) - before).length();
        assert!(step <= most, "{step} m in tick {tick}");
        assert!(tick < 30 || step > 0.02 && away(&world) < 0.01, "{} m beside its way in tick {tick}", away(&world));
    }
}
