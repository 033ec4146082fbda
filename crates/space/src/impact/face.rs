//! A moving sphere against a flat face: along the face's normal the gap is a quadratic in time.

/// The gap between a sphere and a face: `gap + rate t + acceleration t²/2`, all along the face's normal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Approach {
    /// Distance from the face to the sphere's surface at time zero.
    pub gap: f64,
    /// Its rate of change at time zero.
    pub rate: f64,
    /// The rate of change of that.
    pub acceleration: f64,
}

/// The first moment of the closed interval at which the gap is zero and closing, or the interval's start when the gap
/// is closed and closing there.
///
/// No epsilon keeps the ends out: a contact exactly on a frame belongs to the interval before and to the one after,
/// and what has bounced in the one is no longer closing in the other.
pub fn contact(approach: Approach, from: f64, to: f64) -> Option<f64> {
    let Approach { gap, rate, acceleration } = approach;
    let gap_at = |t: f64| gap + rate * t + 0.5 * acceleration * t * t;
    let rate_at = |t: f64| rate + acceleration * t;
    if gap_at(from) <= 0.0 && rate_at(from) < 0.0 {
        return Some(from);
    }
    let (one, other) = roots(0.5 * acceleration, rate, gap)?;
    let (early, late) = if one <= other { (one, other) } else { (other, one) };
    // Comparisons with NaN and infinity fail here.
    [early, late].into_iter().find(|&t| t >= from && t <= to && rate_at(t) < 0.0)
}

/// Both roots of `a t² + b t + c`, by the pair that never subtracts near equals.
fn roots(a: f64, b: f64, c: f64) -> Option<(f64, f64)> {
    if a == 0.0 {
        return (b != 0.0).then(|| (-c / b, -c / b));
    }
    let discriminant = b * b - 4.0 * a * c;
    if discriminant.is_nan() || discriminant < 0.0 {
        return None;
    }
    let q = -0.5 * (b + discriminant.sqrt().copysign(b));
    if q == 0.0 { Some((0.0, 0.0)) } else { Some((q / a, c / q)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_closed_at_both_ends() {
        let approach = Approach { gap: 3.0, rate: -2.0, acceleration: 0.0 };
        assert_eq!(contact(approach, 0.0, 1.5), Some(1.5));
        assert_eq!(contact(approach, 1.5, 2.0), Some(1.5));
        assert_eq!(contact(approach, 0.0, 1.499), None);
    }

    #[test]
    fn a_bounce_is_not_a_second_contact() {
        assert_eq!(contact(Approach { gap: 0.0, rate: 2.0, acceleration: 0.0 }, 0.0, 9.0), None);
        // Gravity brings it back.
        assert_eq!(contact(Approach { gap: 0.0, rate: 2.0, acceleration: -4.0 }, 0.0, 9.0), Some(1.0));
    }

    #[test]
    fn a_turn_before_the_face_is_no_contact() {
        assert_eq!(contact(Approach { gap: 3.0, rate: -2.0, acceleration: 2.0 }, 0.0, 9.0), None);
        let grazing = Approach { gap: 1.0, rate: -2.0, acceleration: 2.0 };
        assert_eq!(contact(grazing, 0.0, 9.0), None);
    }

    #[test]
    fn who_is_inside_and_goes_deeper_is_in_contact_now() {
        assert_eq!(contact(Approach { gap: -0.1, rate: -1.0, acceleration: 0.0 }, 0.0, 1.0), Some(0.0));
        assert_eq!(contact(Approach { gap: -0.1, rate: 1.0, acceleration: 0.0 }, 0.0, 1.0), None);
    }
}
