//! Runs a study from the command line: help, progress, text or JSON on stdout, files in a folder, exit code.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use kinesphere::failure::Failure;
use kinesphere::output::{print, say};
use kinesphere::progress::Bar;

use super::{Study, run};
use crate::report::page::Document;
use crate::stopwatch::ProcessClock;

/// A study in the list of commands.
#[derive(Clone, Copy)]
pub struct StudyEntry {
    pub name: &'static str,
    pub command: fn() -> Command,
    pub run: fn(&ArgMatches) -> Result<(), Failure>,
}

impl StudyEntry {
    /// The entry of the study with these settings.
    pub const fn of<S: Study>() -> StudyEntry {
        StudyEntry { name: S::NAME, command: command::<S>, run: run_from::<S> }
    }
}

/// All of these as subcommands; those of benches are in a subcommand of their own.
pub fn with_subcommands(lab: Command, studies: &[StudyEntry]) -> Command {
    let (benches, experiments): (Vec<&StudyEntry>, Vec<&StudyEntry>) =
        studies.iter().partition(|study| study.name.starts_with("bench "));
    let bench = Command::new("bench")
        .about("Measures how fast something is, against its rivals")
        .after_help("Example: cargo run --release -p lab -- bench broad-phase --objects 100000")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(benches.iter().map(|study| (study.command)()));
    lab.subcommands(experiments.iter().map(|study| (study.command)())).subcommand(bench)
}

/// Runs the study that the command line names.
pub fn run_named(matches: &ArgMatches, studies: &[StudyEntry]) -> Result<(), Failure> {
    let (mut name, mut matches) = matches.subcommand().expect("clap requires a subcommand");
    let mut full = name.to_owned();
    if let Some(inner) = matches.subcommand() {
        (name, matches) = inner;
        full = format!("{full} {name}");
    }
    let study = studies.iter().find(|study| study.name == full).expect("clap knows the studies only");
    (study.run)(matches)
}

/// The study as clap sees it, with the options that all studies have.
pub fn command<S: Study>() -> Command {
    let name = S::NAME.strip_prefix("bench ").unwrap_or(S::NAME);
    let json = Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print one JSON document instead of text");
    let out = Arg::new("out")
        .long("out")
        .value_name("DIR")
        .value_parser(value_parser!(PathBuf))
        .help(format!("Where the page, its plots and the numbers are written [default: {}]", default_folder::<S>()));
    S::augment_args(Command::new(name))
        .args(S::HAS_PAGE.then_some(out))
        .arg(json)
        .allow_negative_numbers(true)
        .after_help(format!("Example: cargo run --release -p lab -- {} {}", S::NAME, S::EXAMPLE))
}

fn default_folder<S: Study>() -> String {
    format!("lab-results/{}", S::NAME)
}

fn run_from<S: Study>(matches: &ArgMatches) -> Result<(), Failure> {
    let settings = S::from_arg_matches(matches).unwrap_or_else(|error| error.exit());
    let out = || matches.get_one::<PathBuf>("out").cloned().unwrap_or_else(|| default_folder::<S>().into());
    let folder = S::HAS_PAGE.then(|| Folder::prepare(&out())).transpose()?;
    let bar = Bar::new(S::UNIT);
    let report = run(settings, &mut ProcessClock::new(), &mut |done, total| bar.set(done, total));
    drop(bar);
    let report = report.map_err(|failure| match failure {
        Failure::Input(reason) => Failure::Input(format!(
            "{reason}\nNothing was run; `cargo run --release -p lab -- {} --help` lists the settings.",
            S::NAME
        )),
        failure => failure,
    })?;
    // What was printed is there even if the disk is full by now.
    let is_json = matches.get_flag("json");
    say(&report, &report.to_text(), is_json)?;
    if let Some(folder) = folder {
        folder.write(report.documents())?;
        if !is_json {
            print(&format!("\nThe whole report: {}\n", folder.path.join("index.html").display()))?;
        }
    }
    match S::failures(&report) {
        failures if failures.is_empty() => Ok(()),
        failures => Err(Failure::Check(format!("{}\nTo see it again: {}", failures.join("\n"), report.command))),
    }
}

/// A folder that can be written. It is tried before the work begins, so that no result is lost for want of a folder.
struct Folder {
    path: PathBuf,
    /// The folders that were made for it. They are removed again if nothing is written into them.
    made: Vec<PathBuf>,
}

impl Folder {
    fn prepare(path: &Path) -> Result<Folder, Failure> {
        let is_new = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let made = path.ancestors().take_while(is_new).map(Path::to_path_buf).collect();
        let folder = Folder { path: path.to_owned(), made };
        let probe = path.join(format!(".kinesphere-{}", std::process::id()));
        fs::create_dir_all(path)
            .and_then(|()| OpenOptions::new().write(true).create(true).truncate(true).open(&probe))
            .and_then(|_| fs::remove_file(&probe))
            .map_err(|error| unwritable(path, error))?;
        Ok(folder)
    }

    fn write(&self, documents: Vec<Document>) -> Result<(), Failure> {
        for document in documents {
            let path = self.path.join(&document.name);
            fs::write(&path, document.contents).map_err(|error| unwritable(&path, error))?;
        }
        Ok(())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The innermost first; a folder with something in it stays.
        for folder in &self.made {
            if fs::remove_dir(folder).is_err() {
                break;
            }
        }
    }
}

fn unwritable(path: &Path, error: io::Error) -> Failure {
    Failure::Machine(format!("cannot write {}: {error}\nName another folder with --out.", path.display()))
}
