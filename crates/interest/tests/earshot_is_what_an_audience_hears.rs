//! Where few listen, an earshot says what an audience says: tick after tick, to the bit, for any auras, any motion, and
//! objects that come and go, within one tick too.

use interest::{Audience, AudienceSettings, Aura, Earshot};
use space::workload::Random;
use space::{Slot, Vec3};

fn any_aura(random: &mut Random, listeners: f32) -> Aura {
    let radius = random.between(0.0, 2.0);
    if random.unit() >= listeners {
        return Aura::only_heard(if random.unit() < 0.5 { 0.0 } else { random.between(0.0, 3.0) });
    }
    match random.whole(0, 4) {
        0 => Aura::new(radius),
        1 => Aura::only_hears(radius * 2.0),
        2 => Aura::one_sided(0.0, radius),
        _ => Aura::one_sided(radius * 3.0, 0.0),
    }
}

fn live_through(seed: u64, hysteresis: f32, listeners: f32, side: f32, far: f32) {
    let mut random = Random::new(seed);
    let mut audience = Audience::with(AudienceSettings { hysteresis, threads: 1 }).unwrap();
    let mut earshot = Earshot::with_hysteresis(hysteresis).unwrap();
    let offset = Vec3::splat(far);
    let mut alive: Vec<(Slot, Vec3)> = Vec::new();
    let mut heard = 0;
    for tick in 0..50 {
        for (slot, place) in &mut alive {
            if random.unit() < 0.8 {
                *place += random.direction() * 0.1 * side;
                assert_eq!(audience.move_to(*slot, *place), earshot.move_to(*slot, *place));
            }
        }
        for _ in 0..random.whole(0, if tick == 0 { 120 } else { 5 }) {
            let (place, aura) = (offset + random.point(side), any_aura(&mut random, listeners));
            let slot = audience.insert(place, aura).unwrap();
            assert_eq!(earshot.insert(place, aura), Ok(slot));
            alive.push((slot, place));
            if random.unit() < 0.5 {
                let (slot, _) = alive.swap_remove(random.whole(0, alive.len() as u32) as usize);
                assert_eq!(audience.remove(slot), earshot.remove(slot));
                assert_eq!(audience.remove(slot), earshot.remove(slot), "twice is an error");
            }
            if let Some(&(slot, _)) = alive.first().filter(|_| random.unit() < 0.3) {
                let aura = any_aura(&mut random, listeners);
                assert_eq!(audience.set_aura(slot, aura), earshot.set_aura(slot, aura));
            }
        }
        audience.update();
        earshot.update();
        let at = format!("seed {seed}, tick {tick}");
        assert_eq!(audience.entered(), earshot.entered(), "{at}: who entered");
        assert_eq!(audience.left(), earshot.left(), "{at}: who left");
        assert_eq!(audience.hearings(), earshot.hearings(), "{at}");
        assert_eq!((earshot.len(), earshot.is_empty()), (alive.len(), alive.is_empty()), "{at}");
        assert!(earshot.bytes() >= 4 * earshot.hearings());
        for &(slot, _) in &alive {
            assert_eq!((audience.center(slot), audience.aura(slot)), (earshot.center(slot), earshot.aura(slot)));
            assert!(audience.heard_by(slot).eq(earshot.heard_by(slot)), "{at}: {slot}");
            assert!(audience.listeners_of(slot).eq(earshot.listeners_of(slot)), "{at}: {slot}");
        }
        heard += earshot.entered().len();
    }
    assert!(heard > 0 || listeners == 0.0 || side > 100.0, "seed {seed}: nobody heard anybody");
}

#[test]
fn earshot_is_what_an_audience_hears() {
    for seed in 0..120 {
        let hysteresis = [1.0, 1.1, 3.0][seed as usize % 3];
        let listeners = [0.0, 0.1, 0.5, 1.0][seed as usize % 4];
        // Small and crowded, or so wide that a cell is larger than a reach; far from the middle too, where steps are coarse.
        let side = [4.0, 12.0, 400.0][seed as usize / 4 % 3];
        let far = [0.0, -3_000.0, 70_000.0][seed as usize / 12 % 3];
        if side < 100.0 || listeners == 1.0 {
            live_through(seed, hysteresis, listeners, side, far);
        }
    }
}

#[test]
fn nonsense_is_refused() {
    assert!(Earshot::with_hysteresis(0.5).is_err() && Earshot::with_hysteresis(f32::NAN).is_err());
    let mut earshot = Earshot::new();
    assert!(earshot.is_empty() && earshot.center(Slot::new(0)).is_err() && earshot.aura(Slot::new(0)).is_err());
    assert!(earshot.insert(Vec3::NAN, Aura::new(1.0)).is_err());
    assert!(earshot.insert(Vec3::ZERO, Aura::new(-1.0)).is_err());
    assert!(earshot.move_to(Slot::new(7), Vec3::ZERO).is_err());
    assert!(earshot.set_aura(Slot::new(7), Aura::new(1.0)).is_err());
    earshot.update();
    assert_eq!(earshot.hearings(), 0);
}
