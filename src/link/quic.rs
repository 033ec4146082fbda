//! One UDP port for native clients and browsers. The handshake tells them apart: browsers ask for `h3` and get a
//! WebTransport session, native clients ask for [`ALPN`] and get the bare connection.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use quinn::crypto::rustls::{HandshakeData, QuicServerConfig};
use quinn::{AckFrequencyConfig, Connection, Incoming, RecvStream, SendStream, TransportConfig, VarInt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::carry::{Datagrams, carry};
use super::{Links, Party, Transport, socket, webtransport};
use crate::certificate::Certificates;
use crate::origin::Origins;

/// What native clients ask for in the handshake.
pub const ALPN: &[u8] = b"kinesphere/1";
/// What browsers ask for.
const ALPN_BROWSER: &[u8] = b"h3";

/// Application codes that a connection is closed with. Their sentence goes along.
const CLOSED: VarInt = VarInt::from_u32(0);
const FULL: VarInt = VarInt::from_u32(1);

/// Handshakes at the same time. From half of them on, a peer must first show that its address is its own.
const HANDSHAKES_MAX: usize = 256;

/// Our side of the UDP port.
pub struct Listener {
    endpoint: quinn::Endpoint,
    links: Links,
    origins: Arc<Origins>,
}

impl Listener {
    /// Takes the port. Must be called within a runtime.
    pub fn bind(
        address: SocketAddr,
        certificates: Arc<Certificates>,
        links: Links,
        origins: Arc<Origins>,
    ) -> io::Result<Listener> {
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
        Ok(Listener { endpoint, links, origins })
    }

    /// Where it listens.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.endpoint.local_addr()
    }

    /// Greets whoever comes, until it is dropped.
    pub async fn run(self) {
        let handshakes = Arc::new(Semaphore::new(HANDSHAKES_MAX));
        while let Some(incoming) = self.endpoint.accept().await {
            let is_busy = handshakes.available_permits() < HANDSHAKES_MAX / 2;
            if is_busy && !incoming.remote_address_validated() && incoming.may_retry() {
                // It was just asked whether it may.
                let _ = incoming.retry();
                continue;
            }
            let Ok(permit) = handshakes.clone().try_acquire_owned() else {
                incoming.refuse();
                continue;
            };
            let (links, origins) = (self.links.clone(), self.origins.clone());
            tokio::spawn(async move {
                let peer = incoming.remote_address();
                if let Err(why) = greet(incoming, links, origins, permit).await {
                    tracing::debug!(%peer, why, "a handshake failed");
                }
            });
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.endpoint.close(CLOSED, b"the server stops");
    }
}

/// What one connection may use. Bounds are per connection: the sum is bounded by the number of links.
pub(super) fn transport() -> TransportConfig {
    // Datagrams go both ways in every tick and take acknowledgements along; packets for these alone would be as many again.
    let mut acknowledging = AckFrequencyConfig::default();
    acknowledging.ack_eliciting_threshold(VarInt::from_u32(8)).max_ack_delay(Some(Duration::from_millis(80)));
    let mut transport = TransportConfig::default();
    transport
        .ack_frequency_config(Some(acknowledging))
        // Browsers take one for their session and one for us; their unidirectional ones carry HTTP/3's settings.
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
    handshake: OwnedSemaphorePermit,
) -> Result<(), String> {
    let arrival = async {
        let mut connecting = incoming.accept().map_err(|error| error.to_string())?;
        let data = connecting.handshake_data().await.map_err(|error| error.to_string())?;
        let protocol = data.downcast::<HandshakeData>().ok().and_then(|data| data.protocol);
        if protocol.as_deref() == Some(ALPN_BROWSER) {
            webtransport::accept(connecting, &origins).await.map(Arrived::Browser)
        } else {
            let connection = connecting.await.map_err(|error| error.to_string())?;
            let (writer, reader) = connection.accept_bi().await.map_err(|error| error.to_string())?;
            Ok(Arrived::Native(connection, writer, reader))
        }
    };
    let arrived = timeout(links.limits().greeting_max, arrival).await.map_err(|_| "it took too long".to_owned())??;
    drop(handshake);

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

enum Arrived {
    Native(Connection, SendStream, RecvStream),
    Browser(webtransport::Session),
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
