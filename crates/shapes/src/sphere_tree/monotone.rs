//! Makes the error monotone: it never grows from one level to the next.

use super::tree::{Node, SphereTree, TreeError};

/// The tree without children that stick out farther than the worst node of the level above. In their place the node has
/// one child equal to itself, and their children are tried one level later.
pub fn monotone(tree: &SphereTree) -> Result<SphereTree, TreeError> {
    let nodes = tree.nodes();
    let children = |node: u32| {
        let Node { first_child, children, .. } = nodes[node as usize];
        first_child..first_child + children
    };
    // A node of the level, and those that may take its place in the next.
    let mut level: Vec<(u32, Vec<u32>)> = vec![(0, children(0).collect())];
    let mut levels = vec![vec![(nodes[0].ball, nodes[0].error, 0)]];
    for _ in 0..tree.depth() {
        let worst = level.iter().map(|&(node, _)| nodes[node as usize].error).fold(0.0, f64::max);
        let mut next: Vec<(u32, Vec<u32>)> = Vec::new();
        let mut shown = Vec::new();
        for (parent, (node, below)) in level.iter().enumerate() {
            let is_better = below.iter().all(|&child| nodes[child as usize].error <= worst);
            if is_better && !below.is_empty() {
                for &child in below {
                    shown.push((nodes[child as usize].ball, nodes[child as usize].error, parent as u32));
                    next.push((child, children(child).collect()));
                }
            } else {
                shown.push((nodes[*node as usize].ball, nodes[*node as usize].error, parent as u32));
                next.push((*node, below.iter().flat_map(|&child| children(child)).collect()));
            }
        }
        levels.push(shown);
        level = next;
    }
    SphereTree::new(&levels, tree.scale())
}
