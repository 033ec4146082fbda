//! Where some rows were in the last tick, to tell how they move before there are courses.

use std::ops::Range;

use crate::Vec3;

use crate::{Columns, Spheres};

/// Where some rows were in the last tick.
#[derive(Debug, Default)]
pub struct Anchors {
    /// The first of the rows.
    first: usize,
    places: Vec<Vec3>,
}

impl Anchors {
    /// Notes where these rows are, and forgets all others.
    pub fn note(&mut self, spheres: &Spheres, rows: Range<usize>) {
        let columns = spheres.columns();
        self.first = rows.start;
        self.places.clear();
        self.places.extend(rows.map(|row| columns.sphere(row).center));
    }

    /// How far a row got since then; nowhere if that is not known.
    pub fn step(&self, row: usize, columns: Columns<'_>) -> Vec3 {
        match row.checked_sub(self.first).and_then(|index| self.places.get(index)) {
            Some(place) if place.is_finite() => columns.sphere(row).center - *place,
            _ => Vec3::ZERO,
        }
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.places.capacity() * size_of::<Vec3>()
    }
}
