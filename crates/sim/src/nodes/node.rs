//! A node of a cluster without users' sessions: its part in the cluster and its world.
//!
//! What users wish is put into it before each tick. A whole server in a cluster is a [`Participant`] too; this one is
//! as fast as a simulation over thousands of seeds needs it.

use std::collections::VecDeque;

use cluster::{Cluster, Status};
use space::Time;
use wire::{Channel, Effect, Endpoint, Event, Participant, ToNode};
use world::{Input, World};

/// A tick by a node's own clock, in microseconds.
pub const TICK_US: i64 = 33_333;

#[derive(Debug)]
pub struct ClusterNode {
    pub cluster: Cluster,
    pub world: World,
    /// Inputs for the next tick.
    pub inputs: Vec<Input>,
    next_tick: Time,
    effects: VecDeque<Effect>,
}

impl ClusterNode {
    pub fn new(cluster: Cluster, world: World, next_tick: Time) -> ClusterNode {
        ClusterNode { cluster, world, inputs: Vec::new(), next_tick, effects: VecDeque::new() }
    }

    /// Whether the others have gone on without it.
    pub fn is_left_out(&self) -> bool {
        self.cluster.status() == Status::LeftOut
    }
}

impl Participant for ClusterNode {
    fn handle(&mut self, now: Time, event: Event<'_>) {
        match event {
            Event::Opened { from: Endpoint::Node(node), .. } => self.cluster.connected(node),
            Event::Closed { from: Endpoint::Node(node) } => self.cluster.disconnected(node),
            Event::Arrived { from: Endpoint::Node(node), bytes, .. } => match ToNode::decode(bytes) {
                Ok(message) => self.cluster.handle(now, node, &message, &mut self.world),
                Err(error) => self.effects.push_back(Effect::Malformed { from: node, error }),
            },
            _ => {}
        }
    }

    fn wake(&mut self, now: Time) {
        self.next_tick = now + TICK_US;
        let inputs = std::mem::take(&mut self.inputs);
        self.cluster.tick(now, &mut self.world, &inputs);
    }

    fn next_wake(&self) -> Time {
        self.next_tick
    }

    fn poll(&mut self) -> Option<Effect> {
        if let Some((node, message)) = self.cluster.poll() {
            let bytes = message.encode();
            self.cluster.count(&message, bytes.len());
            let channel = if message.is_datagram() { Channel::Datagram } else { Channel::Stream };
            return Some(Effect::Send { to: Endpoint::Node(node), channel, bytes });
        }
        self.effects.pop_front()
    }
}
