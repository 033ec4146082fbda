//! What a client predicts, written down for the page: its TypeScript twin has to find the same numbers.
//!
//! `vectors/client.json` is written by these tests, compared with what they find, and read by the page's tests. After a
//! change of prediction that is meant, write it again with
//! `KINESPHERE_WRITE_VECTORS=1 cargo test -p kinesphere-client-core --test the_page_has_a_twin`.
#![allow(clippy::disallowed_methods, reason = "the vectors are a file")]

use kinesphere_client_core::walk::{Ground, Walker};
use motion::clock::{Clock, Exchange};
use motion::collision_prediction::Response;
use motion::company::predict_together;
use motion::convergence::{ConvergenceSettings, Display, Shown};
use motion::replica::Predicted;
use motion::scene::{SceneObject, SceneShape};
use motion::state::{Flags, Sequence};
use motion::trend::Trend;
use motion::{Algorithm, CollisionScene, KinematicState, Replica, ReplicaSettings, Update};
use serde_json::{Value, json};
use space::workload::Random;
use space::{DQuat, DVec3, GridPoint, NodeId, ObjectId, Time, Turn, Vec3};
use wire::CollisionShape;
use wire::scene::FixedObject;
use wire::session::Walking;
use world::spec::Deformation;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/vectors/client.json");

#[test]
fn the_vectors_are_what_a_client_predicts() {
    let found = json!({
        "clocks": (0..4).map(clock).collect::<Vec<_>>(),
        "replicas": (0..12).map(replica).collect::<Vec<_>>(),
        "companies": (0..8).map(company).collect::<Vec<_>>(),
        "walks": (0..6).map(walk).collect::<Vec<_>>(),
        "forms": (0..8).map(form).collect::<Vec<_>>(),
    });
    if std::env::var_os("KINESPHERE_WRITE_VECTORS").is_some() {
        std::fs::write(FILE, serde_json::to_string(&found).unwrap() + "\n").unwrap();
    }
    // Through the text, as the vectors went: its last digits may be read differently than they were written.
    let found: Value = serde_json::from_str(&serde_json::to_string(&found).unwrap()).unwrap();
    let held: Value = serde_json::from_str(&std::fs::read_to_string(FILE).unwrap()).unwrap();
    for list in ["clocks", "replicas", "companies", "walks", "forms"] {
        let (found, held) = (found[list].as_array().unwrap(), held[list].as_array().unwrap());
        for (case, (found, held)) in found.iter().zip(held).enumerate() {
            assert!(found == held, "{list}, case {case}: the vectors say otherwise");
        }
        assert_eq!(found.len(), held.len(), "{list}");
    }
}

/// Exchanges with a server whose clock is off, and what local moments are mapped to.
fn clock(seed: u64) -> Value {
    let mut random = Random::new(seed);
    let (mut clock, mut local, mut steps) = (Clock::new(), 0, Vec::new());
    for _ in 0..40 {
        local += i64::from(random.whole(0, 40_000));
        if random.unit() < 0.4 {
            let offset = i64::from(random.whole(0, 1_400_000)) - 700_000;
            let [there, back] = [0, 1].map(|_| i64::from(random.whole(500, 60_000)));
            let (asked, received) = (local - there - back, local - back + offset);
            let exchange = [asked, received, received + 40, local + 40].map(Time::from_micros);
            let [asked, received, replied, returned] = exchange;
            clock.handle(Exchange { asked, received, replied, returned });
            steps.push(json!({ "exchange": exchange.map(Time::micros) }));
            local += 40;
        }
        let mapped = clock.owner_time(Time::from_micros(local));
        steps.push(json!({ "local": local, "mapped": mapped.micros(), "bound": clock.error_bound_us() }));
    }
    json!({ "steps": steps })
}

/// Walls and balls around the origin.
fn scene(random: &mut Random) -> (CollisionScene, Vec<Value>) {
    let mut objects = Vec::new();
    for number in 0..12 {
        let at = random.point(16.0).as_dvec3() - DVec3::new(8.0, 8.0, 8.0);
        let pos = DVec3::new(at.x, 0.2 * at.y, at.z);
        let shape = if number % 3 == 0 {
            SceneShape::Ball(f64::from(random.between(0.3, 1.5)))
        } else {
            SceneShape::Cuboid(DVec3::new(random.between(0.2, 3.0).into(), 2.0, random.between(0.2, 3.0).into()))
        };
        objects.push(SceneObject::standing(shape, pos));
    }
    let told = objects.iter().map(|object| match object.shape {
        SceneShape::Ball(radius) => json!({ "form": "ball", "pos": vector(object.pos), "radius": radius }),
        SceneShape::Cuboid(half) => json!({ "form": "cuboid", "pos": vector(object.pos), "half": vector(half) }),
    });
    let told = told.collect();
    (CollisionScene::new(objects).unwrap(), told)
}

fn settings(restitution: f64) -> ReplicaSettings {
    ReplicaSettings {
        radius: 0.4,
        response: Response { restitution, ..Response::default() },
        extrapolation_us_max: 1_000_000,
        timeout_us: 5_000_000,
        ..ReplicaSettings::default()
    }
}

fn update(random: &mut Random, number: u32, stamp: i64) -> Update {
    let centred = |random: &mut Random, reach: f32| random.point(2.0 * reach).as_dvec3() - f64::from(reach);
    let level = DVec3::new(1.0, 0.1, 1.0);
    let acc = if random.unit() < 0.5 { DVec3::ZERO } else { centred(random, 4.0) * level };
    let half = f64::from(random.between(-3.0, 3.0));
    let rot = DQuat::from_xyzw(0.0, libm::sin(half), 0.0, libm::cos(half));
    Update {
        owner: NodeId::new(0),
        object: ObjectId::new(7).unwrap(),
        seq: Sequence::new(number),
        algorithm: Algorithm::Fvw,
        state: KinematicState {
            stamp: Time::from_micros(stamp),
            pos: centred(random, 8.0) * level,
            vel: centred(random, 6.0) * level,
            acc,
            rot,
            angvel: DVec3::ZERO,
        },
        trend: Trend::default(),
        flags: Flags::NONE,
    }
}

fn told(update: &Update, is_teleport: bool) -> Value {
    let KinematicState { stamp, pos, vel, acc, rot, .. } = update.state;
    json!({ "sequence": update.seq.number(), "stamp": stamp.micros(), "pos": vector(pos), "vel": vector(vel),
        "acc": vector(acc), "rot": rot.to_array(), "is_teleport": is_teleport })
}

/// Updates of one replica in a scene, with what is predicted and shown between them.
fn replica(seed: u64) -> Value {
    let mut random = Random::new(100 + seed);
    let (scene, objects) = scene(&mut random);
    let restitution = [0.0, 0.6, 1.0][seed as usize % 3];
    let settings = settings(restitution);
    let mut replica = Replica::new(settings);
    let mut display = Display::new(ConvergenceSettings { blend_us: 100_000, ..ConvergenceSettings::default() });
    let (mut steps, mut now) = (Vec::new(), 1_000_000);
    for number in 1..=6 {
        let late = i64::from(random.whole(0, 80_000));
        let update = update(&mut random, number, now - late);
        let is_teleport = random.unit() < 0.2;
        let at = Time::from_micros(now);
        let show = |replica: &mut Replica, display: &Display| {
            let predicted = replica.predict(at, &scene)?;
            Some(display.shown(at, &predicted, settings.radius, &scene))
        };
        let before = show(&mut replica, &display);
        replica.handle(&update, &scene).unwrap();
        if let (Some(before), Some(after)) = (before, replica.predict(at, &scene)) {
            display.updated(at, before, &after, is_teleport);
        }
        steps.push(json!({ "now": now, "update": told(&update, is_teleport) }));
        for _ in 0..6 {
            now += i64::from(random.whole(4_000, 260_000));
            let at = Time::from_micros(now);
            let predicted = replica.predict(at, &scene).unwrap();
            let shown = display.shown(at, &predicted, settings.radius, &scene);
            steps.push(json!({ "now": now, "predicted": state(&predicted), "shown": seen(&shown) }));
        }
    }
    json!({ "scene": objects, "restitution": restitution, "steps": steps })
}

/// Several replicas that meet each other.
fn company(seed: u64) -> Value {
    let mut random = Random::new(200 + seed);
    let (scene, objects) = scene(&mut random);
    let count = 3 + seed as u32 % 6;
    let updates: Vec<Update> = (0..count)
        .map(|_| {
            let stamp = 1_000_000 - i64::from(random.whole(0, 90_000));
            update(&mut random, 1, stamp)
        })
        .collect();
    let mut replicas: Vec<Replica> = updates
        .iter()
        .map(|update| {
            let mut replica = Replica::new(settings(0.5));
            replica.handle(update, &scene).unwrap();
            replica
        })
        .collect();
    let moments = [1_000_000, 1_150_000, 1_600_000, 1_950_000];
    let frames: Vec<Value> = moments
        .iter()
        .map(|&now| {
            let mut timed: Vec<_> = replicas.iter_mut().map(|replica| (replica, Time::from_micros(now))).collect();
            let together = predict_together(&mut timed, &scene);
            let predicted = together.predicted.iter().map(|predicted| state(predicted.as_ref().unwrap()));
            json!({ "now": now, "contacts": together.contacts, "predicted": predicted.collect::<Vec<_>>() })
        })
        .collect();
    let updates: Vec<Value> = updates.iter().map(|update| told(update, false)).collect();
    json!({ "scene": objects, "restitution": 0.5, "updates": updates, "frames": frames })
}

/// A walker among things that stand: slides, steps and jumps.
fn walk(seed: u64) -> Value {
    let mut random = Random::new(300 + seed);
    let gravity = if seed == 5 { 0.0 } else { 9.81 };
    let walking = Walking { speed_max: 6.0, jump_speed: 4.5, gravity, step_height: 0.35 };
    let shape = CollisionShape::Capsule { half_height: 0.6, radius: 0.3 };
    let bounds = [GridPoint::new(-20_480, 0, -20_480), GridPoint::new(20_480, 20_480, 20_480)];
    let mut ground = Ground::new(walking, bounds, &shape);
    let mut solids = Vec::new();
    for number in 0..20 {
        let [x, z] = [0, 1].map(|_| ((random.unit() - 0.5) * 16.0 * 1_024.0) as i32);
        if x.abs().max(z.abs()) < 1_024 {
            continue;
        }
        let (shape, y) = match number % 4 {
            0 => (CollisionShape::Sphere { radius: 0.75 }, 512),
            1 => (CollisionShape::Capsule { half_height: 1.0, radius: 0.4 }, 1_400),
            2 => (CollisionShape::Box { half: [1.25, 0.125, 0.75] }, 128),
            _ => (CollisionShape::Box { half: [0.5, 2.0, 1.5] }, 2_048),
        };
        let turn = if number == 19 { Turn::upright(0.4) } else { Turn::IDENTITY };
        let solid = FixedObject { object: ObjectId::new(9).unwrap(), shape, place: GridPoint::new(x, y, z), turn };
        ground.add(&solid, &CollisionShape::Capsule { half_height: 0.6, radius: 0.3 });
        solids.push(serde_json::to_value(&solid).unwrap());
    }
    let mut walker = Walker::standing(DVec3::new(0.0, 0.9, 0.0));
    let mut wish = DVec3::ZERO;
    let steps: Vec<Value> = (0..150)
        .map(|step| {
            if step % 15 == 0 {
                wish = (random.point(14.0).as_dvec3() - 7.0) * DVec3::new(1.0, 0.3, 1.0);
            }
            let is_jump = random.unit() < 0.03;
            walker = ground.step(walker, wish, is_jump, 1.0 / 30.0);
            json!({ "wish": vector(wish), "is_jump": is_jump, "pos": vector(walker.pos),
                "vertical": walker.vertical, "is_grounded": walker.is_grounded })
        })
        .collect();
    json!({ "gravity": gravity, "solids": solids, "steps": steps })
}

/// Where the vertices of something that deforms are, at some moments of its clock.
fn form(seed: u64) -> Value {
    let mut random = Random::new(400 + seed);
    let vertices: Vec<Vec3> = (0..12).map(|_| random.in_ball() * 2.0).collect();
    let period_s = random.between(0.5, 5.0);
    let deformation = if seed.is_multiple_of(2) {
        let (along, push) = (random.in_ball() * 3.0, random.in_ball());
        Deformation::Wave { along, push, length: random.between(0.3, 4.0), period_s }
    } else {
        Deformation::Breathe { share: random.between(0.0, 0.9), period_s }
    };
    let ends = deformation.ends(&vertices);
    let moments = [0.0, 0.1, 1.0 / 3.0, 7.77, 86_400.5];
    let places = moments.map(|seconds| {
        let place = |vertex: &Vec3| vector(deformation.place(vertex.as_dvec3(), ends, seconds));
        json!({ "seconds": seconds, "places": vertices.iter().map(place).collect::<Vec<_>>() })
    });
    let vertices: Vec<Value> = vertices.iter().map(|vertex| vector(vertex.as_dvec3())).collect();
    json!({ "deformation": told_deformation(&deformation), "vertices": vertices, "moments": places })
}

/// As `/models` tells it.
fn told_deformation(deformation: &Deformation) -> Value {
    match *deformation {
        Deformation::Wave { along, push, length, period_s } => {
            json!({ "kind": "wave", "along": vector(along.as_dvec3()),
            "push": vector(push.as_dvec3()), "length": f64::from(length), "period_s": f64::from(period_s) })
        }
        Deformation::Breathe { share, period_s } => {
            json!({ "kind": "breathe", "share": f64::from(share), "period_s": f64::from(period_s) })
        }
    }
}

fn vector(v: DVec3) -> Value {
    json!(v.to_array())
}

fn state(predicted: &Predicted) -> Value {
    let Predicted { pos, vel, acc, rot } = predicted;
    json!({ "pos": vector(*pos), "vel": vector(*vel), "acc": vector(*acc), "rot": rot.to_array() })
}

fn seen(shown: &Shown) -> Value {
    json!({ "pos": vector(shown.pos), "vel": vector(shown.vel), "rot": shown.rot.to_array() })
}
