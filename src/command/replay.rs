//! `kinesphere replay`: replays a kept world.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use kinesphere::kept;
use kinesphere::store::Store;
use serde::Serialize;
use world::{Spec, World};

use super::Failure;
use super::serve::made_of;
use super::store::{cannot_go_on, data_folder, refused};
use kinesphere::output::{print, print_json};

/// Replays a kept world from its journal, and compares it with every snapshot on the way. Fails if they differ: the
/// same start and the same inputs must give the same world, to the bit.
#[derive(Args)]
#[command(after_help = "Example: kinesphere replay my-world --from 1000 --to 2000 --hash")]
pub struct Replay {
    /// The folder of the world [default: where `kinesphere serve` keeps it, in the user's data folder]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    #[command(flatten)]
    made_of: MadeOf,
    /// Begin after this tick [default: the oldest snapshot]
    #[arg(long, value_name = "TICK")]
    from: Option<u64>,
    /// Stop after this tick [default: the last]
    #[arg(long, value_name = "TICK")]
    to: Option<u64>,
    /// Print the fingerprint of the world after each tick
    #[arg(long)]
    hash: bool,
    /// Print one JSON document instead of lines
    #[arg(long)]
    json: bool,
}

/// The world file or the plaza, as it was served.
#[derive(Args)]
pub struct MadeOf {
    /// The world file that it was made of [default: the built-in plaza]
    #[arg(long, value_name = "FILE")]
    world: Option<PathBuf>,
    /// The number of walkers in the plaza's crowd [default: 60]
    #[arg(long, value_name = "N", env = "KINESPHERE_CROWD")]
    crowd: Option<u32>,
}

impl MadeOf {
    /// The world file, if it is not the built-in plaza.
    pub fn file(&self) -> Option<&Path> {
        self.world.as_deref()
    }

    /// The spec of that world.
    pub fn spec(&self) -> Result<Arc<Spec>, Failure> {
        made_of(self.world.as_deref(), self.crowd)
    }
}

#[derive(Serialize)]
struct Report {
    from: u64,
    to: u64,
    hash: String,
    snapshots_compared: usize,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    tick: u64,
    hash: String,
    objects: usize,
}

/// Runs the command.
pub fn run(arguments: Replay) -> Result<(), Failure> {
    let spec = arguments.made_of.spec()?;
    let folder = data_folder(arguments.folder.as_deref(), arguments.made_of.world.as_deref())?;
    let store = Store::open(&folder).map_err(refused)?;
    let reach = store.reach().map_err(refused)?;
    let (first, last) = reach.ok_or_else(|| Failure::Input("nothing was kept yet".to_owned()))?;
    let from = arguments.from.unwrap_or(first);
    if from < first {
        return Err(Failure::Input(format!("the journal begins with tick {first}; what was before is gone")));
    }
    if from > last {
        return Err(Failure::Input(format!("the journal ends with tick {last}; nothing is known after --from {from}")));
    }
    if let Some(to) = arguments.to.filter(|&to| to < from) {
        return Err(Failure::Input(format!("there is nothing to play: tick {to} comes before tick {from}")));
    }
    let mut world = restored(&store, &spec, from)?;
    let (mut rows, mut compared, mut differs, mut unreadable) = (Vec::new(), 0, None, None);
    kept::replay(&store, &mut world, arguments.to.unwrap_or(u64::MAX), &mut |world| {
        let tick = world.tick().number();
        if arguments.hash && tick > from {
            rows.push(Row { tick, hash: world.hash().to_string(), objects: world.len() });
        }
        let snapshot = store.snapshot_until(tick).map(|found| found.filter(|snapshot| snapshot.tick == tick));
        let kept = match snapshot {
            Ok(None) => Ok(None),
            Ok(Some(_)) => kept::restore(&store, &spec, tick),
            Err(error) => Err(error.into()),
        };
        match kept {
            Ok(Some(kept)) => {
                compared += 1;
                if kept.hash() != world.hash() && differs.is_none() {
                    differs = Some((tick, kept.hash(), world.hash()));
                }
            }
            Ok(None) => {}
            Err(error) => unreadable = unreadable.take().or(Some(error)),
        }
    })
    .map_err(cannot_go_on)?;
    if let Some(error) = unreadable {
        return Err(cannot_go_on(error));
    }
    let to = world.tick().number();
    let report = Report { from, to, hash: world.hash().to_string(), snapshots_compared: compared, rows };
    if arguments.json {
        print_json(&report)?;
    } else {
        let lines: String = report.rows.iter().map(|row| format!("{:>10}  {}\n", row.tick, row.hash)).collect();
        let Report { hash, .. } = &report;
        print(&format!("{lines}Replayed up to tick {to}: fingerprint {hash}, {compared} snapshots compared.\n"))?;
    }
    match differs {
        None => Ok(()),
        Some((tick, kept, played)) => {
            Err(Failure::Check(format!("after tick {tick} the snapshot is {kept}, the replay {played}")))
        }
    }
}

/// The world of the newest snapshot up to a tick.
pub fn restored(store: &Store, spec: &Arc<Spec>, tick: u64) -> Result<World, Failure> {
    let world = kept::restore(store, spec, tick).map_err(cannot_go_on)?;
    world.ok_or_else(|| Failure::Input(format!("nothing was kept of tick {tick}")))
}
