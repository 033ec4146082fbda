//! A mesh as a few convex parts, as SWIFT++'s decomposer makes them (paper 002). Hulls are solid and faster than
//! triangles, but follow hollows only as finely as the parts do.

use super::parry;
use super::solid::Hull;
use crate::mesh::TriangleMesh;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decomposition {
    /// Cells along the longest side of the voxel grid: 8 to 128.
    pub resolution: u32,
    /// The most parts: 1 to 256.
    pub parts: u32,
    /// A part whose concavity is below this share of its volume is not split further: 0 to 1.
    pub concavity: f32,
}

impl Default for Decomposition {
    /// 64 cells, 32 parts, concavity of 0.01.
    fn default() -> Decomposition {
        Decomposition { resolution: 64, parts: 32, concavity: 0.01 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum DecompositionError {
    #[error("`{field}` is {value}, expected {expected}")]
    OutOfRange { field: &'static str, value: f32, expected: &'static str },
    /// A mesh without volume, or one on which VHACD fails.
    #[error("the mesh of {triangles} triangles has no convex parts with a volume")]
    NoParts { triangles: usize },
}

/// Convex parts that cover the mesh, by parry's VHACD. Deterministic.
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
