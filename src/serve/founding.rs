//! Starts a server of a cluster: the first one, or one that joins.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use cluster::{Cluster, ClusterSettings};
use server::Server;
use space::Time;
use tokio::sync::oneshot;
use tokio::time::Instant;
use wire::ToNode;
use world::World;

use super::{Options, ServeError};
use crate::cluster::{COPIES, ClusterOptions, Messenger, NodeEvent, fingerprint, fresh_number};
use crate::drive::Nodes;
use crate::fetch::Address;
use crate::link::zenoh::Fabric;
use crate::link::{LinkLimits, Links};
use crate::origin::Origins;

/// How long a founder looks for nodes of the cluster: a founder that was started again must not begin a second world.
const LOOK_AROUND: Duration = Duration::from_millis(1_000);

/// A server, and how it reaches the other nodes.
pub(super) struct Founded {
    pub server: Server,
    pub nodes: Nodes,
    pub joined: oneshot::Receiver<Result<(), String>>,
    pub fabric: Fabric,
}

/// Connects to the other nodes, and makes a server of the world that they share. `url` is where this one listens.
pub(super) async fn take_part(
    options: &Options,
    cluster: &ClusterOptions,
    url: &str,
    origins: Arc<Origins>,
    began: Instant,
) -> Result<Founded, ServeError> {
    let address = advertised(cluster, url)?;
    let reach = (options.server.focus + options.server.nimbus) * options.server.hysteresis;
    let me = fresh_number();
    let mut empty = World::empty(options.world.clone())?;
    let print = fingerprint(&empty, reach);
    let (links, inbox) = Links::new(LinkLimits::between_nodes());
    let mut messenger = Messenger::new(inbox, me, print);
    let fabric = Fabric::open(&cluster.fabric, links).await?;
    fabric.wait_for_a_node(&cluster.fabric).await?;
    let is_first = cluster.fabric.connect.is_empty() && !look_around(&mut messenger).await;
    let settings = ClusterSettings { node: me, address, is_witness: false, copies: COPIES, reach, world: print };
    let now = Time::from_micros(began.elapsed().as_micros() as i64);
    let (world, part) = if is_first {
        let mut world = World::new(options.world.clone())?;
        let part = Cluster::first(settings.clone(), &mut world, now);
        (world, part)
    } else {
        let part = Cluster::joining(settings.clone(), &mut empty, now);
        (empty, part)
    };
    let server = Server::in_cluster(world, options.server, part, settings, now)?;
    let (told, joined) = oneshot::channel();
    let name = cluster.fabric.node.as_str().to_owned();
    Ok(Founded { server, nodes: Nodes { messenger, name, origins, joined: Some(told) }, joined, fabric })
}

/// Whether a node is there that belongs to the cluster already.
async fn look_around(messenger: &mut Messenger) -> bool {
    let until = Instant::now() + LOOK_AROUND;
    let (mut events, mut is_there) = (VecDeque::new(), false);
    while let Ok(event) = tokio::time::timeout_at(until, messenger.next()).await {
        messenger.take(event, &mut events);
        for event in events.drain(..) {
            if let NodeEvent::Arrived(_, _, bytes) = &event {
                is_there |= matches!(ToNode::decode(bytes), Ok(ToNode::Hello { plan: 1.., .. }));
            }
            messenger.keep(event);
        }
    }
    is_there
}

/// The address to which clients are sent: the chosen one, or where the server listens if others can use that.
fn advertised(cluster: &ClusterOptions, url: &str) -> Result<String, ServeError> {
    let text = cluster.advertise.as_deref().unwrap_or(url).trim_end_matches('/');
    let address = Address::parse(text).map_err(|_| ServeError::Advertise(text.to_owned()))?;
    let is_anywhere = matches!(address.host.as_str(), "0.0.0.0" | "::");
    if is_anywhere || text.len() > wire::ADDRESS_MAX {
        return Err(ServeError::Advertise(text.to_owned()));
    }
    Ok(address.to_string())
}
