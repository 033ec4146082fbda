//! No two solids overlap in a confirmed state.

use std::collections::BTreeMap;

use space::{GridPoint, ObjectId};

use super::{Observed, Promise, Score, SeenSolid};

/// No two solids share more than their surfaces, whichever node owns them.
#[derive(Clone, Debug, Default)]
pub struct Apart {
    /// For how many looks in a row two solids overlap, where only others than their owners say so.
    lasting: BTreeMap<(ObjectId, ObjectId), u64>,
}

/// What is seen across a border is as old as a message between servers is under way, or a server is late: with a
/// quarter of a second of each at most, two objects are shown in one place for up to 16 ticks. They overlap if
/// it lasts longer.
const LASTING: u64 = 30;

impl Apart {
    pub const NAME: &str = "nothing overlaps";
}

impl Promise for Apart {
    /// Sweeps along one axis.
    fn look(&mut self, observed: &Observed<'_>, score: &mut Score) {
        let Some(solids) = &observed.solids else { return };
        let mut sorted: Vec<(i32, i32, &SeenSolid)> = solids
            .iter()
            .map(|seen| {
                let half = seen.solid.core[0] + seen.solid.radius;
                (seen.at.x - half, seen.at.x + half, seen)
            })
            .collect();
        sorted.sort_unstable_by_key(|(low, _, seen)| (*low, seen.id));
        let mut lasting = BTreeMap::new();
        let mut wrong = Vec::new();
        for (index, &(_, high, one)) in sorted.iter().enumerate() {
            for &(_, _, other) in sorted[index + 1..].iter().take_while(|(low, ..)| *low <= high) {
                if one.is_fixed && other.is_fixed || one.id == other.id || !overlaps(one, other) {
                    continue;
                }
                let pair = (one.id.min(other.id), one.id.max(other.id));
                if one.is_certain && other.is_certain {
                    wrong.push((one, other));
                } else {
                    let looks = self.lasting.get(&pair).copied().unwrap_or_default() + 1;
                    lasting.insert(pair, looks);
                    if looks == LASTING {
                        wrong.push((one, other));
                    }
                }
            }
        }
        self.lasting = lasting;
        for (one, other) in wrong {
            score.check(false, || {
                let place = |seen: &SeenSolid| format!("{} at {}", seen.id, seen.at.position());
                format!("tick {}, {}: {} overlaps {}", observed.tick, observed.now, place(one), place(other))
            });
        }
        score.checks += 1;
    }
}

/// Two rounded boxes overlap when their boxes are nearer than their roundings together: whole numbers, no tolerance.
fn overlaps(one: &SeenSolid, other: &SeenSolid) -> bool {
    let steps = |at: GridPoint| [at.x, at.y, at.z].map(i64::from);
    let (a, b) = (steps(one.at), steps(other.at));
    let core = |axis: usize| i64::from(one.solid.core[axis]) + i64::from(other.solid.core[axis]);
    let gaps: [i64; 3] = std::array::from_fn(|axis| (a[axis] - b[axis]).abs() - core(axis));
    let reach = i64::from(one.solid.radius) + i64::from(other.solid.radius);
    if reach == 0 {
        return gaps.iter().all(|gap| *gap < 0);
    }
    gaps.iter().map(|gap| gap.max(&0).pow(2)).sum::<i64>() < reach * reach
}
