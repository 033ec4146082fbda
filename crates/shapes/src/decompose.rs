//! A mesh as a few convex parts: what SWIFT++'s decomposer was for in paper 002. Hulls are solid, and quicker to ask about
//! than triangles; the price is that hollows are known only as finely as the parts follow them.

use super::parry;
use super::solid::Hull;
use crate::mesh::TriangleMesh;

/// How finely a mesh is taken apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decomposition {
    /// Cells along the longest side of the grid that the mesh is cut in: 8 to 128.
    pub resolution: u32,
    /// The most parts: 1 to 256.
    pub parts: u32,
    /// A part that is hollow by less than this, as a fraction of its volume, is not cut further: 0 to 1.
    pub concavity: f32,
}

impl Default for Decomposition {
    /// 64 cells, 32 parts, hollow by a hundredth.
    fn default() -> Decomposition {
        Decomposition { resolution: 64, parts: 32, concavity: 0.01 }
    }
}

/// Why a mesh could not be taken apart.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum DecompositionError {
    /// A setting outside its range.
    #[error("`{field}` is {value}, expected {expected}")]
    OutOfRange {
        /// Which setting.
        field: &'static str,
        /// What was given.
        value: f32,
        /// What it may be.
        expected: &'static str,
    },
    /// A mesh without volume, or one that the method cannot handle.
    #[error("the mesh of {triangles} triangles has no convex parts with a volume")]
    NoParts {
        /// How many triangles it has.
        triangles: usize,
    },
}

/// Convex parts that cover the mesh, by parry's VHACD. The same mesh gives the same parts.
pub fn decompose(mesh: &TriangleMesh, settings: &Decomposition) -> Result<Vec<Hull>, DecompositionError> {
    let Decomposition { resolution, parts, concavity } = *settings;
    let refuse = |field, value, expected| Err(DecompositionError::OutOfRange { field, value, expected });
    if !(8..=128).contains(&resolution) {
        return refuse("resolution", resolution as f32, "8 to 128");
    }
    if !(1..=256).contains(&parts) {
        return refuse("parts", parts as f32, "1 to 256");
    }
    if !(0.0..=1.0).contains(&concavity) {
        return refuse("concavity", concavity, "0 to 1");
    }
    let clouds = parry::decompose(mesh, settings).unwrap_or_default();
    let hulls: Vec<Hull> = clouds.iter().filter_map(|points| Hull::new(points).ok()).collect();
    if hulls.is_empty() {
        return Err(DecompositionError::NoParts { triangles: mesh.triangles().len() });
    }
    Ok(hulls)
}
