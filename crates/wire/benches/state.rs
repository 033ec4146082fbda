//! A state datagram of 60 bodies, encoded and decoded, and the same as JSON.

use divan::Bencher;
use kinesphere_wire::space::{GridPoint, Turn, workload::Random};
use kinesphere_wire::state::Head;
use kinesphere_wire::{Body, Handle, State, ToClient};

fn main() {
    divan::main();
}

fn state() -> State {
    let mut random = Random::new(1);
    let mut body = || {
        let place = GridPoint::nearest(random.in_ball() * 20.0).unwrap();
        Body { place, turn: Turn::upright(random.between(0.0, 6.0)), ..Body::default() }
    };
    State { head: Head::default(), bodies: (0..60).map(|handle| (Handle(handle), body())).collect() }
}

#[divan::bench]
fn encode(bencher: Bencher) {
    let state = state();
    bencher.bench_local(|| state.encode());
}

#[divan::bench]
fn decode(bencher: Bencher) {
    let bytes = state().encode();
    bencher.bench_local(|| ToClient::decode(&bytes).unwrap());
}

#[divan::bench]
fn as_json(bencher: Bencher) {
    let state = state();
    bencher.bench_local(|| serde_json::to_vec(&state).unwrap());
}
