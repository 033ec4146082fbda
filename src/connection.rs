//! HTTP over TCP connections, each closed when its peer stops using it. The number of connections is limited, so a
//! silent peer would keep others out.

use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::serve::Listener;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::listen::PeerAddress;

/// How long a connection may take. A connection that became a WebSocket has the limits of its link instead.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For the head of a request, from the connection's start or from the last answer.
    pub head_max: Duration,
    /// For all requests and answers. A request that is then under way may take as long again.
    pub whole_max: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience { head_max: Duration::from_secs(10), whole_max: Duration::from_secs(60) }
    }
}

/// Serves every connection until it is dropped; requests that are then under way are still answered.
pub async fn answer_all(mut listener: impl Listener<Addr = SocketAddr>, router: Router, patience: Patience) {
    let (_going_on, stop) = watch::channel(());
    loop {
        let (stream, peer) = listener.accept().await;
        tokio::spawn(answer(stream, peer, router.clone(), patience, stop.clone()));
    }
}

async fn answer(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: SocketAddr,
    router: Router,
    patience: Patience,
    mut stop: watch::Receiver<()>,
) {
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut question: Request<Incoming>| {
        question.extensions_mut().insert(ConnectInfo(PeerAddress(peer)));
        router.call(question)
    });
    let mut builder = http1::Builder::new();
    // Without a timer hyper ignores the timeout silently.
    builder.timer(TokioTimer::new()).header_read_timeout(patience.head_max);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service).with_upgrades());
    tokio::select! {
        // How a connection ended does not matter.
        _ = connection.as_mut() => return,
        _ = stop.changed() => {}
        () = sleep(patience.whole_max) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = timeout(patience.whole_max, connection).await;
}

#[cfg(test)]
mod tests {
    use axum::extract::WebSocketUpgrade;
    use axum::routing::{get, post};
    use futures_util::{SinkExt, StreamExt};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
    use tokio_tungstenite::tungstenite::Message;

    use super::*;
    use crate::listen::Plain;

    const LONG: Duration = Duration::from_secs(20);

    async fn start(patience: Patience) -> SocketAddr {
        let echo = async |upgrade: WebSocketUpgrade| {
            upgrade.on_upgrade(async |mut socket| {
                while let Some(Ok(message)) = socket.recv().await {
                    let _ = socket.send(message).await;
                }
            })
        };
        let router = Router::new()
            .route("/who", get(async |ConnectInfo(PeerAddress(peer)): ConnectInfo<PeerAddress>| peer.to_string()))
            .route("/take", post(async |_: String| "taken"))
            .route("/echo", get(echo));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(answer_all(Plain::new(listener), router, patience));
        address
    }

    /// Sends this text and waits for the end of the stream.
    async fn ended(address: SocketAddr, said: &str) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(said.as_bytes()).await.unwrap();
        let mut answer = String::new();
        let read = timeout(LONG, stream.read_to_string(&mut answer)).await;
        read.unwrap_or_else(|_| panic!("after {said:?} it waits for ever")).unwrap();
        answer
    }

    /// Keeps out: 4,096 silent connections kept all others from the page, and never ended.
    #[tokio::test]
    async fn a_connection_that_asks_nothing_ends() {
        let address = start(Patience { head_max: Duration::from_millis(200), whole_max: LONG }).await;
        ended(address, "").await;
        ended(address, "GET /who HT").await;
        ended(address, "GET /who HTTP/1.1\r\nHost: x\r\n").await;
        let answer = ended(address, "GET /who HTTP/1.1\r\nHost: x\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("127.0.0.1:"), "{answer}");
    }

    #[tokio::test]
    async fn a_question_that_never_ends_is_not_waited_for() {
        let address = start(Patience { head_max: LONG, whole_max: Duration::from_millis(200) }).await;
        let answer = ended(address, "POST /take HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab").await;
        assert_eq!(answer, "");
        let answer = ended(address, "POST /take HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nabcde").await;
        assert!(answer.ends_with("taken"), "{answer}");
    }

    #[tokio::test]
    async fn a_websocket_stays_open() {
        let short = Duration::from_millis(100);
        let address = start(Patience { head_max: short, whole_max: short }).await;
        let (mut socket, _) = tokio_tungstenite::connect_async(format!("ws://{address}/echo")).await.unwrap();
        sleep(5 * short).await;
        socket.send(Message::text("still here")).await.unwrap();
        assert_eq!(timeout(LONG, socket.next()).await.unwrap().unwrap().unwrap(), Message::text("still here"));
    }
}
