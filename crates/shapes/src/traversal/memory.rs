//! What is remembered from frame to frame, so that little change is little work.
//!
//! Of two shapes that were apart, how far: until they have moved by that much, they still are. Of two that touched, in
//! which pair of balls: where that pair still overlaps, they still do, and no walk is needed to say so. Neither can be
//! wrong, so that no answer depends on what is remembered.
//!
//! The usual memory of such walks is the front, all pairs at which the last one ended, to be tested again one by one. To know
//! whether two touch that takes longer than this (docs/narrow-phase.md has the figures), and it takes more memory.

use space::DVec3;

use super::question::Question;
use super::search::{Search, Verdict};
use crate::pose::WidePose;
use crate::simd::NodePair;

/// What was found when a pair of shapes was asked about last.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    last: Option<Last>,
    /// Questions that were answered from memory.
    pub spared: u64,
    /// Questions that took a walk.
    pub walked: u64,
}

#[derive(Clone, Copy, Debug)]
enum Last {
    /// They were at least so far apart, in this relative pose.
    Apart { relative: WidePose, by: f64, trees: [u64; 2] },
    /// They touched, and this pair of ends overlapped.
    Touching { pair: NodePair, trees: [u64; 2] },
}

impl Memory {
    /// Whether the two may touch: what [`Search::touches`] says, with less work. It does not say when a touch is certain.
    pub fn may_touch(&mut self, question: &Question<'_>, search: &mut Search) -> bool {
        let trees = [question.scene.a.fingerprint(), question.scene.b.fingerprint()];
        match self.last {
            Some(Last::Apart { relative, by, trees: known }) if known == trees && question.is_sensible => {
                let reach = f64::from(question.scene.b.reach());
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
        let is_apart = search.touches(question).verdict == Verdict::Apart;
        self.last = if !question.is_sensible {
            None
        } else if is_apart {
            // What is tested anew is widened by the slack, and rounds by less than it.
            let by = f64::from(search.clearance()) - 3.0 * f64::from(question.scene.slack);
            Some(Last::Apart { relative: question.relative, by, trees })
        } else {
            search.ends().first().map(|&pair| Last::Touching { pair, trees })
        };
        !is_apart
    }
}

/// How far any point within `reach` of the origin moved between two poses, at most.
fn moved(before: &WidePose, after: &WidePose, reach: f64) -> f64 {
    let turn = before.rotation.conjugate() * after.rotation;
    // A chord is shorter than its arc; 2 sin(angle / 2) is twice the length of the vector part.
    let chord = 2.0 * DVec3::new(turn.x, turn.y, turn.z).length();
    before.position.distance(after.position) + chord.min(2.0) * reach
}
