//! What must hold, whatever the network does: one list of promises, one file each.
//!
//! A [`Promise`] looks at facts, [`Observed`], which every simulation gathers in the same form: from servers and their
//! clients, from peers, from the nodes of a cluster; and the bots gather them from what a server told them over a real
//! network. A promise knows nothing of how a server works: handles are followed through the messages, distances are
//! taken anew, overlap is a formula of its own in whole numbers.

mod apart;
mod carried;
mod doubled;
mod fair;
mod heard;
mod one_owner;
mod one_place;
mod one_verdict;
mod reconciled;
mod reunited;
mod same_verdict;
mod score;
mod shown;
mod survives;
mod truthful;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use motion::decision::Verdict;
use space::{DVec3, GridPoint, NodeId, ObjectId, Time, Turn};
use wire::{Channel, CollisionShape, Endpoint};
use world::{Kind, RoundedBox};

pub use apart::Apart;
pub use carried::Carried;
pub use doubled::Doubled;
pub use fair::Fair;
pub use heard::AllHeard;
pub use one_owner::OneOwner;
pub use one_place::OnePlace;
pub use one_verdict::OneVerdict;
pub use reconciled::Reconciled;
pub use reunited::Reunited;
pub use same_verdict::{SETTLED_US, SameVerdict};
pub use score::{Promises, Score};
pub use shown::ShownClose;
pub use survives::Survives;
pub use truthful::Truthful;

/// Looks whether something that must hold does.
pub trait Promise {
    /// Looks at facts of one moment, and notes each check.
    fn look(&mut self, observed: &Observed<'_>, score: &mut Score);
}

/// The list: each promise in a few words, and what looks at it.
pub fn all() -> Vec<(&'static str, Box<dyn Promise>)> {
    vec![
        (Apart::NAME, Box::new(Apart::default())),
        (OneOwner::NAME, Box::new(OneOwner)),
        (Survives::NAME, Box::new(Survives::default())),
        (AllHeard::NAME, Box::new(AllHeard::default())),
        (Truthful::NAME, Box::new(Truthful::default())),
        (OnePlace::NAME, Box::new(OnePlace)),
        (Reconciled::NAME, Box::new(Reconciled::default())),
        (ShownClose::NAME, Box::new(ShownClose::default())),
        (Doubled::NAME, Box::new(Doubled::default())),
        (Fair::NAME, Box::new(Fair::default())),
        (OneVerdict::NAME, Box::new(OneVerdict)),
        (SameVerdict::NAME, Box::new(SameVerdict::default())),
        (Carried::NAME, Box::new(Carried::default())),
        (Reunited::NAME, Box::new(Reunited::default())),
    ]
}

/// Facts of one moment. A list that a simulation does not gather is `None`, and no promise looks at it.
#[derive(Debug, Default)]
pub struct Observed<'a> {
    pub now: Time,
    pub tick: u64,
    pub tick_us: i64,
    /// What happened this long ago has arrived wherever nothing was disturbed since, in microseconds.
    pub patience_us: i64,
    /// Whether the run ends with this look.
    pub is_over: bool,
    pub solids: Option<Vec<SeenSolid>>,
    pub hearings: Option<Vec<Earshot>>,
    pub owned: Option<Vec<Owning>>,
    /// Objects that must have an owner in the end.
    pub expected: Option<&'a BTreeSet<ObjectId>>,
    /// How servers came back from their disks.
    pub recoveries: Vec<Result<(), String>>,
    pub treated: Vec<Treated>,
    pub server: Option<SeenServer<'a>>,
    /// What was told twice and differently.
    pub contradictions: Vec<String>,
    /// How many places were told.
    pub places_told: u64,
    pub avatars: Option<Vec<AvatarSeen>>,
    pub pictures: Option<Vec<ShownObject>>,
    pub peers: Option<SeenPeers<'a>>,
    pub carriers: Vec<Carrier>,
    /// Since when nothing in a cluster is wrong.
    pub well_since: Time,
    pub outage: Option<Outage>,
}

/// A solid in a confirmed state.
#[derive(Clone, Copy, Debug)]
pub struct SeenSolid {
    pub id: ObjectId,
    pub at: GridPoint,
    pub solid: RoundedBox,
    pub is_fixed: bool,
    /// Whether who says so decides about the object. Two others may be seen in one place for a moment, across a border.
    pub is_certain: bool,
}

/// A listener and an object that it may hear of.
#[derive(Clone, Copy, Debug)]
pub struct Earshot {
    pub listener: ObjectId,
    pub speaker: ObjectId,
    pub metres: f64,
    pub is_near: bool,
    pub is_far: bool,
    pub is_heard: bool,
    /// Nothing has kept the listener from hearing since then.
    pub calm_since: Time,
}

#[derive(Clone, Copy, Debug)]
pub struct Owning {
    pub object: ObjectId,
    pub host: usize,
    /// Whether the host has the object, and may own it.
    pub is_right: bool,
}

/// How a participant that follows the rules fares with the others.
#[derive(Clone, Debug)]
pub struct Treated {
    pub host: usize,
    pub name: String,
    /// How many messages it took for wrong.
    pub complaints: u64,
    /// Why it was sent away, if that was for misbehaving, silence or slowness.
    pub sent_away: Option<String>,
}

/// A server's world, and what the server sent since the last look.
#[derive(Debug)]
pub struct SeenServer<'a> {
    /// Sorted by id.
    pub objects: Vec<SeenObject>,
    pub sent: &'a [SentBytes],
    /// Beyond this distance nothing is heard, in metres.
    pub reach_max: f32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SeenObject {
    pub id: ObjectId,
    pub kind: Kind,
    pub at: GridPoint,
    pub turn: Turn,
    pub name: String,
    pub owner: Option<NodeId>,
    pub solid: Option<RoundedBox>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SentBytes {
    pub endpoint: Endpoint,
    /// From which machine, and to which.
    pub from: usize,
    pub to: usize,
    pub channel: Channel,
    pub bytes: Rc<Vec<u8>>,
}

/// What a client makes of its own avatar.
#[derive(Clone, Debug)]
pub struct AvatarSeen {
    pub name: String,
    pub object: ObjectId,
    pub at: GridPoint,
    pub confirmed: DVec3,
    pub predicted: DVec3,
    /// Whether all stand and nothing disturbs the client.
    pub is_settled: bool,
}

/// Where a client shows another object.
#[derive(Clone, Debug)]
pub struct ShownObject {
    pub client: usize,
    pub object: ObjectId,
    pub is_avatar: bool,
    pub shown: DVec3,
    pub at: GridPoint,
    /// How old what was heard of it is, in seconds.
    pub age_s: f64,
}

/// The verdicts that peers hold about contacts.
#[derive(Debug)]
pub struct SeenPeers<'a> {
    /// By host, pair and contact; with the true time of the contact and the hosts of both objects.
    pub verdicts: Vec<HeldVerdict>,
    /// Contacts that are less apart are one contact, in microseconds.
    pub contact_us: i64,
    /// Since when each host is there.
    pub since: &'a [Option<Time>],
    /// Since when two hosts are connected, the lower first.
    pub linked_since: BTreeMap<(usize, usize), Time>,
}

#[derive(Clone, Copy, Debug)]
pub struct HeldVerdict {
    pub host: usize,
    pub verdict: Verdict,
    pub moment: Time,
    pub owners: [usize; 2],
}

/// A user's avatar and what it carries.
#[derive(Clone, Copy, Debug)]
pub struct Carrier {
    pub object: ObjectId,
    pub load: Option<ObjectId>,
    pub node: NodeId,
}

/// Something went wrong on purpose.
#[derive(Clone, Debug)]
pub struct Outage {
    pub until: Time,
    /// Whether all nodes belong to the plan and may act.
    pub is_together: bool,
    /// What each node thinks, for messages.
    pub states: String,
}

/// The object of this id, in a list by id.
pub fn object(objects: &[SeenObject], id: ObjectId) -> Option<&SeenObject> {
    objects.binary_search_by_key(&id, |object| object.id).ok().map(|at| &objects[at])
}

/// The distance in metres.
pub fn distance(one: GridPoint, other: GridPoint) -> f64 {
    one.position().as_dvec3().distance(other.position().as_dvec3())
}

/// The upright solid of a shape as users are told it.
pub fn solid_of(shape: &CollisionShape) -> Option<RoundedBox> {
    match shape {
        CollisionShape::Sphere { radius } => Some(RoundedBox { core: [0; 3], radius: steps(*radius) }),
        CollisionShape::Capsule { half_height, radius } => {
            Some(RoundedBox { core: [0, steps(*half_height), 0], radius: steps(*radius) })
        }
        CollisionShape::Box { half } => Some(RoundedBox { core: half.map(steps), radius: 0 }),
        CollisionShape::Model { .. } => None,
    }
}

/// Metres in grid steps; sizes are told exactly.
pub(crate) fn steps(metres: f32) -> i32 {
    (f64::from(metres) * f64::from(space::snap::STEPS_PER_METRE)).round() as i32
}

/// Some of the promises, and how they were kept so far.
pub struct Watcher(Vec<(Score, Box<dyn Promise>)>);

impl Watcher {
    /// Watches those of these names.
    pub fn new(names: &[&str]) -> Watcher {
        let promises: Vec<_> = all().into_iter().filter(|(name, _)| names.contains(name)).collect();
        assert_eq!(promises.len(), names.len(), "every name is in the list of promises");
        Watcher(promises.into_iter().map(|(name, promise)| (Score::new(name), promise)).collect())
    }

    pub fn look(&mut self, observed: &Observed<'_>) {
        self.0.iter_mut().for_each(|(score, promise)| promise.look(observed, score));
    }

    pub fn promises(&self) -> Promises {
        self.0.iter().map(|(score, _)| score.clone()).collect()
    }
}
