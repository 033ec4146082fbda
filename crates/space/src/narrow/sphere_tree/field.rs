//! How far out space is, on a lattice: a quick estimate of how far a ball sticks out of an object that is not convex.

use glam::DVec3;
use rayon::prelude::*;

use super::object::Object;

/// Nodes along an axis.
const NODES: usize = 64;
/// The lattice reaches from minus this to this.
const REACH: f64 = 1.28;
/// Nodes in a block along an axis.
const BLOCK: usize = 4;
/// Whatever is farther out than this need not be known exactly.
const FAR: f64 = 0.75;

/// From this radius on, not every row of nodes is looked at.
const LARGE: f64 = 8.0 * Field::PITCH;

/// Distances out of an object, on a lattice around it.
#[derive(Clone, Debug)]
pub struct Field {
    out: Vec<f32>,
}

impl Field {
    /// The distance between two nodes.
    pub const PITCH: f64 = 2.0 * REACH / (NODES - 1) as f64;

    /// Measures at every node that matters.
    pub fn new(object: &Object) -> Field {
        let slabs: Vec<Vec<f32>> = (0..NODES / BLOCK).into_par_iter().map(|slab| measure_slab(object, slab)).collect();
        Field { out: slabs.concat() }
    }

    /// For balls of growing radius around one centre, `steps` of them, the largest distance of a node in each. Only every
    /// `stride`th node is looked at.
    pub fn farthest_out_by_radius(&self, center: DVec3, stride: usize, step: f64, steps: &mut [f64]) {
        let radius = step * steps.len() as f64;
        let range = |value: f64| {
            let index = |value: f64| ((value + REACH) / Self::PITCH).clamp(0.0, NODES as f64) as usize;
            (index(value - radius).next_multiple_of(stride)..index(value + radius)).step_by(stride)
        };
        steps.fill(0.0);
        let place = |index: usize| index as f64 * Self::PITCH - REACH;
        for x in range(center.x) {
            let dx = (place(x) - center.x).powi(2);
            for y in range(center.y) {
                let dy = dx + (place(y) - center.y).powi(2);
                if dy >= radius * radius {
                    continue;
                }
                for z in range(center.z) {
                    let squared = dy + (place(z) - center.z).powi(2);
                    let out = f64::from(self.out[(x * NODES + y) * NODES + z]);
                    let at = (squared.sqrt() / step) as usize;
                    if let Some(known) = steps.get_mut(at).filter(|known| **known < out) {
                        *known = out;
                    }
                }
            }
        }
        for index in 1..steps.len() {
            steps[index] = steps[index].max(steps[index - 1]);
        }
    }

    /// The node in the ball that is farthest out, and how far; `None` if there is none. In a large ball every other plane
    /// and row of nodes is enough to begin with.
    pub fn farthest_node(&self, center: DVec3, radius: f64) -> Option<(DVec3, f64)> {
        let index = |value: f64| (value + REACH) / Self::PITCH;
        let range = |low: f64, high: f64| {
            let from = index(low).ceil().max(0.0) as usize;
            let to = index(high).floor().min((NODES - 1) as f64);
            from..if to < 0.0 { 0 } else { to as usize + 1 }
        };
        let stride = if radius > LARGE { 2 } else { 1 };
        let mut farthest = (0.0_f32, None);
        for x in range(center.x - radius, center.x + radius).step_by(stride) {
            let dx = x as f64 * Self::PITCH - REACH - center.x;
            let left = radius * radius - dx * dx;
            if left < 0.0 {
                continue;
            }
            let wide = left.sqrt();
            for y in range(center.y - wide, center.y + wide).step_by(stride) {
                let dy = y as f64 * Self::PITCH - REACH - center.y;
                let left = left - dy * dy;
                if left < 0.0 {
                    continue;
                }
                let long = left.sqrt();
                let row = (x * NODES + y) * NODES;
                let range = range(center.z - long, center.z + long);
                if range.start >= range.end {
                    continue;
                }
                let nodes = &self.out[row + range.start..row + range.end];
                let most = nodes.iter().copied().fold(0.0, f32::max);
                if most > farthest.0 {
                    let z = range.start + nodes.iter().position(|&out| out == most).unwrap_or(0);
                    farthest = (most, Some(position(x, y, z)));
                }
            }
        }
        farthest.1.map(|node| (node, f64::from(farthest.0)))
    }
}

fn position(x: usize, y: usize, z: usize) -> DVec3 {
    DVec3::new(x as f64, y as f64, z as f64) * Field::PITCH - REACH
}

fn measure_slab(object: &Object, slab: usize) -> Vec<f32> {
    let mut out = vec![0.0; BLOCK * NODES * NODES];
    let half = (BLOCK - 1) as f64 * 0.5;
    let diagonal = half * 3.0_f64.sqrt() * Field::PITCH;
    let mut hint = None;
    for block_y in 0..NODES / BLOCK {
        for block_z in 0..NODES / BLOCK {
            let corner = [slab * BLOCK, block_y * BLOCK, block_z * BLOCK];
            let center = position(corner[0], corner[1], corner[2]) + half * Field::PITCH;
            let (depth, nearest) = object.depth(center, hint);
            hint = Some(nearest.triangle);
            for x in 0..BLOCK {
                for y in 0..BLOCK {
                    for z in 0..BLOCK {
                        let value = if depth >= diagonal {
                            0.0
                        } else if -depth - diagonal > FAR {
                            -depth
                        } else {
                            let node = position(corner[0] + x, corner[1] + y, corner[2] + z);
                            let (out, nearest) = object.out(node, hint);
                            hint = Some(nearest.triangle);
                            out
                        };
                        out[(x * NODES + corner[1] + y) * NODES + corner[2] + z] = value as f32;
                    }
                }
            }
        }
    }
    out
}
