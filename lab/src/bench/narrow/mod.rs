//! Walks down two sphere-trees against parry3d's mesh against mesh, on the same pairs in the same run.
//!
//! The pairs are the hard ones: bodies that touch, and bodies that nearly do. Each has a random turn; a search along a
//! random direction finds where the meshes just touch, and from there they are moved a little into each other or apart.

mod coherence;
mod parry_mesh;

use std::hint::black_box;

use clap::Args;
use kinesphere::failure::Failure;
use kinesphere::mesh_file::load;
use serde::{Serialize, Serializer};
use shapes::BallTree;
use shapes::Pose;
use shapes::sphere_tree::{MAX_DEPTH, Method};
use shapes::traversal::{Intersection, Placed, Question, Search, wrap};
use space::workload::Random;
use space::{Quat, Vec3};

pub use coherence::Coherence;
use parry_mesh::{ParryContacts, ParryMesh};

use crate::allocator::growth;
use crate::report::csv::to_table;
use crate::stopwatch::{Stopwatch, timed};
use crate::study::range::range;
use crate::study::{Progress, Report, Results, Study, refused};

/// How fast is it known whether two bodies touch: sphere-tree against sphere-tree, and parry3d's mesh against mesh?
///
/// Two bodies that touch, nearly touch or are deep in each other: by a walk down their sphere-trees, and by parry3d's
/// mesh against mesh. Answers that contradict each other fail the command.
#[derive(Args, Clone, Debug, Serialize)]
pub struct Settings {
    /// Both bodies: a file (.obj, .gltf, .glb, .tri), or a shape by name
    #[arg(long, default_value = "rabbit", value_name = "FILE")]
    pub mesh: String,
    /// How the tree is built: octree, octree-tight, combined or best
    #[arg(long, default_value = "best", value_name = "NAME", value_parser = tree_method)]
    #[serde(serialize_with = "tree_method_name")]
    pub method: Method,
    /// How many levels the tree has below the root
    #[arg(long, default_value_t = 3, value_name = "L", value_parser = range(1..=MAX_DEPTH))]
    pub depth: usize,
    /// Pairs of each kind
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = range(1..=100_000u32))]
    pub pairs: u32,
    /// How often each is asked
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = range(1..=100_000u32))]
    pub rounds: u32,
    /// The same seed gives the same pairs
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

fn tree_method(name: &str) -> Result<Method, String> {
    let names = Method::ALL.map(Method::name).join(", ");
    Method::of_name(name).ok_or_else(|| format!("expected one of {names}"))
}

fn tree_method_name<S: Serializer>(method: &Method, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(method.name())
}

/// What is known of the tree, and what was measured beside the rows.
#[derive(Clone, Debug, Serialize)]
pub struct NarrowFacts {
    /// Triangles of each body.
    pub triangles: usize,
    /// Balls on the tree's lowest level.
    pub leaves: usize,
    pub tree_bytes: u64,
    /// The trees may call bodies touching that are apart by no more than this, in metres.
    pub tolerance: f32,
    /// Pairs that touch for parry and are apart for the trees, and pairs that touch for the trees and are farther apart
    /// than the tolerance for parry.
    pub disagreements: u32,
    /// One per kind of pair: what remembering gains from frame to frame.
    pub coherence: Vec<Coherence>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Which pairs, and what was asked.
    pub case: String,
    /// parry's time over ours.
    pub ratio: f64,
    pub cpu_us: f64,
    pub parry_cpu_us: f64,
    /// The share of pairs that may touch for the trees.
    pub touching: f64,
    /// Blocks of eight balls that the walk looked at, mean.
    pub operations: f64,
}

impl Study for Settings {
    const NAME: &'static str = "bench narrow";
    const EXAMPLE: &'static str = "--mesh torus-knot --json";
    const UNIT: &'static str = "parts";
    const HAS_PAGE: bool = false;
    type Row = Row;
    type Facts = NarrowFacts;

    fn run(&self, stopwatch: &mut dyn Stopwatch, progress: Progress<'_>) -> Result<Results<Settings>, Failure> {
        let triangles = load(&self.mesh)?;
        let (tree, tree_bytes) = growth(|| wrap(&triangles, self.method, self.depth));
        let tree = tree.map_err(refused)?;
        let mesh = ParryMesh::new(&triangles);
        let mesh = mesh.ok_or_else(|| refused(format!("`{}` is no mesh for parry3d", self.mesh)))?;
        let size = tree.ball(0).radius;
        let tolerance = 2.0 * tree.error_at(u8::MAX);
        let mut random = Random::new(self.seed);
        let mut bench = Bench { tree: &tree, mesh: &mesh, rounds: self.rounds, stopwatch, rows: Vec::new() };
        let (mut disagreements, mut coherence) = (0, Vec::new());
        for (index, (kind, beyond)) in KINDS.into_iter().enumerate() {
            progress(index as u32, KINDS.len() as u32);
            let pairs: Vec<Pair> = (0..self.pairs).map(|_| pair(&mut random, &mesh, size, beyond * size)).collect();
            disagreements += bench.compare(&pairs, tolerance);
            bench.kind(kind, &pairs, tolerance);
            coherence.push(coherence::measure(kind, &tree, &pairs, self.rounds, &mut random, bench.stopwatch));
        }
        progress(KINDS.len() as u32, KINDS.len() as u32);
        let facts = NarrowFacts {
            triangles: triangles.triangles().len(),
            leaves: tree.ends(u8::MAX).len(),
            tree_bytes: tree_bytes.max(0) as u64,
            tolerance,
            disagreements,
            coherence,
        };
        Ok((bench.rows, facts))
    }

    fn text(Report { settings, facts, rows, .. }: &Report<Settings>) -> String {
        let cases = to_table(rows);
        let frames = to_table(&facts.coherence);
        format!(
            "{}: {} triangles; {} tree of depth {}, {} leaves, {} bytes, right to {:.4} m\n{cases}\n{frames}",
            settings.mesh,
            facts.triangles,
            settings.method.name(),
            settings.depth,
            facts.leaves,
            facts.tree_bytes,
            facts.tolerance
        )
    }

    fn failures(report: &Report<Settings>) -> Vec<String> {
        let wrong = report.facts.disagreements;
        let sentence = format!("Sphere-trees and parry3d contradict each other about {wrong} pairs.");
        (wrong > 0).then_some(sentence).into_iter().collect()
    }
}

/// How far beyond the first touch, as a share of the body's size; negative is into each other.
const KINDS: [(&str, f32); 3] = [("touching", -0.02), ("nearly touching", 0.01), ("deep in each other", -0.15)];

struct Pair {
    at: Pose,
    bt: Pose,
}

/// Two bodies, turned at random, as far beyond their first touch as told.
fn pair(random: &mut Random, mesh: &ParryMesh, size: f32, beyond: f32) -> Pair {
    let mut turn = || Quat::from_axis_angle(random.direction(), random.between(0.0, 6.0));
    let (at, turned) = (Pose::new(Vec3::ZERO, turn()), turn());
    let direction = random.direction();
    let place = |distance: f32| Pose::new(direction * distance, turned);
    // From far away inward, in steps that do not miss a body, then by bisection.
    let (mut far, mut near) = (2.5 * size, 2.5 * size);
    while near > 0.0 && !mesh.intersects(&at, mesh, &place(near)) {
        far = near;
        near -= 0.05 * size;
    }
    for _ in 0..14 {
        let middle = (far + near) * 0.5;
        if mesh.intersects(&at, mesh, &place(middle)) { near = middle } else { far = middle }
    }
    Pair { at, bt: place(far + beyond) }
}

struct Bench<'b> {
    tree: &'b BallTree,
    mesh: &'b ParryMesh,
    rounds: u32,
    stopwatch: &'b mut dyn Stopwatch,
    rows: Vec<Row>,
}

impl Bench<'_> {
    fn question(&self, pair: &Pair) -> Question<'_> {
        Question::new(Placed::new(self.tree, pair.at), Placed::new(self.tree, pair.bt))
    }

    /// The pairs about which trees and parry contradict each other.
    fn compare(&self, pairs: &[Pair], tolerance: f32) -> u32 {
        let mut search = Search::default();
        let wrong = |pair: &&Pair| {
            let is_apart = search.touches(&self.question(pair)).intersection == Intersection::Apart;
            if is_apart {
                self.mesh.intersects(&pair.at, self.mesh, &pair.bt)
            } else {
                // parry's distances are right to a thousandth.
                !self.mesh.is_within(&pair.at, self.mesh, &pair.bt, tolerance * 1.01)
            }
        };
        pairs.iter().filter(wrong).count() as u32
    }

    fn kind(&mut self, kind: &str, pairs: &[Pair], tolerance: f32) {
        let (tree, mesh) = (self.tree, self.mesh);
        let question = |pair: &Pair| Question::new(Placed::new(tree, pair.at), Placed::new(tree, pair.bt));
        let mut search = Search::default();
        self.row(
            format!("{kind}: do they touch"),
            pairs,
            |pair| {
                let answer = search.touches(&question(pair));
                (answer.intersection != Intersection::Apart, answer.operations)
            },
            |pair| mesh.intersects(&pair.at, mesh, &pair.bt),
        );
        self.row(
            format!("{kind}: do they touch, equal tolerance"),
            pairs,
            |pair| {
                let answer = search.touches(&question(pair));
                (answer.intersection != Intersection::Apart, answer.operations)
            },
            |pair| mesh.is_within(&pair.at, mesh, &pair.bt, tolerance),
        );
        let (mut contacts, mut kept) = (Vec::new(), ParryContacts::default());
        let mut ours = |pair: &Pair| {
            let question = question(pair);
            let answer = search.run(&question);
            search.contacts(&question, &mut contacts);
            black_box(contacts.len());
            (answer.intersection != Intersection::Apart, answer.operations)
        };
        self.row(format!("{kind}: all contacts"), pairs, &mut ours, |pair| {
            mesh.contacts(&pair.at, mesh, &pair.bt, 0.0, &mut kept) > 0
        });
        self.row(format!("{kind}: all contacts, equal tolerance"), pairs, &mut ours, |pair| {
            mesh.contacts(&pair.at, mesh, &pair.bt, tolerance, &mut kept) > 0
        });
    }

    /// Asks trees and parry about all pairs, in turns.
    fn row(
        &mut self,
        case: String,
        pairs: &[Pair],
        mut ours: impl FnMut(&Pair) -> (bool, u64),
        mut parry: impl FnMut(&Pair) -> bool,
    ) {
        let (mut touching, mut operations) = (0, 0);
        for pair in pairs {
            let (touches, cost) = ours(pair);
            touching += u32::from(touches);
            operations += cost;
            black_box(parry(pair));
        }
        // Ours is asked more often in a round, as one question takes too short a time to measure.
        const MORE: u32 = 10;
        let (mut own_ms, mut parry_ms) = (0.0, 0.0);
        for _ in 0..self.rounds {
            let ((), own) = timed(self.stopwatch, || {
                for _ in 0..MORE {
                    for pair in pairs {
                        black_box(ours(black_box(pair)));
                    }
                }
            });
            let ((), other) = timed(self.stopwatch, || {
                for pair in pairs {
                    black_box(parry(black_box(pair)));
                }
            });
            own_ms += own.cpu_ms / f64::from(MORE);
            parry_ms += other.cpu_ms;
        }
        let count = pairs.len() as f64;
        let microseconds = |ms: f64| (ms * 1e3 / (count * f64::from(self.rounds))).max(1e-5);
        let (cpu_us, parry_cpu_us) = (microseconds(own_ms), microseconds(parry_ms));
        self.rows.push(Row {
            case,
            ratio: parry_cpu_us / cpu_us,
            cpu_us,
            parry_cpu_us,
            touching: f64::from(touching) / count,
            operations: operations as f64 / count,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::tried;

    #[test]
    fn ours_and_parry_agree_on_a_torus() {
        let report = tried::<Settings>("--mesh torus --method octree-tight --depth 3 --pairs 4 --rounds 1", 5);
        assert_eq!(report.facts.disagreements, 0);
        assert_eq!(report.rows.len(), 4 * KINDS.len());
        assert!(report.rows.iter().all(|row| (row.ratio - 10.0).abs() < 1e-9), "{:?}", report.rows);
        assert!(report.rows[0].touching == 1.0, "what touches is never called apart");
        assert!(report.to_text().contains("touching: all contacts"));
        let coherence = &report.facts.coherence;
        assert_eq!(coherence.len(), KINDS.len());
        assert!(coherence.iter().all(|row| row.front_pairs > row.blocks && row.spared > 0.0));
    }
}
