//! How an object moves on to another tile: it stays outside its own until the other one adopts it.

use super::sheet::*;

const CELL: f32 = 26.0;
const TOP: f32 = 90.0;

pub fn draw() -> String {
    let mut sheet = Sheet::new(880.0, 316.0, "An object moves on to the next tile, and is adopted");
    sheet.heading((24.0, 34.0), "Moving to the next tile costs almost nothing");
    let scenes = [
        ("Tile A is renewed", ["At its next middle the object is", "beyond A. It stays in A."]),
        ("For a while", ["It is at most one cell outside,", "and a search allows for that."]),
        ("Tile B is renewed", ["B adopts the objects of the tiles", "around that are in its own cells."]),
    ];
    for (index, (name, lines)) in scenes.into_iter().enumerate() {
        let x = 24.0 + 284.0 * index as f32;
        sheet.label((x, 72.0), &format!("{}   {name}", index + 1), INK);
        draw_scene(&mut sheet, x, index);
        for (line, text) in lines.into_iter().enumerate() {
            sheet.label((x, 272.0 + 18.0 * line as f32), text, SOFT);
        }
    }
    sheet.finish()
}

fn draw_scene(sheet: &mut Sheet, left: f32, scene: usize) {
    let corner = |column: f32, row: f32| (left + CELL * (column + 1.0), TOP + CELL * row);
    let (tile_a, tile_b) = (corner(0.0, 1.0), corner(4.0, 1.0));
    let size = (CELL * 4.0, CELL * 4.0);
    if scene == 1 {
        // Where objects of A may be entered outside of it.
        for column in [-1.0, 4.0] {
            sheet.rectangle(corner(column, 0.0), (CELL, CELL * 6.0), 0.0, fill(VIOLET, 0.14));
        }
        for row in [0.0, 5.0] {
            sheet.rectangle(corner(0.0, row), (CELL * 4.0, CELL), 0.0, fill(VIOLET, 0.14));
        }
    }
    for (tile, is_renewed) in [(tile_a, scene == 0), (tile_b, scene == 2)] {
        if is_renewed {
            sheet.rectangle(tile, size, 0.0, fill(AMBER, 0.16));
        }
        sheet.grid(tile, CELL, 4, 4, stroke(FAINT, 1.0));
        sheet.rectangle(
            tile,
            size,
            2.0,
            stroke(if is_renewed { AMBER } else { SOFT }, if is_renewed { 2.2 } else { 1.3 }),
        );
    }
    sheet.label((tile_a.0 + 7.0, tile_a.1 + 18.0), "A", SOFT);
    sheet.label((tile_b.0 + size.0 - 17.0, tile_b.1 + 18.0), "B", SOFT);
    for (column, row) in [(0.6, 2.3), (1.5, 4.2), (2.4, 1.8), (5.4, 4.4), (6.6, 1.7), (7.3, 3.8)] {
        sheet.circle(corner(column, row), 5.0, fill(BLUE, 0.35));
    }
    let (old, new) = (corner(3.3, 3.3), corner(4.45, 2.9));
    let next = corner(5.4, 2.55);
    match scene {
        0 => {
            sheet.circle(old, 6.0, stroke(BLUE, 1.2).dashed());
            sheet.arrow(old, (new.0 - 7.0, new.1 + 2.0), BLUE, 1.5);
            sheet.circle(new, 6.5, fill(VIOLET, 1.0));
        }
        1 => {
            sheet.circle(new, 6.5, fill(VIOLET, 1.0));
            sheet.label((new.0 + 12.0, new.1 + 4.0), "still A’s", VIOLET);
        }
        _ => {
            sheet.circle(new, 6.0, stroke(VIOLET, 1.2).dashed());
            sheet.arrow(new, (next.0 - 7.0, next.1 + 2.0), BLUE, 1.5);
            sheet.circle(next, 6.5, fill(GREEN, 1.0));
            sheet.centered((new.0 - 44.0, new.1 + 4.0), "a hole", SOFT);
            sheet.line((new.0 - 24.0, new.1), (new.0 - 8.0, new.1), stroke(SOFT, 1.0));
        }
    }
}
