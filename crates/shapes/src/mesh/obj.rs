//! Wavefront OBJ, through tobj.
//!
//! Only vertices and faces matter. They are checked first, so a refusal can name its line, and nothing else of the file
//! (materials, groups, normals, curves) reaches tobj.

use std::fmt::Write;

use space::Vec3;

use super::read::{MeshError, MeshLimits, coordinate, shown};
use super::triangles::TriangleMesh;

pub(super) fn read(bytes: &[u8], limits: &MeshLimits) -> Result<TriangleMesh, MeshError> {
    let text = String::from_utf8_lossy(bytes);
    let geometry = sifted(&text, limits)?;
    let options = tobj::LoadOptions { triangulate: true, ..Default::default() };
    let loaded = tobj::load_obj_buf(&mut geometry.as_bytes(), &options, |_| Err(tobj::LoadError::ReadError));
    let (models, _) = loaded.map_err(|error| MeshError::element("the file", error.to_string()))?;
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for model in models {
        let first = vertices.len() as u32;
        vertices.extend(model.mesh.positions.as_chunks().0.iter().copied().map(Vec3::from_array));
        let corners = model.mesh.indices.chunks_exact(3);
        triangles.extend(corners.map(|corners| [first + corners[0], first + corners[1], first + corners[2]]));
    }
    Ok(TriangleMesh::new(vertices, triangles)?)
}

/// The file's vertices and faces, checked, and nothing else.
fn sifted(text: &str, limits: &MeshLimits) -> Result<String, MeshError> {
    let lines = || {
        text.lines().enumerate().filter_map(|(number, line)| {
            let mut words = line.split('#').next().unwrap_or("").split_whitespace();
            words.next().map(|keyword| (number + 1, keyword, words))
        })
    };
    let total = lines().filter(|(_, keyword, _)| *keyword == "v").count();
    limits.check("vertices", total, limits.vertices)?;
    let mut kept = String::new();
    let mut before = 0;
    let mut triangles = 0;
    for (line, keyword, words) in lines() {
        match keyword {
            "v" => {
                kept.push('v');
                let mut count = 0;
                for word in words.take(3) {
                    let _ = write!(kept, " {}", coordinate(word, line)?);
                    count += 1;
                }
                if count < 3 {
                    return Err(MeshError::line(line, format!("{count} coordinates, expected 3")));
                }
                before += 1;
                kept.push('\n');
            }
            "f" => {
                kept.push('f');
                let mut corners = 0;
                for word in words {
                    let _ = write!(kept, " {}", index(word, line, before, total)?);
                    corners += 1;
                }
                if corners < 3 {
                    return Err(MeshError::line(line, format!("a face of {corners} corners, expected 3 or more")));
                }
                triangles += corners - 2;
                limits.check("triangles", triangles, limits.triangles)?;
                kept.push('\n');
            }
            _ => {}
        }
    }
    Ok(kept)
}

/// The vertex of a face's corner, which may also name a texture coordinate and a normal. Counted from one, or backwards
/// from the last vertex before the face.
fn index(word: &str, line: usize, before: usize, total: usize) -> Result<i64, MeshError> {
    let vertex = word.split('/').next().unwrap_or("");
    let found = vertex.parse::<i64>().ok().filter(|&index| {
        if index < 0 { index.unsigned_abs() <= before as u64 } else { (1..=total as u64).contains(&(index as u64)) }
    });
    found.ok_or_else(|| {
        let expected = format!("expected a vertex from 1 to {total}, or -1 to -{before} backwards");
        MeshError::line(line, format!("{}, {expected}", shown(word)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        read(text.as_bytes(), &MeshLimits::default()).unwrap_err().to_string()
    }

    #[test]
    fn reads_polygons_backward_indices_and_all_kinds_of_corners() {
        let text = "# a square, twice\nmtllib none.mtl\nv 0 0 0 # corner\nv 1 0 0 1.0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\n
            usemtl red\ns off\nf 1//1 2//1 3//1 4//1\no second\nf -4/9/9 -3 -2/1\n";
        let mesh = read(text.as_bytes(), &MeshLimits::default()).unwrap();
        assert_eq!(mesh.triangles(), [[0, 1, 2], [0, 2, 3], [0, 1, 2]]);
    }

    #[test]
    fn refusals_name_the_line() {
        assert_eq!(refusal("v 0 0"), "line 1: 2 coordinates, expected 3");
        assert_eq!(refusal("v 0 0 NaN"), "line 1: `NaN`, expected a finite number");
        assert_eq!(refusal("v 0 0 0\n\nf 1 1"), "line 3: a face of 2 corners, expected 3 or more");
        assert_eq!(refusal("v 0 0 0\nf 1 1 2"), "line 2: `2`, expected a vertex from 1 to 1, or -1 to -1 backwards");
        assert_eq!(
            refusal("v 0 0 0\nf 1 1 -9223372036854775808"),
            "line 2: `-9223372036854775808`, expected a vertex from 1 to 1, or -1 to -1 backwards"
        );
        assert_eq!(refusal("hello"), "a mesh without triangles");
        let few = MeshLimits { triangles: 2, ..MeshLimits::default() };
        let error = read(b"v 0 0 0\nf 1 1 1 1 1", &few).unwrap_err();
        assert_eq!(error.to_string(), "3 triangles, expected at most 2");
    }
}
