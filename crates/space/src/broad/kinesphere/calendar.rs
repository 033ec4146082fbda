//! Which tiles fall due when, and how much there will be to do then.
//!
//! Tiles are [staggered](super::stagger) when courses begin, by how many objects are in them. How long it takes to look around
//! from one is not known by then: a single giant may have more to look at than a hundred others. So each tile's *work* is noted
//! when it is examined. When more falls due in a tick than usual, some of it falls due a little sooner the next time, in a tick
//! that has room: a life may be shorter than others, at any time.
//!
//! Invariant: a tile with moving objects is entered in the day of its due tick, and nobody else is.

use super::agenda::LOOK_AHEAD;
use super::room::{Part, make_room};
use super::tile::Tile;

/// The ticks to come.
#[derive(Debug, Default)]
pub struct Calendar {
    /// By the tick, modulo [`LOOK_AHEAD`]: no tile lives for longer.
    days: Vec<Day>,
    /// How much there was to do in a tick, on average, and for one object of a tile that fell due.
    usual: f64,
    usual_each: f64,
}

/// What an object's look is taken for until one is known.
const UNKNOWN_WORK: f64 = 1_000.0;

/// About how much work it is to look around for one who strayed. If there is as much to do as if this many had, in a usual tick,
/// then one more or less makes no difference.
const STRAY: u64 = 2_400;
const MANY_STRAYS: u64 = 16;

/// No tile falls due sooner by more than one in so many ticks of its life because others have little to do.
const EARLIEST: u64 = 8;

/// Nor do more than this in one tick.
pub const EARLY_MAX: usize = 32;

/// The tiles that fall due in a tick.
#[derive(Debug, Default)]
struct Day {
    tiles: Vec<u32>,
    /// How much work they were the last time.
    work: u64,
}

impl Calendar {
    /// Forgets all.
    pub fn reset(&mut self) {
        self.days.resize_with(LOOK_AHEAD as usize, || Day { tiles: Vec::with_capacity(16), work: 0 });
        self.days.iter_mut().for_each(Day::clear);
        (self.usual, self.usual_each) = (0.0, UNKNOWN_WORK);
    }

    /// Enters a tile in the day of its due tick.
    pub fn enter(&mut self, number: u32, tile: &Tile) {
        let day = &mut self.days[(tile.due % LOOK_AHEAD) as usize];
        day.tiles.push(number);
        day.work += u64::from(tile.work);
    }

    /// Moves those who fall due in a tick to a list.
    pub fn take(&mut self, now: u64, due: &mut Vec<u32>) {
        let day = &mut self.days[(now % LOOK_AHEAD) as usize];
        due.append(&mut day.tiles);
        day.work = 0;
    }

    /// Notes how much there was to do in a tick: so much for so many objects of tiles that fell due, and for so many who strayed.
    /// Averages forget as slowly as tiles fall due.
    pub fn note(&mut self, work: u64, objects: usize, strays: usize, life: u64) {
        let memory = (2 * life) as f64;
        self.usual += ((work + strays as u64 * STRAY) as f64 - self.usual) / memory;
        if objects > 0 {
            self.usual_each += (work as f64 / objects as f64 - self.usual_each) / memory;
        }
    }

    /// How much work it will be, presumably, to look around for somebody who has a new tile.
    pub fn work_of_one(&self) -> u32 {
        self.usual_each as u32
    }

    /// If there is little to do in this tick, in which so many strayed, lets tiles fall due now that would do so soon, the soonest
    /// first, as long as that makes it a usual one; and one of them in any case if there is nothing to do. Adds them to a list.
    pub fn hasten(
        &mut self,
        now: u64,
        strays: usize,
        tiles: &mut [Tile],
        life_of: impl Fn(u32) -> u64,
        early: &mut Vec<u32>,
    ) {
        let usual = self.usual as u64;
        let mut work = strays as u64 * STRAY + self.work_at(now);
        let is_little = 4 * work < 3 * usual;
        if !is_little || usual > MANY_STRAYS * STRAY {
            return;
        }
        for tick in now + 1..=now + LOOK_AHEAD / EARLIEST {
            let day = &mut self.days[(tick % LOOK_AHEAD) as usize];
            day.tiles.retain(|&number| {
                let tile = &mut tiles[number as usize];
                let is_early = early.len() < EARLY_MAX
                    && (tick - now) * EARLIEST <= life_of(tile.layer)
                    && (work == 0 || work + u64::from(tile.work) <= with_margin(usual));
                if is_early {
                    tile.due = now;
                    work += u64::from(tile.work);
                    day.work = day.work.saturating_sub(u64::from(tile.work));
                    early.push(number);
                }
                !is_early
            });
        }
        early.iter().for_each(|&number| self.enter(number, &tiles[number as usize]));
    }

    /// Adds up anew what there is to do.
    pub fn weigh(&mut self, tiles: &[Tile]) {
        for day in &mut self.days {
            day.work = day.tiles.iter().map(|&number| u64::from(tiles[number as usize].work)).sum();
        }
    }

    /// When a new tile falls due that lives for so many ticks: when there is least to do, and of those ticks the last.
    ///
    /// When many begin at once, as when those who stood begin to move, they do not fall due at once for ever.
    pub fn idlest_tick(&self, now: u64, life: u64) -> u64 {
        let ticks = (now + 1..=now + life).rev();
        let idle = ticks.clone().find(|&tick| self.work_at(tick) == 0);
        idle.or_else(|| ticks.min_by_key(|&tick| self.work_at(tick))).expect("a life has ticks")
    }

    /// When a tile of so much work falls due again that was renewed just now: after a life, or some time before that, if others
    /// already make up for a tick's work then.
    pub fn next_tick(&self, now: u64, life: u64, work: u32) -> u64 {
        let last = now + life;
        let before = self.work_at(last);
        if before == 0 {
            return last;
        }
        let usual = (now + 1..last).map(|tick| self.work_at(tick)).sum::<u64>() / life;
        let has_room = |&tick: &u64| self.work_at(tick) + u64::from(work) <= with_margin(usual);
        let mut ticks = (now + life / 2 + 1..=last).rev();
        let least = ticks.clone().min_by_key(|&tick| self.work_at(tick));
        ticks.find(has_room).or(least).unwrap_or(last)
    }

    /// Takes memory for more tiles than usual in some of the days: where those are that are little work, there is room for many.
    pub fn stock_up(&mut self, part: Part, usual: usize) {
        for Day { tiles, .. } in part.of(&mut self.days) {
            make_room(tiles, 4 * tiles.len().max(usual));
        }
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.days.capacity() * size_of::<Day>() + self.days.iter().map(|day| day.tiles.capacity() * 4).sum::<usize>()
    }

    fn work_at(&self, tick: u64) -> u64 {
        self.days[(tick % LOOK_AHEAD) as usize].work
    }
}

/// A tick may have so much work where this is usual. As with staggering: if ticks had to be just alike, no tile would be beside
/// its neighbours.
fn with_margin(usual: u64) -> u64 {
    usual * 5 / 4
}

impl Day {
    fn clear(&mut self) {
        self.tiles.clear();
        self.work = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Random;

    /// Lets all tiles live some lives, and tells how much work each tick of the last one was.
    fn work_per_tick(works: &[u32], mut due: impl FnMut() -> u64, life: u64, lives: u64) -> Vec<u64> {
        let mut calendar = Calendar::default();
        calendar.reset();
        let tile = |&work: &u32| {
            let mut tile = Tile::default();
            (tile.due, tile.work) = (due(), work);
            tile
        };
        let mut tiles: Vec<Tile> = works.iter().map(tile).collect();
        (0..).zip(&tiles).for_each(|(number, tile)| calendar.enter(number, tile));
        let (mut now_due, mut work) = (Vec::new(), Vec::new());
        for now in 0..lives * life {
            now_due.clear();
            calendar.take(now, &mut now_due);
            work.push(now_due.iter().map(|&number| u64::from(works[number as usize])).sum());
            for &number in &now_due {
                let tile = &mut tiles[number as usize];
                tile.due = calendar.next_tick(now, life, tile.work);
                assert!((now + life / 2 + 1..=now + life).contains(&tile.due));
                calendar.enter(number, tile);
            }
        }
        work.split_off(((lives - 1) * life) as usize)
    }

    /// However unlike they are, and even if all begin at once: after some lives no tick has much more to do than others, unless a
    /// single tile has.
    #[test]
    fn tiles_that_fall_due_together_part_ways() {
        for seed in 0..100 {
            let mut random = Random::new(seed);
            let life = u64::from(2 * random.whole(3, 49));
            let works: Vec<u32> = (0..random.whole(1, 400)).map(|_| random.log_uniform(1_000.0) as u32).collect();
            let spread = random.whole(1, life as u32 + 1);
            let last = work_per_tick(&works, || u64::from(random.whole(0, spread)), life, 12);
            let (most, largest) = (last.iter().max().unwrap(), works.iter().max().unwrap());
            let mean = works.iter().map(|&work| u64::from(work)).sum::<u64>() / life;
            assert!(*most <= mean * 3 / 2 + u64::from(*largest), "seed {seed}: {most}, mean {mean}, largest {largest}");
        }
    }

    /// Where nothing is out of the ordinary, nobody lives for less than its time.
    #[test]
    fn tiles_that_are_spread_stay_where_they_are() {
        let mut tick = 0;
        let next = || {
            tick += 1;
            tick % 48
        };
        let last = work_per_tick(&[1_000; 96], next, 48, 20);
        assert_eq!(last, [2_000; 48]);
    }

    /// Tiles fall due early in a tick with little to do, no more of them than make a usual one, and none much too soon.
    #[test]
    fn little_to_do_brings_tiles_forward() {
        let life = 64;
        let mut calendar = Calendar::default();
        calendar.reset();
        (0..2_000).for_each(|_| calendar.note(2_000, 2, 0, life));
        let mut tiles: Vec<Tile> = (0..4).map(|_| Tile::default()).collect();
        for (tile, (due, work)) in tiles.iter_mut().zip([(12, 700), (13, 5_000), (15, 1_100), (30, 100)]) {
            (tile.due, tile.work) = (due, work);
        }
        (0..).zip(&tiles).for_each(|(number, tile)| calendar.enter(number, tile));
        let mut early = Vec::new();
        calendar.hasten(10, 3, &mut tiles, |_| life, &mut early);
        assert!(early.is_empty(), "three strays are work enough");
        calendar.hasten(10, 0, &mut tiles, |_| life, &mut early);
        assert_eq!(early, [0, 2]);
        let mut due = Vec::new();
        calendar.take(10, &mut due);
        assert_eq!(due, [0, 2]);
        (11..16).for_each(|tick| calendar.take(tick, &mut due));
        assert_eq!(due, [0, 2, 1], "each falls due once");
        early.clear();
        tiles[1].due = 25;
        calendar.enter(1, &tiles[1]);
        calendar.hasten(20, 0, &mut tiles, |_| life, &mut early);
        assert_eq!(early, [1], "there is nothing else to do");
        assert_eq!(calendar.work_of_one(), 1_000);
    }
}
