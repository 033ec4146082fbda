//! `docs/operating.md` names every setting and every metric that there is, and no other.

mod shell;

use std::collections::BTreeSet;
use std::path::Path;

use shell::{kinesphere, stdout};

const DOCUMENT: &str = include_str!("../docs/operating.md");

/// What stands between backquotes in the tables of one part of the document.
fn named(part: &str) -> Vec<String> {
    let begin = DOCUMENT.find(part).unwrap_or_else(|| panic!("there is no part {part:?}"));
    let text = DOCUMENT[begin + part.len()..].split("\n## ").next().unwrap();
    let rows = text.lines().filter(|line| line.starts_with('|'));
    rows.flat_map(|row| row.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

#[test]
fn settings_are_those_of_the_command() {
    let help = stdout(&kinesphere("serve --help"));
    let words = |text: &str, prefix: &str| -> BTreeSet<String> {
        let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-' && letter != '_');
        words.filter(|word| word.starts_with(prefix) && word.len() > prefix.len()).map(str::to_owned).collect()
    };
    let flags: BTreeSet<String> = help
        .lines()
        .filter_map(|line| line.trim_start().split([' ', ',']).find(|word| word.starts_with("--")))
        .filter(|flag| *flag != "--help")
        .map(str::to_owned)
        .collect();
    assert!(flags.len() > 15, "{flags:?}");
    let document = named("## Settings").join(" ");
    assert_eq!(words(&document, "--"), flags, "flags, in the document and in the command");
    // A terminal may have broken the line behind the colon.
    let mentioned = help.split("[env:").skip(1).filter_map(|rest| rest.trim_start().split(['=', ']']).next());
    let mentioned = mentioned.collect::<Vec<_>>().join(" ");
    let variables = [&document, &mentioned].map(|text| words(text, "KINESPHERE_"));
    assert_eq!(variables[0], variables[1], "variables, in the document and in the command");
}

#[test]
fn metrics_are_those_of_the_code() {
    let mut code = BTreeSet::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut code);
    assert!(code.len() > 30, "{code:?}");
    let name = |text: String| text.split('{').next().unwrap().to_owned();
    let document: BTreeSet<String> = named("## Metrics").into_iter().map(name).collect();
    let document = document.into_iter().filter(|name| name.starts_with("kinesphere_")).collect::<BTreeSet<_>>();
    assert_eq!(document, code, "metrics, in the document and in the code");
}

/// Every metric that is counted somewhere in these files.
fn collect(folder: &Path, metrics: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, metrics);
            continue;
        }
        let source = std::fs::read_to_string(&path).unwrap();
        let is_metric = |text: &str| {
            text.starts_with("kinesphere_") && text.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_')
        };
        metrics.extend(source.split('"').skip(1).filter(|text| is_metric(text)).map(str::to_owned));
    }
}
