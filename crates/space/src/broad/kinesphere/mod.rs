//! The default broad phase: a kinetic data structure on a grid.
//!
//! Most motion is smooth for tens of ticks. So every object gets a *flight plan*: a line, and how far off it the object
//! may be. What follows from two flight plans holds until one of them is left: that a pair is apart until some tick (a
//! *certificate*, which waits in an *event queue*), or that it overlaps until some tick. A tick checks every flight
//! plan against the positions, repairs the structure around the few objects that departed from theirs, and reads off
//! the pairs. The words are those of Basch, Guibas and Hershberger, *Data structures for mobile data* (1997).
//!
//! | here | elsewhere | what it is |
//! |---|---|---|
//! | flight plan, [`flight_plans`] | flight plan, motion plan | a line and its slack, checked in every tick |
//! | slack | the skin of a Verlet list | how far an object may be off its line; [`tolerance`] adapts it |
//! | departure | certificate failure, plan update | an object is farther off than its slack |
//! | encounter, [`schedule`] | certificate, event | the [`window`] of ticks in which a pair may overlap |
//! | reach | radius of the swept sphere's bounds | how far an object gets from where it is entered |
//! | layer, [`tiles`] | level of a hierarchical grid | a grid for objects of similar reach |
//! | [`tile`] | block of cells | objects that are sorted, by a counting sort, and searched together |
//! | expiry, [`renewal`] | lazy rebuilding | a tile's objects are entered anew, for another life |
//!
//! Where flight plans do not pay, pairs come from the [plain grid](super::PlainGrid), while a [survey](tuning) looks
//! out for better times. `docs/broad-phase.md` has pictures, and says why it is exact.

mod changes;
mod flight_plans;
mod renewal;
mod schedule;
mod search;
mod structure;
mod tile;
mod tile_map;
mod tiles;
mod tolerance;
mod tuning;
mod window;

use self::changes::ChangeTracker;
use self::schedule::Turnover;
use self::structure::{Structure, TickCounts};
use self::tuning::{Survey, Tuning, grid_cost, may_pay, tick_cost};
use super::{BroadPhase, PlainGrid, Work, take_in_if_new};
use crate::{Edition, Pair, Slot, Spheres, Vec3};

/// No tile lives for more ticks than this, and no encounter is found for a later one; a power of two, half of 256.
const LOOK_AHEAD: u64 = 128;

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
    seen: Option<Edition>,
    /// This tick was looked at before.
    is_repeated: bool,
    /// How often ticks were looked at again, after changes, since some tick.
    extra_looks: (u64, u64),
    /// Pairs were reported after the last update.
    is_reported: bool,
    is_eager: bool,
    /// The structure holds what there is to know, rather than the grid.
    is_following: bool,
    structure: Structure,
    trial: Trial,
    grid: PlainGrid,
    /// What the grid's last tick found, and how many tests that took.
    pairs_found: usize,
    tests_made: u64,
    survey: Survey,
    /// A tuning that pays, and where every row was when it was made: the structure starts in the next tick.
    prepared: Option<(Tuning, Vec<Vec3>)>,
    changes: Option<ChangeTracker>,
}

/// Whether the structure is worth it. Costs are per object and tick.
#[derive(Clone, Copy, Debug, Default)]
struct Trial {
    started_at: u64,
    /// The structure's cost, averaged, and what the grid's was.
    cost: f64,
    limit: f64,
    /// It is to end with this tick: by then its work is done, and is not done twice.
    is_over: bool,
    /// There is no survey before this tick, and how long the last pause was.
    paused_until: u64,
    pause: u64,
}

/// Ticks in which an average forgets.
const MEMORY: f64 = 16.0;
/// The first pause after a survey or a structure that did not pay, and the longest. They double.
const PAUSES: (u64, u64) = (8, 512);
/// A structure that lasted for `WORTH_IT` times the last pause was worth it.
const WORTH_IT: u64 = 8;
/// Ticks may be looked at again, after changes, `EXTRA_LOOKS` times within [`LOOK_AHEAD`] ticks. An object gets up to
/// two versions per look, and they are counted modulo 256: more might bring an encounter that waits back to life.
const EXTRA_LOOKS: u64 = 8;

impl Kinesphere {
    /// A broad phase for one thread.
    pub fn new() -> Kinesphere {
        Kinesphere::default()
    }

    /// A broad phase that may use `threads` threads of the current [rayon] pool. The result is the same for any number.
    ///
    /// It is fastest when called by one of these threads, as in `ThreadPool::install`: a thread that is not of the pool
    /// wakes it for every step of a tick, and waits.
    pub fn with_threads(threads: usize) -> Kinesphere {
        Kinesphere { structure: Structure::with_threads(threads), ..Kinesphere::default() }
    }

    /// Follows objects wherever flight plans last at all, even if the plain grid would be cheaper, as in small worlds.
    /// For tests and demonstrations; the pairs are the same.
    #[must_use]
    pub fn eager(mut self) -> Kinesphere {
        self.is_eager = true;
        self
    }

    /// Also tells, after each tick, which pairs [began](Kinesphere::began) and which [ended](Kinesphere::ended). To be
    /// called before the first tick.
    #[must_use]
    pub fn tracking_changes(mut self) -> Kinesphere {
        self.changes = Some(ChangeTracker::new());
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

    /// Whether this tick's pairs come from flight plans, rather than from the positions alone.
    pub fn is_following(&self) -> bool {
        self.is_following
    }

    /// Checks the invariants of what is remembered about these spheres, as they were at the last look. For tests.
    ///
    /// # Panics
    /// If one does not hold.
    #[doc(hidden)]
    pub fn assert_well_formed(&self, spheres: &Spheres) {
        if self.is_following {
            self.structure.assert_well_formed(spheres);
        }
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
            self.give_up();
            self.prepared = None;
            self.survey.reset();
            // What moved in this tick is not known.
            self.trial.paused_until = self.trial.paused_until.max(self.now + 1);
        } else if is_new && !self.is_reported {
            // Encounters began and ended, and no report looked at them.
            self.give_up();
        } else if is_new && is_same_tick {
            let (looks, since) = self.extra_looks;
            self.extra_looks = if self.now - since < LOOK_AHEAD { (looks + 1, since) } else { (1, self.now) };
            if self.extra_looks.0 > EXTRA_LOOKS {
                self.give_up();
            }
        }
        self.is_repeated = is_same_tick;
        self.is_reported &= !is_new;
        self.seen = Some(next);
        is_new
    }

    /// Goes back to the grid.
    fn give_up(&mut self) {
        if std::mem::replace(&mut self.is_following, false) {
            let mut unwanted = Vec::new();
            self.structure.stop(self.changes.as_mut().map_or(&mut unwanted, |changes| &mut changes.turnover.lost));
            self.survey.reset();
            let Trial { started_at, pause, .. } = self.trial;
            if self.now - started_at > WORTH_IT * pause.max(PAUSES.0) {
                self.trial.pause = 0;
            }
            self.trial.rest(self.now);
        }
    }

    /// Lets the survey go on. If it comes to a tuning that pays, the structure starts in the next tick.
    fn look_out(&mut self, spheres: &Spheres) {
        let grid_cost = match self.is_eager {
            true => f64::INFINITY,
            false => grid_cost(spheres.len(), self.pairs_found, self.tests_made),
        };
        let is_worth_a_look = self.now >= self.trial.paused_until && may_pay(spheres.len(), grid_cost);
        if !is_worth_a_look || !self.survey.observe(spheres) {
            return;
        }
        self.trial.limit = grid_cost;
        match self.survey.tune(spheres, self.pairs_found, grid_cost) {
            Some(tuning) => {
                let columns = spheres.columns();
                let places = (0..spheres.rows()).map(|row| columns.sphere(row).center).collect();
                self.prepared = Some((tuning, places));
            }
            None => self.trial.rest(self.now),
        }
    }

    /// Lets the structure start. From now on it is what memory is for.
    fn start(&mut self, spheres: &Spheres, tuning: &Tuning, places: &[Vec3]) -> Work {
        let columns = spheres.columns();
        let velocity = |row: usize| {
            let is_new = spheres.was_taken_in_this_tick(Slot::new(row as u32));
            let step = places.get(row).filter(|_| !is_new).map(|&place| columns.sphere(row).center - place);
            step.filter(|step| step.is_finite()).unwrap_or(Vec3::ZERO)
        };
        let search = self.structure.start(spheres, self.now, tuning, velocity);
        self.is_following = true;
        self.trial = Trial { started_at: self.now, cost: tuning.cost, is_over: false, ..self.trial };
        self.grid = PlainGrid::default();
        Work { sphere_tests: search.tests, ..Work::default() }
    }
}

impl Trial {
    fn rest(&mut self, now: u64) {
        self.pause = (2 * self.pause).clamp(PAUSES.0, PAUSES.1);
        self.paused_until = now + self.pause;
    }

    /// Takes a tick into the average. The trial is over if the grid would have been cheaper for a while.
    fn weigh(&mut self, cost: f64) {
        self.cost += (cost - self.cost) / MEMORY;
        self.is_over = self.cost > self.limit;
    }
}

impl BroadPhase for Kinesphere {
    fn update(&mut self, spheres: &Spheres) -> Work {
        let is_new = self.recognise(spheres);
        if self.is_following && !is_new {
            return Work::default();
        }
        if self.is_following && self.trial.is_over {
            self.give_up();
        }
        if self.is_following {
            if let Some(counts) = self.structure.advance(spheres, self.now) {
                self.trial.weigh(tick_cost(counts, spheres.len()));
                self.trial.is_over |= self.structure.has_outgrown_its_tuning(spheres.len());
                let TickCounts { search, renewed, .. } = counts;
                return Work { sphere_tests: search.tests, cells: renewed as u64, ..Work::default() };
            }
            self.give_up();
        }
        if !self.is_repeated
            && let Some((tuning, places)) = self.prepared.take()
        {
            return self.start(spheres, &tuning, &places);
        }
        self.grid.update(spheres)
    }

    fn find(&mut self, spheres: &Spheres, pairs: &mut Vec<Pair>) -> Work {
        let taken_in = take_in_if_new(self, self.seen, spheres);
        self.is_reported = true;
        let work = if self.is_following {
            let mut unwanted = Turnover::default();
            let turnover = self.changes.as_mut().map_or(&mut unwanted, |changes| &mut changes.turnover);
            let sphere_tests = self.structure.report(spheres, pairs, turnover);
            Work { sphere_tests, ..Work::default() }
        } else {
            let work = self.grid.find(spheres, pairs);
            (self.pairs_found, self.tests_made) = (pairs.len(), work.sphere_tests);
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
}
