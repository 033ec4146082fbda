//! Real processes on this machine, and no server: two peers bounce off each other and agree, a third joins late and is
//! killed, a page attached to one sees all, and who is asked to stop says goodbye.

#![cfg(all(feature = "zenoh", unix))]

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use client::ClientSettings;
use kinesphere::visit::Visit;
use wire::InputStep;

/// Nothing here takes longer, on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(90);
/// A contact that one peer has kept that long is known to all that were present.
const DELIVERED: Duration = Duration::from_secs(5);

const ROOM: &str = r#"
name = "room"
bounds = { low = [-5, 0, -5], high = [5, 4, 5] }
gravity = 9.81
tick_rate = 30

[[avatar]]
name = "walker"
radius = 0.3
height = 1.8
"#;

/// A peer, as its user sees it.
struct Peer {
    child: Child,
    lines: Arc<Mutex<Vec<(Instant, String)>>>,
}

impl Peer {
    fn join(name: &str, room: &Path, listen: &str, peers: &[&str], bots: u32) -> Peer {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kinesphere"));
        command.args([
            "join",
            "--name",
            name,
            "--listen",
            listen,
            "--page",
            "127.0.0.1:0",
            "--bots",
            &bots.to_string(),
        ]);
        command.arg("--world").arg(room).args(peers).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let output = child.stdout.take().unwrap();
        let lines: Arc<Mutex<Vec<(Instant, String)>>> = Arc::default();
        let read = lines.clone();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                read.lock().unwrap().push((Instant::now(), line));
            }
        });
        Peer { child, lines }
    }

    fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().iter().map(|(_, line)| line.clone()).collect()
    }

    /// Waits for a line that begins so.
    fn waits_for(&self, beginning: &str) -> String {
        let found = wait(|| self.lines().into_iter().find(|line| line.starts_with(beginning)));
        found.unwrap_or_else(|| panic!("no line {beginning:?} among\n{}", self.lines().join("\n")))
    }

    /// The verdicts that it had kept at a moment.
    fn verdicts(&self, until: Instant) -> BTreeSet<String> {
        let lines = self.lines.lock().unwrap();
        let kept = lines.iter().filter(|(at, line)| *at <= until && line.starts_with("verdict: "));
        kept.map(|(_, line)| line.clone()).collect()
    }

    fn page(&self) -> String {
        self.waits_for("page: ").trim_start_matches("page: ").to_owned()
    }

    /// Ctrl-C, and how it ended.
    fn stop(mut self) -> (bool, Vec<String>) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        let ended = wait(|| self.child.try_wait().unwrap());
        let is_well = ended.is_some_and(|status| status.success());
        let _ = wait(|| self.lines().iter().any(|line| line == "left").then_some(()));
        (is_well, self.lines())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn wait<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        if let Some(found) = look() {
            return Some(found);
        }
        thread::sleep(Duration::from_millis(50));
    }
    None
}

/// A free address on this machine.
fn free() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

fn room() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("room.toml");
    std::fs::write(&file, ROOM).unwrap();
    (folder, file)
}

/// What one has kept for a while the other has too.
fn assert_alike(one: &Peer, other: &Peer, since: Instant) {
    let now = Instant::now();
    for (kept, of) in [(one, other), (other, one)] {
        let old: BTreeSet<String> = kept.verdicts(now - DELIVERED).difference(&kept.verdicts(since)).cloned().collect();
        let missing: Vec<String> = old.difference(&of.verdicts(now)).cloned().collect();
        assert!(missing.is_empty(), "kept by one peer alone:\n{}", missing.join("\n"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_bounce_and_agree_a_third_comes_late_and_dies_and_the_page_sees_all() {
    let (_folder, room) = room();
    let [first, second, third] = [free(), free(), free()];
    let ann = Peer::join("ann", &room, &first, &[], 1);
    ann.waits_for("peers: ");
    let bob = Peer::join("bob", &room, &second, &[&first], 1);
    let (met, start) = (bob.waits_for("ann is here"), Instant::now());
    assert_eq!(met, "ann is here");
    ann.waits_for("bob is here");

    let common = wait(|| {
        let now = Instant::now();
        let both: BTreeSet<String> = ann.verdicts(now).intersection(&bob.verdicts(now)).cloned().collect();
        both.into_iter().find(|line| line.contains("bounced"))
    });
    assert!(common.is_some(), "ann:\n{}\nbob:\n{}", ann.lines().join("\n"), bob.lines().join("\n"));

    let mut carl = Peer::join("carl", &room, &third, &[&first, &second], 1);
    ann.waits_for("carl is here");
    bob.waits_for("carl is here");
    carl.waits_for("2 peers; ");

    // A client of the wire protocol stands for the page.
    let mut visit = Visit::join(&bob.page(), ClientSettings::named("whoever")).await.unwrap();
    assert_eq!(visit.client().welcome().unwrap().nickname, "bob", "the page is its peer's");
    let names = |client: &client::Client| -> BTreeSet<String> {
        client.others().iter().map(|(_, other)| other.entered.name.clone()).collect()
    };
    let all: BTreeSet<String> = ["ann", "ann 2", "bob 2", "carl", "carl 2"].map(str::to_owned).into();
    let sees_all = visit.run_until(PATIENCE, |client| names(client) == all).await;
    assert!(sees_all, "the page sees {:?}", names(visit.client()));

    // The user walks, and is where the page says.
    let before = visit.client().own().unwrap().confirmed().pos;
    visit.client().intend(InputStep { velocity: [512, 0, 256], ..InputStep::default() });
    let walks = visit
        .run_until(PATIENCE, |client| client.own().is_some_and(|own| own.confirmed().pos.distance(before) > 0.5))
        .await;
    assert!(walks, "the user of the page does not move");

    carl.child.kill().unwrap();
    ann.waits_for("carl has left");
    bob.waits_for("carl has left");
    let without = visit.run_until(PATIENCE, |client| !names(client).iter().any(|name| name.starts_with("carl"))).await;
    assert!(without, "the page still sees {:?}", names(visit.client()));
    visit.leave().await;

    thread::sleep(DELIVERED);
    assert_alike(&ann, &bob, start);
    let (is_well, lines) = ann.stop();
    assert!(is_well && lines.last().is_some_and(|line| line == "left"), "{}", lines.join("\n"));
    bob.waits_for("ann has left");
    assert!(bob.stop().0);
}

#[test]
fn what_cannot_be_joined_is_said_in_a_sentence() {
    let (folder, room) = room();
    let run = |arguments: &[&str]| -> (Option<i32>, String) {
        let Output { status, stderr, .. } =
            Command::new(env!("CARGO_BIN_EXE_kinesphere")).arg("join").args(arguments).output().unwrap();
        (status.code(), String::from_utf8_lossy(&stderr).into_owned())
    };
    let nobody = free();
    let (code, said) = run(&["--name", "ann", "--page", "127.0.0.1:0", &nobody]);
    assert!(code == Some(1) && said.contains(&format!("no node answers at {nobody}")), "{code:?} {said}");
    let (code, said) = run(&["nowhere"]);
    assert!(code == Some(2) && said.contains("expected HOST:PORT"), "{code:?} {said}");
    let (code, said) = run(&["--name", "a b"]);
    assert!(code == Some(2) && said.contains("letters, digits"), "{code:?} {said}");
    let (code, said) = run(&["--world", "nowhere.toml"]);
    assert!(code == Some(2) && said.contains("cannot read nowhere.toml"), "{code:?} {said}");
    let members = folder.path().join("members");
    std::fs::write(&members, "bob:x\n").unwrap();
    let (code, said) =
        run(&["--name", "ann", "--members", members.to_str().unwrap(), "--world", room.to_str().unwrap()]);
    assert!(code == Some(2) && said.contains("ann is not among the members"), "{code:?} {said}");
}
