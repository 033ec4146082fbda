//! A tree as bytes: versioned, checked, and equal for equal trees. `docs/sphere-tree-file.md` describes every byte.

use space::DVec3;
use space::bytes::{Malformed, Reader, Writer};

use super::ball::Ball;
use super::build::Method;
use super::solid::Solid;
use super::tree::{MAX_DEPTH, MAX_NODES, SphereTree, TreeError};

pub const MAGIC: [u8; 8] = *b"KSPHTREE";
/// The version of a tree that covers a surface.
pub const VERSION: u16 = 1;
/// The version of a tree that is followed by inner balls.
pub const SOLID_VERSION: u16 = 2;

/// Sizes in bytes: of what precedes the levels, of a node, of the margin with the number of inner balls, of an inner
/// ball, and of the checksum.
const HEADER: usize = 24;
const NODE: usize = 44;
const INSIDE: usize = 12;
const INNER: usize = 32;
const CHECKSUM: usize = 4;

#[derive(Clone, Debug, PartialEq)]
pub struct TreeFile {
    pub method: Method,
    pub tree: SphereTree,
    /// If the tree covers a solid.
    pub inside: Option<Interior>,
}

/// What a [`Solid`] has besides its tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Interior {
    pub inner: Vec<Ball>,
    /// In the mesh's unit.
    pub margin: f64,
}

impl TreeFile {
    /// The tree with its inner balls, if it covers a solid.
    pub fn solid(&self) -> Option<Solid> {
        let Interior { inner, margin } = self.inside.clone()?;
        Some(Solid { tree: self.tree.clone(), inner, margin })
    }
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FileError {
    #[error("this is no sphere-tree: it does not begin with KSPHTREE")]
    Magic,
    #[error("version {found}, expected {VERSION} or {SOLID_VERSION}")]
    Version { found: u16 },
    #[error("method {found}, expected 0 to 3")]
    Method { found: u8 },
    /// More levels, nodes or inner balls than a tree may have, or levels that do not add up.
    #[error("{what} is {found}, expected 1 to {most}")]
    Count { what: &'static str, found: u64, most: u64 },
    #[error("{found} bytes, expected {expected}")]
    Length { found: usize, expected: usize },
    #[error("the checksum is {found:08x}, expected {expected:08x}: the file is damaged")]
    Checksum { found: u32, expected: u32 },
    /// An invalid inner ball, or an invalid margin, which precedes ball 0.
    #[error("inner ball {ball}: {field} is {value}, expected a finite number{expected}")]
    Inner { ball: usize, field: &'static str, value: f64, expected: &'static str },
    #[error(transparent)]
    Tree(#[from] TreeError),
    #[error(transparent)]
    Malformed(#[from] Malformed),
}

pub fn to_bytes(file: &TreeFile) -> Vec<u8> {
    let tree = &file.tree;
    let levels = tree.depth() + 1;
    let mut bytes = Vec::with_capacity(HEADER + 4 * levels + NODE * tree.nodes().len() + CHECKSUM);
    let mut writer = Writer::new(&mut bytes);
    writer.raw(&MAGIC);
    writer.u16(if file.inside.is_some() { SOLID_VERSION } else { VERSION });
    writer.u8(file.method as u8);
    writer.u8(levels as u8);
    writer.u32(tree.nodes().len() as u32);
    writer.f64(tree.scale());
    (0..levels).for_each(|level| writer.u32(tree.level(level).len() as u32));
    for level in 0..levels {
        let above = if level == 0 { 0 } else { tree.level_range(level - 1).start as u32 };
        for node in tree.level(level) {
            write_ball(&mut writer, node.ball);
            writer.f64(node.error);
            writer.u32(node.parent - above);
        }
    }
    if let Some(Interior { inner, margin }) = &file.inside {
        writer.f64(*margin);
        writer.u32(inner.len() as u32);
        inner.iter().for_each(|&ball| write_ball(&mut writer, ball));
    }
    let sum = checksum(&bytes);
    Writer::new(&mut bytes).u32(sum);
    bytes
}

/// Reads a tree. Nothing is trusted: counts are checked before memory is reserved, and the tree is built anew.
pub fn from_bytes(bytes: &[u8]) -> Result<TreeFile, FileError> {
    if !bytes.starts_with(&MAGIC) {
        return Err(FileError::Magic);
    }
    let expect_length = |expected, is_right| {
        if is_right { Ok(()) } else { Err(FileError::Length { found: bytes.len(), expected }) }
    };
    expect_length(HEADER, bytes.len() >= HEADER)?;
    let mut reader = Reader::new(&bytes[MAGIC.len()..]);
    let version = reader.u16("the version")?;
    if version != VERSION && version != SOLID_VERSION {
        return Err(FileError::Version { found: version });
    }
    let method = reader.u8("the method")?;
    let method = *Method::ALL.get(usize::from(method)).ok_or(FileError::Method { found: method })?;
    let levels = checked("the number of levels", 1, reader.u8("levels")?.into(), MAX_DEPTH + 1)?;
    let nodes = checked("the number of nodes", 1, reader.u32("nodes")?.into(), MAX_NODES)?;
    let inside_at = HEADER + 4 * levels + NODE * nodes;
    let mut expected = inside_at + CHECKSUM;
    if version == SOLID_VERSION {
        expect_length(expected + INSIDE, bytes.len() >= inside_at + INSIDE)?;
        let count = Reader::new(&bytes[inside_at + 8..]).u32("inner balls")?;
        expected += INSIDE + INNER * checked("the number of inner balls", 0, count.into(), MAX_NODES)?;
    }
    expect_length(expected, bytes.len() == expected)?;
    let (body, sum) = bytes.split_at(expected - CHECKSUM);
    let (found, sum) = (Reader::new(sum).u32("the checksum")?, checksum(body));
    if found != sum {
        return Err(FileError::Checksum { found, expected: sum });
    }
    let scale = reader.f64("the scale")?;
    let sizes = (0..levels).map(|_| reader.u32("a level's size")).collect::<Result<Vec<_>, _>>()?;
    let found: u64 = sizes.iter().copied().map(u64::from).sum();
    if found != nodes as u64 {
        return Err(FileError::Count { what: "the sum of the levels", found, most: nodes as u64 });
    }
    let mut node = || Ok((read_ball(&mut reader)?, reader.f64("an error")?, reader.u32("a parent")?));
    let parts: Result<Vec<Vec<_>>, Malformed> =
        sizes.into_iter().map(|size| (0..size).map(|_| node()).collect()).collect();
    let tree = SphereTree::new(&parts?, scale)?;
    let inside = if version == SOLID_VERSION { Some(read_inside(&mut reader)?) } else { None };
    Ok(TreeFile { method, tree, inside })
}

fn checked(what: &'static str, least: u64, found: u64, most: usize) -> Result<usize, FileError> {
    let most = most as u64;
    if (least..=most).contains(&found) { Ok(found as usize) } else { Err(FileError::Count { what, found, most }) }
}

fn read_inside(reader: &mut Reader<'_>) -> Result<Interior, FileError> {
    let check = |ball: usize, field: &'static str, value: f64, is_positive: bool| {
        let expected = if is_positive { " above zero" } else { "" };
        let is_fine = value.is_finite() && (value > 0.0 || !is_positive);
        if is_fine { Ok(()) } else { Err(FileError::Inner { ball, field, value, expected }) }
    };
    let margin = reader.f64("the margin")?;
    check(0, "the margin", margin, true)?;
    let count = reader.u32("inner balls")? as usize;
    let mut inner = Vec::with_capacity(count);
    for index in 0..count {
        let ball = read_ball(reader)?;
        ball.center.to_array().into_iter().try_for_each(|value| check(index, "center", value, false))?;
        check(index, "radius", ball.radius, true)?;
        inner.push(ball);
    }
    Ok(Interior { inner, margin })
}

fn write_ball(writer: &mut Writer<'_>, ball: Ball) {
    ball.center.to_array().into_iter().chain([ball.radius]).for_each(|number| writer.f64(number));
}

fn read_ball(reader: &mut Reader<'_>) -> Result<Ball, Malformed> {
    let mut number = || reader.f64("a ball");
    Ok(Ball::new(DVec3::new(number()?, number()?, number()?), number()?))
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
