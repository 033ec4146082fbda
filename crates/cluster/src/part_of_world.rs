//! A node's part of the world: where it decides, whose objects are there, what its own objects may use elsewhere, and
//! which guests it hears.

use std::collections::{BTreeMap, VecDeque};

use space::{GridPoint, NodeId, ObjectId, Time};
use world::{Border, GridBox, PlacedSolid, Placing, World};

use super::grants::Grants;
use super::guests::Guests;
use super::handover::{Custody, ObjectAccess, Parcel};
use super::tenancy::Tenancies;
use super::territory::Territory;

/// A node's part of the world.
#[derive(Clone, Debug)]
pub struct Part {
    me: NodeId,
    /// Which node decides where.
    pub territory: Territory,
    /// Its own boxes of the territory.
    pub leaves: Vec<GridBox>,
    /// Where this node decides now.
    pub home: Vec<GridBox>,
    /// Where it will decide when all have declared.
    pub closed: Vec<GridBox>,
    /// Whether all have declared.
    pub is_complete: bool,
    /// What objects of other nodes may use here.
    pub grants: Grants,
    /// What its own objects may use elsewhere.
    pub tenancies: Tenancies,
    /// Objects that are heard across borders.
    pub guests: Guests,
    /// Its own objects as they stand after the last tick, with those that it offers.
    pub standing: Vec<PlacedSolid>,
    /// The sessions of users, by their avatars.
    pub sessions: BTreeMap<ObjectId, Vec<u8>>,
    /// Objects that came from other nodes, with the sessions of their users.
    pub arrived: VecDeque<(ObjectId, Vec<u8>)>,
    /// Objects that went to other nodes.
    pub departed: VecDeque<(ObjectId, NodeId)>,
}

/// More arrivals or departures than this are dropped.
const EVENTS_MAX: usize = 65_536;
/// No object gets farther in one tick, in steps: more than a hundred metres.
const NEAR: i32 = 131_072;
/// An object that stands this far from another node's space, in steps, has no room there from its last owner.
const ROOM_REACH: i32 = 8_192;

impl Part {
    pub(super) fn new(me: NodeId) -> Part {
        Part {
            me,
            territory: Territory::default(),
            leaves: Vec::new(),
            home: Vec::new(),
            closed: Vec::new(),
            is_complete: false,
            grants: Grants::default(),
            tenancies: Tenancies::default(),
            guests: Guests::default(),
            standing: Vec::new(),
            sessions: BTreeMap::new(),
            arrived: VecDeque::new(),
            departed: VecDeque::new(),
        }
    }

    /// Begins another plan: where this node decided before and still does stays open, the rest waits.
    pub(super) fn activate(&mut self, territory: Territory, members: &[NodeId]) {
        let (mut home, mut closed) = (Vec::new(), Vec::new());
        for leaf in territory.of_node(self.me) {
            let mut rest = vec![*leaf];
            for known in &self.home {
                if known.overlaps(leaf) {
                    home.push(known.within(leaf));
                    rest = rest.iter().flat_map(|part| part.without(known)).collect();
                }
            }
            closed.extend(rest);
        }
        self.leaves = territory.of_node(self.me).copied().collect();
        (self.home, self.closed, self.territory, self.is_complete) = (home, closed, territory, false);
        self.grants.activate();
        self.tenancies.activate();
        self.guests.activate(members);
    }

    /// All have declared.
    pub(super) fn complete(&mut self) {
        self.home = self.leaves.clone();
        self.closed.clear();
        if !self.is_complete {
            self.is_complete = true;
            self.grants.complete();
        }
    }

    /// Takes note of where its own objects stand.
    pub(super) fn look(&mut self, world: &World, custody: &Custody) {
        self.standing.clear();
        let here = world.dynamic().filter(|object| custody.has(object.id));
        self.standing.extend(
            here.filter_map(|object| Some(PlacedSolid { object: object.id, solid: object.solid?, at: object.at })),
        );
    }

    /// What the world has to know of the world around it.
    pub fn border(&self, custody: &Custody) -> Border {
        // Only what is near can be in an object's way.
        let own = bounds(self.standing.iter().map(|standing| standing.at));
        let near = self.home.iter().fold(own, |all, home| all.with(home)).grown(NEAR);
        let others = self.territory.leaves.iter().filter(|(node, leaf)| *node != self.me && leaf.meets(&near)).copied();
        Border {
            home: self.home.clone(),
            abroad: others.chain(self.closed.iter().map(|closed| (self.me, *closed))).collect(),
            rooms: self.tenancies.rooms(),
            guests: self.grants.guests(&self.home),
            held: custody.leaving().map(|(object, _)| object).chain(self.grants.kept()).collect(),
        }
    }
}

/// The box around these places; an empty one if there are none.
pub(super) fn bounds(places: impl Iterator<Item = GridPoint>) -> GridBox {
    let none = GridBox { low: [i32::MAX / 4; 3], high: [i32::MIN / 4; 3] };
    places.fold(none, |all, at| all.with(&GridBox::around(at, [0; 3])))
}

/// A part and its world, as the hand-over of objects sees them.
pub(super) struct Keep<'a> {
    pub world: &'a mut World,
    pub part: &'a mut Part,
    pub now: Time,
}

impl ObjectAccess for Keep<'_> {
    fn parcel(&self, object: ObjectId) -> Option<Parcel> {
        let session = self.part.sessions.get(&object).cloned().unwrap_or_default();
        Some(Parcel { object: self.world.parcel(object)?, session })
    }

    fn copy(&self, object: ObjectId, copy: &mut Parcel) -> bool {
        copy.object.clear();
        copy.session.clear();
        if let Some(session) = self.part.sessions.get(&object) {
            copy.session.extend_from_slice(session);
        }
        self.world.parcel_into(object, &mut copy.object)
    }

    fn put(&mut self, object: ObjectId, parcel: &Parcel, is_exact: bool) -> bool {
        if World::parcel_place(&parcel.object).map(|(id, _)| id) != Some(object) {
            return false;
        }
        // It is about to be an own object.
        let held = self.part.grants.take(object);
        let border = self.world.border().cloned().unwrap_or_default();
        let guests = self.part.grants.guests_around(&self.part.home, Some(object).filter(|_| is_exact));
        self.world.set_border(Some(Border { home: self.part.home.clone(), guests, ..border }));
        let placing = if is_exact { Placing::Exact } else { Placing::Nearest };
        if self.world.put_in(&parcel.object, placing).is_err() {
            self.part.grants.put_back(object, held);
            return false;
        }
        self.part.guests.forget(object);
        if !parcel.session.is_empty() {
            self.part.sessions.insert(object, parcel.session.clone());
        }
        if let Some(standing) = self.world.standing(object) {
            let near = standing.block().grown(ROOM_REACH);
            let others = self.part.territory.leaves.iter();
            let others =
                others.filter(|(node, leaf)| *node != self.part.me && leaf.meets(&near)).map(|(node, _)| *node);
            self.part.tenancies.inherit(object, others);
            self.part.standing.push(standing);
        }
        if self.part.arrived.len() < EVENTS_MAX {
            self.part.arrived.push_back((object, parcel.session.clone()));
        }
        true
    }

    fn load_of(&self, object: ObjectId) -> Option<ObjectId> {
        self.world.object(object)?.holds
    }

    fn put_pair(&mut self, carrier: (ObjectId, &Parcel), load: (ObjectId, &Parcel)) -> bool {
        // Neither is in the other's way: the rooms that they were granted may overlap.
        let held = [carrier.0, load.0].map(|object| (object, self.part.grants.take(object)));
        let guest = self.part.guests.get(load.0).cloned();
        let arrived = self.part.arrived.len();
        if self.put(load.0, load.1, true) {
            if self.put(carrier.0, carrier.1, true) {
                self.world.hold(carrier.0, load.0);
                return true;
            }
            self.lift(load.0);
            self.part.arrived.truncate(arrived);
            self.part.guests.recall(load.0, guest);
        }
        held.into_iter().for_each(|(object, held)| self.part.grants.put_back(object, held));
        false
    }

    fn lift(&mut self, object: ObjectId) {
        self.world.take_out(object);
        self.part.standing.retain(|standing| standing.object != object);
        self.part.tenancies.forget(object);
    }

    fn gone(&mut self, object: ObjectId, to: NodeId, seq: u32) {
        if let Some(standing) = self.world.standing(object) {
            self.part.grants.receive(standing, seq, self.now);
        }
        self.lift(object);
        self.part.sessions.remove(&object);
        if self.part.departed.len() < EVENTS_MAX {
            self.part.departed.push_back((object, to));
        }
    }

    fn owner_of(&self, parcel: &Parcel) -> Option<NodeId> {
        let (_, at) = World::parcel_place(&parcel.object)?;
        self.part.territory.owner(at)
    }
}
