//! Crowds with exponentially many relations, or with millions of pairs: every tick stays within its budget of work and
//! memory and reports the crowd, and groups and audiences stay exact.

use kinesphere_interest::published::{Budget, CliqueFinder, Cliques, RelationFinder, Relations};
use kinesphere_interest::{Audience, AudienceSearch, AudienceSettings, Aura, Graph, GroupCover};
use space::{BroadPhase, Kinesphere, Pair, PairChanges, Slot, Sphere, Spheres, Vec3};

/// Each object collides with all others but one: 2 to the power of `pairs` relations.
fn octahedron(pairs: u32) -> Vec<Pair> {
    let all = (0..2 * pairs).flat_map(|a| (a + 1..2 * pairs).map(move |b| (a, b)));
    all.filter(|(a, b)| a / 2 != b / 2).map(|(a, b)| Pair::of_rows(a, b)).collect()
}

/// Each object shares groups with all that it overlaps, and with no others: as bits, or five thousand
/// would take minutes.
fn assert_groups_are_exact(groups: &GroupCover, graph: &Graph) {
    let words = graph.rows().div_ceil(64);
    let bits = |slots: &mut dyn Iterator<Item = Slot>| {
        let mut bits = vec![0u64; words];
        slots.for_each(|slot| bits[slot.row() / 64] |= 1 << (slot.row() % 64));
        bits
    };
    let mut company = vec![0u64; words * graph.rows()];
    for (_, members) in groups.iter() {
        let group = bits(&mut members.iter().copied());
        for member in members {
            let own = &mut company[member.row() * words..][..words];
            own.iter_mut().zip(&group).for_each(|(own, group)| *own |= group);
        }
    }
    for (row, own) in company.chunks_mut(words.max(1)).enumerate() {
        own[row / 64] &= !(1 << (row % 64));
        let expected = bits(&mut graph.neighbours(Slot::new(row as u32)).iter().copied());
        assert!(*own == expected, "slot {row} shares groups with others than it should");
    }
}

/// Making groups takes at most `bytes_max` beyond what their graph takes, and they keep at most 32 MB beyond it.
fn group_within(groups: &mut GroupCover, pairs: &[Pair], bytes_max: u64) {
    let mut graph = Graph::new();
    let graph = allocation_counter::measure(|| graph.update(pairs, &[]));
    let needed = allocation_counter::measure(|| {
        let _ = groups.update(pairs, &[]);
    });
    let (peak, kept) =
        (needed.bytes_max - graph.bytes_max.min(needed.bytes_max), needed.bytes_current - graph.bytes_current);
    assert!(peak <= bytes_max, "{peak} bytes for {} pairs beyond the graph's", pairs.len());
    assert!(kept <= 32 << 20, "{kept} bytes kept for {} pairs beyond the graph's", pairs.len());
}

#[test]
fn a_generalised_octahedron_is_a_crowd_with_few_groups() {
    for (pairs, ticks) in [(20, 5), (120, 5), (2_500, 1)] {
        let edges = octahedron(pairs);
        let mut graph = Graph::new();
        graph.update(&edges, &[]);
        let mut cliques = Cliques::new();
        let kept = allocation_counter::measure(|| cliques.update(&graph)).bytes_current;
        assert!(kept < 64 << 20, "{kept} bytes of relations");
        let crowds: Vec<&[Slot]> = cliques.crowds().collect();
        assert_eq!((crowds.len(), cliques.crowds_len(), cliques.len()), (1, 1, 0), "2 to the power of {pairs}");
        assert_eq!(crowds[0].len(), 2 * pairs as usize);
        let mut groups = GroupCover::new();
        group_within(&mut groups, &edges, (1 << 20) + 16 * edges.len() as u64);
        assert_groups_are_exact(&groups, &graph);
        assert!(groups.len() < 2 * pairs as usize, "{} groups for {pairs} pairs of opposites", groups.len());
        // It stays a crowd as some pairs end and begin, until all have ended.
        for tick in 0..ticks {
            let (gone, back) = (&edges[tick..tick + 20], if tick > 0 { &edges[tick - 1..tick + 19] } else { &[] });
            graph.update(back, &[]);
            groups.update(back, &[]);
            cliques.update(&graph);
            graph.update(&[], gone);
            groups.update(&[], gone);
            cliques.update(&graph);
            assert_eq!((cliques.crowds_len(), cliques.len()), (1, 0));
            assert_groups_are_exact(&groups, &graph);
        }
        graph.update(&[], &edges);
        cliques.update(&graph);
        groups.update(&[], &edges);
        assert_eq!((cliques.crowds_len(), groups.len(), cliques.is_empty()), (0, 0, true));
    }
}

#[test]
fn a_small_octahedron_has_all_its_relations_within_the_budget() {
    let mut graph = Graph::new();
    graph.update(&octahedron(8), &[]);
    let mut cliques = Cliques::new();
    cliques.update(&graph);
    assert_eq!((cliques.len(), cliques.crowds_len()), (256, 0));
    let mut tight = Cliques::with(Budget { work: 1 << 14, memberships: 20 });
    tight.update(&graph);
    assert_eq!((tight.len(), tight.crowds_len()), (0, 1), "the budget is a setting");
}

fn settle(auras: &Spheres) -> (Graph, GroupCover, Relations) {
    // First, so that its graph is freed: twelve million pairs take a hundred megabytes.
    let mut relations = Relations::new();
    CliqueFinder::new().relations(auras, &mut relations);
    let (mut pairs, mut graph, mut groups) = (Vec::new(), Graph::new(), GroupCover::new());
    let mut broad_phase = Kinesphere::new().tracking_changes();
    broad_phase.pairs(auras, &mut pairs);
    graph.update(broad_phase.began(), broad_phase.ended());
    groups.update(broad_phase.began(), broad_phase.ended());
    (graph, groups, relations)
}

#[test]
fn five_thousand_at_one_point_are_one_relation_and_one_group() {
    let mut auras = Spheres::new();
    for _ in 0..5_000 {
        auras.insert(Sphere::new(Vec3::ONE, 1.0)).unwrap();
    }
    let (graph, groups, relations) = settle(&auras);
    assert_eq!(graph.pairs(), 5_000 * 4_999 / 2);
    assert_eq!((relations.len(), relations.memberships(), relations.crowds().len()), (1, 5_000, 0));
    assert_eq!((groups.len(), groups.memberships()), (1, 5_000));
}

#[test]
fn five_thousand_in_a_ring_are_covered() {
    // Each overlaps the 100 before it and the 100 behind it.
    let mut auras = Spheres::new();
    for index in 0..5_000 {
        let angle = index as f32 / 5_000.0 * std::f32::consts::TAU;
        auras.insert(Sphere::new(Vec3::new(angle.cos(), angle.sin(), 0.0) * 1_000.0, 63.1)).unwrap();
    }
    let (graph, groups, relations) = settle(&auras);
    assert!((900_000..1_100_000).contains(&(2 * graph.pairs())), "{}", graph.pairs());
    assert!(relations.crowds().is_empty() && relations.len() >= 5_000, "{} relations", relations.len());
    assert_groups_are_exact(&groups, &graph);
}

/// A ring in which each object overlaps all but those opposite.
fn nearly_closed_ring(count: usize) -> impl Iterator<Item = Sphere> {
    let angles = (0..count).map(move |index| index as f32 / count as f32 * std::f32::consts::TAU);
    angles.map(|angle| Sphere::new(Vec3::new(angle.cos(), angle.sin(), 0.0) * 100.0, 99.99))
}

/// There are exponentially many relations.
#[test]
fn five_thousand_in_a_ring_that_nearly_closes_are_a_crowd() {
    let mut auras = Spheres::new();
    for aura in nearly_closed_ring(5_000) {
        auras.insert(aura).unwrap();
    }
    let (graph, groups, relations) = settle(&auras);
    assert_eq!(relations.crowds().len(), 1);
    assert_eq!(relations.crowds()[0].len(), 5_000);
    assert!(relations.is_empty());
    assert_groups_are_exact(&groups, &graph);
}

#[test]
fn five_thousand_in_a_ring_that_nearly_closes_hear_all_they_should() {
    let ring: Vec<Sphere> = nearly_closed_ring(5_000).collect();
    let settings = AudienceSettings { search: AudienceSearch::AllPairs, ..AudienceSettings::default() };
    let mut audience = Audience::with(settings).unwrap();
    for aura in &ring {
        audience.insert(aura.center, Aura::new(aura.radius)).unwrap();
    }
    audience.update();
    let mut hearings = 0;
    for (row, aura) in ring.iter().enumerate() {
        let others = ring.iter().enumerate().filter(|&(other, sphere)| other != row && aura.overlaps(*sphere));
        let expected: Vec<Slot> = others.map(|(other, _)| Slot::new(other as u32)).collect();
        assert!(audience.heard_by(Slot::new(row as u32)).eq(expected.iter().copied()), "slot {row}");
        hearings += expected.len();
    }
    assert_eq!(audience.hearings(), hearings);
    assert!(hearings > 24_000_000, "{hearings}");
}

#[test]
fn five_thousand_at_one_point_hear_each_other_and_part_again() {
    let mut audience = Audience::new();
    let slots: Vec<Slot> = (0..5_000).map(|_| audience.insert(Vec3::ZERO, Aura::new(1.0)).unwrap()).collect();
    audience.update();
    assert_eq!((audience.hearings(), audience.entered().len()), (5_000 * 4_999, 5_000 * 4_999));
    for (index, &slot) in slots.iter().enumerate() {
        audience.move_to(slot, Vec3::X * 3.0 * index as f32).unwrap();
    }
    audience.update();
    assert_eq!((audience.hearings(), audience.left().len(), audience.entered().len()), (0, 5_000 * 4_999, 0));
}

/// Only objects near a changed pair are searched again.
#[test]
fn objects_keep_their_relations_where_no_pair_changed() {
    let (mut graph, mut cliques, mut changes) = (Graph::new(), Cliques::new(), PairChanges::new());
    let mut pairs = octahedron(6);
    pairs.push(Pair::of_rows(100, 101));
    changes.compare(&pairs);
    graph.update(&changes.began, &changes.ended);
    cliques.update(&graph);
    assert_eq!(cliques.len(), 65);
    assert!((2..=14).contains(&cliques.renewed()), "{} of 14 objects", cliques.renewed());
    pairs.push(Pair::of_rows(101, 102));
    changes.compare(&pairs);
    graph.update(&changes.began, &changes.ended);
    cliques.update(&graph);
    assert_eq!((cliques.renewed(), cliques.len()), (1, 66));
    graph.update(&[], &[]);
    cliques.update(&graph);
    assert_eq!((cliques.renewed(), cliques.len()), (0, 66));
}
