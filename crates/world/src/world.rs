//! The world. Its state changes in a step and in no other way.

use std::sync::Arc;

use shapes::Shape;
use space::workload::Wishes;
use space::{Grid, GridPoint, NodeId, ObjectId, Tick, Turn, Vec3, snap};

use crate::border::Border;
use crate::deform::Deforming;
use crate::hash::StateHash;
use crate::input::{Input, RefusalReason};
use crate::make;
use crate::members::Memberships;
use crate::neighbours::GroundCells;
use crate::objects::{Drive, Kind, Label, Objects, SOLID};
use crate::outcome::Outcome;
use crate::places::{Among, FreePlaces};
use crate::scenery::Scenery;
use crate::settle::{Scratch, Settler};
use crate::solid::{GAP, RoundedBox};
use crate::spec::{ContactPolicy, ObjectKind, Spec, SpecError};

/// A shared world whose solids never overlap.
///
/// - [`World::new`] makes it from a spec, [`World::restore`] from a snapshot.
/// - [`World::step`] takes the inputs of a tick and returns its outcome. The same start and the same inputs in the same
///   ticks give the same outcome to the bit; [`World::hash`] shows it.
/// - [`World::object`] and [`World::objects`] show the objects.
#[derive(Debug)]
pub struct World {
    pub(crate) spec: Arc<Spec>,
    pub(crate) grid: Grid,
    /// The spec's fingerprint; snapshots carry it.
    pub(crate) fingerprint: u64,
    pub(crate) shapes: Vec<Shape>,
    pub(crate) scenery: Scenery,
    pub(crate) deforming: Vec<Deforming>,
    pub(crate) tick: Tick,
    pub(crate) next_id: u64,
    /// The number of avatars that have joined so far: spawn places take turns.
    pub(crate) joins: u64,
    pub(crate) objects: Objects,
    pub(crate) members: Memberships,
    pub(crate) wishes: Option<Wishes>,
    /// The surroundings, if this world is a part of a larger one.
    pub(crate) border: Option<Border>,
    outcome: Outcome,
    /// Grabs of this tick, not yet in order: the sender, the sequence, the avatar's row, the object.
    pub(crate) grabs: Vec<(NodeId, u32, u32, ObjectId)>,
    scratch: Scratch,
}

/// The stages of a tick; an observer is called at the end of each, to measure it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Inputs were checked, and each object has the motion that it wants.
    Propose,
    /// Objects were sorted into cells of the ground.
    Broad,
    /// The pairs whose reaches meet are known.
    Narrow,
    /// Every mover is in its place.
    Settle,
}

/// An object as it is now.
#[derive(Clone, Copy, Debug)]
pub struct ObjectView<'a> {
    pub id: ObjectId,
    pub kind: Kind,
    /// Its place on the grid: exactly what is sent.
    pub at: GridPoint,
    pub turn: Turn,
    /// Its motion in the last tick, in metres per second.
    pub velocity: Vec3,
    /// Whether something carries its weight.
    pub is_standing: bool,
    /// Its shape, around its place.
    pub shape: &'a Shape,
    /// The solid that others collide with, or the box around it; `None` for a pass-through object.
    pub solid: Option<RoundedBox>,
    pub model: Model,
    pub policy: ContactPolicy,
    /// Its name for people; often empty.
    pub name: &'a str,
    /// The participant whose avatar it is.
    pub owner: Option<NodeId>,
    pub holds: Option<ObjectId>,
    pub held_by: Option<ObjectId>,
}

/// The entry of the spec that describes an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// An index into the spec's `objects`.
    Object(u32),
    /// An index into the spec's `avatars`.
    Avatar(u32),
}

impl ObjectView<'_> {
    /// Its place in metres.
    pub fn position(&self) -> Vec3 {
        self.at.position()
    }
}

impl World {
    /// The world that a spec describes, before its first tick.
    pub fn new(spec: impl Into<Arc<Spec>>) -> Result<World, SpecError> {
        let mut world = World::bare(spec.into())?;
        let spec = Arc::clone(&world.spec);
        for (index, object) in spec.objects.iter().enumerate().filter(|(_, object)| object.kind != ObjectKind::Fixed) {
            let made = make::object(object)?;
            let card = make::card(index, object);
            let drive = make::drive(card.kind);
            world.objects.insert(made.body, made.turn, drive, card, make::label(object));
        }
        world.place_crowd()?;
        Ok(world)
    }

    /// A world with its scenery and no object that can move.
    pub(crate) fn bare(spec: Arc<Spec>) -> Result<World, SpecError> {
        let grid = spec.check()?;
        let mut made: Vec<_> = spec.objects.iter().map(make::object).collect::<Result<_, _>>()?;
        let mut deforming = Vec::new();
        for (index, object) in spec.objects.iter().enumerate() {
            if let Some(one) = Deforming::new(index, object)? {
                made[index].shape = one.shape().unwrap_or_else(|| object.shape.clone());
                deforming.push(one);
            }
        }
        make::check_apart(&spec, &made, grid.low(), grid.high())?;
        let mut shapes = Vec::with_capacity(made.len() + spec.avatars.len());
        let mut scenery = Scenery::default();
        for (index, (made, object)) in made.into_iter().zip(&spec.objects).enumerate() {
            if object.kind == ObjectKind::Fixed {
                scenery.push(made.body, make::object_id(index), made.turn, index as u32, object.name.as_str().into());
            }
            shapes.push(made.shape);
        }
        shapes.extend(spec.avatars.iter().map(|avatar| make::round_shape(make::avatar_solid(avatar))));
        scenery.arrange(grid.low(), grid.high());
        let wishes = spec.crowd.map(|crowd| {
            let margin = Vec3::new(2.0, 0.0, 2.0);
            Wishes::new(crowd.seed, crowd.seekers as usize, spec.low + margin, spec.high - margin)
        });
        Ok(World {
            next_id: spec.objects.len() as u64 + 1,
            fingerprint: crate::snapshot::fingerprint(&spec),
            spec,
            grid,
            shapes,
            scenery,
            deforming,
            tick: Tick::new(0),
            joins: 0,
            objects: Objects::default(),
            members: Memberships::default(),
            wishes,
            border: None,
            outcome: Outcome::default(),
            grabs: Vec::new(),
            scratch: Scratch::default(),
        })
    }

    /// One tick: takes its inputs, in any order, and returns its outcome.
    pub fn step(&mut self, inputs: &[Input]) -> &Outcome {
        self.step_observed(inputs, &mut |_| {})
    }

    /// The same; calls `finished` at the end of each stage.
    pub fn step_observed(&mut self, inputs: &[Input], finished: &mut dyn FnMut(Stage)) -> &Outcome {
        self.tick = self.tick.next();
        let mut outcome = std::mem::take(&mut self.outcome);
        outcome.clear(self.tick);
        self.objects.begin_tick();
        self.take_inputs(inputs, &mut outcome);
        self.settle_grabs(&mut outcome);
        self.deform();
        self.propose();
        finished(Stage::Propose);
        let Scratch { neighbours, proposals, .. } = &mut self.scratch;
        neighbours.sort(&self.objects.body, &proposals.is_mover);
        finished(Stage::Broad);
        outcome.work.pairs = neighbours.pair_up(self.objects.body.len());
        finished(Stage::Narrow);
        self.settle(&mut outcome);
        self.notice(&mut outcome);
        finished(Stage::Settle);
        self.outcome = outcome;
        &self.outcome
    }

    /// Settles every mover by the general path from now on, without shortcuts. The outcome is the same; a test holds
    /// that.
    #[doc(hidden)]
    pub fn take_no_shortcuts(&mut self) {
        self.scratch.is_thorough = true;
    }

    /// The number of the last tick.
    pub fn tick(&self) -> Tick {
        self.tick
    }

    pub fn spec(&self) -> &Arc<Spec> {
        &self.spec
    }

    /// The fingerprint of the spec: worlds that exchange objects must have the same one.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// The shape of a model, if the spec has it.
    pub fn model_shape(&self, model: Model) -> Option<&Shape> {
        match model {
            Model::Object(index) => {
                self.shapes.get(index as usize).filter(|_| (index as usize) < self.spec.objects.len())
            }
            Model::Avatar(index) => self.shapes.get(self.spec.objects.len() + index as usize),
        }
    }

    /// The grid that all poses lie on.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// The cells of the ground into which the last tick sorted the objects.
    pub fn cells(&self) -> GroundCells {
        self.scratch.neighbours.cells()
    }

    /// The outcome of the last tick.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// The number of objects, fixed ones included.
    pub fn len(&self) -> usize {
        self.scenery.body.len() + self.objects.by_id.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The avatar of a participant that has joined.
    pub fn avatar_of(&self, sender: NodeId) -> Option<ObjectId> {
        self.members.get(sender).map(|member| self.objects.card(member.row).id)
    }

    /// The sequence number of the newest input of a participant that has joined: the next one has to be higher.
    pub fn last_sequence(&self, sender: NodeId) -> Option<u32> {
        self.members.get(sender).map(|member| member.sequence)
    }

    /// The objects in [`Outcome::moved`], with their poses.
    pub fn moved(&self) -> impl Iterator<Item = (ObjectId, GridPoint, Turn)> {
        let rows = self.outcome.moved.iter().zip(&self.scratch.moved);
        rows.map(|(&id, &row)| (id, self.objects.body[row as usize].at, self.objects.turn[row as usize]))
    }

    /// An object of this name, if there is one.
    pub fn object(&self, id: ObjectId) -> Option<ObjectView<'_>> {
        match self.objects.row(id) {
            Some(row) => Some(self.view(row)),
            None => self.scenery.id.binary_search(&id).ok().map(|index| self.fixed_view(index)),
        }
    }

    /// All objects: the fixed ones first, then the others, each by name.
    pub fn objects(&self) -> impl Iterator<Item = ObjectView<'_>> {
        let fixed = (0..self.scenery.body.len()).map(|index| self.fixed_view(index));
        fixed.chain(self.dynamic())
    }

    /// All objects that can move, by name.
    pub fn dynamic(&self) -> impl Iterator<Item = ObjectView<'_>> {
        self.objects.by_id.iter().map(|&(_, row)| self.view(row))
    }

    /// The objects that deform, with their clocks in ticks: [`Deformation::place`] computes their vertices from that.
    ///
    /// [`Deformation::place`]: crate::spec::Deformation::place
    pub fn forms(&self) -> impl Iterator<Item = (ObjectId, u64)> {
        self.deforming.iter().filter_map(|one| {
            let row = self.objects.row(crate::make::object_id(one.object))?;
            Some((self.objects.name(row), self.objects.card(row).phase))
        })
    }

    /// The fingerprint of everything that the future depends on.
    pub fn hash(&self) -> StateHash {
        StateHash::of(self)
    }

    /// Puts an avatar at the nearest free place.
    pub(crate) fn place_avatar(
        &mut self,
        places: &mut FreePlaces,
        avatar: u16,
        wanted: Option<Vec3>,
    ) -> Result<(u32, ObjectId), RefusalReason> {
        let spec = Arc::clone(&self.spec);
        let model = &spec.avatars[usize::from(avatar)];
        let shape = (spec.objects.len() + usize::from(avatar)) as u32;
        let among = self.among();
        let middle = [Vec3::new(0.5 * (spec.low.x + spec.high.x), spec.low.y, 0.5 * (spec.low.z + spec.high.z))];
        let spawns = if spec.spawns.is_empty() { &middle[..] } else { &spec.spawns[..] };
        let turn = (self.joins % spawns.len() as u64) as usize;
        let in_turn = spawns[turn..].iter().chain(&spawns[..turn]).copied();
        let half = make::avatar_solid(model).half_extents()[1];
        let found = wanted.into_iter().chain(in_turn).find_map(|place| {
            let feet = GridPoint::nearest(place)?;
            let at = GridPoint::new(feet.x, feet.y.max(self.grid.low().y) + half + GAP, feet.z);
            places.find(&among, make::avatar_body(model, at), shape)
        });
        let at = found.ok_or(RefusalReason::NoRoom)?;
        let id = ObjectId::new(self.next_id).expect("names are counted from one");
        self.next_id += 1;
        self.joins += 1;
        let card = make::avatar_card(id, shape, model);
        let body = make::avatar_body(model, at);
        let drive = Drive { awake: true, ..Drive::default() };
        let row = self.objects.insert(body, Turn::IDENTITY, drive, card, Label::default());
        places.insert(row, &body);
        Ok((row, id))
    }

    /// The objects and bounds among which a new object needs a free place.
    pub(crate) fn among(&self) -> Among<'_> {
        Among {
            grid: self.grid,
            shapes: &self.shapes,
            scenery: &self.scenery,
            objects: &self.objects,
            border: self.border.as_ref(),
        }
    }

    fn place_crowd(&mut self) -> Result<(), SpecError> {
        let Some(crowd) = self.spec.crowd else { return Ok(()) };
        let mut places = FreePlaces::new(&self.objects);
        let mut random = space::workload::Random::new(crowd.seed);
        let (low, high) = (self.spec.low, self.spec.high);
        for seeker in 0..crowd.seekers {
            let share = Vec3::new(random.unit(), 0.0, random.unit());
            let place = low + Vec3::new(2.0, 0.0, 2.0) + (high - low - 4.0) * share;
            let avatar = (seeker as usize % self.spec.avatars.len()) as u16;
            match self.place_avatar(&mut places, avatar, Some(place)) {
                Ok((row, _)) => self.objects.seeker[row as usize] = Some(seeker),
                Err(_) => return Err(SpecError::NoRoom { seekers: crowd.seekers, found: seeker }),
            }
        }
        Ok(())
    }

    /// Removes an object from the world. Objects that stood on it may fall.
    pub(crate) fn remove(&mut self, row: u32) {
        let card = self.objects.remove(row);
        if self.scratch.schedule.pairs() > 0 {
            self.scratch.schedule.forget(card.id);
        }
        for other in self.objects.on_object.iter() {
            self.objects.drive[other].awake = true;
        }
    }

    fn propose(&mut self) {
        if let Some(wishes) = &mut self.wishes {
            wishes.begin(self.tick.number());
        }
        crate::propose::propose(
            &self.spec,
            self.grid,
            self.tick.number(),
            self.wishes.as_mut(),
            &mut self.objects,
            &mut self.scratch.proposals,
        );
    }

    fn settle(&mut self, outcome: &mut Outcome) {
        let settler = Settler {
            spec: &self.spec,
            tick_s: 1.0 / self.spec.tick_rate as f32,
            steps_per_tick: f64::from(snap::STEPS_PER_METRE) / f64::from(self.spec.tick_rate),
            grid: self.grid,
            shapes: &self.shapes,
            scenery: &self.scenery,
            objects: &mut self.objects,
            border: self.border.as_ref(),
            tick: self.tick.number(),
            outcome,
            scratch: &mut self.scratch,
        };
        settler.settle_all();
    }

    /// Lists the objects that moved and were there before the tick, and wakes those that may have stood on them.
    fn notice(&mut self, outcome: &mut Outcome) {
        self.scratch.moved.clear();
        let is_any_carried = self.objects.on_object.iter().next().is_some();
        let first_new = outcome.joined.iter().map(|joined| joined.object).min();
        for index in 0..self.objects.by_id.len() {
            let (id, row) = self.objects.by_id[index];
            if !self.objects.has_moved(row) {
                continue;
            }
            let is_old = first_new.is_none_or(|first| id < first);
            if is_old || !outcome.joined.iter().any(|joined| joined.object == id) {
                outcome.moved.push(id);
                self.scratch.moved.push(row);
            }
            for &other in if is_any_carried { self.scratch.neighbours.of(row) } else { &[] } {
                if self.objects.on_object.contains(other as usize) {
                    self.objects.drive[other as usize].awake = true;
                }
            }
        }
    }

    fn view(&self, row: u32) -> ObjectView<'_> {
        let card = self.objects.card(row);
        let (body, drive) = (&self.objects.body[row as usize], &self.objects.drive[row as usize]);
        let objects = self.spec.objects.len() as u32;
        let name = |row: Option<u32>| row.map(|row| self.objects.card(row).id);
        ObjectView {
            id: card.id,
            kind: card.kind,
            at: body.at,
            turn: self.objects.turn[row as usize],
            velocity: self.objects.velocity(row, self.spec.tick_rate),
            is_standing: drive.standing,
            shape: &self.shapes[card.shape as usize],
            solid: body.is(SOLID).then_some(body.solid),
            model: if card.shape < objects { Model::Object(card.shape) } else { Model::Avatar(card.shape - objects) },
            policy: card.policy,
            name: &self.objects.label[row as usize].name,
            owner: self.objects.label[row as usize].owner,
            holds: name(card.holds),
            held_by: name(card.held_by),
        }
    }

    fn fixed_view(&self, index: usize) -> ObjectView<'_> {
        let scenery = &self.scenery;
        let shape = scenery.shape[index];
        ObjectView {
            id: scenery.id[index],
            kind: Kind::Fixed,
            at: scenery.body[index].at,
            turn: scenery.turn[index],
            velocity: Vec3::ZERO,
            is_standing: true,
            shape: &self.shapes[shape as usize],
            solid: scenery.body[index].is(SOLID).then_some(scenery.body[index].solid),
            model: Model::Object(shape),
            policy: self.spec.objects[shape as usize].policy,
            name: &scenery.name[index],
            owner: None,
            holds: None,
            held_by: None,
        }
    }
}
