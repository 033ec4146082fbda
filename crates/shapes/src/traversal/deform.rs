//! A mesh that deforms, and a sphere-tree that is refitted to it instead of rebuilt.

use std::sync::Arc;

use space::{DVec3, Vec3};

use super::surface::{WrapError, nodes_of};
use crate::ball_tree::{BallNode, BallTree};
use crate::mesh::{TriangleMesh, corners_of};
use crate::sphere_tree::{Built, Method, ObjectError, Regions, SphereTree, build, default_caps, refit};

/// A mesh at rest with a certified tree. Every form is fitted to the mesh at rest, not to the form before, so errors do
/// not add up.
#[derive(Clone, Debug)]
pub struct Deformable {
    mesh: TriangleMesh,
    rest: Vec<[DVec3; 3]>,
    tree: SphereTree,
    regions: Regions,
    balls: BallTree,
}

/// A deformed mesh with its refitted balls.
#[derive(Clone, Debug)]
pub struct Form {
    nodes: Vec<BallNode>,
    pub balls: Arc<BallTree>,
}

impl Deformable {
    /// Builds a tree of `depth` levels around the mesh at rest.
    pub fn new(mesh: TriangleMesh, method: Method, depth: usize) -> Result<Deformable, WrapError> {
        let vertices = mesh.wide_vertices();
        let Built { tree, regions } = build(&vertices, mesh.triangles(), method, &default_caps(depth))?;
        let balls = BallTree::new(&nodes_of(&tree))?;
        let rest = corners(&mesh, |vertex| vertex)?;
        Ok(Deformable { mesh, rest, tree, regions, balls })
    }

    pub fn mesh(&self) -> &TriangleMesh {
        &self.mesh
    }

    /// The form in which each vertex is moved by `place`: the balls of every level cover the moved surface.
    pub fn form(&self, place: impl Fn(DVec3) -> DVec3) -> Result<Form, WrapError> {
        let after = corners(&self.mesh, place)?;
        let fitted =
            refit(&self.tree, &self.regions, &self.rest, &after).map_err(crate::sphere_tree::BuildError::from)?;
        let nodes = nodes_of(&fitted);
        let balls = Arc::new(self.balls.refitted(&nodes)?);
        Ok(Form { nodes, balls })
    }

    /// Balls that contain the surface while each vertex moves straight from one form to the other.
    pub fn between(&self, from: &Form, to: &Form) -> Result<BallTree, WrapError> {
        let around = |(one, other): (&BallNode, &BallNode)| {
            // A ball is convex: if it contains both ends of a path, it contains the path.
            let center = (one.center + other.center) * 0.5;
            let radius = one.center.distance(other.center) * 0.5 * (1.0 + 1e-12) + one.radius.max(other.radius);
            BallNode { center, radius, error: one.error.max(other.error) + radius, parent: one.parent }
        };
        Ok(self.balls.refitted(&from.nodes.iter().zip(&to.nodes).map(around).collect::<Vec<_>>())?)
    }
}

impl Form {
    /// The most by which any point gets closer to the other form's balls than to this form's.
    pub fn farthest_change(&self, other: &Form) -> f64 {
        let change = |(one, other): (&BallNode, &BallNode)| {
            one.center.distance(other.center) + (one.radius - other.radius).abs()
        };
        self.nodes.iter().zip(&other.nodes).map(change).fold(0.0, f64::max)
    }
}

fn corners(mesh: &TriangleMesh, place: impl Fn(DVec3) -> DVec3) -> Result<Vec<[DVec3; 3]>, ObjectError> {
    // Vertices are rounded to `f32`, so that the tree covers what a viewer draws.
    let rounded = |vertex: &Vec3| place(vertex.as_dvec3()).as_vec3().as_dvec3();
    let placed: Vec<DVec3> = mesh.vertices().iter().map(rounded).collect();
    if let Some(vertex) = placed.iter().position(|place| !place.is_finite()) {
        return Err(ObjectError::NotFinite { vertex });
    }
    Ok(corners_of(&placed, mesh.triangles()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::catalog::shape;

    #[test]
    fn every_form_and_the_way_between_two_is_covered() {
        let mesh = shape("flag").unwrap();
        let flag = Deformable::new(mesh.clone(), Method::OctreeTight, 2).unwrap();
        let wave = |time: f64| move |at: DVec3| at + DVec3::Z * (0.3 * at.x * libm::sin(5.0 * at.x - time));
        let mut before = flag.form(wave(0.0)).unwrap();
        for step in 1..40 {
            let after = flag.form(wave(f64::from(step) * 0.2)).unwrap();
            let between = flag.between(&before, &after).unwrap();
            for vertex in mesh.vertices() {
                let places = [f64::from(step - 1), f64::from(step)].map(|step| wave(step * 0.2)(vertex.as_dvec3()));
                for share in [0.0, 0.3, 0.5, 1.0] {
                    let place = places[0].lerp(places[1], share);
                    for level in 0..=2 {
                        let is_in = |tree: &BallTree, place: DVec3| {
                            tree.ends(level).into_iter().any(|node| {
                                let ball = tree.ball(node);
                                ball.center.as_dvec3().distance(place) <= f64::from(ball.radius) + 1e-6
                            })
                        };
                        assert!(is_in(&between, place), "step {step}, level {level}");
                        assert!(is_in(&after.balls, places[1]), "step {step}, level {level}");
                    }
                }
            }
            assert!(before.farthest_change(&after) < 0.3);
            before = after;
        }
        assert!(flag.form(|_| DVec3::splat(f64::NAN)).is_err());
        assert!(flag.form(|at| at * 1e30).is_err());
    }
}
