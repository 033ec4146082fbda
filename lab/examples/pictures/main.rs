//! Draws the pictures of `docs/broad-phase.md`: `cargo run -p lab --example pictures` writes `docs/pictures/*.svg`.
//!
//! Two of them, `problem` and `fallback`, show what the real methods find; the others are sketches. The same code draws
//! the same bytes, so a picture changes only with what it shows.

#![forbid(unsafe_code)]

mod adoption;
mod encounter;
mod fallback;
mod flight_plan;
mod problem;
mod room;
mod sheet;
mod tile;

use std::path::Path;

/// A file's name, and what draws it.
pub type Picture = (&'static str, fn() -> String);

/// All of them.
pub const PICTURES: [Picture; 6] = [
    ("problem", problem::draw),
    ("flight-plan", flight_plan::draw),
    ("encounter", encounter::draw),
    ("tile", tile::draw),
    ("adoption", adoption::draw),
    ("fallback", fallback::draw),
];

fn main() -> std::io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/pictures");
    std::fs::create_dir_all(&folder)?;
    for (name, draw) in PICTURES {
        std::fs::write(folder.join(name).with_extension("svg"), draw())?;
        println!("docs/pictures/{name}.svg");
    }
    Ok(())
}
