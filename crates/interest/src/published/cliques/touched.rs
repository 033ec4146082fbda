//! The objects whose relations may have changed.
//!
//! The relations of an object, those of which it is the lowest member, depend on its neighbours and on the pairs among
//! them, except pairs of two earlier ones. So a pair that begins or ends touches its two ends, and the objects that
//! overlap both and are before the later end. An object that no longer overlaps both is an end of another pair.
//!
//! ```text
//! a ┄┄┄ b     a new pair a-b, a < b, touches a, which may gain relations,
//!  ╲   ╱      b, and each common neighbour c < b; those after a may only lose relations
//!    c
//! ```
//!
//! Most of them need not be searched:
//! - In a crowd most objects have no relations, as an earlier neighbour overlaps all their later ones. That *witness*
//!   is kept. It is valid until its pair with the object or with one of its later neighbours ends, or the object gets a
//!   later neighbour that the witness does not overlap.
//! - A new pair can only remove relations of common neighbours between the two ends and of the later end. Such an
//!   object is left out if it has none; and its search cannot take more work than before.
//!
//! A search among more than 64 neighbours uses all pairs of these, so it is touched by each end among them. An end with
//! that many neighbours, a *dense* one, touches all of them.

use space::bits::Bits;
use space::{Pair, Slot};

use super::narrow::WORD;
use crate::Graph;

/// The objects that the last changes touch.
#[derive(Debug, Default)]
pub struct Touched {
    /// The notes on each row, as the bits below.
    notes: Vec<u8>,
    /// The witness of each row, or `NONE`. A dense object has none.
    witnesses: Vec<u32>,
    /// The objects that may lose or gain relations, and those of them that are searched last.
    slots: Vec<Slot>,
    put_off: Vec<Slot>,
    /// The objects with more than 64 neighbours.
    dense: Bits,
    dense_len: usize,
    /// Scratch: the ends of pairs that changed.
    ends: Bits,
}

const MAY_LOSE: u8 = 1;
const MAY_GAIN: u8 = 2;
/// It is searched last.
const PUT_OFF: u8 = 4;
/// It is a neighbour of the end that is treated.
const NEAR: u8 = 8;

const NONE: u32 = u32::MAX;

impl Touched {
    /// Notes the objects that the graph's last changes touch.
    pub fn follow(&mut self, graph: &Graph) {
        self.start(graph);
        self.fetch(graph);
        for (changes, has_ended) in [(graph.ended(), true), (graph.began(), false)] {
            for same in changes.chunk_by(|one, other| one.a() == other.a()) {
                self.note_ends(same, has_ended, graph);
            }
        }
        if self.dense_len > 0 {
            self.note_around_dense(graph);
        }
    }

    /// Notes all objects of a graph that was not followed.
    pub fn begin_anew(&mut self, graph: &Graph) {
        *self = Touched::default();
        self.start(graph);
        for slot in (0..graph.rows() as u32).map(Slot::new) {
            if !graph.neighbours(slot).is_empty() {
                self.count_dense(slot, graph);
                self.note(slot, MAY_GAIN);
            }
        }
    }

    /// Notes an object.
    pub fn add(&mut self, slot: Slot) {
        self.note(slot, MAY_GAIN);
    }

    /// Sets the witness that an object has no relations.
    #[inline]
    pub fn set_witness(&mut self, slot: Slot, witness: Option<Slot>) {
        self.witnesses[slot.row()] = witness.map_or(NONE, Slot::number);
    }

    /// Notes an object that is to be searched last.
    pub fn put_off(&mut self, slot: Slot) {
        self.note(slot, MAY_GAIN | PUT_OFF);
        self.witnesses[slot.row()] = NONE;
    }

    /// Leaves out objects that can only lose relations and have none.
    pub fn leave_out(&mut self, has_none: impl Fn(Slot) -> bool) {
        let Touched { notes, slots, put_off, .. } = self;
        slots.retain(|&slot| {
            let noted = std::mem::take(&mut notes[slot.row()]);
            if noted & PUT_OFF != 0 {
                put_off.push(slot);
                return false;
            }
            noted & MAY_GAIN != 0 || !has_none(slot)
        });
    }

    /// The noted objects, each once, without those that are searched last.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    pub fn slots_put_off(&self) -> &[Slot] {
        &self.put_off
    }

    fn start(&mut self, graph: &Graph) {
        self.slots.clear();
        self.put_off.clear();
        if self.notes.len() < graph.rows() {
            self.notes.resize(graph.rows(), 0);
            self.witnesses.resize(graph.rows(), NONE);
        }
    }

    /// Prefetches notes and witnesses of the ends.
    fn fetch(&self, graph: &Graph) {
        let ends = graph.ended().iter().chain(graph.began()).flat_map(|pair| [pair.a(), pair.b()]);
        let known = ends.map(|end| self.witnesses[end.row()].wrapping_add(u32::from(self.notes[end.row()])));
        std::hint::black_box(known.fold(0, u32::wrapping_add));
    }

    #[inline]
    fn note(&mut self, slot: Slot, note: u8) {
        let notes = &mut self.notes[slot.row()];
        if *notes & (MAY_LOSE | MAY_GAIN) == 0 {
            self.slots.push(slot);
        }
        *notes |= note;
    }

    /// Updates whether an end is dense.
    #[inline]
    fn count_dense(&mut self, slot: Slot, graph: &Graph) {
        let is_dense = graph.neighbours(slot).len() > WORD;
        if is_dense != self.dense.contains(slot.row()) {
            self.witnesses[slot.row()] = NONE;
            if is_dense {
                self.dense.insert(slot.row());
                self.dense_len += 1;
            } else {
                self.dense.remove(slot.row());
                self.dense_len -= 1;
            }
        }
    }

    /// Notes the ends of pairs with the same first end, and the common neighbours of both ends.
    fn note_ends(&mut self, same: &[Pair], has_ended: bool, graph: &Graph) {
        let first = same[0].a();
        self.note_first(first, same, has_ended, graph);
        let near = graph.neighbours(first);
        let near = if near.len() > WORD { &[] } else { near };
        near.iter().for_each(|other| self.notes[other.row()] |= NEAR);
        for second in same.iter().map(|pair| pair.b()) {
            self.count_dense(second, graph);
            self.note_later(second, first, has_ended);
            let theirs = graph.neighbours(second);
            if theirs.len() > WORD {
                continue;
            }
            for &other in theirs.iter().take_while(|&&other| other < second) {
                if self.notes[other.row()] & NEAR != 0 {
                    self.note_later(other, first, has_ended);
                }
            }
        }
        near.iter().for_each(|other| self.notes[other.row()] &= !NEAR);
    }

    /// Notes the first end of some pairs, whose later neighbours changed.
    fn note_first(&mut self, first: Slot, pairs: &[Pair], has_ended: bool, graph: &Graph) {
        self.count_dense(first, graph);
        let witness = self.witnesses[first.row()];
        let is_valid = witness != NONE && {
            let theirs = graph.neighbours(Slot::new(witness));
            has_ended || pairs.iter().all(|pair| theirs.binary_search(&pair.b()).is_ok())
        };
        if !is_valid {
            self.note(first, MAY_GAIN);
        }
    }

    /// Notes the second end of a pair, or a common neighbour.
    #[inline]
    fn note_later(&mut self, slot: Slot, first: Slot, has_ended: bool) {
        let witness = self.witnesses[slot.row()];
        if witness == NONE {
            self.note(slot, if has_ended || slot < first { MAY_GAIN } else { MAY_LOSE });
        } else if has_ended && witness == first.number() {
            self.note(slot, MAY_GAIN);
        }
    }

    /// Notes all neighbours of dense ends, and dense neighbours of all ends.
    fn note_around_dense(&mut self, graph: &Graph) {
        let mut ends = std::mem::take(&mut self.ends);
        for pair in graph.ended().iter().chain(graph.began()) {
            ends.insert(pair.a().row());
            ends.insert(pair.b().row());
        }
        for row in ends.iter() {
            let is_dense = self.dense.contains(row);
            for &other in graph.neighbours(Slot::new(row as u32)) {
                if is_dense || self.dense.contains(other.row()) {
                    self.note(other, MAY_GAIN);
                }
            }
        }
        ends.clear();
        self.ends = ends;
    }
}
