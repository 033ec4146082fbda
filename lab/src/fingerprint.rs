//! A list of pairs as two numbers, whatever its order: how methods are compared without sorting millions of pairs.

use space::Pair;

/// Equal for equal sets of pairs, and practically never for others; a pair named twice shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fingerprint {
    /// How many pairs there are.
    pub pairs: usize,
    /// The sum of their hashes: the same in any order.
    pub sum: u64,
}

impl Fingerprint {
    /// The fingerprint of a list of pairs.
    pub fn of(pairs: &[Pair]) -> Fingerprint {
        let hash = |pair: &Pair| mixed(u64::from(pair.a().number()) << 32 | u64::from(pair.b().number()));
        Fingerprint { pairs: pairs.len(), sum: pairs.iter().map(hash).fold(0, u64::wrapping_add) }
    }
}

/// The finaliser of splitmix64: every bit of the input reaches every bit of the output.
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_nothing_and_contents_are_everything() {
        let (a, b, c) = (Pair::of_rows(1, 2), Pair::of_rows(3, 4), Pair::of_rows(1, 4));
        assert_eq!(Fingerprint::of(&[a, b, c]), Fingerprint::of(&[c, a, b]));
        assert_ne!(Fingerprint::of(&[a, b]), Fingerprint::of(&[a, c]));
        assert_ne!(Fingerprint::of(&[a, a]), Fingerprint::of(&[a]));
        assert_ne!(
            Fingerprint::of(&[Pair::of_rows(1, 2), b]),
            Fingerprint::of(&[Pair::of_rows(1, 4), Pair::of_rows(2, 3)])
        );
    }
}
