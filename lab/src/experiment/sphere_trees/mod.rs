//! How closely can spheres wrap a shape? Paper 003 compares the spherical octree with the Combined algorithm; here both
//! are built again, beside a tight octree and our own best, and every level is measured.

mod claims;
mod figures;

use serde::Serialize;
use shapes::mesh::TriangleMesh;
use shapes::sphere_tree::metrics::{LevelMetrics, measure};
use shapes::sphere_tree::{BuildError, MAX_DEPTH, Method, Object, SphereTree, build};

use super::Document;
use crate::report::page::{Block, Page, Section};
use crate::report::verdict::Verdict;
use crate::stopwatch::{Stopwatch, timed};
use kinesphere::table::Table;

/// What to run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Names and meshes.
    pub meshes: Vec<(String, TriangleMesh)>,
    /// At most so many balls on each level, from the first.
    pub spheres: Vec<usize>,
    /// How the meshes were named on the command line, to repeat the run.
    pub arguments: String,
}

/// Why nothing came out.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SphereTreesError {
    /// No meshes.
    #[error("no mesh was given")]
    NoMesh,
    /// Too few or too many levels.
    #[error("{found} levels, expected 1 to {MAX_DEPTH}")]
    Depth {
        /// How many were asked for.
        found: usize,
    },
    /// A tree could not be built.
    #[error("{mesh}, {method}: {error}")]
    Build {
        /// Around what.
        mesh: String,
        /// How.
        method: &'static str,
        /// Why not.
        error: BuildError,
    },
}

/// What came out.
#[derive(Clone, Debug, Serialize)]
pub struct SphereTrees {
    /// The command that repeats the run.
    pub command: String,
    /// How many levels there are below the root.
    pub depth: usize,
    /// At most so many balls on each level.
    pub spheres: Vec<usize>,
    /// One per mesh, method and level.
    pub rows: Vec<Row>,
    /// The paper's claims.
    pub verdicts: Vec<Verdict>,
}

/// A level of a tree. Lengths are shares of the radius of the smallest ball around the mesh.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Around what.
    pub mesh: String,
    /// How it was built.
    pub method: &'static str,
    /// The level; the root is level 0.
    pub level: usize,
    /// How many balls it has.
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

/// Builds and measures everything. `progress` is told how many trees are done, of how many.
pub fn run(
    settings: &Settings,
    stopwatch: &mut dyn Stopwatch,
    progress: &mut dyn FnMut(u32, u32),
) -> Result<SphereTrees, SphereTreesError> {
    if settings.meshes.is_empty() {
        return Err(SphereTreesError::NoMesh);
    }
    let depth = settings.spheres.len();
    if depth == 0 || depth > MAX_DEPTH {
        return Err(SphereTreesError::Depth { found: depth });
    }
    let total = (settings.meshes.len() * Method::ALL.len()) as u32;
    let mut rows = Vec::new();
    let mut comparisons = Vec::new();
    for (name, mesh) in &settings.meshes {
        let vertices = mesh.wide_vertices();
        let refused = |method: Method, error: BuildError| SphereTreesError::Build {
            mesh: name.clone(),
            method: method.name(),
            error,
        };
        let object = Object::new(&vertices, mesh.triangles()).map_err(|error| refused(Method::Octree, error.into()))?;
        let mut combined: Option<SphereTree> = None;
        for method in Method::ALL {
            let (built, elapsed) = timed(stopwatch, || build(&vertices, mesh.triangles(), method, &settings.spheres));
            let tree = built.map_err(|error| refused(method, error))?.tree;
            let levels = measure(&object, &tree);
            rows.extend(levels.iter().map(|level| row(name, method, level, elapsed.cpu_ms * 1e-3)));
            if method == Method::Combined {
                combined = Some(tree);
            }
            progress(rows.len() as u32 / (depth as u32 + 1), total);
        }
        if let Some(combined) = combined {
            comparisons.push(claims::compare(name, &object, &vertices, mesh.triangles(), &combined));
        }
    }
    let spheres: Vec<String> = settings.spheres.iter().map(usize::to_string).collect();
    let command =
        format!("cargo run --release -p lab -- sphere-trees{} --spheres {}", settings.arguments, spheres.join(","));
    let verdicts = claims::judge(&comparisons, &rows);
    Ok(SphereTrees { command, depth, spheres: settings.spheres.clone(), rows, verdicts })
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

impl SphereTrees {
    /// Whether every level covers all of the surface.
    pub fn holds(&self) -> bool {
        self.rows.iter().all(|row| row.miss_percent == 0.0 && row.gap == 0.0)
    }

    /// Everything worth keeping.
    pub fn documents(&self) -> Vec<Document> {
        let page = Page {
            title: "How closely can spheres wrap a shape?".to_owned(),
            lead: "Sphere-trees by four methods. E is how far the worst ball of a level sticks out, as a share of the radius \
                   of the smallest ball around the mesh; OV is the volume outside that the level fills, as a share of the \
                   mesh's."
                .to_owned(),
            sections: vec![
                Section { heading: "Verdicts".to_owned(), blocks: vec![Block::Verdicts(self.verdicts.clone())] },
                Section { heading: "More balls".to_owned(), blocks: vec![Block::Figures(figures::all(self))] },
                Section { heading: "All levels".to_owned(), blocks: vec![Block::Table(table(&self.rows))] },
            ],
            command: self.command.clone(),
        };
        Document::all("sphere-trees", &page, &self.rows, self, figures::all(self))
    }

    /// The report for a terminal.
    pub fn to_text(&self) -> String {
        format!("{}\n{}\n", table(&self.rows), Verdict::list(&self.verdicts))
    }
}

fn table(rows: &[Row]) -> Table {
    let headings = ["mesh", "method", "level", "spheres", "E max", "E avg", "miss %", "gap", "OV", "build CPU s"];
    let mut table = Table::new(headings);
    for row in rows {
        table.row([
            row.mesh.clone(),
            row.method.to_owned(),
            row.level.to_string(),
            row.spheres.to_string(),
            format!("{:.4}", row.e_max),
            format!("{:.4}", row.e_avg),
            format!("{:.2}", row.miss_percent),
            format!("{:.4}", row.gap),
            format!("{:.3}", row.ov),
            format!("{:.2}", row.build_cpu_s),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stopwatch::SteadyStopwatch;
    use shapes::mesh::catalog::shape;

    #[test]
    fn a_box_is_wrapped_by_every_method_on_every_level() {
        let meshes = vec![("box".to_owned(), shape("box").unwrap())];
        let settings = Settings { meshes, spheres: vec![8, 64], arguments: " --mesh box".to_owned() };
        let report = run(&settings, &mut SteadyStopwatch::new(5), &mut |_, _| {}).unwrap();
        assert_eq!(report.rows.len(), 4 * 3);
        assert!(report.holds());
        assert!(report.rows.iter().all(|row| row.build_cpu_s == 0.005));
        let row =
            |method: &str, level| report.rows.iter().find(|row| row.method == method && row.level == level).unwrap();
        // Known in closed form: the octree's cubes.
        assert!((row("octree", 1).e_max - 0.2113).abs() < 1e-3 && row("octree", 1).spheres == 8);
        assert!((row("octree", 2).e_max - 0.1057).abs() < 1e-3 && row("octree", 2).spheres == 56);
        assert!(report.to_text().contains("octree-tight"));
        assert_eq!(report.documents().len(), 3 + 2);
    }

    #[test]
    fn nothing_to_do_is_refused() {
        let none = Settings { meshes: vec![], spheres: vec![8], arguments: String::new() };
        assert_eq!(run(&none, &mut SteadyStopwatch::new(1), &mut |_, _| {}).unwrap_err(), SphereTreesError::NoMesh);
        let flat = Settings { meshes: vec![("box".to_owned(), shape("box").unwrap())], spheres: vec![], ..none };
        let refused = run(&flat, &mut SteadyStopwatch::new(1), &mut |_, _| {}).unwrap_err();
        assert_eq!(refused.to_string(), "0 levels, expected 1 to 8");
    }
}
