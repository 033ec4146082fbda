//! The methods that are compared, under the names that tables, plots and the paper's discussion use.

use motion::adaptive::{AdaptiveSettings, Tightening};
use motion::dead_reckoning::Algorithm;
use motion::trend::Prior;

/// How collisions are predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collisions {
    Off,
    /// As in the paper: at the observer's frames, and not by the ghost.
    Discrete,
    /// At contact times, by observer and ghost alike.
    SharedExact,
}

/// When to send ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ahead {
    Off,
    /// By the error's present speed and acceleration, over the latency.
    Extrapolated,
    /// By what an update made now would change on arrival.
    Foreseen,
}

/// A way to tell observers where an object is.
#[derive(Clone, Copy, Debug)]
pub struct TrackingMethod {
    pub name: &'static str,
    /// How observers go on from an update.
    pub algorithm: Algorithm,
    /// How collisions are predicted.
    pub collisions: Collisions,
    /// A velocity after a collision that differs from the ghost's by more than this is sent at once, in m/s.
    pub event_dv: Option<f64>,
    /// Whether and how the limit falls near remote objects.
    pub adaptive: Option<AdaptiveSettings>,
    /// Whether updates are sent ahead of need.
    pub ahead: Ahead,
    /// Whether an update is sent every frame: as good as it gets with this predictor.
    pub is_floor: bool,
    /// How far the ghost may be off, in metres.
    pub limit: f64,
    /// What the trend's fit believes beforehand.
    pub prior: Prior,
    /// After this much silence the limit is halved.
    pub halving_us: Option<i64>,
}

/// The limit of all methods but `best`, in metres.
pub const LIMIT: f64 = 0.5;
/// What makes a collision worth a message in all methods but `best`, in metres per second.
const EVENT_DV: f64 = 0.5;

impl TrackingMethod {
    /// All methods, in the order of the tables.
    pub fn all() -> Vec<TrackingMethod> {
        let plain = |name, algorithm| TrackingMethod {
            name,
            algorithm,
            collisions: Collisions::Off,
            event_dv: None,
            adaptive: None,
            ahead: Ahead::Off,
            is_floor: false,
            limit: LIMIT,
            prior: Prior::default(),
            halving_us: None,
        };
        let binary = AdaptiveSettings { limit: LIMIT, ..AdaptiveSettings::default() };
        let graded = AdaptiveSettings { tightening: Tightening::Graded, tau: 1.0, ..binary };
        let discrete = |method: TrackingMethod| TrackingMethod { collisions: Collisions::Discrete, ..method };
        let adaptive = |method: TrackingMethod| TrackingMethod { adaptive: Some(binary), ..discrete(method) };
        let shared = |method: TrackingMethod| TrackingMethod {
            collisions: Collisions::SharedExact,
            event_dv: Some(EVENT_DV),
            ..method
        };
        let (first, second, history) = (Algorithm::Fpw, Algorithm::Fvw, Algorithm::PositionHistory);
        vec![
            plain("a1", first),
            plain("a2", second),
            discrete(plain("b1", first)),
            discrete(plain("b2", second)),
            adaptive(plain("c1", first)),
            adaptive(plain("c2", second)),
            plain("d0", history),
            adaptive(plain("d", history)),
            shared(plain("e1", first)),
            shared(plain("e2", second)),
            TrackingMethod { adaptive: Some(graded), ..shared(plain("f2", second)) },
            TrackingMethod { ahead: Ahead::Extrapolated, ..shared(plain("g2", second)) },
            TrackingMethod { ahead: Ahead::Extrapolated, adaptive: Some(binary), ..shared(plain("h2", second)) },
            TrackingMethod { is_floor: true, ..shared(plain("floor1", first)) },
            TrackingMethod { is_floor: true, ..shared(plain("floor2", second)) },
            TrackingMethod::best(),
        ]
    }

    /// Ours: accelerations that go on as they did, bounces shared, updates sent when they will matter.
    ///
    /// Its numbers were fixed on corridors with seeds from 1001 on, for at most 2.5 messages per second at 200 ms; the
    /// corridors it is judged by, seeds 1 to 40, came after.
    pub fn best() -> TrackingMethod {
        TrackingMethod {
            name: "best",
            algorithm: Algorithm::Trend,
            collisions: Collisions::SharedExact,
            event_dv: Some(3.0),
            adaptive: None,
            ahead: Ahead::Foreseen,
            is_floor: false,
            limit: 0.7,
            prior: Prior::default(),
            halving_us: Some(1_000_000),
        }
    }

    pub fn named(name: &str) -> Option<TrackingMethod> {
        TrackingMethod::all().into_iter().find(|method| method.name == name)
    }

    /// The same with another base limit.
    #[must_use]
    pub fn with_limit(self, limit: f64) -> TrackingMethod {
        let adaptive = self.adaptive.map(|settings| AdaptiveSettings {
            limit,
            limit_close: settings.limit_close.min(limit),
            ..settings
        });
        TrackingMethod { limit, adaptive, ..self }
    }

    /// Bytes of one update: ids, number, stamp, algorithm and flags are 30, a vector is three `f32`.
    pub fn message_bytes(&self) -> u32 {
        let (vectors, numbers) = match self.algorithm {
            Algorithm::PositionHistory => (1, 0),
            Algorithm::Fpw => (2, 0),
            // One more acceleration, and two weights.
            Algorithm::Trend => (4, 2),
            _ => (3, 0),
        };
        30 + 12 * vectors + 4 * numbers
    }
}
