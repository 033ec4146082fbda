//! A checker that cannot fail is worth nothing: a fault is planted for each, and must be found by it.

use lab::simulation::{Fault, Settings, run};

fn settings() -> Settings {
    Settings { clients: 6, hostile: 0, ticks: 600, loss: 0.02, upsets: false, seekers: 10, ..Settings::default() }
}

#[test]
fn every_planted_fault_is_found() {
    for (fault, promise) in Fault::ALL {
        let report = run(&Settings { fault: Some(fault), ..settings() }, &mut |_, _| {}).unwrap();
        let row = report.promises.get(promise).unwrap();
        assert!(!row.holds(), "{fault:?} was not found by \"{promise}\": {report:?}");
        assert!(!report.holds() && !report.failures().is_empty());
    }
}

#[test]
fn without_a_fault_nothing_is_found() {
    let report = run(&settings(), &mut |_, _| {}).unwrap();
    for row in report.promises.iter() {
        let is_planted = Fault::ALL.iter().any(|(_, promise)| *promise == row.promise);
        assert!(is_planted, "no fault is planted that \"{}\" has to find", row.promise);
    }
    assert!(report.holds(), "{}", report.failures().join("\n"));
    assert!(report.promises.iter().filter(|row| row.checks > 0).count() >= 7, "{report:?}");
}
