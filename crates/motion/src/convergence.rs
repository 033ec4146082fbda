//! Smooth display of replicas: after an update, the shown state is blended into the new prediction.
//!
//! ```text
//! shown before ●╌╌╌╌╮
//!                    ╰╌╌╌●──── prediction after the update
//!              |◀ blend ▶|
//! ```
//!
//! This is for display only: collision prediction, decisions and bounds use the predicted state.

use space::{DQuat, DVec3, Time};

use crate::replica::Predicted;
use crate::rotation;
use crate::scene::CollisionScene;

/// How the shown state follows the predicted one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Convergence {
    #[default]
    Jump,
    /// The offset falls linearly to zero.
    Linear,
    /// Projective velocity blending: the old path and the new one are blended.
    Projective,
    /// A cubic Hermite curve: the offset and its velocity reach zero together.
    Hermite,
}

/// How replicas are displayed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConvergenceSettings {
    pub convergence: Convergence,
    /// The length of a blend, in microseconds.
    pub blend_us: i64,
    /// A larger offset than this is not blended, in metres.
    pub snap_distance: f64,
}

impl Default for ConvergenceSettings {
    fn default() -> ConvergenceSettings {
        ConvergenceSettings { convergence: Convergence::Hermite, blend_us: 150_000, snap_distance: 5.0 }
    }
}

/// The state of a replica that is displayed, in metres and seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown {
    pub pos: DVec3,
    pub vel: DVec3,
    /// Turns the body's axes into the world's.
    pub rot: DQuat,
}

#[derive(Clone, Copy, Debug)]
struct Blend {
    from: Time,
    shown: Shown,
    /// The prediction when the blend began.
    start: Predicted,
}

#[derive(Clone, Debug)]
pub struct Display {
    settings: ConvergenceSettings,
    blend: Option<Blend>,
}

impl Display {
    /// A display that shows predictions unchanged until the first update.
    pub fn new(settings: ConvergenceSettings) -> Display {
        Display { settings, blend: None }
    }

    /// Starts a blend at `at`: an update has changed the prediction from `before`, which is shown, to `after`.
    pub fn updated(&mut self, at: Time, before: Shown, after: &Predicted, is_teleport: bool) {
        let offset = (before.pos - after.pos).length();
        let is_jump = self.settings.convergence == Convergence::Jump || self.settings.blend_us <= 0;
        self.blend = if is_jump || is_teleport || offset > self.settings.snap_distance {
            None
        } else {
            Some(Blend { from: at, shown: before, start: *after })
        };
    }

    /// The state to show at `at`, given the prediction for that moment. It is outside all scene objects, as far as
    /// `PUSHES_MAX` pushes get.
    pub fn shown(&self, at: Time, predicted: &Predicted, radius: f64, scene: &CollisionScene) -> Shown {
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

/// A corner of three faces needs three pushes.
const PUSHES_MAX: usize = 4;

fn pushed_out(mut pos: DVec3, radius: f64, at: Time, scene: &CollisionScene) -> DVec3 {
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
