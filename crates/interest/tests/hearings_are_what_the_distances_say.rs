//! Who hears whom is exactly what the distances say, tick after tick, for any auras, any motion, and objects that come
//! and go: an audience against the definition, which looks at everybody every tick.
//!
//! With it: what entered and left turns the old hearings into the new, and hysteresis lets no pair go that is in reach.

use std::collections::BTreeSet;

use interest::{Audience, AudienceSettings, Aura, Hearing};
use space::workload::Random;
use space::{Slot, Vec3};

/// The definition: everybody against everybody, with the memory of who heard whom.
struct Definition {
    hysteresis: f32,
    objects: Vec<Option<(Vec3, Aura)>>,
    hearings: BTreeSet<Hearing>,
}

impl Definition {
    fn update(&mut self) {
        let mut now = BTreeSet::new();
        for (row, listener) in self.objects.iter().enumerate() {
            for (other, speaker) in self.objects.iter().enumerate().filter(|(other, _)| *other != row) {
                let (Some((at, ears)), Some((from, voice))) = (listener, speaker) else { continue };
                let (Some(focus), Some(nimbus)) = (ears.focus(), voice.nimbus()) else { continue };
                let hearing = Hearing { listener: Slot::new(row as u32), speaker: Slot::new(other as u32) };
                let way = *at - *from;
                let distance_squared = way.x * way.x + way.y * way.y + way.z * way.z;
                let reach = match self.hearings.contains(&hearing) {
                    true => focus * self.hysteresis + nimbus * self.hysteresis,
                    false => focus + nimbus,
                };
                if distance_squared < reach * reach {
                    now.insert(hearing);
                }
            }
        }
        self.hearings = now;
    }
}

fn any_aura(random: &mut Random, kinds: u32) -> Aura {
    let radius = random.between(0.2, 2.0);
    match random.whole(0, kinds) {
        0 => Aura::new(radius),
        1 => Aura::one_sided(radius, random.between(0.0, 3.0)),
        2 => Aura::only_hears(radius * 2.0),
        3 => Aura::only_heard(0.0),
        _ => Aura::only_heard(radius),
    }
}

/// One world, lived through. `kinds` is how many kinds of auras there are: one is the symmetric aura alone.
fn live_through(seed: u64, hysteresis: f32, kinds: u32, moving: f32, changes: u32) {
    let mut random = Random::new(seed);
    let mut audience = Audience::with(AudienceSettings { hysteresis, threads: 1 }).unwrap();
    let mut definition = Definition { hysteresis, objects: Vec::new(), hearings: BTreeSet::new() };
    let mut applied = BTreeSet::new();
    let (side, mut velocities) = (9.0, Vec::new());
    let insert = |audience: &mut Audience, definition: &mut Definition, random: &mut Random| {
        let (place, aura) = (random.point(side), any_aura(random, kinds));
        let row = audience.insert(place, aura).unwrap().row();
        if row >= definition.objects.len() {
            definition.objects.resize(row + 1, None);
        }
        definition.objects[row] = Some((place, aura));
    };
    for _ in 0..60 {
        insert(&mut audience, &mut definition, &mut random);
    }
    velocities.resize_with(100, || random.direction() * moving);
    for tick in 0..60 {
        for row in 0..definition.objects.len() {
            let Some((place, _)) = &mut definition.objects[row] else { continue };
            *place = (*place + velocities[row % 100]).rem_euclid(Vec3::splat(side));
            audience.move_to(Slot::new(row as u32), *place).unwrap();
        }
        for _ in 0..random.whole(0, changes + 1) {
            let row = random.whole(0, definition.objects.len() as u32) as usize;
            let slot = Slot::new(row as u32);
            let Some((place, aura)) = &mut definition.objects[row] else { continue };
            match random.whole(0, 4) {
                0 => {
                    audience.remove(slot).unwrap();
                    definition.objects[row] = None;
                    definition.hearings.retain(|hearing| hearing.listener != slot && hearing.speaker != slot);
                    if random.unit() < 0.7 {
                        insert(&mut audience, &mut definition, &mut random);
                    }
                }
                1 => {
                    *aura = any_aura(&mut random, kinds);
                    audience.set_aura(slot, *aura).unwrap();
                }
                2 => {
                    *place = random.point(side);
                    audience.move_to(slot, *place).unwrap();
                }
                _ => insert(&mut audience, &mut definition, &mut random),
            }
        }
        audience.update();
        definition.update();

        let at = format!("seed {seed}, hysteresis {hysteresis}, {kinds} kinds, tick {tick}");
        for hearing in audience.left() {
            assert!(applied.remove(hearing), "{at}: {hearing:?} left without being there");
        }
        for hearing in audience.entered() {
            assert!(applied.insert(*hearing), "{at}: {hearing:?} entered twice");
        }
        assert_eq!(applied, definition.hearings, "{at}: the events");
        assert_eq!(audience.hearings(), definition.hearings.len(), "{at}");
        assert!(audience.entered().is_sorted() && audience.left().is_sorted(), "{at}");
        for row in 0..definition.objects.len() {
            let slot = Slot::new(row as u32);
            let of = |is_own: fn(&Hearing, Slot) -> bool, other: fn(&Hearing) -> Slot| -> BTreeSet<Slot> {
                definition.hearings.iter().filter(|hearing| is_own(hearing, slot)).map(other).collect()
            };
            let heard = of(|hearing, slot| hearing.listener == slot, |hearing| hearing.speaker);
            let listeners = of(|hearing, slot| hearing.speaker == slot, |hearing| hearing.listener);
            assert!(audience.heard_by(slot).eq(heard.iter().copied()), "{at}: whom {slot} hears");
            assert!(audience.listeners_of(slot).eq(listeners), "{at}: who hears {slot}");
            assert!(heard.iter().all(|&speaker| audience.hears(slot, speaker)), "{at}");
        }
    }
}

#[test]
fn hearings_are_what_the_distances_say() {
    for seed in 0..8 {
        for kinds in [1, 2, 5] {
            live_through(seed, 1.0, kinds, 0.05, 4);
            live_through(seed, 1.1, kinds, 0.05, 4);
            live_through(seed, 2.0, kinds, 0.3, 10);
        }
        live_through(seed, 1.3, 1, 0.02, 0);
    }
}

/// Whatever hysteresis does, those whose auras overlap hear each other, from the first such tick to the last.
#[test]
fn hysteresis_never_drops_a_pair_in_reach() {
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let mut audience = Audience::with(AudienceSettings { hysteresis: 1.2, threads: 1 }).unwrap();
        let slots: Vec<Slot> =
            (0..80).map(|_| audience.insert(random.point(9.0), Aura::new(random.between(0.3, 1.5))).unwrap()).collect();
        for tick in 0..80 {
            for &slot in &slots {
                let place = audience.center(slot).unwrap() + random.direction() * 0.1;
                audience.move_to(slot, place).unwrap();
            }
            audience.update();
            for (&one, &other) in slots.iter().flat_map(|one| slots.iter().map(move |other| (one, other))) {
                let sphere = |slot: Slot| {
                    space::Sphere::new(audience.center(slot).unwrap(), audience.aura(slot).unwrap().focus().unwrap())
                };
                if one != other && sphere(one).overlaps(sphere(other)) {
                    assert!(audience.hears(one, other), "seed {seed}, tick {tick}: {one} does not hear {other}");
                }
            }
        }
    }
}

/// A pair at the border flickers without hysteresis, and does not with it.
#[test]
fn a_pair_at_the_border_does_not_flicker() {
    let events = |hysteresis: f32| {
        let mut audience = Audience::with(AudienceSettings { hysteresis, threads: 1 }).unwrap();
        audience.insert(Vec3::ZERO, Aura::new(1.0)).unwrap();
        let bob = audience.insert(Vec3::X * 1.99, Aura::new(1.0)).unwrap();
        let mut count = 0;
        for tick in 0..20 {
            audience.move_to(bob, Vec3::X * if tick % 2 == 0 { 1.99 } else { 2.01 }).unwrap();
            audience.update();
            count += audience.entered().len() + audience.left().len();
        }
        count
    };
    assert_eq!((events(1.0), events(1.1)), (40, 2));
}

#[test]
fn what_makes_no_sense_is_refused_and_changes_nothing() {
    let mut audience = Audience::new();
    let ann = audience.insert(Vec3::ZERO, Aura::new(1.0)).unwrap();
    let refused = |result: Result<(), interest::AuraError>| result.unwrap_err().to_string();
    assert_eq!(
        refused(audience.set_aura(ann, Aura::one_sided(1.0, -2.0))),
        "slot 0: `nimbus` is -2, expected 0 to 1e8 metres"
    );
    assert_eq!(
        refused(audience.insert(Vec3::ZERO, Aura::new(f32::NAN)).map(|_| ())),
        "the new object: `focus` is NaN, expected 0 to 1e8 metres"
    );
    assert_eq!(
        refused(audience.insert(Vec3::ZERO, Aura::new(1.0).widened(f32::MAX, 9)).map(|_| ())),
        "the new object: `focus` is inf, expected 0 to 1e8 metres"
    );
    assert_eq!(refused(audience.remove(Slot::new(77))), "slot 77: this world never had an object there");
    let settings = AudienceSettings { hysteresis: 0.9, threads: 1 };
    assert_eq!(Audience::with(settings).unwrap_err().to_string(), "`hysteresis` is 0.9, expected 1 to 10");
    assert_eq!(audience.aura(ann), Ok(Aura::new(1.0)));
    assert_eq!((audience.len(), audience.hears(ann, Slot::new(u32::MAX))), (1, false));
}
