//! Nothing overlaps with every precision mixed and under any budget: neither the shapes that stand for meshes, nor the
//! meshes themselves, nor meshes that deform.

mod crowd;

use std::sync::{Arc, LazyLock};

use crowd::{Hostile, empty, object};
use kinesphere_world::spec::{Deformation, ObjectKind, Shape, Spec};
use kinesphere_world::{ContactPolicy, Route, World};
use shapes::BallTree;
use shapes::mesh::TriangleMesh;
use shapes::mesh::catalog::shape;
use shapes::sphere_tree::Method;
use shapes::traversal::wrap;
use shapes::{Pose, exact};
use space::workload::Random;
use space::{Quat, Vec3};

static WRAPPED: LazyLock<Vec<(TriangleMesh, Arc<BallTree>)>> = LazyLock::new(|| {
    ["torus", "chair", "box"]
        .map(|name| {
            let mesh = shape(name).unwrap();
            let tree = Arc::new(wrap(&mesh, Method::OctreeTight, 2).unwrap());
            (mesh, tree)
        })
        .to_vec()
});

/// A world of sphere-trees, meshes, hulls, turned boxes, spheres and deforming sheets; and by object, the mesh of a
/// sphere-tree.
fn mixed_world(seed: u64) -> (Spec, Vec<Option<Shape>>) {
    let mut random = Random::new(seed);
    let mut spec = empty();
    let side = random.between(3.0, 7.0);
    (spec.low, spec.high) = (Vec3::new(-side, 0.0, -side), Vec3::new(side, random.between(3.0, 7.0), side));
    spec.spawns = vec![Vec3::ZERO];
    spec.gravity = [9.81, 0.0][random.whole(0, 2) as usize];
    spec.limits.speed = [3.0, 30.0][random.whole(0, 2) as usize];
    spec.limits.narrow_operations = [None, Some(1), Some(60), Some(600)][random.whole(0, 4) as usize];
    let mut meshes = Vec::new();
    for number in 0..random.whole(6, 18) {
        let size = |random: &mut Random| random.between(0.1, 0.6);
        let (mesh, tree) = &WRAPPED[random.whole(0, WRAPPED.len() as u32) as usize];
        let place = |random: &mut Random| {
            spec.low + (spec.high - spec.low) * Vec3::new(random.unit(), random.unit(), random.unit())
        };
        let (shape, stands_for) = match random.whole(0, 9) {
            0..3 => {
                let level = random.whole(0, 3) as u8;
                (Shape::balls(Arc::clone(tree), level).unwrap(), Some(Shape::mesh(mesh.clone())))
            }
            3 => (Shape::mesh_in(mesh.clone(), Arc::clone(tree)), None),
            4 => (Shape::mesh(mesh.clone()), None),
            5 => (Shape::Sphere { radius: size(&mut random) }, None),
            6 => (Shape::hull(&[Vec3::ZERO, Vec3::X, Vec3::Y * 0.7, Vec3::Z * 0.6]).unwrap(), None),
            _ => (Shape::Box { half: Vec3::new(size(&mut random), size(&mut random), size(&mut random)) }, None),
        };
        let is_mesh = matches!(shape, Shape::Mesh(_));
        let deformation = if random.unit() < 0.5 {
            let (along, push) = (Vec3::X, random.in_ball() * 0.5);
            Deformation::Wave { along, push, length: random.between(0.3, 2.0), period_s: random.between(0.3, 3.0) }
        } else {
            Deformation::Breathe { share: random.between(0.0, 0.5), period_s: random.between(0.3, 3.0) }
        };
        let kind = match random.whole(0, 6) {
            0 => ObjectKind::Fixed,
            1 if is_mesh => ObjectKind::Moving(Route::Deform(deformation)),
            1 | 2 => ObjectKind::Moving(Route::Spin { degrees_per_s: random.between(-400.0, 400.0) }),
            3 => ObjectKind::Moving(Route::Orbit { center: place(&mut random), period_s: random.between(1.0, 9.0) }),
            _ if is_mesh => ObjectKind::Fixed,
            _ => ObjectKind::Movable,
        };
        let at = place(&mut random);
        let mut one = object(&format!("object {number}"), kind, shape, at);
        one.policy = [ContactPolicy::Block, ContactPolicy::Slide, ContactPolicy::Bounce][random.whole(0, 3) as usize];
        if random.unit() < 0.3 {
            one.rotation = Quat::from_rotation_y(random.unit() * 6.0) * Quat::from_rotation_x(random.unit());
        }
        spec.objects.push(one);
        if World::new(spec.clone()).is_err() {
            spec.objects.pop();
        } else {
            meshes.push(stands_for);
        }
    }
    (spec, meshes)
}

/// Checks that the meshes of sphere-trees touch no other object.
fn assert_meshes_apart(world: &World, meshes: &[Option<Shape>], name: &str) {
    let all: Vec<_> = world.objects().filter(|one| one.policy != ContactPolicy::PassThrough).collect();
    let shape = |index: usize| {
        let number = all[index].id.number() as usize;
        meshes.get(number - 1).and_then(Option::as_ref).unwrap_or(all[index].shape)
    };
    let is_wrapped = |index: usize| meshes.get(all[index].id.number() as usize - 1).is_some_and(Option::is_some);
    for one in (0..all.len()).filter(|&one| is_wrapped(one)) {
        for other in (0..all.len()).filter(|&other| other != one) {
            if all[one].kind == kinesphere_world::Kind::Fixed && all[other].kind == kinesphere_world::Kind::Fixed {
                continue;
            }
            let pose = |index: usize| Pose::new(all[index].position(), all[index].turn.quat());
            let distance = exact::distance(shape(one), &pose(one), shape(other), &pose(other));
            assert!(distance > 0.0, "{name}: {:?} touches {:?}", all[one].name, all[other].name);
        }
    }
}

#[test]
fn nothing_overlaps_with_all_precisions_mixed() {
    let mut work = [0; 4];
    for seed in 0..24 {
        let (spec, meshes) = mixed_world(seed);
        let mut world = World::new(spec).unwrap();
        let mut hostile = Hostile::new(seed, 5);
        for tick in 0..30 {
            let inputs = hostile.inputs(&world);
            let done = world.step(&inputs).work;
            for (sum, more) in work.iter_mut().zip([done.by_sphere, done.by_tree, done.by_shape, done.put_off]) {
                *sum += more;
            }
            if let Some((one, other)) = world.first_overlap() {
                let (one, other) = (world.object(one).unwrap(), world.object(other).unwrap());
                panic!("seed {seed}, tick {tick}: {one:?} and {other:?}");
            }
            if tick % 8 == 0 {
                assert_meshes_apart(&world, &meshes, &format!("seed {seed}, tick {tick}"));
            }
        }
    }
    assert!(work.iter().all(|&count| count > 0), "by sphere, by tree, by shape, put off: {work:?}");
}

#[test]
fn a_mixed_world_goes_on_from_a_snapshot_as_it_would_have() {
    for seed in 100..108 {
        let (spec, _) = mixed_world(seed);
        let mut world = World::new(spec.clone()).unwrap();
        let mut hostile = Hostile::new(seed, 5);
        for _ in 0..15 {
            let inputs = hostile.inputs(&world);
            world.step(&inputs);
        }
        let mut bytes = Vec::new();
        world.snapshot(&mut bytes);
        let mut again = World::restore(spec, &bytes).unwrap();
        for tick in 0..15 {
            let inputs = hostile.inputs(&world);
            let work = world.step(&inputs).work;
            assert_eq!(again.step(&inputs).work, work, "seed {seed}, tick {tick}");
            assert_eq!(again.hash(), world.hash(), "seed {seed}, tick {tick}");
        }
    }
}
