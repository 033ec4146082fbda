//! Ohlenburg's paper on adaptive collision prediction tracking: does predicting collisions make replicas better, and
//! is it the prediction or the extra messages?
//!
//! One owner moves along a path, one observer watches over a link. On the paper's path all methods of the paper and
//! some beyond it compete; on corridors with seeds that no parameter has seen they are checked; and every claim that
//! one is better is repeated at equal traffic, because a method that sends more always looks good.

mod claims;
mod equal_traffic;
mod figures;
mod method;
mod page;
mod path;
mod run;

use clap::Args;
use kinesphere::failure::Failure;
use motion::convergence::Convergence;
use rayon::prelude::*;
use serde::Serialize;

use self::equal_traffic::EqualTraffic;
use self::method::TrackingMethod;
use self::path::MotionPath;
use self::run::{Circumstances, ErrorSummary, TrackingRun, run as run_one};
use crate::report::claim::ClaimResult;
use crate::report::csv::to_table;
use crate::report::page::{Document, Page};
use crate::stopwatch::Stopwatch;
use crate::study::range::range;
use crate::study::{Progress, Report, Results, Study};

/// The latency at which corridors, losses, frame rates and random motion are looked at, in milliseconds.
const LATENCY_MS: u32 = 200;
/// The observer's frame rates, beside an owner with 60.
const OBSERVER_HZ: [u32; 4] = [60, 50, 30, 20];
/// The shares of messages lost.
const LOSSES: [f64; 2] = [0.05, 0.2];
/// The limits of the plot of error against traffic, in metres.
const LIMITS: [f64; 9] = [0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0];

/// Ohlenburg's paper: does predicting collisions make replicas better?
///
/// Lets an owner move along the paper's path, corridors and random walks, and an observer watch by sixteen methods;
/// judges each claim, and writes plots, numbers and a page. Fails only if what must hold does not: a goal that is
/// missed is a result.
#[derive(Args, Clone, Debug, Serialize)]
pub struct Settings {
    /// One-way latencies on the paper's path, in milliseconds
    #[arg(
        long = "latency",
        value_delimiter = ',',
        value_name = "MS,MS,...",
        default_value = "0,50,100,200,400",
        value_parser = range(0..=2_000u32).of("milliseconds")
    )]
    pub latencies_ms: Vec<u32>,
    /// How many corridors, lossy links and random walks; their seeds count from 1
    #[arg(long, default_value_t = 40, value_name = "N", value_parser = range(1..=10_000u32))]
    pub seeds: u32,
}

/// What was measured beside the paper's path. The rows are of that path, with 60 frames per second on both sides and no
/// loss: one per method and latency.
#[derive(Clone, Debug, Serialize)]
pub struct TrackingFacts {
    pub parameters: Parameters,
    /// Held-out corridors: means over all seeds; `max_m` is the mean of maxima.
    pub corridors: Vec<Row>,
    /// The paper's path over links that lose messages: means over all seeds.
    pub loss: Vec<Row>,
    /// The paper's path, seen at other frame rates.
    pub frame_rates: Vec<Row>,
    /// The third motion class, random motion: means over all seeds.
    pub random: Vec<Row>,
    /// What smoothing costs, on the paper's path: errors of what is predicted and of what is shown.
    pub convergence: Vec<Smoothing>,
    /// Every claim of one method over another, at equal traffic.
    pub equal_traffic: Vec<EqualTraffic>,
    /// Error against traffic, with varied limits.
    pub trade: Vec<Trade>,
    /// What was meant to be reached, and what was.
    pub goals: Vec<Goal>,
    /// Errors over time on the paper's path, for plots and the spreadsheet.
    #[serde(skip)]
    curves: Vec<PathRun>,
}

/// Every number that shapes the run.
#[derive(Clone, Debug, Serialize)]
pub struct Parameters {
    /// The owner's frames per second.
    pub owner_hz: i64,
    /// The observer's, where it is not varied; its frames are half a frame off the owner's.
    pub observer_hz: i64,
    /// Errors count from here on.
    pub counted_from_s: f64,
    /// The moving object's radius.
    pub radius_m: f64,
    /// Radius of the remote objects, which are passed without contact.
    pub remote_radius_m: f64,
    /// The limit of all methods but `best`.
    pub limit_m: f64,
    /// The limit near remote objects.
    pub limit_close_m: f64,
    /// What is near, as a time to contact.
    pub tau_s: f64,
    /// The longest silence.
    pub heartbeat_s: f64,
    /// What `best` is made of.
    pub best: BestParameters,
}

/// What `best` is made of. Fixed on corridors with seeds from 1001 on.
#[derive(Clone, Debug, Serialize)]
pub struct BestParameters {
    /// How far the ghost may be off just after an update.
    pub limit_m: f64,
    /// After this much silence that is halved.
    pub halving_s: f64,
    /// What makes a collision worth a message by itself.
    pub event_dv_m_per_s: f64,
    /// What an acceleration weighs in the one a tenth of a second later, before anything is known.
    pub prior_first: f64,
    /// How firmly that is believed.
    pub prior_spread: f64,
    /// Bytes of one update.
    pub message_bytes: u32,
}

/// How one method did under one set of circumstances.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub method: &'static str,
    pub latency_ms: u32,
    /// The observer's frames per second.
    pub observer_hz: u32,
    /// The share of messages lost.
    pub loss: f64,
    #[serde(flatten)]
    pub summary: ErrorSummary,
}

/// A point of error against traffic.
#[derive(Clone, Debug, Serialize)]
pub struct Trade {
    /// Which motion: `paper` or `corridors`.
    pub path: &'static str,
    pub method: &'static str,
    pub limit_m: f64,
    pub messages_per_s: f64,
    pub mean_m: f64,
}

#[derive(Clone, Debug, Serialize)]
pub struct Smoothing {
    pub method: &'static str,
    /// `jump`, `linear`, `projective` or `hermite`.
    pub convergence: &'static str,
    /// Mean error of what is predicted.
    pub mean_m: f64,
    /// Mean error of what is shown.
    pub shown_mean_m: f64,
    /// The largest jump that a viewer sees from one frame to the next, beyond what motion explains.
    pub jump_max_m: f64,
}

/// A number to reach.
#[derive(Clone, Debug, Serialize)]
pub struct Goal {
    pub what: &'static str,
    pub at_most: f64,
    pub reached: f64,
    pub is_met: bool,
}

/// A run on the paper's path.
#[derive(Clone, Debug)]
struct PathRun {
    method: &'static str,
    latency_ms: u32,
    run: TrackingRun,
}

/// A frame of an error curve, as a row of the spreadsheet.
#[derive(Clone, Debug, Serialize)]
struct CurvePoint {
    method: &'static str,
    latency_ms: u32,
    time_s: f64,
    error_m: f64,
    x_m: f64,
    s_m: f64,
}

impl Study for Settings {
    const NAME: &'static str = "prediction";
    const EXAMPLE: &'static str = "--latency 0,200 --json";
    const UNIT: &'static str = "steps";
    const HAS_PAGE: bool = true;
    type Row = Row;
    type Facts = TrackingFacts;

    fn run(&self, _: &mut dyn Stopwatch, progress: Progress<'_>) -> Result<Results<Settings>, Failure> {
        let methods = TrackingMethod::all();
        let mut steps = Steps { done: 0, total: 7, progress };
        let paper = MotionPath::paper();
        let corridors: Vec<MotionPath> = seeds(self).map(MotionPath::corridor).collect();
        let late = |latency_ms: u32| Circumstances::clean(i64::from(latency_ms) * 1_000);
        steps.next();

        let curves: Vec<PathRun> = self
            .latencies_ms
            .iter()
            .flat_map(|&latency_ms| methods.iter().map(move |method| (latency_ms, method)))
            .collect::<Vec<_>>()
            .into_par_iter()
            .map(|(latency_ms, method)| PathRun {
                method: method.name,
                latency_ms,
                run: run_one(method, &paper, late(latency_ms)),
            })
            .collect();
        let rows: Vec<Row> =
            curves.iter().map(|curve| Row::new(curve.method, late(curve.latency_ms), curve.run.summary())).collect();
        steps.next();

        let over = |paths: &[MotionPath], circumstances: &dyn Fn(u64) -> Circumstances| -> Vec<Row> {
            let row = |method: &TrackingMethod| {
                let all = all_of(method, paths, circumstances);
                Row::new(method.name, circumstances(1), ErrorSummary::mean(&all))
            };
            methods.iter().map(row).collect()
        };
        let corridor_rows = over(&corridors, &|_| late(LATENCY_MS));
        steps.next();
        let random_paths: Vec<MotionPath> = seeds(self).map(MotionPath::random).collect();
        let random = over(&random_paths, &|_| late(LATENCY_MS));
        let same_path = vec![paper.clone(); self.seeds as usize];
        let lossy = |loss| over(&same_path, &move |seed| Circumstances { loss, seed, ..late(LATENCY_MS) });
        let loss = LOSSES.into_iter().flat_map(lossy).collect();
        steps.next();
        let at_rate = |hz| {
            over(std::slice::from_ref(&paper), &move |_| Circumstances {
                observer_hz: i64::from(hz),
                ..late(LATENCY_MS)
            })
        };
        let frame_rates = OBSERVER_HZ.into_iter().flat_map(at_rate).collect();
        steps.next();
        let convergence = smoothings(&paper, late(LATENCY_MS));
        let equal_traffic = equal_traffic::compare(&paper, &corridors, late(LATENCY_MS));
        steps.next();
        let trade = trades(&paper, &corridors, late(LATENCY_MS));
        steps.next();

        let mut facts = TrackingFacts {
            parameters: parameters(&paper),
            corridors: corridor_rows,
            loss,
            frame_rates,
            random,
            convergence,
            equal_traffic,
            trade,
            goals: Vec::new(),
            curves,
        };
        facts.goals = claims::goals(&facts, &rows);
        Ok((rows, facts))
    }

    fn text(report: &Report<Settings>) -> String {
        format!(
            "The paper's path\n\n{}\nHeld-out corridors, {LATENCY_MS} ms, {} seeds\n\n{}\n\
             At equal traffic, {LATENCY_MS} ms\n\n{}\nGoals for `best`\n\n{}",
            to_table(&report.rows),
            report.settings.seeds,
            to_table(&report.facts.corridors),
            to_table(&report.facts.equal_traffic),
            to_table(&report.facts.goals),
        )
    }

    fn claims(report: &Report<Settings>) -> Vec<ClaimResult> {
        claims::all(report)
    }

    fn page(report: &Report<Settings>) -> Page {
        page::page(report)
    }

    fn files(report: &Report<Settings>) -> Vec<Document> {
        let facts = &report.facts;
        vec![
            Document::json("parameters", &facts.parameters),
            Document::csv("corridors", &facts.corridors),
            Document::csv("trade", &facts.trade),
            Document::csv("error-curves", &curve_points(&facts.curves)),
        ]
    }

    /// What must hold and does not: goals may be missed, these may not.
    fn failures(report: &Report<Settings>) -> Vec<String> {
        let failed = |must: Goal| format!("{}: {} exceeds {}", must.what, must.reached, must.at_most);
        claims::musts(report).into_iter().filter(|must| !must.is_met).map(failed).collect()
    }
}

impl Report<Settings> {
    fn row(&self, method: &str, latency_ms: u32) -> Option<&Row> {
        row_of(&self.rows, method, latency_ms)
    }

    fn curve(&self, method: &str, latency_ms: u32) -> Option<&PathRun> {
        self.facts.curves.iter().find(|curve| (curve.method, curve.latency_ms) == (method, latency_ms))
    }
}

fn row_of<'r>(rows: &'r [Row], method: &str, latency_ms: u32) -> Option<&'r Row> {
    rows.iter().find(|row| (row.method, row.latency_ms) == (method, latency_ms))
}

fn curve_points(curves: &[PathRun]) -> Vec<CurvePoint> {
    let points = |curve: &PathRun| {
        let (method, latency_ms) = (curve.method, curve.latency_ms);
        let point = |seen: &run::ObservedFrame| CurvePoint {
            method,
            latency_ms,
            time_s: seen.at.micros() as f64 * 1e-6,
            error_m: seen.error,
            x_m: seen.pos.x,
            s_m: -seen.pos.z,
        };
        curve.run.seen.iter().map(point).collect::<Vec<_>>()
    };
    curves.iter().flat_map(points).collect()
}

impl Row {
    fn new(method: &'static str, circumstances: Circumstances, summary: ErrorSummary) -> Row {
        Row {
            method,
            latency_ms: (circumstances.latency_us / 1_000) as u32,
            observer_hz: circumstances.observer_hz as u32,
            loss: circumstances.loss,
            summary,
        }
    }
}

/// Counts what is done.
struct Steps<'a> {
    done: u32,
    total: u32,
    progress: Progress<'a>,
}

impl Steps<'_> {
    fn next(&mut self) {
        self.done += 1;
        (self.progress)(self.done, self.total);
    }
}

fn seeds(settings: &Settings) -> impl Iterator<Item = u64> + use<> {
    1..=u64::from(settings.seeds)
}

/// One summary per path, the number of the path being the seed of its link.
fn all_of(
    method: &TrackingMethod,
    paths: &[MotionPath],
    circumstances: &dyn Fn(u64) -> Circumstances,
) -> Vec<ErrorSummary> {
    let all: Vec<Circumstances> = (1..=paths.len() as u64).map(circumstances).collect();
    paths.par_iter().zip(all).map(|(path, circumstances)| run_one(method, path, circumstances).summary()).collect()
}

fn trades(paper: &MotionPath, corridors: &[MotionPath], circumstances: Circumstances) -> Vec<Trade> {
    let mut trades = Vec::new();
    for (path, paths) in [("paper", std::slice::from_ref(paper)), ("corridors", corridors)] {
        for name in ["a2", "b2", "c2", "e2", "g2", "best"] {
            let method = TrackingMethod::named(name).expect("all of these are methods");
            trades.extend(LIMITS.map(|limit_m| {
                let summary = ErrorSummary::mean(&all_of(&method.with_limit(limit_m), paths, &|_| circumstances));
                Trade {
                    path,
                    method: method.name,
                    limit_m,
                    messages_per_s: summary.messages_per_s,
                    mean_m: summary.mean_m,
                }
            }));
        }
    }
    trades
}

fn smoothings(paper: &MotionPath, circumstances: Circumstances) -> Vec<Smoothing> {
    let ways = [
        (Convergence::Jump, "jump"),
        (Convergence::Linear, "linear"),
        (Convergence::Projective, "projective"),
        (Convergence::Hermite, "hermite"),
    ];
    let mut all = Vec::new();
    for name in ["e2", "g2", "best"] {
        let method = TrackingMethod::named(name).expect("all of these are methods");
        for (convergence, way) in ways {
            let run = run_one(&method, paper, Circumstances { convergence, ..circumstances });
            let count = run.counted().count().max(1) as f64;
            all.push(Smoothing {
                method: method.name,
                convergence: way,
                mean_m: run.counted().map(|seen| seen.error).sum::<f64>() / count,
                shown_mean_m: run.counted().map(|seen| seen.shown_error).sum::<f64>() / count,
                jump_max_m: run.counted().map(|seen| seen.jerk).fold(0.0, f64::max),
            });
        }
    }
    all
}

fn parameters(paper: &MotionPath) -> Parameters {
    let best = TrackingMethod::best();
    let close = TrackingMethod::named("c1").and_then(|method| method.adaptive).expect("c1 adapts");
    Parameters {
        owner_hz: run::OWNER_HZ,
        observer_hz: 60,
        counted_from_s: run::COUNTED_FROM_US as f64 * 1e-6,
        radius_m: path::RADIUS,
        remote_radius_m: paper.remotes[0].1,
        limit_m: method::LIMIT,
        limit_close_m: close.limit_close,
        tau_s: close.tau,
        heartbeat_s: 5.0,
        best: BestParameters {
            limit_m: best.limit,
            halving_s: best.halving_us.unwrap_or_default() as f64 * 1e-6,
            event_dv_m_per_s: best.event_dv.unwrap_or(f64::INFINITY),
            prior_first: best.prior.first,
            prior_spread: best.prior.spread,
            message_bytes: best.message_bytes(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::tried;

    #[test]
    fn the_report_is_complete_and_repeats() {
        let small = || tried::<Settings>("--latency 0,200 --seeds 2", 1);
        let report = small();
        assert_eq!(report.rows.len(), 2 * TrackingMethod::all().len());
        assert!(Settings::failures(&report).is_empty(), "{:?}", Settings::failures(&report));
        let names: Vec<String> = report.documents().into_iter().map(|document| document.name).collect();
        assert!(
            names.contains(&"index.html".to_owned()) && names.contains(&"error-curves.csv".to_owned()),
            "{names:?}"
        );
        assert!(!report.to_text().contains("NaN"));
        let (one, other) = (serde_json::to_string(&report), serde_json::to_string(&small()));
        assert_eq!(one.unwrap(), other.unwrap());
    }
}
