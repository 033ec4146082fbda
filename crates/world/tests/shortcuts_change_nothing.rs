//! The shortcuts for walkers, and the odometer by which walls are not searched, change no bit of the outcome.

use kinesphere_world::{Plaza, World};

#[test]
fn shortcuts_change_nothing() {
    for seed in 0..6 {
        // The smaller the plaza, the more contacts.
        let plaza = Plaza { seekers: 400, seed, ..Plaza::for_avatars([60, 150, 400][seed as usize % 3]) };
        let (mut quick, mut thorough) = (World::new(plaza.spec()).unwrap(), World::new(plaza.spec()).unwrap());
        thorough.take_no_shortcuts();
        let mut contacts = 0;
        for tick in 0..150 {
            contacts += quick.step(&[]).contacts.len();
            thorough.step(&[]);
            assert_eq!(quick.outcome().contacts, thorough.outcome().contacts, "seed {seed}, tick {tick}");
            assert_eq!(quick.hash(), thorough.hash(), "seed {seed}, tick {tick}");
        }
        assert!(contacts > 1_000, "seed {seed}: {contacts} contacts");
    }
}
