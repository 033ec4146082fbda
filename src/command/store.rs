//! `kinesphere store`: checks, copies and exports a kept world.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use kinesphere::kept::KeptError;
use kinesphere::store::{Store, StoreError, Summary, file_bytes};
use serde::Serialize;
use space::bytes::to_hex;

use super::Failure;
use kinesphere::output::{print, print_json};

/// An action on a store. The server must not run on the same folder.
#[derive(Subcommand)]
pub enum StoreCommand {
    /// Read every page and every tick, and say whether all is sound.
    #[command(after_help = "Example: kinesphere store check --data my-world")]
    Check(Check),
    /// Copy the world into another folder.
    #[command(after_help = "Example: kinesphere store backup backups/monday --data my-world")]
    Backup(Backup),
    /// Write snapshots and journal as lines of JSON.
    #[command(after_help = "Example: kinesphere store export world.jsonl --data my-world")]
    Export(Export),
}

/// The folder of a world.
#[derive(Args)]
pub struct Place {
    /// The folder of the world [default: where `kinesphere serve` keeps it, in the user's data folder]
    #[arg(long, value_name = "DIR", env = "KINESPHERE_DATA")]
    data: Option<PathBuf>,
    /// The world file whose folder it is, if no folder is named [default: the built-in plaza]
    #[arg(long, value_name = "FILE")]
    world: Option<PathBuf>,
}

impl Place {
    pub fn folder(&self) -> Result<PathBuf, Failure> {
        data_folder(self.data.as_deref(), self.world.as_deref())
    }
}

/// `kinesphere store check`.
#[derive(Args)]
pub struct Check {
    #[command(flatten)]
    place: Place,
    /// Print one JSON document instead of sentences
    #[arg(long)]
    json: bool,
}

/// `kinesphere store backup`.
#[derive(Args)]
pub struct Backup {
    /// The folder to write to; nothing in it is overwritten
    #[arg(value_name = "DIR")]
    to: PathBuf,
    #[command(flatten)]
    place: Place,
}

/// `kinesphere store export`.
#[derive(Args)]
pub struct Export {
    /// The file to write to; it must not exist
    #[arg(value_name = "FILE")]
    to: PathBuf,
    #[command(flatten)]
    place: Place,
}

/// Runs the command.
pub fn run(command: StoreCommand) -> Result<(), Failure> {
    match command {
        StoreCommand::Check(arguments) => check(arguments),
        StoreCommand::Backup(arguments) => back_up(arguments),
        StoreCommand::Export(arguments) => export(&arguments),
    }
}

#[derive(Serialize)]
struct CheckReport {
    data: PathBuf,
    file_bytes: u64,
    #[serde(flatten)]
    summary: Summary,
}

fn check(arguments: Check) -> Result<(), Failure> {
    let folder = arguments.place.folder()?;
    let summary = Store::open(&folder).and_then(|mut store| store.check()).map_err(refused)?;
    let report = CheckReport { file_bytes: file_bytes(&folder), data: folder, summary };
    if arguments.json {
        return print_json(&report);
    }
    print(&format!("{}: all is sound.\n{}", report.data.display(), sentence(&report.summary, report.file_bytes)))
}

fn back_up(arguments: Backup) -> Result<(), Failure> {
    let folder = arguments.place.folder()?;
    let store = Store::open(&folder).map_err(refused)?;
    let summary = store.back_up(&arguments.to).map_err(refused)?;
    // Tokens must stay valid where the backup is restored.
    let secret = kinesphere::token::Secret::FILE;
    if folder.join(secret).exists() {
        let copied = fs::copy(folder.join(secret), arguments.to.join(secret));
        copied.map_err(|error| Failure::Machine(format!("cannot copy {secret}: {error}")))?;
    }
    let text = sentence(&summary, file_bytes(&arguments.to));
    print(&format!("{} is backed up in {}.\n{text}", folder.display(), arguments.to.display()))
}

fn sentence(summary: &Summary, file_bytes: u64) -> String {
    let last = summary.last_tick.or(summary.snapshots.last().copied());
    let until = last.map_or("no tick yet".to_owned(), |tick| format!("up to tick {tick}"));
    let megabytes = file_bytes as f64 / 1e6;
    format!("{} snapshots, {} ticks, {until}, {megabytes:.1} MB.\n", summary.snapshots.len(), summary.records)
}

/// One line of an export.
#[derive(Serialize)]
struct Line<'a> {
    kind: &'static str,
    tick: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    stored_at_s: Option<u64>,
    hex: &'a str,
}

fn export(arguments: &Export) -> Result<(), Failure> {
    let store = Store::open(&arguments.place.folder()?).map_err(refused)?;
    let file = fs::OpenOptions::new().write(true).create_new(true).open(&arguments.to);
    let unwritten = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => refused(StoreError::Exists { path: arguments.to.clone() }),
        _ => Failure::Machine(format!("cannot write {}: {error}\nName another place.", arguments.to.display())),
    };
    let mut file = BufWriter::new(file.map_err(unwritten)?);
    let mut write = |line: &Line<'_>| {
        serde_json::to_writer(&mut file, line).map_err(io::Error::from)?;
        file.write_all(b"\n")
    };
    let (mut next, mut snapshots, mut records) = (Some(0), 0, 0);
    while let Some(snapshot) = next.map_or(Ok(None), |from| store.snapshot_from(from)).map_err(refused)? {
        next = snapshot.tick.checked_add(1);
        let hex = to_hex(&snapshot.bytes);
        let stored_at_s = Some(snapshot.stored_at_s);
        write(&Line { kind: "snapshot", tick: snapshot.tick, stored_at_s, hex: &hex }).map_err(unwritten)?;
        snapshots += 1;
    }
    store
        .records_from(0, |tick, bytes| {
            records += 1;
            write(&Line { kind: "tick", tick, stored_at_s: None, hex: &to_hex(bytes) }).map_err(ExportError::Write)
        })
        .map_err(|error| match error {
            ExportError::Store(error) => refused(error),
            ExportError::Write(error) => unwritten(error),
        })?;
    file.flush().map_err(unwritten)?;
    print(&format!("{snapshots} snapshots and {records} ticks are in {}.\n", arguments.to.display()))
}

enum ExportError {
    Store(StoreError),
    Write(io::Error),
}

impl From<StoreError> for ExportError {
    fn from(error: StoreError) -> ExportError {
        ExportError::Store(error)
    }
}

/// A store's error as the failure of a command.
pub fn refused(error: StoreError) -> Failure {
    match error {
        StoreError::Missing { .. } => Failure::Input(format!(
            "{error}\nName the folder of a world: the one that `kinesphere serve` said it keeps it in."
        )),
        StoreError::Io { .. } => Failure::Machine(format!("{error}\nName another folder, or make this one usable.")),
        StoreError::Exists { .. } => Failure::Input(format!("{error}\nName another place.")),
        StoreError::InUse { .. } => Failure::Machine(format!("{error}\nStop that first, or name another folder.")),
        StoreError::Damaged { .. } => Failure::Check(error.to_string()),
        _ => Failure::Machine(error.to_string()),
    }
}

/// The error of a kept world as the failure of a command.
pub fn cannot_go_on(error: KeptError) -> Failure {
    match error {
        KeptError::Store(error) => refused(error),
        KeptError::Journal { .. } => Failure::Check(error.to_string()),
        KeptError::Snapshot { .. } => Failure::Input(format!(
            "{error}\nName another folder, or the world file (for the plaza the --crowd) that it was made from."
        )),
        KeptError::Spec(_) => Failure::Input(error.to_string()),
    }
}

/// The folder that was named, or one in the user's data folder: `kinesphere` for the built-in plaza, and below it one
/// per world file with the name of the file. Two worlds in one folder would refuse each other.
pub fn data_folder(named: Option<&Path>, world: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(folder) = named {
        return Ok(folder.to_owned());
    }
    let from = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = from("XDG_DATA_HOME")
        .or_else(|| from("APPDATA"))
        .or_else(|| from("HOME").map(|home| home.join(".local/share")))
        .ok_or_else(|| Failure::Input("no data folder is known; name one with --data".to_owned()))?;
    let folder = home.join("kinesphere");
    let Some(world) = world else { return Ok(folder) };
    let stem = world.file_stem().ok_or_else(|| Failure::Input(format!("{} is no world file", world.display())))?;
    Ok(folder.join("worlds").join(stem))
}
