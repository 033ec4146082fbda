//! The default broad phase: predict, check every prediction, and look only at what may meet.
//!
//! Most motion is smooth for tens of ticks. So every object gets a *course*, a straight line that it is expected to
//! keep to within some slack ([`course`]). Courses are checked against the positions every tick; who strays gets another
//! one in the same tick, before pairs are reported. Objects are entered into *tiles* ([`tile`]) of a *lattice*
//! ([`lattice`]) where their courses are halfway through the tile's life. When a tile falls due, its objects look for
//! all whose courses come close to theirs within the next life ([`search`]); each such *meeting* knows when the two may
//! overlap and when they must ([`encounter`]), and in between nothing is computed ([`agenda`]). Tiles fall due one after
//! another, so no tick has much more to do than others ([`stagger`], [`calendar`], [`early`]); who is fast among many has tiles that do so
//! sooner ([`pace`]), and who is alone looks along its path ([`alone`]). Who meets a thousand others is not followed at all
//! ([`outsiders`]).
//!
//! How long tiles live and how much slack there is follows from how objects move ([`plan`], [`planning`], [`mood`]). Where
//! nothing can be predicted, pairs are found afresh every tick by the [plain grid](super::PlainGrid), while a [`scout`] looks
//! out for better times. `docs/broad-phase.md` tells the same story with pictures, and why it is exact.

mod agenda;
mod alone;
mod anchors;
mod ball;
mod beginning;
mod calendar;
mod comparison;
mod course;
mod cuts;
mod early;
mod encounter;
mod following;
mod lattice;
mod mood;
mod moving;
mod outsiders;
mod pace;
mod packed;
mod plan;
mod planning;
mod queues;
mod renewal;
mod room;
mod scout;
mod search;
mod stagger;
mod strays;
mod tile;
mod tile_map;
#[cfg(test)]
mod trial;

use self::agenda::{LOOK_AHEAD, Turnover};
use self::anchors::Anchors;
use self::beginning::Beginning;
use self::comparison::Comparison;
use self::following::{Effort, Following};
use self::plan::{Census, Plan};
use self::planning::Planning;
use self::scout::Scout;
use super::{BroadPhase, PlainGrid, Work};
use crate::pair::difference;
use crate::{Edition, Pair, Slot, Spheres};

/// The broad phase to use: exact for any motion and any mix of radii, with nothing to tune.
///
/// ```
/// use space::{BroadPhase, Kinesphere, Pair, Sphere, Spheres, Vec3};
///
/// let mut spheres = Spheres::new();
/// let ann = spheres.insert(Sphere::new(Vec3::ZERO, 1.0))?;
/// let bob = spheres.insert(Sphere::new(Vec3::new(5.0, 0.0, 0.0), 1.0))?;
/// let mut broad_phase = Kinesphere::new().tracking_changes();
/// let mut pairs = Vec::new();
/// for tick in 0..40 {
///     broad_phase.pairs(&spheres, &mut pairs);
///     if !broad_phase.began().is_empty() {
///         assert_eq!((tick, broad_phase.began()), (31, &[Pair::new(ann, bob)][..]));
///     }
///     spheres.end_tick();
///     spheres.move_to(bob, spheres.get(bob)?.center - Vec3::new(0.1, 0.0, 0.0))?;
/// }
/// # Ok::<(), space::SpheresError>(())
/// ```
#[derive(Debug, Default)]
pub struct Kinesphere {
    now: u64,
    /// Since when this world has been looked at, tick by tick.
    opened_at: u64,
    seen: Option<Edition>,
    /// Whether this tick was looked at before, and whether anything has changed since the last look.
    is_repeated: bool,
    is_new: bool,
    /// How often ticks were looked at again, after changes, since some tick.
    extra_looks: (u64, u64),
    /// Whether the last update was followed by a report.
    is_reported: bool,
    is_following: bool,
    /// Whether objects are followed even where that does not pay.
    is_eager: bool,
    following: Following,
    started_at: u64,
    /// Whether it is to end with this tick: by then its work is done, and is not done twice.
    is_over: bool,
    /// What the tick's effort may cost on average before it is not worth it; what it has cost, averaged, and in all.
    cost_limit: f64,
    cost: f64,
    spent: f64,
    /// What the plan promised, and how many times as much the last ones took that were given up: plans are trusted less
    /// then, and more again as time goes by.
    promised: f64,
    disappointment: Disappointment,
    direct: PlainGrid,
    scout: Scout,
    census: Census,
    planning: Option<Planning>,
    /// Courses that begin little by little, and what they have to tell meanwhile, for nobody.
    beginning: Option<Beginning>,
    rehearsed: Vec<Pair>,
    /// Where those were in the last tick who are about to get a course, and everybody while there is a plan in the making.
    anchors: Anchors,
    /// Courses are not tried again before this tick; the pause grows when they did not last.
    rests_until: u64,
    rest: u64,
    /// What the last tick without courses found, and how many tests that took.
    pairs_found: usize,
    tests_made: u64,
    changes: Option<Changes>,
}

/// Why objects are not followed any longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Over {
    /// The plan does not fit the world, or no longer: following took too much, or was not possible.
    Unfit,
    /// Nobody knows what happened meanwhile.
    Interrupted,
}

/// By how much plans were too hopeful: a factor.
#[derive(Clone, Copy, Debug)]
struct Disappointment(f64);

impl Default for Disappointment {
    fn default() -> Disappointment {
        Disappointment(1.0)
    }
}

/// What began and ended, for those who ask.
#[derive(Debug, Default)]
struct Changes {
    turnover: Turnover,
    /// The pairs of the last tick, while they are found afresh.
    last: Comparison,
    began: Vec<Pair>,
    ended: Vec<Pair>,
    /// Scratch: the slots that changed hands, ascending.
    replaced: Vec<Slot>,
}

/// Disappointments are taken for no greater than this, and forgotten by three in a hundred with every plan that is made.
const DISAPPOINTMENT_MAX: f64 = 16.0;
const FORGETTING: f64 = 0.97;
/// Ticks in which an average forgets.
const MEMORY: f64 = 16.0;
/// The first pause after courses were given up, and the longest.
const RESTS: (u64, u64) = (8, 512);
/// Courses that were given up after so many ticks were not worth it, whatever they cost; nor were others that cost this share of
/// what finding pairs afresh does, or more, all in all.
const SHORT: u64 = 64;
const MISTAKE: f64 = 0.8;
/// A world is new for so many ticks. One that is slow does not matter then: it is not the first.
const NEW: u64 = 32;
/// Ticks may be looked at again, after changes, so often within [`LOOK_AHEAD`] ticks. An object gets up to two courses
/// per look, and they are counted modulo 256: more might bring a meeting that waits for its time back to life.
const EXTRA_LOOKS: u64 = 8;

impl Kinesphere {
    /// A broad phase that knows nothing yet, for one thread.
    pub fn new() -> Kinesphere {
        Kinesphere::default()
    }

    /// A broad phase that may use so many threads of the current [rayon] pool. The result is the same for any number.
    ///
    /// It is fastest when called by one of these threads, as in `ThreadPool::install`: a thread that is not of the pool
    /// wakes it for every step of a tick, and waits.
    pub fn with_threads(threads: usize) -> Kinesphere {
        let mut broad_phase = Kinesphere::default();
        broad_phase.following.threads = threads;
        broad_phase
    }

    /// Follows objects wherever courses last at all, even if finding pairs afresh every tick would be cheaper, as it is in
    /// small worlds. For those who want to see courses at work rather than a fast answer; the answer is the same.
    #[must_use]
    pub fn eager(mut self) -> Kinesphere {
        self.is_eager = true;
        self
    }

    /// Also tells, after each tick, which pairs [began](Kinesphere::began) and which [ended](Kinesphere::ended).
    #[must_use]
    pub fn tracking_changes(mut self) -> Kinesphere {
        let turnover = Turnover { is_wanted: true, ..Turnover::default() };
        self.changes = Some(Changes { turnover, ..Changes::default() });
        self
    }

    /// The pairs of the last tick that were not pairs before, ascending; none unless
    /// [changes are tracked](Kinesphere::tracking_changes).
    pub fn began(&self) -> &[Pair] {
        self.changes.as_ref().map_or(&[], |changes| &changes.began)
    }

    /// The pairs of the tick before that are no longer pairs, ascending. A slot that was handed to another object ends
    /// the pairs of the old one and begins those of the new.
    pub fn ended(&self) -> &[Pair] {
        self.changes.as_ref().map_or(&[], |changes| &changes.ended)
    }

    /// Whether this tick's pairs come from courses, rather than from the positions alone.
    pub fn is_following(&self) -> bool {
        self.is_following
    }

    /// Notes which world this is, and forgets what no longer holds about it. Says whether anything may be new.
    fn recognise(&mut self, spheres: &Spheres) -> bool {
        let next = spheres.edition();
        let is_same_tick = self.seen.is_some_and(|seen| next.is_of_the_same_tick_as(seen));
        let is_next_tick = self.seen.is_some_and(|seen| next.is_next_after(seen));
        if !is_same_tick {
            self.now += 1;
        }
        let is_new = self.seen != Some(next);
        if !is_same_tick && !is_next_tick {
            self.give_up(Over::Interrupted);
            self.planning = None;
            self.scout.reset();
            self.opened_at = self.now;
        } else if is_new && !self.is_reported {
            // Meetings began and ended, and nobody looked.
            self.give_up(Over::Interrupted);
        } else if is_new && is_same_tick {
            let (looks, since) = self.extra_looks;
            self.extra_looks = if self.now - since < LOOK_AHEAD { (looks + 1, since) } else { (1, self.now) };
            if self.extra_looks.0 > EXTRA_LOOKS {
                self.give_up(Over::Interrupted);
            }
        }
        self.is_repeated = is_same_tick;
        self.is_new = is_new;
        self.is_reported &= !is_new;
        self.seen = Some(next);
        is_new
    }

    /// No longer follows the objects. After courses that were not worth it there is a pause; a new plan may do for a world that has
    /// changed, hardly for one that is just as it was.
    fn give_up(&mut self, why: Over) {
        self.is_over = false;
        let was_following = std::mem::replace(&mut self.is_following, false);
        let was_beginning = self.beginning.take().is_some();
        if was_following || was_beginning {
            let mut nobody = Vec::new();
            // What was only rehearsed nobody has been told.
            let changes = self.changes.as_mut().filter(|_| was_following);
            self.following.stop(changes.map_or(&mut nobody, |changes| &mut changes.turnover.lost));
            self.scout.reset();
            let lasted = self.now - self.started_at;
            let was_dear = lasted <= SHORT || self.spent > MISTAKE * self.cost_limit * lasted as f64;
            let was_a_mistake = why == Over::Unfit && was_dear;
            if was_a_mistake {
                let cost = self.cost.max(self.cost_limit);
                self.disappointment.0 = (cost / self.promised).clamp(1.0, DISAPPOINTMENT_MAX);
            }
            self.rest = if lasted > 4 * RESTS.1 { RESTS.0 } else { (2 * self.rest).clamp(RESTS.0, RESTS.1) };
            self.rests_until = self.now + if lasted > SHORT && !was_a_mistake { 0 } else { self.rest };
        }
    }

    /// What following the objects may cost, per object and tick, to be worth it.
    fn limit(&self, spheres: &Spheres) -> f64 {
        if self.is_eager {
            return f64::INFINITY;
        }
        Plan::direct_cost(spheres.len(), self.pairs_found, self.tests_made)
    }

    /// Looks out for a time when courses would pay, and begins to plan if there may be one.
    fn look_out(&mut self, spheres: &Spheres) {
        if let Some(beginning) = self.beginning {
            self.anchors.note(spheres, beginning.boarders(self.now + 1));
            return;
        }
        let limit = self.limit(spheres);
        let is_worth_a_look = self.now >= self.rests_until && Plan::may_pay(spheres.len(), limit);
        if self.planning.is_none()
            && is_worth_a_look
            && let Some(outlook) = self.scout.observe(spheres)
        {
            self.planning = Some(Planning::new(outlook, limit / self.disappointment.0));
        }
        if self.planning.is_some() {
            self.anchors.note(spheres, 0..spheres.rows());
        }
    }

    /// Goes on planning, and lets courses begin if that comes to a plan that pays.
    fn go_on_planning(&mut self, spheres: &Spheres, mut planning: Planning) -> Work {
        let (anchors, columns) = (&self.anchors, spheres.columns());
        if planning.is_new() {
            self.census.take(spheres, self.pairs_found, |row| anchors.step(row, columns));
        }
        planning.go_on(&mut self.census);
        if !planning.is_over() {
            self.planning = Some(planning);
            return Work::default();
        }
        self.disappointment.0 = 1.0 + (self.disappointment.0 - 1.0) * FORGETTING;
        let Some(plan) = planning.plan() else {
            self.rest = (2 * self.rest).clamp(RESTS.0, RESTS.1);
            self.rests_until = self.now + self.rest;
            return Work::default();
        };
        (self.cost, self.promised, self.spent) = (plan.cost, plan.cost, 0.0);
        (self.cost_limit, self.started_at) = (self.limit(spheres), self.now);
        self.census = Census::default();
        if self.now - self.opened_at > NEW {
            self.beginning = Some(Beginning::new(&mut self.following, spheres, self.now, &plan));
            return self.go_on_beginning(spheres);
        }
        let sphere_tests = self.following.start(spheres, self.now, &plan, |row| anchors.step(row, columns));
        self.follow();
        Work { sphere_tests, ..Work::default() }
    }

    /// Goes on with courses that begin little by little, until pairs can be told by them.
    fn go_on_beginning(&mut self, spheres: &Spheres) -> Work {
        let Some(beginning) = self.beginning else { return Work::default() };
        let (anchors, columns, now) = (&self.anchors, spheres.columns(), self.now);
        if !beginning.is_rehearsal(now) {
            self.started_at = now;
            if !beginning.prepare(&mut self.following, spheres, now, |row| anchors.step(row, columns)) {
                self.give_up(Over::Unfit);
            }
            return Work::default();
        }
        let Some(effort) = self.following.advance(spheres, now) else {
            self.give_up(Over::Unfit);
            return Work::default();
        };
        self.weigh(effort, spheres.len());
        if beginning.is_over(now) {
            self.beginning = None;
            self.following.end_debut();
            self.follow();
            if let Some(changes) = &mut self.changes {
                // What courses told in the last tick, for nobody, is what was told.
                changes.last = Comparison::default();
            }
        }
        effort.to_work()
    }

    /// From this tick on pairs are told by courses. These are what memory is for now; who finds pairs afresh takes its own again if
    /// need be.
    fn follow(&mut self) {
        self.is_following = true;
        self.direct = PlainGrid::default();
        self.anchors = Anchors::default();
        self.rehearsed = Vec::new();
    }

    /// Weighs what following took in this tick. It is over after a time in which finding pairs afresh would have been cheaper,
    /// or when the plan no longer fits those it was made for.
    fn weigh(&mut self, effort: Effort, objects: usize) {
        let cost = Plan::cost_of(effort, objects);
        self.cost += (cost - self.cost) / MEMORY;
        self.spent += cost;
        self.is_over = self.cost > self.cost_limit || self.following.has_outgrown_its_plan(objects);
    }

    fn note_changes(&mut self, spheres: &Spheres, pairs: &[Pair]) {
        let Some(changes) = &mut self.changes else { return };
        let Changes { turnover: Turnover { gained, lost, .. }, last, began, ended, replaced } = changes;
        began.clear();
        ended.clear();
        let slots_replaced = if self.is_new { spheres.replaced() } else { &[] };
        if !self.is_following && lost.is_empty() {
            // Nor were pairs told by courses in the last tick.
            last.compare(pairs, spheres.columns(), slots_replaced, began, ended);
            return;
        }
        last.hand_over(lost);
        if !self.is_following {
            gained.extend_from_slice(pairs);
            last.remember(pairs, spheres.columns());
        }
        gained.sort_unstable();
        lost.sort_unstable();
        difference(lost, gained, ended, began);
        if !slots_replaced.is_empty() {
            // Both lists have these pairs, so they cancelled out; but other objects are behind the slots.
            replaced.clear();
            replaced.extend_from_slice(slots_replaced);
            replaced.sort_unstable();
            let is_replaced =
                |pair: &&Pair| [pair.a(), pair.b()].iter().any(|slot| replaced.binary_search(slot).is_ok());
            for pair in lost.iter().filter(is_replaced).filter(|pair| gained.binary_search(pair).is_ok()) {
                began.push(*pair);
                ended.push(*pair);
            }
            began.sort_unstable();
            ended.sort_unstable();
        }
        gained.clear();
        lost.clear();
    }
}

impl BroadPhase for Kinesphere {
    fn update(&mut self, spheres: &Spheres) -> Work {
        let is_new = self.recognise(spheres);
        if self.is_following && !is_new {
            return Work::default();
        }
        if self.is_over {
            self.give_up(Over::Unfit);
        }
        if self.is_following {
            match self.following.advance(spheres, self.now) {
                Some(effort) => {
                    self.weigh(effort, spheres.len());
                    return effort.to_work();
                }
                None => self.give_up(Over::Unfit),
            }
        }
        let mut work = Work::default();
        if self.beginning.is_some() && is_new {
            work = self.go_on_beginning(spheres);
        } else if !self.is_repeated
            && let Some(planning) = self.planning.take()
        {
            work = self.go_on_planning(spheres, planning);
        }
        if self.is_following { work } else { work + self.direct.update(spheres) }
    }

    fn find(&mut self, spheres: &Spheres, pairs: &mut Vec<Pair>) -> Work {
        self.is_reported = true;
        let work = if self.is_following {
            let mut unwanted = Turnover::default();
            let turnover = self.changes.as_mut().map_or(&mut unwanted, |changes| &mut changes.turnover);
            let sphere_tests = self.following.report(spheres, pairs, turnover);
            Work { sphere_tests, ..Work::default() }
        } else {
            let mut work = self.direct.find(spheres, pairs);
            (self.pairs_found, self.tests_made) = (pairs.len(), work.sphere_tests);
            if let Some(beginning) = self.beginning.filter(|beginning| beginning.is_rehearsal(self.now)) {
                let mut unwanted = Turnover::default();
                work.sphere_tests += self.following.report(spheres, &mut self.rehearsed, &mut unwanted);
                let is_last = beginning.is_over(self.now + 1);
                debug_assert!(!is_last || self.rehearsed.len() == pairs.len(), "everybody has looked around by now");
            }
            if !self.is_repeated {
                self.look_out(spheres);
            }
            work
        };
        self.note_changes(spheres, pairs);
        work
    }

    fn bytes(&self) -> usize {
        let changes = self.changes.as_ref().map_or(0, |changes| {
            let Changes { turnover, last, began, ended, replaced } = changes;
            let pairs = [&turnover.gained, &turnover.lost, began, ended];
            pairs.into_iter().map(Vec::capacity).sum::<usize>() * size_of::<Pair>()
                + last.bytes()
                + replaced.capacity() * size_of::<Slot>()
        });
        self.following.bytes()
            + self.direct.bytes()
            + self.scout.bytes()
            + self.census.bytes()
            + self.anchors.bytes()
            + self.rehearsed.capacity() * size_of::<Pair>()
            + changes
    }
}
