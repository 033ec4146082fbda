//! Temporal coherence: a pair of shapes remembers its last answer.
//!
//! If the shapes were apart, the clearance: until they have moved by that much, they still are. If they touched, the
//! pair of balls: while that pair is reached, they still touch, and no walk is needed. Both are proofs, so no answer
//! depends on what is remembered.
//!
//! Keeping the front, all pairs at which the last walk ended, takes more time and memory (docs/narrow-phase.md).

use space::DVec3;

use super::question::Question;
use super::search::{Intersection, Search};
use crate::pose::WidePose;
use crate::simd::NodePair;

/// The last answer for a pair of shapes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    last: Option<Last>,
    /// Questions answered without a walk.
    pub spared: u64,
    /// Questions answered by a walk.
    pub walked: u64,
}

#[derive(Clone, Copy, Debug)]
enum Last {
    /// They were apart by at least `by` in this relative pose.
    Apart { relative: WidePose, by: f64, trees: [u64; 2] },
    /// This pair of leaves overlapped.
    Touching { pair: NodePair, trees: [u64; 2] },
}

impl Memory {
    /// Whether the shapes may touch: the answer of [`Search::touches`] with less work,
    /// but never [`Intersection::Certain`].
    pub fn may_touch(&mut self, question: &Question<'_>, search: &mut Search) -> bool {
        let trees = [question.trees.a.fingerprint(), question.trees.b.fingerprint()];
        match self.last {
            Some(Last::Apart { relative, by, trees: known }) if known == trees && question.is_sensible => {
                let reach = f64::from(question.trees.b.reach());
                if moved(&relative, &question.relative, reach) < by {
                    self.spared += 1;
                    return false;
                }
            }
            Some(Last::Touching { pair, trees: known })
                if known == trees && question.is_sensible && question.is_reached(pair) =>
            {
                self.spared += 1;
                return true;
            }
            _ => {}
        }
        self.walked += 1;
        let is_apart = search.touches(question).intersection == Intersection::Apart;
        self.last = if !question.is_sensible {
            None
        } else if is_apart {
            // A new test is widened by the slack and rounds by less than it.
            let by = f64::from(search.clearance()) - 3.0 * f64::from(question.trees.slack);
            Some(Last::Apart { relative: question.relative, by, trees })
        } else {
            search.ends().first().map(|&pair| Last::Touching { pair, trees })
        };
        !is_apart
    }
}

/// The most that a point within `reach` of the origin moved between two poses.
fn moved(before: &WidePose, after: &WidePose, reach: f64) -> f64 {
    let turn = before.rotation.conjugate() * after.rotation;
    // A chord is shorter than its arc; 2 sin(angle / 2) is twice the length of the vector part.
    let chord = 2.0 * DVec3::new(turn.x, turn.y, turn.z).length();
    before.position.distance(after.position) + chord.min(2.0) * reach
}
