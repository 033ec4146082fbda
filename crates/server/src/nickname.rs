//! Nicknames: text that other users can see and tell apart.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{canonical_combining_class, is_combining_mark};

/// The most visible characters of a nickname.
pub const CHARACTERS_MAX: usize = 24;
/// The most combining marks on one character.
const MARKS_MAX: usize = 3;

/// A nickname in its canonical form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nickname(String);

/// Why a text is not a nickname.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NicknameError {
    #[error("A nickname needs at least one visible character.")]
    Empty,
    #[error("A nickname has at most {CHARACTERS_MAX} characters; this one has {0}.")]
    TooLong(usize),
    /// A character that is not visible, or that changes the direction of what follows.
    #[error("A nickname has only visible characters and single spaces; character {position} is U+{code:04X}.")]
    Invisible {
        /// Counted from one.
        position: usize,
        code: u32,
    },
}

impl Nickname {
    /// The text in Unicode's composed form, trimmed.
    pub fn new(name: &str) -> Result<Nickname, NicknameError> {
        let name: String = name.trim().nfc().collect();
        let (mut visible, mut marks, mut last) = (0, 0, ' ');
        for (index, character) in name.chars().enumerate() {
            let is_mark = is_combining_mark(character) || canonical_combining_class(character) != 0;
            marks = if is_mark { marks + 1 } else { 0 };
            let is_second_space = character == ' ' && last == ' ';
            let is_bare_mark = is_mark && last == ' ';
            if is_invisible(character) || is_second_space || is_bare_mark || marks > MARKS_MAX {
                return Err(NicknameError::Invisible { position: index + 1, code: character as u32 });
            }
            visible += usize::from(!is_mark);
            last = character;
        }
        match visible {
            0 => Err(NicknameError::Empty),
            1..=CHARACTERS_MAX => Ok(Nickname(name)),
            more => Err(NicknameError::TooLong(more)),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Nicknames with the same key are the same to a reader, whatever their case.
    pub fn key(&self) -> String {
        let upper: String = self.0.nfkc().flat_map(char::to_uppercase).collect();
        upper.chars().flat_map(char::to_lowercase).nfc().collect()
    }
}

/// Whether a character is invisible, or changes how its neighbours are shown: controls, spaces but the plain one,
/// format characters, marks of direction, fillers, and private and unassigned planes.
fn is_invisible(character: char) -> bool {
    let code = character as u32;
    let is_other_space = character.is_whitespace() && character != ' ';
    let is_hidden = matches!(code,
        0xad | 0x34f | 0x61c | 0x115f..=0x1160 | 0x17b4..=0x17b5 | 0x180b..=0x180f | 0x200b..=0x200f
        | 0x2028..=0x202e | 0x2060..=0x206f | 0x2800 | 0x3164 | 0xe000..=0xf8ff | 0xfe00..=0xfe0f | 0xfeff | 0xffa0
        | 0xfff0..=0xffff | 0x1bca0..=0x1bca3 | 0x1d173..=0x1d17a | 0xe0000..=0x10_ffff);
    character.is_control() || is_other_space || is_hidden
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_seen() {
        for good in ["A", " Zoë ", "Ann Lee", "ß", "李明", "Ж", "x".repeat(24).as_str()] {
            assert!(Nickname::new(good).is_ok(), "{good}");
        }
        assert_eq!(Nickname::new("Zoe\u{308}").unwrap().as_str(), "Zo\u{eb}");
        for bad in ["", "  ", "a\u{200b}b", "a\u{202e}b", "a  b", "a\tb", "\u{308}", "\u{3164}", "a\u{0}"] {
            assert!(Nickname::new(bad).is_err(), "{bad:?}");
        }
        let long = Nickname::new(&"ü".repeat(25)).unwrap_err();
        assert_eq!(long.to_string(), "A nickname has at most 24 characters; this one has 25.");
        assert!(Nickname::new(&format!("a{}", "\u{316}".repeat(9))).is_err());
    }

    #[test]
    fn case_and_width_do_not_make_another_name() {
        let key = |name| Nickname::new(name).unwrap().key();
        for (one, other) in [("ann", "ANN"), ("STRASSE", "straße"), ("Ｊｏ", "jo"), ("ΣΑΣ", "σας")] {
            assert_eq!(key(one), key(other), "{one} {other}");
        }
        assert_ne!(key("ann"), key("anne"));
    }

    proptest! {
        #[test]
        fn a_name_is_in_its_one_form(name in "\\PC{0,30}") {
            if let Ok(nickname) = Nickname::new(&name) {
                prop_assert_eq!(Nickname::new(nickname.as_str()), Ok(nickname.clone()));
                prop_assert!(nickname.as_str().len() <= wire::session::NICKNAME_MAX * 2);
            }
        }
    }
}
