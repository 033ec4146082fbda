//! TCP connections as HTTP wants them: bounded in number, without delay for small packets, encrypted on demand.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use crate::certificate::Certificates;

/// Connections at the same time, WebSockets included; more wait.
const CONNECTIONS_MAX: usize = 4_096;
/// How long a TLS handshake may take.
const HANDSHAKE_MAX: Duration = Duration::from_secs(10);

/// The address at the other end of a connection.
#[derive(Clone, Copy, Debug)]
pub struct PeerAddress(pub SocketAddr);

/// TCP connections as they come.
pub struct Plain {
    listener: TcpListener,
    room: Arc<Semaphore>,
}

impl Plain {
    pub fn new(listener: TcpListener) -> Plain {
        Plain { listener, room: room() }
    }
}

impl axum::serve::Listener for Plain {
    type Io = Counted<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, SocketAddr) {
        accept(&self.listener, &self.room).await
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// Connections after their TLS handshake. Handshakes run concurrently, so a slow peer delays no other.
pub struct Encrypted {
    local: SocketAddr,
    ready: mpsc::Receiver<(TlsStream, SocketAddr)>,
}

type TlsStream = tokio_rustls::server::TlsStream<Counted<TcpStream>>;

impl Encrypted {
    /// Each handshake uses the certificate that is current then.
    pub fn new(listener: TcpListener, certificates: Arc<Certificates>) -> io::Result<Encrypted> {
        let acceptor = acceptor(certificates)?;
        let local = listener.local_addr()?;
        let (sender, ready) = mpsc::channel(1);
        tokio::spawn(async move {
            let room = room();
            loop {
                let (stream, peer) = tokio::select! {
                    accepted = accept(&listener, &room) => accepted,
                    () = sender.closed() => return,
                };
                let (acceptor, sender) = (acceptor.clone(), sender.clone());
                tokio::spawn(async move {
                    if let Ok(Ok(stream)) = timeout(HANDSHAKE_MAX, acceptor.accept(stream)).await {
                        let _ = sender.send((stream, peer)).await;
                    }
                });
            }
        });
        Ok(Encrypted { local, ready })
    }
}

impl axum::serve::Listener for Encrypted {
    type Io = TlsStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, SocketAddr) {
        match self.ready.recv().await {
            Some(accepted) => accepted,
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.local)
    }
}

fn acceptor(certificates: Arc<Certificates>) -> io::Result<TlsAcceptor> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_cert_resolver(certificates);
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// A connection that frees its place when it ends.
pub struct Counted<S> {
    stream: S,
    _permit: OwnedSemaphorePermit,
}

impl<S: AsyncRead + Unpin> AsyncRead for Counted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Counted<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

fn room() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(CONNECTIONS_MAX))
}

/// Waits for the next connection. Small messages are not held back to fill packets: a WebSocket would wait for them.
async fn accept(listener: &TcpListener, room: &Arc<Semaphore>) -> (Counted<TcpStream>, SocketAddr) {
    let permit = room.clone().acquire_owned().await.expect("the semaphore is never closed");
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                let _ = stream.set_nodelay(true);
                return (Counted { stream, _permit: permit }, peer);
            }
            // Out of file descriptors, or a peer that has gone already: neither may spin.
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}
