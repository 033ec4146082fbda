//! parry3d's bounding volume hierarchy behind our trait: the strongest public rival, used as well as we know how.
//!
//! Leaves are the spheres' boxes; the exact test of the spheres follows. Nothing is allocated in a steady tick: the
//! workspace, the tree and the packed copy of the spheres (one cache line per object of a candidate pair instead of
//! four) are kept.
//!
//! One thing is not at its best: for the sake of equal bits on all machines parry has glam build without SIMD, and it
//! compares boxes with glam. Measured apart, that costs the traversal of 100,000 leaves 5 to 7 %, and the rest
//! nothing.

use parry3d::bounding_volume::Aabb;
use parry3d::math::Vector;
use parry3d::partitioning::{Bvh, BvhBuildStrategy, BvhNode, BvhWorkspace};

use space::{BroadPhase, Edition, Pair, Slot, Sphere, Spheres, Vec3, Work};

/// Keeps a refitted tree in shape: otherwise the boxes grow into each other and queries become slow. Either way the
/// tree is built anew as soon as objects have strayed too far for it, as they do at once when they teleport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upkeep {
    /// A twentieth of the tree is rebuilt every tick, parry's incremental optimisation.
    Optimise,
    /// The whole tree is rebuilt whenever each object has moved this many times, on average.
    Rebuild {
        /// Moves per object until a tree is rebuilt: as many ticks, if all objects move.
        every: u32,
    },
}

/// Moved leaves are updated in place, the tree is refitted and traversed against itself.
pub struct ParryRefit {
    tree: Tree,
    upkeep: Upkeep,
}

/// The tree is built anew each tick and traversed against itself.
pub struct ParryRebuild {
    tree: Tree,
    strategy: BvhBuildStrategy,
}

/// Moved leaves are updated in place, the tree is refitted, and each moved leaf is looked up in it. Pairs of which
/// neither has moved are remembered.
pub struct ParryIncremental {
    tree: Tree,
    upkeep: Upkeep,
    /// The pairs of the last tick, and whether they have been found since the last update.
    known: Vec<Pair>,
    is_found: bool,
}

impl ParryRefit {
    /// An empty tree, kept in shape as told.
    pub fn new(upkeep: Upkeep) -> ParryRefit {
        ParryRefit { tree: Tree::default(), upkeep }
    }
}

impl ParryRebuild {
    /// An empty tree. Of parry's two builders the binned one is used: the other takes three times as long, and its
    /// tree is slower to traverse. Leaves are updated and the tree is rebuilt in place, which takes two thirds of the
    /// time of making a new one.
    pub fn new() -> ParryRebuild {
        ParryRebuild { tree: Tree::default(), strategy: BvhBuildStrategy::Binned }
    }
}

impl Default for ParryRebuild {
    fn default() -> ParryRebuild {
        ParryRebuild::new()
    }
}

impl ParryIncremental {
    /// An empty tree, kept in shape as told.
    pub fn new(upkeep: Upkeep) -> ParryIncremental {
        ParryIncremental { tree: Tree::default(), upkeep, known: Vec::new(), is_found: false }
    }
}

impl BroadPhase for ParryRefit {
    fn update(&mut self, spheres: &Spheres) -> Work {
        self.tree.take_in(spheres);
        self.tree.refit(self.upkeep)
    }

    fn find(&mut self, spheres: &Spheres, pairs: &mut Vec<Pair>) -> Work {
        take_in_if_new(self, self.tree.seen, spheres) + self.tree.pairs(pairs)
    }
}

impl BroadPhase for ParryRebuild {
    fn update(&mut self, spheres: &Spheres) -> Work {
        self.tree.take_in(spheres);
        self.tree.rebuild(self.strategy)
    }

    fn find(&mut self, spheres: &Spheres, pairs: &mut Vec<Pair>) -> Work {
        take_in_if_new(self, self.tree.seen, spheres) + self.tree.pairs(pairs)
    }
}

impl BroadPhase for ParryIncremental {
    fn update(&mut self, spheres: &Spheres) -> Work {
        if !std::mem::replace(&mut self.is_found, false) {
            // What moved since the pairs were found is no longer known.
            self.tree.seen = None;
        }
        self.tree.take_in(spheres);
        self.tree.refit(self.upkeep)
    }

    fn find(&mut self, spheres: &Spheres, pairs: &mut Vec<Pair>) -> Work {
        let work = take_in_if_new(self, self.tree.seen, spheres);
        self.is_found = true;
        let is_new = self.tree.is_new;
        let has_changed = |slot: Slot| is_new || spheres.moved().contains(slot.row());
        self.known.retain(|pair| !has_changed(pair.a()) && !has_changed(pair.b()));
        let mut sphere_tests = 0;
        for &row in &self.tree.changed {
            let sphere = self.tree.spheres[row as usize];
            let query = BvhNode::leaf(boxed(sphere), row);
            for other in self.tree.bvh.leaves(|node| node.intersects(&query)) {
                // Of two that changed, the lower one finds the pair.
                if other == row || (other < row && has_changed(Slot::new(other))) {
                    continue;
                }
                sphere_tests += 1;
                if sphere.overlaps(self.tree.spheres[other as usize]) {
                    self.known.push(Pair::of_rows(row, other));
                }
            }
        }
        pairs.clear();
        pairs.extend_from_slice(&self.known);
        work + Work { sphere_tests, ..Work::default() }
    }
}

/// The tree and the world that it was made from.
#[derive(Default)]
struct Tree {
    bvh: Bvh,
    workspace: BvhWorkspace,
    /// The spheres by row, packed.
    spheres: Vec<Sphere>,
    /// The live rows that changed in this tick; all of them in a world not seen before.
    changed: Vec<u32>,
    /// The world at the last update.
    seen: Option<Edition>,
    /// Moves since the tree was last built.
    moves: u64,
    /// The sum of how far each object has moved since its part of the tree was built.
    strayed: f64,
    /// The sum of all radii when the tree was last built.
    radii: f64,
    /// Whether it was built in this tick, all of it.
    is_new: bool,
    /// How often it was optimised.
    optimised: u32,
}

impl Tree {
    /// How many radii an object may stray, on average, before the tree is worth less than a new one. At 5 % coverage
    /// the next object is four radii away.
    const STRAY_MAX: f64 = 4.0;

    /// Brings the leaves up to date; a world that does not follow from the last one gets a new tree.
    fn take_in(&mut self, spheres: &Spheres) {
        let now = spheres.edition();
        let follows = self.seen.is_some_and(|seen| now.is_next_after(seen));
        self.seen = Some(now);
        self.is_new = !follows;
        self.changed.clear();
        let columns = spheres.columns();
        if follows {
            self.spheres.resize(spheres.rows(), NO_SPHERE);
            for row in spheres.moved().iter() {
                if spheres.alive().contains(row) {
                    let sphere = columns.sphere(row);
                    let before = std::mem::replace(&mut self.spheres[row], sphere);
                    let stray = (sphere.center - before.center).abs().max_element();
                    // A new object has not strayed.
                    if !stray.is_nan() {
                        self.strayed += f64::from(stray);
                    }
                    self.bvh.insert_or_update_partially(boxed(sphere), row as u32, 0.0);
                    self.changed.push(row as u32);
                } else {
                    self.spheres[row] = NO_SPHERE;
                    self.bvh.remove(row as u32);
                }
            }
        } else {
            self.spheres.clear();
            let is_alive = |row: usize| spheres.alive().contains(row);
            self.spheres
                .extend((0..spheres.rows()).map(|row| if is_alive(row) { columns.sphere(row) } else { NO_SPHERE }));
            self.changed.extend(spheres.alive().iter().map(|row| row as u32));
            let leaves = spheres.alive().iter().map(|row| (row, boxed(self.spheres[row])));
            self.bvh = built(leaves, spheres.len());
            self.start_afresh();
        }
    }

    fn start_afresh(&mut self) {
        self.moves = 0;
        self.strayed = 0.0;
        self.radii = self.spheres.iter().map(|sphere| f64::from(sphere.radius)).sum();
    }

    /// Makes every node enclose its leaves again, and keeps the tree in shape.
    fn refit(&mut self, upkeep: Upkeep) -> Work {
        let leaves = u64::from(self.bvh.leaf_count());
        if self.is_new || leaves < 3 {
            return Work { nodes: leaves, ..Work::default() };
        }
        let changed = self.changed.len() as u64;
        self.moves += changed;
        if self.strayed > Tree::STRAY_MAX * self.radii {
            // A rebuild takes every leaf that it finds in memory for one: first sweep up what optimising left behind.
            self.bvh.refit(&mut self.workspace);
            return self.rebuild(BvhBuildStrategy::Binned);
        }
        match upkeep {
            Upkeep::Optimise => {
                self.bvh.optimize_incremental(&mut self.workspace);
                self.optimised += 1;
                self.strayed *= 0.95;
                // Optimising leaves unused nodes behind, and the refit that sweeps them up takes three times as long
                // as the one in place.
                if self.optimised.is_multiple_of(10) {
                    self.bvh.refit(&mut self.workspace);
                } else {
                    self.bvh.refit_without_opt();
                }
            }
            Upkeep::Rebuild { every } if self.moves >= u64::from(every) * leaves => {
                return self.rebuild(BvhBuildStrategy::Binned);
            }
            // A leaf's way to the root is some twenty nodes, scattered: cheaper than a pass over all of them
            // while few have moved.
            Upkeep::Rebuild { .. } if changed < leaves / 32 => self.bvh.refit_partial(&[], &self.changed),
            Upkeep::Rebuild { .. } => self.bvh.refit_without_opt(),
        }
        Work { nodes: leaves, ..Work::default() }
    }

    fn rebuild(&mut self, strategy: BvhBuildStrategy) -> Work {
        if !self.is_new {
            self.bvh.rebuild(&mut self.workspace, strategy);
            self.start_afresh();
        }
        Work { nodes: u64::from(self.bvh.leaf_count()), ..Work::default() }
    }

    /// The pairs of overlapping spheres, by the traversal of the tree against itself.
    fn pairs(&mut self, pairs: &mut Vec<Pair>) -> Work {
        pairs.clear();
        let spheres = &self.spheres;
        let mut sphere_tests = 0;
        self.bvh.traverse_bvtt_single_tree::<false>(&mut self.workspace, &mut |a, b| {
            sphere_tests += 1;
            if spheres[a as usize].overlaps(spheres[b as usize]) {
                pairs.push(Pair::of_rows(a, b));
            }
        });
        Work { sphere_tests, ..Work::default() }
    }
}

/// In a row without an object.
const NO_SPHERE: Sphere = Sphere { center: Vec3::NAN, radius: 0.0 };

fn built(leaves: impl Iterator<Item = (usize, Aabb)>, count: usize) -> Bvh {
    if count > 2 {
        return Bvh::from_iter(BvhBuildStrategy::Binned, leaves);
    }
    // parry 0.31 takes the leaves of a tree of one or two to be numbered 0 and 1, and panics when they are not.
    let mut bvh = Bvh::new();
    for (row, leaf) in leaves {
        bvh.insert(leaf, row as u32);
    }
    bvh
}

/// The box around a sphere. Rounding loses no pair here, for the reasons that `aabb.rs` gives.
fn boxed(sphere: Sphere) -> Aabb {
    let (center, reach) = (Vector::from(sphere.center.to_array()), Vector::splat(sphere.radius));
    Aabb { mins: center - reach, maxs: center + reach }
}

/// Lets a method take these spheres in, unless it has `seen` them as they are.
fn take_in_if_new(method: &mut impl BroadPhase, seen: Option<Edition>, spheres: &Spheres) -> Work {
    if seen == Some(spheres.edition()) { Work::default() } else { method.update(spheres) }
}
