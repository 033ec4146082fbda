//! Messages on a stream: each follows its length, four bytes, little endian.

use crate::MESSAGE_MAX;

/// Why a stream cannot be read any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The announced length is zero, or more than a message may have.
    #[error("a message of {length} bytes is announced, 1 to {MESSAGE_MAX} are allowed")]
    Length { length: usize },
}

/// Appends a message with its length.
pub fn append(stream: &mut Vec<u8>, message: &[u8]) {
    debug_assert!((1..=MESSAGE_MAX).contains(&message.len()));
    stream.extend_from_slice(&(message.len() as u32).to_le_bytes());
    stream.extend_from_slice(message);
}

/// Assembles messages from the pieces of a stream.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    bytes: Vec<u8>,
    /// The offset of the first message that was not taken.
    start: usize,
}

impl Frames {
    pub fn new() -> Frames {
        Frames::default()
    }

    /// Appends a piece of the stream. Take all complete messages before the next piece: then memory is bounded by one
    /// message and one piece.
    pub fn arrived(&mut self, piece: &[u8]) {
        self.bytes.drain(..self.start);
        self.start = 0;
        self.bytes.extend_from_slice(piece);
    }

    /// The next complete message. After an error the stream is useless.
    pub fn next_message(&mut self) -> Result<Option<&[u8]>, FrameError> {
        let rest = &self.bytes[self.start..];
        let Some((length, rest)) = rest.split_first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_le_bytes(*length) as usize;
        if !(1..=MESSAGE_MAX).contains(&length) {
            return Err(FrameError::Length { length });
        }
        if rest.len() < length {
            return Ok(None);
        }
        let begin = self.start + 4;
        self.start = begin + length;
        Ok(Some(&self.bytes[begin..begin + length]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_whole_whatever_the_pieces() {
        let messages: Vec<Vec<u8>> = (1..40_u8).map(|n| vec![n; usize::from(n)]).collect();
        let mut stream = Vec::new();
        for message in &messages {
            append(&mut stream, message);
        }
        for size in [1, 3, 7, 100, stream.len()] {
            let (mut frames, mut heard) = (Frames::new(), Vec::new());
            for piece in stream.chunks(size) {
                frames.arrived(piece);
                while let Some(message) = frames.next_message().unwrap() {
                    heard.push(message.to_vec());
                }
            }
            assert_eq!(heard, messages, "in pieces of {size}");
        }
    }

    #[test]
    fn a_length_beyond_the_limit_ends_the_stream() {
        let mut frames = Frames::new();
        frames.arrived(&[0xff, 0xff, 0xff, 0xff, 0]);
        assert_eq!(frames.next_message(), Err(FrameError::Length { length: 0xffff_ffff }));
    }
}
