//! Who is there: a link per node, from its token's coming to its going.
//!
//! Zenoh tells of tokens and messages on threads of its own, and neither may be held up: messages go to the inbox or are
//! refused, comings and goings to the usher, who opens and closes links. A message may arrive before its sender's token
//! does: what must not be lost is kept for a moment.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;
use zenoh::pubsub::Publisher;
use zenoh::qos::{CongestionControl, Priority};
use zenoh::sample::{Sample, SampleKind};
use zenoh::{Session, Wait};

use super::keys;
use crate::link::outbox::Outbox;
use crate::link::{Channel, End, Label, LinkEvent, Links, Party, Room, SendError, Transport};

/// Comings and goings that wait for the usher.
const CHANGES_MAX: usize = 1_024;
/// Messages of one node that wait for its token, and for how long.
const EARLY_MAX: usize = 64;
const EARLY_FOR: Duration = Duration::from_secs(2);
/// Nodes whose messages wait so.
const EARLY_NODES_MAX: usize = 64;

/// Who is there, as Zenoh's threads see it.
pub(super) struct Roster {
    world: Label,
    me: Label,
    /// Who may be there; `None` if that is not said.
    members: Option<Vec<Label>>,
    links: Links,
    present: Mutex<Present>,
    changes: mpsc::Sender<Change>,
}

#[derive(Default)]
struct Present {
    nodes: BTreeMap<Label, Presence>,
    early: BTreeMap<Label, (Instant, Vec<Bytes>)>,
}

/// A node whose token is there.
enum Presence {
    /// With a link.
    Linked(Linked),
    /// Whose link was closed: nothing of it is heard until it has gone and come again.
    Parted,
}

struct Linked {
    end: End,
    /// Bytes of the reliable channel that may wait in the inbox.
    event_room: Arc<Semaphore>,
    writer: JoinHandle<()>,
}

/// A token came or went.
pub(super) struct Change {
    node: Label,
    is_there: bool,
}

impl Roster {
    /// Nobody yet.
    pub(super) fn new(
        world: Label,
        me: Label,
        members: Option<Vec<Label>>,
        links: Links,
    ) -> (Arc<Roster>, mpsc::Receiver<Change>) {
        let (changes, usher) = mpsc::channel(CHANGES_MAX);
        let present = Mutex::default();
        (Arc::new(Roster { world, me, members, links, present, changes }), usher)
    }

    /// A token came or went.
    pub(super) fn handle_token(&self, sample: &Sample) {
        let Some(node) = keys::parse_alive(sample.key_expr().as_str()).filter(|node| self.is_another(node)) else {
            return;
        };
        let change = Change { node, is_there: sample.kind() == SampleKind::Put };
        if self.changes.try_send(change).is_err() {
            refuse("tokens");
        }
    }

    /// A message came.
    pub(super) fn handle_batch(&self, sample: &Sample) {
        let named = keys::parse_batch(sample.key_expr().as_str()).filter(|(node, _)| self.is_another(node));
        let Some((node, channel)) = named.filter(|_| sample.kind() == SampleKind::Put) else {
            return refuse("not a node's");
        };
        let limits = self.links.limits();
        let max = match channel {
            Channel::Stream => limits.message_bytes_max,
            Channel::Datagram => limits.datagram_bytes_max,
        };
        if sample.payload().is_empty() || sample.payload().len() > max {
            return refuse("length");
        }
        let bytes = Bytes::from(sample.payload().to_bytes().into_owned());
        let mut present = self.present();
        match present.nodes.get(&node) {
            Some(Presence::Linked(linked)) if linked.hand_over(channel, bytes.clone()) => {}
            Some(Presence::Linked(_)) => present.part(&node, "more of its messages wait than may"),
            Some(Presence::Parted) => refuse("parted"),
            None if channel == Channel::Stream => present.keep(node, bytes),
            // What may be lost is, until it is known who sends it.
            None => {}
        }
    }

    /// Opens and closes links as tokens come and go, until the session ends.
    pub(super) async fn usher(self: Arc<Self>, session: Session, mut changes: mpsc::Receiver<Change>) {
        while let Some(Change { node, is_there }) = changes.recv().await {
            if is_there {
                self.welcome(&session, node).await;
            } else {
                let mut present = self.present();
                present.part(&node, "the node left, or is not reached any more");
                present.nodes.remove(&node);
                present.early.remove(&node);
            }
        }
    }

    async fn welcome(self: &Arc<Self>, session: &Session, node: Label) {
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
        let mut present = self.present();
        let Some(end) = self.links.open(Party::Node(node.clone()), Transport::Zenoh) else {
            tracing::warn!(%node, "a node is turned away: there are too many");
            present.nodes.insert(node, Presence::Parted);
            return;
        };
        let outbox = end.outbox.clone();
        let (roster, name) = (self.clone(), node.clone());
        let writer = tokio::spawn(async move {
            let why = tokio::select! {
                why = write_events(&outbox, event) => why,
                () = write_states(&outbox, state) => return,
            };
            roster.present().part(&name, &why);
        });
        let room = self.links.limits().reliable_bytes_max.min(Semaphore::MAX_PERMITS);
        let linked = Linked { end, event_room: Arc::new(Semaphore::new(room)), writer };
        let (_, early) = present.early.remove(&node).unwrap_or((Instant::now(), Vec::new()));
        let is_in_bounds = early.into_iter().all(|bytes| linked.hand_over(Channel::Stream, bytes));
        present.nodes.insert(node.clone(), Presence::Linked(linked));
        if !is_in_bounds {
            present.part(&node, "more of its messages wait than may");
        }
    }

    async fn publisher(
        &self,
        session: &Session,
        to: &Label,
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
        for presence in self.present().nodes.values_mut() {
            if let Presence::Linked(linked) = presence {
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

    fn is_another(&self, node: &Label) -> bool {
        *node != self.me && self.members.as_ref().is_none_or(|members| members.contains(node))
    }

    fn present(&self) -> MutexGuard<'_, Present> {
        self.present.lock().expect("nobody panics while holding the roster")
    }
}

impl Present {
    /// Ends a node's link, and says why.
    fn part(&mut self, node: &Label, why: &str) {
        if let Some(presence) = self.nodes.get_mut(node)
            && let Presence::Linked(Linked { end, .. }) = std::mem::replace(presence, Presence::Parted)
        {
            end.close(why.to_owned());
        }
    }

    /// Keeps a message of a node whose token is still under way.
    fn keep(&mut self, node: Label, bytes: Bytes) {
        self.early.retain(|_, (since, _)| since.elapsed() < EARLY_FOR);
        if self.early.len() >= EARLY_NODES_MAX && !self.early.contains_key(&node) {
            return refuse("early");
        }
        let (_, kept) = self.early.entry(node).or_insert_with(|| (Instant::now(), Vec::new()));
        if kept.len() == EARLY_MAX {
            return refuse("early");
        }
        kept.push(bytes);
    }
}

impl Linked {
    /// Puts a message into the inbox. Says whether the link can go on: a datagram may be dropped, all else may not.
    fn hand_over(&self, channel: Channel, bytes: Bytes) -> bool {
        match channel {
            Channel::Datagram => {
                self.end.received_datagram(bytes);
                true
            }
            Channel::Stream => {
                let size = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
                let Ok(permit) = self.event_room.clone().try_acquire_many_owned(size) else { return false };
                self.end.tell(LinkEvent::Received { link: self.end.link, channel, bytes, room: Room(permit) });
                true
            }
        }
    }
}

/// Counts what was not taken.
fn refuse(why: &'static str) {
    metrics::counter!("kinesphere_fabric_refused_total", "why" => why).increment(1);
}

/// Puts wait where queues are full: on a thread for those who wait, never where others would wait with them.
async fn write_events(outbox: &Outbox, publisher: Arc<Publisher<'static>>) -> String {
    loop {
        let messages = match outbox.next_reliable().await {
            Ok(Some(messages)) => messages,
            Ok(None) => return "closed by us".to_owned(),
            Err(error) => return error.to_string(),
        };
        let bytes = messages.iter().map(Bytes::len).sum();
        let publisher = publisher.clone();
        let put = move || messages.into_iter().try_for_each(|message| publisher.put(message).wait());
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

async fn write_states(outbox: &Outbox, publisher: Arc<Publisher<'static>>) {
    loop {
        let messages = outbox.next_datagrams().await;
        let publisher = publisher.clone();
        // One that cannot be put is one that is lost.
        let put = move || messages.into_iter().for_each(|message| drop(publisher.put(message).wait()));
        let _ = tokio::task::spawn_blocking(put).await;
    }
}
