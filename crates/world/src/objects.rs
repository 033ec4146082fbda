//! Everything that can move, in columns by who touches them when: bodies in every test, drives and cards when a mover
//! proposes and settles, labels when somebody asks.
//!
//! No outcome may depend on a row's number: a world that was restored from a snapshot may have given its objects other
//! rows. Whatever needs an order goes by [`ObjectId`].

use space::bits::Bits;
use space::{GridPoint, NodeId, ObjectId, Turn, Vec3, snap};

use crate::overlap::Shaped;
use crate::solid::{GridBox, RoundedBox};
use crate::spec::ContactPolicy;

/// Others collide with it.
pub(crate) const SOLID: u32 = 1;
/// Its solid is only a box around it: the narrow phase has to be asked.
pub(crate) const EXACT: u32 = 2;
/// It can be pushed and held.
pub(crate) const MOVABLE: u32 = 4;
/// It belongs to somebody, or to the crowd.
pub(crate) const AVATAR: u32 = 8;
/// It moves by a route.
pub(crate) const ROUTED: u32 = 16;
/// It turns on the spot.
pub(crate) const TURNING: u32 = 128;
/// It holds something.
pub(crate) const HOLDING: u32 = 32;
/// Somebody holds it.
pub(crate) const HELD: u32 = 256;
/// It keeps its motion along what it meets.
pub(crate) const SLIDING: u32 = 64;

/// Where an object is, what it is to whoever bumps into it, everywhere that it may get to in this tick, and its name by
/// which ties are broken: a line of the cache.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct Collider {
    pub at: GridPoint,
    pub solid: RoundedBox,
    pub flags: u32,
    pub reach: GridBox,
    /// The number of its [`ObjectId`], once it is among the [`Objects`].
    pub name: u64,
}

const _: () = assert!(size_of::<Collider>() == 64, "a body is a line of the cache");

impl Collider {
    pub fn new(at: GridPoint, solid: RoundedBox, flags: u32) -> Collider {
        Collider { at, solid, flags, reach: GridBox::around(at, solid.half_extents()), name: 0 }
    }

    pub fn is(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// By how much any point of it may come closer to something in this tick, in steps.
    pub fn span(&self) -> f64 {
        let half = self.solid.half_extents();
        let turned = if self.is(TURNING) { 2.0 * f64::from(half[0] + half[1] + half[2]) } else { 0.0 };
        self.reach.span(&self.block()) + turned
    }

    pub fn block(&self) -> GridBox {
        GridBox::around(self.at, self.solid.half_extents())
    }
}

/// What an object is about to do: a line of the cache, too.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(align(64))]
pub(crate) struct Drive {
    /// Metres per second. Of a walker only the vertical part counts.
    pub velocity: [f32; 3],
    /// What its participant asked for, in metres per second.
    pub wish: [f32; 3],
    /// What rounding to the grid has kept back so far, in steps.
    pub rest: [f32; 3],
    /// The tick at which the wish is forgotten.
    pub wish_until: u64,
    /// Until which tick a walker looks for something to step onto.
    pub lift_until: u64,
    /// Whether it may have to move although nobody asks it to.
    pub awake: bool,
    /// Whether something carries its weight.
    pub standing: bool,
    /// Whether a jump was asked for.
    pub jump: bool,
    /// At least how far it has come in all, in steps: what cannot be met before, by this, need not be looked for.
    pub odometer: i64,
}

const _: () = assert!(size_of::<Drive>() == 64, "a drive is a line of the cache");

/// What kind of object it is, in the words of paper 001 from the server's point of view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Scene: it never moves.
    Fixed,
    /// Scene: it moves by a route that every host knows.
    Moving,
    /// Shared: it falls, it can be pushed and held.
    Movable,
    /// A participant's, or one of the crowd.
    Avatar,
}

/// What an object is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Card {
    pub id: ObjectId,
    pub kind: Kind,
    /// Which of the world's shapes: that of a spec's object or, after all of these, of an avatar.
    pub shape: u32,
    pub policy: ContactPolicy,
    pub holds: Option<u32>,
    pub held_by: Option<u32>,
    /// The clock of a route, in ticks that were not spent waiting.
    pub phase: u64,
}

/// What is seldom needed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Label {
    pub owner: Option<NodeId>,
    pub name: Box<str>,
}

/// The dynamic objects.
#[derive(Debug)]
pub(crate) struct Objects {
    pub body: Vec<Collider>,
    pub drive: Vec<Drive>,
    /// Rows of those who stand on something that may go away. Everybody who moves asks this about all around: bits stay
    /// in the nearest cache.
    pub on_object: Bits,
    /// How each is turned.
    pub turn: Vec<Turn>,
    /// Which of the crowd's seekers each is.
    pub seeker: Vec<Option<u32>>,
    pub card: Vec<Option<Card>>,
    pub label: Vec<Label>,
    /// Where each was before it began to settle in this tick, and how it was turned when the tick began.
    at_before: Vec<GridPoint>,
    turn_before: Vec<Turn>,
    /// What its odometer has to show before its reach can meet anything fixed, less how far that reaches.
    pub clear_until: Vec<i64>,
    /// Rows of those who move by a route: few, and asked about before everybody else.
    pub routed: Vec<u32>,
    /// Rows, by name ascending.
    pub by_id: Vec<(ObjectId, u32)>,
    /// Rows that nobody has.
    free: Vec<u32>,
    /// Rows by the numbers of names, as far as there are not too many: every message names objects.
    rows: Vec<u32>,
}

/// Objects with higher numbers are searched for in `by_id`; they are few, or the world is very old.
const ROWS_MAX: u64 = 1 << 22;
const NOBODY: u32 = u32::MAX;

impl Objects {
    pub fn new() -> Objects {
        Objects {
            body: Vec::new(),
            drive: Vec::new(),
            on_object: Bits::default(),
            turn: Vec::new(),
            seeker: Vec::new(),
            card: Vec::new(),
            label: Vec::new(),
            at_before: Vec::new(),
            turn_before: Vec::new(),
            clear_until: Vec::new(),
            routed: Vec::new(),
            by_id: Vec::new(),
            free: Vec::new(),
            rows: Vec::new(),
        }
    }

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
                self.rows.resize(number as usize + 1, NOBODY);
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
            *known = NOBODY;
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
            return self.rows.get(id.number() as usize).copied().filter(|&row| row != NOBODY);
        }
        let at = self.by_id.binary_search_by_key(&id, |&(id, _)| id).ok()?;
        Some(self.by_id[at].1)
    }

    /// The name of whoever is in this row, without a look at its card.
    pub fn name(&self, row: u32) -> ObjectId {
        ObjectId::new(self.body[row as usize].name).expect("rows in use have a name")
    }

    pub fn card(&self, row: u32) -> &Card {
        self.card[row as usize].as_ref().expect("rows in use have a card")
    }

    pub fn card_mut(&mut self, row: u32) -> &mut Card {
        self.card[row as usize].as_mut().expect("rows in use have a card")
    }

    /// What one of them is to whoever may overlap it.
    pub fn shaped(&self, row: u32) -> Shaped<'_> {
        (&self.body[row as usize], self.card(row).shape, self.turn[row as usize])
    }

    /// A tick begins: nobody has turned yet.
    pub fn begin_tick(&mut self) {
        self.turn_before.copy_from_slice(&self.turn);
    }

    /// Says how far somebody may get in this tick, before anybody begins to move.
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

    /// What somebody holds, without a look at the cards of those whose hands are empty.
    pub fn held_by(&self, row: u32) -> Option<u32> {
        if self.body[row as usize].is(HOLDING) { self.card(row).holds } else { None }
    }

    /// Puts an object into somebody's hands, which are empty.
    pub fn hold(&mut self, holder: u32, held: u32) {
        self.card_mut(holder).holds = Some(held);
        self.card_mut(held).held_by = Some(holder);
        self.body[holder as usize].flags |= HOLDING;
        self.body[held as usize].flags |= HELD;
    }

    /// Takes out of somebody's hands what is in them.
    pub fn let_go(&mut self, holder: u32) -> Option<u32> {
        let held = self.card_mut(holder).holds.take()?;
        self.card_mut(held).held_by = None;
        self.body[holder as usize].flags &= !HOLDING;
        self.body[held as usize].flags &= !HELD;
        Some(held)
    }

    /// By how much an object moved in the last tick, in metres per second.
    pub fn velocity(&self, row: u32, tick_rate: u32) -> Vec3 {
        let (at, before) = (self.body[row as usize].at, self.at_before[row as usize]);
        let moved_by = [at.x - before.x, at.y - before.y, at.z - before.z].map(|steps| steps as f32);
        Vec3::from_array(moved_by) * (snap::STEP * tick_rate as f32)
    }

    /// Notes whether an object stands on something that may go away.
    pub fn set_on_object(&mut self, row: u32, is_on_object: bool) {
        if is_on_object {
            self.on_object.insert(row as usize);
        } else {
            self.on_object.remove(row as usize);
        }
    }

    /// Puts an object somewhere else between two ticks: it is there, and has not moved.
    pub fn put(&mut self, row: u32, at: GridPoint) {
        self.body[row as usize].at = at;
        self.at_before[row as usize] = at;
        self.clear_until[row as usize] = 0;
    }

    /// Lets an object go somewhere else.
    #[inline(always)]
    pub fn move_by(&mut self, row: u32, offset: [i32; 3]) {
        let index = row as usize;
        let body = &mut self.body[index];
        body.at = GridPoint::new(body.at.x + offset[0], body.at.y + offset[1], body.at.z + offset[2]);
        debug_assert!(body.reach.contains(&body.block()), "nobody leaves the reach that others were told of: {body:?}");
        self.drive[index].odometer += way(offset);
    }
}

/// How long a way is, or up to a quarter more, without a root: the longest side, and half of the others. That is enough, as
/// its square has the longest side times each other one, which is no less than theirs.
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
