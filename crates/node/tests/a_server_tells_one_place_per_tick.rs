//! A server tells one place of an object per tick, to whomever it tells: whether the object is its own, another server's, or
//! changes hands in that very tick; and never under two handles.

mod room;

use room::{Room, Weather};

/// A room in which messages are late and lost, ticks come late, a server dies and another freezes and wakes.
fn run(seed: u64) {
    let mut room = Room::new(3, 30, Weather { delay_us: 60_000, loss: 0.05, late_us: 30_000, seed });
    room.run(10);
    room.kill(1);
    room.run(6);
    room.add_host();
    room.run(6);
    room.freeze(2, 3);
    room.run(10);
    let (contradictions, looked_at) = room.contradictions();
    let first = &contradictions[..contradictions.len().min(10)];
    assert!(contradictions.is_empty(), "seed {seed}: {} contradictions: {first:#?}", contradictions.len());
    assert!(looked_at > 50_000, "seed {seed}: {looked_at}");
    assert!(room.redirects > 10, "seed {seed}: only {} were sent on", room.redirects);
}

#[test]
fn a_server_tells_one_place_per_tick() {
    (0..8).for_each(run);
}
