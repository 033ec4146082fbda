//! Over contested encounters on bad networks no host keeps two verdicts about one contact, and after delivery all hosts
//! keep the same; every object has one owner, audiences are complete within their bound, and nothing honest is refused.
//!
//! `./check long` runs `lab peers --contests 20000`, which does the same among up to 32 hosts.

use kinesphere_sim::peers::{Settings, hall, rules, run};
use kinesphere_sim::promises::SameVerdict;
use motion::decision::Policy;

#[test]
fn promises_hold_among_two_to_nine_hosts_on_bad_networks() {
    let policies = [Policy::Velocity, Policy::HostId, Policy::FieldOfView, Policy::VelocityHistory];
    let (mut contests, mut compared, mut both) = (0, 0, 0);
    for (seed, hosts) in (1..).zip([2, 3, 4, 6, 9]) {
        let settings = Settings {
            hosts,
            cell: if seed % 2 == 0 { hall::CROWDED } else { hall::ROOMY },
            seconds: 80,
            rules: rules(policies[seed as usize % 4]),
            link: Settings::rough(100, 0.05 * (seed % 3) as f64),
            upsets: seed > 1,
            seed,
        };
        let measured = run(&settings, &mut |_, _| {}).unwrap();
        let failures = measured.promises.failures().join("\n");
        assert!(measured.promises.holds(), "{settings:?}, to see it again run this test: {failures}");
        contests += measured.outcomes.contests;
        both += measured.outcomes.by_both;
        compared += measured.promises.get(SameVerdict::NAME).unwrap().checks;
    }
    assert!(
        contests > 100 && compared > 100,
        "{contests} contests, {compared} verdicts compared, {both} decided twice"
    );
}

#[test]
fn a_run_repeats() {
    let settings =
        Settings { hosts: 4, seconds: 8, link: Settings::rough(100, 0.1), upsets: true, ..Settings::default() };
    let once = || run(&settings, &mut |_, _| {}).unwrap();
    assert_eq!(once(), once());
}
