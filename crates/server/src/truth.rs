//! The world as the server sees it: what of it is sent, and in which row of the audience each object is.

use std::collections::BTreeMap;

use shapes::Shape as Solid3;
use space::{GridPoint, NodeId, ObjectId, Slot, Turn};
use wire::CollisionShape;
use wire::scene::FixedObject;
use wire::session::{EnteredKind, Walking};
use world::{Act, Input, Kind, Model, ObjectView, Outcome, World, journal};

/// Objects with higher numbers have their rows in a map; they are few, or the world is very old.
const ROWS_MAX: u64 = 1 << 22;

/// The world, and the rows of its objects.
#[derive(Debug)]
pub struct Truth {
    world: World,
    tick_us: i64,
    /// By the numbers of objects.
    slots: Vec<Option<Slot>>,
    more_slots: BTreeMap<ObjectId, Slot>,
    /// By rows.
    objects: Vec<Option<ObjectId>>,
    /// Objects of other servers that are heard here.
    ghosts: BTreeMap<ObjectId, Seen>,
    /// What stands, as it is sent.
    solids: Vec<FixedObject>,
    /// Who asked in the last tick to hold what.
    asked: Vec<(NodeId, u32, ObjectId)>,
    journal: Vec<u8>,
}

/// What an object of another server is, and where it was last seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    pub kind: EnteredKind,
    pub name: String,
    pub shape: CollisionShape,
    pub place: GridPoint,
    pub turn: Turn,
}

impl Truth {
    pub fn new(world: World) -> Truth {
        let tick_us = 1_000_000 / i64::from(world.spec().tick_rate.max(1));
        let fixed = world.objects().filter(|object| object.kind == Kind::Fixed);
        let solids = fixed
            .map(|object| FixedObject { object: object.id, shape: shape(&object), place: object.at, turn: object.turn })
            .collect();
        Truth {
            world,
            tick_us,
            slots: Vec::new(),
            more_slots: BTreeMap::new(),
            ghosts: BTreeMap::new(),
            objects: Vec::new(),
            solids,
            asked: Vec::new(),
            journal: Vec::new(),
        }
    }

    pub fn world(&self) -> &World {
        &self.world
    }

    pub fn tick(&self) -> u64 {
        self.world.tick().number()
    }

    pub fn tick_us(&self) -> i64 {
        self.tick_us
    }

    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// One tick. `step` takes the world's step, or does not; it says which.
    pub fn step(&mut self, inputs: &[Input], step: impl FnOnce(&mut World) -> bool) -> bool {
        self.asked.clear();
        let grabs = inputs.iter().filter_map(|input| match input.act {
            Act::Grab { object } => Some((input.sender, input.sequence, object)),
            _ => None,
        });
        self.asked.extend(grabs);
        self.journal.clear();
        journal::write(self.world.tick().next(), inputs, &mut self.journal);
        step(&mut self.world)
    }

    pub fn outcome(&self) -> &Outcome {
        self.world.outcome()
    }

    /// The inputs of the last tick, to be kept.
    pub fn journal(&mut self) -> Option<Vec<u8>> {
        (!self.journal.is_empty()).then(|| std::mem::take(&mut self.journal))
    }

    /// Everything that is not fixed.
    pub fn movers(&self) -> Vec<ObjectId> {
        self.world.dynamic().map(|object| object.id).collect()
    }

    /// All users who have avatars.
    pub fn senders(&self) -> Vec<NodeId> {
        self.world.dynamic().filter_map(|object| object.owner).collect()
    }

    pub fn avatar(&self, sender: NodeId) -> Option<ObjectId> {
        self.world.avatar_of(sender)
    }

    pub fn owner(&self, object: ObjectId) -> Option<NodeId> {
        self.world.object(object)?.owner
    }

    pub fn pose(&self, object: ObjectId) -> Option<(GridPoint, Turn)> {
        self.world.object(object).map(|object| (object.at, object.turn))
    }

    /// Every object that has another pose since the last tick, with its row.
    pub fn each_moved(&self, mut visit: impl FnMut(Slot, GridPoint, Turn)) {
        for (id, place, turn) in self.world.moved() {
            if let Some(slot) = self.slot(id) {
                visit(slot, place, turn);
            }
        }
    }

    /// The number of the last input that the world has seen of a user.
    pub fn last_sequence(&self, sender: NodeId) -> Option<u32> {
        self.world.last_sequence(sender)
    }

    pub fn slot(&self, object: ObjectId) -> Option<Slot> {
        if object.number() < ROWS_MAX {
            return self.slots.get(object.number() as usize).copied().flatten();
        }
        self.more_slots.get(&object).copied()
    }

    pub fn set_slot(&mut self, object: ObjectId, slot: Slot) {
        if object.number() < ROWS_MAX {
            let at = object.number() as usize;
            if self.slots.len() <= at {
                self.slots.resize(at + 1, None);
            }
            self.slots[at] = Some(slot);
        } else {
            self.more_slots.insert(object, slot);
        }
        if self.objects.len() <= slot.row() {
            self.objects.resize(slot.row() + 1, None);
        }
        self.objects[slot.row()] = Some(object);
    }

    /// An object is no more.
    pub fn take_slot(&mut self, object: ObjectId) -> Option<Slot> {
        let slot = if object.number() < ROWS_MAX {
            self.slots.get_mut(object.number() as usize)?.take()
        } else {
            self.more_slots.remove(&object)
        }?;
        self.objects[slot.row()] = None;
        Some(slot)
    }

    pub fn object(&self, slot: Slot) -> Option<ObjectId> {
        self.objects.get(slot.row()).copied().flatten()
    }

    pub fn kind(&self, object: ObjectId) -> EnteredKind {
        let kind = self.world.object(object).map(|object| entered_kind(object.kind));
        kind.or_else(|| Some(self.ghosts.get(&object)?.kind)).unwrap_or(EnteredKind::Mover)
    }

    pub fn name(&self, object: ObjectId) -> String {
        let name = self.world.object(object).map(|object| object.name.to_owned());
        name.or_else(|| Some(self.ghosts.get(&object)?.name.clone())).unwrap_or_default()
    }

    pub fn shape(&self, object: ObjectId) -> CollisionShape {
        let shape = self.world.object(object).map(|object| shape(&object));
        shape
            .or_else(|| Some(self.ghosts.get(&object)?.shape.clone()))
            .unwrap_or(CollisionShape::Sphere { radius: 0.0 })
    }

    /// An object of this world, as another server would see it.
    pub fn seen(&self, object: ObjectId) -> Option<Seen> {
        let view = self.world.object(object)?;
        let (kind, shape) = (entered_kind(view.kind), shape(&view));
        Some(Seen { kind, name: view.name.to_owned(), shape, place: view.at, turn: view.turn })
    }

    /// The model of an object of another server: `number` counts the world's objects and then its avatars.
    pub fn model(&self, number: u32, name: &str) -> Option<(EnteredKind, CollisionShape)> {
        let objects = self.world.spec().objects.len() as u32;
        let (model, kind) = match number.checked_sub(objects) {
            Some(avatar) => (Model::Avatar(avatar), EnteredKind::Avatar),
            None => (Model::Object(number), EnteredKind::Movable),
        };
        let kind = match (model, self.world.spec().objects.get(number as usize).map(|object| &object.kind)) {
            (Model::Object(_), Some(world::spec::ObjectKind::Moving(_))) => EnteredKind::Mover,
            _ => kind,
        };
        Some((kind, wire_shape(self.world.model_shape(model)?, name)))
    }

    /// Objects of other servers.
    pub fn ghosts(&self) -> &BTreeMap<ObjectId, Seen> {
        &self.ghosts
    }

    /// Where an object that is not in this world was last seen.
    pub fn ghost_pose(&self, object: ObjectId) -> Option<(GridPoint, Turn)> {
        self.ghosts.get(&object).map(|seen| (seen.place, seen.turn))
    }

    pub fn ghosts_mut(&mut self) -> &mut BTreeMap<ObjectId, Seen> {
        &mut self.ghosts
    }

    /// How an avatar walks: its velocity in the wire's parts, and whether it stands.
    pub fn walk(&self, object: ObjectId) -> ([i16; 3], bool) {
        let Some(object) = self.world.object(object) else { return ([0; 3], false) };
        let most = f32::from(i16::MAX);
        let part = |speed: f32| (speed * wire::state::VELOCITY_PARTS as f32).round().clamp(-most, most) as i16;
        (object.velocity.to_array().map(part), object.is_standing)
    }

    pub fn speed_max(&self) -> f32 {
        self.world.spec().limits.speed
    }

    pub fn walking(&self) -> Walking {
        let spec = self.world.spec();
        Walking {
            speed_max: spec.limits.speed,
            jump_speed: spec.limits.jump_speed,
            gravity: spec.gravity,
            step_height: spec.limits.step_height,
        }
    }

    pub fn bounds(&self) -> [GridPoint; 2] {
        [self.world.grid().low(), self.world.grid().high()]
    }

    pub fn avatars(&self) -> usize {
        self.world.spec().avatars.len()
    }

    /// Some of what stands, and whether that is the rest.
    pub fn solids(&self, from: usize, most: usize) -> (Vec<FixedObject>, bool) {
        let end = self.solids.len().min(from.saturating_add(most));
        (self.solids[from.min(end)..end].to_vec(), end == self.solids.len())
    }

    /// What became of the grabs of the last tick.
    pub fn grabs(&self) -> Vec<(NodeId, ObjectId, bool)> {
        let outcome = self.world.outcome();
        let verdict = |&(sender, sequence, object): &(NodeId, u32, ObjectId)| {
            let is_refused =
                outcome.refused.iter().any(|refusal| refusal.sender == sender && refusal.sequence == sequence);
            (sender, object, !is_refused)
        };
        self.asked.iter().map(verdict).collect()
    }
}

/// What an object looks like to a collision, as the wire tells it.
pub fn shape(object: &ObjectView<'_>) -> CollisionShape {
    wire_shape(object.shape, object.name)
}

fn entered_kind(kind: Kind) -> EnteredKind {
    match kind {
        Kind::Avatar => EnteredKind::Avatar,
        Kind::Movable => EnteredKind::Movable,
        _ => EnteredKind::Mover,
    }
}

fn wire_shape(shape: &Solid3, name: &str) -> CollisionShape {
    match shape {
        Solid3::Sphere { radius } => CollisionShape::Sphere { radius: *radius },
        Solid3::Box { half } => CollisionShape::Box { half: half.to_array() },
        Solid3::Capsule { half_height, radius } => {
            CollisionShape::Capsule { half_height: *half_height, radius: *radius }
        }
        other => CollisionShape::Model { name: name.to_owned(), radius: other.bounding_sphere().radius },
    }
}
