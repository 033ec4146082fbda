//! Methods at work, and the pairs that they are held to.

use std::collections::BTreeMap;
use std::hint::black_box;

use space::{BroadPhase, Pair, Spheres};

use super::{Disagreement, Row};
use crate::allocator::growth;
use crate::fingerprint::Fingerprint;
use crate::method::{BroadPhaseMethod, named};
use crate::stopwatch::{Elapsed, Stopwatch, TickTimes, timed};

/// Up to here brute force is quick enough to run along.
const BRUTE_FORCE_BELOW: usize = 5_000;

/// A method at work, and what was measured of it.
pub struct Runner {
    method: &'static str,
    variant: Option<&'static str>,
    broad_phase: Box<dyn BroadPhase>,
    times: Vec<Elapsed>,
    sphere_tests: u64,
    /// By how much the heap grew while it ran, without the list of pairs.
    bytes: i64,
    last: Fingerprint,
    /// When it first found other pairs than the rest.
    pub disagreement: Option<Disagreement>,
}

impl Runner {
    /// The methods that take part, once for each way to set them up.
    pub fn all(methods: &[&'static BroadPhaseMethod], threads: usize) -> Vec<Runner> {
        let mut runners = Vec::new();
        for method in methods {
            for contender in (method.make)(threads) {
                runners.push(Runner {
                    method: method.name,
                    variant: contender.variant,
                    broad_phase: contender.broad_phase,
                    times: Vec::new(),
                    sphere_tests: 0,
                    bytes: 0,
                    last: Fingerprint::default(),
                    disagreement: None,
                });
            }
        }
        runners
    }

    /// One tick, from new positions to the complete list of pairs.
    pub fn run(&mut self, spheres: &Spheres, pairs: &mut Vec<Pair>, stopwatch: &mut dyn Stopwatch, is_measured: bool) {
        let capacity = pairs.capacity();
        let ((work, elapsed), bytes) = growth(|| timed(stopwatch, || self.broad_phase.pairs(spheres, pairs)));
        self.bytes += bytes - (pairs.capacity() as i64 - capacity as i64) * size_of::<Pair>() as i64;
        if is_measured {
            self.times.push(elapsed);
            self.sphere_tests += work.sphere_tests;
        }
        self.last = Fingerprint::of(pairs);
    }

    /// Of each tick, the least that it took in this run or in another on the same frames.
    pub fn keep_least(&mut self, again: Runner) {
        for (time, other) in self.times.iter_mut().zip(again.times) {
            time.cpu_ms = time.cpu_ms.min(other.cpu_ms);
            time.wall_ms = time.wall_ms.min(other.wall_ms);
        }
        self.disagreement = self.disagreement.take().or(again.disagreement);
    }

    pub fn row(&self, objects: usize) -> Row {
        Row {
            method: self.method,
            variant: self.variant,
            times: TickTimes::of(&self.times),
            sphere_tests: self.sphere_tests / self.times.len() as u64,
            bytes_per_object: self.bytes.max(0) as f64 / objects.max(1) as f64,
            agrees: self.disagreement.is_none(),
        }
    }
}

/// What any method must do at least: read the positions, write the pairs.
#[derive(Default)]
pub struct Floor {
    written: Vec<Pair>,
    cpu_ms: Vec<f64>,
}

impl Floor {
    /// Reads and writes, once.
    pub fn run(&mut self, spheres: &Spheres, pairs: &[Pair], stopwatch: &mut dyn Stopwatch) {
        let written = &mut self.written;
        let ((), elapsed) = timed(stopwatch, || {
            let columns = spheres.columns();
            black_box([columns.x, columns.y, columns.z, columns.radius].map(lane_sums));
            written.clear();
            written.extend_from_slice(black_box(pairs));
            black_box(&written);
        });
        self.cpu_ms.push(elapsed.cpu_ms);
    }

    /// Of each tick, the least that it took in this run or in another.
    pub fn keep_least(&mut self, again: &Floor) {
        self.cpu_ms.iter_mut().zip(&again.cpu_ms).for_each(|(time, &other)| *time = time.min(other));
    }

    /// Processor time per tick, mean.
    pub fn cpu_ms_mean(&self) -> f64 {
        self.cpu_ms.iter().sum::<f64>() / self.cpu_ms.len().max(1) as f64
    }
}

/// Sums in eight lanes: one after the other, additions would take longer than memory does.
fn lane_sums(column: &[f32]) -> [f32; Spheres::BLOCK] {
    let mut sums = [0.0; Spheres::BLOCK];
    for block in column.chunks_exact(Spheres::BLOCK) {
        for (sum, number) in sums.iter_mut().zip(block) {
            *sum += number;
        }
    }
    sums
}

/// The method with which a single method is compared, as nothing else would show that it is wrong.
pub struct Reference {
    pub method: &'static str,
    broad_phase: Box<dyn BroadPhase>,
    pairs: Vec<Pair>,
}

impl Reference {
    /// The reference, if one is needed. Brute force needs none: it is right by definition.
    pub fn of(methods: &[&'static BroadPhaseMethod], objects: usize) -> Option<Reference> {
        let (first, rest) = methods.split_first()?;
        if rest.iter().any(|method| method.name != first.name) {
            return None;
        }
        let name = match first.name {
            "brute-force" => return None,
            // Ours has the plain grid inside, and would make its mistakes.
            "plain-grid" if objects < BRUTE_FORCE_BELOW => "brute-force",
            "plain-grid" => "parry-rebuild",
            _ => "plain-grid",
        };
        let method = named(name).expect("a reference is one of the methods");
        let contender = (method.make)(1).pop().expect("every method can be made");
        Some(Reference { method: name, broad_phase: contender.broad_phase, pairs: Vec::new() })
    }

    /// What it finds, untimed.
    pub fn find(&mut self, spheres: &Spheres) -> Fingerprint {
        self.broad_phase.pairs(spheres, &mut self.pairs);
        Fingerprint::of(&self.pairs)
    }
}

/// Notes the methods that differ, and returns from what. Brute force is right by definition, else the reference, else
/// what more than half of the methods found; without a majority all of them are noted.
pub fn compare(runners: &mut [Runner], reference: Option<Fingerprint>, tick: u64) -> Option<Fingerprint> {
    let by_definition = runners.iter().find(|runner| runner.method == "brute-force").map(|runner| runner.last);
    let expected = by_definition.or(reference).or_else(|| majority(runners));
    for runner in runners.iter_mut().filter(|runner| Some(runner.last) != expected && runner.disagreement.is_none()) {
        let (found, expected) = (runner.last.pairs, expected.map(|expected| expected.pairs));
        runner.disagreement = Some(Disagreement { method: runner.method, tick, found, expected });
    }
    expected
}

/// What more than half of the methods found. Each has one vote, however many ways there are to set it up, and none if
/// these differ.
fn majority(runners: &[Runner]) -> Option<Fingerprint> {
    let mut votes: BTreeMap<&str, Option<Fingerprint>> = BTreeMap::new();
    for runner in runners {
        let vote = votes.entry(runner.method).or_insert(Some(runner.last));
        *vote = vote.filter(|vote| *vote == runner.last);
    }
    let count = |of: Fingerprint| votes.values().filter(|vote| **vote == Some(of)).count();
    votes.values().flatten().copied().find(|&vote| 2 * count(vote) > votes.len())
}
