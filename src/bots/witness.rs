//! What many clients of one server were told, put together: does it fit? A single client cannot see whether the server
//! keeps its promises; all of them together can.
//!
//! - *Overlaps*: two solids in one place, among what was confirmed for the same tick.
//! - *Contradictions*: two clients were told different places of one object for the same tick.
//! - *Unheard*: somebody was within a client's aura for a while, and the client was not told of them.
//! - *Overheard*: a client was told of somebody who had been beyond its aura for a while, hysteresis included.
//!
//! There is no clock in here: times go in with what was heard.

use std::collections::{BTreeMap, VecDeque};

use space::snap::STEPS_PER_METRE;
use space::{GridPoint, ObjectId, Turn};
use wire::{Handle, Roster, Shape, State, Welcome};
use world::Solid;

/// Everything about a tick has arrived by the time that so many more have passed.
const SETTLED_AFTER: u64 = 90;
/// Whoever is near or far must have been for so many ticks: rosters are sent in portions.
const GRACE: u64 = 30;
/// Distances are looked at every so many ticks.
const STRIDE: u64 = 10;
/// Inputs whose time of sending is remembered.
const INPUTS_MAX: usize = 512;
/// Latencies that are kept; more are left out evenly.
const LATENCIES_MAX: usize = 200_000;
/// Examples of what was wrong.
const EXAMPLES_MAX: usize = 5;
/// How far somebody is heard beyond the distance at which that began: as servers have it.
const HYSTERESIS: f32 = 1.1;

/// What was found wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Violations {
    /// Solids in one place.
    pub overlaps: u64,
    /// Somebody near who was not heard of.
    pub unheard: u64,
    /// Somebody far who was.
    pub overheard: u64,
    /// Different places of one object after the same tick.
    pub contradictions: u64,
    /// The first few, for people.
    pub examples: Vec<String>,
}

impl Violations {
    /// Whether nothing was.
    pub fn is_none(&self) -> bool {
        self.overlaps + self.unheard + self.overheard + self.contradictions == 0
    }

    fn example(&mut self, text: String) {
        if self.examples.len() < EXAMPLES_MAX {
            self.examples.push(text);
        }
    }
}

/// One client's part of the story.
#[derive(Debug, Default)]
struct Part {
    own: Option<ObjectId>,
    aura: f32,
    /// When inputs were sent: number and microseconds, rising.
    sent: VecDeque<(u32, i64)>,
    /// The newest input that is in a state, and of which tick that state was.
    acknowledged: Option<(u64, u32)>,
    /// For each tick: when the input was sent that it was the first to show.
    applied: BTreeMap<u64, i64>,
    /// Handles, with the object they mean.
    known: BTreeMap<Handle, ObjectId>,
    /// From which tick on, and until which, an object is heard.
    heard: BTreeMap<ObjectId, Vec<(u64, Option<u64>)>>,
}

/// What is known of one object after one tick.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pose {
    place: GridPoint,
    turn: Option<Turn>,
}

/// Puts together what clients are told.
#[derive(Debug, Default)]
pub struct Witness {
    parts: Vec<Part>,
    solids: BTreeMap<ObjectId, Solid>,
    /// By tick.
    poses: BTreeMap<u64, BTreeMap<ObjectId, Pose>>,
    /// A mover, a tick, and when a listener heard of it.
    receipts: VecDeque<(usize, u64, i64)>,
    movers: BTreeMap<ObjectId, usize>,
    latencies_us: Vec<i64>,
    latencies_seen: u64,
    violations: Violations,
    /// Ticks before this have been looked at.
    checked: u64,
    newest: u64,
}

impl Witness {
    /// Nothing was heard yet.
    pub fn new(clients: usize) -> Witness {
        Witness { parts: (0..clients).map(|_| Part::default()).collect(), ..Witness::default() }
    }

    /// A client was let in.
    pub fn welcomed(&mut self, client: usize, welcome: &Welcome) {
        let part = &mut self.parts[client];
        let is_same = part.own == Some(welcome.own);
        (part.own, part.aura, part.acknowledged) = (Some(welcome.own), welcome.aura, None);
        part.known.clear();
        // What was heard before a cut is heard again from the next roster on.
        let ended = welcome.tick;
        part.heard.values_mut().flatten().filter(|span| span.1.is_none()).for_each(|span| span.1 = Some(ended));
        if !is_same {
            self.movers.insert(welcome.own, client);
            self.solids.extend(solid(&welcome.shape).map(|solid| (welcome.own, solid)));
        }
        if self.checked == 0 {
            self.checked = welcome.tick + GRACE;
        }
    }

    /// A client sent an input.
    pub fn moved(&mut self, client: usize, number: u32, now_us: i64) {
        let sent = &mut self.parts[client].sent;
        if sent.len() == INPUTS_MAX {
            sent.pop_front();
        }
        sent.push_back((number, now_us));
    }

    /// A client was told who entered and who left.
    pub fn enrolled(&mut self, client: usize, roster: &Roster) {
        let tick = u64::from(roster.tick);
        let part = &mut self.parts[client];
        for handle in &roster.left {
            let spans = part.known.remove(handle).and_then(|object| part.heard.get_mut(&object));
            if let Some(span) = spans.and_then(|spans| spans.last_mut()) {
                span.1 = Some(tick);
            }
        }
        for entered in &roster.entered {
            part.known.insert(entered.handle, entered.object);
            part.heard.entry(entered.object).or_default().push((tick, None));
            self.solids.extend(solid(&entered.shape).map(|solid| (entered.object, solid)));
        }
    }

    /// A client was told where everybody is.
    pub fn heard(&mut self, client: usize, state: &State, now_us: i64) {
        let tick = u64::from(state.head.tick);
        self.newest = self.newest.max(tick);
        let part = &mut self.parts[client];
        let Some(own) = part.own else { return };
        if let Some(told) = &state.head.own {
            part.acknowledge(tick, told.acknowledged);
            self.place(tick, own, Pose { place: state.head.anchor, turn: None });
        }
        // Each state gives one sample, of another body each time: enough to know, and cheap.
        let sampled = tick as usize % state.bodies.len().max(1);
        for (at, (handle, body)) in state.bodies.iter().enumerate() {
            let Some(&object) = self.parts[client].known.get(handle) else { continue };
            // The handle may have meant another before the roster that is known.
            let spans = self.parts[client].heard.get(&object);
            if spans.and_then(|spans| spans.last()).is_none_or(|span| span.0 >= tick) {
                continue;
            }
            self.place(tick, object, Pose { place: body.place, turn: Some(body.turn) });
            if at == sampled
                && let Some(&mover) = self.movers.get(&object)
            {
                self.receipts.push_back((mover, tick, now_us));
            }
        }
    }

    /// Looks at all ticks of which nothing more is to come.
    pub fn check(&mut self) {
        while self.checked + SETTLED_AFTER < self.newest {
            let tick = self.checked;
            self.checked += 1;
            self.check_overlaps(tick);
            if tick.is_multiple_of(STRIDE) {
                self.check_hearing(tick);
            }
            self.poses = self.poses.split_off(&tick.saturating_sub(GRACE + STRIDE));
        }
        while let Some(&(mover, tick, received_us)) = self.receipts.front() {
            if tick >= self.checked {
                break;
            }
            self.receipts.pop_front();
            if let Some(sent_us) = self.parts[mover].applied.get(&tick) {
                self.latencies_seen += 1;
                if self.latencies_us.len() < LATENCIES_MAX {
                    self.latencies_us.push(received_us - sent_us);
                }
            }
        }
        let forgotten = self.checked.saturating_sub(SETTLED_AFTER);
        self.parts.iter_mut().for_each(|part| part.applied = part.applied.split_off(&forgotten));
    }

    /// What was wrong so far.
    pub fn violations(&self) -> &Violations {
        &self.violations
    }

    /// How many ticks have been looked at, up to which.
    pub fn checked(&self) -> u64 {
        self.checked
    }

    /// From the sending of an input to the moment when somebody else was told of its effect, in microseconds, sorted.
    pub fn latencies_us(&self) -> Vec<i64> {
        let mut sorted = self.latencies_us.clone();
        sorted.sort_unstable();
        sorted
    }

    fn place(&mut self, tick: u64, object: ObjectId, pose: Pose) {
        if tick < self.checked.saturating_sub(GRACE) {
            return;
        }
        let poses = self.poses.entry(tick).or_default();
        match poses.get_mut(&object) {
            None => drop(poses.insert(object, pose)),
            Some(known) if known.place == pose.place => known.turn = known.turn.or(pose.turn),
            Some(known) => {
                self.violations.contradictions += 1;
                let (one, other) = (known.place, pose.place);
                self.violations.example(format!("tick {tick}: {object} is at {one:?} and at {other:?}"));
            }
        }
    }

    fn check_overlaps(&mut self, tick: u64) {
        let Some(poses) = self.poses.get(&tick) else { return };
        let is_upright = |pose: &Pose, solid: &Solid| {
            // A box that is turned is not the box it was; round things are the same from all sides.
            solid.radius > 0 || pose.turn.is_none_or(|turn| turn == Turn::IDENTITY)
        };
        let mut row: Vec<(i32, i32, ObjectId, GridPoint, Solid)> = poses
            .iter()
            .filter_map(|(&object, pose)| {
                let solid = *self.solids.get(&object).filter(|solid| is_upright(pose, solid))?;
                let half = solid.half_extents()[0];
                Some((pose.place.x - half, pose.place.x + half, object, pose.place, solid))
            })
            .collect();
        row.sort_unstable_by_key(|&(low, _, object, ..)| (low, object));
        let mut found = Vec::new();
        for (at, &(_, high, object, place, solid)) in row.iter().enumerate() {
            for &(low, _, other, other_place, other_solid) in &row[at + 1..] {
                if low > high {
                    break;
                }
                if solid.overlaps(place, other_solid, other_place) {
                    found.push(format!("tick {tick}: {object} and {other} overlap"));
                }
            }
        }
        self.violations.overlaps += found.len() as u64;
        found.into_iter().for_each(|text| self.violations.example(text));
    }

    fn check_hearing(&mut self, tick: u64) {
        let movers: Vec<(ObjectId, usize)> = self.movers.iter().map(|(&object, &client)| (object, client)).collect();
        let since: Vec<u64> = (0..=GRACE / STRIDE).map(|back| tick.saturating_sub(back * STRIDE)).collect();
        let place = |object: ObjectId, tick: u64| Some(self.poses.get(&tick)?.get(&object)?.place.position());
        let (mut unheard, mut overheard) = (Vec::new(), Vec::new());
        for &(own, client) in &movers {
            let part = &self.parts[client];
            if part.own != Some(own) {
                continue;
            }
            for &(other, speaker) in movers.iter().filter(|&&(other, _)| other != own) {
                if self.parts[speaker].own != Some(other) {
                    continue;
                }
                let mut distances = since.iter().map(|&at| Some(place(own, at)?.distance(place(other, at)?)));
                let Some(Some(first)) = distances.next() else { continue };
                let is_heard = |at: u64| part.is_heard(other, at);
                let aura = part.aura;
                if first <= aura && !is_heard(tick) {
                    if distances.all(|distance| distance.is_some_and(|distance| distance <= aura)) {
                        unheard.push(format!("tick {tick}: {own} did not hear of {other}, {first} m away"));
                    }
                } else if first > aura * HYSTERESIS
                    && is_heard(tick)
                    && distances.all(|distance| distance.is_some_and(|distance| distance > aura * HYSTERESIS))
                {
                    overheard.push(format!("tick {tick}: {own} heard of {other}, {first} m away"));
                }
            }
        }
        self.violations.unheard += unheard.len() as u64;
        self.violations.overheard += overheard.len() as u64;
        unheard.into_iter().chain(overheard).for_each(|text| self.violations.example(text));
    }
}

impl Part {
    /// The newest input within the state after this tick.
    fn acknowledge(&mut self, tick: u64, low: u16) {
        let Some(&(newest, _)) = self.sent.back() else { return };
        let behind = (newest as u16).wrapping_sub(low);
        let number = newest.wrapping_sub(u32::from(behind));
        if self.acknowledged.is_some_and(|(last_tick, last)| tick <= last_tick || number <= last) {
            return;
        }
        // Only the very next tick tells that this input was in it and not in one before, whose state was lost.
        let is_first = self.acknowledged.is_some_and(|(last_tick, _)| last_tick + 1 == tick);
        self.acknowledged = Some((tick, number));
        let at = self.sent.partition_point(|&(sent, _)| sent < number);
        if let Some(&(sent, sent_us)) = self.sent.get(at)
            && sent == number
            && is_first
        {
            self.applied.insert(tick, sent_us);
        }
    }

    fn is_heard(&self, object: ObjectId, tick: u64) -> bool {
        let within = |span: &(u64, Option<u64>)| span.0 <= tick && span.1.is_none_or(|end| tick < end);
        self.heard.get(&object).is_some_and(|spans| spans.iter().any(within))
    }
}

/// The upright solid of a shape, in steps; sizes are told exactly.
fn solid(shape: &Shape) -> Option<Solid> {
    let steps = |metres: f32| (f64::from(metres) * f64::from(STEPS_PER_METRE)).round() as i32;
    match shape {
        Shape::Sphere { radius } => Some(Solid { core: [0; 3], radius: steps(*radius) }),
        Shape::Capsule { half_height, radius } => {
            Some(Solid { core: [0, steps(*half_height), 0], radius: steps(*radius) })
        }
        Shape::Box { half } => Some(Solid { core: half.map(steps), radius: 0 }),
        Shape::Model { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use wire::session::{Entered, EnteredKind, Walking};
    use wire::state::{Body, Head, Own};

    use super::*;

    const CAPSULE: Shape = Shape::Capsule { half_height: 0.5, radius: 0.25 };

    fn object(number: u64) -> ObjectId {
        ObjectId::new(number).unwrap()
    }

    fn at(x: f32) -> GridPoint {
        GridPoint::nearest(space::Vec3::new(x, 0.0, 0.0)).unwrap()
    }

    fn welcome(own: u64) -> Welcome {
        Welcome {
            version: wire::VERSION,
            resume_key: [0; 16],
            is_resumed: false,
            own: object(own),
            nickname: String::new(),
            tick: 1,
            tick_us: 33_333,
            time_us: 0,
            aura: 10.0,
            walking: Walking::default(),
            bounds: [at(-100.0), at(100.0)],
            shape: CAPSULE,
            place: at(0.0),
            turn: Turn::IDENTITY,
            newest: 0,
        }
    }

    fn roster(tick: u32, other: u64) -> Roster {
        let entered = Entered {
            handle: Handle(1),
            object: object(other),
            kind: EnteredKind::Avatar,
            name: String::new(),
            shape: CAPSULE,
            place: at(0.0),
            turn: Turn::IDENTITY,
            motion: [0; 3],
        };
        Roster { number: 1, tick, left: Vec::new(), entered: vec![entered] }
    }

    /// Two clients at two places for 300 ticks. Each hears of the other from its second tick on, if it is told at all.
    fn watch(places: [f32; 2], told: bool, mut change: impl FnMut(u32, &mut State)) -> Witness {
        let mut witness = Witness::new(2);
        for client in 0..2 {
            witness.welcomed(client, &welcome(client as u64 + 1));
            if told {
                witness.enrolled(client, &roster(2, 2 - client as u64));
            }
        }
        for tick in 3..300_u32 {
            for client in 0..2 {
                let now_us = i64::from(tick) * 33_333;
                witness.moved(client, tick, now_us);
                let own = Some(Own { acknowledged: tick as u16, ..Own::default() });
                let mut state = State { head: Head { tick, anchor: at(places[client]), own }, bodies: Vec::new() };
                if told {
                    let body = Body { place: at(places[1 - client]), ..Body::default() };
                    state.bodies.push((Handle(1), body));
                }
                if client == 1 {
                    change(tick, &mut state);
                }
                witness.heard(client, &state, now_us + 20_000);
            }
            witness.check();
        }
        witness
    }

    #[test]
    fn what_fits_is_not_complained_about() {
        for (places, told) in [([0.0, 3.0], true), ([0.0, 10.5], true), ([0.0, 10.5], false), ([0.0, 90.0], false)] {
            let witness = watch(places, told, |_, _| {});
            assert_eq!(witness.violations(), &Violations::default(), "{places:?} {told}");
            assert!(witness.checked() > 200);
        }
    }

    #[test]
    fn each_broken_promise_is_noticed() {
        let near = watch([0.0, 9.9], false, |_, _| {});
        assert!(near.violations().unheard > 0 && near.violations().overheard == 0);
        let far = watch([0.0, 11.5], true, |_, _| {});
        assert!(far.violations().overheard > 0 && far.violations().unheard == 0);
        let close = watch([0.0, 0.499], true, |_, _| {});
        assert!(close.violations().overlaps > 100 && close.violations().contradictions == 0);
        assert_eq!(watch([0.0, 0.5], true, |_, _| {}).violations().overlaps, 0, "they touch");
        let odd = watch([0.0, 3.0], true, |tick, state| {
            if tick == 100 {
                state.bodies[0].1.place = at(0.001);
            }
        });
        assert_eq!(odd.violations().contradictions, 1);
        assert!(odd.violations().examples[0].contains("tick 100"));
    }

    #[test]
    fn a_latency_is_from_the_movers_sending_to_the_listeners_receipt() {
        let latencies = watch([0.0, 3.0], true, |_, _| {}).latencies_us();
        assert!(latencies.len() > 100);
        assert!(latencies.iter().all(|&latency| latency == 20_000), "{latencies:?}");
    }
}
