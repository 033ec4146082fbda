//! Circles that are at home: laid out from tick to tick, as most crowds meet nobody else.
//!
//! A circle at home is all that is known of its members: the graph has none of their pairs, and the lists none of their
//! groups. What begins and ends within it is *addressed* to it, and repaired there. A circle whose member meets somebody
//! from elsewhere gives up its home: it is written into the graph and the lists, and both are laid out as one then, or
//! repaired by lists if they are too many. Now and then a circle that has fallen apart gives it up as well: two crowds
//! that met and parted are two circles.
//!
//! Invariants, between two ticks:
//! - The room of each member of a circle at home says which home it is, and its tag. Nobody else has a room.
//! - A pair has both its objects in one home, or none of them in any; so has a group.

use space::{Pair, Slot};

use super::circle::{AnyCircle, Desks, News};
use super::ledger::Ledger;
use super::tidy::Tidying;

/// No home.
pub const NOWHERE: u32 = 0;
/// How often it is asked whether a circle has fallen apart: once in so many ticks.
const ASKED: u32 = 32;

/// All homes.
#[derive(Clone, Debug, Default)]
pub struct Homes {
    rooms: Vec<Room>,
    /// That of home 1 is the first.
    homes: Vec<Home>,
    free: Vec<u32>,
    pub desks: Desks,
    /// What was addressed to homes in this tick; once delivered, that of each home follows that of the one before.
    addressed: Vec<(u32, News)>,
    delivered: Vec<News>,
}

/// Where an object lives.
#[derive(Clone, Copy, Debug, Default)]
struct Room {
    home: u32,
    tag: u32,
}

#[derive(Clone, Debug, Default)]
struct Home {
    circle: AnyCircle,
    is_taken: bool,
    /// The tick in which it was repaired last.
    mended: u32,
    /// Where what was delivered to it begins and ends.
    start: u32,
    end: u32,
}

impl Homes {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.homes.len() == self.free.len()
    }

    /// All homes that there are.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (1..=self.last()).filter(|&home| self.is_taken(home))
    }

    /// The home of the highest number, taken or not.
    pub fn last(&self) -> u32 {
        self.homes.len() as u32
    }

    /// Whether there is a circle at a home.
    pub fn is_taken(&self, home: u32) -> bool {
        self.homes[home as usize - 1].is_taken
    }

    /// The home of an object.
    #[inline]
    pub fn of(&self, slot: Slot) -> u32 {
        self.rooms.get(slot.row()).map_or(NOWHERE, |room| room.home)
    }

    /// The circle of an object, and its tag there.
    pub fn circle_of(&self, slot: Slot) -> Option<(&AnyCircle, usize)> {
        let room = self.rooms.get(slot.row()).filter(|room| room.home != NOWHERE)?;
        Some((self.circle(room.home), room.tag as usize))
    }

    /// The circle at a home.
    pub fn circle(&self, home: u32) -> &AnyCircle {
        &self.homes[home as usize - 1].circle
    }

    /// Takes the circle out of a home, which waits for it to come back.
    pub fn take(&mut self, home: u32) -> AnyCircle {
        std::mem::take(&mut self.homes[home as usize - 1].circle)
    }

    /// A home without a circle.
    pub fn find(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.homes.push(Home::default());
            self.homes.len() as u32
        })
    }

    /// Gives a circle that was repaired in a tick a home, or takes it back.
    pub fn settle(&mut self, home: u32, circle: AnyCircle, tick: u32) {
        let place = &mut self.homes[home as usize - 1];
        if !std::mem::replace(&mut place.is_taken, true) {
            let rows = circle.slots().last().map_or(0, |slot| slot.row() + 1);
            if self.rooms.len() < rows {
                self.rooms.resize(rows.next_multiple_of(64), Room::default());
            }
            for (tag, slot) in circle.slots().iter().enumerate() {
                self.rooms[slot.row()] = Room { home, tag: tag as u32 };
            }
        }
        place.circle = circle;
        place.mended = tick;
    }

    /// Gives up a home. Its circle is what it was until the home is taken again.
    pub fn give_up(&mut self, home: u32) -> &AnyCircle {
        let place = &mut self.homes[home as usize - 1];
        place.is_taken = false;
        place.circle.slots().iter().for_each(|slot| self.rooms[slot.row()] = Room::default());
        self.free.push(home);
        &place.circle
    }

    /// Whether a circle has been repaired in this tick.
    pub fn is_mended(&self, home: u32, tick: u32) -> bool {
        self.homes[home as usize - 1].mended == tick
    }

    /// Whether a circle should give up its home, as it is no longer one. It is not asked in every tick.
    pub fn has_fallen_apart(&self, home: u32, tick: u32) -> bool {
        tick % ASKED == home % ASKED && !self.circle(home).is_one()
    }

    /// Nothing has been addressed to anybody.
    pub fn clear(&mut self) {
        self.addressed.clear();
    }

    /// Addresses a pair to its home, if it has one.
    #[inline]
    pub fn address(&mut self, pair: Pair, begins: bool) -> bool {
        let [one, other] = [pair.a(), pair.b()].map(|slot| self.rooms.get(slot.row()).copied().unwrap_or_default());
        if one.home == NOWHERE || one.home != other.home {
            return false;
        }
        self.addressed.push((one.home, News::new(one.tag as usize, other.tag as usize, begins)));
        true
    }

    /// Brings everything to where it was addressed to, in order.
    pub fn deliver(&mut self) {
        let Homes { homes, addressed, delivered, .. } = self;
        homes.iter_mut().for_each(|home| home.end = 0);
        addressed.iter().for_each(|(home, _)| homes[*home as usize - 1].end += 1);
        let mut sum = 0;
        for home in homes.iter_mut() {
            (home.start, sum) = (sum, sum + home.end);
            home.end = home.start;
        }
        delivered.resize(addressed.len(), News::new(0, 0, false));
        for (home, news) in addressed {
            let end = &mut homes[*home as usize - 1].end;
            delivered[*end as usize] = *news;
            *end += 1;
        }
    }

    /// What was delivered to a home: first what ended.
    pub fn news(&self, home: u32) -> &[News] {
        let Home { start, end, .. } = self.homes[home as usize - 1];
        &self.delivered[start as usize..end as usize]
    }

    /// Begins to fetch the circle at a home, if there is one.
    pub fn fetch(&self, home: u32) {
        if let Some(home) = self.homes.get(home as usize - 1).filter(|home| home.is_taken) {
            home.circle.fetch();
        }
    }

    /// Repairs the circle at a home in a tick.
    pub fn mend(&mut self, home: u32, tidying: &Tidying, tick: u32, ledger: &mut Ledger) {
        let Home { circle, start, end, mended, .. } = &mut self.homes[home as usize - 1];
        let news = &self.delivered[*start as usize..*end as usize];
        circle.mend(&mut self.desks, news, tidying, home, ledger);
        *mended = tick;
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.homes.iter().map(|home| home.circle.bytes()).sum::<usize>()
            + self.homes.capacity() * size_of::<Home>()
            + self.rooms.capacity() * size_of::<Room>()
            + 4 * (self.free.capacity() + self.delivered.capacity())
            + self.addressed.capacity() * size_of::<(u32, News)>()
            + self.desks.bytes()
    }
}
