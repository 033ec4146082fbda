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
//! out for better times. If these have come, courses [begin](beginning); if they were not worth it, the next plan is [trusted](trust)
//! less. `docs/broad-phase.md` tells the same story with pictures, and why it is exact.

mod agenda;
mod alone;
mod anchors;
mod ball;
mod beginning;
mod calendar;
mod changes;
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
mod trust;

use self::agenda::{LOOK_AHEAD, Turnover};
use self::anchors::Anchors;
use self::beginning::Beginning;
use self::changes::Changes;
use self::following::{Effort, Following};
use self::plan::{Census, Plan};
use self::planning::Planning;
use self::scout::Scout;
use self::trust::{Outcome, Over, Trust};
use super::{BroadPhase, PlainGrid, Work, take_in_if_new};
use crate::{Edition, Pair, Spheres};

/// The broad phase to use: exact for any motion and any mix of radii, with nothing to tune.
///
/// ```
/// use kinesphere_space::{BroadPhase, Kinesphere, Pair, Sphere, Spheres, Vec3};
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
/// # Ok::<(), kinesphere_space::SpheresError>(())
/// ```
#[derive(Debug, Default)]
pub struct Kinesphere {
    now: u64,
    /// Since when this world has been looked at, tick by tick.
    opened_at: u64,
    seen: Option<Edition>,
    /// Whether this tick was looked at before.
    is_repeated: bool,
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
    /// What the plan promised, and how far plans are trusted.
    promised: f64,
    trust: Trust,
    direct: PlainGrid,
    scout: Scout,
    census: Census,
    planning: Option<Planning>,
    /// Courses that begin little by little, and what they have to tell meanwhile, for nobody.
    beginning: Option<Beginning>,
    rehearsed: Vec<Pair>,
    /// Where those were in the last tick who are about to get a course, and everybody while there is a plan in the making.
    anchors: Anchors,
    /// What the last tick without courses found, and how many tests that took.
    pairs_found: usize,
    tests_made: u64,
    changes: Option<Changes>,
}

/// Ticks in which an average forgets.
const MEMORY: f64 = 16.0;
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

    /// Also tells, after each tick, which pairs [began](Kinesphere::began) and which [ended](Kinesphere::ended). To be said before the
    /// first tick: later on, nobody knows what there was before.
    #[must_use]
    pub fn tracking_changes(mut self) -> Kinesphere {
        self.changes = Some(Changes::wanted());
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
        self.is_reported &= !is_new;
        self.seen = Some(next);
        is_new
    }

    /// No longer follows the objects.
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
            let ticks = self.now - self.started_at;
            let Kinesphere { cost, cost_limit, promised, spent, .. } = *self;
            self.trust.after_courses(self.now, why, Outcome { ticks, promised, cost, spent, limit: cost_limit });
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
        let is_worth_a_look = !self.trust.is_resting(self.now) && Plan::may_pay(spheres.len(), limit);
        if self.planning.is_none()
            && is_worth_a_look
            && let Some(outlook) = self.scout.observe(spheres)
        {
            self.planning = Some(Planning::new(outlook, self.trust.rival_cost(limit)));
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
        let Some(plan) = planning.plan() else {
            self.trust.after_no_plan(self.now);
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
            if !beginning.go_on(&mut self.following, spheres, now, |row| anchors.step(row, columns)) {
                self.give_up(Over::Unfit);
            }
            return Work::default();
        }
        let is_over = beginning.is_over(now, &self.following);
        let Some(effort) = self.following.advance(spheres, now) else {
            self.give_up(Over::Unfit);
            return Work::default();
        };
        self.weigh(effort, spheres.len());
        if is_over {
            self.beginning = None;
            self.following.end_debut();
            self.follow();
            self.changes.iter_mut().for_each(Changes::trust_courses);
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
        let taken_in = take_in_if_new(self, self.seen, spheres);
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
                let is_last = beginning.is_over(self.now + 1, &self.following);
                debug_assert!(!is_last || self.rehearsed.len() == pairs.len(), "everybody has looked around by now");
            }
            if !self.is_repeated {
                self.look_out(spheres);
            }
            work
        };
        if let Some(changes) = &mut self.changes {
            changes.note(spheres, pairs, self.is_following);
        }
        taken_in + work
    }

    fn bytes(&self) -> usize {
        self.following.bytes()
            + self.direct.bytes()
            + self.scout.bytes()
            + self.census.bytes()
            + self.anchors.bytes()
            + self.rehearsed.capacity() * size_of::<Pair>()
            + self.changes.as_ref().map_or(0, Changes::bytes)
    }
}
