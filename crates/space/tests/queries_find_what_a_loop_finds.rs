//! Who is within a sphere or a box, whom a ray or a moving sphere meets first, who is nearest: the finder says what a
//! loop over all objects says, tick after tick, whatever happens to the world in between.
//!
//! A failure prints the world, the seed and the tick.

mod scenes;

use kinesphere_space::broad::Finder;
use kinesphere_space::broad::query::{Hit, Neighbour};
use kinesphere_space::impact::spheres::contact;
use kinesphere_space::workload::Random;
use kinesphere_space::{Slot, Sphere, Spheres, Vec3};
use scenes::SCENES;

fn all(spheres: &Spheres) -> impl Iterator<Item = (Slot, Sphere)> + '_ {
    spheres.slots().map(|slot| (slot, spheres.get(slot).unwrap()))
}

fn within_sphere(spheres: &Spheres, sphere: Sphere) -> Vec<Slot> {
    all(spheres).filter(|(_, other)| sphere.overlaps(*other)).map(|(slot, _)| slot).collect()
}

fn within_box(spheres: &Spheres, min: Vec3, max: Vec3) -> Vec<Slot> {
    let inside = |sphere: Sphere| {
        let beyond = sphere.center - sphere.center.clamp(min, max);
        beyond == Vec3::ZERO
            || beyond.x * beyond.x + beyond.y * beyond.y + beyond.z * beyond.z < sphere.radius * sphere.radius
    };
    all(spheres).filter(|(_, sphere)| inside(*sphere)).map(|(slot, _)| slot).collect()
}

fn first_of_motion(spheres: &Spheres, sphere: Sphere, motion: Vec3) -> Option<Hit> {
    all(spheres)
        .filter_map(|(slot, other)| {
            let apart = other.center.as_dvec3() - sphere.center.as_dvec3();
            let time = contact(apart, -motion.as_dvec3(), sphere.radius as f64 + other.radius as f64)?;
            (time <= 1.0).then_some(Hit { slot, time })
        })
        .min_by(|a, b| a.time.total_cmp(&b.time).then(a.slot.cmp(&b.slot)))
}

fn nearest(spheres: &Spheres, point: Vec3, count: usize) -> Vec<Neighbour> {
    let mut found: Vec<Neighbour> = all(spheres)
        .map(|(slot, sphere)| {
            let distance = sphere.center.as_dvec3().distance(point.as_dvec3()) - sphere.radius as f64;
            Neighbour { slot, distance: distance.max(0.0) }
        })
        .collect();
    found.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(a.slot.cmp(&b.slot)));
    found.truncate(count);
    found
}

/// Asks about places near objects, far from all, and in between; returns how many objects were found.
fn check(who: &str, finder: &mut Finder, spheres: &Spheres, random: &mut Random) -> usize {
    finder.update(spheres);
    finder.assert_well_formed();
    assert_eq!(finder.len(), spheres.len(), "{who}");
    let slots: Vec<Slot> = spheres.slots().collect();
    let pick = |random: &mut Random| {
        let slot = slots.get(random.whole(0, slots.len().max(1) as u32) as usize);
        slot.map_or(Sphere::new(Vec3::ZERO, 1.0), |&slot| spheres.get(slot).unwrap())
    };
    let mut count = 0;
    let mut found = Vec::new();
    for _ in 0..6 {
        let (one, other) = (pick(random), pick(random));
        let size = (one.radius + 1e-30) * random.log_uniform(100.0) * 0.3;
        let place = one.center + random.in_ball() * size;
        let asked = Sphere::new(place, size);
        finder.within_sphere(asked, &mut found);
        assert_eq!(found, within_sphere(spheres, asked), "{who}: within {asked:?}");
        count += found.len();
        // As large as the world between two objects, or as small as one of them.
        let corner = if random.whole(0, 2) == 0 { other.center } else { place + random.in_ball() * size };
        let (min, max) = (place.min(corner), place.max(corner));
        finder.within_box(min, max, &mut found);
        assert_eq!(found, within_box(spheres, min, max), "{who}: from {min} to {max}");
        count += found.len();
        let motion = (other.center - place) * random.between(0.2, 2.0);
        let along = [motion, motion * Vec3::X, Vec3::ZERO][random.whole(0, 3) as usize];
        let hit = finder.first_on_ray(place, along);
        assert_eq!(hit, first_of_motion(spheres, Sphere::new(place, 0.0), along), "{who}: from {place} by {along}");
        let hit = finder.first_of_motion(asked, along);
        assert_eq!(hit, first_of_motion(spheres, asked, along), "{who}: {asked:?} by {along}");
        count += usize::from(hit.is_some());
        let many = [1, 2, 7, 1000][random.whole(0, 4) as usize];
        assert_eq!(finder.nearest(place, many), nearest(spheres, place, many), "{who}: {many} nearest to {place}");
    }
    count
}

type MakeSphere = fn(&mut Random) -> Sphere;

const WORLDS: [(&str, MakeSphere); 13] = [
    ("equal radii", |random| Sphere::new(random.point(14.0), 1.0)),
    ("mixed radii", |random| Sphere::new(random.point(400.0), random.log_uniform(1_000.0) * 0.1)),
    ("clustered", |random| {
        let cluster = Vec3::splat(random.whole(0, 4) as f32 * 1_000.0);
        Sphere::new(cluster + random.in_ball() * 5.0, 0.7)
    }),
    ("coplanar", |random| Sphere::new(random.point(40.0) * Vec3::new(1.0, 0.0, 1.0), 1.0)),
    ("in a line", |random| Sphere::new(Vec3::new(3.0, random.unit() * 200.0, -4.0), 0.8)),
    ("all at one point", |random| Sphere::new(Vec3::new(7.0, -7.0, 0.1), random.unit())),
    ("points at one point", |_| Sphere::new(Vec3::ONE, 0.0)),
    ("touching exactly", |random| Sphere::new(random.point(7.0).floor() * 2.0, 1.0)),
    ("a million away", |random| Sphere::new(random.point(14.0) + Vec3::new(1e6, -1e6, 1e6), 1.0)),
    ("half here, half far away", |random| {
        let place = if random.whole(0, 2) == 0 { Vec3::ZERO } else { Vec3::splat(1e9 - 100.0) };
        Sphere::new(place + random.point(20.0), 2.0)
    }),
    ("everywhere, of every size", |random| {
        Sphere::new((random.point(2.0) - Vec3::ONE) * 1e9, random.log_uniform(1e12) * 1e-3)
    }),
    ("tiny", |random| Sphere::new(random.point(14.0) * 1e-20, 1e-20)),
    ("of any numbers", |random| {
        let [x, y, z, radius] = [(); 4].map(|()| any_number(random));
        Sphere::new(Vec3::new(x, y, z), radius.abs())
    }),
];

/// Any number that a world may hold, whatever its bits are.
fn any_number(random: &mut Random) -> f32 {
    loop {
        let number = f32::from_bits(random.whole(0, 1 << 16) << 16 | random.whole(0, 1 << 16));
        if number.abs() <= Spheres::LIMIT {
            return number;
        }
    }
}

#[test]
fn in_random_worlds() {
    for (name, make) in WORLDS {
        for seed in 0..8 {
            let mut random = Random::new(seed);
            let mut spheres = Spheres::new();
            let mut finder = Finder::new();
            for tick in 0..12 {
                let target = [0, 1, 40, 300, 300, 2, 150][random.whole(0, 7) as usize];
                while spheres.len() < target {
                    spheres.insert(make(&mut random)).unwrap();
                }
                let slots: Vec<Slot> = spheres.slots().collect();
                for &slot in &slots {
                    match random.whole(0, 8) {
                        0 | 1 => spheres.move_to(slot, make(&mut random).center).unwrap(),
                        2 => spheres.resize(slot, make(&mut random).radius).unwrap(),
                        3 if spheres.len() > target => {
                            spheres.remove(slot).unwrap();
                        }
                        _ => {}
                    }
                }
                check(&format!("{name}, seed {seed}, tick {tick}"), &mut finder, &spheres, &mut random);
                // A second query in the same tick, a tick without a query, another world in between.
                match random.whole(0, 4) {
                    0 => {
                        spheres.insert(make(&mut random)).unwrap();
                        check(&format!("{name}, seed {seed}, tick {tick}, again"), &mut finder, &spheres, &mut random);
                    }
                    1 => {
                        spheres.end_tick();
                        spheres.insert(make(&mut random)).unwrap();
                    }
                    2 => finder.update(&Spheres::new()),
                    _ => {}
                }
                spheres.end_tick();
            }
        }
    }
}

#[test]
fn in_moving_scenes() {
    let mut found = 0;
    for scene in SCENES {
        let mut world = scene.play(1);
        let mut finder = Finder::new();
        let mut random = Random::new(7);
        for tick in 0..30 {
            world.spheres.end_tick();
            scene.step(&mut world);
            let who = format!("{}, tick {tick}", scene.name);
            found += check(&who, &mut finder, &world.spheres, &mut random);
        }
    }
    assert!(found > 10_000, "only {found} objects were found");
}

/// Invalid queries find nothing, and nothing panics.
#[test]
fn nonsense_finds_nobody() {
    let mut spheres = Spheres::new();
    spheres.insert(Sphere::new(Vec3::ZERO, 1.0)).unwrap();
    let mut finder = Finder::new();
    let mut found = Vec::new();
    for world in [Spheres::new(), spheres] {
        finder.update(&world);
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX] {
            let place = Vec3::new(bad, 0.0, 0.0);
            finder.within_sphere(Sphere::new(place, 1.0), &mut found);
            assert!(found.is_empty());
            // It must not be taken away from the radii of others: a smaller sphere would find them.
            for radius in [f32::NAN, -0.5, -3.0, -1e-30, f32::NEG_INFINITY] {
                finder.within_sphere(Sphere::new(Vec3::ZERO, radius), &mut found);
                assert!(found.is_empty(), "radius {radius}");
            }
            finder.within_box(Vec3::ONE, -Vec3::ONE, &mut found);
            assert!(found.is_empty());
            finder.within_box(place, Vec3::ONE, &mut found);
            finder.first_on_ray(place, Vec3::ONE);
            finder.first_on_ray(Vec3::ONE, place);
            finder.first_of_motion(Sphere::new(Vec3::ONE, bad), place);
            finder.nearest(place, usize::MAX);
        }
        assert_eq!(finder.nearest(Vec3::ONE, usize::MAX).len(), world.len());
    }
}
