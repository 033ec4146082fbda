//! Courses that begin: everybody gets one, moves into a tile, and looks around for the first time.
//!
//! In a world that has just been opened all this is done in one tick. Where people have been walking for hours, that tick would be
//! felt: it takes as long as thirty others. So there courses begin little by little, while pairs are still found afresh:
//! - Some *board* in each tick: they get a course and move into tiles, in no order.
//! - Some tiles are sorted in each tick.
//! - All *rehearse*: ticks are gone through as they will be from then on, but nobody is told of the pairs. In each some tiles look
//!   around for the first time. Once all have, every meeting is known.
//!
//! Invariants:
//! - A tile's first life begins with the rehearsal, and nobody looks around before.
//! - Whoever strays on the way gets another course in the same tick, as always, and the tile that this leads to.
//! - Whoever is in a tile that looks around for the first time has no meetings from before: they are found anew.
//! - In the last tick of a rehearsal agendas tell the very pairs that are found afresh. So what begins and ends in the next one is what
//!   they say has changed.

use std::ops::Range;

use crate::Vec3;

use super::calendar::EARLY_MAX;
use super::course::Course;
use super::following::{Following, NOWHERE};
use super::lattice::Lattice;
use super::mood::Mood;
use super::plan::Plan;
use super::renewal::REFINE_EVERY;
use super::search::Scratch;
use super::stagger::stagger;
use super::tile::{Supply, Tile};
use crate::Spheres;
use crate::simd::sweep::Row;

/// In so many ticks everybody boards, in so many more tiles are sorted, and in so many more all look around: a tick takes about
/// twice as long meanwhile as without courses.
const BOARDING: u64 = 16;
const SORTING: u64 = 4;
const REHEARSAL: u64 = 24;

/// Courses that begin little by little: what happens in which tick.
#[derive(Clone, Copy, Debug)]
pub struct Beginning {
    began_at: u64,
    /// How many rows there were.
    rows: usize,
    terms: Terms,
}

/// What the plan says about everybody.
#[derive(Clone, Copy, Debug)]
struct Terms {
    mood: Mood,
    all_stand: bool,
}

/// What is kept while courses begin.
#[derive(Debug, Default)]
pub struct Debut {
    /// Whether new tiles are left unsorted.
    is_boarding: bool,
    /// Where each row is in its tile, as long as that is not sorted.
    places: Vec<u32>,
    /// Tiles that have not looked around yet, for how many objects some of them do so in a tick, and those of this one.
    waiting: Vec<u32>,
    per_tick: usize,
    looking: Vec<u32>,
}

impl Terms {
    fn of(plan: &Plan) -> Terms {
        Terms { mood: Mood::new(plan.level), all_stand: plan.all_stand }
    }
}

impl Beginning {
    /// Lets courses begin little by little from tick `now` on.
    pub fn new(following: &mut Following, spheres: &Spheres, now: u64, plan: &Plan) -> Beginning {
        let beginning = Beginning { began_at: now, rows: spheres.rows(), terms: Terms::of(plan) };
        following.get_ready(spheres, now, beginning.last_before_rehearsal(), plan);
        beginning
    }

    /// The rows that board at a tick, if any.
    pub fn boarders(&self, tick: u64) -> Range<usize> {
        let by = |ticks: u64| ticks.min(BOARDING) as usize * self.rows / BOARDING as usize;
        let ticks = tick - self.began_at;
        by(ticks)..by(ticks + 1)
    }

    /// Whether tiles look around at a tick.
    pub fn is_rehearsal(&self, tick: u64) -> bool {
        tick > self.last_before_rehearsal()
    }

    /// Whether everybody has looked around before a tick. That may take some more where many have come meanwhile.
    pub fn is_over(&self, tick: u64, following: &Following) -> bool {
        tick > self.last_before_rehearsal() + REHEARSAL && following.debut.waiting.is_empty()
    }

    /// Goes through a tick before the rehearsal. Says whether it could: not if too many strayed. `velocity` says how a row moves that
    /// boards, as far as is known.
    pub fn go_on(
        &self,
        following: &mut Following,
        spheres: &Spheres,
        now: u64,
        velocity: impl Fn(usize) -> Vec3,
    ) -> bool {
        // Also in the first tick, which may be looked at again: somebody may have come.
        if !following.keep_up(spheres, now) {
            return false;
        }
        following.board(self.boarders(now), spheres, self.terms, velocity);
        if now >= self.began_at + BOARDING {
            following.sort_tiles(spheres.len().div_ceil(SORTING as usize));
        }
        if now == self.last_before_rehearsal() {
            following.rehearse();
        }
        true
    }

    fn last_before_rehearsal(&self) -> u64 {
        self.began_at + BOARDING + SORTING - 1
    }
}

impl Debut {
    /// The tiles that look around for the first time in this tick.
    pub fn looking(&self) -> &[u32] {
        &self.looking
    }

    /// Where a row is in a tile that is not sorted.
    pub fn place(&self, row: u32) -> usize {
        self.places[row as usize] as usize
    }

    /// Puts a row at the end of a tile, if that is not sorted yet.
    pub fn has_boarded(&mut self, row: Row, tile: &mut Tile) -> bool {
        let boards = self.is_boarding && !tile.is_sorted();
        if boards {
            // Somebody may have come into the world since courses began to begin.
            self.places.resize(self.places.len().max(row.id as usize + 1), 0);
            self.places[row.id as usize] = tile.count() as u32;
            tile.push(row);
        }
        boards
    }

    /// Forgets who looked around in the last tick.
    pub fn forget_last_tick(&mut self) {
        self.looking.clear();
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        (self.places.capacity() + self.waiting.capacity() + self.looking.capacity()) * 4
    }
}

impl Following {
    /// Begins to follow all objects at tick `now`, at once. `velocity` says how a row moves, as far as is known. Returns how many tests
    /// it took.
    pub fn start(&mut self, spheres: &Spheres, now: u64, plan: &Plan, velocity: impl Fn(usize) -> Vec3) -> u64 {
        self.get_ready(spheres, now, now, plan);
        self.board(0..spheres.rows(), spheres, Terms::of(plan), velocity);
        self.sort_tiles(usize::MAX);
        self.spread_tiles();
        let tests = self.search(spheres.columns()).tests;
        self.calendar.weigh(&self.lattice.tiles);
        self.end_debut();
        tests
    }

    /// What a beginning leaves behind is not needed any more; and as everybody has looked, what a look takes is known. Almost:
    /// newcomers look around from where they are.
    pub(super) fn end_debut(&mut self) {
        self.debut = Debut::default();
        Scratch::stock_up(&mut self.shares, |share| &mut share.scratch);
    }

    /// Forgets everything, at tick `now`, and gets ready for a plan whose tiles have their first life from `started_at` on.
    fn get_ready(&mut self, spheres: &Spheres, now: u64, started_at: u64, plan: &Plan) {
        (self.now, self.pace) = (now, plan.pace);
        let rows = spheres.rows();
        self.courses.reset(rows, now);
        self.moods.clear();
        self.moods.resize(rows, Mood::new(plan.level).to_byte());
        self.homes.clear();
        self.homes.resize(rows, NOWHERE);
        for bits in [&mut self.outdated, &mut self.newcomer_rows] {
            bits.clear();
            bits.grow(rows);
        }
        self.strayed.clear();
        self.adopted.clear();
        self.newcomers.clear();
        self.outsiders.reset();
        self.busy.reserve(64);
        self.early.reserve(EARLY_MAX);
        self.calendar.reset();
        self.open_shares(spheres.len());
        self.lattice.reset();
        for &layer in &plan.layers {
            self.lattice.add_layer(layer);
        }
        (self.planned_layers, self.movers_max) = (self.lattice.layers.len(), plan.movers_max);
        // By then all tiles have been renewed, and refined.
        (self.started_at, self.stock_up_at) = (started_at, started_at + REFINE_EVERY * self.pace.longest);
        self.debut = Debut { is_boarding: true, places: vec![0; rows], ..Debut::default() };
    }

    /// Gives courses to those of some rows that have none, and enters them in tiles, which are not sorted by that.
    fn board(&mut self, rows: Range<usize>, spheres: &Spheres, terms: Terms, velocity: impl Fn(usize) -> Vec3) {
        let columns = spheres.columns();
        for row in rows.filter(|&row| spheres.alive().contains(row)) {
            // Who came into the world or grew on the way is entered already.
            if self.homes[row] == NOWHERE {
                let place = columns.sphere(row).center;
                let velocity = if terms.all_stand { Vec3::ZERO } else { velocity(row) };
                let slack = terms.mood.slack(columns.radius[row], velocity);
                self.courses.set(row as u32, self.now, Course { place, velocity, slack });
                self.enter(row as u32, columns);
            }
        }
    }

    /// Sorts tiles that are not, until that has been done for so many objects.
    fn sort_tiles(&mut self, objects: usize) {
        let Lattice { tiles, layers, .. } = &mut self.lattice;
        let mut sorted = 0;
        for tile in tiles.iter_mut().filter(|tile| tile.is_used() && !tile.is_sorted()) {
            if sorted >= objects {
                break;
            }
            sorted += tile.len();
            tile.sort(&layers[tile.layer as usize].cells, &mut self.bench);
            tile.stock_up(Supply::default());
        }
    }

    /// Gets all tiles ready to fall due, one after another, and to look around for the first time before that.
    fn rehearse(&mut self) {
        // A few may be left, of those that were made for strays.
        self.sort_tiles(usize::MAX);
        self.spread_tiles();
        let each = self.calendar.work_of_one();
        for &number in &self.due {
            let tile = &mut self.lattice.tiles[number as usize];
            tile.work = each.saturating_mul(tile.len() as u32);
        }
        self.calendar.weigh(&self.lattice.tiles);
        // The others fall due in time.
        let tiles = &self.lattice.tiles;
        let is_late = |number: &u32| tiles[*number as usize].due > self.started_at + REHEARSAL;
        self.debut.waiting.extend(self.due.iter().copied().filter(is_late).rev());
        let objects: usize = self.debut.waiting.iter().map(|&number| tiles[number as usize].len()).sum();
        self.debut.per_tick = objects.div_ceil(REHEARSAL as usize);
        self.debut.places = Vec::new();
    }

    /// Spreads the ticks at which tiles fall due, so that each tick has about as much to do. All of them are sorted, and listed as due.
    fn spread_tiles(&mut self) {
        self.debut.is_boarding = false;
        // Every tile has been on the bench: it will hardly need more.
        self.bench.make_room(self.lattice.tiles.iter().map(Tile::count).max().unwrap_or(0));
        for number in 0..self.lattice.tiles.len() {
            let tile = &self.lattice.tiles[number];
            if tile.is_used() && tile.len() == 0 {
                self.lattice.give_up(number as u32);
            }
        }
        let Following { lattice: Lattice { tiles, layers, .. }, due, calendar, now, pace, .. } = self;
        due.clear();
        due.extend((0..tiles.len() as u32).filter(|&tile| tiles[tile as usize].len() > 0));
        due.sort_by_key(|&tile| {
            let Tile { layer, key: [x, y, z], .. } = tiles[tile as usize];
            (layer, z, y, x)
        });
        due.iter().for_each(|&number| tiles[number as usize].renewed = *now);
        calendar.reset();
        for life in pace.lives() {
            let has_this_life = |number: &u32| layers[tiles[*number as usize].layer as usize].life == life;
            let alike: Vec<u32> = due.iter().copied().filter(has_this_life).collect();
            let sizes: Vec<usize> = alike.iter().map(|&tile| tiles[tile as usize].len()).collect();
            for (number, ahead) in alike.into_iter().zip(stagger(&sizes, life as usize)) {
                let tile = &mut tiles[number as usize];
                debug_assert_eq!(tile.middle, *now + life / 2, "its first life begins now");
                tile.due = *now + 1 + ahead as u64;
                calendar.enter(number, tile);
            }
        }
        // All tiles are in one piece of memory: to take a larger one later would be a slow tick.
        self.lattice.stock_up();
    }

    /// Lets some tiles look around for the first time, in this tick.
    pub(super) fn take_turns(&mut self) {
        let mut objects = 0;
        while objects < self.debut.per_tick
            && let Some(number) = self.debut.waiting.pop()
        {
            let tile = &mut self.lattice.tiles[number as usize];
            objects += tile.len();
            // If it has fallen due it has looked around. It may also have been given up, and be another one by now, or none.
            if tile.renewed <= self.started_at && tile.due > self.now && tile.len() > 0 {
                tile.renewed = self.now;
                self.outdate_all(number);
                self.debut.looking.push(number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broad::kinesphere::trial::{Trial, walk};
    use crate::workload::Random;
    use crate::{Slot, Sphere};

    /// Some stand, some walk and turn, a few race or are large; and any of them may leap, stop, grow, go or come.
    struct World {
        random: Random,
        side: f32,
        spheres: Spheres,
        velocities: Vec<Vec3>,
        /// One in so many ticks somebody does one of these things.
        rarely: u32,
    }

    impl World {
        fn new(seed: u64) -> World {
            let mut random = Random::new(seed);
            let (objects, one_walks_in) = (random.whole(300, 900), [1, 2, 20][random.whole(0, 3) as usize]);
            let (side, rarely) = (random.between(20.0, 40.0), random.whole(1, 20));
            let mut spheres = Spheres::new();
            let mut velocities = Vec::new();
            for _ in 0..objects {
                let radius =
                    if random.whole(0, 100) == 0 { random.between(2.0, 8.0) } else { random.between(0.2, 1.0) };
                let walks = random.whole(0, one_walks_in) == 0;
                let speed = if random.whole(0, 100) == 0 { 2.0 } else { 0.1 };
                spheres.insert(Sphere::new(random.point(side), radius)).unwrap();
                velocities.push(random.direction() * if walks { speed } else { 0.0 });
            }
            World { random, side, spheres, velocities, rarely }
        }

        fn step(&mut self) {
            self.spheres.end_tick();
            let World { random, side, spheres, velocities, .. } = self;
            for (row, velocity) in velocities.iter_mut().enumerate().filter(|(_, velocity)| **velocity != Vec3::ZERO) {
                if spheres.is_alive(Slot::new(row as u32)) && random.whole(0, 300) == 0 {
                    *velocity = random.direction() * velocity.length();
                }
            }
            walk(spheres, velocities, *side);
            if random.whole(0, self.rarely) == 0 {
                self.happen();
            }
        }

        /// Something happens to somebody.
        fn happen(&mut self) {
            let World { random, side, spheres, velocities, .. } = self;
            let row = random.whole(0, velocities.len() as u32);
            let (slot, next) = (Slot::new(row), Sphere::new(random.point(*side), random.between(0.2, 3.0)));
            match random.whole(0, 7) {
                0 => {
                    // Perhaps many at once, in one place.
                    let many = if random.whole(0, 8) == 0 && spheres.len() < 1_200 { spheres.len() / 10 } else { 1 };
                    for _ in 0..many {
                        let place = next.center + random.in_ball() * 3.0;
                        spheres.insert(Sphere::new(place, 0.3 * next.radius)).unwrap();
                    }
                    velocities.resize(spheres.rows(), Vec3::ZERO);
                }
                _ if !spheres.is_alive(slot) => {}
                1 => spheres.move_to(slot, next.center).unwrap(),
                2 => spheres.resize(slot, next.radius).unwrap(),
                3 => {
                    spheres.remove(slot).unwrap();
                }
                4 => {
                    spheres.remove(slot).unwrap();
                    assert_eq!(spheres.insert(next).unwrap(), slot);
                }
                5 => velocities[row as usize] = Vec3::ZERO,
                _ => velocities[row as usize] = random.direction() * 0.1,
            }
        }
    }

    /// Whatever happens while courses begin, and in ticks that are looked at again: the pairs are those of brute force, and what began
    /// and ended is what a comparison finds. Every now and then all leap, and courses begin anew.
    #[test]
    fn courses_that_begin_little_by_little_lose_nobody() {
        let (mut rehearsed, mut began) = (0, 0);
        // Seed 42 lost somebody who came in the first tick, after it had been looked at.
        for seed in (0..24).chain([42]) {
            let mut world = World::new(seed);
            let mut trial = Trial::new(seed);
            let mut was_following = false;
            for tick in 0..700 {
                trial.tick(&world.spheres);
                // As if this world had been there for long.
                trial.kinesphere.now += if tick == 0 { 1_000 } else { 0 };
                let Trial { kinesphere, .. } = &trial;
                rehearsed += usize::from(kinesphere.beginning.is_some_and(|it| it.is_rehearsal(kinesphere.now)));
                began += usize::from(!was_following && kinesphere.is_following());
                was_following = kinesphere.is_following();
                if world.random.whole(0, 17) == 0 {
                    world.happen();
                    world.spheres.insert(Sphere::new(world.random.point(world.side), 0.5)).unwrap();
                    world.velocities.resize(world.spheres.rows(), Vec3::ZERO);
                    trial.tick(&world.spheres);
                }
                if tick == 350 {
                    world.spheres.end_tick();
                    for slot in world.spheres.slots().collect::<Vec<_>>() {
                        world.spheres.move_to(slot, world.random.point(world.side)).unwrap();
                    }
                    trial.tick(&world.spheres);
                }
                world.step();
            }
        }
        println!("{rehearsed} ticks of rehearsals; courses began {began} times");
        assert!(rehearsed > 1_000 && began > 30, "{rehearsed} ticks of rehearsals; courses began {began} times");
    }

    /// Tiles that have not looked around yet fill up, and have their turns one by one: the rehearsal takes longer.
    #[test]
    fn a_rehearsal_goes_on_until_everybody_has_looked_around() {
        let mut random = Random::new(1);
        let mut spheres = Spheres::new();
        let mut place = || random.point(1.0) * Vec3::new(10.0, 300.0, 300.0);
        (0..3_000).for_each(|_| assert!(spheres.insert(Sphere::new(place(), 1.0)).is_ok()));
        let (mut trial, mut rehearsed) = (Trial::new(0), 0);
        for tick in 0..120 {
            trial.tick(&spheres);
            // As if this world had been there for long.
            trial.kinesphere.now += if tick == 0 { 1_000 } else { 0 };
            let Trial { kinesphere, .. } = &trial;
            spheres.end_tick();
            if kinesphere.beginning.is_some_and(|it| it.is_rehearsal(kinesphere.now)) {
                rehearsed += 1;
                let many = if rehearsed <= 10 { spheres.len() / 12 } else { 0 };
                (0..many).for_each(|_| assert!(spheres.insert(Sphere::new(place(), 1.0)).is_ok()));
            }
        }
        assert!(trial.kinesphere.is_following() && rehearsed > REHEARSAL, "{rehearsed} ticks of rehearsals");
    }
}
