//! `kinesphere tree`: sphere-trees as files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use kinesphere::picture::to_png;
use kinesphere::table::Table;
use serde::Serialize;
use shapes::mesh::corners_of;
use shapes::sphere_tree::file::{Interior, TreeFile, from_bytes, to_bytes};
use shapes::sphere_tree::{
    Ball, MAX_MARGIN, MIN_MARGIN, Method, Object, Solid, SolidError, SphereTree, build, certify, certify_solid,
    cover_solid, error_of,
};

use super::Failure;
use kinesphere::levels::Levels;
use kinesphere::mesh_file::load;
use kinesphere::output::{print, print_json};

/// Pixels along a side of a picture.
const SIDE: usize = 640;
/// The largest file that is read as a tree.
const MAX_BYTES: u64 = 1 << 28;
/// An error in a file may be too small by this share of the scale, for rounding.
const TOLERANCE: f64 = 1e-6;

#[derive(Subcommand)]
pub enum TreeCommand {
    /// Build a tree around a mesh, with a certificate, and write it to a file.
    #[command(after_help = "Example: kinesphere tree build rabbit --method best --depth 3 -o rabbit.tree")]
    Build(Build),
    /// Print how closely a tree wraps its mesh, and draw every level.
    #[command(after_help = "Example: kinesphere tree show rabbit.tree --out pictures")]
    Show(Show),
    /// Prove that a tree covers a mesh, its inside if stated, and that no ball sticks out farther than stated.
    #[command(after_help = "Example: kinesphere tree check rabbit.tree rabbit")]
    Check(Check),
}

#[derive(Args)]
pub struct Build {
    /// A file (.obj, .gltf, .glb, .tri), or the name of a shape
    mesh: String,
    /// octree, octree-tight, combined or best
    #[arg(long, default_value = "best", value_name = "NAME")]
    method: String,
    #[command(flatten)]
    levels: Levels,
    /// Cover the inside too: enlarge balls by MARGIN, a share of the radius of the ball around the mesh, and add others
    #[arg(long, value_name = "MARGIN", num_args = 0..=1, require_equals = true, default_missing_value = "0.01")]
    solid: Option<f64>,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

#[derive(Args)]
pub struct Show {
    /// The tree
    file: PathBuf,
    /// The folder for pictures, one PNG per level [default: that of the tree]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON document instead of a table
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub struct Check {
    /// The tree
    file: PathBuf,
    /// The mesh that it should cover
    mesh: String,
}

#[derive(Serialize)]
struct Shown {
    method: &'static str,
    depth: usize,
    scale: f64,
    /// The number of inner balls, and the margin, if the tree covers a solid.
    inner: Option<usize>,
    margin: Option<f64>,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    level: usize,
    spheres: usize,
    e_max: f64,
    e_avg: f64,
    radius_min: f64,
    radius_max: f64,
    children_max: u32,
    picture: String,
}

pub fn run(command: TreeCommand) -> Result<(), Failure> {
    match command {
        TreeCommand::Build(arguments) => run_build(&arguments),
        TreeCommand::Show(arguments) => run_show(&arguments),
        TreeCommand::Check(arguments) => run_check(&arguments),
    }
}

fn run_build(arguments: &Build) -> Result<(), Failure> {
    let method = Method::of_name(&arguments.method).ok_or_else(|| {
        let names = Method::ALL.map(Method::name).join(", ");
        Failure::Input(format!("--method is {}, expected one of {names}", arguments.method))
    })?;
    let caps = arguments.levels.caps()?;
    // Refuse before the work, which may take long.
    if let Some(margin) = arguments.solid.filter(|margin| !(MIN_MARGIN..=MAX_MARGIN).contains(margin)) {
        return Err(Failure::Input(format!("--solid: {}", SolidError::Margin { margin })));
    }
    let mesh = load(&arguments.mesh)?;
    let unwritten = |error: io::Error| {
        Failure::Machine(format!("cannot write {}: {error}\nName another file with -o.", arguments.output.display()))
    };
    try_to_write(&arguments.output).map_err(unwritten)?;
    let vertices = mesh.wide_vertices();
    let built = build(&vertices, mesh.triangles(), method, &caps)
        .map_err(|error| Failure::Input(format!("{}: {error}", arguments.mesh)))?;
    let file = match arguments.solid {
        None => TreeFile { method, tree: built.tree, inside: None },
        Some(margin) => {
            let refused = |reason: String| Failure::Input(format!("{}: {reason}", arguments.mesh));
            let object = Object::new(&vertices, mesh.triangles()).map_err(|error| refused(error.to_string()))?;
            let solid = cover_solid(&object, &built.tree, margin).map_err(|error| refused(error.to_string()))?;
            let Solid { tree, inner, margin } = solid;
            TreeFile { method, tree, inside: Some(Interior { inner, margin }) }
        }
    };
    let bytes = to_bytes(&file);
    let levels = rows(&file.tree, |_| String::new());
    print(&format!("{}\n{}", table(&levels), about_inside(&file)))?;
    fs::write(&arguments.output, &bytes).map_err(unwritten)?;
    print(&format!("{} bytes in {}\n", bytes.len(), arguments.output.display()))
}

/// Fails if the file cannot be written; an existing file is left unchanged.
fn try_to_write(path: &Path) -> io::Result<()> {
    let was_there = path.exists();
    fs::OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
    if was_there { Ok(()) } else { fs::remove_file(path) }
}

/// A line about the inside; empty if the tree covers a surface only.
fn about_inside(file: &TreeFile) -> String {
    let about = |inside: &Interior| {
        let share = inside.margin / file.tree.scale();
        format!("All that is inside is covered, by a margin of {share:.4} and inner balls: {}.\n", inside.inner.len())
    };
    file.inside.as_ref().map(about).unwrap_or_default()
}

fn run_show(arguments: &Show) -> Result<(), Failure> {
    let read = read_tree(&arguments.file)?;
    let about = about_inside(&read);
    let TreeFile { method, tree, inside } = read;
    let folder = match &arguments.out {
        Some(folder) => folder.clone(),
        None => arguments.file.parent().map(Path::to_path_buf).unwrap_or_default(),
    };
    let refused = |path: &Path, error: std::io::Error| {
        Failure::Machine(format!("cannot write {}: {error}\nName another folder with --out.", path.display()))
    };
    if !folder.as_os_str().is_empty() {
        fs::create_dir_all(&folder).map_err(|error| refused(&folder, error))?;
    }
    let stem = arguments.file.file_stem().map_or("tree".to_owned(), |stem| stem.to_string_lossy().into_owned());
    let name = |level: usize| folder.join(format!("{stem}-level-{level}.png"));
    let root = tree.nodes()[0].ball;
    for level in 0..=tree.depth() {
        let balls: Vec<Ball> = tree.level(level).iter().map(|node| node.ball).collect();
        let reach =
            balls.iter().map(|ball| ball.center.distance(root.center) + ball.radius).fold(root.radius, f64::max);
        let png = to_png(&balls, Ball::new(root.center, reach.min(1.5 * root.radius)), SIDE);
        fs::write(name(level), png).map_err(|error| refused(&name(level), error))?;
    }
    let rows = rows(&tree, |level| name(level).display().to_string());
    if arguments.json {
        return print_json(&Shown {
            method: method.name(),
            depth: tree.depth(),
            scale: tree.scale(),
            inner: inside.as_ref().map(|inside| inside.inner.len()),
            margin: inside.as_ref().map(|inside| inside.margin / tree.scale()),
            rows,
        });
    }
    print(&format!("{} by {}\n\n{}{about}", arguments.file.display(), method.name(), table(&rows)))
}

fn run_check(arguments: &Check) -> Result<(), Failure> {
    let read = read_tree(&arguments.file)?;
    let mesh = load(&arguments.mesh)?;
    let vertices = mesh.wide_vertices();
    let object = Object::new(&vertices, mesh.triangles())
        .map_err(|error| Failure::Input(format!("{}: {error}", arguments.mesh)))?;
    let corners = corners_of(&vertices, mesh.triangles());
    let wrong = |reason: String| Failure::Check(format!("{}: {reason}", arguments.file.display()));
    let mut inside = String::new();
    let regions = match read.solid() {
        None => certify(&read.tree, &corners).map_err(|missed| wrong(missed.to_string()))?,
        Some(solid) => {
            let surface = solid.surface().ok_or_else(|| wrong("a ball is smaller than the margin".to_owned()))?;
            let regions = certify(&surface, &corners).map_err(|missed| wrong(missed.to_string()))?;
            certify_solid(&object, &solid).map_err(|missed| wrong(missed.to_string()))?;
            inside = format!("All that is inside is covered, too; inner balls: {}.\n", solid.inner.len());
            regions
        }
    };
    let TreeFile { method, tree, .. } = read;
    for (index, node) in tree.nodes().iter().enumerate() {
        let bounds = error_of(&object, object.ball_to_unit(node.ball), 1e-3);
        if bounds.at_least > node.error / object.bounds().radius + TOLERANCE {
            let truth = bounds.at_least * object.bounds().radius;
            return Err(wrong(format!("node {index} sticks out by at least {truth}, the file says {}", node.error)));
        }
    }
    let pieces: usize = regions.leaves.iter().map(Vec::len).sum();
    print(&format!(
        "{} covers {} on all {} levels: {} triangles in {pieces} parts, each in every ball from the root to a leaf.\n\
         {inside}No ball sticks out farther than the file says ({} balls, built by {}).\n",
        arguments.file.display(),
        arguments.mesh,
        tree.depth() + 1,
        corners.len(),
        tree.nodes().len(),
        method.name()
    ))
}

fn read_tree(path: &Path) -> Result<TreeFile, Failure> {
    let wrong = |reason: String| Failure::Input(format!("{}: {reason}", path.display()));
    let size = fs::metadata(path).map_err(|error| wrong(error.to_string()))?.len();
    if size > MAX_BYTES {
        return Err(wrong(format!("{size} bytes, expected at most {MAX_BYTES}")));
    }
    let bytes = fs::read(path).map_err(|error| wrong(error.to_string()))?;
    from_bytes(&bytes).map_err(|error| wrong(error.to_string()))
}

fn rows(tree: &SphereTree, picture: impl Fn(usize) -> String) -> Vec<Row> {
    let of_level = |level: usize| {
        let nodes = tree.level(level);
        let errors = || nodes.iter().map(|node| node.error / tree.scale());
        let radii = || nodes.iter().map(|node| node.ball.radius / tree.scale());
        Row {
            level,
            spheres: nodes.len(),
            e_max: errors().fold(0.0, f64::max),
            e_avg: errors().sum::<f64>() / nodes.len() as f64,
            radius_min: radii().fold(f64::INFINITY, f64::min),
            radius_max: radii().fold(0.0, f64::max),
            children_max: nodes.iter().map(|node| node.children).max().unwrap_or(0),
            picture: picture(level),
        }
    };
    (0..=tree.depth()).map(of_level).collect()
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new(["level", "spheres", "E max", "E avg", "radius min", "max", "children", "picture"]);
    for row in rows {
        table.row([
            row.level.to_string(),
            row.spheres.to_string(),
            format!("{:.4}", row.e_max),
            format!("{:.4}", row.e_avg),
            format!("{:.4}", row.radius_min),
            format!("{:.4}", row.radius_max),
            row.children_max.to_string(),
            row.picture.clone(),
        ]);
    }
    table
}
