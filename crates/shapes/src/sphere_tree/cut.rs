//! Triangles cut in two, cubes in eight.

use space::DVec3;

/// The longest side of a triangle, from its corner of that number to the next, and the side's squared length.
pub fn longest_side(corners: &[DVec3; 3]) -> (usize, f64) {
    let length = |side: usize| corners[side].distance_squared(corners[(side + 1) % 3]);
    let side = (0..3).max_by(|&i, &j| length(i).total_cmp(&length(j))).unwrap_or(0);
    (side, length(side))
}

/// The halves of a triangle, cut at the middle of a side.
pub fn halves(corners: [DVec3; 3], side: usize) -> [[DVec3; 3]; 2] {
    let middle = (corners[side] + corners[(side + 1) % 3]) * 0.5;
    let mut halves = [corners; 2];
    halves[0][(side + 1) % 3] = middle;
    halves[1][side] = middle;
    halves
}

/// The centres of the eighths of a cube, by half the side of an eighth.
pub fn eighths(center: DVec3, half: f64) -> impl Iterator<Item = DVec3> {
    (0..8).map(move |octant| {
        let sign = |bit: u32| if octant >> bit & 1 == 1 { half } else { -half };
        center + DVec3::new(sign(0), sign(1), sign(2))
    })
}
