//! Numbers and texts as bytes. Whole numbers are little endian, seven bits to a byte where small ones are common.

/// Why bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Nothing at all.
    #[error("a message of no bytes")]
    Empty,
    /// More than any message may have.
    #[error("a message of {length} bytes, at most {max} are allowed")]
    TooLong {
        /// How many there are.
        length: usize,
        /// How many there may be.
        max: usize,
    },
    /// No message of this direction begins so.
    #[error("no message is of kind {0:#04x}")]
    UnknownKind(u8),
    /// It ends within a field.
    #[error("message {kind:#04x} ends at byte {at}, within `{field}`")]
    Truncated {
        /// Its first byte.
        kind: u8,
        /// How many bytes there were.
        at: usize,
        /// What was being read.
        field: &'static str,
    },
    /// A field holds what it cannot, or not in the one way it is written.
    #[error("message {kind:#04x} has a `{field}` that cannot be")]
    OutOfRange {
        /// Its first byte.
        kind: u8,
        /// Which field.
        field: &'static str,
    },
    /// Bytes follow the last field.
    #[error("message {kind:#04x} goes on after its end at byte {at}")]
    Trailing {
        /// Its first byte.
        kind: u8,
        /// Where it should have ended.
        at: usize,
    },
}

/// Writes a message. It grows a buffer that its caller may keep.
#[derive(Debug)]
pub struct Writer<'a> {
    bytes: &'a mut Vec<u8>,
}

impl<'a> Writer<'a> {
    /// Begins a message at the end of `bytes`.
    pub fn new(bytes: &'a mut Vec<u8>, kind: u8) -> Writer<'a> {
        bytes.push(kind);
        Writer { bytes }
    }

    /// Goes on at the end of `bytes`, in the middle of a message.
    pub(crate) fn on(bytes: &'a mut Vec<u8>) -> Writer<'a> {
        Writer { bytes }
    }

    /// One byte.
    pub fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// Two bytes.
    pub fn u16(&mut self, value: u16) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Four bytes.
    pub fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Eight bytes.
    pub fn i64(&mut self, value: i64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Four bytes.
    pub fn f32(&mut self, value: f32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Seven bits to a byte, lowest first; the eighth says that more follow.
    pub fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    /// A number near zero, of either sign: 0, -1, 1, -2, ... are written as 0, 1, 2, 3, ...
    pub fn zigzag(&mut self, value: i64) {
        self.varint(((value << 1) ^ (value >> 63)) as u64);
    }

    /// As many bytes as `raw` has; the receiver knows how many.
    pub fn raw(&mut self, raw: &[u8]) {
        self.bytes.extend_from_slice(raw);
    }

    /// A length of one byte or two, and the bytes. What exceeds `max` is cut, at a character's border for a text.
    pub fn bytes(&mut self, bytes: &[u8], max: usize) {
        let cut = &bytes[..bytes.len().min(max)];
        self.varint(cut.len() as u64);
        self.raw(cut);
    }

    /// A text in UTF-8, as [`Writer::bytes`].
    pub fn text(&mut self, text: &str, max: usize) {
        let mut end = text.len().min(max);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        self.bytes(&text.as_bytes()[..end], max);
    }

    /// The buffer, for parts that are written bit by bit.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        self.bytes
    }
}

/// Reads a message.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    kind: u8,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// Begins to read: the kind is taken, the fields follow.
    pub fn new(bytes: &'a [u8], max: usize) -> Result<Reader<'a>, DecodeError> {
        let Some(&kind) = bytes.first() else { return Err(DecodeError::Empty) };
        if bytes.len() > max {
            return Err(DecodeError::TooLong { length: bytes.len(), max });
        }
        Ok(Reader { kind, bytes, at: 1 })
    }

    /// Reads a part of a message of this kind.
    pub(crate) fn on(kind: u8, bytes: &'a [u8]) -> Reader<'a> {
        Reader { kind, bytes, at: 0 }
    }

    /// The first byte.
    pub fn kind(&self) -> u8 {
        self.kind
    }

    /// How many bytes are left: nothing that takes more can follow.
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// This field cannot be.
    pub fn refuse(&self, field: &'static str) -> DecodeError {
        DecodeError::OutOfRange { kind: self.kind, field }
    }

    /// So many bytes.
    pub fn raw(&mut self, count: usize, field: &'static str) -> Result<&'a [u8], DecodeError> {
        if self.remaining() < count {
            return Err(DecodeError::Truncated { kind: self.kind, at: self.bytes.len(), field });
        }
        let raw = &self.bytes[self.at..self.at + count];
        self.at += count;
        Ok(raw)
    }

    /// So many bytes, as an array.
    pub fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], DecodeError> {
        let raw = self.raw(N, field)?;
        Ok(raw.try_into().expect("as many as were asked for"))
    }

    /// One byte.
    pub fn u8(&mut self, field: &'static str) -> Result<u8, DecodeError> {
        Ok(self.array::<1>(field)?[0])
    }

    /// Two bytes.
    pub fn u16(&mut self, field: &'static str) -> Result<u16, DecodeError> {
        self.array(field).map(u16::from_le_bytes)
    }

    /// Four bytes.
    pub fn u32(&mut self, field: &'static str) -> Result<u32, DecodeError> {
        self.array(field).map(u32::from_le_bytes)
    }

    /// Eight bytes.
    pub fn i64(&mut self, field: &'static str) -> Result<i64, DecodeError> {
        self.array(field).map(i64::from_le_bytes)
    }

    /// Four bytes that are a number between two others. Minus zero is none.
    pub fn f32(&mut self, low: f32, high: f32, field: &'static str) -> Result<f32, DecodeError> {
        let value = self.array(field).map(f32::from_le_bytes)?;
        let is_minus_zero = value == 0.0 && value.is_sign_negative();
        if (low..=high).contains(&value) && !is_minus_zero { Ok(value) } else { Err(self.refuse(field)) }
    }

    /// A number of at most `max`, in as few bytes as it needs.
    pub fn varint(&mut self, max: u64, field: &'static str) -> Result<u64, DecodeError> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.u8(field)?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                // A last byte of zero could have been left out: such a number has a shorter form.
                let is_shortest = byte != 0 || shift == 0;
                return if is_shortest && value <= max { Ok(value) } else { Err(self.refuse(field)) };
            }
        }
        Err(self.refuse(field))
    }

    /// A number no farther from zero than `max`.
    pub fn zigzag(&mut self, max: i64, field: &'static str) -> Result<i64, DecodeError> {
        let value = self.varint(u64::MAX, field)?;
        let value = (value >> 1) as i64 ^ -((value & 1) as i64);
        if value.unsigned_abs() <= max.unsigned_abs() { Ok(value) } else { Err(self.refuse(field)) }
    }

    /// How many things follow: at most `max`, and no more than fit in what is left, at `size_min` bytes each. So a
    /// list may be reserved at once.
    pub fn count(&mut self, max: usize, size_min: usize, field: &'static str) -> Result<usize, DecodeError> {
        let count = self.varint(max as u64, field)? as usize;
        if count.saturating_mul(size_min) > self.remaining() {
            return Err(DecodeError::Truncated { kind: self.kind, at: self.bytes.len(), field });
        }
        Ok(count)
    }

    /// At most `max` bytes, after their length.
    pub fn bytes(&mut self, max: usize, field: &'static str) -> Result<&'a [u8], DecodeError> {
        let count = self.count(max, 1, field)?;
        self.raw(count, field)
    }

    /// A text of at most `max` bytes, after its length.
    pub fn text(&mut self, max: usize, field: &'static str) -> Result<&'a str, DecodeError> {
        let bytes = self.bytes(max, field)?;
        std::str::from_utf8(bytes).map_err(|_| self.refuse(field))
    }

    /// All that is left, for parts that are read bit by bit.
    pub fn rest(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        self.at = self.bytes.len();
        rest
    }

    /// Nothing may follow.
    pub fn end(&self) -> Result<(), DecodeError> {
        if self.remaining() == 0 { Ok(()) } else { Err(DecodeError::Trailing { kind: self.kind, at: self.at }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_form() {
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            let mut bytes = Vec::new();
            Writer::new(&mut bytes, 9).varint(value);
            let mut reader = Reader::new(&bytes, 100).unwrap();
            assert_eq!(reader.varint(u64::MAX, "n"), Ok(value));
            assert_eq!(reader.end(), Ok(()));
        }
        for signed in [0, -1, 1, i64::MIN + 1, i64::MAX] {
            let mut bytes = Vec::new();
            Writer::new(&mut bytes, 9).zigzag(signed);
            assert_eq!(Reader::new(&bytes, 100).unwrap().zigzag(i64::MAX, "n"), Ok(signed));
        }
        let refused = DecodeError::OutOfRange { kind: 9, field: "n" };
        for padded in [&[9, 0x80, 0x00][..], &[9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]] {
            assert_eq!(Reader::new(padded, 100).unwrap().varint(u64::MAX, "n"), Err(refused));
        }
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        let mut bytes = Vec::new();
        Writer::new(&mut bytes, 9).text("näh", 2);
        assert_eq!(bytes, [9, 1, b'n']);
    }

    #[test]
    fn a_count_that_cannot_be_there_reserves_nothing() {
        let mut bytes = Vec::new();
        Writer::new(&mut bytes, 9).varint(1 << 40);
        let mut reader = Reader::new(&bytes, 100).unwrap();
        assert!(matches!(reader.count(usize::MAX, 1, "n"), Err(DecodeError::Truncated { field: "n", .. })));
    }
}
