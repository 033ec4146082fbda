//! A world as bytes: everything that its future depends on, and nothing else.
//!
//! ```text
//! "KSW1"                 format and version
//! u64                    the fingerprint of the spec
//! u64 u64 u64            tick, the next object's name, the number of joins
//! u32, then each object  by name: name, shape, place, turn, owner, seeker, held object, clock, velocity, wish, rest,
//!                        ticks left for the wish and for steps, flags, name for people
//! u32, then each member  by sender: sender, avatar, sequence
//! u64                    the StateHash of all that follows the fingerprint of the spec
//! ```
//! The bytes are not trusted: what is no snapshot of this spec is refused, and the error names the place. Forged bytes
//! can make another valid world, but none with solids that overlap.

use std::sync::Arc;

use shapes::Shape;
use space::bytes::{Malformed, Reader, Writer};
use space::{Grid, GridPoint, NodeId, ObjectId, Tick, Turn, Vec3};

use crate::hash::{Hasher, StateHash};
use crate::make;
use crate::members::Membership;
use crate::objects::{Collider, Drive, EXACT, Kind, Label};
use crate::spec::{OBJECT_NAME_BYTES_MAX, ObjectKind, ObjectSpec, Route, Spec, SpecError};
use crate::world::World;

const MAGIC: &[u8; 4] = b"KSW1";
/// The least bytes of an object and of a member: their counts are checked before memory is reserved.
const OBJECT_BYTES: usize = 107;
const MEMBER_BYTES: usize = 20;

/// Why bytes are no snapshot of a world.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SnapshotError {
    #[error("these bytes are no snapshot of version 1")]
    Version,
    #[error("the snapshot is of another world: its spec has fingerprint {found:016x}, expected {expected:016x}")]
    OtherSpec { found: u64, expected: u64 },
    #[error("the snapshot is damaged {0}")]
    Malformed(#[from] Malformed),
    #[error("the snapshot is damaged: its fingerprint is {found}, expected {expected}")]
    Damaged { found: StateHash, expected: StateHash },
    #[error("{0} and {1} overlap")]
    Overlap(ObjectId, ObjectId),
    /// The spec itself makes no world.
    #[error(transparent)]
    Spec(#[from] SpecError),
}

impl World {
    /// The world as bytes, appended to `bytes`.
    pub fn snapshot(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(MAGIC);
        Writer::new(bytes).u64(self.fingerprint);
        let begin = bytes.len();
        write_state(self, bytes, &mut |_| {});
        let mut hasher = Hasher::default();
        hasher.write(&bytes[begin..]);
        Writer::new(bytes).u64(hasher.finish());
    }

    /// The world of a snapshot. The same inputs lead it to the same states as the world that was written.
    pub fn restore(spec: impl Into<Arc<Spec>>, bytes: &[u8]) -> Result<World, SnapshotError> {
        let spec = spec.into();
        let mut reader = Reader::new(bytes);
        if reader.raw(4, "a snapshot") != Ok(MAGIC) {
            return Err(SnapshotError::Version);
        }
        let (found, expected) = (reader.u64("a fingerprint")?, fingerprint(&spec));
        if found != expected {
            return Err(SnapshotError::OtherSpec { found, expected });
        }
        let state = &bytes[12..];
        let (state, hash) = state.split_at_checked(state.len().saturating_sub(8)).expect("it is not longer");
        reader.check(hash.len() == 8 && bytes.len() >= 20, "a fingerprint")?;
        let mut hasher = Hasher::default();
        hasher.write(state);
        let found = StateHash(hasher.finish());
        let expected = StateHash(u64::from_le_bytes(hash.try_into().expect("eight bytes")));
        if found != expected {
            return Err(SnapshotError::Damaged { found, expected });
        }
        let mut world = World::bare(spec)?;
        let mut reader = Reader::new(state);
        read_state(&mut world, &mut reader)?;
        reader.end()?;
        world.take_forms();
        match world.overlap_near() {
            Some((one, other)) => Err(SnapshotError::Overlap(one, other)),
            None => Ok(world),
        }
    }
}

/// Appends everything that the future depends on. `part` is called after each object; a hash takes the bytes there, so
/// that it needs no memory for all of them.
pub(crate) fn write_state(world: &World, bytes: &mut Vec<u8>, part: &mut dyn FnMut(&mut Vec<u8>)) {
    let mut writer = Writer::new(bytes);
    [world.tick.number(), world.next_id, world.joins].into_iter().for_each(|number| writer.u64(number));
    writer.u32(world.objects.by_id.len() as u32);
    for &(_, row) in &world.objects.by_id {
        write_object(world, row, &mut writer);
        part(writer.buffer());
    }
    writer.u32(world.members.list().len() as u32);
    for member in world.members.list() {
        writer.u64(member.sender.number());
        writer.u64(world.objects.card(member.row).id.number());
        writer.u32(member.sequence);
    }
    part(bytes);
}

pub(crate) fn write_object(world: &World, row: u32, writer: &mut Writer<'_>) {
    let (objects, index) = (&world.objects, row as usize);
    let (card, body, drive, label) =
        (objects.card(row), &objects.body[index], &objects.drive[index], &objects.label[index]);
    writer.u64(card.id.number());
    writer.u32(card.shape);
    [body.at.x, body.at.y, body.at.z].into_iter().for_each(|steps| writer.u32(steps as u32));
    writer.u64(objects.turn[index].bits());
    writer.u64(label.owner.map_or(0, NodeId::number));
    writer.u32(objects.seeker[index].map_or(0, |seeker| seeker + 1));
    writer.u64(card.holds.map_or(0, |held| objects.card(held).id.number()));
    writer.u64(card.phase);
    drive.velocity.iter().chain(&drive.wish).chain(&drive.rest).for_each(|&number| writer.f32(number));
    // Ticks that are left, so that times that are over look the same.
    for until in [drive.wish_until, drive.lift_until] {
        writer.u32(until.saturating_sub(world.tick.number()) as u32);
    }
    let is_on_object = objects.on_object.contains(index);
    let flags = [label.owner.is_some(), drive.awake, drive.standing, is_on_object, drive.jump];
    writer.u8(flags.iter().enumerate().map(|(bit, &flag)| u8::from(flag) << bit).sum());
    write_text(&label.name, writer);
}

fn read_state(world: &mut World, reader: &mut Reader<'_>) -> Result<(), Malformed> {
    world.tick = Tick::new(reader.u64("a tick")?);
    world.next_id = reader.u64("a name")?;
    world.joins = reader.u64("a count")?;
    let spec = Arc::clone(&world.spec);
    reader.check(world.tick.number() < 1 << 62, "a tick")?;
    reader.check(world.next_id > spec.objects.len() as u64 && world.next_id < 1 << 63, "a name that is free")?;
    let count = reader.u32("a count")? as usize;
    reader.check(count <= reader.remaining() / OBJECT_BYTES, "as many objects as there are bytes")?;
    let (mut last, mut holders) = (0, Vec::new());
    for _ in 0..count {
        let id = reader.u64("a name")?;
        reader.check(id > last && id < world.next_id, "names that rise")?;
        last = id;
        let holds = read_object(world, &spec, id, reader)?;
        if holds != 0 {
            holders.push((id, holds));
        }
    }
    let movable = spec.objects.iter().filter(|object| object.kind != ObjectKind::Fixed).count();
    let present = world.objects.by_id.iter().filter(|&&(_, row)| world.objects.card(row).kind != Kind::Avatar).count();
    reader.check(present == movable, "every object of the world")?;
    for (holder, held) in holders {
        let rows = (find(world, holder), find(world, held));
        let (Some(holder), Some(held)) = rows else { return Err(reader.refuse("a held object that is there")) };
        let is_sound = world.objects.card(holder).kind == Kind::Avatar
            && world.objects.card(held).kind == Kind::Movable
            && world.objects.card(held).held_by.is_none();
        reader.check(is_sound, "a movable object that nobody else holds")?;
        world.objects.hold(holder, held);
    }
    read_members(world, reader)
}

pub(crate) fn read_object(world: &mut World, spec: &Spec, id: u64, reader: &mut Reader<'_>) -> Result<u64, Malformed> {
    let shape = reader.u32("a shape")?;
    reader.check((shape as usize) < world.shapes.len(), "a shape of this world")?;
    let index = shape as usize;
    let at = GridPoint::new(reader.i32("a place")?, reader.i32("a place")?, reader.i32("a place")?);
    reader.check(world.grid.contains(at), "a place within the bounds")?;
    let turn = Turn::from_bits(reader.u64("a turn")?);
    let turn = turn.ok_or_else(|| reader.refuse("a turn"))?;
    let owner = reader.u64("an owner")?;
    let seeker = reader.u32("a seeker")?;
    let holds = reader.u64("a held object")?;
    let phase = reader.u64("a clock")?;
    let limits = &spec.limits;
    let velocity = reader.vector(2.0 * limits.terminal_speed + 200.0, "a velocity within the limits")?;
    let wish = reader.vector(1.01 * limits.speed + 1.0, "a wish within the limits")?;
    let rest = reader.vector(1.0, "a rest of at most a step")?;
    let (wish_ticks, lift_ticks) = (u64::from(reader.u32("a time")?), u64::from(reader.u32("a time")?));
    let tick = world.tick.number();
    let (wish_until, lift_until) = (tick + wish_ticks, tick + lift_ticks);
    let flags = reader.u8("flags")?;
    reader.check(flags < 32, "flags")?;
    let flag = |bit: u8| flags >> bit & 1 == 1;
    let name = read_text(reader, limits.name_bytes.max(OBJECT_NAME_BYTES_MAX), "a name")?;
    let (awake, standing, on_object, jump) = (flag(1), flag(2), flag(3), flag(4));
    let drive = Drive { velocity, wish, rest, wish_until, lift_until, awake, standing, jump, odometer: 0 };
    let (mut card, body) = if let Some(object) = spec.objects.get(index) {
        let is_own =
            object.kind != ObjectKind::Fixed && id == shape as u64 + 1 && !flag(0) && seeker == 0 && holds == 0;
        reader.check(is_own && name == object.name, "an object of this world")?;
        let made = make::object(object).map_err(|_| reader.refuse("an object of this world"))?;
        let turns = matches!(&object.kind, ObjectKind::Moving(route) if route.turns());
        reader.check(turns || turn == made.turn, "the turn that the object has")?;
        (make::card(index, object), Collider { at, ..made.body })
    } else {
        let avatar = &spec.avatars[index - spec.objects.len()];
        let seekers = spec.crowd.map_or(0, |crowd| crowd.seekers);
        let is_sound = id > spec.objects.len() as u64 && seeker <= seekers && (seeker == 0 || !flag(0)) && phase == 0;
        reader.check(is_sound, "an avatar of this world")?;
        let id = ObjectId::new(id).expect("names rise from zero");
        (make::avatar_card(id, shape, avatar), make::avatar_body(avatar, at))
    };
    card.phase = phase;
    // A deforming object does not move; its box has room for every form, and may reach beyond the bounds.
    let deforms =
        spec.objects.get(index).is_some_and(|object| matches!(object.kind, ObjectKind::Moving(Route::Deform(_))));
    reader.check(deforms || is_inside(world.grid, &body), "a place within the bounds")?;
    let label = Label { owner: flag(0).then_some(NodeId::new(owner)), name: name.into() };
    let row = world.objects.insert(body, turn, drive, card, label);
    world.objects.seeker[row as usize] = seeker.checked_sub(1);
    world.objects.set_on_object(row, on_object);
    Ok(holds)
}

/// A text after its length in 16 bits. Longer texts are refused as inputs.
pub(crate) fn write_text(text: &str, writer: &mut Writer<'_>) {
    let length = text.len().min(usize::from(u16::MAX));
    writer.u16(length as u16);
    writer.raw(&text.as_bytes()[..length]);
}

pub(crate) fn read_text<'a>(reader: &mut Reader<'a>, max: usize, expected: &'static str) -> Result<&'a str, Malformed> {
    let length = usize::from(reader.u16(expected)?);
    reader.check(length <= max, expected)?;
    std::str::from_utf8(reader.raw(length, expected)?).map_err(|_| reader.refuse(expected))
}

fn is_inside(grid: Grid, body: &Collider) -> bool {
    let (block, low, high) = (body.block(), grid.low(), grid.high());
    let slack = if body.is(EXACT) { 8 } else { 0 };
    let (low, high) = ([low.x, low.y, low.z], [high.x, high.y, high.z]);
    (0..3).all(|axis| block.low[axis] + slack >= low[axis] && block.high[axis] - slack <= high[axis])
}

fn read_members(world: &mut World, reader: &mut Reader<'_>) -> Result<(), Malformed> {
    let count = reader.u32("a count")? as usize;
    reader.check(count <= reader.remaining() / MEMBER_BYTES, "as many members as there are bytes")?;
    let mut last = None;
    for _ in 0..count {
        let sender = reader.u64("a sender")?;
        reader.check(last.is_none_or(|last| sender > last), "senders that rise")?;
        last = Some(sender);
        let avatar = reader.u64("an avatar")?;
        let sequence = reader.u32("a sequence")?;
        let sender = NodeId::new(sender);
        let row = find(world, avatar).filter(|&row| world.objects.label[row as usize].owner == Some(sender));
        let Some(row) = row else { return Err(reader.refuse("the avatar of a member")) };
        world.members.insert(Membership { sender, row, sequence });
    }
    let owned =
        world.objects.by_id.iter().filter(|&&(_, row)| world.objects.label[row as usize].owner.is_some()).count();
    reader.check(owned == count, "an owner for every avatar")
}

fn find(world: &World, id: u64) -> Option<u32> {
    ObjectId::new(id).and_then(|id| world.objects.row(id))
}

/// The fingerprint of everything in a spec that a snapshot relies on.
pub(crate) fn fingerprint(spec: &Spec) -> u64 {
    let mut hasher = Hasher::default();
    let write = |hasher: &mut Hasher, text: String| hasher.write(text.as_bytes());
    let Spec { low, high, gravity, tick_rate, limits, spawns, avatars, crowd, .. } = spec;
    // As the first version wrote it: without a limit that came later, where it is not set, and by its name of then.
    let limits = format!("{limits:?}").replace(", narrow_operations: None", "");
    let limits = limits.trim_start_matches("World");
    write(&mut hasher, format!("{low} {high} {gravity} {tick_rate} {limits} {spawns:?} {avatars:?} {crowd:?}"));
    for object in &spec.objects {
        let ObjectSpec { name, kind, policy, shape, at, rotation } = object;
        let (bounds, sphere) = (shape.bounds(), shape.bounding_sphere());
        write(
            &mut hasher,
            format!("{name} {kind:?} {policy:?} {} {bounds:?} {sphere:?} {at} {rotation}", shape.name()),
        );
        let (vertices, triangles): (&[Vec3], &[[u32; 3]]) = match shape {
            Shape::Hull(hull) => (hull.vertices(), &[]),
            Shape::Mesh(mesh) => (mesh.triangles().vertices(), mesh.triangles().triangles()),
            Shape::Sphere { .. } | Shape::Box { .. } | Shape::Capsule { .. } => (&[], &[]),
            Shape::Balls(balls) => {
                write(&mut hasher, format!("{:x} {}", balls.tree().fingerprint(), balls.level()));
                (&[], &[])
            }
        };
        for number in vertices.iter().flat_map(|vertex| vertex.to_array().map(f32::to_bits)) {
            hasher.write(&number.to_le_bytes());
        }
        for corner in triangles.iter().flatten() {
            hasher.write(&corner.to_le_bytes());
        }
    }
    hasher.finish()
}

/// Gives changed bytes a valid hash, for tests of forged snapshots.
#[doc(hidden)]
pub fn forge_fingerprint(bytes: &mut [u8]) {
    let Some(end) = bytes.len().checked_sub(8).filter(|&end| end >= 12) else { return };
    let mut hasher = Hasher::default();
    hasher.write(&bytes[12..end]);
    bytes[end..].copy_from_slice(&hasher.finish().to_le_bytes());
}
