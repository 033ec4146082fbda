//! A loose tree of cubes: every object is in the deepest cube that contains its centre and is as large as its radius.
//!
//! Invariants:
//! - An object's centre is in its cube, and its radius is at most half the cube's side; so an object that moves within
//!   its cube changes nothing but its own entry.
//! - A cube's `count` is how many objects are in it and below; its `widest` is no less than any of their radii.
//! - A cube has eight children or none. It gets them when it is crowded by objects that fit into them, and loses them
//!   when few are left. Many objects at one place stay together in a cube at the end of [`Tree::SMALLEST`].
//! - The root contains all objects: it grows by becoming one eighth of a root of twice its size.

use crate::{DVec3, Vec3};

use crate::Sphere;

/// An object as the tree keeps it: a copy, so that a cube's objects lie side by side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Entry {
    pub center: Vec3,
    pub radius: f32,
    pub row: u32,
}

/// Where a cube is, and how far its objects may reach beyond it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cube {
    pub center: DVec3,
    /// Half its side: a power of two, so that centres of cubes are exact.
    pub half: f64,
    /// No object in it or below has a larger radius.
    pub widest: f64,
}

#[derive(Debug)]
struct Node {
    cube: Cube,
    parent: u32,
    /// The first of eight, side by side.
    children: u32,
    /// How many objects are here and below.
    count: u32,
    entries: Vec<Entry>,
}

#[derive(Debug, Default)]
pub(super) struct Tree {
    /// Eight at a time; the root is alone in the first eight.
    nodes: Vec<Node>,
    root: u32,
    /// Blocks of eight that are not in use.
    free: Vec<u32>,
    /// For each row: its cube, and its number there.
    places: Vec<Place>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    node: u32,
    index: u32,
}

const NONE: u32 = u32::MAX;
const NOWHERE: Place = Place { node: NONE, index: 0 };

impl Entry {
    pub fn sphere(&self) -> Sphere {
        Sphere::new(self.center, self.radius)
    }
}

impl Cube {
    /// Compares with the corners, which are exact. The distance from the centre would be rounded, and a point just
    /// outside taken for one inside.
    fn contains(&self, point: DVec3) -> bool {
        let half = DVec3::splat(self.half);
        (self.center - half).cmple(point).all() && point.cmple(self.center + half).all()
    }

    /// Which of its eighths a point is in: one bit per axis.
    fn octant(&self, point: DVec3) -> usize {
        point.cmpge(self.center).bitmask() as usize
    }

    fn child(&self, octant: usize) -> Cube {
        let side = |axis: usize| if octant >> axis & 1 == 1 { 0.5 } else { -0.5 };
        let center = self.center + DVec3::new(side(0), side(1), side(2)) * self.half;
        Cube { center, half: self.half * 0.5, widest: 0.0 }
    }
}

impl Tree {
    /// A cube with more objects that would fit into its children gets some.
    const CROWDED: usize = 16;
    /// A cube with fewer objects, itself and its children, needs no children.
    const LONELY: u32 = 8;
    /// No cube's half side is smaller: about 1e-24 metres.
    const SMALLEST: f64 = 1.0 / (1u128 << 80) as f64;

    pub fn clear(&mut self) {
        self.nodes.clear();
        self.free.clear();
        self.places.clear();
        self.root = 0;
    }

    pub fn make_room(&mut self, rows: usize) {
        if self.places.len() < rows {
            self.places.resize(rows, NOWHERE);
        }
    }

    pub fn len(&self) -> usize {
        self.nodes.get(self.root as usize).map_or(0, |root| root.count as usize)
    }

    /// Puts an object where it is now, or takes it out.
    pub fn set(&mut self, entry: Entry, is_alive: bool) {
        let place = self.places[entry.row as usize];
        if place.node == NONE {
            if is_alive {
                self.insert(entry, self.root);
            }
            return;
        }
        if is_alive {
            let node = &mut self.nodes[place.node as usize];
            let known = &mut node.entries[place.index as usize];
            if known.radius == entry.radius && node.cube.contains(entry.center.as_dvec3()) {
                *known = entry;
                return;
            }
        }
        let from = self.remove(place);
        if is_alive {
            self.insert(entry, from);
        }
    }

    /// Updates all entries in place, cube by cube: when most have moved this is faster than one by one, as entries are
    /// adjacent. Returns the rows that left their cube or were removed.
    pub fn refresh(&mut self, now: impl Fn(u32) -> Option<Entry>) -> Vec<u32> {
        let mut leaving = Vec::new();
        for node in &mut self.nodes {
            let cube = &node.cube;
            for entry in &mut node.entries {
                match now(entry.row) {
                    Some(moved) if moved.radius == entry.radius && cube.contains(moved.center.as_dvec3()) => {
                        *entry = moved;
                    }
                    _ => leaving.push(entry.row),
                }
            }
        }
        leaving
    }

    /// Shows every object of every cube that passes.
    pub fn visit(&self, is_of_interest: impl Fn(&Cube) -> bool, mut see: impl FnMut(&Entry)) {
        let mut stack = vec![self.root];
        while let Some(number) = stack.pop() {
            let Some(node) = self.nodes.get(number as usize) else {
                return;
            };
            if node.count == 0 || !is_of_interest(&node.cube) {
                continue;
            }
            node.entries.iter().for_each(&mut see);
            if node.children != NONE {
                stack.extend(node.children..node.children + 8);
            }
        }
    }

    /// Visits objects cube by cube, in the order of the cubes' lower bounds, while the bound is not above what `see`
    /// returned last. A cube without a bound is skipped.
    pub fn visit_in_order(&self, bound: impl Fn(&Cube) -> Option<f64>, mut see: impl FnMut(&Entry) -> f64) {
        let mut limit = f64::INFINITY;
        let mut stack = vec![(0.0, self.root)];
        while let Some((least, number)) = stack.pop() {
            let Some(node) = self.nodes.get(number as usize) else {
                return;
            };
            if node.count == 0 || least > limit {
                continue;
            }
            for entry in &node.entries {
                limit = see(entry);
            }
            if node.children != NONE {
                let first = stack.len();
                for child in node.children..node.children + 8 {
                    let node = &self.nodes[child as usize];
                    if node.count > 0
                        && let Some(least) = bound(&node.cube)
                        && least <= limit
                    {
                        stack.push((least, child));
                    }
                }
                // The nearest comes off first.
                stack[first..].sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
            }
        }
    }

    /// Puts an object into the deepest cube for it, climbing from `from` as far as it must.
    fn insert(&mut self, entry: Entry, from: u32) {
        let (center, radius) = (entry.center.as_dvec3(), f64::from(entry.radius));
        if self.nodes.is_empty() {
            self.root = self.block(NONE, [Cube { center: center.round(), half: 1.0, widest: 0.0 }; 8]);
        }
        let mut at = if from == NONE { self.root } else { from };
        while !self.nodes[at as usize].cube.contains(center) || radius > self.nodes[at as usize].cube.half {
            at = if at == self.root { self.grow(center) } else { self.nodes[at as usize].parent };
        }
        let mut above = self.nodes[at as usize].parent;
        while above != NONE {
            let node = &mut self.nodes[above as usize];
            node.count += 1;
            node.cube.widest = node.cube.widest.max(radius);
            above = node.parent;
        }
        loop {
            let node = &mut self.nodes[at as usize];
            node.count += 1;
            node.cube.widest = node.cube.widest.max(radius);
            if node.children == NONE || radius > node.cube.half * 0.5 {
                break;
            }
            at = node.children + node.cube.octant(center) as u32;
        }
        self.push(at, entry);
        self.split_if_crowded(at);
    }

    fn push(&mut self, at: u32, entry: Entry) {
        let entries = &mut self.nodes[at as usize].entries;
        self.places[entry.row as usize] = Place { node: at, index: entries.len() as u32 };
        entries.push(entry);
    }

    fn split_if_crowded(&mut self, at: u32) {
        let mut crowded = vec![at];
        while let Some(at) = crowded.pop() {
            let node = &self.nodes[at as usize];
            let (cube, limit) = (node.cube, node.cube.half * 0.5);
            let fits = |entry: &&Entry| f64::from(entry.radius) <= limit;
            if node.children != NONE
                || node.entries.len() <= Self::CROWDED
                || limit < Self::SMALLEST
                // Cubes smaller than the last bit of a centre separate no objects.
                || limit < cube.center.abs().max_element() * f64::from(f32::EPSILON) * 0.25
                || node.entries.iter().filter(fits).count() <= Self::CROWDED
            {
                continue;
            }
            let first = self.block(at, std::array::from_fn(|octant| cube.child(octant)));
            self.nodes[at as usize].children = first;
            let entries = std::mem::take(&mut self.nodes[at as usize].entries);
            for entry in entries {
                let radius = f64::from(entry.radius);
                if radius > limit {
                    self.push(at, entry);
                    continue;
                }
                let child = first + cube.octant(entry.center.as_dvec3()) as u32;
                let node = &mut self.nodes[child as usize];
                node.count += 1;
                node.cube.widest = node.cube.widest.max(radius);
                self.push(child, entry);
            }
            crowded.extend(first..first + 8);
        }
    }

    /// Takes an object out; returns a cube from which its way to a new place is short.
    fn remove(&mut self, place: Place) -> u32 {
        let entries = &mut self.nodes[place.node as usize].entries;
        let gone = entries.swap_remove(place.index as usize);
        if let Some(moved) = entries.get(place.index as usize) {
            self.places[moved.row as usize].index = place.index;
        }
        self.places[gone.row as usize] = NOWHERE;
        let (mut at, mut lonely) = (place.node, NONE);
        while at != NONE {
            let node = &mut self.nodes[at as usize];
            node.count -= 1;
            if node.count == 0 {
                node.cube.widest = 0.0;
            }
            if node.children != NONE && node.count < Self::LONELY {
                lonely = at;
            }
            at = node.parent;
        }
        if lonely == NONE {
            return place.node;
        }
        self.collapse(lonely);
        lonely
    }

    /// Takes the few objects of a cube's children into the cube itself, and gives the children back.
    fn collapse(&mut self, at: u32) {
        let mut below = vec![std::mem::replace(&mut self.nodes[at as usize].children, NONE)];
        while let Some(first) = below.pop() {
            for child in first..first + 8 {
                let node = &mut self.nodes[child as usize];
                if node.children != NONE {
                    below.push(std::mem::replace(&mut node.children, NONE));
                }
                for entry in std::mem::take(&mut node.entries) {
                    self.push(at, entry);
                }
            }
            self.free.push(first);
        }
        let entries = &self.nodes[at as usize].entries;
        let widest = entries.iter().map(|entry| f64::from(entry.radius)).fold(0.0, f64::max);
        self.nodes[at as usize].cube.widest = widest;
    }

    /// Makes the root one eighth of a larger one, towards `point`; returns the new root.
    fn grow(&mut self, point: DVec3) -> u32 {
        let old = self.root;
        let cube = self.nodes[old as usize].cube;
        let towards = DVec3::select(point.cmpge(cube.center), DVec3::ONE, DVec3::NEG_ONE);
        let larger = Cube { center: cube.center + towards * cube.half, half: cube.half * 2.0, widest: cube.widest };
        let count = self.nodes[old as usize].count;
        let root = self.block(NONE, [larger; 8]);
        let first = self.block(root, std::array::from_fn(|octant| larger.child(octant)));
        let octant = larger.octant(cube.center);
        // The old root's contents move to their eighth of the new one; its own block is given back.
        let child = first + octant as u32;
        self.nodes.swap(old as usize, child as usize);
        let node = &mut self.nodes[child as usize];
        node.parent = root;
        let (children, rows) = (node.children, node.entries.len());
        for index in 0..rows {
            let row = self.nodes[child as usize].entries[index].row;
            self.places[row as usize].node = child;
        }
        if children != NONE {
            for grandchild in children..children + 8 {
                self.nodes[grandchild as usize].parent = child;
            }
        }
        self.free.push(old);
        let node = &mut self.nodes[root as usize];
        (node.children, node.count) = (first, count);
        self.root = root;
        root
    }

    /// Eight empty cubes side by side.
    fn block(&mut self, parent: u32, cubes: [Cube; 8]) -> u32 {
        let node = |cube| Node { cube, parent, children: NONE, count: 0, entries: Vec::new() };
        if let Some(first) = self.free.pop() {
            for (number, cube) in (first as usize..).zip(cubes) {
                self.nodes[number] = node(cube);
            }
            return first;
        }
        let first = self.nodes.len() as u32;
        self.nodes.extend(cubes.map(node));
        first
    }

    pub fn assert_well_formed(&self) {
        let mut seen = 0;
        let mut stack = vec![(self.root, NONE)];
        while let Some((number, parent)) = stack.pop() {
            let Some(node) = self.nodes.get(number as usize) else {
                break;
            };
            assert_eq!(node.parent, parent, "cube {number} knows its parent");
            let mut count = node.entries.len() as u32;
            for (index, entry) in node.entries.iter().enumerate() {
                let place = self.places[entry.row as usize];
                assert_eq!((place.node, place.index as usize), (number, index), "row {} is where it is", entry.row);
                assert!(node.cube.contains(entry.center.as_dvec3()), "row {} is in its cube", entry.row);
                assert!(f64::from(entry.radius) <= node.cube.half.min(node.cube.widest), "row {} fits", entry.row);
            }
            if node.children != NONE {
                for child in node.children..node.children + 8 {
                    let below = &self.nodes[child as usize];
                    assert!(below.cube.widest <= node.cube.widest, "cube {number} is as wide as its children");
                    count += below.count;
                    stack.push((child, number));
                }
            }
            assert_eq!(node.count, count, "cube {number} counts its objects");
            seen += node.entries.len();
        }
        let placed = self.places.iter().filter(|place| place.node != NONE).count();
        assert_eq!((seen, placed), (self.len(), self.len()), "every object is in the tree once");
    }
}
