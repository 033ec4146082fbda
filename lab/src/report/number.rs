//! Numbers as people read them.

pub use kinesphere::bots::nearest_rank;

/// A whole number, with a comma between thousands.
pub fn count(value: f64) -> String {
    grouped(value.round() as u64)
}

/// With as many digits after the point as three significant ones need.
pub fn significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let digits = (2.0 - value.abs().log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{value:.digits$}")
}

/// With a comma between thousands.
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// As short as an axis wants it.
pub fn short(number: f64) -> String {
    if number >= 1e6 {
        format!("{} M", grouped((number / 1e6).round() as u64))
    } else if number >= 10.0 {
        grouped(number.round() as u64)
    } else {
        let text = format!("{number:.3}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_enough() {
        let read = [0.0, 0.012_345, 1.0, 12.345, 1_234.5].map(significant);
        assert_eq!(read, ["0", "0.0123", "1.00", "12.3", "1234"]);
    }

    #[test]
    fn thousands_are_apart() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn percentiles_are_values_that_occur() {
        let hundred: Vec<u32> = (1..=100).collect();
        assert_eq!([0, 1, 50, 99, 100].map(|percent| nearest_rank(&hundred, percent).unwrap()), [1, 1, 50, 99, 100]);
        assert_eq!([50, 99].map(|percent| nearest_rank(&[3, 7], percent).unwrap()), [3, 7]);
        assert_eq!(nearest_rank::<u32>(&[], 50), None);
    }

    #[test]
    fn labels_are_short() {
        assert_eq!([0.0, 0.05, 0.5, 5.0, 2_000.0, 2e6].map(short), ["0", "0.05", "0.5", "5", "2,000", "2 M"]);
    }
}
