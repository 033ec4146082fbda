//! Numbers as bytes, little end first, and back: whoever reads trusts nothing.

/// Bytes that are not what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at byte {at}: {expected} expected")]
pub struct Malformed {
    /// Where.
    pub at: usize,
    /// What was expected there.
    pub expected: &'static str,
}

/// Reads numbers from the front of bytes.
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, at: 0 }
    }

    pub fn take(&mut self, count: usize, expected: &'static str) -> Result<&'a [u8], Malformed> {
        let end = self.at.checked_add(count).filter(|&end| end <= self.bytes.len());
        let end = end.ok_or(Malformed { at: self.at, expected })?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, expected: &'static str) -> Result<[u8; N], Malformed> {
        Ok(self.take(N, expected)?.try_into().expect("as many as were asked for"))
    }

    pub fn u8(&mut self, expected: &'static str) -> Result<u8, Malformed> {
        Ok(self.array::<1>(expected)?[0])
    }

    pub fn u16(&mut self, expected: &'static str) -> Result<u16, Malformed> {
        Ok(u16::from_le_bytes(self.array(expected)?))
    }

    pub fn u32(&mut self, expected: &'static str) -> Result<u32, Malformed> {
        Ok(u32::from_le_bytes(self.array(expected)?))
    }

    pub fn u64(&mut self, expected: &'static str) -> Result<u64, Malformed> {
        Ok(u64::from_le_bytes(self.array(expected)?))
    }

    pub fn i32(&mut self, expected: &'static str) -> Result<i32, Malformed> {
        Ok(i32::from_le_bytes(self.array(expected)?))
    }

    pub fn f32(&mut self, expected: &'static str) -> Result<f32, Malformed> {
        Ok(f32::from_bits(self.u32(expected)?))
    }

    /// Three numbers whose size is at most `most`.
    pub fn vector(&mut self, most: f32, expected: &'static str) -> Result<[f32; 3], Malformed> {
        let mut vector = [0.0; 3];
        for number in &mut vector {
            *number = self.f32(expected)?;
            // NaN is not at most anything.
            self.check(number.abs() <= most, expected)?;
        }
        Ok(vector)
    }

    /// A text with its length in front.
    pub fn text(&mut self, most: usize, expected: &'static str) -> Result<&'a str, Malformed> {
        let length = usize::from(self.u16(expected)?);
        self.check(length <= most, expected)?;
        let at = self.at;
        std::str::from_utf8(self.take(length, expected)?).map_err(|_| Malformed { at, expected })
    }

    pub fn check(&self, holds: bool, expected: &'static str) -> Result<(), Malformed> {
        if holds { Ok(()) } else { Err(Malformed { at: self.at, expected }) }
    }

    pub fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    pub fn rest(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub fn end(&self) -> Result<(), Malformed> {
        self.check(self.at == self.bytes.len(), "the end")
    }
}

/// A text with its length in front. Longer than 65,535 bytes it would have been refused as an input.
pub(crate) fn write_text(text: &str, sink: &mut dyn FnMut(&[u8])) {
    let length = text.len().min(usize::from(u16::MAX));
    sink(&(length as u16).to_le_bytes());
    sink(&text.as_bytes()[..length]);
}
