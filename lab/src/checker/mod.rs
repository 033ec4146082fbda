//! What must hold, watched at every tick: promises rather than outputs.
//!
//! A checker sees the truth, every byte that the server sent, and what each client makes of it. It knows nothing of how
//! a server works: handles are followed through the messages, distances are taken anew, overlap is worked out in whole
//! numbers by a formula of its own.

mod doubled;
mod fair;
mod heard;
mod overheard;
mod overlap;
mod reconciled;
mod shown;

pub use doubled::Doubled;
pub use fair::Fair;
pub use heard::Heard;
pub use overheard::Overheard;
pub use overlap::Overlap;
pub use reconciled::Reconciled;
pub use shown::Shown;

use client::Bot;
use space::{GridPoint, NodeId, ObjectId, Time, Turn, Vec3};
use wire::{Channel, LinkId};
use world::{Kind, World};

use crate::promise::Promise;

/// An object as it is after a tick.
#[derive(Clone, Debug, PartialEq)]
pub struct TruthObject {
    /// Its name.
    pub id: ObjectId,
    /// What kind of object it is.
    pub kind: Kind,
    /// Where it is.
    pub at: GridPoint,
    /// How it is turned.
    pub turn: Turn,
    /// What it is called.
    pub name: String,
    /// Whose it is.
    pub owner: Option<NodeId>,
    /// Half a box around which it is rounded, and by how much, in grid steps; `None` for what is not upright.
    pub solid: Option<([i64; 3], i64)>,
}

/// What the server sent.
#[derive(Clone, Debug, PartialEq)]
pub struct SentBytes {
    /// Over which connection.
    pub link: LinkId,
    /// To which client, of those that mean well.
    pub client: Option<usize>,
    /// How.
    pub channel: Channel,
    /// What.
    pub bytes: Vec<u8>,
}

/// A client that means well, and its circumstances.
#[derive(Clone, Debug)]
pub struct ClientState {
    /// The client.
    pub bot: Bot,
    /// What it is called.
    pub name: String,
    /// Its clock shows so much more than the true time, in microseconds.
    pub clock_us: i64,
    /// Its connection.
    pub link: Option<LinkId>,
    /// Since when nothing has disturbed it: no cut, no restart, nothing sent again and again.
    pub calm_since: Time,
}

impl ClientState {
    /// Whether it is in, and has been undisturbed for so long.
    pub fn is_calm(&self, now: Time, for_us: i64) -> bool {
        self.link.is_some() && *self.bot.client().phase() == client::Phase::Joined && now - self.calm_since >= for_us
    }
}

/// What a checker sees after a tick.
#[derive(Debug)]
pub struct Observed<'a> {
    /// The tick that was completed.
    pub tick: u64,
    /// How long a tick lasts, in microseconds.
    pub tick_us: i64,
    /// The true time.
    pub now: Time,
    /// Whether all clients have been told to stand, for long enough that everything should have settled.
    pub is_rested: bool,
    /// Within this distance everybody is heard, in metres.
    pub reach: f32,
    /// Beyond this distance nobody is heard, in metres.
    pub reach_max: f32,
    /// After so long without disturbance a client knows whom it hears, in microseconds.
    pub settled_us: i64,
    /// Everything there is, by name.
    pub truth: &'a [TruthObject],
    /// What the server sent since the last tick.
    pub sent: &'a [SentBytes],
    /// The clients that mean well.
    pub clients: &'a mut [ClientState],
}

impl Observed<'_> {
    /// The object of this name.
    pub fn object(&self, id: ObjectId) -> Option<&TruthObject> {
        object(self.truth, id)
    }
}

/// The object of this name, in a list by name.
pub fn object(truth: &[TruthObject], id: ObjectId) -> Option<&TruthObject> {
    truth.binary_search_by_key(&id, |object| object.id).ok().map(|at| &truth[at])
}

/// The distance of two places, in metres.
pub fn distance(one: GridPoint, other: GridPoint) -> f64 {
    one.position().as_dvec3().distance(other.position().as_dvec3())
}

/// Watches one promise.
pub trait Checker {
    /// The promise, in a word or two.
    fn name(&self) -> &'static str;
    /// Looks at a tick, and says whether the promise was kept in it.
    fn look(&mut self, observed: &mut Observed<'_>, promise: &mut Promise);
}

/// All promises.
pub fn all() -> Vec<Box<dyn Checker>> {
    vec![
        Box::new(Overlap),
        Box::new(Heard::default()),
        Box::new(Overheard::default()),
        Box::new(Reconciled::default()),
        Box::new(Doubled::default()),
        Box::new(Shown::default()),
        Box::new(Fair::default()),
    ]
}

/// Everything there is in a world, by name.
pub fn truth_of(world: &World) -> Vec<TruthObject> {
    let mut truth: Vec<TruthObject> = world
        .objects()
        .map(|object| TruthObject {
            id: object.id,
            kind: object.kind,
            at: object.at,
            turn: object.turn,
            name: object.name.to_owned(),
            owner: object.owner,
            solid: upright(object.shape, object.kind, object.turn)
                .filter(|_| object.policy != world::ContactPolicy::PassThrough),
        })
        .collect();
    truth.sort_by_key(|object| object.id);
    truth
}

fn upright(shape: &shapes::Shape, kind: Kind, turn: Turn) -> Option<([i64; 3], i64)> {
    use shapes::Shape;
    let steps = |metres: f32| (f64::from(metres) * f64::from(space::snap::STEPS_PER_METRE)).round() as i64;
    let is_turned = turn != Turn::IDENTITY;
    match shape {
        Shape::Sphere { radius } => Some(([0; 3], steps(*radius))),
        // An avatar's capsule stays upright however it is turned.
        Shape::Capsule { half_height, radius } if kind == Kind::Avatar || !is_turned => {
            Some(([0, steps(*half_height), 0], steps(*radius)))
        }
        Shape::Box { half } if !is_turned => Some((half.to_array().map(steps), 0)),
        _ => None,
    }
}

/// The centre of a box of places, for messages.
pub fn metres(at: GridPoint) -> Vec3 {
    at.position()
}
