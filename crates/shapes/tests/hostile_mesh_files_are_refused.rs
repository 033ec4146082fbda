//! Any mesh file is read or refused: cut short, with flipped bits, with numbers changed, with pieces of other files.
//! Nothing panics, and reading allocates no more than the file's size and the limits allow.
//!
//! A failure prints the smallest such file that proptest finds.

#![cfg(feature = "mesh-files")]

mod mesh_files;

use kinesphere_shapes::mesh::{Format, MeshError, MeshLimits, TriangleMesh, generated, read, read_with};
use mesh_files::{buffer, glb, gltf, json, obj, tri};
use proptest::prelude::*;
use space::Vec3;

/// The allowed memory: a few hundred bytes for each byte of the file (`{}` makes a node), and room for messages.
fn memory_bound(bytes: usize) -> u64 {
    1_000 * bytes as u64 + 1_000_000
}

fn reads_or_refuses(bytes: &[u8], format: Format) {
    // Once without counting, as a panic would confuse the counter.
    if let Ok(mesh) = read(bytes, format) {
        assert!(mesh.vertices().iter().all(|vertex| vertex.is_finite()));
        assert!(mesh.triangles().iter().flatten().all(|&index| (index as usize) < mesh.vertices().len()));
    }
    let taken = allocation_counter::measure(|| drop(read(bytes, format)));
    let bound = memory_bound(bytes.len());
    assert!(taken.bytes_max <= bound, "{} bytes taken for a file of {}", taken.bytes_max, bytes.len());
}

fn samples() -> Vec<(Format, Vec<u8>)> {
    let mesh = generated::cuboid(Vec3::new(1.0, 2.0, 3.5)).unwrap();
    vec![
        (Format::Obj, obj(&mesh)),
        (Format::Tri, tri(&mesh)),
        (Format::Gltf, gltf(&mesh)),
        (Format::Gltf, glb(&mesh, "")),
    ]
}

/// Every format gives the same mesh.
#[test]
fn what_was_written_is_read() {
    for mesh in [
        generated::cuboid(Vec3::new(1.0, 2.0, 3.5)).unwrap(),
        generated::torus(1.0, 0.25, 9, 7).unwrap(),
        generated::ball(3.0, 2).unwrap(),
    ] {
        let files = [
            (Format::Obj, obj(&mesh)),
            (Format::Tri, tri(&mesh)),
            (Format::Gltf, gltf(&mesh)),
            (Format::Gltf, glb(&mesh, "")),
        ];
        for (format, file) in files {
            let found = read(&file, format).unwrap();
            let corners = |mesh: &TriangleMesh| -> Vec<[Vec3; 3]> {
                (0..mesh.triangles().len()).map(|triangle| mesh.corners(triangle).unwrap()).collect()
            };
            assert_eq!(corners(&found), corners(&mesh), "{format:?}");
        }
    }
}

#[test]
fn nodes_put_meshes_in_their_places() {
    let mesh = generated::cuboid(Vec3::ONE).unwrap();
    let place = r#","translation":[10,0,0],"rotation":[0,0,0.70710678,0.70710678],"scale":[1,2,-1]"#;
    let found = read(&glb(&mesh, place), Format::Gltf).unwrap();
    // Mirrored, but not inside out.
    assert!((found.volume() - 16.0).abs() < 1e-4, "{}", found.volume());
    let reach = found.vertices().iter().map(|vertex| (*vertex - Vec3::X * 10.0).abs()).reduce(Vec3::max).unwrap();
    assert!((reach - Vec3::new(2.0, 1.0, 1.0)).length() < 1e-5, "{reach}");
}

#[test]
fn buffers_in_other_files_are_the_callers() {
    let mesh = generated::cuboid(Vec3::ONE).unwrap();
    let file = json(&mesh, "", Some("parts/box.bin"));
    let missing = read(file.as_bytes(), Format::Gltf).unwrap_err();
    assert_eq!(missing.to_string(), "buffer 0: no such file: `parts/box.bin`");
    let mut asked = Vec::new();
    let found = read_with(file.as_bytes(), Format::Gltf, &MeshLimits::default(), &mut |name| {
        asked.push(name.to_string());
        Some(buffer(&mesh))
    });
    assert_eq!((found.unwrap().triangles().len(), asked), (12, vec!["parts/box.bin".to_string()]));
    let short = read_with(file.as_bytes(), Format::Gltf, &MeshLimits::default(), &mut |_| Some(vec![0; 10]));
    assert_eq!(short.unwrap_err().to_string(), "buffer 0: 240 bytes promised, 10 found");
}

/// Counts and offsets that a file cannot satisfy are refused before memory is reserved.
#[test]
fn promises_are_not_believed() {
    let mesh = generated::cuboid(Vec3::ONE).unwrap();
    let file = String::from_utf8(gltf(&mesh)).unwrap();
    for (right, wrong) in [
        (r#""count":8"#, r#""count":1000000"#),
        (r#""count":8"#, r#""count":18446744073709551615"#),
        (r#""count":36"#, r#""count":4000000000"#),
        (r#""byteLength":96"#, r#""byteLength":18446744073709551615"#),
        (r#""byteOffset":96"#, r#""byteOffset":18446744073709551615"#),
        (r#""bufferView":0"#, r#""bufferView":7"#),
        // gltf 1.4 panics at this.
        (r#""POSITION":0"#, r#""POSITION":9"#),
        (r#""componentType":5125"#, r#""componentType":5126"#),
        (r#""bufferView":0,"#, ""),
        (r#""nodes":[{"mesh":0}]"#, r#""nodes":[{"mesh":0,"children":[0]}]"#),
        (r#""nodes":[{"mesh":0}]"#, r#""nodes":[{"children":[1,1]},{"children":[2,2]},{"mesh":0}]"#),
        (r#""nodes":[{"mesh":0}]"#, r#""nodes":[{"mesh":0,"scale":[1e38,1e38,1e38]}]"#),
        (";base64,", ","),
        (";base64,", ";base64,!"),
        (r#""version":"2.0""#, r#""version":"1.0""#),
    ] {
        assert!(file.contains(right), "{right}");
        let broken = file.replacen(right, wrong, 1);
        reads_or_refuses(broken.as_bytes(), Format::Gltf);
        let result = read(broken.as_bytes(), Format::Gltf);
        // By the standard, vertices without a view are zeros; the crate accepts old versions.
        if !wrong.is_empty() && !wrong.contains("1.0") {
            assert!(result.is_err(), "{wrong} was read");
        }
    }
    // gltf 1.4 panics at a length below that of the header.
    for length in [0u32, 1, 11, 12, 19, u32::MAX] {
        let mut broken = glb(&mesh, "");
        broken[8..12].copy_from_slice(&length.to_le_bytes());
        assert!(read(&broken, Format::Gltf).is_err(), "a length of {length} was read");
    }
    let many = MeshLimits { vertices: 7, ..MeshLimits::default() };
    let refused = read_with(file.as_bytes(), Format::Gltf, &many, &mut |_| None).unwrap_err();
    assert_eq!(refused, MeshError::TooMuch { what: "vertices", count: 8, limit: 7 });
    let few = MeshLimits { bytes: 100, ..MeshLimits::default() };
    for (format, file) in samples() {
        let refused = read_with(&file, format, &few, &mut |_| None).unwrap_err();
        assert_eq!(refused, MeshError::TooMuch { what: "bytes", count: file.len(), limit: 100 });
    }
}

#[test]
fn nothing_at_all() {
    for format in [Format::Obj, Format::Gltf, Format::Tri] {
        for bytes in [&b""[..], b"\0", b"glTF", b"\xff\xfe", b"{}", b"[[[[[[[[[[", b"f", b"v", b"TRI"] {
            assert!(read(bytes, format).is_err(), "{format:?} {bytes:?}");
            reads_or_refuses(bytes, format);
        }
        reads_or_refuses(&b"[".repeat(100_000), format);
        reads_or_refuses(&b"f 1 ".repeat(10_000), format);
    }
    assert_eq!(Format::of_name("a/b.GLB"), Some(Format::Gltf));
    assert_eq!(Format::of_name("teapot"), None);
}

#[derive(Clone, Debug)]
enum Damage {
    Cut(prop::sample::Index),
    Flip(prop::sample::Index, u8),
    /// Replaces a number.
    Number(prop::sample::Index, String),
    /// Copies a piece to another place.
    Again(prop::sample::Index, prop::sample::Index, u8),
}

impl Damage {
    fn to(&self, file: &mut Vec<u8>) {
        if file.is_empty() {
            return;
        }
        match self {
            Damage::Cut(at) => file.truncate(at.index(file.len())),
            Damage::Flip(at, bits) => {
                let at = at.index(file.len());
                file[at] ^= bits;
            }
            Damage::Number(at, number) => {
                let from = at.index(file.len());
                if let Some(digit) = file[from..].iter().position(u8::is_ascii_digit) {
                    let begin = from + digit;
                    let length = file[begin..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                    file.splice(begin..begin + length, number.bytes());
                }
            }
            Damage::Again(from, to, length) => {
                let from = from.index(file.len());
                let piece = file[from..(from + *length as usize).min(file.len())].to_vec();
                let to = to.index(file.len());
                file.splice(to..to, piece);
            }
        }
    }
}

const NUMBERS: [&str; 9] =
    ["0", "-1", "1e39", "nan", "255", "4294967295", "18446744073709551615", "-9223372036854775808", ""];

fn damage() -> impl Strategy<Value = Damage> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        1 => index().prop_map(Damage::Cut),
        4 => (index(), any::<u8>()).prop_map(|(at, bits)| Damage::Flip(at, bits)),
        4 => (index(), prop::sample::select(NUMBERS.to_vec()))
            .prop_map(|(at, number)| Damage::Number(at, number.to_string())),
        2 => (index(), index(), any::<u8>()).prop_map(|(from, to, length)| Damage::Again(from, to, length)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files(which in 0..4usize, damages in prop::collection::vec(damage(), 1..6)) {
        let (format, mut file) = samples().swap_remove(which);
        for damage in &damages {
            damage.to(&mut file);
        }
        reads_or_refuses(&file, format);
    }

    #[test]
    fn any_bytes(which in 0..3usize, bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        reads_or_refuses(&bytes, [Format::Obj, Format::Gltf, Format::Tri][which]);
    }
}
