//! Guests: objects of other nodes that users here hear, and own objects that users there hear.
//!
//! A node announces its listeners near another node's space now and then, so both know who may hear what. An object
//! that a listener over there hears is sent in every tick in which it changes, and again after 1, 2, 4, ... ticks until
//! one of the datagrams is likely to have arrived; an object that may soon be heard is sent now and then. A listener
//! that comes to where an object was last reported, and is not any more, is told of it, too. There are no
//! subscriptions, and no tick waits for another node.
//!
//! Everything has a bound: guests that are heard, and objects that are reported and introduced in one tick. Those that
//! have waited longest come first.

use std::collections::BTreeMap;

use space::{GridPoint, NodeId, ObjectId, Time, Turn, snap};
use wire::cluster::{GuestPose as Told, Introduced};

/// How often listeners near another node's space, and objects that may soon be heard, are announced.
pub const ANNOUNCE_TICKS: u64 = 8;
/// An object this far beyond a listener's reach may soon be heard, in metres: both move, and reports are some ticks
/// old.
pub const SOON_M: f32 = 4.0;
/// An object this far beyond a listener's reach counts as heard, in metres.
const HEARD_M: f32 = 0.5;
/// An object at rest is reported again after this many ticks at most.
const REPEAT_TICKS_MAX: u64 = 30;
/// An object is introduced again after this many ticks, in case an introduction was lost.
const INTRODUCE_TICKS: u64 = 60;
/// A guest is forgotten when nothing was heard of it for this long: after three introductions that did not come.
const SILENT_US: i64 = 6_500_000;

/// The most guests, of all nodes together: as many as a list of the wire holds. An object that is introduced beyond
/// that is counted, and not heard.
pub const GUESTS_MAX: usize = wire::cluster::OBJECTS_MAX;
/// The most objects that one node is told of in one tick; of a larger crowd, those that have waited longest.
pub const TOLD_MAX: usize = 4_096;
/// The most objects that are introduced to one node in one tick.
pub const INTRODUCED_MAX: usize = 1_024;

/// An object of another node, as it was last heard of.
#[derive(Clone, Debug, PartialEq)]
pub struct HeardGuest {
    pub node: NodeId,
    /// How often the object has changed hands.
    pub seq: u32,
    pub place: GridPoint,
    pub turn: Turn,
    /// An index into the world's objects or, after all of these, its avatars.
    pub model: u32,
    /// Whether it listens: it is a user's avatar.
    pub is_user: bool,
    pub name: String,
    /// Whether a position has arrived since it was introduced.
    pub is_placed: bool,
    /// The tick of its node for that position.
    pub tick: u64,
    pub heard_at: Time,
}

/// An own object that other nodes may hear.
#[derive(Clone, Debug, PartialEq)]
pub struct Speaker {
    pub object: ObjectId,
    /// How often the object has changed hands.
    pub seq: u32,
    pub place: GridPoint,
    pub turn: Turn,
    /// An index into the world's objects or, after all of these, its avatars.
    pub model: u32,
    /// Whether it listens: it is a user's avatar.
    pub is_user: bool,
}

/// Guests, and what other nodes were told of own objects.
#[derive(Clone, Debug, Default)]
pub struct Guests {
    heard: BTreeMap<ObjectId, HeardGuest>,
    told: BTreeMap<NodeId, BTreeMap<ObjectId, ToldGuest>>,
    /// Introductions for which there was no room.
    pub refused: u64,
}

/// The listeners of another node, sorted along the longer side of the area that they fill, which mostly is along a
/// border. So a search for those near a place looks at few of them.
#[derive(Clone, Debug, Default)]
pub struct Listeners {
    places: Vec<GridPoint>,
    is_along_z: bool,
}

impl Listeners {
    pub fn new(mut places: Vec<GridPoint>) -> Listeners {
        let extent = |of: fn(&GridPoint) -> i32| {
            let (low, high) =
                places.iter().map(of).fold((i32::MAX, i32::MIN), |(low, high), at| (low.min(at), high.max(at)));
            high.saturating_sub(low)
        };
        let is_along_z = extent(|place| place.z) > extent(|place| place.x);
        places.sort_unstable_by_key(|place| if is_along_z { place.z } else { place.x });
        Listeners { places, is_along_z }
    }

    /// Whether a listener is within `reach` steps of a place.
    pub fn is_within(&self, place: GridPoint, reach: f32) -> bool {
        let along = |place: &GridPoint| if self.is_along_z { place.z } else { place.x };
        let (at, wide) = (along(&place), reach as i32 + 1);
        let first = self.places.partition_point(|listener| along(listener) < at.saturating_sub(wide));
        let near = self.places[first..].iter().take_while(|listener| along(listener) <= at.saturating_add(wide));
        near.into_iter().any(|&listener| distance_squared(listener, place) <= reach * reach)
    }
}

#[derive(Clone, Copy, Debug)]
struct ToldGuest {
    seq: u32,
    place: GridPoint,
    turn: Turn,
    changed: u64,
    told: u64,
    introduced: u64,
}

impl Guests {
    /// All guests whose positions are known.
    pub fn heard(&self) -> impl Iterator<Item = (ObjectId, &HeardGuest)> {
        self.heard.iter().filter(|(_, guest)| guest.is_placed).map(|(&object, guest)| (object, guest))
    }

    pub fn get(&self, object: ObjectId) -> Option<&HeardGuest> {
        self.heard.get(&object).filter(|guest| guest.is_placed)
    }

    /// Forgets a guest that is this node's own object now.
    pub fn forget(&mut self, object: ObjectId) {
        self.heard.remove(&object);
    }

    /// Restores a guest that is another node's object after all.
    pub(super) fn recall(&mut self, object: ObjectId, guest: Option<HeardGuest>) {
        self.heard.extend(guest.map(|guest| (object, guest)));
    }

    /// Begins another plan: nodes that are left out are silent, and all objects are introduced anew.
    pub fn activate(&mut self, members: &[NodeId]) {
        self.told.clear();
        self.heard.retain(|_, guest| members.contains(&guest.node));
    }

    /// Takes in what objects of another node are.
    pub fn introduce(&mut self, from: NodeId, objects: &[Introduced], now: Time) {
        for one in objects {
            let Some(object) = ObjectId::new(one.object) else { continue };
            let known = self.heard.get(&object);
            if known.is_some_and(|known| known.seq > one.seq) {
                continue;
            }
            let (place, turn, is_placed, tick) = match known {
                Some(known) => {
                    (known.place, known.turn, known.is_placed, if known.node == from { known.tick } else { 0 })
                }
                None if self.heard.len() >= GUESTS_MAX => {
                    self.refused += 1;
                    continue;
                }
                None => (GridPoint::default(), Turn::IDENTITY, false, 0),
            };
            let guest = HeardGuest {
                node: from,
                seq: one.seq,
                place,
                turn,
                model: one.model,
                is_user: one.is_user,
                name: one.name.clone(),
                is_placed,
                tick,
                heard_at: now,
            };
            self.heard.insert(object, guest);
        }
    }

    /// Takes in where objects of another node are at its tick.
    pub fn hear(&mut self, from: NodeId, tick: u64, told: &[Told], now: Time) {
        for one in told {
            let guest = ObjectId::new(one.object).and_then(|object| self.heard.get_mut(&object));
            if let Some(guest) = guest.filter(|guest| guest.node == from && guest.tick <= tick) {
                (guest.place, guest.turn, guest.tick) = (one.place, one.turn, tick);
                (guest.heard_at, guest.is_placed) = (now, true);
            }
        }
    }

    /// The listeners of other nodes, as they were last heard of.
    pub fn listeners(&self) -> BTreeMap<NodeId, Listeners> {
        let mut listeners: BTreeMap<NodeId, Vec<GridPoint>> = BTreeMap::new();
        for guest in self.heard.values().filter(|guest| guest.is_user && guest.is_placed) {
            listeners.entry(guest.node).or_default().push(guest.place);
        }
        listeners.into_iter().map(|(node, places)| (node, Listeners::new(places))).collect()
    }

    /// Forgets guests that fell silent.
    pub fn wake(&mut self, now: Time) {
        self.heard.retain(|_, guest| now - guest.heard_at < SILENT_US);
    }

    /// What another node is told in this tick: introductions and positions. `reach` is how far a listener hears, in
    /// steps; `listeners` are those of that node; `is_near` says whether a place is within that distance, and a little
    /// more, of its space.
    pub fn tell(
        &mut self,
        to: NodeId,
        (speakers, listeners): (&[Speaker], &Listeners),
        tick: u64,
        reach: f32,
        is_near: impl Fn(GridPoint) -> bool,
        name_of: impl Fn(ObjectId) -> String,
    ) -> (Vec<Introduced>, Vec<Told>) {
        let metre = snap::STEPS_PER_METRE as f32;
        let (heard, soon) = (reach + HEARD_M * metre, reach + SOON_M * metre);
        let table = self.told.entry(to).or_default();
        let (mut introduced, mut told) = (Vec::new(), Vec::new());
        // For each object that is reported, how long it has waited, and when it was reported before.
        let mut waits: Vec<(u64, u64)> = Vec::new();
        for speaker in speakers {
            if !is_near(speaker.place) {
                continue;
            }
            let is_turn = (tick + speaker.object.number()).is_multiple_of(ANNOUNCE_TICKS);
            let was_heard = |was: &ToldGuest| was.place != speaker.place && listeners.is_within(was.place, heard);
            let is_told = is_turn && speaker.is_user
                || listeners.is_within(speaker.place, if is_turn { soon } else { heard })
                || table.get(&speaker.object).is_some_and(was_heard);
            if !is_told {
                continue;
            }
            let telling = table.entry(speaker.object).or_insert(ToldGuest {
                seq: 0,
                place: speaker.place,
                turn: speaker.turn,
                changed: tick,
                told: 0,
                introduced: 0,
            });
            if (telling.place, telling.turn) != (speaker.place, speaker.turn) {
                (telling.place, telling.turn, telling.changed) = (speaker.place, speaker.turn, tick);
            }
            let is_due = telling.seq != speaker.seq || tick - telling.introduced >= INTRODUCE_TICKS;
            if is_due && introduced.len() < INTRODUCED_MAX {
                (telling.seq, telling.introduced) = (speaker.seq, tick);
                introduced.push(Introduced {
                    object: speaker.object.number(),
                    seq: speaker.seq,
                    model: speaker.model,
                    is_user: speaker.is_user,
                    name: name_of(speaker.object),
                });
            }
            let waited = tick - telling.told.min(tick);
            let calm = telling.told.saturating_sub(telling.changed).clamp(1, REPEAT_TICKS_MAX);
            if telling.changed > telling.told || waited >= calm {
                waits.push((waited, telling.told));
                telling.told = tick;
                told.push(Told { object: speaker.object.number(), place: speaker.place, turn: speaker.turn });
            }
        }
        if told.len() > TOLD_MAX {
            let mut order: Vec<usize> = (0..told.len()).collect();
            order.sort_by_key(|&at| (std::cmp::Reverse(waits[at].0), at));
            for &late in &order[TOLD_MAX..] {
                let telling = ObjectId::new(told[late].object).and_then(|object| table.get_mut(&object));
                telling.into_iter().for_each(|telling| telling.told = waits[late].1);
            }
            order.truncate(TOLD_MAX);
            told = order.into_iter().map(|at| told[at]).collect();
        }
        if tick.is_multiple_of(256) {
            table.retain(|_, telling| tick - telling.told.min(tick) < 256);
        }
        (introduced, told)
    }
}

/// The distance in steps.
pub fn distance(one: GridPoint, other: GridPoint) -> f32 {
    distance_squared(one, other).sqrt()
}

fn distance_squared(one: GridPoint, other: GridPoint) -> f32 {
    let [x, y, z] = [one.x - other.x, one.y - other.y, one.z - other.z].map(|steps| steps as f32);
    x * x + y * y + z * z
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::workload::Random;

    #[test]
    fn listeners_are_found_as_by_looking_at_all() {
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let (wide, long) = (random.between(1.0, 60_000.0), random.between(1.0, 400_000.0));
            let count = random.whole(0, 40);
            let mut place =
                || GridPoint::new(random.between(-wide, wide) as i32, 0, random.between(-long, long) as i32);
            let all: Vec<GridPoint> = (0..count).map(|_| place()).collect();
            let asked: Vec<GridPoint> = (0..40).map(|_| place()).collect();
            let listeners = Listeners::new(all.clone());
            for at in asked {
                for reach in [0.0, 500.0, 22_000.0, 1e6] {
                    let expected = all.iter().any(|&listener| distance_squared(listener, at) <= reach * reach);
                    assert_eq!(listeners.is_within(at, reach), expected, "seed {seed}: {at:?} {reach}");
                }
            }
        }
    }

    fn speaker(number: u64, x: i32) -> Speaker {
        let object = ObjectId::new(number).unwrap();
        let place = GridPoint::new(x, 0, 0);
        Speaker { object, seq: 1, place, turn: Turn::IDENTITY, model: 0, is_user: false }
    }

    #[test]
    fn a_crowd_beyond_the_bound_is_told_in_turn() {
        let mut guests = Guests::default();
        let listeners = Listeners::new(vec![GridPoint::new(0, 0, 0)]);
        let mut heard = std::collections::BTreeSet::new();
        for tick in 1..4 {
            // All of them move in every tick, so all of them are due.
            let crowd: Vec<Speaker> = (1..=2 * TOLD_MAX as u64).map(|number| speaker(number, tick)).collect();
            let (introduced, told) =
                guests.tell(NodeId::new(2), (&crowd, &listeners), tick as u64, 1_000.0, |_| true, |_| String::new());
            assert_eq!(told.len(), TOLD_MAX);
            assert!(introduced.len() <= INTRODUCED_MAX);
            heard.extend(told.iter().map(|told| told.object));
        }
        assert_eq!(heard.len(), 2 * TOLD_MAX, "no object waits for ever");
    }

    #[test]
    fn introductions_beyond_the_bound_are_counted_and_not_heard() {
        let mut guests = Guests::default();
        let introduced = |object| Introduced { object, seq: 1, model: 0, is_user: false, name: String::new() };
        let all: Vec<Introduced> = (1..=GUESTS_MAX as u64 + 5).map(introduced).collect();
        guests.introduce(NodeId::new(2), &all, Time::default());
        assert_eq!((guests.heard.len(), guests.refused), (GUESTS_MAX, 5));
    }
}
