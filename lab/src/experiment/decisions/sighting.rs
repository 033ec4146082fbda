//! Two objects of two hosts run into each other: what each host knows, and when it sees them collide.
//!
//! Hosts have clocks of their own, change speed at random, and hear each other over links that delay, lose, double and
//! reorder. Nothing is decided here; it is what deciders have to work with.

use motion::decision::Digest;
use sim::link::{LinkSettings, Pipe};
use space::workload::Random;
use space::{DVec3, Time};

/// An epoch, in microseconds.
pub const EPOCH_US: i64 = 100_000;
/// No clock is off by more than this from the session's, in microseconds.
pub const CLOCK_ERROR_US: i64 = 10_000;
/// Sum of the radii, in metres.
pub const RADIUS: f64 = 2.0;
/// How long a host waits between updates of its motion, in microseconds.
const UPDATE_US: i64 = 50_000;
/// A host's frame, in microseconds.
const FRAME_US: i64 = 16_667;
/// The longest encounter, in epochs.
const EPOCHS_MAX: u32 = 200;

#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    /// The longest way of a message, in microseconds; the shortest is a fifth of it.
    pub latency_us_max: i64,
    /// The share of messages lost.
    pub loss: f64,
    /// How many digests a message carries.
    pub repeats: u32,
}

/// A host's object: a speed along the line between the two, which changes now and then, at times backwards.
#[derive(Clone, Debug)]
struct Mover {
    /// Since when, from where, how fast; ascending.
    legs: Vec<(Time, DVec3, DVec3)>,
    /// From when on the user looks at the other, or away.
    looks: Vec<(Time, bool)>,
}

impl Mover {
    fn new(random: &mut Random, start: DVec3, direction: DVec3) -> Mover {
        let mut mover = Mover { legs: Vec::new(), looks: Vec::new() };
        let (mut at, mut pos) = (Time::default(), start);
        while at.micros() < i64::from(EPOCHS_MAX) * EPOCH_US {
            let vel = direction * f64::from(random.between(-3.0, 8.0));
            mover.legs.push((at, pos, vel));
            let until = at + i64::from(random.whole(200_000, 2_500_000));
            pos += vel * until.seconds_since(at);
            at = until;
        }
        let (mut at, mut sees) = (Time::default(), random.unit() < 0.6);
        while at.micros() < i64::from(EPOCHS_MAX) * EPOCH_US {
            mover.looks.push((at, sees));
            at = at + i64::from(random.whole(400_000, 4_000_000));
            sees = !sees;
        }
        mover
    }

    fn state(&self, at: Time) -> (DVec3, DVec3) {
        let leg = self.legs.partition_point(|leg| leg.0 <= at).saturating_sub(1);
        let (since, pos, vel) = self.legs[leg];
        (pos + vel * at.seconds_since(since), vel)
    }

    fn sees(&self, at: Time) -> bool {
        self.looks[self.looks.partition_point(|look| look.0 <= at).saturating_sub(1)].1
    }
}

/// What one host knows when it sees the collision.
#[derive(Clone, Debug)]
pub struct HostView {
    /// When it sees the collision, by its own clock.
    pub detected: Time,
    /// Its own digests, one per epoch, as it made them.
    pub own: Vec<Digest>,
    /// The other's digests that had arrived, ascending by epoch.
    pub heard: Vec<Digest>,
    /// Its own states as updates, by its own clock: stamp and values.
    pub own_updates: Vec<(Time, Digest)>,
    /// The other's updates that had arrived, ascending by stamp.
    pub heard_updates: Vec<(Time, Digest)>,
}

/// An encounter, up to where both hosts have seen the collision.
#[derive(Clone, Debug)]
pub struct Sighting {
    /// The lower host, then the higher.
    pub hosts: [HostView; 2],
}

/// Objects that have not met after this number of tries never will.
const TRIES_MAX: u64 = 64;

/// Plays the encounter that this seed stands for: the first of its tries in which both hosts see a collision.
pub fn sighting(conditions: Conditions, seed: u64) -> Sighting {
    let tries = (0..TRIES_MAX).map(|number| seed.wrapping_add(number << 32));
    let mut met = tries.filter_map(|seed| attempt(conditions, seed));
    met.next().expect("two that mostly approach meet sooner or later")
}

fn attempt(conditions: Conditions, seed: u64) -> Option<Sighting> {
    let mut random = Random::new(seed);
    let gap = f64::from(random.between(10.0, 30.0));
    let aside = DVec3::new(0.0, f64::from(random.between(0.0, 0.5)), 0.0);
    let movers = [
        Mover::new(&mut random, DVec3::new(-0.5 * gap, 0.0, 0.0), DVec3::X),
        Mover::new(&mut random, DVec3::new(0.5 * gap, 0.0, 0.0) + aside, -DVec3::X),
    ];
    let mut clock_error = || i64::from(random.whole(0, 2 * CLOCK_ERROR_US as u32 + 1)) - CLOCK_ERROR_US;
    let errors = [clock_error(), clock_error()];
    let link = LinkSettings {
        latency_us_min: conditions.latency_us_max / 5,
        latency_us_max: conditions.latency_us_max,
        loss: conditions.loss,
        duplicates: 0.05,
        ..LinkSettings::default()
    };
    let hosts = [0, 1].map(|index| {
        let (own, other) = (&movers[index], &movers[1 - index]);
        let link = |number: u64| (link, seed.wrapping_mul(8).wrapping_add(number + 2 * index as u64));
        host(own, other, errors[index], errors[1 - index], conditions.repeats, link(0), link(1))
    });
    let [one, other] = hosts;
    Some(Sighting { hosts: [one?, other?] })
}

/// One host: it hears the other over the two links, and looks at every frame whether they touch. Its clock, and the
/// other's, show the session's time plus an error.
fn host(
    own: &Mover,
    other: &Mover,
    own_error: i64,
    other_error: i64,
    repeats: u32,
    update_link: (LinkSettings, u64),
    digest_link: (LinkSettings, u64),
) -> Option<HostView> {
    // What the other sends, at true times; stamps are by its clock.
    let mut updates: Pipe<(Time, Digest)> = Pipe::new(update_link.0, update_link.1);
    let mut digests: Pipe<Vec<Digest>> = Pipe::new(digest_link.0, digest_link.1);
    let end = i64::from(EPOCHS_MAX) * EPOCH_US;
    let (mut next_stamp, mut next_epoch) = (0, 0);
    let made = |mover: &Mover, error: i64, epoch: u32| {
        digest_of(mover, epoch, Time::from_micros(i64::from(epoch) * EPOCH_US - error))
    };
    let mut newest: Option<(Time, Digest)> = None;

    let mut host = HostView {
        detected: Time::default(),
        own: Vec::new(),
        heard: Vec::new(),
        own_updates: Vec::new(),
        heard_updates: Vec::new(),
    };
    for frame in 0..end / FRAME_US {
        let now = Time::from_micros(frame * FRAME_US);
        while next_stamp - other_error <= now.micros() {
            let sent_at = Time::from_micros(next_stamp - other_error);
            updates.send(sent_at, (Time::from_micros(next_stamp), digest_of(other, 0, sent_at)));
            next_stamp += UPDATE_US;
        }
        while i64::from(next_epoch) * EPOCH_US - other_error <= now.micros() {
            let from = (next_epoch + 1u32).saturating_sub(repeats);
            let message = (from..=next_epoch).map(|epoch| made(other, other_error, epoch)).collect();
            digests.send(Time::from_micros(i64::from(next_epoch) * EPOCH_US - other_error), message);
            next_epoch += 1;
        }
        while let Some((_, update)) = updates.poll(now) {
            host.heard_updates.push(update);
            if newest.is_none_or(|(stamp, _)| update.0 > stamp) {
                newest = Some(update);
            }
        }
        while let Some((_, message)) = digests.poll(now) {
            host.heard.extend(message);
        }
        let Some((stamp, newest)) = newest else { continue };
        let local = now + own_error;
        let metres = |steps: [i64; 3]| DVec3::from_array(steps.map(|step| step as f64 / 1024.0));
        let seen = metres(newest.pos) + metres(newest.vel) * local.seconds_since(stamp).max(0.0);
        if (own.state(now).0 - seen).length() < RADIUS {
            host.detected = local;
            let epoch = (local.micros().max(0) / EPOCH_US) as u32;
            host.own = (0..=epoch).map(|epoch| made(own, own_error, epoch)).collect();
            host.own_updates = (0..=local.micros().max(0))
                .step_by(UPDATE_US as usize)
                .map(|stamp| (Time::from_micros(stamp), digest_of(own, 0, Time::from_micros(stamp - own_error))))
                .collect();
            host.heard_updates.sort_by_key(|(stamp, _)| *stamp);
            // Repetitions are equal; each digest is worth hearing once.
            host.heard.sort_by_key(|digest| digest.epoch);
            host.heard.dedup();
            return Some(host);
        }
    }
    None
}

fn digest_of(mover: &Mover, epoch: u32, at: Time) -> Digest {
    let (pos, vel) = mover.state(at);
    Digest::new(epoch, pos, vel, mover.sees(at))
}
