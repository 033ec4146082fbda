//! Under a budget for the narrow phase, objects near users are tested exactly; the others wait without overlapping, and
//! each has a turn.

mod crowd;

use crowd::{Person, empty, object};
use kinesphere_world::spec::{ObjectKind, Shape, Spec};
use kinesphere_world::{Act, World};
use space::Vec3;

fn hull() -> Shape {
    Shape::hull(&[Vec3::ZERO, Vec3::X * 0.5, Vec3::Y * 0.5, Vec3::Z * 0.5, Vec3::splat(0.4)]).unwrap()
}

/// Hulls that fall onto a hull each, and one beside which a user walks.
fn falling(budget: Option<u32>) -> Spec {
    let mut spec = empty();
    spec.limits.narrow_operations = budget;
    for number in 0..30 {
        let (x, z) = ((number % 6) as f32 * 4.0 - 10.0, (number / 6) as f32 * 4.0 - 10.0);
        let at = Vec3::new(x, 0.1, z);
        spec.objects.push(object(&format!("rock {number}"), ObjectKind::Fixed, hull(), at));
        spec.objects.push(object(
            &format!("hull {number}"),
            ObjectKind::Movable,
            hull(),
            at + Vec3::new(0.05, 1.2, 0.05),
        ));
    }
    spec
}

#[test]
fn without_a_budget_nothing_is_coarse_and_with_one_it_is_kept() {
    let mut free = World::new(falling(None)).unwrap();
    let mut tight = World::new(falling(Some(40))).unwrap();
    let (mut coarse, mut put_off) = (0, 0);
    for _ in 0..60 {
        let work = free.step(&[]).work;
        assert_eq!((work.by_sphere, work.put_off), (0, 0));
        let work = tight.step(&[]).work;
        coarse += work.by_sphere;
        put_off += work.put_off;
        assert_eq!(tight.first_overlap(), None);
    }
    assert!(coarse > 0 && put_off > 0, "{coarse} coarse, {put_off} put off");
}

#[test]
fn every_object_has_a_turn() {
    let mut tight = World::new(falling(Some(40))).unwrap();
    for _ in 0..1_500 {
        tight.step(&[]);
    }
    assert_eq!(tight.step(&[]).work.movers, 0, "everything has come to rest");
    assert_eq!(tight.first_overlap(), None);
}

#[test]
fn a_user_is_not_slowed_down_by_what_happens_elsewhere() {
    let walk = |budget: Option<u32>| {
        let mut world = World::new(falling(budget)).unwrap();
        let mut ann = Person::join(&mut world, 1, Vec3::new(-10.0, 0.0, 12.0));
        for _ in 0..90 {
            let input = ann.next_input(Act::Move { velocity: Vec3::new(2.0, 0.0, -4.0) });
            world.step(&[input]);
            assert_eq!(world.first_overlap(), None);
        }
        world.object(ann.avatar).unwrap().position()
    };
    assert_eq!(walk(Some(150)), walk(None));
}
