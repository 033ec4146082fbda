//! Fairness: each of two contenders wins a place about equally often, and only obstacles stop a mover.

mod crowd;

use crowd::{Person, empty, object};
use kinesphere_world::spec::{ObjectKind, Shape};
use kinesphere_world::{Act, ContactPolicy, SKIN, World};
use space::workload::Random;
use space::{ObjectId, Vec3, snap};

/// Two avatars run to one place from both sides, again and again: each gets it about as often.
#[test]
fn contested_places_are_won_evenly() {
    let mut won = [0u32; 2];
    for round in 0..400 {
        let mut spec = empty();
        spec.avatars[0].policy = ContactPolicy::Block;
        let mut world = World::new(spec).unwrap();
        // The tick and the order of joining change with the round: neither may matter.
        for _ in 0..round % 37 {
            world.step(&[]);
        }
        let sides = if round % 2 == 0 { [-1.0, 1.0] } else { [1.0, -1.0] };
        let mut people = [1, 2]
            .map(|number| Person::join(&mut world, number, Vec3::new(sides[number as usize - 1] * 0.4, 0.0, 0.0)));
        let inputs = [0, 1].map(|index| {
            let velocity = Vec3::new(-sides[index] * 5.5, 0.0, 0.0);
            people[index].next_input(Act::Move { velocity })
        });
        world.step(&inputs);
        let moved = [0, 1].map(|index| (people[index].position(&world).x - sides[index] * 0.4).abs());
        assert!((moved[0] - moved[1]).abs() > 0.02, "round {round}: {moved:?}, so the place was not contested");
        won[usize::from(moved[1] > moved[0])] += 1;
    }
    assert!((160..=240).contains(&won[0]), "{won:?}");
}

/// Eight avatars push towards one point: each comes nearest to it about as often.
#[test]
fn a_crowd_takes_turns() {
    let mut firsts = [0u32; 8];
    for seed in 0..160u64 {
        let mut world = World::new(empty()).unwrap();
        for _ in 0..seed {
            world.step(&[]);
        }
        let mut people: Vec<Person> = (0..8)
            .map(|number| {
                // On a circle; the assignment of places rotates with the seed.
                let place = (number + seed) % 8;
                let angle = place as f32 * std::f32::consts::TAU / 8.0;
                Person::join(&mut world, number + 1, Vec3::new(angle.cos(), 0.0, angle.sin()) * 3.0)
            })
            .collect();
        for _ in 0..45 {
            let inputs: Vec<_> = people
                .iter_mut()
                .map(|person| {
                    let at = person.position(&world) * Vec3::new(1.0, 0.0, 1.0);
                    person.next_input(Act::Move { velocity: -at.normalize_or_zero() * 3.0 })
                })
                .collect();
            world.step(&inputs);
        }
        let distance = |person: &Person| (person.position(&world) * Vec3::new(1.0, 0.0, 1.0)).length();
        let first = (0..8).min_by(|&a, &b| distance(&people[a]).total_cmp(&distance(&people[b]))).unwrap();
        firsts[first] += 1;
    }
    // Twenty each on average.
    assert!(firsts.iter().all(|&count| (5..=40).contains(&count)), "{firsts:?}");
}

/// An avatar that did not reach its wanted place is within the skin of an obstacle, or had a contact on the way.
#[test]
fn only_obstacles_stop_a_mover() {
    let skin = SKIN as f32 * snap::STEP;
    for seed in 0..30 {
        let mut random = Random::new(seed);
        let mut spec = empty();
        spec.gravity = 0.0;
        spec.avatars[0].policy = ContactPolicy::Block;
        for number in 0..20 {
            let half = Vec3::new(random.between(0.1, 1.0), 1.0, random.between(0.1, 1.0));
            let at = Vec3::new(random.between(-6.0, 6.0), 1.05, random.between(-6.0, 6.0));
            spec.objects.push(object(&format!("block {number}"), ObjectKind::Fixed, Shape::Box { half }, at));
            if World::new(spec.clone()).is_err() {
                spec.objects.pop();
            }
        }
        let mut world = World::new(spec).unwrap();
        let mut people: Vec<Person> = (0..25)
            .map(|number| {
                let at = Vec3::new(random.between(-6.0, 6.0), 0.2, random.between(-6.0, 6.0));
                Person::join(&mut world, number + 1, at)
            })
            .collect();
        for tick in 0..60 {
            let wishes: Vec<Vec3> = people.iter().map(|_| random.in_ball() * 6.0).collect();
            let before: Vec<Vec3> = people.iter().map(|person| person.position(&world)).collect();
            let inputs: Vec<_> = people
                .iter_mut()
                .zip(&wishes)
                .map(|(person, &velocity)| person.next_input(Act::Move { velocity }))
                .collect();
            world.step(&inputs);
            for (index, person) in people.iter().enumerate() {
                let wanted = before[index] + wishes[index] / 30.0;
                let at = person.position(&world);
                if (at - wanted).abs().max_element() <= 1.6 * snap::STEP {
                    continue;
                }
                let met = world.outcome().contacts.iter().find(|met| met.mover == person.avatar);
                let met = met
                    .unwrap_or_else(|| panic!("seed {seed}, tick {tick}: {at} instead of {wanted}, and met nothing"));
                // The other may have moved since, but not farther than an avatar moves in a tick.
                let gap = met.other.map_or(0.0, |other| gap(&world, person.avatar, other));
                let is_fixed = met.other.is_none_or(|other| other.number() <= world.spec().objects.len() as u64);
                let most = if is_fixed { skin } else { skin + 6.0 / 30.0 };
                assert!(gap <= most + 1e-5, "seed {seed}, tick {tick}: {gap} m from what blocks it");
            }
        }
    }
}

fn gap(world: &World, one: ObjectId, other: ObjectId) -> f32 {
    let (one, other) = (world.object(one).unwrap(), world.object(other).unwrap());
    let pose = |object: &kinesphere_world::ObjectView<'_>| shapes::Pose::new(object.position(), object.turn.quat());
    shapes::exact::distance(one.shape, &pose(&one), other.shape, &pose(&other))
}
