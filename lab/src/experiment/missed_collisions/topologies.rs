//! Messages by topology, as users grow: paper 002's survey of topologies (2.5), in numbers.

use interest::{Audience, Aura};
use serde::Serialize;
use space::Vec3;
use space::workload::Random;

const USERS: [usize; 8] = [2, 4, 16, 64, 256, 1_024, 4_096, 16_384];
/// Square metres per user.
const ROOM: f64 = 40.0;
/// How far a user is heard, in metres.
const REACH: f32 = 20.0;
/// Objects that fit into one state datagram, as `bench tick` measures them.
const BODIES_PER_DATAGRAM: f64 = 110.0;

/// Traffic per tick, when all users move.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TopologyRow {
    /// `full mesh`, `broadcast`, `client-server` or `audience`.
    pub topology: &'static str,
    pub users: usize,
    pub messages: f64,
    /// Copies of positions that are delivered.
    pub copies: f64,
    /// Messages that the busiest host sends and receives.
    pub busiest: f64,
}

pub fn count(seed: u64) -> Vec<TopologyRow> {
    USERS.iter().flat_map(|&users| of(users, heard(users, seed))).collect()
}

fn of(users: usize, heard: Vec<usize>) -> [TopologyRow; 4] {
    let n = users as f64;
    let datagrams = |bodies: f64| (bodies / BODIES_PER_DATAGRAM).ceil().max(1.0);
    let all_down = n * datagrams(n - 1.0);
    let heard_down: f64 = heard.iter().map(|&count| datagrams(count as f64)).sum();
    let row = |topology, messages, copies, busiest| TopologyRow { topology, users, messages, copies, busiest };
    [
        row("full mesh", n * (n - 1.0), n * (n - 1.0), 2.0 * (n - 1.0)),
        // One message each, and every host has to look at all of them.
        row("broadcast", n, n * (n - 1.0), n),
        row("client-server", n + all_down, n * (n - 1.0), n + all_down),
        row("audience", n + heard_down, heard.iter().sum::<usize>() as f64, n + heard_down),
    ]
}

/// How many others each user hears, when all have the same space.
fn heard(users: usize, seed: u64) -> Vec<usize> {
    let side = (users as f64 * ROOM).sqrt() as f32;
    let (mut random, mut audience) = (Random::new(seed), Audience::new());
    let slots: Vec<_> = (0..users)
        .map(|_| {
            let place = Vec3::new(random.unit() * side, 0.0, random.unit() * side);
            audience.insert(place, Aura::new(0.5 * REACH)).expect("a place within the limits")
        })
        .collect();
    audience.update();
    slots.into_iter().map(|slot| audience.heard_by(slot).count()).collect()
}
