//! Derivative-free minimisation in space: the Nelder-Mead simplex method.

use space::DVec3;

/// The best point found from `start` with steps of about `step` and at most `evaluations`, and its value.
pub fn minimise(start: DVec3, step: f64, evaluations: usize, mut value: impl FnMut(DVec3) -> f64) -> (DVec3, f64) {
    let mut simplex = [start, start + DVec3::X * step, start + DVec3::Y * step, start + DVec3::Z * step]
        .map(|point| (point, f64::INFINITY));
    for corner in &mut simplex {
        corner.1 = value(corner.0);
    }
    let mut used = 4;
    while used < evaluations {
        simplex.sort_by(|a, b| a.1.total_cmp(&b.1));
        let spread = simplex[3].0.distance(simplex[0].0);
        if spread <= 1e-3 * step {
            break;
        }
        let middle = (simplex[0].0 + simplex[1].0 + simplex[2].0) / 3.0;
        let worst = simplex[3];
        let mut attempt = |factor: f64| {
            let point = middle + (middle - worst.0) * factor;
            (point, value(point))
        };
        let reflected = attempt(1.0);
        used += 1;
        if reflected.1 < simplex[0].1 {
            let expanded = attempt(2.0);
            used += 1;
            simplex[3] = if expanded.1 < reflected.1 { expanded } else { reflected };
        } else if reflected.1 < simplex[2].1 {
            simplex[3] = reflected;
        } else {
            let contracted = attempt(if reflected.1 < worst.1 { 0.5 } else { -0.5 });
            used += 1;
            if contracted.1 < worst.1.min(reflected.1) {
                simplex[3] = contracted;
            } else {
                let best = simplex[0].0;
                for corner in &mut simplex[1..] {
                    corner.0 = best + (corner.0 - best) * 0.5;
                    corner.1 = value(corner.0);
                }
                used += 3;
            }
        }
    }
    simplex.sort_by(|a, b| a.1.total_cmp(&b.1));
    simplex[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_finds_the_bottom_of_a_bowl_and_of_a_kink() {
        let bottom = DVec3::new(0.3, -0.2, 0.5);
        let (bowl, _) = minimise(DVec3::ZERO, 0.3, 300, |point| point.distance_squared(bottom));
        assert!(bowl.distance(bottom) < 1e-2, "{bowl}");
        let (kink, _) = minimise(DVec3::ZERO, 0.3, 300, |point| (point - bottom).abs().max_element());
        assert!((kink - bottom).abs().max_element() < 0.05, "{kink}");
    }
}
