//! After each frame of the owner the ghost is within the limit, and observers' errors are within the bounds of
//! `bounds`: for random motion, and for motion made to exceed them.

mod walk;

use kinesphere_motion::bounds::{self, Delay};
use kinesphere_motion::scene::CollisionScene;
use kinesphere_motion::{Algorithm, KinematicState, Owner, Replica, ReplicaSettings, SendRule};
use space::workload::Random;
use space::{DQuat, DVec3, NodeId, ObjectId, Time};
use walk::{Walk, algorithms, room};

const FRAME_US: i64 = 16_667;

fn owner(algorithm: Algorithm) -> Owner {
    let object = ObjectId::new(1).unwrap();
    Owner::new(NodeId::new(1), object, algorithm, SendRule::default(), ReplicaSettings::default(), |update| *update)
}

#[test]
fn the_ghost_is_within_the_limit() {
    let scene = room();
    for seed in 0..40 {
        for algorithm in algorithms() {
            let mut owner = owner(algorithm);
            let mut truth = Walk::new(seed, 30.0);
            for _ in 0..200 {
                let state = truth.step(FRAME_US);
                owner.frame(&state, None, 0.2, &scene).unwrap();
                let ghost = owner.ghost(state.stamp, &scene).unwrap();
                let error = (ghost.pos - state.pos).length();
                assert!(error <= 0.2, "seed {seed}, {algorithm:?}: {error}");
            }
        }
    }
}

/// A motion along one axis whose derivative of this order is constant in each frame.
struct Bang {
    state: KinematicState,
    order: u32,
    size: f64,
}

impl Bang {
    fn new(order: u32, size: f64) -> Bang {
        Bang { state: KinematicState::at_rest(Time::default(), DVec3::ZERO), order, size }
    }

    /// Moves on by a frame with that derivative at plus or minus `size`.
    fn step(&mut self, sign: f64) -> KinematicState {
        let dt = FRAME_US as f64 * 1e-6;
        let KinematicState { pos, vel, acc, .. } = self.state;
        let push = DVec3::X * (sign * self.size);
        if self.order == 2 {
            self.state.acc = push;
            self.state.pos = pos + vel * dt + push * (dt * dt / 2.0);
            self.state.vel = vel + push * dt;
        } else {
            self.state.pos = pos + vel * dt + acc * (dt * dt / 2.0) + push * (dt * dt * dt / 6.0);
            self.state.vel = vel + acc * dt + push * (dt * dt / 2.0);
            self.state.acc = acc + push * dt;
        }
        self.state.stamp = self.state.stamp + FRAME_US;
        self.state
    }
}

/// The largest error of an observer at this latency.
fn largest_error(
    algorithm: Algorithm,
    limit: f64,
    latency_us: i64,
    frames: usize,
    mut motion: impl FnMut(&mut Owner) -> KinematicState,
) -> f64 {
    let scene = CollisionScene::empty();
    let mut owner = owner(algorithm);
    let mut observer = Replica::new(ReplicaSettings::default());
    let mut under_way = std::collections::VecDeque::new();
    let mut worst = 0.0_f64;
    for _ in 0..frames {
        let truth = motion(&mut owner);
        let sent = owner.frame(&truth, None, limit, &scene).unwrap();
        under_way.extend(sent.update.map(|update| (truth.stamp + latency_us, update)));
        while under_way.front().is_some_and(|(arrival, _)| *arrival <= truth.stamp) {
            observer.handle(&under_way.pop_front().unwrap().1, &scene).unwrap();
        }
        if let Some(seen) = observer.predict(truth.stamp, &scene) {
            worst = worst.max((seen.pos - truth.pos).length());
        }
    }
    worst
}

fn delay(latency_us: i64) -> Delay {
    let frame = FRAME_US as f64 * 1e-6;
    Delay { latency: latency_us as f64 * 1e-6, owner_frame: frame, observer_frame: frame }
}

/// Signs made to exceed a bound: random switches, regular ones, and swings from one side of the limit to the other.
fn attack(seed: u64, frame: usize, ghost_error: f64, random: &mut Random, sign: &mut f64) -> f64 {
    match seed % 4 {
        0 => {
            if random.whole(0, 12) == 0 {
                *sign = -*sign
            }
        }
        1 => {
            if frame.is_multiple_of(3 + seed as usize) {
                *sign = -*sign
            }
        }
        // Away from the ghost.
        2 => *sign = if ghost_error == 0.0 { *sign } else { 1f64.copysign(ghost_error) },
        _ => {
            if ghost_error.abs() > 0.8 * 0.3 {
                *sign = -1f64.copysign(ghost_error)
            }
        }
    }
    *sign
}

#[test]
fn the_published_bounds_hold() {
    for (order, algorithm) in [(2, Algorithm::Fpw), (3, Algorithm::Fvw)] {
        for seed in 0..60 {
            for latency_us in [0, 50_000, 200_000, 400_000] {
                let (limit, size) = (0.3, 8.0);
                let mut random = Random::new(seed);
                let mut bang = Bang::new(order, size);
                let (mut sign, mut frame) = (1.0, 0);
                let (mut acceleration, scene) = (0.0_f64, CollisionScene::empty());
                let worst = largest_error(algorithm, limit, latency_us, 400, |owner| {
                    let ghost = owner.ghost(bang.state.stamp, &scene);
                    let error = ghost.map_or(0.0, |ghost| bang.state.pos.x - ghost.pos.x);
                    frame += 1;
                    let state = bang.step(attack(seed, frame, error, &mut random, &mut sign));
                    let predicted = ghost.map_or(0.0, |ghost| ghost.acc.x);
                    acceleration = acceleration.max((state.acc.x - predicted).abs());
                    state
                });
                let bound = if order == 2 {
                    bounds::first_order(limit, size, delay(latency_us))
                } else {
                    bounds::second_order(limit, acceleration, size, delay(latency_us))
                };
                assert!(worst <= bound, "order {order}, seed {seed}, {latency_us} us: {worst} exceeds {bound}");
            }
        }
    }
}

#[test]
fn the_bound_across_a_kink_holds() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let (limit, speed_max, latency_us) = (0.3, 6.0, 150_000);
        let mut state = KinematicState::at_rest(Time::default(), DVec3::ZERO);
        let worst = largest_error(Algorithm::Fpw, limit, latency_us, 400, |_| {
            if random.whole(0, 15) == 0 {
                state.vel = random.direction().as_dvec3() * speed_max;
            }
            state.pos += state.vel * (FRAME_US as f64 * 1e-6);
            state.stamp = state.stamp + FRAME_US;
            state.rot = DQuat::IDENTITY;
            state
        });
        let bound = bounds::across_a_kink(limit, speed_max * (1.0 + 1e-6), speed_max * (1.0 + 1e-6), delay(latency_us));
        assert!(worst <= bound, "seed {seed}: {worst} exceeds {bound}");
    }
}
