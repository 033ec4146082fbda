//! What the next plan should be: without nodes that died, with nodes that ask to join, and with the load shared.
//!
//! Every node tells its load and where it would cut its fullest leaf in two. The node with the lowest number proposes;
//! if two believe that they are that node, agreement decides between them.

use std::collections::BTreeMap;

use space::{Grid, GridPoint, NodeId};
use wire::cluster::{Member, NODES_MAX, Plan, SpaceCut};

use super::territory::{Territory, assign, holders, simplify, split};

/// Load is moved when the busiest node has this many times the mean, and this many objects more.
const UNEVEN: f32 = 1.6;
const UNEVEN_OBJECTS: f32 = 24.0;

/// What is known of a member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemberLoad {
    /// How many objects it owns.
    pub objects: u32,
    /// Where it would cut which leaf.
    pub half: Option<(u32, SpaceCut)>,
}

/// A plan without these nodes: their leaves go to the least busy of the others. `None` if no node would be left.
pub fn without(plan: &Plan, grid: Grid, dead: &[NodeId], loads: &BTreeMap<NodeId, MemberLoad>) -> Option<Plan> {
    let mut next = plan.clone();
    next.members.retain(|member| !dead.contains(&NodeId::new(member.node)));
    let mut loads: BTreeMap<NodeId, u32> =
        holders(&next).into_iter().map(|node| (node, loads.get(&node).map_or(0, |load| load.objects))).collect();
    for (leaf, (owner, _)) in Territory::of(plan, grid).leaves.iter().enumerate() {
        if dead.contains(owner) {
            let (&heir, load) = loads.iter_mut().min_by_key(|(_, load)| **load)?;
            *load += 1_000;
            assign(&mut next, leaf, heir);
        }
    }
    simplify(&mut next);
    Some(next)
}

/// The most leaves: servers that come and go leave more and more of them, and a plan has to fit into its message.
const LEAVES_MAX: usize = NODES_MAX;

/// A plan with one more member, which takes half of the busiest node's space; if there are many leaves already, it
/// takes a leaf of the node that has the most.
pub fn with(plan: &Plan, grid: Grid, member: Member, loads: &BTreeMap<NodeId, MemberLoad>) -> Plan {
    let mut next = plan.clone();
    let node = NodeId::new(member.node);
    let is_witness = member.is_witness;
    let at = next.members.partition_point(|known| known.node < member.node);
    next.members.insert(at, member);
    let leaves = Territory::of(plan, grid).leaves;
    if !is_witness && leaves.len() >= LEAVES_MAX {
        let count = |leaf: &usize| leaves.iter().filter(|(owner, _)| *owner == leaves[*leaf].0).count();
        if let Some(leaf) = (0..leaves.len()).max_by_key(count).filter(|leaf| count(leaf) > 1) {
            assign(&mut next, leaf, node);
            simplify(&mut next);
        }
    } else if !is_witness {
        let mut busiest: Vec<(&NodeId, &MemberLoad)> = loads.iter().collect();
        busiest.sort_by_key(|(_, load)| std::cmp::Reverse(load.objects));
        let halves = busiest.iter().filter_map(|(_, load)| load.half);
        for (leaf, cut) in halves.chain(middles(plan, grid)) {
            if split(&mut next, grid, leaf as usize, cut, node) {
                break;
            }
        }
    }
    next
}

/// A plan in which the busiest node gives half of its fullest leaf to the least busy; `None` if the load is even
/// enough.
pub fn shared(plan: &Plan, grid: Grid, loads: &BTreeMap<NodeId, MemberLoad>) -> Option<Plan> {
    let nodes = holders(plan);
    if nodes.len() < 2 || Territory::of(plan, grid).leaves.len() >= LEAVES_MAX.min(4 * nodes.len()) {
        return None;
    }
    let load_of = |node: &NodeId| loads.get(node).map(|load| load.objects as f32);
    let all: Option<Vec<f32>> = nodes.iter().map(load_of).collect();
    let mean = all?.iter().sum::<f32>() / nodes.len() as f32;
    let busiest = nodes.iter().max_by(|a, b| load_of(a).unwrap_or(0.0).total_cmp(&load_of(b).unwrap_or(0.0)))?;
    let idlest = nodes.iter().min_by(|a, b| load_of(a).unwrap_or(0.0).total_cmp(&load_of(b).unwrap_or(0.0)))?;
    let most = load_of(busiest)?;
    if most < mean * UNEVEN || most < mean + UNEVEN_OBJECTS {
        return None;
    }
    let (leaf, cut) = loads.get(busiest)?.half?;
    let mut next = plan.clone();
    if !split(&mut next, grid, leaf as usize, cut, *idlest) {
        return None;
    }
    simplify(&mut next);
    Some(next)
}

/// Cuts through the middles of all leaves, the largest first.
fn middles(plan: &Plan, grid: Grid) -> Vec<(u32, SpaceCut)> {
    let mut middles: Vec<(i64, u32, SpaceCut)> = Vec::new();
    for (leaf, (_, block)) in Territory::of(plan, grid).leaves.iter().enumerate() {
        let (low, high) = (grid.low(), grid.high());
        let (x, z) = (
            (block.low[0].max(low.x), block.high[0].min(high.x)),
            (block.low[2].max(low.z), block.high[2].min(high.z)),
        );
        let area = i64::from(x.1 - x.0) * i64::from(z.1 - z.0);
        let cut = if x.1 - x.0 >= z.1 - z.0 { SpaceCut::X((x.0 + x.1) / 2) } else { SpaceCut::Z((z.0 + z.1) / 2) };
        middles.push((area, leaf as u32, cut));
    }
    middles.sort_by_key(|(area, _, _)| std::cmp::Reverse(*area));
    middles.into_iter().map(|(_, leaf, cut)| (leaf, cut)).collect()
}

/// Where a node would cut: its fullest leaf, across the longer side of what its objects fill, half of them on either
/// side.
pub fn half(territory: &Territory, me: NodeId, places: &[GridPoint]) -> Option<(u32, SpaceCut)> {
    let mut fullest: Option<(usize, u32, Vec<GridPoint>)> = None;
    for (leaf, (owner, block)) in territory.leaves.iter().enumerate() {
        if *owner != me {
            continue;
        }
        let is_in = |at: &&GridPoint| block.contains(&world::GridBox::around(**at, [0; 3]));
        let here: Vec<GridPoint> = places.iter().filter(is_in).copied().collect();
        if fullest.as_ref().is_none_or(|(most, _, _)| here.len() > *most) {
            fullest = Some((here.len(), leaf as u32, here));
        }
    }
    let (count, leaf, here) = fullest.filter(|(count, _, _)| *count >= 2)?;
    let mut x: Vec<i32> = here.iter().map(|at| at.x).collect();
    let mut z: Vec<i32> = here.iter().map(|at| at.z).collect();
    let spread = |list: &[i32]| {
        let (low, high) = list.iter().fold((i32::MAX, i32::MIN), |(low, high), &at| (low.min(at), high.max(at)));
        i64::from(high) - i64::from(low)
    };
    let is_wide = spread(&x) >= spread(&z);
    let middle = |list: &mut [i32]| *list.select_nth_unstable(count / 2).1;
    Some((leaf, if is_wide { SpaceCut::X(middle(&mut x)) } else { SpaceCut::Z(middle(&mut z)) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::Vec3;

    /// Keeps out this bug: every server that came cut space once more, until no message could hold the plan and no node
    /// could join or be left out any more.
    #[test]
    fn a_plan_fits_into_its_message_after_many_joins_and_leaves() {
        let grid = Grid::over(Vec3::new(-500.0, 0.0, -500.0), Vec3::new(500.0, 20.0, 500.0)).unwrap();
        let mut plan = super::super::territory::first(NodeId::new(1), "");
        let loads = BTreeMap::new();
        for node in 2..1_500 {
            let member = Member { node, address: String::new(), is_witness: false };
            plan = with(&plan, grid, member, &loads);
            let leaves = Territory::of(&plan, grid).leaves;
            assert!(leaves.iter().any(|(owner, _)| *owner == NodeId::new(node)), "{node} came for nothing");
            if node > 4 {
                plan = without(&plan, grid, &[NodeId::new(node - 3)], &loads).unwrap();
            }
            let message = wire::ToNode::Committed(plan.clone());
            assert_eq!(wire::ToNode::decode(&message.encode()), Ok(message), "{} leaves", leaves.len());
        }
    }
}
