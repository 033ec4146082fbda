//! A world with a crowd, from above: does it keep its promise, and what does it look like?

use ::world::spec::{CrowdSpec, Shape};
use ::world::{Kind, ObjectView, Spec, SpecError, World};
use serde::Serialize;

use super::Document;
use crate::report::number::grouped;
use crate::report::page::{Block, Figure, Page, Section};
use crate::report::svg::{Anchor, Color, Svg};
use kinesphere::table::Table;

/// What to run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The world. Without a crowd of its own it is given one.
    pub spec: Spec,
    /// How it was named, for the command that repeats the run.
    pub file: Option<String>,
    /// How many ticks.
    pub ticks: u32,
}

/// The crowd of a world that has none.
const SEEKERS: u32 = 50;

/// What came out.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The command that repeats the run.
    pub command: String,
    /// What the world is called.
    pub world: String,
    /// How many ticks were run.
    pub ticks: u32,
    /// The world's fingerprint at the end.
    pub hash: String,
    /// Whether no two solids overlapped in any tick.
    pub holds: bool,
    /// The first tick in which two did, and who.
    pub overlap: Option<String>,
    /// One per kind of object.
    pub rows: Vec<Row>,
    /// Who was stopped or turned aside, per tick.
    pub contacts: f64,
    /// Pairs whose motions could meet, per tick.
    pub pairs: f64,
    #[serde(skip)]
    picture: String,
}

/// Objects of one kind.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// `fixed`, `moving`, `movable` or `avatar`.
    pub kind: &'static str,
    /// How many.
    pub objects: usize,
    /// Metres that one of them came, on average.
    pub way_m: f64,
    /// How many moved in the last tick.
    pub moving: usize,
}

/// Runs a world and looks at everybody after every tick. `progress` is told how many are done, of how many.
pub fn run(settings: &Settings, progress: &mut dyn FnMut(u32, u32)) -> Result<Report, SpecError> {
    let mut spec = settings.spec.clone();
    spec.crowd = spec.crowd.or(Some(CrowdSpec { seekers: SEEKERS, seed: 1 }));
    let mut world = World::new(spec)?;
    let mut way = [0.0; 4];
    let (mut overlap, mut contacts, mut pairs) = (None, 0, 0);
    let mut trails: Vec<Vec<(f32, f32)>> = vec![Vec::new(); world.dynamic().count()];
    for tick in 0..settings.ticks {
        progress(tick, settings.ticks);
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
            if tick + 90 >= settings.ticks && tick % 3 == 0 {
                trail.push((object.position().x, object.position().z));
            }
        }
    }
    progress(settings.ticks, settings.ticks);
    let rows = KINDS.into_iter().enumerate().map(|(index, kind)| {
        let of_kind = || world.objects().filter(move |object| kind_index(object.kind) == index);
        let objects = of_kind().count();
        Row {
            kind,
            objects,
            way_m: way[index] / objects.max(1) as f64,
            moving: of_kind().filter(|object| object.velocity.length() > 0.0).count(),
        }
    });
    let file = settings.file.as_ref().map_or(String::new(), |file| format!(" {file}"));
    Ok(Report {
        command: format!("cargo run --release -p lab -- world{file} --ticks {}", settings.ticks),
        world: world.spec().name.clone(),
        ticks: settings.ticks,
        hash: world.hash().to_string(),
        holds: overlap.is_none(),
        overlap,
        rows: rows.collect(),
        contacts: contacts as f64 / f64::from(settings.ticks.max(1)),
        pairs: pairs as f64 / f64::from(settings.ticks.max(1)),
        picture: picture(&world, &trails),
    })
}

impl Report {
    /// The report for a terminal.
    pub fn to_text(&self) -> String {
        let verdict = match &self.overlap {
            None => "Nothing overlapped in any tick.".to_owned(),
            Some(overlap) => format!("Solids overlap, {overlap}."),
        };
        format!(
            "{}: {} ticks\n\n{}\n{:.1} contacts and {:.1} pairs that may meet per tick. {verdict} State {}.\n",
            self.world,
            grouped(u64::from(self.ticks)),
            self.table(),
            self.contacts,
            self.pairs,
            self.hash
        )
    }

    /// The report's files.
    pub fn documents(&self) -> Vec<Document> {
        let caption = "Fixed objects are grey, those that move by a rule violet, movable ones brown, avatars blue. Lines \
                       are the ways of the last three seconds.";
        let figure = Figure { name: "from-above".to_owned(), caption: caption.to_owned(), svg: self.picture.clone() };
        let page = Page {
            title: format!("The world `{}`, from above", self.world),
            lead: self.to_text().lines().last().unwrap_or_default().to_owned(),
            sections: vec![
                Section { heading: "At the end".to_owned(), blocks: vec![Block::Figures(vec![figure])] },
                Section { heading: "Who is there".to_owned(), blocks: vec![Block::Table(self.table())] },
            ],
            command: self.command.clone(),
        };
        vec![
            Document::page(&page),
            Document { name: "from-above.svg".to_owned(), contents: self.picture.clone() },
            Document::json("world", self),
        ]
    }

    fn table(&self) -> Table {
        let mut table = Table::new(["kind", "objects", "way, m", "moving"]);
        for row in &self.rows {
            let numbers = [row.objects.to_string(), format!("{:.1}", row.way_m), row.moving.to_string()];
            table.row(std::iter::once(row.kind.to_owned()).chain(numbers));
        }
        table
    }
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

/// The world from above: north is up, as far as a world has one.
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
    use ::world::Plaza;

    #[test]
    fn a_world_is_run_and_drawn() {
        let settings = Settings { spec: Plaza::default().spec(), file: None, ticks: 60 };
        let report = run(&settings, &mut |_, _| {}).unwrap();
        assert!(report.holds, "{:?}", report.overlap);
        assert_eq!(report.rows[3].objects, 60);
        assert!(report.rows[3].way_m > 0.5, "the crowd walks: {:?}", report.rows);
        assert_eq!(run(&settings, &mut |_, _| {}).unwrap().hash, report.hash);
        let documents = report.documents();
        assert!(documents[1].contents.contains("fountain column, object 3"));
        assert_eq!(documents[0].name, "index.html");
    }
}
