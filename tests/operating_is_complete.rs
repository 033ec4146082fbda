//! `docs/operating.md` names every setting and every metric that there is.

mod shell;

use shell::{kinesphere, stdout};

const DOCUMENT: &str = include_str!("../docs/operating.md");

#[test]
fn every_setting_is_documented() {
    let help = stdout(&kinesphere("serve --help"));
    let flags = help.lines().filter_map(|line| line.trim_start().split([' ', ',']).find(|word| word.starts_with("--")));
    let flags: Vec<&str> = flags.filter(|flag| *flag != "--help").collect();
    assert!(flags.len() > 15, "{flags:?}");
    for flag in flags {
        assert!(DOCUMENT.contains(&format!("`{flag}")), "{flag} is not in docs/operating.md");
    }
}

#[test]
fn every_metric_is_documented() {
    let sources = [
        include_str!("../src/drive.rs"),
        include_str!("../src/store/keeper.rs"),
        include_str!("../src/link/mod.rs"),
        include_str!("../src/link/outbox.rs"),
    ];
    let quoted = sources.iter().flat_map(|source| source.split('"').skip(1).step_by(2));
    let metrics: Vec<&str> = quoted.filter(|text| text.starts_with("kinesphere_")).collect();
    assert!(metrics.len() > 20, "{metrics:?}");
    for metric in metrics {
        let short = metric.trim_start_matches("kinesphere");
        assert!(DOCUMENT.contains(metric) || DOCUMENT.contains(&format!("`{short}")), "{metric} is not documented");
    }
}
