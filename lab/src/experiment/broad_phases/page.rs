//! The experiment as a page that one reads from top to bottom.

use super::{Row, Settings, figures};
use crate::experiment::flight_room::Movement;
use crate::report::claim::ClaimResult;
use crate::report::csv::to_table;
use crate::report::number::{count, grouped};
use crate::report::page::{Page, PageBlock, section};
use crate::study::{Report, Study};
use kinesphere::table::Table;

pub fn page(report: &Report<Settings>) -> Page {
    let lead = format!(
        "Rocha, Rodrigues and Taddeo let four broad phases compete in a room of up to 4,000 flying objects. We \
         built the room and the methods again. {}",
        ClaimResult::tally(&report.claims)
    );
    let figures = |movement| [PageBlock::Figures(figures::of(report, movement))];
    let sections = vec![
        section("Does the paper hold?", [PageBlock::Verdicts(report.claims.clone())]),
        section("The room", room(report).map(PageBlock::Text)),
        section("Movement in space", figures(Movement::Space)),
        section("How fast is a flying object?", speed(report)),
        section("How large is a voxel?", voxels(report)),
        section("Movement in the plane", figures(Movement::Plane)),
        section("The numbers", numbers(report)),
    ];
    Page::new("Which broad phase is fastest in a crowded room?", lead, sections)
}

/// Frames per second by number of objects, a column per method.
pub fn rates(report: &Report<Settings>, movement: Movement) -> Table {
    pivot(report, movement, |row| count(row.frames_per_second))
}

fn room(report: &Report<Settings>) -> [String; 3] {
    let [width, height, depth] = report.facts.room;
    let setting = format!(
        "The room measures {width} x {height} x {depth}. Objects are 1 x 1 x 1, fly straight on at {} per frame \
         without turning, and on contact negate the components of their velocity that led into the other, chosen from \
         their boxes' intervals. The grid has 10 x 4 x 10 voxels and the octree three levels, the best that the paper \
         found.",
        report.settings.speed
    );
    let choices = "What the paper leaves open: an object is a sphere of radius 0.5, so that its box is the paper's; a \
                   movement in the plane keeps its height; and the speed, which has a section below.";
    let measuring = format!(
        "All methods see the same {} frames, one after the other within each frame, on one core, and find the same \
         pairs{}. Counted is the processor time of the broad phase alone, from new positions to the complete list of \
         pairs, without rendering. The paper had Java on a PC of 3.06 GHz: its frame rates cannot be compared with \
         these, its ratios can.",
        grouped(u64::from(report.settings.frames)),
        if Settings::failures(report).is_empty() {
            ", as was checked in every frame"
        } else {
            ": but they did NOT agree in this run"
        },
    );
    [setting, choices.to_owned(), measuring]
}

fn speed(report: &Report<Settings>) -> Vec<PageBlock> {
    let mut text = "The paper says that its objects have a linear velocity, and not which. Sweep and prune swaps \
                    neighbours in sorted lists as they pass each other, so that its work grows with how far they move. \
                    The hybrid and the sweep on one axis keep sorted lists as well."
        .to_owned();
    let figure = figures::speeds(report);
    if figure.is_none() {
        text += " Not measured: that takes a room of at most 1,000 objects.";
    }
    vec![PageBlock::Text(text), PageBlock::Figures(figure.into_iter().collect())]
}

fn voxels(report: &Report<Settings>) -> Vec<PageBlock> {
    let figure = figures::voxels(report);
    let mut text =
        "Voxels are the grid's one setting. A voxel is looked into whole, so that large ones mean many tests; an \
                    object that moves enters and leaves small ones more often, and is in more of them at a time."
            .to_owned();
    if figure.is_none() {
        text += " Not measured: that takes a room of at most 1,000 objects.";
    }
    let mut blocks = vec![PageBlock::Text(text), PageBlock::Figures(figure.into_iter().collect())];
    if !report.facts.voxels.is_empty() {
        blocks.push(PageBlock::Table(to_table(&report.facts.voxels)));
    }
    blocks
}

fn numbers(report: &Report<Settings>) -> Vec<PageBlock> {
    let mut blocks = Vec::new();
    for movement in Movement::ALL.into_iter().rev() {
        blocks.push(PageBlock::Text(format!("Frames per second, movement in {}:", movement.axes())));
        blocks.push(PageBlock::Table(rates(report, movement)));
        blocks.push(PageBlock::Text(format!("Share of updating, movement in {}:", movement.axes())));
        blocks.push(PageBlock::Table(pivot(report, movement, |row| format!("{:.0} %", 100.0 * row.update_share))));
    }
    blocks
}

fn pivot(report: &Report<Settings>, movement: Movement, cell: impl Fn(&Row) -> String) -> Table {
    let methods = report.methods();
    let headings = methods.iter().map(|method| figures::label(method).to_owned());
    let mut table = Table::new(std::iter::once("objects".to_owned()).chain(headings));
    for objects in report.objects(0, usize::MAX) {
        let cells = methods.iter().map(|method| report.row(movement, objects, method).map_or(String::new(), &cell));
        table.row(std::iter::once(grouped(objects as u64)).chain(cells));
    }
    table
}
