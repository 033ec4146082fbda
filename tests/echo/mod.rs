//! A server that sends every message back on the channel it came by, and a client's view of it.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use kinesphere::certificate::Certificates;
use kinesphere::http::{self, Answers, Health};
use kinesphere::link::{Channel, Inbox, LinkEvent, LinkId, LinkLimits, Links, Outbox, Transport, quic};
use kinesphere::origin::Origins;
use metrics_exporter_prometheus::PrometheusBuilder;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Nothing here takes long; a test that waits this long has failed.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A running server.
pub struct Echo {
    pub http: SocketAddr,
    pub quic: SocketAddr,
    pub certificates: Arc<Certificates>,
    pub health: Health,
    pub links: Links,
    /// What happened, except for what was echoed.
    pub seen: mpsc::UnboundedReceiver<Seen>,
}

/// What the server saw.
#[derive(Debug)]
pub enum Seen {
    Opened(LinkId, Transport, Outbox),
    Closed(LinkId, String),
}

impl Echo {
    /// Starts it on free ports.
    pub async fn start(limits: LinkLimits) -> Echo {
        let certificates = Arc::new(Certificates::self_signed(SystemTime::now()).unwrap());
        let (links, inbox) = Links::new(limits);
        let origins = Arc::new(Origins::default());
        let anywhere = (Ipv4Addr::LOCALHOST, 0).into();
        let listener =
            quic::QuicListener::bind(anywhere, certificates.clone(), links.clone(), origins.clone()).unwrap();
        let quic = listener.local_addr().unwrap();
        tokio::spawn(listener.run());

        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        origins.serve_page_at(address.port());
        let health = Health::default();
        let metrics = PrometheusBuilder::new().build_recorder().handle();
        let answers = Answers {
            links: links.clone(),
            origins,
            certificates: certificates.clone(),
            quic,
            metrics,
            health: health.clone(),
            operator: None,
            peer: None,
        };
        tokio::spawn(http::serve(listener, answers));
        let (sender, seen) = mpsc::unbounded_channel();
        tokio::spawn(answer(inbox, sender));
        Echo { http: address, quic, certificates, health, links, seen }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.http)
    }

    /// The next thing that the server saw.
    pub async fn next(&mut self) -> Seen {
        timeout(PATIENCE, self.seen.recv()).await.expect("something happens").expect("the server runs")
    }
}

async fn answer(mut inbox: Inbox, seen: mpsc::UnboundedSender<Seen>) {
    let mut outboxes = BTreeMap::new();
    while let Some(event) = inbox.next().await {
        match event {
            LinkEvent::Opened { link, transport, outbox, .. } => {
                outboxes.insert(link, outbox.clone());
                let _ = seen.send(Seen::Opened(link, transport, outbox));
            }
            LinkEvent::Received { link, channel, bytes, .. } => {
                let _ = outboxes[&link].send(channel, bytes);
            }
            LinkEvent::Closed { link, why } => {
                outboxes.remove(&link);
                let _ = seen.send(Seen::Closed(link, why));
            }
        }
    }
}

/// The next event of a client.
pub async fn next(inbox: &mut Inbox) -> LinkEvent {
    timeout(PATIENCE, inbox.next()).await.expect("something happens").expect("the links are there")
}

/// The next message of a client.
pub async fn message(inbox: &mut Inbox) -> (Channel, Bytes) {
    match next(inbox).await {
        LinkEvent::Received { channel, bytes, .. } => (channel, bytes),
        other => panic!("expected a message, not {other:?}"),
    }
}
