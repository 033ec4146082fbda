//! A tiny world, stepped and printed: Ann walks to a crate, pushes it, carries it off and jumps.

use shapes::Shape;
use space::{NodeId, Quat, Vec3};
use world::spec::{ObjectKind, ObjectSpec};
use world::{Act, ContactPolicy, Input, Plaza, SpecError, World};

fn main() -> Result<(), SpecError> {
    // The plaza's numbers, with nothing on it but a crate.
    let mut spec = Plaza { obstacles: 0, crates: 0, balls: 0, seekers: 0, ..Plaza::default() }.spec();
    spec.objects = vec![ObjectSpec {
        name: "crate".to_owned(),
        kind: ObjectKind::Movable,
        shape: Shape::Box { half: Vec3::splat(0.4) },
        at: Vec3::new(2.0, 3.0, 0.0),
        rotation: Quat::IDENTITY,
        policy: ContactPolicy::Block,
    }];
    let mut world = World::new(spec)?;

    let mut sequence = 0;
    let mut ask = |world: &mut World, act: Act| {
        sequence += 1;
        let input = Input { sender: NodeId::new(1), sequence, made_for: world.tick().next(), act };
        let outcome = world.step(&[input]);
        for refusal in &outcome.refused {
            println!("          refused: {}", refusal.reason);
        }
    };
    let show = |world: &World, what: &str| {
        print!("{:>4}  {what:<22}", world.tick().number());
        for object in world.dynamic() {
            let at = object.position();
            print!("  {:<5} {:>6.3} {:>6.3} {:>6.3}", object.name, at.x, at.y, at.z);
        }
        println!();
    };

    ask(&mut world, Act::Join { name: "Ann".into(), avatar: 0, at: Some(Vec3::ZERO) });
    show(&world, "Ann joins");
    for (what, ticks, velocity) in [("the crate has fallen", 40, Vec3::ZERO), ("Ann pushes it", 45, Vec3::X * 2.0)] {
        (0..ticks).for_each(|_| ask(&mut world, Act::Move { velocity }));
        show(&world, what);
    }
    ask(&mut world, Act::Grab { object: space::ObjectId::new(1).expect("not zero") });
    (0..30).for_each(|_| ask(&mut world, Act::Move { velocity: Vec3::Z * 2.0 }));
    show(&world, "Ann carries it");
    ask(&mut world, Act::Release);
    ask(&mut world, Act::Jump);
    (0..12).for_each(|_| ask(&mut world, Act::Move { velocity: Vec3::ZERO }));
    show(&world, "Ann jumps");
    println!("      nothing overlaps: {}; state {}", world.first_overlap().is_none(), world.hash());
    Ok(())
}
