//! The side that asks: rooms for own objects in space that other nodes decide about.
//!
//! For each object and each decider there is one ask at a time, which is repeated until it is answered. Meanwhile the
//! object moves within the rooms that it has kept. An object that comes near a border asks some ticks ahead, so that
//! the round trip to the other node does not hold it up.
//!
//! A holder and what it holds move as one: their rooms may overlap. When it lets go, both give back what they had, and
//! neither changes hands alone before the decider knows.

use std::collections::BTreeMap;

use space::{NodeId, ObjectId};
use wire::cluster::{Answer, Ask};
use world::{GridBox, PlacedSolid, Room};

use super::grants::{standing, to_wire};
use super::territory::Territory;

/// How far ahead rooms are asked for, in ticks: two round trips.
pub const AHEAD_TICKS: u32 = 8;
/// The next room is asked for when less than this is left of the last one, in ticks.
pub const SOON_TICKS: u32 = 4;
/// An ask that was not answered is repeated after this many ticks.
const AGAIN_TICKS: u64 = 2;
/// After a refusal, a room is asked for again after this many ticks.
const REFUSED_TICKS: u64 = 2;
/// Rooms that are not needed any more are given back after this many ticks.
const IDLE_TICKS: u64 = 10;
/// How often a decider is told that an object has ended, until it answers; and how many times at most.
const PARTING_TICKS: u64 = 8;
const PARTINGS_MAX: u32 = 64;
/// The most asks to one decider in one tick: a batch is a datagram, and one that is too long is lost. The rest follows
/// in the next tick.
const ASKS_MAX: usize = 1_024;

/// The rooms of this node's objects, and what was asked for.
#[derive(Clone, Debug, Default)]
pub struct Tenancies {
    table: BTreeMap<(ObjectId, NodeId), Tenancy>,
    /// Objects that have ended, while a decider may keep room for them: what it is told, when that was last sent, and
    /// how often.
    parting: BTreeMap<(ObjectId, NodeId), (Ask, u64, u32)>,
    /// Counts all asks, so that a later one has a higher number, whatever was forgotten in between.
    asked: u32,
    /// The first to ask in the next tick, if there were too many in the last one.
    first: Option<(ObjectId, NodeId)>,
    /// Ticks that objects stood at a border without a room, for measurements.
    pub waited_ticks: u64,
    /// Asks that were answered with a room, and all that were answered.
    pub granted: (u64, u64),
}

#[derive(Clone, Debug, Default)]
struct Tenancy {
    rooms: Vec<(u32, Room)>,
    waiting: Option<(Ask, u64)>,
    /// Whether the decider knows that the object is there.
    is_known: bool,
    refused_at: Option<u64>,
    used_at: u64,
    /// Whether the object's last owner may have had room there: the decider has to be told once what this node needs.
    is_owed: bool,
    /// What it held, or its holder, when it last asked.
    mate: Option<ObjectId>,
    /// The object whose rooms may overlap its own, as far as the decider knows.
    shared: Option<ObjectId>,
}

/// An own object that may need room.
#[derive(Clone, Copy, Debug)]
pub struct Tenant {
    pub standing: PlacedSolid,
    /// How often the object has changed hands.
    pub seq: u32,
    /// Where it may want to be within [`SOON_TICKS`].
    pub soon: GridBox,
    /// Where it may want to be within [`AHEAD_TICKS`].
    pub ahead: GridBox,
    /// What it holds, or its holder.
    pub mate: Option<ObjectId>,
}

impl Tenancies {
    /// The rooms of each object, as the world takes them.
    pub fn rooms(&self) -> BTreeMap<ObjectId, Vec<Room>> {
        let mut rooms: BTreeMap<ObjectId, Vec<Room>> = BTreeMap::new();
        for ((object, _), tenancy) in &self.table {
            if !tenancy.rooms.is_empty() {
                rooms.entry(*object).or_default().extend(tenancy.rooms.iter().map(|(_, room)| room.clone()));
            }
        }
        rooms
    }

    /// The objects for which something was asked: few of all.
    pub fn objects(&self) -> Vec<ObjectId> {
        let mut objects: Vec<ObjectId> = self.table.keys().map(|(object, _)| *object).collect();
        objects.dedup();
        objects
    }

    /// Whether an object's rooms may overlap those of another than its present mate.
    pub fn is_shared(&self, object: ObjectId, mate: Option<ObjectId>) -> bool {
        self.table.iter().any(|((known, _), tenancy)| {
            tenancy.shared.is_some()
                && (*known == object && tenancy.shared != mate
                    || tenancy.shared == Some(object) && Some(*known) != mate)
        })
    }

    /// Begins another plan: nothing that was granted counts any more.
    pub fn activate(&mut self) {
        self.table.clear();
        self.parting.clear();
    }

    /// An object came from another node, which may have had room for it with these deciders.
    pub fn inherit(&mut self, object: ObjectId, deciders: impl Iterator<Item = NodeId>) {
        for decider in deciders {
            self.table.entry((object, decider)).or_default().is_owed = true;
        }
    }

    /// An object has ended: the deciders that keep room for it are told. `seq` is the number of its last ownership.
    pub fn part(&mut self, object: ObjectId, seq: u32) {
        let all = (object, NodeId::new(0))..=(object, NodeId::new(u64::MAX));
        let deciders: Vec<NodeId> = self.table.range(all).map(|((_, decider), _)| *decider).collect();
        for decider in deciders {
            self.asked += 1;
            let keeps = Vec::new();
            let ask =
                Ask { object: object.number(), seq, asked: self.asked, standing: None, keeps, wants: None, mate: None };
            self.parting.insert((object, decider), (ask, 0, 0));
        }
        self.forget(object);
    }

    /// An object is not this node's any more, or has to stay where it is from now on.
    pub fn forget(&mut self, object: ObjectId) {
        self.table.retain(|(known, _), _| *known != object);
    }

    /// What objects need in this tick, by decider. `tick` counts this node's ticks.
    pub fn ask(
        &mut self,
        me: NodeId,
        tenants: &[Tenant],
        territory: &Territory,
        tick: u64,
    ) -> BTreeMap<NodeId, Vec<Ask>> {
        let mut asks: BTreeMap<NodeId, Vec<Ask>> = BTreeMap::new();
        // Few nodes are near, however many there are.
        let all = tenants.iter().map(|tenant| tenant.ahead.with(&tenant.standing.block()));
        let near = all.reduce(|all, one| all.with(&one)).unwrap_or_default();
        let near: Vec<(NodeId, GridBox)> =
            territory.leaves.iter().filter(|(decider, leaf)| *decider != me && leaf.meets(&near)).copied().collect();
        for tenant in tenants {
            let object = tenant.standing.object;
            for (decider, leaf) in &near {
                let key = (object, *decider);
                if !leaf.overlaps(&tenant.ahead) && !self.table.contains_key(&key) {
                    continue;
                }
                self.table.entry(key).or_insert_with(|| Tenancy { used_at: tick, ..Tenancy::default() });
            }
        }
        let by_object: BTreeMap<ObjectId, &Tenant> =
            tenants.iter().map(|tenant| (tenant.standing.object, tenant)).collect();
        let Tenancies { table, asked, waited_ticks, first, .. } = self;
        let mut left = None;
        // Objects that could not ask in the last tick are first in this one.
        for is_behind in [false, true] {
            table.retain(|key, tenancy| {
                let (object, decider) = key;
                let Some(tenant) = by_object.get(object) else { return false };
                if first.is_some_and(|first| *key < first) != is_behind {
                    return true;
                }
                if asks.get(decider).is_some_and(|asks| asks.len() >= ASKS_MAX) {
                    left.get_or_insert(*key);
                    return true;
                }
                let leaves: Vec<&GridBox> =
                    near.iter().filter(|(node, _)| node == decider).map(|(_, leaf)| leaf).collect();
                let Some(ask) = tenancy.next(tenant, &leaves, tick, asked, waited_ticks) else {
                    return tenancy.is_of_use(tenant, &leaves);
                };
                asks.entry(*decider).or_default().push(ask);
                true
            });
        }
        *first = left;
        self.parting.retain(|(_, decider), (ask, said, times)| {
            let is_room = asks.get(decider).is_none_or(|asks| asks.len() < ASKS_MAX);
            if is_room && (*times == 0 || tick - *said >= PARTING_TICKS) {
                (*said, *times) = (tick, *times + 1);
                asks.entry(*decider).or_default().push(ask.clone());
            }
            *times < PARTINGS_MAX
        });
        asks
    }

    /// Takes in an answer. Only the answer to the newest ask counts.
    pub fn answer(&mut self, from: NodeId, answer: &Answer, seq: Option<u32>, tick: u64) {
        let Some(object) = ObjectId::new(answer.object) else { return };
        if self.parting.get(&(object, from)).is_some_and(|(ask, _, _)| ask.asked == answer.asked) {
            self.parting.remove(&(object, from));
        }
        let Some(tenancy) = self.table.get_mut(&(object, from)) else { return };
        let is_newest = tenancy.waiting.as_ref().is_some_and(|(ask, _)| ask.asked == answer.asked);
        if !is_newest || seq != Some(answer.seq) {
            return;
        }
        let Some((ask, _)) = tenancy.waiting.take() else { return };
        tenancy.is_known = ask.standing.is_some();
        tenancy.shared = ask.mate.and_then(ObjectId::new).filter(|_| tenancy.is_known);
        self.granted.1 += 1;
        match &answer.granted {
            Some(granted) => {
                self.granted.0 += 1;
                let stands = |(object, stands): &(u64, wire::cluster::StandingSolid)| {
                    Some(standing(ObjectId::new(*object)?, stands))
                };
                let room = Room {
                    grantor: from,
                    block: GridBox { low: granted.room[0], high: granted.room[1] },
                    standing: granted.standing.iter().filter_map(stands).collect(),
                };
                tenancy.rooms.push((answer.asked, room));
                tenancy.refused_at = None;
                tenancy.used_at = tick;
            }
            None if ask.wants.is_some() => tenancy.refused_at = Some(tick),
            None => {}
        }
    }
}

impl Tenancy {
    /// What to ask for now.
    fn next(
        &mut self,
        tenant: &Tenant,
        leaves: &[&GridBox],
        tick: u64,
        asked: &mut u32,
        waited_ticks: &mut u64,
    ) -> Option<Ask> {
        if self.mate != tenant.mate {
            if self.mate.is_some() {
                // What was granted to two counts for neither alone.
                self.rooms.clear();
                self.waiting = None;
                self.is_owed = true;
            }
            self.mate = tenant.mate;
        }
        let block = tenant.standing.block();
        let touches = leaves.iter().any(|leaf| leaf.overlaps(&block));
        // Does it lack room soon?
        let needed = leaves.iter().filter(|leaf| leaf.overlaps(&tenant.soon)).map(|leaf| leaf.within(&tenant.soon));
        let is_moving = tenant.soon != block.grown(8).even();
        let lacks = needed.map(|part| is_within(part, &self.rooms)).any(|is_covered| !is_covered);
        if lacks && is_moving {
            *waited_ticks += u64::from(touches && self.rooms.is_empty());
            self.used_at = tick;
        }
        if let Some((ask, said_at)) = &mut self.waiting {
            if tick - *said_at < AGAIN_TICKS {
                return None;
            }
            *said_at = tick;
            return Some(ask.clone());
        }
        let is_patient = self.refused_at.is_some_and(|refused| tick - refused < REFUSED_TICKS);
        let may_shrink = tick - self.used_at > IDLE_TICKS && !self.rooms.is_empty();
        let wants = lacks && is_moving && !is_patient;
        let says_first = touches && !self.is_known;
        let leaves_for_good = !touches && self.is_known && !lacks;
        if !(wants || may_shrink || says_first || leaves_for_good || self.is_owed) {
            return None;
        }
        self.is_owed = false;
        *asked += 1;
        if wants {
            // Of the rooms that it has, keep those that it is in.
            self.rooms.retain(|(_, room)| room.block.overlaps(&block));
            if self.rooms.len() > 2 {
                self.rooms.remove(0);
                // Either all of its rooms or only its place is kept free for it. An object that is not within the rest
                // keeps no room, and stands until the answer comes.
                let mut parts = leaves.iter().filter(|leaf| leaf.overlaps(&block)).map(|leaf| leaf.within(&block));
                if !parts.all(|part| is_within(part, &self.rooms)) {
                    self.rooms.clear();
                }
            }
        } else {
            self.rooms.clear();
        }
        let stays = touches || wants;
        let ask = Ask {
            object: tenant.standing.object.number(),
            seq: tenant.seq,
            asked: *asked,
            standing: stays.then(|| to_wire(&tenant.standing)),
            keeps: self.rooms.iter().map(|(number, _)| *number).collect(),
            wants: wants.then_some([tenant.ahead.low, tenant.ahead.high]),
            mate: tenant.mate.map(ObjectId::number),
        };
        self.shared = tenant.mate.or(self.shared);
        self.used_at = tick;
        self.waiting = Some((ask.clone(), tick));
        Some(ask)
    }

    /// Whether it has to be remembered.
    fn is_of_use(&self, tenant: &Tenant, leaves: &[&GridBox]) -> bool {
        self.waiting.is_some()
            || self.is_owed
            || self.is_known
            || self.shared.is_some()
            || !self.rooms.is_empty()
            || leaves.iter().any(|leaf| leaf.overlaps(&tenant.ahead))
    }
}

/// Whether a box is within the union of rooms.
fn is_within(part: GridBox, rooms: &[(u32, Room)]) -> bool {
    let rest = |parts: Vec<GridBox>, room: &Room| parts.iter().flat_map(|part| part.without(&room.block)).collect();
    rooms.iter().fold(vec![part], |parts, (_, room)| rest(parts, room)).is_empty()
}

#[cfg(test)]
mod tests {
    use space::GridPoint;
    use world::RoundedBox;

    use super::*;

    /// Keeps out this bug: a plan gave another node the space in which thousands of objects stood. All of them asked in
    /// one tick, in a datagram that was too long to be sent, and again two ticks later.
    #[test]
    fn asks_are_spread_over_ticks() {
        let (me, decider) = (NodeId::new(1), NodeId::new(2));
        let leaf = GridBox { low: [0; 3], high: [1_000_000; 3] };
        let territory = Territory { leaves: vec![(decider, leaf)] };
        let tenant = |number: u64| {
            let (solid, at) = (RoundedBox { core: [0; 3], radius: 300 }, GridPoint::new(5_000, 5_000, 5_000));
            let standing = PlacedSolid { object: ObjectId::new(number).unwrap(), solid, at };
            let soon = standing.block().grown(8).even();
            Tenant { standing, seq: 1, soon, ahead: soon, mate: None }
        };
        let tenants: Vec<Tenant> = (1..=5_000).map(tenant).collect();
        let mut tenancies = Tenancies::default();
        let mut heard = std::collections::BTreeSet::new();
        // No ask is answered.
        for tick in 1..=5 {
            let asks = tenancies.ask(me, &tenants, &territory, tick).remove(&decider).unwrap();
            assert!(asks.len() <= ASKS_MAX);
            heard.extend(asks.iter().map(|ask| ask.object));
        }
        assert_eq!(heard.len(), tenants.len());
    }
}
