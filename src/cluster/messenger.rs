//! Carries messages between the nodes of a cluster over links, whatever these are made of.
//!
//! A link's name is what its carrier vouches for; the number in an envelope is what the sender claims. The first link
//! that uses a number has it: no other can use it while that link stands. A link that comes with another number is a
//! node that started anew.

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use bytes::Bytes;
use space::token_bucket::{Allowance, TokenBucket};
use space::{NodeId, Time};
use wire::cluster::{CLUSTER_VERSION, open, seal};
use wire::{Channel, DecodeError, Event, LinkId, ToNode};

use crate::link::{Inbox, LinkEvent, NodeName, Outbox, Party};

/// Bad messages that a link may send at once; one more closes it. One is forgiven per second, so what counts is how
/// many come at once, and not how long a link has stood.
const FAULTS: Allowance = Allowance { message_us: 1_000_000, burst: 64 };

/// What happened between this node and another.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeEvent {
    Connected(NodeId),
    Disconnected(NodeId),
    /// A message, not decoded yet.
    Arrived(NodeId, Channel, Bytes),
}

impl NodeEvent {
    /// The event for a server.
    pub fn as_event(&self) -> Event<'_> {
        match self {
            NodeEvent::Connected(node) => Event::Opened { from: (*node).into(), secret: [0; 16] },
            NodeEvent::Disconnected(node) => Event::Closed { from: (*node).into() },
            NodeEvent::Arrived(node, channel, bytes) => {
                Event::Arrived { from: (*node).into(), channel: *channel, bytes }
            }
        }
    }
}

/// The links of a node to the other nodes of its cluster.
pub struct Messenger {
    inbox: Inbox,
    me: NodeId,
    /// A fingerprint of the world.
    world: u64,
    /// The version of the plan that this node acts by, for nodes that come.
    plan: u64,
    links: BTreeMap<LinkId, Other>,
    link_of: BTreeMap<NodeId, LinkId>,
    /// Events from before the server ran.
    kept: VecDeque<NodeEvent>,
}

struct Other {
    name: NodeName,
    outbox: Outbox,
    number: Option<NodeId>,
    /// What is left to be forgiven, on a clock that began with the link.
    forgiveness: TokenBucket,
    begun: Instant,
    is_warned_of: bool,
}

impl Other {
    fn new(name: NodeName, outbox: Outbox) -> Other {
        let (forgiveness, begun) = (TokenBucket::new(FAULTS), Instant::now());
        Other { name, outbox, number: None, forgiveness, begun, is_warned_of: false }
    }
}

impl Messenger {
    pub fn new(inbox: Inbox, me: NodeId, world: u64) -> Messenger {
        let (links, link_of) = (BTreeMap::new(), BTreeMap::new());
        Messenger { inbox, me, world, plan: 0, links, link_of, kept: VecDeque::new() }
    }

    /// The name that a node's carrier vouches for.
    pub fn name_of(&self, node: NodeId) -> Option<&NodeName> {
        self.links.get(self.link_of.get(&node)?).map(|other| &other.name)
    }

    /// The nodes that are connected.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> {
        self.link_of.keys().copied()
    }

    /// Waits for the next event of a link; never ends where none can come.
    pub async fn next(&mut self) -> LinkEvent {
        match self.inbox.next().await {
            Some(event) => event,
            None => std::future::pending().await,
        }
    }

    /// The next event, if one is there.
    pub fn try_next(&mut self) -> Option<LinkEvent> {
        self.inbox.try_next()
    }

    /// Keeps an event for [`take_kept`](Messenger::take_kept).
    pub fn keep(&mut self, event: NodeEvent) {
        self.kept.push_back(event);
    }

    pub fn take_kept(&mut self) -> VecDeque<NodeEvent> {
        std::mem::take(&mut self.kept)
    }

    /// Takes in an event of a link, and says what it means for the cluster.
    pub fn take(&mut self, event: LinkEvent, events: &mut VecDeque<NodeEvent>) {
        match event {
            LinkEvent::Opened { link, peer: Party::Node(name), outbox, .. } => {
                tracing::info!(node = %name, "a node is there");
                self.links.insert(link, Other::new(name, outbox));
                self.greet(link);
            }
            LinkEvent::Opened { outbox, .. } => outbox.close(),
            LinkEvent::Received { link, channel, bytes, .. } => self.receive(link, channel, &bytes, events),
            LinkEvent::Closed { link, why } => {
                let Some(other) = self.links.remove(&link) else { return };
                tracing::info!(node = %other.name, why, "a node is gone");
                if let Some(number) = other.number {
                    self.link_of.remove(&number);
                    events.push_back(NodeEvent::Disconnected(number));
                }
            }
        }
    }

    /// Sends an encoded message to a node, if it is connected.
    pub fn send(&mut self, to: NodeId, channel: Channel, message: &[u8]) {
        if let Some(other) = self.link_of.get(&to).and_then(|link| self.links.get(link)) {
            let bytes = seal(self.me.number(), Some(to.number()), message);
            // A message that cannot be sent has a link that closes; the link's event will say so.
            let _ = other.outbox.send(channel, Bytes::from(bytes));
        }
    }

    /// Sets the version of the plan that this node acts by.
    pub fn set_plan(&mut self, version: u64) {
        self.plan = version;
    }

    /// Gives this node another number.
    pub fn renumber(&mut self, me: NodeId) {
        (self.me, self.plan) = (me, 0);
        self.links.keys().copied().collect::<Vec<_>>().into_iter().for_each(|link| self.greet(link));
    }

    /// Counts a message that could not be decoded against the link of its sender.
    pub fn malformed(&mut self, from: NodeId, error: &DecodeError) {
        if let Some(other) = self.link_of.get(&from).and_then(|link| self.links.get_mut(link)) {
            Messenger::fault(other, &error.to_string());
        }
    }

    fn greet(&mut self, link: LinkId) {
        let hello = ToNode::Hello { version: CLUSTER_VERSION, world: self.world, plan: self.plan };
        if let Some(other) = self.links.get(&link) {
            let bytes = seal(self.me.number(), None, &hello.encode());
            let _ = other.outbox.send(Channel::Stream, Bytes::from(bytes));
        }
    }

    fn receive(&mut self, link: LinkId, channel: Channel, bytes: &Bytes, events: &mut VecDeque<NodeEvent>) {
        let Some(other) = self.links.get_mut(&link) else { return };
        let envelope = match open(bytes) {
            Ok(envelope) if envelope.from != self.me.number() => envelope,
            Ok(_) => return Messenger::fault(other, "it speaks under our number"),
            Err(error) => return Messenger::fault(other, &error.to_string()),
        };
        let from = NodeId::new(envelope.from);
        if other.number != Some(from) {
            if self.link_of.contains_key(&from) {
                return Messenger::fault(other, "it speaks under another node's number");
            }
            if let Some(before) = other.number.replace(from) {
                self.link_of.remove(&before);
                events.push_back(NodeEvent::Disconnected(before));
            }
            self.link_of.insert(from, link);
            events.push_back(NodeEvent::Connected(from));
        }
        // A message to an earlier stay of this node is dropped.
        if envelope.to.is_none_or(|to| to == self.me.number()) {
            events.push_back(NodeEvent::Arrived(from, channel, bytes.slice_ref(envelope.message)));
        }
    }

    fn fault(other: &mut Other, why: &str) {
        let now = Time::from_micros(other.begun.elapsed().as_micros() as i64);
        Messenger::fault_at(now, other, why);
    }

    fn fault_at(now: Time, other: &mut Other, why: &str) {
        metrics::counter!("kinesphere_cluster_refused_total").increment(1);
        // Once per link: bad messages must not fill the log.
        if !std::mem::replace(&mut other.is_warned_of, true) {
            tracing::warn!(node = %other.name, why, "a node says what makes no sense");
        }
        if !other.forgiveness.take(now) {
            tracing::warn!(node = %other.name, "a node says too much that makes no sense");
            other.outbox.close();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::{LinkLimits, Links};

    fn hello(from: u64, to: Option<u64>) -> Bytes {
        let hello = ToNode::Hello { version: CLUSTER_VERSION, world: 1, plan: 0 };
        Bytes::from(seal(from, to, &hello.encode()))
    }

    fn receive(messenger: &mut Messenger, events: &mut VecDeque<NodeEvent>, link: u64, bytes: Bytes) {
        messenger.receive(LinkId(link), Channel::Stream, &bytes, events);
    }

    /// A number belongs to the link that came with it first, and what was meant for another stay is not heard.
    #[test]
    fn a_link_cannot_use_another_nodes_number() {
        let (_, inbox) = Links::new(LinkLimits::between_nodes());
        let mut messenger = Messenger::new(inbox, NodeId::new(7), 1);
        let limits = LinkLimits::between_nodes();
        let mut events = VecDeque::new();
        for (number, name) in [(1, "ann"), (2, "bob")] {
            let outbox = Outbox::new(&limits);
            messenger.links.insert(LinkId(number), Other::new(name.parse().unwrap(), outbox));
        }
        receive(&mut messenger, &mut events, 1, hello(40, None));
        assert_eq!(events.pop_front(), Some(NodeEvent::Connected(NodeId::new(40))));
        assert!(matches!(events.pop_front(), Some(NodeEvent::Arrived(..))));
        receive(&mut messenger, &mut events, 2, hello(40, None));
        receive(&mut messenger, &mut events, 2, hello(7, None));
        receive(&mut messenger, &mut events, 2, Bytes::from_static(b"nonsense"));
        receive(&mut messenger, &mut events, 1, hello(40, Some(6)));
        assert!(events.is_empty(), "{events:?}");
        receive(&mut messenger, &mut events, 1, hello(41, Some(7)));
        assert_eq!(events.pop_front(), Some(NodeEvent::Disconnected(NodeId::new(40))));
        assert_eq!(messenger.name_of(NodeId::new(41)).unwrap().as_str(), "ann");
    }

    /// The bug that this keeps out: 65 faults in the whole life of a link closed it, were there years between them.
    #[test]
    fn faults_are_forgiven_with_time_unless_they_come_at_once() {
        let mut other = Other::new("ann".parse().unwrap(), Outbox::new(&LinkLimits::between_nodes()));
        let is_closed = |other: &Other| other.outbox.send(Channel::Stream, Bytes::from_static(b"x")).is_err();
        for second in 0..1_000 {
            Messenger::fault_at(Time::from_micros(second * 1_000_000), &mut other, "nonsense");
        }
        assert!(!is_closed(&other), "one a second");
        for _ in 0..=FAULTS.burst {
            Messenger::fault_at(Time::from_micros(1_000_000_000), &mut other, "nonsense");
        }
        assert!(is_closed(&other), "too many at once");
    }
}
