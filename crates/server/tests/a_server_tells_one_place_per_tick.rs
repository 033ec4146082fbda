//! A server tells one place of an object per tick to all clients, even if the object changes hands in that very tick,
//! and never under two handles. It never confirms one place to two users.

mod room;

use room::{Room, Weather};

/// A room in which messages are late and lost, ticks come late, a server dies and another freezes and wakes.
fn run(seed: u64, users: usize) {
    let mut room = Room::new(3, users, Weather { delay_us: 60_000, loss: 0.05, late_us: 30_000, seed });
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
    let overlaps = room.confirmed_overlaps();
    let first = &overlaps[..overlaps.len().min(10)];
    assert!(overlaps.is_empty(), "seed {seed}: {} overlaps: {first:#?}", overlaps.len());
    assert!(looked_at > 50_000, "seed {seed}: {looked_at}");
    assert!(room.redirects > 10, "seed {seed}: only {} were sent on", room.redirects);
}

#[test]
fn a_server_tells_one_place_per_tick() {
    (0..8).for_each(|seed| run(seed, 30));
    // Here somebody was shown where another had been let in, and was told that it is there.
    run(31, 90);
}
