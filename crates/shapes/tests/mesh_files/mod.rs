//! Plain writers of the mesh formats, for valid files that tests damage.

use std::fmt::Write;

use kinesphere_shapes::mesh::TriangleMesh;

pub fn obj(mesh: &TriangleMesh) -> Vec<u8> {
    let mut text = String::from("# made for a test\no thing\n");
    for vertex in mesh.vertices() {
        writeln!(text, "v {} {} {}", vertex.x, vertex.y, vertex.z).unwrap();
    }
    for [a, b, c] in mesh.triangles() {
        writeln!(text, "f {} {} {}", a + 1, b + 1, c + 1).unwrap();
    }
    text.into_bytes()
}

pub fn tri(mesh: &TriangleMesh) -> Vec<u8> {
    let mut text = format!("TRI\n{} // vertices\n{}\n", mesh.vertices().len(), mesh.triangles().len());
    for vertex in mesh.vertices() {
        writeln!(text, "{} {} {}", vertex.x, vertex.y, vertex.z).unwrap();
    }
    for [a, b, c] in mesh.triangles() {
        writeln!(text, "{a} {b} {c}").unwrap();
    }
    text.into_bytes()
}

/// The buffer behind the accessors: positions, then indices of four bytes.
pub fn buffer(mesh: &TriangleMesh) -> Vec<u8> {
    let positions = mesh.vertices().iter().flat_map(|vertex| vertex.to_array()).flat_map(f32::to_le_bytes);
    positions.chain(mesh.triangles().iter().flatten().flat_map(|index| index.to_le_bytes())).collect()
}

/// A scene of one node, with the buffer at `uri` or in the binary chunk.
pub fn json(mesh: &TriangleMesh, node: &str, uri: Option<&str>) -> String {
    let (points, corners) = (mesh.vertices().len(), mesh.triangles().len() * 3);
    let (split, end) = (points * 12, points * 12 + corners * 4);
    let low = mesh.vertices().iter().copied().reduce(|a, b| a.min(b)).unwrap();
    let high = mesh.vertices().iter().copied().reduce(|a, b| a.max(b)).unwrap();
    let uri = uri.map(|uri| format!(r#","uri":"{uri}""#)).unwrap_or_default();
    format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],"nodes":[{{"mesh":0{node}}}],
        "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"indices":1}}]}}],
        "buffers":[{{"byteLength":{end}{uri}}}],
        "bufferViews":[{{"buffer":0,"byteLength":{split}}},{{"buffer":0,"byteOffset":{split},"byteLength":{}}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":{points},"type":"VEC3",
            "min":[{},{},{}],"max":[{},{},{}]}},
            {{"bufferView":1,"componentType":5125,"count":{corners},"type":"SCALAR"}}]}}"#,
        end - split,
        low.x,
        low.y,
        low.z,
        high.x,
        high.y,
        high.z
    )
}

pub fn gltf(mesh: &TriangleMesh) -> Vec<u8> {
    let uri = format!("data:application/octet-stream;base64,{}", base64(&buffer(mesh)));
    json(mesh, "", Some(&uri)).into_bytes()
}

pub fn glb(mesh: &TriangleMesh, node: &str) -> Vec<u8> {
    let mut json = json(mesh, node, None).into_bytes();
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut bin = buffer(mesh);
    bin.resize(bin.len().next_multiple_of(4), 0);
    let mut file = b"glTF".to_vec();
    for number in [2, 12 + 8 + json.len() + 8 + bin.len(), json.len()] {
        file.extend((number as u32).to_le_bytes());
    }
    file.extend(b"JSON");
    file.extend(json);
    file.extend((bin.len() as u32).to_le_bytes());
    file.extend(b"BIN\0");
    file.extend(bin);
    file
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let held = three.iter().fold(0u32, |held, &byte| held << 8 | u32::from(byte)) << (8 * (3 - three.len()));
        for digit in 0..4 {
            let value = (held >> (18 - 6 * digit) & 63) as usize;
            text.push(if digit <= three.len() { DIGITS[value] as char } else { '=' });
        }
    }
    text
}
