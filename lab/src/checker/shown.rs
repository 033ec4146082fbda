//! What a client shows is no farther from the truth than what it last heard allows.

use std::collections::BTreeMap;

use space::ObjectId;
use wire::session::EnteredKind;

use super::{Checker, Observed};
use crate::promise::Promise;

/// The error of everybody shown is within a bound that grows with the age of what was heard.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    shown: Vec<(wire::Handle, motion::convergence::Shown)>,
    /// How old what was heard has been in the last ticks: a correction is not shown at once.
    ages: BTreeMap<(usize, ObjectId), [f64; BLEND_TICKS]>,
    /// Errors of avatars, in metres: their sum and how many.
    pub sum: f64,
    /// See above.
    pub count: u64,
}

/// The fastest that anything moves here, in metres per second: a ball that is thrown.
const SPEED_MAX: f64 = 12.0;
/// An update is shown in full after so many ticks.
const BLEND_TICKS: usize = 5;
/// What convergence and rounding add, in metres.
const SLACK: f64 = 0.3;

impl Checker for Shown {
    fn name(&self) -> &'static str {
        "shown errors are within their bound"
    }

    fn look(&mut self, observed: &mut Observed<'_>, promise: &mut Promise) {
        let Observed { tick, tick_us, now, settled_us, truth, .. } = *observed;
        let mut ages = BTreeMap::new();
        for (index, state) in observed.clients.iter_mut().enumerate() {
            if !state.is_calm(now, settled_us) {
                continue;
            }
            let client = state.bot.client_mut();
            client.show(now + state.clock_us, &mut self.shown);
            let heard = client.others().iter();
            let mut shown = self.shown.iter().peekable();
            for (handle, other) in heard {
                let Some((_, shown)) = shown.next_if(|(shown, _)| *shown == handle) else { continue };
                let Some(object) = super::object(truth, other.entered.object) else { continue };
                let age_s = tick.saturating_sub(other.confirmed.0) as f64 * tick_us as f64 * 1e-6;
                let mut recent = self.ages.get(&(index, object.id)).copied().unwrap_or([age_s; BLEND_TICKS]);
                recent.rotate_right(1);
                recent[0] = age_s;
                ages.insert((index, object.id), recent);
                let age_s = recent.into_iter().fold(0.0, f64::max);
                let error = shown.pos.distance(object.at.position().as_dvec3());
                // What was predicted and what is true may go opposite ways.
                let bound = SLACK + 2.0 * SPEED_MAX * (age_s + 0.1);
                promise.check(error <= bound, || {
                    format!(
                        "tick {tick}: {} shows {} ({}) at {:.2}, {error:.2} m from where it is; heard {age_s:.2} s ago, at \
                         {:.2}, that is more than {bound:.2} m",
                        state.name,
                        object.id,
                        object.name,
                        shown.pos,
                        other.confirmed.1.position()
                    )
                });
                if other.entered.kind == EnteredKind::Avatar {
                    self.sum += error;
                    self.count += 1;
                }
            }
        }
        self.ages = ages;
    }
}
