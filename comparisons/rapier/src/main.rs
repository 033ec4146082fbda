//! Kinesphere's tick against rapier's kinematic character controllers, on the same plaza, in the same run.
//!
//! Both are asked for the same thing in every tick: as many walkers as were named, each with the same wish, among the
//! same obstacles. Rapier is spared what it would do beyond that: crates and balls stand still there, nothing moves by
//! rule, nobody falls (walkers snap to the ground), walkers see each other where they were in the last tick, and what
//! comes out may overlap. Processor time, ticks in turns.
//!
//! `compare-with-rapier [WALKERS] [TICKS]`

use cpu_time::ProcessTime;
use lab::bench::world::Walkers;
use rapier3d::control::{CharacterAutostep, CharacterLength, KinematicCharacterController};
use rapier3d::prelude::{
    ColliderBuilder, PhysicsWorld, QueryFilter, RigidBodyBuilder, RigidBodyHandle, SharedShape, Vector,
};
use world::spec::{ObjectKind, Shape};
use world::{Act, Plaza, World};

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<usize>());
    let mut number = |default| arguments.next().and_then(Result::ok).unwrap_or(default);
    let (walkers, ticks) = (number(2_000), number(60));
    let mut spec = Plaza::for_avatars(walkers as u32).spec();
    spec.objects.retain(|object| !matches!(object.kind, ObjectKind::Moving(_)));
    spec.limits.avatars = walkers as u32;
    let mut world = World::new(spec).expect("a plaza is a world");
    let joined = Walkers::join(&mut world, walkers, 1);
    assert_eq!(joined, walkers, "everybody finds a place");
    // Until everything has fallen and everybody stands.
    for _ in 0..60 {
        world.step(&[]);
    }

    let mut rapier = Rapier::new(&world);
    let mut people = Walkers::new(&world, walkers, walkers, 1);
    let mut inputs = Vec::new();
    let (mut ours, mut theirs) = (0.0, 0.0);
    let warm = 10;
    for tick in 0..ticks + warm {
        people.inputs(&world, &mut inputs);
        let wishes: Vec<Vector> = inputs
            .iter()
            .map(|input| match &input.act {
                Act::Move { velocity } => Vector::new(velocity.x, 0.0, velocity.z) / 30.0,
                _ => Vector::ZERO,
            })
            .collect();
        let begun = ProcessTime::now();
        world.step(&inputs);
        let between = ProcessTime::now();
        rapier.step(&wishes);
        if tick >= warm {
            ours += between.duration_since(begun).as_secs_f64();
            theirs += between.elapsed().as_secs_f64();
        }
    }
    let per_walker = |seconds: f64| seconds * 1e9 / (ticks * walkers) as f64;
    println!("{walkers} walkers on a plaza of {} objects, {ticks} ticks", world.len());
    println!("kinesphere  {:>8.0} ns per walker and tick; overlap: {:?}", per_walker(ours), world.first_overlap());
    println!(
        "rapier      {:>8.0} ns per walker and tick; went {:.2} m on average",
        per_walker(theirs),
        rapier.mean_way()
    );
    println!("rapier takes {:.1} times as long", theirs / ours);
}

/// The same plaza in rapier.
struct Rapier {
    world: PhysicsWorld,
    controller: KinematicCharacterController,
    capsule: SharedShape,
    walkers: Vec<(RigidBodyHandle, Vector)>,
}

impl Rapier {
    fn new(from: &World) -> Rapier {
        let mut world = PhysicsWorld::new();
        world.integration_parameters.dt = 1.0 / 30.0;
        let (low, high) = (from.spec().low, from.spec().high);
        let ground =
            ColliderBuilder::cuboid(high.x - low.x, 1.0, high.z - low.z).translation(Vector::new(0.0, -1.0, 0.0));
        world.colliders.insert(ground);
        let controller = KinematicCharacterController {
            offset: CharacterLength::Absolute(0.004),
            autostep: Some(CharacterAutostep {
                max_height: CharacterLength::Absolute(0.35),
                min_width: CharacterLength::Absolute(0.1),
                include_dynamic_bodies: false,
            }),
            snap_to_ground: Some(CharacterLength::Absolute(0.35)),
            ..KinematicCharacterController::default()
        };
        let capsule = SharedShape::capsule_y(0.6, 0.3);
        let mut walkers = Vec::new();
        for object in from.objects() {
            let at = object.position();
            let at = Vector::new(at.x, at.y, at.z);
            if object.owner.is_some() {
                let body = world.bodies.insert(RigidBodyBuilder::kinematic_position_based().translation(at));
                let collider = ColliderBuilder::new(capsule.clone());
                world.colliders.insert_with_parent(collider, body, &mut world.bodies);
                walkers.push((body, at));
                continue;
            }
            let collider = match object.shape {
                Shape::Sphere { radius } => ColliderBuilder::ball(*radius),
                Shape::Capsule { half_height, radius } => ColliderBuilder::capsule_y(*half_height, *radius),
                Shape::Box { half } => ColliderBuilder::cuboid(half.x, half.y, half.z),
                Shape::Hull(_) | Shape::Mesh(_) | Shape::Balls(_) => unreachable!("the plaza has none"),
            };
            world.colliders.insert(collider.translation(at));
        }
        world.step();
        Rapier { world, controller, capsule, walkers }
    }

    fn step(&mut self, wishes: &[Vector]) {
        for ((body, _), &wish) in self.walkers.iter().zip(wishes) {
            let at = *self.world.bodies[*body].position();
            let queries = self.world.query_pipeline_with_filter(QueryFilter::default().exclude_rigid_body(*body));
            let dt = self.world.integration_parameters.dt;
            let moved = self.controller.move_shape(dt, &queries, &*self.capsule, &at, wish, |_| {});
            let mut next = at;
            next.translation += moved.translation;
            self.world.bodies[*body].set_next_kinematic_position(next);
        }
        self.world.step();
    }

    /// How far they came: to see that they do walk.
    fn mean_way(&self) -> f32 {
        let ways = self.walkers.iter().map(|(body, start)| (self.world.bodies[*body].translation() - *start).length());
        ways.sum::<f32>() / self.walkers.len() as f32
    }
}
