//! Several servers in processes of their own, one world, and users who walk about in it: across borders, while a server
//! is killed, while another is frozen and wakes, and when one more joins.
#![cfg(all(feature = "zenoh", unix))]

mod serving;

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use serving::{PATIENCE, Serving, bots, finished};

/// An open place with a few things in it, small enough that every user is often at a border, and slow enough for a
/// machine that builds something else at the same time.
const WORLD: &str = r#"
name = "shared"
bounds = { low = [-30, 0, -30], high = [30, 12, 30] }
gravity = 9.81
tick_rate = 10
spawn = [[0, 0, 0], [-12, 0, 9], [12, 0, -9], [9, 0, 12], [-9, 0, -12]]

[limits]
speed = 5

[[avatar]]
name = "walker"
radius = 0.3
height = 1.8

[[object]]
name = "pillar"
at = [5, 1, 5]
box = { size = [1, 2, 1] }

[[object]]
name = "crate"
at = [-4, 0.5, 2]
box = { size = [1, 1, 1] }
kind = "movable"
"#;

fn world(folder: &Path) -> String {
    let file = folder.join("shared.toml");
    std::fs::write(&file, WORLD).unwrap();
    file.display().to_string()
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

struct Node {
    name: &'static str,
    port: u16,
    serving: Serving,
}

fn start(name: &'static str, world: &str, more: &str, others: &[&Node]) -> Node {
    let port = free_port();
    let joins: String = others.iter().map(|other| format!(" --join 127.0.0.1:{}", other.port)).collect();
    let arguments = format!(
        "{world} --cluster shared --node-name {name} --cluster-listen 127.0.0.1:{port}{joins} --aura 8 \
         --resume-seconds 60 --log warn {more}"
    );
    Node { name, port, serving: Serving::start(&arguments) }
}

fn status(node: &Node) -> Option<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_kinesphere"))
        .args([
            "cluster",
            "status",
            &node.serving.url(),
            "--json",
            "--operator-token-file",
            &node.serving.operator_file,
        ])
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).ok().filter(|_| output.status.success())
}

/// Waits until a node says something of its cluster.
fn wait_until(node: &Node, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let begun = Instant::now();
    loop {
        let found = status(node);
        if let Some(found) = found.clone().filter(&is_so) {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "{}: {what}: {found:?}", node.name);
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn members(status: &Value) -> usize {
    status["nodes"].as_array().map_or(0, Vec::len)
}

fn objects(status: &Value) -> u64 {
    let nodes = status["nodes"].as_array().cloned().unwrap_or_default();
    nodes.iter().filter_map(|node| node["objects"].as_u64()).sum()
}

fn signal(node: &Node, name: &str) {
    let id = node.serving.id().to_string();
    assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
}

/// Nothing may overlap, each user hears of all that is near and of nothing far, and each server tells one place of an
/// object per tick; every user is in at the end, and counted once.
#[test]
fn users_walk_on_whatever_happens_to_servers() {
    let folder = tempfile::tempdir().unwrap();
    let world = world(folder.path());
    let one = start("one", &world, "", &[]);
    let two = start("two", &world, "", &[&one]);
    let three = start("three", &world, "", &[&one, &two]);
    wait_until(&one, "three members", |status| members(status) == 3);

    // All users walk; one server is killed, a fourth one joins, another is frozen until the others have gone on, and
    // woken.
    let crowd: Child = bots(&one.serving, "--count 150 --behaviour seek --seconds 600 --json");
    wait_until(&one, "150 users and a crate", |status| objects(status) == 151);
    let dead = two.serving.url();
    two.serving.kill();
    wait_until(&one, "the dead one is left out", |status| members(status) == 2);
    let four = start("four", &world, "", &[&one, &three]);
    wait_until(&one, "a fourth one joins", |status| members(status) == 3);
    wait_until(&four, "it takes load", |status| {
        let nodes = status["nodes"].as_array().unwrap();
        nodes.iter().any(|node| node["name"] == "four" && node["objects"].as_u64() > Some(0))
    });
    signal(&three, "-STOP");
    wait_until(&one, "the frozen one is left out", |status| members(status) == 2);
    signal(&three, "-CONT");
    wait_until(&one, "it comes back", |status| members(status) == 3);
    wait_until(&one, "nobody is lost, nobody doubled", |status| objects(status) == 151);
    // What was told of a tick is looked at when all of it must have arrived, 90 ticks later.
    std::thread::sleep(Duration::from_secs(10));
    assert!(Command::new("kill").args(["-INT", &crowd.id().to_string()]).status().unwrap().success());

    let (output, report) = finished(crowd);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}\n{report:#}");
    assert_eq!(report["joined"], 150, "{report:#}");
    for kind in ["overlaps", "unheard", "overheard", "contradictions"] {
        assert_eq!(report["violations"][kind], 0, "{report:#}");
    }
    assert!(report["ticks_checked"].as_u64().unwrap() > 100, "{report:#}");
    assert!(report["redirected"].as_u64().unwrap() > 20, "users were sent on: {report:#}");
    assert!(report["reconnected"].as_u64().unwrap() > 0, "users lost their server: {report:#}");
    let at = |url: &str| report["servers"][url].as_u64().unwrap_or(0);
    let [first, last, woken] = [&one, &four, &three].map(|node| at(&node.serving.url()));
    assert_eq!((first + last + woken, at(&dead)), (150, 0), "{report:#}");
    assert!(last > 0, "the fourth one has users: {report:#}");
    for node in [&one, &four, &three] {
        let refused = node.serving.metric("kinesphere_cluster_refused_total");
        assert_eq!(refused, None, "{} does not understand what the others say", node.name);
    }
    println!("lost: {}; sent on {} times: {}", report["resumed_ms"], report["redirected"], report["redirected_ms"]);
}

#[test]
fn what_cannot_be_a_part_is_told_why() {
    let folder = tempfile::tempdir().unwrap();
    let world = world(folder.path());
    let one = start("one", &world, "", &[]);
    let refused = |arguments: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kinesphere"));
        command.args(arguments.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = command.output().unwrap();
        assert!(!output.status.success(), "{arguments}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let port = one.port;
    let serve = "serve --listen 127.0.0.1:0 --log off";
    for (arguments, expected) in [
        (
            format!("{serve} {world} --aura 8 --cluster shared --node-name one --join 127.0.0.1:{port}"),
            "called one already",
        ),
        (format!("{serve} --aura 8 --cluster shared --join 127.0.0.1:{port}"), "serves another world"),
        (format!("{serve} {world} --aura 9 --cluster shared --join 127.0.0.1:{port}"), "--aura"),
        (format!("witness --aura 8 --log off --cluster shared --join 127.0.0.1:{port}"), "serves another world"),
        (format!("{serve} {world} --cluster shared --join 127.0.0.1:1"), "no node answers at 127.0.0.1:1"),
        (format!("{serve} {world} --cluster shared --join nowhere"), "expected HOST:PORT"),
        (format!("{serve} {world} --cluster a/b"), "is no name for a node or a world"),
        (
            format!("{serve} {world} --cluster shared --data {}", folder.path().display()),
            "--data cannot be used with --cluster",
        ),
        (format!("{serve} {world} --cluster shared --tokens"), "--tokens"),
        (format!("{serve} {world} --cluster shared --cluster-listen 127.0.0.1:0 --advertise nowhere"), "--advertise"),
        ("witness --cluster shared".to_owned(), "--join"),
        ("cluster status http://127.0.0.1:1".to_owned(), "does not answer"),
    ] {
        let error = refused(&arguments);
        assert!(error.contains(expected), "{arguments}\n{error}");
    }
    // The bug that this keeps out: with the name of another cluster a server was silent for half a minute and then
    // blamed what it was asked for, and a witness waited for ever.
    for arguments in [
        format!("{serve} {world} --aura 8 --cluster other --join 127.0.0.1:{port}"),
        format!("witness {world} --aura 8 --log off --cluster other --join 127.0.0.1:{port}"),
    ] {
        let output =
            Command::new(env!("CARGO_BIN_EXE_kinesphere")).args(arguments.split_whitespace()).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        let expected = format!("nobody at 127.0.0.1:{port} belongs to a cluster called `other`");
        assert!(error.contains(&expected) && output.status.code() == Some(1), "{arguments}\n{error}");
    }
    assert_eq!(members(&status(&one).unwrap()), 1, "nobody came in");
    let alone = Serving::start("--in-memory --crowd 0 --log off");
    let error = refused(&format!("cluster status {} --operator-token-file {}", alone.url(), alone.operator_file));
    assert!(error.contains("belongs to no cluster"), "{error}");
}

#[test]
fn two_servers_and_a_witness_go_on_without_one() {
    let folder = tempfile::tempdir().unwrap();
    let world = world(folder.path());
    let members_file = folder.path().join("members");
    std::fs::write(&members_file, "one:a1\ntwo:b2\nwit:c3\n").unwrap();
    let trust = format!("--cluster-members {}", members_file.display());
    let one = start("one", &world, &trust, &[]);
    let two = start("two", &world, &trust, &[&one]);
    let arguments = format!(
        "witness {world} --aura 8 --log off --cluster shared --node-name wit {trust} \
         --join 127.0.0.1:{} --join 127.0.0.1:{}",
        one.port, two.port
    );
    let mut witness = Command::new(env!("CARGO_BIN_EXE_kinesphere"))
        .args(arguments.split_whitespace())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until(&two, "all three", |status| members(status) == 3);
    // A node without the password, or with another one, stays outside.
    let strangers = folder.path().join("strangers");
    std::fs::write(&strangers, "eve:x\none:y\n").unwrap();
    let arguments = format!(
        "serve {world} --listen 127.0.0.1:0 --aura 8 --log off --cluster shared --node-name eve \
         --cluster-members {} --join 127.0.0.1:{}",
        strangers.display(),
        one.port
    );
    let output = Command::new(env!("CARGO_BIN_EXE_kinesphere")).args(arguments.split_whitespace()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && error.contains("does not let eve in"), "{error}");
    one.serving.kill();
    wait_until(&two, "two and the witness go on", |status| {
        members(status) == 2 && status["may_act"] == Value::Bool(true)
    });
    witness.kill().unwrap();
    witness.wait().unwrap();
}
