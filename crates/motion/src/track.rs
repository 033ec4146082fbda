//! What a receiver makes of an owner's updates: late, doubled, reordered or nonsense, the newest believable one wins.

use space::{DQuat, Time};

use crate::curve::Curve;
use crate::dead_reckoning::Algorithm;
use crate::position_history::{HistorySettings, PositionHistory, Sample};
use crate::state::{Flags, Limits, Unbelievable, Update, believable};
use crate::trend::TrendCurve;

/// What became of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receipt {
    /// It is the newest now.
    Newest,
    /// It is the newest, though its stamp is not later than the last: the owner's clock went back.
    ClockBack,
    /// It came late, and helps to fit the motion.
    Late,
}

/// Why an update changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// Its numbers cannot be.
    #[error(transparent)]
    Unbelievable(#[from] Unbelievable),
    /// It was here before.
    #[error("a duplicate of the newest update")]
    Duplicate,
    /// A newer one was here before.
    #[error("older than the newest update")]
    Old,
}

/// How often what happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrackCounts {
    /// Updates that became the newest.
    pub accepted: u64,
    /// Updates with a number that is none.
    pub rejected_nonfinite: u64,
    /// Updates with a number too large.
    pub rejected_range: u64,
    /// Updates that were here before.
    pub duplicates: u64,
    /// Updates that came after a newer one.
    pub reordered: u64,
    /// Updates whose stamp went back.
    pub clock_back: u64,
}

/// The newest update of one object, and as much of its past as fitting needs.
#[derive(Clone, Debug, Default)]
pub struct Track {
    limits: Limits,
    history_settings: HistorySettings,
    newest: Option<Update>,
    history: PositionHistory,
    counts: TrackCounts,
}

impl Track {
    /// Knows nothing yet.
    pub fn new(limits: Limits, history_settings: HistorySettings) -> Track {
        Track { limits, history_settings, ..Track::default() }
    }

    /// Takes in an update. `is_new_motion` says that the motion before it tells nothing about what comes: a collision
    /// was predicted in between.
    pub fn handle(&mut self, update: &Update, is_new_motion: bool) -> Result<Receipt, Rejected> {
        let update = match believable(update, &self.limits) {
            Ok(update) => update,
            Err(reason) => {
                match reason {
                    Unbelievable::NonFinite(_) => self.counts.rejected_nonfinite += 1,
                    Unbelievable::OutOfRange(_) => self.counts.rejected_range += 1,
                }
                return Err(reason.into());
            }
        };
        let sample = Sample { stamp: update.state.stamp, pos: update.state.pos, rot: update.state.rot };
        let mut receipt = Receipt::Newest;
        if let Some(newest) = &self.newest {
            if update.seq == newest.seq {
                self.counts.duplicates += 1;
                return Err(Rejected::Duplicate);
            }
            if !update.seq.is_newer_than(newest.seq) {
                self.counts.reordered += 1;
                let is_fitting = newest.algorithm == Algorithm::PositionHistory;
                let is_of_use = is_fitting && self.history.insert(sample, &self.history_settings);
                return if is_of_use { Ok(Receipt::Late) } else { Err(Rejected::Old) };
            }
            if update.state.stamp <= newest.state.stamp {
                self.counts.clock_back += 1;
                receipt = Receipt::ClockBack;
            }
        }
        if is_new_motion || receipt == Receipt::ClockBack || update.flags.contains(Flags::DISCONTINUITY) {
            self.history.clear();
        }
        self.history.push(sample, &self.history_settings);
        self.newest = Some(update);
        self.counts.accepted += 1;
        Ok(receipt)
    }

    /// The newest update.
    pub fn newest(&self) -> Option<&Update> {
        self.newest.as_ref()
    }

    /// The path that goes on from the newest update.
    pub fn curve(&self) -> Option<Curve> {
        let newest = self.newest.as_ref()?;
        match newest.algorithm {
            Algorithm::PositionHistory => self.history.curve(&self.history_settings),
            Algorithm::Trend => {
                let state = &newest.state;
                let curve = TrendCurve { pos: state.pos, vel: state.vel, acc: state.acc, trend: newest.trend };
                Some(Curve::Trend(curve))
            }
            algorithm => Some(algorithm.curve(&newest.state)),
        }
    }

    /// The orientation `dt` seconds after the newest stamp.
    pub fn orientation(&self, dt: f64) -> Option<DQuat> {
        let newest = self.newest.as_ref()?;
        match newest.algorithm {
            Algorithm::PositionHistory => self.history.orientation(dt),
            algorithm => Some(algorithm.orientation(&newest.state, dt)),
        }
    }

    /// When the newest update was made.
    pub fn stamp(&self) -> Option<Time> {
        self.newest.as_ref().map(|newest| newest.state.stamp)
    }

    /// How often what happened.
    pub fn counts(&self) -> TrackCounts {
        self.counts
    }
}
