//! Checks a spec, and names the object and the key of the first error.

use std::fmt::Display;

use space::{Grid, GridError, Vec3};

use super::{AvatarSpec, ContactPolicy, Deformation, ObjectKind, ObjectSpec, Route, Shape, Spec};

/// Why a spec makes no world.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SpecError {
    #[error("`bounds`: {0}")]
    Bounds(#[from] GridError),
    /// A value of the world is out of range.
    #[error("`{key}` is {value}, expected {expected}")]
    World { key: &'static str, value: String, expected: String },
    /// A value of an object or avatar is out of range.
    #[error("`{}`: `{key}` is {value}, expected {expected}", shown(name))]
    Object { name: String, key: &'static str, value: String, expected: String },
    #[error("`{one}` and `{other}` overlap at the start, expected solids to be apart")]
    Overlap { one: String, other: String },
    /// Two solids, at least one of them a hull, a mesh or turned, that are too close to be kept apart.
    #[error(
        "`{one}` and `{other}` are {distance} m apart at the start, expected at least {least} m between such shapes"
    )]
    TooClose { one: String, other: String, distance: f32, least: f32 },
    #[error("`{name}` reaches beyond the bounds, expected it within them")]
    OutOfBounds { name: String },
    #[error("`crowd.seekers` is {seekers}, but there is room for {found} of them only")]
    NoRoom { seekers: u32, found: u32 },
}

/// A name in a sentence, cut if it is very long.
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

/// The most objects of a spec.
const OBJECTS_MAX: usize = 1 << 20;
/// The most bytes of an object's name, which is what a snapshot reads back.
pub(crate) const OBJECT_NAME_BYTES_MAX: usize = 1 << 12;

impl Spec {
    /// Checks each value on its own. Overlaps are checked when the world is made.
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
        let check = || {
            check_name(&object.name)?;
            check_shape(object)?;
            check_value(self.has_place(object.at), "at", object.at, "a place within the bounds")?;
            let is_rotation = (0.99..=1.01).contains(&object.rotation.length());
            check_value(is_rotation, "rotation", object.rotation, "a rotation")?;
            match &object.kind {
                ObjectKind::Moving(route) => self.check_route(object, route),
                _ => Ok(()),
            }
        };
        check().map_err(|wrong: Wrong| wrong.of(&object.name))
    }

    fn has_place(&self, place: Vec3) -> bool {
        is_within(place, self.low, self.high)
    }

    fn check_route(&self, object: &ObjectSpec, route: &Route) -> Result<(), Wrong> {
        let speed_max = self.limits.terminal_speed;
        match route {
            Route::Path { through, speed, .. } => {
                let is_count = (1..=10_000).contains(&through.len());
                check_value(is_count, "path.through", through.len(), "1 to 10,000 places")?;
                for &place in through {
                    check_value(self.has_place(place), "path.through", place, "places within the bounds")?;
                }
                let is_speed = (0.001..=speed_max).contains(speed);
                check_value(is_speed, "path.speed", speed, "0.001 m/s up to `limits.terminal_speed`")
            }
            Route::Orbit { center, period_s } => {
                check_value(self.has_place(*center), "orbit.center", center, "a place within the bounds")?;
                let speed = center.distance(object.at) * std::f32::consts::TAU / period_s;
                let is_period = (0.1..=86_400.0).contains(period_s) && speed <= speed_max;
                let expected = "0.1 to 86,400 s, no faster than `limits.terminal_speed`";
                check_value(is_period, "orbit.period", period_s, expected)
            }
            Route::Flight { velocity, period_s } => {
                let is_velocity = velocity.is_finite() && velocity.length() <= speed_max;
                check_value(is_velocity, "flight.velocity", velocity, "up to `limits.terminal_speed`")?;
                check_value((0.1..=60.0).contains(period_s), "flight.period", period_s, "0.1 to 60 s")
            }
            Route::Deform(deformation) => check_deformation(object, deformation),
            Route::Spin { degrees_per_s } => {
                let is_spin = (-3600.0..=3600.0).contains(degrees_per_s);
                check_value(is_spin, "spin", degrees_per_s, "-3600 to 3600 degrees per second")
            }
        }
    }
}

/// A value of an object or an avatar that is out of range.
struct Wrong {
    key: &'static str,
    value: String,
    expected: String,
}

impl Wrong {
    fn of(self, name: &str) -> SpecError {
        SpecError::Object { name: name.to_owned(), key: self.key, value: self.value, expected: self.expected }
    }
}

fn check_value(holds: bool, key: &'static str, value: impl Display, expected: &str) -> Result<(), Wrong> {
    if holds { Ok(()) } else { Err(Wrong { key, value: value.to_string(), expected: expected.to_owned() }) }
}

fn check_name(name: &str) -> Result<(), Wrong> {
    let expected = format!("at most {OBJECT_NAME_BYTES_MAX} bytes");
    check_value(name.len() <= OBJECT_NAME_BYTES_MAX, "name", format_args!("{} bytes long", name.len()), &expected)
}

fn check_shape(object: &ObjectSpec) -> Result<(), Wrong> {
    let is_size = |value: f32| (0.01..=2000.0).contains(&value);
    match &object.shape {
        Shape::Sphere { radius } => check_value(is_size(*radius), "radius", radius, "0.01 to 2000 m"),
        Shape::Capsule { half_height, radius } => {
            check_value(is_size(*radius), "radius", radius, "0.01 to 2000 m")?;
            let is_height = (0.0..=2000.0).contains(half_height);
            check_value(is_height, "height", 2.0 * (half_height + radius), "at least twice the radius")
        }
        Shape::Box { half } => {
            let are_sizes = half.to_array().into_iter().all(is_size);
            check_value(are_sizes, "size", *half * 2.0, "edges of 0.02 to 4000 m")
        }
        shape => {
            let radius = shape.bounding_sphere().radius;
            check_value(radius <= 4000.0, "shape", radius, "a radius of at most 4000 m")?;
            let is_movable_mesh = matches!(shape, Shape::Mesh(_)) && object.kind == ObjectKind::Movable;
            check_value(!is_movable_mesh, "kind", "movable", "fixed or moving for a mesh; a hull can be movable")
        }
    }
}

fn check_deformation(object: &ObjectSpec, deformation: &Deformation) -> Result<(), Wrong> {
    let check_period =
        |key, period_s: f32| check_value((0.1..=3600.0).contains(&period_s), key, period_s, "0.1 to 3,600 s");
    match deformation {
        Deformation::Wave { along, push, length, period_s } => {
            check_period("wave.period", *period_s)?;
            check_value(along.is_finite() && along.length() > 1e-3, "wave.along", along, "a direction")?;
            check_value(push.is_finite() && push.length() <= 100.0, "wave.push", push, "up to 100 m")?;
            check_value((0.01..=1e4).contains(length), "wave.length", length, "0.01 to 10,000 m")?;
        }
        Deformation::Breathe { share, period_s } => {
            check_period("breathe.period", *period_s)?;
            check_value((0.0..=0.9).contains(share), "breathe.share", share, "0 to 0.9")?;
        }
    }
    check_value(matches!(object.shape, Shape::Mesh(_)), "shape", object.shape.name(), "a mesh for what deforms")
}

fn check_avatar(avatar: &AvatarSpec) -> Result<(), SpecError> {
    let (radius, height) = (avatar.radius, avatar.height);
    let is_height = (2.0 * radius..=50.0).contains(&height);
    check_value((0.05..=5.0).contains(&radius), "radius", radius, "0.05 to 5 m")
        .and_then(|()| check_value(is_height, "height", height, "from twice the radius to 50 m"))
        .and_then(|()| {
            let is_policy = avatar.policy != ContactPolicy::Bounce;
            check_value(is_policy, "policy", "bounce", "block, slide or ghost for an avatar")
        })
        .map_err(|wrong| wrong.of(&avatar.name))
}

fn is_within(place: Vec3, low: Vec3, high: Vec3) -> bool {
    place.is_finite() && place.cmpge(low).all() && place.cmple(high).all()
}
