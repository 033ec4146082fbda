//! The world of a server, alone or as its part of a world that several servers share. This is the one place where the
//! two differ: sessions, the audience and the fan-out know neither.

use shapes::Shape;
use space::{GridPoint, NodeId, ObjectId, Tick, Time, Turn};
use wire::CollisionShape;
use wire::scene::FixedObject;
use wire::session::{EnteredKind, Walking};
use world::{Input, Kind, Model, ObjectView, Outcome, World};

use crate::shared::{Shared, newest_tick};

/// How it is decided where objects are.
#[derive(Debug)]
pub(crate) enum Truth {
    /// This server decides about all of its world.
    Alone(World),
    /// This server is a node of a cluster and decides about its part of the world.
    Shared(World, Box<Shared>),
}

/// What an object looks like and where it is, in this world or as another server last told it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seen {
    pub kind: EnteredKind,
    pub name: String,
    pub shape: CollisionShape,
    pub place: GridPoint,
    pub turn: Turn,
}

impl Truth {
    pub fn world(&self) -> &World {
        match self {
            Truth::Alone(world) | Truth::Shared(world, _) => world,
        }
    }

    pub fn shared(&self) -> Option<&Shared> {
        match self {
            Truth::Alone(_) => None,
            Truth::Shared(_, shared) => Some(shared),
        }
    }

    pub fn shared_mut(&mut self) -> Option<&mut Shared> {
        match self {
            Truth::Alone(_) => None,
            Truth::Shared(_, shared) => Some(shared),
        }
    }

    /// Whether the world may take a step now: a node of a cluster needs a lease.
    pub fn may_act(&self, now: Time) -> bool {
        self.shared().is_none_or(|shared| shared.cluster.may_act(now))
    }

    /// Takes the world's step and returns true, or does what is due without one and returns false.
    pub fn step(&mut self, now: Time, inputs: &[Input]) -> bool {
        let tick_us = self.tick_us();
        match self {
            Truth::Alone(world) => {
                world.step(inputs);
                true
            }
            Truth::Shared(world, shared) => {
                // Worlds that exchange objects count ticks alike: one that is behind leaves out numbers.
                let target = newest_tick(&shared.cluster, now, tick_us);
                if shared.cluster.may_act(now) && world.tick().number() + 1 < target {
                    world.catch_up(Tick::new(target - 1));
                }
                shared.cluster.tick(now, world, inputs)
            }
        }
    }

    pub fn tick(&self) -> u64 {
        self.world().tick().number()
    }

    pub fn tick_us(&self) -> i64 {
        1_000_000 / i64::from(self.world().spec().tick_rate.max(1))
    }

    pub fn outcome(&self) -> &Outcome {
        self.world().outcome()
    }

    pub fn avatar(&self, sender: NodeId) -> Option<ObjectId> {
        self.world().avatar_of(sender)
    }

    pub fn owner(&self, object: ObjectId) -> Option<NodeId> {
        self.world().object(object)?.owner
    }

    /// Where an object of this world is; `None` for a guest.
    pub fn pose(&self, object: ObjectId) -> Option<(GridPoint, Turn)> {
        self.world().object(object).map(|object| (object.at, object.turn))
    }

    /// The number of the last input of a user that the world has taken.
    pub fn last_sequence(&self, sender: NodeId) -> Option<u32> {
        self.world().last_sequence(sender)
    }

    /// An object of this world, or a guest from another server.
    pub fn seen(&self, object: ObjectId) -> Option<Seen> {
        self.seen_here(object).or_else(|| self.shared()?.guests.get(&object).cloned())
    }

    /// An object of this world, as another server would see it.
    pub fn seen_here(&self, object: ObjectId) -> Option<Seen> {
        seen_in(self.world(), object)
    }

    /// How an avatar walks: its velocity in the wire's parts, and whether it stands.
    pub fn walk(&self, object: ObjectId) -> ([i16; 3], bool) {
        let Some(object) = self.world().object(object) else { return ([0; 3], false) };
        let most = f32::from(i16::MAX);
        let part = |speed: f32| (speed * wire::state::VELOCITY_PARTS as f32).round().clamp(-most, most) as i16;
        (object.velocity.to_array().map(part), object.is_standing)
    }

    pub fn walking(&self) -> Walking {
        let spec = self.world().spec();
        Walking {
            speed_max: spec.limits.speed,
            jump_speed: spec.limits.jump_speed,
            gravity: spec.gravity,
            step_height: spec.limits.step_height,
        }
    }

    pub fn bounds(&self) -> [GridPoint; 2] {
        let grid = self.world().grid();
        [grid.low(), grid.high()]
    }

    /// What stands, as it is sent.
    pub fn fixed_objects(&self) -> Vec<FixedObject> {
        self.world().objects().filter(|object| object.kind == Kind::Fixed).map(|object| fixed_object(&object)).collect()
    }
}

/// An object of a world, as a server of another part would see it.
pub(crate) fn seen_in(world: &World, object: ObjectId) -> Option<Seen> {
    let view = world.object(object)?;
    let (kind, shape) = (entered_kind(view.kind), shape_of(&view));
    Some(Seen { kind, name: view.name.to_owned(), shape, place: view.at, turn: view.turn })
}

/// The model of a guest: `number` counts the world's objects and then its avatars.
pub(crate) fn model(world: &World, number: u32, name: &str) -> Option<(EnteredKind, CollisionShape)> {
    let objects = &world.spec().objects;
    let (model, kind) = match number.checked_sub(objects.len() as u32) {
        Some(avatar) => (Model::Avatar(avatar), EnteredKind::Avatar),
        None => match objects[number as usize].kind {
            world::spec::ObjectKind::Moving(_) => (Model::Object(number), EnteredKind::Mover),
            _ => (Model::Object(number), EnteredKind::Movable),
        },
    };
    Some((kind, wire_shape(world.model_shape(model)?, name)))
}

/// The shape of an object, as the wire tells it.
pub fn shape_of(object: &ObjectView<'_>) -> CollisionShape {
    wire_shape(object.shape, object.name)
}

pub(crate) fn fixed_object(object: &ObjectView<'_>) -> FixedObject {
    FixedObject { object: object.id, shape: shape_of(object), place: object.at, turn: object.turn }
}

pub(crate) fn entered_kind(kind: Kind) -> EnteredKind {
    match kind {
        Kind::Avatar => EnteredKind::Avatar,
        Kind::Movable => EnteredKind::Movable,
        _ => EnteredKind::Mover,
    }
}

fn wire_shape(shape: &Shape, name: &str) -> CollisionShape {
    match shape {
        Shape::Sphere { radius } => CollisionShape::Sphere { radius: *radius },
        Shape::Box { half } => CollisionShape::Box { half: half.to_array() },
        Shape::Capsule { half_height, radius } => {
            CollisionShape::Capsule { half_height: *half_height, radius: *radius }
        }
        other => CollisionShape::Model { name: name.to_owned(), radius: other.bounding_sphere().radius },
    }
}
