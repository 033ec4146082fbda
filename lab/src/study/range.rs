//! The range of a setting, checked while the command line is read.

use std::ffi::OsStr;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{Arg, Command};

use crate::report::number::grouped;

/// A number that settings may be.
pub trait Number: FromStr + PartialOrd + Copy + Display + Send + Sync + 'static {
    /// What is expected where a text is not such a number.
    const EXPECTED: &'static str;

    /// With a comma between thousands.
    fn spoken(self) -> String;
}

macro_rules! whole_number {
    ($($type:ty),*) => {$(
        impl Number for $type {
            const EXPECTED: &'static str = "a whole number from 0 on";

            fn spoken(self) -> String {
                grouped(self as u64)
            }
        }
    )*};
}

macro_rules! fraction {
    ($($type:ty),*) => {$(
        impl Number for $type {
            const EXPECTED: &'static str = "a number";

            fn spoken(self) -> String {
                if self >= 1e3 { grouped(self as u64) } else { self.to_string() }
            }
        }
    )*};
}

whole_number!(u32, u64, usize);
fraction!(f32, f64);

/// Takes numbers within a range, and says in one sentence which setting is not, what was given and what is expected.
#[derive(Clone)]
pub struct Range<T> {
    range: RangeInclusive<T>,
    unit: &'static str,
}

/// Numbers from the first to the last, both included. NaN is in no range.
pub fn range<T: Number>(range: RangeInclusive<T>) -> Range<T> {
    Range { range, unit: "" }
}

impl<T: Number> Range<T> {
    /// The same, where the sentence names the unit.
    #[must_use]
    pub fn of(self, unit: &'static str) -> Range<T> {
        Range { unit, ..self }
    }
}

impl<T: Number> TypedValueParser for Range<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<T, clap::Error> {
        let text = value.to_string_lossy();
        let refused = |kind, sentence: String| {
            let help = command.get_bin_name().unwrap_or(command.get_name());
            let advice = format!("Nothing was run; `{help} --help` lists the settings.");
            Err(clap::Error::raw(kind, format!("{sentence}\n{advice}\n")))
        };
        let Ok(number) = text.parse::<T>() else {
            let argument = argument.map(Arg::to_string).unwrap_or_default();
            let sentence = format!("invalid value '{text}' for '{argument}': expected {}", T::EXPECTED);
            return refused(ErrorKind::InvalidValue, sentence);
        };
        if self.range.contains(&number) {
            return Ok(number);
        }
        let (low, high) = (self.range.start().spoken(), self.range.end().spoken());
        let name = argument.and_then(Arg::get_long).unwrap_or("number");
        let expected = format!("{low} to {high} {}", self.unit);
        let sentence = format!("`{name}` is {number}, expected {}", expected.trim_end());
        refused(ErrorKind::ValueValidation, sentence)
    }
}
