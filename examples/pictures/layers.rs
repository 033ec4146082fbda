//! Objects of similar reach share a layer; whoever looks, looks into all of them.

use super::sheet::*;

const TOP: f32 = 84.0;
const SIDE: f32 = 192.0;

pub fn draw() -> String {
    let mut sheet = Sheet::new(880.0, 344.0, "Layers: cells as wide as the reach of those in them");
    sheet.heading((24.0, 34.0), "The same place, in three layers");
    let looker = (0.46, 0.55);
    let layers: [(&str, [&str; 2], usize, f32); 3] = [
        ("small and slow", ["narrow cells;", "tiles fall due"], 8, 48.0),
        ("large or fast", ["wide cells;", "tiles fall due"], 2, 120.0),
        ("standing", ["as wide as they are;", "tiles never fall due"], 8, 36.0),
    ];
    for (index, (name, notes, cells, reaches)) in layers.into_iter().enumerate() {
        let left = 24.0 + 222.0 * index as f32;
        let edge = SIDE / cells as f32;
        let at = |(x, y): Point| (left + SIDE * x, TOP + SIDE * y);
        sheet.label((left, 70.0), name, INK);
        draw_looked_at(&mut sheet, left, edge, looker, reaches);
        sheet.grid((left, TOP), edge, cells, cells, stroke(FAINT, 1.0));
        sheet.rectangle((left, TOP), (SIDE, SIDE), 2.0, stroke(SOFT, 1.3));
        match index {
            0 => draw_small(&mut sheet, at),
            1 => draw_large(&mut sheet, at),
            _ => draw_standing(&mut sheet, at),
        }
        sheet.circle(at(looker), 5.0, if index == 0 { fill(AMBER, 1.0) } else { stroke(AMBER, 2.0) });
        for (line, note) in notes.into_iter().enumerate() {
            sheet.label((left, TOP + SIDE + 22.0 + 17.0 * line as f32), note, SOFT);
        }
    }
    draw_words(&mut sheet);
    sheet.finish()
}

/// The cells in which somebody may be entered whom the looker may meet.
fn draw_looked_at(sheet: &mut Sheet, left: f32, edge: f32, (x, y): Point, reaches: f32) {
    let (x, y) = (SIDE * x, SIDE * y);
    let low = |place: f32| ((place - reaches) / edge).floor().max(0.0) * edge;
    let high = |place: f32| (((place + reaches) / edge).floor() * edge + edge).min(SIDE);
    let size = (high(x) - low(x), high(y) - low(y));
    sheet.rectangle((left + low(x), TOP + low(y)), size, 0.0, fill(AMBER, 0.16));
}

fn draw_small(sheet: &mut Sheet, at: impl Fn(Point) -> Point) {
    let places = [(0.1, 0.2), (0.28, 0.08), (0.55, 0.3), (0.82, 0.18), (0.2, 0.47), (0.66, 0.52), (0.9, 0.6)];
    let more = [(0.12, 0.78), (0.38, 0.9), (0.53, 0.7), (0.75, 0.84), (0.34, 0.62), (0.41, 0.36)];
    for (index, place) in places.into_iter().chain(more).enumerate() {
        let (x, y) = at(place);
        sheet.circle((x, y), 4.0, fill(BLUE, 0.5));
        let way = [(9.0, -5.0), (-7.0, -7.0), (4.0, 9.0), (-9.0, 3.0)][index % 4];
        sheet.line((x, y), (x + way.0, y + way.1), stroke(BLUE, 1.2));
    }
}

fn draw_large(sheet: &mut Sheet, at: impl Fn(Point) -> Point) {
    sheet.circle(at((0.27, 0.3)), 30.0, fill(BLUE, 0.2).edged(BLUE, 1.4));
    sheet.circle(at((0.76, 0.74)), 24.0, fill(BLUE, 0.2).edged(BLUE, 1.4));
    let (from, to) = (at((0.55, 0.45)), at((0.85, 0.15)));
    sheet.circle(at((0.7, 0.3)), 45.0, stroke(BLUE, 1.0).dashed());
    sheet.circle(from, 4.0, fill(BLUE, 0.6));
    sheet.arrow(from, to, BLUE, 1.5);
}

fn draw_standing(sheet: &mut Sheet, at: impl Fn(Point) -> Point) {
    for place in
        [(0.1, 0.12), (0.36, 0.2), (0.6, 0.15), (0.88, 0.3), (0.15, 0.6), (0.3, 0.85), (0.72, 0.86), (0.57, 0.48)]
    {
        let (x, y) = at(place);
        sheet.rectangle((x - 5.0, y - 5.0), (10.0, 10.0), 2.0, fill(SOFT, 0.55));
    }
}

fn draw_words(sheet: &mut Sheet) {
    let x = 698.0;
    sheet.circle((x + 5.0, 104.0), 5.0, fill(AMBER, 1.0));
    sheet.label((x + 18.0, 108.0), "somebody who looks", INK);
    for (line, text) in [
        "In each layer it looks as far",
        "as its own reach and that of",
        "the layer: the amber cells.",
        "",
        "In one grid the giants’ cells",
        "would hold hundreds of the",
        "small ones, and all of these",
        "would be tested.",
    ]
    .into_iter()
    .enumerate()
    {
        sheet.label((x, 138.0 + 18.0 * line as f32), text, SOFT);
    }
}
