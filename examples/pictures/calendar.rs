//! Tiles fall due one after another; a meeting lasts until the first of its two tiles does.

use super::sheet::*;

const TILES: usize = 12;
const TICKS: usize = 40;
const LIFE: usize = 12;
/// Two tiles whose objects meet.
const PAIR: [usize; 2] = [3, 7];
const LEFT: f32 = 100.0;
const TOP: f32 = 66.0;
const WIDE: f32 = 18.5;
const HIGH: f32 = 19.0;

pub fn draw() -> String {
    let mut sheet = Sheet::new(880.0, 514.0, "Tiles fall due one after another, so that every tick has as much to do");
    sheet.heading((24.0, 34.0), "One life, many beginnings: which tile falls due at which tick");
    for tile in 0..TILES {
        draw_lives(&mut sheet, tile);
    }
    draw_meeting(&mut sheet);
    draw_loads(&mut sheet);
    sheet.finish()
}

fn x(tick: usize) -> f32 {
    LEFT + WIDE * tick as f32
}

fn y(tile: usize) -> f32 {
    TOP + HIGH * tile as f32
}

/// The ticks at which a tile falls due: neighbours soon after each other.
fn dues(tile: usize) -> impl Iterator<Item = usize> {
    (tile..TICKS).step_by(LIFE)
}

fn draw_lives(sheet: &mut Sheet, tile: usize) {
    let color = if PAIR.contains(&tile) { GREEN } else { SOFT };
    sheet.right((LEFT - 12.0, y(tile) + 13.0), &format!("tile {}", tile + 1), color);
    sheet.rectangle((LEFT, y(tile) + 3.0), (WIDE * TICKS as f32, HIGH - 6.0), 3.0, fill(BLUE, 0.07));
    for due in dues(tile) {
        sheet.rectangle((x(due), y(tile) + 2.0), (WIDE - 2.0, HIGH - 4.0), 3.0, fill(AMBER, 0.95));
        if due + LIFE / 2 < TICKS {
            sheet.circle((x(due + LIFE / 2) + WIDE / 2.0, y(tile) + HIGH / 2.0), 2.2, fill(BLUE, 0.8));
        }
    }
}

/// Somebody of the fourth tile meets somebody of the eighth, for long: their meeting is cut where either falls due.
fn draw_meeting(sheet: &mut Sheet) {
    let level = y(TILES) + 18.0;
    let mut cuts: Vec<usize> = PAIR.into_iter().flat_map(dues).chain([TICKS]).collect();
    cuts.sort_unstable();
    for ends in cuts.windows(2) {
        let (from, until) = (x(ends[0]) + 1.5, x(ends[1]) - 1.5);
        sheet.line((from, level), (until, level), stroke(GREEN, 3.0));
        for end in [from, until] {
            sheet.line((end, level - 5.0), (end, level + 5.0), stroke(GREEN, 2.0));
        }
    }
    sheet.right((LEFT - 12.0, level + 4.0), "4 meets 8", GREEN);
}

fn draw_loads(sheet: &mut Sheet) {
    let base = 424.0;
    let (unit, top) = (5.6, y(TILES) + 42.0);
    for tick in 0..TICKS {
        let due = (0..TILES).filter(|&tile| dues(tile).any(|other| other == tick)).count() as f32;
        sheet.rectangle((x(tick), base - unit * due - 3.0), (WIDE - 2.0, unit * due + 3.0), 1.5, fill(AMBER, 0.95));
        if tick % LIFE == 0 {
            let height = unit * TILES as f32 + 3.0;
            sheet.rectangle((x(tick), base - height), (WIDE - 2.0, height), 1.5, stroke(RED, 1.2).dashed());
        }
    }
    sheet.line((LEFT, base), (LEFT + WIDE * TICKS as f32, base), stroke(SOFT, 1.2));
    sheet.right((LEFT - 12.0, base - 4.0), "work", SOFT);
    sheet.label((x(1) + 6.0, top + 20.0), "if all were due at once", RED);
    let y = 464.0;
    sheet.rectangle((LEFT, y - 11.0), (14.0, 14.0), 3.0, fill(AMBER, 0.95));
    sheet.label((LEFT + 22.0, y), "due: sorted, looks around", SOFT);
    sheet.circle((LEFT + 217.0, y - 4.0), 3.0, fill(BLUE, 0.8));
    sheet.label((LEFT + 228.0, y), "middle: where its objects are entered", SOFT);
    sheet.right((LEFT + WIDE * TICKS as f32, y), "time →", SOFT);
    sheet.line((LEFT, y + 21.0), (LEFT + 14.0, y + 21.0), stroke(GREEN, 3.0));
    sheet.label(
        (LEFT + 22.0, y + 25.0),
        "a meeting ends when the first of its two tiles falls due, and is found again then",
        SOFT,
    );
}
