//! 1,000 pairs of turned boxes: exactly, by their bounding spheres, and by a walk down two sphere-trees.

use divan::Bencher;
use kinesphere_shapes::space::{Quat, Vec3, workload::Random};
use kinesphere_shapes::traversal::{Placed, Question, Search};
use kinesphere_shapes::{BallTree, Pose, Precision, Shape, proximity};

fn main() {
    divan::main();
}

const HALF: Vec3 = Vec3::new(0.5, 1.0, 0.2);

fn pairs() -> Vec<[Pose; 2]> {
    let mut random = Random::new(1);
    let mut pose = || Pose::new(random.in_ball() * 2.0, Quat::from_axis_angle(random.direction(), 1.0));
    (0..1_000).map(|_| [pose(), pose()]).collect()
}

#[divan::bench(args = [Precision::Exact, Precision::BoundingSphere])]
fn distance(bencher: Bencher, precision: Precision) {
    let (pairs, shape) = (pairs(), Shape::cuboid(HALF).unwrap());
    bencher
        .bench_local(|| pairs.iter().map(|[a, b]| proximity::distance(&shape, a, &shape, b, precision)).sum::<f32>());
}

#[divan::bench]
fn sphere_trees(bencher: Bencher) {
    let (pairs, tree, mut search) = (pairs(), BallTree::around_box(HALF, 3).unwrap(), Search::default());
    bencher.bench_local(|| {
        let mut placed =
            |[a, b]: &[Pose; 2]| search.run(&Question::new(Placed::new(&tree, *a), Placed::new(&tree, *b))).operations;
        pairs.iter().map(&mut placed).sum::<u64>()
    });
}
