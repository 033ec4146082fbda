//! What is tested per tick in a world that is smooth, then wild, then smooth again. Real methods, real counts.

use space::broad::PlainGrid;
use space::{BroadPhase, Kinesphere, Vec3};

use super::room::DrawnRoom;
use super::sheet::*;

const OBJECTS: usize = 50_000;
/// Smooth up to the first, wild up to the second, smooth up to the third.
const PHASES: [usize; 3] = [100, 140, 280];
const LEFT: f32 = 76.0;
const TICK: f32 = 2.77;
const FLOOR: f32 = 300.0;

/// One tick of both methods.
struct Seen {
    plain: f32,
    ours: f32,
    is_following: bool,
}

pub fn draw() -> String {
    let seen = run();
    let mut sheet = Sheet::new(880.0, 392.0, "Tests per object and tick in a world that is wild for a while");
    sheet.heading((24.0, 34.0), "Tests per object and tick: smooth, wild for a while, smooth again");
    // The tick in which the structure starts is left out: all objects are searched then.
    let is_counted = |tick: &usize| *tick == 0 || seen[*tick].is_following == seen[*tick - 1].is_following;
    let counted: Vec<usize> = (0..seen.len()).filter(is_counted).collect();
    let most = counted.iter().map(|&tick| seen[tick].plain.max(seen[tick].ours)).fold(1.0, f32::max).ceil() + 1.0;
    let y = |tests: f32| FLOOR - 220.0 * tests / most;
    let wild = (x(PHASES[0]), x(PHASES[1]) - x(PHASES[0]));
    sheet.rectangle((wild.0, 70.0), (wild.1, FLOOR - 70.0), 0.0, fill(RED, 0.07));
    sheet.centered((wild.0 + wild.1 / 2.0, 64.0), "all objects teleport", RED);
    for level in (0..=most as usize).step_by((most as usize / 4).max(1)) {
        sheet.line((LEFT, y(level as f32)), (x(PHASES[2]), y(level as f32)), stroke(FAINT, 1.0));
        sheet.right((LEFT - 10.0, y(level as f32) + 4.0), &level.to_string(), SOFT);
    }
    let line = |tests: fn(&Seen) -> f32| -> Vec<Point> {
        counted.iter().map(|&tick| (x(tick) + TICK / 2.0, y(tests(&seen[tick])))).collect()
    };
    sheet.path(&line(|seen| seen.plain), stroke(SOFT, 1.6));
    sheet.path(&line(|seen| seen.ours), stroke(BLUE, 2.2));
    sheet.label((x(62), y(most - 1.0)), "plain grid", SOFT);
    sheet.label((x(30), y(most - 1.0)), "kinesphere", BLUE);
    draw_modes(&mut sheet, &seen);
    sheet.finish()
}

fn run() -> Vec<Seen> {
    // At this volume the spheres cover five per cent.
    let side = (OBJECTS as f32 * 4.189 / 0.05).cbrt();
    let mut room = DrawnRoom::new(3, OBJECTS, Vec3::splat(side), 0.1);
    let (mut ours, mut plain) = (Kinesphere::new(), PlainGrid::default());
    let (mut our_pairs, mut plain_pairs) = (Vec::new(), Vec::new());
    let per_object = |tests: u64| tests as f32 / OBJECTS as f32;
    (0..PHASES[2])
        .map(|tick| {
            if (PHASES[0]..PHASES[1]).contains(&tick) {
                room.shuffle()
            } else {
                room.step()
            }
            let seen = Seen {
                plain: per_object(plain.pairs(&room.spheres, &mut plain_pairs).sphere_tests),
                ours: per_object(ours.pairs(&room.spheres, &mut our_pairs).sphere_tests),
                is_following: ours.is_following(),
            };
            assert_eq!(our_pairs.len(), plain_pairs.len(), "both methods are exact, tick {tick}");
            seen
        })
        .collect()
}

fn x(tick: usize) -> f32 {
    LEFT + TICK * tick as f32
}

/// Below the curves: in which ticks flight plans are followed.
fn draw_modes(sheet: &mut Sheet, seen: &[Seen]) {
    for (tick, seen) in seen.iter().enumerate() {
        let paint = if seen.is_following { fill(BLUE, 0.75) } else { fill(SOFT, 0.35) };
        sheet.rectangle((x(tick), FLOOR + 14.0), (TICK + 0.1, 12.0), 0.0, paint);
    }
    for tick in (0..=PHASES[2]).step_by(20) {
        sheet.centered((x(tick), FLOOR + 46.0), &tick.to_string(), SOFT);
    }
    let kinds = [(BLUE, 0.75, "flight plans are followed"), (SOFT, 0.35, "the plain grid, and surveys")];
    for (index, (color, opacity, text)) in kinds.into_iter().enumerate() {
        let left = LEFT + 190.0 * index as f32;
        sheet.rectangle((left, FLOOR + 60.0), (14.0, 14.0), 3.0, fill(color, opacity));
        sheet.label((left + 22.0, FLOOR + 72.0), text, SOFT);
    }
    sheet.right((x(PHASES[2]), FLOOR + 72.0), "ticks", SOFT);
}
