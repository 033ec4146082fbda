//! A world as bytes: everything that its future depends on, and nothing else.
//!
//! ```text
//! "KSW1"                 what it is, and in which version
//! u64                    the fingerprint of the spec: a snapshot is of no use with another one
//! u64 u64 u64            tick, the next object's name, how many have joined
//! u32, then each object  by name: name, shape, place, turn, owner, seeker, name among people, what it holds, clock,
//!                        velocity, wish, rest, for how long to wish and to look for steps, flags
//! u32, then each member  by name: sender, avatar, sequence
//! u64                    the fingerprint of all before: StateHash, where the first 12 bytes are left out
//! ```
//! Bytes from anywhere may be handed in: what is no snapshot of this spec is refused, and a refusal names the place.
//! Whoever holds the bytes can make another valid world of them, but none with solids that overlap.

use std::sync::Arc;

use shapes::Shape;
use space::bytes::{Malformed, Reader};
use space::{Grid, GridPoint, NodeId, ObjectId, Tick, Turn, Vec3};

use crate::hash::{Hasher, StateHash};
use crate::make;
use crate::members::Membership;
use crate::objects::{Drive, Kind, Label};
use crate::spec::{OBJECT_NAME_BYTES_MAX, ObjectKind, ObjectSpec, Route, Spec, SpecError};
use crate::world::World;

const MAGIC: &[u8; 4] = b"KSW1";
/// What an object takes at least, and a member: how many there can be is known before memory is taken.
const OBJECT_BYTES: usize = 107;
const MEMBER_BYTES: usize = 20;

/// Why bytes are no snapshot of a world.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SnapshotError {
    /// Not made by this version.
    #[error("these bytes are no snapshot of version 1")]
    Version,
    /// Made from another spec.
    #[error("the snapshot is of another world: its spec has fingerprint {found:016x}, expected {expected:016x}")]
    OtherSpec {
        /// The fingerprint in the snapshot.
        found: u64,
        /// That of the spec.
        expected: u64,
    },
    /// Bytes that are not what they should be.
    #[error("the snapshot is damaged {0}")]
    Malformed(#[from] Malformed),
    /// The bytes were changed.
    #[error("the snapshot is damaged: its fingerprint is {found}, expected {expected}")]
    Damaged {
        /// That of the bytes.
        found: StateHash,
        /// What they say it should be.
        expected: StateHash,
    },
    /// Two solids in one place: no world of ours was like that.
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
        bytes.extend_from_slice(&self.fingerprint.to_le_bytes());
        let begin = bytes.len();
        write_state(self, &mut |part| bytes.extend_from_slice(part));
        let mut hasher = Hasher::default();
        hasher.write(&bytes[begin..]);
        bytes.extend_from_slice(&hasher.finish().to_le_bytes());
    }

    /// The world that a snapshot shows. From here on it goes the same way as the one that was written down.
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

/// Everything that the future depends on, object by object.
pub(crate) fn write_state(world: &World, sink: &mut dyn FnMut(&[u8])) {
    sink(&world.tick.number().to_le_bytes());
    sink(&world.next_id.to_le_bytes());
    sink(&world.joins.to_le_bytes());
    sink(&(world.objects.by_id.len() as u32).to_le_bytes());
    for &(_, row) in &world.objects.by_id {
        write_object(world, row, sink);
    }
    sink(&(world.members.list().len() as u32).to_le_bytes());
    for member in world.members.list() {
        sink(&member.sender.number().to_le_bytes());
        sink(&world.objects.card(member.row).id.number().to_le_bytes());
        sink(&member.sequence.to_le_bytes());
    }
}

/// One object: its numbers together, so that the sink is called once for them, and its name among people.
pub(crate) fn write_object(world: &World, row: u32, sink: &mut dyn FnMut(&[u8])) {
    let name_of = |row: Option<u32>| row.map_or(0, |row| world.objects.card(row).id.number());
    let mut record = [0u8; OBJECT_BYTES - 2];
    let (card, body) = (world.objects.card(row), &world.objects.body[row as usize]);
    let (drive, label) = (&world.objects.drive[row as usize], &world.objects.label[row as usize]);
    let is_on_object = world.objects.on_object.contains(row as usize);
    let mut at = 0;
    let mut put = |bytes: &[u8]| {
        record[at..at + bytes.len()].copy_from_slice(bytes);
        at += bytes.len();
    };
    put(&card.id.number().to_le_bytes());
    put(&card.shape.to_le_bytes());
    for place in [body.at.x, body.at.y, body.at.z] {
        put(&place.to_le_bytes());
    }
    put(&world.objects.turn[row as usize].bits().to_le_bytes());
    put(&label.owner.map_or(0, NodeId::number).to_le_bytes());
    put(&world.objects.seeker[row as usize].map_or(0, |seeker| seeker + 1).to_le_bytes());
    put(&name_of(card.holds).to_le_bytes());
    put(&card.phase.to_le_bytes());
    for number in drive.velocity.iter().chain(&drive.wish).chain(&drive.rest) {
        put(&number.to_bits().to_le_bytes());
    }
    // How long it still goes on: what is over is over, and need not be told apart.
    for until in [drive.wish_until, drive.lift_until] {
        put(&(until.saturating_sub(world.tick.number()) as u32).to_le_bytes());
    }
    let flags = [label.owner.is_some(), drive.awake, drive.standing, is_on_object, drive.jump];
    put(&[flags.iter().enumerate().map(|(bit, &flag)| u8::from(flag) << bit).sum()]);
    debug_assert_eq!(at, record.len(), "a record has its length");
    sink(&record);
    write_text(&label.name, sink);
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
        let is_same = |turn: Turn| turn == made.turn;
        let turns = matches!(&object.kind, ObjectKind::Moving(route) if route.turns());
        reader.check(turns || is_same(turn), "the turn that the object has")?;
        (make::card(index, object), crate::objects::Collider { at, ..made.body })
    } else {
        let avatar = &spec.avatars[index - spec.objects.len()];
        let seekers = spec.crowd.map_or(0, |crowd| crowd.seekers);
        let is_sound = id > spec.objects.len() as u64 && seeker <= seekers && (seeker == 0 || !flag(0)) && phase == 0;
        reader.check(is_sound, "an avatar of this world")?;
        let card = crate::objects::Card {
            id: ObjectId::new(id).expect("names rise from zero"),
            kind: Kind::Avatar,
            shape,
            policy: avatar.policy,
            holds: None,
            held_by: None,
            phase: 0,
        };
        (card, make::avatar_body(avatar, at))
    };
    card.phase = phase;
    // What deforms stays where the spec put it; its box has room for every form, and may reach beyond.
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
pub(crate) fn write_text(text: &str, sink: &mut dyn FnMut(&[u8])) {
    let length = text.len().min(usize::from(u16::MAX));
    sink(&(length as u16).to_le_bytes());
    sink(&text.as_bytes()[..length]);
}

pub(crate) fn read_text<'a>(reader: &mut Reader<'a>, max: usize, expected: &'static str) -> Result<&'a str, Malformed> {
    let length = usize::from(reader.u16(expected)?);
    reader.check(length <= max, expected)?;
    std::str::from_utf8(reader.raw(length, expected)?).map_err(|_| reader.refuse(expected))
}

fn is_inside(grid: Grid, body: &crate::objects::Collider) -> bool {
    let (block, low, high) = (body.block(), grid.low(), grid.high());
    let slack = if body.is(crate::objects::EXACT) { 8 } else { 0 };
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

/// A fingerprint of what a snapshot relies on: another one makes another world.
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

/// Makes changed bytes consistent with themselves again: for tests of what a forger could do.
#[doc(hidden)]
pub fn forge_fingerprint(bytes: &mut [u8]) {
    let Some(end) = bytes.len().checked_sub(8).filter(|&end| end >= 12) else { return };
    let mut hasher = Hasher::default();
    hasher.write(&bytes[12..end]);
    bytes[end..].copy_from_slice(&hasher.finish().to_le_bytes());
}
