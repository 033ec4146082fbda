//! Tiles that fall due before their time, in ticks that have little else to do.
//!
//! How many stray in a tick is anybody's guess. Where everything takes a few microseconds, a tick in which several do, and a
//! few tiles fall due, takes several times as long as usual. So in a tick with little to do the next tiles fall due at once:
//! then there are none left, most of the time, when somebody strays.
//!
//! Invariants:
//! - Whoever is in such a tile has no meetings from before. They would last until the tile was to fall due, and are found anew.
//! - No tile falls due early when a tick is looked at again: of two tiles renewed in a tick only one looks at the other, so they
//!   have to be renewed in the same look.

use super::following::Following;

impl Following {
    /// Lets tiles fall due early, if there is little to do in this tick.
    pub(super) fn hasten_tiles(&mut self) {
        let Following { calendar, lattice, strayed, now, .. } = self;
        let layers = &lattice.layers;
        let life_of = |layer: u32| layers[layer as usize].life;
        calendar.hasten(*now, strayed.len(), &mut lattice.tiles, life_of, &mut self.early);
        for index in 0..self.early.len() {
            self.outdate_all(self.early[index]);
        }
    }

    /// Notes how much there was to do.
    pub(super) fn note_work(&mut self) {
        let tiles = self.due.iter().map(|&tile| &self.lattice.tiles[tile as usize]);
        let objects = tiles.clone().map(|tile| tile.len()).sum();
        let work = tiles.map(|tile| u64::from(tile.work)).sum();
        self.calendar.note(work, objects, self.strayed.len(), self.pace.longest);
    }
}

#[cfg(test)]
mod tests {
    use crate::broad::kinesphere::trial::{Trial, walk};
    use crate::workload::Random;
    use crate::{Slot, Sphere, Spheres};

    /// A few who turn every now and then, in a crowd that stands, so that tiles fall due early: the pairs are those of brute force,
    /// and what began and ended is what a comparison finds, also in ticks that are looked at again.
    #[test]
    fn tiles_that_fall_due_early_lose_nobody() {
        let (mut early, mut with_strays) = (0, 0);
        // Seed 49 missed a pair when tiles fell due early in a tick that was looked at again.
        for seed in (0..24).chain([49]) {
            let mut random = Random::new(seed);
            let (side, walkers) = (20.0, random.whole(20, 80) as usize);
            let mut spheres = Spheres::new();
            let mut velocities = Vec::new();
            for _ in 0..800 {
                spheres.insert(Sphere::new(random.point(side), random.between(0.2, 1.0))).unwrap();
            }
            velocities.resize_with(walkers, || random.direction() * 0.1);
            let mut trial = Trial::new(seed);
            for _ in 0..500 {
                trial.tick(&spheres);
                let kinesphere = &mut trial.kinesphere;
                if kinesphere.is_following() {
                    early += kinesphere.following.early.len();
                    with_strays += usize::from(!kinesphere.following.strayed.is_empty());
                    kinesphere.following.early.clear();
                }
                if random.whole(0, 17) == 0 {
                    // Somebody is put elsewhere, and the tick looked at again.
                    let slot = Slot::new(random.whole(0, 800));
                    spheres.move_to(slot, random.point(side)).unwrap();
                    trial.tick(&spheres);
                }
                spheres.end_tick();
                for velocity in &mut velocities {
                    if random.whole(0, 100) == 0 {
                        *velocity = random.direction() * 0.1;
                    }
                }
                walk(&mut spheres, &mut velocities, side);
            }
        }
        println!("{early} tiles fell due early; somebody strayed in {with_strays} ticks");
        assert!(early > 1_000 && with_strays > 500, "{early} tiles; strays in {with_strays} ticks");
    }
}
