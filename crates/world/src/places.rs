//! A search for the free place that is nearest to a wanted one.

use std::collections::BTreeMap;

use shapes::Shape;
use space::{Grid, GridPoint, Turn};

use crate::border::Border;
use crate::objects::{Collider, EXACT, Objects, SOLID};
use crate::scenery::Scenery;
use crate::settle::CLOSEST_M;
use crate::solid::{GAP, GridBox};

/// The number of rings of places that are tried: some tens of metres.
const RINGS_MAX: i32 = 100;
/// An object on more squares than this is listed apart.
const SQUARES_MAX: i64 = 400;
/// The edge of a square of ground, in steps.
const SQUARE: i32 = 2048;

/// The objects on each square of ground. It is made at the first join of a tick and dropped before the tick settles.
#[derive(Debug, Default)]
pub(crate) struct FreePlaces {
    squares: BTreeMap<(i32, i32), Vec<u32>>,
    /// Objects on more than [`SQUARES_MAX`] squares.
    large: Vec<u32>,
    /// The number of full rings around a place, for the next avatar that asks for it.
    full: BTreeMap<(GridPoint, u32), i32>,
}

/// The bounds and solids among which a place is searched.
pub(crate) struct Among<'a> {
    pub grid: Grid,
    pub shapes: &'a [Shape],
    pub scenery: &'a Scenery,
    pub objects: &'a Objects,
    pub border: Option<&'a Border>,
}

impl FreePlaces {
    pub fn new(objects: &Objects) -> FreePlaces {
        let mut places = FreePlaces::default();
        for &(_, row) in &objects.by_id {
            places.insert(row, &objects.body[row as usize]);
        }
        places
    }

    pub fn insert(&mut self, row: u32, body: &Collider) {
        let (from, to) = squares(&body.block());
        if i64::from(to.0 - from.0 + 1) * i64::from(to.1 - from.1 + 1) > SQUARES_MAX {
            self.large.push(row);
            return;
        }
        for x in from.0..=to.0 {
            for z in from.1..=to.1 {
                self.squares.entry((x, z)).or_default().push(row);
            }
        }
    }

    /// The free place nearest to that of `body`.
    pub fn find(&mut self, among: &Among<'_>, body: Collider, shape: u32) -> Option<GridPoint> {
        let spacing = 2 * (body.solid.core[0] + body.solid.radius) + 4 * GAP;
        let begin = self.full.get(&(body.at, shape)).copied().unwrap_or(0);
        for ring in begin..=RINGS_MAX {
            for (x, z) in ring_of(ring) {
                let at = GridPoint::new(body.at.x + x * spacing, body.at.y, body.at.z + z * spacing);
                if self.is_free(among, Collider { at, ..body }, shape) {
                    self.full.insert((body.at, shape), ring);
                    return Some(at);
                }
            }
        }
        self.full.insert((body.at, shape), RINGS_MAX + 1);
        None
    }

    fn is_free(&self, among: &Among<'_>, body: Collider, shape: u32) -> bool {
        let block = body.block().grown(GAP);
        let bounds = GridBox { low: to_array(among.grid.low()), high: to_array(among.grid.high()) };
        if (0..3).any(|axis| block.low[axis] < bounds.low[axis] || block.high[axis] > bounds.high[axis]) {
            return false;
        }
        if among.border.is_some_and(|border| !border.is_free(&block)) {
            return false;
        }
        if !body.is(SOLID) {
            return true;
        }
        let is_apart = |other: &Collider, other_shape: u32, other_turn: Turn| {
            if !other.is(SOLID) || !other.block().meets(&block) {
                return true;
            }
            if !other.is(EXACT) {
                return body.solid.is_apart(body.at, other.solid, other.at, GAP);
            }
            let pose = shapes::Pose::at(body.at.position());
            let other_pose = shapes::Pose::new(other.at.position(), other_turn.quat());
            let (one, two) = (&among.shapes[shape as usize], &among.shapes[other_shape as usize]);
            shapes::exact::distance(one, &pose, two, &other_pose) >= 2.0 * CLOSEST_M
        };
        let mut is_free = true;
        among.scenery.near(&block, |index| {
            let index = index as usize;
            let (shape, turn) = (among.scenery.shape[index], among.scenery.turn[index]);
            is_free = is_free && is_apart(&among.scenery.body[index], shape, turn);
        });
        let is_apart_from = |row: u32| {
            let (objects, index) = (among.objects, row as usize);
            is_apart(&objects.body[index], objects.card(row).shape, objects.turn[index])
        };
        let (from, to) = squares(&block);
        let mut here = (from.0..=to.0).flat_map(|x| (from.1..=to.1).map(move |z| (x, z)));
        is_free
            && self.large.iter().all(|&row| is_apart_from(row))
            && here.all(|square| self.squares.get(&square).into_iter().flatten().all(|&row| is_apart_from(row)))
    }
}

pub(crate) fn to_array(point: GridPoint) -> [i32; 3] {
    [point.x, point.y, point.z]
}

fn squares(block: &GridBox) -> ((i32, i32), (i32, i32)) {
    let square = |place: i32| place.div_euclid(SQUARE);
    ((square(block.low[0]), square(block.low[2])), (square(block.high[0]), square(block.high[2])))
}

/// The places at distance `ring`, in spacings along the longer axis.
fn ring_of(ring: i32) -> impl Iterator<Item = (i32, i32)> {
    (-ring..=ring).flat_map(move |x| {
        let is_side = x.abs() == ring;
        let step = if is_side || ring == 0 { 1 } else { 2 * ring };
        (-ring..=ring).step_by(step as usize).map(move |z| (x, z))
    })
}
