//! A uniform grid over x and z: each cell lists the listeners that may hear an object in it.
//!
//! Invariant: squares are rounded outward, and the number of a cell never falls as a coordinate rises, so that no
//! listener is missing from a cell.

use space::{Buckets, Vec3};

/// An object that hears.
#[derive(Clone, Copy, Debug)]
pub struct Listener {
    pub center: Vec3,
    /// Its focus, plain and times the hysteresis.
    pub plain: f32,
    pub wide: f32,
    pub row: u32,
}

#[derive(Debug, Default)]
pub struct ListenerGrid {
    low: [f32; 2],
    per_metre: f32,
    counts: [usize; 2],
    /// Places among the listeners.
    cells: Buckets<u32>,
}

/// Cells along an edge, at most.
const CELLS_MAX: f32 = 512.0;

impl ListenerGrid {
    /// Lists all listeners. `nimbus` is the distance beyond its focus at which a listener may hear an object.
    pub fn fill(&mut self, listeners: &[Listener], nimbus: f32) {
        let (mut low, mut high, mut reach_max) = ([f32::INFINITY; 2], [f32::NEG_INFINITY; 2], 0f32);
        for listener in listeners {
            let (from, to) = listener.square(nimbus);
            reach_max = reach_max.max(listener.wide + nimbus);
            for axis in 0..2 {
                low[axis] = low[axis].min(from[axis]);
                high[axis] = high[axis].max(to[axis]);
            }
        }
        // Half a reach: listeners are in more cells if cells are finer, and objects meet more listeners if coarser.
        let extent = (high[0] - low[0]).max(high[1] - low[1]);
        let edge = (0.5 * reach_max).max(extent / CELLS_MAX);
        let per_metre = if edge > 0.0 { 1.0 / edge } else { 0.0 };
        let counts = [0, 1]
            .map(|axis| if listeners.is_empty() { 0 } else { ((high[axis] - low[axis]) * per_metre) as usize + 1 });
        let cell = move |place: f32, axis: usize| (((place - low[axis]) * per_metre) as usize).min(counts[axis] - 1);
        let items = listeners.iter().zip(0u32..).flat_map(move |(listener, number)| {
            let (from, to) = listener.square(nimbus);
            let (along, across) = (cell(from[0], 0)..=cell(to[0], 0), cell(from[1], 1)..=cell(to[1], 1));
            across.flat_map(move |z| along.clone().map(move |x| (z * counts[0] + x, number)))
        });
        self.cells.fill(counts[0] * counts[1], items);
        (self.low, self.per_metre, self.counts) = (low, per_metre, counts);
    }

    /// The listeners that may hear an object at a place.
    #[inline]
    pub fn at(&self, x: f32, z: f32) -> &[u32] {
        let (along, across) = ((x - self.low[0]) * self.per_metre, (z - self.low[1]) * self.per_metre);
        let is_within = |cells: f32, count: usize| (cells >= 0.0) & (cells < count as f32);
        if !(is_within(along, self.counts[0]) & is_within(across, self.counts[1])) {
            return &[];
        }
        self.cells.get(across as usize * self.counts[0] + along as usize)
    }
}

impl Listener {
    /// The ground on which it may hear objects, rounded outward by more than the test of distances can round.
    fn square(&self, nimbus: f32) -> ([f32; 2], [f32; 2]) {
        let reach = (self.wide + nimbus) * (1.0 + 1e-5);
        let side = |place: f32| (place - reach - 1e-6 * place.abs(), place + reach + 1e-6 * place.abs());
        let (x, z) = (side(self.center.x), side(self.center.z));
        ([x.0, z.0], [x.1, z.1])
    }
}
