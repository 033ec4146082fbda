//! Commands find the world that is meant, refuse what cannot be before they begin, and say what to do.

mod serving;
mod shell;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use kinesphere::serve::{Options, Service};
use kinesphere::store::{Commit, Retention, Snapshot, Store, StoredRecord};
use serving::Serving;
use shell::{kinesphere, stderr, stdout};
use world::{Plaza, World};

/// An address that no machine has: a server that comes to it has found all else in order.
const NOWHERE: &str = "--listen 192.0.2.1:1";

/// Runs `kinesphere` with this data folder.
fn kinesphere_of(home: &Path, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kinesphere"));
    command.env("XDG_DATA_HOME", home).env_remove("KINESPHERE_DATA");
    command.args(arguments.split_whitespace()).output().expect("the binary was just built")
}

/// Keeps a plaza of sixty, with ten ticks.
fn keep_plaza(folder: &Path) {
    let mut world = World::new(Plaza { seekers: 60, ..Plaza::default() }.spec()).unwrap();
    let (mut bytes, mut records) = (Vec::new(), Vec::new());
    world.snapshot(&mut bytes);
    for _ in 0..10 {
        world.step(&[]);
        let mut bytes = Vec::new();
        world::journal::write(world.tick(), &[], &mut bytes);
        records.push(StoredRecord { tick: world.tick().number(), bytes });
    }
    let snapshot = Some(Snapshot { tick: 0, stored_at_s: 0, bytes });
    let store = Store::open_or_create(folder).unwrap();
    store.commit(&Commit { snapshot, records, notes: Vec::new() }, &Retention::default(), 0).unwrap();
}

/// Keeps out: all worlds shared one folder by default, so that after the plaza no world file could be served.
#[test]
fn every_world_has_a_folder_of_its_own() {
    let home = tempfile::tempdir().unwrap();
    let plaza = home.path().join("kinesphere");
    keep_plaza(&plaza);
    for arguments in [format!("serve worlds/courtyard.toml {NOWHERE}"), format!("serve {NOWHERE}")] {
        let output = kinesphere_of(home.path(), &arguments);
        assert!(stderr(&output).contains("no such address"), "{arguments}: {}", stderr(&output));
    }
    let courtyard = plaza.join("worlds/courtyard");
    assert!(courtyard.join("world.redb").is_file());
    for (arguments, expected) in [
        ("store check", format!("{}: all is sound.", plaza.display())),
        ("store check --world worlds/courtyard.toml", format!("{}: all is sound.", courtyard.display())),
        ("token --world worlds/courtyard.toml", "ks1.".to_owned()),
        ("replay", "Replayed up to tick 10".to_owned()),
    ] {
        let output = kinesphere_of(home.path(), arguments);
        assert!(stdout(&output).contains(&expected), "{arguments}: {}{}", stdout(&output), stderr(&output));
    }
}

#[test]
fn what_cannot_be_is_refused_with_a_way_out_that_the_command_has() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("plaza").display().to_string();
    keep_plaza(Path::new(&data));
    let there = folder.path().join("there.jsonl").display().to_string();
    std::fs::write(&there, "mine").unwrap();
    for (arguments, expected) in [
        (format!("serve --data {data} --crowd 5 {NOWHERE}"), "Name another folder with --data, or the world file"),
        (format!("replay {data} --crowd 5"), "Name another folder, or the world file"),
        (format!("replay {data} --from 5 --to 3"), "tick 3 comes before tick 5"),
        (format!("replay {data} --from 11"), "the journal ends with tick 10"),
        ("serve --in-memory --tokens".to_owned(), "--tokens cannot be used with --in-memory"),
        ("serve --in-memory worlds/courtyard.toml --crowd 3".to_owned(), "--crowd is for the built-in plaza"),
        (format!("replay {data} --world worlds/courtyard.toml --crowd 3"), "--crowd is for the built-in plaza"),
        (
            format!("store export {there} --data {data}"),
            "there.jsonl exists; it is not overwritten\nName another place.",
        ),
        ("relay nowhere".to_owned(), "expected HOST:PORT"),
        ("bots http://127.0.0.1:1 --through nowhere".to_owned(), "expected HOST:PORT"),
    ] {
        let output = kinesphere(&arguments);
        assert!(stderr(&output).contains(expected), "{arguments}: {}", stderr(&output));
        assert_eq!(output.status.code(), Some(2), "{arguments}");
    }
    assert!(!stderr(&kinesphere(&format!("replay {data} --crowd 5"))).contains("--data"), "replay has no --data");
    assert_eq!(std::fs::read_to_string(&there).unwrap(), "mine");
}

/// Keeps out: the example of the help, followed, refused every guest.
#[test]
fn whoever_asks_for_tokens_is_told_where_they_are_taken() {
    let help = stdout(&kinesphere("serve --help"));
    let example = &help[help.find("Example:").unwrap()..];
    assert!(
        example.contains("--tokens") && example.contains("--certificate") && example.contains("--key"),
        "{example}"
    );
    let folder = tempfile::tempdir().unwrap();
    let server = Serving::start(&format!("--crowd 0 --tokens --data {}", folder.path().display()));
    let expected = "Join tokens are taken from other machines only with --certificate and --key.";
    assert!(server.printed.contains(expected), "{}", server.printed);
}

/// Keeps out: a counter that appears when it is first counted hides its first event from who watches its growth.
#[test]
fn what_has_not_happened_is_counted_as_well() {
    let server = Serving::start("--in-memory --crowd 0");
    server.wait_for("kinesphere_tick", 1.0);
    for metric in [
        "kinesphere_refused_at_gate_total",
        "kinesphere_log_lines_dropped_total",
        "kinesphere_link_datagrams_dropped_total{direction=\"in\"}",
        "kinesphere_link_datagrams_dropped_total{direction=\"out\"}",
        "kinesphere_links_total{transport=\"websocket\"}",
    ] {
        assert_eq!(server.metric(metric), Some(0.0), "{metric}");
    }
    assert!(server.metric("kinesphere_tick_overruns_total").is_some());
}

/// Keeps out: "Open http://0.0.0.0:7777/", which no browser can on some systems.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_listens_everywhere_is_found_here() {
    let service = Service::start(Options { listen: "0.0.0.0:0".to_owned(), ..Options::default() }).await.unwrap();
    assert_eq!(service.url(), format!("http://localhost:{}", service.http().port()));
    service.stop().await;
}

#[test]
fn a_host_may_be_named() {
    let mut relay = Command::new(env!("CARGO_BIN_EXE_kinesphere"));
    relay.args(["relay", "localhost:1", "--listen", "localhost:0"]).stdout(Stdio::piped());
    let mut relay = relay.spawn().unwrap();
    let first = BufReader::new(relay.stdout.take().unwrap()).lines().next();
    relay.kill().unwrap();
    relay.wait().unwrap();
    let first = first.expect("it says where").unwrap();
    assert!(first.contains("relaying udp=127.0.0.1:") && first.ends_with("to=127.0.0.1:1"), "{first}");
    let output = kinesphere("bots http://127.0.0.1:1 --through localhost:1");
    assert!(stderr(&output).contains("does not answer"), "{}", stderr(&output));
}

/// Keeps out: what Zenoh says of a port in use, with places in its source.
#[cfg(feature = "zenoh")]
#[test]
fn a_port_that_is_taken_is_told_with_the_flag_that_names_another() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let serve = "serve --in-memory --listen 127.0.0.1:0 --log off --cluster shared";
    for (arguments, flag) in [
        (format!("{serve} --cluster-listen {address}"), "--cluster-listen"),
        (format!("join --page 127.0.0.1:0 --listen {address}"), "--listen"),
    ] {
        let output = kinesphere(&arguments);
        let said = stderr(&output);
        let expected = format!("cannot listen for other nodes on {address}: ");
        assert!(said.contains(&expected) && said.ends_with(&format!("Name another with {flag}.\n")), "{said}");
        assert!(!said.contains(".rs"), "{said}");
        assert_eq!(output.status.code(), Some(1), "{arguments}");
    }
}
