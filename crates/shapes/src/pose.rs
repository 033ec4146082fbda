//! Poses of shapes, and rigid motions between two poses.

use space::{DQuat, DVec3, Quat, Vec3};

use space::Spheres;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// The shape's origin, in metres.
    pub position: Vec3,
    /// About the shape's origin. Normalized before use.
    pub rotation: Quat,
}

/// A motion from one pose to another over times 0 to 1: constant velocity, and constant angular velocity along
/// the shorter arc.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidMotion {
    pub from: Pose,
    pub to: Pose,
}

impl Pose {
    pub const IDENTITY: Pose = Pose { position: Vec3::ZERO, rotation: Quat::IDENTITY };

    pub const fn new(position: Vec3, rotation: Quat) -> Pose {
        Pose { position, rotation }
    }

    pub const fn at(position: Vec3) -> Pose {
        Pose { position, rotation: Quat::IDENTITY }
    }

    /// Whether the pose is finite, within [`Spheres::LIMIT`], and has a rotation that can be normalized.
    pub fn is_valid(&self) -> bool {
        // A comparison with NaN is false.
        let length = self.rotation.length_squared();
        self.position.abs().max_element() <= Spheres::LIMIT
            && self.position.is_finite()
            && (1e-6..=1e6).contains(&length)
            && self.rotation.is_finite()
    }

    /// A point of the shape in world coordinates.
    pub fn transform(&self, point: Vec3) -> Vec3 {
        let wide = WidePose::from(self);
        (wide.position + wide.rotation * point.as_dvec3()).as_vec3()
    }
}

impl RigidMotion {
    pub const fn new(from: Pose, to: Pose) -> RigidMotion {
        RigidMotion { from, to }
    }

    pub const fn rest(pose: Pose) -> RigidMotion {
        RigidMotion { from: pose, to: pose }
    }

    pub fn is_valid(&self) -> bool {
        self.from.is_valid() && self.to.is_valid()
    }

    /// The pose at `time`, clamped to 0 and 1. At 0 and 1 it is `from` and `to` to the bit.
    pub fn at(&self, time: f32) -> Pose {
        if time >= 1.0 {
            return self.to;
        }
        if time.is_nan() || time <= 0.0 {
            return self.from;
        }
        let pose = WideMotion::new(self).at(time as f64);
        Pose { position: pose.position.as_vec3(), rotation: pose.rotation.as_quat().normalize() }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct WidePose {
    pub position: DVec3,
    pub rotation: DQuat,
}

impl From<&Pose> for WidePose {
    fn from(pose: &Pose) -> WidePose {
        WidePose { position: pose.position.as_dvec3(), rotation: pose.rotation.as_dquat().normalize() }
    }
}

/// A motion in `f64`, prepared for evaluation at many times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WideMotion {
    from: WidePose,
    /// Metres per unit of time.
    pub velocity: DVec3,
    /// Unit vector in the world; zero for a motion without rotation.
    pub axis: DVec3,
    /// Radians per unit of time, not negative.
    pub turn: f64,
}

impl WideMotion {
    pub fn new(motion: &RigidMotion) -> WideMotion {
        let (from, to) = (WidePose::from(&motion.from), WidePose::from(&motion.to));
        let mut between = to.rotation * from.rotation.conjugate();
        if between.w < 0.0 {
            between = -between;
        }
        let still = motion.from.rotation == motion.to.rotation;
        let (axis, turn) = if still { (DVec3::ZERO, 0.0) } else { between.to_axis_angle() };
        WideMotion { from, velocity: to.position - from.position, axis, turn }
    }

    pub fn at(&self, time: f64) -> WidePose {
        let position = self.from.position + self.velocity * time;
        if self.turn == 0.0 {
            return WidePose { position, rotation: self.from.rotation };
        }
        let rotation = DQuat::from_axis_angle(self.axis, self.turn * time) * self.from.rotation;
        WidePose { position, rotation: rotation.normalize() }
    }

    pub fn resting(pose: WidePose) -> WideMotion {
        WideMotion { from: pose, velocity: DVec3::ZERO, axis: DVec3::ZERO, turn: 0.0 }
    }

    pub fn start(&self) -> &WidePose {
        &self.from
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_along_the_shorter_arc_at_constant_speed() {
        let quarter = Quat::from_rotation_y(std::f32::consts::FRAC_PI_2);
        for to in [quarter, -quarter] {
            let motion = RigidMotion::new(Pose::IDENTITY, Pose::new(Vec3::X, to));
            let half = motion.at(0.5);
            let eighth = Quat::from_rotation_y(std::f32::consts::FRAC_PI_4);
            assert!((half.rotation - eighth).length().min((half.rotation + eighth).length()) < 5e-4);
            assert_eq!(half.position, Vec3::X * 0.5);
            assert_eq!(motion.at(1.0), motion.to);
            assert_eq!(motion.at(-3.0), motion.from);
            assert_eq!(motion.at(f32::NAN), motion.from);
        }
    }

    #[test]
    fn nonsense_is_not_valid() {
        assert!(Pose::IDENTITY.is_valid());
        assert!(!Pose::at(Vec3::new(f32::NAN, 0.0, 0.0)).is_valid());
        assert!(!Pose::at(Vec3::new(0.0, 2e9, 0.0)).is_valid());
        assert!(!Pose::new(Vec3::ZERO, Quat::from_xyzw(0.0, 0.0, 0.0, 0.0)).is_valid());
        assert!(!Pose::new(Vec3::ZERO, Quat::from_xyzw(0.0, f32::INFINITY, 0.0, 0.0)).is_valid());
    }
}
