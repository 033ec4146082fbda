//! The order of two shapes does not matter: distances, overlaps and first contacts are the same, and
//! normals are opposite.

mod shapes;

use kinesphere_shapes::{Precision, Shape, proximity};
use shapes::{KINDS, motion, pose, shape};
use space::workload::Random;

const LEVELS: [Precision; 2] = [Precision::BoundingSphere, Precision::Exact];

/// Where a hull takes part, the distance is known to a thousandth.
fn slack(a: &Shape, b: &Shape) -> f32 {
    if matches!(a, Shape::Hull(_)) || matches!(b, Shape::Hull(_)) { 3e-3 } else { 1e-6 }
}

#[test]
fn standing_shapes() {
    for seed in 0..3_000 {
        let mut random = Random::new(seed);
        let (a, b) = (shape(&mut random, seed as u32 % KINDS), shape(&mut random, seed as u32 / KINDS % KINDS));
        let far = random.log_uniform(8.0) * 0.5;
        let (at, bt) = (pose(&mut random, far), pose(&mut random, far));
        for level in LEVELS {
            let case = format!("seed {seed}, {level:?}: {} and {}", a.name(), b.name());
            let (there, back) =
                (proximity::closest(&a, &at, &b, &bt, level), proximity::closest(&b, &bt, &a, &at, level));
            let slack = slack(&a, &b) * (1.0 + there.distance);
            assert!((there.distance - back.distance).abs() <= slack, "{case}: {there:?} {back:?}");
            assert_eq!(
                proximity::intersects(&a, &at, &b, &bt, level),
                proximity::intersects(&b, &bt, &a, &at, level),
                "{case}"
            );
            let way = |x, xt, y, yt| proximity::penetration(x, xt, y, yt, level);
            match (way(&a, &at, &b, &bt), way(&b, &bt, &a, &at)) {
                (None, None) => assert!(there.distance > 0.0, "{case}"),
                (Some(out), Some(other)) => {
                    assert!((out.depth - other.depth).abs() <= 10.0 * slack, "{case}: {out:?} {other:?}");
                }
                (out, other) => panic!("{case}: {out:?} {other:?}"),
            }
        }
    }
}

#[test]
fn moving_shapes() {
    for seed in 0..2_000 {
        let mut random = Random::new(seed);
        let (a, b) = (shape(&mut random, seed as u32 % KINDS), shape(&mut random, seed as u32 / KINDS % KINDS));
        let (am, bm) = (motion(&mut random, 5.0), motion(&mut random, 5.0));
        for level in LEVELS {
            let case = format!("seed {seed}, {level:?}: {} and {}", a.name(), b.name());
            let there = proximity::first_contact(&a, &am, &b, &bm, 0.01, level);
            let back = proximity::first_contact(&b, &bm, &a, &am, 0.01, level);
            match (there, back) {
                (Some(there), Some(back)) => {
                    assert!((there.time - back.time).abs() < 2e-3, "{case}: {there:?} {back:?}");
                }
                (None, None) => {}
                // A grazing contact may be within the tolerance from one side only.
                (met, other) => {
                    let contact = met.or(other).unwrap();
                    let near = proximity::distance(&a, &am.at(contact.time), &b, &bm.at(contact.time), level);
                    assert!(near < 0.011, "{case}: {met:?} {other:?}");
                }
            }
        }
    }
}
