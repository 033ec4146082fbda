//! Three friends on a line, one of them walking: who meets whom, and when do they part?

use space::{BroadPhase, Kinesphere, PairChanges, Sphere, Spheres, SpheresError, Vec3};

fn main() -> Result<(), SpheresError> {
    let mut spheres = Spheres::new();
    let ann = spheres.insert(Sphere::new(Vec3::new(0.0, 0.0, 0.0), 1.0))?;
    let bob = spheres.insert(Sphere::new(Vec3::new(4.0, 0.0, 0.0), 1.0))?;
    let cat = spheres.insert(Sphere::new(Vec3::new(7.5, 0.0, 0.0), 1.0))?;
    let name = |slot| ["Ann", "Bob", "Cat"][[ann, bob, cat].iter().position(|&known| known == slot).unwrap_or(0)];

    let mut broad_phase = Kinesphere::default();
    let mut pairs = Vec::new();
    let mut changes = PairChanges::new();
    for second in 0..12 {
        spheres.move_to(ann, Vec3::new(second as f32, 0.0, 0.0))?;
        broad_phase.pairs(&spheres, &mut pairs);
        changes.update(&spheres, &pairs);

        for pair in &changes.began {
            println!("{second:>2} s: {} meets {}", name(pair.a()), name(pair.b()));
        }
        for pair in &changes.ended {
            println!("{second:>2} s: {} leaves {}", name(pair.a()), name(pair.b()));
        }
        spheres.end_tick();
    }
    Ok(())
}
