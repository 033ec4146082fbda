//! All finders return exactly the maximal cliques of the intersection graph, as an independent enumeration finds them
//! over the brute-force graph: on thousands of random worlds, in any order, with any radii, tick after tick.

use kinesphere_interest::Graph;
use kinesphere_interest::published::{
    Budget, CliqueFinder, Cliques, ExpandingSphere, OrderedAxis, OrderedRelations, RelationFinder, Relations,
};
use space::workload::{Motion, Random, Settings, Workload};
use space::{Pair, Slot, Sphere, Spheres, Vec3};

/// The definition: every maximal clique of what overlaps.
fn maximal_cliques(auras: &Spheres) -> Vec<Vec<Slot>> {
    let slots: Vec<Slot> = auras.slots().collect();
    let overlap = |one: Slot, other: Slot| one != other && auras.get(one).unwrap().overlaps(auras.get(other).unwrap());
    let rows = auras.rows();
    let matrix: Vec<Vec<bool>> = (0..rows as u32)
        .map(|one| {
            let is_there = |other| [one, other].iter().all(|&row| auras.is_alive(Slot::new(row)));
            (0..rows as u32).map(|other| is_there(other) && overlap(Slot::new(one), Slot::new(other))).collect()
        })
        .collect();
    cliques_of(&matrix, slots)
}

/// The algorithm of Bron and Kerbosch with a pivot, on plain vectors.
fn cliques_of(matrix: &[Vec<bool>], slots: Vec<Slot>) -> Vec<Vec<Slot>> {
    fn extend(
        chosen: &mut Vec<Slot>,
        mut candidates: Vec<Slot>,
        mut excluded: Vec<Slot>,
        matrix: &[Vec<bool>],
        found: &mut Vec<Vec<Slot>>,
    ) {
        let near = |vertex: Slot, list: &[Slot]| -> Vec<Slot> {
            list.iter().copied().filter(|other| matrix[vertex.row()][other.row()]).collect()
        };
        let vertices = candidates.iter().chain(&excluded);
        let Some(pivot) = vertices.copied().max_by_key(|&vertex| near(vertex, &candidates).len()) else {
            let mut clique = chosen.clone();
            clique.sort_unstable();
            return found.push(clique);
        };
        let tried: Vec<Slot> = candidates.iter().copied().filter(|vertex| !matrix[pivot.row()][vertex.row()]).collect();
        for vertex in tried {
            chosen.push(vertex);
            extend(chosen, near(vertex, &candidates), near(vertex, &excluded), matrix, found);
            chosen.pop();
            candidates.retain(|&other| other != vertex);
            excluded.push(vertex);
        }
    }
    let mut found = Vec::new();
    if !slots.is_empty() {
        extend(&mut Vec::new(), slots, Vec::new(), matrix, &mut found);
    }
    found.sort_unstable();
    found
}

fn finders() -> Vec<(&'static str, Box<dyn RelationFinder>)> {
    vec![
        ("expanding sphere", Box::new(ExpandingSphere::new())),
        ("ordered relations", Box::new(OrderedRelations::new())),
        ("ordered axis", Box::new(OrderedAxis::new())),
        ("ordered axis with ordered relations", Box::new(OrderedAxis::with_ordered_relations())),
        ("cliques", Box::new(CliqueFinder::new())),
    ]
}

fn assert_all_find(auras: &Spheres, finders: &mut [(&'static str, Box<dyn RelationFinder>)], at: &str) {
    let expected = maximal_cliques(auras);
    let mut relations = Relations::new();
    for (name, finder) in finders {
        let comparisons = finder.relations(auras, &mut relations);
        assert_eq!(relations.sorted(), expected, "{name}, {at}");
        assert!(relations.iter().all(|relation| relation.is_sorted()), "{name}, {at}");
        assert!(relations.crowds().is_empty() && comparisons.raw >= comparisons.distinct, "{name}, {at}");
    }
}

#[test]
fn the_papers_example() {
    // Figure 1: {a, b, c, d}, {a, e}, {f, g}, {h}.
    let mut auras = Spheres::new();
    let places = [
        (0.0, 0.0, 2.0),
        (-1.5, 1.5, 1.0),
        (-2.5, 0.5, 1.0),
        (-2.0, 1.9, 1.0),
        (1.8, -0.3, 0.5),
        (6.0, 0.0, 1.0),
        (7.0, 1.0, 1.0),
        (5.0, 5.0, 1.0),
    ];
    for (x, y, radius) in places {
        auras.insert(Sphere::new(Vec3::new(x, y, 0.0), radius)).unwrap();
    }
    let expected: Vec<Vec<Slot>> = [vec![0, 1, 2, 3], vec![0, 4], vec![5, 6], vec![7]]
        .into_iter()
        .map(|members| members.into_iter().map(Slot::new).collect())
        .collect();
    assert_eq!(maximal_cliques(&auras), expected);
    assert_all_find(&auras, &mut finders(), "the example");
    // Considering f, the sixth, takes two comparisons, with the spheres of the two relations so far.
    let mut relations = Relations::new();
    let mut first_five = auras.clone();
    for row in 5..8 {
        first_five.remove(Slot::new(row)).unwrap();
    }
    let mut first_six = auras.clone();
    for row in 6..8 {
        first_six.remove(Slot::new(row)).unwrap();
    }
    let count = |auras: &Spheres, relations: &mut Relations| ExpandingSphere::new().relations(auras, relations).raw;
    assert_eq!(count(&first_six, &mut relations) - count(&first_five, &mut relations), 2);
}

/// Three auras in a ring overlap pairwise without a common point. They are a relation.
#[test]
fn a_ring_of_three_is_a_relation() {
    let mut auras = Spheres::new();
    for (x, y) in [(0.0, 0.0), (1.9, 0.0), (0.95, 1.6)] {
        auras.insert(Sphere::new(Vec3::new(x, y, 0.0), 1.0)).unwrap();
    }
    assert_eq!(maximal_cliques(&auras).len(), 1);
    assert_all_find(&auras, &mut finders(), "the ring");
}

/// Thousands of small worlds of different densities, with equal and mixed radii, over three ticks of small motions.
#[test]
fn relations_are_the_maximal_cliques() {
    for seed in 0..1_000 {
        let mut random = Random::new(seed);
        let count = random.whole(0, 24) as usize;
        let side = random.between(2.0, 9.0);
        let is_mixed = random.unit() < 0.5;
        let spheres: Vec<Sphere> = (0..count)
            .map(|_| Sphere::new(random.point(side), if is_mixed { random.between(0.0, 2.5) } else { 1.0 }))
            .collect();
        let mut auras = Spheres::new();
        let mut order: Vec<usize> = (0..count).collect();
        (1..count).rev().for_each(|last| order.swap(last, random.whole(0, last as u32 + 1) as usize));
        let slots: Vec<Slot> = order.iter().map(|&index| auras.insert(spheres[index]).unwrap()).collect();
        let mut finders = finders();
        for tick in 0..3 {
            assert_all_find(&auras, &mut finders, &format!("seed {seed}, tick {tick}"));
            auras.end_tick();
            for &slot in slots.iter().filter(|&&slot| auras.is_alive(slot)).collect::<Vec<_>>() {
                let place = auras.get(slot).unwrap().center + random.direction() * 0.4;
                auras.move_to(slot, place).unwrap();
            }
            if tick == 1 && count > 2 {
                auras.remove(slots[0]).unwrap();
                auras.resize(slots[1], random.between(0.0, 3.0)).unwrap();
                auras.insert(Sphere::new(random.point(side), 1.0)).unwrap();
            }
        }
    }
}

/// Larger worlds over more ticks, and borderline pairs far from the origin.
#[test]
fn finders_agree_in_larger_worlds() {
    for (motion, coverage_percent) in [
        (Motion::Seekers, 20.0),
        (Motion::Mixed, 5.0),
        (Motion::Crowds, 5.0),
        (Motion::Line, 20.0),
        (Motion::Jitter, 60.0),
    ] {
        let settings = Settings { motion, coverage_percent, objects: 250, speed: 0.3, ..Settings::default() };
        let settings = Settings { crowd_neighbours: 12.0, crowd_size: 50, radius_ratio: 20.0, ..settings };
        let mut workload = Workload::new(settings).unwrap();
        let mut finders = finders();
        for tick in 0..40 {
            if tick % 5 == 0 {
                assert_all_find(workload.spheres(), &mut finders, &format!("{motion:?}, tick {tick}"));
            } else {
                let mut relations = Relations::new();
                for (_, finder) in &mut finders {
                    finder.relations(workload.spheres(), &mut relations);
                }
            }
            workload.step();
        }
    }
    let mut auras = Spheres::new();
    for index in 0..60 {
        let place = Vec3::new(1e6 + 2.0 * (index % 8) as f32, -3e6 + 2.0 * (index / 8) as f32, 7e5);
        auras.insert(Sphere::new(place, 1.0 + 1e-3 * (index % 3) as f32)).unwrap();
    }
    assert_all_find(&auras, &mut finders(), "a lattice far out");
}

/// Random graphs with more than 64 objects, with few and with many neighbours each, so that bitsets have one
/// word and several.
#[test]
fn large_components_are_searched_as_small_ones_are() {
    for (seed, count, density) in
        [(1, 70, 0.1), (2, 150, 0.05), (3, 100, 0.3), (4, 120, 0.4), (5, 80, 0.8), (6, 66, 0.92)]
    {
        let mut random = Random::new(seed);
        let mut matrix = vec![vec![false; count]; count];
        let mut pairs = Vec::new();
        for (a, b) in (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b))) {
            if random.unit() < density {
                pairs.push(Pair::of_rows(a as u32, b as u32));
                (matrix[a][b], matrix[b][a]) = (true, true);
            }
        }
        let mut graph = Graph::new();
        graph.update(&pairs, &[]);
        let mut cliques = Cliques::with(Budget { work: u64::MAX, memberships: u64::MAX });
        cliques.restart(&graph);
        let mut found: Vec<Vec<Slot>> = cliques.iter().map(<[Slot]>::to_vec).collect();
        found.sort_unstable();
        let all = cliques_of(&matrix, (0..count as u32).map(Slot::new).collect());
        assert_eq!(cliques.len(), found.len());
        assert!(found == all.into_iter().filter(|clique| clique.len() > 1).collect::<Vec<_>>(), "seed {seed}");
    }
}
