//! Who hears whom, tick after tick, where everybody may hear: whom each update must be sent to.
//!
//! Two objects are joined when they come within their auras' reach, and parted when they leave a somewhat larger one, so
//! that a pair at the border does not flicker. All auras are entered, at their plain size, into one broad phase. Its pairs
//! are the only ones that can be joined; what began and ended among them is all that is looked at. A pair is *watched*,
//! its distance taken every tick, only while something about it may change without the broad phase noticing: when it has
//! ended and is not parted yet, or if one of the two hears farther than the other.
//!
//! Invariants, after an update:
//! - One hears another if and only if it did and they are within the larger reach, or they are within the plain one.
//! - `lists` has, for each object, whom it hears and who hears it, each pair at both its ends.
//! - A pair of the broad phase that is not watched is *settled*: each of the two that can hear the other does, and will
//!   until the pair ends. A pair that is not in the broad phase is watched if one of the two hears the other.

use space::bits::Bits;
use space::{BroadPhase, Kinesphere, Pair, Slot, Sphere, Spheres, Vec3, fetch_ahead};

use crate::lists::{Lists, Word};
use crate::radix;
use crate::{Aura, AuraError};

/// Objects are fetched for so many pairs ahead.
const AHEAD: usize = 24;
/// Lists are fetched for so many changes at once: few enough that the first are still in the cache when their turn comes.
const FETCHED: usize = 512;

/// One object hears another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hearing {
    /// Who hears.
    pub listener: Slot,
    /// Who is heard.
    pub speaker: Slot,
}

/// Where an object is, or nowhere, and its aura.
#[derive(Clone, Copy, Debug)]
struct Object {
    center: Vec3,
    aura: Aura,
}

/// How an [`Audience`] works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AudienceSettings {
    /// A pair is parted at so many times the distance at which it is joined, from 1 to 10. 1 is no hysteresis.
    pub hysteresis: f32,
    /// How many threads of the current rayon pool may be used. The result is the same for any number.
    pub threads: usize,
}

/// Who hears whom in a world of moving auras.
///
/// Each tick: insert, move and remove; [`update`](Audience::update); read what [`entered`](Audience::entered) and
/// [`left`](Audience::left), or [whom somebody hears](Audience::heard_by).
///
/// It hands out slots as [`Spheres`] does. Whoever inserts into both and removes from both in the same order gets the same
/// slots from both.
///
/// ```
/// use interest::{Audience, Aura, Hearing};
/// use space::Vec3;
///
/// let mut audience = Audience::new();
/// let ann = audience.insert(Vec3::ZERO, Aura::new(10.0))?;
/// let owl = audience.insert(Vec3::new(30.0, 0.0, 0.0), Aura::one_sided(50.0, 1.0))?;
/// audience.update();
/// assert_eq!(audience.entered(), [Hearing { listener: owl, speaker: ann }]);
/// assert!(audience.hears(owl, ann) && !audience.hears(ann, owl));
/// # Ok::<(), interest::AuraError>(())
/// ```
#[derive(Debug)]
pub struct Audience {
    hysteresis: f32,
    /// The auras at the size at which pairs are joined, as seen by the broad phase.
    spheres: Spheres,
    /// The objects once more, each in one piece: watched pairs are all over the memory.
    objects: Vec<Object>,
    broad_phase: Kinesphere,
    pairs: Vec<Pair>,
    lists: Lists<Entry>,
    watched: Vec<Watched>,
    /// Slots whose aura changed since the last update.
    changed: Bits,
    any_changed: bool,
    /// Slots to which somebody came since the last update: another may have had them.
    newcomers: Bits,
    entered: Vec<Hearing>,
    left: Vec<Hearing>,
    hearings: usize,
    /// Scratch.
    verdicts: Vec<Verdict>,
    changes: Vec<u64>,
    scratch: Vec<u64>,
    list: Vec<Entry>,
}

impl Default for AudienceSettings {
    fn default() -> AudienceSettings {
        AudienceSettings { hysteresis: Aura::HYSTERESIS, threads: 1 }
    }
}

impl Audience {
    /// An empty world in which pairs are parted at [`Aura::HYSTERESIS`] times the distance at which they are joined.
    pub fn new() -> Audience {
        Audience::with(AudienceSettings::default()).expect("the defaults make sense")
    }

    /// An empty world.
    pub fn with(settings: AudienceSettings) -> Result<Audience, AuraError> {
        let AudienceSettings { hysteresis, threads } = settings;
        if !(1.0..=Aura::HYSTERESIS_MAX).contains(&hysteresis) {
            return Err(AuraError::Hysteresis { value: hysteresis });
        }
        Ok(Audience {
            hysteresis,
            spheres: Spheres::new(),
            objects: Vec::new(),
            broad_phase: Kinesphere::with_threads(threads.max(1)).tracking_changes(),
            pairs: Vec::new(),
            lists: Lists::new(),
            watched: Vec::new(),
            changed: Bits::new(),
            any_changed: false,
            newcomers: Bits::new(),
            entered: Vec::new(),
            left: Vec::new(),
            hearings: 0,
            verdicts: Vec::new(),
            changes: Vec::new(),
            scratch: Vec::new(),
            list: Vec::new(),
        })
    }

    /// Adds an object and returns its slot.
    pub fn insert(&mut self, center: Vec3, aura: Aura) -> Result<Slot, AuraError> {
        aura.check(None)?;
        let slot = self.spheres.insert(Sphere::new(center, aura.reach()))?;
        if self.objects.len() < self.spheres.rows() {
            self.objects.resize(self.spheres.rows(), Object { center: Vec3::NAN, aura });
        }
        self.objects[slot.row()] = Object { center, aura };
        Ok(slot)
    }

    /// Takes an object out. The next update says who no longer hears it.
    pub fn remove(&mut self, slot: Slot) -> Result<(), AuraError> {
        self.spheres.remove(slot)?;
        self.objects[slot.row()].center = Vec3::NAN;
        Ok(())
    }

    /// Puts an object somewhere else, at any distance.
    pub fn move_to(&mut self, slot: Slot, center: Vec3) -> Result<(), AuraError> {
        self.spheres.move_to(slot, center)?;
        self.objects[slot.row()].center = center;
        Ok(())
    }

    /// Gives an object another aura.
    pub fn set_aura(&mut self, slot: Slot, aura: Aura) -> Result<(), AuraError> {
        aura.check(Some(slot))?;
        self.spheres.resize(slot, aura.reach())?;
        let known = &mut self.objects[slot.row()].aura;
        if *known != aura {
            *known = aura;
            self.changed.insert(slot.row());
            self.any_changed = true;
        }
        Ok(())
    }

    /// Where an object is.
    pub fn center(&self, slot: Slot) -> Result<Vec3, AuraError> {
        Ok(self.spheres.get(slot)?.center)
    }

    /// The aura of an object.
    pub fn aura(&self, slot: Slot) -> Result<Aura, AuraError> {
        self.spheres.get(slot)?;
        Ok(self.objects[slot.row()].aura)
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.spheres.len()
    }

    /// Whether there is nobody.
    pub fn is_empty(&self) -> bool {
        self.spheres.is_empty()
    }

    /// Ends the tick: works out who hears whom now, and what changed since the last update.
    pub fn update(&mut self) {
        self.broad_phase.pairs(&self.spheres, &mut self.pairs);
        self.entered.clear();
        self.left.clear();
        self.changes.clear();
        self.forget_predecessors();
        self.watch_changed();
        self.take_in_ended();
        self.take_in_began();
        self.look_at_watched();
        self.apply_changes();
        self.changed.clear();
        self.any_changed = false;
        self.spheres.end_tick();
    }

    /// Who began to hear whom with the last update, by listener, then by speaker.
    pub fn entered(&self) -> &[Hearing] {
        &self.entered
    }

    /// Who ceased to hear whom with the last update, by listener, then by speaker. Where a slot was handed to another
    /// object, the old one's are here and the new one's in [`entered`](Audience::entered): apply these first.
    pub fn left(&self) -> &[Hearing] {
        &self.left
    }

    /// Whom an object hears, ascending.
    pub fn heard_by(&self, listener: Slot) -> impl Iterator<Item = Slot> + '_ {
        self.lists.get(listener.row()).iter().filter(|entry| entry.ears().hears()).map(|entry| entry.slot())
    }

    /// Who hears an object, ascending.
    pub fn listeners_of(&self, speaker: Slot) -> impl Iterator<Item = Slot> + '_ {
        self.lists.get(speaker.row()).iter().filter(|entry| entry.ears().is_heard()).map(|entry| entry.slot())
    }

    /// Whether one object hears another, as of the last update.
    pub fn hears(&self, listener: Slot, speaker: Slot) -> bool {
        self.ears(listener.row(), speaker.number()).hears()
    }

    /// How many objects hear how many others: the copies of updates that are needed each tick.
    pub fn hearings(&self) -> usize {
        self.hearings
    }

    /// How many pairs are looked at in every tick.
    pub fn watched(&self) -> usize {
        self.watched.len()
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.spheres.bytes()
            + self.broad_phase.bytes()
            + self.lists.bytes()
            + self.changed.bytes()
            + self.newcomers.bytes()
            + self.objects.capacity() * size_of::<Object>()
            + self.pairs.capacity() * size_of::<Pair>()
            + self.watched.capacity() * size_of::<Watched>()
            + (self.entered.capacity() + self.left.capacity()) * size_of::<Hearing>()
            + self.verdicts.capacity() * size_of::<Verdict>()
            + (self.changes.capacity() + self.scratch.capacity()) * 8
            + self.list.capacity() * size_of::<Entry>()
    }

    /// Whoever has another's slot hears nobody yet, and is not watched.
    fn forget_predecessors(&mut self) {
        let Audience { spheres, watched, changes, newcomers, .. } = self;
        newcomers.clear();
        let mut arrivals = spheres.reshaped().iter().filter(|slot| spheres.was_taken_in_this_tick(**slot)).peekable();
        if arrivals.peek().is_none() {
            return;
        }
        arrivals.for_each(|slot| newcomers.insert(slot.row()));
        watched.retain(|pair| {
            let is_forgotten = newcomers.contains(pair.a as usize) || newcomers.contains(pair.b as usize);
            if is_forgotten {
                note(changes, Slot::new(pair.a), Slot::new(pair.b), Ears::NONE, false);
            }
            !is_forgotten
        });
    }

    /// Watches all pairs of those whose auras changed: whatever was settled may not be.
    fn watch_changed(&mut self) {
        if !self.any_changed {
            return;
        }
        let Audience { objects, watched, changed, newcomers, pairs, lists, .. } = self;
        let is_changed = |row: u32| changed.contains(row as usize);
        watched.retain(|pair| !is_changed(pair.a) && !is_changed(pair.b));
        let is_new = |slot: Slot| newcomers.contains(slot.row());
        watched.extend(pairs.iter().filter(|pair| is_changed(pair.a().number()) || is_changed(pair.b().number())).map(
            |&pair| {
                let is_new = is_new(pair.a()) || is_new(pair.b());
                Watched::new(pair, if is_new { Ears::NONE } else { ears(lists, pair.a().row(), pair.b().number()) })
            },
        ));
        for row in changed.iter() {
            for entry in lists.get(row) {
                let (slot, other) = (Slot::new(row as u32), entry.slot());
                // Of two that both changed, the lower has named the pair.
                let is_named = other < slot && is_changed(other.number());
                let pair = Watched { a: slot.number(), b: other.number(), ears: entry.ears() };
                if !is_named && !is_new(slot) && !is_new(other) && !pair.is_within_reach(objects) {
                    watched.push(pair);
                }
            }
        }
    }

    /// Watches the pairs that ended until they are parted.
    fn take_in_ended(&mut self) {
        let Audience { broad_phase, objects, watched, changes, newcomers, changed, .. } = self;
        for (index, &pair) in broad_phase.ended().iter().enumerate() {
            fetch_pair(broad_phase.ended(), index + AHEAD, objects);
            let (a, b) = (pair.a(), pair.b());
            if newcomers.contains(a.row()) || newcomers.contains(b.row()) {
                note(changes, a, b, Ears::NONE, false);
            } else if changed.contains(a.row()) || changed.contains(b.row()) {
                // It has been found among those whose auras changed.
            } else if let Some(ears) = settled(&objects[a.row()].aura, &objects[b.row()].aura) {
                watched.push(Watched::new(pair, ears));
            }
        }
    }

    /// Joins the pairs that began, or watches them if they are not settled at once.
    fn take_in_began(&mut self) {
        let Audience { broad_phase, objects, watched, changes, newcomers, changed, lists, .. } = self;
        for (index, &pair) in broad_phase.began().iter().enumerate() {
            fetch_pair(broad_phase.began(), index + AHEAD, objects);
            let (a, b) = (pair.a(), pair.b());
            if changed.contains(a.row()) || changed.contains(b.row()) {
                continue;
            }
            if let Some(ears) = settled(&objects[a.row()].aura, &objects[b.row()].aura) {
                // Whoever has not been parted since it ended is told what it knows, which changes nothing.
                note(changes, a, b, ears, true);
                continue;
            }
            let is_new = newcomers.contains(a.row()) || newcomers.contains(b.row());
            // Whoever has not been parted is watched already.
            if is_new || ears(lists, a.row(), b.number()) == Ears::NONE {
                watched.push(Watched::new(pair, Ears::NONE));
            }
        }
    }

    /// Takes the distances of all watched pairs, notes who hears whom now, and lets go of those that are settled or parted.
    fn look_at_watched(&mut self) {
        let Audience { objects, watched, verdicts, changes, hysteresis, .. } = self;
        // All distances come first, without a branch between them: their cache misses overlap then.
        verdicts.clear();
        verdicts.extend(watched.iter().enumerate().map(|(index, pair)| {
            if let Some(later) = watched.get(index + AHEAD) {
                fetch(objects, later.a as usize, later.b as usize);
            }
            pair.judge(objects, *hysteresis)
        }));
        let mut kept = 0;
        for index in 0..watched.len() {
            let (pair, verdict) = (watched[index], verdicts[index]);
            if verdict.ears != pair.ears {
                note(changes, Slot::new(pair.a), Slot::new(pair.b), verdict.ears, true);
            }
            watched[kept] = Watched { ears: verdict.ears, ..pair };
            kept += usize::from(!verdict.is_done);
        }
        watched.truncate(kept);
    }

    /// Brings the lists up to date, each once, and tells what that changes for its owner.
    fn apply_changes(&mut self) {
        radix::sort(&mut self.changes, &mut self.scratch);
        let changes = std::mem::take(&mut self.changes);
        let (mut done, mut fetched) = (0, 0);
        for own in changes.chunk_by(|&one, &other| Change(one).owner() == Change(other).owner()) {
            if done >= fetched {
                fetched = changes.len().min(done + FETCHED);
                self.lists.fetch(changes[done..fetched].iter().map(|&change| Change(change).owner().row()));
            }
            self.change_list(own);
            done += own.len();
        }
        self.changes = changes;
        self.hearings = self.hearings + self.entered.len() - self.left.len();
    }

    fn change_list(&mut self, changes: &[u64]) {
        let listener = Change(changes[0]).owner();
        let old = self.lists.get(listener.row());
        let (mut kept, mut is_changed) = (0, false);
        self.list.clear();
        for same in changes.chunk_by(|&one, &other| Change(one).other() == Change(other).other()) {
            let speaker = Change(same[0]).other();
            let before = kept + old[kept..].partition_point(|entry| entry.slot() < speaker);
            self.list.extend_from_slice(&old[kept..before]);
            let entry = old.get(before).filter(|entry| entry.slot() == speaker);
            kept = before + usize::from(entry.is_some());
            let mut ears = entry.map_or(Ears::NONE, |entry| entry.ears());
            for change in same.iter().map(|&change| Change(change)) {
                let heard = ears.hears();
                is_changed |= ears != change.ears();
                ears = change.ears();
                if heard != ears.hears() {
                    let noted = if heard { &mut self.left } else { &mut self.entered };
                    noted.push(Hearing { listener, speaker });
                }
            }
            if ears != Ears::NONE {
                self.list.push(Entry::new(speaker, ears));
            }
        }
        if is_changed {
            self.list.extend_from_slice(&old[kept..]);
            self.lists.replace(listener.row(), &self.list);
        }
    }

    fn ears(&self, row: usize, other: u32) -> Ears {
        ears(&self.lists, row, other)
    }
}

impl Default for Audience {
    fn default() -> Audience {
        Audience::new()
    }
}

/// Begins to fetch the two of a pair that comes later, if there is one.
#[inline]
fn fetch_pair(pairs: &[Pair], index: usize, objects: &[Object]) {
    if let Some(pair) = pairs.get(index) {
        fetch(objects, pair.a().row(), pair.b().row());
    }
}

/// Begins to fetch two objects.
#[inline]
fn fetch(objects: &[Object], a: usize, b: usize) {
    fetch_ahead(&objects[a]);
    fetch_ahead(&objects[b]);
}

/// Notes who of two hears the other now, at both ends.
#[inline]
fn note(changes: &mut Vec<u64>, a: Slot, b: Slot, ears: Ears, is_judged: bool) {
    changes.push(Change::new(a, b, ears, is_judged).0);
    changes.push(Change::new(b, a, ears.turned(), is_judged).0);
}

/// Who of two hears the other wherever the broad phase has the pair, as the first sees it; `None` if that depends on their
/// distance.
#[inline]
fn settled(a: &Aura, b: &Aura) -> Option<Ears> {
    let whole_reach = a.reach() + b.reach();
    let (hears, is_heard) = (a.focus + b.nimbus, b.focus + a.nimbus);
    let is_sure = |reach: f32| (reach == whole_reach) | (reach <= 0.0);
    (is_sure(hears) & is_sure(is_heard)).then(|| Ears::new(hears == whole_reach, is_heard == whole_reach))
}

fn ears(lists: &Lists<Entry>, row: usize, other: u32) -> Ears {
    let list = lists.get(row);
    list.binary_search_by_key(&other, |entry| entry.slot().number()).map_or(Ears::NONE, |index| list[index].ears())
}

/// Which of two hears the other, seen from one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ears(u8);

impl Ears {
    const NONE: Ears = Ears(0);

    fn new(hears: bool, is_heard: bool) -> Ears {
        Ears(u8::from(hears) | u8::from(is_heard) << 1)
    }

    fn hears(self) -> bool {
        self.0 & 1 != 0
    }

    fn is_heard(self) -> bool {
        self.0 & 2 != 0
    }

    /// As the other one sees it.
    fn turned(self) -> Ears {
        Ears::new(self.is_heard(), self.hears())
    }
}

/// An entry of a list: the other's slot, which has 24 bits, and which of the two hears the other.
#[derive(Clone, Copy, Debug, Default)]
struct Entry(u32);

const _: () = assert!(Spheres::MAX_OBJECTS <= 1 << 24, "a slot has to fit into 24 bits");

impl Entry {
    fn new(slot: Slot, ears: Ears) -> Entry {
        Entry(u32::from(ears.0) << 24 | slot.number())
    }

    fn slot(self) -> Slot {
        Slot::new(self.0 & 0xff_ffff)
    }

    fn ears(self) -> Ears {
        Ears((self.0 >> 24) as u8)
    }
}

impl Word for Entry {
    #[inline]
    fn of(number: u32) -> Entry {
        Entry(number)
    }

    #[inline]
    fn number(self) -> u32 {
        self.0
    }
}

/// What an entry is to be, in one number that sorts by owner, then by the other. What ended comes before what began: a
/// slot may change hands within a tick.
#[derive(Clone, Copy, Debug)]
struct Change(u64);

impl Change {
    fn new(owner: Slot, other: Slot, ears: Ears, is_judged: bool) -> Change {
        let (owner, other) = (u64::from(owner.number()), u64::from(other.number()));
        Change(owner << 32 | other << 8 | u64::from(is_judged) << 2 | u64::from(ears.0))
    }

    fn owner(self) -> Slot {
        Slot::new((self.0 >> 32) as u32)
    }

    fn other(self) -> Slot {
        Slot::new((self.0 >> 8) as u32 & 0xff_ffff)
    }

    fn ears(self) -> Ears {
        Ears(self.0 as u8 & 3)
    }
}

/// A pair whose distance is taken every tick.
#[derive(Clone, Copy, Debug)]
struct Watched {
    a: u32,
    b: u32,
    /// As `a` sees it.
    ears: Ears,
}

/// What a distance says about a pair.
#[derive(Clone, Copy, Debug)]
struct Verdict {
    ears: Ears,
    /// Nothing changes until the broad phase says so.
    is_done: bool,
}

impl Watched {
    fn new(pair: Pair, ears: Ears) -> Watched {
        Watched { a: pair.a().number(), b: pair.b().number(), ears }
    }

    #[inline]
    fn judge(self, objects: &[Object], hysteresis: f32) -> Verdict {
        let (a, b) = (objects[self.a as usize], objects[self.b as usize]);
        let way = a.center - b.center;
        let distance_squared = way.x * way.x + way.y * way.y + way.z * way.z;
        // To the bit what `Sphere::overlaps` says; a reach that is not positive reaches nobody.
        let is_within = |reach: f32| (reach > 0.0) & (distance_squared < reach * reach);

        let (plain_a, plain_b) = (a.aura, b.aura);
        let (wide_a, wide_b) = (plain_a.scaled(hysteresis), plain_b.scaled(hysteresis));
        // A removed object is nowhere, and not within any reach.
        let hears = is_within(match self.ears.hears() {
            true => wide_a.focus + wide_b.nimbus,
            false => plain_a.focus + plain_b.nimbus,
        });
        let is_heard = is_within(match self.ears.is_heard() {
            true => wide_b.focus + wide_a.nimbus,
            false => plain_b.focus + plain_a.nimbus,
        });
        let ears = Ears::new(hears, is_heard);
        let is_paired = is_within(plain_a.reach() + plain_b.reach());
        let is_done = if is_paired { settled(&plain_a, &plain_b).is_some() } else { ears == Ears::NONE };
        Verdict { ears, is_done }
    }

    /// Whether the broad phase has this pair.
    fn is_within_reach(self, objects: &[Object]) -> bool {
        let (a, b) = (objects[self.a as usize], objects[self.b as usize]);
        Sphere::new(a.center, a.aura.reach()).overlaps(Sphere::new(b.center, b.aura.reach()))
    }
}
