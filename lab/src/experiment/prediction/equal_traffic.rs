//! The control that every comparison needs: a method that sends more is no better for it, unless it is still better
//! than the simpler one with its limit lowered until that sends as much.

use serde::Serialize;

use super::all_of;
use super::method::TrackingMethod;
use super::path::MotionPath;
use super::run::{Circumstances, ErrorSummary};

/// Pairs of methods, of which the first is said to be better.
const CLAIMS: [(&str, &str); 14] = [
    ("b1", "a1"),
    ("b2", "a2"),
    ("c1", "b1"),
    ("c2", "b2"),
    ("d", "d0"),
    ("e1", "b1"),
    ("e2", "b2"),
    ("f2", "e2"),
    ("g2", "e2"),
    ("h2", "g2"),
    ("h2", "e2"),
    ("best", "a2"),
    ("best", "e2"),
    ("best", "g2"),
];
/// Limits that are tried for the simpler method: from a centimetre to five metres, in equal ratios.
const LIMITS: usize = 48;

/// Two methods that send equally much.
#[derive(Clone, Debug, Serialize)]
pub struct EqualTraffic {
    /// Which motion: `paper` or `corridors`.
    pub path: &'static str,
    /// The method that is said to be better.
    pub method: &'static str,
    pub simpler: &'static str,
    /// Messages per second of the first.
    pub messages_per_s: f64,
    /// Messages per second of the simpler one, as near as its limit allows.
    pub simpler_messages_per_s: f64,
    /// The limit at which it sends that much.
    pub simpler_limit_m: f64,
    /// Mean error of the first, over all.
    pub mean_m: f64,
    pub simpler_mean_m: f64,
    /// Mean error of the first in the three windows; zero where the path has none.
    pub window_mean_m: f64,
    /// Mean error of the simpler one there.
    pub simpler_window_mean_m: f64,
}

/// All claims, on the paper's path and on the corridors.
pub fn compare(paper: &MotionPath, corridors: &[MotionPath], circumstances: Circumstances) -> Vec<EqualTraffic> {
    let mut all = Vec::new();
    for (path, paths) in [("paper", std::slice::from_ref(paper)), ("corridors", corridors)] {
        let mut swept: Vec<(&str, Vec<(f64, ErrorSummary)>)> = Vec::new();
        for (method, simpler) in CLAIMS {
            // Nothing is near in a corridor: the methods that differ only there are equal.
            if path == "corridors" && ["c1", "c2", "f2", "h2"].contains(&method) {
                continue;
            }
            if !swept.iter().any(|(name, _)| *name == simpler) {
                swept.push((simpler, sweep(simpler, paths, circumstances)));
            }
            let candidates = &swept.iter().find(|(name, _)| *name == simpler).expect("it was just added").1;
            let better = TrackingMethod::named(method).expect("claims name methods");
            let summary = ErrorSummary::mean(&all_of(&better, paths, &|_| circumstances));
            all.push(equal(path, better.name, simpler, &summary, candidates));
        }
    }
    all
}

fn sweep(name: &str, paths: &[MotionPath], circumstances: Circumstances) -> Vec<(f64, ErrorSummary)> {
    let method = TrackingMethod::named(name).expect("claims name methods");
    let ratio = libm::pow(500.0, 1.0 / (LIMITS - 1) as f64);
    let mut limit = 0.01;
    (0..LIMITS)
        .map(|_| {
            let here = limit;
            limit *= ratio;
            (here, ErrorSummary::mean(&all_of(&method.with_limit(here), paths, &|_| circumstances)))
        })
        .collect()
}

fn equal(
    path: &'static str,
    method: &'static str,
    simpler: &'static str,
    summary: &ErrorSummary,
    candidates: &[(f64, ErrorSummary)],
) -> EqualTraffic {
    let distance = |candidate: &ErrorSummary| (candidate.messages_per_s - summary.messages_per_s).abs();
    let (limit, equal) = candidates
        .iter()
        .min_by(|one, other| {
            distance(&one.1).total_cmp(&distance(&other.1)).then(one.1.mean_m.total_cmp(&other.1.mean_m))
        })
        .expect("there are candidates");
    let windows = |summary: &ErrorSummary| summary.window_mean_m[..3].iter().sum::<f64>() / 3.0;
    let has_windows = path == "paper";
    EqualTraffic {
        path,
        method,
        simpler,
        messages_per_s: summary.messages_per_s,
        simpler_messages_per_s: equal.messages_per_s,
        simpler_limit_m: *limit,
        mean_m: summary.mean_m,
        simpler_mean_m: equal.mean_m,
        window_mean_m: if has_windows { windows(summary) } else { 0.0 },
        simpler_window_mean_m: if has_windows { windows(equal) } else { 0.0 },
    }
}
