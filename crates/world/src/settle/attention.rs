//! Who is looked at closely, when there is not enough time for everybody.
//!
//! Shapes that need the narrow phase cost more than upright solids, and a world file may say how much a tick may spend on
//! them. Everybody's pairs are first looked at coarsely, as bounding spheres; what is left of the budget goes to the pairs
//! that matter most, near users and closing fast, and in every sixteenth tick to each. A mover gets all of its pairs looked
//! at or none, by the one that matters most: a coarse look at a single other would hold it, and the close looks at the rest
//! were for nothing. Who has to do with the coarse look moves as far as that shows free. Where it shows nothing, it stays
//! where it is, which is free, until a later tick.
//!
//! Nothing of this is remembered from tick to tick, so that a world goes on from a snapshot as it would have.

use shapes::Shape;

use crate::neighbours::Neighbours;
use crate::objects::{Collider, EXACT, Objects, SOLID};
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
            let (mut pairs, mut price, mut fastest) = (0, 0, 0.0_f64);
            for &other in neighbours.of(row) {
                let other_body = &objects.body[other as usize];
                if (body.flags | other_body.flags) & EXACT != 0 {
                    pairs += 1;
                    fastest = fastest.max(closing(body, other_body));
                    price += own + cost(&shapes[objects.card(other).shape as usize]);
                }
            }
            scenery.near(&body.reach, |index| {
                let other = &scenery.body[index as usize];
                if other.is(SOLID) && (body.flags | other.flags) & EXACT != 0 {
                    pairs += 1;
                    fastest = fastest.max(closing(body, other));
                    price += own + cost(&shapes[scenery.shape[index as usize] as usize]);
                }
            });
            if pairs > 0 {
                looks += pairs;
                let id = objects.name(row).number();
                let class = if (id + tick).is_multiple_of(TURN) { u64::MAX } else { self.class(objects, row, fastest) };
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

    /// Closing faster is more, and nearer to a user.
    fn class(&self, objects: &Objects, row: u32, closing: f64) -> u64 {
        let [x, y, z] = place(objects, row);
        let far = |user: &[f64; 3]| (user[0] - x).powi(2) + (user[1] - y).powi(2) + (user[2] - z).powi(2);
        let nearest = self.users.iter().map(far).fold(f64::INFINITY, f64::min).min(1e18).sqrt();
        let weight = (1.0 + closing) / (1000.0 + nearest);
        // The exponent: numbers above zero are ordered as their bits are.
        weight.to_bits() >> 52
    }
}

/// How far two bodies may come towards each other in this tick, along the line between their centres, in steps.
fn closing(body: &Collider, other: &Collider) -> f64 {
    let at = |body: &Collider| [body.at.x, body.at.y, body.at.z].map(f64::from);
    let (here, there) = (at(body), at(other));
    let way = [there[0] - here[0], there[1] - here[1], there[2] - here[2]];
    let length = (way[0] * way[0] + way[1] * way[1] + way[2] * way[2]).sqrt().max(1.0);
    let towards = |body: &Collider, axis: usize, way: f64| {
        let (reach, block) = (&body.reach, body.block());
        let farthest = if way > 0.0 { reach.high[axis] - block.high[axis] } else { reach.low[axis] - block.low[axis] };
        way * f64::from(farthest)
    };
    let both = |axis: usize| towards(body, axis, way[axis]) + towards(other, axis, -way[axis]);
    ((both(0) + both(1) + both(2)) / length).max(0.0)
}

fn place(objects: &Objects, row: u32) -> [f64; 3] {
    let at = objects.body[row as usize].at;
    [at.x, at.y, at.z].map(f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solid::{Block, RoundedBox};
    use space::GridPoint;

    /// A body at `x` that may move by so much along the axis in this tick.
    fn body(x: i32, by: i32) -> Collider {
        let mut body = Collider::new(GridPoint::new(x, 0, 0), RoundedBox { core: [100; 3], radius: 0 }, SOLID);
        let Block { low, high } = body.block();
        body.reach = Block { low: [low[0] + by.min(0), low[1], low[2]], high: [high[0] + by.max(0), high[1], high[2]] };
        body
    }

    #[test]
    fn who_comes_closer_matters_more_than_who_is_fast() {
        let still = body(1_000, 0);
        assert_eq!(closing(&body(0, 50), &still), 50.0);
        assert_eq!(closing(&body(0, -500), &still), 0.0, "it goes away, however fast");
        assert_eq!(closing(&body(0, 50), &body(1_000, -70)), 120.0, "both come");
        assert_eq!(closing(&body(1_000, -70), &body(0, 50)), 120.0);
        assert_eq!(closing(&body(1_000, 3), &body(1_000, 5)), 0.0, "at one place there is no direction");
    }
}
