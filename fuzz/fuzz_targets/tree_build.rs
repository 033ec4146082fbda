//! Any bytes as corners and triangles: every builder returns a certified tree or refuses.

#![no_main]

use space::DVec3;
use space::narrow::sphere_tree::{Method, build};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((&[method, corners], rest)) = bytes.split_first_chunk::<2>() else { return };
    let corners = usize::from(corners) % 64;
    let numbers: Vec<f64> =
        rest.chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap())).take(3 * corners).collect();
    let vertices: Vec<DVec3> = numbers.chunks_exact(3).map(|xyz| DVec3::new(xyz[0], xyz[1], xyz[2])).collect();
    let indices = rest.get(24 * corners..).unwrap_or(&[]);
    let triangles: Vec<[u32; 3]> = indices.chunks_exact(3).take(64).map(|abc| [0, 1, 2].map(|at| u32::from(abc[at]))).collect();
    let _ = build(&vertices, &triangles, Method::ALL[usize::from(method) % 4], &[4, 12]);
});
