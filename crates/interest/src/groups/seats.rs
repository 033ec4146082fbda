//! Who sits where, of those who have no home: which circle of this tick an object is in, and what is new about it.
//!
//! Invariants:
//! - Circles have rising numbers, and those of a tick are above those before it.
//! - What is new about an object is valid if it is of this tick; its pairs follow each other, from where the seat says.

use space::{Pair, Slot};

use crate::Graph;

/// A seat for every object.
#[derive(Clone, Debug, Default)]
pub struct Seats {
    seats: Vec<Seat>,
    /// For each pair that began, the one before it with the same second object.
    links: Vec<u32>,
    tick: u32,
    /// The circle that is being seated, and the last one of the tick before.
    circle: u32,
    last_before: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seat {
    circle: u32,
    /// Whether that is too large.
    is_sent_away: bool,
    /// The tick of the news: where the pairs begin that ended, and that began, with this object as their first, and the
    /// last pair that began with it as the second.
    tick: u32,
    ended: u32,
    began: u32,
    joined: u32,
}

/// No pair.
const NONE: u32 = u32::MAX;

impl Seats {
    /// From here on nobody is seated.
    pub fn start(&mut self, rows: usize) {
        self.tick = self.tick.wrapping_add(1);
        if self.tick == 0 || self.circle > u32::MAX / 2 {
            self.seats.iter_mut().for_each(|seat| (seat.tick, seat.circle) = (0, 0));
            (self.tick, self.circle) = (1, 0);
        }
        self.last_before = self.circle;
        if self.seats.len() < rows {
            self.seats.resize(rows, Seat::default());
        }
    }

    /// Takes in what is new.
    pub fn take_in(&mut self, graph: &Graph) {
        for (index, pair) in graph.ended().iter().enumerate() {
            let seat = self.renew(pair.a());
            seat.ended = seat.ended.min(index as u32);
            self.renew(pair.b());
        }
        self.links.clear();
        for (index, pair) in graph.began().iter().enumerate() {
            let seat = self.renew(pair.a());
            seat.began = seat.began.min(index as u32);
            let link = std::mem::replace(&mut self.renew(pair.b()).joined, index as u32);
            self.links.push(link);
        }
    }

    /// From here on another circle is being seated.
    pub fn start_circle(&mut self) {
        self.circle += 1;
    }

    /// Whether somebody has been looked at in this tick.
    pub fn is_seated(&self, slot: Slot) -> bool {
        self.seats[slot.row()].circle > self.last_before
    }

    /// Whether somebody is in a circle of this tick.
    pub fn is_in_circle(&self, slot: Slot) -> bool {
        self.seats.get(slot.row()).is_some_and(|seat| seat.circle > self.last_before && !seat.is_sent_away)
    }

    /// Adds somebody to those of the circle, unless he is in. Says no if there are more than `most`, or if he is in
    /// another one, which then was too large.
    #[inline]
    pub fn sit(&mut self, slot: Slot, circle: &mut Vec<Slot>, most: usize) -> bool {
        let seat = &mut self.seats[slot.row()];
        if seat.circle == self.circle {
            return true;
        }
        if seat.circle > self.last_before || circle.len() == most {
            return false;
        }
        (seat.circle, seat.is_sent_away) = (self.circle, false);
        circle.push(slot);
        true
    }

    /// Adds everybody with whom somebody has a pair that began, likewise.
    #[inline]
    pub fn sit_with(&mut self, slot: Slot, began: &[Pair], circle: &mut Vec<Slot>, most: usize) -> bool {
        let seat = self.seats[slot.row()];
        if seat.tick != self.tick {
            return true;
        }
        let mut next = seat.joined;
        while let Some(pair) = began.get(next as usize) {
            if !self.sit(pair.a(), circle, most) {
                return false;
            }
            next = self.links[next as usize];
        }
        self.began(slot, began).iter().all(|pair| self.sit(pair.b(), circle, most))
    }

    /// The pairs that began with this object as their first.
    #[inline]
    pub fn began<'a>(&self, slot: Slot, began: &'a [Pair]) -> &'a [Pair] {
        let seat = &self.seats[slot.row()];
        run(slot, if seat.tick == self.tick { seat.began } else { NONE }, began)
    }

    /// The pairs that ended with this object as their first.
    #[inline]
    pub fn ended<'a>(&self, slot: Slot, ended: &'a [Pair]) -> &'a [Pair] {
        let seat = &self.seats[slot.row()];
        run(slot, if seat.tick == self.tick { seat.ended } else { NONE }, ended)
    }

    /// How many ticks there have been, for what is to be done now and then.
    pub fn tick(&self) -> u32 {
        self.tick
    }

    /// Notes that the circle of some objects is too large.
    pub fn send_away(&mut self, circle: &[Slot]) {
        circle.iter().for_each(|slot| self.seats[slot.row()].is_sent_away = true);
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.seats.capacity() * size_of::<Seat>() + 4 * self.links.capacity()
    }

    #[inline]
    fn renew(&mut self, slot: Slot) -> &mut Seat {
        let seat = &mut self.seats[slot.row()];
        if seat.tick != self.tick {
            (seat.tick, seat.ended, seat.began, seat.joined) = (self.tick, NONE, NONE, NONE);
        }
        seat
    }
}

/// The pairs from a place on that have this object as their first.
#[inline]
fn run(first: Slot, start: u32, pairs: &[Pair]) -> &[Pair] {
    let rest = pairs.get(start as usize..).unwrap_or(&[]);
    let mut len = 0;
    while len < rest.len() && rest[len].a() == first {
        len += 1;
    }
    &rest[..len]
}
