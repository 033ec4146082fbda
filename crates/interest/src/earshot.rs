//! Who is within earshot of a few listeners, among very many that are only heard: what a server of users asks every tick.
//!
//! An [`Audience`](crate::Audience) follows all pairs of a world, because everybody in it may hear. On a server only users
//! do: 1,000 of 100,000, say. Then it is cheaper to remember nothing about pairs. A flat lattice of cells lists the
//! listeners whose ears reach into each, which is little enough to stay in the nearest cache; one walk through everybody,
//! in the order of memory, takes the distances to those listed where it stands. What is found is sorted by listener and
//! merged with what was found before, which gives what entered and what left.
//!
//! Invariants, after an update:
//! - One hears another if and only if it did and they are within the larger reach, or they are within the plain one: to
//!   the bit what an audience says. `earshot_is_what_an_audience_hears.rs` compares the two.
//! - A cell lists every listener that somebody in it could be heard by: its edges are rounded outward, and the number of
//!   a cell never falls as a coordinate rises.

use space::bits::Bits;
use space::{Slot, Sphere, Spheres, Vec3};

use crate::{Aura, AuraError, Hearing};

/// Who hears whom in a world where few listen.
///
/// It has the verbs of an [`Audience`](crate::Audience), and says the same.
///
/// ```
/// use interest::{Aura, Earshot, Hearing};
/// use space::Vec3;
///
/// let mut earshot = Earshot::new();
/// let ann = earshot.insert(Vec3::ZERO, Aura::one_sided(20.0, 0.0))?;
/// let lamp = earshot.insert(Vec3::new(5.0, 0.0, 0.0), Aura::only_heard(0.0))?;
/// earshot.update();
/// assert_eq!(earshot.entered(), [Hearing { listener: ann, speaker: lamp }]);
///
/// earshot.move_to(ann, Vec3::new(-16.0, 0.0, 0.0))?;
/// earshot.update();
/// assert!(earshot.hears(ann, lamp), "parted at 22 metres, not at 20: no flicker");
/// # Ok::<(), interest::AuraError>(())
/// ```
#[derive(Debug)]
pub struct Earshot {
    hysteresis: f32,
    /// Where everybody is. Radii mean nothing here.
    spheres: Spheres,
    /// By row.
    auras: Vec<Aura>,
    /// Somebody came, left, or has another aura: `ears` is to be listed anew.
    is_stale: bool,
    /// Everybody who can hear, by row.
    ears: Vec<Ear>,
    /// The farthest that anybody is heard.
    nimbus_max: f32,
    /// Rows whose object was removed since the last update.
    gone: Bits,
    heard: Heard,
    before: Heard,
    entered: Vec<Hearing>,
    left: Vec<Hearing>,
    /// Scratch.
    lattice: Lattice,
    hits: Vec<Hit>,
    found: Vec<u32>,
    ends: Vec<u32>,
}

/// Somebody who listens.
#[derive(Clone, Copy, Debug)]
struct Ear {
    center: Vec3,
    plain: f32,
    wide: f32,
    row: u32,
}

/// Somebody within the larger reach of a listener; the highest bit of `speaker` says that it is within the plain one.
#[derive(Clone, Copy, Debug)]
struct Hit {
    ear: u32,
    speaker: u32,
}

const IS_PLAIN: u32 = 1 << 31;
const _: () = assert!(Spheres::MAX_OBJECTS <= IS_PLAIN as usize, "a row leaves the highest bit alone");

/// Whom each listener hears, in one list: `rows[start[n]..start[n + 1]]` ascending, for the row `listener[n]`, ascending.
#[derive(Debug, Default)]
struct Heard {
    listener: Vec<u32>,
    start: Vec<u32>,
    rows: Vec<u32>,
}

impl Default for Earshot {
    fn default() -> Earshot {
        Earshot::new()
    }
}

impl Earshot {
    /// An empty world, in which who is heard is heard up to [`Aura::HYSTERESIS`] times the distance at which that began.
    pub fn new() -> Earshot {
        Earshot::with_hysteresis(Aura::HYSTERESIS).expect("the default makes sense")
    }

    /// An empty world, in which who is heard is heard up to so many times the distance at which that began: 1 to 10.
    pub fn with_hysteresis(hysteresis: f32) -> Result<Earshot, AuraError> {
        if !(1.0..=Aura::HYSTERESIS_MAX).contains(&hysteresis) {
            return Err(AuraError::Hysteresis { value: hysteresis });
        }
        Ok(Earshot {
            hysteresis,
            spheres: Spheres::new(),
            auras: Vec::new(),
            is_stale: false,
            ears: Vec::new(),
            nimbus_max: 0.0,
            gone: Bits::new(),
            heard: Heard::default(),
            before: Heard::default(),
            entered: Vec::new(),
            left: Vec::new(),
            lattice: Lattice::default(),
            hits: Vec::new(),
            found: Vec::new(),
            ends: Vec::new(),
        })
    }

    /// Adds an object and returns its slot.
    pub fn insert(&mut self, center: Vec3, aura: Aura) -> Result<Slot, AuraError> {
        aura.check(None)?;
        let slot = self.spheres.insert(Sphere::new(center, 0.0))?;
        if self.auras.len() < self.spheres.rows() {
            self.auras.resize(self.spheres.rows(), aura);
        }
        self.auras[slot.row()] = aura;
        self.is_stale = true;
        Ok(slot)
    }

    /// Takes an object out. The next update says who no longer hears it.
    pub fn remove(&mut self, slot: Slot) -> Result<(), AuraError> {
        self.spheres.remove(slot)?;
        self.gone.insert(slot.row());
        self.is_stale = true;
        Ok(())
    }

    /// Puts an object somewhere else, at any distance.
    pub fn move_to(&mut self, slot: Slot, center: Vec3) -> Result<(), AuraError> {
        Ok(self.spheres.move_to(slot, center)?)
    }

    /// Gives an object another aura.
    pub fn set_aura(&mut self, slot: Slot, aura: Aura) -> Result<(), AuraError> {
        aura.check(Some(slot))?;
        self.spheres.get(slot)?;
        self.auras[slot.row()] = aura;
        self.is_stale = true;
        Ok(())
    }

    /// Where an object is.
    pub fn center(&self, slot: Slot) -> Result<Vec3, AuraError> {
        Ok(self.spheres.get(slot)?.center)
    }

    /// The aura of an object.
    pub fn aura(&self, slot: Slot) -> Result<Aura, AuraError> {
        self.spheres.get(slot)?;
        Ok(self.auras[slot.row()])
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
        if self.is_stale {
            self.list_ears();
        }
        self.place_ears();
        self.lattice.arrange(&self.ears, self.nimbus_max * self.hysteresis);
        self.take_distances();
        self.sort_hits();
        std::mem::swap(&mut self.heard, &mut self.before);
        self.entered.clear();
        self.left.clear();
        self.merge();
        if self.is_stale {
            self.gone.clear();
            self.is_stale = false;
        }
        self.spheres.end_tick();
    }

    /// Who began to hear whom with the last update, by listener, then by speaker.
    pub fn entered(&self) -> &[Hearing] {
        &self.entered
    }

    /// Who ceased to hear whom with the last update, by listener, then by speaker. Where a slot was handed to another
    /// object, the old one's are here and the new one's in [`entered`](Earshot::entered): apply these first.
    pub fn left(&self) -> &[Hearing] {
        &self.left
    }

    /// Whom an object hears, ascending.
    pub fn heard_by(&self, listener: Slot) -> impl Iterator<Item = Slot> + '_ {
        self.heard.of(listener.number()).iter().map(|&row| Slot::new(row))
    }

    /// Who hears an object, ascending. Looks at every listener.
    pub fn listeners_of(&self, speaker: Slot) -> impl Iterator<Item = Slot> + '_ {
        let listeners = self.heard.listener.iter().map(|&row| Slot::new(row));
        listeners.filter(move |&listener| self.hears(listener, speaker))
    }

    /// Whether one object hears another, as of the last update.
    pub fn hears(&self, listener: Slot, speaker: Slot) -> bool {
        self.heard.of(listener.number()).binary_search(&speaker.number()).is_ok()
    }

    /// How many objects hear how many others: the copies of updates that are needed each tick.
    pub fn hearings(&self) -> usize {
        self.heard.rows.len()
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.spheres.bytes()
            + self.gone.bytes()
            + self.heard.bytes()
            + self.before.bytes()
            + self.lattice.bytes()
            + self.auras.capacity() * size_of::<Aura>()
            + self.ears.capacity() * size_of::<Ear>()
            + self.hits.capacity() * size_of::<Hit>()
            + (self.entered.capacity() + self.left.capacity()) * size_of::<Hearing>()
            + 4 * (self.found.capacity() + self.ends.capacity())
    }

    fn list_ears(&mut self) {
        let Earshot { spheres, auras, ears, hysteresis, nimbus_max, .. } = self;
        ears.clear();
        *nimbus_max = 0.0;
        for row in spheres.alive().iter() {
            let aura = auras[row];
            *nimbus_max = nimbus_max.max(aura.nimbus);
            if aura.focus().is_some() {
                let wide = aura.scaled(*hysteresis).focus;
                ears.push(Ear { center: Vec3::ZERO, plain: aura.focus, wide, row: row as u32 });
            }
        }
    }

    fn place_ears(&mut self) {
        let columns = self.spheres.columns();
        for ear in &mut self.ears {
            let row = ear.row as usize;
            ear.center = Vec3::new(columns.x[row], columns.y[row], columns.z[row]);
        }
    }

    /// Finds everybody within the larger reach of a listener, by rising row.
    fn take_distances(&mut self) {
        let Earshot { spheres, auras, ears, lattice, hits, hysteresis, .. } = self;
        let (columns, ears) = (spheres.columns(), &ears[..]);
        hits.clear();
        if ears.is_empty() {
            return;
        }
        let rows = columns.x.iter().zip(columns.y).zip(columns.z).zip(auras.iter()).zip(0..);
        // A row where nobody lives is nowhere: no cell has it.
        for ((((&x, &y), &z), aura), row) in rows {
            for &number in lattice.at(x, z) {
                let ear = &ears[number as usize];
                let way = ear.center - Vec3::new(x, y, z);
                let distance_squared = way.x * way.x + way.y * way.y + way.z * way.z;
                let wide = ear.wide + aura.nimbus * *hysteresis;
                if (wide > 0.0) & (distance_squared < wide * wide) & (ear.row != row) {
                    let plain = ear.plain + aura.nimbus;
                    let is_plain = (plain > 0.0) & (distance_squared < plain * plain);
                    hits.push(Hit { ear: number, speaker: row | if is_plain { IS_PLAIN } else { 0 } });
                }
            }
        }
    }

    /// Sorts the hits by listener; those of each stay in their order. `ends` is where each listener's end.
    fn sort_hits(&mut self) {
        let Earshot { ears, hits, found, ends, .. } = self;
        ends.clear();
        ends.resize(ears.len() + 1, 0);
        hits.iter().for_each(|hit| ends[hit.ear as usize + 1] += 1);
        for number in 1..ends.len() {
            ends[number] += ends[number - 1];
        }
        found.clear();
        found.resize(hits.len(), 0);
        for hit in hits.iter() {
            let end = &mut ends[hit.ear as usize];
            found[*end as usize] = hit.speaker;
            *end += 1;
        }
    }

    /// Tells what changed, listener by listener, and lists whom each hears now.
    fn merge(&mut self) {
        let Earshot { ears, found, ends, heard, before, entered, left, gone, .. } = self;
        heard.clear();
        let (mut known, mut begin) = (0, 0);
        for (ear, &end) in ears.iter().zip(ends.iter()) {
            // Those who listened and do no longer.
            while known < before.listener.len() && before.listener[known] < ear.row {
                before.part(known, left);
                known += 1;
            }
            let mut old: &[u32] = &[];
            if before.listener.get(known) == Some(&ear.row) {
                if gone.contains(ear.row as usize) {
                    before.part(known, left);
                } else {
                    old = before.list(known);
                }
                known += 1;
            }
            let hearing = |row: u32| Hearing { listener: Slot::new(ear.row), speaker: Slot::new(row) };
            for &hit in &found[begin..end as usize] {
                let speaker = hit & !IS_PLAIN;
                while let Some((&lost, rest)) = old.split_first().filter(|(lost, _)| **lost < speaker) {
                    left.push(hearing(lost));
                    old = rest;
                }
                let mut is_known = false;
                if old.first() == Some(&speaker) {
                    old = &old[1..];
                    // Another object may have its row now.
                    is_known = !gone.contains(speaker as usize);
                    if !is_known {
                        left.push(hearing(speaker));
                    }
                }
                if hit & IS_PLAIN != 0 || is_known {
                    heard.rows.push(speaker);
                    if !is_known {
                        entered.push(hearing(speaker));
                    }
                }
            }
            left.extend(old.iter().map(|&lost| hearing(lost)));
            heard.end(ear.row);
            begin = end as usize;
        }
        for rest in known..before.listener.len() {
            before.part(rest, left);
        }
    }
}

impl Heard {
    fn bytes(&self) -> usize {
        4 * (self.listener.capacity() + self.start.capacity() + self.rows.capacity())
    }

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

    /// Tells that a listener hears nobody any more.
    fn part(&self, number: usize, left: &mut Vec<Hearing>) {
        let listener = Slot::new(self.listener[number]);
        left.extend(self.list(number).iter().map(|&row| Hearing { listener, speaker: Slot::new(row) }));
    }
}

/// Square cells over the ground, each with the numbers of the listeners that reach into it.
#[derive(Debug, Default)]
struct Lattice {
    low: [f32; 2],
    per_metre: f32,
    counts: [usize; 2],
    start: Vec<u32>,
    list: Vec<u32>,
}

/// No more cells along an edge than this.
const CELLS_MAX: f32 = 512.0;

impl Lattice {
    fn bytes(&self) -> usize {
        4 * (self.start.capacity() + self.list.capacity())
    }

    /// Sorts listeners into cells. `nimbus` is how far beyond its focus a listener may have to listen.
    fn arrange(&mut self, ears: &[Ear], nimbus: f32) {
        let (mut low, mut high, mut reach_max) = ([f32::INFINITY; 2], [f32::NEG_INFINITY; 2], 0f32);
        for ear in ears {
            let (from, to) = ear.square(nimbus);
            reach_max = reach_max.max(ear.wide + nimbus);
            for axis in 0..2 {
                low[axis] = low[axis].min(from[axis]);
                high[axis] = high[axis].max(to[axis]);
            }
        }
        // Half a reach: cells that are finer list more, and those that are coarser list too many.
        let extent = (high[0] - low[0]).max(high[1] - low[1]);
        let edge = (0.5 * reach_max).max(extent / CELLS_MAX);
        self.low = low;
        self.per_metre = if edge > 0.0 { 1.0 / edge } else { 0.0 };
        self.counts = [0, 1].map(|axis| ((high[axis] - low[axis]) * self.per_metre) as usize + 1);
        if ears.is_empty() {
            self.counts = [0; 2];
        }
        self.start.clear();
        self.start.resize(self.counts[0] * self.counts[1] + 1, 0);
        for ear in ears {
            self.each_cell(ear, nimbus, |start, cell| start[cell + 1] += 1);
        }
        for cell in 1..self.start.len() {
            self.start[cell] += self.start[cell - 1];
        }
        let mut list = std::mem::take(&mut self.list);
        list.clear();
        list.resize(self.start[self.start.len() - 1] as usize, 0);
        for (ear, number) in ears.iter().zip(0..) {
            self.each_cell(ear, nimbus, |start, cell| {
                list[start[cell] as usize] = number;
                start[cell] += 1;
            });
        }
        self.list = list;
    }

    /// Who may hear somebody at this place.
    #[inline]
    fn at(&self, x: f32, z: f32) -> &[u32] {
        let (along, across) = ((x - self.low[0]) * self.per_metre, (z - self.low[1]) * self.per_metre);
        let is_within = |cells: f32, count: usize| (cells >= 0.0) & (cells < count as f32);
        if !(is_within(along, self.counts[0]) & is_within(across, self.counts[1])) {
            return &[];
        }
        let cell = across as usize * self.counts[0] + along as usize;
        // The lists were filled from their beginnings: each start has become its end.
        let begin = if cell == 0 { 0 } else { self.start[cell - 1] };
        &self.list[begin as usize..self.start[cell] as usize]
    }

    fn each_cell(&mut self, ear: &Ear, nimbus: f32, mut visit: impl FnMut(&mut [u32], usize)) {
        let (from, to) = ear.square(nimbus);
        let cell =
            |place: f32, axis: usize| (((place - self.low[axis]) * self.per_metre) as usize).min(self.counts[axis] - 1);
        let (along, across) = (cell(from[0], 0)..=cell(to[0], 0), cell(from[1], 1)..=cell(to[1], 1));
        for z in across {
            for x in along.clone() {
                visit(&mut self.start, z * self.counts[0] + x);
            }
        }
    }
}

impl Ear {
    /// The ground that it may hear, rounded outward by more than the test of distances can round.
    fn square(&self, nimbus: f32) -> ([f32; 2], [f32; 2]) {
        let reach = (self.wide + nimbus) * (1.0 + 1e-5);
        let side = |place: f32| (place - reach - 1e-6 * place.abs(), place + reach + 1e-6 * place.abs());
        let (x, z) = (side(self.center.x), side(self.center.z));
        ([x.0, z.0], [x.1, z.1])
    }
}
