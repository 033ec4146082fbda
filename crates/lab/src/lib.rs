//! Do the papers hold?
#![forbid(unsafe_code)]
