//! The world: the only way the truth changes is a step.

use std::sync::Arc;

use shapes::Shape;
use space::bits::Bits;
use space::workload::Wishes;
use space::{Grid, GridPoint, NodeId, ObjectId, Tick, Turn, Vec3, snap};

use crate::border::Border;
use crate::deform::Deforming;
use crate::hash::StateHash;
use crate::input::{Input, RefusalReason};
use crate::make;
use crate::members::Memberships;
use crate::neighbours::{GroundCells, Neighbours};
use crate::objects::{Card, Drive, Kind, Label, Objects, SOLID};
use crate::outcome::Outcome;
use crate::places::{Among, Places};
use crate::propose::Proposals;
use crate::scenery::Scenery;
use crate::settle::{Attention, Circles, Order, Schedule, Settler, Surroundings};
use crate::solid::{GAP, RoundedBox};
use crate::spec::{ObjectKind, Policy, Spec, SpecError};

/// A shared world whose solids never overlap.
///
/// - [`World::new`] makes it from a spec, [`World::restore`] from a snapshot.
/// - [`World::step`] takes a tick's inputs and says what came of them. Given the same start and the same inputs in the
///   same ticks, the outcome is the same to the bit: [`World::hash`] tells.
/// - [`World::object`] and [`World::objects`] show where everything is.
#[derive(Debug)]
pub struct World {
    pub(crate) spec: Arc<Spec>,
    pub(crate) grid: Grid,
    /// Of the spec: snapshots carry it.
    pub(crate) fingerprint: u64,
    pub(crate) shapes: Vec<Shape>,
    pub(crate) scenery: Scenery,
    pub(crate) deforming: Vec<Deforming>,
    pub(crate) tick: Tick,
    pub(crate) next_id: u64,
    /// How many have joined: spawn places take turns.
    pub(crate) joins: u64,
    pub(crate) objects: Objects,
    pub(crate) members: Memberships,
    pub(crate) wishes: Option<Wishes>,
    /// What lies around it, if it is a part of a larger world.
    pub(crate) border: Option<Border>,
    outcome: Outcome,
    /// Grabs of this tick, until it is known who comes first: the sender, the sequence, the avatar's row, the object.
    pub(crate) grabs: Vec<(NodeId, u32, u32, ObjectId)>,
    scratch: Scratch,
}

/// Memory that a tick needs and the next one can use again.
#[derive(Debug, Default)]
struct Scratch {
    neighbours: Neighbours,
    schedule: Schedule,
    attention: Attention,
    surroundings: Surroundings,
    circles: Circles,
    pushed: Surroundings,
    was_pushed: Vec<bool>,
    proposals: Proposals,
    order: Vec<u32>,
    /// Which of the movers may meet somebody.
    crowded: Bits,
    kicks: Vec<(u32, [f32; 2])>,
    /// Whether everybody goes the long way.
    is_thorough: bool,
    riders: Vec<u32>,
    /// The rows of those in `Outcome::moved`.
    moved: Vec<u32>,
}

/// The parts of a tick, for whoever measures them. There is no clock in here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Inputs are checked, and everybody's wanted motion is known.
    Propose,
    /// Everybody was sorted into cells of the ground.
    Broad,
    /// Pairs whose whole motions may meet are known.
    Narrow,
    /// Everybody is where they are.
    Settle,
}

/// An object as it is now.
#[derive(Clone, Copy, Debug)]
pub struct ObjectView<'a> {
    /// Its name among objects.
    pub id: ObjectId,
    /// What kind of object it is.
    pub kind: Kind,
    /// Where it is, on the grid: exactly what is sent.
    pub at: GridPoint,
    /// How it is turned.
    pub turn: Turn,
    /// By how much it moved in the last tick, in metres per second.
    pub velocity: Vec3,
    /// Whether something carries its weight.
    pub is_standing: bool,
    /// Its shape, around where it is.
    pub shape: &'a Shape,
    /// What it is to whoever bumps into it; nothing, if everybody passes through it.
    pub solid: Option<RoundedBox>,
    /// Which of the spec's objects it is, or which of its avatars.
    pub model: Model,
    /// What it does when it meets something.
    pub policy: Policy,
    /// What it is called among people.
    pub name: &'a str,
    /// Whose avatar it is.
    pub owner: Option<NodeId>,
    /// What it holds.
    pub holds: Option<ObjectId>,
    /// Who holds it.
    pub held_by: Option<ObjectId>,
}

/// Where an object's looks are described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// In `objects` of the spec, by index.
    Object(u32),
    /// In `avatars` of the spec, by index.
    Avatar(u32),
}

impl ObjectView<'_> {
    /// Where it is, in metres.
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

    /// A world with its scenery and nothing that moves.
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
            objects: Objects::new(),
            members: Memberships::default(),
            wishes,
            border: None,
            outcome: Outcome::default(),
            grabs: Vec::new(),
            scratch: Scratch::default(),
        })
    }

    /// One tick: takes its inputs, in any order, and says what came of them.
    pub fn step(&mut self, inputs: &[Input]) -> &Outcome {
        self.step_observed(inputs, &mut |_| {})
    }

    /// The same; `finished` is told whenever a stage is over.
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

    /// Settles everybody the long way from now on, without the shortcuts for those who walk past everybody: what comes out is
    /// the same, as a test holds.
    #[doc(hidden)]
    pub fn take_no_shortcuts(&mut self) {
        self.scratch.is_thorough = true;
    }

    /// How many ticks there have been.
    pub fn tick(&self) -> Tick {
        self.tick
    }

    /// What the world was made from.
    pub fn spec(&self) -> &Arc<Spec> {
        &self.spec
    }

    /// A fingerprint of what the world was made from: worlds that exchange objects must have the same.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// The shape of a model, if there is such a one.
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

    /// The cells into which the last tick sorted everybody, to find who may meet whom.
    pub fn cells(&self) -> GroundCells {
        self.scratch.neighbours.cells()
    }

    /// What the last tick brought.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// How many objects there are, fixed ones included.
    pub fn len(&self) -> usize {
        self.scenery.body.len() + self.objects.by_id.len()
    }

    /// Whether there is nothing at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The avatar of a participant, who has joined.
    pub fn avatar_of(&self, sender: NodeId) -> Option<ObjectId> {
        self.members.get(sender).map(|member| self.objects.card(member.row).id)
    }

    /// The sequence of the last input that was seen of a participant, who has joined: the next one has to be higher.
    pub fn last_sequence(&self, sender: NodeId) -> Option<u32> {
        self.members.get(sender).map(|member| member.sequence)
    }

    /// Everything that has another pose than before the last tick, by name, with that pose: what [`Outcome::moved`] names.
    pub fn moved(&self) -> impl Iterator<Item = (ObjectId, GridPoint, Turn)> {
        let rows = self.outcome.moved.iter().zip(&self.scratch.moved);
        rows.map(|(&id, &row)| (id, self.objects.body[row as usize].at, self.objects.turn[row as usize]))
    }

    /// An object, if it is there.
    pub fn object(&self, id: ObjectId) -> Option<ObjectView<'_>> {
        match self.objects.row(id) {
            Some(row) => Some(self.view(row)),
            None => self.scenery.id.binary_search(&id).ok().map(|index| self.fixed_view(index)),
        }
    }

    /// Everything there is: fixed objects first, then the others, each by name.
    pub fn objects(&self) -> impl Iterator<Item = ObjectView<'_>> {
        let fixed = (0..self.scenery.body.len()).map(|index| self.fixed_view(index));
        fixed.chain(self.dynamic())
    }

    /// Everything that can move, by name.
    pub fn dynamic(&self) -> impl Iterator<Item = ObjectView<'_>> {
        self.objects.by_id.iter().map(|&(_, row)| self.view(row))
    }

    /// Everything that changes its form, and what its own clock shows, in ticks: [`Deformation::place`] says what it looks
    /// like then.
    ///
    /// [`Deformation::place`]: crate::spec::Deformation::place
    pub fn forms(&self) -> impl Iterator<Item = (ObjectId, u64)> {
        self.deforming.iter().filter_map(|one| {
            let row = self.objects.row(crate::make::object_id(one.object))?;
            Some((self.objects.name(row), self.objects.card(row).phase))
        })
    }

    /// A fingerprint of everything that the future depends on.
    pub fn hash(&self) -> StateHash {
        StateHash::of(self)
    }

    /// Puts an avatar at the nearest free place.
    pub(crate) fn place_avatar(
        &mut self,
        places: &mut Places,
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
        let card = Card { id, kind: Kind::Avatar, shape, policy: model.policy, holds: None, held_by: None, phase: 0 };
        let body = make::avatar_body(model, at);
        let drive = Drive { awake: true, ..Drive::default() };
        let row = self.objects.insert(body, Turn::IDENTITY, drive, card, Label::default());
        places.insert(row, &body);
        Ok((row, id))
    }

    /// Everything that a newcomer has to find a place among.
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
        let mut places = Places::new(&self.objects);
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

    /// Takes an object out of the world. Whoever stood on it may fall.
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
        let Scratch {
            neighbours,
            schedule,
            attention,
            surroundings,
            circles,
            pushed,
            was_pushed,
            proposals,
            order,
            crowded,
            kicks,
            is_thorough,
            riders,
            ..
        } = &mut self.scratch;
        let Proposals { movers, may_ride, .. } = proposals;
        was_pushed.clear();
        was_pushed.resize(self.objects.body.len(), false);
        surroundings.sweeps = 0;
        circles.sweeps = 0;
        pushed.sweeps = 0;
        outcome.work.movers = movers.len() as u64;
        let around = (&self.shapes[..], &self.scenery, &self.objects, &*neighbours);
        attention.share_out(self.spec.limits.narrow_operations, self.tick.number(), movers, around);
        let mut settler = Settler {
            spec: &self.spec,
            tick_s: 1.0 / self.spec.tick_rate as f32,
            steps_per_tick: f64::from(snap::STEPS_PER_METRE) / f64::from(self.spec.tick_rate),
            grid: self.grid,
            shapes: &self.shapes,
            scenery: &self.scenery,
            objects: &mut self.objects,
            neighbours,
            schedule,
            attention,
            surroundings,
            circles,
            pushed,
            was_pushed,
            kicks,
            is_thorough: *is_thorough,
            riders,
            may_ride,
            border: self.border.as_ref(),
            calm: self.border.as_ref().map_or_else(Vec::new, Border::calm),
            tick: self.tick.number(),
            outcome,
        };
        settler.settle_alone(movers, crowded);
        order.clear();
        Order::of_tick(self.tick.number(), movers.len()).visit(crowded, |index| order.push(movers[index]));
        settler.settle_in_turn(order);
        for (row, kick) in kicks.drain(..) {
            let drive = &mut self.objects.drive[row as usize];
            drive.velocity[0] += kick[0];
            drive.velocity[2] += kick[1];
            drive.awake = true;
        }
        outcome.work.sweeps = surroundings.sweeps + circles.sweeps + pushed.sweeps;
    }

    /// Lists who moved, of those that were there before, and wakes those who may have stood on them.
    fn notice(&mut self, outcome: &mut Outcome) {
        self.scratch.moved.clear();
        let is_anybody_carried = self.objects.on_object.iter().next().is_some();
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
            for &other in if is_anybody_carried { self.scratch.neighbours.of(row) } else { &[] } {
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
