//! The walk down two trees, in rounds, with an answer after every step.

use space::DVec3;

use super::contact::{BallContact, contact};
use super::manifold::manifold;
use super::question::Question;
use super::report::Report;
use crate::simd::{Found, NodePair, expand, expand_measured};
use crate::sphere_tree::Object;

/// Rounds of no more pairs than this look for inner balls that overlap. Early rounds are short, and it is then that
/// bodies which are deep in each other are recognised.
const CERTAIN_MAX: usize = 64;
/// Where every walk begins.
const ROOTS: NodePair = NodePair { a: 0, b: 0 };

/// What is known about two shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Their surfaces have no point in common: proven.
    Apart,
    /// They may touch: the contacts say where, and within which tolerance.
    Possible,
    /// They share an inner point: proven.
    Certain,
}

/// What a walk has found so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What is known.
    pub verdict: Verdict,
    /// Whether there is nothing left to find out from these trees.
    pub is_complete: bool,
    /// Blocks of up to eight balls that were looked at, in all.
    pub operations: u64,
}

/// Whether a shape is inside the other, without touching its surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Containment {
    /// Neither is.
    Neither,
    /// The first is inside the second.
    FirstInSecond,
    /// The second is inside the first.
    SecondInFirst,
}

/// A walk down two trees. Keeps its memory: one of them serves many questions, one after the other.
#[derive(Clone, Debug)]
pub struct Search {
    /// Pairs of this round; those before `done` are replaced already.
    pairs: Vec<NodePair>,
    done: usize,
    found: Found,
    is_certain: bool,
    /// Whether this round has been looked through for inner balls.
    is_checked: bool,
    is_complete: bool,
    operations: u64,
}

impl Default for Search {
    /// A walk that has not begun: nothing is known of the roots, hence they may touch.
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
    /// Starts with the two roots.
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

    /// Goes on for up to so many operations, with a question about the trees that it began with.
    ///
    /// # Panics
    /// If the walk began with other trees and came to a node that these lack.
    pub fn refine(&mut self, question: &Question<'_>, operations: u64) -> Answer {
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
                if !self.is_certain && pairs.len() <= CERTAIN_MAX && !question.scene.a.inner.is_empty() {
                    let cost = pairs.len().div_ceil(8) as u64;
                    if budget < cost {
                        break;
                    }
                    budget -= cost;
                    self.is_certain = pairs.iter().any(|&pair| question.inner_overlap(pair));
                }
                self.is_checked = true;
            }
            let done = expand(&question.scene, &self.pairs[self.done..], &mut budget, &mut self.found);
            self.done += done;
            if self.done < self.pairs.len() {
                break;
            }
        }
        self.operations += operations - budget;
        self.answer()
    }

    /// All of it at once.
    pub fn run(&mut self, question: &Question<'_>) -> Answer {
        self.begin(question);
        self.refine(question, u64::MAX)
    }

    /// Whether they touch, as soon as that is known: the deepest pairs first, and no farther than the first pair of ends
    /// that overlap, or of inner balls. Complete when it says that they are apart.
    pub fn touches(&mut self, question: &Question<'_>) -> Answer {
        self.begin(question);
        self.found.clearance = if self.is_complete { 0.0 } else { f32::INFINITY };
        let mut budget = u64::MAX;
        let knows_inside = !question.scene.a.inner.is_empty() && !question.scene.b.inner.is_empty();
        let mut order: Vec<(f64, NodePair)> = Vec::new();
        while let Some(pair) = self.pairs.pop() {
            if knows_inside && question.inner_overlap(pair) {
                self.is_certain = true;
                self.pairs.push(pair);
                break;
            }
            let found = self.found.next.len();
            expand_measured(&question.scene, pair, &mut budget, &mut self.found);
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
        self.answer()
    }

    /// What is known so far.
    pub fn answer(&self) -> Answer {
        let verdict = if self.is_certain {
            Verdict::Certain
        } else if self.frontier().next().is_none() {
            Verdict::Apart
        } else {
            Verdict::Possible
        };
        Answer { verdict, is_complete: self.is_complete, operations: self.operations }
    }

    /// The pairs that overlap and are not replaced: wherever the surfaces touch, it is in one of them.
    pub fn frontier(&self) -> impl Iterator<Item = NodePair> + '_ {
        self.found.ends.iter().chain(&self.pairs[self.done..]).chain(&self.found.next).copied()
    }

    /// The pairs of the frontier that are as deep as it goes.
    pub(super) fn ends(&self) -> &[NodePair] {
        &self.found.ends
    }

    /// After [`touches`](Search::touches) said that they are apart: every ball that was found apart from another is as far
    /// from it as this.
    pub(super) fn clearance(&self) -> f32 {
        self.found.clearance
    }

    /// If the shapes are not known to be apart, they are no farther apart than this.
    ///
    /// # Panics
    /// If the walk began with other trees and came to a node that these lack.
    pub fn tolerance(&self, question: &Question<'_>) -> f32 {
        self.frontier().map(|pair| question.tolerance(pair)).fold(f32::INFINITY, f32::min)
    }

    /// Where they touch, as far as that is known: one contact for each pair of the frontier.
    ///
    /// # Panics
    /// If the walk began with other trees and came to a node that these lack.
    pub fn contacts(&self, question: &Question<'_>, contacts: &mut Vec<BallContact>) {
        contacts.clear();
        contacts.extend(self.frontier().map(|pair| contact(question, pair)));
    }

    /// The contact of the two balls that are deepest in each other; ties go to the lower numbers.
    ///
    /// # Panics
    /// If the walk began with other trees and came to a node that these lack.
    pub fn deepest(&self, question: &Question<'_>) -> Option<BallContact> {
        let deeper =
            |one: &(f64, NodePair), other: &(f64, NodePair)| one.0.total_cmp(&other.0).then(other.1.cmp(&one.1));
        let deepest = self.frontier().map(|pair| (question.depth(pair), pair)).max_by(deeper)?;
        Some(contact(question, deepest.1))
    }

    /// What is known so far, for somebody else: the contacts are those of a manifold.
    ///
    /// # Panics
    /// If the walk began with other trees and came to a node that these lack.
    pub fn report(&self, question: &Question<'_>) -> Report {
        let Answer { verdict, is_complete, .. } = self.answer();
        let (a, b) = (question.scene.a, question.scene.b);
        let levels = self.frontier().map(|pair| a.level(pair.a).min(b.level(pair.b)));
        let mut contacts = Vec::new();
        self.contacts(question, &mut contacts);
        Report {
            verdict,
            level: levels.min().unwrap_or_else(|| a.depth().min(b.depth())),
            is_complete,
            contacts: manifold(&contacts),
        }
    }

    /// The pairs of the frontier, as the caller numbers the nodes, in ascending order.
    pub fn touching_nodes(&self, question: &Question<'_>) -> Vec<NodePair> {
        let mut pairs: Vec<NodePair> = self.frontier().map(|pair| question.for_caller(pair)).collect();
        pairs.sort_unstable();
        pairs
    }

    /// Whether one of two shapes whose surfaces are apart is inside the other. The objects are those that the caller's
    /// first and second tree were built around; where one is missing, nothing is inside it.
    pub fn containment(&self, question: &Question<'_>, first: Option<&Object>, second: Option<&Object>) -> Containment {
        if self.answer().verdict != Verdict::Apart || !question.is_sensible {
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
        let is_second_in_first = is_in(a, point(question.scene.b).map(to_a));
        let is_first_in_second = is_in(b, point(question.scene.a).map(to_b));
        match (is_first_in_second, is_second_in_first, question.is_swapped) {
            (true, _, false) | (false, true, true) => Containment::FirstInSecond,
            (true, _, true) | (false, true, false) => Containment::SecondInFirst,
            (false, false, _) => Containment::Neither,
        }
    }
}
