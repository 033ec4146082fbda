//! From where a replica is shown to where it should be, without a jump that a viewer sees.
//!
//! For display only: collision prediction, decisions and bounds use the predicted state.

use space::{DQuat, DVec3, Time};

use crate::replica::Predicted;
use crate::rotation;
use crate::scene::Scene;

/// How the shown state follows the predicted one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Convergence {
    /// At once.
    #[default]
    Jump,
    /// The offset shrinks steadily.
    Linear,
    /// Projective velocity blending: two paths, the old and the new, blended.
    Projective,
    /// The offset and its speed go to zero together.
    Hermite,
}

/// How quickly, and when not at all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConvergenceSettings {
    /// In which way.
    pub convergence: Convergence,
    /// How long it takes, in microseconds.
    pub blend_us: i64,
    /// An offset larger than this is jumped over, in metres.
    pub snap_distance: f64,
}

impl Default for ConvergenceSettings {
    fn default() -> ConvergenceSettings {
        ConvergenceSettings { convergence: Convergence::Hermite, blend_us: 150_000, snap_distance: 5.0 }
    }
}

/// A replica as a viewer sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown {
    /// Metres.
    pub pos: DVec3,
    /// Metres per second.
    pub vel: DVec3,
    /// Turns the body's axes into the world's.
    pub rot: DQuat,
}

#[derive(Clone, Copy, Debug)]
struct Blend {
    from: Time,
    shown: Shown,
    /// What was predicted when the blend began.
    start: Predicted,
}

/// The shown state of one replica.
#[derive(Clone, Debug)]
pub struct Display {
    settings: ConvergenceSettings,
    blend: Option<Blend>,
}

impl Display {
    /// Shows the prediction as it is, until the first update that moves it.
    pub fn new(settings: ConvergenceSettings) -> Display {
        Display { settings, blend: None }
    }

    /// An update has changed the prediction: `before` is what is shown at `at`, `after` what is predicted now.
    pub fn updated(&mut self, at: Time, before: Shown, after: &Predicted, is_teleport: bool) {
        let offset = (before.pos - after.pos).length();
        let is_jump = self.settings.convergence == Convergence::Jump || self.settings.blend_us <= 0;
        self.blend = if is_jump || is_teleport || offset > self.settings.snap_distance {
            None
        } else {
            Some(Blend { from: at, shown: before, start: *after })
        };
    }

    /// What to show at a moment for which `predicted` is predicted, for an object of this radius.
    pub fn shown(&self, at: Time, predicted: &Predicted, radius: f64, scene: &Scene) -> Shown {
        let mut shown = self.blended(at, predicted);
        shown.pos = pushed_out(shown.pos, radius, at, scene);
        shown
    }

    fn blended(&self, at: Time, predicted: &Predicted) -> Shown {
        let plain = Shown { pos: predicted.pos, vel: predicted.vel, rot: predicted.rot };
        let Some(Blend { from, shown, start }) = self.blend else { return plain };
        let elapsed_us = at - from;
        if elapsed_us >= self.settings.blend_us {
            return plain;
        }
        let t = elapsed_us.max(0) as f64 * 1e-6;
        let whole = self.settings.blend_us as f64 * 1e-6;
        let u = t / whole;
        let offset = shown.pos - start.pos;
        let offset_vel = shown.vel - start.vel;
        let rot = rotation::between(shown.rot, predicted.rot, u);
        match self.settings.convergence {
            Convergence::Jump => plain,
            Convergence::Linear => {
                Shown { pos: predicted.pos + offset * (1.0 - u), vel: predicted.vel - offset * (1.0 / whole), rot }
            }
            Convergence::Projective => {
                let vel = shown.vel + offset_vel * -u;
                let path = shown.pos + vel * t + predicted.acc * (0.5 * t * t);
                Shown { pos: path + (predicted.pos - path) * u, vel: vel + (predicted.vel - vel) * u, rot }
            }
            Convergence::Hermite => {
                let (place, speed) = (2.0 * u * u * u - 3.0 * u * u + 1.0, u * u * u - 2.0 * u * u + u);
                let (d_place, d_speed) = ((6.0 * u * u - 6.0 * u) / whole, 3.0 * u * u - 4.0 * u + 1.0);
                Shown {
                    pos: predicted.pos + offset * place + offset_vel * (whole * speed),
                    vel: predicted.vel + offset * d_place + offset_vel * d_speed,
                    rot,
                }
            }
        }
    }
}

/// Rounds of pushing: a corner of three faces needs three.
const PUSHES_MAX: usize = 4;

/// The place outside all scene objects that is near `pos`, as far as a few pushes get.
fn pushed_out(mut pos: DVec3, radius: f64, at: Time, scene: &Scene) -> DVec3 {
    for _ in 0..PUSHES_MAX {
        let mut push = None;
        scene.near(pos - radius, pos + radius, |index| {
            let (gap, normal) = scene.objects()[index].separation(at, pos, radius);
            if gap < 0.0 && push.is_none_or(|(deepest, _)| gap < deepest) {
                push = Some((gap, normal));
            }
        });
        let Some((gap, normal)) = push else { break };
        pos -= normal * gap;
    }
    pos
}
