//! The objects that can move, in columns by use: bodies in every test, drives and cards when a mover proposes and
//! settles, labels for views.
//!
//! No outcome may depend on the number of a row, as a restored world may have other rows: orders go by [`ObjectId`].

use space::bits::Bits;
use space::{GridPoint, NodeId, ObjectId, Turn, Vec3, snap};

use crate::overlap::Shaped;
use crate::solid::{GridBox, RoundedBox};
use crate::spec::ContactPolicy;

/// Others collide with it.
pub(crate) const SOLID: u32 = 1;
/// Its solid is the box around its shape: the narrow phase decides.
pub(crate) const EXACT: u32 = 2;
/// It can be pushed and held.
pub(crate) const MOVABLE: u32 = 4;
/// A participant or the crowd moves it.
pub(crate) const AVATAR: u32 = 8;
/// It moves by a route.
pub(crate) const ROUTED: u32 = 16;
/// It turns on the spot.
pub(crate) const TURNING: u32 = 128;
/// It holds something.
pub(crate) const HOLDING: u32 = 32;
/// An avatar holds it.
pub(crate) const HELD: u32 = 256;
/// It slides along obstacles.
pub(crate) const SLIDING: u32 = 64;

/// The place, the solid and the reach of an object, in one cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct Collider {
    pub at: GridPoint,
    pub solid: RoundedBox,
    pub flags: u32,
    /// The box around all its places in this tick.
    pub reach: GridBox,
    /// The number of its [`ObjectId`], which breaks ties; zero before it is among the [`Objects`].
    pub name: u64,
}

const _: () = assert!(size_of::<Collider>() == 64, "a body is a cache line");

impl Collider {
    pub fn new(at: GridPoint, solid: RoundedBox, flags: u32) -> Collider {
        Collider { at, solid, flags, reach: GridBox::around(at, solid.half_extents()), name: 0 }
    }

    pub fn is(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// The longest way of any of its points in this tick, in steps.
    pub fn span(&self) -> f64 {
        let half = self.solid.half_extents();
        let turned = if self.is(TURNING) { 2.0 * f64::from(half[0] + half[1] + half[2]) } else { 0.0 };
        self.reach.span(&self.block()) + turned
    }

    pub fn block(&self) -> GridBox {
        GridBox::around(self.at, self.solid.half_extents())
    }
}

/// The motion of an object, in one cache line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(align(64))]
pub(crate) struct Drive {
    /// Metres per second. Of a walker only the vertical part counts.
    pub velocity: [f32; 3],
    /// The velocity that its participant wants, in metres per second.
    pub wish: [f32; 3],
    /// The remainder of rounding to the grid, in steps.
    pub rest: [f32; 3],
    /// The tick at which the wish ends.
    pub wish_until: u64,
    /// The tick until which a walker tries to step onto obstacles.
    pub lift_until: u64,
    /// Whether it may move without a wish, as it may fall.
    pub awake: bool,
    /// Whether something carries its weight.
    pub standing: bool,
    /// Whether it is to jump.
    pub jump: bool,
    /// An upper bound of its whole way so far, in steps: a distance that is longer cannot have been covered.
    pub odometer: i64,
}

const _: () = assert!(size_of::<Drive>() == 64, "a drive is a cache line");

/// The kind of an object, in the words of paper 001 from the server's point of view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Scene: it never moves.
    Fixed,
    /// Scene: it moves by a route that every host knows.
    Moving,
    /// Shared: it falls, and avatars can push and hold it.
    Movable,
    /// A participant or the crowd moves it.
    Avatar,
}

/// The identity of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Card {
    pub id: ObjectId,
    pub kind: Kind,
    /// An index into the world's shapes: those of the spec's objects, then those of its avatars.
    pub shape: u32,
    pub policy: ContactPolicy,
    pub holds: Option<u32>,
    pub held_by: Option<u32>,
    /// The clock of a route, in ticks without those of waiting.
    pub phase: u64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Label {
    pub owner: Option<NodeId>,
    pub name: Box<str>,
}

/// The objects that can move, by row.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    pub body: Vec<Collider>,
    pub drive: Vec<Drive>,
    /// Rows of objects that stand on an object that may go away. Movers ask this of all their neighbours: bits stay in
    /// the nearest cache.
    pub on_object: Bits,
    pub turn: Vec<Turn>,
    /// The number of the crowd's seeker that each is.
    pub seeker: Vec<Option<u32>>,
    pub card: Vec<Option<Card>>,
    pub label: Vec<Label>,
    /// The place of each before it settles in this tick, and its turn at the beginning of the tick.
    at_before: Vec<GridPoint>,
    turn_before: Vec<Turn>,
    /// The odometer reading, less the length of the reach, before which each can meet no fixed object.
    pub clear_until: Vec<i64>,
    /// Rows of the objects with a route.
    pub routed: Vec<u32>,
    /// Rows, by rising names.
    pub by_id: Vec<(ObjectId, u32)>,
    /// Rows that are not in use.
    free: Vec<u32>,
    /// Rows by the numbers of names up to [`ROWS_MAX`], as every message names objects.
    rows: Vec<u32>,
}

/// Objects with higher numbers are searched for in `by_id`: they occur in very old worlds only.
const ROWS_MAX: u64 = 1 << 22;
const NO_ROW: u32 = u32::MAX;

impl Objects {
    pub fn insert(&mut self, body: Collider, turn: Turn, drive: Drive, card: Card, label: Label) -> u32 {
        let row = self.free.pop().unwrap_or_else(|| {
            self.body.push(Collider::default());
            self.drive.push(Drive::default());
            self.turn.push(Turn::IDENTITY);
            self.seeker.push(None);
            self.card.push(None);
            self.label.push(Label::default());
            self.at_before.push(GridPoint::default());
            self.turn_before.push(Turn::IDENTITY);
            self.clear_until.push(0);
            self.on_object.grow(self.body.len());
            self.body.len() as u32 - 1
        });
        let at = self.by_id.partition_point(|&(id, _)| id < card.id);
        self.by_id.insert(at, (card.id, row));
        let number = card.id.number();
        if number < ROWS_MAX {
            if self.rows.len() as u64 <= number {
                self.rows.resize(number as usize + 1, NO_ROW);
            }
            self.rows[number as usize] = row;
        }
        if body.is(ROUTED) {
            self.routed.push(row);
        }
        let index = row as usize;
        self.body[index] = Collider { name: number, ..body };
        self.drive[index] = drive;
        self.turn[index] = turn;
        self.seeker[index] = None;
        self.at_before[index] = body.at;
        self.turn_before[index] = turn;
        self.clear_until[index] = 0;
        self.card[index] = Some(card);
        self.label[index] = label;
        row
    }

    pub fn remove(&mut self, row: u32) -> Card {
        let card = self.card[row as usize].take().expect("only living objects are removed");
        let at = self.by_id.partition_point(|&(id, _)| id < card.id);
        self.by_id.remove(at);
        if let Some(known) = self.rows.get_mut(card.id.number() as usize) {
            *known = NO_ROW;
        }
        self.routed.retain(|&routed| routed != row);
        self.body[row as usize] = Collider::default();
        self.on_object.remove(row as usize);
        self.label[row as usize] = Label::default();
        self.free.push(row);
        card
    }

    pub fn row(&self, id: ObjectId) -> Option<u32> {
        if id.number() < ROWS_MAX {
            return self.rows.get(id.number() as usize).copied().filter(|&row| row != NO_ROW);
        }
        let at = self.by_id.binary_search_by_key(&id, |&(id, _)| id).ok()?;
        Some(self.by_id[at].1)
    }

    /// The name of the object in this row, without access to its card.
    pub fn name(&self, row: u32) -> ObjectId {
        ObjectId::new(self.body[row as usize].name).expect("rows in use have a name")
    }

    pub fn card(&self, row: u32) -> &Card {
        self.card[row as usize].as_ref().expect("rows in use have a card")
    }

    pub fn card_mut(&mut self, row: u32) -> &mut Card {
        self.card[row as usize].as_mut().expect("rows in use have a card")
    }

    /// A body with its shape and turn, for tests of overlap.
    pub fn shaped(&self, row: u32) -> Shaped<'_> {
        (&self.body[row as usize], self.card(row).shape, self.turn[row as usize])
    }

    /// Begins a tick, in which no object has turned yet.
    pub fn begin_tick(&mut self) {
        self.turn_before.copy_from_slice(&self.turn);
    }

    /// Sets the reach of an object in this tick, before the first one moves.
    #[inline]
    pub fn set_reach(&mut self, row: u32, reach_of: impl FnOnce(&Collider) -> GridBox) {
        let body = &mut self.body[row as usize];
        body.reach = reach_of(body);
        self.at_before[row as usize] = body.at;
    }

    /// Whether an object has another pose than when the tick began.
    pub fn has_moved(&self, row: u32) -> bool {
        let index = row as usize;
        self.body[index].at != self.at_before[index] || self.turn[index] != self.turn_before[index]
    }

    /// The object that one holds, without access to the cards of those that hold none.
    pub fn held_by(&self, row: u32) -> Option<u32> {
        if self.body[row as usize].is(HOLDING) { self.card(row).holds } else { None }
    }

    /// Puts an object into the hands of an avatar, which are empty.
    pub fn hold(&mut self, holder: u32, held: u32) {
        self.card_mut(holder).holds = Some(held);
        self.card_mut(held).held_by = Some(holder);
        self.body[holder as usize].flags |= HOLDING;
        self.body[held as usize].flags |= HELD;
    }

    /// Takes the held object out of the hands of an avatar.
    pub fn let_go(&mut self, holder: u32) -> Option<u32> {
        let held = self.card_mut(holder).holds.take()?;
        self.card_mut(held).held_by = None;
        self.body[holder as usize].flags &= !HOLDING;
        self.body[held as usize].flags &= !HELD;
        Some(held)
    }

    /// The motion of an object in the last tick, in metres per second.
    pub fn velocity(&self, row: u32, tick_rate: u32) -> Vec3 {
        let (at, before) = (self.body[row as usize].at, self.at_before[row as usize]);
        let moved_by = [at.x - before.x, at.y - before.y, at.z - before.z].map(|steps| steps as f32);
        Vec3::from_array(moved_by) * (snap::STEP * tick_rate as f32)
    }

    /// Notes whether an object stands on another one that may go away.
    pub fn set_on_object(&mut self, row: u32, is_on_object: bool) {
        if is_on_object {
            self.on_object.insert(row as usize);
        } else {
            self.on_object.remove(row as usize);
        }
    }

    /// Moves an object between two ticks, without a velocity.
    pub fn put(&mut self, row: u32, at: GridPoint) {
        self.body[row as usize].at = at;
        self.at_before[row as usize] = at;
        self.clear_until[row as usize] = 0;
    }

    #[inline(always)]
    pub fn move_by(&mut self, row: u32, offset: [i32; 3]) {
        let index = row as usize;
        let body = &mut self.body[index];
        body.at = GridPoint::new(body.at.x + offset[0], body.at.y + offset[1], body.at.z + offset[2]);
        debug_assert!(body.reach.contains(&body.block()), "no object leaves its reach: {body:?}");
        self.drive[index].odometer += way(offset);
    }
}

/// An upper bound of the length of a way, without a root: the longest side and half of the others. It is at most a
/// quarter too long. Its square contains the product of the longest side with each other one, which is at least theirs.
#[inline]
fn way(offset: [i32; 3]) -> i64 {
    let [x, y, z] = offset.map(|steps| i64::from(steps).abs());
    let longest = x.max(y).max(z);
    (longest + x + y + z + 1) >> 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::workload::Random;

    #[test]
    fn odometers_show_no_less_than_the_way() {
        let mut random = Random::new(11);
        for _ in 0..100_000 {
            let most = 1 + random.whole(0, 2_000);
            let offset: [i32; 3] = std::array::from_fn(|_| random.whole(0, 2 * most) as i32 - most as i32);
            let length = offset.map(f64::from).iter().map(|side| side * side).sum::<f64>().sqrt();
            let shown = way(offset) as f64;
            assert!(length <= shown && shown <= 1.25 * length + 1.0, "{offset:?}: {shown} for {length}");
        }
    }
}
