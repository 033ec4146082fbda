//! Routes: the place of a scene object as a function of its own clock, which is the same on every host.

use space::{DQuat, DVec3, Quat, Vec3};

/// The motion of a scene object. Every route begins at the object's place and returns there.
#[derive(Clone, Debug, PartialEq)]
pub enum Route {
    /// Along straight lines, at one speed.
    Path {
        /// The places after the start.
        through: Vec<Vec3>,
        /// Metres per second.
        speed: f32,
        /// Whether it goes from the last place straight to the first, and not back the same way.
        closed: bool,
    },
    /// Around a vertical axis, without turning.
    Orbit {
        /// A point on the axis.
        center: Vec3,
        /// Seconds per round.
        period_s: f32,
    },
    /// The ballistic arc of a thrown object, and back along the same arc.
    Flight {
        /// At the start, in metres per second.
        velocity: Vec3,
        /// Seconds until it turns back.
        period_s: f32,
    },
    /// A rotation about the vertical axis.
    Spin { degrees_per_s: f32 },
    /// The object stays in its place, and its mesh deforms.
    Deform(Deformation),
}

/// The deformation of a mesh, as a function of its own clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Deformation {
    /// A wave runs along the mesh, as along a flag in the wind. The end where it begins is fixed.
    Wave {
        /// The direction in which the wave runs, in the mesh's coordinates.
        along: Vec3,
        /// The amplitude at the far end.
        push: Vec3,
        /// From crest to crest, in metres.
        length: f32,
        /// From crest to crest, in seconds.
        period_s: f32,
    },
    /// The mesh grows and shrinks about its origin.
    Breathe {
        /// The amplitude, as a share of the mesh.
        share: f32,
        period_s: f32,
    },
}

impl Deformation {
    /// The place of a vertex after `seconds` by the object's own clock. `ends` is the extent of the mesh along the
    /// wave.
    pub fn place(&self, vertex: DVec3, ends: (f64, f64), seconds: f64) -> DVec3 {
        match self {
            Deformation::Wave { along, push, length, period_s } => {
                let at = vertex.dot(along.as_dvec3().normalize_or_zero()) - ends.0;
                let share = at / (ends.1 - ends.0).max(1e-9);
                let angle = turns(at / f64::from(*length)) - turns(seconds / f64::from(*period_s));
                vertex + push.as_dvec3() * (share * libm::sin(angle))
            }
            Deformation::Breathe { share, period_s } => {
                vertex * (1.0 + f64::from(*share) * libm::sin(turns(seconds / f64::from(*period_s))))
            }
        }
    }

    /// The extent of points along the wave.
    pub fn ends(&self, vertices: &[Vec3]) -> (f64, f64) {
        let along = match self {
            Deformation::Wave { along, .. } => along.as_dvec3().normalize_or_zero(),
            Deformation::Breathe { .. } => DVec3::ZERO,
        };
        let places = vertices.iter().map(|vertex| vertex.as_dvec3().dot(along));
        places.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)))
    }

    /// The most by which a vertex within `reach` of the origin moves from its place at rest.
    pub fn farthest(&self, reach: f64) -> f64 {
        match self {
            Deformation::Wave { push, .. } => push.as_dvec3().length(),
            Deformation::Breathe { share, .. } => reach * f64::from(*share),
        }
    }
}

impl Route {
    /// The pose after `seconds` by the object's own clock, from its place and rotation at the start.
    pub fn pose(&self, at: Vec3, rotation: Quat, gravity: f32, seconds: f64) -> (DVec3, Quat) {
        let start = at.as_dvec3();
        match self {
            Route::Path { through, speed, closed } => {
                (along_path(start, through, *closed, f64::from(*speed) * seconds), rotation)
            }
            Route::Orbit { center, period_s } => {
                let center = center.as_dvec3();
                let angle = turns(seconds / f64::from(*period_s));
                let (sin, cos) = (libm::sin(angle), libm::cos(angle));
                let (x, z) = (start.x - center.x, start.z - center.z);
                (DVec3::new(center.x + x * cos - z * sin, start.y, center.z + x * sin + z * cos), rotation)
            }
            Route::Flight { velocity, period_s } => {
                let t = there_and_back(seconds, f64::from(*period_s));
                let fall = DVec3::new(0.0, -0.5 * f64::from(gravity) * t * t, 0.0);
                (start + velocity.as_dvec3() * t + fall, rotation)
            }
            Route::Spin { degrees_per_s } => {
                let half = 0.5 * turns(f64::from(*degrees_per_s) * seconds / 360.0);
                let spin = DQuat::from_xyzw(0.0, libm::sin(half), 0.0, libm::cos(half));
                (start, (spin * rotation.as_dquat()).normalize().as_quat())
            }
            Route::Deform(_) => (start, rotation),
        }
    }

    /// Whether it rotates.
    pub fn turns(&self) -> bool {
        matches!(self, Route::Spin { .. })
    }

    /// Its angular speed.
    pub fn radians_per_s(&self) -> f64 {
        match self {
            Route::Spin { degrees_per_s } => f64::from(*degrees_per_s).to_radians().abs(),
            Route::Path { .. } | Route::Orbit { .. } | Route::Flight { .. } | Route::Deform(_) => 0.0,
        }
    }
}

/// The angle after a number of rounds, without the whole ones, so that long sessions lose no digits.
fn turns(rounds: f64) -> f64 {
    (rounds - rounds.floor()) * std::f64::consts::TAU
}

/// A clock that runs forward for a period and then back.
fn there_and_back(seconds: f64, period: f64) -> f64 {
    let rounds = seconds / (2.0 * period);
    let within = (rounds - rounds.floor()) * 2.0 * period;
    if within <= period { within } else { 2.0 * period - within }
}

fn along_path(start: DVec3, through: &[Vec3], closed: bool, distance: f64) -> DVec3 {
    let place = |index: usize| if index == 0 { start } else { through[index - 1].as_dvec3() };
    let legs = if closed { through.len() + 1 } else { through.len() };
    let leg = |index: usize| (place(index), place((index + 1) % (through.len() + 1)));
    let length: f64 = (0..legs).map(|index| leg(index).0.distance(leg(index).1)).sum();
    if length <= 0.0 {
        return start;
    }
    let mut left = if closed {
        let rounds = distance / length;
        (rounds - rounds.floor()) * length
    } else {
        there_and_back(distance, length)
    };
    for index in 0..legs {
        let (from, to) = leg(index);
        let size = from.distance(to);
        if left <= size && size > 0.0 {
            return from + (to - from) * (left / size);
        }
        left -= size;
    }
    leg(legs - 1).1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_begin_at_the_start_and_return() {
        let at = Vec3::new(1.0, 2.0, 3.0);
        let routes = [
            (Route::Path { through: vec![Vec3::new(5.0, 2.0, 3.0)], speed: 2.0, closed: false }, 4.0),
            (Route::Path { through: vec![Vec3::new(5.0, 2.0, 3.0), Vec3::ZERO], speed: 2.0, closed: true }, 0.0),
            (Route::Orbit { center: Vec3::ZERO, period_s: 8.0 }, 8.0),
            (Route::Flight { velocity: Vec3::new(2.0, 5.0, 0.0), period_s: 1.0 }, 2.0),
        ];
        for (route, period) in routes {
            let pose = |seconds| route.pose(at, Quat::IDENTITY, 9.81, seconds).0;
            assert!(pose(0.0).distance(at.as_dvec3()) < 1e-9, "{route:?}");
            assert!(pose(period).distance(at.as_dvec3()) < 1e-9, "{route:?}");
            assert!(pose(0.3).distance(at.as_dvec3()) > 0.1, "{route:?}");
        }
        let path = Route::Path { through: vec![Vec3::new(5.0, 2.0, 3.0)], speed: 2.0, closed: false };
        assert_eq!(path.pose(at, Quat::IDENTITY, 9.81, 1.0).0, DVec3::new(3.0, 2.0, 3.0));
        assert_eq!(path.pose(at, Quat::IDENTITY, 9.81, 3.0).0, DVec3::new(3.0, 2.0, 3.0));
    }
}
