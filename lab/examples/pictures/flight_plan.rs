//! A flight plan and its slack, and what happens when an object departs from it.

use super::sheet::*;

const START: Point = (70.0, 250.0);
const STEP: Point = (30.0, -11.0);
const SLACK: f32 = 22.0;

/// How far aside of its line the object is, tick after tick.
const WOBBLE: [f32; 11] = [0.0, 5.0, 9.0, 4.0, -5.0, -11.0, -8.0, 2.0, 10.0, 13.0, 7.0];

pub fn draw() -> String {
    let mut sheet = Sheet::new(880.0, 330.0, "A flight plan, its slack, and an object that departs from it");
    draw_keeping(&mut sheet);
    sheet.line((440.0, 24.0), (440.0, 306.0), stroke(FAINT, 1.0));
    draw_departing(&mut sheet);
    sheet.finish()
}

/// Where the line that begins at `start` is after some ticks.
fn on(start: Point, step: Point, ticks: f32) -> Point {
    (start.0 + step.0 * ticks, start.1 + step.1 * ticks)
}

fn beside(start: Point, step: Point, ticks: f32, aside: f32) -> Point {
    let length = (step.0 * step.0 + step.1 * step.1).sqrt();
    let (x, y) = on(start, step, ticks);
    (x + step.1 / length * aside, y - step.0 / length * aside)
}

fn draw_plan(sheet: &mut Sheet, start: Point, step: Point, ticks: f32, color: SvgColor) {
    let end = on(start, step, ticks);
    let edge = |aside| [beside(start, step, 0.0, aside), beside(start, step, ticks, aside)];
    let [[a, b], [d, c]] = [edge(SLACK), edge(-SLACK)];
    sheet.path(&[a, b, c, d], fill(color, 0.10));
    sheet.path(&[a, b], stroke(color, 1.0).dashed());
    sheet.path(&[d, c], stroke(color, 1.0).dashed());
    sheet.arrow(start, end, color, 1.6);
}

fn draw_keeping(sheet: &mut Sheet) {
    sheet.heading((24.0, 34.0), "A flight plan: a line, and how far off it is allowed");
    draw_plan(sheet, START, STEP, 10.6, BLUE);
    for (tick, aside) in WOBBLE.into_iter().enumerate().take(10) {
        sheet.circle(beside(START, STEP, tick as f32, aside), 3.6, fill(INK, 1.0));
    }
    let (from, to) = (beside(START, STEP, 6.5, 0.0), beside(START, STEP, 6.5, -SLACK));
    sheet.line(from, to, stroke(INK, 1.2));
    sheet.label((to.0 + 6.0, to.1 + 14.0), "slack", INK);
    sheet.label((36.0, 292.0), "where it was when the plan was made", SOFT);
    sheet.line((66.0, 279.0), (START.0, START.1 + 6.0), stroke(SOFT, 1.0));
    sheet.label((60.0, 96.0), "one dot per tick: where the object truly is.", SOFT);
    sheet.label((60.0, 114.0), "Inside the tube nothing has to be done.", SOFT);
    sheet.line((158.0, 122.0), (158.0, 205.0), stroke(SOFT, 1.0));
}

fn draw_departing(sheet: &mut Sheet) {
    let start = (START.0 + 420.0, START.1);
    sheet.heading((464.0, 34.0), "After a departure: another plan, in the same tick");
    draw_plan(sheet, start, STEP, 6.6, BLUE);
    let fork = beside(start, STEP, 5.0, -5.0);
    let turned = (27.0, 13.0);
    let departed = (fork.0 + turned.0, fork.1 + turned.1);
    for (tick, aside) in WOBBLE.into_iter().enumerate().take(5) {
        sheet.circle(beside(start, STEP, tick as f32, aside), 3.6, fill(INK, 1.0));
    }
    sheet.circle(fork, 3.6, fill(INK, 1.0));
    draw_plan(sheet, departed, turned, 6.0, GREEN);
    for (tick, aside) in [3.0, 6.0, 2.0, -4.0].into_iter().enumerate() {
        sheet.circle(beside(departed, turned, tick as f32 + 1.0, aside), 3.6, fill(INK, 1.0));
    }
    sheet.circle(departed, 9.0, stroke(RED, 2.0));
    sheet.circle(departed, 4.4, fill(RED, 1.0));
    sheet.label((672.0, 132.0), "farther off than its slack:", RED);
    sheet.label((672.0, 150.0), "found before any pair is reported", RED);
    sheet.line((690.0, 157.0), (departed.0 + 8.0, departed.1 - 8.0), stroke(RED, 1.0));
    sheet.label((470.0, 296.0), "its encounters end, a new plan", SOFT);
    sheet.label((470.0, 312.0), "begins, and it is searched alone", SOFT);
    sheet.label((470.0, 96.0), "the old plan and whatever", SOFT);
    sheet.label((470.0, 114.0), "was found with it are void", SOFT);
    sheet.line((560.0, 122.0), (590.0, 184.0), stroke(SOFT, 1.0));
}
