//! Contact times: symmetric, invariant, reversible, and equal to what 80 digits give.

use dashu_float::{FBig, round::mode::HalfEven};
use kinesphere_space::DVec3;
use kinesphere_space::impact::accelerated;
use kinesphere_space::impact::{Ballistic, Impact, spheres};
use kinesphere_space::workload::Random;
use proptest::prelude::*;

/// 270 bits: more than 80 decimal digits.
type Real = FBig<HalfEven, 2>;

fn real(value: f64) -> Real {
    Real::try_from(value).unwrap().with_precision(270).value()
}

fn dot(a: &[Real; 3], b: &[Real; 3]) -> Real {
    &a[0] * &b[0] + &a[1] * &b[1] + &a[2] * &b[2]
}

fn number(value: &Real) -> f64 {
    value.to_f64().value()
}

/// Entry and exit by the schoolbook formula, which is fine when digits are plenty.
fn exact_passage(d: DVec3, v: DVec3, r: f64) -> Option<(Real, Real)> {
    let d = d.to_array().map(real);
    let v = v.to_array().map(real);
    let (a, b, c) = (dot(&v, &v), dot(&d, &v), dot(&d, &d) - real(r) * real(r));
    let discriminant = &b * &b - &a * &c;
    if discriminant < Real::ZERO {
        return None;
    }
    let s = dashu_base::SquareRoot::sqrt(&discriminant);
    Some(((-&b - &s) / &a, (-&b + &s) / &a))
}

fn direction(random: &mut Random) -> DVec3 {
    random.direction().as_dvec3().normalize()
}

/// Oblique encounters in 3-D: `distance` radii away, passing the centre at `miss` radii.
fn encounter(random: &mut Random, distance: f64, miss: f64) -> (DVec3, DVec3, f64) {
    let along = direction(random);
    let across = along.cross(direction(random)).normalize();
    let r = f64::from(random.between(0.3, 3.0));
    let d = along * (-distance * r) + across * (miss * r);
    (d, along * f64::from(random.between(0.1, 30.0)), r)
}

#[test]
fn contact_agrees_with_eighty_digits() {
    let mut random = Random::new(1);
    for (distance, miss) in [
        (1.5, 0.3),
        (1.01, 0.0),
        (20.0, 0.7),
        (1e4, 0.5),
        (1e7, 0.1),
        (10.0, 0.999_999),
        (1e3, 0.999_999_999),
        (1e5, 0.9999),
    ] {
        for case in 0..200 {
            let (d, v, r) = encounter(&mut random, distance, miss);
            let context = format!("seed 1, distance {distance}, miss {miss}, case {case}");
            let found = spheres::passage(d, v, r);
            let Some((entry, exit)) = exact_passage(d, v, r) else {
                continue;
            };
            let found = found.unwrap_or_else(|| panic!("{context}: a contact was missed"));
            // What rounding can do: to c, where the spheres nearly touch, and to the root, where they graze.
            let (dd, vv) = (d.dot(d), v.dot(v));
            let c = (dd - r * r).abs();
            let cross = d.cross(v).length();
            let s = (vv * r * r - cross * cross).max(0.0).sqrt();
            let noise = 8.0 * f64::EPSILON * (vv * r * r + cross * dd.sqrt() * vv.sqrt());
            let root_error = if s > 0.0 { (noise / s).min(noise.sqrt()) } else { noise.sqrt() };
            let allowed = 8.0 * f64::EPSILON * (1.0 + dd / c) + root_error / (d.dot(v).abs() + s);
            for (found, exact) in [(found.entry, entry), (found.exit, exit)] {
                let error = number(&(real(found) - &exact)).abs() / number(&exact).abs();
                assert!(error <= allowed, "{context}: {found} is off by {error:e}, allowed {allowed:e}");
            }
        }
    }
}

/// What the cross product is for: far away, the schoolbook discriminant has no digit left.
#[test]
fn far_contacts_keep_their_digits() {
    let mut random = Random::new(2);
    for case in 0..200 {
        let (d, v, r) = encounter(&mut random, 1e7, 0.5);
        let found = spheres::contact(d, v, r).unwrap();
        let (entry, _) = exact_passage(d, v, r).unwrap();
        let error = number(&(real(found) - &entry)).abs() / number(&entry);
        assert!(error < 1e-15, "seed 2, case {case}: {error:e}");
    }
}

fn vector(size: f64) -> impl Strategy<Value = DVec3> {
    (-size..size, -size..size, -size..size).prop_map(|(x, y, z)| DVec3::new(x, y, z))
}

/// Relative closeness, where an overlap that is nearly none makes both times ill-conditioned.
fn is_close(one: Option<spheres::Passage>, other: Option<spheres::Passage>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => {
            let scale = one.entry.abs().max(one.exit.abs());
            (one.entry - other.entry).abs() <= 1e-9 * scale && (one.exit - other.exit).abs() <= 1e-9 * scale
        }
        (None, None) => true,
        _ => false,
    }
}

/// Encounters that neither graze nor nearly touch: there the times are well-conditioned.
fn is_clear(d: DVec3, v: DVec3, r: f64) -> bool {
    let miss = d.cross(v).length() / v.length();
    (miss - r).abs() > 1e-3 * r && (d.length() - r).abs() > 1e-3 * r
}

proptest! {
    #[test]
    fn contact_is_symmetric_in_the_pair(d in vector(20.0), v in vector(10.0), r in 0.1..5.0) {
        prop_assert_eq!(spheres::passage(d, v, r), spheres::passage(-d, -v, r));
        prop_assert_eq!(spheres::contact(d, v, r), spheres::contact(-d, -v, r));
    }

    #[test]
    fn contact_does_not_depend_on_where_or_which_way(
        a in vector(20.0), b in vector(20.0), v in vector(10.0), r in 0.1..5.0, by in vector(100.0), turn in vector(3.0)
    ) {
        let d = b - a;
        prop_assume!(v.length() > 0.01 && is_clear(d, v, r));
        let moved = (b + by) - (a + by);
        prop_assert!(is_close(spheres::passage(d, v, r), spheres::passage(moved, v, r)));
        let rotation = kinesphere_space::DQuat::from_axis_angle(turn.normalize_or(DVec3::X), turn.length());
        let (turned, velocity) = (rotation * d, rotation * v);
        prop_assert!(is_close(spheres::passage(d, v, r), spheres::passage(turned, velocity, r)));
    }

    #[test]
    fn reversing_time_swaps_entry_and_exit(d in vector(20.0), v in vector(10.0), r in 0.1..5.0) {
        prop_assume!(v.length() > 0.01 && is_clear(d, v, r));
        let backwards = spheres::passage(d, -v, r).map(|p| spheres::Passage { entry: -p.exit, exit: -p.entry });
        prop_assert!(is_close(spheres::passage(d, v, r), backwards));
    }

    #[test]
    fn accelerated_contact_is_never_later_than_dense_sampling_shows(
        d in vector(20.0), v in vector(10.0), a in vector(8.0), r in 0.1..5.0
    ) {
        let motion = Ballistic { pos: d, vel: v, acc: a };
        let horizon = 4.0;
        let seen = (0..=8_000).map(|i| f64::from(i) * horizon / 8_000.0).find(|&t| motion.position(t).length() < r);
        match (accelerated::contact(motion, r, horizon), seen) {
            (Impact::Never, Some(t)) => prop_assert!(false, "missed the contact seen at {t}"),
            (Impact::At(found), Some(t)) => prop_assert!(found <= t, "{found} is later than {t}"),
            // Sampling may step over a graze; what is reported must still be a touch.
            (Impact::At(found), None) => prop_assert!(motion.position(found).length() - r < 1e-6),
            _ => {}
        }
    }

    #[test]
    fn without_acceleration_it_is_the_first_order_contact(d in vector(20.0), v in vector(10.0), r in 0.1..5.0) {
        let motion = Ballistic { pos: d, vel: v, acc: DVec3::ZERO };
        let first = spheres::contact(d, v, r).filter(|&t| t <= 3.0);
        prop_assert_eq!(accelerated::contact(motion, r, 3.0), first.map_or(Impact::Never, Impact::At));
    }

    /// With a vanishing acceleration the steps must arrive where the closed form does.
    #[test]
    fn steps_arrive_where_the_closed_form_does(d in vector(20.0), v in vector(10.0), r in 0.1..5.0) {
        prop_assume!(v.length() > 0.1 && is_clear(d, v, r));
        let motion = Ballistic { pos: d, vel: v, acc: DVec3::new(1e-14, 0.0, 0.0) };
        match (accelerated::contact(motion, r, 3.0), spheres::contact(d, v, r).filter(|&t| t <= 3.0)) {
            (Impact::At(found), Some(exact)) => prop_assert!((found - exact).abs() < 1e-7, "{found} {exact}"),
            (Impact::Never, None) => {}
            (found, exact) => prop_assert!(exact.is_none_or(|t| t > 3.0 - 1e-7), "{found:?} {exact:?}"),
        }
    }
}
