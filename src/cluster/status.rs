//! The state of a cluster, as one of its nodes sees it.

use cluster::{Cluster, Status};
use serde::{Deserialize, Serialize};
use server::Server;
use space::snap::STEPS_PER_METRE;
use space::{NodeId, Time};
use wire::operator::{Borders, NodeRegion as Told, REGIONS_MAX};

use super::Messenger;

/// A tick of a heartbeat's lag, in milliseconds.
const LAG_MS: f64 = 33.333;

/// The state of a cluster, as one of its nodes sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClusterStatus {
    pub node: String,
    /// `member`, `joining` or `left out`.
    pub status: String,
    /// Whether it may move its objects: its lease holds.
    pub may_act: bool,
    /// The version of the plan that it acts by.
    pub plan: u64,
    /// Its world's tick.
    pub tick: u64,
    pub nodes: Vec<NodeStatus>,
    /// Which node decides where.
    pub regions: Vec<RegionStatus>,
    /// Objects that were offered to other nodes so far, taken from them, and adopted from dead ones.
    pub offered: u64,
    pub taken: u64,
    pub adopted: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeStatus {
    /// Its name; its number, if it is not connected.
    pub name: String,
    /// The address for clients.
    pub address: String,
    /// Whether it only takes part in votes.
    pub is_witness: bool,
    /// Milliseconds since its last heartbeat; `None` if there was none.
    pub heard_ms: Option<f64>,
    /// How many objects it owns.
    pub objects: u32,
    /// How far its copies are behind, in milliseconds.
    pub lag_ms: f64,
}

/// A region of the ground.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RegionStatus {
    /// The node that decides about it.
    pub name: String,
    /// Its corners, x and z, in metres.
    pub low: [f64; 2],
    pub high: [f64; 2],
}

/// The state now.
pub fn status(server: &Server, messenger: &Messenger, own_name: &str, now: Time) -> Option<ClusterStatus> {
    let cluster = server.cluster()?;
    let name = |node: u64| name_of(cluster, messenger, own_name, node);
    let nodes = cluster.plan().members.iter().map(|member| {
        let heard = cluster.heard_of(NodeId::new(member.node));
        NodeStatus {
            name: name(member.node),
            address: member.address.clone(),
            is_witness: member.is_witness,
            heard_ms: heard.map(|(at, _)| (now - *at) as f64 * 1e-3),
            objects: heard.map_or(0, |(_, beat)| beat.load),
            lag_ms: heard.map_or(0.0, |(_, beat)| f64::from(beat.lag) * LAG_MS),
        }
    });
    let metres = |corner: [i32; 2]| corner.map(|steps| f64::from(steps) / f64::from(STEPS_PER_METRE));
    let regions = regions(server, cluster).map(|(node, low, high)| RegionStatus {
        name: name(node),
        low: metres(low),
        high: metres(high),
    });
    Some(ClusterStatus {
        node: own_name.to_owned(),
        status: match cluster.status() {
            Status::Joining => "joining",
            Status::Member => "member",
            Status::LeftOut => "left out",
        }
        .to_owned(),
        may_act: cluster.may_act(now),
        plan: cluster.plan().version,
        tick: server.world().tick().number(),
        nodes: nodes.collect(),
        regions: regions.collect(),
        offered: cluster.counts().offered,
        taken: cluster.custody().taken,
        adopted: cluster.custody().adopted(),
    })
}

/// Which node decides where, for an operator's map.
pub fn borders(server: &Server, messenger: &Messenger, own_name: &str) -> Option<Borders> {
    let cluster = server.cluster()?;
    let me = cluster.node().number();
    let told = |(node, low, high): (u64, [i32; 2], [i32; 2])| Told {
        node: name_of(cluster, messenger, own_name, node),
        is_own: node == me,
        low,
        high,
    };
    let regions = regions(server, cluster).take(REGIONS_MAX).map(told).collect();
    Some(Borders { plan: cluster.plan().version, regions })
}

fn name_of(cluster: &Cluster, messenger: &Messenger, own_name: &str, node: u64) -> String {
    if node == cluster.node().number() {
        return own_name.to_owned();
    }
    messenger.name_of(NodeId::new(node)).map_or_else(|| format!("node {node}"), |name| name.as_str().to_owned())
}

/// Regions within the world: the outer ones reach beyond it.
fn regions<'a>(server: &Server, cluster: &'a Cluster) -> impl Iterator<Item = (u64, [i32; 2], [i32; 2])> + 'a {
    let grid = server.world().grid();
    let (low, high) = ([grid.low().x, grid.low().z], [grid.high().x, grid.high().z]);
    cluster.territory().leaves.iter().map(move |(node, block)| {
        let within = |corner: [i32; 3]| {
            let [x, _, z] = corner;
            [x.clamp(low[0], high[0]), z.clamp(low[1], high[1])]
        };
        (node.number(), within(block.low), within(block.high))
    })
}
