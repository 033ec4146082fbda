//! World files in TOML. Errors name the file, the line and what was expected.
//!
//! ```toml
//! name = "square"
//! bounds = { low = [-20, 0, -20], high = [20, 10, 20] }   # the bottom is the ground
//! gravity = 9.81               # 0 is a world to fly in
//! tick_rate = 30
//! sky = "#9fc6e8"
//! spawn = [[0, 0, 0]]
//!
//! [limits]
//! speed = 6
//!
//! [[avatar]]
//! name = "walker"
//! radius = 0.3
//! height = 1.8
//!
//! [[object]]
//! name = "pillar"
//! at = [4, 1, 0]
//! box = { size = [1, 2, 1] }
//!
//! [[object]]
//! name = "crate"
//! kind = "movable"
//! at = [-4, 0.5, 0]
//! box = { size = [1, 1, 1] }
//!
//! [crowd]
//! seekers = 20
//! seed = 1
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use shapes::mesh::{TriangleMesh, catalog};
use shapes::sphere_tree::Method;
use shapes::traversal::wrap;
use shapes::{BallTree, Balls, Shape};
use space::bytes::from_hex;
use space::{Quat, Vec3};
use toml::Spanned;

use super::tables::{KindName, MeshTable, ObjectTable, WorldTable};
use super::{AvatarSpec, ContactPolicy, Deformation, ObjectKind, ObjectSpec, Route, Spec, SpecError};

/// Why a world file was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{file}, line {line}: {message}")]
pub struct WorldFileError {
    /// The file, as its reader calls it.
    pub file: String,
    /// Counted from one.
    pub line: usize,
    /// What is wrong and what was expected.
    pub message: String,
}

/// The most bytes of a world file.
const FILE_BYTES_MAX: usize = 16 << 20;
const SKY_DEFAULT: [u8; 3] = [0x9f, 0xc6, 0xe8];

impl Spec {
    /// Reads a world file. `file` is its name in errors. `mesh` loads the triangles of a mesh file, as there is no file
    /// access in here.
    pub fn from_toml(
        text: &str,
        file: &str,
        mesh: &mut dyn FnMut(&str) -> Result<TriangleMesh, String>,
    ) -> Result<Spec, WorldFileError> {
        let source = Source { text, file };
        if text.len() > FILE_BYTES_MAX {
            return Err(source.error(0, format!("{} bytes, expected at most {FILE_BYTES_MAX}", text.len())));
        }
        let table: WorldTable = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            source.error(at, error.message().to_owned())
        })?;
        let mut reader = SpecReader { source, mesh, trees: BTreeMap::new() };
        let spec = reader.spec(&table)?;
        match spec.check() {
            Ok(_) => Ok(spec),
            Err(error) => Err(reader.source.blame(&table, error)),
        }
    }

    /// Finds the line of an error that was noticed after reading, as when solids overlap.
    pub fn blame(text: &str, file: &str, error: SpecError) -> WorldFileError {
        let source = Source { text, file };
        match toml::from_str::<WorldTable>(text) {
            Ok(table) => source.blame(&table, error),
            Err(_) => source.error(0, error.to_string()),
        }
    }
}

struct Source<'a> {
    text: &'a str,
    file: &'a str,
}

impl Source<'_> {
    /// An error at an offset in the text.
    fn error(&self, at: usize, message: String) -> WorldFileError {
        let before = self.text.as_bytes().iter().take(at);
        let line = 1 + before.filter(|&&byte| byte == b'\n').count();
        WorldFileError { file: self.file.to_owned(), line, message }
    }

    /// An error at the object that is at fault, or at the key of the world.
    fn blame(&self, table: &WorldTable, error: SpecError) -> WorldFileError {
        let objects = table.object.iter().map(|object| &object.name);
        let mut names = objects.chain(table.avatar.iter().map(|avatar| &avatar.name));
        let named = error.object().and_then(|name| names.find(|known| known.get_ref() == name));
        let at = match (&error, named) {
            (_, Some(name)) => name.span().start,
            (SpecError::Bounds(_), _) => table.bounds.span().start,
            (SpecError::World { key, .. }, _) => self.offset_of(key.rsplit('.').next().unwrap_or(key)),
            _ => 0,
        };
        self.error(at, error.to_string())
    }

    /// The offset of the line that begins with a key, or 0.
    fn offset_of(&self, key: &str) -> usize {
        let mut at = 0;
        for line in self.text.split_inclusive('\n') {
            if line.trim_start().trim_start_matches('[').starts_with(key) {
                return at;
            }
            at += line.len();
        }
        0
    }
}

/// The level of a sphere-tree where none is given.
const TREE_LEVEL: u8 = 3;
/// The deepest level: some four thousand spheres.
const TREE_LEVEL_MAX: u8 = 4;

/// Turns the tables of a world file into a spec.
struct SpecReader<'a> {
    source: Source<'a>,
    mesh: &'a mut dyn FnMut(&str) -> Result<TriangleMesh, String>,
    /// Sphere-trees that were built already, by mesh and level: many objects may share a mesh.
    trees: BTreeMap<(String, u8), Arc<BallTree>>,
}

impl SpecReader<'_> {
    fn spec(&mut self, table: &WorldTable) -> Result<Spec, WorldFileError> {
        let bounds = table.bounds.get_ref();
        Ok(Spec {
            name: table.name.clone(),
            sky: table.sky.as_ref().map_or(Ok(SKY_DEFAULT), |sky| self.colour(sky))?,
            low: Vec3::from_array(bounds.low),
            high: Vec3::from_array(bounds.high),
            gravity: table.gravity,
            tick_rate: table.tick_rate,
            limits: table.limits,
            spawns: vectors(&table.spawn),
            avatars: avatars(table),
            objects: self.objects(table)?,
            crowd: table.crowd,
        })
    }

    fn colour(&self, sky: &Spanned<String>) -> Result<[u8; 3], WorldFileError> {
        let text = sky.get_ref();
        let channels = text.strip_prefix('#').and_then(from_hex).and_then(|channels| channels.try_into().ok());
        channels.ok_or_else(|| {
            self.source.error(sky.span().start, format!("`sky` is `{text}`, expected a colour like `#9fc6e8`"))
        })
    }

    fn objects(&mut self, table: &WorldTable) -> Result<Vec<ObjectSpec>, WorldFileError> {
        let mut names = BTreeSet::new();
        let mut objects = Vec::with_capacity(table.object.len());
        for object in &table.object {
            let name = object.name.get_ref();
            if !names.insert(name) {
                let message = format!("`{name}` is the name of two objects, expected a name of its own");
                return Err(self.source.error(object.name.span().start, message));
            }
            objects.push(self.object(object)?);
        }
        Ok(objects)
    }

    fn object(&mut self, object: &ObjectTable) -> Result<ObjectSpec, WorldFileError> {
        let exact = self.shape(object)?;
        Ok(ObjectSpec {
            name: object.name.get_ref().clone(),
            shape: self.at_precision(object, exact)?,
            kind: kind(object).map_err(|message| self.wrong(object, message))?,
            rotation: rotation(object).map_err(|message| self.wrong(object, message))?,
            at: Vec3::from_array(object.at),
            policy: object.policy.unwrap_or(ContactPolicy::Block),
        })
    }

    /// An error at the name of an object.
    fn wrong(&self, object: &ObjectTable, message: impl std::fmt::Display) -> WorldFileError {
        self.source.error(object.name.span().start, format!("`{}`: {message}", object.name.get_ref()))
    }

    fn load(&mut self, file: &Spanned<String>) -> Result<TriangleMesh, WorldFileError> {
        (self.mesh)(file.get_ref()).map_err(|error| {
            self.source.error(file.span().start, format!("cannot use the mesh `{}`: {error}", file.get_ref()))
        })
    }

    fn shape(&mut self, object: &ObjectTable) -> Result<Shape, WorldFileError> {
        let sphere = object.sphere.as_ref().map(|sphere| Shape::Sphere { radius: sphere.radius });
        let cuboid = object.cuboid.as_ref().map(|cuboid| Shape::Box { half: Vec3::from_array(cuboid.size) * 0.5 });
        let capsule = object.capsule.as_ref().map(|capsule| {
            let half_height = capsule.height * 0.5 - capsule.radius;
            Shape::Capsule { half_height, radius: capsule.radius }
        });
        let mut given: Vec<Shape> = [sphere, cuboid, capsule].into_iter().flatten().collect();
        let shapes = given.len() + usize::from(object.hull.is_some()) + usize::from(object.mesh.is_some());
        if shapes != 1 {
            let message = format!("{shapes} shapes, expected one of sphere, box, capsule, hull and mesh");
            return Err(self.wrong(object, message));
        }
        if let Some(hull) = &object.hull {
            let points = match &hull.file {
                Some(file) => self.load(file)?.vertices().to_vec(),
                None => vectors(&hull.points),
            };
            return Shape::hull(&points).map_err(|error| self.wrong(object, format_args!("`hull`: {error}")));
        }
        if let Some(mesh) = &object.mesh {
            return self.mesh(object, mesh);
        }
        Ok(given.remove(0))
    }

    fn mesh(&mut self, object: &ObjectTable, mesh: &MeshTable) -> Result<Shape, WorldFileError> {
        match (&mesh.file, &mesh.shape) {
            (Some(file), None) => Ok(Shape::mesh(self.load(file)?)),
            (None, Some(name)) => catalog::shape(name.get_ref()).map(Shape::mesh).ok_or_else(|| {
                let (name, known) = (name.get_ref(), catalog::NAMES.join(", "));
                self.wrong(object, format_args!("no shape is called `{name}`, expected one of {known} and flag"))
            }),
            _ => Err(self.wrong(object, "`mesh` takes a `file` or a `shape`, expected one of them")),
        }
    }

    /// The shape that stands for an exact one.
    fn at_precision(&mut self, object: &ObjectTable, exact: Shape) -> Result<Shape, WorldFileError> {
        let Some(precision) = &object.precision else { return Ok(exact) };
        match precision.get_ref().as_str() {
            "exact" => Ok(exact),
            "bounding-sphere" => {
                let sphere = exact.bounding_sphere();
                Ok(Shape::Sphere { radius: sphere.center.length() + sphere.radius })
            }
            text => self.sphere_tree(object, text, &exact).map_err(|message| {
                self.source.error(precision.span().start, format!("`{}`: {message}", object.name.get_ref()))
            }),
        }
    }

    /// A level of the sphere-tree of a mesh.
    fn sphere_tree(&mut self, object: &ObjectTable, precision: &str, exact: &Shape) -> Result<Shape, String> {
        let level = match precision.strip_prefix("sphere-tree").map(str::trim) {
            Some("") => Some(TREE_LEVEL),
            Some(level) => level.parse::<u8>().ok().filter(|level| (1..=TREE_LEVEL_MAX).contains(level)),
            None => None,
        };
        let expected = "`exact`, `bounding-sphere`, or `sphere-tree` with a level from 1 to 4";
        let level = level.ok_or_else(|| format!("`precision` is `{precision}`, expected {expected}"))?;
        let Shape::Mesh(mesh) = exact else {
            let shape = exact.name();
            return Err(format!("`precision` is `{precision}`, expected a mesh for it rather than a {shape}"));
        };
        if object.wave.is_some() || object.breathe.is_some() {
            return Err("`precision` of what deforms is always its sphere-tree, expected none".to_owned());
        }
        let name = |name: &Option<Spanned<String>>| name.as_ref().map_or("", |name| name.get_ref()).to_owned();
        let key =
            object.mesh.as_ref().map_or(String::new(), |mesh| format!("{}/{}", name(&mesh.shape), name(&mesh.file)));
        let tree = match self.trees.get(&(key.clone(), level)) {
            Some(tree) => Arc::clone(tree),
            None => {
                let made = wrap(mesh.triangles(), Method::Best, usize::from(level));
                let tree = Arc::new(made.map_err(|error| format!("no sphere-tree: {error}"))?);
                self.trees.insert((key, level), Arc::clone(&tree));
                tree
            }
        };
        let balls = Balls::new(tree, level).map_err(|error| error.to_string())?;
        Ok(Shape::Balls(Arc::new(balls.with_mesh(mesh.triangles().clone()))))
    }
}

fn avatars(table: &WorldTable) -> Vec<AvatarSpec> {
    if table.avatar.is_empty() {
        return vec![AvatarSpec::walker()];
    }
    let avatars = table.avatar.iter().map(|avatar| AvatarSpec {
        name: avatar.name.get_ref().clone(),
        radius: avatar.radius,
        height: avatar.height,
        policy: avatar.policy.unwrap_or(ContactPolicy::Slide),
    });
    avatars.collect()
}

fn kind(object: &ObjectTable) -> Result<ObjectKind, &'static str> {
    let mut routes = routes(object);
    match (object.kind, routes.pop(), routes.is_empty()) {
        (_, Some(_), false) => Err("two routes, expected one of path, orbit, flight, spin, wave and breathe"),
        (KindName::Moving, Some(route), true) => Ok(ObjectKind::Moving(route)),
        (KindName::Moving, None, _) => {
            Err("`kind` is `moving`, expected one of path, orbit, flight, spin, wave and breathe")
        }
        (_, Some(_), true) => Err("a route, expected `kind = \"moving\"` with it"),
        (KindName::Fixed, None, _) => Ok(ObjectKind::Fixed),
        (KindName::Movable, None, _) => Ok(ObjectKind::Movable),
    }
}

/// All routes that are given.
fn routes(object: &ObjectTable) -> Vec<Route> {
    let path = object.path.as_ref().map(|path| Route::Path {
        through: vectors(&path.through),
        speed: path.speed,
        closed: path.closed,
    });
    let orbit = object.orbit.as_ref();
    let orbit = orbit.map(|orbit| Route::Orbit { center: Vec3::from_array(orbit.center), period_s: orbit.period });
    let flight = object
        .flight
        .as_ref()
        .map(|flight| Route::Flight { velocity: Vec3::from_array(flight.velocity), period_s: flight.period });
    let spin = object.spin.map(|degrees_per_s| Route::Spin { degrees_per_s });
    let wave = object.wave.as_ref().map(|wave| {
        let (along, push) = (Vec3::from_array(wave.along), Vec3::from_array(wave.push));
        Route::Deform(Deformation::Wave { along, push, length: wave.length, period_s: wave.period })
    });
    let breathe = object.breathe.as_ref();
    let breathe = breathe.map(|it| Route::Deform(Deformation::Breathe { share: it.share, period_s: it.period }));
    [path, orbit, flight, spin, wave, breathe].into_iter().flatten().collect()
}

fn rotation(object: &ObjectTable) -> Result<Quat, String> {
    match (object.heading, object.rotation) {
        (Some(_), Some(_)) => Err("`heading` and `rotation`, expected one of them".to_owned()),
        (Some(heading), None) if heading.is_finite() => Ok(Quat::from_rotation_y(heading.to_radians())),
        (Some(heading), None) => Err(format!("`heading` is {heading}, expected degrees")),
        (None, Some(rotation)) => Ok(Quat::from_array(rotation)),
        (None, None) => Ok(Quat::IDENTITY),
    }
}

fn vectors(places: &[[f32; 3]]) -> Vec<Vec3> {
    places.iter().copied().map(Vec3::from_array).collect()
}
