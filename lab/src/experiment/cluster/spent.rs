//! What some ticks of a server took, by what it was for.

use std::time::Duration;

use wire::kind;

use crate::stopwatch::Stopwatch;

/// What a node's time goes to.
pub const PARTS: [&str; 7] =
    ["arrivals", "inputs", "world and border", "follow", "audience", "fan-out", "between nodes"];
pub(super) const ARRIVALS: usize = 0;
pub(super) const FAN_OUT: usize = 5;
pub(super) const BETWEEN: usize = 6;

/// What some ticks took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// Milliseconds of processor time, as in [`PARTS`].
    pub parts_ms: [f64; PARTS.len()],
    /// Batches to other nodes.
    pub batches: u64,
    pub batch_bytes: u64,
    /// Bytes of copies.
    pub copy_bytes: u64,
    /// Bytes of everything.
    pub bytes: u64,
}

impl Spent {
    /// What several took together.
    pub fn sum(all: &[Spent]) -> Spent {
        all.iter().fold(Spent::default(), |sum, one| Spent {
            parts_ms: std::array::from_fn(|part| sum.parts_ms[part] + one.parts_ms[part]),
            batches: sum.batches + one.batches,
            batch_bytes: sum.batch_bytes + one.batch_bytes,
            copy_bytes: sum.copy_bytes + one.copy_bytes,
            bytes: sum.bytes + one.bytes,
        })
    }

    /// Of the same ticks, done once more, each as it was quickest: what else a machine does only adds.
    pub fn keep_quickest(kept: &mut Vec<Spent>, again: &[Spent]) {
        kept.extend(again.iter().skip(kept.len()));
        for (kept, again) in kept.iter_mut().zip(again) {
            if again.total_ms() < kept.total_ms() {
                *kept = *again;
            }
        }
    }

    /// All of its time.
    pub fn total_ms(&self) -> f64 {
        self.parts_ms.iter().sum()
    }

    /// Time since the last reading goes to a part.
    pub(super) fn lap(&mut self, part: usize, last: &mut Duration, stopwatch: &mut dyn Stopwatch) {
        let now = stopwatch.read().cpu;
        self.parts_ms[part] += now.saturating_sub(*last).as_secs_f64() * 1e3;
        *last = now;
    }

    /// A message that was sent to another node.
    pub(super) fn count(&mut self, message: &[u8]) {
        let bytes = message.len() as u64;
        match message.first() {
            Some(&kind::NODE_BATCH) => {
                (self.batches, self.batch_bytes) = (self.batches + 1, self.batch_bytes + bytes);
            }
            Some(&kind::NODE_REPLICATE) => self.copy_bytes += bytes,
            _ => {}
        }
        self.bytes += bytes;
    }
}
