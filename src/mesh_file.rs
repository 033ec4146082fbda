//! Loads a mesh by name: from a file, or one of the shipped shapes.

use std::fs;
use std::path::Path;

use shapes::mesh::{Format, MeshLimits, TriangleMesh, catalog, read};

use crate::failure::Failure;

/// The mesh in a file; if there is no such file, the shape of that name.
pub fn load(name: &str) -> Result<TriangleMesh, Failure> {
    let path = Path::new(name);
    if !path.exists() {
        return catalog::shape(name).ok_or_else(|| {
            Failure::Input(format!(
                "{name}: there is no such file, and no shape of that name.\nShapes: {}",
                catalog::NAMES.join(", ")
            ))
        });
    }
    let format = Format::of_name(name)
        .ok_or_else(|| Failure::Input(format!("{name}: expected a file that ends in .obj, .gltf, .glb or .tri")))?;
    let size = fs::metadata(path).map_err(|error| Failure::Input(format!("{name}: {error}")))?.len();
    let most = MeshLimits::default().bytes as u64;
    if size > most {
        return Err(Failure::Input(format!("{name}: {size} bytes, expected at most {most}")));
    }
    let bytes = fs::read(path).map_err(|error| Failure::Input(format!("{name}: {error}")))?;
    read(&bytes, format).map_err(|error| Failure::Input(format!("{name}: {error}")))
}
