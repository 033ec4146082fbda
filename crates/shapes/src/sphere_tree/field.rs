//! Distances outside an object on a grid: a quick estimate of how far a ball sticks out of an object that
//! is not convex.

use rayon::prelude::*;
use space::DVec3;

use super::object::Object;

const NODES: usize = 64;
const REACH: f64 = 1.28;
const BLOCK: usize = 4;
const BLOCKS: usize = NODES / BLOCK;
const IN_BLOCK: usize = BLOCK * BLOCK * BLOCK;
/// Distances beyond this are approximate.
const FAR: f64 = 0.75;

/// Distances outside an object at the nodes of a grid, block by block.
#[derive(Clone, Debug)]
pub struct DistanceField {
    out: Vec<f32>,
    /// The largest distance of each block, which rules out most blocks.
    most: Vec<f32>,
}

impl DistanceField {
    pub const PITCH: f64 = 2.0 * REACH / (NODES - 1) as f64;

    pub fn new(object: &Object) -> DistanceField {
        let slabs: Vec<Vec<f32>> = (0..BLOCKS).into_par_iter().map(|slab| measure_slab(object, slab)).collect();
        let out = slabs.concat();
        let most = out.chunks(IN_BLOCK).map(|block| block.iter().copied().fold(0.0, f32::max)).collect();
        DistanceField { out, most }
    }

    /// For balls of growing radius around one centre, the largest distance of a node in each.
    pub fn farthest_out_by_radius(&self, center: DVec3, step: f64, steps: &mut [f64]) {
        steps.fill(0.0);
        let radius = step * steps.len() as f64;
        let per_step = step.recip();
        let step_of = |squared: f64| (squared.sqrt() * per_step) as usize;
        // One node of each block, and its maximum once the whole block is inside: nearly the answer, so that few
        // blocks are left.
        self.blocks_within(center, radius, |block, low, _| {
            let far = (low - center).abs().max((low + EXTENT - center).abs());
            raise(steps, step_of(far.length_squared()), f64::from(self.most[block]));
            let out = f64::from(self.out[block * IN_BLOCK + MIDDLE]);
            raise(steps, step_of((low + offset(MIDDLE)).distance_squared(center)), out);
        });
        self.blocks_within(center, radius, |block, low, squared| {
            // A distance as large was found at least as near.
            let Some(&known) = steps.get(step_of(squared)) else { return };
            if f64::from(self.most[block]) <= known {
                return;
            }
            for (index, &out) in self.out[block * IN_BLOCK..(block + 1) * IN_BLOCK].iter().enumerate() {
                if f64::from(out) > known {
                    raise(steps, step_of((low + offset(index)).distance_squared(center)), f64::from(out));
                }
            }
        });
    }

    /// The node in the ball with the largest distance; `None` if none is outside.
    pub fn farthest_node(&self, center: DVec3, radius: f64) -> Option<(DVec3, f64)> {
        let mut farthest = (0.0_f32, None);
        self.blocks_within(center, radius, |block, low, _| {
            if self.most[block] <= farthest.0 {
                return;
            }
            for (index, &out) in self.out[block * IN_BLOCK..(block + 1) * IN_BLOCK].iter().enumerate() {
                if out > farthest.0 && (low + offset(index)).distance_squared(center) <= radius * radius {
                    farthest = (out, Some(low + offset(index)));
                }
            }
        });
        farthest.1.map(|node| (node, f64::from(farthest.0)))
    }

    /// Calls `found` with each block that may have a node in the ball, its lowest node, and its squared distance.
    #[inline]
    fn blocks_within(&self, center: DVec3, radius: f64, mut found: impl FnMut(usize, DVec3, f64)) {
        let range = |center: f64| {
            let block = |value: f64| (value + REACH) / (BLOCK as f64 * Self::PITCH);
            let from = block(center - radius).clamp(0.0, (BLOCKS - 1) as f64) as usize;
            from..=block(center + radius).clamp(0.0, (BLOCKS - 1) as f64) as usize
        };
        let limit = radius * radius;
        for x in range(center.x) {
            for y in range(center.y) {
                for z in range(center.z) {
                    let low = position(x * BLOCK, y * BLOCK, z * BLOCK);
                    let apart = (low - center).max(center - low - EXTENT).max(DVec3::ZERO);
                    let squared = apart.length_squared();
                    if squared <= limit {
                        found((x * BLOCKS + y) * BLOCKS + z, low, squared);
                    }
                }
            }
        }
    }
}

/// From the first node of a block to the last.
const EXTENT: f64 = (BLOCK - 1) as f64 * DistanceField::PITCH;

const MIDDLE: usize = (BLOCK * BLOCK + BLOCK + 1) * (BLOCK / 2);

/// The offset of a node from the first of its block.
#[inline]
fn offset(index: usize) -> DVec3 {
    let [x, y, z] = [index / (BLOCK * BLOCK), index / BLOCK % BLOCK, index % BLOCK].map(|at| at as f64);
    DVec3::new(x, y, z) * DistanceField::PITCH
}

/// Raises the entries from `from` on to at least `out`.
#[inline]
fn raise(steps: &mut [f64], from: usize, out: f64) {
    let lower = steps.iter_mut().skip(from).take_while(|known| **known < out);
    lower.for_each(|known| *known = out);
}

fn position(x: usize, y: usize, z: usize) -> DVec3 {
    DVec3::new(x as f64, y as f64, z as f64) * DistanceField::PITCH - REACH
}

fn measure_slab(object: &Object, slab: usize) -> Vec<f32> {
    let mut out = Vec::with_capacity(BLOCKS * BLOCKS * IN_BLOCK);
    let diagonal = EXTENT * 0.5 * 3.0_f64.sqrt();
    let mut hint = None;
    for y in 0..BLOCKS {
        for z in 0..BLOCKS {
            let low = position(slab * BLOCK, y * BLOCK, z * BLOCK);
            let (depth, nearest) = object.depth(low + EXTENT * 0.5, hint);
            hint = Some(nearest.triangle);
            out.extend((0..IN_BLOCK).map(|index| {
                if depth >= diagonal {
                    return 0.0;
                }
                if -depth - diagonal > FAR {
                    return -depth as f32;
                }
                let (out, nearest) = object.out(low + offset(index), hint);
                hint = Some(nearest.triangle);
                out as f32
            }));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sphere_tree::object::Object;
    use space::workload::Random;

    #[test]
    fn blocks_find_what_a_loop_over_all_nodes_finds() {
        let mesh = crate::mesh::catalog::shape("vessel").unwrap();
        let vertices = mesh.wide_vertices();
        let field = DistanceField::new(&Object::new(&vertices, mesh.triangles()).unwrap());
        let nodes: Vec<(DVec3, f64)> = (0..field.out.len())
            .map(|index| {
                let (block, within) = (index / IN_BLOCK, index % IN_BLOCK);
                let low = [block / (BLOCKS * BLOCKS), block / BLOCKS % BLOCKS, block % BLOCKS].map(|at| at * BLOCK);
                (position(low[0], low[1], low[2]) + offset(within), f64::from(field.out[index]))
            })
            .collect();
        let farthest = |center: DVec3, radius: f64| {
            let within = nodes.iter().filter(|(node, _)| node.distance_squared(center) <= radius * radius);
            within.map(|(_, out)| *out).fold(0.0, f64::max)
        };
        for seed in 0..30 {
            let mut random = Random::new(seed);
            let center = random.in_ball().as_dvec3() * 1.4;
            let mut steps = [0.0; 7];
            let step = f64::from(random.between(0.02, 0.2));
            field.farthest_out_by_radius(center, step, &mut steps);
            for (index, out) in steps.into_iter().enumerate() {
                let radius = step * (index + 1) as f64 * (1.0 - 1e-12);
                assert_eq!(out, farthest(center, radius), "seed {seed}, {index}");
                assert_eq!(
                    field.farthest_node(center, radius).map_or(0.0, |found| found.1),
                    out,
                    "seed {seed}, {index}"
                );
            }
        }
    }
}
