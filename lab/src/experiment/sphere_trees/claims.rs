//! What paper 003 says of sphere-trees, and whether it holds.

use shapes::sphere_tree::metrics::farthest_out;
use shapes::sphere_tree::{Method, Object, SphereTree, build, default_caps};
use space::DVec3;

use super::Row;
use crate::report::claim::{ClaimResult, judged};

/// Errors of a Combined tree and of an octree, around the same mesh.
#[derive(Clone, Debug)]
pub struct Comparison {
    mesh: String,
    /// Combined's level, its error, the octree's level, its error.
    cases: Vec<(usize, f64, usize, f64)>,
}

/// Combined with two and three levels against an octree with four and five, as far as the tree is deep.
pub fn compare(
    mesh: &str,
    object: &Object,
    vertices: &[DVec3],
    triangles: &[[u32; 3]],
    combined: &SphereTree,
) -> Comparison {
    let mut cases = Vec::new();
    if let Ok(octree) = build(vertices, triangles, Method::Octree, &default_caps(5)) {
        for (level, against) in [(2, 4), (3, 5)] {
            if level <= combined.depth() {
                let ours = farthest_out(object, combined, level);
                cases.push((level, ours, against, farthest_out(object, &octree.tree, against)));
            }
        }
    }
    Comparison { mesh: mesh.to_owned(), cases }
}

pub fn all(comparisons: &[Comparison], rows: &[Row]) -> Vec<ClaimResult> {
    let cases = || comparisons.iter().flat_map(|mesh| mesh.cases.iter().map(move |case| (mesh, case)));
    let evidence: Vec<String> = cases()
        .map(|(mesh, (level, ours, against, octree))| {
            format!("{}: Combined level {level} {ours:.3}, octree level {against} {octree:.3}", mesh.mesh)
        })
        .collect();
    let find = |row: &Row| {
        rows.iter().find(|other| other.mesh == row.mesh && other.level == row.level && other.method == "octree")
    };
    let pairs = || {
        rows.iter().filter(|row| row.method == "combined" && row.level > 0).filter_map(|row| Some((row, find(row)?)))
    };
    let better = pairs().filter(|(combined, octree)| combined.e_max < octree.e_max).count();
    vec![
        judged(
            "Combined with 2 and 3 levels is more accurate than a spherical octree with 4 and 5.",
            "paper 003, sections 4.2 and 6",
            cases().map(|(_, (_, ours, _, octree))| ours < octree),
            evidence.join("; "),
        ),
        judged(
            "Combined builds tighter trees than the spherical octree.",
            "paper 003, section 8",
            pairs().map(|(combined, octree)| combined.e_max < octree.e_max),
            format!("level against level, the worst ball sticks out less in {better} of {} cases", pairs().count()),
        ),
    ]
}
