//! TRI, the format of SWIFT++ (paper 002, figure 3.2): the word `TRI`, the number of vertices, the number of faces,
//! three coordinates for each vertex, three vertices, counted from zero, for each face. `//` begins a comment.

use space::Vec3;

use super::read::{MeshError, MeshLimits, coordinate, shown};
use super::triangles::TriangleMesh;

pub(super) fn read(bytes: &[u8], limits: &MeshLimits) -> Result<TriangleMesh, MeshError> {
    let text = String::from_utf8_lossy(bytes);
    let mut tokens = Tokens::new(&text);
    let (line, word) = tokens.next("the word TRI")?;
    if word != "TRI" {
        return Err(MeshError::line(line, format!("{}, expected the word TRI", shown(word))));
    }
    let vertex_count = tokens.count("vertices", limits.vertices)?;
    let face_count = tokens.count("faces", limits.triangles)?;
    // A number with its space takes at least two bytes, which bounds the counts.
    let numbers = (vertex_count + face_count) * 3;
    if numbers > bytes.len() / 2 + 1 {
        let problem = format!("{numbers} numbers promised, the file is too short for them");
        return Err(MeshError::line(tokens.line, problem));
    }
    let mut vertices = Vec::with_capacity(vertex_count);
    for _ in 0..vertex_count {
        let mut point = [0.0; 3];
        for value in &mut point {
            let (line, token) = tokens.next("a coordinate")?;
            *value = coordinate(token, line)?;
        }
        vertices.push(Vec3::from_array(point));
    }
    let mut triangles = Vec::with_capacity(face_count);
    for _ in 0..face_count {
        let mut corners = [0; 3];
        for corner in &mut corners {
            let (line, token) = tokens.next("a vertex index")?;
            *corner = token.parse::<u32>().ok().filter(|&index| (index as usize) < vertex_count).ok_or_else(|| {
                MeshError::line(line, format!("{}, expected one of {vertex_count} vertices, from 0", shown(token)))
            })?;
        }
        triangles.push(corners);
    }
    if let Ok((line, token)) = tokens.next("the end") {
        return Err(MeshError::line(line, format!("{}, expected the end", shown(token))));
    }
    Ok(TriangleMesh::new(vertices, triangles)?)
}

/// Words without comments, each with its line.
struct Tokens<'a> {
    lines: std::iter::Enumerate<std::str::Lines<'a>>,
    words: std::str::SplitWhitespace<'a>,
    line: usize,
}

impl<'a> Tokens<'a> {
    fn new(text: &'a str) -> Tokens<'a> {
        Tokens { lines: text.lines().enumerate(), words: "".split_whitespace(), line: 1 }
    }

    fn next(&mut self, expected: &str) -> Result<(usize, &'a str), MeshError> {
        loop {
            if let Some(word) = self.words.next() {
                return Ok((self.line, word));
            }
            let Some((number, line)) = self.lines.next() else {
                return Err(MeshError::line(self.line, format!("the file ends, expected {expected}")));
            };
            self.line = number + 1;
            self.words = line.split("//").next().unwrap_or("").split_whitespace();
        }
    }

    fn count(&mut self, what: &'static str, limit: usize) -> Result<usize, MeshError> {
        let (line, token) = self.next("a count")?;
        let count: usize = token
            .parse()
            .map_err(|_| MeshError::line(line, format!("{}, expected the number of {what}", shown(token))))?;
        if count > limit { Err(MeshError::TooMuch { what, count, limit }) } else { Ok(count) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file printed in paper 002: a beam of 1 by 4 by 1.
    const BEAM: &str = "TRI\n\n8 // number of vertices\n\n12 // number of faces\n
-0.5 0.5 -0.5 // vertex 0\n0.5 0.5 -0.5\n-0.5 0.5 0.5\n0.5 0.5 0.5\n-0.5 -3.5 -0.5\n0.5 -3.5 -0.5\n-0.5 -3.5 0.5
0.5 -3.5 0.5\n\n0 2 3\n3 1 0\n4 5 7\n7 6 4\n0 1 5\n5 4 0 // counter-clockwise
1 3 7\n7 5 1\n3 2 6\n6 7 3\n2 0 4\n4 6 2\n";

    #[test]
    fn reads_the_beam_of_the_paper() {
        let mesh = read(BEAM.as_bytes(), &MeshLimits::default()).unwrap();
        assert_eq!((mesh.vertices().len(), mesh.triangles().len(), mesh.volume()), (8, 12, 4.0));
    }

    #[test]
    fn refusals_name_the_line() {
        let refusal = |text: &str| read(text.as_bytes(), &MeshLimits::default()).unwrap_err().to_string();
        assert_eq!(refusal(""), "line 1: the file ends, expected the word TRI");
        assert_eq!(refusal("POLY 3 1"), "line 1: `POLY`, expected the word TRI");
        assert_eq!(refusal("TRI\n4000000000 1\n"), "4000000000 vertices, expected at most 1048576");
        assert_eq!(refusal("TRI 90000 1\n0"), "line 1: 270003 numbers promised, the file is too short for them");
        assert_eq!(refusal("TRI 3 1\n0 0 0\n1 0 inf 0 1 0 0 1 2"), "line 3: `inf`, expected a finite number");
        assert_eq!(refusal("TRI 3 1\n0 0 0 1 0 0 0 1 0\n0 1 3"), "line 3: `3`, expected one of 3 vertices, from 0");
        assert_eq!(refusal("TRI 3 1\n0 0 0 1 0 0 0 1 0\n0 1 2\n7"), "line 4: `7`, expected the end");
        assert_eq!(refusal("TRI 0 0"), "a mesh without triangles");
    }
}
