//! A browser's session over QUIC. The only file that knows wtransport.

use bytes::Bytes;
use quinn::Connecting;
use wtransport::endpoint::IncomingSessionFuture;
use wtransport::{Connection, RecvStream, SendStream};

use super::carry::{self, Datagrams};
use super::{End, PATH};
use crate::origin::Origins;

/// A session with the one stream that its browser opened.
pub(super) struct WebTransportSession {
    connection: Connection,
    writer: SendStream,
    reader: RecvStream,
}

/// Accepts a browser's session, if its page may have one, and waits for its stream.
pub(super) async fn accept(connecting: Connecting, origins: &Origins) -> Result<WebTransportSession, String> {
    let request = IncomingSessionFuture::with_quic_connecting(connecting).await.map_err(|error| error.to_string())?;
    if request.path() != PATH {
        let refused = format!("there is no session at {:?}, only at {PATH}", request.path());
        request.not_found().await;
        return Err(refused);
    }
    if !origins.admit_session(request.origin(), request.authority()) {
        let refused = format!("a page of {:?} may not connect", request.origin().unwrap_or_default());
        request.forbidden().await;
        return Err(refused);
    }
    let connection = request.accept().await.map_err(|error| error.to_string())?;
    let (writer, reader) = connection.accept_bi().await.map_err(|error| error.to_string())?;
    Ok(WebTransportSession { connection, writer, reader })
}

impl WebTransportSession {
    pub(super) fn connection(&self) -> quinn::Connection {
        self.connection.quic_connection().clone()
    }

    /// Carries messages until one side ends the link.
    pub(super) async fn carry(self, end: End) {
        carry::carry(end, self.connection, self.writer, self.reader).await;
    }
}

impl Datagrams for Connection {
    async fn receive(&self) -> Result<Bytes, String> {
        self.receive_datagram().await.map(|datagram| datagram.payload()).map_err(|error| error.to_string())
    }

    fn send(&self, datagram: Bytes) -> Result<(), String> {
        self.send_datagram(datagram).map_err(|error| error.to_string())
    }

    fn ended(&self) -> Option<String> {
        self.quic_connection().close_reason().map(|reason| reason.to_string())
    }
}
