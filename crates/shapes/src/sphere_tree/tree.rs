//! A sphere-tree as builders make it: in `f64`, level by level.

use super::ball::Ball;

pub const MAX_DEPTH: usize = 8;
pub const MAX_NODES: usize = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    pub ball: Ball,
    /// A proven upper bound of the distance from any point of the ball to the object.
    pub error: f64,
    /// The root is its own parent.
    pub parent: u32,
    /// The first of the children, which are side by side.
    pub first_child: u32,
    /// None on the lowest level, at least one above it.
    pub children: u32,
}

/// Balls around a surface, in levels.
///
/// Invariant: for each point of the surface there is a path from the root to a leaf on which every ball contains it. So
/// a walk down that leaves out what a ball excludes misses nothing. A child's ball need not be inside its parent's. A
/// node that could not be improved has one child equal to itself.
#[derive(Clone, Debug, PartialEq)]
pub struct SphereTree {
    nodes: Vec<Node>,
    /// The first node of each level, then the number of nodes.
    starts: Vec<u32>,
    /// The radius of the smallest ball around the surface, relative to which errors are reported.
    scale: f64,
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TreeError {
    #[error("the tree has {levels} levels, expected 1 to {}", MAX_DEPTH + 1)]
    Levels { levels: usize },
    /// A level without nodes, a second root, or more than [`MAX_NODES`] in all.
    #[error("level {level} has {nodes} nodes")]
    LevelSize { level: usize, nodes: usize },
    /// A number that is not finite, or not positive where required.
    #[error("node {node}: {field} is {value}, expected a finite number {expected}")]
    Number { node: usize, field: &'static str, value: f64, expected: &'static str },
    /// A parent that is out of order, not on the level above, or leaves one without a child; or a root with a parent
    /// other than zero.
    #[error(
        "node {node}: its parent is {parent}, expected a node of the level above, in order, none left out; \
         0 for the root"
    )]
    Parent { node: usize, parent: u32 },
}

impl SphereTree {
    /// Makes a tree of levels. A node is a ball, its error, and its parent's index within the level above (0 for the
    /// root). Siblings are side by side, in the order of their parents.
    pub fn new(levels: &[Vec<(Ball, f64, u32)>], scale: f64) -> Result<SphereTree, TreeError> {
        if levels.is_empty() || levels.len() > MAX_DEPTH + 1 {
            return Err(TreeError::Levels { levels: levels.len() });
        }
        if !(scale > 0.0 && scale.is_finite()) {
            return Err(TreeError::Number { node: 0, field: "scale", value: scale, expected: "above zero" });
        }
        let mut nodes: Vec<Node> = Vec::new();
        let mut starts = vec![0_u32];
        for (level, members) in levels.iter().enumerate() {
            let wrong_root = level == 0 && members.len() != 1;
            if members.is_empty() || wrong_root || nodes.len() + members.len() > MAX_NODES {
                return Err(TreeError::LevelSize { level, nodes: members.len() });
            }
            let above = if level == 0 { 0 } else { starts[level - 1] };
            let first = nodes.len() as u32;
            let mut expected = 0;
            for &(ball, error, parent) in members {
                let node = nodes.len();
                check_numbers(node, ball, error)?;
                if level > 0 {
                    let is_same = expected > 0 && parent == expected - 1;
                    if !is_same && parent != expected || above as usize + parent as usize >= first as usize {
                        return Err(TreeError::Parent { node, parent });
                    }
                    let over = &mut nodes[(above + parent) as usize];
                    if over.children == 0 {
                        over.first_child = node as u32;
                    }
                    over.children += 1;
                    expected = parent + 1;
                } else if parent != 0 {
                    return Err(TreeError::Parent { node, parent });
                }
                nodes.push(Node { ball, error, parent: above + parent, first_child: 0, children: 0 });
            }
            if level > 0 && above + expected != first {
                return Err(TreeError::Parent { node: nodes.len() - 1, parent: expected - 1 });
            }
            starts.push(nodes.len() as u32);
        }
        Ok(SphereTree { nodes, starts, scale })
    }

    pub fn depth(&self) -> usize {
        self.starts.len() - 2
    }

    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The nodes of a level; empty if the tree is not so deep.
    pub fn level(&self, level: usize) -> &[Node] {
        self.nodes.get(self.level_range(level)).unwrap_or(&[])
    }

    /// The indices of a level's nodes; empty if the tree is not so deep.
    pub fn level_range(&self, level: usize) -> std::ops::Range<usize> {
        match self.starts.get(level..) {
            Some(&[start, end, ..]) => start as usize..end as usize,
            _ => self.nodes.len()..self.nodes.len(),
        }
    }

    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// The nodes from a node up to the root; empty if there is no such node.
    pub fn chain(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let mut next = Some(node).filter(|&node| (node as usize) < self.nodes.len());
        std::iter::from_fn(move || {
            let node = next?;
            next = (node != 0).then(|| self.nodes[node as usize].parent);
            Some(node)
        })
    }

    pub(super) fn node_mut(&mut self, node: u32) -> &mut Node {
        &mut self.nodes[node as usize]
    }

    /// The tree moved and scaled: balls through `map`, errors times `factor` plus what a ball grew beyond that.
    pub(super) fn mapped(mut self, factor: f64, map: impl Fn(Ball) -> Ball) -> SphereTree {
        for node in &mut self.nodes {
            let scaled = node.ball.radius * factor;
            node.ball = map(node.ball);
            node.error = node.error * factor + (node.ball.radius - scaled).max(0.0);
        }
        self.scale *= factor;
        self
    }
}

fn check_numbers(node: usize, ball: Ball, error: f64) -> Result<(), TreeError> {
    let wrong = |field, value, expected| Err(TreeError::Number { node, field, value, expected });
    if let Some(value) = ball.center.to_array().into_iter().find(|value| !value.is_finite()) {
        return wrong("center", value, "");
    }
    if !(ball.radius > 0.0 && ball.radius.is_finite()) {
        return wrong("radius", ball.radius, "above zero");
    }
    if !(error >= 0.0 && error.is_finite()) {
        return wrong("error", error, "of at least zero");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::DVec3;

    fn level(parents: &[u32]) -> Vec<(Ball, f64, u32)> {
        parents.iter().map(|&parent| (Ball::new(DVec3::ZERO, 1.0), 0.0, parent)).collect()
    }

    /// Keeps out: a parent of `u32::MAX` overflowed, and a root could have any parent.
    #[test]
    fn parents_that_are_not_there_are_refused() {
        let refused = |levels: &[&[u32]], node: usize, parent: u32| {
            let levels: Vec<_> = levels.iter().map(|parents| level(parents)).collect();
            assert_eq!(SphereTree::new(&levels, 1.0), Err(TreeError::Parent { node, parent }), "{levels:?}");
        };
        refused(&[&[0], &[0, u32::MAX]], 2, u32::MAX);
        refused(&[&[0], &[u32::MAX]], 1, u32::MAX);
        refused(&[&[0], &[0, 1]], 2, 1);
        refused(&[&[0], &[0, 0], &[0, 1, 0]], 5, 0);
        refused(&[&[0], &[0, 0], &[0, 0]], 4, 0);
        refused(&[&[77]], 0, 77);
        refused(&[&[u32::MAX], &[0]], 0, u32::MAX);
    }

    /// Keeps out: both were an index out of bounds or an overflow.
    #[test]
    fn levels_and_nodes_beyond_the_tree_are_empty() {
        let tree = SphereTree::new(&[level(&[0]), level(&[0, 0]), level(&[0, 0, 1])], 1.0).unwrap();
        assert_eq!((0..4).map(|level| tree.level(level).len()).collect::<Vec<_>>(), [1, 2, 3, 0]);
        assert_eq!(tree.level_range(2), 3..6);
        for level in [3, 4, 5, usize::MAX - 1, usize::MAX] {
            assert!(tree.level(level).is_empty() && tree.level_range(level).is_empty(), "level {level}");
        }
        assert_eq!(tree.chain(5).collect::<Vec<_>>(), [5, 2, 0]);
        assert_eq!(tree.chain(0).collect::<Vec<_>>(), [0]);
        assert!([6, 9, u32::MAX].into_iter().all(|node| tree.chain(node).next().is_none()));
    }
}
