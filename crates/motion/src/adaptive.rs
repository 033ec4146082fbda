//! Adaptive collision prediction tracking: whoever may soon meet another host's object tells more about itself.
//!
//! The measure of closeness is Ohlenburg's: the time to the contact that present velocities lead to, twice the time
//! since a contact that lies behind.

use space::impact::{Ballistic, Impact, accelerated, spheres};
use space::{BroadPhase, DVec3, Pair, Slot, Sphere, Spheres, Vec3};

/// A moving ball, as seen by the host that asks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mover {
    /// Centre, in metres.
    pub pos: DVec3,
    /// Metres per second.
    pub vel: DVec3,
    /// Metres per second squared.
    pub acc: DVec3,
    /// Radius, in metres; of a remote object, widened by how far its replica may be off.
    pub radius: f64,
}

/// How the limit falls as things come close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tightening {
    /// To the close limit at once, below the threshold.
    Binary,
    /// Steadily, from the threshold down to contact.
    Graded,
}

/// When things are close, and what follows from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaptiveSettings {
    /// The limit when nothing is close, in metres.
    pub limit: f64,
    /// The limit at contact, in metres.
    pub limit_close: f64,
    /// Below this time to contact things are close, in seconds.
    pub tau: f64,
    /// How the limit falls.
    pub tightening: Tightening,
    /// Whether accelerations count for contacts to come.
    pub is_second_order: bool,
    /// One-way latency, added to `tau`, in seconds: the other host learns of a change so much later.
    pub latency: f64,
    /// Whether closeness ends only after three frames beyond 1.2 `tau`, so that it does not flicker.
    pub has_hysteresis: bool,
}

impl Default for AdaptiveSettings {
    /// The paper's.
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
    /// The threshold, latency included.
    pub fn threshold(&self) -> f64 {
        self.tau + self.latency
    }
}

/// How close two balls are: zero when they overlap, else the time to contact or twice the time since; infinite when
/// their ways do not cross.
pub fn proximity(own: &Mover, remote: &Mover, settings: &AdaptiveSettings) -> f64 {
    let (d, v) = (remote.pos - own.pos, remote.vel - own.vel);
    let r = own.radius + remote.radius;
    if d.length_squared() < r * r {
        return 0.0;
    }
    let weigh = |time: f64| if time < 0.0 { -2.0 * time } else { time };
    let first_order = spheres::passage(d, v, r).map_or(f64::INFINITY, |passage| {
        let least = weigh(passage.entry).min(weigh(passage.exit));
        // Spheres that never overlapped because nothing moves have a time that is no number.
        if least.is_nan() { f64::INFINITY } else { least }
    });
    if !settings.is_second_order {
        return first_order;
    }
    let past =
        spheres::passage(d, v, r).map_or(f64::INFINITY, |p| if p.exit < 0.0 { -2.0 * p.exit } else { f64::INFINITY });
    let motion = Ballistic { pos: d, vel: v, acc: remote.acc - own.acc };
    // Beyond twice the threshold the answer no longer matters.
    let future = match accelerated::contact(motion, r, 2.0 * settings.threshold()) {
        Impact::At(time) => time,
        Impact::Maybe { from, .. } => from,
        Impact::Never => f64::INFINITY,
    };
    past.min(future)
}

/// The limit of one own object, frame by frame.
#[derive(Clone, Debug)]
pub struct Adaptive {
    settings: AdaptiveSettings,
    is_close: bool,
    quiet_frames: u32,
}

/// Frames of distance before closeness ends, with hysteresis.
const QUIET_FRAMES: u32 = 3;
/// How far beyond the threshold counts as distance, with hysteresis.
const QUIET_FACTOR: f64 = 1.2;

impl Adaptive {
    /// Nothing is close yet.
    pub fn new(settings: AdaptiveSettings) -> Adaptive {
        Adaptive { settings, is_close: false, quiet_frames: 0 }
    }

    /// The limit for this frame, given the smallest proximity to any remote object; infinity when there is none.
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

    /// Whether something is close.
    pub fn is_close(&self) -> bool {
        self.is_close
    }

    /// When things are close.
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

/// The smallest proximity of one own object to any of the remote ones: the plain loop, and the meaning of
/// [`closest`].
pub fn closest_plain(own: &Mover, remote: &[Mover], settings: &AdaptiveSettings) -> f64 {
    remote.iter().map(|remote| proximity(own, remote, settings)).fold(f64::INFINITY, f64::min)
}

/// The smallest proximity of each own object, by a broad phase over the ways that all can make in time. What is not
/// close may be reported as infinitely far.
///
/// Objects outside the limits of [`Spheres`] are compared with all.
pub fn closest(
    own: &[Mover],
    remote: &[Mover],
    settings: &AdaptiveSettings,
    broad_phase: &mut dyn BroadPhase,
) -> Vec<f64> {
    closest_by(own, remote, broad_phase, |mover| swept(mover, settings), |own, remote| proximity(own, remote, settings))
}

/// The least that `proximity` says of each own thing and any remote one whose `swept` ball meets its own; infinite where
/// none does. Where a ball is outside the limits of [`Spheres`], all are compared with all.
pub(crate) fn closest_by<Thing>(
    own: &[Thing],
    remote: &[Thing],
    broad_phase: &mut dyn BroadPhase,
    swept: impl Fn(&Thing) -> Sphere,
    proximity: impl Fn(&Thing, &Thing) -> f64,
) -> Vec<f64> {
    let mut spheres = Spheres::new();
    let mut slots = Vec::with_capacity(own.len() + remote.len());
    for thing in own.iter().chain(remote) {
        match spheres.insert(swept(thing)) {
            Ok(slot) => slots.push(slot),
            Err(_) => {
                let plain =
                    |own: &Thing| remote.iter().map(|remote| proximity(own, remote)).fold(f64::INFINITY, f64::min);
                return own.iter().map(plain).collect();
            }
        }
    }
    let mut index_of = vec![0; spheres.rows()];
    for (index, slot) in slots.iter().enumerate() {
        index_of[slot.row()] = index;
    }
    let mut pairs: Vec<Pair> = Vec::new();
    broad_phase.pairs(&spheres, &mut pairs);
    let mut closest = vec![f64::INFINITY; own.len()];
    for pair in pairs {
        let index = |slot: Slot| index_of[slot.row()];
        let (first, second) = (index(pair.a()).min(index(pair.b())), index(pair.a()).max(index(pair.b())));
        if first < own.len() && second >= own.len() {
            let found = proximity(&own[first], &remote[second - own.len()]);
            closest[first] = closest[first].min(found);
        }
    }
    closest
}

/// A ball around the way from half the threshold ago to the threshold ahead.
fn swept(mover: &Mover, settings: &AdaptiveSettings) -> Sphere {
    let tau = settings.threshold();
    let center = mover.pos + mover.vel * (0.25 * tau);
    let bulge = if settings.is_second_order { 0.5 * mover.acc.length() * tau * tau } else { 0.0 };
    let reach = mover.radius + mover.vel.length() * (0.75 * tau) + bulge;
    // f32 rounds the centre by up to half a unit in the last place; the ball must still hold it.
    let slack = 1e-6 * (center.abs().max_element() + reach);
    let place = Vec3::new(center.x as f32, center.y as f32, center.z as f32);
    Sphere::new(place, (reach + slack) as f32)
}
