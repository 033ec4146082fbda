//! The server contains only what it runs: neither the lab nor what the lab alone compares with.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

/// The lab, and packages that only the lab's experiments and benches use.
const KEPT_OUT: [&str; 2] = ["lab", "cpu-time"];

#[test]
fn the_server_depends_neither_on_the_lab_nor_on_rivals() {
    let version = cargo("-vV");
    // Packages of other platforms may never have been downloaded.
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("cargo names its host");
    let metadata = cargo(&format!("metadata --format-version 1 --all-features --offline --filter-platform {host}"));
    let metadata: Value = serde_json::from_str(&metadata).expect("cargo prints JSON");
    let found = reached(&metadata, "kinesphere");
    assert!(found.contains("kinesphere-space") && found.contains("tokio"), "{found:?}");
    for name in KEPT_OUT {
        assert!(!found.contains(name), "kinesphere depends on `{name}`: `cargo tree --invert {name}` says how");
    }
    assert!(reached(&metadata, "lab").is_superset(&KEPT_OUT.map(str::to_owned).into()), "the lab lost a dependency");
}

fn cargo(arguments: &str) -> String {
    let mut command = Command::new(env!("CARGO"));
    command.args(arguments.split(' ')).current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = command.output().expect("cargo runs this test");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("cargo prints UTF-8")
}

/// The names of all packages that a package needs to be built as a dependency: not for its tests.
fn reached(metadata: &Value, package: &str) -> BTreeSet<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let packages = list(&metadata["packages"]);
    let name_of = |id: &str| packages.iter().find(|package| package["id"] == id).map(|package| text(&package["name"]));
    let nodes = list(&metadata["resolve"]["nodes"]);
    let root = packages.iter().find(|other| other["name"] == package).map(|package| text(&package["id"]));
    let (mut waiting, mut seen) = (vec![root.expect("the package is in the workspace")], BTreeSet::new());
    while let Some(id) = waiting.pop() {
        if !seen.insert(id.clone()) {
            continue;
        }
        let node = nodes.iter().find(|node| node["id"] == id.as_str()).expect("every package is resolved");
        for dependency in list(&node["deps"]) {
            if list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"] != "dev") {
                waiting.push(text(&dependency["pkg"]));
            }
        }
    }
    seen.iter().filter_map(|id| name_of(id)).collect()
}
