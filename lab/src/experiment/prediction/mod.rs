//! Ohlenburg's paper on adaptive collision prediction tracking: does predicting collisions make replicas better, and
//! is it the prediction or the extra messages?
//!
//! One owner moves along a path, one observer watches over a link. On the paper's path all methods of the paper and
//! some beyond it compete; on corridors with seeds that no parameter has seen they are checked; and every claim that
//! one is better is repeated at equal traffic, because whoever sends more always looks good.

mod claims;
mod equal_traffic;
mod figures;
pub mod method;
mod page;
pub mod path;
pub mod run;

use motion::convergence::Convergence;
use rayon::prelude::*;
use serde::Serialize;

use self::equal_traffic::EqualTraffic;
use self::method::Method;
use self::path::Path;
use self::run::{Circumstances, Run, Summary, run as run_one};
use super::Document;
use crate::report::number::significant;
use crate::report::verdict::Verdict;
use crate::setting::{self, OutOfRange};

/// The latency at which corridors, losses, frame rates and random motion are looked at, in milliseconds.
pub const LATENCY_MS: u32 = 200;
/// The longest latency, in milliseconds.
pub const LATENCY_MS_MAX: u32 = 2_000;
/// The most latencies.
pub const LATENCIES_MAX: usize = 20;
/// The most seeds.
pub const SEEDS_MAX: u32 = 10_000;
/// The observer's frame rates, beside an owner with 60.
const OBSERVER_HZ: [u32; 4] = [60, 50, 30, 20];
/// The shares of messages lost.
const LOSSES: [f64; 2] = [0.05, 0.2];
/// The limits of the plot of error against traffic, in metres.
const LIMITS: [f64; 9] = [0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0];

/// What to run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// One-way latencies on the paper's path, in milliseconds.
    pub latencies_ms: Vec<u32>,
    /// How many corridors, lossy links and random walks; their seeds count from 1.
    pub seeds: u32,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { latencies_ms: vec![0, 50, 100, 200, 400], seeds: 40 }
    }
}

/// What came out.
#[derive(Clone, Debug, Serialize)]
pub struct Prediction {
    /// The command that repeats the run.
    pub command: String,
    /// Every number that shapes the run.
    pub parameters: Parameters,
    /// The paper's path, 60 frames per second on both sides, no loss: one per method and latency.
    pub rows: Vec<Row>,
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
    /// Error against traffic, the limit being swept.
    pub trade: Vec<Trade>,
    /// The paper's claims, and what we demand, put to the test.
    pub verdicts: Vec<Verdict>,
    /// What we set out to reach, and what was reached.
    pub goals: Vec<Goal>,
    /// Errors over time on the paper's path, for plots and the spreadsheet.
    #[serde(skip)]
    curves: Vec<Curve>,
}

/// Every number that shapes the run.
#[derive(Clone, Debug, Serialize)]
pub struct Parameters {
    /// One-way latencies on the paper's path.
    pub latencies_ms: Vec<u32>,
    /// Seeds of corridors, losses and random walks: from 1 to this.
    pub seeds: u32,
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
    pub best: Best,
}

/// What `best` is made of. Fixed on corridors with seeds from 1001 on.
#[derive(Clone, Debug, Serialize)]
pub struct Best {
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
    /// Its name.
    pub method: &'static str,
    /// One-way latency.
    pub latency_ms: u32,
    /// The observer's frames per second.
    pub observer_hz: u32,
    /// The share of messages lost.
    pub loss: f64,
    /// What its run came to.
    #[serde(flatten)]
    pub summary: Summary,
}

/// A point of error against traffic.
#[derive(Clone, Debug, Serialize)]
pub struct Trade {
    /// Which motion: `paper` or `corridors`.
    pub path: &'static str,
    /// Which method.
    pub method: &'static str,
    /// With which limit.
    pub limit_m: f64,
    /// Messages per second.
    pub messages_per_s: f64,
    /// Mean error.
    pub mean_m: f64,
}

/// How one convergence did.
#[derive(Clone, Debug, Serialize)]
pub struct Smoothing {
    /// Which method.
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

/// Something to reach.
#[derive(Clone, Debug, Serialize)]
pub struct Goal {
    /// What.
    pub what: &'static str,
    /// No more than this.
    pub at_most: f64,
    /// What came out.
    pub reached: f64,
    /// Whether that is enough.
    pub is_met: bool,
}

/// A run on the paper's path.
#[derive(Clone, Debug)]
struct Curve {
    method: &'static str,
    latency_ms: u32,
    run: Run,
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

/// Runs everything. `progress` is told how many steps are done, of how many.
pub fn run(settings: &Settings, progress: &mut dyn FnMut(u32, u32)) -> Result<Prediction, OutOfRange> {
    check(settings)?;
    let methods = Method::all();
    let mut steps = Steps { done: 0, total: 7, progress };
    let paper = Path::paper();
    let corridors: Vec<Path> = seeds(settings).map(Path::corridor).collect();
    let late = |latency_ms: u32| Circumstances::clean(i64::from(latency_ms) * 1_000);
    steps.next();

    let curves: Vec<Curve> = settings
        .latencies_ms
        .iter()
        .flat_map(|&latency_ms| methods.iter().map(move |method| (latency_ms, method)))
        .collect::<Vec<_>>()
        .into_par_iter()
        .map(|(latency_ms, method)| Curve {
            method: method.name,
            latency_ms,
            run: run_one(method, &paper, late(latency_ms)),
        })
        .collect();
    let rows = curves.iter().map(|curve| Row::new(curve.method, late(curve.latency_ms), curve.run.summary())).collect();
    steps.next();

    let over = |paths: &[Path], circumstances: &dyn Fn(u64) -> Circumstances| -> Vec<Row> {
        let row = |method: &Method| {
            let all = all_of(method, paths, circumstances);
            Row::new(method.name, circumstances(1), Summary::mean(&all))
        };
        methods.iter().map(row).collect()
    };
    let corridor_rows = over(&corridors, &|_| late(LATENCY_MS));
    steps.next();
    let random_paths: Vec<Path> = seeds(settings).map(Path::random).collect();
    let random = over(&random_paths, &|_| late(LATENCY_MS));
    let same_path = vec![paper.clone(); settings.seeds as usize];
    let lossy = |loss| over(&same_path, &move |seed| Circumstances { loss, seed, ..late(LATENCY_MS) });
    let loss = LOSSES.into_iter().flat_map(lossy).collect();
    steps.next();
    let at_rate = |hz| {
        over(std::slice::from_ref(&paper), &move |_| Circumstances { observer_hz: i64::from(hz), ..late(LATENCY_MS) })
    };
    let frame_rates = OBSERVER_HZ.into_iter().flat_map(at_rate).collect();
    steps.next();
    let convergence = smoothings(&paper, late(LATENCY_MS));
    let equal_traffic = equal_traffic::compare(&paper, &corridors, late(LATENCY_MS));
    steps.next();
    let trade = trades(&paper, &corridors, late(LATENCY_MS));
    steps.next();

    let mut prediction = Prediction {
        command: settings.command(),
        parameters: parameters(settings, &paper),
        rows,
        corridors: corridor_rows,
        loss,
        frame_rates,
        random,
        convergence,
        equal_traffic,
        trade,
        verdicts: Vec::new(),
        goals: Vec::new(),
        curves,
    };
    prediction.verdicts = claims::judge(&prediction, &paper);
    prediction.goals = claims::goals(&prediction);
    Ok(prediction)
}

impl Settings {
    /// The command line that repeats the run.
    pub fn command(&self) -> String {
        let latencies: Vec<String> = self.latencies_ms.iter().map(u32::to_string).collect();
        format!("cargo run --release -p lab -- prediction --latency {} --seeds {}", latencies.join(","), self.seeds)
    }
}

impl Prediction {
    /// Whether what must hold, holds: goals may be missed, these may not.
    pub fn holds(&self) -> bool {
        claims::musts(self).iter().all(|must| must.is_met)
    }

    /// What must hold and does not, in words.
    pub fn failures(&self) -> Vec<String> {
        let failed = |must: &Goal| format!("{}: {} exceeds {}", must.what, must.reached, must.at_most);
        claims::musts(self).iter().filter(|must| !must.is_met).map(failed).collect()
    }

    /// Everything worth keeping: a page, the numbers, the curves and the plots.
    pub fn documents(&self) -> Vec<Document> {
        let mut documents = vec![
            Document::page(&page::page(self)),
            Document::json("prediction", self),
            Document::json("parameters", &self.parameters),
            Document::csv("prediction", &self.rows),
            Document::csv("corridors", &self.corridors),
            Document::csv("trade", &self.trade),
            Document::csv("error-curves", &self.curve_points()),
        ];
        documents.extend(Document::plots(figures::all(self)));
        documents
    }

    /// The report for a terminal.
    pub fn to_text(&self) -> String {
        format!(
            "The paper's path\n\n{}\nHeld-out corridors, {LATENCY_MS} ms, {} seeds\n\n{}\nAt equal traffic, {LATENCY_MS} ms\n\n{}\n\
             Goals for `best`\n\n{}\n{}\n",
            page::rows(&self.rows),
            self.parameters.seeds,
            page::rows(&self.corridors),
            page::equal_traffic(self),
            page::goals(self),
            Verdict::list(&self.verdicts)
        )
    }

    fn row(&self, method: &str, latency_ms: u32) -> Option<&Row> {
        self.rows.iter().find(|row| (row.method, row.latency_ms) == (method, latency_ms))
    }

    fn curve(&self, method: &str, latency_ms: u32) -> Option<&Curve> {
        self.curves.iter().find(|curve| (curve.method, curve.latency_ms) == (method, latency_ms))
    }

    fn curve_points(&self) -> Vec<CurvePoint> {
        let points = |curve: &Curve| {
            let (method, latency_ms) = (curve.method, curve.latency_ms);
            curve
                .run
                .seen
                .iter()
                .map(|seen| CurvePoint {
                    method,
                    latency_ms,
                    time_s: seen.at.micros() as f64 * 1e-6,
                    error_m: seen.error,
                    x_m: seen.pos.x,
                    s_m: -seen.pos.z,
                })
                .collect::<Vec<_>>()
        };
        self.curves.iter().flat_map(points).collect()
    }
}

impl Row {
    fn new(method: &'static str, circumstances: Circumstances, summary: Summary) -> Row {
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
    progress: &'a mut dyn FnMut(u32, u32),
}

impl Steps<'_> {
    fn next(&mut self) {
        self.done += 1;
        (self.progress)(self.done, self.total);
    }
}

fn check(settings: &Settings) -> Result<(), OutOfRange> {
    let count = ("latency", settings.latencies_ms.len() as f64, 1.0..=LATENCIES_MAX as f64, "1 to 20 latencies");
    let latencies = settings
        .latencies_ms
        .iter()
        .map(|&latency| ("latency", f64::from(latency), 0.0..=f64::from(LATENCY_MS_MAX), "0 to 2000 milliseconds"));
    let seeds = ("seeds", f64::from(settings.seeds), 1.0..=f64::from(SEEDS_MAX), "1 to 10000");
    setting::check([count].into_iter().chain(latencies).chain([seeds]))
}

fn seeds(settings: &Settings) -> impl Iterator<Item = u64> + use<> {
    1..=u64::from(settings.seeds)
}

/// One summary per path, the number of the path being the seed of its link.
fn all_of(method: &Method, paths: &[Path], circumstances: &dyn Fn(u64) -> Circumstances) -> Vec<Summary> {
    let all: Vec<Circumstances> = (1..=paths.len() as u64).map(circumstances).collect();
    paths.par_iter().zip(all).map(|(path, circumstances)| run_one(method, path, circumstances).summary()).collect()
}

fn trades(paper: &Path, corridors: &[Path], circumstances: Circumstances) -> Vec<Trade> {
    let mut trades = Vec::new();
    for (path, paths) in [("paper", std::slice::from_ref(paper)), ("corridors", corridors)] {
        for name in ["a2", "b2", "c2", "e2", "g2", "best"] {
            let method = Method::named(name).expect("all of these are methods");
            trades.extend(LIMITS.map(|limit_m| {
                let summary = Summary::mean(&all_of(&method.with_limit(limit_m), paths, &|_| circumstances));
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

fn smoothings(paper: &Path, circumstances: Circumstances) -> Vec<Smoothing> {
    let ways = [
        (Convergence::Jump, "jump"),
        (Convergence::Linear, "linear"),
        (Convergence::Projective, "projective"),
        (Convergence::Hermite, "hermite"),
    ];
    let mut all = Vec::new();
    for name in ["e2", "g2", "best"] {
        let method = Method::named(name).expect("all of these are methods");
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

fn parameters(settings: &Settings, paper: &Path) -> Parameters {
    let best = Method::best();
    let close = Method::named("c1").and_then(|method| method.adaptive).expect("c1 adapts");
    Parameters {
        latencies_ms: settings.latencies_ms.clone(),
        seeds: settings.seeds,
        owner_hz: run::OWNER_HZ,
        observer_hz: 60,
        counted_from_s: run::COUNTED_FROM_US as f64 * 1e-6,
        radius_m: path::RADIUS,
        remote_radius_m: paper.remotes[0].1,
        limit_m: method::LIMIT,
        limit_close_m: close.limit_close,
        tau_s: close.tau,
        heartbeat_s: 5.0,
        best: Best {
            limit_m: best.limit,
            halving_s: best.halving_us.unwrap_or_default() as f64 * 1e-6,
            event_dv_m_per_s: best.event_dv.unwrap_or(f64::INFINITY),
            prior_first: best.prior.first,
            prior_spread: best.prior.spread,
            message_bytes: best.message_bytes(),
        },
    }
}

/// A number for a table.
fn metres(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { significant(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Prediction {
        run(&Settings { latencies_ms: vec![0, 200], seeds: 2 }, &mut |_, _| {}).unwrap()
    }

    #[test]
    fn the_report_is_complete_and_repeats() {
        let report = small();
        assert_eq!(report.rows.len(), 2 * Method::all().len());
        assert!(report.holds(), "{:?}", report.failures());
        let names: Vec<String> = report.documents().into_iter().map(|document| document.name).collect();
        assert!(
            names.contains(&"index.html".to_owned()) && names.contains(&"error-curves.csv".to_owned()),
            "{names:?}"
        );
        assert!(!report.to_text().contains("NaN"));
        let (one, other) = (serde_json::to_string(&report), serde_json::to_string(&small()));
        assert_eq!(one.unwrap(), other.unwrap());
    }

    #[test]
    fn settings_that_make_no_sense_are_refused() {
        let refused =
            |latencies_ms, seeds| run(&Settings { latencies_ms, seeds }, &mut |_, _| {}).unwrap_err().to_string();
        assert_eq!(refused(vec![200], 0), "`seeds` is 0, expected 1 to 10000");
        assert_eq!(refused(vec![5_000], 1), "`latency` is 5000, expected 0 to 2000 milliseconds");
        assert_eq!(refused(vec![], 1), "`latency` is 0, expected 1 to 20 latencies");
    }
}
