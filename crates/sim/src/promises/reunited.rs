//! When all nodes of a cluster run and reach each other again, all belong to the plan and may act soon.

use space::Time;

use super::{Observed, Promise, Score};

/// All nodes find together within [`Reunited::WITHIN_US`] after an outage. How long it takes is measured, in seconds.
#[derive(Clone, Debug, Default)]
pub struct Reunited {
    /// The end of the outage that was judged last.
    judged: Option<Time>,
}

impl Reunited {
    pub const NAME: &str = "all nodes find together again";
    /// `docs/cluster.md` says what that takes.
    pub const WITHIN_US: i64 = 7_000_000;
}

impl Promise for Reunited {
    fn look(&mut self, observed: &Observed<'_>, score: &mut Score) {
        let Some(outage) = observed.outage.as_ref().filter(|outage| Some(outage.until) != self.judged) else { return };
        let waited_us = observed.now - outage.until;
        if waited_us >= 0 && (outage.is_together || waited_us >= Reunited::WITHIN_US) {
            self.judged = Some(outage.until);
            score.measure(waited_us as f64 * 1e-6);
            score.check(outage.is_together, || {
                format!("at {}, {:.1} s after an outage: {}", observed.now, waited_us as f64 * 1e-6, outage.states)
            });
        }
    }
}
