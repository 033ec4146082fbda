//! Runs the binary as a shell would, for the tests of the command line.

// Each test file compiles this module for itself and uses a part of it.
#![allow(dead_code)]

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

/// Runs the lab with these arguments, separated by spaces.
pub fn lab(arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lab"));
    command
        .args(arguments.split_whitespace())
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .output()
        .expect("the binary was just built")
}

/// What a command with `--json` prints: one document and nothing else.
pub fn document(arguments: &str) -> Value {
    let output = lab(arguments);
    assert!(output.status.success(), "{arguments}: {}", stderr(&output));
    serde_json::from_slice(&output.stdout).expect("one JSON document and nothing else")
}

/// A list of the document, checked to hold rows that all have these fields.
pub fn rows<'a>(document: &'a Value, list: &str, fields: &[&str]) -> &'a Vec<Value> {
    let rows = document[list].as_array().unwrap_or_else(|| panic!("`{list}` is a list"));
    assert!(!rows.is_empty(), "{list}");
    for (row, field) in rows.iter().flat_map(|row| fields.iter().map(move |field| (row, field))) {
        assert!(!row[*field].is_null(), "{field} is missing in {row}");
    }
    rows
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("results are text")
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A folder of its own for each test, gone afterwards.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        Folder(std::env::temp_dir().join(format!("kinesphere-{name}-{}", std::process::id())))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
