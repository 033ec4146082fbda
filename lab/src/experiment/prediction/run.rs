//! One owner, one observer, one link: how far is the replica from the truth?

use motion::adaptive::{Adaptive, MovingBall, closest};
use motion::collision_prediction::CollisionMode;
use motion::convergence::{Convergence, ConvergenceSettings, Display, Shown};
use motion::owner::{Lead, Owner, Repeat, SendRule};
use motion::replica::{Replica, ReplicaSettings};
use motion::scene::SceneObject;
use motion::state::Update;
use serde::Serialize;
use sim::link::{LinkSettings, Pipe};
use space::{DVec3, NodeId, ObjectId, Time};

use super::method::{Ahead, Collisions, TrackingMethod};
use super::path::{COLLISIONS_US, DURATION_US, MotionPath, WINDOWS_US};

/// The owner's frames per second.
pub const OWNER_HZ: i64 = 60;
/// Errors count from here on, in microseconds: before, some observers have no update yet.
pub const COUNTED_FROM_US: i64 = 500_000;
/// Half the length of a window around a closest approach, in microseconds.
const WINDOW_US: i64 = 400_000;
/// How long after a collision its error is looked for, in microseconds.
const AFTER_COLLISION_US: i64 = 500_000;

#[derive(Clone, Copy, Debug)]
pub struct Circumstances {
    /// One-way latency, in microseconds.
    pub latency_us: i64,
    /// The observer's frames per second.
    pub observer_hz: i64,
    /// The share of messages lost.
    pub loss: f64,
    pub seed: u64,
    /// How what is shown follows what is predicted.
    pub convergence: Convergence,
}

impl Circumstances {
    /// 60 frames per second and no loss.
    pub fn clean(latency_us: i64) -> Circumstances {
        Circumstances { latency_us, observer_hz: 60, loss: 0.0, seed: 1, convergence: Convergence::Jump }
    }
}

/// An observer's frame.
#[derive(Clone, Copy, Debug)]
pub struct ObservedFrame {
    pub at: Time,
    /// Distance of the replica from the truth, in metres.
    pub error: f64,
    /// How deep the replica is in a wall, in metres.
    pub penetration: f64,
    pub pos: DVec3,
    /// Distance of what is shown from the truth, in metres.
    pub shown_error: f64,
    /// How far what is shown is from where its own motion would have brought it since the last frame, in metres.
    pub jerk: f64,
}

/// All that was seen and sent.
#[derive(Clone, Debug, Default)]
pub struct TrackingRun {
    /// The observer's frames.
    pub seen: Vec<ObservedFrame>,
    /// When messages were sent, repetitions included.
    pub sent: Vec<Time>,
    /// Bytes of all messages.
    pub bytes: u64,
}

/// Lets an owner move along a path, and an observer watch.
pub fn run(method: &TrackingMethod, path: &MotionPath, circumstances: Circumstances) -> TrackingRun {
    let Circumstances { latency_us, observer_hz, loss, seed, convergence } = circumstances;
    let frame_us = (1_000_000 + observer_hz / 2) / observer_hz;
    let mut next_seen = Time::from_micros(frame_us / 2);
    let (ghost, seen) = replica_settings(method, path, next_seen, frame_us);
    let identity: fn(&Update) -> Update = |update| *update;
    let object = ObjectId::new(1).expect("one is a name");
    let mut owner = Owner::new(
        NodeId::new(1),
        object,
        method.algorithm,
        send_rule(method, latency_us, loss > 0.0),
        ghost,
        identity,
    );
    let mut adaptive = method.adaptive.map(Adaptive::new);
    let mut observer = Observer {
        replica: Replica::new(seen),
        display: Display::new(ConvergenceSettings { convergence, ..ConvergenceSettings::default() }),
        shown: None,
    };
    let mut link = Pipe::new(LinkSettings { loss, ..LinkSettings::steady(latency_us) }, seed);
    let mut run = TrackingRun::default();

    let mut last_frame = Time::from_micros(-1);
    for frame in 0..=DURATION_US * OWNER_HZ / 1_000_000 {
        let now = Time::from_micros(frame * 1_000_000 / OWNER_HZ);
        while next_seen < now {
            observer.frame(&mut link, path, next_seen, &mut run);
            next_seen = next_seen + frame_us;
        }
        let truth = path.state(now);
        let limit = adaptive.as_mut().map_or(method.limit, |adaptive| {
            let own = MovingBall { pos: truth.pos, vel: truth.vel, acc: truth.acc, radius: path.radius };
            let standing =
                |&(pos, radius): &(DVec3, f64)| MovingBall { pos, vel: DVec3::ZERO, acc: DVec3::ZERO, radius };
            let remotes: Vec<MovingBall> = path.remotes.iter().map(standing).collect();
            let proximity = closest(&own, &remotes, adaptive.settings());
            adaptive.limit(proximity)
        });
        let collision = path.collision(last_frame, now);
        let sent = owner.frame(&truth, collision, limit, &path.scene).expect("the truth is finite");
        for update in sent.repeat.into_iter().chain(sent.update) {
            link.send(now, update);
            run.sent.push(now);
            run.bytes += u64::from(method.message_bytes());
        }
        last_frame = now;
    }
    run
}

struct Observer {
    replica: Replica,
    display: Display,
    /// What was shown in the last frame, and when that was.
    shown: Option<(Time, Shown)>,
}

impl Observer {
    fn frame(&mut self, link: &mut Pipe<Update>, path: &MotionPath, at: Time, run: &mut TrackingRun) {
        let scene = &path.scene;
        let before = self.replica.predict(at, scene).map(|old| self.display.shown(at, &old, path.radius, scene));
        let mut has_news = false;
        while let Some((_, update)) = link.poll(at) {
            // Duplicates and latecomers are refused; that is the replica's business.
            has_news |= self.replica.handle(&update, scene).is_ok();
        }
        let Some(predicted) = self.replica.predict(at, scene) else { return };
        if let Some(before) = before.filter(|_| has_news) {
            self.display.updated(at, before, &predicted, false);
        }
        let shown = self.display.shown(at, &predicted, path.radius, scene);
        let jerk = self.shown.map_or(0.0, |(last, old)| {
            let half = 0.5 * at.seconds_since(last);
            (shown.pos - old.pos - (old.vel + shown.vel) * half).length()
        });
        self.shown = Some((at, shown));
        let truth = path.state(at).pos;
        let depth = |wall: &SceneObject| -wall.separation(at, predicted.pos, path.radius).0;
        run.seen.push(ObservedFrame {
            at,
            error: (predicted.pos - truth).length(),
            penetration: scene.objects().iter().map(depth).fold(0.0, f64::max),
            pos: predicted.pos,
            shown_error: (shown.pos - truth).length(),
            jerk,
        });
    }
}

/// The ghost's and the observer's.
fn replica_settings(
    method: &TrackingMethod,
    path: &MotionPath,
    frame_at: Time,
    frame_us: i64,
) -> (ReplicaSettings, ReplicaSettings) {
    let (ghost, seen) = match method.collisions {
        Collisions::Off => (CollisionMode::Off, CollisionMode::Off),
        Collisions::Discrete => (CollisionMode::Off, CollisionMode::Discrete { frame_at, frame_us }),
        Collisions::SharedExact => (CollisionMode::Exact, CollisionMode::Exact),
    };
    let settings = ReplicaSettings { radius: path.radius, ..ReplicaSettings::default() };
    (ReplicaSettings { collisions: ghost, ..settings }, ReplicaSettings { collisions: seen, ..settings })
}

fn send_rule(method: &TrackingMethod, latency_us: i64, is_lossy: bool) -> SendRule {
    SendRule {
        heartbeat_us: match method.ahead {
            _ if method.is_floor => 0,
            // Where messages are lost, silence must not last.
            Ahead::Foreseen if is_lossy => 1_000_000,
            _ => 5_000_000,
        },
        event_dv: method.event_dv,
        lead: match method.ahead {
            Ahead::Off => Lead::Off,
            Ahead::Extrapolated => Lead::Extrapolated { us: latency_us },
            Ahead::Foreseen => Lead::Foreseen { us: latency_us },
        },
        halving_us: method.halving_us,
        repeat: match method.ahead {
            _ if method.is_floor => Repeat::Never,
            // An owner that foresees knows its link, too: acknowledgements tell what is lost.
            Ahead::Foreseen if is_lossy => Repeat::Always,
            Ahead::Foreseen => Repeat::Never,
            _ => Repeat::Events,
        },
        prior: method.prior,
        ..SendRule::default()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ErrorSummary {
    /// Mean error, in metres.
    pub mean_m: f64,
    /// Root of the mean square.
    pub rms_m: f64,
    pub max_m: f64,
    pub messages: f64,
    pub messages_per_s: f64,
    pub bytes_per_s: f64,
    /// Deepest penetration of a wall.
    pub penetration_m: f64,
    /// The largest error in the half second after each of the paper's collisions.
    pub at_collision_m: [f64; 5],
    /// The mean error around each closest approach, and in the control.
    pub window_mean_m: [f64; 4],
    /// Messages sent there.
    pub window_messages: [f64; 4],
}

impl TrackingRun {
    /// The frames that count.
    pub fn counted(&self) -> impl Iterator<Item = &ObservedFrame> {
        self.seen.iter().filter(|seen| seen.at.micros() >= COUNTED_FROM_US)
    }

    pub fn summary(&self) -> ErrorSummary {
        let count = self.counted().count().max(1) as f64;
        let seconds = DURATION_US as f64 * 1e-6;
        let within = |at: Time, from: i64, to: i64| at.micros() >= from && at.micros() <= to;
        let window = |tp: i64| self.counted().filter(move |seen| within(seen.at, tp - WINDOW_US, tp + WINDOW_US));
        ErrorSummary {
            mean_m: self.counted().map(|seen| seen.error).sum::<f64>() / count,
            rms_m: (self.counted().map(|seen| seen.error * seen.error).sum::<f64>() / count).sqrt(),
            max_m: self.counted().map(|seen| seen.error).fold(0.0, f64::max),
            messages: self.sent.len() as f64,
            messages_per_s: self.sent.len() as f64 / seconds,
            bytes_per_s: self.bytes as f64 / seconds,
            penetration_m: self.counted().map(|seen| seen.penetration).fold(0.0, f64::max),
            at_collision_m: COLLISIONS_US.map(|tc| {
                let after = self.counted().filter(|seen| within(seen.at, tc, tc + AFTER_COLLISION_US));
                after.map(|seen| seen.error).fold(0.0, f64::max)
            }),
            window_mean_m: WINDOWS_US
                .map(|tp| window(tp).map(|seen| seen.error).sum::<f64>() / window(tp).count().max(1) as f64),
            window_messages: WINDOWS_US
                .map(|tp| self.sent.iter().filter(|&&at| within(at, tp - WINDOW_US, tp + WINDOW_US)).count() as f64),
        }
    }
}

impl ErrorSummary {
    /// The mean of several, number by number; `max_m` is the mean of maxima, `penetration_m` the deepest.
    pub fn mean(all: &[ErrorSummary]) -> ErrorSummary {
        let count = all.len().max(1) as f64;
        let mean = |of: &dyn Fn(&ErrorSummary) -> f64| all.iter().map(of).sum::<f64>() / count;
        ErrorSummary {
            mean_m: mean(&|one| one.mean_m),
            rms_m: mean(&|one| one.rms_m),
            max_m: mean(&|one| one.max_m),
            messages: mean(&|one| one.messages),
            messages_per_s: mean(&|one| one.messages_per_s),
            bytes_per_s: mean(&|one| one.bytes_per_s),
            penetration_m: all.iter().map(|one| one.penetration_m).fold(0.0, f64::max),
            at_collision_m: std::array::from_fn(|i| mean(&|one| one.at_collision_m[i])),
            window_mean_m: std::array::from_fn(|i| mean(&|one| one.window_mean_m[i])),
            window_messages: std::array::from_fn(|i| mean(&|one| one.window_messages[i])),
        }
    }
}
