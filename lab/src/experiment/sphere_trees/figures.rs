//! How far balls stick out, and how much they fill, with ever more of them: one plot of each per mesh.

use super::{Row, SphereTrees};
use crate::report::axis::{Axis, Scale};
use crate::report::chart::{Chart, Curve};
use crate::report::page::Figure;
use crate::report::svg::Color;

/// Below this nothing is drawn: zero has no logarithm.
const LEAST: f64 = 1e-6;

/// The plots of all meshes.
pub fn all(report: &SphereTrees) -> Vec<Figure> {
    let mut meshes: Vec<&str> = report.rows.iter().map(|row| row.mesh.as_str()).collect();
    meshes.dedup();
    meshes.into_iter().flat_map(|mesh| [error(report, mesh), outside(report, mesh)]).collect()
}

fn error(report: &SphereTrees, mesh: &str) -> Figure {
    Figure {
        name: format!("error-{mesh}"),
        caption: "How far the worst ball of a level sticks out. Lower is closer; to the left is cheaper.".to_owned(),
        svg: chart(report, mesh, &format!("{mesh}: E over the number of balls"), "E", |row| row.e_max),
    }
}

fn outside(report: &SphereTrees, mesh: &str) -> Figure {
    Figure {
        name: format!("outside-{mesh}"),
        caption: "The volume outside that a level fills, as a share of the mesh's: how often a small thing nearby is \
                  taken for a touch."
            .to_owned(),
        svg: chart(report, mesh, &format!("{mesh}: OV over the number of balls"), "OV", |row| row.ov),
    }
}

fn chart(report: &SphereTrees, mesh: &str, title: &str, label: &str, value: fn(&Row) -> f64) -> String {
    let curve = |method: &str, color: &'static str| {
        let own = report.rows.iter().filter(|row| row.mesh == mesh && row.method == method);
        let mut points: Vec<(f64, f64)> = own.map(|row| (row.spheres as f64, value(row).max(LEAST))).collect();
        // A level with as many balls as the one above has nothing new.
        points.dedup_by_key(|point| point.0);
        Curve { name: method.to_owned(), color: Color(color), is_main: method == "best", points }
    };
    let curves = vec![
        curve("octree", "#CC79A7"),
        curve("octree-tight", "#009E73"),
        curve("combined", "#0072B2"),
        curve("best", "#D55E00"),
    ];
    Chart {
        title: title.to_owned(),
        x: Axis::new("balls", Scale::Logarithmic),
        y: Axis::new(label, Scale::Logarithmic),
        curves,
    }
    .to_svg()
}
