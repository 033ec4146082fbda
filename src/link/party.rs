//! The other end of a link.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

use thiserror::Error;

/// The other end of a link: an address for a client, a name for a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Party {
    Address(SocketAddr),
    /// `link::zenoh` says what the name proves.
    Node(NodeName),
}

impl fmt::Display for Party {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Party::Address(address) => address.fmt(formatter),
            Party::Node(label) => label.fmt(formatter),
        }
    }
}

/// The name of a node or a world: 1 to 32 letters, digits, `-` and `_`. It is a part of Zenoh's keys, and a user's or a
/// certificate's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeName(String);

/// Why a text is not such a name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "`{0}` is no name for a node or a world, expected 1 to {max} letters, digits, `-` and `_`",
    max = NodeName::LENGTH_MAX
)]
pub struct NodeNameError(String);

impl NodeName {
    /// The most characters.
    pub const LENGTH_MAX: usize = 32;

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for NodeName {
    type Err = NodeNameError;

    fn from_str(text: &str) -> Result<NodeName, NodeNameError> {
        let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if (1..=NodeName::LENGTH_MAX).contains(&text.len()) && text.bytes().all(is_fit) {
            Ok(NodeName(text.to_owned()))
        } else {
            Err(NodeNameError(text.chars().take(2 * NodeName::LENGTH_MAX).collect()))
        }
    }
}

impl fmt::Display for NodeName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_part_of_a_key_is_a_label() {
        for fit in ["a", "node-7", "Ann_B", &"x".repeat(32)] {
            assert_eq!(fit.parse::<NodeName>().unwrap().as_str(), fit);
        }
        for unfit in ["", "*", "a/b", "a b", "ä", "a$", "a#b", &"x".repeat(33)] {
            let error = unfit.parse::<NodeName>().unwrap_err().to_string();
            assert!(error.contains("1 to 32 letters"), "{error}");
        }
    }
}
