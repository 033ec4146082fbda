//! Where seekers want to be, without a memory: a function of the seed, the seeker and the tick.
//!
//! As in [`Motion::Seekers`](super::Motion::Seekers), each seeker heads for one of a few targets; targets change
//! their place now and then, and seekers their target. A world restored from a snapshot needs no history of wishes.

use crate::Vec3;

use super::Random;

#[derive(Clone, Debug)]
pub struct Wishes {
    seed: u64,
    low: Vec3,
    high: Vec3,
    /// Where each target is, and since which of its changes.
    targets: Vec<(u64, Vec3)>,
    /// Which target each seeker has, and from which tick until which: remembered, as working it out takes a while.
    seekers: Vec<(u64, u64, u32)>,
}

/// After how many ticks a target changes its place, and a seeker its target.
const TARGET_TICKS: u64 = 900;
const SEEKER_TICKS: u64 = 400;

impl Wishes {
    /// Wishes for `seekers` seekers, about fifty per target, to be somewhere between two corners. Takes about 25 bytes
    /// per seeker.
    pub fn new(seed: u64, seekers: usize, low: Vec3, high: Vec3) -> Wishes {
        let targets = seekers.div_ceil(50).max(1);
        Wishes { seed, low, high, targets: vec![(u64::MAX, low); targets], seekers: vec![(0, 0, 0); seekers] }
    }

    /// Looks where the targets are at `tick`. To be called before the wishes of that tick are asked for.
    pub fn begin(&mut self, tick: u64) {
        let (seed, low, high) = (self.seed, self.low, self.high);
        for (index, (since, place)) in self.targets.iter_mut().enumerate() {
            let own = mixed(seed, index as u64, 0);
            let change = tick.saturating_add(own % TARGET_TICKS) / TARGET_TICKS;
            if *since != change {
                let mut random = Random::new(mixed(own, change, 1));
                let share = Vec3::new(random.unit(), random.unit(), random.unit());
                (*since, *place) = (change, low + (high - low) * share);
            }
        }
    }

    /// Where a seeker wants to be at `tick`.
    pub fn place(&mut self, seeker: usize, tick: u64) -> Vec3 {
        let target = match self.seekers.get(seeker) {
            Some(&(from, until, target)) if (from..until).contains(&tick) => target,
            _ => self.choose(seeker, tick),
        };
        self.targets[target as usize].1
    }

    /// Which target a seeker has at `tick`.
    fn choose(&mut self, seeker: usize, tick: u64) -> u32 {
        let own = mixed(self.seed, seeker as u64, 2);
        let ahead = own % SEEKER_TICKS;
        let change = tick.saturating_add(ahead) / SEEKER_TICKS;
        let target = (mixed(own, change, 3) % self.targets.len() as u64) as u32;
        if let Some(known) = self.seekers.get_mut(seeker) {
            let from = (change * SEEKER_TICKS).saturating_sub(ahead);
            *known = (from, (change + 1).saturating_mul(SEEKER_TICKS) - ahead, target);
        }
        target
    }
}

/// Three numbers made one, every bit of which depends on all of theirs.
fn mixed(a: u64, b: u64, c: u64) -> u64 {
    let mut word = a ^ b.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ c.wrapping_mul(0xd1b5_4a32_d192_ed03);
    for _ in 0..2 {
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^= word >> 31;
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_need_no_memory() {
        let corners = (Vec3::new(-9.0, 0.0, -9.0), Vec3::new(9.0, 0.0, 30.0));
        let mut walked = Wishes::new(7, 200, corners.0, corners.1);
        let mut places = Vec::new();
        for tick in 0..2_000 {
            walked.begin(tick);
            let mut jumped = Wishes::new(7, 200, corners.0, corners.1);
            jumped.begin(tick);
            assert_eq!(walked.place(17, tick), jumped.place(17, tick), "tick {tick}");
            places.push(walked.place(17, tick));
        }
        assert!(places.iter().all(|place| place.cmpge(corners.0).all() && place.cmple(corners.1).all()));
        places.dedup();
        assert!((3..20).contains(&places.len()), "{} places in 2000 ticks", places.len());
    }

    /// The sums of a tick and a share of a period overflowed.
    #[test]
    fn the_last_ticks_have_wishes_too() {
        let new = || Wishes::new(7, 200, Vec3::ZERO, Vec3::ONE);
        let mut walked = new();
        for tick in u64::MAX - 2_000..=u64::MAX {
            let mut jumped = new();
            walked.begin(tick);
            jumped.begin(tick);
            for seeker in [0, 17, 199, usize::MAX] {
                assert_eq!(walked.place(seeker, tick), jumped.place(seeker, tick), "tick {tick}, seeker {seeker}");
            }
        }
    }
}
