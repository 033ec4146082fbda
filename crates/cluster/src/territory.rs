//! Which node decides about which part of space: a plan's tree, cut by cut, as boxes.
//!
//! Planes are even, so that boxes have their centres on the grid. The outermost boxes reach beyond the world's bounds:
//! every point has a decider.

use space::{Grid, GridPoint, NodeId};
use wire::cluster::{Member, Plan, SpaceCut};
use world::GridBox;

/// How far space goes on beyond the world's bounds, in steps.
const BEYOND: i32 = 8_192;
/// No side of a leaf is shorter, in steps: room for some people abreast.
pub const SIDE_MIN: i32 = 6 * 1_024;

/// The leaves of a plan, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Territory {
    /// The decider and the box of each leaf.
    pub leaves: Vec<(NodeId, GridBox)>,
}

/// All of space.
pub fn everything(grid: Grid) -> GridBox {
    let (low, high) = (grid.low(), grid.high());
    GridBox { low: [low.x, low.y, low.z], high: [high.x, high.y, high.z] }.grown(BEYOND).even()
}

/// The first plan: one node decides about everything.
pub fn first(node: NodeId, address: &str) -> Plan {
    let member = Member { node: node.number(), address: address.to_owned(), is_witness: false };
    Plan { version: 1, members: vec![member], cuts: vec![SpaceCut::Leaf(node.number())] }
}

/// A plan of several nodes with about as much space each, for a cluster that starts at once.
pub fn even(members: Vec<Member>, grid: Grid) -> Plan {
    let nodes: Vec<u64> = members.iter().filter(|member| !member.is_witness).map(|member| member.node).collect();
    let (low, high) = (grid.low(), grid.high());
    let mut cuts = Vec::new();
    cut_evenly(&nodes, [low.x, low.z], [high.x, high.z], &mut cuts);
    Plan { version: 1, members, cuts }
}

fn cut_evenly(nodes: &[u64], low: [i32; 2], high: [i32; 2], cuts: &mut Vec<SpaceCut>) {
    if let [node] = nodes {
        cuts.push(SpaceCut::Leaf(*node));
        return;
    }
    let half = nodes.len() / 2;
    let axis = usize::from(high[1] - low[1] > high[0] - low[0]);
    let share = i64::from(high[axis] - low[axis]) * half as i64 / nodes.len() as i64;
    let at = (low[axis] + share as i32) & !1;
    cuts.push(if axis == 0 { SpaceCut::X(at) } else { SpaceCut::Z(at) });
    let (mut middle_high, mut middle_low) = (high, low);
    (middle_high[axis], middle_low[axis]) = (at, at);
    cut_evenly(&nodes[..half], low, middle_high, cuts);
    cut_evenly(&nodes[half..], middle_low, high, cuts);
}

/// The members with objects, by number.
pub fn holders(plan: &Plan) -> Vec<NodeId> {
    plan.members.iter().filter(|member| !member.is_witness).map(|member| NodeId::new(member.node)).collect()
}

/// Cuts a leaf in two; the upper side gets another owner. False if there is no such leaf or a side would be too short.
pub fn split(plan: &mut Plan, grid: Grid, leaf: usize, cut: SpaceCut, owner: NodeId) -> bool {
    let territory = Territory::of(plan, grid);
    let Some((_, block)) = territory.leaves.get(leaf) else { return false };
    let (axis, at) = match cut {
        SpaceCut::X(at) => (0, at & !1),
        SpaceCut::Z(at) => (2, at & !1),
        SpaceCut::Leaf(_) => return false,
    };
    let (low, high) = (grid.low(), grid.high());
    let inside = block.within(&GridBox { low: [low.x, low.y, low.z], high: [high.x, high.y, high.z] });
    if at - inside.low[axis] < SIDE_MIN || inside.high[axis] - at < SIDE_MIN {
        return false;
    }
    let place = leaf_at(plan, leaf);
    let SpaceCut::Leaf(old) = plan.cuts[place] else { return false };
    let cut = if axis == 0 { SpaceCut::X(at) } else { SpaceCut::Z(at) };
    plan.cuts.splice(place..=place, [cut, SpaceCut::Leaf(old), SpaceCut::Leaf(owner.number())]);
    true
}

/// Gives a leaf to another owner.
pub fn assign(plan: &mut Plan, leaf: usize, owner: NodeId) {
    let place = leaf_at(plan, leaf);
    if let Some(cut) = plan.cuts.get_mut(place) {
        *cut = SpaceCut::Leaf(owner.number());
    }
}

/// Undoes cuts between two leaves of one owner.
pub fn simplify(plan: &mut Plan) {
    let mut at = 0;
    while at + 2 < plan.cuts.len() {
        if let [SpaceCut::X(_) | SpaceCut::Z(_), SpaceCut::Leaf(one), SpaceCut::Leaf(other)] = plan.cuts[at..at + 3]
            && one == other
        {
            plan.cuts.splice(at..at + 3, [SpaceCut::Leaf(one)]);
            at = at.saturating_sub(2);
        } else {
            at += 1;
        }
    }
}

/// Where a leaf is in the list of cuts.
fn leaf_at(plan: &Plan, leaf: usize) -> usize {
    let leaves = plan.cuts.iter().enumerate().filter(|(_, cut)| matches!(cut, SpaceCut::Leaf(_)));
    leaves.map(|(at, _)| at).nth(leaf).unwrap_or(plan.cuts.len())
}

impl Territory {
    /// The leaves of a plan.
    pub fn of(plan: &Plan, grid: Grid) -> Territory {
        let mut leaves = Vec::new();
        let mut open = vec![everything(grid)];
        for cut in &plan.cuts {
            let Some(block) = open.pop() else { break };
            let (mut lower, mut upper) = (block, block);
            match *cut {
                SpaceCut::Leaf(node) => {
                    leaves.push((NodeId::new(node), block));
                    continue;
                }
                SpaceCut::X(at) => (lower.high[0], upper.low[0]) = (at & !1, at & !1),
                SpaceCut::Z(at) => (lower.high[2], upper.low[2]) = (at & !1, at & !1),
            }
            open.push(upper);
            open.push(lower);
        }
        Territory { leaves }
    }

    /// The decider of a place; on a border, that of the lower leaf.
    pub fn owner(&self, at: GridPoint) -> Option<NodeId> {
        let point = GridBox::around(at, [0; 3]);
        self.leaves.iter().find(|(_, block)| block.contains(&point)).map(|(node, _)| *node)
    }

    /// The boxes of one node.
    pub fn of_node(&self, node: NodeId) -> impl Iterator<Item = &GridBox> {
        self.leaves.iter().filter(move |(owner, _)| *owner == node).map(|(_, block)| block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::Vec3;
    use space::workload::Random;

    #[test]
    fn every_place_has_one_decider_whatever_is_cut() {
        let grid = Grid::over(Vec3::new(-60.0, 0.0, -60.0), Vec3::new(60.0, 20.0, 60.0)).unwrap();
        for seed in 0..50 {
            let mut random = Random::new(seed);
            let mut plan = first(NodeId::new(1), "");
            for node in 2..10 {
                let member = Member { node, address: String::new(), is_witness: false };
                plan.members.push(member);
                let leaves = Territory::of(&plan, grid).leaves.len();
                let at = random.between(-60_000.0, 60_000.0) as i32;
                let cut = if random.unit() < 0.5 { SpaceCut::X(at) } else { SpaceCut::Z(at) };
                split(&mut plan, grid, random.whole(0, leaves as u32) as usize, cut, NodeId::new(node));
                if random.unit() < 0.2 {
                    assign(&mut plan, random.whole(0, leaves as u32) as usize, NodeId::new(1));
                    simplify(&mut plan);
                }
                let territory = Territory::of(&plan, grid);
                let total: i64 = territory.leaves.iter().map(|(_, block)| area(block)).sum();
                assert_eq!(total, area(&everything(grid)), "seed {seed}");
                for (index, (_, one)) in territory.leaves.iter().enumerate() {
                    for (_, other) in &territory.leaves[index + 1..] {
                        assert!(!one.overlaps(other), "seed {seed}: {one:?} {other:?}");
                    }
                }
                let decoded = wire::ToNode::decode(&wire::ToNode::Committed(plan.clone()).encode());
                assert_eq!(decoded, Ok(wire::ToNode::Committed(plan.clone())));
            }
        }
    }

    fn area(block: &GridBox) -> i64 {
        i64::from(block.high[0] - block.low[0]) * i64::from(block.high[2] - block.low[2])
    }
}
