//! The tables of a world file, as serde reads them. [`file`](super::file) turns them into a spec.

use serde::Deserialize;
use toml::Spanned;

use super::{ContactPolicy, CrowdSpec, WorldLimits};

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a world")]
pub(super) struct WorldTable {
    pub name: String,
    pub sky: Option<Spanned<String>>,
    pub bounds: Spanned<BoundsTable>,
    #[serde(default = "earth")]
    pub gravity: f32,
    #[serde(default = "thirty")]
    pub tick_rate: u32,
    #[serde(default)]
    pub limits: WorldLimits,
    #[serde(default)]
    pub spawn: Vec<[f32; 3]>,
    #[serde(default)]
    pub avatar: Vec<AvatarTable>,
    #[serde(default)]
    pub object: Vec<ObjectTable>,
    pub crowd: Option<CrowdSpec>,
}

fn earth() -> f32 {
    9.81
}

fn thirty() -> u32 {
    30
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "`{ low = [x, y, z], high = [x, y, z] }`")]
pub(super) struct BoundsTable {
    pub low: [f32; 3],
    pub high: [f32; 3],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with `name`, `radius` and `height`")]
pub(super) struct AvatarTable {
    pub name: Spanned<String>,
    pub radius: f32,
    pub height: f32,
    pub policy: Option<ContactPolicy>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with `name`, `at` and a shape")]
pub(super) struct ObjectTable {
    pub name: Spanned<String>,
    #[serde(default)]
    pub kind: KindName,
    pub at: [f32; 3],
    /// Degrees about the vertical axis.
    pub heading: Option<f32>,
    /// A quaternion of x, y, z and w.
    pub rotation: Option<[f32; 4]>,
    pub policy: Option<ContactPolicy>,
    pub precision: Option<Spanned<String>>,
    pub sphere: Option<SphereTable>,
    #[serde(rename = "box")]
    pub cuboid: Option<BoxTable>,
    pub capsule: Option<CapsuleTable>,
    pub hull: Option<HullTable>,
    pub mesh: Option<MeshTable>,
    pub path: Option<PathTable>,
    pub orbit: Option<OrbitTable>,
    pub flight: Option<FlightTable>,
    /// Degrees per second.
    pub spin: Option<f32>,
    pub wave: Option<WaveTable>,
    pub breathe: Option<BreatheTable>,
}

#[derive(Clone, Copy, Default, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(super) enum KindName {
    #[default]
    Fixed,
    Moving,
    Movable,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "`{ radius = metres }`")]
pub(super) struct SphereTable {
    pub radius: f32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "`{ size = [x, y, z] }`")]
pub(super) struct BoxTable {
    pub size: [f32; 3],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "`{ radius = metres, height = metres }`")]
pub(super) struct CapsuleTable {
    pub radius: f32,
    pub height: f32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "`{ points = [[x, y, z], ...] }` or `{ file = name }`")]
pub(super) struct HullTable {
    #[serde(default)]
    pub points: Vec<[f32; 3]>,
    pub file: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "`{ file = name }` or `{ shape = name }`")]
pub(super) struct MeshTable {
    pub file: Option<Spanned<String>>,
    /// The name of a built-in shape.
    pub shape: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "`{ through = [[x, y, z], ...], speed = metres per second }`")]
pub(super) struct PathTable {
    pub through: Vec<[f32; 3]>,
    pub speed: f32,
    #[serde(default)]
    pub closed: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "`{ center = [x, y, z], period = seconds }`")]
pub(super) struct OrbitTable {
    pub center: [f32; 3],
    pub period: f32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "`{ velocity = [x, y, z], period = seconds }`")]
pub(super) struct FlightTable {
    pub velocity: [f32; 3],
    pub period: f32,
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "`{ along = [x, y, z], push = [x, y, z], length = metres, period = seconds }`"
)]
pub(super) struct WaveTable {
    pub along: [f32; 3],
    pub push: [f32; 3],
    pub length: f32,
    pub period: f32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "`{ share = number, period = seconds }`")]
pub(super) struct BreatheTable {
    pub share: f32,
    pub period: f32,
}
