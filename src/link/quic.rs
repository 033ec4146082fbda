//! One UDP port for native clients and browsers. The handshake tells them apart: browsers ask for `h3` and get a
//! WebTransport session, native clients ask for [`ALPN`] and get a plain QUIC connection.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use quinn::crypto::rustls::{HandshakeData, QuicServerConfig};
use quinn::{AckFrequencyConfig, Connection, Incoming, RecvStream, SendStream, TransportConfig, VarInt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::carry::{Datagrams, carry};
use super::share::{AddressShare, AddressShares};
use super::{Links, Party, Transport, socket, webtransport};
use crate::certificate::Certificates;
use crate::origin::Origins;

/// The protocol of native clients.
pub const ALPN: &[u8] = b"kinesphere/1";
/// The protocol of browsers.
const ALPN_BROWSER: &[u8] = b"h3";

/// Application codes with which a connection is closed, together with a sentence.
const CLOSED: VarInt = VarInt::from_u32(0);
const FULL: VarInt = VarInt::from_u32(1);

/// Handshakes at the same time. From half of them on, a peer must first prove its address.
const HANDSHAKES_MAX: usize = 256;
/// Connections that have not opened their stream yet.
const ARRIVALS_MAX: usize = 1_024;
/// Handshakes, and connections without a stream, of one proved address.
const ARRIVALS_PER_ADDRESS_MAX: usize = 64;

/// The server's side of the UDP port.
pub struct QuicListener {
    endpoint: quinn::Endpoint,
    links: Links,
    origins: Arc<Origins>,
}

impl QuicListener {
    /// Takes the port. Must be called within a runtime.
    pub fn bind(
        address: SocketAddr,
        certificates: Arc<Certificates>,
        links: Links,
        origins: Arc<Origins>,
    ) -> io::Result<QuicListener> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut tls = rustls::ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_cert_resolver(certificates);
        tls.alpn_protocols = vec![ALPN.to_vec(), ALPN_BROWSER.to_vec()];
        let crypto = QuicServerConfig::try_from(tls).map_err(io::Error::other)?;
        let mut config = quinn::ServerConfig::with_crypto(Arc::new(crypto));
        config.transport_config(Arc::new(transport())).max_incoming(HANDSHAKES_MAX);
        let socket = socket::bind(address)?;
        let runtime = quinn::default_runtime().ok_or_else(|| io::Error::other("no runtime is there"))?;
        let endpoint = quinn::Endpoint::new(quinn::EndpointConfig::default(), Some(config), socket, runtime)?;
        Ok(QuicListener { endpoint, links, origins })
    }

    /// The address where it listens.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.endpoint.local_addr()
    }

    /// Accepts connections until it is dropped.
    pub async fn run(self) {
        let doorway = Doorway::new();
        while let Some(incoming) = self.endpoint.accept().await {
            let is_busy = doorway.handshakes.available_permits() < HANDSHAKES_MAX / 2;
            if is_busy && !incoming.remote_address_validated() && incoming.may_retry() {
                // It was just asked whether it may.
                let _ = incoming.retry();
                continue;
            }
            let Some(handshake) = doorway.enter(&incoming) else {
                incoming.refuse();
                continue;
            };
            let (links, origins, doorway) = (self.links.clone(), self.origins.clone(), doorway.clone());
            tokio::spawn(async move {
                let peer = incoming.remote_address();
                if let Err(why) = greet(incoming, links, origins, doorway, handshake).await {
                    tracing::debug!(%peer, why, "a handshake failed");
                }
            });
        }
    }
}

impl Drop for QuicListener {
    fn drop(&mut self) {
        self.endpoint.close(CLOSED, b"the server stops");
    }
}

/// Room for connections that have no link yet.
#[derive(Clone)]
struct Doorway {
    handshakes: Arc<Semaphore>,
    arrivals: Arc<Semaphore>,
    shares: AddressShares,
}

/// Permission for a handshake.
struct Handshake {
    permit: OwnedSemaphorePermit,
    share: Option<AddressShare>,
}

/// Permission to wait for a stream.
struct Arrival {
    _permit: OwnedSemaphorePermit,
    _share: AddressShare,
}

impl Doorway {
    fn new() -> Doorway {
        Doorway {
            handshakes: Arc::new(Semaphore::new(HANDSHAKES_MAX)),
            arrivals: Arc::new(Semaphore::new(ARRIVALS_MAX)),
            shares: AddressShares::new(ARRIVALS_PER_ADDRESS_MAX),
        }
    }

    /// `None` if there is no room. An address that is not proved has no share yet: another machine could use it up.
    fn enter(&self, incoming: &Incoming) -> Option<Handshake> {
        let is_proved = incoming.remote_address_validated();
        let share = if is_proved { Some(self.shares.take(incoming.remote_address().ip())?) } else { None };
        Some(Handshake { permit: self.handshakes.clone().try_acquire_owned().ok()?, share })
    }

    /// After the handshake, which proves an address: a slow peer is not in the way of handshakes any more.
    fn arrive(&self, address: IpAddr, handshake: Handshake) -> Option<Arrival> {
        let Handshake { permit, share } = handshake;
        drop(permit);
        let share = share.or_else(|| self.shares.take(address))?;
        Some(Arrival { _permit: self.arrivals.clone().try_acquire_owned().ok()?, _share: share })
    }
}

/// What one connection may use. Limits are per connection: the sum is bounded by the number of links.
pub(super) fn transport() -> TransportConfig {
    // Datagrams go both ways in every tick and carry acknowledgements; packets for these alone would be as many again.
    let mut acknowledging = AckFrequencyConfig::default();
    acknowledging.ack_eliciting_threshold(VarInt::from_u32(8)).max_ack_delay(Some(Duration::from_millis(80)));
    let mut transport = TransportConfig::default();
    transport
        .ack_frequency_config(Some(acknowledging))
        // Browsers take one for their session and one for the link; their unidirectional ones carry HTTP/3's settings.
        .max_concurrent_bidi_streams(VarInt::from_u32(4))
        .max_concurrent_uni_streams(VarInt::from_u32(8))
        .stream_receive_window(VarInt::from_u32(256 << 10))
        .receive_window(VarInt::from_u32(512 << 10))
        .send_window(1 << 20)
        .datagram_receive_buffer_size(Some(64 << 10))
        .datagram_send_buffer_size(128 << 10)
        // A network that reorders a little loses nothing by it: the window would shrink without a reason.
        .packet_threshold(16)
        .time_threshold(1.5)
        .keep_alive_interval(Some(Duration::from_secs(3)))
        .max_idle_timeout(Some(VarInt::from_u32(10_000).into()));
    transport
}

async fn greet(
    incoming: Incoming,
    links: Links,
    origins: Arc<Origins>,
    doorway: Doorway,
    handshake: Handshake,
) -> Result<(), String> {
    let greeting_max = links.limits().greeting_max;
    let late = |_| "it took too long".to_owned();
    let handshaken = async {
        let mut connecting = incoming.accept().map_err(|error| error.to_string())?;
        let data = connecting.handshake_data().await.map_err(|error| error.to_string())?;
        let protocol = data.downcast::<HandshakeData>().ok().and_then(|data| data.protocol);
        if protocol.as_deref() == Some(ALPN_BROWSER) {
            // Its library does the handshake and waits for the session in one call.
            webtransport::accept(connecting, &origins).await.map(Handshaken::Browser)
        } else {
            connecting.await.map(Handshaken::Native).map_err(|error| error.to_string())
        }
    };
    let arrived = match timeout(greeting_max, handshaken).await.map_err(late)?? {
        Handshaken::Browser(session) => {
            drop(handshake);
            Arrived::Browser(session)
        }
        Handshaken::Native(connection) => {
            let Some(_arrival) = doorway.arrive(connection.remote_address().ip(), handshake) else {
                connection.close(FULL, b"the server is full");
                return Err("too many arrive".to_owned());
            };
            let stream = timeout(greeting_max, connection.accept_bi()).await.map_err(late)?;
            let (writer, reader) = stream.map_err(|error| error.to_string())?;
            Arrived::Native(connection, writer, reader)
        }
    };

    let (connection, transport) = match &arrived {
        Arrived::Native(connection, ..) => (connection.clone(), Transport::Quic),
        Arrived::Browser(session) => (session.connection(), Transport::WebTransport),
    };
    let Some(end) = links.open(Party::Address(connection.remote_address()), transport) else {
        connection.close(FULL, b"the server is full");
        return Err("there are too many links".to_owned());
    };
    match arrived {
        Arrived::Native(connection, writer, reader) => carry(end, connection, writer, reader).await,
        Arrived::Browser(session) => session.carry(end).await,
    }
    connection.close(CLOSED, b"");
    Ok(())
}

enum Handshaken {
    Native(Connection),
    Browser(webtransport::WebTransportSession),
}

enum Arrived {
    Native(Connection, SendStream, RecvStream),
    Browser(webtransport::WebTransportSession),
}

impl Datagrams for Connection {
    async fn receive(&self) -> Result<Bytes, String> {
        self.read_datagram().await.map_err(|error| error.to_string())
    }

    fn send(&self, datagram: Bytes) -> Result<(), String> {
        self.send_datagram(datagram).map_err(|error| error.to_string())
    }

    fn ended(&self) -> Option<String> {
        self.close_reason().map(|reason| reason.to_string())
    }
}
