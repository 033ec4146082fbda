//! Every broad phase finds exactly what brute force finds, tick after tick, whatever it remembers and whatever happens
//! to the world in between.
//!
//! A failure prints the world, the seed and the tick; worlds depend on nothing else, so that running the named test
//! again repeats it.

mod agreement;

use kinesphere_space::broad::{GridSweepAndPrune, Octree, PlainGrid, SweepAndPrune, SweepOneAxis, UniformGrid};
use kinesphere_space::{BroadPhase, Kinesphere, Vec3};

/// Everything that claims to be a broad phase. A new method is one more line.
fn methods() -> Vec<(&'static str, Box<dyn BroadPhase>)> {
    let (low, high, cells) = (Vec3::splat(-5.0), Vec3::splat(5.0), [7, 3, 5]);
    vec![
        ("Kinesphere", Box::new(Kinesphere::default())),
        ("Kinesphere, eager", Box::new(Kinesphere::default().eager())),
        ("Kinesphere, tracking changes", Box::new(Kinesphere::default().tracking_changes())),
        ("GridSweepAndPrune", Box::new(GridSweepAndPrune::default())),
        ("GridSweepAndPrune over a small box", Box::new(GridSweepAndPrune::new(low, high, cells).unwrap())),
        ("Octree", Box::new(Octree::default())),
        ("Octree of depth 6", Box::new(Octree::new(6).unwrap())),
        ("PlainGrid", Box::new(PlainGrid::default())),
        ("SweepAndPrune", Box::new(SweepAndPrune::default())),
        ("SweepOneAxis", Box::new(SweepOneAxis::default())),
        ("UniformGrid", Box::new(UniformGrid::default())),
        ("UniformGrid over a small box", Box::new(UniformGrid::new(low, high, cells).unwrap())),
    ]
}
