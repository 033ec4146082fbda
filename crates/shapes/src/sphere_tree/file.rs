//! A tree as bytes: versioned, checked, and the same for the same tree. `docs/sphere-tree-file.md` describes every byte.

use space::DVec3;

use super::ball::Ball;
use super::build::Method;
use super::solid::Solid;
use super::tree::{MAX_DEPTH, MAX_NODES, SphereTree, TreeError};

/// The first bytes of every file.
pub const MAGIC: [u8; 8] = *b"KSPHTREE";
/// The version of a tree that covers a surface.
pub const VERSION: u16 = 1;
/// The version of a tree with inner balls, which follow its nodes.
pub const SOLID_VERSION: u16 = 2;
/// Bytes before the levels.
const HEADER: usize = 24;
/// Bytes of a node.
const NODE: usize = 44;
/// Bytes between the nodes and the inner balls: the margin, and how many there are.
const INSIDE: usize = 12;
/// Bytes of an inner ball.
const INNER: usize = 32;

/// What a file holds.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeFile {
    /// How it was built.
    pub method: Method,
    /// The tree.
    pub tree: SphereTree,
    /// What covers the inside, if the tree covers all of an object.
    pub inside: Option<Interior>,
}

/// What a [`Solid`] has besides its tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Interior {
    /// Balls completely inside.
    pub inner: Vec<Ball>,
    /// How much larger the tree's balls were made, in the mesh's unit.
    pub margin: f64,
}

impl TreeFile {
    /// The tree with its inner balls, if it covers all of an object.
    pub fn solid(&self) -> Option<Solid> {
        let Interior { inner, margin } = self.inside.clone()?;
        Some(Solid { tree: self.tree.clone(), inner, margin })
    }
}

/// Why bytes are no tree.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FileError {
    /// It is something else.
    #[error("this is no sphere-tree: it does not begin with KSPHTREE")]
    Magic,
    /// It is of another time.
    #[error("version {found}, expected {VERSION} or {SOLID_VERSION}")]
    Version {
        /// What it says.
        found: u16,
    },
    /// A method that is not known.
    #[error("method {found}, expected 0 to 3")]
    Method {
        /// What it says.
        found: u8,
    },
    /// More levels or nodes than a tree may have.
    #[error("{what} is {found}, expected 1 to {most}")]
    Count {
        /// Levels or nodes.
        what: &'static str,
        /// What it says.
        found: u64,
        /// What it may say.
        most: u64,
    },
    /// Too short, or too long.
    #[error("{found} bytes, expected {expected}")]
    Length {
        /// How long it is.
        found: usize,
        /// How long it should be.
        expected: usize,
    },
    /// The sum at the end does not match.
    #[error("the checksum is {found:08x}, expected {expected:08x}: the file is damaged")]
    Checksum {
        /// What it says.
        found: u32,
        /// What the bytes give.
        expected: u32,
    },
    /// A margin or an inner ball that is none.
    #[error("inner ball {ball}: {field} is {value}, expected a finite number{expected}")]
    Inner {
        /// Which one; the margin comes before the first.
        ball: usize,
        /// What of it.
        field: &'static str,
        /// What it is.
        value: f64,
        /// What it must be.
        expected: &'static str,
    },
    /// The nodes do not make a tree.
    #[error(transparent)]
    Tree(#[from] TreeError),
}

/// The bytes of a tree.
pub fn to_bytes(file: &TreeFile) -> Vec<u8> {
    let tree = &file.tree;
    let levels = tree.depth() + 1;
    let mut bytes = Vec::with_capacity(HEADER + 4 * levels + NODE * tree.nodes().len() + 4);
    bytes.extend(MAGIC);
    let version = if file.inside.is_some() { SOLID_VERSION } else { VERSION };
    bytes.extend(version.to_le_bytes());
    bytes.push(file.method as u8);
    bytes.push(levels as u8);
    bytes.extend((tree.nodes().len() as u32).to_le_bytes());
    bytes.extend(tree.scale().to_le_bytes());
    for level in 0..levels {
        bytes.extend((tree.level(level).len() as u32).to_le_bytes());
    }
    for level in 0..levels {
        let above = if level == 0 { 0 } else { tree.level_range(level - 1).start as u32 };
        for node in tree.level(level) {
            for value in [node.ball.center.x, node.ball.center.y, node.ball.center.z, node.ball.radius, node.error] {
                bytes.extend(value.to_le_bytes());
            }
            bytes.extend((node.parent - above).to_le_bytes());
        }
    }
    if let Some(Interior { inner, margin }) = &file.inside {
        bytes.extend(margin.to_le_bytes());
        bytes.extend((inner.len() as u32).to_le_bytes());
        for ball in inner {
            for value in [ball.center.x, ball.center.y, ball.center.z, ball.radius] {
                bytes.extend(value.to_le_bytes());
            }
        }
    }
    bytes.extend(checksum(&bytes).to_le_bytes());
    bytes
}

/// Reads a tree. Nothing is believed: counts are checked before memory is taken, and the tree is built anew.
pub fn from_bytes(bytes: &[u8]) -> Result<TreeFile, FileError> {
    if !bytes.starts_with(&MAGIC) {
        return Err(FileError::Magic);
    }
    let too_short = |expected| FileError::Length { found: bytes.len(), expected };
    let header = bytes.get(..HEADER).ok_or(too_short(HEADER))?;
    let version = u16::from_le_bytes(array(header, 8));
    if version != VERSION && version != SOLID_VERSION {
        return Err(FileError::Version { found: version });
    }
    let method = *Method::ALL.get(usize::from(header[10])).ok_or(FileError::Method { found: header[10] })?;
    let levels = usize::from(header[11]);
    if levels == 0 || levels > MAX_DEPTH + 1 {
        return Err(FileError::Count {
            what: "the number of levels",
            found: levels as u64,
            most: MAX_DEPTH as u64 + 1,
        });
    }
    let nodes = u32::from_le_bytes(array(header, 12)) as usize;
    if nodes == 0 || nodes > MAX_NODES {
        return Err(FileError::Count { what: "the number of nodes", found: nodes as u64, most: MAX_NODES as u64 });
    }
    let inside_at = HEADER + 4 * levels + NODE * nodes;
    let inner = if version == SOLID_VERSION {
        let counts = bytes.get(inside_at..inside_at + INSIDE).ok_or(too_short(inside_at + INSIDE + 4))?;
        Some(u32::from_le_bytes(array(counts, 8)) as usize)
    } else {
        None
    };
    if let Some(found) = inner.filter(|&inner| inner > MAX_NODES) {
        let (what, found, most) = ("the number of inner balls", found as u64, MAX_NODES as u64);
        return Err(FileError::Count { what, found, most });
    }
    let expected = inside_at + inner.map_or(0, |inner| INSIDE + INNER * inner) + 4;
    if bytes.len() != expected {
        return Err(too_short(expected));
    }
    let (body, sum) = bytes.split_at(expected - 4);
    let (found, sum) = (u32::from_le_bytes(array(sum, 0)), checksum(body));
    if found != sum {
        return Err(FileError::Checksum { found, expected: sum });
    }
    let scale = f64::from_le_bytes(array(header, 16));
    let sizes: Vec<usize> =
        (0..levels).map(|level| u32::from_le_bytes(array(bytes, HEADER + 4 * level)) as usize).collect();
    let all: u64 = sizes.iter().map(|&size| size as u64).sum();
    if all != nodes as u64 {
        return Err(FileError::Count { what: "the sum of the levels", found: all, most: nodes as u64 });
    }
    let mut at = HEADER + 4 * levels;
    let mut parts = Vec::with_capacity(levels);
    for size in sizes {
        let mut level = Vec::with_capacity(size);
        for _ in 0..size {
            let number = |index: usize| f64::from_le_bytes(array(bytes, at + 8 * index));
            let center = DVec3::new(number(0), number(1), number(2));
            level.push((Ball::new(center, number(3)), number(4), u32::from_le_bytes(array(bytes, at + 40))));
            at += NODE;
        }
        parts.push(level);
    }
    let tree = SphereTree::new(&parts, scale)?;
    let inside = inner.map(|count| read_inside(bytes, inside_at, count)).transpose()?;
    Ok(TreeFile { method, tree, inside })
}

fn read_inside(bytes: &[u8], at: usize, count: usize) -> Result<Interior, FileError> {
    let margin = f64::from_le_bytes(array(bytes, at));
    let check = |ball: usize, field: &'static str, value: f64, is_positive: bool| {
        let expected = if is_positive { " above zero" } else { "" };
        let is_fine = value.is_finite() && (value > 0.0 || !is_positive);
        if is_fine { Ok(()) } else { Err(FileError::Inner { ball, field, value, expected }) }
    };
    check(0, "the margin", margin, true)?;
    let mut inner = Vec::with_capacity(count);
    for ball in 0..count {
        let number = |index: usize| f64::from_le_bytes(array(bytes, at + INSIDE + INNER * ball + 8 * index));
        let center = [number(0), number(1), number(2)];
        for value in center {
            check(ball, "center", value, false)?;
        }
        check(ball, "radius", number(3), true)?;
        inner.push(Ball::new(DVec3::from_array(center), number(3)));
    }
    Ok(Interior { inner, margin })
}

/// Some bytes of a slice that is known to be long enough.
fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut array = [0; N];
    if let Some(found) = bytes.get(at..at + N) {
        array.copy_from_slice(found);
    }
    array
}

/// CRC-32, as in PNG and zip.
pub fn checksum(bytes: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for &byte in bytes {
        sum ^= u32::from(byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 };
        }
    }
    !sum
}
