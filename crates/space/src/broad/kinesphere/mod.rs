//! The default broad phase: predict, check every prediction, and look only at what may meet.

mod agenda;
mod course;
mod encounter;
mod lattice;
mod mood;
mod plan;
mod scout;
mod search;
mod tile;
mod tile_map;

use glam::Vec3;

use self::agenda::{Agenda, LOOK_AHEAD, Moment};
use self::course::{Course, Courses, drift};
use self::lattice::Lattice;
use self::mood::Mood;
use self::plan::Census;
use self::scout::{Outlook, Scout};
use self::search::{Scratch, Search};
use self::tile::{Cells, Guest, NEVER, Tile, Workbench};
use super::{BroadPhase, PlainGrid, Work};
use crate::bits::Bits;
use crate::simd::sweep::Row;
use crate::{Columns, Pair, Spheres, Tick};

const NOWHERE: u32 = u32::MAX;

/// The default broad phase.
#[derive(Debug, Default)]
pub struct Kinesphere {
    now: u64,
    seen: Option<(u64, Tick)>,
    following: bool,
    life: u64,
    half: u64,
    courses: Courses,
    moods: Vec<u8>,
    homes: Vec<u32>,
    lattice: Lattice,
    calendar: Vec<Vec<u32>>,
    agenda: Agenda,
    strayed: Vec<u32>,
    strayed_bits: Bits,
    newcomers: Vec<(u32, u32, [i32; 3])>,
    newcomer_bits: Bits,
    due: Vec<u32>,
    emigrants: Vec<u32>,
    adopted: Vec<u32>,
    last_pairs: usize,
    bench: Workbench,
    scout: Scout,
    scratch: Scratch,
    outlook: Option<Outlook>,
    anchors: Vec<Vec3>,
    direct: PlainGrid,
    pub stats: Stats,
}

#[derive(Debug, Default, Clone, Copy)]
pub struct Stats {
    pub strayed: u64,
    pub newcomers: u64,
    pub due: u64,
    pub hits: u64,
    pub tests: u64,
    pub doubtful: u64,
    pub t_check: u64,
    pub t_leave: u64,
    pub t_renew: u64,
    pub t_settle: u64,
    pub t_examine: u64,
    pub t_welcome: u64,
    pub standing: u64,
    pub levels: [u32; 4],
    pub life: u64,
    pub layers: u64,
    pub tiles: u64,
}

impl BroadPhase for Kinesphere {
    fn update(&mut self, spheres: &Spheres) -> Work {
        let next = (spheres.identity(), spheres.tick());
        match self.seen {
            Some((identity, tick)) if identity == next.0 && tick == next.1 => {}
            Some((identity, tick)) if identity == next.0 && tick.next() == next.1 => self.now += 1,
            _ => {
                self.now += 1;
                self.following = false;
                self.outlook = None;
                self.scout.reset();
            }
        }
        self.seen = Some(next);
        if self.following {
            return self.follow(spheres);
        }
        if let Some(outlook) = self.outlook.take() {
            self.embark(spheres, outlook);
            if self.following {
                return Work::default();
            }
        }
        self.direct.update(spheres)
    }

    fn find(&mut self, spheres: &Spheres, pairs: &mut Vec<Pair>) -> Work {
        if !self.following {
            let work = self.direct.find(spheres, pairs);
            self.outlook = self.scout.observe(spheres);
            if self.outlook.is_some() {
                let columns = spheres.columns();
                self.anchors.clear();
                self.anchors.extend((0..spheres.rows()).map(|row| columns.sphere(row).center));
            }
            self.last_pairs = pairs.len();
            return work;
        }
        pairs.clear();
        let moment = Moment {
            now: self.now,
            columns: spheres.columns(),
            strayed: &self.strayed_bits,
            any_strayed: !self.strayed.is_empty() || !self.adopted.is_empty(),
            versions: self.courses.versions(),
        };
        let tests = self.agenda.report(&moment, pairs, None);
        self.stats.doubtful = tests;
        Work { sphere_tests: tests, ..Work::default() }
    }

    fn bytes(&self) -> usize {
        self.courses.bytes()
            + self.moods.capacity()
            + self.homes.capacity() * 4
            + self.lattice.bytes()
            + self.agenda.bytes()
    }
}

impl Kinesphere {
    fn embark(&mut self, spheres: &Spheres, outlook: Outlook) {
        let rows = spheres.rows();
        let columns = spheres.columns();
        let mood = match outlook {
            Outlook::Lines(level) => Mood::new(level),
            Outlook::Milling => Mood::new(usize::MAX),
        };
        self.courses.reset(rows);
        self.moods.clear();
        self.moods.resize(rows, mood.to_byte());
        self.homes.clear();
        self.homes.resize(rows, NOWHERE);
        self.strayed.clear();
        self.strayed_bits.grow(rows);
        self.strayed_bits.clear();
        self.newcomers.clear();
        self.newcomer_bits.clear();
        self.newcomer_bits.grow(rows);
        for row in spheres.alive().iter() {
            let place = columns.sphere(row).center;
            let velocity = match (outlook, self.anchors.get(row)) {
                (Outlook::Lines(_), Some(anchor)) if anchor.is_finite() => place - *anchor,
                _ => Vec3::ZERO,
            };
            let slack = mood.slack(columns.radius[row], velocity);
            self.courses.set(row as u32, self.now, Course { place, velocity, slack });
        }
        let plan = self.census(spheres).plan();
        self.life = plan.life;
        self.half = plan.life / 2;
        self.stats.life = plan.life;
        self.stats.layers = plan.layers.len() as u64;
        self.lattice.reset();
        for layer in &plan.layers {
            self.lattice.add_layer(layer.reach, layer.edge, layer.tile_bits, layer.standing);
        }
        self.calendar.clear();
        self.calendar.resize(LOOK_AHEAD as usize, Vec::new());
        self.agenda.clear(&mut Vec::new());
        for row in spheres.alive().iter() {
            self.settle_in(row as u32, columns);
        }
        self.due.clear();
        self.due
            .extend((0..self.lattice.tiles.len() as u32).filter(|&tile| self.lattice.tiles[tile as usize].len() > 0));
        self.due.sort_by_key(|&tile| {
            let tile = &self.lattice.tiles[tile as usize];
            (tile.layer, tile.key[2], tile.key[1], tile.key[0])
        });
        let total: usize =
            self.due.iter().map(|&t| &self.lattice.tiles[t as usize]).filter(|t| t.due != NEVER).map(Tile::len).sum();
        let mut before = 0;
        self.calendar.iter_mut().for_each(Vec::clear);
        for &tile_number in &self.due {
            let tile = &mut self.lattice.tiles[tile_number as usize];
            let cells = self.lattice.layers[tile.layer as usize].cells;
            tile.sort(&cells, &mut self.bench);
            tile.renewed = self.now;
            if tile.due != NEVER {
                tile.due = self.now + 1 + (before as u64 * self.life / total as u64).min(self.life - 1);
                self.calendar[(tile.due % LOOK_AHEAD) as usize].push(tile_number);
                before += tile.len();
            }
        }
        self.stats.tiles = self.due.len() as u64;
        self.look_around(columns);
        self.following = true;
    }

    fn census(&self, spheres: &Spheres) -> Census {
        let columns = spheres.columns();
        let every = spheres.len().div_ceil(1024).max(1);
        let mut sample = Vec::new();
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for row in spheres.alive().iter() {
            let center = columns.sphere(row).center;
            low = low.min(center);
            high = high.max(center);
        }
        let mut radii = Vec::new();
        for row in spheres.alive().iter().step_by(every) {
            let course = self.courses.at(row as u32, self.now, 0.0);
            let radius = columns.radius[row];
            radii.push(f64::from(radius));
            sample.push((radius + course.slack, course.velocity.length()));
        }
        let volume: f64 = (high - low).to_array().iter().map(|&side| f64::from(side).max(1e-6)).product();
        let n = spheres.len() as f64;
        let mut ball = 0.0;
        for (i, a) in radii.iter().enumerate() {
            let b = radii[(i * 7 + 1) % radii.len()];
            ball += (a + b).powi(3) * 4.18879 / radii.len() as f64;
        }
        let by_pairs = if ball > 0.0 { 2.0 * self.last_pairs as f64 / n / ball } else { 0.0 };
        Census { sample, objects: spheres.len(), density: (n / volume).max(by_pairs) }
    }

    fn follow(&mut self, spheres: &Spheres) -> Work {
        let columns = spheres.columns();
        let rows = spheres.rows();
        self.courses.grow(rows);
        self.moods.resize(rows, 0);
        self.homes.resize(rows, NOWHERE);
        self.strayed_bits.grow(rows);
        for &row in &self.strayed {
            self.strayed_bits.remove(row as usize);
        }
        for &row in &self.adopted {
            self.strayed_bits.remove(row as usize);
        }
        self.adopted.clear();
        self.strayed.clear();
        let t0 = std::time::Instant::now(); //T
        self.courses.check(self.now, spheres, &mut self.strayed);
        self.stats.t_check += t0.elapsed().as_nanos() as u64;
        let t0 = std::time::Instant::now(); //T
        for &row in &self.strayed {
            self.strayed_bits.insert(row as usize);
        }
        for &slot in spheres.reshaped() {
            if !self.strayed_bits.contains(slot.row()) {
                self.strayed_bits.insert(slot.row());
                self.strayed.push(slot.number());
            }
        }
        self.stats.strayed = self.strayed.len() as u64;
        if self.strayed.len() * 8 > spheres.len() {
            self.following = false;
            self.scout.reset();
            self.agenda.clear(&mut Vec::new());
            return self.direct.update(spheres);
        }
        for &(row, _, _) in &self.newcomers {
            self.newcomer_bits.remove(row as usize);
        }
        self.newcomers.clear();
        for index in 0..self.strayed.len() {
            let row = self.strayed[index];
            self.leave_home(row);
            if spheres.is_alive(crate::Slot::new(row)) {
                self.new_course(row, columns);
            } else {
                self.courses.clear(row);
            }
        }
        self.stats.t_leave += t0.elapsed().as_nanos() as u64;
        let t0 = std::time::Instant::now(); //T
        self.renew_due();
        self.stats.t_renew += t0.elapsed().as_nanos() as u64;
        let t0 = std::time::Instant::now(); //T
        for index in 0..self.strayed.len() {
            let row = self.strayed[index];
            if spheres.is_alive(crate::Slot::new(row)) {
                self.settle_in(row, columns);
            }
        }
        for index in 0..self.emigrants.len() {
            self.settle_in(self.emigrants[index], columns);
        }
        self.stats.newcomers = self.newcomers.len() as u64;
        self.stats.due = self.due.len() as u64;
        self.stats.t_settle += t0.elapsed().as_nanos() as u64; //T
        self.look_around(columns);
        Work::default()
    }

    fn leave_home(&mut self, row: u32) {
        let home = std::mem::replace(&mut self.homes[row as usize], NOWHERE);
        if home != NOWHERE {
            let tile = &mut self.lattice.tiles[home as usize];
            let ahead = if tile.due == NEVER { 0.0 } else { (tile.middle as i64 - self.now as i64) as f32 };
            let place = self.courses.at(row, self.now, ahead).place;
            let cell = self.lattice.layers[tile.layer as usize].cells.cells(place);
            let row = tile.find(row, cell).expect("an object is in its home tile");
            tile.dig(row);
            self.lattice.layers[tile.layer as usize].objects -= 1;
        }
    }

    fn new_course(&mut self, row: u32, columns: Columns<'_>) {
        let sphere = columns.sphere(row as usize);
        let age = self.courses.age(row, self.now);
        let before = self.courses.at(row, self.now, -1.0);
        let (mood, velocity) = if before.place.is_finite() {
            let start = self.courses.at(row, self.now, -f32::from(age.max(1))).place;
            Mood::from_byte(self.moods[row as usize]).next(sphere.center, before, start, age, sphere.radius)
        } else {
            (Mood::new(0), Vec3::ZERO)
        };
        if std::env::var("MOOD").is_ok() && self.now > 60 {
            println!(
                "{row} age {age} old {:?} -> {:?} v {:?} -> {:?} off {}",
                Mood::from_byte(self.moods[row as usize]),
                mood,
                before.velocity,
                velocity,
                (sphere.center - before.place - before.velocity).length()
            );
        } //T
        self.moods[row as usize] = mood.to_byte();
        let slack = mood.slack(sphere.radius, velocity);
        self.courses.set(row, self.now, Course { place: sphere.center, velocity, slack });
    }

    fn entry(&self, row: u32, middle: u64, columns: Columns<'_>) -> (Row, f32) {
        let course = self.courses.at(row, self.now, (middle as i64 - self.now as i64) as f32);
        let speed = course.velocity.length_squared().sqrt();
        let radius = columns.radius[row as usize];
        let extent = course.place.abs().max_element() + speed * self.life as f32 + radius + course.slack;
        let wide = (radius + course.slack) * (1.0 + 1e-6) + drift(extent);
        let reach = (wide + speed * self.half as f32) * (1.0 + 1e-6);
        (Row { id: row, place: course.place.into(), velocity: course.velocity.into(), radius: wide }, reach)
    }

    fn settle_in(&mut self, row: u32, columns: Columns<'_>) {
        let middle = self.now + self.half;
        let (entry, reach) = self.entry(row, middle, columns);
        let standing = entry.velocity == [0.0; 3];
        let layer = match self.lattice.layer_for(reach, standing) {
            Some(layer) => layer,
            None => {
                self.lattice.add_layer(reach * 1.2, 0.0, [4, 3, 3], standing);
                self.lattice.layers.len() as u32 - 1
            }
        };
        let cells = self.lattice.layers[layer as usize].cells;
        if standing {
            let (tile, _) =
                self.lattice.tile_or_new(layer, cells.key(cells.cells(entry.place.into())), self.now, NEVER);
            self.move_in(tile, entry);
            return;
        }
        let mut key = cells.key(cells.cells(entry.place.into()));
        for _ in 0..4 {
            match self.lattice.tile_at(layer, key) {
                Some(tile) => {
                    let tile_middle = self.lattice.tiles[tile as usize].middle;
                    let entry = self.entry(row, tile_middle, columns).0;
                    // A cell outside will do: who is entered there is found, as guests are.
                    let cell = cells.cells(entry.place.into());
                    if cells.is_at(key, cell) {
                        self.move_in(tile, entry);
                        return;
                    }
                    key = cells.key(cell);
                }
                None => {
                    let entry = self.entry(row, middle, columns).0;
                    if cells.key(cells.cells(entry.place.into())) == key {
                        let due = self.now + self.life;
                        let (tile, _) = self.lattice.tile_or_new(layer, key, middle, due);
                        self.calendar[(due % LOOK_AHEAD) as usize].push(tile);
                        self.move_in(tile, entry);
                        return;
                    }
                    key = cells.key(cells.cells(entry.place.into()));
                }
            }
        }
        let here = columns.sphere(row as usize).center;
        let slack = self.courses.at(row, self.now, 0.0).slack;
        self.courses.set(row, self.now, Course { place: here, velocity: Vec3::ZERO, slack });
        if !self.strayed_bits.contains(row as usize) {
            self.strayed_bits.insert(row as usize);
            self.strayed.push(row);
        }
        self.settle_in(row, columns);
    }

    fn move_in(&mut self, tile: u32, entry: Row) {
        self.homes[entry.id as usize] = tile;
        let home = &mut self.lattice.tiles[tile as usize];
        let layer = &mut self.lattice.layers[home.layer as usize];
        layer.objects += 1;
        if self.following {
            home.insert(entry, &layer.cells, &mut self.bench);
            if home.due == NEVER && home.is_sparse() {
                home.sort(&layer.cells, &mut self.bench);
            }
            self.newcomers.push((entry.id, tile, layer.cells.cells(entry.place.into())));
            self.newcomer_bits.insert(entry.id as usize);
        } else {
            home.push(entry);
        }
    }

    fn renew_due(&mut self) {
        self.due.clear();
        self.emigrants.clear();
        let bucket = (self.now % LOOK_AHEAD) as usize;
        let mut candidates = std::mem::take(&mut self.calendar[bucket]);
        for &number in &candidates {
            if self.lattice.tiles[number as usize].due != self.now {
                continue;
            }
            self.renew(number);
            self.adopt(number);
            let tile = &mut self.lattice.tiles[number as usize];
            let cells = self.lattice.layers[tile.layer as usize].cells;
            tile.sort(&cells, &mut self.bench);
            if tile.len() == 0 {
                self.lattice.give_up(number);
            } else {
                self.calendar[((self.now + self.life) % LOOK_AHEAD) as usize].push(number);
                self.due.push(number);
            }
        }
        candidates.clear();
        self.calendar[bucket].append(&mut candidates);
    }

    fn renew(&mut self, number: u32) {
        let tile = &mut self.lattice.tiles[number as usize];
        let layer = &mut self.lattice.layers[tile.layer as usize];
        let cells = layer.cells;
        let middle = self.now + self.half;
        let ticks = (middle - tile.middle) as f32;
        tile.guests.clear();
        for row in 0..tile.count() {
            let Some(entry) = tile.get(row) else { continue };
            let place = Vec3::from(entry.place) + Vec3::from(entry.velocity) * ticks;
            let cell = cells.cells(place);
            let key = cells.key(cell);
            if key == tile.key {
                tile.set_place(row, place);
            } else if cells.is_at(tile.key, cell) {
                tile.set_place(row, place);
                tile.guests.push(Guest { id: entry.id, cell, wanted: key });
            } else {
                tile.dig(row);
                self.homes[entry.id as usize] = NOWHERE;
                layer.objects -= 1;
                self.emigrants.push(entry.id);
            }
        }
        tile.middle = middle;
        tile.due = self.now + self.life;
        tile.renewed = self.now;
    }

    fn adopt(&mut self, number: u32) {
        let (key, layer) = (self.lattice.tiles[number as usize].key, self.lattice.tiles[number as usize].layer);
        let cells = self.lattice.layers[layer as usize].cells;
        for step in 0..27 {
            let next = [key[0] + step % 3 - 1, key[1] + step / 3 % 3 - 1, key[2] + step / 9 - 1];
            let Some(other) = self.lattice.tile_at(layer, next) else { continue };
            if other == number || self.lattice.tiles[other as usize].renewed == self.now {
                continue;
            }
            let mut guests = std::mem::take(&mut self.lattice.tiles[other as usize].guests);
            guests.retain(|guest| guest.wanted != key || !self.take_over(*guest, other, number, &cells));
            self.lattice.tiles[other as usize].guests = guests;
        }
    }

    fn take_over(&mut self, guest: Guest, from: u32, number: u32, cells: &Cells) -> bool {
        let id = guest.id;
        let [from, to] = self.lattice.tiles.get_disjoint_mut([from as usize, number as usize]).expect("two tiles");
        if self.homes[id as usize] == number {
            return true;
        }
        let Some(row) = from.find(id, guest.cell) else { return true };
        let mut entry = from.get(row).expect("a hole has no id");
        let place = Vec3::from(entry.place) + Vec3::from(entry.velocity) * (to.middle - from.middle) as f32;
        if cells.key(cells.cells(place)) != to.key {
            return false;
        }
        entry.place = place.into();
        from.dig(row);
        to.push(entry);
        self.homes[id as usize] = number;
        self.courses.renew(id);
        if !self.strayed_bits.contains(id as usize) {
            self.strayed_bits.insert(id as usize);
            self.adopted.push(id);
        }
        true
    }

    fn look_around(&mut self, columns: Columns<'_>) {
        let search = Search {
            now: self.now,
            lattice: &self.lattice,
            columns,
            versions: self.courses.versions(),
            newcomers: &self.newcomer_bits,
        };
        self.scratch.tests = 0;
        let t0 = std::time::Instant::now(); //T
        for &tile in &self.due {
            search.examine(tile, &mut self.scratch, &mut self.agenda);
        }
        self.stats.t_examine += t0.elapsed().as_nanos() as u64;
        let t0 = std::time::Instant::now(); //T
        for &(id, home, cell) in &self.newcomers {
            search.welcome(home, id, cell, &mut self.scratch, &mut self.agenda);
        }
        self.stats.tests = self.scratch.tests;
        self.stats.t_welcome += t0.elapsed().as_nanos() as u64; //T
        self.stats.standing = self.lattice.layers.iter().filter(|l| l.standing).map(|l| l.objects as u64).sum(); //T
        self.stats.layers = self.lattice.layers.len() as u64; //T
        self.stats.tiles = self.lattice.tiles.iter().filter(|t| t.len() > 0).count() as u64; //T
        if self.now % 50 == 0 {
            self.stats.levels = [0; 4];
            for &m in &self.moods {
                self.stats.levels[(m & 3) as usize] += 1;
            }
        } //T
    }
}
