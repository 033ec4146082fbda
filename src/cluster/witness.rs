//! A node without objects: it takes part in votes, so that two servers have a majority when one of them dies.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use cluster::{Cluster, ClusterSettings, Status};
use space::Time;
use thiserror::Error;
use tokio::time::{Instant, sleep_until};
use wire::cluster::CLUSTER_VERSION;
use wire::{Channel, ToNode};
use world::{Spec, World};

use super::{COPIES, Messenger, NodeEvent, fingerprint, fresh_number};
use crate::link::zenoh::{Fabric, FabricError, FabricSettings};
use crate::link::{LinkLimits, Links};

/// How often it wakes.
const WAKE: Duration = Duration::from_millis(33);
/// How long the cluster may take to accept it, as for a server.
pub const JOINING_MAX: Duration = Duration::from_secs(30);

/// Why a witness ends.
#[derive(Debug, Error)]
pub enum WitnessError {
    #[error(transparent)]
    Fabric(#[from] FabricError),
    #[error("no world can be made: {0}")]
    World(#[from] world::SpecError),
    /// It belongs to another cluster.
    #[error("the cluster serves another world, hears differently far, or speaks version {0}: all need the same")]
    TurnedAway(u16),
    /// The cluster has not accepted it in time.
    #[error("cannot join: the cluster has not taken it in within {} seconds", JOINING_MAX.as_secs())]
    NotTakenIn,
}

/// Takes part in votes until `stop`. `told` is called when it becomes a member, and when it is left out.
pub async fn run(
    fabric: &FabricSettings,
    spec: Arc<Spec>,
    reach: f32,
    stop: impl Future<Output = ()>,
    told: &mut dyn FnMut(Status),
) -> Result<(), WitnessError> {
    let mut world = World::empty(spec)?;
    let print = fingerprint(&world, reach);
    let settings =
        |node| ClusterSettings { node, address: String::new(), is_witness: true, copies: COPIES, reach, world: print };
    let me = fresh_number();
    let (links, inbox) = Links::new(LinkLimits::between_nodes());
    let mut messenger = Messenger::new(inbox, me, print);
    let among = fabric;
    let fabric = Fabric::open(among, links).await?;
    fabric.wait_for_a_node(among).await?;
    let began = Instant::now();
    let now = || Time::from_micros(began.elapsed().as_micros() as i64);
    let mut cluster = Cluster::joining(settings(me), &mut world, now());
    let (mut stop, mut status, mut events) = (std::pin::pin!(stop), Status::Joining, VecDeque::new());
    let (mut due, mut has_belonged) = (Instant::now(), false);
    let ended = loop {
        tokio::select! {
            biased;
            () = &mut stop => break Ok(()),
            () = sleep_until(due) => {
                due = Instant::now() + WAKE;
                cluster.wake(now(), &mut world);
            }
            event = messenger.next() => messenger.take(event, &mut events),
        }
        let mut turned_away = None;
        while let Some(event) = events.pop_front() {
            let (from, bytes) = match event {
                NodeEvent::Connected(node) => {
                    cluster.connected(node);
                    continue;
                }
                NodeEvent::Disconnected(node) => {
                    cluster.disconnected(node);
                    continue;
                }
                NodeEvent::Arrived(from, _, bytes) => (from, bytes),
            };
            match ToNode::decode(&bytes) {
                Err(error) => messenger.malformed(from, &error),
                Ok(ToNode::Join { version, world, .. }) if version != CLUSTER_VERSION || world != print => {
                    let refusal = ToNode::TurnedAway { version: CLUSTER_VERSION, world: print };
                    messenger.send(from, Channel::Stream, &refusal.encode());
                }
                Ok(ToNode::TurnedAway { version, .. }) if cluster.status() == Status::Joining => {
                    turned_away = Some(version);
                }
                Ok(message) => cluster.handle(now(), from, &message, &mut world),
            }
        }
        messenger.set_plan(cluster.plan().version);
        while let Some((to, message)) = cluster.poll() {
            let channel = if message.is_datagram() { Channel::Datagram } else { Channel::Stream };
            messenger.send(to, channel, &message.encode());
        }
        if let Some(version) = turned_away {
            break Err(WitnessError::TurnedAway(version));
        }
        if cluster.status() != status {
            status = cluster.status();
            told(status);
        }
        has_belonged |= status == Status::Member;
        if !has_belonged && began.elapsed() >= JOINING_MAX {
            break Err(WitnessError::NotTakenIn);
        }
        if status == Status::LeftOut {
            let me = fresh_number();
            cluster = Cluster::joining(settings(me), &mut world, now());
            messenger.renumber(me);
            messenger.nodes().for_each(|node| cluster.connected(node));
        }
    };
    fabric.close().await;
    ended
}
