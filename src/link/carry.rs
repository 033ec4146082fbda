//! A link over one QUIC connection, native or WebTransport: a stream for reliable messages, and datagrams.

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use wire::frame::{self, Frames};

use super::{End, SendError};

/// How much of a stream is read at once. Every link has one such buffer.
const PIECE: usize = 4_096;

/// The unreliable half of a connection. Native QUIC and WebTransport each have their own.
pub(super) trait Datagrams: Send + Sync {
    /// Waits for the next datagram; the error says how the connection ended.
    fn receive(&self) -> impl Future<Output = Result<Bytes, String>> + Send;
    /// Sends a datagram, or drops older ones in its favour.
    fn send(&self, datagram: Bytes) -> Result<(), String>;
    /// How the connection ended, if it has: a stream knows only that it did.
    fn ended(&self) -> Option<String>;
}

/// Carries messages both ways until one side ends the link. The caller then closes the connection.
pub(super) async fn carry(
    end: End,
    datagrams: impl Datagrams,
    writer: impl AsyncWrite + Send + Unpin,
    reader: impl AsyncRead + Send + Unpin,
) {
    let why = tokio::select! {
        why = read_stream(&end, reader) => why,
        why = write_stream(&end, writer) => why,
        why = read_datagrams(&end, &datagrams) => why,
        why = write_datagrams(&end, &datagrams) => why,
        why = end.overdue() => why,
    };
    end.close(datagrams.ended().unwrap_or(why));
}

async fn read_stream(end: &End, mut reader: impl AsyncRead + Unpin) -> String {
    let mut frames = Frames::new();
    let mut piece = vec![0; PIECE];
    loop {
        match reader.read(&mut piece).await {
            Ok(0) => return "the peer left".to_owned(),
            Ok(length) => frames.arrived(&piece[..length]),
            Err(error) => return error.to_string(),
        }
        loop {
            match frames.next_message() {
                Ok(Some(message)) => end.received(Bytes::copy_from_slice(message)).await,
                Ok(None) => break,
                Err(error) => return error.to_string(),
            }
        }
    }
}

async fn write_stream(end: &End, mut writer: impl AsyncWrite + Unpin) -> String {
    let mut stream = Vec::new();
    loop {
        let messages = match end.outbox.next_reliable().await {
            Ok(Some(messages)) => messages,
            Ok(None) => break,
            Err(error) => return error.to_string(),
        };
        stream.clear();
        messages.iter().for_each(|message| frame::append(&mut stream, message));
        tokio::select! {
            written = writer.write_all(&stream) => if let Err(error) = written {
                return error.to_string();
            },
            () = end.outbox.overflowed() => return SendError::Full.to_string(),
        }
        end.outbox.written(messages.iter().map(Bytes::len).sum());
    }
    // A peer that has read to the end closes the connection; another one gets some time.
    let _ = writer.shutdown().await;
    std::future::pending().await
}

async fn read_datagrams(end: &End, datagrams: &impl Datagrams) -> String {
    loop {
        match datagrams.receive().await {
            Ok(datagram) => end.received_datagram(datagram),
            Err(why) => return why,
        }
    }
}

async fn write_datagrams(end: &End, datagrams: &impl Datagrams) -> String {
    loop {
        for datagram in end.outbox.next_datagrams().await {
            if let Err(why) = datagrams.send(datagram) {
                return why;
            }
        }
    }
}
