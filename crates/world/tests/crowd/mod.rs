//! Participants for tests: some walk, some send nonsense, all from a seed.
#![allow(dead_code)]

use kinesphere_world::spec::{ObjectKind, ObjectSpec, Shape, Spec};
use kinesphere_world::{Act, Input, World};
use space::workload::Random;
use space::{NodeId, ObjectId, Tick, Vec3};

/// Participants that send any inputs in any order.
pub struct Hostile {
    random: Random,
    senders: u64,
    sequence: u32,
}

impl Hostile {
    pub fn new(seed: u64, senders: u64) -> Hostile {
        Hostile { random: Random::new(seed), senders, sequence: 0 }
    }

    /// The inputs of a tick, most of which are valid.
    pub fn inputs(&mut self, world: &World) -> Vec<Input> {
        let mut inputs = Vec::new();
        for sender in 1..=self.senders {
            let sender = NodeId::new(sender);
            for _ in 0..self.random.whole(0, 3) {
                self.sequence += 1;
                let act = self.act(world, sender);
                let sequence = if self.random.unit() < 0.05 { self.random.whole(0, 1 << 20) } else { self.sequence };
                inputs.push(Input { sender, sequence, made_for: Tick::new(u64::from(self.random.whole(0, 99))), act });
            }
        }
        for index in (1..inputs.len()).rev() {
            inputs.swap(index, self.random.whole(0, index as u32 + 1) as usize);
        }
        inputs
    }

    fn act(&mut self, world: &World, sender: NodeId) -> Act {
        let random = &mut self.random;
        if world.avatar_of(sender).is_none() && random.unit() < 0.8 {
            let at = (random.unit() < 0.5).then(|| (random.point(60.0) - 30.0) * Vec3::new(1.0, 0.3, 1.0));
            return Act::Join { name: "somebody".into(), avatar: random.whole(0, 3) as u16, at };
        }
        let speed = world.spec().limits.speed;
        match random.whole(0, 40) {
            0 => Act::Move { velocity: Vec3::new(f32::NAN, 0.0, f32::INFINITY) },
            1 => Act::Move { velocity: random.direction() * 1e30 },
            2 => Act::Turn { heading: if random.unit() < 0.5 { f32::INFINITY } else { random.unit() * 1e9 } },
            3 => Act::Grab { object: ObjectId::new(u64::from(random.whole(1, 5000))).unwrap() },
            4..8 => Act::Grab { object: nearest_movable(world, sender).unwrap_or(ObjectId::new(1).unwrap()) },
            8 => Act::Release,
            9 => Act::Leave,
            10..14 => Act::Jump,
            14 => Act::Say { text: "x".repeat(random.whole(0, 3000) as usize).into() },
            15 => Act::Join { name: "".into(), avatar: 60_000, at: None },
            16..20 => Act::Turn { heading: random.unit() * 6.3 },
            _ => Act::Move { velocity: random.in_ball() * speed },
        }
    }
}

pub fn nearest_movable(world: &World, sender: NodeId) -> Option<ObjectId> {
    let at = world.object(world.avatar_of(sender)?)?.position();
    let movable = world.dynamic().filter(|object| object.kind == kinesphere_world::Kind::Movable);
    movable.min_by(|a, b| a.position().distance(at).total_cmp(&b.position().distance(at))).map(|object| object.id)
}

pub struct Person {
    pub sender: NodeId,
    pub avatar: ObjectId,
    sequence: u32,
}

impl Person {
    /// Joins, at a place on the ground.
    pub fn join(world: &mut World, sender: u64, at: Vec3) -> Person {
        Person::join_as(world, sender, at, 0)
    }

    pub fn join_as(world: &mut World, sender: u64, at: Vec3, avatar: u16) -> Person {
        let mut person = Person::stranger(sender);
        let join = Act::Join { name: format!("person {sender}").into(), avatar, at: Some(at) };
        let outcome = world.step(&[person.input(1, join)]);
        person.avatar = outcome.joined.first().unwrap_or_else(|| panic!("refused: {:?}", outcome.refused)).object;
        // A tick to land on the ground.
        world.step(&[]);
        person
    }

    /// A participant that has not joined.
    pub fn stranger(sender: u64) -> Person {
        Person { sender: NodeId::new(sender), avatar: ObjectId::new(1).unwrap(), sequence: 1 }
    }

    pub fn next(&mut self) -> u32 {
        self.sequence += 1;
        self.sequence
    }

    pub fn input(&self, sequence: u32, act: Act) -> Input {
        Input { sender: self.sender, sequence, made_for: Tick::new(0), act }
    }

    pub fn next_input(&mut self, act: Act) -> Input {
        let sequence = self.next();
        self.input(sequence, act)
    }

    pub fn ask(&mut self, world: &mut World, act: Act) {
        let input = self.next_input(act);
        let outcome = world.step(&[input]);
        assert_eq!(outcome.refused, []);
    }

    pub fn walk(&mut self, world: &mut World, velocity: Vec3, ticks: u32) {
        for _ in 0..ticks {
            self.ask(world, Act::Move { velocity });
        }
    }

    pub fn position(&self, world: &World) -> Vec3 {
        world.object(self.avatar).expect("joined").position()
    }
}

/// A world without objects.
pub fn empty() -> Spec {
    let mut spec =
        kinesphere_world::Plaza { obstacles: 0, crates: 0, balls: 0, seekers: 0, ..kinesphere_world::Plaza::default() }
            .spec();
    spec.objects.clear();
    spec
}

pub fn object(name: &str, kind: ObjectKind, shape: Shape, at: Vec3) -> ObjectSpec {
    let name = name.to_owned();
    ObjectSpec {
        name,
        kind,
        shape,
        at,
        rotation: space::Quat::IDENTITY,
        policy: kinesphere_world::ContactPolicy::Block,
    }
}
