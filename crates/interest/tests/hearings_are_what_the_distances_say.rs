//! Subscriptions are exactly what the distances say, tick after tick, for any auras, any motion, and objects that come
//! and go: both searches of an audience against the definition, which looks at all pairs every tick.
//!
//! With it: what entered and left turns the old subscriptions into the new, and hysteresis lets no pair go that
//! is in reach.

use std::collections::BTreeSet;

use kinesphere_interest::{Audience, AudienceSearch, AudienceSettings, Aura, Subscription};
use space::workload::Random;
use space::{Slot, Sphere, Vec3};

const SEARCHES: [AudienceSearch; 2] = [AudienceSearch::Listeners, AudienceSearch::AllPairs];

fn audience(hysteresis: f32, search: AudienceSearch) -> Audience {
    Audience::with(AudienceSettings { hysteresis, search }).unwrap()
}

/// The definition: all pairs, with the memory of the last tick's subscriptions.
struct Definition {
    hysteresis: f32,
    objects: Vec<Option<(Vec3, Aura)>>,
    subscriptions: BTreeSet<Subscription>,
}

impl Definition {
    fn update(&mut self) {
        let mut now = BTreeSet::new();
        for (row, listener) in self.objects.iter().enumerate() {
            for (other, speaker) in self.objects.iter().enumerate().filter(|(other, _)| *other != row) {
                let (Some((at, ears)), Some((from, voice))) = (listener, speaker) else { continue };
                let (Some(focus), Some(nimbus)) = (ears.focus(), voice.nimbus()) else { continue };
                let subscription = Subscription { listener: Slot::new(row as u32), speaker: Slot::new(other as u32) };
                let way = *at - *from;
                let distance_squared = way.x * way.x + way.y * way.y + way.z * way.z;
                let reach = match self.subscriptions.contains(&subscription) {
                    true => focus * self.hysteresis + nimbus * self.hysteresis,
                    false => focus + nimbus,
                };
                if distance_squared < reach * reach {
                    now.insert(subscription);
                }
            }
        }
        self.subscriptions = now;
    }
}

/// `kinds` of auras: one is the symmetric aura alone; with more than three, a share of `listeners` can hear.
fn any_aura(random: &mut Random, kinds: u32, listeners: f32) -> Aura {
    let radius = random.between(0.0, 2.0);
    if kinds > 3 && random.unit() >= listeners {
        return Aura::only_heard(if random.unit() < 0.5 { 0.0 } else { random.between(0.0, 3.0) });
    }
    match random.whole(0, kinds) {
        0 => Aura::new(radius),
        1 => Aura::one_sided(radius, random.between(0.0, 3.0)),
        2 => Aura::only_hears(radius * 2.0),
        3 => Aura::one_sided(0.0, radius),
        _ => Aura::one_sided(radius * 3.0, 0.0),
    }
}

/// The parameters of a random world.
struct World {
    seed: u64,
    hysteresis: f32,
    kinds: u32,
    listeners: f32,
    side: f32,
    /// The distance of the world from the origin; far away, coordinates are coarse.
    far: f32,
    moving: f32,
    changes: u32,
}

impl World {
    fn live(&self) {
        let &World { seed, hysteresis, kinds, listeners, side, far, moving, changes } = self;
        let mut random = Random::new(seed);
        let offset = Vec3::splat(far);
        let mut audiences = SEARCHES.map(|search| audience(hysteresis, search));
        let mut definition = Definition { hysteresis, objects: Vec::new(), subscriptions: BTreeSet::new() };
        let mut applied = BTreeSet::new();
        let insert = |audiences: &mut [Audience], definition: &mut Definition, random: &mut Random| {
            let (place, aura) = (offset + random.point(side), any_aura(random, kinds, listeners));
            let [row, other] = [0, 1].map(|index| audiences[index].insert(place, aura).unwrap().row());
            assert_eq!(row, other);
            if row >= definition.objects.len() {
                definition.objects.resize(row + 1, None);
            }
            definition.objects[row] = Some((place, aura));
        };
        (0..60).for_each(|_| insert(&mut audiences, &mut definition, &mut random));
        let velocities: Vec<Vec3> = (0..100).map(|_| random.direction() * moving).collect();
        for tick in 0..50 {
            for row in 0..definition.objects.len() {
                let Some((place, _)) = &mut definition.objects[row] else { continue };
                *place = (*place - offset + velocities[row % 100]).map(|along| along.rem_euclid(side)) + offset;
                audiences.iter_mut().for_each(|audience| audience.move_to(Slot::new(row as u32), *place).unwrap());
            }
            for _ in 0..random.whole(0, changes + 1) {
                let row = random.whole(0, definition.objects.len() as u32) as usize;
                let slot = Slot::new(row as u32);
                let Some((place, aura)) = &mut definition.objects[row] else { continue };
                match random.whole(0, 4) {
                    0 => {
                        audiences.iter_mut().for_each(|audience| audience.remove(slot).unwrap());
                        assert!(audiences.iter_mut().all(|audience| audience.remove(slot).is_err()));
                        definition.objects[row] = None;
                        definition.subscriptions.retain(|known| known.listener != slot && known.speaker != slot);
                        if random.unit() < 0.7 {
                            insert(&mut audiences, &mut definition, &mut random);
                        }
                    }
                    1 => {
                        *aura = any_aura(&mut random, kinds, listeners);
                        audiences.iter_mut().for_each(|audience| audience.set_aura(slot, *aura).unwrap());
                    }
                    2 => {
                        *place = offset + random.point(side);
                        audiences.iter_mut().for_each(|audience| audience.move_to(slot, *place).unwrap());
                    }
                    _ => insert(&mut audiences, &mut definition, &mut random),
                }
            }
            definition.update();
            let at = format!("seed {seed}, hysteresis {hysteresis}, {kinds} kinds, tick {tick}");
            for audience in &mut audiences {
                audience.update();
                definition.check(audience, &at);
            }
            for subscription in audiences[0].left() {
                assert!(applied.remove(subscription), "{at}: {subscription:?} left without being there");
            }
            for subscription in audiences[0].entered() {
                assert!(applied.insert(*subscription), "{at}: {subscription:?} entered twice");
            }
            assert_eq!(applied, definition.subscriptions, "{at}: the events");
            let [one, other] = &audiences;
            assert!(one.left() == other.left() && one.entered() == other.entered(), "{at}");
        }
    }
}

impl Definition {
    fn check(&self, audience: &Audience, at: &str) {
        assert_eq!(audience.hearings(), self.subscriptions.len(), "{at}");
        assert!(audience.entered().is_sorted() && audience.left().is_sorted(), "{at}");
        let alive = self.objects.iter().flatten().count();
        assert_eq!((audience.len(), audience.is_empty()), (alive, alive == 0), "{at}");
        for (row, object) in self.objects.iter().enumerate() {
            let slot = Slot::new(row as u32);
            let known = audience.center(slot).ok().zip(audience.aura(slot).ok());
            assert_eq!(known, *object, "{at}: {slot}");
            let own = |known: &&Subscription| known.listener == slot;
            let heard: Vec<Slot> = self.subscriptions.iter().filter(own).map(|known| known.speaker).collect();
            let of = |known: &&Subscription| known.speaker == slot;
            let listeners = self.subscriptions.iter().filter(of).map(|known| known.listener);
            assert!(audience.heard_by(slot).eq(heard.iter().copied()), "{at}: heard by {slot}");
            assert!(audience.listeners_of(slot).eq(listeners), "{at}: listeners of {slot}");
            assert!(heard.iter().all(|&speaker| audience.hears(slot, speaker)), "{at}");
        }
    }
}

#[test]
fn hearings_are_what_the_distances_say() {
    for seed in 0..8 {
        for kinds in [1, 2, 5] {
            for (hysteresis, moving, changes) in [(1.0, 0.05, 4), (1.1, 0.05, 4), (2.0, 0.3, 10)] {
                World { seed, hysteresis, kinds, listeners: 0.6, side: 9.0, far: 0.0, moving, changes }.live();
            }
        }
        World { seed, hysteresis: 1.3, kinds: 1, listeners: 1.0, side: 9.0, far: 0.0, moving: 0.02, changes: 0 }.live();
    }
}

/// Few listeners and many; crowded worlds, and ones so wide that a cell is larger than a reach; far from
/// the origin too.
#[test]
fn hearings_are_what_the_distances_say_where_few_listen() {
    for seed in 0..48 {
        let hysteresis = [1.0, 1.1, 3.0][seed as usize % 3];
        let listeners = [0.0, 0.1, 0.5, 1.0][seed as usize % 4];
        let side = [4.0, 12.0, 400.0][seed as usize / 4 % 3];
        let far = [0.0, -3_000.0, 70_000.0, 0.0][seed as usize / 12];
        World { seed, hysteresis, kinds: 5, listeners, side, far, moving: 0.02 * side, changes: 5 }.live();
    }
}

/// Objects whose auras overlap hear each other from the first such tick to the last, with any hysteresis.
#[test]
fn hysteresis_never_drops_a_pair_in_reach() {
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let mut audience = audience(1.2, SEARCHES[seed as usize % 2]);
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
                    Sphere::new(audience.center(slot).unwrap(), audience.aura(slot).unwrap().focus().unwrap())
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
    let events = |hysteresis: f32, search: AudienceSearch| {
        let mut audience = audience(hysteresis, search);
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
    assert_eq!(SEARCHES.map(|search| (events(1.0, search), events(1.1, search))), [(40, 2); 2]);
}

#[test]
fn invalid_values_are_refused_without_effect() {
    let mut audience = Audience::new();
    let ann = audience.insert(Vec3::ZERO, Aura::new(1.0)).unwrap();
    let refused = |result: Result<(), kinesphere_interest::AuraError>| result.unwrap_err().to_string();
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
    let unknown = Slot::new(77);
    assert_eq!(refused(audience.remove(unknown)), "slot 77: this world never had an object there");
    assert!(audience.insert(Vec3::NAN, Aura::new(1.0)).is_err() && audience.move_to(unknown, Vec3::ZERO).is_err());
    assert!(audience.set_aura(unknown, Aura::new(1.0)).is_err() && audience.center(unknown).is_err());
    for hysteresis in [0.9, f32::NAN] {
        let settings = AudienceSettings { hysteresis, ..AudienceSettings::default() };
        let error = Audience::with(settings).unwrap_err().to_string();
        assert_eq!(error, format!("`hysteresis` is {hysteresis}, expected 1 to 10"));
    }
    audience.update();
    assert_eq!(audience.aura(ann), Ok(Aura::new(1.0)));
    assert_eq!((audience.len(), audience.hears(ann, Slot::new(u32::MAX))), (1, false));
}

/// The largest aura and the largest hysteresis still fit into a world.
#[test]
fn the_largest_aura_is_heard_across_the_world() {
    for search in SEARCHES {
        let mut audience = audience(Aura::HYSTERESIS_MAX, search);
        let ann = audience.insert(Vec3::ZERO, Aura::new(Aura::LIMIT)).unwrap();
        let bob = audience.insert(Vec3::X * 1.5 * Aura::LIMIT, Aura::new(Aura::LIMIT)).unwrap();
        audience.update();
        assert!(audience.hears(ann, bob) && audience.hears(bob, ann));
    }
}
