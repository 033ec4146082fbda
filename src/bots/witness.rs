//! What many clients of one server were told, put together: does it fit? A single client cannot see whether the server
//! keeps its promises; all of them together can.
//!
//! - *Overlaps*: two solids in one place, among what was confirmed for the same tick.
//! - *Contradictions*: two clients were told different places of one object for the same tick.
//! - *Unheard*: somebody was within a client's aura for a while, and the client was not told of them.
//! - *Overheard*: a client was told of somebody who had been beyond its aura for a while, hysteresis included.
//!
//! Where several servers share a world, each tells of its own objects as they are and of the others' as it last heard of
//! them. So servers are not held against each other: contradictions are those of one server, two solids overlap at once if
//! both are the server's own and otherwise when they still do after a while, and who is near or far at another server must
//! have been heard of, or not, for as long as all else must have been so.
//!
//! There is no clock in here: times go in with what was heard.

use std::collections::{BTreeMap, VecDeque};

use interest::Aura;
use space::snap::STEPS_PER_METRE;
use space::{GridPoint, ObjectId, Turn, Vec3};
use wire::{CollisionShape, Handle, Roster, State, Welcome};
use world::RoundedBox;

/// Everything about a tick has arrived by the time that so many more have passed.
const SETTLED_AFTER: u64 = 90;
/// Whoever is near or far must have been for so many ticks: rosters are sent in portions.
const GRACE: u64 = 30;
/// Distances are looked at every so many ticks.
const STRIDE: u64 = 10;
/// Inputs whose time of sending is remembered.
const INPUTS_MAX: usize = 512;
/// Latencies that are kept; when there are more, every other one goes.
const LATENCIES_MAX: usize = 200_000;
/// What is said of ticks farther ahead than this is not believed: it would have to be remembered.
const TICKS_AHEAD_MAX: u64 = 4_096;
/// What is seen across a border is as old as a message between servers is under way, or a server is late: with a quarter of a
/// second of each at most, two are shown in one place for up to 16 ticks. They overlap when they do so for so many.
const LASTING: u64 = 30;
/// And distances are right to so many metres.
const ACROSS_M: f32 = 1.0;
/// Servers that are told apart.
const SERVERS_MAX: usize = 64;
/// Examples of what was wrong.
const EXAMPLES_MAX: usize = 5;

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

/// From which tick on, and until which, an object is heard.
type Span = (u64, Option<u64>);

/// One client's part of the story.
#[derive(Debug, Default)]
struct Part {
    /// The row of its own avatar.
    own: Option<usize>,
    aura: f32,
    /// Which server tells it.
    server: usize,
    /// When inputs were sent: number and microseconds, rising.
    sent: VecDeque<(u32, i64)>,
    /// The newest input that is in a state, and of which tick that state was.
    acknowledged: Option<(u64, u32)>,
    /// For each tick: when the input was sent that it was the first to show.
    applied: BTreeMap<u64, i64>,
    /// By handle: the row of the object that it means, and the tick from which on it does.
    known: Vec<Option<(usize, u64)>>,
    /// By row.
    heard: Vec<Vec<Span>>,
}

/// What is known of one object after one tick.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pose {
    place: GridPoint,
    turn: Option<Turn>,
    /// Whether its own server says so, to its own user.
    is_own: bool,
    /// Who was the first to be told so.
    client: usize,
}

/// Puts together what clients are told. Objects have rows, in the order in which they were first heard of: a thousand
/// clients that hear of hundreds each, 30 times a second, leave no time to search.
#[derive(Debug, Default)]
pub struct Witness {
    parts: Vec<Part>,
    rows: BTreeMap<ObjectId, usize>,
    /// By row.
    objects: Vec<Known>,
    /// By tick, from `oldest` on, by server and by row.
    poses: VecDeque<Vec<Vec<Option<Pose>>>>,
    /// How many servers there are.
    servers: usize,
    /// Which pairs overlap across a border, at which server, and since how many ticks.
    lasting: BTreeMap<(usize, ObjectId, ObjectId), u64>,
    oldest: u64,
    /// A mover, a tick, and when a listener heard of it.
    receipts: VecDeque<(usize, u64, i64)>,
    latencies_us: Vec<i64>,
    latencies_seen: u64,
    /// Of so many latencies one is kept.
    latency_stride: u64,
    violations: Violations,
    /// Ticks before this have been looked at.
    checked: u64,
    newest: u64,
}

/// What is known of an object at all times.
#[derive(Clone, Copy, Debug)]
struct Known {
    id: ObjectId,
    solid: Option<RoundedBox>,
    /// Whose avatar it is.
    client: Option<usize>,
}

impl Witness {
    /// Nothing was heard yet.
    pub fn new(clients: usize) -> Witness {
        Witness {
            parts: (0..clients).map(|_| Part::default()).collect(),
            latency_stride: 1,
            servers: 1,
            ..Witness::default()
        }
    }

    /// A client was let in.
    pub fn welcomed(&mut self, client: usize, welcome: &Welcome) {
        let row = self.row(welcome.own);
        let part = &mut self.parts[client];
        let is_same = part.own == Some(row);
        (part.own, part.aura, part.acknowledged) = (Some(row), welcome.aura, None);
        part.known.clear();
        // What was heard before a cut is heard again from the next roster on.
        let ended = welcome.tick;
        part.heard.iter_mut().flatten().filter(|span| span.1.is_none()).for_each(|span| span.1 = Some(ended));
        if !is_same {
            self.objects[row].client = Some(client);
            self.objects[row].solid = solid(&welcome.shape);
        }
        if self.checked == 0 {
            self.checked = welcome.tick + GRACE;
            self.oldest = welcome.tick;
        }
    }

    /// A client has a new connection, on which handles mean other objects. A datagram may overtake the welcome.
    pub fn connected(&mut self, client: usize, server: usize) {
        let server = server.min(SERVERS_MAX - 1);
        self.servers = self.servers.max(server + 1);
        self.parts[client].server = server;
        self.parts[client].known.clear();
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
        let rows: Vec<usize> = roster.entered.iter().map(|entered| self.row(entered.object)).collect();
        let part = &mut self.parts[client];
        for handle in &roster.left {
            let known = part.known.get_mut(usize::from(handle.0)).and_then(Option::take);
            let spans = known.and_then(|(row, _)| part.heard.get_mut(row));
            if let Some(span) = spans.and_then(|spans| spans.last_mut()) {
                span.1 = Some(tick);
            }
        }
        for (entered, &row) in roster.entered.iter().zip(&rows) {
            *at_mut(&mut part.known, usize::from(entered.handle.0)) = Some((row, tick));
            at_mut(&mut part.heard, row).push((tick, None));
            self.objects[row].solid = solid(&entered.shape);
        }
    }

    /// A client was told where everybody is.
    pub fn heard(&mut self, client: usize, state: &State, now_us: i64) {
        let tick = u64::from(state.head.tick);
        if tick > self.newest.max(self.checked) + TICKS_AHEAD_MAX {
            return;
        }
        self.newest = self.newest.max(tick);
        let part = &mut self.parts[client];
        let Some(own) = part.own else { return };
        let server = part.server;
        let told = state.head.own;
        if let Some(told) = &told {
            part.acknowledge(tick, told.acknowledged);
        }
        // Each state gives one sample, of another body each time: enough to know, and cheap.
        let sampled = tick as usize % state.bodies.len().max(1);
        let part = &self.parts[client];
        let known = |handle: Handle| part.known.get(usize::from(handle.0)).copied().flatten();
        if let Some((handle, _)) = state.bodies.get(sampled)
            && let Some((row, since)) = known(*handle)
            && since < tick
            && let Some(mover) = self.objects[row].client
            && self.parts[mover].server == server
        {
            self.receipts.push_back((mover, tick, now_us));
        }
        if tick < self.oldest {
            return;
        }
        let mut contradictions = Vec::new();
        let poses = at_mut(at_mut_back(&mut self.poses, (tick - self.oldest) as usize), server);
        poses.resize(self.objects.len(), None);
        let mut place = |row: usize, pose: Pose| match &mut poses[row] {
            unknown @ None => *unknown = Some(pose),
            Some(known) if known.place == pose.place => {
                known.turn = known.turn.or(pose.turn);
                known.is_own |= pose.is_own;
            }
            Some(known) => contradictions.push((row, *known, pose)),
        };
        if told.is_some() {
            place(own, Pose { place: state.head.anchor, turn: None, is_own: true, client });
        }
        for (handle, body) in &state.bodies {
            // The handle may have meant another before the roster that is known.
            if let Some((row, since)) = known(*handle)
                && since < tick
            {
                place(row, Pose { place: body.place, turn: Some(body.turn), is_own: false, client });
            }
        }
        self.violations.contradictions += contradictions.len() as u64;
        for (row, one, other) in contradictions {
            let object = self.objects[row].id;
            let said = |pose: Pose| {
                format!("{:?} for {}", pose.place, self.objects[self.parts[pose.client].own.unwrap_or(0)].id)
            };
            let (one, other) = (said(one), said(other));
            self.violations.example(format!("tick {tick}, server {server}: {object} is at {one} and at {other}"));
        }
    }

    /// Looks at all ticks of which nothing more is to come.
    pub fn check(&mut self) {
        while self.checked + SETTLED_AFTER < self.newest {
            let tick = self.checked;
            self.checked += 1;
            (0..self.servers).for_each(|server| self.check_overlaps(tick, server));
            if tick.is_multiple_of(STRIDE) {
                self.check_hearing(tick);
            }
            while self.oldest < tick.saturating_sub(GRACE + STRIDE) {
                self.poses.pop_front();
                self.oldest += 1;
            }
        }
        while let Some(&(mover, tick, received_us)) = self.receipts.front() {
            if tick >= self.checked {
                break;
            }
            self.receipts.pop_front();
            if let Some(sent_us) = self.parts[mover].applied.get(&tick) {
                let latency_us = received_us - sent_us;
                self.measured(latency_us);
            }
        }
        let forgotten = self.checked.saturating_sub(SETTLED_AFTER);
        for part in &mut self.parts {
            if part.applied.first_key_value().is_some_and(|(&first, _)| first < forgotten) {
                part.applied = part.applied.split_off(&forgotten);
            }
        }
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

    /// Latencies count from now on: those of a crowd that was still coming in say little.
    pub fn forget_latencies(&mut self) {
        self.receipts.clear();
        self.latencies_us.clear();
    }

    fn measured(&mut self, latency_us: i64) {
        if self.latencies_seen.is_multiple_of(self.latency_stride) {
            if self.latencies_us.len() == LATENCIES_MAX {
                let mut number = 0;
                self.latencies_us.retain(|_| {
                    number += 1;
                    number % 2 == 1
                });
                self.latency_stride *= 2;
            }
            self.latencies_us.push(latency_us);
        }
        self.latencies_seen += 1;
    }

    fn row(&mut self, id: ObjectId) -> usize {
        *self.rows.entry(id).or_insert_with(|| {
            self.objects.push(Known { id, solid: None, client: None });
            self.objects.len() - 1
        })
    }

    /// What a server told of a tick.
    fn poses(&self, tick: u64, server: usize) -> &[Option<Pose>] {
        let at = tick.checked_sub(self.oldest).and_then(|at| self.poses.get(usize::try_from(at).ok()?)?.get(server));
        at.map_or(&[], Vec::as_slice)
    }

    /// Where an object was after a tick, as its own server says, and which server that is.
    fn place(&self, tick: u64, row: usize) -> Option<(usize, Vec3)> {
        let told = |server: usize| Some((server, self.poses(tick, server).get(row)?.as_ref()?));
        let is_right = |(_, pose): &(usize, &Pose)| pose.is_own || self.servers == 1;
        let (server, pose) = (0..self.servers).filter_map(told).find(is_right)?;
        Some((server, pose.place.position()))
    }

    fn check_overlaps(&mut self, tick: u64, server: usize) {
        let is_upright = |pose: &Pose, solid: &RoundedBox| {
            // A box that is turned is not the box it was; round things are the same from all sides.
            solid.radius > 0 || pose.turn.is_none_or(|turn| turn == Turn::IDENTITY)
        };
        let poses = self.poses(tick, server).iter().zip(&self.objects);
        let is_alone = self.servers == 1;
        let mut sorted: Vec<(i32, i32, ObjectId, GridPoint, RoundedBox, bool)> = poses
            .filter_map(|(pose, known)| {
                let pose = pose.as_ref()?;
                let solid = known.solid.filter(|solid| is_upright(pose, solid))?;
                let half = solid.half_extents()[0];
                let is_own = pose.is_own || is_alone;
                Some((pose.place.x - half, pose.place.x + half, known.id, pose.place, solid, is_own))
            })
            .collect();
        sorted.sort_unstable_by_key(|&(low, _, object, ..)| (low, object));
        let (mut found, mut lasting) = (Vec::new(), Vec::new());
        for (at, &(_, high, object, place, solid, is_own)) in sorted.iter().enumerate() {
            for &(low, _, other, other_place, other_solid, is_other_own) in &sorted[at + 1..] {
                if low > high {
                    break;
                }
                let overlaps = solid.overlaps(place, other_solid, other_place);
                if overlaps && !(is_own && is_other_own) {
                    lasting.push((server, object.min(other), object.max(other)));
                } else if overlaps {
                    found.push(format!("tick {tick}: {object} and {other} overlap"));
                }
            }
        }
        self.lasting.retain(|pair, _| pair.0 != server || lasting.contains(pair));
        for pair in lasting {
            let ticks = self.lasting.entry(pair).or_default();
            *ticks += 1;
            if *ticks == LASTING {
                found.push(format!("tick {tick}: {} and {} overlap across a border", pair.1, pair.2));
            }
        }
        self.violations.overlaps += found.len() as u64;
        found.into_iter().for_each(|text| self.violations.example(text));
    }

    fn check_hearing(&mut self, tick: u64) {
        let is_own = |row: usize, known: &Known| known.client.filter(|&client| self.parts[client].own == Some(row));
        let movers: Vec<(usize, usize)> =
            self.objects.iter().enumerate().filter_map(|(row, known)| Some((row, is_own(row, known)?))).collect();
        let looks: Vec<u64> = (0..=GRACE / STRIDE).map(|back| tick.saturating_sub(back * STRIDE)).collect();
        let place = |row: usize, tick: u64| self.place(tick, row);
        let is_alone = self.servers == 1;
        let (mut unheard, mut overheard) = (Vec::new(), Vec::new());
        for &(own, client) in &movers {
            let part = &self.parts[client];
            // Where it was: the same for all others.
            let own_places: Vec<Option<(usize, Vec3)>> = looks.iter().map(|&tick| place(own, tick)).collect();
            if own_places[0].is_none() {
                continue;
            }
            let across = if is_alone { 0.0 } else { ACROSS_M };
            let (begins, ends) = (part.aura - across, part.aura * Aura::HYSTERESIS + across);
            for &(other, _) in movers.iter().filter(|&&(other, _)| other != own) {
                let mut distances = looks.iter().zip(&own_places).map(|(&tick, own)| {
                    let distance = own.as_ref()?.1.distance(place(other, tick)?.1);
                    Some((distance, is_alone || part.is_heard(other, tick)))
                });
                let Some(Some((first, _))) = distances.next() else { continue };
                let (one, two) = (self.objects[own].id, self.objects[other].id);
                if first <= begins && !part.is_heard(other, tick) {
                    let is_near = |look: Option<(f32, bool)>| {
                        look.is_some_and(|(distance, is_heard)| distance <= begins && (is_alone || !is_heard))
                    };
                    if distances.all(is_near) {
                        unheard.push(format!("tick {tick}: {one} did not hear of {two}, {first} m away"));
                    }
                } else if first > ends
                    && part.is_heard(other, tick)
                    && distances.all(|look| look.is_some_and(|(distance, is_heard)| distance > ends && is_heard))
                {
                    overheard.push(format!("tick {tick}: {one} heard of {two}, {first} m away"));
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

    fn is_heard(&self, row: usize, tick: u64) -> bool {
        let within = |span: &Span| span.0 <= tick && span.1.is_none_or(|end| tick < end);
        // The last span is the one that matters, nearly always.
        self.heard.get(row).is_some_and(|spans| spans.iter().rev().any(within))
    }
}

/// The place of a number, made if it is not there.
fn at_mut<T: Default + Clone>(rows: &mut Vec<T>, at: usize) -> &mut T {
    if rows.len() <= at {
        rows.resize(at + 1, T::default());
    }
    &mut rows[at]
}

fn at_mut_back(ticks: &mut VecDeque<Vec<Vec<Option<Pose>>>>, at: usize) -> &mut Vec<Vec<Option<Pose>>> {
    if ticks.len() <= at {
        ticks.resize(at + 1, Vec::new());
    }
    &mut ticks[at]
}

/// The upright solid of a shape, in steps; sizes are told exactly.
fn solid(shape: &CollisionShape) -> Option<RoundedBox> {
    let steps = |metres: f32| (f64::from(metres) * f64::from(STEPS_PER_METRE)).round() as i32;
    match shape {
        CollisionShape::Sphere { radius } => Some(RoundedBox { core: [0; 3], radius: steps(*radius) }),
        CollisionShape::Capsule { half_height, radius } => {
            Some(RoundedBox { core: [0, steps(*half_height), 0], radius: steps(*radius) })
        }
        CollisionShape::Box { half } => Some(RoundedBox { core: half.map(steps), radius: 0 }),
        CollisionShape::Model { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use wire::session::{Entered, EnteredKind, Walking};
    use wire::state::{Body, Head, Own};

    use super::*;

    const CAPSULE: CollisionShape = CollisionShape::Capsule { half_height: 0.5, radius: 0.25 };

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
        assert!(odd.violations().examples[0].contains("tick 100, server 0"));
    }

    /// A datagram of a new connection that overtakes its welcome was taken to speak of the last connection's objects.
    #[test]
    fn handles_of_the_last_connection_are_forgotten_with_it() {
        let mut witness = watch([0.0, 3.0], true, |_, _| {});
        witness.connected(0, 0);
        let state = State { head: Head { tick: 299, ..Head::default() }, bodies: vec![(Handle(1), Body::default())] };
        witness.heard(0, &state, 0);
        assert_eq!(witness.violations().contradictions, 0);
    }

    /// Two servers tell different things of one moment, and may; what lasts, and what one of them contradicts, is noticed.
    #[test]
    fn servers_are_not_held_against_each_other() {
        let apart = |places: [f32; 2], seen: f32| {
            let mut witness = Witness::new(2);
            for client in 0..2 {
                witness.connected(client, client);
                witness.welcomed(client, &welcome(client as u64 + 1));
                witness.enrolled(client, &roster(2, 2 - client as u64));
            }
            for tick in 3..300_u32 {
                for client in 0..2 {
                    let own = Some(Own { acknowledged: tick as u16, ..Own::default() });
                    let late = if tick % 50 < 5 { seen } else { places[1 - client] };
                    let body = Body { place: at(late), ..Body::default() };
                    let head = Head { tick, anchor: at(places[client]), own };
                    witness.heard(client, &State { head, bodies: vec![(Handle(1), body)] }, 0);
                }
                witness.check();
            }
            witness.violations().clone()
        };
        assert!(apart([0.0, 3.0], 0.1).is_none(), "for a moment it seemed so");
        assert!(apart([0.0, 0.3], 0.3).overlaps > 0, "it is so");
        assert!(apart([0.0, 30.0], 30.0).overheard > 0, "too far to be heard");
    }

    #[test]
    fn a_latency_is_from_the_movers_sending_to_the_listeners_receipt() {
        let latencies = watch([0.0, 3.0], true, |_, _| {}).latencies_us();
        assert!(latencies.len() > 100);
        assert!(latencies.iter().all(|&latency| latency == 20_000), "{latencies:?}");
    }
}
