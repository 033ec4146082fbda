//! When to look for a plan again, and how far to trust it, after courses were not worth it or there was no plan.
//!
//! A new plan may do for a world that has changed, hardly for one that is just as it was. So there is a pause, which grows. And a plan
//! is made from a sample, in a few ticks: a world may look calmer to it than it is, again and again. So where courses took more than
//! was promised, the next plans are taken for that much dearer, and a little less so each time. But one that beats the promise
//! that was broken is for a world that has changed, and is taken at its word.

/// How far plans are trusted.
#[derive(Clone, Copy, Debug)]
pub struct Trust {
    /// Nobody looks for a plan before this tick; and how long the last pause was.
    rests_until: u64,
    rest: u64,
    /// How many times as much as it promises a plan is believed to take.
    doubt: f64,
    /// What the plan promised that failed last, as a share of what it costs to find pairs afresh.
    broken_promise: f64,
}

/// Why objects are not followed any longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// The plan does not fit the world, or no longer: following took too much, or was not possible.
    Unfit,
    /// Nobody knows what happened meanwhile.
    Interrupted,
}

/// What came of a plan. Costs are per object and tick.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// For how many ticks courses were followed.
    pub ticks: u64,
    /// What the plan promised, what a tick cost in the end, and all of them together.
    pub promised: f64,
    pub cost: f64,
    pub spent: f64,
    /// What it costs to find pairs afresh.
    pub limit: f64,
}

/// The first pause, and the longest.
const RESTS: (u64, u64) = (8, 512);
/// Courses that were given up after so many ticks were not worth it, whatever they cost; nor were others that cost this share of
/// what finding pairs afresh does, or more, all in all.
const SHORT: u64 = 64;
const MISTAKE: f64 = 0.8;
/// No plan is believed to take more times as much as it promises; and this share of the doubt is left with every plan that is made.
const DOUBT_MAX: f64 = 16.0;
const REMEMBERED: f64 = 0.97;

impl Default for Trust {
    fn default() -> Trust {
        Trust { rests_until: 0, rest: 0, doubt: 1.0, broken_promise: 0.0 }
    }
}

impl Trust {
    /// Whether it is too early to look for a plan.
    pub fn is_resting(&self, now: u64) -> bool {
        now < self.rests_until
    }

    /// What a plan has to beat that must not cost more than `limit`: that, if plans are trusted; and what was promised last, if they
    /// are not. The next time it will be a little more.
    pub fn rival_cost(&mut self, limit: f64) -> f64 {
        let doubted = limit / self.doubt;
        self.doubt = 1.0 + (self.doubt - 1.0) * REMEMBERED;
        doubted.max(self.broken_promise * limit)
    }

    /// Notes that no plan paid.
    pub fn after_no_plan(&mut self, now: u64) {
        self.rest = longer(self.rest);
        self.rests_until = now + self.rest;
    }

    /// Notes what came of a plan.
    pub fn after_courses(&mut self, now: u64, why: Over, Outcome { ticks, promised, cost, spent, limit }: Outcome) {
        let was_dear = ticks <= SHORT || spent > MISTAKE * limit * ticks as f64;
        let was_a_mistake = why == Over::Unfit && was_dear;
        if was_a_mistake {
            self.doubt = (cost.max(limit) / promised).clamp(1.0, DOUBT_MAX);
            self.broken_promise = promised / limit;
        }
        self.rest = if ticks > 4 * RESTS.1 { RESTS.0 } else { longer(self.rest) };
        self.rests_until = now + if ticks > SHORT && !was_a_mistake { 0 } else { self.rest };
    }
}

fn longer(rest: u64) -> u64 {
    (2 * rest).clamp(RESTS.0, RESTS.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAILED: Outcome = Outcome { ticks: 20, promised: 10.0, cost: 400.0, spent: 8_000.0, limit: 20.0 };

    #[test]
    fn pauses_grow_and_end() {
        let mut trust = Trust::default();
        let pauses: Vec<u64> = (0..9)
            .map(|_| {
                trust.after_no_plan(0);
                trust.rests_until
            })
            .collect();
        assert_eq!(pauses, [8, 16, 32, 64, 128, 256, 512, 512, 512]);
    }

    /// The next plans would have to beat the one that failed, and need not after a time.
    #[test]
    fn a_broken_promise_has_to_be_beaten() {
        let mut trust = Trust::default();
        assert_eq!(trust.rival_cost(20.0), 20.0);
        trust.after_courses(0, Over::Unfit, FAILED);
        assert!(trust.is_resting(7) && !trust.is_resting(8));
        assert_eq!(trust.rival_cost(20.0), FAILED.promised);
        let plans = (1..).find(|_| trust.rival_cost(20.0) > FAILED.promised).unwrap();
        assert!((50..500).contains(&plans), "trusted after {plans} plans");
    }

    #[test]
    fn an_interruption_is_nobodys_mistake() {
        let mut trust = Trust::default();
        trust.after_courses(0, Over::Interrupted, FAILED);
        assert_eq!(trust.rival_cost(20.0), 20.0);
        let paid = Outcome { ticks: 5_000, cost: 10.0, spent: 50_000.0, ..FAILED };
        trust.after_courses(9, Over::Unfit, paid);
        assert!(trust.rival_cost(20.0) == 20.0 && !trust.is_resting(9));
    }
}
