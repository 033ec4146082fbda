//! parry3d's mesh against mesh, used as well as we know how: what walks down sphere-trees are measured against.

use parry3d::math::{Pose as ParryPose, Rotation};
use parry3d::query::{
    ClosestPoints, ContactManifold, ContactManifoldsWorkspace, DefaultQueryDispatcher, PersistentQueryDispatcher,
    QueryDispatcher,
};
use parry3d::shape::TriMesh;

use super::Pose;
use super::parry::{all_to_parry, to_parry};
use crate::mesh::TriangleMesh;

/// A triangle mesh of parry's.
#[derive(Clone)]
pub struct ParryMesh(TriMesh);

/// What parry keeps from question to question.
#[derive(Default)]
pub struct ParryContacts {
    manifolds: Vec<ContactManifold<(), ()>>,
    workspace: Option<ContactManifoldsWorkspace>,
}

impl ParryMesh {
    /// The mesh; `None` if parry refuses it.
    pub fn new(mesh: &TriangleMesh) -> Option<ParryMesh> {
        TriMesh::new(all_to_parry(mesh.vertices()), mesh.triangles().to_vec()).ok().map(ParryMesh)
    }

    /// Whether the surfaces have a point in common.
    pub fn intersects(&self, at: &Pose, other: &ParryMesh, bt: &Pose) -> bool {
        let found = DefaultQueryDispatcher.intersection_test(&relative(at, bt), &self.0, &other.0);
        found.is_ok_and(|found| found.intersecting)
    }

    /// Whether the surfaces are no farther apart than `distance`.
    pub fn is_within(&self, at: &Pose, other: &ParryMesh, bt: &Pose, distance: f32) -> bool {
        let found = DefaultQueryDispatcher.closest_points(&relative(at, bt), &self.0, &other.0, distance);
        !matches!(found, Ok(ClosestPoints::Disjoint) | Err(_))
    }

    /// How many contacts there are, of all pairs of triangles that are no farther apart than `prediction`.
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

/// The second pose, seen from the first.
fn relative(at: &Pose, bt: &Pose) -> ParryPose {
    let pose =
        |pose: &Pose| ParryPose::from_parts(to_parry(pose.position), Rotation::from_array(pose.rotation.to_array()));
    pose(at).inv_mul(&pose(bt))
}
