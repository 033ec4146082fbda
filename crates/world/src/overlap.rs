//! Checks for overlaps, independent of how worlds are settled.

use shapes::{Pose, exact};
use space::{ObjectId, Turn};

use crate::objects::{Collider, EXACT, SOLID};
use crate::scenery::ColumnGrid;
use crate::settle::CLOSEST_M;
use crate::world::World;

/// A body, the index of its shape, and its turn.
pub(crate) type Shaped<'a> = (&'a Collider, u32, Turn);

impl World {
    /// Two solids that overlap, if there are any, by brute force. Upright solids are compared in integers; hulls,
    /// meshes and turned boxes must be half the skin apart.
    pub fn first_overlap(&self) -> Option<(ObjectId, ObjectId)> {
        let rows = &self.objects.by_id;
        for (index, &(id, row)) in rows.iter().enumerate() {
            let one = self.objects.shaped(row);
            if !one.0.is(SOLID) {
                continue;
            }
            for &(other_id, other) in &rows[index + 1..] {
                let other = self.objects.shaped(other);
                if other.0.is(SOLID) && self.overlaps(one, other) {
                    return Some((id, other_id));
                }
            }
            for index in 0..self.scenery.body.len() {
                let other = self.scenery.shaped(index);
                if other.0.is(SOLID) && self.overlaps(one, other) {
                    return Some((id, self.scenery.id[index]));
                }
            }
        }
        None
    }

    /// As [`first_overlap`](World::first_overlap), but compares near objects only, for large worlds.
    pub fn overlap_near(&self) -> Option<(ObjectId, ObjectId)> {
        let mut columns = ColumnGrid::over(self.grid.low(), self.grid.high(), self.len());
        let block_of = |row: u32| self.objects.body[row as usize].block().grown(4);
        let blocks: Vec<_> = self.objects.by_id.iter().map(|&(_, row)| (row, block_of(row))).collect();
        columns.fill(&blocks);
        for &(id, row) in &self.objects.by_id {
            let one = self.objects.shaped(row);
            if !one.0.is(SOLID) {
                continue;
            }
            let mut found = None;
            columns.visit(&block_of(row), block_of, |other| {
                let (other_id, other) = (self.objects.name(other), self.objects.shaped(other));
                if other_id > id && other.0.is(SOLID) && self.overlaps(one, other) {
                    found = found.or(Some(other_id));
                }
            });
            self.scenery.near(&block_of(row), |index| {
                let other = self.scenery.shaped(index as usize);
                if other.0.is(SOLID) && self.overlaps(one, other) {
                    found = found.or(Some(self.scenery.id[index as usize]));
                }
            });
            if let Some(other) = found {
                return Some((id, other));
            }
        }
        None
    }

    pub(crate) fn overlaps(&self, (a, a_shape, a_turn): Shaped<'_>, (b, b_shape, b_turn): Shaped<'_>) -> bool {
        if (a.flags | b.flags) & EXACT == 0 {
            return a.solid.overlaps(a.at, b.solid, b.at);
        }
        if !a.block().grown(4).meets(&b.block()) {
            return false;
        }
        let pose = |body: &Collider, turn: Turn| Pose::new(body.at.position(), turn.quat());
        let (a_shape, b_shape) = (&self.shapes[a_shape as usize], &self.shapes[b_shape as usize]);
        // The narrow phase may round differently with its arguments exchanged.
        exact::distance(a_shape, &pose(a, a_turn), b_shape, &pose(b, b_turn)) < CLOSEST_M - 1e-5
    }
}
