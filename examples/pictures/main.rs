//! Draws the pictures of `docs/broad-phase.md`: `cargo run --example pictures` writes `docs/pictures/*.svg`.
//!
//! Two of them, `problem` and `fallback`, show what the real methods find; the others are sketches. The same code draws
//! the same bytes, so a picture changes only with what it shows.

#![forbid(unsafe_code)]

mod calendar;
mod course;
mod fallback;
mod guests;
mod layers;
mod meeting;
mod pace;
mod problem;
mod room;
mod sheet;
mod tile;

use std::path::Path;

/// A file's name, and who draws it.
pub type Picture = (&'static str, fn() -> String);

/// All of them.
pub const PICTURES: [Picture; 9] = [
    ("problem", problem::draw),
    ("course", course::draw),
    ("meeting", meeting::draw),
    ("tile", tile::draw),
    ("guests", guests::draw),
    ("calendar", calendar::draw),
    ("layers", layers::draw),
    ("pace", pace::draw),
    ("fallback", fallback::draw),
];

fn main() -> std::io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pictures");
    std::fs::create_dir_all(&folder)?;
    for (name, draw) in PICTURES {
        std::fs::write(folder.join(name).with_extension("svg"), draw())?;
        println!("docs/pictures/{name}.svg");
    }
    Ok(())
}
