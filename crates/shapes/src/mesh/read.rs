//! From the bytes of a mesh file to triangles. Nothing in a file is trusted: counts are checked before memory is
//! reserved, indices are checked, numbers must be finite, and a refusal names the line or the element.

use super::{TriangleMesh, TriangleMeshError, gltf, obj, tri};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Obj,
    /// glTF 2.0, as text (`.gltf`) or binary (`.glb`): the triangles of its scene.
    Gltf,
    /// The TRI format of SWIFT++ (paper 002, figure 3.2).
    Tri,
}

/// The most that is read from a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeshLimits {
    /// Bytes of the file, and of all its buffers together.
    pub bytes: usize,
    pub vertices: usize,
    pub triangles: usize,
    /// Nodes of a glTF file, and primitives of its scene, counted as often as they are placed.
    pub nodes: usize,
}

impl Default for MeshLimits {
    /// 64 MiB, a million vertices, two million triangles, 65,536 nodes.
    fn default() -> MeshLimits {
        MeshLimits { bytes: 64 << 20, vertices: 1 << 20, triangles: 1 << 21, nodes: 1 << 16 }
    }
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeshError {
    #[error("{count} {what}, expected at most {limit}")]
    TooMuch { what: &'static str, count: usize, limit: usize },
    #[error("line {line}: {problem}")]
    Line { line: usize, problem: String },
    /// An invalid part of a glTF file, as the file numbers it.
    #[error("{element}: {problem}")]
    Element { element: String, problem: String },
    #[error(transparent)]
    Mesh(#[from] TriangleMeshError),
}

/// Gives the bytes of a buffer that a `.gltf` file names by a relative path, or `None`. This crate reads no files, so
/// its caller does. The name comes from the file: do not follow it out of the file's folder.
pub type Resolver<'a> = dyn FnMut(&str) -> Option<Vec<u8>> + 'a;

impl Format {
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

/// The triangles of a file without external buffers, within the default limits.
pub fn read(bytes: &[u8], format: Format) -> Result<TriangleMesh, MeshError> {
    read_with(bytes, format, &MeshLimits::default(), &mut |_| None)
}

/// The triangles of a file, within limits and with external buffers.
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

/// A token of a text for a message: short, and safe to print.
pub(super) fn shown(token: &str) -> String {
    let mut short: String = token.chars().take(24).flat_map(char::escape_debug).collect();
    if token.chars().nth(24).is_some() {
        short.push('…');
    }
    format!("`{short}`")
}

pub(super) fn coordinate(token: &str, line: usize) -> Result<f32, MeshError> {
    match token.parse::<f32>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err(MeshError::line(line, format!("{}, expected a finite number", shown(token)))),
    }
}
