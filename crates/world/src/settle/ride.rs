//! Objects that move by a route, and their riders.
//!
//! A platform and its riders are not one body: each of them moves by itself to a place that is free at that moment, so
//! that the proof against overlaps stays the same. Riders are lifted before the platform rises, and follow after it has
//! moved sideways, turned or sunk. A rider that cannot be lifted stops the platform; one that cannot follow stays
//! behind.

use space::impact::rounded;
use space::{DVec3, Quat, Turn, snap};

use super::surroundings::ExactPair;
use super::sweep::Sweep;
use super::{Settler, route_way};
use crate::objects::{Collider, EXACT};
use crate::solid::{GAP, Joint, SKIN};
use crate::spec::{ObjectKind, Route};

/// The most riders of one platform; any more are obstacles.
const MOST_RIDERS: usize = 64;

/// The longest arm by which a turning platform takes a rider along, in steps. A rider whose centre is farther out
/// follows more slowly.
pub(crate) fn longest_arm(platform: &Collider) -> f64 {
    let [x, _, z] = platform.solid.half_extents().map(f64::from);
    x + z + f64::from(snap::STEPS_PER_METRE)
}

impl Settler<'_> {
    /// Moves an object by its route. If its way is blocked it waits, and its clock with it.
    pub(super) fn settle_mover(&mut self, row: u32) {
        let card = self.objects.card(row);
        let (phase, turn) = (card.phase, self.objects.turn[row as usize]);
        let spec = self.spec;
        let object = &spec.objects[card.shape as usize];
        let ObjectKind::Moving(route) = &object.kind else { return };
        if matches!(route, Route::Deform(_)) {
            // It took its form before the first motion of the tick.
            return;
        }
        let start = self.place(row);
        let (v, rotation, is_on_its_way) = route_way(spec, object, route, phase, start);
        self.find_riders(row);
        if v.y > 0.0 {
            self.lift_riders(v.y);
        }
        self.look_around(row);
        let (to, hit) = self.scratch.surroundings.advance(self.shapes, [0; 3], v);
        let mut is_there =
            f64::from(to[0]) == v.x.round() && f64::from(to[1]) == v.y.round() && f64::from(to[2]) == v.z.round();
        self.commit(row, to);
        let mut spin = Quat::IDENTITY;
        let wanted_turn = Turn::nearest(rotation);
        if route.turns() && wanted_turn != turn {
            let (reached, is_free) = self.spun(row, turn, wanted_turn);
            self.objects.turn[row as usize] = reached;
            let half = self.objects.body[row as usize].solid.half_extents();
            self.objects.drive[row as usize].odometer += 4 * half.map(i64::from).iter().sum::<i64>();
            spin = reached.quat() * turn.quat().conjugate();
            is_there &= is_free;
        }
        self.take_riders_along(row, start, spin);
        if is_there && is_on_its_way {
            self.objects.card_mut(row).phase = phase + 1;
        }
        self.note(row, hit);
    }

    fn place(&self, row: u32) -> DVec3 {
        let at = self.objects.body[row as usize].at;
        DVec3::new(f64::from(at.x), f64::from(at.y), f64::from(at.z))
    }

    /// Lists the objects on a platform, then the objects on top of those. None is carried twice in a tick: reaches have
    /// room for one ride.
    fn find_riders(&mut self, platform: u32) {
        self.scratch.riders.clear();
        let mut carrier = platform;
        for next in 0.. {
            for index in 0..self.scratch.neighbours.of(carrier).len() {
                let other = self.scratch.neighbours.of(carrier)[index];
                let may_ride =
                    self.scratch.proposals.may_ride[other as usize] && self.scratch.riders.len() < MOST_RIDERS;
                if may_ride && self.stands_on(other, carrier) && !self.is_held(other) {
                    self.scratch.proposals.may_ride[other as usize] = false;
                    self.scratch.riders.push(other);
                }
            }
            let Some(&rider) = self.scratch.riders.get(next) else { break };
            carrier = rider;
        }
    }

    fn stands_on(&self, rider: u32, carrier: u32) -> bool {
        let (body, under) = (&self.objects.body[rider as usize], &self.objects.body[carrier as usize]);
        let (card, under_card) = (self.objects.card(rider), self.objects.card(carrier));
        let down = DVec3::new(0.0, -f64::from(SKIN), 0.0);
        let normal = if (body.flags | under.flags) & EXACT == 0 {
            let Joint { d, core, radius } = Joint::new(body.solid, body.at, under.solid, under.at);
            let [start, half] = [d, core].map(|steps| DVec3::from_array(steps.map(f64::from)));
            rounded::contact(start, down, half, f64::from(radius + GAP), 1.0).map(|touch| touch.normal)
        } else {
            let (turn, under_turn) = (self.objects.turn[rider as usize], self.objects.turn[carrier as usize]);
            let pair = ExactPair::new(card.shape, body.at, turn, under_card.shape, under.at, under_turn);
            pair.contact(self.shapes, [0; 3], down).map(|(_, normal)| normal)
        };
        normal.is_some_and(|normal| normal.y > 0.3)
    }

    /// Lifts the riders, the uppermost first, as they stand on each other.
    fn lift_riders(&mut self, height: f64) {
        for index in (0..self.scratch.riders.len()).rev() {
            let rider = self.scratch.riders[index];
            self.look_around(rider);
            let (to, _) = self.scratch.surroundings.advance(self.shapes, [0; 3], DVec3::new(0.0, height, 0.0));
            self.commit(rider, to);
        }
    }

    /// Moves the riders as the platform has moved, the lowest first. They were lifted already.
    fn take_riders_along(&mut self, platform: u32, start: DVec3, spin: Quat) {
        let way = self.place(platform) - start;
        let way = DVec3::new(way.x, way.y.min(0.0), way.z);
        let longest_arm = longest_arm(&self.objects.body[platform as usize]);
        for index in 0..self.scratch.riders.len() {
            let rider = self.scratch.riders[index];
            let arm = (self.place(rider) - start).with_y(0.0).clamp_length_max(longest_arm);
            let around = spin.as_dquat() * arm - arm;
            let v = DVec3::new(way.x + around.x, way.y, way.z + around.z);
            if v == DVec3::ZERO {
                continue;
            }
            self.look_around(rider);
            let (to, _) = self.scratch.surroundings.slide(self.shapes, [0; 3], v, |normal| normal);
            self.commit(rider, to);
        }
    }
}
