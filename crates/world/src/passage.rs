//! Objects that leave one world and enter another, as bytes.
//!
//! ```text
//! an object              as in a snapshot, holding nothing
//! u32                    the sequence of its owner's last input
//! ```
//! The bytes are not trusted: what is no object of this world is refused and changes nothing.

use std::sync::Arc;

use space::bytes::{Malformed, Reader, Writer};
use space::{GridPoint, ObjectId, Vec3, snap};

use crate::border::{Border, PlacedSolid};
use crate::members::Membership;
use crate::objects::{Kind, SOLID};
use crate::places::FreePlaces;
use crate::snapshot::{read_object, write_object};
use crate::solid::GridBox;
use crate::spec::{Spec, SpecError};
use crate::world::World;

/// The offset of the held object in an object's bytes.
const HOLDS: usize = 44;
/// The usual length of an object's bytes with its name.
const PARCEL: usize = 160;

/// Where to put an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placing {
    /// At the place in its bytes, or not at all.
    Exact,
    /// There if that is free, else at the nearest free place.
    Nearest,
}

/// Why an object was not put into a world, which is unchanged then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PutError {
    #[error("these bytes are no object of this world, {0}")]
    Malformed(#[from] Malformed),
    #[error("{0} is here already")]
    AlreadyHere(ObjectId),
    #[error("there is no room for {0}")]
    NoRoom(ObjectId),
}

impl World {
    /// The world of a spec with its scenery and no object that can move: a part of a larger world, for
    /// [`World::put_in`].
    pub fn empty(spec: impl Into<Arc<Spec>>) -> Result<World, SpecError> {
        World::bare(spec.into())
    }

    /// Makes it a part of a larger world from the next step on, or the whole again.
    pub fn set_border(&mut self, border: Option<Border>) {
        self.border = border;
    }

    pub fn border(&self) -> Option<&Border> {
        self.border.as_ref()
    }

    /// Continues after this tick, if it is later: worlds that exchange objects have the same tick.
    pub fn catch_up(&mut self, tick: space::Tick) {
        self.tick = self.tick.max(tick);
    }

    /// Numbers new objects from here on: worlds that exchange objects must not give the same name.
    pub fn name_from(&mut self, first: u64) {
        self.next_id = self.next_id.max(first).min(1 << 62);
    }

    /// An object as bytes, without the object that it holds: [`World::hold`] restores that when both have arrived.
    pub fn parcel(&self, object: ObjectId) -> Option<Vec<u8>> {
        let mut bytes = Vec::with_capacity(PARCEL);
        self.parcel_into(object, &mut bytes).then_some(bytes)
    }

    /// Appends an object as bytes; false if there is no such object.
    pub fn parcel_into(&self, object: ObjectId, bytes: &mut Vec<u8>) -> bool {
        let Some(row) = self.objects.row(object) else { return false };
        let start = bytes.len();
        write_object(self, row, &mut Writer::new(bytes));
        bytes[start + HOLDS..start + HOLDS + 8].fill(0);
        let owner = self.objects.label[row as usize].owner;
        Writer::new(bytes).u32(owner.and_then(|owner| self.last_sequence(owner)).unwrap_or(0));
        true
    }

    /// The name and the place in an object's bytes.
    pub fn parcel_place(bytes: &[u8]) -> Option<(ObjectId, GridPoint)> {
        let mut reader = Reader::new(bytes);
        let id = ObjectId::new(reader.u64("a name").ok()?)?;
        reader.u32("a shape").ok()?;
        let mut steps = || reader.i32("a place").ok();
        Some((id, GridPoint::new(steps()?, steps()?, steps()?)))
    }

    /// Lets an avatar that arrived with an object in its hands hold it again; false if it cannot.
    pub fn hold(&mut self, carrier: ObjectId, load: ObjectId) -> bool {
        let Some(row) = self.objects.row(carrier) else { return false };
        self.objects.card(row).kind == Kind::Avatar && self.grab(row, load).is_ok()
    }

    /// Takes an object out of the world, and releases its holder and the object that it holds.
    pub fn take_out(&mut self, object: ObjectId) -> bool {
        let Some(row) = self.objects.row(object) else { return false };
        if let Some(carrier) = self.objects.card(row).held_by {
            self.release(carrier);
        }
        self.release(row);
        if let Some(owner) = self.objects.label[row as usize].owner {
            self.members.remove(owner);
        }
        self.remove(row);
        true
    }

    /// Puts an object from [`World::parcel`] into this world, and returns its name.
    pub fn put_in(&mut self, bytes: &[u8], placing: Placing) -> Result<ObjectId, PutError> {
        let spec = Arc::clone(&self.spec);
        let mut reader = Reader::new(bytes);
        let number = reader.u64("a name")?;
        let id = ObjectId::new(number).ok_or_else(|| reader.refuse("a name"))?;
        if self.object(id).is_some() {
            return Err(PutError::AlreadyHere(id));
        }
        let holds = read_object(self, &spec, number, &mut reader)?;
        let row = self.objects.row(id).expect("it was just read");
        let outcome = self.register(row, holds, &mut reader).map_err(PutError::from).and_then(|()| {
            self.objects.drive[row as usize].awake = true;
            self.find_place(id, placing)
        });
        match outcome {
            Ok(()) => Ok(id),
            Err(error) => {
                self.take_out(id);
                Err(error)
            }
        }
    }

    fn register(&mut self, row: u32, holds: u64, reader: &mut Reader<'_>) -> Result<(), Malformed> {
        reader.check(holds == 0, "nothing that it holds")?;
        let sequence = reader.u32("a sequence")?;
        reader.end()?;
        if let Some(sender) = self.objects.label[row as usize].owner {
            let is_new = self.members.get(sender).is_none();
            if !is_new {
                // The caller takes this object out again, which must not remove the member.
                self.objects.label[row as usize].owner = None;
            }
            reader.check(is_new, "a member that is not here")?;
            self.members.insert(Membership { sender, row, sequence });
        }
        Ok(())
    }

    fn find_place(&mut self, id: ObjectId, placing: Placing) -> Result<(), PutError> {
        let row = self.objects.row(id).expect("it was put in");
        if self.is_clear(row, placing) {
            return Ok(());
        }
        if placing == Placing::Exact {
            return Err(PutError::NoRoom(id));
        }
        let (body, shape) = (self.objects.body[row as usize], self.objects.card(row).shape);
        let mut places = FreePlaces::default();
        for &(_, other) in self.objects.by_id.iter().filter(|&&(_, other)| other != row) {
            places.insert(other, &self.objects.body[other as usize]);
        }
        let among = self.among();
        let at = places.find(&among, body, shape).ok_or(PutError::NoRoom(id))?;
        self.objects.put(row, at);
        let drive = &mut self.objects.drive[row as usize];
        (drive.awake, drive.standing) = (true, false);
        self.objects.set_on_object(row, false);
        Ok(())
    }

    /// Whether an object overlaps no object, scenery or guest; for [`Placing::Nearest`] also whether this world decides
    /// about all of its place.
    fn is_clear(&self, row: u32, placing: Placing) -> bool {
        let mine = self.objects.shaped(row);
        let body = mine.0;
        if placing == Placing::Nearest
            && self.border.as_ref().is_some_and(|border| !border.is_free(&body.block().grown(crate::solid::GAP)))
        {
            return false;
        }
        if !body.is(SOLID) {
            return true;
        }
        let is_apart = |&(_, other): &(ObjectId, u32)| {
            let there = self.objects.shaped(other);
            other == row || !there.0.is(SOLID) || !self.overlaps(mine, there)
        };
        let mut is_clear = self.objects.by_id.iter().all(is_apart);
        self.scenery.near(&body.block().grown(4), |index| {
            let other = self.scenery.shaped(index as usize);
            is_clear &= !other.0.is(SOLID) || !self.overlaps(mine, other);
        });
        let overlaps_guest =
            |guest: &crate::border::Guest| guest.obstacles().any(|(solid, at)| body.solid.overlaps(body.at, solid, at));
        is_clear && !self.border.iter().flat_map(|border| &border.guests).any(overlaps_guest)
    }

    /// The place and the solid of an object; `None` for a pass-through object.
    pub fn standing(&self, object: ObjectId) -> Option<PlacedSolid> {
        let body = &self.objects.body[self.objects.row(object)? as usize];
        body.is(SOLID).then_some(PlacedSolid { object, solid: body.solid, at: body.at })
    }

    /// An estimate of the space that an object may want within `ticks`.
    pub fn prospect(&self, object: ObjectId, ticks: u32) -> Option<GridBox> {
        let row = self.objects.row(object)?;
        let (body, drive, card) =
            (&self.objects.body[row as usize], &self.objects.drive[row as usize], self.objects.card(row));
        let block = body.block();
        // A held object moves with its holder.
        let leader = &self.objects.drive[card.held_by.unwrap_or(row) as usize];
        let is_wishing = self.tick.number() < leader.wish_until;
        let wish = if is_wishing { Vec3::from_array(leader.wish) } else { Vec3::ZERO };
        let speed = match card.kind {
            Kind::Avatar => wish + Vec3::new(0.0, drive.velocity[1], 0.0),
            _ if card.held_by.is_some() => wish,
            _ => Vec3::from_array(drive.velocity),
        };
        let scale = snap::STEPS_PER_METRE as f32 / self.spec.tick_rate as f32;
        let way = (speed * scale * ticks as f32).to_array().map(|steps| steps as i32);
        let ahead = GridBox {
            low: std::array::from_fn(|axis| block.low[axis] + way[axis].min(0)),
            high: std::array::from_fn(|axis| block.high[axis] + way[axis].max(0)),
        };
        let is_moving = wish != Vec3::ZERO || drive.awake || card.kind == Kind::Moving;
        let aside = if is_moving { (0.25 * speed.length() * scale) as i32 + 24 } else { 8 };
        let mut wide = ahead.grown(aside);
        if is_moving && card.kind == Kind::Avatar {
            wide.high[1] += snap::STEPS_PER_METRE / 2;
            wide.low[1] -= snap::STEPS_PER_METRE / 2;
        }
        Some(wide.even())
    }
}
