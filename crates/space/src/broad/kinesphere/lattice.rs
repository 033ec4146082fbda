//! Space, cut into tiles: who is entered where, and which tiles to look into.
//!
//! A course sweeps a ball: everything within its *reach* of the place where it is entered. Objects of similar reach
//! share a *layer*, whose cells are at least twice as wide as the largest reach in it; standing objects have layers of
//! their own, whose tiles never fall due. So fast or large objects do not widen the cells of slow and small ones, and
//! whatever rests costs nothing.
//!
//! Invariants:
//! - An object is in exactly one tile: one that holds its place at that tile's middle, or is at most a cell away from it.
//! - It stays within its reach of that place until the tile falls due.
//! - Hence two objects that may meet before either tile falls due are entered within the sum of their reaches, and
//!   looking at all tiles within that distance finds the one from the other.

use crate::Vec3;

use super::room::{Part, roomy, stock_up};
use super::tile::{Cells, NEVER, Supply, Tile};
use super::tile_map::{Key, TileMap};

/// The life of a tile whose objects stand: it never falls due.
pub const FOR_EVER: u64 = NEVER;

/// What a layer is to be like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerPlan {
    /// The smallest reach that it is meant for, and the largest that it takes.
    pub least: f32,
    pub reach: f32,
    /// The edge of its cells, or less than they need.
    pub edge: f32,
    /// A tile has two to these powers of cells along each axis.
    pub tile_bits: [u32; 3],
    /// How many ticks its tiles live for; [`FOR_EVER`] if its objects stand.
    pub life: u64,
    /// How many tiles there are to be of each block of cells, among which its objects are dealt out: where a single cell holds
    /// more than a tick should have to look at, they fall due in different ticks all the same.
    pub plies: u32,
}

/// Objects of similar reach, cut into tiles.
#[derive(Debug)]
pub struct Layer {
    /// How the layer divides space.
    pub cells: Cells,
    /// No object of this layer is meant to reach less far.
    least: f32,
    /// No object of this layer reaches farther.
    pub reach: f32,
    /// How many ticks its tiles live for, or [`FOR_EVER`].
    pub life: u64,
    /// How many tiles each block of cells has.
    plies: u32,
    /// How many objects it holds.
    pub objects: usize,
    map: TileMap,
}

impl Layer {
    /// Whether its objects stand.
    #[inline]
    pub fn stands(&self) -> bool {
        self.life == FOR_EVER
    }

    /// Where the map has the tile at `key` that such an id is dealt: all of a block's are side by side. No tile is so far away that
    /// this ends at the end of all numbers, but a giant may reach there.
    #[inline]
    fn place(&self, [x, y, z]: Key, id: u32) -> Key {
        [x.saturating_mul(self.plies as i32).saturating_add((id % self.plies) as i32), y, z]
    }
}

/// All layers and all tiles.
#[derive(Debug, Default)]
pub struct Lattice {
    /// Those that were planned, then those that somebody needed later; standing and moving ones mixed.
    pub layers: Vec<Layer>,
    /// All tiles, of all layers; some are spare.
    pub tiles: Vec<Tile>,
    spare: Vec<u32>,
    /// What a layer begins with that nobody has planned.
    spare_map: TileMap,
    /// What every tile of each layer is to have room for, and every spare one.
    supplies: Vec<Supply>,
    spare_supply: Supply,
}

/// Nobody who reaches so many times less far than anybody a layer is meant for is put there: all of them, and whoever is
/// around, would share a few wide cells. Much less would do, but everybody has to look into every layer.
const LOOSE: f32 = 6.0;
/// But there are no more layers than this, whatever their objects do.
const LAYERS_MAX: usize = 24;

/// So many cells for each object are little: four bytes each.
const CELLS_PER_OBJECT: usize = 3;
/// What a tile takes for one object.
const FEW_CELLS: usize = 45;
/// So many objects are few for a layer: nobody planned it, and they come and go.
const FEW_OBJECTS: usize = 64;
/// So many objects are few for a tile.
const FEW_ROWS: usize = 20;

impl Lattice {
    /// Forgets all objects and all layers.
    pub fn reset(&mut self) {
        self.layers.clear();
        self.spare.clear();
        self.spare.extend((0..self.tiles.len() as u32).rev());
        for tile in &mut self.tiles {
            tile.clear();
        }
    }

    /// Adds a layer. Its cells are wider than planned if the reach asks for it.
    pub fn add_layer(&mut self, plan: LayerPlan) {
        let LayerPlan { least, reach, edge, tile_bits, life, plies } = plan;
        let narrowest = f64::from(reach) * 2.0 * (1.0 + 1e-6);
        let cells = Cells::new(f64::from(edge).max(narrowest).max(f64::from(f32::MIN_POSITIVE)), tile_bits);
        let map = std::mem::take(&mut self.spare_map);
        self.layers.push(Layer { cells, least, reach, life, plies, objects: 0, map });
    }

    /// The narrowest layer of this life that takes an object of this reach, unless that is so wide that it had better have
    /// another one.
    pub fn layer_for(&self, reach: f32, life: u64) -> Option<u32> {
        let takes = |layer: &Layer| layer.life == life && layer.reach >= reach;
        let candidates = self.layers.iter().enumerate().filter(|(_, layer)| takes(layer));
        let narrowest = candidates.min_by(|a, b| a.1.reach.total_cmp(&b.1.reach));
        let fits = |layer: &Layer| reach * LOOSE >= layer.least || self.layers.len() >= LAYERS_MAX;
        narrowest.filter(|(_, layer)| fits(layer)).map(|(index, _)| index as u32)
    }

    /// The tile of `layer` at `key` that such an id is dealt, if it is there.
    pub fn tile_at(&self, layer: u32, key: Key, id: u32) -> Option<u32> {
        let layer = &self.layers[layer as usize];
        layer.map.get(layer.place(key, id))
    }

    /// The tile of `layer` at `key` that such an id is dealt, made with this middle and due tick if it is not there; and whether
    /// it was made.
    pub fn tile_or_new(&mut self, layer: u32, key: Key, id: u32, middle: u64, due: u64) -> (u32, bool) {
        let place = self.layers[layer as usize].place(key, id);
        let map = &mut self.layers[layer as usize].map;
        if let Some(tile) = map.get(place) {
            return (tile, false);
        }
        let tile = self.spare.pop().unwrap_or_else(|| {
            self.tiles.push(Tile::default());
            self.tiles.len() as u32 - 1
        });
        map.insert(place, tile);
        let ply = id % self.layers[layer as usize].plies;
        let opened = &mut self.tiles[tile as usize];
        opened.clear();
        (opened.key, opened.layer, opened.ply, opened.middle, opened.due) = (key, layer, ply, middle, due);
        (tile, true)
    }

    /// Takes memory for more tiles: at the edges of the world some come and go.
    pub fn stock_up(&mut self) {
        let wanted = self.spare_wanted();
        if self.spare.len() < wanted / 2 {
            while self.spare.len() < wanted {
                self.spare.push(self.tiles.len() as u32);
                self.tiles.push(Tile::spare());
            }
        }
        stock_up(&mut self.spare);
        self.layers.iter_mut().for_each(|layer| layer.map.stock_up());
        self.layers.reserve(1);
        self.spare_map.stock_up();
        self.plan_supplies();
    }

    /// Takes memory for more objects in some of the tiles, as was planned with that for more tiles.
    pub fn stock_up_tiles(&mut self, part: Part) {
        let Lattice { tiles, spare, supplies, spare_supply, .. } = self;
        for tile in part.of(tiles.iter_mut()).filter(|tile| tile.is_used()) {
            // There may be more layers by now.
            tile.stock_up(supplies.get(tile.layer as usize).copied().unwrap_or_default());
        }
        // The last ones are taken first, and given back first: hardly anybody ever is in the others.
        let seldom = spare.len() / 2;
        // By their numbers, too: who is spare now may have been used in the last turn.
        for (index, &number) in spare.iter().enumerate().filter(|(_, number)| part.has(**number as usize)) {
            let Supply { rows, cells } = *spare_supply;
            let tile = &mut tiles[number as usize];
            tile.clear();
            tile.stock_up(Supply { rows: if index < seldom { rows / 2 } else { rows }, cells });
        }
    }

    fn spare_wanted(&self) -> usize {
        let used = self.tiles.len() - self.spare.len();
        roomy(used) - used
    }

    /// Finds out what every tile is to have room for.
    fn plan_supplies(&mut self) {
        let mut tiles = vec![0; self.layers.len()];
        let mut largest = vec![[0; 3]; self.layers.len()];
        for tile in self.tiles.iter().filter(|tile| tile.is_used()) {
            let (size, largest) = (tile.size(), &mut largest[tile.layer as usize]);
            *largest = std::array::from_fn(|axis| largest[axis].max(size[axis]));
            tiles[tile.layer as usize] += 1;
        }
        let room = |(layer, &size): (&Layer, _)| Supply { rows: 0, cells: layer.cells.around(size).max(FEW_CELLS) };
        let mut supplies: Vec<Supply> = self.layers.iter().zip(&largest).map(room).collect();
        // Hardly anybody is in a tile at an edge at first: it gets room for a few, but for no more than are in others.
        for (layer, (supply, &count)) in self.layers.iter().zip(supplies.iter_mut().zip(&tiles)) {
            let mean = layer.objects / count.max(1);
            supply.rows = (mean / 12).max(FEW_ROWS).min(mean);
        }
        // A tile that such a layer gives up is soon another's.
        let most_rows = supplies.iter().map(|supply| supply.rows).max().unwrap_or(0);
        for (_, supply) in self.layers.iter().zip(&mut supplies).filter(|(layer, _)| layer.objects <= FEW_OBJECTS) {
            supply.rows = supply.rows.max(most_rows / 2);
        }
        // Blocks vary, and grow with every guest: all get room for what their layer's largest may become, layer by layer, as
        // long as that is little.
        let mut left = CELLS_PER_OBJECT * self.layers.iter().map(|layer| layer.objects).sum::<usize>();
        let mut cheapest: Vec<usize> = (0..supplies.len()).collect();
        cheapest.sort_by_key(|&layer| supplies[layer].cells * tiles[layer]);
        for layer in cheapest {
            match left.checked_sub(supplies[layer].cells * tiles[layer]) {
                Some(rest) => left = rest,
                None => supplies[layer].cells = 0,
            }
        }
        // A tile that one layer gives up is the next one's.
        let most = supplies.iter().map(|supply| supply.cells).max().unwrap_or(0);
        let missing = supplies.iter().zip(&tiles).map(|(supply, &count)| (most - supply.cells) * count).sum();
        if let Some(rest) = left.checked_sub(missing) {
            left = rest;
            supplies.iter_mut().for_each(|supply| supply.cells = most);
        }
        // Whatever layer needs a spare one gets it.
        let rows = supplies.iter().map(|supply| supply.rows).max().unwrap_or(0);
        let cells = (left / self.spare_wanted().max(self.spare.len())).min(most).max(FEW_CELLS);
        (self.supplies, self.spare_supply) = (supplies, Supply { rows, cells });
    }

    /// Gives an empty tile up.
    pub fn give_up(&mut self, tile: u32) {
        let Tile { layer, key, ply, .. } = self.tiles[tile as usize];
        let layer = &mut self.layers[layer as usize];
        layer.map.remove(layer.place(key, ply));
        self.tiles[tile as usize].clear();
        self.spare.push(tile);
    }

    /// Adds to `found` every tile, of any layer, that holds somebody entered within `reach` and its own reach of the box. Returns
    /// how many were passed for that.
    pub fn tiles_near(&self, low: Vec3, high: Vec3, reach: f32, found: &mut Vec<u32>) -> u64 {
        let mut passed = 0;
        for layer in self.layers.iter().filter(|layer| layer.objects > 0) {
            let margin = outward(reach + layer.reach, low.abs().max(high.abs()));
            let (low, high) = (low - margin, high + margin);
            let block = layer.cells.block(low, high);
            // Guests are entered up to a cell outside their tile; nobody who stands is a guest.
            let block = if layer.stands() { block } else { block.grown() };
            let (first, last) = (layer.cells.key(block.low), layer.cells.key(block.high));
            let (first, last) = (layer.place(first, 0), layer.place(last, layer.plies - 1));
            let first_found = found.len();
            passed += layer.map.within(first, last, 1, found);
            // Without a branch on who is touched.
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

    /// Adds to `found` every tile beside one, itself among them, whose objects were dealt as its own were.
    pub fn tiles_beside(&self, tile: &Tile, found: &mut Vec<u32>) {
        let (layer, key) = (self.layer_of(tile), tile.key);
        let first = layer.place(key.map(|number| number.saturating_sub(1)), tile.ply);
        let last = layer.place(key.map(|number| number.saturating_add(1)), tile.ply);
        layer.map.within(first, last, layer.plies, found);
    }

    /// How many objects there are in tiles.
    pub fn objects(&self) -> usize {
        self.layers.iter().map(|layer| layer.objects).sum()
    }

    /// How many of them move.
    pub fn movers(&self) -> usize {
        self.layers.iter().filter(|layer| !layer.stands()).map(|layer| layer.objects).sum()
    }

    /// The layer of a tile.
    #[inline]
    pub fn layer_of(&self, tile: &Tile) -> &Layer {
        &self.layers[tile.layer as usize]
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.layers.iter().map(|layer| layer.map.bytes()).sum::<usize>()
            + self.spare_map.bytes()
            + self.tiles.iter().map(Tile::bytes).sum::<usize>()
            + self.tiles.capacity() * size_of::<Tile>()
            + self.spare.capacity() * 4
            + self.supplies.capacity() * size_of::<Supply>()
    }
}

/// Widens a distance around `place` by more than the arithmetic with both can be off.
#[inline]
pub fn outward(distance: f32, place: Vec3) -> f32 {
    distance * 1.000_01 + place.abs().max_element() * (8.0 * f32::EPSILON)
}
