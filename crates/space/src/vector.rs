//! Vectors and rotations: plain structs without SIMD.
//!
//! They have a part of glam's interface and, bit for bit, the results of its scalar types. glam itself would not do:
//! its feature `scalar-math` holds for a whole program, so a library that needs the same bits everywhere would switch
//! SIMD off in the whole program, and a library without it would get other bits beside one that has it.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, BitAnd, BitOr, Div, DivAssign, Index, IndexMut, Mul, MulAssign, Neg, Sub, SubAssign};

/// One truth value per axis: the outcome of a comparison of two vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxisMask([bool; 3]);

impl AxisMask {
    pub fn all(self) -> bool {
        self.0 == [true; 3]
    }

    pub fn any(self) -> bool {
        self.0 != [false; 3]
    }

    /// The first axis is the lowest bit.
    pub fn bitmask(self) -> u32 {
        let [x, y, z] = self.0.map(u32::from);
        x | y << 1 | z << 2
    }
}

impl BitAnd for AxisMask {
    type Output = AxisMask;
    fn bitand(self, other: AxisMask) -> AxisMask {
        AxisMask([0, 1, 2].map(|axis| self.0[axis] & other.0[axis]))
    }
}

impl BitOr for AxisMask {
    type Output = AxisMask;
    fn bitor(self, other: AxisMask) -> AxisMask {
        AxisMask([0, 1, 2].map(|axis| self.0[axis] | other.0[axis]))
    }
}

/// The order of operations is part of the promise: hashes of whole worlds depend on every bit.
macro_rules! vector {
    ($Vector:ident, $float:ident) => {
        #[must_use]
        #[derive(Clone, Copy, Default, PartialEq)]
        #[repr(C)]
        pub struct $Vector {
            pub x: $float,
            pub y: $float,
            pub z: $float,
        }

        impl $Vector {
            pub const ZERO: $Vector = $Vector::splat(0.0);
            pub const ONE: $Vector = $Vector::splat(1.0);
            pub const NEG_ONE: $Vector = $Vector::splat(-1.0);
            pub const NAN: $Vector = $Vector::splat($float::NAN);
            pub const INFINITY: $Vector = $Vector::splat($float::INFINITY);
            pub const NEG_INFINITY: $Vector = $Vector::splat($float::NEG_INFINITY);
            pub const X: $Vector = $Vector::new(1.0, 0.0, 0.0);
            pub const Y: $Vector = $Vector::new(0.0, 1.0, 0.0);
            pub const Z: $Vector = $Vector::new(0.0, 0.0, 1.0);
            pub const NEG_X: $Vector = $Vector::new(-1.0, 0.0, 0.0);
            pub const NEG_Y: $Vector = $Vector::new(0.0, -1.0, 0.0);
            pub const NEG_Z: $Vector = $Vector::new(0.0, 0.0, -1.0);
            pub const AXES: [$Vector; 3] = [$Vector::X, $Vector::Y, $Vector::Z];

            #[inline(always)]
            pub const fn new(x: $float, y: $float, z: $float) -> $Vector {
                $Vector { x, y, z }
            }

            #[inline]
            pub const fn splat(value: $float) -> $Vector {
                $Vector::new(value, value, value)
            }

            #[inline]
            pub const fn from_array([x, y, z]: [$float; 3]) -> $Vector {
                $Vector::new(x, y, z)
            }

            #[inline]
            pub const fn to_array(self) -> [$float; 3] {
                [self.x, self.y, self.z]
            }

            #[inline]
            pub fn map(self, change: impl Fn($float) -> $float) -> $Vector {
                $Vector::new(change(self.x), change(self.y), change(self.z))
            }

            #[inline]
            fn zip(self, other: $Vector, join: impl Fn($float, $float) -> $float) -> $Vector {
                $Vector::new(join(self.x, other.x), join(self.y, other.y), join(self.z, other.z))
            }

            /// Per axis, the coordinate of `yes` where the mask is true and of `no` elsewhere.
            #[inline]
            pub fn select(mask: AxisMask, yes: $Vector, no: $Vector) -> $Vector {
                let [x, y, z] = mask.0;
                $Vector::new(if x { yes.x } else { no.x }, if y { yes.y } else { no.y }, if z { yes.z } else { no.z })
            }

            #[inline]
            pub fn with_y(self, y: $float) -> $Vector {
                $Vector { y, ..self }
            }

            #[inline]
            pub fn dot(self, other: $Vector) -> $float {
                self.x * other.x + self.y * other.y + self.z * other.z
            }

            #[inline]
            pub fn cross(self, other: $Vector) -> $Vector {
                $Vector::new(
                    self.y * other.z - other.y * self.z,
                    self.z * other.x - other.z * self.x,
                    self.x * other.y - other.x * self.y,
                )
            }

            /// Of a NaN and a number, the coordinate of `other`.
            #[inline]
            pub fn min(self, other: $Vector) -> $Vector {
                self.zip(other, |one, other| if one < other { one } else { other })
            }

            /// Of a NaN and a number, the coordinate of `other`.
            #[inline]
            pub fn max(self, other: $Vector) -> $Vector {
                self.zip(other, |one, other| if one > other { one } else { other })
            }

            #[inline]
            pub fn clamp(self, low: $Vector, high: $Vector) -> $Vector {
                self.max(low).min(high)
            }

            #[inline]
            pub fn min_element(self) -> $float {
                let min = |one, other| if one < other { one } else { other };
                min(self.x, min(self.y, self.z))
            }

            #[inline]
            pub fn max_element(self) -> $float {
                let max = |one, other| if one > other { one } else { other };
                max(self.x, max(self.y, self.z))
            }

            #[inline]
            fn compare(self, other: $Vector, holds: impl Fn(&$float, &$float) -> bool) -> AxisMask {
                AxisMask([holds(&self.x, &other.x), holds(&self.y, &other.y), holds(&self.z, &other.z)])
            }

            #[inline]
            pub fn cmplt(self, other: $Vector) -> AxisMask {
                self.compare(other, $float::lt)
            }

            #[inline]
            pub fn cmple(self, other: $Vector) -> AxisMask {
                self.compare(other, $float::le)
            }

            #[inline]
            pub fn cmpgt(self, other: $Vector) -> AxisMask {
                self.compare(other, $float::gt)
            }

            #[inline]
            pub fn cmpge(self, other: $Vector) -> AxisMask {
                self.compare(other, $float::ge)
            }

            #[inline]
            pub fn abs(self) -> $Vector {
                self.map($float::abs)
            }

            #[inline]
            pub fn is_finite(self) -> bool {
                self.x.is_finite() && self.y.is_finite() && self.z.is_finite()
            }

            #[inline]
            pub fn is_nan(self) -> bool {
                self.x.is_nan() || self.y.is_nan() || self.z.is_nan()
            }

            #[inline]
            pub fn length(self) -> $float {
                self.dot(self).sqrt()
            }

            #[inline]
            pub fn length_squared(self) -> $float {
                self.dot(self)
            }

            #[inline]
            pub fn distance(self, other: $Vector) -> $float {
                (self - other).length()
            }

            #[inline]
            pub fn distance_squared(self, other: $Vector) -> $float {
                (self - other).length_squared()
            }

            /// The unit vector of this direction; not finite where the length is zero or not finite.
            #[inline]
            pub fn normalize(self) -> $Vector {
                self * (1.0 / self.length())
            }

            #[inline]
            pub fn try_normalize(self) -> Option<$Vector> {
                let scale = 1.0 / self.length();
                (scale.is_finite() && scale > 0.0).then(|| self * scale)
            }

            #[inline]
            pub fn normalize_or(self, fallback: $Vector) -> $Vector {
                self.try_normalize().unwrap_or(fallback)
            }

            #[inline]
            pub fn normalize_or_zero(self) -> $Vector {
                self.normalize_or($Vector::ZERO)
            }

            #[inline]
            pub fn is_normalized(self) -> bool {
                (self.length_squared() - 1.0).abs() <= 2e-4
            }

            /// A unit vector at a right angle to this one, which must be a unit vector too.
            #[inline]
            pub fn any_orthonormal_vector(self) -> $Vector {
                let sign = self.z.signum();
                let a = -1.0 / (sign + self.z);
                $Vector::new(self.x * self.y * a, sign + self.y * self.y * a, -self.y)
            }

            #[inline]
            pub fn clamp_length_max(self, max: $float) -> $Vector {
                let squared = self.length_squared();
                if squared > max * max { max * (self / squared.sqrt()) } else { self }
            }

            #[inline]
            pub fn lerp(self, other: $Vector, share: $float) -> $Vector {
                self * (1.0 - share) + other * share
            }

            #[inline]
            pub fn floor(self) -> $Vector {
                self.map($float::floor)
            }

            #[inline]
            pub fn ceil(self) -> $Vector {
                self.map($float::ceil)
            }

            #[inline]
            pub fn round(self) -> $Vector {
                self.map($float::round)
            }

            #[inline]
            pub fn copysign(self, signs: $Vector) -> $Vector {
                self.zip(signs, $float::copysign)
            }
        }

        vector!(@ $Vector, $float, Add add AddAssign add_assign, Sub sub SubAssign sub_assign,
            Mul mul MulAssign mul_assign, Div div DivAssign div_assign);

        impl Neg for $Vector {
            type Output = $Vector;
            #[inline]
            fn neg(self) -> $Vector {
                $Vector::new(-self.x, -self.y, -self.z)
            }
        }

        impl Sum for $Vector {
            fn sum<I: Iterator<Item = $Vector>>(all: I) -> $Vector {
                all.fold($Vector::ZERO, $Vector::add)
            }
        }

        impl Index<usize> for $Vector {
            type Output = $float;
            #[inline]
            fn index(&self, axis: usize) -> &$float {
                match axis {
                    0 => &self.x,
                    1 => &self.y,
                    2 => &self.z,
                    _ => panic!("a vector has no axis {axis}"),
                }
            }
        }

        impl IndexMut<usize> for $Vector {
            #[inline]
            fn index_mut(&mut self, axis: usize) -> &mut $float {
                match axis {
                    0 => &mut self.x,
                    1 => &mut self.y,
                    2 => &mut self.z,
                    _ => panic!("a vector has no axis {axis}"),
                }
            }
        }

        impl From<[$float; 3]> for $Vector {
            #[inline]
            fn from(array: [$float; 3]) -> $Vector {
                $Vector::from_array(array)
            }
        }

        impl From<$Vector> for [$float; 3] {
            #[inline]
            fn from(vector: $Vector) -> [$float; 3] {
                vector.to_array()
            }
        }

        impl fmt::Display for $Vector {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                show(f, &self.to_array())
            }
        }

        impl fmt::Debug for $Vector {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($Vector)).field(&self.x).field(&self.y).field(&self.z).finish()
            }
        }
    };
    (@ $Vector:ident, $float:ident, $($Operator:ident $apply:ident $Assign:ident $assign:ident),*) => {$(
        impl $Operator for $Vector {
            type Output = $Vector;
            #[inline]
            fn $apply(self, other: $Vector) -> $Vector {
                $Vector::new(self.x.$apply(other.x), self.y.$apply(other.y), self.z.$apply(other.z))
            }
        }

        impl $Operator<$float> for $Vector {
            type Output = $Vector;
            #[inline]
            fn $apply(self, other: $float) -> $Vector {
                $Vector::new(self.x.$apply(other), self.y.$apply(other), self.z.$apply(other))
            }
        }

        impl $Operator<$Vector> for $float {
            type Output = $Vector;
            #[inline]
            fn $apply(self, other: $Vector) -> $Vector {
                $Vector::new(self.$apply(other.x), self.$apply(other.y), self.$apply(other.z))
            }
        }

        impl $Assign for $Vector {
            #[inline]
            fn $assign(&mut self, other: $Vector) {
                *self = (*self).$apply(other);
            }
        }

        impl $Assign<$float> for $Vector {
            #[inline]
            fn $assign(&mut self, other: $float) {
                *self = (*self).$apply(other);
            }
        }
    )*};
}

/// Rotations as unit quaternions. Sines are libm's: the same bits on every machine.
macro_rules! rotation {
    ($Rotation:ident, $Vector:ident, $float:ident, $sincos:path, $atan2:path) => {
        #[must_use]
        #[derive(Clone, Copy, PartialEq)]
        #[repr(C)]
        pub struct $Rotation {
            pub x: $float,
            pub y: $float,
            pub z: $float,
            pub w: $float,
        }

        impl $Rotation {
            pub const IDENTITY: $Rotation = $Rotation::from_xyzw(0.0, 0.0, 0.0, 1.0);

            #[inline(always)]
            pub const fn from_xyzw(x: $float, y: $float, z: $float, w: $float) -> $Rotation {
                $Rotation { x, y, z, w }
            }

            #[inline]
            pub const fn from_array([x, y, z, w]: [$float; 4]) -> $Rotation {
                $Rotation { x, y, z, w }
            }

            #[inline]
            pub const fn to_array(self) -> [$float; 4] {
                [self.x, self.y, self.z, self.w]
            }

            /// The rotation about a unit vector, in radians.
            #[inline]
            pub fn from_axis_angle(axis: $Vector, angle: $float) -> $Rotation {
                let (sin, cos) = $sincos(angle * 0.5);
                let axis = axis * sin;
                $Rotation::from_xyzw(axis.x, axis.y, axis.z, cos)
            }

            #[inline]
            pub fn from_rotation_x(angle: $float) -> $Rotation {
                let (sin, cos) = $sincos(angle * 0.5);
                $Rotation::from_xyzw(sin, 0.0, 0.0, cos)
            }

            #[inline]
            pub fn from_rotation_y(angle: $float) -> $Rotation {
                let (sin, cos) = $sincos(angle * 0.5);
                $Rotation::from_xyzw(0.0, sin, 0.0, cos)
            }

            #[inline]
            pub fn from_rotation_z(angle: $float) -> $Rotation {
                let (sin, cos) = $sincos(angle * 0.5);
                $Rotation::from_xyzw(0.0, 0.0, sin, cos)
            }

            /// A unit vector and an angle in radians; any axis and zero for no rotation.
            #[inline]
            pub fn to_axis_angle(self) -> ($Vector, $float) {
                let axis = $Vector::new(self.x, self.y, self.z);
                let length = axis.length();
                if length >= 1e-8 { (axis / length, 2.0 * $atan2(length, self.w)) } else { ($Vector::X, 0.0) }
            }

            /// Where the three axes are turned to: the columns of the rotation's matrix.
            #[inline]
            pub fn axes(self) -> [$Vector; 3] {
                let (x2, y2, z2) = (self.x + self.x, self.y + self.y, self.z + self.z);
                let (xx, xy, xz) = (self.x * x2, self.x * y2, self.x * z2);
                let (yy, yz, zz) = (self.y * y2, self.y * z2, self.z * z2);
                let (wx, wy, wz) = (self.w * x2, self.w * y2, self.w * z2);
                [
                    $Vector::new(1.0 - (yy + zz), xy + wz, xz - wy),
                    $Vector::new(xy - wz, 1.0 - (xx + zz), yz + wx),
                    $Vector::new(xz + wy, yz - wx, 1.0 - (xx + yy)),
                ]
            }

            /// Of a unit quaternion this is the inverse.
            #[inline]
            pub fn conjugate(self) -> $Rotation {
                $Rotation::from_xyzw(-self.x, -self.y, -self.z, self.w)
            }

            #[inline]
            pub fn dot(self, other: $Rotation) -> $float {
                self.x * other.x + self.y * other.y + self.z * other.z + self.w * other.w
            }

            #[inline]
            pub fn length(self) -> $float {
                self.dot(self).sqrt()
            }

            #[inline]
            pub fn length_squared(self) -> $float {
                self.dot(self)
            }

            #[inline]
            pub fn normalize(self) -> $Rotation {
                self * (1.0 / self.length())
            }

            #[inline]
            pub fn is_finite(self) -> bool {
                self.x.is_finite() && self.y.is_finite() && self.z.is_finite() && self.w.is_finite()
            }
        }

        impl Mul<$Vector> for $Rotation {
            type Output = $Vector;
            #[inline]
            fn mul(self, vector: $Vector) -> $Vector {
                let (w, axis) = (self.w, $Vector::new(self.x, self.y, self.z));
                vector * (w * w - axis.dot(axis)) + axis * (vector.dot(axis) * 2.0) + axis.cross(vector) * (w * 2.0)
            }
        }

        impl Mul for $Rotation {
            type Output = $Rotation;
            /// The rotation `other`, then this one.
            #[inline]
            fn mul(self, other: $Rotation) -> $Rotation {
                let ([x0, y0, z0, w0], [x1, y1, z1, w1]) = (self.to_array(), other.to_array());
                $Rotation::from_xyzw(
                    w0 * x1 + x0 * w1 + y0 * z1 - z0 * y1,
                    w0 * y1 - x0 * z1 + y0 * w1 + z0 * x1,
                    w0 * z1 + x0 * y1 - y0 * x1 + z0 * w1,
                    w0 * w1 - x0 * x1 - y0 * y1 - z0 * z1,
                )
            }
        }

        impl MulAssign for $Rotation {
            #[inline]
            fn mul_assign(&mut self, other: $Rotation) {
                *self = *self * other;
            }
        }

        impl Mul<$float> for $Rotation {
            type Output = $Rotation;
            #[inline]
            fn mul(self, scale: $float) -> $Rotation {
                $Rotation::from_xyzw(self.x * scale, self.y * scale, self.z * scale, self.w * scale)
            }
        }

        impl Div<$float> for $Rotation {
            type Output = $Rotation;
            #[inline]
            fn div(self, scale: $float) -> $Rotation {
                $Rotation::from_xyzw(self.x / scale, self.y / scale, self.z / scale, self.w / scale)
            }
        }

        impl Add for $Rotation {
            type Output = $Rotation;
            #[inline]
            fn add(self, other: $Rotation) -> $Rotation {
                $Rotation::from_xyzw(self.x + other.x, self.y + other.y, self.z + other.z, self.w + other.w)
            }
        }

        impl Sub for $Rotation {
            type Output = $Rotation;
            #[inline]
            fn sub(self, other: $Rotation) -> $Rotation {
                $Rotation::from_xyzw(self.x - other.x, self.y - other.y, self.z - other.z, self.w - other.w)
            }
        }

        impl Neg for $Rotation {
            type Output = $Rotation;
            #[inline]
            fn neg(self) -> $Rotation {
                self * -1.0
            }
        }

        impl Default for $Rotation {
            fn default() -> $Rotation {
                $Rotation::IDENTITY
            }
        }

        impl fmt::Display for $Rotation {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                show(f, &self.to_array())
            }
        }

        impl fmt::Debug for $Rotation {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($Rotation))
                    .field(&self.x)
                    .field(&self.y)
                    .field(&self.z)
                    .field(&self.w)
                    .finish()
            }
        }
    };
}

vector!(Vec3, f32);
vector!(DVec3, f64);
rotation!(Quat, Vec3, f32, libm::sincosf, libm::atan2f);
rotation!(DQuat, DVec3, f64, libm::sincos, libm::atan2);

impl Vec3 {
    #[inline]
    pub fn as_dvec3(self) -> DVec3 {
        DVec3::new(self.x as f64, self.y as f64, self.z as f64)
    }
}

impl DVec3 {
    #[inline]
    pub fn as_vec3(self) -> Vec3 {
        Vec3::new(self.x as f32, self.y as f32, self.z as f32)
    }
}

impl Quat {
    #[inline]
    pub fn as_dquat(self) -> DQuat {
        DQuat::from_array(self.to_array().map(f64::from))
    }
}

impl DQuat {
    #[inline]
    pub fn as_quat(self) -> Quat {
        Quat::from_array(self.to_array().map(|number| number as f32))
    }
}

/// The numbers in brackets, each with the precision that the caller asks for.
fn show(f: &mut fmt::Formatter<'_>, numbers: &[impl fmt::Display]) -> fmt::Result {
    f.write_str("[")?;
    for (at, number) in numbers.iter().enumerate() {
        f.write_str(if at == 0 { "" } else { ", " })?;
        match f.precision() {
            Some(digits) => write!(f, "{number:.digits$}")?,
            None => write!(f, "{number}")?,
        }
    }
    f.write_str("]")
}
