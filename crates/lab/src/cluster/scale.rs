//! What a node costs as nodes are added: space and users per node are the same, and only their number grows.

use std::sync::Arc;

use node::cluster::{Cluster, ClusterSettings, territory};
use space::workload::Random;
use space::{NodeId, Tick, Time, Vec3};
use wire::ToNode;
use wire::cluster::Member;
use world::{Act, Input, Placing, Plaza, World};

use super::{TICK_US, wishes};
use crate::stopwatch::{Stopwatch, timed};

/// One number of nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Row {
    /// Nodes.
    pub nodes: usize,
    /// Objects per node.
    pub objects: usize,
    /// Processor time per node and tick, in milliseconds, all messages in and out included.
    pub cpu_ms: f64,
    /// Batches sent per node and tick.
    pub batches: f64,
    /// Bytes per node and tick: batches, and everything.
    pub batch_bytes: f64,
    /// See above.
    pub bytes: f64,
}

/// One cluster of nodes, each with as much space.
struct Swarm {
    hosts: Vec<(Cluster, World)>,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Nodes.
    pub nodes: usize,
    /// Users per node.
    pub users: usize,
    /// The edge of the square of space per node, in metres.
    pub side: f32,
    /// How many ticks are timed, after a second of warming up.
    pub ticks: u32,
    /// At least so many nodes run in turn, as several clusters if need be: what is near in memory for one node alone must not
    /// be counted as a virtue of being alone.
    pub nodes_in_turn: usize,
}

/// Measures what a node costs. What users want is worked out beforehand and not counted.
pub fn measure(scale: &Scale, stopwatch: &mut dyn Stopwatch) -> Row {
    let Scale { nodes, ticks, nodes_in_turn, .. } = *scale;
    let mut swarms: Vec<Swarm> =
        (0..nodes_in_turn.div_ceil(nodes).max(1)).map(|number| Swarm::new(scale, number as u64)).collect();
    let mut now = Time::from_micros(0);
    let mut run = |ticks: u32, swarms: &mut Vec<Swarm>, counts: &mut [u64; 3]| {
        let mut cpu_ms = 0.0;
        for _ in 0..ticks {
            now = now + TICK_US;
            for Swarm { hosts } in swarms.iter_mut() {
                let inputs: Vec<Vec<Input>> =
                    hosts.iter().map(|(cluster, world)| wishes(cluster, world, now, 3)).collect();
                let ((), elapsed) = timed(stopwatch, || tick(now, hosts, &inputs, counts));
                cpu_ms += elapsed.cpu_ms;
            }
        }
        cpu_ms
    };
    run(30, &mut swarms, &mut [0; 3]);
    let mut counts = [0u64; 3];
    let cpu_ms = run(ticks, &mut swarms, &mut counts);
    let all = swarms.len() * nodes;
    let per = 1.0 / (f64::from(ticks) * all as f64);
    let own = |swarm: &Swarm| swarm.hosts.iter().map(|(cluster, _)| cluster.custody().own().count()).sum::<usize>();
    Row {
        nodes,
        objects: swarms.iter().map(own).sum::<usize>() / all,
        cpu_ms: cpu_ms * per,
        batches: counts[0] as f64 * per,
        batch_bytes: counts[1] as f64 * per,
        bytes: counts[2] as f64 * per,
    }
}

impl Swarm {
    fn new(scale: &Scale, number: u64) -> Swarm {
        let Scale { nodes, users, side, .. } = *scale;
        let whole = (side * (nodes as f32).sqrt()).max(60.0);
        let many = (nodes as u32 * 6).max(6);
        let plaza = Plaza { side: whole, obstacles: many, crates: many, balls: many / 3, seekers: 0, seed: 5 + number };
        let spec = Arc::new(plaza.spec());
        let mut all = World::new(Arc::clone(&spec)).expect("a plaza is a world");
        let mut random = Random::new(9 + number);
        let half = 0.5 * whole - 2.0;
        let joins: Vec<Input> = (0..users * nodes)
            .map(|user| {
                let at = Vec3::new(random.between(-half, half), 0.0, random.between(-half, half));
                let act = Act::Join { name: format!("user {user}").into(), avatar: 0, at: Some(at) };
                Input { sender: NodeId::new(1_000 + user as u64), sequence: 1, made_for: Tick::new(1), act }
            })
            .collect();
        all.step(&joins);
        let members: Vec<Member> =
            (1..=nodes as u64).map(|node| Member { node, address: String::new(), is_witness: false }).collect();
        let plan = territory::even(members, all.grid());
        let territory = territory::Territory::of(&plan, all.grid());
        let host = |node: u64| {
            let me = NodeId::new(node);
            let mut world = World::empty(Arc::clone(&spec)).expect("a plaza is a world");
            world.catch_up(all.tick());
            for object in all.dynamic().filter(|object| territory.owner(object.at) == Some(me)) {
                let parcel = all.parcel(object.id).expect("it is there");
                world.put_in(&parcel, Placing::Exact).expect("it was so in the whole world");
            }
            let address = String::new();
            let settings = ClusterSettings { node: me, address, is_witness: false, copies: 2, reach: 22.0, world: 7 };
            let cluster = Cluster::founding(settings, &mut world, plan.clone(), Time::from_micros(0));
            (cluster, world)
        };
        Swarm { hosts: (1..=nodes as u64).map(host).collect() }
    }
}

/// One tick of all nodes, and all that they say to each other until they wait for the next one.
fn tick(now: Time, hosts: &mut [(Cluster, World)], inputs: &[Vec<Input>], counts: &mut [u64; 3]) {
    let mut under_way: Vec<(NodeId, NodeId, Vec<u8>)> = Vec::new();
    for ((cluster, world), inputs) in hosts.iter_mut().zip(inputs) {
        cluster.tick(now, world, inputs);
    }
    for round in 0..4 {
        for (cluster, _) in hosts.iter_mut() {
            let from = cluster.node();
            while let Some((to, message)) = cluster.poll() {
                let bytes = message.encode();
                if let ToNode::Batch(_) = message {
                    counts[0] += 1;
                    counts[1] += bytes.len() as u64;
                }
                counts[2] += bytes.len() as u64;
                under_way.push((from, to, bytes));
            }
        }
        for (from, to, bytes) in under_way.drain(..) {
            let (cluster, world) = &mut hosts[to.number() as usize - 1];
            let message = ToNode::decode(&bytes).expect("it was encoded");
            cluster.handle(now + 1_000 * round, from, &message, world);
        }
    }
}
