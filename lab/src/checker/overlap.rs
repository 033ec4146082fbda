//! Nothing overlaps, ever.

use space::GridPoint;
use world::Kind;

use super::{Checker, Observed, TruthObject, metres};
use crate::promise::Promise;

/// No two solids share more than their surfaces, in any settled state.
#[derive(Clone, Copy, Debug, Default)]
pub struct Overlap;

impl Checker for Overlap {
    fn name(&self) -> &'static str {
        "nothing overlaps"
    }

    fn look(&mut self, observed: &mut Observed<'_>, promise: &mut Promise) {
        let truth = observed.truth;
        let (fixed, moving): (Vec<&TruthObject>, Vec<&TruthObject>) =
            truth.iter().filter(|object| object.solid.is_some()).partition(|object| object.kind == Kind::Fixed);
        for (index, one) in moving.iter().enumerate() {
            for other in moving[index + 1..].iter().chain(&fixed) {
                if overlaps(one, other) {
                    promise.check(false, || {
                        format!(
                            "tick {}: {} ({}) at {} overlaps {} ({}) at {}",
                            observed.tick,
                            one.id,
                            one.name,
                            metres(one.at),
                            other.id,
                            other.name,
                            metres(other.at)
                        )
                    });
                }
            }
        }
        promise.checks += 1;
    }
}

/// Two rounded boxes overlap when their boxes are nearer than their roundings together: whole numbers, no tolerance.
fn overlaps(one: &TruthObject, other: &TruthObject) -> bool {
    let (Some((core, radius)), Some((other_core, other_radius))) = (one.solid, other.solid) else { return false };
    let steps = |at: GridPoint| [at.x, at.y, at.z].map(i64::from);
    let (a, b) = (steps(one.at), steps(other.at));
    let apart: [i64; 3] = std::array::from_fn(|axis| (a[axis] - b[axis]).abs() - core[axis] - other_core[axis]);
    let reach = radius + other_radius;
    if reach == 0 {
        return apart.iter().all(|gap| *gap < 0);
    }
    apart.iter().map(|gap| gap.max(&0).pow(2)).sum::<i64>() < reach * reach
}
