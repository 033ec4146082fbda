//! The nodes that are there: a link per node, from its token's coming to its going.
//!
//! A link may end while its node stays: then, after a pause, a new one begins, and `bond.rs` sees to it that both sides
//! know.
//!
//! Zenoh reports tokens and messages on threads of its own, and neither may be held up: messages go to the inbox or are
//! refused, comings and goings to a task (the *usher*) that opens and closes links. A message may arrive before its
//! sender's token does: a reliable one is kept for a moment.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use tokio::runtime::Handle;
use tokio::sync::{Notify, Semaphore, mpsc};
use tokio::task::JoinHandle;
use zenoh::pubsub::Publisher;
use zenoh::qos::{CongestionControl, Priority};
use zenoh::sample::{Sample, SampleKind};
use zenoh::{Session, Wait};

use super::bond::{Bond, Mark, Meaning};
use super::keys;
use crate::link::outbox::Outbox;
use crate::link::{Channel, End, InboxPlace, LinkEvent, Links, NodeName, Party, SendError, Transport};

/// Comings and goings that wait for the usher.
const CHANGES_MAX: usize = 1_024;
/// Messages of one node that wait for its token, and for how long.
const EARLY_MAX: usize = 64;
const EARLY_FOR: Duration = Duration::from_secs(2);
/// Nodes whose messages wait so.
const EARLY_NODES_MAX: usize = 64;
/// The pause before a link that ended begins anew: it doubles each time, up to the second value.
const PAUSE: Duration = Duration::from_millis(250);
const PAUSE_MAX: Duration = Duration::from_secs(16);
/// After a link that stood for this long, the next pause is the short one.
const PROOF: Duration = Duration::from_secs(60);
/// Where the other side begins anew more often than this, we pause, too: it must not keep us busy.
const ANEW_MIN: Duration = Duration::from_millis(200);

/// The nodes that are there, as Zenoh's threads see them.
pub(super) struct Members {
    world: NodeName,
    me: NodeName,
    /// The nodes that may be there; `None` if that is not said.
    members: Option<Vec<NodeName>>,
    links: Links,
    present: Mutex<Present>,
    changes: mpsc::Sender<MemberChange>,
    /// Links are written by tasks, also where Zenoh's threads begin them.
    runtime: Handle,
}

#[derive(Default)]
struct Present {
    nodes: BTreeMap<NodeName, Presence>,
    early: BTreeMap<NodeName, (Instant, Vec<Early>)>,
    /// Wakes the usher when a link has ended.
    parted: Arc<Notify>,
    /// Whether no link begins any more.
    is_leaving: bool,
}

/// A message that came before its sender's token.
type Early = (Option<Mark>, Bytes);

/// A node whose token is there.
struct Presence {
    state: Arc<Publisher<'static>>,
    event: Arc<Publisher<'static>>,
    bond: Bond,
    /// `None` during a pause: nothing of it is heard.
    linked: Option<Linked>,
    /// When its last link began, and how long the pause is, or the next one.
    since: Instant,
    pause: Duration,
    /// When the pause is over.
    until: Instant,
}

struct Linked {
    end: End,
    /// What goes with what is sent.
    mark: Arc<Mutex<Mark>>,
    /// Bytes of the reliable channel that may wait in the inbox.
    event_room: Arc<Semaphore>,
    writer: JoinHandle<()>,
}

/// A token came or went.
pub(super) struct MemberChange {
    node: NodeName,
    is_there: bool,
}

impl Members {
    pub(super) fn new(
        world: NodeName,
        me: NodeName,
        members: Option<Vec<NodeName>>,
        links: Links,
    ) -> (Arc<Members>, mpsc::Receiver<MemberChange>) {
        let (changes, usher) = mpsc::channel(CHANGES_MAX);
        let (present, runtime) = (Mutex::default(), Handle::current());
        (Arc::new(Members { world, me, members, links, present, changes, runtime }), usher)
    }

    /// A token came or went.
    pub(super) fn handle_token(&self, sample: &Sample) {
        let Some(node) = keys::parse_alive(sample.key_expr().as_str()).filter(|node| self.is_another(node)) else {
            return;
        };
        let change = MemberChange { node, is_there: sample.kind() == SampleKind::Put };
        if self.changes.try_send(change).is_err() {
            refuse("tokens");
        }
    }

    /// A message came.
    pub(super) fn handle_batch(self: &Arc<Self>, sample: &Sample) {
        let named = keys::parse_batch(sample.key_expr().as_str()).filter(|(node, _)| self.is_another(node));
        let Some((node, channel)) = named.filter(|_| sample.kind() == SampleKind::Put) else {
            return refuse("not a node's");
        };
        let limits = self.links.limits();
        let max = match channel {
            Channel::Stream => limits.message_bytes_max,
            Channel::Datagram => limits.datagram_bytes_max,
        };
        let mark = sample.attachment().and_then(|attachment| Mark::read(&attachment.to_bytes()));
        // A link begins with an empty message.
        let is_beginning = channel == Channel::Stream && mark.is_some();
        if sample.payload().is_empty() && !is_beginning || sample.payload().len() > max {
            return refuse("length");
        }
        let bytes = Bytes::from(sample.payload().to_bytes().into_owned());
        let mut present = self.present();
        match present.nodes.get(&node) {
            Some(_) => self.hear(&mut present, &node, channel, mark, bytes),
            None if channel == Channel::Stream => present.keep(node, mark, bytes),
            // A datagram may be lost until its sender is known.
            None => {}
        }
    }

    /// Takes in a message of a node whose token is there.
    fn hear(
        self: &Arc<Self>,
        present: &mut Present,
        node: &NodeName,
        channel: Channel,
        mark: Option<Mark>,
        bytes: Bytes,
    ) {
        let Some(presence) = present.nodes.get_mut(node) else { return };
        // A message without a number is heard as it comes: so its node can be told that it is of another version.
        if let Some(mark) = mark {
            if channel == Channel::Datagram {
                if !presence.bond.is_of_it(mark) {
                    return refuse("of another link");
                }
            } else if presence.linked.is_none() {
                presence.bond.miss(mark);
                return refuse("parted");
            } else if let Some(refused) = self.follow(present, node, mark, bytes.is_empty()) {
                return refuse(refused);
            }
        }
        let Some(linked) = present.nodes.get(node).and_then(|presence| presence.linked.as_ref()) else {
            return refuse("parted");
        };
        if !bytes.is_empty() && !linked.hand_over(channel, bytes) {
            present.part(node, "more of its messages wait than may");
        }
    }

    /// Keeps the link, or begins it anew, as a message on the stream demands. Says why the message is not heard, if it
    /// is not.
    fn follow(
        self: &Arc<Self>,
        present: &mut Present,
        node: &NodeName,
        mark: Mark,
        is_first: bool,
    ) -> Option<&'static str> {
        let presence = present.nodes.get_mut(node)?;
        let mut meaning = presence.bond.hear(mark, is_first);
        if let Meaning::Anew(at_least) = meaning {
            let is_too_often = presence.since.elapsed() < ANEW_MIN;
            present.part(node, "the other side began anew");
            if !is_too_often {
                self.begin(present, node, at_least);
            }
            let presence = present.nodes.get_mut(node)?;
            if presence.linked.is_none() {
                presence.bond.miss(mark);
                return Some("parted");
            }
            meaning = presence.bond.hear(mark, is_first);
        }
        let presence = present.nodes.get_mut(node)?;
        if let Some(linked) = &presence.linked {
            *linked.mark.lock().expect("no thread panics while holding a mark") = presence.bond.mark();
        }
        (meaning != Meaning::Fits).then_some("of another link")
    }

    /// Whether another node's token is there.
    pub(super) fn is_anybody_there(&self) -> bool {
        !self.present().nodes.is_empty()
    }

    /// Opens and closes links as tokens come and go, and as pauses end, until the session ends.
    pub(super) async fn usher(self: Arc<Self>, session: Session, mut changes: mpsc::Receiver<MemberChange>) {
        let parted = self.present().parted.clone();
        loop {
            let next = self.present().next_beginning();
            let pause = async {
                match next {
                    Some(until) => tokio::time::sleep_until(until.into()).await,
                    None => std::future::pending().await,
                }
            };
            let change = tokio::select! {
                change = changes.recv() => change,
                () = parted.notified() => continue,
                () = pause => {
                    self.begin_due();
                    continue;
                }
            };
            match change {
                Some(MemberChange { node, is_there: true }) => self.welcome(&session, node).await,
                Some(MemberChange { node, is_there: false }) => {
                    let mut present = self.present();
                    present.part(&node, "the node left, or is not reached any more");
                    present.nodes.remove(&node);
                    present.early.remove(&node);
                }
                None => return,
            }
        }
    }

    async fn welcome(self: &Arc<Self>, session: &Session, node: NodeName) {
        if self.present().nodes.contains_key(&node) {
            return;
        }
        let (state, event) = match (
            self.publisher(session, &node, Channel::Datagram).await,
            self.publisher(session, &node, Channel::Stream).await,
        ) {
            (Ok(state), Ok(event)) => (Arc::new(state), Arc::new(event)),
            (Err(error), _) | (_, Err(error)) => {
                tracing::warn!(%node, %error, "a node cannot be spoken to");
                return;
            }
        };
        // Higher than what this process, or an earlier one of its name, has counted up to.
        let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let bond = Bond::new(clock.as_micros() as u64);
        let now = Instant::now();
        let presence = Presence { state, event, bond, linked: None, since: now, pause: PAUSE, until: now };
        let mut present = self.present();
        present.nodes.insert(node.clone(), presence);
        self.begin(&mut present, &node, 0);
        let (_, early) = present.early.remove(&node).unwrap_or((now, Vec::new()));
        for (mark, bytes) in early {
            self.hear(&mut present, &node, Channel::Stream, mark, bytes);
        }
    }

    /// Begins links whose pause is over.
    fn begin_due(self: &Arc<Self>) {
        let mut present = self.present();
        let now = Instant::now();
        let is_due = |presence: &Presence| presence.linked.is_none() && presence.until <= now;
        let due: Vec<NodeName> =
            present.nodes.iter().filter(|(_, presence)| is_due(presence)).map(|(node, _)| node.clone()).collect();
        due.into_iter().for_each(|node| self.begin(&mut present, &node, 0));
    }

    /// Begins a link with a node that is there and has none; if there are too many, after another pause.
    fn begin(self: &Arc<Self>, present: &mut Present, node: &NodeName, at_least: u64) {
        if present.is_leaving {
            return;
        }
        let Some(presence) = present.nodes.get_mut(node) else { return };
        let Some(end) = self.links.open(Party::Node(node.clone()), Transport::Zenoh) else {
            tracing::warn!(%node, "a node is turned away: there are too many");
            return presence.rest(&present.parted);
        };
        presence.since = Instant::now();
        presence.bond.begin(at_least);
        let mark = Arc::new(Mutex::new(presence.bond.mark()));
        let (outbox, link) = (end.outbox.clone(), end.link);
        let (state, event, marked) = (presence.state.clone(), presence.event.clone(), mark.clone());
        let (roster, name) = (self.clone(), node.clone());
        let writer = self.runtime.spawn(async move {
            let why = tokio::select! {
                why = write_events(&outbox, event, &marked) => why,
                () = write_states(&outbox, state, &marked) => return,
            };
            let mut present = roster.present();
            // Another link may have begun since.
            let is_this = |presence: &Presence| presence.linked.as_ref().is_some_and(|linked| linked.end.link == link);
            if present.nodes.get(&name).is_some_and(is_this) {
                present.part(&name, &why);
            }
        });
        let room = self.links.limits().reliable_bytes_max.min(Semaphore::MAX_PERMITS);
        presence.linked = Some(Linked { end, mark, event_room: Arc::new(Semaphore::new(room)), writer });
    }

    async fn publisher(
        &self,
        session: &Session,
        to: &NodeName,
        channel: Channel,
    ) -> Result<Publisher<'static>, zenoh::Error> {
        let key = keys::batch(&self.world, &self.me, to, channel);
        let publisher = session.declare_publisher(key);
        match channel {
            Channel::Datagram => publisher.congestion_control(CongestionControl::Drop).priority(Priority::Data),
            // Ahead of the tick's batches, and beside them: a queue that they fill does not hold it up.
            Channel::Stream => {
                publisher.congestion_control(CongestionControl::Block).priority(Priority::InteractiveHigh)
            }
        }
        .await
    }

    /// Closes all links, and waits until what was sent before has left.
    pub(super) async fn farewell(&self) {
        let mut writers = Vec::new();
        {
            let mut present = self.present();
            present.is_leaving = true;
            for linked in present.nodes.values_mut().filter_map(|presence| presence.linked.as_mut()) {
                linked.end.outbox.close();
                writers.push(std::mem::replace(&mut linked.writer, tokio::spawn(async {})));
            }
        }
        let all = async {
            for writer in writers {
                let _ = writer.await;
            }
        };
        let _ = tokio::time::timeout(self.links.limits().farewell_max, all).await;
    }

    fn is_another(&self, node: &NodeName) -> bool {
        *node != self.me && self.members.as_ref().is_none_or(|members| members.contains(node))
    }

    fn present(&self) -> MutexGuard<'_, Present> {
        self.present.lock().expect("no thread panics while holding the roster")
    }
}

impl Present {
    /// Ends a node's link, with a reason. While its token is there, another begins after a pause.
    fn part(&mut self, node: &NodeName, why: &str) {
        if let Some(presence) = self.nodes.get_mut(node)
            && let Some(Linked { end, .. }) = presence.linked.take()
        {
            end.close(why.to_owned());
            presence.bond.end();
            if presence.since.elapsed() >= PROOF {
                presence.pause = PAUSE;
            }
            presence.rest(&self.parted);
        }
    }

    /// When the first pause ends.
    fn next_beginning(&self) -> Option<Instant> {
        let resting = self.nodes.values().filter(|presence| presence.linked.is_none());
        resting.map(|presence| presence.until).min().filter(|_| !self.is_leaving)
    }

    /// Keeps a message of a node whose token is still under way.
    fn keep(&mut self, node: NodeName, mark: Option<Mark>, bytes: Bytes) {
        self.early.retain(|_, (since, _)| since.elapsed() < EARLY_FOR);
        if self.early.len() >= EARLY_NODES_MAX && !self.early.contains_key(&node) {
            return refuse("early");
        }
        let (_, kept) = self.early.entry(node).or_insert_with(|| (Instant::now(), Vec::new()));
        if kept.len() == EARLY_MAX {
            // A link must not have a gap: without its beginning it is not heard, and begins anew.
            kept.clear();
            return refuse("early");
        }
        kept.push((mark, bytes));
    }
}

impl Presence {
    /// Pauses: each pause is longer than the last.
    fn rest(&mut self, parted: &Notify) {
        self.until = Instant::now() + self.pause;
        self.pause = (2 * self.pause).min(PAUSE_MAX);
        parted.notify_one();
    }
}

impl Linked {
    /// Puts a message into the inbox. Returns whether the link can go on: a datagram may be dropped, another message
    /// may not.
    fn hand_over(&self, channel: Channel, bytes: Bytes) -> bool {
        match channel {
            Channel::Datagram => {
                self.end.received_datagram(bytes);
                true
            }
            Channel::Stream => {
                let size = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
                let Ok(permit) = self.event_room.clone().try_acquire_many_owned(size) else { return false };
                self.end.tell(LinkEvent::Received { link: self.end.link, channel, bytes, room: InboxPlace(permit) });
                true
            }
        }
    }
}

/// Counts a message that was not taken.
fn refuse(why: &'static str) {
    metrics::counter!("kinesphere_fabric_refused_total", "why" => why).increment(1);
}

/// Zenoh's `put` waits where queues are full: it runs on a thread of its own, where no other task waits with it.
async fn write_events(outbox: &Outbox, publisher: Arc<Publisher<'static>>, mark: &Arc<Mutex<Mark>>) -> String {
    // The other node learns that a link began, even if nothing is sent on it.
    let mut beginning = Some(Bytes::new());
    loop {
        let messages = match beginning.take() {
            Some(beginning) => Ok(Some(VecDeque::from([beginning]))),
            None => outbox.next_reliable().await,
        };
        let messages = match messages {
            Ok(Some(messages)) => messages,
            Ok(None) => return "closed by us".to_owned(),
            Err(error) => return error.to_string(),
        };
        let bytes = messages.iter().map(Bytes::len).sum();
        let (publisher, mark) = (publisher.clone(), mark.clone());
        let put =
            move || messages.into_iter().try_for_each(|message| publisher.put(message).attachment(now(&mark)).wait());
        let written = async {
            match tokio::task::spawn_blocking(put).await {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(error.to_string()),
                Err(error) => Some(error.to_string()),
            }
        };
        let failed = tokio::select! {
            failed = written => failed,
            () = outbox.overflowed() => return SendError::Full.to_string(),
        };
        if let Some(why) = failed {
            return why;
        }
        outbox.written(bytes);
    }
}

async fn write_states(outbox: &Outbox, publisher: Arc<Publisher<'static>>, mark: &Arc<Mutex<Mark>>) {
    loop {
        let messages = outbox.next_datagrams().await;
        let (publisher, mark) = (publisher.clone(), mark.clone());
        // A message that cannot be put is lost.
        let put =
            move || messages.into_iter().for_each(|message| drop(publisher.put(message).attachment(now(&mark)).wait()));
        let _ = tokio::task::spawn_blocking(put).await;
    }
}

fn now(mark: &Mutex<Mark>) -> Vec<u8> {
    mark.lock().expect("no thread panics while holding a mark").bytes().to_vec()
}
