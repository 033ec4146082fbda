//! The relations and crowds of a graph do not depend on the changes that led to it, nor on whether all updates were
//! followed. Budgets are small, so that components become crowds and cease to be crowds.

use kinesphere_interest::Graph;
use kinesphere_interest::published::{Budget, Cliques};
use space::workload::Random;
use space::{Pair, Slot};

/// Relations and crowds in ascending order.
fn contents(cliques: &Cliques) -> (Vec<Vec<Slot>>, Vec<Vec<Slot>>) {
    let mut relations: Vec<Vec<Slot>> = cliques.iter().map(<[Slot]>::to_vec).collect();
    relations.sort_unstable();
    let count = relations.len();
    relations.dedup();
    assert_eq!((relations.len(), cliques.len()), (count, count));
    let crowds: Vec<Vec<Slot>> = cliques.crowds().map(<[Slot]>::to_vec).collect();
    assert_eq!(crowds.len(), cliques.crowds_len());
    assert!(crowds.is_sorted() && crowds.iter().chain(&relations).all(|members| members.is_sorted()));
    (relations, crowds)
}

/// The maximal cliques of a few objects by definition: all cliques, without those that can grow.
fn maximal_cliques(graph: &Graph, rows: u32) -> Vec<Vec<Slot>> {
    let overlaps_all = |slot: Slot, others: &[Slot]| others.iter().all(|&other| graph.contains(slot, other));
    let mut cliques: Vec<Vec<Slot>> = vec![Vec::new()];
    let mut index = 0;
    while index < cliques.len() {
        let clique = cliques[index].clone();
        let later = clique.last().map_or(0, |last| last.number() + 1);
        for slot in (later..rows).map(Slot::new).filter(|&slot| overlaps_all(slot, &clique)) {
            cliques.push(clique.iter().copied().chain([slot]).collect());
        }
        index += 1;
    }
    cliques.retain(|clique| {
        clique.len() > 1 && !(0..rows).map(Slot::new).any(|slot| !clique.contains(&slot) && overlaps_all(slot, clique))
    });
    cliques.sort_unstable();
    cliques
}

/// Random pairs. `circle` objects in a row nearly all overlap each other, which makes crowds.
fn some_pairs(random: &mut Random, rows: u32, circle: u32, count: u32) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for _ in 0..count {
        let a = random.whole(0, rows);
        let first = a / circle * circle;
        let is_near = random.unit() < 0.95;
        let b = if is_near { random.whole(first, rows.min(first + circle)) } else { random.whole(0, rows) };
        pairs.push(Pair::of_rows(a, b));
    }
    pairs
}

fn follow(seed: u64, rows: u32, circle: u32, budget: Budget) -> (usize, usize) {
    let mut random = Random::new(seed);
    let mut graph = Graph::new();
    let mut followers = [Cliques::with(budget), Cliques::with(budget)];
    let (mut most_crowds, mut most_relations) = (0, 0);
    let density = random.between(0.1, 0.9);
    for tick in 0..30 {
        let changes = if tick == 0 { rows * circle } else { random.whole(0, 2 * circle) };
        let began = (changes as f32 * density) as u32;
        let (began, ended) =
            (some_pairs(&mut random, rows, circle, began), some_pairs(&mut random, rows, circle, changes - began));
        graph.update(&began, &ended);
        let mut fresh = Cliques::with(budget);
        fresh.restart(&graph);
        let expected = contents(&fresh);
        // The last follower misses some updates.
        let attentive = if random.unit() < 0.3 { 1 } else { 2 };
        for follower in &mut followers[..attentive] {
            follower.update(&graph);
            assert!(contents(follower) == expected, "seed {seed}, {rows} rows by {circle}, {budget:?}, tick {tick}");
        }
        if rows <= 16 && expected.1.is_empty() {
            assert_eq!(expected.0, maximal_cliques(&graph, rows), "seed {seed}, tick {tick}");
        }
        most_crowds = most_crowds.max(expected.1.len());
        most_relations = most_relations.max(expected.0.len());
    }
    (most_crowds, most_relations)
}

#[test]
fn relations_have_no_history() {
    let (mut with_crowds, mut with_relations) = (0, 0);
    for seed in 0..384 {
        let rows = [8, 16, 60, 300][seed as usize % 4];
        let circle = [4, 8, 15, 40][seed as usize / 4 % 4];
        let budget = [
            Budget::default(),
            Budget { work: 60, memberships: 1 << 10 },
            Budget { work: 200, memberships: 12 },
            Budget { work: 1 << 14, memberships: 5 },
        ][seed as usize / 16 % 4];
        let (crowds, relations) = follow(seed, rows, circle.min(rows), budget);
        with_crowds += usize::from(crowds > 0);
        with_relations += usize::from(relations > 0);
    }
    assert!(with_crowds > 50 && with_relations > 250, "{with_crowds} and {with_relations}: the test is too easy");
}

/// Objects with more than 64 neighbours, among others with few.
#[test]
fn relations_of_dense_crowds_have_no_history() {
    for seed in 0..12 {
        let budget =
            [Budget::default(), Budget { work: 1_500, memberships: 60 }, Budget { work: 300, memberships: 1 << 10 }];
        follow(seed, 240, 120, budget[seed as usize % 3]);
    }
}
