//! Meshes for the page: triangles of shapes beyond boxes, balls and capsules, and how they deform. `/models` answers
//! with them once per page; poses and clocks follow over the link.

use axum::body::Bytes;
use serde::Serialize;
use shapes::Shape;
use world::spec::{Deformation, ObjectKind, Route, Spec};

/// A mesh with more vertices is left out, and so is one that would exceed the total: the page draws a ball instead.
const VERTICES_MAX: usize = 20_000;
const VERTICES_OF_ALL_MAX: usize = 200_000;

#[derive(Debug, Default, Serialize)]
struct Models {
    /// Ticks per second: the unit of clocks.
    tick_rate: u32,
    meshes: Vec<Mesh>,
    objects: Vec<Look>,
}

/// Triangles, at rest.
#[derive(Debug, PartialEq, Serialize)]
struct Mesh {
    /// Three coordinates each, in metres.
    vertices: Vec<f32>,
    /// Three vertices each.
    triangles: Vec<u32>,
}

/// The mesh of one object.
#[derive(Debug, Serialize)]
struct Look {
    object: u64,
    /// Its index in `meshes`.
    mesh: usize,
    deformation: Option<Told>,
}

/// How a mesh deforms.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Told {
    Wave { along: [f32; 3], push: [f32; 3], length: f32, period_s: f32 },
    Breathe { share: f32, period_s: f32 },
}

/// The answer, made once.
pub fn told(spec: Option<&Spec>) -> Bytes {
    let models = spec.map_or_else(Models::default, models);
    Bytes::from(serde_json::to_vec(&models).expect("numbers and names are JSON"))
}

fn models(spec: &Spec) -> Models {
    let mut models = Models { tick_rate: spec.tick_rate, ..Models::default() };
    let mut room = VERTICES_OF_ALL_MAX;
    for (object, about) in (1..).zip(&spec.objects) {
        let Some(mesh) = mesh(&about.shape) else { continue };
        let known = models.meshes.iter().position(|known| *known == mesh);
        let vertices = mesh.vertices.len() / 3;
        if known.is_none() && (vertices > VERTICES_MAX || vertices > room) {
            continue;
        }
        let mesh = known.unwrap_or_else(|| {
            room -= vertices;
            models.meshes.push(mesh);
            models.meshes.len() - 1
        });
        let deformation = match &about.kind {
            ObjectKind::Moving(Route::Deform(deformation)) => Some(Told::from(deformation)),
            _ => None,
        };
        models.objects.push(Look { object, mesh, deformation });
    }
    models
}

fn mesh(shape: &Shape) -> Option<Mesh> {
    let (vertices, triangles) = match shape {
        Shape::Sphere { .. } | Shape::Box { .. } | Shape::Capsule { .. } => return None,
        Shape::Hull(hull) => (hull.vertices(), hull.triangles()),
        Shape::Mesh(mesh) => (mesh.triangles().vertices(), mesh.triangles().triangles()),
        Shape::Balls(balls) => (balls.mesh()?.vertices(), balls.mesh()?.triangles()),
    };
    Some(Mesh {
        vertices: vertices.iter().flat_map(|vertex| vertex.to_array()).collect(),
        triangles: triangles.as_flattened().to_vec(),
    })
}

impl From<&Deformation> for Told {
    fn from(deformation: &Deformation) -> Told {
        match *deformation {
            Deformation::Wave { along, push, length, period_s } => {
                Told::Wave { along: along.to_array(), push: push.to_array(), length, period_s }
            }
            Deformation::Breathe { share, period_s } => Told::Breathe { share, period_s },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_is_told_with_its_wave_and_a_rabbit_once() {
        let text = include_str!("../worlds/windy.toml");
        let spec = Spec::from_toml(text, "windy.toml", &mut |name| Err(format!("no file {name}"))).unwrap();
        let told: serde_json::Value = serde_json::from_slice(&told(Some(&spec))).unwrap();
        let of = |name: &str| {
            let number = 1 + spec.objects.iter().position(|object| object.name == name).unwrap();
            told["objects"].as_array().unwrap().iter().find(|look| look["object"] == number)
        };
        let flag = of("flag").unwrap();
        assert_eq!((&flag["deformation"]["kind"], &flag["deformation"]["length"]), (&"wave".into(), &1.3.into()));
        assert_eq!(of("blob").unwrap()["deformation"]["kind"], "breathe");
        assert_eq!(of("rabbit").unwrap()["mesh"], of("statue").unwrap()["mesh"], "one mesh for both");
        assert!(of("statue").unwrap()["deformation"].is_null() && of("rock").is_some());
        assert!(of("pole").is_none() && of("balloon").is_none(), "what is round needs no triangles");
        for mesh in told["meshes"].as_array().unwrap() {
            let vertices = mesh["vertices"].as_array().unwrap().len() / 3;
            let corners = mesh["triangles"].as_array().unwrap();
            assert!(
                corners.len().is_multiple_of(3)
                    && corners.iter().all(|corner| (corner.as_u64().unwrap() as usize) < vertices)
            );
        }
    }
}
