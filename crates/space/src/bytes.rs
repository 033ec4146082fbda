//! Values as bytes: little endian, with variable-length integers, for messages, snapshots and files.
//!
//! ```
//! use kinesphere_space::bytes::{Reader, Writer};
//!
//! let mut bytes = Vec::new();
//! let mut writer = Writer::new(&mut bytes);
//! writer.varint(300_u32);
//! writer.text("ann", 8);
//! let mut reader = Reader::new(&bytes);
//! assert_eq!(reader.varint(1_000, "age")?, 300);
//! assert_eq!(reader.text(8, "name")?, "ann");
//! reader.end()?;
//! # Ok::<(), kinesphere_space::bytes::Malformed>(())
//! ```
//!
//! A [`Reader`] trusts nothing: any bytes end in a value or in [`Malformed`], and memory is reserved only for what the
//! bytes that are there can hold. A value has one encoding, and the reader refuses every other.

/// Bytes that are not what the reader expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at byte {at}: {expected} expected")]
pub struct Malformed {
    pub at: usize,
    /// The name of the field that was read.
    pub expected: &'static str,
    pub fault: Fault,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Short,
    /// The field has a value that is not allowed, or a second encoding of one that is.
    Value,
    Trailing,
}

/// Appends values to a buffer that its caller keeps.
#[derive(Debug)]
pub struct Writer<'a> {
    bytes: &'a mut Vec<u8>,
}

impl<'a> Writer<'a> {
    pub fn new(bytes: &'a mut Vec<u8>) -> Writer<'a> {
        Writer { bytes }
    }

    pub fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    pub fn u16(&mut self, value: u16) {
        self.raw(&value.to_le_bytes());
    }

    pub fn u32(&mut self, value: u32) {
        self.raw(&value.to_le_bytes());
    }

    pub fn u64(&mut self, value: u64) {
        self.raw(&value.to_le_bytes());
    }

    pub fn i64(&mut self, value: i64) {
        self.raw(&value.to_le_bytes());
    }

    pub fn f32(&mut self, value: f32) {
        self.raw(&value.to_le_bytes());
    }

    pub fn f64(&mut self, value: f64) {
        self.raw(&value.to_le_bytes());
    }

    /// One byte: 0 or 1.
    pub fn flag(&mut self, value: bool) {
        self.u8(u8::from(value));
    }

    /// A variable-length integer (LEB128): seven bits to a byte, lowest first; the eighth says that more follow.
    pub fn varint(&mut self, value: impl Into<u64>) {
        let mut value = value.into();
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    /// A signed variable-length integer: 0, -1, 1, -2, ... are written as 0, 1, 2, 3, ...
    pub fn zigzag(&mut self, value: impl Into<i64>) {
        let value = value.into();
        self.varint(((value << 1) ^ (value >> 63)) as u64);
    }

    /// Bytes without their count: the receiver knows it.
    pub fn raw(&mut self, raw: &[u8]) {
        self.bytes.extend_from_slice(raw);
    }

    /// A count and that many bytes; at most the first `max`.
    pub fn bytes(&mut self, bytes: &[u8], max: usize) {
        let cut = &bytes[..bytes.len().min(max)];
        self.varint(cut.len() as u64);
        self.raw(cut);
    }

    /// A text in UTF-8 as [`Writer::bytes`], cut between characters.
    pub fn text(&mut self, text: &str, max: usize) {
        let mut end = text.len().min(max);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        self.bytes(&text.as_bytes()[..end], max);
    }

    /// A count and that many items; at most the first `max`.
    pub fn list<T>(&mut self, items: &[T], max: usize, mut write: impl FnMut(&T, &mut Writer<'_>)) {
        let items = &items[..items.len().min(max)];
        self.varint(items.len() as u64);
        items.iter().for_each(|item| write(item, self));
    }

    /// The buffer, for parts that are written bit by bit.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        self.bytes
    }
}

/// Reads values from the front of bytes.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, at: 0 }
    }

    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The error for a field whose value is not allowed.
    pub fn refuse(&self, expected: &'static str) -> Malformed {
        Malformed { at: self.at, expected, fault: Fault::Value }
    }

    /// Refuses the field unless `holds`.
    pub fn check(&self, holds: bool, expected: &'static str) -> Result<(), Malformed> {
        if holds { Ok(()) } else { Err(self.refuse(expected)) }
    }

    pub fn raw(&mut self, count: usize, expected: &'static str) -> Result<&'a [u8], Malformed> {
        let short = Malformed { at: self.at, expected, fault: Fault::Short };
        let raw = self.bytes[self.at..].get(..count).ok_or(short)?;
        self.at += count;
        Ok(raw)
    }

    pub fn array<const N: usize>(&mut self, expected: &'static str) -> Result<[u8; N], Malformed> {
        Ok(self.raw(N, expected)?.try_into().expect("raw returns N bytes"))
    }

    pub fn u8(&mut self, expected: &'static str) -> Result<u8, Malformed> {
        Ok(self.array::<1>(expected)?[0])
    }

    pub fn u16(&mut self, expected: &'static str) -> Result<u16, Malformed> {
        self.array(expected).map(u16::from_le_bytes)
    }

    pub fn u32(&mut self, expected: &'static str) -> Result<u32, Malformed> {
        self.array(expected).map(u32::from_le_bytes)
    }

    pub fn u64(&mut self, expected: &'static str) -> Result<u64, Malformed> {
        self.array(expected).map(u64::from_le_bytes)
    }

    pub fn i32(&mut self, expected: &'static str) -> Result<i32, Malformed> {
        self.array(expected).map(i32::from_le_bytes)
    }

    pub fn i64(&mut self, expected: &'static str) -> Result<i64, Malformed> {
        self.array(expected).map(i64::from_le_bytes)
    }

    pub fn f64(&mut self, expected: &'static str) -> Result<f64, Malformed> {
        self.array(expected).map(f64::from_le_bytes)
    }

    /// A number between `low` and `high`, bounds included. Where none is below zero, minus zero is refused.
    pub fn f32(&mut self, low: f32, high: f32, expected: &'static str) -> Result<f32, Malformed> {
        let value = self.array(expected).map(f32::from_le_bytes)?;
        self.check((low..=high).contains(&value) && (low < 0.0 || value.is_sign_positive()), expected)?;
        Ok(value)
    }

    /// Three numbers no farther from zero than `max`.
    pub fn vector(&mut self, max: f32, expected: &'static str) -> Result<[f32; 3], Malformed> {
        let mut axis = || self.f32(-max, max, expected);
        Ok([axis()?, axis()?, axis()?])
    }

    pub fn flag(&mut self, expected: &'static str) -> Result<bool, Malformed> {
        match self.u8(expected)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.refuse(expected)),
        }
    }

    /// One byte whose value is at most `max`: flags of which the higher ones are not in use.
    pub fn bits(&mut self, max: u8, expected: &'static str) -> Result<u8, Malformed> {
        let bits = self.u8(expected)?;
        self.check(bits <= max, expected)?;
        Ok(bits)
    }

    /// A variable-length integer of at most `max`, in its shortest form.
    pub fn varint(&mut self, max: u64, expected: &'static str) -> Result<u64, Malformed> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.u8(expected)?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                // A last byte of zero could have been left out: such a number has a shorter form.
                let is_shortest = byte != 0 || shift == 0;
                self.check(is_shortest && value <= max, expected)?;
                return Ok(value);
            }
        }
        Err(self.refuse(expected))
    }

    /// A variable-length integer of at most 32 bits.
    pub fn varint32(&mut self, expected: &'static str) -> Result<u32, Malformed> {
        self.varint(u64::from(u32::MAX), expected).map(|value| value as u32)
    }

    /// A variable-length integer above zero.
    pub fn positive(&mut self, max: u64, expected: &'static str) -> Result<u64, Malformed> {
        let value = self.varint(max, expected)?;
        self.check(value > 0, expected)?;
        Ok(value)
    }

    /// A signed variable-length integer no farther from zero than `max`.
    pub fn zigzag(&mut self, max: impl Into<i64>, expected: &'static str) -> Result<i64, Malformed> {
        let value = self.varint(u64::MAX, expected)?;
        let value = (value >> 1) as i64 ^ -((value & 1) as i64);
        self.check(value.unsigned_abs() <= max.into().unsigned_abs(), expected)?;
        Ok(value)
    }

    /// A count of items: at most `max`, and no more than the bytes that are left hold at `size_min` bytes each.
    pub fn count(&mut self, max: usize, size_min: usize, expected: &'static str) -> Result<usize, Malformed> {
        let count = self.varint(max as u64, expected)? as usize;
        if count.saturating_mul(size_min) > self.remaining() {
            return Err(Malformed { at: self.at, expected, fault: Fault::Short });
        }
        Ok(count)
    }

    /// A count of at most `max`, and that many bytes.
    pub fn bytes(&mut self, max: usize, expected: &'static str) -> Result<&'a [u8], Malformed> {
        let count = self.count(max, 1, expected)?;
        self.raw(count, expected)
    }

    pub fn text(&mut self, max: usize, expected: &'static str) -> Result<&'a str, Malformed> {
        let bytes = self.bytes(max, expected)?;
        std::str::from_utf8(bytes).map_err(|_| self.refuse(expected))
    }

    /// A count of at most `max`, and that many items of at least `size_min` bytes each. Memory is reserved once.
    pub fn list<T>(
        &mut self,
        max: usize,
        size_min: usize,
        expected: &'static str,
        mut read: impl FnMut(&mut Reader<'a>) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        let count = self.count(max, size_min, expected)?;
        let mut list = Vec::with_capacity(count);
        for _ in 0..count {
            list.push(read(self)?);
        }
        Ok(list)
    }

    /// All that is left, for parts that are read bit by bit.
    pub fn rest(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        self.at = self.bytes.len();
        rest
    }

    /// Fails if bytes are left.
    pub fn end(&self) -> Result<(), Malformed> {
        match self.remaining() {
            0 => Ok(()),
            _ => Err(Malformed { at: self.at, expected: "the end", fault: Fault::Trailing }),
        }
    }
}

pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes that pairs of hexadecimal digits stand for; `None` for anything else.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |at: u8| char::from(at).to_digit(16).map(|digit| digit as u8);
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| if let [high, low] = *pair { Some(digit(high)? << 4 | digit(low)?) } else { None }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_form() {
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            let mut bytes = Vec::new();
            Writer::new(&mut bytes).varint(value);
            let mut reader = Reader::new(&bytes);
            assert_eq!(reader.varint(u64::MAX, "n"), Ok(value));
            assert_eq!(reader.end(), Ok(()));
        }
        for signed in [0, -1, 1, i64::MIN + 1, i64::MAX] {
            let mut bytes = Vec::new();
            Writer::new(&mut bytes).zigzag(signed);
            assert_eq!(Reader::new(&bytes).zigzag(i64::MAX, "n"), Ok(signed));
        }
        for padded in [&[0x80, 0x00][..], &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]] {
            let refused = Reader::new(padded).varint(u64::MAX, "n").unwrap_err();
            assert_eq!((refused.expected, refused.fault), ("n", Fault::Value));
        }
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        let mut bytes = Vec::new();
        Writer::new(&mut bytes).text("näh", 2);
        assert_eq!(bytes, [1, b'n']);
    }

    #[test]
    fn a_count_that_cannot_be_there_reserves_nothing() {
        let mut bytes = Vec::new();
        Writer::new(&mut bytes).varint(1_u64 << 40);
        let short = Reader::new(&bytes).count(usize::MAX, 1, "n").unwrap_err();
        assert_eq!(short.fault, Fault::Short);
    }

    #[test]
    fn hexadecimal_digits_are_bytes() {
        assert_eq!(to_hex(&[0, 0xa5, 0xff]), "00a5ff");
        assert_eq!(from_hex("00A5ff"), Some(vec![0, 0xa5, 0xff]));
        for wrong in ["0", "0g", "+1", "é"] {
            assert_eq!(from_hex(wrong), None);
        }
    }
}
