//! Where every object is expected: a straight line each, checked against the truth every tick.
//!
//! Most motion is smooth for tens of ticks. A *course* says that an object moves along a line and stays within its
//! *slack* of it. Whatever is derived from courses holds for as long as they do; an object that leaves its course is
//! found in the same tick, before any pair is reported, and gets a new one.
//!
//! Invariants:
//! - After [`Courses::check`], every row with a course that it did not name is within its slack of it.
//! - A course is the same line, to within [`drift`], whichever tick it is evaluated at.
//! - Rows without a course, because nobody is there or nobody follows who is, are expected nowhere (NaN) and never stray.

use crate::Vec3;
use rayon::prelude::*;

use crate::bits::Bits;
use crate::simd::stray::{Lines, Places, strayed};
use crate::{Columns, Spheres, fetch_ahead};

/// The lines of all objects, in the order of the world's rows, in blocks of eight.
#[derive(Debug, Default)]
pub struct Courses {
    blocks: Vec<Lines>,
    /// Rows whose course is not at rest: these are checked even when the object did not move.
    moving: Bits,
    /// Counts a row's courses, modulo 256. What was found with another count no longer holds.
    versions: Vec<u8>,
    /// The tick, modulo 256, at which a row's course was set.
    set_at: Vec<u8>,
    /// The tick of the last check: a tick that is checked twice moves no reference twice.
    checked_at: u64,
    /// Scratch: the rows of each piece that strayed, where threads share a check.
    strayed: Vec<Vec<u32>>,
}

/// One object's line, as seen from one tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Course {
    /// Where the object is expected at that tick.
    pub place: Vec3,
    /// How it moves per tick.
    pub velocity: Vec3,
    /// How far from the line it may be.
    pub slack: f32,
}

/// All of the courses but their versions.
#[derive(Debug)]
pub struct Refiner<'a> {
    blocks: &'a mut [Lines],
    moving: &'a mut Bits,
    set_at: &'a mut [u8],
}

/// After so many ticks a block's reference tick moves on, so that products stay small however long a line lasts.
pub const REFERENCE_TICKS: u64 = 256;

const NOWHERE: Lines = Lines {
    x: [f32::NAN; 8],
    y: [f32::NAN; 8],
    z: [f32::NAN; 8],
    vx: [0.0; 8],
    vy: [0.0; 8],
    vz: [0.0; 8],
    slack2: [0.0; 8],
};

/// How far two evaluations of one course can differ by rounding, and sums and differences of a few of them too, for
/// coordinates of at most `extent`: some units in the last place. And never less than [`LEAST`].
pub fn drift(extent: f32) -> f32 {
    extent * (16.0 * f32::EPSILON) + LEAST
}

/// Distances below this are not told apart: their squares, and those of what moves so little, lose their digits in
/// `f32` or vanish. Far less than the size of anything.
const LEAST: f32 = 1e-18;

impl Courses {
    /// Forgets everything and makes room for `rows` rows without a course, which will be set at tick `now`.
    pub fn reset(&mut self, rows: usize, now: u64) {
        self.checked_at = now;
        self.blocks.clear();
        self.moving.clear();
        self.versions.clear();
        self.set_at.clear();
        self.grow(rows);
    }

    /// Makes room for rows that were added to the world.
    pub fn grow(&mut self, rows: usize) {
        if rows > self.versions.len() {
            self.blocks.resize(rows.div_ceil(8), NOWHERE);
            self.moving.grow(rows);
            self.versions.resize(rows, 0);
            self.set_at.resize(rows, 0);
        }
    }

    /// Adds to `found`, ascending, the rows that are not where they are expected at tick `now`.
    ///
    /// Only rows that moved or were expected to are looked at: the rest cost one bit each.
    pub fn check(&mut self, now: u64, spheres: &Spheres, threads: usize, found: &mut Vec<u32>) {
        let moving = self.moving.words();
        let is_first = std::mem::replace(&mut self.checked_at, now) != now;
        if threads < 2 {
            check_words(&mut self.blocks, 0, moving, (now, is_first), spheres, found);
            return;
        }
        // Any cut gives the same list: the pieces are put together in order.
        self.strayed.resize_with(self.blocks.len().div_ceil(PIECE_WORDS * WORD), Vec::new);
        let pieces = self.blocks.par_chunks_mut(PIECE_WORDS * WORD).zip(&mut self.strayed).enumerate();
        pieces.with_max_len(1).for_each(|(index, (blocks, strayed))| {
            check_words(blocks, index * PIECE_WORDS, moving, (now, is_first), spheres, strayed);
        });
        for strayed in &mut self.strayed {
            found.append(strayed);
        }
    }

    /// A row's course as seen `ahead` ticks after `now`, which is the tick of the last check.
    pub fn at(&self, row: u32, now: u64, ahead: f32) -> Course {
        let (block, lane) = (row as usize / 8, row as usize % 8);
        let lines = &self.blocks[block];
        let velocity = Vec3::new(lines.vx[lane], lines.vy[lane], lines.vz[lane]);
        let time = ticks_since_reference(block, now) as f32 + ahead;
        let place = Vec3::new(lines.x[lane], lines.y[lane], lines.z[lane]) + velocity * time;
        Course { place, velocity, slack: lines.slack2[lane].sqrt() * SLACK_ROUNDING }
    }

    /// Begins to fetch a row's course and its sphere, which will be asked for soon.
    pub fn fetch(&self, row: u32, Columns { x, y, z, radius }: Columns<'_>) {
        [x, y, z, radius].into_iter().filter_map(|column| column.get(row as usize)).for_each(fetch_ahead);
        // A block is four lines of cache: every other one of its columns begins another.
        let Lines { x, z, vy, slack2, .. } = &self.blocks[row as usize / 8];
        [x, z, vy, slack2].into_iter().for_each(fetch_ahead);
    }

    /// What [`Courses::at`] will say of a row once it has this course, to the bit.
    pub fn once_set(row: u32, now: u64, course: Course, ahead: f32) -> Course {
        let time = ticks_since_reference(row as usize / 8, now) as f32;
        let place = (course.place - course.velocity * time) + course.velocity * (time + ahead);
        Course { place, slack: slack2(course.slack).sqrt() * SLACK_ROUNDING, ..course }
    }

    /// Gives a row another course, which is at `course.place` at tick `now`.
    pub fn set(&mut self, row: u32, now: u64, course: Course) {
        self.write(row, now, course);
        self.versions[row as usize] = self.versions[row as usize].wrapping_add(1);
        self.set_at[row as usize] = now as u8;
    }

    /// The versions, and beside them whoever gives rows better lines, which changes no version.
    pub fn versions_and_refiner(&mut self) -> (&[u8], Refiner<'_>) {
        let Courses { blocks, moving, versions, set_at, .. } = self;
        (versions, Refiner { blocks, moving, set_at })
    }

    /// Counts a row's course as another one, though the line stays: what was found with the old count is void.
    pub fn renew(&mut self, row: u32) {
        self.versions[row as usize] = self.versions[row as usize].wrapping_add(1);
    }

    /// Takes the course of a row whose object is gone.
    pub fn clear(&mut self, row: u32) {
        let nowhere = Course { place: Vec3::NAN, velocity: Vec3::ZERO, slack: 0.0 };
        self.write(row, 0, nowhere);
        self.versions[row as usize] = self.versions[row as usize].wrapping_add(1);
    }

    /// Counts the courses that each row has had, modulo 256.
    pub fn versions(&self) -> &[u8] {
        &self.versions
    }

    /// How many ticks ago the row's course was set; beyond 255 it starts again at zero.
    #[inline]
    pub fn age(&self, row: u32, now: u64) -> u8 {
        (now as u8).wrapping_sub(self.set_at[row as usize])
    }

    /// Begins to fetch what [`Courses::age`] takes.
    #[inline]
    pub fn fetch_age(&self, row: u32) {
        fetch_ahead(&self.set_at[row as usize]);
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.blocks.capacity() * size_of::<Lines>()
            + self.moving.bytes()
            + self.versions.capacity()
            + self.set_at.capacity()
            + self.strayed.iter().map(|rows| rows.capacity() * 4).sum::<usize>()
    }

    fn write(&mut self, row: u32, now: u64, course: Course) {
        write(&mut self.blocks, &mut self.moving, row, now, course);
    }
}

impl Refiner<'_> {
    /// Gives a row a better line at a moment at which nothing is known about the old one any more.
    pub fn refine(&mut self, row: u32, now: u64, course: Course) {
        write(self.blocks, self.moving, row, now, course);
        self.set_at[row as usize] = now as u8;
    }
}

fn write(blocks: &mut [Lines], moving: &mut Bits, row: u32, now: u64, course: Course) {
    let (block, lane) = (row as usize / 8, row as usize % 8);
    let time = ticks_since_reference(block, now) as f32;
    let place = course.place - course.velocity * time;
    let lines = &mut blocks[block];
    (lines.x[lane], lines.y[lane], lines.z[lane]) = (place.x, place.y, place.z);
    let Vec3 { x, y, z } = course.velocity;
    (lines.vx[lane], lines.vy[lane], lines.vz[lane]) = (x, y, z);
    lines.slack2[lane] = slack2(course.slack);
    if course.velocity == Vec3::ZERO {
        moving.remove(row as usize);
    } else {
        moving.insert(row as usize);
    }
}

/// The check computes a squared distance in `f32`: it is right to a millionth, so it is asked for a little less.
const SLACK_ROUNDING: f32 = 1.0 + 1e-5;

fn slack2(slack: f32) -> f32 {
    let asked = slack / SLACK_ROUNDING;
    asked * asked
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

/// Blocks per word of a bit set.
const WORD: usize = 8;
/// Words that one thread checks in one go: about a megabyte of courses and positions.
const PIECE_WORDS: usize = 512;

/// Checks the blocks that begin with word `first` of the bit sets, at some tick, which may be checked for the first time.
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
        let eyes = moved.get(word).copied().unwrap_or(0) | moving[word];
        if eyes == 0 {
            continue;
        }
        let (start, count) = (word * WORD, lines.len());
        let mut times = [0.0; WORD];
        for block in 0..count {
            let time = ticks_since_reference(start + block, now);
            times[block] = time as f32;
            if time == 0 && is_first && (eyes >> (8 * block)) as u8 != 0 {
                move_reference(&mut lines[block]);
            }
        }
        let blocks = start..start + count;
        let places = Places { x: &x[blocks.clone()], y: &y[blocks.clone()], z: &z[blocks] };
        let mut masks = [0; WORD];
        strayed(lines, &times[..count], places, eyes, &mut masks[..count]);
        let mut strays = u64::from_le_bytes(masks);
        while strays != 0 {
            found.push((word * 64) as u32 + strays.trailing_zeros());
            strays &= strays - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sphere;

    /// A line is the same line whichever tick it is looked at from, for thousands of ticks; and who keeps to it is left
    /// alone, who leaves it is found at once.
    #[test]
    fn who_strays_is_found_and_nobody_else() {
        let velocity = Vec3::new(0.03, -0.01, 0.002);
        let start = Vec3::new(5.0, 80.0, -3.0);
        let mut spheres = Spheres::new();
        let slots: Vec<_> = (0..20).map(|_| spheres.insert(Sphere::new(start, 1.0)).unwrap()).collect();
        let mut courses = Courses::default();
        courses.reset(spheres.rows(), 7);
        for slot in &slots {
            courses.set(slot.number(), 7, Course { place: start, velocity, slack: 0.01 });
        }
        let mut found = Vec::new();
        for now in 8..4_000 {
            spheres.end_tick();
            let here = start + velocity * (now - 7) as f32;
            for slot in &slots {
                let strays = now == 3_999 && slot.number() == 13;
                let off = if strays { Vec3::new(0.0, 0.02, 0.0) } else { Vec3::new(0.0, 0.005, 0.0) };
                spheres.move_to(*slot, here + off).unwrap();
            }
            courses.check(now, &spheres, 1 + (now as usize % 2), &mut found);
            assert!(found.is_empty() || now == 3_999, "tick {now}: {found:?}");
            let ahead = courses.at(3, now, 5.0).place - (here + velocity * 5.0);
            assert!(ahead.length() < drift(100.0) * 4.0, "tick {now}: {ahead}");
        }
        assert_eq!(found, [13]);
    }

    #[test]
    fn a_row_without_an_object_never_strays() {
        let mut spheres = Spheres::new();
        let ann = spheres.insert(Sphere::new(Vec3::ZERO, 1.0)).unwrap();
        let mut courses = Courses::default();
        courses.grow(spheres.rows());
        courses.set(ann.number(), 0, Course { place: Vec3::ZERO, velocity: Vec3::X, slack: 0.1 });
        spheres.remove(ann).unwrap();
        courses.clear(ann.number());
        let mut found = Vec::new();
        courses.check(1, &spheres, 1, &mut found);
        assert!(found.is_empty());
    }
}
