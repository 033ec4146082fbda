//! Spheres as one piece of memory each, for those who look at many of them in no order: four columns would be four pieces.

use rayon::prelude::*;

use crate::simd::apart::apart;
use crate::{Columns, Pair, Sphere, Vec3, fetch_ahead};

/// The spheres of all rows, as they were at some moment.
#[derive(Debug, Default)]
pub struct Packed(Vec<[f32; 4]>);

/// So many rows are packed in one go, by one thread.
const PIECE: usize = 1 << 14;

/// Nobody: overlaps no one.
const NOBODY: [f32; 4] = [f32::NAN; 4];

impl Packed {
    /// Takes all spheres down, by so many threads.
    pub fn take(&mut self, columns: Columns<'_>, threads: usize) {
        let Columns { x, y, z, radius } = columns;
        let rows = |from: usize, to: usize| {
            let places = x[from..to].iter().zip(&y[from..to]).zip(&z[from..to]);
            places.zip(&radius[from..to]).map(|(((&x, &y), &z), &radius)| [x, y, z, radius])
        };
        if threads < 2 {
            self.0.clear();
            self.0.extend(rows(0, x.len()));
            return;
        }
        self.0.resize(x.len(), NOBODY);
        self.0.par_chunks_mut(PIECE).enumerate().for_each(|(index, packed)| {
            let (from, count) = (index * PIECE, packed.len());
            packed.iter_mut().zip(rows(from, from + count)).for_each(|(packed, row)| *packed = row);
        });
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Whether nothing was taken down.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.0.len()
    }

    /// Makes it so many rows; nobody is in new ones.
    pub fn resize(&mut self, rows: usize) {
        self.0.resize(rows, NOBODY);
    }

    /// Takes out who is in a row.
    pub fn remove(&mut self, row: usize) {
        self.0[row] = NOBODY;
    }

    /// Begins to fetch a row.
    #[inline]
    pub fn fetch(&self, row: usize) {
        fetch_ahead(&self.0[row]);
    }

    /// Whether two rows overlap.
    #[inline]
    pub fn overlap(&self, a: u32, b: u32) -> bool {
        let sphere = |row: u32| {
            let [x, y, z, radius] = self.0[row as usize];
            Sphere::new(Vec3::new(x, y, z), radius)
        };
        sphere(a).overlaps(sphere(b))
    }

    /// Adds those of some pairs that do not overlap to a list.
    pub fn apart(&self, pairs: &[Pair], list: &mut Vec<Pair>) {
        apart(&self.0, pairs, |pair| list.push(pair));
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<[f32; 4]>()
    }
}
