//! The convex parts of a mesh cover its surface, up to the voxel size, leave its hollows open, and are deterministic.

use std::sync::Arc;

use kinesphere_shapes::mesh::{TriangleMesh, generated};
use kinesphere_shapes::{Decomposition, Pose, Shape, decompose, exact};
use space::Vec3;

fn parts(mesh: &TriangleMesh, settings: &Decomposition) -> Vec<Shape> {
    decompose(mesh, settings).unwrap().into_iter().map(|hull| Shape::Hull(Arc::new(hull))).collect()
}

fn from_parts(parts: &[Shape], point: Vec3) -> f32 {
    let probe = Shape::sphere(Shape::SMALLEST).unwrap();
    let distance = |part| exact::distance(part, &Pose::IDENTITY, &probe, &Pose::at(point));
    parts.iter().map(distance).fold(f32::INFINITY, f32::min)
}

#[test]
fn parts_cover_the_surface_and_leave_hollows() {
    let settings = Decomposition { resolution: 32, ..Decomposition::default() };
    for (mesh, size, hollow) in [
        (generated::cuboid(Vec3::new(1.0, 0.5, 0.7)).unwrap(), 2.0, None),
        (generated::torus(1.0, 0.3, 24, 12).unwrap(), 2.6, Some(Vec3::ZERO)),
        (generated::cup(0.6, 1.0, 0.08, 24).unwrap(), 1.2, Some(Vec3::Y * 0.7)),
    ] {
        let parts = parts(&mesh, &settings);
        assert!(parts.len() <= 32);
        for triangle in 0..mesh.triangles().len() {
            let [a, b, c] = mesh.corners(triangle).unwrap();
            for point in [a, b, c, (a + b) / 2.0, (a + b + c) / 3.0] {
                let off = from_parts(&parts, point);
                assert!(off < size / 32.0, "{point} is {off} from all {} parts", parts.len());
            }
        }
        if let Some(middle) = hollow {
            let open = from_parts(&parts, middle);
            assert!(open > 0.1, "{middle} is in a hollow, and only {open} from {} parts", parts.len());
        }
    }
}

#[test]
fn the_same_mesh_gives_the_same_parts() {
    let mesh = generated::torus(1.0, 0.3, 16, 8).unwrap();
    let settings = Decomposition { resolution: 24, parts: 12, ..Decomposition::default() };
    let corners = || -> Vec<Vec<Vec3>> {
        decompose(&mesh, &settings).unwrap().iter().map(|hull| hull.vertices().to_vec()).collect()
    };
    assert_eq!(corners(), corners());
}

#[test]
fn what_has_no_parts_is_refused() {
    let flat = TriangleMesh::new(vec![Vec3::ZERO, Vec3::X, Vec3::Y], vec![[0, 1, 2]]).unwrap();
    let point = TriangleMesh::new(vec![Vec3::ONE], vec![[0, 0, 0]]).unwrap();
    let settings = Decomposition::default();
    assert_eq!(
        decompose(&point, &settings).unwrap_err().to_string(),
        "the mesh of 1 triangles has no convex parts with a volume"
    );
    let _ = decompose(&flat, &settings);
    let wrong = Decomposition { concavity: f32::NAN, ..settings };
    assert_eq!(decompose(&flat, &wrong).unwrap_err().to_string(), "`concavity` is NaN, expected 0 to 1");
}
