//! Objects of other nodes that somebody here hears, and own objects that somebody there hears.
//!
//! A node tells another of its listeners near that one's space, now and then; so both know who may hear whom. What a
//! listener over there hears is told in every tick in which it changes, and again after one tick, two, four, ... until one
//! of them is likely to have arrived; what it may soon hear is told now and then. Whoever comes to where something was last
//! told to be, and is not any more, is told of that, too. Nothing is subscribed to, and nobody else's tick is waited for.

use std::collections::BTreeMap;

use space::{GridPoint, NodeId, ObjectId, Time, Turn, snap};
use wire::cluster::{Ghost as Told, Introduced};

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

/// An object of another node, as it was last heard of.
#[derive(Clone, Debug, PartialEq)]
pub struct Ghost {
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
pub struct Ghosts {
    heard: BTreeMap<ObjectId, Ghost>,
    told: BTreeMap<NodeId, BTreeMap<ObjectId, Telling>>,
}

#[derive(Clone, Copy, Debug)]
struct Telling {
    seq: u32,
    place: GridPoint,
    turn: Turn,
    changed: u64,
    told: u64,
    introduced: u64,
}

impl Ghosts {
    /// What is heard of others, by name.
    pub fn heard(&self) -> impl Iterator<Item = (ObjectId, &Ghost)> {
        self.heard.iter().filter(|(_, ghost)| ghost.is_placed).map(|(&object, ghost)| (object, ghost))
    }

    /// One of them.
    pub fn get(&self, object: ObjectId) -> Option<&Ghost> {
        self.heard.get(&object).filter(|ghost| ghost.is_placed)
    }

    /// An object is this node's own now.
    pub fn forget(&mut self, object: ObjectId) {
        self.heard.remove(&object);
    }

    /// Another plan holds: whoever is left out is silent, and everybody is introduced anew.
    pub fn activate(&mut self, members: &[NodeId]) {
        self.told.clear();
        self.heard.retain(|_, ghost| members.contains(&ghost.node));
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
                None => (GridPoint::default(), Turn::IDENTITY, false, 0),
            };
            let ghost = Ghost {
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
            self.heard.insert(object, ghost);
        }
    }

    /// Where objects of another node are at its tick.
    pub fn hear(&mut self, from: NodeId, tick: u64, told: &[Told], now: Time) {
        for one in told {
            let ghost = ObjectId::new(one.object).and_then(|object| self.heard.get_mut(&object));
            if let Some(ghost) = ghost.filter(|ghost| ghost.node == from && ghost.tick <= tick) {
                (ghost.place, ghost.turn, ghost.tick) = (one.place, one.turn, tick);
                (ghost.heard_at, ghost.is_placed) = (now, true);
            }
        }
    }

    /// Who listens at other nodes, and where, as they were last heard of.
    pub fn listeners(&self) -> BTreeMap<NodeId, Vec<GridPoint>> {
        let mut listeners: BTreeMap<NodeId, Vec<GridPoint>> = BTreeMap::new();
        for ghost in self.heard.values().filter(|ghost| ghost.is_user && ghost.is_placed) {
            listeners.entry(ghost.node).or_default().push(ghost.place);
        }
        listeners
    }

    /// Forgets who fell silent.
    pub fn wake(&mut self, now: Time) {
        self.heard.retain(|_, ghost| now - ghost.heard_at < SILENT_US);
    }

    /// What another node is told in this tick: introductions, and where everybody is. `reach` is how far a listener hears, in
    /// steps, `listeners` those of that node; `is_near` says whether a place is within that, and a little more, of its space.
    pub fn tell(
        &mut self,
        to: NodeId,
        (speakers, listeners): (&[Speaker], &[GridPoint]),
        tick: u64,
        reach: f32,
        is_near: impl Fn(GridPoint) -> bool,
        name_of: impl Fn(ObjectId) -> String,
    ) -> (Vec<Introduced>, Vec<Told>) {
        let metre = snap::STEPS_PER_METRE as f32;
        let (heard, soon) = (reach + HEARD_M * metre, reach + SOON_M * metre);
        let table = self.told.entry(to).or_default();
        let (mut introduced, mut told) = (Vec::new(), Vec::new());
        for speaker in speakers {
            if !is_near(speaker.place) {
                continue;
            }
            let is_within = |place: GridPoint, reach: f32| {
                listeners.iter().any(|&listener| distance_squared(listener, place) <= reach * reach)
            };
            let is_turn = (tick + speaker.object.number()).is_multiple_of(ANNOUNCE_TICKS);
            let is_told = is_turn && (speaker.is_user || is_within(speaker.place, soon))
                || is_within(speaker.place, heard)
                || table.get(&speaker.object).is_some_and(|t| t.place != speaker.place && is_within(t.place, heard));
            if !is_told {
                continue;
            }
            let telling = table.entry(speaker.object).or_insert(Telling {
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
            if telling.seq != speaker.seq || tick - telling.introduced >= INTRODUCE_TICKS {
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
                telling.told = tick;
                told.push(Told { object: speaker.object.number(), place: speaker.place, turn: speaker.turn });
            }
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
