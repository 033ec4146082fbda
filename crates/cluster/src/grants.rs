//! The side that decides: where objects of other nodes may be in this node's space.
//!
//! An ask says where an object is, which of its rooms it keeps and where it would like to go. It replaces what was
//! asked for that object before: the asking node uses from then on only what it keeps, and only the answer to its
//! newest ask. So what is noted here always covers where the object is, whichever messages are lost, doubled or late.
//!
//! A room is as much of what was asked for as is free. It is cut off at obstacles. An obstacle that is so close that no
//! cut parts the two is listed, and has to stay while the room is granted, but not twice in a row.
//!
//! A room counts where this node decides, and nowhere else. So an object that is offered to this node can be taken
//! where it stands: here this node has kept that place free, elsewhere another node has.

use std::collections::BTreeMap;

use space::{ObjectId, Time};
use wire::cluster::{Answer, Ask, Batch, Declared, Granted};
use world::{GridBox, Guest, PlacedSolid, RoundedBox};

/// The least distance between two objects, in steps: the same as in settling.
const GAP: i32 = 4;
/// The most rooms of one object: one in use, one that follows, and one to spare.
const ROOMS_MAX: usize = 3;
/// An object that left is remembered for this long, so that late messages about it are recognised.
const ECHO_US: i64 = 30_000_000;

/// What objects of other nodes may use in this node's space.
#[derive(Clone, Debug, Default)]
pub struct Grants {
    table: BTreeMap<ObjectId, Holding>,
}

/// What one object may use here.
#[derive(Clone, Debug)]
pub struct Holding {
    seq: u32,
    asked: u32,
    standing: Option<PlacedSolid>,
    rooms: Vec<Granting>,
    /// The last answer.
    granted: Option<Granted>,
    /// Whether the last room kept others where they are.
    kept_others: bool,
    /// Whether its node has declared it under the present plan.
    is_declared: bool,
    changed_at: Time,
}

#[derive(Clone, Debug)]
struct Granting {
    number: u32,
    block: GridBox,
    keeps: Vec<ObjectId>,
}

/// What an ask is judged by.
#[derive(Clone, Copy, Debug)]
pub struct OwnSpace<'a> {
    /// Where this node decides.
    pub home: &'a [GridBox],
    /// Where it will decide, but does not yet.
    pub closed: &'a [GridBox],
    /// Its own objects.
    pub own: &'a [PlacedSolid],
}

impl Grants {
    /// What the world has to keep its own objects out of.
    pub fn guests(&self, home: &[GridBox]) -> Vec<Guest> {
        self.guests_around(home, None)
    }

    /// What is in the way of an object that is to be put where it stands. Rooms that list it are not: their objects
    /// keep out of where it stands, and it has to stay there. Nor are rooms where other nodes decide.
    pub fn guests_around(&self, home: &[GridBox], object: Option<ObjectId>) -> Vec<Guest> {
        let is_here = |block: &GridBox| home.iter().any(|home| home.overlaps(block));
        let is_in_the_way = |room: &&Granting| object.is_none_or(|object| !room.keeps.contains(&object));
        let guest = |held: &Holding| {
            let standing = held.standing?;
            let rooms = held.rooms.iter().filter(is_in_the_way);
            let rooms: Vec<GridBox> = rooms.flat_map(|room| parts_in(home, room.block)).collect();
            let reaches = !rooms.is_empty() || is_here(&standing.block());
            reaches.then_some(Guest { standing, rooms })
        };
        self.table.values().filter_map(guest).collect()
    }

    /// Own objects that have to stay where they are.
    pub fn kept(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.table.values().flat_map(|held| &held.rooms).flat_map(|room| &room.keeps).copied()
    }

    /// How many objects of others are here.
    pub fn len(&self) -> usize {
        self.table.values().filter(|held| held.standing.is_some()).count()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes out what an object had here, as it is about to be this node's own; [`Grants::put_back`] undoes that.
    pub fn take(&mut self, object: ObjectId) -> Option<Holding> {
        self.table.remove(&object)
    }

    pub fn put_back(&mut self, object: ObjectId, held: Option<Holding>) {
        self.table.extend(held.map(|held| (object, held)));
    }

    /// An own object is another node's now: it stands where it stood.
    pub fn receive(&mut self, standing: PlacedSolid, seq: u32, now: Time) {
        if self.table.get(&standing.object).is_none_or(|held| held.seq < seq) {
            self.table.insert(standing.object, Holding::new(seq, standing, now));
        }
    }

    /// Begins another plan: all nodes have to declare anew what they have here.
    pub fn activate(&mut self) {
        for held in self.table.values_mut() {
            (held.is_declared, held.asked, held.granted) = (false, 0, None);
        }
    }

    /// A node declares what it has here, under the present plan. It has no rooms any more.
    pub fn declare(&mut self, declared: &[Declared], now: Time) {
        for one in declared {
            let Some(object) = ObjectId::new(one.object) else { continue };
            if self.table.get(&object).is_some_and(|held| held.seq > one.seq) {
                continue;
            }
            let mut held = Holding::new(one.seq, standing(object, &one.standing), now);
            held.is_declared = true;
            self.table.insert(object, held);
        }
    }

    /// All have declared: what no node has declared is not there any more.
    pub fn complete(&mut self) {
        self.table.retain(|_, held| held.is_declared);
    }

    /// Forgets what left long ago.
    pub fn wake(&mut self, now: Time) {
        self.table.retain(|_, held| held.standing.is_some() || now - held.changed_at < ECHO_US);
    }

    /// Judges an ask; `None` if it is older than what was asked before.
    pub fn ask(&mut self, ask: &Ask, ground: &OwnSpace<'_>, now: Time) -> Option<Answer> {
        let object = ObjectId::new(ask.object)?;
        let answer = |granted| Some(Answer { object: ask.object, seq: ask.seq, asked: ask.asked, granted });
        let known = self.table.get(&object);
        let order = known.map(|held| (held.seq, held.asked).cmp(&(ask.seq, ask.asked)));
        match order {
            Some(std::cmp::Ordering::Greater) => return None,
            Some(std::cmp::Ordering::Equal) => return answer(known.and_then(|held| held.granted.clone())),
            _ => {}
        }
        // It has rooms of this ownership only, and of those the ones that it keeps.
        let mut rooms = Vec::new();
        let mut has_kept_others = false;
        if let Some(held) = known {
            has_kept_others = held.kept_others;
            if held.seq == ask.seq {
                rooms.extend(held.rooms.iter().filter(|room| ask.keeps.contains(&room.number)).cloned());
            }
        }
        let stands = ask.standing.map(|stands| standing(object, &stands));
        let mut held = Holding {
            seq: ask.seq,
            asked: ask.asked,
            standing: stands,
            rooms,
            granted: None,
            kept_others: false,
            is_declared: true,
            changed_at: now,
        };
        if let (Some(stands), Some([low, high])) = (stands, ask.wants)
            && held.rooms.len() < ROOMS_MAX
            && let Some((block, keeps)) = self.fit((&stands, ask.mate), GridBox { low, high }, ground, has_kept_others)
        {
            held.kept_others = !keeps.is_empty();
            held.granted = Some(Granted {
                room: [block.low, block.high],
                standing: keeps.iter().map(|one| (one.object.number(), to_wire(one))).collect(),
            });
            let keeps = keeps.iter().map(|one| one.object).collect();
            held.rooms.push(Granting { number: ask.asked, block, keeps });
        }
        let granted = held.granted.clone();
        self.table.insert(object, held);
        answer(granted)
    }

    /// As much of a box as is free around the object, and the objects that have to stay meanwhile. An object and its
    /// holder are not in each other's way.
    fn fit(
        &self,
        (mover, mate): (&PlacedSolid, Option<u64>),
        wanted: GridBox,
        ground: &OwnSpace<'_>,
        has_kept_others: bool,
    ) -> Option<(GridBox, Vec<PlacedSolid>)> {
        let need = mover.block();
        let mut room = wanted.even().with(&need.even());
        for closed in ground.closed {
            room = cut(room, &need, closed)?;
        }
        // A room only shrinks: what it does not reach now it never does.
        let is_near = |own: &&PlacedSolid| own.object != mover.object && room.overlaps(&own.block().grown(GAP).even());
        let mut solids: Vec<PlacedSolid> = ground.own.iter().filter(is_near).copied().collect();
        for held in self.table.values() {
            match held.standing {
                Some(standing) if standing.object == mover.object || Some(standing.object.number()) == mate => {}
                Some(standing) if held.rooms.is_empty() => solids.push(standing),
                Some(_) => {
                    for taken in held.rooms.iter().flat_map(|other| parts_in(ground.home, other.block)) {
                        room = cut(room, &need, &taken)?;
                    }
                }
                None => {}
            }
        }
        let mut keeps = Vec::new();
        for solid in solids {
            let block = solid.block().grown(GAP).even();
            if !room.overlaps(&block) {
                continue;
            }
            match cut(room, &need, &block) {
                Some(cut) => room = cut,
                None if has_kept_others || keeps.len() == Batch::STANDING_MAX => return None,
                None => keeps.push(solid),
            }
        }
        let is_of_use = ground.home.iter().any(|home| home.overlaps(&room));
        // What was listed early may have been cut off since.
        keeps.retain(|solid| room.overlaps(&solid.block().grown(GAP)));
        is_of_use.then_some((room, keeps))
    }
}

impl Holding {
    fn new(seq: u32, standing: PlacedSolid, now: Time) -> Holding {
        Holding {
            seq,
            asked: 0,
            standing: Some(standing),
            rooms: Vec::new(),
            granted: None,
            kept_others: false,
            is_declared: true,
            changed_at: now,
        }
    }
}

/// The parts of a room that count: those where this node decides.
fn parts_in(home: &[GridBox], room: GridBox) -> impl Iterator<Item = GridBox> + '_ {
    home.iter().filter(move |home| home.overlaps(&room)).map(move |home| home.within(&room))
}

/// Cuts a box so that it does not overlap an obstacle and still holds what it needs: where it loses least.
fn cut(room: GridBox, need: &GridBox, obstacle: &GridBox) -> Option<GridBox> {
    if !room.overlaps(obstacle) {
        return Some(room);
    }
    let mut best: Option<(f64, GridBox)> = None;
    for axis in 0..3 {
        let mut lower = room;
        lower.high[axis] = obstacle.low[axis];
        let mut upper = room;
        upper.low[axis] = obstacle.high[axis];
        for cut in [lower, upper] {
            if cut.low[axis] > need.low[axis] || cut.high[axis] < need.high[axis] {
                continue;
            }
            let left = f64::from(cut.high[axis] - cut.low[axis]) / f64::from(room.high[axis] - room.low[axis]);
            if best.is_none_or(|(most, _)| left > most) {
                best = Some((left, cut));
            }
        }
    }
    best.map(|(_, cut)| cut)
}

pub fn to_wire(standing: &PlacedSolid) -> wire::cluster::StandingSolid {
    wire::cluster::StandingSolid { core: standing.solid.core, radius: standing.solid.radius, at: standing.at }
}

pub fn standing(object: ObjectId, wire: &wire::cluster::StandingSolid) -> PlacedSolid {
    PlacedSolid { object, solid: RoundedBox { core: wire.core, radius: wire.radius }, at: wire.at }
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::GridPoint;
    use space::workload::Random;

    fn name(number: u64) -> ObjectId {
        ObjectId::new(number).unwrap()
    }

    /// An object that is listed in a room can become the decider's own while the room is granted. Otherwise it would
    /// wait for as long as another object close by rests, perhaps for ever.
    #[test]
    fn an_object_listed_in_a_room_may_change_hands() {
        let mut grants = Grants::default();
        let home = [GridBox { low: [0, -4_000, -20_000], high: [20_000, 4_000, 20_000] }];
        let ground = OwnSpace { home: &home, closed: &[], own: &[] };
        let solid = RoundedBox { core: [0, 600, 0], radius: 300 };
        let stays = PlacedSolid { object: name(1), solid, at: GridPoint::new(1_000, 0, 0) };
        let moves = PlacedSolid { object: name(2), solid, at: GridPoint::new(600, 0, 460) };
        grants.receive(stays, 1, Time::from_micros(0));
        let wants = moves.block().grown(400);
        let standing = Some(to_wire(&moves));
        let ask = Ask {
            object: 2,
            seq: 1,
            asked: 1,
            standing,
            keeps: Vec::new(),
            wants: Some([wants.low, wants.high]),
            mate: None,
        };
        let granted = grants.ask(&ask, &ground, Time::from_micros(0)).unwrap().granted.unwrap();
        assert_eq!(granted.standing.len(), 1, "no cut parts the two");
        let held = grants.take(name(1));
        assert!(held.is_some());
        let in_the_way = |guests: Vec<Guest>| guests.iter().any(|guest| guest.meets(&stays.block()));
        let overlaps = |guests: Vec<Guest>| {
            guests.iter().flat_map(Guest::obstacles).any(|(other, at)| solid.overlaps(stays.at, other, at))
        };
        assert!(in_the_way(grants.guests(&home)), "the room is closed to other objects");
        assert!(!overlaps(grants.guests_around(&home, Some(name(1)))));
        assert!(grants.kept().any(|kept| kept == name(1)), "it has to stay");
    }

    /// A granted room reaches back over the border, to where an object stands that this node does not know of and need
    /// not. Keeps out this bug: that object was offered with its holder, and refused for lack of room.
    #[test]
    fn a_room_counts_only_where_its_node_decides() {
        let mut grants = Grants::default();
        let home = [GridBox { low: [0, -4_000, -20_000], high: [20_000, 4_000, 20_000] }];
        let ground = OwnSpace { home: &home, closed: &[], own: &[] };
        let solid = RoundedBox { core: [0, 600, 0], radius: 300 };
        let moves = PlacedSolid { object: name(1), solid, at: GridPoint::new(-100, 0, 0) };
        let beyond = PlacedSolid { object: name(2), solid, at: GridPoint::new(-400, 0, 700) };
        let wants = moves.block().grown(800);
        let ask = Ask {
            object: 1,
            seq: 1,
            asked: 1,
            standing: Some(to_wire(&moves)),
            keeps: Vec::new(),
            wants: Some([wants.low, wants.high]),
            mate: None,
        };
        let granted = grants.ask(&ask, &ground, Time::from_micros(0)).unwrap().granted.unwrap();
        let room = GridBox { low: granted.room[0], high: granted.room[1] };
        assert!(room.overlaps(&beyond.block()), "it reaches back over the border");
        let guests = grants.guests(&home);
        let is_in_the_way = |place: GridPoint| {
            guests.iter().flat_map(Guest::obstacles).any(|(other, at)| solid.overlaps(place, other, at))
        };
        assert!(!is_in_the_way(beyond.at));
        assert!(is_in_the_way(GridPoint::new(400, 0, 700)), "on this side the room is closed");
    }

    /// Where this node decides, no room overlaps a room of another object, and none overlaps an object outside it, in
    /// whatever order rooms are asked for.
    #[test]
    fn rooms_are_kept_apart() {
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let mut grants = Grants::default();
            let home = [GridBox { low: [0, -4_000, -20_000], high: [20_000, 4_000, 20_000] }];
            let closed = [GridBox { low: [0, -4_000, 9_000], high: [20_000, 4_000, 20_000] }];
            let place = |random: &mut Random| {
                let at = |random: &mut Random, low, high| random.between(low, high) as i32;
                GridPoint::new(at(random, -900.0, 6_000.0), 0, at(random, -3_000.0, 3_000.0))
            };
            let solid = RoundedBox { core: [0, 600, 0], radius: 300 };
            let mut all: Vec<PlacedSolid> = Vec::new();
            while all.len() < 12 {
                let one = PlacedSolid { object: name(all.len() as u64 + 1), solid, at: place(&mut random) };
                if all.iter().all(|other| solid.is_apart(one.at, solid, other.at, 2)) {
                    all.push(one);
                }
            }
            let (own, others) = all.split_at(6);
            let ground = OwnSpace { home: &home, closed: &closed, own };
            // No object gets into this space without being known here.
            others.iter().for_each(|&other| grants.receive(other, 1, Time::from_micros(0)));
            let mut granted = 0;
            for number in 1..300 {
                let mover = others[random.whole(0, 6) as usize];
                let wants = mover.block().grown(random.whole(10, 900) as i32);
                let ask = Ask {
                    object: mover.object.number(),
                    seq: 1,
                    asked: number,
                    standing: Some(to_wire(&mover)),
                    keeps: if random.unit() < 0.5 { vec![number - 1, number.saturating_sub(2)] } else { Vec::new() },
                    wants: (random.unit() < 0.7).then_some([wants.low, wants.high]),
                    mate: None,
                };
                let answer = grants.ask(&ask, &ground, Time::from_micros(0)).unwrap();
                assert_eq!(grants.ask(&ask, &ground, Time::from_micros(0)), Some(answer.clone()));
                granted += u32::from(answer.granted.is_some());
                for (object, held) in &grants.table {
                    for room in &held.rooms {
                        assert!(closed.iter().all(|closed| !closed.overlaps(&room.block)));
                        for other in all.iter().filter(|other| other.object != *object) {
                            let has_rooms = grants.table.get(&other.object).is_some_and(|held| !held.rooms.is_empty());
                            let is_kept = room.keeps.contains(&other.object);
                            let is_known = own.contains(other) || grants.table.contains_key(&other.object);
                            let is_clear = !room.block.overlaps(&other.block());
                            assert!(!is_known || is_kept || is_clear || has_rooms, "seed {seed}: {object} {other:?}");
                        }
                        for (other, held) in grants.table.iter().filter(|(other, _)| *other != object) {
                            for theirs in &held.rooms {
                                let is_shared = parts_in(&home, room.block).any(|part| part.overlaps(&theirs.block));
                                assert!(!is_shared, "seed {seed}: {object} and {other}");
                            }
                        }
                    }
                }
            }
            assert!(granted > 50, "seed {seed}: {granted}");
        }
    }
}
