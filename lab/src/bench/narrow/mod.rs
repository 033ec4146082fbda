//! Walks down two sphere-trees against parry3d's mesh against mesh, on the same pairs in the same run.
//!
//! The pairs are the hard ones: bodies that touch, and bodies that nearly do. Each has a random turn; a search along a
//! random direction finds where the meshes just touch, and from there they are moved a little into each other or apart.

mod coherence;
mod parry_mesh;

use std::hint::black_box;

use self::parry_mesh::{ParryContacts, ParryMesh};
use serde::Serialize;
use shapes::BallTree;
use shapes::Pose;
use shapes::mesh::TriangleMesh;
use shapes::sphere_tree::Method;
use shapes::traversal::{Intersection, Placed, Question, Search, WrapError, wrap};
use space::workload::Random;
use space::{Quat, Vec3};

pub use coherence::Coherence;

use crate::allocator::growth;
use crate::report::number::significant;
use crate::setting::{self, OutOfRange};
use crate::stopwatch::{Stopwatch, timed};
use kinesphere::table::Table;

/// What to measure.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What the mesh is called.
    pub name: String,
    /// Both bodies.
    pub mesh: TriangleMesh,
    /// How the tree is built.
    pub method: Method,
    /// How many levels it has below the root.
    pub depth: usize,
    /// Pairs of each kind.
    pub pairs: u32,
    /// How often each is asked.
    pub rounds: u32,
    /// The same seed gives the same pairs.
    pub seed: u64,
}

/// Why nothing was measured.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BenchError {
    /// The mesh has no tree.
    #[error(transparent)]
    Wrap(#[from] WrapError),
    /// parry does not take the mesh.
    #[error("`{0}` is no mesh for parry3d")]
    Parry(String),
    /// A count that makes no sense.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
}

/// What came out.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The command that repeats the run.
    pub command: String,
    /// The mesh, and how many triangles it has.
    pub mesh: String,
    /// Of each body.
    pub triangles: usize,
    /// How the tree was built.
    pub method: &'static str,
    /// How many levels it has below the root.
    pub depth: usize,
    /// How many balls its lowest level has.
    pub leaves: usize,
    /// Memory of a tree at run time.
    pub tree_bytes: usize,
    /// A yes of ours is wrong by no more than this, in metres.
    pub tolerance: f32,
    /// Pairs that parry says touch, and we say are apart; and pairs that we say touch, and parry says are farther apart
    /// than the tolerance.
    pub disagreements: u32,
    /// One per kind of pair and question.
    pub rows: Vec<Row>,
    /// One per kind of pair: what remembering gains from frame to frame.
    pub coherence: Vec<Coherence>,
}

/// One kind of question.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Which pairs, and what was asked.
    pub case: String,
    /// parry's time over ours.
    pub ratio: f64,
    /// Microseconds of processor time for ours.
    pub cpu_us: f64,
    /// Microseconds of processor time for parry.
    pub parry_cpu_us: f64,
    /// The share of pairs that we say may touch.
    pub touching: f64,
    /// Blocks of eight balls that we looked at, mean.
    pub operations: f64,
}

/// How far beyond the first touch, as a share of the body's size; negative is into each other.
const KINDS: [(&str, f32); 3] = [("touching", -0.02), ("nearly touching", 0.01), ("deep in each other", -0.15)];

struct Pair {
    at: Pose,
    bt: Pose,
}

/// Measures. `progress` is told how many parts are done, of how many.
pub fn measure(
    settings: &Settings,
    stopwatch: &mut dyn Stopwatch,
    progress: &mut dyn FnMut(u32, u32),
) -> Result<Report, BenchError> {
    let counts = [("pairs", settings.pairs), ("rounds", settings.rounds)];
    setting::check(counts.map(|(field, count)| (field, f64::from(count), 1.0..=1e5, "1 to 100,000")))?;
    let (tree, tree_bytes) = growth(|| wrap(&settings.mesh, settings.method, settings.depth));
    let tree = tree?;
    let mesh = ParryMesh::new(&settings.mesh).ok_or_else(|| BenchError::Parry(settings.name.clone()))?;
    let size = tree.ball(0).radius;
    let tolerance = 2.0 * tree.error_at(u8::MAX);
    let mut random = Random::new(settings.seed);
    let mut bench = Bench { tree: &tree, mesh: &mesh, rounds: settings.rounds, stopwatch, rows: Vec::new() };
    let (mut disagreements, mut coherence) = (0, Vec::new());
    for (index, (kind, beyond)) in KINDS.into_iter().enumerate() {
        progress(index as u32, KINDS.len() as u32);
        let pairs: Vec<Pair> = (0..settings.pairs).map(|_| pair(&mut random, &mesh, size, beyond * size)).collect();
        disagreements += bench.compare(&pairs, tolerance);
        bench.kind(kind, &pairs, tolerance);
        let frames = coherence::measure(kind, &tree, &pairs, settings.rounds, &mut random, bench.stopwatch);
        coherence.push(frames);
    }
    progress(KINDS.len() as u32, KINDS.len() as u32);
    let Settings { name, pairs, rounds, seed, depth, method, .. } = settings;
    let method = method.name();
    let rows = bench.rows;
    Ok(Report {
        command: format!(
            "cargo run --release -p lab -- bench narrow --mesh {name} --method {method} --depth {depth} --pairs {pairs} --rounds {rounds} --seed {seed}"
        ),
        mesh: name.clone(),
        triangles: settings.mesh.triangles().len(),
        method,
        depth: *depth,
        leaves: tree.ends(u8::MAX).len(),
        tree_bytes: tree_bytes.max(0) as usize,
        tolerance,
        disagreements,
        rows,
        coherence,
    })
}

/// Two bodies, turned at random, as far beyond their first touch as told.
fn pair(random: &mut Random, mesh: &ParryMesh, size: f32, beyond: f32) -> Pair {
    let mut turn = || Quat::from_axis_angle(random.direction(), random.between(0.0, 6.0));
    let (at, turned) = (Pose::new(Vec3::ZERO, turn()), turn());
    let way = random.direction();
    let place = |distance: f32| Pose::new(way * distance, turned);
    // From far away inward, in steps that do not miss a body, then by halves.
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

    /// How often the two contradict each other.
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

    /// Both are asked about all pairs, in turns.
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
        // Ours is asked more often in a round, as it is over so soon.
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

impl Report {
    /// The report for a terminal.
    pub fn to_text(&self) -> String {
        let mut table = Table::new(["case", "ratio", "ours, us", "parry3d, us", "may touch", "operations"]);
        for row in &self.rows {
            table.row([
                row.case.clone(),
                significant(row.ratio),
                significant(row.cpu_us),
                significant(row.parry_cpu_us),
                format!("{:.0} %", 100.0 * row.touching),
                significant(row.operations),
            ]);
        }
        let headings = [
            "frame by frame",
            "touch, us",
            "remembered, us",
            "spared",
            "walk, us",
            "front, us",
            "front pairs",
            "blocks",
        ];
        let mut frames = Table::new(headings);
        for row in &self.coherence {
            let times = [row.touches_us, row.memory_us].map(significant);
            let [walk, front, pairs, blocks] =
                [row.walk_us, row.front_us, row.front_pairs, row.blocks].map(significant);
            let [touches, memory] = times;
            let spared = format!("{:.0} %", 100.0 * row.spared);
            frames.row([row.case.clone(), touches, memory, spared, walk, front, pairs, blocks]);
        }
        format!(
            "{}: {} triangles; {} tree of depth {}, {} leaves, {} bytes, right to {:.4} m\n{table}\n{frames}",
            self.mesh, self.triangles, self.method, self.depth, self.leaves, self.tree_bytes, self.tolerance
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stopwatch::SteadyStopwatch;
    use shapes::mesh::catalog::shape;

    #[test]
    fn ours_and_parry_agree_on_a_torus() {
        let settings = Settings {
            name: "torus".to_owned(),
            mesh: shape("torus").unwrap(),
            method: Method::OctreeTight,
            depth: 3,
            pairs: 4,
            rounds: 1,
            seed: 1,
        };
        let report = measure(&settings, &mut SteadyStopwatch::new(5), &mut |_, _| {}).unwrap();
        assert_eq!(report.disagreements, 0);
        assert_eq!(report.rows.len(), 4 * KINDS.len());
        assert!(report.rows.iter().all(|row| (row.ratio - 10.0).abs() < 1e-9), "{:?}", report.rows);
        assert!(report.rows[0].touching == 1.0, "what touches is never called apart");
        assert!(report.to_text().contains("touching: all contacts"));
        assert_eq!(report.coherence.len(), KINDS.len());
        assert!(report.coherence.iter().all(|row| row.front_pairs > row.blocks && row.spared > 0.0));
        let none = Settings { pairs: 0, ..settings };
        assert!(matches!(measure(&none, &mut SteadyStopwatch::new(1), &mut |_, _| {}), Err(BenchError::OutOfRange(_))));
    }
}
