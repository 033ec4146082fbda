//! A tick without a join, a leave or a text takes no memory from the heap.

mod crowd;

use kinesphere_world::{Act, Input, Plaza, World};
use space::{NodeId, Tick, Vec3};

#[test]
fn steady_ticks_do_not_allocate() {
    let mut world = World::new(Plaza { seekers: 300, ..Plaza::default() }.spec()).unwrap();
    let join = |number: u64| Input {
        sender: NodeId::new(number),
        sequence: 1,
        made_for: Tick::new(0),
        act: Act::Join { name: "walker".into(), avatar: 0, at: None },
    };
    let joins: Vec<Input> = (0..100).map(join).collect();
    world.step(&joins);
    let mut allocations = Vec::new();
    for tick in 0..600u32 {
        let turn = tick as f32 * 0.02;
        let inputs: Vec<Input> = (0..100)
            .map(|number| Input {
                sender: NodeId::new(number),
                sequence: tick + 2,
                made_for: Tick::new(0),
                act: Act::Move { velocity: Vec3::new((turn + number as f32).sin(), 0.0, (turn + number as f32).cos()) },
            })
            .collect();
        let counted = allocation_counter::measure(|| {
            world.step(&inputs);
        });
        allocations.push(counted.count_total);
    }
    // Lists grow, and now and then the broad phase chooses other cells.
    let busy = allocations[300..].iter().filter(|&&count| count > 0).count();
    assert!(busy <= 10, "{busy} of 300 ticks took memory");
}
