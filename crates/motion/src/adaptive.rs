//! Adaptive collision prediction tracking (paper 001): the limit on an object's error is lowered while it may soon meet
//! an object of another host.
//!
//! ```text
//! limit        ┌──────────      Graded: the limit falls in proportion to the proximity
//!             ╱                 Binary: it falls to limit_close at once, below tau
//! limit_close ┘
//!             0        tau      proximity, in seconds
//! ```
//!
//! Proximity is Ohlenburg's measure: the time to the contact to which present velocities lead, or twice the time since
//! a contact in the past.

use space::DVec3;
use space::impact::{Ballistic, Impact, accelerated, spheres};

/// A moving ball, as one host sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MovingBall {
    /// The centre, in metres.
    pub pos: DVec3,
    /// Metres per second.
    pub vel: DVec3,
    /// Metres per second squared.
    pub acc: DVec3,
    /// In metres; for a remote object, the error bound of its replica is added.
    pub radius: f64,
}

/// How the limit falls as objects come close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tightening {
    /// To `limit_close` at once, below the threshold.
    Binary,
    /// Linearly, from the threshold down to contact.
    Graded,
}

/// When objects are close, and what the limit is then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaptiveSettings {
    /// The limit when nothing is close, in metres.
    pub limit: f64,
    /// The limit at contact, in metres.
    pub limit_close: f64,
    /// Below this proximity objects are close, in seconds.
    pub tau: f64,
    pub tightening: Tightening,
    /// Whether future contacts are computed with accelerations.
    pub is_second_order: bool,
    /// One-way latency, in seconds, added to `tau`: the other host learns of a change that much later.
    pub latency: f64,
    /// Whether closeness ends only after `QUIET_FRAMES` frames beyond 1.2 `tau`, so that it does not flicker.
    pub has_hysteresis: bool,
}

impl Default for AdaptiveSettings {
    /// The settings of paper 001.
    fn default() -> AdaptiveSettings {
        AdaptiveSettings {
            limit: 0.5,
            limit_close: 0.05,
            tau: 0.5,
            tightening: Tightening::Binary,
            is_second_order: false,
            latency: 0.0,
            has_hysteresis: false,
        }
    }
}

impl AdaptiveSettings {
    /// The proximity below which objects are close.
    pub fn threshold(&self) -> f64 {
        self.tau + self.latency
    }
}

/// The proximity of two balls, in seconds: zero if they overlap, else the time to contact or twice the time since one;
/// infinite if their paths never bring them into contact.
pub fn proximity(own: &MovingBall, remote: &MovingBall, settings: &AdaptiveSettings) -> f64 {
    let (d, v) = (remote.pos - own.pos, remote.vel - own.vel);
    let r = own.radius + remote.radius;
    if d.length_squared() < r * r {
        return 0.0;
    }
    let weigh = |time: f64| if time < 0.0 { -2.0 * time } else { time };
    let first_order = spheres::passage(d, v, r).map_or(f64::INFINITY, |passage| {
        let least = weigh(passage.entry).min(weigh(passage.exit));
        // The times are NaN where nothing moves.
        if least.is_nan() { f64::INFINITY } else { least }
    });
    if !settings.is_second_order {
        return first_order;
    }
    let past =
        spheres::passage(d, v, r).map_or(f64::INFINITY, |p| if p.exit < 0.0 { -2.0 * p.exit } else { f64::INFINITY });
    let motion = Ballistic { pos: d, vel: v, acc: remote.acc - own.acc };
    // Beyond the threshold the value has no effect.
    let future = match accelerated::contact(motion, r, 2.0 * settings.threshold()) {
        Impact::At(time) => time,
        Impact::Maybe { from, .. } => from,
        Impact::Never => f64::INFINITY,
    };
    past.min(future)
}

/// The limit of one own object from frame to frame.
#[derive(Clone, Debug)]
pub struct Adaptive {
    settings: AdaptiveSettings,
    is_close: bool,
    quiet_frames: u32,
}

/// With hysteresis, closeness ends after this many frames,
const QUIET_FRAMES: u32 = 3;
/// beyond the threshold times this.
const QUIET_FACTOR: f64 = 1.2;

impl Adaptive {
    /// For an object to which nothing is close yet.
    pub fn new(settings: AdaptiveSettings) -> Adaptive {
        Adaptive { settings, is_close: false, quiet_frames: 0 }
    }

    /// The limit for this frame, given the proximity of the [`closest`] remote object.
    pub fn limit(&mut self, proximity: f64) -> f64 {
        let tau = self.settings.threshold();
        if proximity < tau {
            self.is_close = true;
            self.quiet_frames = 0;
        } else if self.is_close {
            let is_far = proximity > QUIET_FACTOR * tau;
            self.quiet_frames = if is_far { self.quiet_frames + 1 } else { 0 };
            if !self.settings.has_hysteresis || self.quiet_frames >= QUIET_FRAMES {
                self.is_close = false;
            }
        }
        let AdaptiveSettings { limit, limit_close, tightening, .. } = self.settings;
        match tightening {
            Tightening::Binary => {
                if self.is_close {
                    limit_close
                } else {
                    limit
                }
            }
            Tightening::Graded => graded(limit_close, limit, proximity, tau),
        }
    }

    pub fn settings(&self) -> &AdaptiveSettings {
        &self.settings
    }
}

fn graded(limit_close: f64, limit: f64, proximity: f64, tau: f64) -> f64 {
    if proximity >= tau {
        return limit;
    }
    (limit_close + (limit - limit_close) * (proximity / tau)).clamp(limit_close.min(limit), limit.max(limit_close))
}

/// The smallest proximity of an own object to any remote one; infinite if there is none.
pub fn closest(own: &MovingBall, remote: &[MovingBall], settings: &AdaptiveSettings) -> f64 {
    remote.iter().map(|remote| proximity(own, remote, settings)).fold(f64::INFINITY, f64::min)
}
