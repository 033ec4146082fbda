//! The promises of a cluster can be broken: for every mistake that is made on purpose, the watcher finds the promise
//! that it breaks.

use lab::cluster::{Fault, Settings, run};

#[test]
fn every_mistake_is_found() {
    for (fault, promise) in Fault::ALL {
        let is_found = |seed: u64| {
            let settings =
                Settings { seed, nodes: 4, users: 60, carriers: true, fault: Some(fault), ..Settings::default() };
            let measured = run(&settings, &mut |_, _| {}).unwrap();
            !measured.promises.get(promise).unwrap().holds()
        };
        assert!((0..12).any(is_found), "{fault:?} breaks `{promise}`, and nobody noticed");
    }
}
