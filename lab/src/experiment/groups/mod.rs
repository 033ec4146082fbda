//! Four ways to deliver updates: relations as groups, the cover, a channel per object, and cells. What does each cost
//! in groups, memberships, copies and changes?
//!
//! An object *needs* the updates of every object whose aura overlaps its own. A group delivers an update to all other
//! members, once per group that two share. A channel per object has the sender's neighbours for members. A cell has for
//! members all objects whose reach touches it, and carries the updates of those whose centre is in it.
//!
//! And a question that all of them share: are two joined before they meet? `meetings` counts it.

mod claims;
mod meetings;
mod page;
mod schemes;

use clap::Args;
use interest::{Graph, GroupChange, GroupCover, greedy_cover};
use kinesphere::failure::Failure;
use serde::Serialize;
use space::workload::{self, Motion, Workload, WorkloadError};
use space::{BroadPhase, Kinesphere};

use self::meetings::Meetings;
use self::schemes::{CellGroups, Mean, RelationGroups};
use crate::crowds;
use crate::report::claim::ClaimResult;
use crate::report::csv::to_table;
use crate::report::page::{Document, Page};
use crate::stopwatch::Stopwatch;
use crate::study::range::range;
use crate::study::{Progress, Report, Results, Study, refused};

/// Paper 004 and beyond: which objects get a copy of an update, and how many copies are there?
///
/// Delivers updates in four ways on the same worlds: relations as groups, the cover, a channel per object, and cells.
/// Counts groups, memberships, copies and changes, and how many meetings were joined in time by auras that were
/// widened; and writes plots, numbers and a page.
#[derive(Args, Clone, Debug, Serialize)]
pub struct Settings {
    /// Objects of the uniform worlds
    #[arg(long, default_value_t = 4_000, value_name = "N", value_parser = range(2..=100_000usize))]
    pub objects: usize,
    /// Ticks per world
    #[arg(long, default_value_t = 300, value_parser = range(2..=100_000u32))]
    pub ticks: u32,
    /// The same seed gives the same worlds
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// How many pairs were joined before they met.
#[derive(Clone, Debug, Serialize)]
pub struct MeetingFacts {
    /// One per widening of auras.
    pub meetings: Vec<Meetings>,
}

/// What one way to deliver takes in one world.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The world: `uniform-20` for a coverage of 20 %, `crowds-40`, `crowd-200-60` for 60 neighbours.
    pub world: String,
    /// `relations`, `cover`, `channel-per-object` or `cells`.
    pub scheme: &'static str,
    pub objects: usize,
    /// Groups at the end.
    pub groups: f64,
    /// Members of all groups together, at the end.
    pub memberships: f64,
    /// Copies delivered for each that is needed, at the end.
    pub copies_per_needed: f64,
    /// Joins and leaves per tick.
    pub changes_per_tick: f64,
    /// Pairs that began and ended per tick.
    pub edge_changes_per_tick: f64,
    /// For the cover: the groups of a greedy cover that is made anew at the end.
    pub fresh_groups: Option<usize>,
    /// Overlapping others per object, at the end.
    pub neighbours: f64,
    /// Whether there were too many relations to list them: the numbers are of those that fit.
    pub is_crowd: bool,
}

impl Study for Settings {
    const NAME: &'static str = "groups";
    const EXAMPLE: &'static str = "--ticks 100 --json";
    const UNIT: &'static str = "ticks";
    const HAS_PAGE: bool = true;
    type Row = Row;
    type Facts = MeetingFacts;

    fn run(&self, _: &mut dyn Stopwatch, progress: Progress<'_>) -> Result<Results<Settings>, Failure> {
        let worlds = worlds(self).map_err(refused)?;
        let total = self.ticks * (worlds.len() as u32 + meetings::RUNS);
        let mut rows = Vec::new();
        for (index, (name, workload)) in worlds.into_iter().enumerate() {
            let done = self.ticks * index as u32;
            rows.extend(run_world(&name, workload, self.ticks, &mut |tick| progress(done + tick, total)));
        }
        let done = total - self.ticks * meetings::RUNS;
        let mut step = |tick| progress(done + tick, total);
        let meetings = meetings::run(self.objects, self.ticks, self.seed, &mut step).map_err(refused)?;
        progress(total, total);
        Ok((rows, MeetingFacts { meetings }))
    }

    fn text(report: &Report<Settings>) -> String {
        format!("{}\n{}", to_table(&report.rows), to_table(&report.facts.meetings))
    }

    fn claims(report: &Report<Settings>) -> Vec<ClaimResult> {
        claims::all(report)
    }

    fn page(report: &Report<Settings>) -> Page {
        page::page(report)
    }

    fn files(report: &Report<Settings>) -> Vec<Document> {
        vec![Document::csv("meetings", &report.facts.meetings)]
    }
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

/// The costly ways are looked at once in `SAMPLE` ticks, for two ticks in a row.
const SAMPLE: u32 = 30;

fn run_world(name: &str, mut workload: Workload, ticks: u32, progress: &mut dyn FnMut(u32)) -> Vec<Row> {
    let mut broad_phase = Kinesphere::new().tracking_changes();
    let (mut pairs, mut graph, mut cover) = (Vec::new(), Graph::new(), GroupCover::new());
    let (mut relations, mut cells) = (RelationGroups::default(), CellGroups::default());
    let (mut relation_changes, mut cell_changes) = (Mean::default(), Mean::default());
    let (mut cover_changes, mut edge_changes) = (Mean::default(), Mean::default());
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

fn row_of<'r>(rows: &'r [Row], world: &str, scheme: &str) -> Option<&'r Row> {
    rows.iter().find(|row| row.world == world && row.scheme == scheme)
}

fn worlds_of(rows: &[Row]) -> Vec<&str> {
    let mut worlds: Vec<&str> = rows.iter().map(|row| row.world.as_str()).collect();
    worlds.dedup();
    worlds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::tried;

    #[test]
    fn every_world_has_four_rows_and_every_claim_is_judged() {
        let report = tried::<Settings>("--objects 300 --ticks 4", 1);
        assert_eq!(report.rows.len(), 10 * 4);
        for world in worlds_of(&report.rows) {
            let of = |scheme| row_of(&report.rows, world, scheme).unwrap();
            assert!(of("cover").fresh_groups.is_some() && of("cells").fresh_groups.is_none());
            assert_eq!(of("channel-per-object").copies_per_needed, 1.0, "{world}");
            for scheme in ["relations", "cover", "cells"] {
                assert!(of(scheme).copies_per_needed >= 1.0 - 1e-9, "{world}: {scheme} misses a listener");
            }
        }
        assert_eq!(report.claims.len(), 5);
        assert!(report.documents().iter().any(|document| document.name == "copies.svg"));
    }
}
