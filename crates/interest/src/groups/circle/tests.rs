//! Circles do what lists do: the same groups with the same names, and the same changes, tick after tick.

use space::workload::{Motion, Random, Settings, Workload};
use space::{BroadPhase, Kinesphere, Pair};

use super::*;

fn by_lists() -> Groups {
    Groups { by_lists: true, ..Groups::new() }
}

/// An order of changes: each way tells them group by group, in an order of its own.
fn order(change: &GroupChange) -> (u64, u32, u32) {
    match *change {
        GroupChange::Created(group) => (group.0, 0, 0),
        GroupChange::Joined(group, slot) => (group.0, 1, slot.number()),
        GroupChange::Left(group, slot) => (group.0, 2, slot.number()),
        GroupChange::Dissolved(group) => (group.0, 3, 0),
    }
}

/// Repairs both, and compares them.
fn assert_same(by_words: &mut Groups, by_lists: &mut Groups, graph: &Graph, at: &str) {
    let mut changes = [by_words.repair(graph).to_vec(), by_lists.repair(graph).to_vec()];
    changes.iter_mut().for_each(|changes| changes.sort_by_key(order));
    assert!(changes[0] == changes[1], "{at}: {:?} instead of {:?}", changes[0], changes[1]);
    assert!(by_words.iter().eq(by_lists.iter()), "{at}");
    assert_well_formed(by_words, graph, at);
}

/// What is kept of a circle is what the lists say.
fn assert_well_formed(groups: &Groups, graph: &Graph, at: &str) {
    for row in 0..graph.rows() as u32 {
        let slot = Slot::new(row);
        let Some(circle) = groups.kept_circle(slot) else { continue };
        let tag = circle.slots.binary_search(&slot).expect("a home has its own");
        let set = |set: Set| set.tags().map(|tag| circle.slots[tag]).collect::<Vec<Slot>>();
        assert_eq!(set(circle.reaches[tag]), graph.neighbours(slot), "{at}: {slot}");
        let mut places: Vec<u32> = circle.groups_of(tag).map(|group| circle.places[group]).collect();
        places.sort_unstable();
        assert_eq!(places, groups.memberships.get(slot.row()), "{at}: {slot}");
        for group in circle.groups_of(tag) {
            assert_eq!(set(circle.masks[group]), groups.members.get(circle.places[group] as usize), "{at}: {slot}");
        }
    }
}

#[test]
fn circles_do_what_lists_do() {
    // One crowd, some that meet and part, one that is too large, a few that grow together, and nobody in particular.
    for (motion, objects, crowd_size, crowd_neighbours, coverage_percent, ticks) in [
        (Motion::Crowds, 100, 100, 50.0, 5.0, 80),
        (Motion::Crowds, 300, 50, 25.0, 20.0, 80),
        (Motion::Crowds, 300, 300, 60.0, 5.0, 10),
        (Motion::Seekers, 300, 100, 30.0, 20.0, 80),
        (Motion::Uniform, 600, 100, 30.0, 60.0, 20),
    ] {
        for seed in 0..2 {
            let settings = Settings { motion, objects, coverage_percent, seed, speed: 0.3, ..Settings::default() };
            let settings = Settings { crowd_size, crowd_neighbours, ..settings };
            let mut workload = Workload::new(settings).unwrap();
            let mut broad_phase = Kinesphere::new().tracking_changes();
            let (mut graph, mut by_words, mut by_lists) = (Graph::new(), Groups::new(), by_lists());
            let mut pairs = Vec::new();
            // Neither crowds nor neighbours have slots that follow each other.
            let elsewhere = |slot: Slot| (slot.number() * 7 + 3) % 1_009;
            let moved = |pairs: &[Pair]| {
                let pairs = pairs.iter().map(|pair| Pair::of_rows(elsewhere(pair.a()), elsewhere(pair.b())));
                pairs.collect::<Vec<Pair>>()
            };
            for tick in 0..ticks {
                broad_phase.pairs(workload.spheres(), &mut pairs);
                graph.update(&moved(broad_phase.began()), &moved(broad_phase.ended()));
                let at = format!("{motion:?} of {objects}, seed {seed}, tick {tick}");
                assert_same(&mut by_words, &mut by_lists, &graph, &at);
                workload.step();
            }
        }
    }
}

/// Graphs that no world has: some circles that anybody may link and cut, and slots that change hands.
#[test]
fn circles_do_what_lists_do_in_any_graph() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let (circles, density) = (random.whole(1, 5), random.unit() * 0.5);
        let count = random.whole(2, 80);
        let (mut graph, mut by_words, mut by_lists) = (Graph::new(), Groups::new(), by_lists());
        let mut links = Vec::new();
        for tick in 0..25 {
            let all = (0..count).flat_map(|a| (a + 1..count).map(move |b| Pair::of_rows(a, b)));
            let changes = |random: &mut Random, share: f32| {
                let own = all.clone().filter(|pair| pair.a().number() % circles == pair.b().number() % circles);
                own.filter(|_| random.unit() < share).collect::<Vec<Pair>>()
            };
            let share = if tick == 0 { 1.0 } else { 0.1 };
            let mut began = changes(&mut random, density * share);
            let mut ended = changes(&mut random, (1.0 - density) * share);
            if random.unit() < 0.3 {
                ended.append(&mut links);
                links.push(Pair::of_rows(random.whole(0, count), random.whole(0, count)));
                began.extend(&links);
            }
            graph.update(&began, &ended);
            assert_same(&mut by_words, &mut by_lists, &graph, &format!("seed {seed}, tick {tick}"));
        }
    }
}
