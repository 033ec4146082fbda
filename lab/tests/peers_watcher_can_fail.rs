//! A promise that nothing can break is worth nothing: a fault is planted for each, and must be found.

use lab::peers::fault::Fault;
use lab::peers::{Settings, run};

#[test]
fn every_planted_fault_is_found() {
    for (fault, promise) in Fault::ALL {
        let settings = Settings { hosts: 4, seconds: 25, fault: Some(fault), ..Settings::default() };
        let measured = run(&settings, &mut |_, _| {}).unwrap();
        let row = measured.promises.get(promise).unwrap();
        assert!(!row.holds(), "{fault:?} did not break \"{promise}\": {:?}", measured.promises);
        assert!(!measured.holds() && !measured.failures().is_empty());
    }
}

#[test]
fn without_a_fault_nothing_is_found() {
    let measured = run(&Settings { hosts: 4, seconds: 25, ..Settings::default() }, &mut |_, _| {}).unwrap();
    assert!(measured.holds(), "{}", measured.failures().join("\n"));
    assert!(measured.promises.iter().all(|row| row.checks > 0), "{:?}", measured.promises);
}
