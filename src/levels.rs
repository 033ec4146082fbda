//! The flags `--depth` and `--spheres`: how many levels a sphere-tree has, and how many balls each may have.

use clap::Args;
use serde::Serialize;
use shapes::sphere_tree::{MAX_DEPTH, default_caps};

use crate::failure::Failure;

/// Levels of a sphere-tree, as a command line gives them.
#[derive(Args, Clone, Debug, Serialize)]
pub struct Levels {
    /// Levels below the root [default: 3, or as many as --spheres names]
    #[arg(long, value_name = "L")]
    pub depth: Option<usize>,
    /// The most balls on each level [default: 8,64,512 and so on]
    #[arg(long, value_delimiter = ',', value_name = "N1,N2,...")]
    pub spheres: Vec<usize>,
}

impl Levels {
    /// The most balls per level.
    pub fn caps(&self) -> Result<Vec<usize>, Failure> {
        if let Some(depth) = self.depth.filter(|depth| !(1..=MAX_DEPTH).contains(depth)) {
            return Err(Failure::Input(format!("--depth is {depth}, expected 1 to {MAX_DEPTH}")));
        }
        match (self.depth, self.spheres.len()) {
            (depth, 0) => Ok(default_caps(depth.unwrap_or(3))),
            (Some(depth), count) if depth != count => {
                Err(Failure::Input(format!("--depth is {depth}, but --spheres names {count} levels: they must agree")))
            }
            _ => Ok(self.spheres.clone()),
        }
    }
}
