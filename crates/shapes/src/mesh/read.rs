//! Bytes of a mesh file to triangles. Nothing in a file is trusted: counts are held against limits before memory is
//! taken for them, indices are checked, numbers must be finite, and a refusal names the line or the element.

use super::{TriangleMesh, TriangleMeshError, gltf, obj, tri};

/// The formats that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Wavefront OBJ: its vertices and faces.
    Obj,
    /// glTF 2.0, as text (`.gltf`) or binary (`.glb`): the triangles of its scene, in their places.
    Gltf,
    /// The TRI format of SWIFT++, as paper 002 shows it (figure 3.2).
    Tri,
}

/// How much of a file is too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeshLimits {
    /// Bytes of the file; and of all buffers that it names, together.
    pub bytes: usize,
    /// Vertices of the mesh.
    pub vertices: usize,
    /// Triangles of the mesh.
    pub triangles: usize,
    /// Nodes of a glTF file; and primitives of its scene, each as often as it is placed.
    pub nodes: usize,
}

impl Default for MeshLimits {
    /// 64 MiB, a million vertices, two million triangles, 65,536 nodes.
    fn default() -> MeshLimits {
        MeshLimits { bytes: 64 << 20, vertices: 1 << 20, triangles: 1 << 21, nodes: 1 << 16 }
    }
}

/// Why a file was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeshError {
    /// It is larger than [`MeshLimits`] allow.
    #[error("{count} {what}, expected at most {limit}")]
    TooMuch {
        /// Of what there is too much.
        what: &'static str,
        /// How much there is.
        count: usize,
        /// How much there may be.
        limit: usize,
    },
    /// A line of a text that makes no sense.
    #[error("line {line}: {problem}")]
    Line {
        /// From one, as editors count.
        line: usize,
        /// What was found, and what was expected.
        problem: String,
    },
    /// A part of a glTF file that makes no sense.
    #[error("{element}: {problem}")]
    Element {
        /// Which part, as the file numbers it.
        element: String,
        /// What was found, and what was expected.
        problem: String,
    },
    /// What was read is no mesh.
    #[error(transparent)]
    Mesh(#[from] TriangleMeshError),
}

/// The bytes of a buffer that a `.gltf` file names by a relative path; `None` when there are none. There are no files in
/// this crate: whoever has some hands them in. The name is the file's word: do not follow it out of your folder.
pub type Resolver<'a> = dyn FnMut(&str) -> Option<Vec<u8>> + 'a;

impl Format {
    /// The format that a file's name ends in.
    pub fn of_name(name: &str) -> Option<Format> {
        let (_, ending) = name.rsplit_once('.')?;
        let is = |known: &str| ending.eq_ignore_ascii_case(known);
        match () {
            () if is("obj") => Some(Format::Obj),
            () if is("gltf") || is("glb") => Some(Format::Gltf),
            () if is("tri") => Some(Format::Tri),
            () => None,
        }
    }
}

/// The triangles of a file that needs no others, within the default limits.
///
/// ```
/// use kinesphere_shapes::mesh::{Format, read};
///
/// let tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
/// let mesh = read(tetrahedron.as_bytes(), Format::Obj)?;
/// assert_eq!((mesh.triangles().len(), mesh.volume()), (4, 1.0 / 6.0));
///
/// let error = read(b"v 0 0 0\nv 1 0 zero\n", Format::Obj).unwrap_err();
/// assert_eq!(error.to_string(), "line 2: `zero`, expected a finite number");
/// # Ok::<(), kinesphere_shapes::mesh::MeshError>(())
/// ```
pub fn read(bytes: &[u8], format: Format) -> Result<TriangleMesh, MeshError> {
    read_with(bytes, format, &MeshLimits::default(), &mut |_| None)
}

/// The triangles of a file, within limits, and with the buffers that it names.
pub fn read_with(
    bytes: &[u8],
    format: Format,
    limits: &MeshLimits,
    resolver: &mut Resolver<'_>,
) -> Result<TriangleMesh, MeshError> {
    limits.check("bytes", bytes.len(), limits.bytes)?;
    match format {
        Format::Obj => obj::read(bytes, limits),
        Format::Gltf => gltf::read(bytes, limits, resolver),
        Format::Tri => tri::read(bytes, limits),
    }
}

impl MeshLimits {
    pub(super) fn check(&self, what: &'static str, count: usize, limit: usize) -> Result<(), MeshError> {
        if count > limit { Err(MeshError::TooMuch { what, count, limit }) } else { Ok(()) }
    }
}

impl MeshError {
    pub(super) fn line(line: usize, problem: impl Into<String>) -> MeshError {
        MeshError::Line { line, problem: problem.into() }
    }

    pub(super) fn element(element: impl Into<String>, problem: impl Into<String>) -> MeshError {
        MeshError::Element { element: element.into(), problem: problem.into() }
    }
}

/// A number of a text, for a message: short, and harmless to print.
pub(super) fn shown(token: &str) -> String {
    let mut short: String = token.chars().take(24).flat_map(char::escape_debug).collect();
    if token.chars().nth(24).is_some() {
        short.push('…');
    }
    format!("`{short}`")
}

/// A coordinate of a text.
pub(super) fn coordinate(token: &str, line: usize) -> Result<f32, MeshError> {
    match token.parse::<f32>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err(MeshError::line(line, format!("{}, expected a finite number", shown(token)))),
    }
}
