//! Frame by frame: what is remembered of two bodies, against walking again, and against a front (generalised front
//! tracking), which others remember.
//!
//! The front is where the last walk ended: every pair of balls that it found apart, and every pair of leaves. Its pairs
//! are tested again in the next frame, and repaired where something changed. Here it is only tested, every ball moved
//! once, and repairs are free: no front can be faster than that.

use std::hint::black_box;

use serde::Serialize;
use shapes::BallTree;
use shapes::Pose;
use shapes::traversal::{Memory, Placed, Question, Search};
use space::workload::Random;
use space::{Sphere, Vec3};

use super::Pair;
use crate::stopwatch::{Stopwatch, timed};

/// Frames of each pair.
const FRAMES: u32 = 8;
/// How far a body moves in one, as a share of its size: as a person 1.8 m high who walks 1.4 m/s at 30 frames a second.
const STEP: f32 = 0.05;

/// One kind of pair, frame by frame. Times are microseconds of processor time for a question.
#[derive(Clone, Debug, Serialize)]
pub struct Coherence {
    pub case: String,
    /// Whether two bodies touch, by a walk from the roots.
    pub touches_us: f64,
    /// The same, with what is remembered.
    pub memory_us: f64,
    /// The share of questions that memory answered.
    pub spared: f64,
    /// All contacts, by a walk from the roots.
    pub walk_us: f64,
    /// Testing the front of the frame before, and nothing else.
    pub front_us: f64,
    /// Pairs of balls in a front, mean.
    pub front_pairs: f64,
    /// Blocks of eight balls that a walk tests, mean.
    pub blocks: f64,
}

/// Measures one kind of pairs.
pub fn measure(
    case: &str,
    tree: &BallTree,
    pairs: &[Pair],
    rounds: u32,
    random: &mut Random,
    stopwatch: &mut dyn Stopwatch,
) -> Coherence {
    let size = tree.ball(0).radius;
    let films: Vec<Vec<Pose>> = pairs.iter().map(|pair| film(pair.bt, STEP * size, random)).collect();
    let question = |pair: &Pair, bt: Pose| Question::new(Placed::new(tree, pair.at), Placed::new(tree, bt));
    let each = |ask: &mut dyn FnMut(usize, &Pair, Pose)| {
        for (index, (pair, film)) in pairs.iter().zip(&films).enumerate() {
            film.iter().for_each(|&bt| ask(index, pair, bt));
        }
    };
    let fronts: Vec<Front> = pairs.iter().map(|pair| Front::new(tree, &pair.at, &pair.bt)).collect();
    let mut search = Search::default();
    let (mut blocks, mut spared, mut walked) = (0, 0, 0);
    let mut sums = [0.0; 4];
    let mut moved = Vec::new();
    for _ in 0..rounds {
        let ((), touches) = timed(stopwatch, || {
            each(&mut |_, pair, bt| _ = black_box(search.touches(&question(pair, bt))));
        });
        let mut memories = vec![Memory::default(); pairs.len()];
        let ((), memory) = timed(stopwatch, || {
            each(&mut |index, pair, bt| {
                black_box(memories[index].may_touch(&question(pair, bt), &mut search));
            });
        });
        let ((), walk) = timed(stopwatch, || {
            each(&mut |_, pair, bt| blocks += search.run(&question(pair, bt)).operations);
        });
        let ((), front) = timed(stopwatch, || {
            each(&mut |index, pair, bt| _ = black_box(fronts[index].test(tree, &pair.at, &bt, &mut moved)));
        });
        for (sum, elapsed) in sums.iter_mut().zip([touches, memory, walk, front]) {
            *sum += elapsed.cpu_ms;
        }
        spared += memories.iter().map(|memory| memory.spared).sum::<u64>();
        walked += memories.iter().map(|memory| memory.walked).sum::<u64>();
    }
    let questions = f64::from(rounds) * f64::from(FRAMES) * pairs.len() as f64;
    let [touches_us, memory_us, walk_us, front_us] = sums.map(|ms| (1e3 * ms / questions).max(1e-5));
    Coherence {
        case: case.to_owned(),
        touches_us,
        memory_us,
        spared: spared as f64 / (spared + walked).max(1) as f64,
        walk_us,
        front_us,
        front_pairs: fronts.iter().map(|front| front.pairs.len()).sum::<usize>() as f64 / pairs.len() as f64,
        blocks: blocks as f64 / questions,
    }
}

/// Where a body is in each frame: it drifts in a random direction.
fn film(start: Pose, step: f32, random: &mut Random) -> Vec<Pose> {
    let drift = random.direction() * step;
    (0..FRAMES).map(|frame| Pose::new(start.position + drift * frame as f32, start.rotation)).collect()
}

/// The pairs of nodes at which a walk ended.
struct Front {
    /// The second tree's nodes, each once.
    nodes: Vec<u32>,
    /// A node of the first tree, and which of `nodes`.
    pairs: Vec<(u32, u32)>,
}

impl Front {
    fn new(tree: &BallTree, at: &Pose, bt: &Pose) -> Front {
        let relative = Relative::new(at, bt);
        let (mut ended, mut waiting) = (Vec::new(), vec![(0, 0)]);
        while let Some((a, b)) = waiting.pop() {
            let [mine, theirs] = [a, b].map(|node| tree.children(node, u8::MAX));
            let is_apart = !tree.ball(a).overlaps(relative.ball(tree.ball(b)));
            if is_apart || mine.is_empty() && theirs.is_empty() {
                ended.push((b, a));
            } else if theirs.is_empty() || !mine.is_empty() && tree.ball(a).radius >= tree.ball(b).radius {
                waiting.extend(mine.map(|a| (a, b)));
            } else {
                waiting.extend(theirs.map(|b| (a, b)));
            }
        }
        ended.sort_unstable();
        let mut nodes: Vec<u32> = ended.iter().map(|&(b, _)| b).collect();
        nodes.dedup();
        let place = |b: u32| nodes.binary_search(&b).expect("it is one of them") as u32;
        let pairs = ended.into_iter().map(|(b, a)| (a, place(b))).collect();
        Front { nodes, pairs }
    }

    /// How many of its pairs overlap in other places.
    fn test(&self, tree: &BallTree, at: &Pose, bt: &Pose, moved: &mut Vec<Sphere>) -> usize {
        let relative = Relative::new(at, bt);
        moved.clear();
        moved.extend(self.nodes.iter().map(|&node| relative.ball(tree.ball(node))));
        self.pairs.iter().filter(|&&(a, b)| tree.ball(a).overlaps(moved[b as usize])).count()
    }
}

/// From the second body's coordinates to the first one's.
struct Relative {
    columns: [Vec3; 3],
    shift: Vec3,
}

impl Relative {
    fn new(at: &Pose, bt: &Pose) -> Relative {
        let back = at.rotation.conjugate();
        let turn = back * bt.rotation;
        Relative {
            columns: [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| turn * axis),
            shift: back * (bt.position - at.position),
        }
    }

    fn ball(&self, ball: Sphere) -> Sphere {
        let [x, y, z] = self.columns;
        Sphere::new(x * ball.center.x + y * ball.center.y + z * ball.center.z + self.shift, ball.radius)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shapes::mesh::catalog::shape;
    use shapes::sphere_tree::Method;
    use shapes::traversal::wrap;
    use space::Quat;

    /// A front that was not moved finds the leaves that a walk finds.
    #[test]
    fn a_front_ends_where_a_walk_ends() {
        let tree = wrap(&shape("torus").unwrap(), Method::OctreeTight, 2).unwrap();
        for seed in 0..20 {
            let mut random = Random::new(seed);
            let at = Pose::new(Vec3::ZERO, Quat::from_axis_angle(random.direction(), 1.0));
            let bt = Pose::new(random.in_ball() * 0.7, Quat::from_axis_angle(random.direction(), 2.0));
            let question = Question::new(Placed::new(&tree, at), Placed::new(&tree, bt));
            let mut search = Search::default();
            search.run(&question);
            let found = search.touching_nodes(&question).len();
            let overlapping = Front::new(&tree, &at, &bt).test(&tree, &at, &bt, &mut Vec::new());
            // Both round; a walk widens by its slack, and so finds a borderline pair more.
            assert!(overlapping <= found && found <= overlapping + 2, "seed {seed}: {overlapping} and {found}");
        }
    }
}
