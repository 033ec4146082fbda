//! Flight plans: the line along which each object is predicted to move, and how far off it the object may be.
//!
//! Most motion is smooth for tens of ticks. An object keeps to its flight plan while it is within the plan's *slack* of
//! the line, and whatever is derived from plans holds while they are kept. So every plan is checked in every tick, and
//! an object that departed from its plan is found before any pair is reported.
//!
//! Invariants:
//! - After [`FlightPlans::check`], every row with a plan that was not named is within its slack of its line.
//! - A plan is the same line, to within [`drift`], whichever tick it is evaluated at.
//! - A row without an object is expected nowhere (NaN) and never departs.

use rayon::prelude::*;

use super::tolerance::{Departure, Tolerance, bent};
use crate::bits::Bits;
use crate::simd::stray::{Lines, Places, strayed};
use crate::{Columns, Spheres, Vec3, fetch_ahead};

/// The flight plans of all rows, in blocks of eight.
#[derive(Debug, Default)]
pub struct FlightPlans {
    blocks: Vec<Lines>,
    /// Rows whose plan has a velocity: they are checked even if the object did not move.
    moving: Bits,
    /// The plans that a row has had, modulo 256. What was computed under another version is void.
    versions: Vec<u8>,
    made_at: Vec<u8>,
    tolerances: Vec<u8>,
    /// The tick of the last check: a tick that is checked twice moves no reference twice.
    checked_at: u64,
    /// Scratch: the departed rows of each piece that a thread checks.
    departed: Vec<Vec<u32>>,
}

/// A flight plan, evaluated at one tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlightPlan {
    pub place: Vec3,
    pub velocity: Vec3,
    pub slack: f32,
}

/// A better plan for an object that kept to its own.
#[derive(Clone, Copy, Debug)]
pub struct Refinement {
    pub id: u32,
    pub plan: FlightPlan,
    tolerance: Tolerance,
}

/// A block's reference tick moves on every 256 ticks, so that products of velocity and time stay small.
pub const REFERENCE_TICKS: u64 = 256;

/// Ages are known modulo 256: an older plan is made anew when its tile is renewed.
const AGE_MAX: u64 = 256;
/// A renewal refines one plan in `REFINE_EVERY`. All plans at every fourth renewal would be as much work, in fewer
/// ticks.
pub const REFINE_EVERY: u64 = 4;
const AGE_TO_REFINE: u64 = 4;

const NOWHERE: Lines = Lines {
    x: [f32::NAN; 8],
    y: [f32::NAN; 8],
    z: [f32::NAN; 8],
    vx: [0.0; 8],
    vy: [0.0; 8],
    vz: [0.0; 8],
    slack2: [0.0; 8],
};

/// How far two evaluations of one plan, or a few sums and differences of them, can differ by rounding for coordinates
/// of at most `extent`.
pub fn drift(extent: f32) -> f32 {
    extent * (16.0 * f32::EPSILON) + LEAST
}

/// Squares of smaller distances vanish in `f32`.
const LEAST: f32 = 1e-18;

impl FlightPlans {
    pub fn reset(&mut self, rows: usize, now: u64, tolerance: Tolerance) {
        self.checked_at = now;
        self.blocks.clear();
        self.moving.clear();
        self.versions.clear();
        self.made_at.clear();
        self.tolerances.clear();
        self.tolerances.resize(rows, tolerance.to_byte());
        self.grow(rows);
    }

    /// Makes room for rows that were added to the world.
    pub fn grow(&mut self, rows: usize) {
        if rows > self.versions.len() {
            self.blocks.resize(rows.div_ceil(8), NOWHERE);
            self.moving.grow(rows);
            self.versions.resize(rows, 0);
            self.made_at.resize(rows, 0);
            self.tolerances.resize(rows, 0);
        }
    }

    /// Adds to `found`, ascending, the rows that departed from their plans by tick `now`.
    ///
    /// Only rows that moved or were expected to are looked at: the others cost one bit each.
    pub fn check(&mut self, now: u64, spheres: &Spheres, threads: usize, found: &mut Vec<u32>) {
        let moving = self.moving.words();
        let is_first = std::mem::replace(&mut self.checked_at, now) != now;
        if threads < 2 {
            check_words(&mut self.blocks, 0, moving, (now, is_first), spheres, found);
            return;
        }
        // The pieces are put together in order, so any cut gives the same list.
        self.departed.resize_with(self.blocks.len().div_ceil(PIECE_WORDS * WORD), Vec::new);
        let pieces = self.blocks.par_chunks_mut(PIECE_WORDS * WORD).zip(&mut self.departed).enumerate();
        pieces.with_max_len(1).for_each(|(index, (blocks, departed))| {
            check_words(blocks, index * PIECE_WORDS, moving, (now, is_first), spheres, departed);
        });
        for departed in &mut self.departed {
            found.append(departed);
        }
    }

    /// A row's plan as seen `ahead` ticks after `now`, which is the tick of the last check.
    pub fn at(&self, row: u32, now: u64, ahead: f32) -> FlightPlan {
        let (block, lane) = (row as usize / 8, row as usize % 8);
        let lines = &self.blocks[block];
        let velocity = Vec3::new(lines.vx[lane], lines.vy[lane], lines.vz[lane]);
        let time = ticks_since_reference(block, now) as f32 + ahead;
        let place = Vec3::new(lines.x[lane], lines.y[lane], lines.z[lane]) + velocity * time;
        FlightPlan { place, velocity, slack: lines.slack2[lane].sqrt() * SLACK_ROUNDING }
    }

    /// Gives a row a plan that is at `plan.place` at tick `now`.
    pub fn set(&mut self, row: u32, now: u64, plan: FlightPlan) {
        self.write(row, now, plan);
        self.outdate(row);
    }

    /// Makes a new plan for an object that departed from its own. A new object has none that says anything about it.
    pub fn replan(&mut self, row: u32, now: u64, columns: Columns<'_>, is_new: bool) {
        let sphere = columns.sphere(row as usize);
        let old = self.at(row, now, 0.0);
        let (tolerance, velocity) = if is_new || !old.place.is_finite() {
            (Tolerance::new(0), Vec3::ZERO)
        } else {
            Tolerance::from_byte(self.tolerances[row as usize]).after_departure(Departure {
                place: sphere.center,
                expected: old.place,
                velocity: old.velocity,
                slack: old.slack,
                age: self.age(row, now).max(1),
            })
        };
        self.tolerances[row as usize] = tolerance.to_byte();
        let plan =
            stationary(FlightPlan { place: sphere.center, velocity, slack: tolerance.slack(sphere.radius, velocity) });
        self.set(row, now, plan);
    }

    /// Whether it is time to look for a better plan for an object whose tile is renewed at `now` for `life` ticks.
    /// `round` differs from renewal to renewal.
    #[inline]
    pub fn is_refinable(&self, id: u32, now: u64, life: u64, round: u64) -> bool {
        let age = self.known_age(id, now);
        let level = Tolerance::from_byte(self.tolerances[id as usize]).level();
        let is_its_turn = level > 0 || (round + u64::from(id)).is_multiple_of(REFINE_EVERY);
        (is_its_turn || age + life > AGE_MAX) && age >= AGE_TO_REFINE
    }

    /// A better plan for an object that is [refinable](FlightPlans::is_refinable). Nothing that was derived from the
    /// old plan reaches beyond this tick.
    pub fn refined(&self, id: u32, now: u64, columns: Columns<'_>) -> Option<Refinement> {
        let tolerance = Tolerance::from_byte(self.tolerances[id as usize]);
        let age = self.known_age(id, now);
        let old = self.at(id, now, 0.0);
        if old.velocity == Vec3::ZERO {
            return None;
        }
        let sphere = columns.sphere(id as usize);
        let off = sphere.center - old.place;
        let tolerance = tolerance.after_keeping(off.length_squared().sqrt(), old.slack);
        let velocity = bent(old.velocity, off, age as f32);
        let slack = tolerance.slack(sphere.radius, velocity);
        Some(Refinement { id, plan: FlightPlan { place: sphere.center, velocity, slack }, tolerance })
    }

    /// Writes a better plan down at the tick for which it was made. It is no new version.
    pub fn refine(&mut self, now: u64, Refinement { id, plan, tolerance }: Refinement) {
        self.tolerances[id as usize] = tolerance.to_byte();
        self.write(id, now, plan);
    }

    /// Voids what was computed under a row's version, though the line stays.
    pub fn outdate(&mut self, row: u32) {
        self.versions[row as usize] = self.versions[row as usize].wrapping_add(1);
    }

    /// Removes the plan of a row whose object is gone.
    pub fn clear(&mut self, row: u32) {
        self.set(row, 0, FlightPlan { place: Vec3::NAN, velocity: Vec3::ZERO, slack: 0.0 });
    }

    pub fn versions(&self) -> &[u8] {
        &self.versions
    }

    #[inline]
    pub fn fetch(&self, row: u32, Columns { x, y, z, radius }: Columns<'_>) {
        [x, y, z, radius].into_iter().filter_map(|column| column.get(row as usize)).for_each(fetch_ahead);
        // A block is four cache lines: every other column begins one.
        let Lines { x, z, vy, slack2, .. } = &self.blocks[row as usize / 8];
        [x, z, vy, slack2].into_iter().for_each(fetch_ahead);
    }

    /// Begins to fetch what says whether a plan is to be refined.
    #[inline]
    pub fn fetch_age(&self, row: u32) {
        fetch_ahead(&self.tolerances[row as usize]);
        fetch_ahead(&self.made_at[row as usize]);
    }

    /// How many ticks ago a row's plan was made, modulo 256.
    #[inline]
    fn age(&self, row: u32, now: u64) -> u8 {
        (now as u8).wrapping_sub(self.made_at[row as usize])
    }

    /// The same for a plan that was not made in this tick.
    #[inline]
    fn known_age(&self, row: u32, now: u64) -> u64 {
        match self.age(row, now) {
            0 => AGE_MAX,
            age => u64::from(age),
        }
    }

    fn write(&mut self, row: u32, now: u64, plan: FlightPlan) {
        let (block, lane) = (row as usize / 8, row as usize % 8);
        let time = ticks_since_reference(block, now) as f32;
        let place = plan.place - plan.velocity * time;
        let lines = &mut self.blocks[block];
        [lines.x[lane], lines.y[lane], lines.z[lane]] = place.into();
        [lines.vx[lane], lines.vy[lane], lines.vz[lane]] = plan.velocity.into();
        lines.slack2[lane] = slack2(plan.slack);
        if plan.velocity == Vec3::ZERO {
            self.moving.remove(row as usize);
        } else {
            self.moving.insert(row as usize);
        }
        self.made_at[row as usize] = now as u8;
    }
}

/// An object that stays within its slack for longer than any tile lives is planned to stand.
fn stationary(plan: FlightPlan) -> FlightPlan {
    let stands = plan.velocity.length_squared().sqrt() * super::LOOK_AHEAD as f32 <= plan.slack;
    FlightPlan { velocity: if stands { Vec3::ZERO } else { plan.velocity }, ..plan }
}

/// The check computes a squared distance in `f32`, right to a millionth, so it is given a little less slack.
const SLACK_ROUNDING: f32 = 1.0 + 1e-5;

fn slack2(slack: f32) -> f32 {
    let given = slack / SLACK_ROUNDING;
    given * given
}

/// Blocks move their references at different ticks, so that no tick has to move all of them.
fn ticks_since_reference(block: usize, now: u64) -> u64 {
    now.wrapping_add(block as u64) % REFERENCE_TICKS
}

fn move_reference(lines: &mut Lines) {
    for lane in 0..8 {
        lines.x[lane] += lines.vx[lane] * REFERENCE_TICKS as f32;
        lines.y[lane] += lines.vy[lane] * REFERENCE_TICKS as f32;
        lines.z[lane] += lines.vz[lane] * REFERENCE_TICKS as f32;
    }
}

const WORD: usize = 8;
/// Words that one thread checks in one go: about a megabyte of plans and positions.
const PIECE_WORDS: usize = 512;

/// Checks the blocks that begin with word `first` of the bit sets.
fn check_words(
    blocks: &mut [Lines],
    first: usize,
    moving: &[u64],
    (now, is_first): (u64, bool),
    spheres: &Spheres,
    found: &mut Vec<u32>,
) {
    let columns = spheres.columns();
    let (x, _) = columns.x.as_chunks::<8>();
    let (y, _) = columns.y.as_chunks::<8>();
    let (z, _) = columns.z.as_chunks::<8>();
    let moved = spheres.moved().words();
    for (index, lines) in blocks.chunks_mut(WORD).enumerate() {
        let word = first + index;
        let to_check = moved.get(word).copied().unwrap_or(0) | moving[word];
        if to_check == 0 {
            continue;
        }
        let (start, count) = (word * WORD, lines.len());
        let mut times = [0.0; WORD];
        for block in 0..count {
            let time = ticks_since_reference(start + block, now);
            times[block] = time as f32;
            if time == 0 && is_first && (to_check >> (8 * block)) as u8 != 0 {
                move_reference(&mut lines[block]);
            }
        }
        let blocks = start..start + count;
        let places = Places { x: &x[blocks.clone()], y: &y[blocks.clone()], z: &z[blocks] };
        let mut masks = [0; WORD];
        strayed(lines, &times[..count], places, to_check, &mut masks[..count]);
        let mut departed = u64::from_le_bytes(masks);
        while departed != 0 {
            found.push((word * 64) as u32 + departed.trailing_zeros());
            departed &= departed - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sphere;

    /// A line is the same whichever tick it is evaluated at, for thousands of ticks; and only a departure is found.
    #[test]
    fn only_departures_are_found() {
        let velocity = Vec3::new(0.03, -0.01, 0.002);
        let start = Vec3::new(5.0, 80.0, -3.0);
        let mut spheres = Spheres::new();
        let slots: Vec<_> = (0..20).map(|_| spheres.insert(Sphere::new(start, 1.0)).unwrap()).collect();
        let mut plans = FlightPlans::default();
        plans.grow(spheres.rows());
        for slot in &slots {
            plans.set(slot.number(), 7, FlightPlan { place: start, velocity, slack: 0.01 });
        }
        // A row without an object never departs.
        spheres.remove(slots[7]).unwrap();
        plans.clear(slots[7].number());
        let mut found = Vec::new();
        for now in 8..4_000 {
            spheres.end_tick();
            let here = start + velocity * (now - 7) as f32;
            for slot in slots.iter().filter(|slot| slot.number() != 7) {
                let off = if now == 3_999 && slot.number() == 13 { 0.02 } else { 0.005 };
                spheres.move_to(*slot, here + Vec3::new(0.0, off, 0.0)).unwrap();
            }
            plans.check(now, &spheres, 1 + (now as usize % 2), &mut found);
            assert!(found.is_empty() || now == 3_999, "tick {now}: {found:?}");
            let ahead = plans.at(3, now, 5.0).place - (here + velocity * 5.0);
            assert!(ahead.length() < drift(100.0) * 4.0, "tick {now}: {ahead:?}");
        }
        assert_eq!(found, [13]);
    }
}
