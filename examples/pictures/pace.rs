//! One fast object among many that stand: what it looks at with a long life, and along its path with a short one.

use space::workload::Random;

use super::sheet::*;

const TOP: f32 = 64.0;
const SIDE: f32 = 240.0;
const CELLS: usize = 12;
const EDGE: f32 = SIDE / CELLS as f32;

pub fn draw() -> String {
    let mut sheet = Sheet::new(880.0, 360.0, "Pace: who is fast looks often, and at a few");
    sheet.heading((24.0, 34.0), "One that races through a crowd that stands");
    let (from, way) = ((40.0, 200.0), (160.0, -120.0));
    // Everywhere within its reach: as far as it gets in half a long life, and as far around.
    let (low, high) = ((0.0, 20.0), (SIDE, SIDE));
    draw_room(&mut sheet, 24.0, (low, high), from, way, 1.0);
    // A sixth of the way, and the cells around it.
    let share = 1.0 / 6.0;
    let (low, high) = ((20.0, 160.0), (100.0, 220.0));
    draw_room(&mut sheet, 300.0, (low, high), from, way, share);
    let notes = [
        (24.0, "a life like the others': all within", "its reach, once in a long while"),
        (300.0, "a short life, looking along its path:", "a few, and again a few ticks later"),
    ];
    for (x, first, second) in notes {
        sheet.label((x, TOP + SIDE + 20.0), first, SOFT);
        sheet.label((x, TOP + SIDE + 37.0), second, SOFT);
    }
    draw_words(&mut sheet, 580.0);
    sheet.finish()
}

/// The crowd, what is looked at of it, and the way for which it is looked at.
fn draw_room(sheet: &mut Sheet, left: f32, (low, high): (Point, Point), from: Point, way: Point, share: f32) {
    let at = |(x, y): Point| (left + x, TOP + y);
    sheet.rectangle(at(low), (high.0 - low.0, high.1 - low.1), 0.0, fill(AMBER, 0.16));
    sheet.grid(at((0.0, 0.0)), EDGE, CELLS, CELLS, stroke(FAINT, 1.0));
    sheet.rectangle(at((0.0, 0.0)), (SIDE, SIDE), 2.0, stroke(SOFT, 1.3));
    let mut random = Random::new(4);
    for _ in 0..110 {
        let place = (6.0 + random.unit() * (SIDE - 12.0), 6.0 + random.unit() * (SIDE - 12.0));
        let is_looked_at = (low.0..high.0).contains(&place.0) && (low.1..high.1).contains(&place.1);
        let color = if is_looked_at { AMBER } else { SOFT };
        let (x, y) = at(place);
        sheet.rectangle((x - 3.5, y - 3.5), (7.0, 7.0), 2.0, fill(color, 0.7));
    }
    let to = |share: f32| (from.0 + way.0 * share, from.1 + way.1 * share);
    sheet.line(at(from), at(to(1.0)), stroke(BLUE, 1.0).dashed());
    sheet.arrow(at(from), at(to(share)), BLUE, 2.0);
    sheet.circle(at(from), 5.0, fill(BLUE, 1.0));
}

fn draw_words(sheet: &mut Sheet, x: f32) {
    sheet.circle((x + 5.0, 104.0), 5.0, fill(BLUE, 1.0));
    sheet.label((x + 18.0, 108.0), "the hasty one, and its way in one life", INK);
    sheet.rectangle((x, 126.0), (11.0, 11.0), 0.0, fill(AMBER, 0.16).edged(AMBER, 1.0));
    sheet.label((x + 18.0, 136.0), "what it looks at in one tick", INK);
    let lines = [
        "The volume grows with the cube of the way,",
        "the number of looks only falls with it:",
        "so the fast look often. And who is alone",
        "has nobody to look together with, and need",
        "not look where it will not come by.",
    ];
    for (line, text) in lines.into_iter().enumerate() {
        sheet.label((x, 176.0 + 18.0 * line as f32), text, SOFT);
    }
}
