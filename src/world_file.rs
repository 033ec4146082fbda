//! Reads a world file and its meshes from the disk.

use std::fs;
use std::path::{Component, Path};

use shapes::mesh::{self, Format, MeshLimits, TriangleMesh};
use world::Spec;

use crate::failure::Failure;

/// Reads a world file, and its meshes from the same folder. Also returns the text.
pub fn load(file: &Path) -> Result<(Spec, String), Failure> {
    let name = file.display().to_string();
    let text = fs::read_to_string(file).map_err(|error| Failure::Input(format!("cannot read {name}: {error}")))?;
    let folder = file.parent().unwrap_or(Path::new("."));
    let spec = Spec::from_toml(&text, &name, &mut |mesh| load_mesh(folder, mesh));
    spec.map(|spec| (spec, text.clone())).map_err(|error| Failure::Input(error.to_string()))
}

fn load_mesh(folder: &Path, name: &str) -> Result<TriangleMesh, String> {
    let format = Format::of_name(name).ok_or("expected a file that ends in .obj, .gltf, .glb or .tri")?;
    let bytes = beside(folder, name)?;
    let mut buffers = |name: &str| beside(folder, name).ok();
    mesh::read_with(&bytes, format, &MeshLimits::default(), &mut buffers).map_err(|error| error.to_string())
}

/// Reads a file in the world file's folder or below it, and refuses all other paths.
fn beside(folder: &Path, name: &str) -> Result<Vec<u8>, String> {
    let path = Path::new(name);
    if !path.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err("expected a file beside the world file".to_owned());
    }
    fs::read(folder.join(path)).map_err(|error| error.to_string())
}
