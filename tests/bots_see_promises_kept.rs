//! Bots compare what they were told: nothing overlaps, and each hears of all that is near and of nothing else. With
//! hostile company, over a bad network, and through a kill.

mod serving;

use std::time::Duration;

use serving::{Serving, bots, finished};

fn assert_kept(report: &serde_json::Value, count: u64) {
    assert_eq!(report["joined"].as_u64(), Some(count), "{report:#}");
    for promise in ["overlaps", "unheard", "overheard", "contradictions"] {
        assert_eq!(report["violations"][promise].as_u64(), Some(0), "{report:#}");
    }
    assert!(report["ticks_checked"].as_u64().unwrap() > 0, "{report:#}");
    assert!(report["updates_received"].as_u64().unwrap() > 0, "{report:#}");
    assert!(report["latency_samples"].as_u64().unwrap() > 0, "{report:#}");
    for field in ["moves_sent", "seconds", "bytes_per_client_s", "server_tick_ms", "overruns", "update_latency_ms"] {
        assert!(!report[field].is_null(), "{field} is missing in {report:#}");
    }
}

#[test]
fn among_each_other() {
    let server = Serving::start("--in-memory --crowd 20");
    let (output, report) = finished(bots(&server, "--count 20 --behaviour crowd --seconds 8 --json"));
    assert_kept(&report, 20);
    assert!(output.status.success());
}

/// Fifty that send garbage, floods and forgeries or never read, beside a hundred that walk about: these notice nothing.
#[test]
fn beside_hostile_ones() {
    let server = Serving::start("--in-memory --crowd 10");
    let honest = bots(&server, "--count 100 --seconds 9 --json");
    server.wait_for("kinesphere_users", 100.0);
    let hostile = bots(&server, "--count 50 --behaviour hostile --seconds 6 --name evil --json");
    let (output, honest) = finished(honest);
    assert_kept(&honest, 100);
    assert!(output.status.success());
    assert_eq!(honest["reconnected"].as_u64(), Some(0), "an honest one was cut off: {honest:#}");
    // What a stall would look like, on a machine that does much else; docs/measurements has what it is on an idle one.
    let latency = honest["update_latency_ms"]["p50"].as_f64().unwrap();
    assert!(latency < 5_000.0, "the honest heard of each other after {latency} ms");
    let (output, hostile) = finished(hostile);
    assert!(output.status.success());
    let refusals = hostile["refusals"].to_string();
    assert!(refusals.contains("made no sense or came too fast"), "nobody was sent away: {hostile:#}");
}

#[test]
fn over_a_bad_network() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    let server = Serving::start("--in-memory --crowd 10");
    let mut relay = Command::new(env!("CARGO_BIN_EXE_kinesphere"));
    relay.args([
        "relay",
        &server.http,
        "--delay-ms",
        "40",
        "--jitter-ms",
        "20",
        "--loss",
        "0.03",
        "--reordering",
        "0.02",
    ]);
    relay.args(["--duplicates", "0.02"]);
    let mut relay = relay.stdout(Stdio::piped()).spawn().unwrap();
    let first = BufReader::new(relay.stdout.take().unwrap()).lines().next().unwrap().unwrap();
    let through = first.split(' ').find_map(|word| word.strip_prefix("udp=")).unwrap().to_owned();
    let arguments = format!("--count 8 --behaviour seek --seconds 8 --through {through} --json");
    let (_, report) = finished(bots(&server, &arguments));
    relay.kill().unwrap();
    relay.wait().unwrap();
    assert_kept(&report, 8);
    let latency = report["update_latency_ms"]["p50"].as_f64().unwrap();
    assert!(latency > 80.0, "each way takes 40 ms, the median took {latency}");
}

/// The server is killed under load, again and again: its store opens every time, and not far behind.
#[test]
fn through_kills_of_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = format!("--data {} --crowd 10 --flush-ms 100 --snapshot-seconds 1", folder.path().display());
    let mut last = 0;
    for round in 0..4 {
        let server = Serving::start(&arguments);
        let load = bots(&server, &format!("--count 5 --seconds 30 --name round{round} --json"));
        std::thread::sleep(Duration::from_millis(1_500 + 130 * round));
        server.kill();
        // A bot without a server need not go on.
        let mut load = load;
        load.kill().unwrap();
        load.wait().unwrap();
        let check = std::process::Command::new(env!("CARGO_BIN_EXE_kinesphere"))
            .args(["store", "check", "--json", "--data"])
            .arg(folder.path())
            .output()
            .unwrap();
        assert!(check.status.success(), "round {round}: {}", String::from_utf8_lossy(&check.stderr));
        let report: serde_json::Value = serde_json::from_slice(&check.stdout).unwrap();
        let reached = report["last_tick"].as_u64().unwrap();
        assert!(reached > last, "round {round}: tick {last} was reached before, now {reached}");
        last = reached;
    }
}
