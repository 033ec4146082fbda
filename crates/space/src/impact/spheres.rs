//! Two spheres in uniform motion: the moments at which their surfaces touch, in closed form.

use crate::DVec3;

/// The span of time during which two spheres overlap, were they never to turn. Negative times lie in the past.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passage {
    /// When they begin to overlap.
    pub entry: f64,
    /// When they cease to.
    pub exit: f64,
}

/// When the spheres overlap, given relative position `d`, relative velocity `v` and the sum of radii `r`.
///
/// `None` when they never touch, or when they do not move relative to each other.
pub fn passage(d: DVec3, v: DVec3, r: f64) -> Option<Passage> {
    let scaled = Scaled::new(d, v, r);
    let (d, v, r) = (scaled.d, scaled.v, scaled.r);
    let a = v.dot(v);
    let b = d.dot(v);
    let c = d.dot(d) - r * r;
    if a == 0.0 {
        return None;
    }
    // From the cross product: b² - ac would lose its digits for spheres far away, and for those that graze.
    let discriminant = a * (r * r) - d.cross(v).length_squared();
    if discriminant.is_nan() || discriminant < 0.0 {
        return None;
    }
    let s = discriminant.sqrt();
    let (entry, exit) = if b < 0.0 {
        (c / (-b + s), (-b + s) / a)
    } else if b + s > 0.0 {
        ((-b - s) / a, c / (-b - s))
    } else {
        (0.0, 0.0)
    };
    Some(Passage { entry: entry * scaled.unit_of_time, exit: exit * scaled.unit_of_time })
}

/// The first contact from now on, in seconds: zero when they overlap already, or touch and approach.
///
/// Touching and leaving is no contact, or an object that was blocked could never leave.
pub fn contact(d: DVec3, v: DVec3, r: f64) -> Option<f64> {
    let scaled = Scaled::new(d, v, r);
    let c = scaled.d.dot(scaled.d) - scaled.r * scaled.r;
    let b = scaled.d.dot(scaled.v);
    if c < 0.0 || (c == 0.0 && b < 0.0) {
        return Some(0.0);
    }
    if b >= 0.0 {
        return None;
    }
    passage(d, v, r).map(|passage| passage.entry)
}

/// The question in units in which no square overflows or vanishes. Scales are powers of two, so nothing is rounded.
struct Scaled {
    d: DVec3,
    v: DVec3,
    r: f64,
    unit_of_time: f64,
}

impl Scaled {
    fn new(d: DVec3, v: DVec3, r: f64) -> Scaled {
        let length = power_of_two_near(d.abs().max_element().max(r.abs()));
        let speed = power_of_two_near(v.abs().max_element());
        // Divisions in this order stay within range even where the quotient of the two scales does not.
        Scaled { d: d / length, v: v / speed, r: r / length, unit_of_time: length / speed }
    }
}

/// One, unless `size` is so large or small that its square might leave the range of `f64`.
fn power_of_two_near(size: f64) -> f64 {
    if size == 0.0 || !size.is_finite() || (1e-100..=1e100).contains(&size) {
        return 1.0;
    }
    // A subnormal number has no exponent of its own: the smallest normal one serves.
    let size = size.max(f64::MIN_POSITIVE);
    f64::from_bits(size.to_bits() & 0x7ff0_0000_0000_0000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_on() {
        let found = passage(DVec3::new(10.0, 0.0, 0.0), DVec3::new(-2.0, 0.0, 0.0), 2.0).unwrap();
        assert_eq!((found.entry, found.exit), (4.0, 6.0));
        assert_eq!(contact(DVec3::new(10.0, 0.0, 0.0), DVec3::new(-2.0, 0.0, 0.0), 2.0), Some(4.0));
    }

    #[test]
    fn touching_and_leaving_is_no_contact() {
        let d = DVec3::new(2.0, 0.0, 0.0);
        assert_eq!(contact(d, DVec3::new(1.0, 0.5, 0.0), 2.0), None);
        assert_eq!(contact(d, DVec3::new(-1.0, 0.5, 0.0), 2.0), Some(0.0));
        assert_eq!(contact(d, DVec3::ZERO, 2.0), None);
        assert_eq!(contact(d * 0.9, DVec3::new(1.0, 0.0, 0.0), 2.0), Some(0.0));
    }

    #[test]
    fn sizes_whose_squares_leave_the_range_are_scaled() {
        let direction = DVec3::new(-0.6, 0.64, -0.48);
        let plain = passage(direction * -8.0 + DVec3::X, direction * 2.0, 3.0).unwrap();
        for scale in [1e-300, 1e-160, 1e160, 1e300] {
            let found = passage((direction * -8.0 + DVec3::X) * scale, direction * 2.0 * scale, 3.0 * scale).unwrap();
            assert!((found.entry - plain.entry).abs() < 1e-13, "{scale}: {found:?} {plain:?}");
            assert!((found.exit - plain.exit).abs() < 1e-13, "{scale}: {found:?} {plain:?}");
        }
    }

    #[test]
    fn nonsense_meets_nothing() {
        assert_eq!(passage(DVec3::NAN, DVec3::X, 1.0), None);
        assert_eq!(contact(DVec3::X * 5.0, DVec3::NAN, 1.0), None);
    }
}
