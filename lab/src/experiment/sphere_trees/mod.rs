//! How closely can spheres wrap a shape? Paper 003 compares the spherical octree with the Combined algorithm; here both
//! are built again, beside a tight octree and our own best, and every level is measured.

mod claims;

use std::path::Path;

use clap::Args;
use kinesphere::failure::Failure;
use kinesphere::levels::Levels;
use kinesphere::mesh_file::load;
use serde::Serialize;
use shapes::mesh::catalog;
use shapes::sphere_tree::metrics::{LevelMetrics, measure};
use shapes::sphere_tree::{Method, Object, build};

use crate::report::axis::PlotAxis;
use crate::report::chart::{Chart, Look, look, series_by};
use crate::report::claim::ClaimResult;
use crate::report::csv::to_table;
use crate::report::page::{Figure, Page, PageBlock, section};
use crate::stopwatch::{Stopwatch, timed};
use crate::study::{Progress, Report, Results, Study, refused};
use claims::Comparison;

const METHODS: [Look; 4] = [
    look("octree", "octree", "#CC79A7"),
    look("octree-tight", "octree-tight", "#009E73"),
    look("combined", "combined", "#0072B2"),
    look("best", "best", "#D55E00"),
];

/// Paper 003, section 4: how closely can spheres wrap a shape?
///
/// Builds sphere-trees by every method and measures every level. Fails if a level misses a part of the surface.
#[derive(Args, Clone, Debug, Serialize)]
pub struct Settings {
    /// Meshes: files (.obj, .gltf, .glb, .tri), or shapes by name [default: all shapes that are shipped]
    #[arg(long, num_args = 1.., value_name = "FILE")]
    pub mesh: Vec<String>,
    #[command(flatten)]
    #[serde(flatten)]
    pub levels: Levels,
}

/// What the claims need beside the rows.
#[derive(Clone, Debug, Serialize)]
pub struct TreeFacts {
    #[serde(skip)]
    comparisons: Vec<Comparison>,
}

/// A level of a tree. Lengths are shares of the radius of the smallest ball around the mesh.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    pub mesh: String,
    pub method: &'static str,
    /// The root is level 0.
    pub level: usize,
    /// Balls of the level.
    pub spheres: usize,
    /// The farthest that a ball sticks out.
    pub e_max: f64,
    /// How far they stick out on average.
    pub e_avg: f64,
    /// The share of the surface in no ball, in percent.
    pub miss_percent: f64,
    /// The largest distance from the surface to the balls.
    pub gap: f64,
    /// The volume outside that the balls fill, as a share of the object's.
    pub ov: f64,
    /// Processor time to build the whole tree, in seconds.
    pub build_cpu_s: f64,
}

impl Study for Settings {
    const NAME: &'static str = "sphere-trees";
    const EXAMPLE: &'static str = "--mesh rabbit --depth 2 --json";
    const UNIT: &'static str = "trees";
    const HAS_PAGE: bool = true;
    type Row = Row;
    type Facts = TreeFacts;

    fn run(&self, stopwatch: &mut dyn Stopwatch, progress: Progress<'_>) -> Result<Results<Settings>, Failure> {
        let caps = self.levels.caps()?;
        let all = || catalog::NAMES.map(str::to_owned).to_vec();
        let meshes = if self.mesh.is_empty() { all() } else { self.mesh.clone() };
        let total = (meshes.len() * Method::ALL.len()) as u32;
        let (mut rows, mut comparisons, mut done) = (Vec::new(), Vec::new(), 0);
        for name in meshes {
            let mesh = load(&name)?;
            // A file is known by its name without folder and ending.
            let name = Path::new(&name).file_stem().map_or(name.clone(), |stem| stem.to_string_lossy().into_owned());
            let vertices = mesh.wide_vertices();
            let object =
                Object::new(&vertices, mesh.triangles()).map_err(|error| refused(format!("{name}: {error}")))?;
            for method in Method::ALL {
                let (built, elapsed) = timed(stopwatch, || build(&vertices, mesh.triangles(), method, &caps));
                let built = built.map_err(|error| refused(format!("{name}, {}: {error}", method.name())))?;
                let levels = measure(&object, &built.tree);
                rows.extend(levels.iter().map(|level| row(&name, method, level, elapsed.cpu_ms * 1e-3)));
                if method == Method::Combined {
                    comparisons.push(claims::compare(&name, &object, &vertices, mesh.triangles(), &built.tree));
                }
                done += 1;
                progress(done, total);
            }
        }
        Ok((rows, TreeFacts { comparisons }))
    }

    fn claims(report: &Report<Settings>) -> Vec<ClaimResult> {
        claims::all(&report.facts.comparisons, &report.rows)
    }

    fn page(report: &Report<Settings>) -> Page {
        let lead = "Sphere-trees by four methods. E is how far the worst ball of a level sticks out, as a share of the \
                    radius of the smallest ball around the mesh; OV is the volume outside that the level fills, as a \
                    share of the mesh's.";
        let sections = vec![
            section("Claims", [PageBlock::Verdicts(report.claims.clone())]),
            section("More balls", [PageBlock::Figures(figures(&report.rows))]),
            section("All levels", [PageBlock::Table(to_table(&report.rows))]),
        ];
        Page::new("How closely can spheres wrap a shape?", lead, sections)
    }

    fn failures(report: &Report<Settings>) -> Vec<String> {
        let missed = report.rows.iter().find(|row| row.miss_percent > 0.0 || row.gap > 0.0);
        let sentence = |row: &Row| {
            let Row { mesh, method, level, miss_percent, .. } = row;
            format!("{mesh}, {method}: level {level} misses {miss_percent} % of the surface.")
        };
        missed.map(sentence).into_iter().collect()
    }
}

fn row(mesh: &str, method: Method, level: &LevelMetrics, build_cpu_s: f64) -> Row {
    Row {
        mesh: mesh.to_owned(),
        method: method.name(),
        level: level.level,
        spheres: level.spheres,
        e_max: level.e_max,
        e_avg: level.e_avg,
        miss_percent: level.miss_percent,
        gap: level.gap,
        ov: level.ov,
        build_cpu_s,
    }
}

/// How far balls stick out, and how much they fill, with ever more of them: one plot of each per mesh.
fn figures(rows: &[Row]) -> Vec<Figure> {
    let error = "How far the worst ball of a level sticks out. Lower is closer; to the left is cheaper.";
    let outside = "The volume outside that a level fills, as a share of the mesh's: how often a small thing nearby is \
                   taken for a touch.";
    let of = |own: &[Row]| {
        let mesh = &own[0].mesh;
        [
            Figure::new(format!("error-{mesh}"), error, chart(own, "E", |row| row.e_max)),
            Figure::new(format!("outside-{mesh}"), outside, chart(own, "OV", |row| row.ov)),
        ]
    };
    rows.chunk_by(|one, next| one.mesh == next.mesh).flat_map(of).collect()
}

fn chart(rows: &[Row], label: &str, value: fn(&Row) -> f64) -> String {
    /// Below this nothing is drawn: zero has no logarithm.
    const LEAST: f64 = 1e-6;
    let mut series =
        series_by(&METHODS, rows.iter(), |row| row.method, |row| (row.spheres as f64, value(row).max(LEAST)));
    // A level with as many balls as the one above adds nothing.
    series.iter_mut().for_each(|series| series.points.dedup_by_key(|point| point.0));
    let title = format!("{}: {label} over the number of balls", rows[0].mesh);
    Chart { title, x: PlotAxis::logarithmic("balls"), y: PlotAxis::logarithmic(label), series }.to_svg()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::tried;

    #[test]
    fn a_box_is_wrapped_by_every_method_on_every_level() {
        let report = tried::<Settings>("--mesh box --spheres 8,64", 5);
        assert_eq!(report.rows.len(), 4 * 3);
        assert!(Settings::failures(&report).is_empty());
        assert!(report.rows.iter().all(|row| row.build_cpu_s == 0.005));
        let row =
            |method: &str, level| report.rows.iter().find(|row| row.method == method && row.level == level).unwrap();
        // Known in closed form: the octree's cubes.
        assert!((row("octree", 1).e_max - 0.2113).abs() < 1e-3 && row("octree", 1).spheres == 8);
        assert!((row("octree", 2).e_max - 0.1057).abs() < 1e-3 && row("octree", 2).spheres == 56);
        assert!(report.to_text().contains("octree-tight"));
        assert_eq!(report.documents().len(), 3 + 2);
    }
}
