//! Two avatars that walk into each other, each moved by its own host or both by a server.

use motion::owner::SendRule;
use motion::{Algorithm, CollisionScene, KinematicState, Owner, Replica, ReplicaSettings};
use sim::link::{LinkSettings, Pipe};
use space::workload::Random;
use space::{DVec3, NodeId, ObjectId, Tick, Time, Vec3};
use world::spec::{AvatarSpec, WorldLimits};
use world::{Act, ContactPolicy, Input, Spec, World};

/// Half the width of an avatar, in metres.
const RADIUS: f64 = 0.3;
/// Metres per second.
const SPEED: f64 = 2.0;
/// A frame, in microseconds.
const FRAME_US: i64 = 33_333;
/// Frames of an encounter at most: eight seconds.
const FRAMES: u32 = 240;
/// What dead reckoning may be wrong by, in metres.
const LIMIT: f64 = 0.1;

/// How collisions are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Each host tests its own moves against the last position that it heard.
    Naive,
    /// Each host tests its own moves against where it predicts the other.
    DeadReckoning,
    /// Clients ask, a server settles.
    Server,
}

impl Way {
    pub const ALL: [Way; 3] = [Way::Naive, Way::DeadReckoning, Way::Server];

    pub fn name(self) -> &'static str {
        match self {
            Way::Naive => "naive",
            Way::DeadReckoning => "dead-reckoning",
            Way::Server => "server",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeetingResult {
    /// How deep the two were inside each other, in metres.
    pub depth_m: f64,
    pub messages: u64,
    pub seconds: f64,
}

/// Lets two avatars meet.
pub fn meet(seed: u64, way: Way, latency_ms: u32, loss: f64) -> MeetingResult {
    let network = LinkSettings { loss, ..LinkSettings::steady(i64::from(latency_ms) * 1_000) };
    let walks = walks(seed);
    match way {
        Way::Server => settled(&walks, network, seed),
        _ => peers(&walks, way, network, seed),
    }
}

/// Where an avatar starts, and the velocity that it wants in each frame, in metres per second.
struct Walk {
    start: DVec3,
    wishes: Vec<DVec3>,
}

/// Two walks that would collide if neither avatar stopped: walks that miss each other are drawn again.
fn walks(seed: u64) -> [Walk; 2] {
    let mut random = Random::new(seed.wrapping_mul(0x9e37_79b9).wrapping_add(17));
    loop {
        let gap = f64::from(random.between(3.0, 8.0));
        let aside = f64::from(random.between(-0.4, 0.4));
        let starts = [DVec3::new(-0.5 * gap, 0.9, 0.0), DVec3::new(0.5 * gap, 0.9, aside)];
        let wishes = [1.0, -1.0].map(|way| {
            let mut angle = 0.0;
            let mut next = 0;
            let frames = (0..FRAMES).map(|frame| {
                if frame == next {
                    // Abrupt turns, which dead reckoning cannot know.
                    angle = f64::from(random.between(-0.7, 0.7));
                    next = frame + random.whole(8, 30);
                }
                DVec3::new(way * libm::cos(angle), 0.0, libm::sin(angle)) * SPEED
            });
            frames.collect::<Vec<DVec3>>()
        });
        let mut places = starts;
        for frame in 0..FRAMES as usize {
            for host in 0..2 {
                places[host] += wishes[host][frame] * seconds();
            }
            if places[0].distance(places[1]) < 2.0 * RADIUS - 0.05 {
                let [first, second] = wishes;
                return [Walk { start: starts[0], wishes: first }, Walk { start: starts[1], wishes: second }];
            }
        }
    }
}

fn seconds() -> f64 {
    FRAME_US as f64 * 1e-6
}

/// What a host knows of the other.
enum Known {
    Last(DVec3),
    Replica(Box<Replica>),
}

fn peers(walks: &[Walk; 2], way: Way, network: LinkSettings, seed: u64) -> MeetingResult {
    let scene = CollisionScene::empty();
    let settings = ReplicaSettings { radius: RADIUS, ..ReplicaSettings::default() };
    let mut places = [walks[0].start, walks[1].start];
    let mut known = [1, 0].map(|other: usize| match way {
        Way::Naive => Known::Last(walks[other].start),
        _ => Known::Replica(Box::new(Replica::new(settings))),
    });
    let mut owners = [1, 2].map(|number| {
        let object = ObjectId::new(number).expect("not zero");
        let rule = SendRule { heartbeat_us: 1_000_000, ..SendRule::default() };
        Owner::new(NodeId::new(number), object, Algorithm::Fpw, rule, settings, |update| *update)
    });
    // To each host: positions for the naive, updates for the others.
    let mut positions: [Pipe<DVec3>; 2] = [0, 1].map(|host| Pipe::new(network, seed * 4 + host));
    let mut updates: [Pipe<motion::Update>; 2] = [2, 3].map(|host| Pipe::new(network, seed * 4 + host));
    let mut depth: f64 = 0.0;
    let mut messages = 0;
    for frame in 0..FRAMES {
        let now = Time::from_micros(i64::from(frame) * FRAME_US);
        // Both look, then both move: neither knows what the other does in this very frame.
        let steps: [DVec3; 2] = std::array::from_fn(|host| {
            let other = match &mut known[host] {
                Known::Last(place) => {
                    while let Some((_, heard)) = positions[host].poll(now) {
                        *place = heard;
                    }
                    *place
                }
                Known::Replica(replica) => {
                    while let Some((_, update)) = updates[host].poll(now) {
                        // Old and doubled ones change nothing.
                        let _ = replica.handle(&update, &scene);
                    }
                    replica.predict(now, &scene).map_or(walks[1 - host].start, |predicted| predicted.pos)
                }
            };
            let step = walks[host].wishes[frame as usize] * seconds();
            let is_free = (places[host] + step).distance(other) >= 2.0 * RADIUS;
            if is_free { step } else { DVec3::ZERO }
        });
        for host in 0..2 {
            places[host] += steps[host];
            match way {
                Way::Naive => {
                    messages += 1;
                    positions[1 - host].send(now, places[host]);
                }
                _ => {
                    let mut truth = KinematicState::at_rest(now, places[host]);
                    truth.vel = steps[host] / seconds();
                    if let Ok(frame) = owners[host].frame(&truth, None, LIMIT, &scene) {
                        for update in frame.update.into_iter().chain(frame.repeat) {
                            messages += 1;
                            updates[1 - host].send(now, update);
                        }
                    }
                }
            }
        }
        depth = depth.max(2.0 * RADIUS - places[0].distance(places[1]));
    }
    // Rounding may let two that stand at arm's length touch in the last digit.
    let depth_m = if depth > 1e-9 { depth } else { 0.0 };
    MeetingResult { depth_m, messages, seconds: f64::from(FRAMES) * seconds() }
}

/// Both are clients: they ask, the server settles and tells both.
fn settled(walks: &[Walk; 2], network: LinkSettings, seed: u64) -> MeetingResult {
    let mut world = World::new(field()).expect("an empty field is a world");
    let joins: Vec<Input> = (0..2)
        .map(|host| {
            let at = Some((walks[host].start * DVec3::new(1.0, 0.0, 1.0)).as_vec3());
            let act = Act::Join { name: format!("walker {host}").into(), avatar: 0, at };
            Input { sender: NodeId::new(1 + host as u64), sequence: 1, made_for: Tick::new(1), act }
        })
        .collect();
    world.step(&joins);
    let avatars = [1, 2].map(|sender| world.avatar_of(NodeId::new(sender)).expect("both found a place"));
    let mut requests: [Pipe<DVec3>; 2] = [0, 1].map(|host| Pipe::new(network, seed * 4 + host));
    let (mut depth, mut messages): (f64, u64) = (0.0, 0);
    let mut sequence = 1;
    for frame in 0..FRAMES {
        let now = Time::from_micros(i64::from(frame) * FRAME_US);
        let mut inputs = Vec::new();
        for host in 0..2 {
            requests[host].send(now, walks[host].wishes[frame as usize]);
            let mut wish = None;
            while let Some((_, heard)) = requests[host].poll(now) {
                wish = Some(heard);
            }
            sequence += 1;
            inputs.extend(wish.map(|wish| Input {
                sender: NodeId::new(1 + host as u64),
                sequence,
                made_for: world.tick().next(),
                act: Act::Move { velocity: wish.as_vec3() },
            }));
            // A request up, a state down.
            messages += 2;
        }
        world.step(&inputs);
        let places = avatars.map(|id| world.object(id).expect("nobody leaves").position().as_dvec3());
        let level = DVec3::new(places[0].x - places[1].x, 0.0, places[0].z - places[1].z);
        let overlap = 2.0 * RADIUS - level.length();
        if world.first_overlap().is_some() {
            depth = depth.max(overlap.max(f64::MIN_POSITIVE));
        }
    }
    MeetingResult { depth_m: depth, messages, seconds: f64::from(FRAMES) * seconds() }
}

fn field() -> Spec {
    Spec {
        name: "field".to_owned(),
        sky: [0; 3],
        low: Vec3::new(-40.0, 0.0, -40.0),
        high: Vec3::new(40.0, 10.0, 40.0),
        gravity: 9.81,
        tick_rate: 30,
        limits: WorldLimits::default(),
        spawns: Vec::new(),
        avatars: vec![AvatarSpec {
            name: "walker".to_owned(),
            radius: RADIUS as f32,
            height: 1.8,
            policy: ContactPolicy::Block,
        }],
        objects: Vec::new(),
        crowd: None,
    }
}
