//! glTF 2.0, text or binary, through the gltf crate: the triangles of its scene, each in its place.
//!
//! The crate reads the JSON and checks references. The bytes behind accessors are read here, with every sum and product
//! checked, since a file may contain any count and any offset.

use std::borrow::Cow;

use gltf::accessor::{DataType, Dimensions};
use gltf::mesh::Mode;
use gltf::{Accessor, Document, Node, Primitive, Semantic, buffer};
use space::{DVec3, Vec3};

use super::read::{MeshError, MeshLimits, Resolver, shown};
use super::triangles::TriangleMesh;

pub(super) fn read(bytes: &[u8], limits: &MeshLimits, resolver: &mut Resolver<'_>) -> Result<TriangleMesh, MeshError> {
    check_header(bytes)?;
    let gltf::Gltf { document, blob } = gltf::Gltf::from_slice_without_validation(bytes).map_err(refused)?;
    check_positions(&document)?;
    let gltf = Document::from_json(document.into_json()).map_err(refused)?;
    let buffers = buffers(&gltf, blob.as_deref(), limits, resolver)?;
    let mut reader = Reader { buffers, limits, vertices: Vec::new(), triangles: Vec::new(), primitives: 0 };
    let scene = gltf.default_scene().or_else(|| gltf.scenes().next());
    match scene {
        Some(scene) => reader.scene(scene.nodes().collect(), gltf.nodes().len())?,
        None => {
            for mesh in gltf.meshes() {
                reader.mesh(&mesh, Affine::IDENTITY)?;
            }
        }
    }
    Ok(TriangleMesh::new(reader.vertices, reader.triangles)?)
}

/// The crate's message, cut to 200 characters.
fn refused(error: gltf::Error) -> MeshError {
    let words: String = error.to_string().chars().take(200).collect();
    MeshError::element("the file", words)
}

/// gltf 1.4 subtracts the header of a binary file from a length that may be shorter.
fn check_header(bytes: &[u8]) -> Result<(), MeshError> {
    if !bytes.starts_with(b"glTF") {
        return Ok(());
    }
    let length = bytes.get(8..12).map(whole);
    match length {
        Some(length) if (20..=bytes.len() as u64).contains(&u64::from(length)) => Ok(()),
        Some(length) => {
            Err(MeshError::element("the header", format!("{length} bytes promised, the file has {}", bytes.len())))
        }
        None => Err(MeshError::element("the header", "is cut short")),
    }
}

/// The validation of gltf 1.4 looks up the accessor of every POSITION before it checks that it exists, and panics.
fn check_positions(document: &Document) -> Result<(), MeshError> {
    let json = document.as_json();
    for (number, mesh) in json.meshes.iter().enumerate() {
        for accessor in mesh.primitives.iter().flat_map(|primitive| primitive.attributes.values()) {
            if accessor.value() >= json.accessors.len() {
                let problem = format!("accessor {} of {}", accessor.value(), json.accessors.len());
                return Err(MeshError::element(format!("mesh {number}"), problem));
            }
        }
    }
    Ok(())
}

struct Reader<'a> {
    buffers: Vec<Cow<'a, [u8]>>,
    limits: &'a MeshLimits,
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    /// The number of primitives visited: it bounds nodes that share a large mesh without vertices.
    primitives: usize,
}

impl Reader<'_> {
    fn scene(&mut self, roots: Vec<Node<'_>>, nodes: usize) -> Result<(), MeshError> {
        self.limits.check("nodes", nodes, self.limits.nodes)?;
        // A scene is a forest: no node is reached twice.
        let mut reached = vec![false; nodes];
        let mut stack: Vec<(Node<'_>, Affine)> = roots.into_iter().map(|node| (node, Affine::IDENTITY)).collect();
        while let Some((node, above)) = stack.pop() {
            if std::mem::replace(&mut reached[node.index()], true) {
                return Err(MeshError::element(format!("node {}", node.index()), "is reached on two ways"));
            }
            let place = above.then(&node.transform().matrix());
            if let Some(mesh) = node.mesh() {
                self.mesh(&mesh, place)?;
            }
            stack.extend(node.children().map(|child| (child, place)));
        }
        Ok(())
    }

    fn mesh(&mut self, mesh: &gltf::Mesh<'_>, place: Affine) -> Result<(), MeshError> {
        for primitive in mesh.primitives() {
            self.primitives += 1;
            self.limits.check("primitives", self.primitives, self.limits.nodes)?;
            let name = format!("mesh {}, primitive {}", mesh.index(), primitive.index());
            self.primitive(&primitive, place).map_err(|error| match error {
                MeshError::Element { element, problem } => MeshError::element(format!("{name}, {element}"), problem),
                other => other,
            })?;
        }
        Ok(())
    }

    fn primitive(&mut self, primitive: &Primitive<'_>, place: Affine) -> Result<(), MeshError> {
        if matches!(primitive.mode(), Mode::Points | Mode::Lines | Mode::LineLoop | Mode::LineStrip) {
            return Ok(());
        }
        let Some(positions) = primitive.get(&Semantic::Positions) else {
            return Err(MeshError::element("POSITION", "is missing"));
        };
        let first = self.vertices.len();
        self.limits.check("vertices", first.saturating_add(positions.count()), self.limits.vertices)?;
        for (number, point) in self.positions(&positions)?.into_iter().enumerate() {
            let moved = place.apply(point.as_dvec3()).as_vec3();
            if !moved.is_finite() {
                return Err(MeshError::element(format!("vertex {number}"), "is not finite"));
            }
            self.vertices.push(moved);
        }
        let count = self.vertices.len() - first;
        let indices = match primitive.indices() {
            Some(accessor) => {
                self.limits.check("indices", accessor.count(), self.limits.triangles.saturating_mul(3))?;
                self.indices(&accessor)?
            }
            None => (0..count as u32).collect(),
        };
        if let Some(wrong) = indices.iter().find(|&&index| index as usize >= count) {
            return Err(MeshError::element("indices", format!("{wrong}, expected one of {count} vertices")));
        }
        let indices: Vec<u32> = indices.into_iter().map(|index| index + first as u32).collect();
        let steps = indices.windows(3).enumerate();
        let made: Vec<[u32; 3]> = match primitive.mode() {
            Mode::TriangleStrip => steps
                .map(|(step, corners)| {
                    let odd = step % 2;
                    [corners[0], corners[1 + odd], corners[2 - odd]]
                })
                .collect(),
            Mode::TriangleFan => steps.map(|(step, _)| [indices[step + 1], indices[step + 2], indices[0]]).collect(),
            _ => indices.chunks_exact(3).map(|corners| [corners[0], corners[1], corners[2]]).collect(),
        };
        self.limits.check("triangles", self.triangles.len() + made.len(), self.limits.triangles)?;
        // A reflection reverses triangles.
        let mirrored = place.mirrors();
        self.triangles.extend(made.into_iter().map(|[a, b, c]| if mirrored { [a, c, b] } else { [a, b, c] }));
        Ok(())
    }

    fn positions(&self, accessor: &Accessor<'_>) -> Result<Vec<Vec3>, MeshError> {
        let name = format!("accessor {}", accessor.index());
        if accessor.data_type() != DataType::F32 || accessor.dimensions() != Dimensions::Vec3 {
            return Err(MeshError::element(name, "expected vectors of three floats for POSITION"));
        }
        let number = |bytes: &[u8]| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let point = |bytes: &[u8]| Vec3::new(number(bytes), number(&bytes[4..]), number(&bytes[8..]));
        self.values(accessor, 12, Vec3::ZERO, point)
    }

    fn indices(&self, accessor: &Accessor<'_>) -> Result<Vec<u32>, MeshError> {
        let name = format!("accessor {}", accessor.index());
        let size = index_size(accessor.data_type());
        match size {
            Some(size) if accessor.dimensions() == Dimensions::Scalar => self.values(accessor, size, 0, whole),
            _ => Err(MeshError::element(name, "expected unsigned whole numbers for indices")),
        }
    }

    /// The values of an accessor: those of its view or zeros, overwritten by sparse ones.
    fn values<T: Copy>(
        &self,
        accessor: &Accessor<'_>,
        size: usize,
        zero: T,
        value: impl Fn(&[u8]) -> T,
    ) -> Result<Vec<T>, MeshError> {
        let name = format!("accessor {}", accessor.index());
        let count = accessor.count();
        let mut values = match accessor.view() {
            Some(view) => self.items(&name, &view, accessor.offset(), size, count)?.map(&value).collect(),
            // The caller has checked the count.
            None => vec![zero; count],
        };
        if let Some(sparse) = accessor.sparse() {
            let few = sparse.count();
            let (places, with) = (sparse.indices(), sparse.values());
            let bytes = match places.index_type() {
                gltf::accessor::sparse::IndexType::U8 => 1,
                gltf::accessor::sparse::IndexType::U16 => 2,
                gltf::accessor::sparse::IndexType::U32 => 4,
            };
            let (places_view, with_view) = (places.view(), with.view());
            let places = self.items(&name, &places_view, places.offset(), bytes, few)?;
            let with = self.items(&name, &with_view, with.offset(), size, few)?;
            for (place, bytes) in places.map(whole).zip(with) {
                let slot = values.get_mut(place as usize);
                *slot.ok_or_else(|| MeshError::element(&name, format!("sparse index {place} of {count}")))? =
                    value(bytes);
            }
        }
        Ok(values)
    }

    /// `count` items of `size` bytes of a view, if they exist.
    fn items<'b>(
        &'b self,
        name: &str,
        view: &buffer::View<'_>,
        offset: usize,
        size: usize,
        count: usize,
    ) -> Result<impl Iterator<Item = &'b [u8]>, MeshError> {
        let stride = view.stride().unwrap_or(size).max(1);
        let found = || {
            let buffer = self.buffers.get(view.buffer().index())?;
            let bytes = buffer.get(view.offset()..view.offset().checked_add(view.length())?)?;
            let bytes = bytes.get(offset..)?;
            if count == 0 {
                return Some(&bytes[..0]);
            }
            let last = stride.checked_mul(count - 1)?;
            bytes.get(..last.checked_add(size)?)
        };
        let bytes = found().ok_or_else(|| {
            let problem =
                format!("{count} items of {size} bytes from byte {offset} are not in buffer view {}", view.index());
            MeshError::element(name, problem)
        })?;
        Ok((0..count).map(move |item| &bytes[item * stride..item * stride + size]))
    }
}

/// An affine map. What glTF writes in the fourth row of a matrix is taken to be 0, 0, 0, 1.
#[derive(Clone, Copy)]
struct Affine {
    columns: [DVec3; 3],
    shift: DVec3,
}

impl Affine {
    const IDENTITY: Affine = Affine { columns: DVec3::AXES, shift: DVec3::ZERO };

    /// The map of a node below one with this map.
    fn then(&self, matrix: &[[f32; 4]; 4]) -> Affine {
        let [x, y, z, shift] = matrix.map(|[x, y, z, _]| Vec3::new(x, y, z).as_dvec3());
        Affine { columns: [x, y, z].map(|column| self.turn(column)), shift: self.apply(shift) }
    }

    fn turn(&self, vector: DVec3) -> DVec3 {
        let [x, y, z] = self.columns;
        x * vector.x + y * vector.y + z * vector.z
    }

    fn apply(&self, point: DVec3) -> DVec3 {
        self.turn(point) + self.shift
    }

    fn mirrors(&self) -> bool {
        let [x, y, z] = self.columns;
        x.cross(y).dot(z) < 0.0
    }
}

fn index_size(kind: DataType) -> Option<usize> {
    match kind {
        DataType::U8 => Some(1),
        DataType::U16 => Some(2),
        DataType::U32 => Some(4),
        _ => None,
    }
}

fn whole(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte))
}

/// The bytes of every buffer: the binary chunk, a data URI, or the resolver's.
fn buffers<'a>(
    document: &Document,
    blob: Option<&'a [u8]>,
    limits: &MeshLimits,
    resolver: &mut Resolver<'_>,
) -> Result<Vec<Cow<'a, [u8]>>, MeshError> {
    let mut all = Vec::new();
    let mut total = 0usize;
    for buffer in document.buffers() {
        let name = format!("buffer {}", buffer.index());
        let bytes = match buffer.source() {
            buffer::Source::Bin => Cow::Borrowed(blob.ok_or_else(|| MeshError::element(&name, "has no binary chunk"))?),
            buffer::Source::Uri(uri) => match uri.strip_prefix("data:") {
                Some(data) => {
                    let text = data.split_once(";base64,").map(|(_, text)| text);
                    let text = text.ok_or_else(|| MeshError::element(&name, "expected base64 in its data URI"))?;
                    Cow::Owned(base64(text).ok_or_else(|| MeshError::element(&name, "its data URI is not base64"))?)
                }
                None => Cow::Owned(
                    resolver(uri).ok_or_else(|| MeshError::element(&name, format!("no such file: {}", shown(uri))))?,
                ),
            },
        };
        if bytes.len() < buffer.length() {
            let problem = format!("{} bytes promised, {} found", buffer.length(), bytes.len());
            return Err(MeshError::element(name, problem));
        }
        total = total.saturating_add(bytes.len());
        limits.check("bytes of buffers", total, limits.bytes)?;
        all.push(bytes);
    }
    Ok(all)
}

fn base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=').as_bytes();
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    let (mut held, mut bits) = (0u32, 0);
    for digit in digits {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        held = held << 6 | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits) as u8);
            held &= (1 << bits) - 1;
        }
    }
    // A single remaining digit is no byte.
    if digits.len() % 4 == 1 { None } else { Some(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read() {
        assert_eq!(base64("").unwrap(), b"");
        assert_eq!(base64("TQ==").unwrap(), b"M");
        assert_eq!(base64("TWE=").unwrap(), b"Ma");
        assert_eq!(base64("TWFu").unwrap(), b"Man");
        assert_eq!(base64("/+8A").unwrap(), [0xff, 0xef, 0]);
        assert_eq!(base64("T"), None);
        assert_eq!(base64("T!=="), None);
    }
}
