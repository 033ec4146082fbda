//! Carries what nodes say to each other over links, whatever these are made of.
//!
//! A link's name is what its carrier vouches for; the number in an envelope is what the sender says. The first to use a
//! number has it: nobody else can speak under it while that link stands. A link that comes with another number is a node
//! that began anew.

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use bytes::Bytes;
use space::token_bucket::{Allowance, TokenBucket};
use space::{NodeId, Time};
use wire::cluster::{CLUSTER_VERSION, open, seal};
use wire::{Channel, LinkId, ToNode};

use crate::link::{Inbox, Label, LinkEvent, Outbox, Party};

/// Messages of one link that are none; one more at once closes it. One is forgiven per second: what counts is how many come
/// at once, and not how long a link has stood.
const FAULTS: Allowance = Allowance { message_us: 1_000_000, burst: 64 };

/// What was heard.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// A node is there.
    Connected(NodeId),
    /// A node is gone.
    Disconnected(NodeId),
    /// A node says something.
    Said(NodeId, ToNode),
}

/// Bytes to nodes and back.
pub struct Messenger {
    inbox: Inbox,
    me: NodeId,
    /// A fingerprint of the world.
    world: u64,
    /// The plan that this node acts by, for those who come.
    plan: u64,
    links: BTreeMap<LinkId, Other>,
    link_of: BTreeMap<NodeId, LinkId>,
    /// Heard before anybody listened.
    kept: VecDeque<Heard>,
}

struct Other {
    name: Label,
    outbox: Outbox,
    number: Option<NodeId>,
    /// What is left to be forgiven, on a clock that began with the link.
    forgiveness: TokenBucket,
    begun: Instant,
    is_warned_of: bool,
}

impl Other {
    fn new(name: Label, outbox: Outbox) -> Other {
        let (forgiveness, begun) = (TokenBucket::new(FAULTS), Instant::now());
        Other { name, outbox, number: None, forgiveness, begun, is_warned_of: false }
    }
}

impl Messenger {
    /// Nobody is there yet.
    pub fn new(inbox: Inbox, me: NodeId, world: u64) -> Messenger {
        let (links, link_of) = (BTreeMap::new(), BTreeMap::new());
        Messenger { inbox, me, world, plan: 0, links, link_of, kept: VecDeque::new() }
    }

    /// Its own number.
    pub fn me(&self) -> NodeId {
        self.me
    }

    /// What a node is called by its carrier.
    pub fn name_of(&self, node: NodeId) -> Option<&Label> {
        self.links.get(self.link_of.get(&node)?).map(|other| &other.name)
    }

    /// Who is there.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> {
        self.link_of.keys().copied()
    }

    /// Waits for something to happen; never ends where nothing can.
    pub async fn next(&mut self) -> LinkEvent {
        match self.inbox.next().await {
            Some(event) => event,
            None => std::future::pending().await,
        }
    }

    /// The same, if it has happened.
    pub fn try_next(&mut self) -> Option<LinkEvent> {
        self.inbox.try_next()
    }

    /// Keeps something for whoever takes over.
    pub fn keep(&mut self, heard: Heard) {
        self.kept.push_back(heard);
    }

    /// What was kept.
    pub fn take_kept(&mut self) -> VecDeque<Heard> {
        std::mem::take(&mut self.kept)
    }

    /// What an event means.
    pub fn take(&mut self, event: LinkEvent, heard: &mut VecDeque<Heard>) {
        match event {
            LinkEvent::Opened { link, peer: Party::Node(name), outbox, .. } => {
                tracing::info!(node = %name, "a node is there");
                self.links.insert(link, Other::new(name, outbox));
                self.greet(link);
            }
            LinkEvent::Opened { outbox, .. } => outbox.close(),
            LinkEvent::Received { link, bytes, .. } => self.receive(link, &bytes, heard),
            LinkEvent::Closed { link, why } => {
                let Some(other) = self.links.remove(&link) else { return };
                tracing::info!(node = %other.name, why, "a node is gone");
                if let Some(number) = other.number {
                    self.link_of.remove(&number);
                    heard.push_back(Heard::Disconnected(number));
                }
            }
        }
    }

    /// Says something to a node; gives the number of bytes, if it is there.
    pub fn send(&mut self, to: NodeId, message: &ToNode) -> Option<usize> {
        if let ToNode::Committed(plan) = message {
            self.plan = self.plan.max(plan.version);
        }
        let link = self.link_of.get(&to)?;
        let bytes = seal(self.me.number(), Some(to.number()), message);
        let count = bytes.len();
        let channel = if message.is_datagram() { Channel::Datagram } else { Channel::Stream };
        // What cannot be sent has a link that closes: that will be told.
        let _ = self.links.get(link)?.outbox.send(channel, Bytes::from(bytes));
        Some(count)
    }

    /// The plan that this node acts by.
    pub fn set_plan(&mut self, version: u64) {
        self.plan = version;
    }

    /// From now on it has another number.
    pub fn renumber(&mut self, me: NodeId) {
        (self.me, self.plan) = (me, 0);
        self.links.keys().copied().collect::<Vec<_>>().into_iter().for_each(|link| self.greet(link));
    }

    fn greet(&mut self, link: LinkId) {
        let hello = ToNode::Hello { version: CLUSTER_VERSION, world: self.world, plan: self.plan };
        if let Some(other) = self.links.get(&link) {
            let _ = other.outbox.send(Channel::Stream, Bytes::from(seal(self.me.number(), None, &hello)));
        }
    }

    fn receive(&mut self, link: LinkId, bytes: &[u8], heard: &mut VecDeque<Heard>) {
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
                heard.push_back(Heard::Disconnected(before));
            }
            self.link_of.insert(from, link);
            heard.push_back(Heard::Connected(from));
        }
        // What was meant for an earlier stay of this node is nobody's any more.
        if envelope.to.is_none_or(|to| to == self.me.number()) {
            heard.push_back(Heard::Said(from, envelope.message));
        }
    }

    fn fault(other: &mut Other, why: &str) {
        let now = Time::from_micros(other.begun.elapsed().as_micros() as i64);
        Messenger::fault_at(now, other, why);
    }

    fn fault_at(now: Time, other: &mut Other, why: &str) {
        metrics::counter!("kinesphere_cluster_refused_total").increment(1);
        // Once: who sends nonsense is not to fill the log with it.
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

    fn hello(from: u64, to: Option<u64>) -> Vec<u8> {
        seal(from, to, &ToNode::Hello { version: CLUSTER_VERSION, world: 1, plan: 0 })
    }

    /// A number belongs to the link that came with it first, and what was meant for another stay is not heard.
    #[test]
    fn nobody_speaks_under_anothers_number() {
        let (_, inbox) = Links::new(LinkLimits::between_nodes());
        let mut messenger = Messenger::new(inbox, NodeId::new(7), 1);
        let limits = LinkLimits::between_nodes();
        let mut heard = VecDeque::new();
        for (number, name) in [(1, "ann"), (2, "bob")] {
            let outbox = Outbox::new(&limits);
            messenger.links.insert(LinkId(number), Other::new(name.parse().unwrap(), outbox));
        }
        messenger.receive(LinkId(1), &hello(40, None), &mut heard);
        assert_eq!(heard.pop_front(), Some(Heard::Connected(NodeId::new(40))));
        assert!(matches!(heard.pop_front(), Some(Heard::Said(_, ToNode::Hello { .. }))));
        messenger.receive(LinkId(2), &hello(40, None), &mut heard);
        messenger.receive(LinkId(2), &hello(7, None), &mut heard);
        messenger.receive(LinkId(2), b"nonsense", &mut heard);
        messenger.receive(LinkId(1), &hello(40, Some(6)), &mut heard);
        assert!(heard.is_empty(), "{heard:?}");
        messenger.receive(LinkId(1), &hello(41, Some(7)), &mut heard);
        assert_eq!(heard.pop_front(), Some(Heard::Disconnected(NodeId::new(40))));
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
