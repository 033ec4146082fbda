//! Repair of a mesh's topology: welded vertices, connected shells, consistent orientation.

use std::collections::BTreeMap;

use space::DVec3;

/// Vertices closer than this are the same, in unit coordinates.
const WELD: f64 = 1e-7;
/// With more shells than this, only winding numbers define the inside.
const MAX_SHELLS: usize = 256;

/// For each vertex, the first vertex within [`WELD`] of it.
pub fn weld(vertices: &[DVec3]) -> Vec<u32> {
    let cell = |point: DVec3| (point / WELD).floor().to_array().map(|value| value as i64);
    let mut cells: BTreeMap<[i64; 3], Vec<u32>> = BTreeMap::new();
    let mut names = Vec::with_capacity(vertices.len());
    for (index, &vertex) in vertices.iter().enumerate() {
        let home = cell(vertex);
        let mut found = None;
        'search: for x in -1..=1 {
            for y in -1..=1 {
                for z in -1..=1 {
                    let near = [home[0].saturating_add(x), home[1].saturating_add(y), home[2].saturating_add(z)];
                    let others = cells.get(&near).map_or(&[][..], Vec::as_slice);
                    let same = |&&other: &&u32| vertices[other as usize].distance_squared(vertex) <= WELD * WELD;
                    if let Some(&other) = others.iter().find(same) {
                        found = Some(other);
                        break 'search;
                    }
                }
            }
        }
        names.push(found.unwrap_or_else(|| {
            // One vertex per cell suffices to be found, which keeps floods of near-equal vertices cheap.
            cells.entry(home).or_default().push(index as u32);
            index as u32
        }));
    }
    names
}

/// Orients triangles by adjacency, and shells by nesting. `None` if the triangles do not bound a solid: an edge has not
/// exactly two triangles, a shell is not orientable, or there are too many shells.
pub fn orient(positions: &[DVec3], triangles: &[[u32; 3]]) -> Option<Vec<[u32; 3]>> {
    let mut edges: BTreeMap<(u32, u32), Vec<(u32, bool)>> = BTreeMap::new();
    for (index, corners) in triangles.iter().enumerate() {
        for side in 0..3 {
            let (from, to) = (corners[side], corners[(side + 1) % 3]);
            edges.entry((from.min(to), from.max(to))).or_default().push((index as u32, from < to));
        }
    }
    if triangles.is_empty() || edges.values().any(|sides| sides.len() != 2) {
        return None;
    }
    let mut neighbours: Vec<Vec<(u32, bool)>> = vec![Vec::with_capacity(3); triangles.len()];
    for sides in edges.values() {
        let [(a, along_a), (b, along_b)] = [sides[0], sides[1]];
        let agree = along_a != along_b;
        neighbours[a as usize].push((b, agree));
        neighbours[b as usize].push((a, agree));
    }
    let (shells, flip) = propagate(&neighbours)?;
    let turn = |corners: [u32; 3], turned: bool| if turned { [corners[0], corners[2], corners[1]] } else { corners };
    let mut oriented: Vec<[u32; 3]> =
        triangles.iter().zip(&flip).map(|(&corners, &flip)| turn(corners, flip)).collect();
    let count = shells.iter().max().map_or(0, |last| *last as usize + 1);
    if count > MAX_SHELLS {
        return None;
    }
    let corners_of = |corners: [u32; 3]| corners.map(|corner| positions[corner as usize]);
    let mut volumes = vec![0.0; count];
    let mut witnesses = vec![0; count];
    for (index, &corners) in oriented.iter().enumerate() {
        let [a, b, c] = corners_of(corners);
        volumes[shells[index] as usize] += a.dot(b.cross(c)) / 6.0;
        witnesses[shells[index] as usize] = index;
    }
    let mut flips = vec![false; count];
    for shell in 0..count {
        let [a, b, c] = corners_of(oriented[witnesses[shell]]);
        let witness = (a + b + c) / 3.0;
        let mut around = vec![0.0; count];
        if count > 1 {
            for (index, &corners) in oriented.iter().enumerate() {
                around[shells[index] as usize] += solid_angle(witness, &corners_of(corners));
            }
        }
        let tau = 2.0 * std::f64::consts::PI;
        let depth = (0..count).filter(|&other| other != shell && around[other].abs() > tau).count();
        flips[shell] = (volumes[shell] < 0.0) != (depth % 2 == 1);
    }
    for (index, corners) in oriented.iter_mut().enumerate() {
        *corners = turn(*corners, flips[shells[index] as usize]);
    }
    Some(oriented)
}

/// The shell of each triangle, and whether to reverse it to agree with the first of its shell.
fn propagate(neighbours: &[Vec<(u32, bool)>]) -> Option<(Vec<u32>, Vec<bool>)> {
    let mut shells = vec![u32::MAX; neighbours.len()];
    let mut flip = vec![false; neighbours.len()];
    let mut count = 0;
    for start in 0..neighbours.len() {
        if shells[start] != u32::MAX {
            continue;
        }
        shells[start] = count;
        let mut waiting = vec![start];
        while let Some(triangle) = waiting.pop() {
            for &(other, agree) in &neighbours[triangle] {
                let wanted = flip[triangle] == agree;
                if shells[other as usize] == u32::MAX {
                    shells[other as usize] = count;
                    flip[other as usize] = wanted;
                    waiting.push(other as usize);
                } else if flip[other as usize] != wanted {
                    return None;
                }
            }
        }
        count += 1;
    }
    Some((shells, flip))
}

/// The signed solid angle of a triangle seen from a point: positive if its back is visible, as from inside.
pub fn solid_angle(from: DVec3, corners: &[DVec3; 3]) -> f64 {
    let [cosine, sine] = half_solid_angle(from, corners);
    2.0 * libm::atan2(sine, cosine)
}

/// Half of the solid angle as cosine and sine, times a positive factor. Both zero on the triangle itself.
#[inline]
pub fn half_solid_angle(from: DVec3, corners: &[DVec3; 3]) -> [f64; 2] {
    let [a, b, c] = corners.map(|corner| corner - from);
    let (la, lb, lc) = (a.length(), b.length(), c.length());
    let over = a.dot(b.cross(c));
    let under = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
    if over == 0.0 && under <= 0.0 { [0.0; 2] } else { [under, over] }
}
