//! Any bytes as an OBJ file: read or refused.

#![no_main]

use shapes::mesh::{Format, read};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = read(bytes, Format::Obj);
});
