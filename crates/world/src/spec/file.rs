//! World files: TOML.

/// Why a world file was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct FileError {
    /// What is wrong, where, and what was expected.
    pub message: String,
}
