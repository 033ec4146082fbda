//! The experiment as a page that one reads from top to bottom.

use super::{GroupsReport, figures};
use crate::report::number::grouped;
use crate::report::page::{Block, Page, Section};

/// The page.
pub fn page(report: &GroupsReport) -> Page {
    let section = |heading: &str, blocks| Section { heading: heading.to_owned(), blocks };
    let worlds = format!(
        "Uniform worlds of {} objects at 1 to 200 % coverage; 40 crowds of 100 with a mean of 30 neighbours; one crowd of \
         200 with a mean of 60, 90 and 120. Everybody moves 0.05 radius per tick, for {} ticks. Figures have the \
         worlds by their neighbours per object: the last three are the single crowds.",
        grouped(report.objects as u64),
        grouped(u64::from(report.ticks)),
    );
    let ways = "Relations: every maximal set of objects that overlap pairwise is a group, as the papers propose; one that \
                changes is another group. Cover: few groups such that every overlapping pair shares one, repaired from \
                tick to tick. Channel per object: whoever overlaps an object is in its channel. Cells: as wide as an aura; \
                an object is in the group of every cell that a neighbour's centre may be in, and sends to its own.";
    let unicast = "Over unicast none of them is needed: each update is encoded once and its bytes copied to each \
                   listener. That is what an audience is for; it delivers what a channel per object does, with nothing to \
                   subscribe to.";
    let early = "An update is under way for up to a horizon of ticks. Widened by what their objects can move in that \
                 time, auras join two objects before their plain auras meet: the papers' target seekers at 5 % coverage, \
                 who turn without notice. What that costs is more hearings.";
    Page {
        title: "Who gets a copy?".to_owned(),
        lead:
            "Four ways to deliver updates to those who should hear them, on the same worlds: what they cost in groups, \
               memberships, copies and changes."
                .to_owned(),
        sections: vec![
            section("What came out", vec![Block::Verdicts(report.verdicts.clone())]),
            section(
                "The worlds and the ways",
                [worlds.as_str(), ways, unicast].map(|text| Block::Text(text.to_owned())).into(),
            ),
            section("Beside each other", vec![Block::Figures(figures::all(report))]),
            section("The numbers", vec![Block::Table(report.table())]),
            section(
                "Joined before they meet",
                vec![Block::Text(early.to_owned()), Block::Table(report.meetings_table())],
            ),
        ],
        command: report.command.clone(),
    }
}
