//! Space, cut into tiles: where each object is entered, and which tiles to look into.
//!
//! Until its tile expires an object stays within its *reach* of the place where it is entered: the radius of the ball
//! that its swept sphere fits into. Objects of similar reach share a *layer*, a grid whose cells are at least twice as
//! wide as the largest reach in it, so fast or large objects do not widen the cells of others. Standing objects have
//! layers of their own, whose tiles never expire.
//!
//! Invariants:
//! - An object is in exactly one tile, which `homes` names: one that holds its place at the tile's middle, or is at
//!   most a cell away from it.
//! - Two objects that may meet before either tile expires are entered within the sum of their reaches.
//! - A tile with moving objects is listed once, under the tick at which it expires, at most a life ahead.

use super::LOOK_AHEAD;
use super::flight_plans::{FlightPlan, FlightPlans, REFERENCE_TICKS, REFINE_EVERY, drift};
use super::tile::{CellGrid, NEVER, Tile, Unsorted};
use super::tile_map::{TileKey, TileMap};
use crate::simd::sweep::Row;
use crate::{Spheres, Vec3};

pub const NOWHERE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerSettings {
    /// The smallest reach that it is meant for, and the largest that it takes.
    pub least: f32,
    pub reach: f32,
    /// The edge of its cells, unless the reach needs wider ones.
    pub edge: f32,
    /// A tile has two to these powers of cells along each axis.
    pub tile_bits: [u32; 3],
    pub stands: bool,
}

/// A grid for objects of similar reach.
#[derive(Debug)]
pub struct GridLayer {
    pub grid: CellGrid,
    pub reach: f32,
    pub stands: bool,
    pub objects: usize,
    least: f32,
    map: TileMap,
}

/// An object that came into a tile in this tick, and how it is entered there.
#[derive(Clone, Copy, Debug)]
pub struct TileArrival {
    pub tile: u32,
    pub entry: Row,
}

/// All layers and all tiles.
#[derive(Debug, Default)]
pub struct Tiles {
    /// Planned layers, then those that an object needed later.
    layers: Vec<GridLayer>,
    planned_layers: usize,
    tiles: Vec<Tile>,
    spare: Vec<u32>,
    homes: Vec<u32>,
    /// The tiles that expire at a tick, modulo [`LOOK_AHEAD`].
    expiring: Vec<Vec<u32>>,
    life: u64,
    unsorted: Unsorted,
}

/// An object with a reach `LOOSE` times below a layer's least gets another layer: in cells that are too wide there are
/// too many others.
const LOOSE: f32 = 6.0;
/// But there are no more layers than this, since every object looks into every layer.
const LAYERS_MAX: usize = 24;

/// Rounding of a sum of a few distances, generously.
const ROUND_UP: f32 = 1.0 + 1e-5;

impl Tiles {
    /// Forgets all objects, and takes other layers, whose tiles live for `life` ticks.
    pub fn reset(&mut self, rows: usize, life: u64, layers: &[LayerSettings]) {
        self.life = life;
        self.layers.clear();
        layers.iter().for_each(|&layer| self.add_layer(layer));
        self.planned_layers = layers.len();
        self.spare.clear();
        self.tiles.clear();
        self.homes.clear();
        self.homes.resize(rows, NOWHERE);
        self.expiring.resize_with(LOOK_AHEAD as usize, || Vec::with_capacity(16));
        self.expiring.iter_mut().for_each(Vec::clear);
    }

    /// Makes room for rows that were added to the world.
    pub fn grow(&mut self, rows: usize) {
        self.homes.resize(rows.max(self.homes.len()), NOWHERE);
    }

    /// Enters all objects, and adds all tiles to `entered`, in the order of space.
    ///
    /// In that order they expire, from the next tick on, so that each tick has about as many objects to renew.
    pub fn fill(&mut self, now: u64, spheres: &Spheres, plans: &FlightPlans, entered: &mut Vec<u32>) {
        for row in spheres.alive().iter() {
            let (number, entry) = self
                .tile_for(now, row as u32, spheres.columns().radius[row], plans)
                .expect("tiles that begin in one tick have one middle");
            self.tiles[number as usize].push(entry);
            self.settle(entry.id, number);
        }
        let Tiles { tiles, layers, unsorted, expiring, life, .. } = self;
        let first = entered.len();
        entered.extend((0..tiles.len() as u32).filter(|&tile| tiles[tile as usize].len() > 0));
        entered[first..].sort_by_key(|&tile| {
            let Tile { layer, key: [x, y, z], .. } = tiles[tile as usize];
            (layer, z, y, x)
        });
        expiring.iter_mut().for_each(Vec::clear);
        let moving: usize = layers.iter().filter(|layer| !layer.stands).map(|layer| layer.objects).sum();
        let mut before = 0;
        for &number in &entered[first..] {
            let tile = &mut tiles[number as usize];
            tile.sort(&layers[tile.layer as usize].grid, unsorted);
            tile.renewed = now;
            if tile.expires != NEVER {
                tile.expires = now + 1 + before as u64 * *life / moving as u64;
                expiring[(tile.expires % LOOK_AHEAD) as usize].push(number);
                before += tile.len();
            }
        }
    }

    /// Enters an object where its flight plan leads. That fails, rarely, if it is between two tiles that disagree about
    /// the time.
    pub fn enter(&mut self, now: u64, id: u32, radius: f32, plans: &FlightPlans) -> Option<TileArrival> {
        let (number, entry) = self.tile_for(now, id, radius, plans)?;
        self.settle(id, number);
        let tile = &mut self.tiles[number as usize];
        let GridLayer { grid, .. } = &self.layers[tile.layer as usize];
        tile.insert(entry, grid, &mut self.unsorted);
        if tile.expires == NEVER && tile.is_sparse() {
            tile.sort(grid, &mut self.unsorted);
        }
        Some(TileArrival { tile: number, entry })
    }

    /// Removes an object whose plan is still the one that it was entered with. Says whether it stood.
    pub fn leave(&mut self, now: u64, id: u32, plans: &FlightPlans) -> bool {
        let home = std::mem::replace(&mut self.homes[id as usize], NOWHERE);
        if home == NOWHERE {
            return false;
        }
        let tile = &mut self.tiles[home as usize];
        let layer = &mut self.layers[tile.layer as usize];
        let cell = layer.grid.cell_at(plans.at(id, now, ahead(tile, now)).place);
        tile.dig(tile.find(id, cell).expect("an object is in its home tile"));
        layer.objects -= 1;
        let stands = layer.stands;
        if stands && tile.len() == 0 {
            // It never expires, so it would never be given up.
            self.give_up(home);
        }
        stands
    }

    /// Moves the tiles that expire at `now` to a list.
    pub fn take_expired(&mut self, now: u64, expired: &mut Vec<u32>) {
        expired.append(&mut self.expiring[(now % LOOK_AHEAD) as usize]);
    }

    /// Begins another life of a tile that expired, or gives it up if it is empty. Says whether it goes on.
    pub fn go_on(&mut self, number: u32) -> bool {
        let tile = &self.tiles[number as usize];
        let is_used = tile.len() > 0;
        if is_used {
            self.expiring[(tile.expires % LOOK_AHEAD) as usize].push(number);
        } else {
            self.give_up(number);
        }
        is_used
    }

    /// Takes a tile out, for others to work on meanwhile.
    pub fn take(&mut self, number: u32) -> Tile {
        std::mem::take(&mut self.tiles[number as usize])
    }

    pub fn put_back(&mut self, number: u32, tile: Tile) {
        self.tiles[number as usize] = tile;
    }

    /// Notes that an object of this layer is in no tile any more.
    pub fn emigrate(&mut self, id: u32, layer: u32) {
        self.homes[id as usize] = NOWHERE;
        self.layers[layer as usize].objects -= 1;
    }

    /// Moves an object from a row of one tile to another tile of its layer, which has it already.
    pub fn adopt(&mut self, id: u32, (from, row): (u32, u32), to: u32) {
        self.tiles[from as usize].dig(row as usize);
        self.homes[id as usize] = to;
    }

    /// Adds to `found` every tile that has an object entered within `reach` and its own reach of a part of space.
    /// Returns what that took, as [`TileMap::within`].
    pub fn near(&self, low: Vec3, high: Vec3, reach: f32, found: &mut Vec<u32>) -> u64 {
        let mut passed = 0;
        for layer in self.layers.iter().filter(|layer| layer.objects > 0) {
            let margin = outward(reach + layer.reach, low.abs().max(high.abs()));
            let (low, high) = (low - Vec3::splat(margin), high + Vec3::splat(margin));
            let cells = layer.grid.cells_of(low, high);
            // Moving objects may be entered a cell outside their tile.
            let cells = if layer.stands { cells } else { cells.grown() };
            let first_found = found.len();
            passed += layer.map.within(layer.grid.key(cells.low), layer.grid.key(cells.high), found);
            // Without a branch on what is touched.
            let mut count = first_found;
            for index in first_found..found.len() {
                let tile = found[index];
                found[count] = tile;
                count += usize::from(self.tiles[tile as usize].touches(low, high));
            }
            found.truncate(count);
        }
        passed
    }

    /// Adds to `found` every tile beside one, itself among them.
    pub fn beside(&self, tile: &Tile, found: &mut Vec<u32>) {
        let first = tile.key.map(|number| number.saturating_sub(1));
        let last = tile.key.map(|number| number.saturating_add(1));
        self.layer_of(tile).map.within(first, last, found);
    }

    #[inline]
    pub fn get(&self, number: u32) -> &Tile {
        &self.tiles[number as usize]
    }

    #[inline]
    pub fn layer_of(&self, tile: &Tile) -> &GridLayer {
        &self.layers[tile.layer as usize]
    }

    pub fn home(&self, row: u32) -> u32 {
        self.homes[row as usize]
    }

    pub fn life(&self) -> u64 {
        self.life
    }

    pub fn objects(&self) -> usize {
        self.layers.iter().map(|layer| layer.objects).sum()
    }

    pub fn moving(&self) -> usize {
        self.layers.iter().filter(|layer| !layer.stands).map(|layer| layer.objects).sum()
    }

    /// How many of them are in layers that were not planned.
    pub fn unplanned(&self) -> usize {
        self.layers[self.planned_layers..].iter().map(|layer| layer.objects).sum()
    }

    /// The tile for an object, made if need be, and how it is entered there.
    ///
    /// Tiles differ in their middles: which tile it is depends on where the object is entered, and that on the tile. So
    /// it takes a try or two. A cell outside a tile will do.
    fn tile_for(&mut self, now: u64, id: u32, radius: f32, plans: &FlightPlans) -> Option<(u32, Row)> {
        let entry_at = |middle: u64| entered(id, plans.at(id, now, (middle as i64 - now as i64) as f32), radius);
        let here = entry_at(now);
        let stands = here.velocity == [0.0; 3];
        let (entry, middle) = if stands { (here, now) } else { (entry_at(now + self.life / 2), now + self.life / 2) };
        let layer = self.layer_for(reach(&entry, self.life), stands);
        let grid = self.layers[layer as usize].grid;
        let first = grid.key(grid.cell_at(entry.place.into()));
        let mut key = first;
        for _ in 0..4 {
            let Some(number) = self.layers[layer as usize].map.get(key) else { break };
            let entry = if stands { entry } else { entry_at(self.tiles[number as usize].middle) };
            let cell = grid.cell_at(entry.place.into());
            if grid.is_at(key, cell) {
                return Some((number, entry));
            }
            key = grid.key(cell);
        }
        if self.layers[layer as usize].map.get(first).is_some() {
            return None;
        }
        let expires = if stands { NEVER } else { self.idlest_tick(now) };
        Some((self.add_tile(layer, first, middle, expires), entry))
    }

    fn add_tile(&mut self, layer: u32, key: TileKey, middle: u64, expires: u64) -> u32 {
        let number = self.spare.pop().unwrap_or_else(|| {
            self.tiles.push(Tile::default());
            self.tiles.len() as u32 - 1
        });
        let tile = &mut self.tiles[number as usize];
        tile.clear();
        (tile.key, tile.layer, tile.middle, tile.expires) = (key, layer, middle, expires);
        self.layers[layer as usize].map.insert(key, number);
        if expires != NEVER {
            self.expiring[(expires % LOOK_AHEAD) as usize].push(number);
        }
        number
    }

    /// The tick of the next life at which the fewest tiles expire, so that tiles that begin in one tick part ways.
    fn idlest_tick(&self, now: u64) -> u64 {
        let tiles = |tick: &u64| self.expiring[(tick % LOOK_AHEAD) as usize].len();
        (now + 1..=now + self.life).rev().min_by_key(tiles).expect("a life has ticks")
    }

    fn give_up(&mut self, number: u32) {
        let tile = &mut self.tiles[number as usize];
        self.layers[tile.layer as usize].map.remove(tile.key);
        tile.clear();
        self.spare.push(number);
    }

    fn settle(&mut self, id: u32, number: u32) {
        self.homes[id as usize] = number;
        self.layers[self.tiles[number as usize].layer as usize].objects += 1;
    }

    /// The narrowest layer for objects of this reach. If there is none, a layer of small tiles is added: if many
    /// objects are in it, the structure is soon tuned anew.
    fn layer_for(&mut self, reach: f32, stands: bool) -> u32 {
        let takes = |layer: &GridLayer| layer.stands == stands && layer.reach >= reach;
        let candidates = self.layers.iter().enumerate().filter(|(_, layer)| takes(layer));
        let narrowest = candidates.min_by(|a, b| a.1.reach.total_cmp(&b.1.reach));
        let fits = |layer: &GridLayer| reach * LOOSE >= layer.least || self.layers.len() >= LAYERS_MAX;
        if let Some((index, _)) = narrowest.filter(|(_, layer)| fits(layer)) {
            return index as u32;
        }
        self.add_layer(LayerSettings { least: reach, reach: reach * 1.2, edge: 0.0, tile_bits: [3, 1, 1], stands });
        self.layers.len() as u32 - 1
    }

    fn add_layer(&mut self, settings: LayerSettings) {
        let LayerSettings { least, reach, edge, tile_bits, stands } = settings;
        let narrowest = f64::from(reach) * 2.0 * (1.0 + 1e-6);
        let grid = CellGrid::new(f64::from(edge).max(narrowest).max(f64::from(f32::MIN_POSITIVE)), tile_bits);
        self.layers.push(GridLayer { grid, reach, stands, objects: 0, least, map: TileMap::default() });
    }

    /// Checks the invariants above at tick `now`, for tests.
    ///
    /// # Panics
    /// If one does not hold.
    pub fn assert_well_formed(&self, now: u64, spheres: &Spheres, plans: &FlightPlans) {
        let mut counts = vec![0; self.layers.len()];
        let mut seen = vec![false; self.homes.len()];
        for (number, tile) in self.tiles.iter().enumerate().filter(|(_, tile)| tile.len() > 0) {
            let GridLayer { grid, reach: widest, stands, map, .. } = self.layer_of(tile);
            assert_eq!(map.get(tile.key), Some(number as u32), "tile {number} is found by its key");
            assert_eq!(*stands, tile.expires == NEVER, "tile {number} expires if its objects move");
            assert!(tile.expires > now, "tile {number} has not expired");
            if !stands {
                assert!(tile.expires <= now + self.life, "tile {number} expires within a life");
                let listed = &self.expiring[(tile.expires % LOOK_AHEAD) as usize];
                let times = listed.iter().filter(|&&other| other as usize == number).count();
                assert_eq!(times, 1, "tile {number} is listed once");
            }
            for row in tile.objects() {
                let (id, place) = (row.id, Vec3::from(row.place));
                assert_eq!(self.homes[id as usize], number as u32, "row {id} is at home");
                assert!(!std::mem::replace(&mut seen[id as usize], true), "row {id} is in one tile");
                assert!(grid.is_at(tile.key, grid.cell_at(place)), "row {id} is in its tile or beside it");
                assert!(reach(&row, self.life) <= *widest, "row {id} reaches no farther than its layer");
                let plan = plans.at(id, now, ahead(tile, now));
                let off = (plan.place - place).length_squared().sqrt();
                assert!(off <= row.radius, "row {id} is entered where its plan leads");
                assert_eq!(<[f32; 3]>::from(plan.velocity), row.velocity, "row {id} has its plan's velocity");
                counts[tile.layer as usize] += 1;
            }
        }
        let objects: Vec<usize> = self.layers.iter().map(|layer| layer.objects).collect();
        assert_eq!(objects, counts, "layers count their objects");
        for (row, seen) in seen.into_iter().enumerate() {
            assert_eq!(spheres.alive().contains(row), seen, "row {row} is in a tile if it has an object");
            assert_eq!(self.homes[row] != NOWHERE, seen, "row {row} has a home if it is in a tile");
        }
    }
}

/// From `now` to the moment of which a tile's rows speak, in ticks.
#[inline]
pub fn ahead(tile: &Tile, now: u64) -> f32 {
    if tile.expires == NEVER { 0.0 } else { (tile.middle as i64 - now as i64) as f32 }
}

/// How an object is entered whose flight plan is this at the middle of a tile.
pub fn entered(id: u32, plan: FlightPlan, radius: f32) -> Row {
    let radius = radius + plan.slack;
    let speed = plan.velocity.length_squared().sqrt();
    // A line is kept as it is at its block's reference tick, and the entry moves on a few lives without a look back.
    let ticks = (REFERENCE_TICKS + REFINE_EVERY * LOOK_AHEAD) as f32;
    let extent = plan.place.abs().max_element() + speed * ticks + radius;
    let radius = radius * ROUND_UP + drift(extent);
    Row { place: plan.place.into(), velocity: plan.velocity.into(), radius, id }
}

/// How far an object gets from where it is entered within half a life.
pub fn reach(entry: &Row, life: u64) -> f32 {
    let speed = Vec3::from(entry.velocity).length_squared().sqrt();
    (entry.radius + speed * (life / 2) as f32) * ROUND_UP
}

/// Widens a distance around `place` by more than the arithmetic with both can be off.
#[inline]
pub fn outward(distance: f32, place: Vec3) -> f32 {
    distance * 1.000_01 + place.abs().max_element() * (8.0 * f32::EPSILON)
}
