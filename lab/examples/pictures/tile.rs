//! A tile's life, its middle, the reach of those in it, and why neighbouring cells are enough.

use super::sheet::*;

pub fn draw() -> String {
    let mut sheet = Sheet::new(880.0, 410.0, "A tile's life, its middle, and the reach of an object");
    draw_life(&mut sheet);
    sheet.line((456.0, 24.0), (456.0, 386.0), stroke(FAINT, 1.0));
    draw_cells(&mut sheet);
    sheet.finish()
}

fn draw_life(sheet: &mut Sheet) {
    sheet.heading((24.0, 34.0), "Entered where it will be halfway");
    let (middle, half): (Point, Point) = ((230.0, 190.0), (80.0, -36.0));
    let (radius, slack) = (22.0, 8.0);
    let reach = radius + slack + (half.0 * half.0 + half.1 * half.1).sqrt();
    let at = |share: f32| (middle.0 + half.0 * share, middle.1 + half.1 * share);
    sheet.circle(middle, reach, fill(BLUE, 0.06).edged(BLUE, 1.2).dashed());
    for share in [-1.0, -0.5, 0.0, 0.5, 1.0] {
        let opacity = if share == 0.0 { 0.45 } else { 0.12 };
        sheet.circle(at(share), radius, fill(BLUE, opacity).edged(BLUE, 1.2));
    }
    sheet.arrow(at(-1.0), at(1.0), BLUE, 1.6);
    sheet.circle(middle, 4.0, fill(INK, 1.0));
    sheet.line(middle, (middle.0, middle.1 + reach), stroke(INK, 1.2));
    for (line, text) in ["reach = radius", "+ slack", "+ speed × life / 2"].into_iter().enumerate() {
        sheet.label((330.0, 272.0 + 17.0 * line as f32), text, INK);
    }
    sheet.line((324.0, 268.0), (middle.0 + 4.0, 268.0), stroke(SOFT, 1.0));
    let (left, right, base) = (60.0, 400.0, 348.0);
    sheet.arrow((left - 20.0, base), (right + 30.0, base), SOFT, 1.4);
    for (x, name, color) in
        [(left, "renewed", VIOLET), ((left + right) / 2.0, "middle", INK), (right, "expires", VIOLET)]
    {
        sheet.line((x, base - 8.0), (x, base + 8.0), stroke(color, 2.0));
        sheet.centered((x, base + 25.0), name, color);
    }
    sheet.centered((145.0, base - 8.0), "half a life", SOFT);
    sheet.centered((315.0, base - 8.0), "half a life", SOFT);
}

fn draw_cells(sheet: &mut Sheet) {
    sheet.heading((480.0, 34.0), "An edge of two reaches: next door is far enough");
    let (corner, edge) = ((500.0, 62.0), 86.0);
    sheet.rectangle((corner.0, corner.1), (edge * 3.0, edge * 3.0), 0.0, fill(AMBER, 0.12));
    sheet.grid(corner, edge, 4, 3, stroke(FAINT, 1.4));
    let one: Point = (corner.0 + edge * 1.62, corner.1 + edge * 1.5);
    let near = (corner.0 + edge * 2.45, corner.1 + edge * 1.15);
    let far = (corner.0 + edge * 3.22, corner.1 + edge * 1.78);
    let reach = edge / 2.0 - 1.0;
    for (place, color) in [(one, BLUE), (near, GREEN), (far, RED)] {
        sheet.circle(place, reach, fill(color, 0.12).edged(color, 1.4));
        sheet.circle(place, 4.0, fill(color, 1.0));
    }
    sheet.label((one.0 - 12.0, one.1 + 20.0), "A", BLUE);
    sheet.label((near.0 + 8.0, near.1 - 6.0), "B", GREEN);
    sheet.label((far.0 + 8.0, far.1 + 4.0), "C", RED);
    let base = corner.1 + edge * 3.0;
    sheet.line((corner.0 + edge * 3.0, base + 14.0), (corner.0 + edge * 4.0, base + 14.0), stroke(SOFT, 1.2));
    for x in [3.0, 4.0] {
        sheet.line((corner.0 + edge * x, base + 9.0), (corner.0 + edge * x, base + 19.0), stroke(SOFT, 1.2));
    }
    sheet.centered((corner.0 + edge * 3.5, base + 32.0), "≥ 2 reaches", SOFT);
    sheet.label((500.0, base + 20.0), "A looks into the amber cells and finds B.", SOFT);
    sheet.label((500.0, base + 38.0), "C is two cells away: their balls are", SOFT);
    sheet.label((500.0, base + 56.0), "apart, so they cannot meet in this life.", SOFT);
}
