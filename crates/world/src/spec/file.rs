//! World files: TOML, with errors that name the file, the line and what was expected.
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

use serde::Deserialize;
use shapes::BallTree;
use shapes::mesh::{TriangleMesh, catalog};
use shapes::sphere_tree::Method;
use shapes::traversal::wrap;
use shapes::{Balls, Shape};
use space::bytes::from_hex;
use space::{Quat, Vec3};
use toml::Spanned;

use super::{
    AvatarSpec, ContactPolicy, CrowdSpec, Deformation, ObjectKind, ObjectSpec, Route, Spec, SpecError, WorldLimits,
};

/// Why a world file was refused: the file, the line, and what was expected there.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{file}, line {line}: {message}")]
pub struct WorldFileError {
    /// The file, as the caller called it.
    pub file: String,
    /// Counted from one.
    pub line: usize,
    /// What is wrong and what was expected.
    pub message: String,
}

/// A world file is no longer than this, in bytes.
const FILE_BYTES_MAX: usize = 16 << 20;

impl Spec {
    /// Reads a world file. `file` is what errors call it; `mesh` is asked for the triangles of each mesh file that it
    /// names, as there is no file access in here.
    pub fn from_toml(
        text: &str,
        file: &str,
        mesh: &mut dyn FnMut(&str) -> Result<TriangleMesh, String>,
    ) -> Result<Spec, WorldFileError> {
        let source = Source { text, file };
        if text.len() > FILE_BYTES_MAX {
            return Err(source.error(0, format!("{} bytes, expected at most {FILE_BYTES_MAX}", text.len())));
        }
        let read: WorldFile = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            source.error(at, error.message().to_owned())
        })?;
        let spec = read.spec(&source, mesh)?;
        match spec.check() {
            Ok(_) => Ok(spec),
            Err(error) => Err(source.blame(&read, error)),
        }
    }

    /// Says where in a world file something stands that was noticed later, as when solids overlap.
    pub fn blame(text: &str, file: &str, error: SpecError) -> WorldFileError {
        let source = Source { text, file };
        match toml::from_str::<WorldFile>(text) {
            Ok(read) => source.blame(&read, error),
            Err(_) => source.error(0, error.to_string()),
        }
    }
}

struct Source<'a> {
    text: &'a str,
    file: &'a str,
}

impl Source<'_> {
    fn error(&self, at: usize, message: String) -> WorldFileError {
        let before = self.text.as_bytes().iter().take(at);
        let line = 1 + before.filter(|&&byte| byte == b'\n').count();
        WorldFileError { file: self.file.to_owned(), line, message }
    }

    /// The line of the object that is at fault, or of the world's key.
    fn blame(&self, read: &WorldFile, error: SpecError) -> WorldFileError {
        let name = error.object().map(str::to_owned);
        let objects = read.object.iter().map(|object| &object.name);
        let named = objects.chain(read.avatar.iter().map(|avatar| &avatar.name));
        let found = name.and_then(|name| named.into_iter().find(|known| known.get_ref() == &name));
        let at = match (&error, found) {
            (_, Some(name)) => name.span().start,
            (SpecError::Bounds(_), _) => read.bounds.span().start,
            (SpecError::World { key, .. }, _) => {
                let key = key.rsplit('.').next().unwrap_or(key);
                let lines = self.text.split_inclusive('\n');
                let mut at = 0;
                let mut found = 0;
                for line in lines {
                    if line.trim_start().trim_start_matches('[').starts_with(key) {
                        found = at;
                        break;
                    }
                    at += line.len();
                }
                found
            }
            _ => 0,
        };
        self.error(at, error.to_string())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a world")]
struct WorldFile {
    name: String,
    #[serde(default)]
    sky: Option<Spanned<String>>,
    bounds: Spanned<BoundsFile>,
    #[serde(default = "earth")]
    gravity: f32,
    #[serde(default = "thirty")]
    tick_rate: u32,
    #[serde(default)]
    limits: LimitsFile,
    #[serde(default)]
    spawn: Vec<[f32; 3]>,
    #[serde(default)]
    avatar: Vec<AvatarFile>,
    #[serde(default)]
    object: Vec<ObjectFile>,
    #[serde(default)]
    crowd: Option<CrowdFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "`{ low = [x, y, z], high = [x, y, z] }`")]
struct BoundsFile {
    low: [f32; 3],
    high: [f32; 3],
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table of limits")]
struct LimitsFile {
    speed: Option<f32>,
    jump_speed: Option<f32>,
    terminal_speed: Option<f32>,
    step_height: Option<f32>,
    grab_reach: Option<f32>,
    inputs_per_tick: Option<u32>,
    wish_ticks: Option<u32>,
    avatars: Option<u32>,
    name_bytes: Option<usize>,
    text_bytes: Option<usize>,
    narrow_operations: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with `name`, `radius` and `height`")]
struct AvatarFile {
    name: Spanned<String>,
    radius: f32,
    height: f32,
    #[serde(default)]
    policy: Option<PolicyFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with `name`, `at` and a shape")]
struct ObjectFile {
    name: Spanned<String>,
    #[serde(default)]
    kind: KindFile,
    at: [f32; 3],
    /// Degrees about the vertical axis.
    #[serde(default)]
    heading: Option<f32>,
    /// A quaternion, for whoever needs more.
    #[serde(default)]
    rotation: Option<[f32; 4]>,
    #[serde(default)]
    policy: Option<PolicyFile>,
    #[serde(default)]
    precision: Option<Spanned<String>>,
    #[serde(default)]
    sphere: Option<SphereFile>,
    #[serde(default, rename = "box")]
    cuboid: Option<BoxFile>,
    #[serde(default)]
    capsule: Option<CapsuleFile>,
    #[serde(default)]
    hull: Option<HullFile>,
    #[serde(default)]
    mesh: Option<MeshFile>,
    #[serde(default)]
    path: Option<PathFile>,
    #[serde(default)]
    orbit: Option<OrbitFile>,
    #[serde(default)]
    flight: Option<FlightFile>,
    /// Degrees per second.
    #[serde(default)]
    spin: Option<f32>,
    #[serde(default)]
    wave: Option<WaveFile>,
    #[serde(default)]
    breathe: Option<BreatheFile>,
}

#[derive(Clone, Copy, Default, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum KindFile {
    #[default]
    Fixed,
    Moving,
    Movable,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PolicyFile {
    Block,
    Slide,
    Bounce,
    Ghost,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "`{ radius = metres }`")]
struct SphereFile {
    radius: f32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "`{ size = [x, y, z] }`")]
struct BoxFile {
    size: [f32; 3],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "`{ radius = metres, height = metres }`")]
struct CapsuleFile {
    radius: f32,
    height: f32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "`{ points = [[x, y, z], ...] }` or `{ file = name }`")]
struct HullFile {
    #[serde(default)]
    points: Vec<[f32; 3]>,
    #[serde(default)]
    file: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "`{ file = name }` or `{ shape = name }`")]
struct MeshFile {
    #[serde(default)]
    file: Option<Spanned<String>>,
    /// One of those that are shipped.
    #[serde(default)]
    shape: Option<Spanned<String>>,
}

impl MeshFile {
    /// What tells it from other meshes of the same world file.
    fn key(&self) -> String {
        let name = |name: &Option<Spanned<String>>| name.as_ref().map_or("", |name| name.get_ref()).to_owned();
        format!("{}/{}", name(&self.shape), name(&self.file))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "`{ through = [[x, y, z], ...], speed = metres per second }`")]
struct PathFile {
    through: Vec<[f32; 3]>,
    speed: f32,
    #[serde(default)]
    closed: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "`{ center = [x, y, z], period = seconds }`")]
struct OrbitFile {
    center: [f32; 3],
    period: f32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "`{ velocity = [x, y, z], period = seconds }`")]
struct FlightFile {
    velocity: [f32; 3],
    period: f32,
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "`{ along = [x, y, z], push = [x, y, z], length = metres, period = seconds }`"
)]
struct WaveFile {
    along: [f32; 3],
    push: [f32; 3],
    length: f32,
    period: f32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "`{ share = number, period = seconds }`")]
struct BreatheFile {
    share: f32,
    period: f32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with `seekers`")]
struct CrowdFile {
    seekers: u32,
    #[serde(default = "one")]
    seed: u64,
}

fn earth() -> f32 {
    9.81
}

fn thirty() -> u32 {
    30
}

fn one() -> u64 {
    1
}

impl From<PolicyFile> for ContactPolicy {
    fn from(policy: PolicyFile) -> ContactPolicy {
        match policy {
            PolicyFile::Block => ContactPolicy::Block,
            PolicyFile::Slide => ContactPolicy::Slide,
            PolicyFile::Bounce => ContactPolicy::Bounce,
            PolicyFile::Ghost => ContactPolicy::PassThrough,
        }
    }
}

type Meshes<'a> = &'a mut dyn FnMut(&str) -> Result<TriangleMesh, String>;

impl WorldFile {
    fn spec(&self, source: &Source<'_>, mesh: Meshes<'_>) -> Result<Spec, WorldFileError> {
        let bounds = self.bounds.get_ref();
        let avatars = self.avatar.iter().map(|avatar| AvatarSpec {
            name: avatar.name.get_ref().clone(),
            radius: avatar.radius,
            height: avatar.height,
            policy: avatar.policy.map_or(ContactPolicy::Slide, ContactPolicy::from),
        });
        let mut avatars: Vec<AvatarSpec> = avatars.collect();
        if avatars.is_empty() {
            avatars.push(AvatarSpec {
                name: "walker".to_owned(),
                radius: 0.3,
                height: 1.8,
                policy: ContactPolicy::Slide,
            });
        }
        let mut objects = Vec::with_capacity(self.object.len());
        let mut trees = Trees::new();
        let mut names = BTreeSet::new();
        for object in &self.object {
            if !names.insert(object.name.get_ref()) {
                let message =
                    format!("`{}` is the name of two objects, expected a name of its own", object.name.get_ref());
                return Err(source.error(object.name.span().start, message));
            }
            objects.push(object.spec(source, mesh, &mut trees)?);
        }
        Ok(Spec {
            name: self.name.clone(),
            sky: self.sky.as_ref().map_or(Ok([0x9f, 0xc6, 0xe8]), |sky| color(source, sky))?,
            low: Vec3::from_array(bounds.low),
            high: Vec3::from_array(bounds.high),
            gravity: self.gravity,
            tick_rate: self.tick_rate,
            limits: self.limits.limits(),
            spawns: self.spawn.iter().copied().map(Vec3::from_array).collect(),
            avatars,
            objects,
            crowd: self.crowd.as_ref().map(|crowd| CrowdSpec { seekers: crowd.seekers, seed: crowd.seed }),
        })
    }
}

impl LimitsFile {
    fn limits(&self) -> WorldLimits {
        let default = WorldLimits::default();
        WorldLimits {
            speed: self.speed.unwrap_or(default.speed),
            jump_speed: self.jump_speed.unwrap_or(default.jump_speed),
            terminal_speed: self.terminal_speed.unwrap_or(default.terminal_speed),
            step_height: self.step_height.unwrap_or(default.step_height),
            grab_reach: self.grab_reach.unwrap_or(default.grab_reach),
            inputs_per_tick: self.inputs_per_tick.unwrap_or(default.inputs_per_tick),
            wish_ticks: self.wish_ticks.unwrap_or(default.wish_ticks),
            avatars: self.avatars.unwrap_or(default.avatars),
            name_bytes: self.name_bytes.unwrap_or(default.name_bytes),
            text_bytes: self.text_bytes.unwrap_or(default.text_bytes),
            narrow_operations: self.narrow_operations.or(default.narrow_operations),
        }
    }
}

/// Sphere-trees that were built already, by mesh and level: many objects share a mesh.
type Trees = BTreeMap<(String, u8), Arc<BallTree>>;

/// The level of a sphere-tree where none is given.
const TREE_LEVEL: u8 = 3;
/// The deepest: some four thousand balls.
const TREE_LEVEL_MAX: u8 = 4;

impl ObjectFile {
    fn spec(&self, source: &Source<'_>, mesh: Meshes<'_>, trees: &mut Trees) -> Result<ObjectSpec, WorldFileError> {
        let name = self.name.get_ref().clone();
        let wrong = |message: String| source.error(self.name.span().start, format!("`{name}`: {message}"));
        let shape = self.shape(source, mesh, &wrong)?;
        let shape = match self.precision.as_ref().map(|precision| (precision.get_ref().as_str(), precision)) {
            None | Some(("exact", _)) => shape,
            Some(("bounding-sphere", _)) => {
                let sphere = shape.bounding_sphere();
                Shape::Sphere { radius: sphere.center.length() + sphere.radius }
            }
            Some((text, precision)) => {
                let refuse = |message: String| source.error(precision.span().start, format!("`{name}`: {message}"));
                let level = match text.strip_prefix("sphere-tree").map(str::trim) {
                    Some("") => Some(TREE_LEVEL),
                    Some(level) => level.parse::<u8>().ok().filter(|level| (1..=TREE_LEVEL_MAX).contains(level)),
                    None => None,
                };
                let expected = "`exact`, `bounding-sphere`, or `sphere-tree` with a level from 1 to 4";
                let level = level.ok_or_else(|| refuse(format!("`precision` is `{text}`, expected {expected}")))?;
                let Shape::Mesh(mesh) = &shape else {
                    let shape = shape.name();
                    return Err(refuse(format!(
                        "`precision` is `{text}`, expected a mesh for it rather than a {shape}"
                    )));
                };
                if self.wave.is_some() || self.breathe.is_some() {
                    // Its balls are fitted in every tick; how many levels it has is all that is chosen here.
                    return Err(refuse("`precision` of what deforms is always its sphere-tree, expected none".into()));
                }
                let key = (self.mesh.as_ref().map_or(String::new(), MeshFile::key), level);
                let tree = match trees.get(&key) {
                    Some(tree) => Arc::clone(tree),
                    None => {
                        let made = wrap(mesh.triangles(), Method::Best, usize::from(level));
                        let tree = Arc::new(made.map_err(|error| refuse(format!("no sphere-tree: {error}")))?);
                        trees.insert(key, Arc::clone(&tree));
                        tree
                    }
                };
                let balls = Balls::new(tree, level).map_err(|error| refuse(error.to_string()))?;
                Shape::Balls(Arc::new(balls.with_mesh(mesh.triangles().clone())))
            }
        };
        let routes = [
            self.path.as_ref().map(|path| Route::Path {
                through: path.through.iter().copied().map(Vec3::from_array).collect(),
                speed: path.speed,
                closed: path.closed,
            }),
            self.orbit
                .as_ref()
                .map(|orbit| Route::Orbit { center: Vec3::from_array(orbit.center), period_s: orbit.period }),
            self.flight
                .as_ref()
                .map(|flight| Route::Flight { velocity: Vec3::from_array(flight.velocity), period_s: flight.period }),
            self.spin.map(|degrees_per_s| Route::Spin { degrees_per_s }),
            self.wave.as_ref().map(|wave| {
                let (along, push) = (Vec3::from_array(wave.along), Vec3::from_array(wave.push));
                Route::Deform(Deformation::Wave { along, push, length: wave.length, period_s: wave.period })
            }),
            self.breathe
                .as_ref()
                .map(|breathe| Route::Deform(Deformation::Breathe { share: breathe.share, period_s: breathe.period })),
        ];
        let mut routes = routes.into_iter().flatten();
        let kind = match (self.kind, routes.next(), routes.next()) {
            (_, Some(_), Some(_)) => {
                return Err(wrong("two routes, expected one of path, orbit, flight, spin, wave and breathe".into()));
            }
            (KindFile::Moving, Some(route), None) => ObjectKind::Moving(route),
            (KindFile::Moving, None, _) => {
                return Err(wrong(
                    "`kind` is `moving`, expected one of path, orbit, flight, spin, wave and breathe".into(),
                ));
            }
            (_, Some(_), None) => return Err(wrong("a route, expected `kind = \"moving\"` with it".into())),
            (KindFile::Fixed, None, _) => ObjectKind::Fixed,
            (KindFile::Movable, None, _) => ObjectKind::Movable,
        };
        let rotation = match (self.heading, self.rotation) {
            (Some(_), Some(_)) => return Err(wrong("`heading` and `rotation`, expected one of them".into())),
            (Some(heading), None) if heading.is_finite() => Quat::from_rotation_y(heading.to_radians()),
            (Some(heading), None) => return Err(wrong(format!("`heading` is {heading}, expected degrees"))),
            (None, Some(rotation)) => Quat::from_array(rotation),
            (None, None) => Quat::IDENTITY,
        };
        let policy = self.policy.map_or(ContactPolicy::Block, ContactPolicy::from);
        Ok(ObjectSpec { name, kind, shape, at: Vec3::from_array(self.at), rotation, policy })
    }

    fn shape(
        &self,
        source: &Source<'_>,
        mesh: Meshes<'_>,
        wrong: &dyn Fn(String) -> WorldFileError,
    ) -> Result<Shape, WorldFileError> {
        let given = [
            self.sphere.is_some(),
            self.cuboid.is_some(),
            self.capsule.is_some(),
            self.hull.is_some(),
            self.mesh.is_some(),
        ];
        let shapes = given.iter().filter(|&&is_given| is_given).count();
        if shapes != 1 {
            return Err(wrong(format!("{shapes} shapes, expected one of sphere, box, capsule, hull and mesh")));
        }
        let mut load = |file: &Spanned<String>| {
            mesh(file.get_ref()).map_err(|error| {
                source.error(file.span().start, format!("cannot use the mesh `{}`: {error}", file.get_ref()))
            })
        };
        if let Some(sphere) = &self.sphere {
            return Ok(Shape::Sphere { radius: sphere.radius });
        }
        if let Some(cuboid) = &self.cuboid {
            return Ok(Shape::Box { half: Vec3::from_array(cuboid.size) * 0.5 });
        }
        if let Some(capsule) = &self.capsule {
            let half_height = capsule.height * 0.5 - capsule.radius;
            return Ok(Shape::Capsule { half_height, radius: capsule.radius });
        }
        if let Some(hull) = &self.hull {
            let points: Vec<Vec3> = match &hull.file {
                Some(file) => load(file)?.vertices().to_vec(),
                None => hull.points.iter().copied().map(Vec3::from_array).collect(),
            };
            return Shape::hull(&points).map_err(|error| wrong(format!("`hull`: {error}")));
        }
        let given = self.mesh.as_ref().expect("one shape is given");
        match (&given.file, &given.shape) {
            (Some(file), None) => Ok(Shape::mesh(load(file)?)),
            (None, Some(name)) => match catalog::shape(name.get_ref()) {
                Some(mesh) => Ok(Shape::mesh(mesh)),
                None => {
                    let (name, known) = (name.get_ref(), catalog::NAMES.join(", "));
                    Err(wrong(format!("no shape is called `{name}`, expected one of {known} and flag")))
                }
            },
            _ => Err(wrong("`mesh` takes a `file` or a `shape`, expected one of them".into())),
        }
    }
}

fn color(source: &Source<'_>, sky: &Spanned<String>) -> Result<[u8; 3], WorldFileError> {
    let text = sky.get_ref();
    let channels = text.strip_prefix('#').and_then(from_hex).and_then(|channels| channels.try_into().ok());
    channels
        .ok_or_else(|| source.error(sky.span().start, format!("`sky` is `{text}`, expected a colour like `#9fc6e8`")))
}
