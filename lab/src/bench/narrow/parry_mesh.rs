//! parry3d's mesh against mesh, the rival of walks down sphere-trees in benches.

use parry3d::math::{Pose as ParryPose, Rotation, Vector};
use parry3d::query::{
    ClosestPoints, ContactManifold, ContactManifoldsWorkspace, DefaultQueryDispatcher, PersistentQueryDispatcher,
    QueryDispatcher,
};
use parry3d::shape::TriMesh;

use shapes::Pose;
use shapes::mesh::TriangleMesh;
use space::Vec3;

#[derive(Clone)]
pub struct ParryMesh(TriMesh);

/// What parry keeps between queries.
#[derive(Default)]
pub struct ParryContacts {
    manifolds: Vec<ContactManifold<(), ()>>,
    workspace: Option<ContactManifoldsWorkspace>,
}

impl ParryMesh {
    pub fn new(mesh: &TriangleMesh) -> Option<ParryMesh> {
        let vertices = mesh.vertices().iter().copied().map(to_parry).collect();
        TriMesh::new(vertices, mesh.triangles().to_vec()).ok().map(ParryMesh)
    }

    /// Whether the surfaces have a point in common.
    pub fn intersects(&self, at: &Pose, other: &ParryMesh, bt: &Pose) -> bool {
        let found = DefaultQueryDispatcher.intersection_test(&relative(at, bt), &self.0, &other.0);
        found.is_ok_and(|found| found.intersecting)
    }

    /// Whether the surfaces are at most `distance` apart.
    pub fn is_within(&self, at: &Pose, other: &ParryMesh, bt: &Pose, distance: f32) -> bool {
        let found = DefaultQueryDispatcher.closest_points(&relative(at, bt), &self.0, &other.0, distance);
        !matches!(found, Ok(ClosestPoints::Disjoint) | Err(_))
    }

    /// The number of contacts of all pairs of triangles that are at most `prediction` apart.
    pub fn contacts(
        &self,
        at: &Pose,
        other: &ParryMesh,
        bt: &Pose,
        prediction: f32,
        kept: &mut ParryContacts,
    ) -> usize {
        let ParryContacts { manifolds, workspace } = kept;
        let found = DefaultQueryDispatcher.contact_manifolds(
            &relative(at, bt),
            &self.0,
            &other.0,
            prediction,
            manifolds,
            workspace,
        );
        if found.is_err() { 0 } else { manifolds.iter().map(|manifold| manifold.points.len()).sum() }
    }
}

fn to_parry(vector: Vec3) -> Vector {
    Vector::new(vector.x, vector.y, vector.z)
}

/// The second pose in the coordinates of the first.
fn relative(at: &Pose, bt: &Pose) -> ParryPose {
    let pose =
        |pose: &Pose| ParryPose::from_parts(to_parry(pose.position), Rotation::from_array(pose.rotation.to_array()));
    pose(at).inv_mul(&pose(bt))
}
