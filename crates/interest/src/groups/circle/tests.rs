//! Circles do what lists do: the same groups with the same names, and the same changes, tick after tick.

use std::collections::BTreeMap;

use space::workload::{Motion, Random, Settings, Workload};
use space::{BroadPhase, Kinesphere, Pair};

use super::super::Groups;
use super::*;
use crate::Graph;

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

/// A world told to a graph, and to groups that are repaired in either way.
struct Twins {
    graph: Graph,
    by_words: Groups,
    by_lists: Groups,
}

impl Twins {
    fn new() -> Twins {
        Twins { graph: Graph::new(), by_words: Groups::new(), by_lists: by_lists() }
    }

    /// Tells all what happened, and compares them.
    fn update(&mut self, began: &[Pair], ended: &[Pair], at: &str) {
        self.graph.update(began, ended);
        let Twins { by_words, by_lists, .. } = self;
        let mut changes = [by_words, by_lists].map(|groups| groups.update(began, ended).to_vec());
        changes.iter_mut().for_each(|changes| changes.sort_by_key(order));
        assert!(changes[0] == changes[1], "{at}: {:?} instead of {:?}", changes[0], changes[1]);
        let [by_words, by_lists] = [&self.by_words, &self.by_lists].map(|groups| {
            let all = groups.iter().map(|(group, members)| (group, members.collect()));
            all.collect::<BTreeMap<GroupId, Vec<Slot>>>()
        });
        assert!(by_words == by_lists, "{at}");
        assert_well_formed(&self.by_words, &self.graph, at);
    }
}

/// Whoever has a home has its neighbours and groups there and nowhere else, and whoever has none has them in the lists.
fn assert_well_formed(groups: &Groups, graph: &Graph, at: &str) {
    for row in 0..graph.rows() as u32 {
        let slot = Slot::new(row);
        let at_home = groups.homes.circle_of(slot).map(|(circle, tag)| match circle {
            AnyCircle::Two(circle) => known_of(circle, tag, slot, groups, at),
            AnyCircle::Four(circle) => known_of(circle, tag, slot, groups, at),
            AnyCircle::Eight(circle) => known_of(circle, tag, slot, groups, at),
        });
        let listed = groups.graph.neighbours(slot);
        if at_home.is_some() {
            assert!(listed.is_empty() && groups.rolls.memberships.get(slot.row()).is_empty(), "{at}: {slot}");
        }
        assert_eq!(at_home.as_deref().unwrap_or(listed), graph.neighbours(slot), "{at}: {slot}");
    }
    for (group, members) in groups.iter() {
        assert!(members.len() >= 2 && members.clone().eq(groups.members(group)), "{at}: {group:?}");
        for member in members {
            assert!(groups.groups_of(member).any(|other| other == group), "{at}: {member} is in {group:?}");
        }
    }
}

/// The neighbours of a member of a circle, whose groups have to be where it says.
fn known_of<const WORDS: usize>(
    circle: &Circle<WORDS>,
    tag: usize,
    slot: Slot,
    groups: &Groups,
    at: &str,
) -> Vec<Slot> {
    assert_eq!(circle.slots[tag], slot, "{at}");
    let home = groups.homes.of(slot);
    for group in circle.groups_of(tag) {
        assert!(circle.masks[group].has(tag), "{at}: {slot}");
        let place = &groups.ledger.places[circle.places[group] as usize];
        assert_eq!((place.home, place.generation), (home, circle.generations[group]), "{at}: {slot}");
        assert!(groups.rolls.members.get(circle.places[group] as usize).is_empty(), "{at}: {slot}");
    }
    circle.reaches[tag].tags().map(|tag| circle.slots[tag]).collect()
}

#[test]
fn circles_do_what_lists_do() {
    // One crowd, some that meet and part, a large one, one that is too large, large ones that meet, a few that grow together, and nobody in particular.
    for (motion, objects, crowd_size, crowd_neighbours, coverage_percent, ticks) in [
        (Motion::Crowds, 100, 100, 50.0, 5.0, 80),
        (Motion::Crowds, 300, 50, 25.0, 20.0, 80),
        (Motion::Crowds, 300, 300, 60.0, 5.0, 10),
        (Motion::Crowds, 600, 600, 60.0, 5.0, 5),
        (Motion::Crowds, 400, 100, 40.0, 40.0, 40),
        (Motion::Seekers, 300, 100, 30.0, 20.0, 80),
        (Motion::Uniform, 600, 100, 30.0, 60.0, 20),
    ] {
        for seed in 0..2 {
            let settings = Settings { motion, objects, coverage_percent, seed, speed: 0.3, ..Settings::default() };
            let settings = Settings { crowd_size, crowd_neighbours, ..settings };
            let mut workload = Workload::new(settings).unwrap();
            let mut broad_phase = Kinesphere::new().tracking_changes();
            let (mut twins, mut pairs) = (Twins::new(), Vec::new());
            // Neither crowds nor neighbours have slots that follow each other.
            let elsewhere = |slot: Slot| (slot.number() * 7 + 3) % 1_009;
            let moved = |pairs: &[Pair]| {
                let pairs = pairs.iter().map(|pair| Pair::of_rows(elsewhere(pair.a()), elsewhere(pair.b())));
                pairs.collect::<Vec<Pair>>()
            };
            for tick in 0..ticks {
                broad_phase.pairs(workload.spheres(), &mut pairs);
                let at = format!("{motion:?} of {objects}, seed {seed}, tick {tick}");
                twins.update(&moved(broad_phase.began()), &moved(broad_phase.ended()), &at);
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
        let mut twins = Twins::new();
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
            twins.update(&began, &ended, &format!("seed {seed}, tick {tick}"));
        }
    }
}
