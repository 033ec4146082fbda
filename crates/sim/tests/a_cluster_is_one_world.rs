//! Many nodes are one world: whatever is lost, delayed, doubled, cut off, frozen or killed, no object has two
//! owners, none is lost, nothing overlaps across borders, all nodes find together again, and audiences are complete
//! when all is well.
//!
//! A failure prints its settings; those of a seed are repeated by `lab cluster --seeds SEED..SEED+1 --scale-to 1`, and
//! `./check long` runs hundreds of seeds with it.

use kinesphere_sim::nodes::{Report, Settings, run};
use kinesphere_sim::promises::Carried;
use rayon::prelude::*;

fn holds(settings: &Settings) -> Report {
    let report = run(settings, &mut |_, _| {}).unwrap();
    let Settings { seed, .. } = settings;
    assert!(
        report.promises.holds(),
        "{settings:?}: {:#?}\nIf the settings are those of the seed: cargo run --release -p lab -- cluster --seeds \
         {seed}..{} --scale-to 1",
        report.promises.failures(),
        seed + 1
    );
    report
}

#[test]
fn promises_hold_when_all_is_well() {
    let settings = Settings { upsets: false, loss: 0.0, seconds: 12, nodes: 4, users: 40, ..Settings::default() };
    let report = holds(&settings);
    assert!(report.handovers > 20, "{report:?}");
    let unchecked: Vec<_> = report.promises.iter().filter(|score| score.checks == 0).collect();
    assert!(unchecked.iter().all(|score| score.promise == Carried::NAME), "{unchecked:?}");
}

#[test]
fn what_is_carried_stays_carried_across_borders() {
    let carried = |seed: u64| {
        let (loss, latency_ms) = [(0.0, 0.5), (0.02, 3.0), (0.1, 10.0)][seed as usize % 3];
        let well = Settings { seed, upsets: false, carriers: true, loss, latency_ms, ..Settings::default() };
        let report = holds(&Settings { seconds: 20, nodes: 4, users: 40, ..well });
        report.promises.get(Carried::NAME).unwrap().checks
    };
    let carried: Vec<u64> = (0..6).into_par_iter().map(carried).collect();
    assert!(carried.iter().all(|&times| times > 0) && carried.iter().sum::<u64>() > 30, "{carried:?}");
}

/// In half of them connections break.
const SEEDS: std::ops::Range<u64> = 0..40;

#[test]
fn promises_hold_whatever_goes_wrong() {
    let reports: Vec<Report> = SEEDS.into_par_iter().map(|seed| holds(&Settings::from_seed(seed))).collect();
    let sum = |of: fn(&Report) -> u64| reports.iter().map(of).sum::<u64>();
    let (handovers, adopted, upsets) = (sum(|one| one.handovers), sum(|one| one.adopted), sum(|one| one.upsets));
    assert!(handovers > 1_500 && adopted > 150 && upsets > 60, "{handovers} {adopted} {upsets}");
}

#[test]
fn a_seed_repeats_its_run() {
    let settings = Settings { seconds: 8, ..Settings::from_seed(3) };
    assert_eq!(holds(&settings), holds(&settings));
}
