//! One object and three nodes, one of which may die or be cut off: in all interleavings up to a stated depth the
//! object is never lost and never doubled. Mistakes that were made on purpose are found.

use kinesphere_sim::nodes::explore::{Mistake, Settings, explore};

#[test]
fn never_lost_and_never_doubled() {
    for copies in [1, 2] {
        let settings = Settings { depth: 8, copies, ..Settings::default() };
        let found = explore(&settings);
        assert_eq!(found.failure, None, "{settings:?}");
        assert_eq!(found.depth, settings.depth);
        assert!(found.states < settings.states_max, "the depth is complete");
        assert!(found.states > 3_000, "{found:?}");
    }
}

#[test]
fn mistakes_are_found() {
    // That an old offer is taken again shows only at a greater depth: `crates/cluster/src/handover.rs` tests it.
    for mistake in [Mistake::AcknowledgesAtOnce, Mistake::AdoptsWithoutAsking] {
        let settings =
            Settings { depth: 14, upsets: 2, states_max: 150_000, mistake: Some(mistake), ..Settings::default() };
        let found = explore(&settings);
        assert!(found.failure.is_some(), "{mistake:?}: {found:?}");
    }
}
