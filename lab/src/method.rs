//! The broad phases that are compared: one line each, under the names that the command line, the tables and the plots
//! use.

use space::BroadPhase;
use space::broad::{
    BruteForce, GridSweepAndPrune, Kinesphere, Octree, PlainGrid, SweepAndPrune, SweepOneAxis, UniformGrid,
};

use crate::parry_rival::{ParryIncremental, ParryRebuild, ParryRefit, Upkeep};

/// A way to find the pairs.
#[derive(Clone, Copy, Debug)]
pub struct BroadPhaseMethod {
    pub name: &'static str,
    /// Beyond this number of objects it runs only when asked for by name: a comparison should end.
    pub objects_max: usize,
    /// Makes it, empty, for a number of threads. A method that can be set up in several ways is judged by the best.
    pub make: fn(usize) -> Vec<Contender>,
}

/// A method that is set up and ready.
pub struct Contender {
    /// How it was set up, where there are several ways.
    pub variant: Option<&'static str>,
    pub broad_phase: Box<dyn BroadPhase>,
}

/// All methods, ours first, in the order of the tables.
pub const METHODS: &[BroadPhaseMethod] = &[
    method("kinesphere", usize::MAX, |threads| one(Kinesphere::with_threads(threads))),
    method("plain-grid", usize::MAX, |_| one(PlainGrid::default())),
    method("brute-force", 10_000, |_| one(BruteForce)),
    method("octree", 100_000, |_| one(Octree::default())),
    method("uniform-grid", 100_000, |_| one(UniformGrid::default())),
    method("sweep-and-prune", 100_000, |_| one(SweepAndPrune::default())),
    method("sweep-one-axis", 100_000, |_| one(SweepOneAxis::default())),
    method("grid-sweep-and-prune", 100_000, |_| one(GridSweepAndPrune::default())),
    method("parry-refit", usize::MAX, |_| each_upkeep(|upkeep| Box::new(ParryRefit::new(upkeep)))),
    method("parry-rebuild", usize::MAX, |_| one(ParryRebuild::new())),
    method("parry-incremental", usize::MAX, |_| each_upkeep(|upkeep| Box::new(ParryIncremental::new(upkeep)))),
];

impl BroadPhaseMethod {
    /// The methods that end in reasonable time with this number of objects.
    pub fn feasible(objects: usize) -> Vec<&'static BroadPhaseMethod> {
        METHODS.iter().filter(|method| objects <= method.objects_max).collect()
    }
}

/// The method with this name.
pub fn named(name: &str) -> Result<&'static BroadPhaseMethod, String> {
    let found = METHODS.iter().find(|method| method.name == name);
    found.ok_or_else(|| format!("no method is called `{name}`; there are {}", known()))
}

/// All names, for a sentence.
pub fn known() -> String {
    METHODS.iter().map(|method| method.name).collect::<Vec<_>>().join(", ")
}

const fn method(name: &'static str, objects_max: usize, make: fn(usize) -> Vec<Contender>) -> BroadPhaseMethod {
    BroadPhaseMethod { name, objects_max, make }
}

fn one(broad_phase: impl BroadPhase + 'static) -> Vec<Contender> {
    vec![Contender { variant: None, broad_phase: Box::new(broad_phase) }]
}

fn each_upkeep(make: fn(Upkeep) -> Box<dyn BroadPhase>) -> Vec<Contender> {
    [("optimised every tick", Upkeep::Optimise), ("rebuilt every 20 ticks", Upkeep::Rebuild { every: 20 })]
        .map(|(variant, upkeep)| Contender { variant: Some(variant), broad_phase: make(upkeep) })
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_has_a_name_of_its_own_and_can_be_made() {
        for (index, method) in METHODS.iter().enumerate() {
            assert_eq!(METHODS.iter().position(|other| other.name == method.name), Some(index));
            assert!(!(method.make)(1).is_empty());
        }
        let error = named("bubble-sort").unwrap_err();
        assert!(error.starts_with("no method is called `bubble-sort`; there are "), "{error}");
    }
}
