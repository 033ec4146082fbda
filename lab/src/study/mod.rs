//! What every experiment and every bench is: settings, a run, rows, claims, a page.
//!
//! A study is one struct of settings. clap reads it from the command line and checks the ranges; serde writes it into
//! the report; [`command_line`] makes from it the command that repeats the run. The rest is the same for all: see
//! [`runner`].

pub mod range;
pub mod runner;

use clap::{ArgMatches, Args, Command};
use kinesphere::failure::Failure;
use serde::Serialize;
use serde_json::Value;

use crate::report::claim::ClaimResult;
use crate::report::csv::to_table;
use crate::report::page::{Document, Page};
use crate::stopwatch::Stopwatch;

/// Is told how many steps are done, of how many.
pub type Progress<'p> = &'p mut (dyn FnMut(u32, u32) + Send);

/// An experiment or a bench, implemented by its settings.
///
/// The doc comment of the settings is the help text: its first paragraph is the question that the study answers.
pub trait Study: Args + Serialize + Sized {
    /// The name on the command line. The name of a bench begins with `bench `.
    const NAME: &'static str;
    /// Arguments that show the use of the study, for the help text.
    const EXAMPLE: &'static str;
    /// What the progress bar counts.
    const UNIT: &'static str;
    /// Whether there is a [`Study::page`], and so an option `--out` that says where to.
    const HAS_PAGE: bool;
    /// A line of the table.
    type Row: Serialize;
    /// Results that are not in the rows. `()` if there are none.
    type Facts: Serialize;

    /// Measures. Settings that cannot be used together are a [`Failure::Input`].
    fn run(&self, stopwatch: &mut dyn Stopwatch, progress: Progress<'_>) -> Result<Results<Self>, Failure>;

    /// The tables for a terminal. The claims are appended.
    fn text(report: &Report<Self>) -> String {
        to_table(&report.rows).to_string()
    }

    /// The papers' claims and ours, judged by the rows.
    fn claims(_report: &Report<Self>) -> Vec<ClaimResult> {
        Vec::new()
    }

    /// The page with plots.
    fn page(_report: &Report<Self>) -> Page {
        Page::default()
    }

    /// Files beside the page, its plots, the rows as CSV and the report as JSON.
    fn files(_report: &Report<Self>) -> Vec<Document> {
        Vec::new()
    }

    /// Why the command fails: promises that do not hold. A claim of a paper that does not hold is a result instead.
    fn failures(_report: &Report<Self>) -> Vec<String> {
        Vec::new()
    }
}

/// What a run of a study yields.
pub type Results<S> = (Vec<<S as Study>::Row>, <S as Study>::Facts);

/// A study that was run. In JSON, settings and facts stand beside the rows.
#[derive(Clone, Debug, Serialize)]
pub struct Report<S: Study> {
    /// The command that repeats the run.
    pub command: String,
    #[serde(flatten)]
    pub settings: S,
    #[serde(flatten)]
    pub facts: S::Facts,
    pub rows: Vec<S::Row>,
    #[serde(rename = "verdicts", skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<ClaimResult>,
}

impl<S: Study> Report<S> {
    /// The report on a run, with its claims judged.
    pub fn new(settings: S, (rows, facts): Results<S>) -> Report<S> {
        let command = command_line(&settings);
        let mut report = Report { command, settings, facts, rows, claims: Vec::new() };
        report.claims = S::claims(&report);
        report
    }

    /// The report for a terminal.
    pub fn to_text(&self) -> String {
        let tables = S::text(self);
        if self.claims.is_empty() { tables } else { format!("{tables}\n{}\n", ClaimResult::list(&self.claims)) }
    }

    /// The page with its plots, the numbers, and whatever else the study writes.
    pub fn documents(&self) -> Vec<Document> {
        let (page, name) = (Page { command: self.command.clone(), ..S::page(self) }, S::NAME);
        let mut documents = vec![Document::page(&page), Document::csv(name, &self.rows), Document::json(name, self)];
        documents.extend(page.figures().map(Document::plot));
        documents.extend(S::files(self));
        documents
    }
}

/// Runs a study and judges its claims.
pub fn run<S: Study>(settings: S, stopwatch: &mut dyn Stopwatch, progress: Progress<'_>) -> Result<Report<S>, Failure> {
    let results = settings.run(stopwatch, progress)?;
    Ok(Report::new(settings, results))
}

/// The settings that a command line stands for: `--ticks 5 --seed 2`. What is not named has its default.
pub fn settings<S: Study>(arguments: &str) -> Result<S, clap::Error> {
    let command = S::augment_args(Command::new(S::NAME).no_binary_name(true).allow_negative_numbers(true));
    let matches: ArgMatches = command.try_get_matches_from(arguments.split_whitespace())?;
    S::from_arg_matches(&matches)
}

/// The command line that repeats a run: each argument that clap knows, with the value that serde gives for its field.
pub fn command_line<S: Study>(settings: &S) -> String {
    // By way of text: an `f32` that became an `f64` would show digits that it does not have.
    let text = serde_json::to_string(settings).expect("settings are plain values");
    let values: Value = serde_json::from_str(&text).expect("what was just written");
    let mut line = format!("cargo run --release -p lab -- {}", S::NAME);
    for argument in S::augment_args(Command::new(S::NAME)).get_arguments() {
        let value = match &values[argument.get_id().as_str()] {
            Value::Null | Value::Bool(false) => continue,
            Value::Bool(true) => String::new(),
            Value::Array(list) if list.is_empty() => continue,
            Value::Array(list) => {
                let separator = argument.get_value_delimiter().unwrap_or(' ').to_string();
                list.iter().map(word).collect::<Vec<_>>().join(&separator)
            }
            value => word(value),
        };
        let flag = argument.get_long().map(|flag| format!("--{flag}")).unwrap_or_default();
        line = [line, flag, value].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    }
    line
}

fn word(value: &Value) -> String {
    match value {
        Value::String(text) if text.contains(char::is_whitespace) => format!("'{text}'"),
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string().trim_end_matches(".0").to_owned(),
        value => value.to_string(),
    }
}

/// Settings that cannot be used together, or a world that cannot be made from them.
pub fn refused(reason: impl std::fmt::Display) -> Failure {
    Failure::Input(reason.to_string())
}

/// The results of a run with the clock of the tests, for which every work takes `step_ms`.
#[cfg(test)]
pub(crate) fn tried<S: Study>(arguments: &str, step_ms: u64) -> Report<S> {
    let settings = settings(arguments).unwrap_or_else(|error| panic!("{error}"));
    let report = run(settings, &mut crate::stopwatch::SteadyStopwatch::new(step_ms), &mut |_, _| {});
    report.unwrap_or_else(|failure| panic!("{failure}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{STUDIES, bench, experiment};

    #[test]
    fn every_example_is_a_command_line() {
        for study in STUDIES {
            let command = (study.command)();
            let help = command.get_after_help().expect("every study has an example").to_string();
            let (_, arguments) = help.split_once("-p lab -- ").expect("the example is a command");
            let arguments = arguments.strip_prefix("bench ").unwrap_or(arguments);
            command
                .try_get_matches_from(arguments.split_whitespace())
                .unwrap_or_else(|error| panic!("{help}: {error}"));
        }
    }

    /// The command line of a report stands for the settings of its run.
    #[test]
    fn a_command_line_repeats_its_run() {
        fn repeated<S: Study>(arguments: &str) {
            let line = command_line(&settings::<S>(arguments).unwrap());
            let (_, again) = line.split_once(S::NAME).unwrap();
            assert_eq!(command_line(&settings::<S>(again).unwrap()), line);
            assert!(line.contains(arguments), "{line} lacks {arguments}");
        }
        repeated::<bench::broad_phase::Settings>("--coverage 0.1 --workload seekers --speed 0.1");
        repeated::<bench::broad_phase::Settings>("--methods plain-grid,octree");
        repeated::<bench::narrow::Settings>("--mesh torus --method octree-tight --depth 2");
        repeated::<experiment::relations::Settings>("--objects 100,200 --coverage 5,20 --warm 50");
        repeated::<experiment::sphere_trees::Settings>("--mesh box torus --spheres 8,64");
        repeated::<experiment::world::Settings>("worlds/plaza.toml --ticks 7");
        let line = command_line(&settings::<experiment::relations::Settings>("").unwrap());
        assert!(
            line.ends_with(
                "relations --objects 1000,2000,3000,4000 --coverage 1,5,10,20 --warm 600 --frames 30 --seed 1"
            )
        );
    }
}
