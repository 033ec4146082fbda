//! A broad phase of one's own: sorted along one axis, each sphere is compared with its neighbours only. Its answer is
//! compared with brute force's, as every method's is in `crates/space/tests/broad_phases_agree.rs`.

use space::broad::BruteForce;
use space::workload::{Settings, Workload, WorkloadError};
use space::{BroadPhase, Edition, Pair, Slot, Sphere, Spheres, Work};

/// All spheres, by their least x.
#[derive(Default)]
struct SortedOnce {
    begins: Vec<(f32, Slot)>,
    /// The world as it was taken in.
    seen: Option<Edition>,
}

/// Where a sphere begins and ends on the x axis, rounded outward: a cull must not lose what the exact test would find.
fn interval(sphere: Sphere) -> (f32, f32) {
    let reach = sphere.radius + (sphere.center.x.abs() + sphere.radius) * 1e-6;
    (sphere.center.x - reach, sphere.center.x + reach)
}

impl BroadPhase for SortedOnce {
    fn update(&mut self, spheres: &Spheres) -> Work {
        let begin = |slot: Slot| interval(spheres.columns().sphere(slot.row())).0;
        self.begins.clear();
        self.begins.extend(spheres.slots().map(|slot| (begin(slot), slot)));
        self.begins.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
        self.seen = Some(spheres.edition());
        Work::default()
    }

    fn find(&mut self, spheres: &Spheres, pairs: &mut Vec<Pair>) -> Work {
        let mut work = Work::default();
        if self.seen != Some(spheres.edition()) {
            work = self.update(spheres);
        }
        pairs.clear();
        for (index, &(_, slot)) in self.begins.iter().enumerate() {
            let sphere = spheres.columns().sphere(slot.row());
            let (_, end) = interval(sphere);
            for &(_, other) in self.begins[index + 1..].iter().take_while(|(begin, _)| *begin <= end) {
                work.sphere_tests += 1;
                if sphere.overlaps(spheres.columns().sphere(other.row())) {
                    pairs.push(Pair::new(slot, other));
                }
            }
        }
        work
    }
}

fn main() -> Result<(), WorkloadError> {
    let workload = Workload::new(Settings { objects: 2_000, ..Settings::default() })?;
    let (mut mine, mut theirs) = (Vec::new(), Vec::new());
    let my_work = SortedOnce::default().pairs(workload.spheres(), &mut mine);
    let their_work = BruteForce.pairs(workload.spheres(), &mut theirs);
    mine.sort_unstable();
    theirs.sort_unstable();
    assert_eq!(mine, theirs);
    println!("{} pairs, in {} tests instead of {}", mine.len(), my_work.sphere_tests, their_work.sphere_tests);
    Ok(())
}
