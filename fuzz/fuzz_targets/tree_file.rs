//! Any bytes as a sphere-tree file: read or refused; what is read is written back the same.

#![no_main]

use shapes::sphere_tree::file::{from_bytes, to_bytes};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(file) = from_bytes(bytes) {
        assert_eq!(to_bytes(&file), bytes);
    }
});
