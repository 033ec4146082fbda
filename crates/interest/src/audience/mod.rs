//! The audience: which objects hear which others, tick after tick, and so where each update must be sent.
//!
//! ```text
//! search ─▶ hits: listener, speaker, distance within the plain reach?  ─▶ sorted by listener
//!                                     last tick's lists ─▶ merged ─▶ this tick's lists, entered, left
//! ```
//!
//! Nothing is remembered about pairs but the lists themselves. Two searches find the hits ([`AudienceSearch`]): a
//! uniform grid of the listeners, best where few objects listen, and a broad phase, best where most do.
//!
//! Invariant, after an update: one object hears another if and only if the two are within the plain reach, or within
//! the wide one (plain times the hysteresis) and it did before. `hearings_are_what_the_distances_say.rs` compares this
//! with all pairs of objects.

mod listener_grid;

use space::bits::Bits;
use space::{BroadPhase, Buckets, Kinesphere, Pair, Slot, Sphere, Spheres, Vec3};

use self::listener_grid::{Listener, ListenerGrid};
use crate::{Aura, AuraError};

/// One object's subscription to another: the listener hears the speaker, and needs updates about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subscription {
    pub listener: Slot,
    pub speaker: Slot,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AudienceSettings {
    /// A subscription ends at this multiple of the distance at which it begins, from 1 to 10. 1 is no hysteresis.
    pub hysteresis: f32,
    /// How pairs within reach are found. The result does not depend on it.
    pub search: AudienceSearch,
}

/// How an [`Audience`] finds the pairs that are within reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AudienceSearch {
    /// A uniform grid over x and z, made anew each tick, lists the listeners that reach into each cell. For few
    /// listeners among many objects, and for worlds whose objects stand on ground: a server of users.
    #[default]
    Listeners,
    /// A broad phase that remembers the last tick finds all pairs. For worlds in which most objects listen and are
    /// spread in three dimensions.
    AllPairs,
}

/// The subscriptions of a world of moving auras.
///
/// Each tick: insert, move and remove; [`update`](Audience::update); read what [`entered`](Audience::entered) and
/// [`left`](Audience::left), or the objects that one [hears](Audience::heard_by).
///
/// It hands out slots as [`Spheres`] does: the same insertions and removals, in the same order, give the same slots.
///
/// ```
/// use kinesphere_interest::{Audience, Aura, Subscription};
/// use space::Vec3;
///
/// let mut audience = Audience::new();
/// let ann = audience.insert(Vec3::ZERO, Aura::new(10.0))?;
/// let owl = audience.insert(Vec3::new(30.0, 0.0, 0.0), Aura::one_sided(50.0, 1.0))?;
/// audience.update();
/// assert_eq!(audience.entered(), [Subscription { listener: owl, speaker: ann }]);
/// assert!(audience.hears(owl, ann) && !audience.hears(ann, owl));
/// # Ok::<(), kinesphere_interest::AuraError>(())
/// ```
#[derive(Debug)]
pub struct Audience {
    hysteresis: f32,
    /// Each object within a sphere that covers its wide aura.
    spheres: Spheres,
    auras: Vec<Aura>,
    /// An object was added, removed or got another aura, so `listeners` must be computed again.
    is_stale: bool,
    /// All objects with a focus, by row.
    listeners: Vec<Listener>,
    /// The largest wide nimbus.
    nimbus_max: f32,
    /// Rows whose object was removed since the last update.
    gone: Bits,
    heard: SpeakerLists,
    before: SpeakerLists,
    entered: Vec<Subscription>,
    left: Vec<Subscription>,
    search: Search,
    hits: Vec<Hit>,
    /// The speakers of hits, by listener.
    found: Buckets<u32>,
    sorted: Vec<u32>,
}

#[derive(Debug)]
enum Search {
    Listeners(ListenerGrid),
    AllPairs {
        broad_phase: Box<Kinesphere>,
        pairs: Vec<Pair>,
        /// For each row its place among the listeners, or [`DEAF`].
        numbers: Vec<u32>,
    },
}

const DEAF: u32 = u32::MAX;

/// A speaker within the wide reach of a listener, which is a place among the listeners. [`IS_PLAIN`] in `speaker` says
/// that it is within the plain reach.
#[derive(Clone, Copy, Debug)]
struct Hit {
    listener: u32,
    speaker: u32,
}

const IS_PLAIN: u32 = 1 << 31;
const _: () = assert!(Spheres::MAX_OBJECTS <= IS_PLAIN as usize, "a row leaves the highest bit alone");

/// The speakers that each listener hears: `rows[start[n]..start[n + 1]]`, ascending, for the
/// row `listener[n]`, ascending.
#[derive(Debug, Default)]
struct SpeakerLists {
    listener: Vec<u32>,
    start: Vec<u32>,
    rows: Vec<u32>,
}

impl Default for AudienceSettings {
    fn default() -> AudienceSettings {
        AudienceSettings { hysteresis: Aura::HYSTERESIS, search: AudienceSearch::Listeners }
    }
}

impl Audience {
    /// An empty world with [`Aura::HYSTERESIS`], for few listeners.
    pub fn new() -> Audience {
        Audience::with(AudienceSettings::default()).expect("the default makes sense")
    }

    /// An empty world.
    pub fn with(settings: AudienceSettings) -> Result<Audience, AuraError> {
        let AudienceSettings { hysteresis, search } = settings;
        if !(1.0..=Aura::HYSTERESIS_MAX).contains(&hysteresis) {
            return Err(AuraError::Hysteresis { value: hysteresis });
        }
        Ok(Audience {
            hysteresis,
            spheres: Spheres::new(),
            auras: Vec::new(),
            is_stale: false,
            listeners: Vec::new(),
            nimbus_max: 0.0,
            gone: Bits::new(),
            heard: SpeakerLists::default(),
            before: SpeakerLists::default(),
            entered: Vec::new(),
            left: Vec::new(),
            search: match search {
                AudienceSearch::Listeners => Search::Listeners(ListenerGrid::default()),
                AudienceSearch::AllPairs => {
                    Search::AllPairs { broad_phase: Box::default(), pairs: Vec::new(), numbers: Vec::new() }
                }
            },
            hits: Vec::new(),
            found: Buckets::default(),
            sorted: Vec::new(),
        })
    }

    /// Adds an object and returns its slot.
    pub fn insert(&mut self, center: Vec3, aura: Aura) -> Result<Slot, AuraError> {
        aura.check(None)?;
        let slot = self.spheres.insert(Sphere::new(center, aura.scaled(self.hysteresis).reach()))?;
        if self.auras.len() < self.spheres.rows() {
            self.auras.resize(self.spheres.rows(), aura);
        }
        self.auras[slot.row()] = aura;
        self.is_stale = true;
        Ok(slot)
    }

    /// Removes an object. The next update tells which listeners no longer hear it.
    pub fn remove(&mut self, slot: Slot) -> Result<(), AuraError> {
        self.spheres.remove(slot)?;
        self.gone.insert(slot.row());
        self.is_stale = true;
        Ok(())
    }

    /// Moves an object to another place, at any distance.
    pub fn move_to(&mut self, slot: Slot, center: Vec3) -> Result<(), AuraError> {
        Ok(self.spheres.move_to(slot, center)?)
    }

    /// Gives an object another aura.
    pub fn set_aura(&mut self, slot: Slot, aura: Aura) -> Result<(), AuraError> {
        aura.check(Some(slot))?;
        self.spheres.resize(slot, aura.scaled(self.hysteresis).reach())?;
        self.auras[slot.row()] = aura;
        self.is_stale = true;
        Ok(())
    }

    /// The position of an object.
    pub fn center(&self, slot: Slot) -> Result<Vec3, AuraError> {
        Ok(self.spheres.get(slot)?.center)
    }

    pub fn aura(&self, slot: Slot) -> Result<Aura, AuraError> {
        self.spheres.get(slot)?;
        Ok(self.auras[slot.row()])
    }

    pub fn len(&self) -> usize {
        self.spheres.len()
    }

    /// Whether there are no objects.
    pub fn is_empty(&self) -> bool {
        self.spheres.is_empty()
    }

    /// Ends the tick: brings all subscriptions up to date, and says what changed since the last update.
    pub fn update(&mut self) {
        if self.is_stale {
            self.list_listeners();
        }
        self.hits.clear();
        match &mut self.search {
            Search::Listeners(_) => self.search_grid(),
            Search::AllPairs { .. } => self.search_pairs(),
        }
        let hits = self.hits.iter().map(|hit| (hit.listener as usize, hit.speaker));
        self.found.fill(self.listeners.len(), hits);
        std::mem::swap(&mut self.heard, &mut self.before);
        self.merge();
        if self.is_stale {
            self.gone.clear();
            self.is_stale = false;
        }
        self.spheres.end_tick();
    }

    /// Subscriptions that began with the last update, by listener, then by speaker.
    pub fn entered(&self) -> &[Subscription] {
        &self.entered
    }

    /// Subscriptions that ended with the last update, by listener, then by speaker. Where a slot was given to another
    /// object, the old one's are here and the new one's in [`entered`](Audience::entered): apply these first.
    pub fn left(&self) -> &[Subscription] {
        &self.left
    }

    /// The objects that an object hears, ascending.
    pub fn heard_by(&self, listener: Slot) -> impl Iterator<Item = Slot> + '_ {
        self.heard.of(listener.number()).iter().map(|&row| Slot::new(row))
    }

    /// The objects that hear an object, ascending. Looks at every listener.
    pub fn listeners_of(&self, speaker: Slot) -> impl Iterator<Item = Slot> + '_ {
        let listeners = self.heard.listener.iter().map(|&row| Slot::new(row));
        listeners.filter(move |&listener| self.hears(listener, speaker))
    }

    /// Whether one object hears another, as of the last update.
    pub fn hears(&self, listener: Slot, speaker: Slot) -> bool {
        self.heard.of(listener.number()).binary_search(&speaker.number()).is_ok()
    }

    /// The number of subscriptions: the copies of updates that are needed each tick.
    pub fn hearings(&self) -> usize {
        self.heard.rows.len()
    }

    fn list_listeners(&mut self) {
        let Audience { spheres, auras, listeners, hysteresis, nimbus_max, .. } = self;
        listeners.clear();
        *nimbus_max = 0.0;
        for row in spheres.alive().iter() {
            let (plain, wide) = (auras[row], auras[row].scaled(*hysteresis));
            *nimbus_max = nimbus_max.max(wide.nimbus);
            if plain.focus().is_some() {
                listeners.push(Listener { center: Vec3::ZERO, plain: plain.focus, wide: wide.focus, row: row as u32 });
            }
        }
    }

    /// Finds the hits with a grid of listeners. One walk over all objects in the order of memory gives them
    /// by rising row.
    fn search_grid(&mut self) {
        let Audience { spheres, auras, listeners, search: Search::Listeners(grid), hits, hysteresis, .. } = self else {
            return;
        };
        let columns = spheres.columns();
        for listener in listeners.iter_mut() {
            let row = listener.row as usize;
            listener.center = Vec3::new(columns.x[row], columns.y[row], columns.z[row]);
        }
        grid.fill(listeners, self.nimbus_max);
        if listeners.is_empty() {
            return;
        }
        let listeners = &listeners[..];
        let rows = columns.x.iter().zip(columns.y).zip(columns.z).zip(auras.iter()).zip(0..);
        // A row without an object is at NaN, which is in no cell.
        for ((((&x, &y), &z), aura), row) in rows {
            for &number in grid.at(x, z) {
                let listener = &listeners[number as usize];
                let way = listener.center - Vec3::new(x, y, z);
                let distance_squared = way.x * way.x + way.y * way.y + way.z * way.z;
                let wide = listener.wide + aura.nimbus * *hysteresis;
                if (wide > 0.0) & (distance_squared < wide * wide) & (listener.row != row) {
                    let plain = listener.plain + aura.nimbus;
                    let is_plain = (plain > 0.0) & (distance_squared < plain * plain);
                    hits.push(Hit { listener: number, speaker: row | if is_plain { IS_PLAIN } else { 0 } });
                }
            }
        }
    }

    /// Finds the hits among the pairs of a broad phase, in no order.
    fn search_pairs(&mut self) {
        let Audience { spheres, auras, listeners, search, hits, hysteresis, is_stale, .. } = self;
        let Search::AllPairs { broad_phase, pairs, numbers } = search else { return };
        if *is_stale {
            numbers.clear();
            numbers.resize(spheres.rows(), DEAF);
            listeners.iter().zip(0..).for_each(|(listener, number)| numbers[listener.row as usize] = number);
        }
        broad_phase.pairs(spheres, pairs);
        let columns = spheres.columns();
        for pair in pairs.iter() {
            let (a, b) = (pair.a().row(), pair.b().row());
            let way = [columns.x[a] - columns.x[b], columns.y[a] - columns.y[b], columns.z[a] - columns.z[b]];
            let distance_squared = way[0] * way[0] + way[1] * way[1] + way[2] * way[2];
            for (listener, speaker) in [(a, b), (b, a)] {
                let (focus, nimbus) = (auras[listener].focus, auras[speaker].nimbus);
                let wide = focus * *hysteresis + nimbus * *hysteresis;
                if (wide > 0.0) & (distance_squared < wide * wide) {
                    let plain = focus + nimbus;
                    let is_plain = (plain > 0.0) & (distance_squared < plain * plain);
                    let speaker = speaker as u32 | if is_plain { IS_PLAIN } else { 0 };
                    hits.push(Hit { listener: numbers[listener], speaker });
                }
            }
        }
    }

    /// Merges each listener's hits with the speakers it heard before.
    fn merge(&mut self) {
        let Audience { listeners, found, sorted, heard, before, entered, left, gone, .. } = self;
        heard.clear();
        entered.clear();
        left.clear();
        let mut known = 0;
        for (number, listener) in listeners.iter().enumerate() {
            // Objects that listen no longer.
            while known < before.listener.len() && before.listener[known] < listener.row {
                before.end_all(known, left);
                known += 1;
            }
            let mut old: &[u32] = &[];
            if before.listener.get(known) == Some(&listener.row) {
                if gone.contains(listener.row as usize) {
                    before.end_all(known, left);
                } else {
                    old = before.list(known);
                }
                known += 1;
            }
            let subscription = |row: u32| Subscription { listener: Slot::new(listener.row), speaker: Slot::new(row) };
            let mut hits = found.get(number);
            if !hits.is_sorted_by_key(|hit| hit & !IS_PLAIN) {
                sorted.clear();
                sorted.extend_from_slice(hits);
                sorted.sort_unstable_by_key(|hit| hit & !IS_PLAIN);
                hits = sorted;
            }
            for &hit in hits {
                let speaker = hit & !IS_PLAIN;
                while let Some((&lost, rest)) = old.split_first().filter(|(lost, _)| **lost < speaker) {
                    left.push(subscription(lost));
                    old = rest;
                }
                let mut is_known = false;
                if old.first() == Some(&speaker) {
                    old = &old[1..];
                    // Another object may have its row now.
                    is_known = !gone.contains(speaker as usize);
                    if !is_known {
                        left.push(subscription(speaker));
                    }
                }
                if hit & IS_PLAIN != 0 || is_known {
                    heard.rows.push(speaker);
                    if !is_known {
                        entered.push(subscription(speaker));
                    }
                }
            }
            left.extend(old.iter().map(|&lost| subscription(lost)));
            heard.end(listener.row);
        }
        for rest in known..before.listener.len() {
            before.end_all(rest, left);
        }
    }
}

impl Default for Audience {
    fn default() -> Audience {
        Audience::new()
    }
}

impl SpeakerLists {
    fn clear(&mut self) {
        self.listener.clear();
        self.rows.clear();
        self.start.clear();
        self.start.push(0);
    }

    /// Ends the list of a listener.
    fn end(&mut self, listener: u32) {
        self.listener.push(listener);
        self.start.push(self.rows.len() as u32);
    }

    fn list(&self, number: usize) -> &[u32] {
        &self.rows[self.start[number] as usize..self.start[number + 1] as usize]
    }

    fn of(&self, listener: u32) -> &[u32] {
        self.listener.binary_search(&listener).map_or(&[], |number| self.list(number))
    }

    /// Tells that all subscriptions of a listener ended.
    fn end_all(&self, number: usize, left: &mut Vec<Subscription>) {
        let listener = Slot::new(self.listener[number]);
        left.extend(self.list(number).iter().map(|&row| Subscription { listener, speaker: Slot::new(row) }));
    }
}
