//! Documents, as people like to read them.

pub mod number;
pub mod table;
