//! In every tick of long runs, every colliding pair shares a group, no group holds two objects that do not collide, and
//! the changes of the tick turn the old groups into the new.

use std::collections::{BTreeMap, BTreeSet};

use kinesphere_interest::{Graph, GroupChange, GroupCover, GroupId, greedy_cover};
use space::workload::{Motion, Random, Settings, Workload};
use space::{BroadPhase, Kinesphere, Pair, Slot, Sphere, Spheres};

/// The groups as the changes tell them.
#[derive(Default)]
struct Told(BTreeMap<GroupId, BTreeSet<Slot>>);

impl Told {
    fn apply(&mut self, change: GroupChange, at: &str) {
        match change {
            GroupChange::Created(group) => assert!(self.0.insert(group, BTreeSet::new()).is_none(), "{at}: {group:?}"),
            GroupChange::Joined(group, slot) => {
                assert!(self.0.get_mut(&group).unwrap().insert(slot), "{at}: {group:?}")
            }
            GroupChange::Left(group, slot) => assert!(self.0.get_mut(&group).unwrap().remove(&slot), "{at}: {group:?}"),
            GroupChange::Dissolved(group) => {
                assert_eq!(self.0.remove(&group), Some(BTreeSet::new()), "{at}: {group:?}")
            }
        }
    }
}

fn assert_exact(groups: &GroupCover, graph: &Graph, told: &mut Told, at: &str) {
    for &change in groups.changes() {
        told.apply(change, at);
    }
    let mut covered = BTreeSet::new();
    let (mut count, mut memberships) = (0, 0);
    for (group, members) in groups.iter() {
        count += 1;
        memberships += members.len();
        assert_eq!(members, groups.members(group), "{at}: {group:?}");
        assert!(members.len() >= 2 && members.is_sorted(), "{at}: {group:?} has {members:?}");
        assert!(told.0[&group].iter().eq(members), "{at}: {group:?} is not what was told");
        for (index, &one) in members.iter().enumerate() {
            assert!(groups.groups_of(one).any(|other| other == group), "{at}");
            for &other in &members[index + 1..] {
                assert!(graph.contains(one, other), "{at}: {one} and {other} share {group:?} and do not collide");
                covered.insert(Pair::new(one, other));
            }
        }
    }
    assert_eq!((groups.len(), groups.memberships(), told.0.len()), (count, memberships, count), "{at}");
    assert_eq!(covered.len(), graph.pairs(), "{at}: a pair shares no group");
}

#[test]
fn groups_cover_every_pair() {
    for (motion, coverage_percent, ticks) in [
        (Motion::Uniform, 20.0, 200),
        (Motion::Uniform, 150.0, 100),
        (Motion::Seekers, 20.0, 400),
        (Motion::Crowds, 5.0, 200),
        (Motion::Mixed, 20.0, 100),
        (Motion::Jitter, 60.0, 100),
        (Motion::Teleport, 60.0, 20),
    ] {
        for seed in 0..2 {
            let settings = Settings { motion, coverage_percent, objects: 200, seed, speed: 0.2, ..Settings::default() };
            let mut workload = Workload::new(Settings { radius_ratio: 10.0, ..settings }).unwrap();
            let mut broad_phase = Kinesphere::new().tracking_changes();
            let (mut graph, mut groups, mut told) = (Graph::new(), GroupCover::new(), Told::default());
            let mut pairs = Vec::new();
            for tick in 0..ticks {
                broad_phase.pairs(workload.spheres(), &mut pairs);
                graph.update(broad_phase.began(), broad_phase.ended());
                groups.update(broad_phase.began(), broad_phase.ended());
                assert_eq!(graph.pairs(), pairs.len());
                assert_exact(&groups, &graph, &mut told, &format!("{motion:?}, seed {seed}, tick {tick}"));
                workload.step();
            }
        }
    }
}

/// With objects that are added, removed and resized, reused slots, and different tidying.
#[test]
fn groups_survive_comings_and_goings() {
    for seed in 0..12 {
        let mut random = Random::new(seed);
        let mut spheres = Spheres::new();
        let mut broad_phase = Kinesphere::new().tracking_changes();
        let (mut graph, mut groups) = (Graph::new(), GroupCover::with_tidying([0, 1, 8][seed as usize % 3]));
        let (mut told, mut pairs) = (Told::default(), Vec::new());
        for tick in 0..80 {
            for _ in 0..random.whole(0, 20) {
                let slot = Slot::new(random.whole(0, 80));
                match random.whole(0, 5) {
                    0 => drop(spheres.remove(slot).ok()),
                    1 => drop(spheres.resize(slot, random.between(0.0, 3.0)).ok()),
                    2 => drop(spheres.move_to(slot, random.point(7.0)).ok()),
                    _ if spheres.len() < 80 => {
                        let _ = spheres.insert(Sphere::new(random.point(7.0), random.between(0.2, 2.0)));
                    }
                    _ => {}
                }
            }
            broad_phase.pairs(&spheres, &mut pairs);
            graph.update(broad_phase.began(), broad_phase.ended());
            groups.update(broad_phase.began(), broad_phase.ended());
            assert_exact(&groups, &graph, &mut told, &format!("seed {seed}, tick {tick}"));
            spheres.end_tick();
        }
    }
}

/// Random graphs that no spheres have, with random changes.
#[test]
fn groups_cover_any_graph() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let (count, density) = (random.whole(2, 30), random.unit());
        let (mut graph, mut groups, mut told) = (Graph::new(), GroupCover::new(), Told::default());
        for tick in 0..20 {
            let changes = |random: &mut Random, share: f32| {
                let all = (0..count).flat_map(|a| (a + 1..count).map(move |b| Pair::of_rows(a, b)));
                all.filter(|_| random.unit() < share).collect::<Vec<Pair>>()
            };
            let share = if tick == 0 { 1.0 } else { 0.2 };
            let (began, ended) = (changes(&mut random, density * share), changes(&mut random, (1.0 - density) * share));
            graph.update(&began, &ended);
            groups.update(&began, &ended);
            assert_exact(&groups, &graph, &mut told, &format!("seed {seed}, tick {tick}"));
        }
        let fresh = greedy_cover(&graph);
        let mut covered = BTreeSet::new();
        for members in &fresh {
            for (index, &one) in members.iter().enumerate() {
                covered.extend(members[index + 1..].iter().map(|&other| Pair::new(one, other)));
            }
        }
        assert!(covered.iter().all(|pair| graph.contains(pair.a(), pair.b())) && covered.len() == graph.pairs());
    }
}

/// After many ticks of motion, a repaired cover is not much larger than a fresh one.
#[test]
fn a_repaired_cover_stays_near_a_fresh_one() {
    let settings = Settings { motion: Motion::Crowds, crowd_size: 200, crowd_neighbours: 99.0, ..Settings::default() };
    let mut workload = Workload::new(Settings { objects: 200, ..settings }).unwrap();
    let mut broad_phase = Kinesphere::new().tracking_changes();
    let (mut graph, mut groups, mut pairs) = (Graph::new(), GroupCover::new(), Vec::new());
    for _ in 0..300 {
        broad_phase.pairs(workload.spheres(), &mut pairs);
        graph.update(broad_phase.began(), broad_phase.ended());
        groups.update(broad_phase.began(), broad_phase.ended());
        workload.step();
    }
    let fresh = greedy_cover(&graph).len();
    assert!(groups.len() * 10 < fresh * 18, "{} groups against {fresh}", groups.len());
}
