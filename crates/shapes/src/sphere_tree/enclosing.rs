//! The smallest enclosing ball of points.

use space::DVec3;

use super::ball::Ball;

/// The most steps, as rounding could go on for ever.
const MAX_ROUNDS: usize = 64;

/// The smallest ball that contains all points, by Welzl's and Gärtner's method: at most four points support a ball; the
/// farthest point outside becomes one of them, until none is outside. The radius is measured at the end, so that
/// rounding leaves no point outside. Without points, radius zero at the origin.
pub fn smallest_enclosing_ball(points: &[DVec3]) -> Ball {
    let Some(&first) = points.first() else { return Ball::new(DVec3::ZERO, 0.0) };
    let mut support: Vec<DVec3> = vec![first];
    let mut ball = Ball::new(first, 0.0);
    let mut best = Ball::around(first, points.iter().copied());
    for _ in 0..MAX_ROUNDS {
        let (farthest, squared) = farthest(ball.center, points);
        if squared.sqrt() < best.radius {
            best = Ball::around(ball.center, points.iter().copied());
        }
        if squared <= ball.radius * ball.radius * (1.0 + 1e-14) {
            break;
        }
        support.push(farthest);
        let grown = ball_of_support(&mut support);
        if grown.radius <= ball.radius * (1.0 + 1e-15) {
            break;
        }
        ball = grown;
    }
    best
}

fn farthest(center: DVec3, points: &[DVec3]) -> (DVec3, f64) {
    let mut found = (center, -1.0);
    for &point in points {
        let squared = center.distance_squared(point);
        if squared > found.1 {
            found = (point, squared);
        }
    }
    found
}

/// The smallest ball around at most five points, which are reduced to its support: every subset of up to four is tried.
fn ball_of_support(points: &mut Vec<DVec3>) -> Ball {
    let count = points.len().min(5);
    let mut best: Option<(Ball, u32)> = None;
    for subset in 1_u32..1 << count {
        if subset.count_ones() > 4 {
            continue;
        }
        let chosen: Vec<DVec3> = (0..count).filter(|bit| subset & 1 << bit != 0).map(|bit| points[bit]).collect();
        let Some(center) = circumcenter(&chosen) else { continue };
        let radius = center.distance(chosen[0]);
        let tolerance = radius * (1.0 + 1e-12) + 1e-300;
        if best.is_some_and(|(ball, _)| ball.radius <= radius) {
            continue;
        }
        if points.iter().all(|point| center.distance(*point) <= tolerance) {
            best = Some((Ball::new(center, radius), subset));
        }
    }
    let Some((ball, subset)) = best else { return Ball::around(points[0], points.iter().copied()) };
    let mut index = 0;
    points.retain(|_| {
        index += 1;
        subset & 1 << (index - 1) != 0
    });
    ball
}

/// The circumcentre of up to four points within their affine hull; `None` if they are degenerate.
fn circumcenter(points: &[DVec3]) -> Option<DVec3> {
    let origin = points[0];
    match *points {
        [_] => Some(origin),
        [_, b] => Some((origin + b) * 0.5),
        [_, b, c] => {
            let (u, v) = (b - origin, c - origin);
            let normal = u.cross(v);
            let scale = normal.length_squared();
            if scale <= 1e-28 * u.length_squared() * v.length_squared() {
                return None;
            }
            let offset = (u.length_squared() * v.cross(normal) + v.length_squared() * normal.cross(u)) / (2.0 * scale);
            Some(origin + offset)
        }
        [_, b, c, d] => {
            let (u, v, w) = (b - origin, c - origin, d - origin);
            let volume = u.dot(v.cross(w));
            if volume.abs() <= 1e-14 * u.length() * v.length() * w.length() {
                return None;
            }
            let offset =
                (u.length_squared() * v.cross(w) + v.length_squared() * w.cross(u) + w.length_squared() * u.cross(v))
                    / (2.0 * volume);
            Some(origin + offset)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::workload::Random;

    /// By definition: the smallest circumscribed ball of two, three or four points that contains the rest.
    fn brute_force(points: &[DVec3]) -> f64 {
        let mut best = f64::INFINITY;
        let count = points.len();
        let mut subsets: Vec<Vec<usize>> = (0..count).map(|index| vec![index]).collect();
        let mut from = 0;
        for _ in 0..3 {
            let to = subsets.len();
            for subset in from..to {
                for next in subsets[subset].last().unwrap() + 1..count {
                    let mut longer = subsets[subset].clone();
                    longer.push(next);
                    subsets.push(longer);
                }
            }
            from = to;
        }
        for subset in subsets {
            let chosen: Vec<DVec3> = subset.iter().map(|&index| points[index]).collect();
            let Some(center) = circumcenter(&chosen) else { continue };
            let radius = center.distance(chosen[0]);
            if radius < best && points.iter().all(|point| center.distance(*point) <= radius * (1.0 + 1e-9)) {
                best = radius;
            }
        }
        best
    }

    #[test]
    fn it_is_what_brute_force_finds() {
        for seed in 0..300 {
            let mut random = Random::new(seed);
            let count = random.whole(1, 14);
            let points: Vec<DVec3> = (0..count).map(|_| random.in_ball().as_dvec3()).collect();
            let ball = smallest_enclosing_ball(&points);
            let expected = brute_force(&points);
            assert!((ball.radius - expected).abs() <= 1e-9, "seed {seed}: {} instead of {expected}", ball.radius);
            assert!(points.iter().all(|&point| ball.contains(point)), "seed {seed}");
        }
    }

    #[test]
    fn cospherical_and_equal_points_are_no_trouble() {
        let corners: Vec<DVec3> = (0..8)
            .map(|bits| DVec3::new((bits & 1) as f64, (bits >> 1 & 1) as f64, (bits >> 2 & 1) as f64) - 0.5)
            .collect();
        let ball = smallest_enclosing_ball(&corners);
        assert!((ball.radius - 0.75_f64.sqrt()).abs() < 1e-12 && ball.center.length() < 1e-12);
        assert_eq!(smallest_enclosing_ball(&[DVec3::X; 5]), Ball::new(DVec3::X, 0.0));
        assert_eq!(smallest_enclosing_ball(&[]), Ball::new(DVec3::ZERO, 0.0));
    }
}
