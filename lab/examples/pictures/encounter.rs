//! An encounter: the ticks at which the pair may overlap and those at which it must.

use super::sheet::*;

/// From one line to the other: along, across, and the change of the first per tick. All in radii.
const ALONG: f32 = 4.2;
const ACROSS: f32 = 0.9;
const CLOSING: f32 = 0.28;
const RADII: f32 = 2.0;
const SLACKS: f32 = 0.5;
/// The first of the two tiles expires then.
const EXPIRY: usize = 28;

const LEFT: f32 = 150.0;
const TICK: f32 = 22.0;
const FLOOR: f32 = 352.0;
const UNIT: f32 = 58.0;

pub fn draw() -> String {
    let mut sheet = Sheet::new(880.0, 480.0, "An encounter: when two objects may overlap, and when they must");
    sheet.heading((24.0, 34.0), "An encounter: the distance of two flight plans, tick by tick");
    let right = LEFT + TICK * (EXPIRY as f32 + 1.5);
    draw_bands(&mut sheet, right);
    draw_curves(&mut sheet);
    draw_ticks(&mut sheet);
    let expiry = LEFT + TICK * EXPIRY as f32 - TICK / 2.0;
    sheet.line((expiry, 62.0), (expiry, 412.0), stroke(VIOLET, 1.6));
    sheet.right((expiry - 8.0, 60.0), "a tile expires: what comes later is found then", VIOLET);
    sheet.finish()
}

fn x(tick: f32) -> f32 {
    LEFT + TICK * tick
}

fn y(distance: f32) -> f32 {
    FLOOR - UNIT * distance
}

fn distance(tick: f32) -> f32 {
    let along = ALONG - CLOSING * tick;
    (along * along + ACROSS * ACROSS).sqrt()
}

fn draw_bands(sheet: &mut Sheet, right: f32) {
    let (outer, inner) = (y(RADII + SLACKS), y(RADII - SLACKS));
    sheet.rectangle((LEFT - 12.0, outer), (right - LEFT + 12.0, inner - outer), 0.0, fill(AMBER, 0.14));
    sheet.rectangle((LEFT - 12.0, inner), (right - LEFT + 12.0, FLOOR - inner), 0.0, fill(GREEN, 0.12));
    for (level, text, color) in
        [(RADII + SLACKS, "radii + slacks", AMBER), (RADII, "radii", SOFT), (RADII - SLACKS, "radii − slacks", GREEN)]
    {
        sheet.line((LEFT - 12.0, y(level)), (right, y(level)), stroke(color, 1.2).dashed());
        sheet.right((LEFT - 20.0, y(level) + 4.0), text, color);
    }
    sheet.line((LEFT - 12.0, FLOOR), (right, FLOOR), stroke(SOFT, 1.2));
    sheet.right((LEFT - 20.0, FLOOR + 4.0), "0", SOFT);
    sheet.centered((x(15.0), FLOOR - 16.0), "must overlap, wherever the two are within their slacks", GREEN);
    sheet.centered((x(15.0), 180.0), "cannot overlap", SOFT);
}

fn draw_curves(sheet: &mut Sheet) {
    let lines: Vec<Point> =
        (0..=EXPIRY * 4).map(|quarter| quarter as f32 / 4.0).map(|t| (x(t), y(distance(t)))).collect();
    sheet.path(&lines, stroke(BLUE, 2.4));
    // The true distance wavers around that of the lines by less than the slacks.
    let wobble = [0.1, 0.3, 0.2, -0.1, -0.3, -0.1, 0.2, 0.35, 0.2, 0.1, -0.2, -0.3, 0.0, 0.25];
    for tick in 0..EXPIRY {
        let off = wobble[tick % wobble.len()];
        sheet.circle((x(tick as f32), y(distance(tick as f32) + off)), 3.2, fill(INK, 1.0));
    }
    sheet.label((x(1.8), y(4.3)), "true distance of the two objects", INK);
    sheet.label((x(4.5), y(3.3)), "distance of their plans", BLUE);
}

fn draw_ticks(sheet: &mut Sheet) {
    for tick in 0..EXPIRY {
        let near = distance(tick as f32);
        let paint = if near < RADII - SLACKS {
            fill(GREEN, 0.85)
        } else if near < RADII + SLACKS {
            fill(AMBER, 0.85)
        } else {
            fill(FAINT, 0.7)
        };
        sheet.rectangle((x(tick as f32) - 9.0, 376.0), (18.0, 18.0), 3.0, paint);
    }
    sheet.right((LEFT - 20.0, 389.0), "tick by tick", SOFT);
    let first = |reach: f32| (0..EXPIRY).find(|&tick| distance(tick as f32) < reach).unwrap_or(0) as f32;
    let last = |reach: f32| (0..EXPIRY).rfind(|&tick| distance(tick as f32) < reach).unwrap_or(0) as f32 + 1.0;
    let ends = [
        (first(RADII + SLACKS), "may_from"),
        (first(RADII - SLACKS), "must_from"),
        (last(RADII - SLACKS), "must_until"),
        (last(RADII + SLACKS), "may_until"),
    ];
    for (tick, name) in ends {
        let x = x(tick) - TICK / 2.0;
        sheet.line((x, 372.0), (x, 404.0), stroke(INK, 1.2));
        sheet.centered((x, 419.0), name, INK);
    }
    let kinds =
        [(FAINT, "waits in the event queue"), (AMBER, "compare the positions"), (GREEN, "report without looking")];
    for (index, (color, text)) in kinds.into_iter().enumerate() {
        let x = LEFT - 12.0 + 220.0 * index as f32;
        sheet.rectangle((x, 440.0), (14.0, 14.0), 3.0, fill(color, 0.85));
        sheet.label((x + 22.0, 452.0), text, SOFT);
    }
}
