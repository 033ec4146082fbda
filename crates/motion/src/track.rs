//! What a receiver keeps of an owner's updates. Updates may be late, duplicated, reordered or invalid: the newest
//! valid one counts.

use space::{DQuat, Time};

use crate::curve::Curve;
use crate::dead_reckoning::Algorithm;
use crate::position_history::{HistorySettings, PositionHistory, Sample};
use crate::state::{Flags, StateLimits, Unbelievable, Update, believable};
use crate::trend::TrendCurve;

/// How an accepted update was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receipt {
    /// It is the newest update now.
    Newest,
    /// It is the newest, though its stamp is not later than the previous one: the owner's clock went back.
    ClockBack,
    /// It is older than the newest update, and is used to fit the motion.
    Late,
}

/// Why an update changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    #[error(transparent)]
    Unbelievable(#[from] Unbelievable),
    /// It has the sequence number of the newest update.
    #[error("a duplicate of the newest update")]
    Duplicate,
    /// A newer update has arrived before.
    #[error("older than the newest update")]
    Old,
}

/// The newest update of one object, and as much of its past as fitting needs.
#[derive(Clone, Debug, Default)]
pub struct Track {
    limits: StateLimits,
    history_settings: HistorySettings,
    newest: Option<Update>,
    history: PositionHistory,
}

impl Track {
    /// A track without updates.
    pub fn new(limits: StateLimits, history_settings: HistorySettings) -> Track {
        Track { limits, history_settings, ..Track::default() }
    }

    /// Takes in an update. `is_new_motion` says that a collision was predicted before it, so that earlier positions say
    /// nothing about the motion after it.
    pub fn handle(&mut self, update: &Update, is_new_motion: bool) -> Result<Receipt, Rejected> {
        let update = believable(update, &self.limits)?;
        let sample = Sample { stamp: update.state.stamp, pos: update.state.pos, rot: update.state.rot };
        let mut receipt = Receipt::Newest;
        if let Some(newest) = &self.newest {
            if update.seq == newest.seq {
                return Err(Rejected::Duplicate);
            }
            if !update.seq.is_newer_than(newest.seq) {
                let is_fitting = newest.algorithm == Algorithm::PositionHistory;
                let is_of_use = is_fitting && self.history.insert(sample, &self.history_settings);
                return if is_of_use { Ok(Receipt::Late) } else { Err(Rejected::Old) };
            }
            if update.state.stamp <= newest.state.stamp {
                receipt = Receipt::ClockBack;
            }
        }
        if is_new_motion || receipt == Receipt::ClockBack || update.flags.contains(Flags::DISCONTINUITY) {
            self.history.clear();
        }
        self.history.push(sample, &self.history_settings);
        self.newest = Some(update);
        Ok(receipt)
    }

    pub fn newest(&self) -> Option<&Update> {
        self.newest.as_ref()
    }

    /// The path that starts at the newest update.
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

    /// The stamp of the newest update.
    pub fn stamp(&self) -> Option<Time> {
        self.newest.as_ref().map(|newest| newest.state.stamp)
    }
}
