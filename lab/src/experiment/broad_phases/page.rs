//! The experiment as a page that one reads from top to bottom.

use super::{BroadPhases, Row, figures};
use crate::experiment::room::Movement;
use crate::report::number::grouped;
use crate::report::page::{Block, Page, Section};
use crate::report::verdict::Outcome;
use kinesphere::table::Table;

/// The page.
pub fn page(report: &BroadPhases) -> Page {
    Page {
        title: "Which broad phase is fastest in a crowded room?".to_owned(),
        lead: lead(report),
        sections: vec![
            verdicts(report),
            room(report),
            plots(report, Movement::Space),
            speed(report),
            voxels(report),
            plots(report, Movement::Plane),
            numbers(report),
        ],
        command: report.command.clone(),
    }
}

/// Frames per second by number of objects, a column per method.
pub fn rates(report: &BroadPhases, movement: Movement) -> Table {
    table(report, movement, |row| grouped(row.frames_per_second.round() as u64))
}

fn lead(report: &BroadPhases) -> String {
    let count = |outcome| report.verdicts.iter().filter(|verdict| verdict.outcome == outcome).count();
    format!(
        "Rocha, Rodrigues and Taddeo let four broad phases compete in a room of up to 4,000 flying objects. We \
         built the room and the methods again. Of {} claims, ours included, we find {} true, {} true in part and {} false.",
        report.verdicts.len() - count(Outcome::Untested),
        count(Outcome::True),
        count(Outcome::Partly),
        count(Outcome::False),
    )
}

fn verdicts(report: &BroadPhases) -> Section {
    Section { heading: "Does the paper hold?".to_owned(), blocks: vec![Block::Verdicts(report.verdicts.clone())] }
}

fn room(report: &BroadPhases) -> Section {
    let [width, height, depth] = report.room;
    let setting = format!(
        "The room measures {width} x {height} x {depth}. Objects are 1 x 1 x 1, fly straight on at {} per frame without \
         turning, and on contact negate the components of their velocity that led into the other, chosen from their \
         boxes' intervals. The grid has 10 x 4 x 10 voxels and the octree three levels, the best that the paper found.",
        report.speed
    );
    let choices = "What the paper leaves open: an object is a sphere of radius 0.5, so that its box is the paper's; a \
                   movement in the plane keeps its height; and the speed, which has a section below.";
    let measuring = format!(
        "All methods see the same {} frames, one after the other within each frame, on one core, and find the same \
         pairs{}. Counted is the processor time of the broad phase alone, from new positions to the complete list of \
         pairs, without rendering. The paper had Java on a PC of 3.06 GHz: its frame rates cannot be compared with \
         these, its ratios can.",
        grouped(u64::from(report.frames)),
        if report.agrees() { ", as was checked in every frame" } else { ": but they did NOT agree in this run" },
    );
    let blocks = [setting, choices.to_owned(), measuring].into_iter().map(Block::Text).collect();
    Section { heading: "The room".to_owned(), blocks }
}

fn speed(report: &BroadPhases) -> Section {
    let mut text = "The paper says that its objects have a linear velocity, and not which. Sweep and prune swaps neighbours \
                    in sorted lists as they pass each other, so that its work grows with how far they move. The hybrid and \
                    the sweep on one axis keep sorted lists as well."
        .to_owned();
    let figure = figures::speeds(report);
    if figure.is_none() {
        text += " Not measured: that takes a room of at most 1,000 objects.";
    }
    let blocks = vec![Block::Text(text), Block::Figures(figure.into_iter().collect())];
    Section { heading: "How fast is a flying object?".to_owned(), blocks }
}

fn voxels(report: &BroadPhases) -> Section {
    let figure = figures::voxels(report);
    let mut text =
        "Voxels are the grid's one setting. A voxel is looked into whole, so that large ones mean many tests; who \
                    moves enters and leaves small ones more often, and is in more of them at a time."
            .to_owned();
    if figure.is_none() {
        text += " Not measured: that takes a room of at most 1,000 objects.";
    }
    let mut table = Table::new(["voxels", "edge", "tests per frame", "updates per frame", "µs per frame"]);
    for row in &report.voxels {
        let [x, y, z] = row.voxels;
        table.row([
            format!("{x} x {y} x {z}"),
            row.edge.to_string(),
            grouped(row.sphere_tests.round() as u64),
            format!("{:.1}", row.updates),
            format!("{:.1}", row.frame_us()),
        ]);
    }
    let mut blocks = vec![Block::Text(text), Block::Figures(figure.into_iter().collect())];
    if !report.voxels.is_empty() {
        blocks.push(Block::Table(table));
    }
    Section { heading: "How large is a voxel?".to_owned(), blocks }
}

fn plots(report: &BroadPhases, movement: Movement) -> Section {
    let heading = match movement {
        Movement::Space => "Movement in space",
        Movement::Plane => "Movement in the plane",
    };
    Section { heading: heading.to_owned(), blocks: vec![Block::Figures(figures::of(report, movement))] }
}

fn numbers(report: &BroadPhases) -> Section {
    let mut blocks = Vec::new();
    for movement in Movement::ALL.into_iter().rev() {
        blocks.push(Block::Text(format!("Frames per second, movement in {}:", movement.axes())));
        blocks.push(Block::Table(rates(report, movement)));
        blocks.push(Block::Text(format!("Share of updating, movement in {}:", movement.axes())));
        blocks.push(Block::Table(table(report, movement, |row| format!("{:.0} %", 100.0 * row.update_share))));
    }
    Section { heading: "The numbers".to_owned(), blocks }
}

fn table(report: &BroadPhases, movement: Movement, cell: impl Fn(&Row) -> String) -> Table {
    let methods = report.methods();
    let headings = methods.iter().map(|method| figures::label(method).to_owned());
    let mut table = Table::new(std::iter::once("objects".to_owned()).chain(headings));
    for objects in report.objects(0, usize::MAX) {
        let cells = methods.iter().map(|method| report.row(movement, objects, method).map_or(String::new(), &cell));
        table.row(std::iter::once(grouped(objects as u64)).chain(cells));
    }
    table
}
