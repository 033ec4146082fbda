//! A server tells one place of an object per tick, to all its users: whether the object is its own, another
//! server's, or changes hands in that very tick; and never under two handles. To no two users it confirms that they
//! are in one place.

use kinesphere_sim::fleet::{Fleet, Weather};

/// Messages are late and lost, ticks come late, a server dies and another freezes and wakes.
fn run(seed: u64, users: usize) {
    let mut fleet = Fleet::new(3, users, Weather { delay_us: 60_000, loss: 0.05, late_us: 30_000, seed });
    fleet.run(10);
    fleet.kill(1);
    fleet.run(6);
    fleet.add_host(1);
    fleet.run(6);
    fleet.freeze(2, 3);
    fleet.run(10);
    let violations = fleet.checker.violations();
    assert_eq!((violations.contradictions, violations.overlaps), (0, 0), "seed {seed}: {violations:#?}");
    assert!(fleet.checker.places() > 50_000, "seed {seed}: {}", fleet.checker.places());
    assert!(fleet.redirects > 10, "seed {seed}: only {} were sent on", fleet.redirects);
}

#[test]
fn a_server_tells_one_place_per_tick() {
    (0..8).for_each(|seed| run(seed, 30));
    // Here a user was shown where another had been let in, and was told that it is there.
    run(31, 90);
}
