//! Everything that is built in, on any platform, comes under a licence that `deny.toml` allows.
//!
//! cargo-deny checks the same list, and more, but a newcomer need not have it.

use std::process::Command;

use serde_json::Value;

const DENY: &str = include_str!("../deny.toml");

#[test]
fn every_dependency_is_under_an_allowed_licence() {
    let allowed = allowed();
    let packages = packages();
    let refused: Vec<String> = packages
        .iter()
        .filter(|(name, licence)| {
            let mut allowed = allowed.clone();
            allowed.extend(exceptions(name));
            !licence.as_ref().is_some_and(|licence| is_allowed(licence, &allowed))
        })
        .map(|(name, licence)| format!("  {name}: {}", licence.as_deref().unwrap_or("no licence named")))
        .collect();
    assert!(
        refused.is_empty(),
        "these packages are under none of the licences that deny.toml allows:\n{}\n\
         Do without them, or add the licence to `allow` and say why in the commit.",
        refused.join("\n")
    );
}

#[test]
fn an_expression_is_allowed_when_a_choice_within_the_list_exists() {
    let allowed = ["MIT", "Apache-2.0", "Unicode-3.0"];
    for licence in [
        "MIT",
        "MIT/Apache-2.0",
        "GPL-3.0 OR MIT",
        "(MIT OR GPL-3.0) AND Unicode-3.0",
        "GPL-3.0 AND BSL-1.0 OR MIT",
        "MIT OR Apache-2.0 WITH LLVM-exception",
    ] {
        assert!(is_allowed(licence, &allowed), "{licence}");
    }
    for licence in [
        "",
        "GPL-3.0",
        "MIT AND GPL-3.0",
        "MIT AND (GPL-3.0 OR BSL-1.0)",
        "(MIT OR GPL-3.0) AND BSL-1.0",
        "Apache-2.0 WITH LLVM-exception",
        "MIT AND",
        "(MIT",
    ] {
        assert!(!is_allowed(licence, &allowed), "{licence}");
    }
}

#[test]
fn an_exception_is_for_one_crate() {
    assert_eq!(exceptions("option-ext"), ["MPL-2.0"]);
    assert!(exceptions("option").is_empty() && exceptions("zenoh").is_empty());
}

/// The first list called `allow` in deny.toml.
fn allowed() -> Vec<&'static str> {
    let list = DENY.split_once("allow = [").expect("deny.toml has a list of licences").1;
    let list = list.split_once(']').expect("the list ends").0;
    list.split('"').skip(1).step_by(2).collect()
}

/// What is allowed to one crate beyond that. `exceptions = [{ crate = "a", allow = ["B"] }, …]`
fn exceptions(name: &str) -> Vec<&'static str> {
    let list = DENY.split_once("exceptions = [").map_or("", |(_, list)| list);
    let list = list.split_once("}]").map_or("", |(list, _)| list);
    let of_crate = list.split("crate = ").find(|one| one.starts_with(&format!("\"{name}\"")));
    let licences = of_crate.and_then(|one| one.split_once("allow = [")).map_or("", |(_, licences)| licences);
    licences.split(']').next().unwrap_or_default().split('"').skip(1).step_by(2).collect()
}

/// Names and licences of all packages that the lock file names.
fn packages() -> Vec<(String, Option<String>)> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--locked", "--all-features", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs this test, so that it can be run");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    let packages = metadata["packages"].as_array().expect("cargo lists packages");
    let text = |value: &Value| value.as_str().map(str::to_owned);
    packages.iter().map(|package| (text(&package["name"]).unwrap_or_default(), text(&package["license"]))).collect()
}

/// Whether one can keep to an SPDX expression by accepting allowed licences only. An exception (`WITH`) is part of a
/// licence's name, and the slash is how `OR` was once written.
fn is_allowed(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words = spaced.split_whitespace().peekable();
    any_of(&mut words, allowed) && words.next().is_none()
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn any_of(words: &mut Words<'_>, allowed: &[&str]) -> bool {
    let mut any = all_of(words, allowed);
    while words.next_if_eq(&"OR").is_some() {
        any |= all_of(words, allowed);
    }
    any
}

fn all_of(words: &mut Words<'_>, allowed: &[&str]) -> bool {
    let mut all = one(words, allowed);
    while words.next_if_eq(&"AND").is_some() {
        all &= one(words, allowed);
    }
    all
}

fn one(words: &mut Words<'_>, allowed: &[&str]) -> bool {
    if words.next_if_eq(&"(").is_some() {
        let inner = any_of(words, allowed);
        return words.next_if_eq(&")").is_some() && inner;
    }
    let mut name = words.next().unwrap_or_default().to_owned();
    if words.next_if_eq(&"WITH").is_some() {
        name = format!("{name} WITH {}", words.next().unwrap_or_default());
    }
    allowed.contains(&name.as_str())
}
