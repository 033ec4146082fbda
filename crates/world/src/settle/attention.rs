//! Who is looked at closely, when there is not enough time for everybody.
//!
//! Shapes that need the narrow phase cost more than upright solids, and a world file may say how much a tick may spend on
//! them. Everybody's pairs are first looked at coarsely, as bounding spheres; what is left of the budget goes to those
//! who matter most, near users and fast, and in every sixteenth tick to each. Who has to do with the coarse look moves as
//! far as that shows free. Where it shows nothing, it stays where it is, which is free, until a later tick.
//!
//! Nothing of this is remembered from tick to tick, so that a world goes on from a snapshot as it would have.

use space::narrow::Shape;

use crate::neighbours::Neighbours;
use crate::objects::{EXACT, Objects, SOLID};
use crate::scenery::Scenery;

/// Each gets a close look at least once in so many ticks, if anything is left.
const TURN: u64 = 16;

/// What a close look at a shape costs, in looks at a bounding sphere.
fn cost(shape: &Shape) -> u64 {
    match shape {
        Shape::Sphere { .. } | Shape::Box { .. } | Shape::Capsule { .. } => 1,
        Shape::Hull(_) => 4,
        Shape::Balls(balls) => 4 * (1 + u64::from(balls.level())),
        Shape::Mesh(_) => 32,
    }
}

/// By row, who is looked at coarsely.
#[derive(Debug, Default)]
pub(crate) struct Attention {
    pub is_coarse: Vec<bool>,
    candidates: Vec<Candidate>,
    users: Vec<[f64; 3]>,
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    row: u32,
    cost: u64,
    /// How much it matters; powers of two, so that those who matter about as much take turns.
    class: u64,
    turn: u64,
}

impl Attention {
    /// Shares out a tick's budget.
    pub fn share_out(
        &mut self,
        budget: Option<u32>,
        tick: u64,
        movers: &[u32],
        (shapes, scenery, objects, neighbours): (&[Shape], &Scenery, &Objects, &Neighbours),
    ) {
        self.is_coarse.clear();
        let Some(budget) = budget else { return };
        self.is_coarse.resize(objects.body.len(), false);
        self.users.clear();
        let owned = objects.by_id.iter().filter(|(_, row)| objects.label[*row as usize].owner.is_some());
        self.users.extend(owned.map(|&(_, row)| place(objects, row)));
        self.candidates.clear();
        let mut looks = 0;
        for &row in movers {
            let body = &objects.body[row as usize];
            if !body.is(SOLID) {
                continue;
            }
            let own = cost(&shapes[objects.card(row).shape as usize]);
            let (mut pairs, mut price) = (0, 0);
            for &other in neighbours.of(row) {
                if (body.flags | objects.body[other as usize].flags) & EXACT != 0 {
                    pairs += 1;
                    price += own + cost(&shapes[objects.card(other).shape as usize]);
                }
            }
            scenery.near(&body.reach, |index| {
                let other = &scenery.body[index as usize];
                if other.is(SOLID) && (body.flags | other.flags) & EXACT != 0 {
                    pairs += 1;
                    price += own + cost(&shapes[scenery.shape[index as usize] as usize]);
                }
            });
            if pairs > 0 {
                looks += pairs;
                let id = objects.name(row).number();
                let class = if (id + tick).is_multiple_of(TURN) { u64::MAX } else { self.class(objects, row) };
                let turn = (id ^ tick.rotate_left(17)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                self.candidates.push(Candidate { row, cost: price, class, turn });
            }
        }
        let mut left = u64::from(budget).saturating_sub(looks);
        self.candidates.sort_unstable_by_key(|one| (std::cmp::Reverse(one.class), one.turn));
        for one in &self.candidates {
            let is_close = one.cost <= left;
            left = if is_close { left - one.cost } else { 0 };
            self.is_coarse[one.row as usize] = !is_close;
        }
    }

    /// Whether a row is looked at coarsely.
    pub fn is_coarse(&self, row: u32) -> bool {
        self.is_coarse.get(row as usize).copied().unwrap_or(false)
    }

    /// Faster is more, and nearer to a user.
    fn class(&self, objects: &Objects, row: u32) -> u64 {
        let [x, y, z] = place(objects, row);
        let far = |user: &[f64; 3]| (user[0] - x).powi(2) + (user[1] - y).powi(2) + (user[2] - z).powi(2);
        let nearest = self.users.iter().map(far).fold(f64::INFINITY, f64::min).min(1e18).sqrt();
        let weight = (1.0 + objects.body[row as usize].span()) / (1000.0 + nearest);
        // The exponent: numbers above zero are ordered as their bits are.
        weight.to_bits() >> 52
    }
}

fn place(objects: &Objects, row: u32) -> [f64; 3] {
    let at = objects.body[row as usize].at;
    [at.x, at.y, at.z].map(f64::from)
}
