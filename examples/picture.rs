//! The picture in the README: a plain seen from above, everybody with the way they came, and who touches whom.
//! `cargo run --example picture > docs/picture.svg`; a test sees to it that the file is never older than the code.

use space::workload::Random;
use space::{BroadPhase, Kinesphere, Sphere, Spheres, SpheresError, Vec3};

// Colours of middling lightness: they show on white paper and on a dark screen alike.
const OPENING: &str = r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="-10 -22 950 352">
<style>
  circle, path { fill: none; stroke: #7f8c99; stroke-linecap: round; }
  .way { stroke-opacity: .45; } .alone { fill: #7f8c99; fill-opacity: .08; }
  .touching { stroke: #d9713c; fill: #d9713c; fill-opacity: .16; stroke-width: 1.4; }
  .pair { stroke: #d9713c; stroke-width: 2.2; }
</style>
"##;

pub fn svg() -> Result<String, SpheresError> {
    let mut random = Random::new(11);
    let mut spheres = Spheres::new();
    let mut walkers = Vec::new();
    for index in 0..75 {
        let square = Vec3::new((index % 15) as f32, 0.0, (index / 15) as f32);
        let start = Vec3::new(44.0, 0.0, 44.0) + 58.0 * square + 20.0 * random.in_ball() * Vec3::new(1.0, 0.0, 1.0);
        let slot = spheres.insert(Sphere::new(start, 7.0 * random.log_uniform(3.2)))?;
        walkers.push((slot, start, random.direction() * Vec3::new(1.0, 0.0, 1.0)));
    }

    let mut broad_phase = Kinesphere::default();
    let mut pairs = Vec::new();
    for tick in 1..=40 {
        spheres.end_tick();
        for &(slot, start, velocity) in &walkers {
            spheres.move_to(slot, start + velocity * tick as f32)?;
        }
        broad_phase.pairs(&spheres, &mut pairs);
    }
    pairs.sort_unstable();

    let mut svg = OPENING.to_owned();
    let path = |class: &str, from: Vec3, to: Vec3| {
        format!("<path class=\"{class}\" d=\"M{:.1} {:.1}L{:.1} {:.1}\"/>\n", from.x, from.z, to.x, to.z)
    };
    for &(slot, start, _) in &walkers {
        let Sphere { center, radius } = spheres.get(slot)?;
        let class = if pairs.iter().any(|pair| pair.a() == slot || pair.b() == slot) { "touching" } else { "alone" };
        svg += &path("way", start, center);
        svg +=
            &format!("<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius:.1}\"/>\n", center.x, center.z);
    }
    for pair in &pairs {
        svg += &path("pair", spheres.get(pair.a())?.center, spheres.get(pair.b())?.center);
    }
    Ok(svg + "</svg>\n")
}

fn main() -> Result<(), SpheresError> {
    svg().map(|svg| print!("{svg}"))
}
