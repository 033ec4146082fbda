//! A world with a crowd, from above: does it keep its promise, and what does it look like?

use std::path::PathBuf;

use ::world::spec::{CrowdSpec, Shape};
use ::world::{Kind, ObjectView, Plaza, Spec, World};
use clap::Args;
use kinesphere::failure::Failure;
use kinesphere::world_file::load;
use serde::Serialize;

use crate::report::csv::to_table;
use crate::report::number::grouped;
use crate::report::page::{Figure, Page, PageBlock, section};
use crate::report::svg::{Anchor, Color, Svg};
use crate::stopwatch::Stopwatch;
use crate::study::{Progress, Report, Results, Study, refused};

/// A world with a crowd, from above: does it keep its promise?
///
/// Runs a world with a crowd, checks after every tick that nothing overlaps, and draws it from above. Fails if
/// something does.
#[derive(Args, Clone, Debug, Serialize)]
pub struct Settings {
    /// The world file [default: the built-in plaza]
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// How many ticks to run
    #[arg(long, default_value_t = 600)]
    pub ticks: u32,
}

/// The crowd of a world that has none.
const SEEKERS: u32 = 50;

/// What was seen of the world.
#[derive(Clone, Debug, Serialize)]
pub struct WorldSeen {
    /// What the world is called.
    pub world: String,
    /// The world's hash at the end.
    pub hash: String,
    /// Whether no two solids overlapped in any tick.
    pub holds: bool,
    /// The first tick in which two did, and which.
    pub overlap: Option<String>,
    /// Movers that were stopped or turned aside, per tick.
    pub contacts: f64,
    /// Pairs whose motions could meet, per tick.
    pub pairs: f64,
    #[serde(skip)]
    picture: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// `fixed`, `moving`, `movable` or `avatar`.
    pub kind: &'static str,
    pub objects: usize,
    /// Metres that one of them moved, on average.
    pub way_m: f64,
    /// Those that moved in the last tick.
    pub moving: usize,
}

impl Study for Settings {
    const NAME: &'static str = "world";
    const EXAMPLE: &'static str = "worlds/courtyard.toml --ticks 900";
    const UNIT: &'static str = "ticks";
    const HAS_PAGE: bool = true;
    type Row = Row;
    type Facts = WorldSeen;

    fn run(&self, _: &mut dyn Stopwatch, progress: Progress<'_>) -> Result<Results<Settings>, Failure> {
        let (mut spec, text) = match &self.file {
            None => (Plaza::default().spec(), String::new()),
            Some(file) => load(file)?,
        };
        spec.crowd = spec.crowd.or(Some(CrowdSpec { seekers: SEEKERS, seed: 1 }));
        let mut world = World::new(spec).map_err(|error| match &self.file {
            Some(file) => refused(Spec::blame(&text, &file.display().to_string(), error)),
            None => refused(error),
        })?;
        let mut way = [0.0; 4];
        let (mut overlap, mut contacts, mut pairs) = (None, 0, 0);
        let mut trails: Vec<Vec<(f32, f32)>> = vec![Vec::new(); world.dynamic().count()];
        for tick in 0..self.ticks {
            progress(tick, self.ticks);
            let outcome = world.step(&[]);
            contacts += outcome.contacts.len();
            pairs += outcome.work.pairs;
            if overlap.is_none()
                && let Some((one, other)) = world.first_overlap()
            {
                overlap = Some(format!("tick {tick}: {one} and {other}"));
            }
            for (trail, object) in trails.iter_mut().zip(world.dynamic()) {
                way[kind_index(object.kind)] += f64::from(object.velocity.length() / world.spec().tick_rate as f32);
                if tick + 90 >= self.ticks && tick % 3 == 0 {
                    trail.push((object.position().x, object.position().z));
                }
            }
        }
        progress(self.ticks, self.ticks);
        let rows = KINDS.into_iter().enumerate().map(|(index, kind)| {
            let of_kind = || world.objects().filter(move |object| kind_index(object.kind) == index);
            let objects = of_kind().count();
            let moving = of_kind().filter(|object| object.velocity.length() > 0.0).count();
            Row { kind, objects, way_m: way[index] / objects.max(1) as f64, moving }
        });
        let per_tick = |sum: f64| sum / f64::from(self.ticks.max(1));
        let seen = WorldSeen {
            world: world.spec().name.clone(),
            hash: world.hash().to_string(),
            holds: overlap.is_none(),
            overlap,
            contacts: per_tick(contacts as f64),
            pairs: per_tick(pairs as f64),
            picture: picture(&world, &trails),
        };
        Ok((rows.collect(), seen))
    }

    fn text(report: &Report<Settings>) -> String {
        let ticks = grouped(u64::from(report.settings.ticks));
        format!("{}: {ticks} ticks\n\n{}\n{}\n", report.facts.world, to_table(&report.rows), summary(&report.facts))
    }

    fn page(report: &Report<Settings>) -> Page {
        let caption = "Fixed objects are grey, those that move by a rule violet, movable ones brown, avatars blue. \
                       Lines are the paths of the last three seconds.";
        let figure = Figure::new("from-above", caption, report.facts.picture.clone());
        let sections = vec![
            section("At the end", [PageBlock::Figures(vec![figure])]),
            section("The objects", [PageBlock::Table(to_table(&report.rows))]),
        ];
        Page::new(&format!("The world `{}`, from above", report.facts.world), summary(&report.facts), sections)
    }

    fn failures(report: &Report<Settings>) -> Vec<String> {
        report.facts.overlap.iter().map(|overlap| format!("Solids overlap, {overlap}.")).collect()
    }
}

fn summary(seen: &WorldSeen) -> String {
    let overlap = match &seen.overlap {
        None => "Nothing overlapped in any tick.".to_owned(),
        Some(overlap) => format!("Solids overlap, {overlap}."),
    };
    let WorldSeen { contacts, pairs, hash, .. } = seen;
    format!("{contacts:.1} contacts and {pairs:.1} pairs that may meet per tick. {overlap} State {hash}.")
}

const KINDS: [&str; 4] = ["fixed", "moving", "movable", "avatar"];
const COLORS: [Color; 4] = [Color("#8B949E"), Color("#8250DF"), Color("#9A6700"), Color("#0969DA")];

fn kind_index(kind: Kind) -> usize {
    match kind {
        Kind::Fixed => 0,
        Kind::Moving => 1,
        Kind::Movable => 2,
        Kind::Avatar => 3,
    }
}

/// The world from above: z points up.
fn picture(world: &World, trails: &[Vec<(f32, f32)>]) -> String {
    let (low, high) = (world.spec().low, world.spec().high);
    let (width, depth) = (f64::from(high.x - low.x), f64::from(high.z - low.z));
    let scale = 760.0 / width.max(depth);
    let place = |x: f32, z: f32| (20.0 + f64::from(x - low.x) * scale, 40.0 + f64::from(high.z - z) * scale);
    let mut svg = Svg::new(40.0 + width * scale, 60.0 + depth * scale);
    let title = format!("{}, {}", world.spec().name, world.tick());
    svg.text((20.0, 20.0), &title, 14.0, Color::INK, Anchor::Start);
    let (one, other) = (place(low.x, high.z), place(high.x, low.z));
    svg.line(&[one, (other.0, one.1), other, (one.0, other.1), one], Color::SOFT, 1.0);
    for (trail, object) in trails.iter().zip(world.dynamic()) {
        let points: Vec<(f64, f64)> = trail.iter().map(|&(x, z)| place(x, z)).collect();
        if points.len() > 1 {
            svg.line(&points, COLORS[kind_index(object.kind)], 0.6);
        }
    }
    for object in world.objects() {
        let color = COLORS[kind_index(object.kind)];
        let at = object.position();
        let center = place(at.x, at.z);
        let radius = |metres: f32| (f64::from(metres) * scale).max(1.0);
        let name = title_of(&object);
        match object.shape {
            Shape::Sphere { radius: r } | Shape::Capsule { radius: r, .. } => svg.dot(center, radius(*r), color, &name),
            shape => {
                let bounds = shape.bounds();
                let corners = [
                    (bounds.min.x, bounds.min.z),
                    (bounds.max.x, bounds.min.z),
                    (bounds.max.x, bounds.max.z),
                    (bounds.min.x, bounds.max.z),
                    (bounds.min.x, bounds.min.z),
                ];
                let outline = corners.map(|(x, z)| {
                    let corner = at + object.turn.quat() * space::Vec3::new(x, 0.0, z);
                    place(corner.x, corner.z)
                });
                svg.line(&outline, color, 1.5);
                svg.dot(center, 1.2, color, &name);
            }
        }
    }
    svg.finish()
}

fn title_of(object: &ObjectView<'_>) -> String {
    let name = if object.name.is_empty() { "one of the crowd" } else { object.name };
    format!("{name}, {}", object.id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::tried;

    #[test]
    fn a_world_is_run_and_drawn() {
        let report = tried::<Settings>("--ticks 60", 1);
        assert!(report.facts.holds, "{:?}", report.facts.overlap);
        assert_eq!(report.rows[3].objects, 60);
        assert!(report.rows[3].way_m > 0.5, "the crowd does not walk: {:?}", report.rows);
        assert_eq!(tried::<Settings>("--ticks 60", 1).facts.hash, report.facts.hash);
        let documents = report.documents();
        let picture = documents.iter().find(|document| document.name == "from-above.svg").unwrap();
        assert!(picture.contents.contains("fountain column, object 3"));
    }
}
