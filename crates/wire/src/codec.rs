//! The frame of every message: a first byte that names its kind, then its fields.

use space::bytes::{Fault, Malformed, Reader, Writer};

/// Why bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// There are no bytes.
    #[error("a message of no bytes")]
    Empty,
    /// There are more bytes than a message may have.
    #[error("a message of {length} bytes, at most {max} are allowed")]
    TooLong { length: usize, max: usize },
    /// No message of this direction has this first byte.
    #[error("no message is of kind {0:#04x}")]
    UnknownKind(u8),
    /// The message ends within a field.
    #[error("message {kind:#04x} ends at byte {at}, within `{field}`")]
    Truncated { kind: u8, at: usize, field: &'static str },
    /// A field has a value that is not allowed, or a second encoding of one that is.
    #[error("message {kind:#04x} has a `{field}` that is not allowed")]
    OutOfRange { kind: u8, field: &'static str },
    /// Bytes follow the last field.
    #[error("message {kind:#04x} goes on after its end at byte {at}")]
    Trailing { kind: u8, at: usize },
}

/// Begins a message at the end of `bytes`.
pub(crate) fn begin(bytes: &mut Vec<u8>, kind: u8) -> Writer<'_> {
    bytes.push(kind);
    Writer::new(bytes)
}

/// Reads one whole message; `read` gets its kind and returns `None` for a kind that it does not know.
pub(crate) fn decode<'a, T>(
    bytes: &'a [u8],
    max: usize,
    read: impl FnOnce(u8, &mut Reader<'a>) -> Result<Option<T>, Malformed>,
) -> Result<T, DecodeError> {
    let Some((&kind, fields)) = bytes.split_first() else { return Err(DecodeError::Empty) };
    if bytes.len() > max {
        return Err(DecodeError::TooLong { length: bytes.len(), max });
    }
    let mut reader = Reader::new(fields);
    let read = read(kind, &mut reader).and_then(|read| match read {
        Some(_) => reader.end().map(|()| read),
        None => Ok(None),
    });
    match read {
        Ok(read) => read.ok_or(DecodeError::UnknownKind(kind)),
        Err(Malformed { at, expected: field, fault }) => Err(match fault {
            Fault::Short => DecodeError::Truncated { kind, at: bytes.len(), field },
            Fault::Value => DecodeError::OutOfRange { kind, field },
            Fault::Trailing => DecodeError::Trailing { kind, at: 1 + at },
        }),
    }
}
