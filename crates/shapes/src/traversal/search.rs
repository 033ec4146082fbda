//! The interruptible walk down two trees.

use space::DVec3;

use super::contact::{BallContact, contact};
use super::manifold::manifold;
use super::question::Question;
use super::report::Report;
use crate::simd::{Found, NodePair, expand, expand_measured};
use crate::sphere_tree::Object;

/// Rounds of at most this many pairs test inner balls: early rounds are short, and recognise shapes that are deep
/// in each other.
const CERTAIN_MAX: usize = 64;
const ROOTS: NodePair = NodePair { a: 0, b: 0 };

/// What a walk has proven about two shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Intersection {
    /// Their surfaces are disjoint.
    Apart,
    /// They may touch, where the contacts say, within [`Search::tolerance`].
    Possible,
    /// They share an inner point.
    Certain,
}

/// The state of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchState {
    pub intersection: Intersection,
    /// Whether more operations would change nothing.
    pub is_complete: bool,
    /// Blocks of up to eight balls that were tested.
    pub operations: u64,
}

/// Whether one shape is inside the other without touching its surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Containment {
    Neither,
    FirstInSecond,
    SecondInFirst,
}

/// A walk down two trees. One search serves many questions and keeps its memory.
///
/// After [`begin`](Search::begin), methods take the same question; with other trees they may panic.
#[derive(Clone, Debug)]
pub struct Search {
    /// The pairs of this round; those before `done` are replaced.
    pairs: Vec<NodePair>,
    done: usize,
    found: Found,
    is_certain: bool,
    /// Whether inner balls of this round have been tested.
    is_checked: bool,
    is_complete: bool,
    operations: u64,
}

impl Default for Search {
    /// A walk that has not begun: nothing is proven about the roots.
    fn default() -> Search {
        Search {
            pairs: vec![ROOTS],
            done: 0,
            found: Found::default(),
            is_certain: false,
            is_checked: false,
            is_complete: false,
            operations: 0,
        }
    }
}

impl Search {
    pub fn begin(&mut self, question: &Question<'_>) {
        self.pairs.clear();
        self.found.next.clear();
        self.found.ends.clear();
        (self.done, self.operations) = (0, 1);
        (self.is_certain, self.is_checked, self.is_complete) = (false, false, false);
        if !question.is_sensible {
            self.found.ends.push(ROOTS);
            self.is_complete = true;
        } else if question.roots_overlap() {
            self.pairs.push(ROOTS);
        } else {
            self.is_complete = true;
        }
    }

    /// Goes on for at most `operations`, with the question that it began with.
    pub fn refine(&mut self, question: &Question<'_>, operations: u64) -> SearchState {
        let mut budget = operations;
        while !self.is_complete {
            if self.done == self.pairs.len() {
                std::mem::swap(&mut self.pairs, &mut self.found.next);
                self.found.next.clear();
                (self.done, self.is_checked) = (0, false);
                self.is_complete = self.pairs.is_empty();
                continue;
            }
            if !self.is_checked {
                let pairs = &self.pairs[..];
                if !self.is_certain && pairs.len() <= CERTAIN_MAX && !question.trees.a.inner.is_empty() {
                    let cost = pairs.len().div_ceil(8) as u64;
                    if budget < cost {
                        break;
                    }
                    budget -= cost;
                    self.is_certain = pairs.iter().any(|&pair| question.inner_overlap(pair));
                }
                self.is_checked = true;
            }
            let done = expand(&question.trees, &self.pairs[self.done..], &mut budget, &mut self.found);
            self.done += done;
            if self.done < self.pairs.len() {
                break;
            }
        }
        self.operations += operations - budget;
        self.progress()
    }

    pub fn run(&mut self, question: &Question<'_>) -> SearchState {
        self.begin(question);
        self.refine(question, u64::MAX)
    }

    /// A yes or no with early exit: depth first, deepest pairs first, up to the first pair of leaves or of inner balls
    /// that overlap. Complete only if the shapes are apart.
    pub fn touches(&mut self, question: &Question<'_>) -> SearchState {
        self.begin(question);
        self.found.clearance = if self.is_complete { 0.0 } else { f32::INFINITY };
        let mut budget = u64::MAX;
        let knows_inside = !question.trees.a.inner.is_empty() && !question.trees.b.inner.is_empty();
        let mut order: Vec<(f64, NodePair)> = Vec::new();
        while let Some(pair) = self.pairs.pop() {
            if knows_inside && question.inner_overlap(pair) {
                self.is_certain = true;
                self.pairs.push(pair);
                break;
            }
            let found = self.found.next.len();
            expand_measured(&question.trees, pair, &mut budget, &mut self.found);
            if !self.found.ends.is_empty() {
                break;
            }
            order.clear();
            order.extend(self.found.next.drain(found..).map(|pair| (question.depth(pair), pair)));
            order.sort_unstable_by(|one, other| one.0.total_cmp(&other.0).then(other.1.cmp(&one.1)));
            self.pairs.extend(order.iter().map(|&(_, pair)| pair));
        }
        self.is_complete = self.pairs.is_empty();
        self.operations += u64::MAX - budget;
        self.progress()
    }

    pub fn progress(&self) -> SearchState {
        let intersection = if self.is_certain {
            Intersection::Certain
        } else if self.frontier().next().is_none() {
            Intersection::Apart
        } else {
            Intersection::Possible
        };
        SearchState { intersection, is_complete: self.is_complete, operations: self.operations }
    }

    /// The pairs that overlap and are not replaced: every contact of the surfaces is within one of them.
    pub fn frontier(&self) -> impl Iterator<Item = NodePair> + '_ {
        self.found.ends.iter().chain(&self.pairs[self.done..]).chain(&self.found.next).copied()
    }

    /// The pairs of the frontier at which the walk ends.
    pub(super) fn ends(&self) -> &[NodePair] {
        &self.found.ends
    }

    /// After [`touches`](Search::touches) reported that they are apart: a lower bound of the distance of every pair
    /// that was ruled out.
    pub(super) fn clearance(&self) -> f32 {
        self.found.clearance
    }

    /// An upper bound of the distance of shapes that are not proven apart.
    pub fn tolerance(&self, question: &Question<'_>) -> f32 {
        self.frontier().map(|pair| question.tolerance(pair)).fold(f32::INFINITY, f32::min)
    }

    /// One contact for each pair of the frontier.
    pub fn contacts(&self, question: &Question<'_>, contacts: &mut Vec<BallContact>) {
        contacts.clear();
        contacts.extend(self.frontier().map(|pair| contact(question, pair)));
    }

    /// The contact of the pair with the deepest overlap; ties go to the lower numbers.
    pub fn deepest(&self, question: &Question<'_>) -> Option<BallContact> {
        let deeper =
            |one: &(f64, NodePair), other: &(f64, NodePair)| one.0.total_cmp(&other.0).then(other.1.cmp(&one.1));
        let deepest = self.frontier().map(|pair| (question.depth(pair), pair)).max_by(deeper)?;
        Some(contact(question, deepest.1))
    }

    /// The state of the walk with a contact manifold, to be sent.
    pub fn report(&self, question: &Question<'_>) -> Report {
        let SearchState { intersection, is_complete, .. } = self.progress();
        let (a, b) = (question.trees.a, question.trees.b);
        let levels = self.frontier().map(|pair| a.level(pair.a).min(b.level(pair.b)));
        let mut contacts = Vec::new();
        self.contacts(question, &mut contacts);
        Report {
            intersection,
            level: levels.min().unwrap_or_else(|| a.depth().min(b.depth())),
            is_complete,
            contacts: manifold(&contacts),
        }
    }

    /// The pairs of the frontier in the caller's order, ascending.
    pub fn touching_nodes(&self, question: &Question<'_>) -> Vec<NodePair> {
        let mut pairs: Vec<NodePair> = self.frontier().map(|pair| question.for_caller(pair)).collect();
        pairs.sort_unstable();
        pairs
    }

    /// Whether one of two shapes whose surfaces are apart is inside the other. `first` and `second` are the objects of
    /// the caller's trees; nothing is inside a missing one.
    pub fn containment(&self, question: &Question<'_>, first: Option<&Object>, second: Option<&Object>) -> Containment {
        if self.progress().intersection != Intersection::Apart || !question.is_sensible {
            return Containment::Neither;
        }
        let (a, b) = if question.is_swapped { (second, first) } else { (first, second) };
        let is_in = |object: Option<&Object>, point: Option<DVec3>| match (object, point) {
            (Some(object), Some(point)) => object.depth(object.to_unit(point), None).0 > 0.0,
            _ => false,
        };
        let point = |tree: &crate::BallTree| tree.surface_point.map(|point| point.as_dvec3());
        let relative = question.relative;
        let to_a = |point: DVec3| relative.position + relative.rotation * point;
        let to_b = |point: DVec3| relative.rotation.conjugate() * (point - relative.position);
        let is_second_in_first = is_in(a, point(question.trees.b).map(to_a));
        let is_first_in_second = is_in(b, point(question.trees.a).map(to_b));
        match (is_first_in_second, is_second_in_first, question.is_swapped) {
            (true, _, false) | (false, true, true) => Containment::FirstInSecond,
            (true, _, true) | (false, true, false) => Containment::SecondInFirst,
            (false, false, _) => Containment::Neither,
        }
    }
}
