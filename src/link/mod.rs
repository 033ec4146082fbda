//! Links: connections over which messages travel, on several transports.
//!
//! A link has two channels. Messages that must arrive go over the reliable one, in order; messages that are worthless
//! when late go as datagrams. Three transports offer both: QUIC ([`quic`]) to native clients, WebTransport to browsers,
//! on the same UDP port, and WebSocket ([`websocket`]) to browsers where UDP is blocked. Between nodes there is a
//! fourth, `zenoh`.
//!
//! The driver of a server or of clients sees one [`Inbox`] of events and one [`Outbox`] per link, and waits for neither
//! a peer nor a socket:
//!
//! - `Outbox::send` queues or refuses at once. A slow reader loses its oldest datagrams; a link whose reliable queue
//!   runs full is closed.
//! - A link may have [`LinkLimits::unread_max`] events in the inbox. Beyond them its datagrams are dropped and its
//!   stream is not read on, so that a flood delays its sender only.

mod carry;
pub mod client;
mod outbox;
mod party;
pub mod quic;
mod share;
mod socket;
pub mod websocket;
mod webtransport;
#[cfg(feature = "zenoh")]
pub mod zenoh;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use wire::{DATAGRAM_MAX, MESSAGE_MAX};

use share::{AddressShare, AddressShares};

pub use outbox::{Outbox, SendError};
pub use party::{NodeName, NodeNameError, Party};
pub use wire::{Channel, LinkId};

/// The path of a link for browsers, for WebTransport and for WebSocket.
pub const PATH: &str = "/link";

/// What carries a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// QUIC with a native client.
    Quic,
    /// QUIC with a browser.
    WebTransport,
    /// One TCP connection for both channels.
    WebSocket,
    /// Zenoh, between nodes.
    Zenoh,
}

impl Transport {
    /// Its name in logs and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Transport::Quic => "quic",
            Transport::WebTransport => "webtransport",
            Transport::WebSocket => "websocket",
            Transport::Zenoh => "zenoh",
        }
    }
}

/// An event of a link.
#[derive(Debug)]
pub enum LinkEvent {
    /// The link is open.
    Opened {
        link: LinkId,
        peer: Party,
        transport: Transport,
        /// Sends on the link.
        outbox: Outbox,
    },
    /// A message has arrived.
    Received {
        link: LinkId,
        channel: Channel,
        bytes: Bytes,
        /// Makes room for the link's next message when it is dropped.
        room: InboxPlace,
    },
    /// The link is closed. No event follows on it.
    Closed {
        link: LinkId,
        /// The reason, for the log.
        why: String,
    },
}

/// A place in the inbox, taken until it is dropped.
#[derive(Debug)]
pub struct InboxPlace(#[expect(dead_code, reason = "held for its drop")] OwnedSemaphorePermit);

/// Limits of links.
#[derive(Clone, Debug)]
pub struct LinkLimits {
    /// Links at the same time; more are refused.
    pub links_max: usize,
    /// Links of one address, or of one network of IPv6 (its first 64 bits); this machine has no such limit.
    pub links_per_address_max: usize,
    /// Messages of one link that wait in the inbox.
    pub unread_max: usize,
    /// Bytes of a message on the reliable channel.
    pub message_bytes_max: usize,
    /// Bytes of a datagram.
    pub datagram_bytes_max: usize,
    /// Bytes that wait on the reliable channel of one link; one more message closes it. There is room for a world's
    /// description.
    pub reliable_bytes_max: usize,
    /// Datagrams that wait on one link; beyond them the oldest are dropped.
    pub datagrams_max: usize,
    /// How long a peer may take from its first packet to its first message.
    pub greeting_max: Duration,
    /// How long a closing link may take to deliver its last messages.
    pub farewell_max: Duration,
}

impl Default for LinkLimits {
    fn default() -> LinkLimits {
        LinkLimits {
            links_max: 2_048,
            links_per_address_max: usize::MAX,
            unread_max: 64,
            message_bytes_max: MESSAGE_MAX,
            datagram_bytes_max: DATAGRAM_MAX,
            reliable_bytes_max: 4 << 20,
            datagrams_max: 64,
            greeting_max: Duration::from_secs(10),
            farewell_max: Duration::from_secs(2),
        }
    }
}

impl LinkLimits {
    /// Between nodes: fewer links, and a tick's batch for all that another node has to hear of.
    pub fn between_nodes() -> LinkLimits {
        LinkLimits {
            links_max: 256,
            unread_max: 256,
            message_bytes_max: 1 << 20,
            datagram_bytes_max: 1 << 18,
            ..LinkLimits::default()
        }
    }
}

/// Where links begin: endpoints and clients register theirs here, and their events come out of one [`Inbox`].
#[derive(Clone)]
pub struct Links {
    shared: Arc<Shared>,
}

struct Shared {
    limits: LinkLimits,
    /// Bounded by `links_max` times `unread_max`, and two for opening and closing: every event holds a permit.
    events: mpsc::UnboundedSender<LinkEvent>,
    next: AtomicU64,
    open: AtomicUsize,
    shares: AddressShares,
}

/// The events of all links, in order for each of them.
pub struct Inbox {
    events: mpsc::UnboundedReceiver<LinkEvent>,
}

impl Inbox {
    /// Waits for the next event; `None` when every [`Links`] is gone.
    pub async fn next(&mut self) -> Option<LinkEvent> {
        self.events.recv().await
    }

    /// How many events wait.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The next event, if one is there.
    pub fn try_next(&mut self) -> Option<LinkEvent> {
        self.events.try_recv().ok()
    }
}

impl Links {
    pub fn new(limits: LinkLimits) -> (Links, Inbox) {
        let (sender, events) = mpsc::unbounded_channel();
        let shares = AddressShares::new(limits.links_per_address_max);
        let shared = Shared { limits, events: sender, next: AtomicU64::new(1), open: AtomicUsize::new(0), shares };
        (Links { shared: Arc::new(shared) }, Inbox { events })
    }

    pub fn open_count(&self) -> usize {
        self.shared.open.load(Ordering::Relaxed)
    }

    pub fn limits(&self) -> &LinkLimits {
        &self.shared.limits
    }

    /// Opens a link for a peer, unless there are too many.
    fn open(&self, peer: Party, transport: Transport) -> Option<End> {
        let limits = &self.shared.limits;
        let share = match &peer {
            Party::Address(address) => Some(self.shared.shares.take(address.ip())?),
            Party::Node(_) => None,
        };
        let is_room = |open: usize| (open < limits.links_max).then_some(open + 1);
        self.shared.open.fetch_update(Ordering::Relaxed, Ordering::Relaxed, is_room).ok()?;
        let link = LinkId(self.shared.next.fetch_add(1, Ordering::Relaxed));
        let outbox = Outbox::new(limits);
        let end = End {
            links: self.clone(),
            link,
            outbox: outbox.clone(),
            room: Arc::new(Semaphore::new(limits.unread_max)),
            _share: share,
            why: None,
        };
        end.tell(LinkEvent::Opened { link, peer, transport, outbox });
        Some(end)
    }
}

/// Our end of a link, for its transport. When it is dropped, the link is closed.
struct End {
    links: Links,
    link: LinkId,
    outbox: Outbox,
    room: Arc<Semaphore>,
    _share: Option<AddressShare>,
    why: Option<String>,
}

impl End {
    /// Puts a message that must not be lost into the inbox: waits until there is room.
    async fn received(&self, bytes: Bytes) {
        let permit = self.room.clone().acquire_owned().await.expect("the semaphore is never closed");
        self.tell(LinkEvent::Received { link: self.link, channel: Channel::Stream, bytes, room: InboxPlace(permit) });
    }

    /// Puts a datagram into the inbox, or drops it.
    fn received_datagram(&self, bytes: Bytes) {
        let Ok(permit) = self.room.clone().try_acquire_owned() else {
            metrics::counter!("kinesphere_link_datagrams_dropped_total", "direction" => "in").increment(1);
            return;
        };
        self.tell(LinkEvent::Received { link: self.link, channel: Channel::Datagram, bytes, room: InboxPlace(permit) });
    }

    /// Waits until the link is closing and has had its time to deliver what waited: a peer that does not read must not
    /// hold it open.
    async fn overdue(&self) -> String {
        self.outbox.closing().await;
        tokio::time::sleep(self.links.limits().farewell_max).await;
        "closed by us".to_owned()
    }

    /// Closes the link, with a reason.
    fn close(mut self, why: String) {
        self.why = Some(why);
    }

    fn tell(&self, event: LinkEvent) {
        // There is no receiver when a server stops; then nothing is lost either.
        let _ = self.links.shared.events.send(event);
    }
}

impl Drop for End {
    fn drop(&mut self) {
        self.outbox.end();
        self.links.shared.open.fetch_sub(1, Ordering::Relaxed);
        let why = self.why.take().unwrap_or_else(|| "its transport ended".to_owned());
        self.tell(LinkEvent::Closed { link: self.link, why });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps out this bug: one machine could have all links, and all others were refused.
    #[tokio::test]
    async fn an_address_has_its_share_of_links_and_no_more() {
        let (links, _inbox) = Links::new(LinkLimits { links_per_address_max: 1, ..LinkLimits::default() });
        let open = |address: [u8; 4]| links.open(Party::Address((address, 7).into()), Transport::WebSocket);
        let first = open([10, 0, 0, 1]).unwrap();
        assert!(open([10, 0, 0, 1]).is_none());
        let _other = open([10, 0, 0, 2]).unwrap();
        let _here = [open([127, 0, 0, 1]).unwrap(), open([127, 0, 0, 1]).unwrap()];
        assert_eq!(links.open_count(), 4);
        drop(first);
        assert!(open([10, 0, 0, 1]).is_some());
    }
}
