//! parry's trees, as the lab uses them, find exactly what brute force finds, in all that our own broad phases are held
//! to.

// The shared module names the package.
extern crate space as kinesphere_space;

#[path = "../../crates/space/tests/agreement/mod.rs"]
mod agreement;

use lab::parry_rival::{ParryIncremental, ParryRebuild, ParryRefit, Upkeep};
use space::BroadPhase;

fn methods() -> Vec<(&'static str, Box<dyn BroadPhase>)> {
    vec![
        ("ParryRefit, optimised", Box::new(ParryRefit::new(Upkeep::Optimise))),
        ("ParryRefit, rebuilt", Box::new(ParryRefit::new(Upkeep::Rebuild { every: 5 }))),
        ("ParryRebuild", Box::new(ParryRebuild::new())),
        ("ParryIncremental, optimised", Box::new(ParryIncremental::new(Upkeep::Optimise))),
        ("ParryIncremental, rebuilt", Box::new(ParryIncremental::new(Upkeep::Rebuild { every: 5 }))),
    ]
}
