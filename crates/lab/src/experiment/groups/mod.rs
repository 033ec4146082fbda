//! Four ways to deliver updates to those who should hear them: relations as groups, the cover, a channel per object, and
//! cells. What does each cost in groups, memberships, copies and changes?
//!
//! An update is *needed* by everybody whose aura overlaps the sender's. A group delivers it to all other members, once
//! per group that two share. A channel per object has the sender's neighbours for members. A cell has for members all whose
//! reach touches it, and carries the updates of those whose centre is in it.
//!
//! And a question that all of them share: are two joined before they meet? `meetings` counts it.

mod claims;
mod figures;
mod meetings;
mod page;
mod schemes;

use interest::{Graph, GroupChange, GroupCover, greedy_cover};
use serde::Serialize;
use space::workload::{self, Motion, Workload, WorkloadError};
use space::{BroadPhase, Kinesphere};

pub use self::meetings::Meetings;
use self::schemes::{Cells, RelationGroups, Tally};
use super::Document;
use crate::crowds;
use crate::report::number::{grouped, significant};
use crate::report::table::Table;
use crate::report::verdict::Verdict;
use crate::setting::{self, SettingsError};

/// What to run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Objects of the uniform worlds.
    pub objects: usize,
    /// Ticks per world.
    pub ticks: u32,
    /// The same seed gives the same worlds.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { objects: 4_000, ticks: 300, seed: 1 }
    }
}

/// What came out.
#[derive(Clone, Debug, Serialize)]
pub struct GroupsReport {
    /// The command that repeats the run.
    pub command: String,
    /// Objects of the uniform worlds.
    pub objects: usize,
    /// Ticks per world.
    pub ticks: u32,
    /// What the worlds were made from.
    pub seed: u64,
    /// One per world and scheme.
    pub rows: Vec<Row>,
    /// One per widening of auras.
    pub meetings: Vec<Meetings>,
    /// The paper's claim, and ours.
    pub verdicts: Vec<Verdict>,
}

/// What one way to deliver takes in one world.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The world: `uniform-20` for a coverage of 20 %, `crowds-40`, `crowd-200-60` for 60 neighbours.
    pub world: String,
    /// `relations`, `cover`, `channel-per-object` or `cells`.
    pub scheme: &'static str,
    /// How many objects the world has.
    pub objects: usize,
    /// How many groups there are at the end.
    pub groups: f64,
    /// How many objects are in how many groups, counted together, at the end.
    pub memberships: f64,
    /// Copies delivered for each that is needed, at the end.
    pub copies_per_needed: f64,
    /// Joins and leaves per tick.
    pub changes_per_tick: f64,
    /// Pairs that began and ended per tick.
    pub edge_changes_per_tick: f64,
    /// For the cover: how many groups a greedy cover has that is made anew at the end.
    pub fresh_groups: Option<usize>,
    /// Overlapping others per object, at the end.
    pub neighbours: f64,
    /// Whether there were too many relations to list them: the numbers are of those that fit.
    pub is_crowd: bool,
}

/// Runs every world. `progress` is told how many ticks are done, of how many.
pub fn run(settings: &Settings, progress: &mut dyn FnMut(u32, u32)) -> Result<GroupsReport, SettingsError> {
    check(settings)?;
    let worlds = worlds(settings)?;
    let total = settings.ticks * (worlds.len() as u32 + meetings::RUNS);
    let mut rows = Vec::new();
    for (index, (name, workload)) in worlds.into_iter().enumerate() {
        let done = settings.ticks * index as u32;
        rows.extend(run_world(&name, workload, settings.ticks, &mut |tick| progress(done + tick, total)));
    }
    let Settings { objects, ticks, seed } = *settings;
    let done = total - ticks * meetings::RUNS;
    let meetings = meetings::run(objects, ticks, seed, &mut |tick| progress(done + tick, total))?;
    progress(total, total);
    let command = format!("kinesphere lab groups --objects {objects} --ticks {ticks} --seed {seed}");
    let mut report = GroupsReport { command, objects, ticks, seed, rows, meetings, verdicts: Vec::new() };
    report.verdicts = claims::verdicts(&report);
    Ok(report)
}

fn worlds(settings: &Settings) -> Result<Vec<(String, Workload)>, WorkloadError> {
    let mut worlds = Vec::new();
    for coverage in [1, 5, 10, 20, 100, 200] {
        let workload = Workload::new(workload::Settings {
            motion: Motion::Uniform,
            objects: settings.objects,
            coverage_percent: coverage as f32,
            speed: crowds::SPEED,
            seed: settings.seed,
            ..workload::Settings::default()
        })?;
        worlds.push((format!("uniform-{coverage}"), workload));
    }
    worlds.push(("crowds-40".to_owned(), crowds::workload(4_000, 100, 30.0, 0..300, settings.seed)?));
    for neighbours in [60, 90, 120] {
        let workload = crowds::workload(200, 200, neighbours as f32, 0..300, settings.seed)?;
        worlds.push((format!("crowd-200-{neighbours}"), workload));
    }
    Ok(worlds)
}

/// Between how many ticks the costly ways are looked at, for two ticks in a row.
const SAMPLE: u32 = 30;

fn run_world(name: &str, mut workload: Workload, ticks: u32, progress: &mut dyn FnMut(u32)) -> Vec<Row> {
    let mut broad_phase = Kinesphere::new().tracking_changes();
    let (mut pairs, mut graph, mut cover) = (Vec::new(), Graph::new(), GroupCover::new());
    let (mut relations, mut cells) = (RelationGroups::default(), Cells::default());
    let (mut relation_changes, mut cell_changes) = (Tally::default(), Tally::default());
    let (mut cover_changes, mut edge_changes) = (Tally::default(), Tally::default());
    for tick in 0..ticks {
        progress(tick);
        broad_phase.pairs(workload.spheres(), &mut pairs);
        graph.update(broad_phase.began(), broad_phase.ended());
        let is_membership = |change: &&GroupChange| matches!(change, GroupChange::Joined(..) | GroupChange::Left(..));
        let changes = cover.update(broad_phase.began(), broad_phase.ended()).iter().filter(is_membership).count();
        // The first tick makes everything; nothing changes in it.
        if tick > 0 {
            cover_changes.add(changes);
            edge_changes.add(graph.began().len() + graph.ended().len());
        }
        let is_last = tick + 1 == ticks;
        if tick % SAMPLE < 2 || is_last || tick + 2 == ticks {
            let follows = tick % SAMPLE == 1 || is_last;
            let changes = (relations.update(&graph), cells.update(workload.spheres()));
            if follows && tick > 0 {
                relation_changes.add(changes.0);
                cell_changes.add(changes.1);
            }
        }
        if !is_last {
            workload.step();
        }
    }
    let needed = 2.0 * graph.pairs() as f64;
    let objects = workload.spheres().len();
    let row = |scheme, groups: usize, memberships: usize, copies: f64, changes: f64| Row {
        world: name.to_owned(),
        scheme,
        objects,
        groups: groups as f64,
        memberships: memberships as f64,
        copies_per_needed: if needed > 0.0 { copies / needed } else { 0.0 },
        changes_per_tick: changes,
        edge_changes_per_tick: edge_changes.mean(),
        fresh_groups: None,
        neighbours: needed / objects.max(1) as f64,
        is_crowd: false,
    };
    let copies = |size: usize| (size * size.saturating_sub(1)) as f64;
    let cover_copies: f64 = cover.iter().map(|(_, members)| copies(members.len())).sum();
    vec![
        Row {
            is_crowd: relations.is_crowd,
            ..row(
                "relations",
                relations.len(),
                relations.memberships(),
                relations.sizes().map(copies).sum(),
                relation_changes.mean(),
            )
        },
        Row {
            fresh_groups: Some(greedy_cover(&graph).len()),
            ..row("cover", cover.len(), cover.memberships(), cover_copies, cover_changes.mean())
        },
        // Each end of a pair is in the other's channel.
        row("channel-per-object", objects, needed as usize, needed, 2.0 * edge_changes.mean()),
        row("cells", cells.len(), cells.memberships(), cells.copies(), cell_changes.mean()),
    ]
}

impl GroupsReport {
    /// Everything worth keeping: a page, the numbers, and the plots.
    pub fn documents(&self) -> Vec<Document> {
        let mut documents = vec![
            Document::page(&page::page(self)),
            Document::csv("groups", &self.rows),
            Document::csv("meetings", &self.meetings),
            Document::json("groups", self),
        ];
        documents.extend(Document::plots(figures::all(self)));
        documents
    }

    /// The report for a terminal.
    pub fn to_text(&self) -> String {
        format!("{}\n{}\n{}\n", self.table(), self.meetings_table(), Verdict::list(&self.verdicts))
    }

    fn table(&self) -> Table {
        let headings =
            ["world", "scheme", "groups", "fresh", "memberships", "copies/needed", "changes/tick", "edges/tick"];
        let mut table = Table::new(headings);
        for row in &self.rows {
            let count = |number: f64| grouped(number.round() as u64);
            table.row([
                row.world.clone(),
                row.scheme.to_owned(),
                format!("{}{}", count(row.groups), if row.is_crowd { "+" } else { "" }),
                row.fresh_groups.map_or(String::new(), |fresh| grouped(fresh as u64)),
                count(row.memberships),
                significant(row.copies_per_needed),
                significant(row.changes_per_tick),
                significant(row.edge_changes_per_tick),
            ]);
        }
        table
    }

    fn meetings_table(&self) -> Table {
        let mut table = Table::new(["widened by ticks", "horizon", "meetings", "in time", "share", "hearings/plain"]);
        for row in &self.meetings {
            table.row([
                row.widened_ticks.to_string(),
                row.horizon_ticks.to_string(),
                grouped(row.meetings),
                grouped(row.in_time),
                significant(row.share_in_time),
                significant(row.hearings_per_plain),
            ]);
        }
        table
    }

    fn row(&self, world: &str, scheme: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.world == world && row.scheme == scheme)
    }

    fn worlds(&self) -> Vec<&str> {
        let mut worlds: Vec<&str> = self.rows.iter().map(|row| row.world.as_str()).collect();
        worlds.dedup();
        worlds
    }
}

fn check(settings: &Settings) -> Result<(), SettingsError> {
    let counts = [("objects", settings.objects as f64), ("ticks", f64::from(settings.ticks))];
    Ok(setting::check(counts.map(|(field, count)| (field, count, 2.0..=1e5, "2 to 100,000")))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_world_has_four_rows_and_every_claim_a_verdict() {
        let settings = Settings { objects: 300, ticks: 4, seed: 1 };
        let report = run(&settings, &mut |_, _| {}).unwrap();
        assert_eq!(report.rows.len(), 10 * 4);
        for world in report.worlds() {
            let of = |scheme| report.row(world, scheme).unwrap();
            assert!(of("cover").fresh_groups.is_some() && of("cells").fresh_groups.is_none());
            assert_eq!(of("channel-per-object").copies_per_needed, 1.0, "{world}");
            for scheme in ["relations", "cover", "cells"] {
                assert!(of(scheme).copies_per_needed >= 1.0 - 1e-9, "{world}: {scheme} misses somebody");
            }
        }
        assert_eq!(report.verdicts.len(), 5);
        assert!(report.documents().iter().any(|document| document.name == "copies.svg"));
        let refused = run(&Settings { ticks: 0, ..settings }, &mut |_, _| {}).unwrap_err().to_string();
        assert_eq!(refused, "`ticks` is 0, expected 2 to 100,000");
    }
}
