//! The transport where UDP is blocked: both channels over one TCP connection. A message is a binary frame, and its
//! first byte tells its channel. Nothing is lost on the way and nothing overtakes; what waits too long is still dropped
//! before it is sent.

use std::net::SocketAddr;
use std::time::Instant;

use axum::body::Bytes;
use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use space::Time;
use space::token_bucket::{Allowance, TokenBucket};
use tokio::time::timeout;
use wire::{MESSAGE_MAX, kind};

use super::{Channel, End, Links, Party, SendError, Transport};

/// The most bytes of an accepted frame.
pub const FRAME_MAX: usize = MESSAGE_MAX;
/// Bytes that are gathered before they are written.
pub const UNSENT_TARGET: usize = MESSAGE_MAX;
/// Bytes that may wait to be written: what is gathered, one more message, and as much again for answers to pings.
/// Beyond them answers are left out, and the next message ends the link: its peer does not read.
pub const UNSENT_MAX: usize = 4 * MESSAGE_MAX;

/// Pings and pongs of a peer, which are not counted as messages: this many at once, and as many per second; one more
/// ends the link. Browsers send none, and programs one in many seconds.
const PINGS: Allowance = Allowance { message_us: 50_000, burst: 20 };

/// Carries a link over a socket, until one side ends it.
pub async fn carry(socket: WebSocket, peer: SocketAddr, links: Links) {
    let (mut sink, stream) = socket.split();
    let Some(end) = links.open(Party::Address(peer), Transport::WebSocket) else {
        let full = CloseFrame { code: close_code::AGAIN, reason: "the server is full".into() };
        let _ = timeout(links.limits().farewell_max, sink.send(Message::Close(Some(full)))).await;
        return;
    };
    let why = tokio::select! {
        why = read(&end, stream) => why,
        why = write(&end, sink) => why,
        why = end.overdue() => why,
    };
    end.close(why);
}

/// The channel of a message: on this transport it travels like any other.
fn channel(message: &[u8]) -> Channel {
    match message.first() {
        Some(&(kind::MOVES | kind::PING | kind::STATE | kind::PONG)) => Channel::Datagram,
        _ => Channel::Stream,
    }
}

async fn read(end: &End, mut stream: SplitStream<WebSocket>) -> String {
    let (mut pings, begun) = (TokenBucket::new(PINGS), Instant::now());
    while let Some(message) = stream.next().await {
        match message {
            Ok(Message::Binary(bytes)) => match channel(&bytes) {
                Channel::Stream => end.received(bytes).await,
                Channel::Datagram => end.received_datagram(bytes),
            },
            // Answered by the library, whether or not the peer reads the answers.
            Ok(Message::Ping(_) | Message::Pong(_)) => {
                if !pings.take(Time::from_micros(begun.elapsed().as_micros() as i64)) {
                    return "it pings without end".to_owned();
                }
            }
            Ok(Message::Text(_)) => return "it sent a text; messages are binary".to_owned(),
            Ok(Message::Close(_)) => break,
            Err(error) => return error.to_string(),
        }
    }
    "the peer left".to_owned()
}

async fn write(end: &End, mut sink: SplitSink<WebSocket, Message>) -> String {
    loop {
        let (messages, is_reliable) = tokio::select! {
            biased;
            messages = end.outbox.next_reliable() => match messages {
                Ok(Some(messages)) => (messages, true),
                Ok(None) => break,
                Err(error) => return error.to_string(),
            },
            messages = end.outbox.next_datagrams() => (messages, false),
        };
        let bytes = messages.iter().map(Bytes::len).sum();
        let feed = async {
            for message in messages {
                sink.feed(Message::Binary(message)).await?;
            }
            sink.flush().await
        };
        tokio::select! {
            fed = feed => if let Err(error) = fed {
                return error.to_string();
            },
            () = end.outbox.overflowed() => return SendError::Full.to_string(),
        }
        if is_reliable {
            end.outbox.written(bytes);
        }
    }
    let _ = sink.send(Message::Close(Some(CloseFrame { code: close_code::NORMAL, reason: "".into() }))).await;
    // A peer that has read this far closes the connection; another one gets some time.
    std::future::pending().await
}
