//! The broad phases that are compared: one line each, under the names that the command line, the tables and the plots
//! use.

use space::BroadPhase;
use space::broad::{
    BruteForce, GridSweepAndPrune, Kinesphere, Octree, PlainGrid, SweepAndPrune, SweepOneAxis, UniformGrid,
};

use crate::parry_rival::{ParryIncremental, ParryRebuild, ParryRefit, Upkeep};

/// A way to find the pairs, and when it is worth trying.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// What it is called everywhere.
    pub name: &'static str,
    /// Beyond this many objects it runs only when asked for by name: a comparison should end.
    pub objects_max: usize,
    /// Makes it, empty. A method with more than one way to be set up is judged by the best of them.
    pub make: fn(Circumstances) -> Vec<Contender>,
}

/// What a method may know before it starts.
#[derive(Clone, Copy, Debug)]
pub struct Circumstances {
    /// How many threads it may use.
    pub threads: usize,
}

/// A method, set up and ready.
pub struct Contender {
    /// How it was set up, where there are several ways.
    pub variant: Option<&'static str>,
    /// The method itself.
    pub broad_phase: Box<dyn BroadPhase>,
}

/// All methods, ours first, in the order of the tables.
pub const METHODS: &[Method] = &[
    Method { name: "kinesphere", objects_max: usize::MAX, make: |with| one(Kinesphere::with_threads(with.threads)) },
    Method { name: "plain-grid", objects_max: usize::MAX, make: |_| one(PlainGrid::default()) },
    Method { name: "brute-force", objects_max: 10_000, make: |_| one(BruteForce) },
    Method { name: "octree", objects_max: 100_000, make: |_| one(Octree::default()) },
    Method { name: "uniform-grid", objects_max: 100_000, make: |_| one(UniformGrid::default()) },
    Method { name: "sweep-and-prune", objects_max: 100_000, make: |_| one(SweepAndPrune::default()) },
    Method { name: "sweep-one-axis", objects_max: 100_000, make: |_| one(SweepOneAxis::default()) },
    Method { name: "grid-sweep-and-prune", objects_max: 100_000, make: |_| one(GridSweepAndPrune::default()) },
    Method { name: "parry-refit", objects_max: usize::MAX, make: |_| parry_refit() },
    Method { name: "parry-rebuild", objects_max: usize::MAX, make: |_| one(ParryRebuild::new()) },
    Method { name: "parry-incremental", objects_max: usize::MAX, make: |_| parry_incremental() },
];

/// A name that no method has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no method is called `{name}`; there are {}", known())]
pub struct UnknownMethod {
    /// The name that was given.
    pub name: String,
}

impl Method {
    /// The method called `name`.
    pub fn named(name: &str) -> Result<&'static Method, UnknownMethod> {
        METHODS.iter().find(|method| method.name == name).ok_or_else(|| UnknownMethod { name: name.to_owned() })
    }

    /// The methods that end in reasonable time with this many objects.
    pub fn feasible(objects: usize) -> Vec<&'static Method> {
        METHODS.iter().filter(|method| objects <= method.objects_max).collect()
    }
}

/// All names, as one reads them out.
pub fn known() -> String {
    METHODS.iter().map(|method| method.name).collect::<Vec<_>>().join(", ")
}

fn one(broad_phase: impl BroadPhase + 'static) -> Vec<Contender> {
    vec![Contender { variant: None, broad_phase: Box::new(broad_phase) }]
}

fn parry_refit() -> Vec<Contender> {
    upkeeps().map(|(variant, upkeep)| variant_of(variant, ParryRefit::new(upkeep))).into()
}

fn parry_incremental() -> Vec<Contender> {
    upkeeps().map(|(variant, upkeep)| variant_of(variant, ParryIncremental::new(upkeep))).into()
}

fn upkeeps() -> [(&'static str, Upkeep); 2] {
    [("optimised every tick", Upkeep::Optimise), ("rebuilt every 20 ticks", Upkeep::Rebuild { every: 20 })]
}

fn variant_of(variant: &'static str, broad_phase: impl BroadPhase + 'static) -> Contender {
    Contender { variant: Some(variant), broad_phase: Box::new(broad_phase) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_has_a_name_of_its_own_and_can_be_made() {
        for (index, method) in METHODS.iter().enumerate() {
            assert_eq!(METHODS.iter().position(|other| other.name == method.name), Some(index));
            assert!(!(method.make)(Circumstances { threads: 1 }).is_empty());
        }
        let error = Method::named("bubble-sort").unwrap_err().to_string();
        assert!(error.starts_with("no method is called `bubble-sort`; there are "), "{error}");
    }
}
