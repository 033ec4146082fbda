//! What an operator sees: every object that can move, in a live world or in one that is replayed from its journal.

use std::collections::BTreeMap;
use std::sync::Arc;

use space::{GridPoint, ObjectId};
use wire::Scene;
use wire::inside::Wanted;
use wire::operator::{Known, OBJECTS_MAX, ToOperator, WorldView};
use wire::scene::SOLIDS_MAX;
use world::{Kind, World};

use crate::inside::EngineView;
use crate::truth::{entered_kind, fixed_object, shape_of};

/// A world after one tick, as operators see it.
#[derive(Clone, Debug)]
pub struct Sight {
    pub tick: u64,
    /// Where each movable object is, by rising numbers.
    pub places: Vec<(ObjectId, GridPoint)>,
    /// What each of them is; shared from tick to tick while no object comes or goes.
    pub known: Arc<BTreeMap<ObjectId, Known>>,
    /// The engine, after ticks in which an operator looked.
    pub inside: Option<EngineView>,
}

impl Sight {
    /// Looks at a world; `before` saves describing the same objects again.
    pub fn of(world: &World, before: Option<&Sight>) -> Sight {
        let mut places: Vec<(ObjectId, GridPoint)> = world.dynamic().map(|object| (object.id, object.at)).collect();
        places.sort_unstable_by_key(|(object, _)| *object);
        let is_same = |sight: &&Sight| {
            sight.places.len() == places.len() && sight.places.iter().zip(&places).all(|(one, other)| one.0 == other.0)
        };
        let known = match before.filter(is_same) {
            Some(before) => before.known.clone(),
            None => Arc::new(world.dynamic().map(|object| (object.id, known(&object))).collect()),
        };
        Sight { tick: world.tick().number(), places, known, inside: None }
    }
}

fn known(object: &world::ObjectView<'_>) -> Known {
    Known {
        object: object.id,
        kind: entered_kind(object.kind),
        is_user: object.owner.is_some(),
        name: object.name.to_owned(),
        shape: shape_of(object),
    }
}

/// What one operator has been told.
#[derive(Clone, Debug, Default)]
pub struct Told {
    known: BTreeMap<ObjectId, Known>,
}

impl Told {
    /// Messages with which the operator sees this: what is new, and where everything is.
    pub fn tell(&mut self, sight: &Sight, is_live: bool) -> Vec<ToOperator> {
        let mut messages = self.introduce(sight.known.values());
        let mut parts = sight.places.chunks(OBJECTS_MAX).peekable();
        let view = |places: &[(ObjectId, GridPoint)], is_last| {
            ToOperator::View(WorldView { tick: sight.tick, is_live, is_last, places: places.to_vec() })
        };
        if parts.peek().is_none() {
            messages.push(view(&[], true));
        }
        while let Some(part) = parts.next() {
            messages.push(view(part, parts.peek().is_none()));
        }
        messages
    }

    /// Messages about the engine that answer `wanted`.
    pub fn tell_inside(&mut self, sight: &Sight, wanted: &Wanted) -> Vec<ToOperator> {
        let Some(inside) = &sight.inside else { return Vec::new() };
        let mut named: Vec<&Known> = inside.named(wanted).filter_map(|object| sight.known.get(&object)).collect();
        named.sort_unstable_by_key(|known| known.object);
        named.dedup_by_key(|known| known.object);
        let mut messages = self.introduce(named.into_iter());
        let place = wanted.object.and_then(|object| {
            let at = sight.places.binary_search_by_key(&object, |(object, _)| *object).ok()?;
            Some([sight.places[at].1.x, sight.places[at].1.z])
        });
        messages.extend(inside.tell(wanted, place));
        messages
    }

    /// Describes objects that were not described before.
    fn introduce<'a>(&mut self, all: impl Iterator<Item = &'a Known>) -> Vec<ToOperator> {
        let new: Vec<Known> = all.filter(|known| self.known.get(&known.object) != Some(known)).cloned().collect();
        let messages = new.chunks(OBJECTS_MAX / 8).map(|part| ToOperator::Known(part.to_vec())).collect();
        self.known.extend(new.into_iter().map(|known| (known.object, known)));
        messages
    }
}

/// The fixed objects of a world.
pub fn scenes(world: &World) -> Vec<ToOperator> {
    let solids: Vec<wire::scene::FixedObject> =
        world.objects().filter(|object| object.kind == Kind::Fixed).map(|object| fixed_object(&object)).collect();
    let count = solids.len().div_ceil(SOLIDS_MAX).max(1);
    let part = |at: usize| solids.iter().skip(at * SOLIDS_MAX).take(SOLIDS_MAX).cloned().collect();
    (0..count).map(|at| ToOperator::Scene(Scene { is_last: at + 1 == count, solids: part(at) })).collect()
}
