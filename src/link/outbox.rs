//! The queue of one link. Sending never waits: it queues, drops or closes.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use thiserror::Error;
use tokio::sync::Notify;

use super::{Channel, LinkLimits};

/// The sending side of a link. Clones send on the same link.
#[derive(Clone, Debug)]
pub struct Outbox {
    queue: Arc<Queue>,
}

/// Why a message was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SendError {
    /// It is empty, or longer than its channel carries. Only a bug sends such a message.
    #[error("a message of {length} bytes was given, 1 to {max} fit")]
    Length { length: usize, max: usize },
    /// The peer does not read: the link is closed.
    #[error("the peer does not read what is sent to it")]
    Full,
    /// The link is closed, or about to be.
    #[error("the link is closed")]
    Closed,
}

#[derive(Debug)]
struct Queue {
    message_bytes_max: usize,
    datagram_bytes_max: usize,
    reliable_bytes_max: usize,
    datagrams_max: usize,
    waiting: Mutex<Waiting>,
    /// Wakes the writer of the stream.
    stream: Notify,
    /// Wakes the writer of datagrams.
    datagram: Notify,
    /// Wakes tasks that wait for the link to close.
    closing: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    reliable: VecDeque<Bytes>,
    reliable_bytes: usize,
    datagrams: VecDeque<Bytes>,
    ending: Option<Ending>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// What waits on the stream is still delivered.
    Gentle,
    /// The peer did not read.
    Full,
    /// Nothing is delivered any more.
    Over,
}

impl Outbox {
    pub(crate) fn new(limits: &LinkLimits) -> Outbox {
        let queue = Queue {
            message_bytes_max: limits.message_bytes_max,
            datagram_bytes_max: limits.datagram_bytes_max,
            reliable_bytes_max: limits.reliable_bytes_max,
            datagrams_max: limits.datagrams_max.max(1),
            waiting: Mutex::default(),
            stream: Notify::new(),
            datagram: Notify::new(),
            closing: Notify::new(),
        };
        Outbox { queue: Arc::new(queue) }
    }

    /// Queues a message. A datagram may push out an older one.
    pub fn send(&self, channel: Channel, bytes: Bytes) -> Result<(), SendError> {
        let max = match channel {
            Channel::Stream => self.queue.message_bytes_max,
            Channel::Datagram => self.queue.datagram_bytes_max,
        };
        if bytes.is_empty() || bytes.len() > max {
            return Err(SendError::Length { length: bytes.len(), max });
        }
        let mut waiting = self.waiting();
        if waiting.ending.is_some() {
            return Err(SendError::Closed);
        }
        match channel {
            Channel::Datagram => {
                if waiting.datagrams.len() == self.queue.datagrams_max {
                    waiting.datagrams.pop_front();
                    metrics::counter!("kinesphere_link_datagrams_dropped_total", "direction" => "out").increment(1);
                }
                waiting.datagrams.push_back(bytes);
                drop(waiting);
                self.queue.datagram.notify_one();
            }
            Channel::Stream => {
                if waiting.reliable_bytes + bytes.len() > self.queue.reliable_bytes_max {
                    waiting.ending = Some(Ending::Full);
                    drop(waiting);
                    self.wake();
                    return Err(SendError::Full);
                }
                waiting.reliable_bytes += bytes.len();
                waiting.reliable.push_back(bytes);
                drop(waiting);
                self.queue.stream.notify_one();
            }
        }
        Ok(())
    }

    /// How many datagrams wait, and how many bytes of the reliable channel.
    pub fn waiting_count(&self) -> (usize, usize) {
        let waiting = self.waiting();
        (waiting.datagrams.len(), waiting.reliable_bytes)
    }

    /// Closes the link once what waits on the reliable channel has been delivered, or after `farewell_max`.
    pub fn close(&self) {
        self.waiting().ending.get_or_insert(Ending::Gentle);
        self.wake();
    }

    /// Nothing is sent any more.
    pub(super) fn end(&self) {
        let mut waiting = self.waiting();
        *waiting = Waiting { ending: Some(Ending::Over), ..Waiting::default() };
        drop(waiting);
        self.wake();
    }

    /// Waits for messages of the reliable channel and takes them all; `None` when the link is closing and all were
    /// taken.
    pub(super) async fn next_reliable(&self) -> Result<Option<VecDeque<Bytes>>, SendError> {
        loop {
            {
                let mut waiting = self.waiting();
                match waiting.ending {
                    Some(Ending::Full) => return Err(SendError::Full),
                    Some(Ending::Over) => return Ok(None),
                    Some(Ending::Gentle) if waiting.reliable.is_empty() => return Ok(None),
                    _ if !waiting.reliable.is_empty() => {
                        // Their bytes count until `written` is called: what a stalled socket holds is still waiting.
                        return Ok(Some(std::mem::take(&mut waiting.reliable)));
                    }
                    _ => {}
                }
            }
            self.queue.stream.notified().await;
        }
    }

    /// This many bytes that were taken have left.
    pub(super) fn written(&self, bytes: usize) {
        let mut waiting = self.waiting();
        waiting.reliable_bytes = waiting.reliable_bytes.saturating_sub(bytes);
    }

    /// Waits for datagrams and takes them all. It waits for ever once the link is closing: the stream ends it.
    pub(super) async fn next_datagrams(&self) -> VecDeque<Bytes> {
        loop {
            {
                let mut waiting = self.waiting();
                if waiting.ending.is_none() && !waiting.datagrams.is_empty() {
                    return std::mem::take(&mut waiting.datagrams);
                }
            }
            self.queue.datagram.notified().await;
        }
    }

    /// Waits until the link is closed because the peer does not read.
    pub(super) async fn overflowed(&self) {
        loop {
            if self.waiting().ending == Some(Ending::Full) {
                return;
            }
            self.queue.stream.notified().await;
        }
    }

    /// Waits until the link is closing, for any reason.
    pub(super) async fn closing(&self) {
        while self.waiting().ending.is_none() {
            self.queue.closing.notified().await;
        }
    }

    fn wake(&self) {
        self.queue.stream.notify_one();
        self.queue.datagram.notify_one();
        self.queue.closing.notify_one();
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.queue.waiting.lock().expect("no thread panics while holding a queue")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outbox() -> Outbox {
        Outbox::new(&LinkLimits { reliable_bytes_max: 100, datagrams_max: 3, ..LinkLimits::default() })
    }

    #[tokio::test]
    async fn a_slow_reader_loses_its_oldest_datagrams() {
        let outbox = outbox();
        for number in 0..5_u8 {
            outbox.send(Channel::Datagram, Bytes::from(vec![number])).unwrap();
        }
        assert_eq!(outbox.next_datagrams().await, [[2], [3], [4]].map(|bytes| Bytes::from(bytes.to_vec())));
    }

    #[tokio::test]
    async fn a_full_reliable_queue_closes_the_link_also_while_a_write_hangs() {
        let outbox = outbox();
        outbox.send(Channel::Stream, Bytes::from(vec![1; 60])).unwrap();
        assert_eq!(outbox.next_reliable().await.unwrap().unwrap().len(), 1);
        // It was taken, but `written` was not called: the socket still holds it.
        assert_eq!(outbox.send(Channel::Stream, Bytes::from(vec![2; 60])), Err(SendError::Full));
        assert_eq!(outbox.next_reliable().await, Err(SendError::Full));
        assert_eq!(outbox.send(Channel::Datagram, Bytes::from_static(b"x")), Err(SendError::Closed));
    }

    #[tokio::test]
    async fn messages_sent_before_closing_are_delivered() {
        let outbox = outbox();
        outbox.send(Channel::Stream, Bytes::from_static(b"farewell")).unwrap();
        outbox.close();
        assert_eq!(outbox.send(Channel::Stream, Bytes::from_static(b"late")), Err(SendError::Closed));
        assert_eq!(outbox.next_reliable().await.unwrap().unwrap(), [Bytes::from_static(b"farewell")]);
        assert_eq!(outbox.next_reliable().await, Ok(None));
    }

    #[test]
    fn a_length_that_no_channel_carries_is_refused() {
        let outbox = outbox();
        let length = |channel, length| outbox.send(channel, Bytes::from(vec![0; length]));
        assert_eq!(length(Channel::Datagram, 1_101), Err(SendError::Length { length: 1_101, max: 1_100 }));
        assert_eq!(length(Channel::Stream, 65_537), Err(SendError::Length { length: 65_537, max: 65_536 }));
        assert_eq!(length(Channel::Datagram, 0), Err(SendError::Length { length: 0, max: 1_100 }));
        assert_eq!(length(Channel::Datagram, 1_100), Ok(()));
    }
}
