//! Numbers of any width without gaps between them: the lowest bit comes first, and bytes are filled from it.

/// Appends bits to bytes.
#[derive(Debug)]
pub struct BitWriter<'a> {
    bytes: &'a mut Vec<u8>,
    /// Bits that do not fill a byte yet.
    pending: u64,
    count: u32,
}

impl<'a> BitWriter<'a> {
    /// Starts at the next whole byte.
    pub fn new(bytes: &'a mut Vec<u8>) -> BitWriter<'a> {
        BitWriter { bytes, pending: 0, count: 0 }
    }

    /// Appends the lowest `width` bits of `value`; at most 56, which with seven pending bits fit a register.
    pub fn push(&mut self, value: u64, width: u32) {
        debug_assert!(width <= 56);
        let value = value & ((1 << width) - 1);
        self.pending |= value << self.count;
        self.count += width;
        let whole = (self.count / 8) as usize;
        // All eight bytes and then truncate: a length known at compile time costs one store, any other a call.
        let length = self.bytes.len() + whole;
        self.bytes.extend_from_slice(&self.pending.to_le_bytes());
        self.bytes.truncate(length);
        self.pending >>= 8 * whole as u32;
        self.count -= 8 * whole as u32;
    }

    /// Appends a number of at least one in Elias's gamma code: zeros for the bits after the first, a one, and those
    /// bits.
    pub fn push_gamma(&mut self, number: u32) {
        let number = u64::from(number.max(1));
        let more = 63 - number.leading_zeros();
        self.push(1 << more, more + 1);
        self.push(number, more);
    }

    /// Completes the last byte with zeros.
    pub fn end(self) {
        if self.count > 0 {
            self.bytes.push(self.pending as u8);
        }
    }
}

/// Reads bits from bytes.
#[derive(Clone, Debug)]
pub struct BitReader<'a> {
    bytes: &'a [u8],
    /// The number of bits that were taken.
    at: usize,
}

impl<'a> BitReader<'a> {
    /// Starts at the lowest bit of the first byte.
    pub fn new(bytes: &'a [u8]) -> BitReader<'a> {
        BitReader { bytes, at: 0 }
    }

    /// The number of bits that are left.
    pub fn remaining(&self) -> usize {
        8 * self.bytes.len() - self.at
    }

    /// The next `width` bits, at most 56; `None` if fewer are left.
    pub fn take(&mut self, width: u32) -> Option<u64> {
        if width > 56 || self.remaining() < width as usize {
            return None;
        }
        let value = self.window();
        self.at += width as usize;
        Some(value & ((1 << width) - 1))
    }

    /// The next 57 bits or more, with zeros beyond the end.
    fn window(&self) -> u64 {
        let rest = &self.bytes[self.at / 8..];
        let bytes = match rest.first_chunk() {
            Some(eight) => *eight,
            None => {
                let mut eight = [0; 8];
                eight[..rest.len()].copy_from_slice(rest);
                eight
            }
        };
        u64::from_le_bytes(bytes) >> (self.at % 8)
    }

    /// The next `width` bits as a two's-complement number.
    pub fn take_signed(&mut self, width: u32) -> Option<i32> {
        if width == 0 {
            return Some(0);
        }
        let value = self.take(width)?;
        let unused = 64 - width;
        Some(((value << unused) as i64 >> unused) as i32)
    }

    /// The next number in Elias's gamma code.
    pub fn take_gamma(&mut self) -> Option<u32> {
        let more = self.window().trailing_zeros();
        if more >= 32 {
            return None;
        }
        self.take(more + 1)?;
        Some((1 << more) | self.take(more)? as u32)
    }

    /// Whether only the zeros that complete the last byte are left.
    pub fn is_at_end(&mut self) -> bool {
        let left = self.remaining();
        left < 8 && self.take(left as u32) == Some(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_come_back_as_they_went() {
        let numbers: Vec<(u64, u32)> =
            (0..200).map(|i: u64| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15), (i % 57) as u32)).collect();
        let mut bytes = Vec::new();
        let mut writer = BitWriter::new(&mut bytes);
        for &(value, width) in &numbers {
            writer.push(value, width);
        }
        for number in [1, 2, 3, 7, 8, 4_095, u32::MAX] {
            writer.push_gamma(number);
        }
        writer.push(0x2a, 6);
        writer.end();
        let mut reader = BitReader::new(&bytes);
        for &(value, width) in &numbers {
            assert_eq!(reader.take(width), Some(value & ((1 << width) - 1)));
        }
        for number in [1, 2, 3, 7, 8, 4_095, u32::MAX] {
            assert_eq!(reader.take_gamma(), Some(number));
        }
        assert_eq!(reader.take_signed(6), Some(-22));
        assert!(reader.is_at_end());
        assert_eq!(reader.take(8), None);
    }
}
