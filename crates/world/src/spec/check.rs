//! What makes no world is refused, by the names of the object and the key.

use space::{Grid, GridError, Vec3};

use super::{AvatarSpec, ContactPolicy, Deformation, ObjectKind, ObjectSpec, Route, Shape, Spec};

/// Why a spec makes no world.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SpecError {
    /// Bounds that make no grid.
    #[error("`bounds`: {0}")]
    Bounds(#[from] GridError),
    /// A number of the world that is out of range.
    #[error("`{key}` is {value}, expected {expected}")]
    World {
        /// Which.
        key: &'static str,
        /// What was given.
        value: String,
        /// What makes sense.
        expected: String,
    },
    /// A number of an object or avatar that is out of range.
    #[error("`{}`: `{key}` is {value}, expected {expected}", shown(name))]
    Object {
        /// Which object or avatar.
        name: String,
        /// Which of its keys.
        key: &'static str,
        /// What was given.
        value: String,
        /// What makes sense.
        expected: String,
    },
    /// Two solids in one place.
    #[error("`{one}` and `{other}` overlap at the start, expected solids to be apart")]
    Overlap {
        /// One of them.
        one: String,
        /// The other.
        other: String,
    },
    /// Two solids, at least one of them a hull, a mesh or turned, that are too close to be kept apart.
    #[error(
        "`{one}` and `{other}` are {distance} m apart at the start, expected at least {least} m between such shapes"
    )]
    TooClose {
        /// One of them.
        one: String,
        /// The other.
        other: String,
        /// How far apart they are.
        distance: f32,
        /// How far apart they have to be.
        least: f32,
    },
    /// A solid that reaches beyond the bounds.
    #[error("`{name}` reaches beyond the bounds, expected it within them")]
    OutOfBounds {
        /// Which.
        name: String,
    },
    /// More people than places.
    #[error("`crowd.seekers` is {seekers}, but there is room for {found} of them only")]
    NoRoom {
        /// How many were asked for.
        seekers: u32,
        /// How many found a place.
        found: u32,
    },
}

/// A name in a sentence: of a very long one the beginning is enough.
fn shown(name: &str) -> String {
    if name.len() <= 64 { name.to_owned() } else { name.chars().take(32).chain(['…']).collect() }
}

impl SpecError {
    /// The object or avatar that is at fault, or the first of two.
    pub fn object(&self) -> Option<&str> {
        match self {
            SpecError::Object { name, .. } | SpecError::OutOfBounds { name } => Some(name),
            SpecError::Overlap { one, .. } | SpecError::TooClose { one, .. } => Some(one),
            _ => None,
        }
    }
}

/// The most objects that a spec may name.
const OBJECTS_MAX: usize = 1 << 20;
/// The most bytes of an object's name: what a snapshot reads back.
pub(crate) const OBJECT_NAME_BYTES_MAX: usize = 1 << 12;

impl Spec {
    /// Whether the numbers make sense, each on its own. Whether solids overlap is seen when the world is made.
    pub fn check(&self) -> Result<Grid, SpecError> {
        let grid = Grid::over(self.low, self.high)?;
        let limits = &self.limits;
        for (key, value, range) in [
            ("gravity", self.gravity, 0.0..=1000.0),
            ("tick_rate", self.tick_rate as f32, 1.0..=240.0),
            ("limits.speed", limits.speed, 0.0..=100.0),
            ("limits.jump_speed", limits.jump_speed, 0.0..=100.0),
            ("limits.terminal_speed", limits.terminal_speed, 1.0..=10_000.0),
            ("limits.step_height", limits.step_height, 0.0..=2.0),
            ("limits.grab_reach", limits.grab_reach, 0.0..=100.0),
            ("limits.inputs_per_tick", limits.inputs_per_tick as f32, 1.0..=1000.0),
            ("limits.wish_ticks", limits.wish_ticks as f32, 1.0..=1e6),
            ("limits.avatars", limits.avatars as f32, 0.0..=1e6),
            ("limits.name_bytes", limits.name_bytes as f32, 1.0..=1000.0),
            ("limits.text_bytes", limits.text_bytes as f32, 1.0..=100_000.0),
            ("limits.narrow_operations", limits.narrow_operations.unwrap_or(1) as f32, 1.0..=1e9),
            ("objects", self.objects.len() as f32, 0.0..=OBJECTS_MAX as f32),
            ("avatars", self.avatars.len() as f32, 1.0..=1000.0),
        ] {
            // NaN is in no range.
            if !range.contains(&value) {
                let expected = format!("{} to {}", range.start(), range.end());
                return Err(SpecError::World { key, value: value.to_string(), expected });
            }
        }
        for &spawn in &self.spawns {
            if !is_within(spawn, self.low, self.high) {
                let expected = "a place within the bounds".to_owned();
                return Err(SpecError::World { key: "spawn", value: spawn.to_string(), expected });
            }
        }
        if let Some(crowd) = self.crowd
            && crowd.seekers > limits.avatars
        {
            let expected = format!("at most `limits.avatars`, which is {}", limits.avatars);
            return Err(SpecError::World { key: "crowd.seekers", value: crowd.seekers.to_string(), expected });
        }
        self.avatars.iter().try_for_each(check_avatar)?;
        self.objects.iter().try_for_each(|object| self.check_object(object))?;
        Ok(grid)
    }

    fn check_object(&self, object: &ObjectSpec) -> Result<(), SpecError> {
        let bad = |key, value: String, expected: &str| {
            Err(SpecError::Object { name: object.name.clone(), key, value, expected: expected.to_owned() })
        };
        if object.name.len() > OBJECT_NAME_BYTES_MAX {
            let expected = format!("at most {OBJECT_NAME_BYTES_MAX} bytes");
            return bad("name", format!("{} bytes long", object.name.len()), &expected);
        }
        let is_size = |value: f32| (0.01..=2000.0).contains(&value);
        match &object.shape {
            Shape::Sphere { radius } | Shape::Capsule { radius, .. } if !is_size(*radius) => {
                return bad("radius", radius.to_string(), "0.01 to 2000 m");
            }
            Shape::Box { half } if !half.to_array().into_iter().all(is_size) => {
                return bad("size", (*half * 2.0).to_string(), "edges of 0.02 to 4000 m");
            }
            Shape::Capsule { half_height, radius } if !(0.0..=2000.0).contains(half_height) => {
                return bad("height", (2.0 * (half_height + radius)).to_string(), "at least twice the radius");
            }
            shape if shape.bounding_sphere().radius > 4000.0 => {
                return bad("shape", shape.bounding_sphere().radius.to_string(), "a radius of at most 4000 m");
            }
            _ => {}
        }
        if !is_within(object.at, self.low, self.high) {
            return bad("at", object.at.to_string(), "a place within the bounds");
        }
        let length = object.rotation.length();
        if !(0.99..=1.01).contains(&length) {
            return bad("rotation", object.rotation.to_string(), "a rotation");
        }
        if matches!(object.shape, Shape::Mesh(_)) && object.kind == ObjectKind::Movable {
            return bad("kind", "movable".to_owned(), "fixed or moving for a mesh; a hull can be movable");
        }
        match &object.kind {
            ObjectKind::Moving(route) => self.check_route(object, route),
            _ => Ok(()),
        }
    }

    fn check_route(&self, object: &ObjectSpec, route: &Route) -> Result<(), SpecError> {
        let bad = |key, value: String, expected: &str| {
            Err(SpecError::Object { name: object.name.clone(), key, value, expected: expected.to_owned() })
        };
        let speed_max = self.limits.terminal_speed;
        match route {
            Route::Path { through, speed, .. } => {
                if through.is_empty() || through.len() > 10_000 {
                    return bad("path.through", through.len().to_string(), "1 to 10,000 places");
                }
                if let Some(place) = through.iter().find(|&&place| !is_within(place, self.low, self.high)) {
                    return bad("path.through", place.to_string(), "places within the bounds");
                }
                if !(0.001..=speed_max).contains(speed) {
                    return bad("path.speed", speed.to_string(), "0.001 m/s up to `limits.terminal_speed`");
                }
            }
            Route::Orbit { center, period_s } => {
                if !is_within(*center, self.low, self.high) {
                    return bad("orbit.center", center.to_string(), "a place within the bounds");
                }
                let speed = center.distance(object.at) * std::f32::consts::TAU / period_s;
                if !(0.1..=86_400.0).contains(period_s) || speed > speed_max {
                    return bad(
                        "orbit.period",
                        period_s.to_string(),
                        "0.1 to 86,400 s, no faster than `limits.terminal_speed`",
                    );
                }
            }
            Route::Flight { velocity, period_s } => {
                if !(velocity.is_finite() && velocity.length() <= speed_max) {
                    return bad("flight.velocity", velocity.to_string(), "up to `limits.terminal_speed`");
                }
                if !(0.1..=60.0).contains(period_s) {
                    return bad("flight.period", period_s.to_string(), "0.1 to 60 s");
                }
            }
            Route::Deform(deformation) => {
                let (key, period_s) = match deformation {
                    Deformation::Wave { period_s, .. } => ("wave.period", *period_s),
                    Deformation::Breathe { period_s, .. } => ("breathe.period", *period_s),
                };
                if !(0.1..=3600.0).contains(&period_s) {
                    return bad(key, period_s.to_string(), "0.1 to 3,600 s");
                }
                match deformation {
                    Deformation::Wave { along, push, length, .. } => {
                        if !(along.is_finite() && along.length() > 1e-3) {
                            return bad("wave.along", along.to_string(), "a direction");
                        }
                        if !(push.is_finite() && push.length() <= 100.0) {
                            return bad("wave.push", push.to_string(), "up to 100 m");
                        }
                        if !(0.01..=1e4).contains(length) {
                            return bad("wave.length", length.to_string(), "0.01 to 10,000 m");
                        }
                    }
                    Deformation::Breathe { share, .. } => {
                        if !(0.0..=0.9).contains(share) {
                            return bad("breathe.share", share.to_string(), "0 to 0.9");
                        }
                    }
                }
                if !matches!(object.shape, Shape::Mesh(_)) {
                    return bad("shape", object.shape.name().to_owned(), "a mesh for what deforms");
                }
            }
            Route::Spin { degrees_per_s } => {
                if !(-3600.0..=3600.0).contains(degrees_per_s) {
                    return bad("spin", degrees_per_s.to_string(), "-3600 to 3600 degrees per second");
                }
            }
        }
        Ok(())
    }
}

fn check_avatar(avatar: &AvatarSpec) -> Result<(), SpecError> {
    let bad = |key, value: f32, expected: &str| {
        let expected = expected.to_owned();
        Err(SpecError::Object { name: avatar.name.clone(), key, value: value.to_string(), expected })
    };
    if !(0.05..=5.0).contains(&avatar.radius) {
        return bad("radius", avatar.radius, "0.05 to 5 m");
    }
    if !(2.0 * avatar.radius..=50.0).contains(&avatar.height) {
        return bad("height", avatar.height, "from twice the radius to 50 m");
    }
    if avatar.policy == ContactPolicy::Bounce {
        let expected = "block, slide or ghost for an avatar".to_owned();
        return Err(SpecError::Object {
            name: avatar.name.clone(),
            key: "policy",
            value: "bounce".to_owned(),
            expected,
        });
    }
    Ok(())
}

fn is_within(place: Vec3, low: Vec3, high: Vec3) -> bool {
    place.is_finite() && place.cmpge(low).all() && place.cmple(high).all()
}
