//! Those who walk past everybody are settled by a shortcut, and walls that cannot be reached yet are not looked for. The
//! long way comes to the same, to the bit.

use kinesphere_world::{Plaza, World};

#[test]
fn shortcuts_change_nothing() {
    for seed in 0..6 {
        // The fewer square metres each has, the more of them are in others' way.
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
