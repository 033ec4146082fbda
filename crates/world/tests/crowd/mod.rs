//! Participants for tests: some walk, some ask for nonsense, all from a seed.
#![allow(dead_code)]

use space::workload::Random;
use space::{NodeId, ObjectId, Tick, Vec3};
use world::{Act, Input, World};

/// Participants who ask for anything, in any order.
pub struct Hostile {
    random: Random,
    senders: u64,
    sequence: u32,
}

impl Hostile {
    pub fn new(seed: u64, senders: u64) -> Hostile {
        Hostile { random: Random::new(seed), senders, sequence: 0 }
    }

    /// A tick's worth of inputs, most of which make sense.
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
        // In any order.
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
    let movable = world.dynamic().filter(|object| object.kind == world::Kind::Movable);
    movable.min_by(|a, b| a.position().distance(at).total_cmp(&b.position().distance(at))).map(|object| object.id)
}
