//! The budget of a tick for exact narrow-phase tests, where a world file sets one.
//!
//! All pairs are first counted as tests of bounding spheres. The rest of the budget goes to the movers whose pairs
//! matter most: near users and closing fast, and each mover once in [`TURN`] ticks. A mover has all of its pairs tested
//! exactly or none, as a single coarse test could hold it and waste the exact ones. A mover with coarse tests moves as
//! far as they prove free, and if they prove nothing it stays in its place, which is free, until a later tick.
//!
//! Nothing is remembered from tick to tick, so that a world goes on from a snapshot exactly as it would have.

use shapes::Shape;

use crate::neighbours::Neighbours;
use crate::objects::{Collider, EXACT, Objects, SOLID};
use crate::scenery::Scenery;

/// Each mover has priority once in this number of ticks.
const TURN: u64 = 16;

/// The cost of an exact test with a shape, in tests of a bounding sphere.
fn cost(shape: &Shape) -> u64 {
    match shape {
        Shape::Sphere { .. } | Shape::Box { .. } | Shape::Capsule { .. } => 1,
        Shape::Hull(_) => 4,
        Shape::Balls(balls) => 4 * (1 + u64::from(balls.level())),
        Shape::Mesh(_) => 32,
    }
}

/// Which movers are tested coarsely in this tick.
#[derive(Debug, Default)]
pub(crate) struct NarrowBudget {
    /// By row; empty without a budget.
    is_coarse: Vec<bool>,
    candidates: Vec<Candidate>,
    users: Vec<[f64; 3]>,
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    row: u32,
    cost: u64,
    /// How much it matters, as a power of two, so that movers that matter about as much take turns.
    class: u64,
    turn: u64,
}

impl NarrowBudget {
    /// Shares out the budget of a tick.
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
        let mut coarse_tests = 0;
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
                coarse_tests += pairs;
                let id = objects.name(row).number();
                let class = if (id + tick).is_multiple_of(TURN) { u64::MAX } else { self.class(objects, row, fastest) };
                let turn = (id ^ tick.rotate_left(17)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                self.candidates.push(Candidate { row, cost: price, class, turn });
            }
        }
        let mut left = u64::from(budget).saturating_sub(coarse_tests);
        self.candidates.sort_unstable_by_key(|one| (std::cmp::Reverse(one.class), one.turn));
        for one in &self.candidates {
            let is_close = one.cost <= left;
            left = if is_close { left - one.cost } else { 0 };
            self.is_coarse[one.row as usize] = !is_close;
        }
    }

    pub fn is_coarse(&self, row: u32) -> bool {
        self.is_coarse.get(row as usize).copied().unwrap_or(false)
    }

    /// Rises with the closing speed and with the nearness of a user.
    fn class(&self, objects: &Objects, row: u32, closing: f64) -> u64 {
        let [x, y, z] = place(objects, row);
        let far = |user: &[f64; 3]| (user[0] - x).powi(2) + (user[1] - y).powi(2) + (user[2] - z).powi(2);
        let nearest = self.users.iter().map(far).fold(f64::INFINITY, f64::min).min(1e18).sqrt();
        let weight = (1.0 + closing) / (1000.0 + nearest);
        // The exponent of a positive number.
        weight.to_bits() >> 52
    }
}

/// The most by which two bodies may approach in this tick along the line between their centres, in steps.
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
    use crate::solid::{GridBox, RoundedBox};
    use space::GridPoint;

    /// A body at `x` that may move along the axis by `by` steps in this tick.
    fn body(x: i32, by: i32) -> Collider {
        let mut body = Collider::new(GridPoint::new(x, 0, 0), RoundedBox { core: [100; 3], radius: 0 }, SOLID);
        let GridBox { low, high } = body.block();
        body.reach =
            GridBox { low: [low[0] + by.min(0), low[1], low[2]], high: [high[0] + by.max(0), high[1], high[2]] };
        body
    }

    #[test]
    fn closing_counts_and_speed_does_not() {
        let still = body(1_000, 0);
        assert_eq!(closing(&body(0, 50), &still), 50.0);
        assert_eq!(closing(&body(0, -500), &still), 0.0, "it goes away, however fast");
        assert_eq!(closing(&body(0, 50), &body(1_000, -70)), 120.0, "both come");
        assert_eq!(closing(&body(1_000, -70), &body(0, 50)), 120.0);
        assert_eq!(closing(&body(1_000, 3), &body(1_000, 5)), 0.0, "at one place there is no direction");
    }
}
