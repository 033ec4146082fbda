//! The DIS formulas against extended precision: a relative error of 1e-12 for turns of up to ten radians, however small
//! or large the angular velocity.

use dashu_float::{FBig, round::mode::HalfEven};
use kinesphere_motion::dead_reckoning::{first_integral, second_integral};
use space::DVec3;
use space::workload::Random;

type Real = FBig<HalfEven, 2>;

fn real(value: f64) -> Real {
    Real::try_from(value).unwrap().with_precision(200).value()
}

fn cross(a: &[Real; 3], b: &[Real; 3]) -> [Real; 3] {
    [&a[1] * &b[2] - &a[2] * &b[1], &a[2] * &b[0] - &a[0] * &b[2], &a[0] * &b[1] - &a[1] * &b[0]]
}

/// The sum over k of W^k v dt^(k+1+extra) / (k! (k+1+extra)), until nothing is added: the integral of u^extra
/// exp(W u) v.
fn exact(angvel: DVec3, dt: f64, vector: DVec3, extra: u32) -> DVec3 {
    let (w, t) = (angvel.to_array().map(real), real(dt));
    let mut term = vector.to_array().map(real);
    let mut sum = [0.0; 3].map(real);
    for k in 0..70u32 {
        for axis in 0..3 {
            sum[axis] += &term[axis] / real(f64::from(k + 1 + extra));
        }
        term = cross(&w, &term).map(|x| x * &t / real(f64::from(k + 1)));
    }
    let scale = if extra == 0 { t } else { &t * &t };
    DVec3::from_array(sum.map(|x| (x * &scale).to_f64().value()))
}

#[test]
fn both_integrals_keep_twelve_digits() {
    let mut random = Random::new(1);
    let mut worst = (0.0_f64, 0.0_f64);
    for case in 0..300 {
        let angle = if case < 200 { f64::from(case) / 20.0 } else { libm::pow(10.0, -f64::from((case - 200) / 9)) };
        let dt = f64::from(random.between(0.01, 5.0));
        let angvel = random.direction().as_dvec3().normalize() * (angle / dt);
        let vector = random.in_ball().as_dvec3() * 10.0;
        // Relative to the distance without rotation, as the distance of a full circle is zero.
        let first = exact(angvel, dt, vector, 0);
        let error = (first_integral(angvel, dt, vector) - first).length() / (vector.length() * dt);
        worst.0 = worst.0.max(error);
        assert!(error < 1e-12, "case {case}: R1 at {angle} is off by {error:e}");
        let second = exact(angvel, dt, vector, 1);
        let error = (second_integral(angvel, dt, vector) - second).length() / (0.5 * vector.length() * dt * dt);
        worst.1 = worst.1.max(error);
        assert!(error < 1e-12, "case {case}: R2 at {angle} is off by {error:e}");
    }
    // There are more than twelve digits; a regression should show.
    assert!(worst.0 < 1e-14 && worst.1 < 1e-14, "{worst:?}");
}
