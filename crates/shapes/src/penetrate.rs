//! The shortest way out of an overlap, for cores with few faces and edges.
//!
//! It ends on the surface of the Minkowski difference of the two cores. Each face of that surface comes from a face of
//! one core or from an edge of each, so the shortest way is along one of their normals.

use space::DVec3;

use super::convex::{Convex, apart_along};

/// The translation of `b` that separates it from `a`. Depth zero when they only touch.
pub(crate) fn least_way_out(a: &Convex<'_>, b: &Convex<'_>) -> (f64, DVec3) {
    let (edges_a, faces_a) = directions(a);
    let (edges_b, faces_b) = directions(b);
    let mut best: Option<(f64, DVec3)> = None;
    let mut consider = |normal: DVec3| {
        for normal in [normal, -normal] {
            let depth = -apart_along(a, b, normal);
            if best.is_none_or(|(least, _)| depth < least) {
                best = Some((depth, normal));
            }
        }
    };
    faces_a.iter().chain(&faces_b).for_each(|&normal| consider(normal));
    for edge_a in &edges_a {
        for edge_b in &edges_b {
            // Parallel edges make no face.
            if let Some(normal) = edge_a.cross(*edge_b).try_normalize()
                && edge_a.cross(*edge_b).length_squared() > 1e-20
            {
                consider(normal);
            }
        }
    }
    // Points and parallel segments have no faces: any perpendicular direction leads out.
    let (depth, normal) = best.unwrap_or_else(|| {
        let edge = edges_a.first().or(edges_b.first()).copied();
        let normal = edge.map_or(DVec3::Y, |edge| edge.any_orthonormal_vector());
        (-apart_along(a, b, normal), normal)
    });
    (depth.max(0.0), normal)
}

/// Unit vectors along the edges, and the normals of the faces, up to their sign.
fn directions(convex: &Convex<'_>) -> (Vec<DVec3>, Vec<DVec3>) {
    match convex {
        Convex::Bar([p, q]) => ((*q - *p).try_normalize().into_iter().collect(), Vec::new()),
        Convex::Box(block) => (block.axes.to_vec(), block.axes.to_vec()),
        Convex::Triangle([a, b, c]) => (
            [*b - *a, *c - *b, *a - *c].iter().filter_map(|edge| edge.try_normalize()).collect(),
            (*b - *a).cross(*c - *a).try_normalize().into_iter().collect(),
        ),
        // Hulls use EPA.
        Convex::Hull(_) => (Vec::new(), Vec::new()),
    }
}
