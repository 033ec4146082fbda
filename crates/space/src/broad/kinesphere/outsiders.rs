//! Those who are not followed: they look around anew in every tick.
//!
//! Following pays for whoever meets a few others: it looks around once in a life, and in between its meetings are told of as
//! they are. A giant that touches a thousand finds a thousand meetings whenever it looks around, all of them in one tick; and
//! if it turns, all of them again. To look at who is there takes little longer than to tell of so many meetings, and is as
//! much work in every tick, whatever the giant does. So whoever makes a slow tick by its own look becomes an *outsider*.
//! And so does everybody who moves where hardly anybody does: nothing happens in most ticks then, and one in which somebody
//! looks around takes many times as long.
//!
//! An outsider sees others where their tiles have them. Most of those whom it overlaps are in cells that are deep inside it
//! ([`ball`](super::ball)), or are so themselves: nobody asks where they are to the millimetre. The others are compared.
//!
//! Invariants:
//! - An outsider has no course and is in no tile, so nobody who is followed finds it.
//! - It finds everybody who is in a tile; and of two outsiders, the one with the lower row finds the other.

use crate::Vec3;

use super::agenda::{Moment, Turnover};
use super::ball::Ball;
use super::course::Course;
use super::following::{Following, NOWHERE};
use super::moving::entered;
use super::plan::Plan;
use super::search::{Run, Scratch, Search};
use crate::bits::Bits;
use crate::{Pair, Slot, Sphere, Spheres};

/// The home of those who are not followed.
pub const OUTSIDE: u32 = NOWHERE - 1;

/// Nobody is a burden who finds fewer meetings than this in one look.
pub const FEW: u64 = 8;

/// Where no more than this move, nobody who does is followed: if all of them look around, a tick takes no longer than the
/// slowest one did in which one of them was renewed. Where twice as many move, they are followed again.
const FEW_MOVE: usize = 6;

/// There are no more outsiders than this: each is compared with all others.
const OUTSIDERS_MAX: usize = 256;

/// Whoever has stood for so many ticks, or walked and overlapped few, is followed again.
const PATIENCE: u32 = 256;

/// A tick that takes so many times as long as usual is slow. Estimates are rough, and ticks are to be no more than 2.5 times as
/// slow as usual in truth.
const SLOW: f64 = 1.75;

/// Whoever takes this share of a usual tick for one look makes ticks slow, where they are.
const BURDEN: f64 = 0.5;

/// All who are not followed.
#[derive(Debug, Default)]
pub struct Outsiders {
    all: Vec<Outsider>,
    /// Their rows.
    rows: Vec<u32>,
    /// The rows of those who are to become outsiders in the next tick.
    burdens: Vec<u32>,
    /// What was told of those who are outsiders no longer, and the memory of their lists, for the next ones.
    lost: Vec<Pair>,
    spare: Vec<[Vec<u32>; 2]>,
    usual: Usual,
}

/// Somebody who is not followed.
#[derive(Debug, Default)]
pub struct Outsider {
    row: u32,
    /// Whom it overlapped when that was last told, and the time before.
    touched: Vec<u32>,
    touched_before: Vec<u32>,
    /// Where it was in the last tick.
    place: Vec3,
    /// For how many ticks it might as well have been followed.
    idle: u32,
}

/// Somebody who was busy for a while in this tick.
#[derive(Clone, Copy, Debug)]
pub struct Busy {
    pub row: u32,
    /// How many meetings it found in one look, and how many ticks the next one is away.
    pub found: u64,
    pub life: u64,
}

/// What a tick usually takes.
#[derive(Clone, Copy, Debug, Default)]
struct Usual {
    cost: f64,
    /// How many ticks that is known from.
    ticks: f64,
}

impl Usual {
    /// Whether a tick of this cost is a slow one. Until the average has seen a life, none is.
    fn is_exceeded_by(&self, cost: f64, life: u64) -> bool {
        self.ticks >= life as f64 && cost > SLOW * self.cost
    }

    /// Takes another tick into the average, which forgets as slowly as tiles fall due.
    fn take(&mut self, cost: f64, life: u64) {
        self.ticks = (self.ticks + 1.0).min(2.0 * life as f64);
        self.cost += (cost - self.cost) / self.ticks;
    }
}

impl Outsiders {
    /// Begins with nobody.
    pub fn reset(&mut self) {
        self.all.clear();
        self.burdens.clear();
        self.lost.clear();
        self.usual = Usual::default();
    }

    /// Forgets all, adding the pairs that were reported last to `lost`.
    pub fn stop(&mut self, lost: &mut Vec<Pair>) {
        lost.append(&mut self.lost);
        self.all.drain(..).for_each(|outsider| lost.extend(outsider.pairs()));
    }

    /// Themselves, and all their rows. What was told of those who are outsiders no longer is taken back.
    pub fn with_rows(&mut self, turnover: &mut Turnover) -> (&mut [Outsider], &[u32]) {
        self.lost.drain(..).for_each(|pair| turnover.note(pair, false));
        self.rows.clear();
        self.rows.extend(self.all.iter().map(|outsider| outsider.row));
        (&mut self.all, &self.rows)
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        let touched = self.all.iter().flat_map(|outsider| [&outsider.touched, &outsider.touched_before]);
        let lists = touched.chain(self.spare.iter().flatten()).chain([&self.rows, &self.burdens]);
        self.all.capacity() * size_of::<Outsider>()
            + self.spare.capacity() * size_of::<[Vec<u32>; 2]>()
            + self.lost.capacity() * size_of::<Pair>()
            + lists.map(Vec::capacity).sum::<usize>() * 4
    }
}

impl Outsider {
    /// The pairs that were last told.
    fn pairs(&self) -> impl Iterator<Item = Pair> + '_ {
        self.touched.iter().map(|&other| Pair::of_rows(self.row, other))
    }

    /// Notes what is new since the time before. `marks` is empty, and will be.
    fn note_changes(&self, moment: &Moment<'_>, marks: &mut Bits, turnover: &mut Turnover) {
        for &other in &self.touched_before {
            if moment.is_outdated(other) {
                // It may be somebody else by now. If it is not, it is told of again below, and that cancels out.
                turnover.note(Pair::of_rows(self.row, other), false);
            } else {
                marks.insert(other as usize);
            }
        }
        for &other in &self.touched {
            if marks.contains(other as usize) {
                marks.remove(other as usize);
            } else {
                turnover.note(Pair::of_rows(self.row, other), true);
            }
        }
        for &other in &self.touched_before {
            if marks.contains(other as usize) {
                marks.remove(other as usize);
                turnover.note(Pair::of_rows(self.row, other), false);
            }
        }
    }
}

/// What outsiders see in a tick.
#[derive(Clone, Copy, Debug)]
pub struct Lookout<'a> {
    /// All who are followed.
    pub search: Search<'a>,
    /// The rows of all outsiders.
    pub outsiders: &'a [u32],
    pub moment: &'a Moment<'a>,
}

impl Lookout<'_> {
    /// Adds to `pairs` everybody whom some outsiders overlap, and to `turnover` what changed. Returns how many positions were
    /// compared.
    pub fn report(
        &self,
        outsiders: &mut [Outsider],
        scratch: &mut Scratch,
        pairs: &mut Vec<Pair>,
        turnover: &mut Turnover,
    ) -> u64 {
        let mut compared = 0;
        for outsider in outsiders {
            std::mem::swap(&mut outsider.touched, &mut outsider.touched_before);
            compared += self.look(outsider.row, &mut outsider.touched, scratch);
            pairs.extend(outsider.pairs());
            if turnover.is_wanted {
                outsider.note_changes(self.moment, &mut scratch.marks, turnover);
            }
        }
        compared
    }

    /// Finds everybody whom an outsider overlaps. Returns how many positions were compared.
    fn look(&self, row: u32, touched: &mut Vec<u32>, scratch: &mut Scratch) -> u64 {
        touched.clear();
        let others = self.outsiders.iter().filter(|&&other| other > row && self.moment.overlap(row, other));
        touched.extend(others);
        self.look_deep_inside(row, touched, scratch);
        self.outsiders.len() as u64 + self.look_near_the_surface(row, touched, scratch)
    }

    /// Adds those to `touched` who are in cells that are deep inside an outsider, and lists the rows of those around.
    fn look_deep_inside(&self, row: u32, touched: &mut Vec<u32>, scratch: &mut Scratch) {
        let sphere = self.moment.columns.sphere(row as usize);
        let Search { lattice, .. } = self.search;
        scratch.others.clear();
        scratch.tally.passed += lattice.tiles_near(sphere.center, sphere.center, sphere.radius, &mut scratch.others);
        scratch.runs.clear();
        for &number in &scratch.others {
            let tile = self.search.tile(number);
            let shift = self.search.shift(tile);
            let ball = Ball::new(sphere, lattice.layer_of(tile));
            let block = ball.block().common(tile.block());
            for (y, z) in block.lines() {
                scratch.tally.lines += 1;
                let Some(chord) = ball.chord(y, z) else { continue };
                let [before, everybody, after] = chord.within(block.low[0], block.high[0]);
                for cells in [before, after] {
                    let rows = if cells.is_empty() { 0..0 } else { tile.line(y, z, *cells.start(), *cells.end()) };
                    if !rows.is_empty() {
                        scratch.runs.push(Run { tile: number, first: rows.start, end: rows.end, shift, ticks: 0.0 });
                    }
                }
                if !everybody.is_empty() {
                    let rows = tile.line(y, z, *everybody.start(), *everybody.end());
                    touched.extend(rows.filter_map(|row| tile.get(row as usize)).map(|entry| entry.id));
                }
            }
        }
    }

    /// Adds those of the listed rows to `touched` whom an outsider overlaps. Returns how many positions were compared.
    ///
    /// Without a branch on what is found, for that is anybody's guess: everybody is written down, and the next one over it.
    fn look_near_the_surface(&self, row: u32, touched: &mut Vec<u32>, scratch: &mut Scratch) -> u64 {
        let Scratch { runs, hits, tally, .. } = scratch;
        let gathered = runs.iter().map(|run| (run.end - run.first) as usize).sum();
        tally.runs += runs.len() as u64;
        tally.tests += gathered as u64;
        let (mut count, mut doubtful) = (touched.len(), 0);
        // Where it is going there may be twice as many.
        if touched.capacity() < count + gathered {
            touched.reserve_exact(2 * (count + gathered) - count);
        }
        touched.resize(count + gathered, 0);
        if hits.len() < gathered {
            hits.resize(2 * gathered, 0);
        }
        let (list, doubts) = (&mut touched[..], &mut hits[..gathered]);
        let sphere = self.moment.columns.sphere(row as usize);
        // With the margins of one who stands here.
        let outer =
            entered(row, Course { place: sphere.center, velocity: Vec3::ZERO, slack: 0.0 }, sphere.radius).radius;
        let inner = 2.0 * sphere.radius - outer;
        for &Run { tile, first, end, shift, .. } in runs.iter() {
            for entry in &self.search.tile(tile).rows()[first as usize..end as usize] {
                let apart = Vec3::from(entry.place) + Vec3::from(entry.velocity) * shift - sphere.center;
                let distance2 = apart.length_squared();
                let (outer, inner) = (outer + entry.radius, (inner - entry.radius).max(0.0));
                let (may, must) = (distance2 < outer * outer, distance2 < inner * inner);
                list[count] = entry.id;
                count += usize::from(must);
                doubts[doubtful] = entry.id;
                doubtful += usize::from(may & !must);
            }
        }
        for &other in &doubts[..doubtful] {
            list[count] = other;
            count += usize::from(self.moment.overlap(row, other));
        }
        touched.truncate(count);
        doubtful as u64
    }
}

impl Following {
    /// Notes who made this tick slow, which took some time, or would be cheaper outside: it is not followed from the next one on.
    /// In this one it has been at work enough.
    pub(super) fn note_burdens(&mut self, time: f64) {
        let mut busy = std::mem::take(&mut self.busy);
        self.shares.iter_mut().for_each(|share| busy.append(&mut share.scratch.busy));
        if self.moving() <= FEW_MOVE {
            busy.clear();
            self.note_lookers();
        }
        // Whoever takes longest is first; and the order does not depend on who found them.
        busy.sort_unstable_by_key(|busy| (std::cmp::Reverse(busy.found), busy.row));
        let Following { outsiders, pace, .. } = self;
        let mut left = time;
        for Busy { row, found, life } in busy.drain(..) {
            let usual = outsiders.usual;
            let is_slow = usual.is_exceeded_by(left, pace.longest) && Plan::time_to_find(found) > BURDEN * usual.cost;
            let has_room = outsiders.all.len() + outsiders.burdens.len() < OUTSIDERS_MAX;
            if has_room && (is_slow || Plan::is_cheaper_outside(found, life)) {
                outsiders.burdens.push(row);
                left -= Plan::time_to_find(found);
            }
        }
        outsiders.usual.take(left, pace.longest);
        self.busy = busy;
    }

    /// Notes everybody who looked around in this tick, and moves.
    fn note_lookers(&mut self) {
        let Following { due, lattice, newcomers, newcomer_rows, outsiders, .. } = self;
        let inhabitants = due.iter().flat_map(|&tile| {
            let tile = &lattice.tiles[tile as usize];
            (0..tile.count()).filter_map(|row| tile.get(row))
        });
        let residents = inhabitants.filter(|entry| !newcomer_rows.contains(entry.id as usize));
        let lookers = residents.chain(newcomers.iter().map(|newcomer| newcomer.entry));
        outsiders.burdens.extend(lookers.filter(|entry| entry.velocity != [0.0; 3]).map(|entry| entry.id));
    }

    /// How many move, whether they are followed or not.
    fn moving(&self) -> usize {
        self.lattice.movers() + self.outsiders.all.len()
    }

    /// No longer follows those who were a burden in the last tick, whether they strayed in this one or not.
    pub(super) fn cast_out(&mut self, spheres: &Spheres) {
        while let Some(row) = self.outsiders.burdens.pop() {
            let slot = Slot::new(row);
            if !spheres.is_alive(slot) || spheres.was_taken_in_this_tick(slot) {
                continue;
            }
            let Some(from) = self.whereabouts(row) else { continue };
            self.leave(row, from);
            self.courses.clear(row);
            if self.outdated.contains(row as usize) {
                self.strayed.retain(|&strayed| strayed != row);
            }
            self.outdated.insert(row as usize);
            self.adopted.push(row);
            self.homes[row as usize] = OUTSIDE;
            let [touched, touched_before] = self.outsiders.spare.pop().unwrap_or_default();
            self.outsiders.all.push(Outsider { row, touched, touched_before, ..Outsider::default() });
        }
    }

    /// Follows those again who stand, or walk and overlap few; and forgets those who are gone.
    pub(super) fn take_back(&mut self, spheres: &Spheres) {
        let many_move = self.moving() > 2 * FEW_MOVE;
        let Following { outsiders, homes, outdated, strayed, pace, .. } = self;
        let Outsiders { all, lost, spare, .. } = outsiders;
        all.retain_mut(|outsider| {
            let slot = Slot::new(outsider.row);
            let Sphere { center, radius } = spheres.columns().sphere(slot.row());
            let step = (center - std::mem::replace(&mut outsider.place, center)).length();
            let is_walking = pace.life(radius, step) == pace.longest;
            let is_idle = step == 0.0 || many_move && is_walking && (outsider.touched.len() as u64) < FEW / 2;
            outsider.idle = if is_idle { outsider.idle + 1 } else { 0 };
            let is_there = spheres.is_alive(slot) && !spheres.was_taken_in_this_tick(slot);
            let stays = is_there && outsider.idle < PATIENCE;
            if !stays {
                lost.extend(outsider.pairs());
                outsider.touched.clear();
                outsider.touched_before.clear();
                spare.push([&mut outsider.touched, &mut outsider.touched_before].map(std::mem::take));
                homes[slot.row()] = NOWHERE;
                outdated.insert(slot.row());
                strayed.push(slot.number());
            }
            stays
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BroadPhase;
    use crate::broad::BruteForce;
    use crate::broad::kinesphere::Kinesphere;
    use crate::broad::kinesphere::trial::{Trial, walk};
    use crate::workload::Random;

    /// A few giants in a crowd of which most stand, and what becomes of them.
    struct World {
        random: Random,
        side: f32,
        spheres: Spheres,
        velocities: Vec<Vec3>,
        giants: usize,
    }

    impl World {
        fn new(seed: u64) -> World {
            let mut random = Random::new(seed);
            let (crowd, giants) = (random.whole(800, 1_600) as usize, random.whole(1, 6) as usize);
            let (side, one_walks_in) = (40.0, random.whole(5, 200));
            let mut spheres = Spheres::new();
            let mut velocities = Vec::new();
            for row in 0..crowd {
                let is_giant = row < giants;
                let radius = if is_giant { random.between(4.0, 15.0) } else { random.between(0.2, 1.0) };
                let walks = is_giant || random.whole(0, one_walks_in) == 0;
                spheres.insert(Sphere::new(random.point(side), radius)).unwrap();
                velocities.push(random.direction() * if walks { random.log_uniform(30.0) * 0.03 } else { 0.0 });
            }
            World { random, side, spheres, velocities, giants }
        }

        fn step(&mut self) {
            let World { random, side, spheres, velocities, giants } = self;
            spheres.end_tick();
            walk(spheres, velocities, *side);
            let row = random.whole(0, *giants as u32);
            let slot = Slot::new(row);
            if !spheres.is_alive(slot) {
                return;
            }
            match random.whole(0, 120) {
                0 => spheres.move_to(slot, random.point(*side)).unwrap(),
                1 => spheres.resize(slot, random.between(0.5, 15.0)).unwrap(),
                2 => velocities[row as usize] = Vec3::ZERO,
                3 => velocities[row as usize] = random.direction() * 0.2,
                4 => {
                    // Somebody else takes its slot, who may be anything.
                    spheres.remove(slot).unwrap();
                    let next = Sphere::new(random.point(*side), random.between(0.5, 15.0));
                    assert_eq!(spheres.insert(next).unwrap(), slot);
                }
                _ => {}
            }
        }
    }

    /// Whatever giants do, in the crowd and among themselves: the pairs are those of brute force, and what began and ended is
    /// what a comparison finds, by one thread or two.
    #[test]
    fn outsiders_find_what_brute_force_finds() {
        let (mut outside, mut left) = (0, 0);
        for seed in 0..20 {
            let mut world = World::new(seed);
            let mut trial = Trial::new(seed);
            let mut last = 0;
            for _ in 0..500 {
                trial.tick(&world.spheres);
                let kinesphere = &trial.kinesphere;
                let outsiders = kinesphere.following.outsiders.all.len();
                outside += usize::from(kinesphere.is_following() && outsiders > 0);
                left += usize::from(kinesphere.is_following() && outsiders < last);
                last = outsiders;
                world.step();
            }
        }
        println!("{outside} ticks with outsiders; in {left} somebody was followed again");
        assert!(outside > 2_000 && left > 10, "{outside} ticks with outsiders; in {left} somebody was followed again");
    }

    /// Who is to become an outsider in the next tick turns, grows, is gone or is somebody else by then.
    #[test]
    fn a_burden_may_be_anything_by_the_next_tick() {
        let mut changed = [0; 4];
        for seed in 0..12 {
            let mut world = World::new(seed);
            let mut trial = Trial::new(seed);
            let mut gone = None;
            for _ in 0..500 {
                trial.tick(&world.spheres);
                let kinesphere = &trial.kinesphere;
                world.step();
                let World { random, side, spheres, .. } = &mut world;
                let next = Sphere::new(random.point(*side), random.between(0.5, 15.0));
                if let Some(slot) = gone.take() {
                    assert_eq!(spheres.insert(next).unwrap(), slot);
                } else if kinesphere.is_following()
                    && let Some(&row) = kinesphere.following.outsiders.burdens.first()
                {
                    let (slot, kind) = (Slot::new(row), random.whole(0, 4) as usize);
                    changed[kind] += 1;
                    match kind {
                        0 => spheres.move_to(slot, next.center).unwrap(),
                        1 => spheres.resize(slot, next.radius).unwrap(),
                        2 => {
                            spheres.remove(slot).unwrap();
                            gone = Some(slot);
                        }
                        _ => {
                            spheres.remove(slot).unwrap();
                            assert_eq!(spheres.insert(next).unwrap(), slot);
                        }
                    }
                }
            }
        }
        println!("turned, grew, gone, somebody else: {changed:?}");
        assert!(changed.iter().all(|&count| count > 5), "{changed:?}");
    }

    /// Where a few move, they are outsiders. Once many do, all are followed; and if these stand again, the few are outsiders again.
    #[test]
    fn a_few_are_followed_while_many_move() {
        for seed in 0..6 {
            let mut random = Random::new(seed);
            let (side, few, many) = (24.0, random.whole(1, FEW_MOVE as u32 + 1), 40);
            let mut spheres = Spheres::new();
            for _ in 0..400 {
                spheres.insert(Sphere::new(random.point(side), random.between(0.2, 0.8))).unwrap();
            }
            let velocities: Vec<Vec3> = (0..many).map(|_| random.direction() * 0.01).collect();
            let mut trial = Trial::new(seed);
            let mut outside = |spheres: &mut Spheres, moving: u32, ticks: u64| {
                for _ in 0..ticks {
                    trial.tick(spheres);
                    spheres.end_tick();
                    for row in 0..moving {
                        let slot = Slot::new(row);
                        spheres.move_to(slot, spheres.get(slot).unwrap().center + velocities[row as usize]).unwrap();
                    }
                }
                assert!(trial.kinesphere.is_following(), "seed {seed}");
                trial.kinesphere.following.outsiders.all.len()
            };
            assert_eq!(outside(&mut spheres, few, 200), few as usize, "seed {seed}");
            assert_eq!(outside(&mut spheres, many, 200 + u64::from(PATIENCE)), 0, "seed {seed}");
            assert_eq!(outside(&mut spheres, few, 200 + u64::from(PATIENCE)), few as usize, "seed {seed}");
        }
    }

    /// A giant so large that the cells of small ones that it covers cannot be counted, and that creeps along, then leaps.
    #[test]
    fn a_giant_of_any_size_touches_all_whom_it_covers() {
        for size in [1e3, 1e6, 9e8] {
            let mut random = Random::new(1);
            let mut spheres = Spheres::new();
            let velocities: Vec<Vec3> =
                (0..600).map(|row| random.direction() * if row < 40 { 0.04 } else { 0.0 }).collect();
            for _ in &velocities {
                spheres.insert(Sphere::new(random.point(3.0), random.between(0.02, 0.1))).unwrap();
            }
            let giant = spheres.insert(Sphere::new(Vec3::splat(1.5), 0.1)).unwrap();
            let mut kinesphere = Kinesphere::new().eager();
            let (mut found, mut expected, mut followed) = (Vec::new(), Vec::new(), 0);
            for tick in 0..200 {
                BruteForce.pairs(&spheres, &mut expected);
                kinesphere.pairs(&spheres, &mut found);
                found.sort_unstable();
                expected.sort_unstable();
                assert!(found == expected, "size {size}, tick {tick}");
                followed += usize::from(kinesphere.is_following());
                spheres.end_tick();
                for (row, velocity) in velocities.iter().enumerate().filter(|(_, velocity)| **velocity != Vec3::ZERO) {
                    let slot = Slot::new(row as u32);
                    spheres.move_to(slot, spheres.get(slot).unwrap().center + *velocity).unwrap();
                }
                match tick {
                    // Courses have begun by then.
                    40 => spheres.resize(giant, size).unwrap(),
                    41.. => {
                        let step = size * if tick % 50 == 49 { 0.1 } else { 1e-4 };
                        spheres.move_to(giant, spheres.get(giant).unwrap().center + Vec3::splat(step)).unwrap();
                    }
                    _ => {}
                }
            }
            println!("size {size}: followed for {followed} ticks");
            assert!(followed > 50, "size {size}: followed for {followed} ticks");
        }
    }
}
