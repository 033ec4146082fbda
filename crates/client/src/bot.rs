//! Clients that move by themselves: company, load and, in simulations, the users.

use space::workload::Random;
use space::{DVec3, Time};
use wire::InputStep;
use wire::pose::nearest_heading;
use wire::state::VELOCITY_PARTS;

use crate::{Client, ClientSettings, Phase};
use wire::{Effect, Event, Participant};

/// What a bot does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// Walks about, turning gently, jumping now and then.
    Wander,
    /// Walks straight to a place, then to another.
    Seek,
    /// Walks where all others of its kind go, and away again.
    Crowd,
    Stand,
}

impl Behaviour {
    /// By the names of the command line.
    pub const ALL: [(&'static str, Behaviour); 4] = [
        ("wander", Behaviour::Wander),
        ("seek", Behaviour::Seek),
        ("crowd", Behaviour::Crowd),
        ("stand", Behaviour::Stand),
    ];
}

/// How long a crowd gathers and disperses, in microseconds.
const GATHERING_US: i64 = 15_000_000;
/// How quickly a wandering bot turns, in radians per second.
const TURN_RATE: f64 = 1.2;
/// A bot that has not come this far in a second tries another way, in metres.
const STUCK_DISTANCE: f64 = 0.2;

/// A client that decides for itself.
#[derive(Clone, Debug)]
pub struct Bot {
    client: Client,
    behaviour: Behaviour,
    random: Random,
    /// Metres per second.
    speed: f64,
    heading: f64,
    /// The heading that a wandering bot turns to.
    aim: f64,
    target: DVec3,
    next_choice: Time,
    /// Where it was a second ago.
    mark: (Time, DVec3),
    is_frozen: bool,
}

impl Bot {
    /// The bot of this seed.
    pub fn new(settings: ClientSettings, behaviour: Behaviour, speed: f64, seed: u64) -> Bot {
        let mut random = Random::new(seed);
        let heading = f64::from(random.unit()) * std::f64::consts::TAU;
        Bot {
            client: Client::new(settings),
            behaviour,
            random,
            speed,
            heading,
            aim: heading,
            target: DVec3::ZERO,
            next_choice: Time::from_micros(i64::MIN),
            mark: (Time::from_micros(i64::MIN), DVec3::ZERO),
            is_frozen: false,
        }
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    pub fn client_mut(&mut self) -> &mut Client {
        &mut self.client
    }

    /// Makes it stand, or go on.
    pub fn freeze(&mut self, is_frozen: bool) {
        self.is_frozen = is_frozen;
    }

    fn decide(&mut self, now: Time) {
        let (Some(own), Some(welcome)) = (self.client.own(), self.client.welcome()) else { return };
        let pos = own.predicted().pos;
        let [low, high] = welcome.bounds.map(|corner| corner.position().as_dvec3());
        let tick_s = f64::from(welcome.tick_us) * 1e-6;
        if self.is_frozen || self.behaviour == Behaviour::Stand {
            self.client.intend(InputStep { heading: nearest_heading(self.heading as f32), ..InputStep::default() });
            return;
        }
        if now - self.mark.0 >= 1_000_000 {
            let is_stuck = (pos - self.mark.1).length() < STUCK_DISTANCE;
            if is_stuck {
                self.next_choice = now;
            }
            self.mark = (now, pos);
        }
        match self.behaviour {
            Behaviour::Wander => {
                if now >= self.next_choice {
                    self.aim = f64::from(self.random.unit()) * std::f64::consts::TAU;
                    self.next_choice = now + i64::from(self.random.whole(2_000_000, 6_000_000));
                }
                let most = TURN_RATE * tick_s;
                self.heading += turn_towards(self.heading, self.aim).clamp(-most, most);
            }
            _ => {
                let gathering = (now.micros().div_euclid(GATHERING_US)).rem_euclid(2) == 0;
                if self.behaviour == Behaviour::Crowd && gathering {
                    self.target = (low + high) * 0.5;
                } else if now >= self.next_choice || (self.target - pos).length() < 1.5 {
                    let mut along = |low: f64, high: f64| low + (high - low) * f64::from(self.random.unit());
                    self.target = DVec3::new(along(low.x, high.x), pos.y, along(low.z, high.z));
                    self.next_choice = now + 12_000_000;
                }
                let way = self.target - pos;
                self.heading = libm::atan2(way.x, way.z);
            }
        }
        let (sin, cos) = (libm::sin(self.heading), libm::cos(self.heading));
        let part = |speed: f64| (speed * f64::from(VELOCITY_PARTS)).round() as i16;
        let is_jump = self.random.unit() < 0.002;
        let velocity = [part(self.speed * sin), 0, part(self.speed * cos)];
        self.client.intend(InputStep { velocity, heading: nearest_heading(self.heading as f32), is_jump });
    }
}

impl Participant for Bot {
    fn handle(&mut self, now: Time, event: Event<'_>) {
        self.client.handle(now, event);
    }

    fn wake(&mut self, now: Time) {
        if now >= self.client.next_wake() && *self.client.phase() == Phase::Joined {
            self.decide(now);
        }
        self.client.wake(now);
    }

    fn next_wake(&self) -> Time {
        self.client.next_wake()
    }

    fn poll(&mut self) -> Option<Effect> {
        self.client.poll()
    }
}

/// The shorter way from one heading to another, in radians.
fn turn_towards(from: f64, to: f64) -> f64 {
    let turn = (to - from).rem_euclid(std::f64::consts::TAU);
    if turn > std::f64::consts::PI { turn - std::f64::consts::TAU } else { turn }
}
