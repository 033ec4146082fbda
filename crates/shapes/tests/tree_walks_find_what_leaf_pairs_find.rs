//! A walk down two sphere-trees finds what a test of all pairs of leaves finds, whichever tree comes first, whenever it
//! is stopped, and whatever is remembered; and it agrees with the exact shapes up to the trees' errors.

mod tree_meshes;

use kinesphere_shapes::BallTree;
use kinesphere_shapes::mesh::TriangleMesh;
use kinesphere_shapes::mesh::catalog::shape;
use kinesphere_shapes::sphere_tree::{Method, Object};
use kinesphere_shapes::traversal::{Containment, Intersection, Memory, NodePair, Placed, Question, Search, wrap};
use kinesphere_shapes::{Pose, Shape, exact};
use rayon::prelude::*;
use space::workload::Random;
use space::{Quat, Vec3};

struct Wrapped {
    name: String,
    tree: BallTree,
    shape: Shape,
}

fn wrapped(name: &str, method: Method, depth: usize) -> Wrapped {
    let mesh = shape(name).unwrap();
    Wrapped {
        name: format!("{name}, {}, depth {depth}", method.name()),
        tree: wrap(&mesh, method, depth).unwrap(),
        shape: Shape::mesh(mesh),
    }
}

fn all() -> &'static [Wrapped] {
    static ALL: std::sync::LazyLock<Vec<Wrapped>> = std::sync::LazyLock::new(make_all);
    &ALL
}

fn make_all() -> Vec<Wrapped> {
    vec![
        wrapped("box", Method::Octree, 2),
        wrapped("torus", Method::OctreeTight, 3),
        wrapped("plate", Method::OctreeTight, 2),
        wrapped("box", Method::Best, 2),
        wrapped("ball", Method::Combined, 2),
        wrapped("soup", Method::OctreeTight, 2),
        wrapped("rabbit", Method::OctreeTight, 3),
    ]
}

fn pose(random: &mut Random, reach: f32) -> Pose {
    let turn = Quat::from_axis_angle(random.direction(), random.between(0.0, 6.0));
    Pose::new(random.in_ball() * reach, if random.unit() < 0.3 { Quat::IDENTITY } else { turn })
}

/// The overlap of two nodes' balls; negative if they are apart.
fn depth(a: &BallTree, at: &Pose, b: &BallTree, bt: &Pose, pair: NodePair) -> f64 {
    let place =
        |pose: &Pose, center: Vec3| pose.position.as_dvec3() + pose.rotation.as_dquat().normalize() * center.as_dvec3();
    let (first, second) = (a.ball(pair.a), b.ball(pair.b));
    f64::from(first.radius) + f64::from(second.radius) - place(at, first.center).distance(place(bt, second.center))
}

fn ancestors(tree: &BallTree, node: u32) -> Vec<u32> {
    let mut chain = vec![node];
    while *chain.last().unwrap() != 0 {
        chain.push(tree.parent(*chain.last().unwrap()));
    }
    chain
}

/// Calls `test` with `cases` pairs of shapes near each other.
fn for_each_pair(cases: u64, mut test: impl FnMut(&str, &Wrapped, Placed<'_>, &Wrapped, Placed<'_>, &mut Random)) {
    let all = all();
    for seed in 0..cases {
        let mut random = Random::new(seed);
        let count = all.len() as u32;
        let (a, b) = (&all[random.whole(0, count) as usize], &all[random.whole(0, count) as usize]);
        let far = if seed % 5 == 0 { 900.0 } else { 0.0 };
        let mut poses = [pose(&mut random, 0.6), pose(&mut random, 0.6)];
        poses.iter_mut().for_each(|pose| pose.position += far);
        let level = |random: &mut Random| if random.unit() < 0.5 { u8::MAX } else { random.whole(0, 4) as u8 };
        let first = Placed::to_level(&a.tree, poses[0], level(&mut random));
        let second = Placed::to_level(&b.tree, poses[1], level(&mut random));
        let name = format!("seed {seed}: {} and {}", a.name, b.name);
        test(&name, a, first, b, second, &mut random);
    }
}

#[test]
fn a_walk_that_has_not_begun_proves_nothing() {
    assert_eq!(Search::default().progress().intersection, Intersection::Possible);
    let mut touching = 0;
    for_each_pair(20, |name, _, a, _, b, _| {
        let question = Question::new(a, b);
        let expected = Search::default().run(&question).intersection;
        let without_a_beginning = Search::default().refine(&question, u64::MAX).intersection;
        assert!(without_a_beginning == expected || without_a_beginning == Intersection::Possible, "{name}");
        touching += u32::from(expected != Intersection::Apart);
    });
    assert!(touching > 0);
}

#[test]
fn walks_find_what_a_look_at_all_leaf_pairs_finds() {
    let (mut search, mut found, mut missed) = (Search::default(), 0, 0);
    for_each_pair(60, |name, _, a, _, b, _| {
        let question = Question::new(a, b);
        assert!(search.run(&question).is_complete);
        let reported = search.touching_nodes(&question);
        for &pair in &reported {
            assert!(depth(a.tree, &a.pose, b.tree, &b.pose, pair) > -1e-3, "{name}: {pair:?} is apart");
        }
        for first in a.tree.ends(a.level) {
            for second in b.tree.ends(b.level) {
                let pair = NodePair { a: first, b: second };
                if depth(a.tree, &a.pose, b.tree, &b.pose, pair) < 1e-3 {
                    continue;
                }
                // A walk also excludes leaves whose ancestors are apart: then the surfaces are apart, though the
                // leaves are not.
                let is_certain = ancestors(a.tree, first).into_iter().all(|first| {
                    ancestors(b.tree, second)
                        .into_iter()
                        .all(|second| depth(a.tree, &a.pose, b.tree, &b.pose, NodePair { a: first, b: second }) > 0.0)
                });
                let is_found = reported.binary_search(&pair).is_ok();
                assert!(is_found || !is_certain, "{name}: {pair:?} is missed");
                found += usize::from(is_found);
                missed += usize::from(!is_found);
            }
        }
    });
    assert!(found > 1_000 && missed < found, "{found} found, {missed} excluded from above");
}

#[test]
fn whenever_it_is_stopped_every_contact_is_within_what_it_holds() {
    let (mut search, mut stepped) = (Search::default(), Search::default());
    for_each_pair(40, |name, _, a, _, b, _| {
        let question = Question::new(a, b);
        let answer = search.run(&question);
        let contacts = search.touching_nodes(&question);
        stepped.begin(&question);
        let mut operations = 0;
        loop {
            let partial = stepped.progress();
            if answer.intersection != Intersection::Apart {
                assert_ne!(partial.intersection, Intersection::Apart, "{name}: apart after {operations} operations");
            }
            let frontier = stepped.touching_nodes(&question);
            for contact in &contacts {
                let is_held = ancestors(a.tree, contact.a).into_iter().any(|first| {
                    ancestors(b.tree, contact.b)
                        .into_iter()
                        .any(|second| frontier.binary_search(&NodePair { a: first, b: second }).is_ok())
                });
                assert!(is_held, "{name}: {contact:?} is lost after {operations} operations");
            }
            if partial.is_complete {
                break;
            }
            // More than eight children, or a test of inner balls, cost more than one operation.
            let before = partial.operations;
            let mut allowed = 1;
            while stepped.refine(&question, allowed).operations == before && !stepped.progress().is_complete {
                allowed += 1;
            }
            operations += 1;
        }
        assert_eq!((stepped.progress(), stepped.touching_nodes(&question)), (answer, contacts), "{name}");
    });
}

#[test]
fn the_other_way_round_the_answer_is_the_same() {
    let (mut search, mut other) = (Search::default(), Search::default());
    for_each_pair(200, |name, _, a, _, b, random| {
        let (question, swapped) = (Question::new(a, b), Question::new(b, a));
        search.begin(&question);
        other.begin(&swapped);
        let budget = u64::from(random.whole(0, 200));
        let answers = (search.refine(&question, budget), other.refine(&swapped, budget));
        assert_eq!(answers.0, answers.1, "{name}");
        let (mut contacts, mut mirrored) = (Vec::new(), Vec::new());
        search.contacts(&question, &mut contacts);
        other.contacts(&swapped, &mut mirrored);
        assert_eq!(contacts.len(), mirrored.len());
        if a.pose == b.pose && std::ptr::eq(a.tree, b.tree) {
            return;
        }
        for (contact, mirror) in contacts.iter().zip(&mirrored) {
            assert_eq!((contact.nodes.a, contact.nodes.b), (mirror.nodes.b, mirror.nodes.a), "{name}");
            assert_eq!((contact.point, contact.normal, contact.depth), (mirror.point, -mirror.normal, mirror.depth));
        }
        assert_eq!(search.touches(&question), other.touches(&swapped), "{name}");
    });
}

#[test]
fn trees_agree_with_the_shapes_up_to_the_error_that_they_promise() {
    let mut search = Search::default();
    let mut seen = [0; 3];
    for_each_pair(300, |name, a, first, b, second, _| {
        let question = Question::new(first, second);
        let answer = search.run(&question);
        let distance = exact::distance(&a.shape, &first.pose, &b.shape, &second.pose);
        seen[answer.intersection as usize] += 1;
        match answer.intersection {
            Intersection::Apart => {
                assert!(distance > 0.0, "{name}: called apart");
                assert_eq!(search.touches(&question).intersection, Intersection::Apart, "{name}");
            }
            Intersection::Possible => {
                assert!(distance <= search.tolerance(&question), "{name}: {distance} apart");
                assert_ne!(search.touches(&question).intersection, Intersection::Apart, "{name}");
                assert!(distance <= search.tolerance(&question) * 1.0001, "{name}: {distance} apart, early out");
            }
            // If one is inside the other, the surfaces are apart and the solids are not.
            Intersection::Certain => assert!(distance < 0.5, "{name}: certain, but {distance} apart"),
        }
    });
    assert!(seen.iter().all(|&count| count > 5), "apart, possible, certain: {seen:?}");
}

#[test]
fn what_is_remembered_does_not_change_an_answer() {
    let (mut search, mut spared, mut walked) = (Search::default(), 0, 0);
    for_each_pair(40, |name, _, a, _, b, random| {
        let mut memory = Memory::default();
        let (way, axis) = (random.in_ball() * 0.02, random.direction());
        let (mut there, mut turn) = (b.pose, Quat::IDENTITY);
        for frame in 0..60 {
            there.position += way;
            turn *= Quat::from_axis_angle(axis, 0.01);
            there.rotation = b.pose.rotation * turn;
            let question = Question::new(a, Placed { pose: there, ..b });
            let expected = search.touches(&question).intersection != Intersection::Apart;
            assert_eq!(memory.may_touch(&question, &mut search), expected, "{name}, frame {frame}");
        }
        spared += memory.spared;
        walked += memory.walked;
    });
    assert!(spared > walked, "{spared} spared, {walked} walked");
}

#[test]
fn certain_is_certain_and_what_is_inside_is_known() {
    let mesh = |name: &str, scale: f32| {
        let mesh = shape(name).unwrap();
        let vertices = mesh.vertices().iter().map(|vertex| *vertex * scale).collect();
        TriangleMesh::new(vertices, mesh.triangles().to_vec()).unwrap()
    };
    let object = |mesh: &TriangleMesh| {
        let vertices = mesh.wide_vertices();
        Object::new(&vertices, mesh.triangles()).unwrap()
    };
    let (hall, marble) = (mesh("box", 4.0), mesh("ball", 0.3));
    let trees = [&hall, &marble].map(|mesh| wrap(mesh, Method::OctreeTight, 3).unwrap());
    let objects = [object(&hall), object(&marble)];
    let mut search = Search::default();
    for (x, is_inside) in [(1.2, true), (2.6, false), (-1.2, true), (9.0, false)] {
        let (out, within) = (Placed::new(&trees[0], Pose::IDENTITY), Placed::new(&trees[1], Pose::at(Vec3::X * x)));
        let question = Question::new(out, within);
        let answer = search.run(&question);
        assert_ne!(answer.intersection, Intersection::Possible);
        if answer.intersection == Intersection::Apart {
            let expected = if is_inside { Containment::SecondInFirst } else { Containment::Neither };
            assert_eq!(search.containment(&question, Some(&objects[0]), Some(&objects[1])), expected, "{x}");
            let swapped = Question::new(within, out);
            search.run(&swapped);
            let expected = if is_inside { Containment::FirstInSecond } else { Containment::Neither };
            assert_eq!(search.containment(&swapped, Some(&objects[1]), Some(&objects[0])), expected, "{x}");
        } else {
            assert!(is_inside, "{x}");
        }
    }
    // The largest inner ball of the hall is at its centre.
    let both = [Vec3::ZERO, Vec3::X * 0.1].map(|place| Placed::new(&trees[0], Pose::at(place)));
    assert_eq!(search.run(&Question::new(both[0], both[1])).intersection, Intersection::Certain);
}

#[test]
fn broken_meshes_and_poses_are_answered() {
    let mut search = Search::default();
    for seed in 0..24 {
        let case = tree_meshes::broken(seed);
        let vertices: Vec<Vec3> = case.vertices.iter().map(|vertex| vertex.as_vec3()).collect();
        let Ok(mesh) = TriangleMesh::new(vertices, case.triangles.clone()) else { continue };
        let Ok(tree) = wrap(&mesh, Method::OctreeTight, 2) else { continue };
        let here = Placed::new(&tree, Pose::IDENTITY);
        assert_ne!(search.run(&Question::new(here, here)).intersection, Intersection::Apart, "{}", case.name);
        for bad in [f32::NAN, f32::INFINITY, 1e20] {
            let nowhere = Placed::new(&tree, Pose::at(Vec3::splat(bad)));
            assert_eq!(
                search.run(&Question::new(here, nowhere)).intersection,
                Intersection::Possible,
                "not known to be apart"
            );
            assert_eq!(search.touches(&Question::new(nowhere, here)).intersection, Intersection::Possible);
        }
    }
}

#[test]
fn any_number_of_threads_finds_the_same() {
    let all = all();
    let mut random = Random::new(5);
    let questions: Vec<(usize, Pose, usize, Pose)> = (0..200)
        .map(|_| {
            let mut one = || (random.whole(0, all.len() as u32) as usize, pose(&mut random, 0.6));
            let ((a, at), (b, bt)) = (one(), one());
            (a, at, b, bt)
        })
        .collect();
    let ask = |&(a, at, b, bt): &(usize, Pose, usize, Pose)| {
        let question = Question::new(Placed::new(&all[a].tree, at), Placed::new(&all[b].tree, bt));
        let mut search = Search::default();
        (search.run(&question), search.touching_nodes(&question))
    };
    let one_by_one: Vec<_> = questions.iter().map(ask).collect();
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let together: Vec<_> = pool.install(|| questions.par_iter().map(ask).collect());
        assert!(together == one_by_one, "{threads} threads");
    }
}
