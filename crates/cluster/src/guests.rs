//! Objects of other nodes that somebody here hears, and own objects that somebody there hears.
//!
//! A node tells another of its listeners near that one's space, now and then; so both know who may hear whom. What a
//! listener over there hears is told in every tick in which it changes, and again after one tick, two, four, ... until one
//! of them is likely to have arrived; what it may soon hear is told now and then. Whoever comes to where something was last
//! told to be, and is not any more, is told of that, too. Nothing is subscribed to, and nobody else's tick is waited for.
//!
//! All of it is bounded: so many guests are heard, so many are told and introduced in one tick, and who has waited longest is
//! first.

use std::collections::BTreeMap;

use space::{GridPoint, NodeId, ObjectId, Time, Turn, snap};
use wire::cluster::{GuestPose as Told, Introduced};

/// Listeners near another's space are announced, and what may soon be heard is told, every so many ticks.
pub const ANNOUNCE_TICKS: u64 = 8;
/// So far beyond a listener's reach something may soon be heard, in metres: both move, and either was told some ticks ago.
pub const SOON_M: f32 = 4.0;
/// So far beyond it counts as heard.
const HEARD_M: f32 = 0.5;
/// What stands is told again so many ticks later at most.
const REPEAT_TICKS_MAX: u64 = 30;
/// What an object is is said again after so many ticks: whoever missed it learns it then.
const INTRODUCE_TICKS: u64 = 60;
/// Who was not heard of for so long is forgotten, in microseconds: after three introductions that did not come.
const SILENT_US: i64 = 6_500_000;

/// So many are heard of at most, of all nodes together: as many as one list of the wire has. Who is introduced beyond that is
/// not heard, and counted.
pub const GUESTS_MAX: usize = wire::cluster::OBJECTS_MAX;
/// So many one node is told of in one tick at most: of a crowd that is larger, who has waited longest.
pub const TOLD_MAX: usize = 4_096;
/// And so many are introduced to it.
pub const INTRODUCED_MAX: usize = 1_024;

/// An object of another node, as it was last heard of.
#[derive(Clone, Debug, PartialEq)]
pub struct HeardGuest {
    /// Whose it is.
    pub node: NodeId,
    /// The number of its ownership.
    pub seq: u32,
    /// Where it is.
    pub place: GridPoint,
    /// How it is turned.
    pub turn: Turn,
    /// Which of the world's objects or, after all of these, of its avatars.
    pub model: u32,
    /// Whether it listens.
    pub is_user: bool,
    /// What it is called.
    pub name: String,
    /// Whether it was heard of since it was introduced.
    pub is_placed: bool,
    /// Its node's tick when it was there.
    pub tick: u64,
    /// When that arrived.
    pub heard_at: Time,
}

/// An own object, as others may hear it.
#[derive(Clone, Debug, PartialEq)]
pub struct Speaker {
    /// Which.
    pub object: ObjectId,
    /// The number of its ownership.
    pub seq: u32,
    /// Where it is.
    pub place: GridPoint,
    /// How it is turned.
    pub turn: Turn,
    /// Which of the world's objects or, after all of these, of its avatars.
    pub model: u32,
    /// Whether it listens.
    pub is_user: bool,
}

/// What is heard across borders.
#[derive(Clone, Debug, Default)]
pub struct Guests {
    heard: BTreeMap<ObjectId, HeardGuest>,
    told: BTreeMap<NodeId, BTreeMap<ObjectId, ToldGuest>>,
    /// How many introductions found no room.
    pub refused: u64,
}

/// Those of another node who listen, by where they are along the longer side of where they all are: along a border, mostly. So
/// whoever asks who is near looks at few of them.
#[derive(Clone, Debug, Default)]
pub struct Listeners {
    places: Vec<GridPoint>,
    is_along_z: bool,
}

impl Listeners {
    /// These.
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

    /// Whether one of them is within so many steps of a place.
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
    /// What is heard of others, by name.
    pub fn heard(&self) -> impl Iterator<Item = (ObjectId, &HeardGuest)> {
        self.heard.iter().filter(|(_, guest)| guest.is_placed).map(|(&object, guest)| (object, guest))
    }

    /// One of them.
    pub fn get(&self, object: ObjectId) -> Option<&HeardGuest> {
        self.heard.get(&object).filter(|guest| guest.is_placed)
    }

    /// An object is this node's own now.
    pub fn forget(&mut self, object: ObjectId) {
        self.heard.remove(&object);
    }

    /// An object is another's after all, as it was.
    pub(super) fn recall(&mut self, object: ObjectId, guest: Option<HeardGuest>) {
        self.heard.extend(guest.map(|guest| (object, guest)));
    }

    /// Another plan holds: whoever is left out is silent, and everybody is introduced anew.
    pub fn activate(&mut self, members: &[NodeId]) {
        self.told.clear();
        self.heard.retain(|_, guest| members.contains(&guest.node));
    }

    /// What objects of another node are.
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

    /// Where objects of another node are at its tick.
    pub fn hear(&mut self, from: NodeId, tick: u64, told: &[Told], now: Time) {
        for one in told {
            let guest = ObjectId::new(one.object).and_then(|object| self.heard.get_mut(&object));
            if let Some(guest) = guest.filter(|guest| guest.node == from && guest.tick <= tick) {
                (guest.place, guest.turn, guest.tick) = (one.place, one.turn, tick);
                (guest.heard_at, guest.is_placed) = (now, true);
            }
        }
    }

    /// Who listens at other nodes, and where, as they were last heard of.
    pub fn listeners(&self) -> BTreeMap<NodeId, Listeners> {
        let mut listeners: BTreeMap<NodeId, Vec<GridPoint>> = BTreeMap::new();
        for guest in self.heard.values().filter(|guest| guest.is_user && guest.is_placed) {
            listeners.entry(guest.node).or_default().push(guest.place);
        }
        listeners.into_iter().map(|(node, places)| (node, Listeners::new(places))).collect()
    }

    /// Forgets who fell silent.
    pub fn wake(&mut self, now: Time) {
        self.heard.retain(|_, guest| now - guest.heard_at < SILENT_US);
    }

    /// What another node is told in this tick: introductions, and where everybody is. `reach` is how far a listener hears, in
    /// steps, `listeners` those of that node; `is_near` says whether a place is within that, and a little more, of its space.
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
        // For each that is told, how long it has waited, and when it was told before.
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

/// In steps.
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
            // All of them move in every tick: all of them are due.
            let crowd: Vec<Speaker> = (1..=2 * TOLD_MAX as u64).map(|number| speaker(number, tick)).collect();
            let (introduced, told) =
                guests.tell(NodeId::new(2), (&crowd, &listeners), tick as u64, 1_000.0, |_| true, |_| String::new());
            assert_eq!(told.len(), TOLD_MAX);
            assert!(introduced.len() <= INTRODUCED_MAX);
            heard.extend(told.iter().map(|told| told.object));
        }
        assert_eq!(heard.len(), 2 * TOLD_MAX, "nobody waits for ever");
    }

    #[test]
    fn who_is_introduced_beyond_the_bound_is_counted_and_not_heard() {
        let mut guests = Guests::default();
        let introduced = |object| Introduced { object, seq: 1, model: 0, is_user: false, name: String::new() };
        let all: Vec<Introduced> = (1..=GUESTS_MAX as u64 + 5).map(introduced).collect();
        guests.introduce(NodeId::new(2), &all, Time::default());
        assert_eq!((guests.heard.len(), guests.refused), (GUESTS_MAX, 5));
    }
}
