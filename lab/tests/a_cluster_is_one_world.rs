//! Many nodes are one world: whatever is lost, delayed, doubled, cut off, frozen or killed, no object has two owners,
//! none is lost, nothing overlaps across borders, all find together again, and audiences are complete when all is well.
//!
//! A failure names the seed: `lab cluster --seeds FROM..TO --scale-to 1` repeats it.

use lab::cluster::{Settings, run};
use rayon::prelude::*;

fn holds(settings: &Settings) -> lab::cluster::Measured {
    let measured = run(settings, &mut |_, _| {}).unwrap();
    assert!(measured.holds(), "{settings:?}: {:#?}", measured.failures());
    measured
}

#[test]
fn promises_hold_when_all_is_well() {
    let settings = Settings { upsets: false, loss: 0.0, seconds: 12, nodes: 4, users: 40, ..Settings::default() };
    let measured = holds(&settings);
    assert!(measured.handovers > 20, "{measured:?}");
}

#[test]
fn who_carries_keeps_what_is_carried_across_borders() {
    let carried: Vec<u64> = (0..6)
        .into_par_iter()
        .map(|seed| {
            let (loss, latency_ms) = [(0.0, 0.5), (0.02, 3.0), (0.1, 10.0)][seed as usize % 3];
            let settings = Settings {
                seed,
                upsets: false,
                carriers: true,
                loss,
                latency_ms,
                seconds: 20,
                nodes: 4,
                users: 40,
                ..Settings::default()
            };
            holds(&settings).carried
        })
        .collect();
    assert!(carried.iter().all(|&times| times > 0) && carried.iter().sum::<u64>() > 30, "{carried:?}");
}

/// All of the first, in half of which connections break, and those behind them that once broke a promise, when none
/// did.
///
/// 62: what a dead node may have taken was put down where somebody else was by then. 1: suspicion and acceptance waited
/// for each other. 7 and 33: who rested was forgotten between two losses. 162: who stood in another's room could not
/// change hands. 237: an object gave back a room that it still stood in. 607: an object was given on before its giver
/// knew. 1168, and before other things changed 1290 and 1881: who carried something waited for ever, as a room was in
/// the way of its load where that room did not count. 1685: a run ended before all had the time to find together after
/// its last outage. 1542: who had given an object on did not know that it went on, and a copy of it was adopted.
const SEEDS: std::ops::Range<u64> = 0..240;
const ONCE_BROKEN: [u64; 6] = [607, 1168, 1290, 1542, 1685, 1881];

#[test]
fn promises_hold_whatever_goes_wrong() {
    let once_broken = ONCE_BROKEN.map(|seed| Settings { breaks: false, ..Settings::from_seed(seed) });
    let all: Vec<Settings> = SEEDS.map(Settings::from_seed).chain(once_broken).collect();
    let totals: Vec<(u64, u64, u64)> = all
        .into_par_iter()
        .map(|settings| {
            let measured = holds(&settings);
            (measured.handovers, measured.adopted, measured.upsets)
        })
        .collect();
    let sum = |of: fn(&(u64, u64, u64)) -> u64| totals.iter().map(of).sum::<u64>();
    let (handovers, adopted, upsets) = (sum(|one| one.0), sum(|one| one.1), sum(|one| one.2));
    assert!(handovers > 10_000 && adopted > 1_000 && upsets > 400, "{handovers} {adopted} {upsets}");
}
