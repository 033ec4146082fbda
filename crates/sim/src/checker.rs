//! What many clients of one world were told, put together: does it fit? A single client cannot see whether a server
//! keeps its promises; all of them together can. The promises are those of simulations.
//!
//! Where several servers share a world, each tells of its own objects as they are and of the others' as it last heard
//! of them. So servers are not held against each other: [`OnePlace`] is about one server, [`Apart`] waits whether an
//! overlap with a guest lasts, and [`AllHeard`] leaves out a metre and asks that an object has been unheard, or heard,
//! all the while.
//!
//! Objects have rows, in the order in which they were first heard of: a thousand clients that hear of hundreds each, 30
//! times a second, leave no time to search.

use std::collections::{BTreeMap, VecDeque};

use interest::Aura;
use space::{GridPoint, ObjectId, Time, Turn, Vec3};
use wire::{Handle, Roster, State, Welcome};
use world::RoundedBox;

use crate::promises::{AllHeard, Apart, Earshot, Observed, OnePlace, Promise, Score, SeenSolid, solid_of};

/// Everything about a tick has arrived by the time that this many more have passed.
const SETTLED_AFTER: u64 = 90;
/// An object must have been near or far for this many ticks: rosters are sent in portions.
const GRACE: u64 = 30;
/// Distances are looked at every this many ticks.
const STRIDE: u64 = 10;
/// What is said of ticks farther ahead than this is not believed: it would have to be remembered.
const TICKS_AHEAD_MAX: u64 = 4_096;
/// Distances across a border are right to this many metres.
const ACROSS_M: f32 = 1.0;
/// Servers that are told apart.
const SERVERS_MAX: usize = 64;
/// Examples of what was wrong.
const EXAMPLES_MAX: usize = 5;

/// How often promises were broken.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Violations {
    /// Two solids in one place.
    pub overlaps: u64,
    /// An object near a user that it was not told of.
    pub unheard: u64,
    /// An object far from a user that it was told of.
    pub overheard: u64,
    /// Different places of one object after the same tick.
    pub contradictions: u64,
    /// The first few, for people.
    pub examples: Vec<String>,
}

impl Violations {
    pub fn is_none(&self) -> bool {
        self.overlaps + self.unheard + self.overheard + self.contradictions == 0
    }
}

/// From which tick on, and until which, an object is heard.
type Span = (u64, Option<u64>);

/// What one client knows.
#[derive(Debug, Default)]
struct Ears {
    /// The row of its own avatar.
    own: Option<usize>,
    aura: f32,
    server: usize,
    /// By handle: the row of the object that it means, and the tick from which on it does.
    known: Vec<Option<(usize, u64)>>,
    /// One entry per row.
    heard: Vec<Vec<Span>>,
}

/// What was told of one object after one tick.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pose {
    place: GridPoint,
    turn: Option<Turn>,
    /// Whether the object's own server says so, to the object's user.
    is_own: bool,
    /// The first client that was told so.
    client: usize,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    id: ObjectId,
    solid: Option<RoundedBox>,
    /// The client whose avatar it is.
    client: Option<usize>,
}

/// Puts together what clients are told.
#[derive(Debug)]
pub struct Checker {
    ears: Vec<Ears>,
    rows: BTreeMap<ObjectId, usize>,
    /// One entry per row.
    objects: Vec<Known>,
    /// By tick from `checked` on, by server and by row.
    poses: VecDeque<Vec<Vec<Option<Pose>>>>,
    servers: usize,
    /// Whether overlaps with guests of other servers count.
    counts_guests: bool,
    apart: Vec<Apart>,
    near: AllHeard,
    far: AllHeard,
    contradictions: Vec<String>,
    places_told: u64,
    overlaps: Score,
    unheard: Score,
    overheard: Score,
    one_place: Score,
    checked: u64,
    newest: u64,
}

impl Checker {
    pub fn new(clients: usize) -> Checker {
        Checker {
            ears: (0..clients).map(|_| Ears::default()).collect(),
            rows: BTreeMap::new(),
            objects: Vec::new(),
            poses: VecDeque::new(),
            servers: 1,
            counts_guests: true,
            apart: Vec::new(),
            near: AllHeard::default(),
            far: AllHeard::default(),
            contradictions: Vec::new(),
            places_told: 0,
            overlaps: Score::new(Apart::NAME),
            unheard: Score::new(AllHeard::NAME),
            overheard: Score::new(AllHeard::NAME),
            one_place: Score::new(OnePlace::NAME),
            checked: 0,
            newest: 0,
        }
    }

    /// Overlaps with guests do not count: where servers die and freeze, what is told of their objects is old.
    #[must_use]
    pub fn without_guests(self) -> Checker {
        Checker { counts_guests: false, ..self }
    }

    /// A client was let in.
    pub fn welcomed(&mut self, client: usize, welcome: &Welcome) {
        let row = self.row(welcome.own);
        let ears = &mut self.ears[client];
        let is_same = ears.own == Some(row);
        (ears.own, ears.aura) = (Some(row), welcome.aura);
        ears.known.clear();
        // What was heard before a cut is heard again from the next roster on.
        let open = ears.heard.iter_mut().flatten().filter(|span| span.1.is_none());
        open.for_each(|span| span.1 = Some(welcome.tick));
        if !is_same {
            self.objects[row].client = Some(client);
            self.objects[row].solid = solid_of(&welcome.shape);
        }
        if self.checked == 0 {
            self.checked = welcome.tick + GRACE;
        }
    }

    /// A client has a new connection, on which handles mean other objects. A datagram may overtake the welcome.
    pub fn connected(&mut self, client: usize, server: usize) {
        let server = server.min(SERVERS_MAX - 1);
        self.servers = self.servers.max(server + 1);
        self.ears[client].server = server;
        self.ears[client].known.clear();
    }

    /// A client was told which objects entered and left its area of interest.
    pub fn enrolled(&mut self, client: usize, roster: &Roster) {
        let tick = u64::from(roster.tick);
        let rows: Vec<usize> = roster.entered.iter().map(|entered| self.row(entered.object)).collect();
        let ears = &mut self.ears[client];
        for handle in &roster.left {
            let known = ears.known.get_mut(usize::from(handle.0)).and_then(Option::take);
            let spans = known.and_then(|(row, _)| ears.heard.get_mut(row));
            if let Some(span) = spans.and_then(|spans| spans.last_mut()) {
                span.1 = Some(tick);
            }
        }
        for (entered, &row) in roster.entered.iter().zip(&rows) {
            *at_mut(&mut ears.known, usize::from(entered.handle.0)) = Some((row, tick));
            let spans = at_mut(&mut ears.heard, row);
            if matches!(spans.last(), Some((_, None))) {
                self.contradictions.push(format!("tick {tick}: {} has two handles", entered.object));
            }
            spans.push((tick, None));
            self.objects[row].solid = solid_of(&entered.shape);
        }
    }

    /// A client was told where objects are.
    pub fn heard(&mut self, client: usize, state: &State) {
        let tick = u64::from(state.head.tick);
        if tick > self.newest.max(self.checked) + TICKS_AHEAD_MAX {
            return;
        }
        self.newest = self.newest.max(tick);
        let ears = &self.ears[client];
        let (Some(own), Some(at)) = (ears.own, tick.checked_sub(self.checked)) else { return };
        let server = ears.server;
        let poses = at_mut(at_mut_back(&mut self.poses, at as usize), server);
        poses.resize(self.objects.len(), None);
        let mut contradictions = Vec::new();
        let mut place = |row: usize, pose: Pose| match &mut poses[row] {
            unknown @ None => *unknown = Some(pose),
            Some(known) if known.place == pose.place => {
                known.turn = known.turn.or(pose.turn);
                known.is_own |= pose.is_own;
            }
            Some(known) => contradictions.push((row, *known, pose)),
        };
        if state.head.own.is_some() {
            place(own, Pose { place: state.head.anchor, turn: None, is_own: true, client });
        }
        for (handle, body) in &state.bodies {
            // The handle may have meant another object before the roster that is known.
            if let Some((row, since)) = ears.knows(*handle)
                && since < tick
            {
                place(row, Pose { place: body.place, turn: Some(body.turn), is_own: false, client });
            }
        }
        self.places_told += 1 + state.bodies.len() as u64;
        for (row, one, other) in contradictions {
            let object = self.objects[row].id;
            let said = |pose: Pose| {
                format!("{:?} for {}", pose.place, self.objects[self.ears[pose.client].own.unwrap_or(0)].id)
            };
            let (one, other) = (said(one), said(other));
            self.contradictions.push(format!("tick {tick}, server {server}: {object} is at {one} and at {other}"));
        }
    }

    /// The client whose avatar a handle means to another client of the same server, for what is told of a tick.
    pub fn mover(&self, client: usize, handle: Handle, tick: u64) -> Option<usize> {
        let ears = &self.ears[client];
        let (row, _) = ears.knows(handle).filter(|(_, since)| *since < tick)?;
        self.objects[row].client.filter(|&mover| self.ears[mover].server == ears.server)
    }

    /// Lets the promises look at all ticks of which nothing more is to come.
    pub fn check(&mut self) {
        let told = Observed {
            contradictions: std::mem::take(&mut self.contradictions),
            places_told: std::mem::take(&mut self.places_told),
            ..Observed::default()
        };
        OnePlace.look(&told, &mut self.one_place);
        self.apart.resize(self.servers, Apart::default());
        while self.checked + SETTLED_AFTER < self.newest {
            let tick = self.checked;
            let now = Time::from_micros(tick as i64);
            for server in 0..self.servers {
                let solids = Some(self.solids(server));
                let observed = Observed { now, tick, solids, ..Observed::default() };
                self.apart[server].look(&observed, &mut self.overlaps);
            }
            if tick.is_multiple_of(STRIDE) {
                let (near, far) = self.hearings(tick).into_iter().partition(|one| one.is_near);
                // Times are ticks here.
                let of = |hearings: Vec<Earshot>| Observed {
                    now,
                    tick,
                    patience_us: GRACE as i64 - 1,
                    hearings: Some(hearings),
                    ..Observed::default()
                };
                self.near.look(&of(near), &mut self.unheard);
                self.far.look(&of(far), &mut self.overheard);
            }
            self.checked += 1;
            self.poses.pop_front();
        }
    }

    pub fn violations(&self) -> Violations {
        let scores = [&self.overlaps, &self.unheard, &self.overheard, &self.one_place];
        let [overlaps, unheard, overheard, contradictions] = scores.map(|score| score.violations);
        let examples = scores.iter().flat_map(|score| score.examples.iter().cloned()).take(EXAMPLES_MAX).collect();
        Violations { overlaps, unheard, overheard, contradictions, examples }
    }

    /// The tick up to which all have been looked at.
    pub fn checked(&self) -> u64 {
        self.checked
    }

    /// How many places were looked at.
    pub fn places(&self) -> u64 {
        self.one_place.checks
    }

    fn row(&mut self, id: ObjectId) -> usize {
        *self.rows.entry(id).or_insert_with(|| {
            self.objects.push(Known { id, solid: None, client: None });
            self.objects.len() - 1
        })
    }

    /// What a server told of the tick that is checked.
    fn poses(&self, server: usize) -> &[Option<Pose>] {
        self.poses.front().and_then(|servers| servers.get(server)).map_or(&[], Vec::as_slice)
    }

    /// Where an object was, as its own server says.
    fn place(&self, row: usize) -> Option<Vec3> {
        let told = |server: usize| self.poses(server).get(row)?.as_ref();
        let is_right = |pose: &&Pose| pose.is_own || self.servers == 1;
        (0..self.servers).filter_map(told).find(is_right).map(|pose| pose.place.position())
    }

    fn solids(&self, server: usize) -> Vec<SeenSolid> {
        // A box that is turned is not the box it was; round things are the same from all sides.
        let is_upright =
            |pose: &Pose, solid: &RoundedBox| solid.radius > 0 || pose.turn.is_none_or(|turn| turn == Turn::IDENTITY);
        let seen = |(pose, known): (&Option<Pose>, &Known)| {
            let pose = pose.as_ref()?;
            let solid = known.solid.filter(|solid| is_upright(pose, solid))?;
            let is_certain = pose.is_own || self.servers == 1;
            (is_certain || self.counts_guests).then_some(SeenSolid {
                id: known.id,
                at: pose.place,
                solid,
                is_fixed: false,
                is_certain,
            })
        };
        self.poses(server).iter().zip(&self.objects).filter_map(seen).collect()
    }

    /// All users that are near each other, or far and heard.
    fn hearings(&self, tick: u64) -> Vec<Earshot> {
        let is_own = |row: usize, known: &Known| known.client.filter(|&client| self.ears[client].own == Some(row));
        let movers: Vec<(usize, usize, Vec3)> = self
            .objects
            .iter()
            .enumerate()
            .filter_map(|(row, known)| Some((row, is_own(row, known)?, self.place(row)?)))
            .collect();
        let is_alone = self.servers == 1;
        let across = if is_alone { 0.0 } else { ACROSS_M };
        let mut hearings = Vec::new();
        for &(own, client, here) in &movers {
            let ears = &self.ears[client];
            let (begins, ends) = (ears.aura - across, ears.aura * Aura::HYSTERESIS + across);
            for &(other, _, there) in movers.iter().filter(|&&(other, ..)| other != own) {
                let distance = here.distance(there);
                if distance > begins && distance <= ends {
                    continue;
                }
                let is_heard = ears.is_heard(other, tick);
                let is_near = distance <= begins && (is_alone || !is_heard);
                let is_far = distance > ends && is_heard;
                if is_near || is_far {
                    hearings.push(Earshot {
                        listener: self.objects[own].id,
                        speaker: self.objects[other].id,
                        metres: f64::from(distance),
                        is_near,
                        is_far,
                        is_heard,
                        calm_since: Time::from_micros(0),
                    });
                }
            }
        }
        hearings
    }
}

impl Ears {
    fn knows(&self, handle: Handle) -> Option<(usize, u64)> {
        self.known.get(usize::from(handle.0)).copied().flatten()
    }

    fn is_heard(&self, row: usize, tick: u64) -> bool {
        let within = |span: &Span| span.0 <= tick && span.1.is_none_or(|end| tick < end);
        // The last span is the one that matters, nearly always.
        self.heard.get(row).is_some_and(|spans| spans.iter().rev().any(within))
    }
}

/// The entry of a number, made if it is not there.
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

#[cfg(test)]
mod tests {
    use wire::CollisionShape;
    use wire::session::{Entered, EnteredKind, Walking};
    use wire::state::{Body, Head, Own};

    use super::*;

    const CAPSULE: CollisionShape = CollisionShape::Capsule { half_height: 0.5, radius: 0.25 };

    fn object(number: u64) -> ObjectId {
        ObjectId::new(number).unwrap()
    }

    fn at(x: f32) -> GridPoint {
        GridPoint::nearest(Vec3::new(x, 0.0, 0.0)).unwrap()
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

    fn state(tick: u32, own: f32, other: Option<f32>) -> State {
        let head = Head { tick, anchor: at(own), own: Some(Own::default()) };
        let body = |x: f32| (Handle(1), Body { place: at(x), ..Body::default() });
        State { head, bodies: other.map(body).into_iter().collect() }
    }

    /// Two clients at two places for 300 ticks. Each hears of the other from its second tick on, if it is told at all.
    fn watch(places: [f32; 2], told: bool, mut change: impl FnMut(u32, &mut State)) -> Checker {
        let mut checker = Checker::new(2);
        for client in 0..2 {
            checker.welcomed(client, &welcome(client as u64 + 1));
            if told {
                checker.enrolled(client, &roster(2, 2 - client as u64));
            }
        }
        for tick in 3..300_u32 {
            for client in 0..2 {
                let mut state = state(tick, places[client], told.then_some(places[1 - client]));
                if client == 1 {
                    change(tick, &mut state);
                }
                checker.heard(client, &state);
            }
            checker.check();
        }
        checker
    }

    #[test]
    fn what_fits_is_not_complained_about() {
        for (places, told) in [([0.0, 3.0], true), ([0.0, 10.5], true), ([0.0, 10.5], false), ([0.0, 90.0], false)] {
            let checker = watch(places, told, |_, _| {});
            assert_eq!(checker.violations(), Violations::default(), "{places:?} {told}");
            assert!(checker.checked() > 200);
        }
    }

    #[test]
    fn each_broken_promise_is_noticed() {
        let violations = |places, told| watch(places, told, |_, _| {}).violations();
        let near = violations([0.0, 9.9], false);
        assert!(near.unheard > 0 && near.overheard == 0);
        let far = violations([0.0, 11.5], true);
        assert!(far.overheard > 0 && far.unheard == 0);
        let close = violations([0.0, 0.499], true);
        assert!(close.overlaps > 100 && close.contradictions == 0);
        assert_eq!(violations([0.0, 0.5], true).overlaps, 0, "they touch");
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
        let mut checker = watch([0.0, 3.0], true, |_, _| {});
        checker.connected(0, 0);
        let state = State { head: Head { tick: 299, ..Head::default() }, bodies: vec![(Handle(1), Body::default())] };
        checker.heard(0, &state);
        checker.check();
        assert_eq!(checker.violations().contradictions, 0);
    }

    /// Two servers tell different things of one moment, and may; what lasts, and what one of them
    /// contradicts, is noticed.
    #[test]
    fn servers_are_not_held_against_each_other() {
        let apart = |places: [f32; 2], seen: f32| {
            let mut checker = Checker::new(2);
            for client in 0..2 {
                checker.connected(client, client);
                checker.welcomed(client, &welcome(client as u64 + 1));
                checker.enrolled(client, &roster(2, 2 - client as u64));
            }
            for tick in 3..300_u32 {
                for client in 0..2 {
                    let late = if tick % 50 < 5 { seen } else { places[1 - client] };
                    checker.heard(client, &state(tick, places[client], Some(late)));
                }
                checker.check();
            }
            checker.violations()
        };
        assert!(apart([0.0, 3.0], 0.1).is_none(), "for a moment it seemed so");
        assert!(apart([0.0, 0.3], 0.3).overlaps > 0, "it is so");
        assert!(apart([0.0, 30.0], 30.0).overheard > 0, "too far to be heard");
    }
}
