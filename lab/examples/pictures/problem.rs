//! What a grid does every tick, and how little changes from one tick to the next. Real objects, real pairs.

use space::broad::PlainGrid;
use space::{BroadPhase, Kinesphere, Pair, Vec3};

use super::room::DrawnRoom;
use super::sheet::*;

const SCALE: f32 = 13.0;
const ROOM: Vec3 = Vec3::new(30.0, 24.0, 0.0);
const TICKS: usize = 3;

pub fn draw() -> String {
    let mut sheet = Sheet::new(880.0, 426.0, "What a grid does every tick, and what changes in three");
    let mut room = DrawnRoom::new(12, 72, ROOM, 0.1);
    let mut pairs = Vec::new();
    let tests = PlainGrid::default().pairs(&room.spheres, &mut pairs).sphere_tests;
    draw_grid(&mut sheet, &room, &pairs, tests);

    let mut broad_phase = Kinesphere::new();
    broad_phase.pairs(&room.spheres, &mut pairs);
    let (before, places) = (pairs.clone(), room.slots.iter().map(|&slot| room.place(slot)).collect::<Vec<_>>());
    for _ in 0..TICKS {
        room.step();
        broad_phase.pairs(&room.spheres, &mut pairs);
    }
    draw_change(&mut sheet, &room, &places, &before, &pairs);
    sheet.finish()
}

fn draw_grid(sheet: &mut Sheet, room: &DrawnRoom, pairs: &[Pair], tests: u64) {
    let corner = (24.0, 60.0);
    let at = |place: Vec3| (corner.0 + place.x * SCALE, corner.1 + place.y * SCALE);
    sheet.heading((24.0, 34.0), "What a grid does, every tick");
    let edge = 2.0 * SCALE;
    // The one in the middle of the room looks into nine cells.
    let middle = ROOM / 2.0;
    let looker = room.slots.iter().min_by(|a, b| {
        let distance = |slot| (room.place(slot) - middle).length_squared();
        distance(**a).total_cmp(&distance(**b))
    });
    let looker = room.place(*looker.expect("there are objects"));
    let cell = |coordinate: f32| (coordinate / 2.0).floor();
    let around = at(Vec3::new(2.0 * cell(looker.x) - 2.0, 2.0 * cell(looker.y) - 2.0, 0.0));
    sheet.rectangle(around, (3.0 * edge, 3.0 * edge), 0.0, fill(AMBER, 0.22));
    sheet.grid(corner, edge, 15, 12, stroke(FAINT, 1.0));
    for &slot in &room.slots {
        sheet.circle(at(room.place(slot)), SCALE, fill(BLUE, 0.13).edged(BLUE, 1.2));
    }
    for pair in pairs {
        sheet.line(at(room.place(pair.a())), at(room.place(pair.b())), stroke(GREEN, 2.6));
    }
    sheet.circle(at(looker), SCALE, fill(AMBER, 0.35).edged(AMBER, 2.0));
    let text = format!(
        "sort all {} objects, test {tests} neighbours, find {} pairs; then forget it all",
        room.slots.len(),
        pairs.len()
    );
    sheet.label((24.0, 402.0), &text, SOFT);
}

fn draw_change(sheet: &mut Sheet, room: &DrawnRoom, places: &[Vec3], before: &[Pair], after: &[Pair]) {
    let corner = (466.0, 60.0);
    let at = |place: Vec3| (corner.0 + place.x * SCALE, corner.1 + place.y * SCALE);
    sheet.heading((466.0, 34.0), "What is different three ticks later");
    sheet.rectangle(corner, (ROOM.x * SCALE, ROOM.y * SCALE), 0.0, stroke(FAINT, 1.0));
    for (&slot, &old) in room.slots.iter().zip(places) {
        sheet.circle(at(old), SCALE, stroke(FAINT, 1.0));
        sheet.circle(at(room.place(slot)), SCALE, fill(BLUE, 0.10).edged(BLUE, 1.0));
        sheet.line(at(old), at(room.place(slot)), stroke(BLUE, 1.2));
    }
    let mut counts = [0; 3];
    let all = before.iter().chain(after.iter().filter(|pair| !before.contains(pair)));
    for pair in all {
        let kind = if !after.contains(pair) { 2 } else { usize::from(!before.contains(pair)) };
        counts[kind] += 1;
        let (a, b) = (at(room.place(pair.a())), at(room.place(pair.b())));
        sheet.line(a, b, stroke([GREEN, AMBER, RED][kind], 3.2));
    }
    let mut x = 466.0;
    for (kind, what, color) in [(0, "pairs are the same", GREEN), (1, "began", AMBER), (2, "ended", RED)] {
        let text = format!("{} {what}", counts[kind]);
        sheet.circle((x + 5.0, 397.5), 4.5, fill(color, 1.0));
        sheet.label((x + 15.0, 402.0), &text, SOFT);
        x += 30.0 + 6.6 * text.len() as f32;
    }
}
