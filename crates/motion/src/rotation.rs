//! Orientations over time. Sines come from `libm`, so the results have the same bits on every host.

use space::{DQuat, DVec3};

/// The rotation by a constant angular velocity in `dt` seconds.
pub fn turned_by(angvel: DVec3, dt: f64) -> DQuat {
    let n = angvel.length();
    let half = 0.5 * n * dt;
    // sin(half)/n, without a division by a vanishing n.
    let scale = if n * dt < 1e-4 { 0.5 * dt * (1.0 - half * half / 6.0) } else { libm::sin(half) / n };
    let axis = angvel * scale;
    DQuat::from_xyzw(axis.x, axis.y, axis.z, libm::cos(half))
}

/// `rot` after `dt` seconds at an angular velocity along its own axes.
pub fn advanced(rot: DQuat, angvel: DVec3, dt: f64) -> DQuat {
    if angvel == DVec3::ZERO || dt == 0.0 {
        return rot;
    }
    normalized(rot * turned_by(angvel, dt))
}

/// The angle between two orientations, in radians.
pub fn angle_between(one: DQuat, other: DQuat) -> f64 {
    2.0 * libm::acos(one.dot(other).abs().min(1.0))
}

/// The angular velocity, along the axes of `from`, that rotates `from` to `to` in `dt` seconds by the smaller angle.
pub fn rate_between(from: DQuat, to: DQuat, dt: f64) -> DVec3 {
    let mut turn = from.conjugate() * to;
    if turn.w < 0.0 {
        turn = -turn;
    }
    let axis = DVec3::new(turn.x, turn.y, turn.z);
    let sine = axis.length();
    if sine < 1e-12 || dt <= 0.0 {
        return axis * (2.0 / dt.max(f64::MIN_POSITIVE)).min(1e12);
    }
    axis * (2.0 * libm::atan2(sine, turn.w) / sine / dt)
}

/// Spherical linear interpolation by the smaller angle.
pub fn between(from: DQuat, to: DQuat, u: f64) -> DQuat {
    let u = u.clamp(0.0, 1.0);
    if u == 1.0 {
        return to;
    }
    advanced(from, rate_between(from, to, 1.0), u)
}

/// The unit quaternion of the same direction; the identity if there is none.
pub fn normalized(rot: DQuat) -> DQuat {
    let norm = rot.length();
    if norm > 0.0 && norm.is_finite() { rot / norm } else { DQuat::IDENTITY }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_turn_in_a_second() {
        let quarter = advanced(DQuat::IDENTITY, DVec3::Z * std::f64::consts::FRAC_PI_2, 1.0);
        assert!((quarter * DVec3::X - DVec3::Y).length() < 1e-15);
        assert!((angle_between(quarter, -DQuat::IDENTITY) - std::f64::consts::FRAC_PI_2).abs() < 1e-15);
        let rate = rate_between(DQuat::IDENTITY, quarter, 0.5);
        assert!((rate - DVec3::Z * std::f64::consts::PI).length() < 1e-14);
        let half_way = between(DQuat::IDENTITY, quarter, 0.5);
        assert!((angle_between(half_way, quarter) - std::f64::consts::FRAC_PI_4).abs() < 1e-8);
    }

    #[test]
    fn small_turns_meet_large_ones_without_a_step() {
        let axis = DVec3::new(0.6, 0.0, 0.8);
        let (below, above) = (turned_by(axis, 0.999_999e-4), turned_by(axis, 1.000_001e-4));
        assert!((below.x - above.x).abs() < 1e-10 && (below.z - above.z).abs() < 1e-10);
        assert_eq!(turned_by(DVec3::ZERO, 5.0), DQuat::IDENTITY);
    }
}
