//! What paper 004 says about its groups, and what we say about ours.

use super::meetings::HORIZON;
use super::{Row, Settings, row_of, worlds_of};
use crate::report::claim::{ClaimResult, judged};
use crate::report::number::{count, grouped, significant};
use crate::study::Report;

pub fn all(report: &Report<Settings>) -> Vec<ClaimResult> {
    vec![minimum(report), relations_suffice(report), near_fresh(report), exact_channel(report), in_time(report)]
}

fn rows<'a>(report: &'a Report<Settings>, scheme: &'static str) -> Vec<&'a Row> {
    worlds_of(&report.rows).into_iter().filter_map(|world| row_of(&report.rows, world, scheme)).collect()
}

fn minimum(report: &Report<Settings>) -> ClaimResult {
    let pairs: Vec<(&Row, &Row)> = rows(report, "relations").into_iter().zip(rows(report, "cover")).collect();
    let fewest = |cover: &Row| cover.fresh_groups.map_or(cover.groups, |fresh| cover.groups.min(fresh as f64));
    let texts: Vec<String> = pairs
        .iter()
        .map(|(relations, cover)| {
            let more = if relations.is_crowd { " and more" } else { "" };
            format!("{}{more} against {} in {}", count(relations.groups), count(fewest(cover)), relations.world)
        })
        .collect();
    judged(
        "Groups by overlap of auras keep the number of multicast groups to a minimum.",
        "004 section 4",
        pairs.iter().map(|(relations, cover)| !relations.is_crowd && relations.groups <= 1.1 * fewest(cover)),
        format!(
            "Relations of two and more against a small cover, a minimum being within a tenth of it: {}.",
            texts.join(", ")
        ),
    )
}

fn relations_suffice(report: &Report<Settings>) -> ClaimResult {
    let all = rows(report, "relations");
    let texts: Vec<String> = all
        .iter()
        .map(|row| {
            format!(
                "{} copies and {} changes in {}",
                significant(row.copies_per_needed),
                count(row.changes_per_tick),
                row.world
            )
        })
        .collect();
    judged(
        "Relations are the groups that a multicast service needs.",
        "000 section 3.1, 004 section 2",
        all.iter().map(|row| !row.is_crowd && row.copies_per_needed <= 2.0),
        format!(
            "No listener is missed and none hears what it need not. But objects that share several relations hear \
             every update several times; more than two copies of each update we call too many. Per needed copy, and \
             per tick: {}.",
            texts.join(", ")
        ),
    )
}

fn near_fresh(report: &Report<Settings>) -> ClaimResult {
    let all = rows(report, "cover");
    let ratio = |row: &Row| row.groups / row.fresh_groups.unwrap_or(0).max(1) as f64;
    let texts: Vec<String> = all.iter().map(|row| format!("{:.2} in {}", ratio(row), row.world)).collect();
    judged(
        "A cover that is repaired every tick stays within 1.6 times a fresh one.",
        "This project",
        all.iter().map(|row| ratio(row) <= 1.6),
        format!(
            "Groups after {} ticks over those of a greedy cover made anew: {}.",
            report.settings.ticks,
            texts.join(", ")
        ),
    )
}

fn exact_channel(report: &Report<Settings>) -> ClaimResult {
    let all: Vec<(&Row, &Row)> = rows(report, "channel-per-object").into_iter().zip(rows(report, "cover")).collect();
    let texts: Vec<String> = all
        .iter()
        .map(|(channel, cover)| {
            format!("{} against {} in {}", count(channel.memberships), count(cover.memberships), channel.world)
        })
        .collect();
    judged(
        "The cover needs fewer memberships than a channel per object.",
        "This project",
        all.iter().map(|(channel, cover)| cover.memberships < channel.memberships),
        format!("Memberships: {}.", texts.join(", ")),
    )
}

fn in_time(report: &Report<Settings>) -> ClaimResult {
    let texts: Vec<String> = report
        .facts
        .meetings
        .iter()
        .map(|row| {
            format!(
                "widened for {} ticks {:.1} % of {} meetings, at {} times the hearings",
                row.widened_ticks,
                100.0 * row.share_in_time,
                grouped(row.meetings),
                significant(row.hearings_per_plain)
            )
        })
        .collect();
    let widened = report.facts.meetings.iter().filter(|row| row.widened_ticks >= row.horizon_ticks);
    judged(
        "Auras widened by what their objects can move within a horizon join every pair a horizon before it meets.",
        "This project",
        widened.map(|row| row.in_time == row.meetings),
        format!("Target seekers at 5 %, joined for {HORIZON} ticks or more when they met: {}.", texts.join("; ")),
    )
}
