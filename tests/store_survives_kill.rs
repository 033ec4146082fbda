//! A process that is killed in the middle of writing loses at most what it had not flushed, and its store opens every
//! time. The process that is killed is this test's own program, started again.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use kinesphere::store::keeper::{KeeperSettings, StoreKeeper};
use kinesphere::store::{Retention, Store, StoreError};
use space::workload::Random;

const FOLDER: &str = "KINESPHERE_TEST_FOLDER";

/// What a record must hold: a reader recognises a torn or a misplaced one.
fn bytes(tick: u64) -> Vec<u8> {
    let mut random = Random::new(tick);
    (0..random.whole(1, 400)).map(|_| random.whole(0, 256) as u8).collect()
}

fn start(folder: &Path, test: &str) -> Child {
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args([test, "--exact", "--ignored", "--nocapture"]).env(FOLDER, folder);
    again.stdout(Stdio::piped()).spawn().unwrap()
}

/// Goes on from where the store ends, at a few thousand ticks per second, and says what is flushed.
#[test]
#[ignore = "run by the tests below as another process"]
fn writer() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let store = Store::open_or_create(Path::new(&folder)).unwrap();
    let mut tick = last(&store).unwrap_or(0);
    let settings = KeeperSettings {
        flush_every: Duration::from_millis(3),
        snapshot_every: Duration::from_millis(20),
        retention: Retention { bytes_max: 100_000, age_s_max: 1_000_000 },
        ..KeeperSettings::default()
    };
    let keeper = StoreKeeper::start(store, settings);
    let mut told = None;
    loop {
        if keeper.wants_snapshot() {
            keeper.snapshot(tick, bytes(tick));
        }
        tick += 1;
        keeper.append(tick, bytes(tick));
        let flushed = keeper.status().flushed_tick;
        if flushed != told {
            told = flushed;
            println!("flushed {}", flushed.unwrap_or(0));
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

fn last(store: &Store) -> Option<u64> {
    let newest = store.newest().unwrap().map(|snapshot| snapshot.tick);
    store.summary().unwrap().last_tick.max(newest)
}

#[test]
fn a_kill_loses_at_most_what_was_not_flushed() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random::new(7);
    let mut reached = 0;
    for round in 0..20 {
        let mut child = start(folder.path(), "writer");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut flushed = 0;
        // Killed after a few flushes, at no particular moment.
        for _ in 0..random.whole(1, 12) {
            let line = lines.by_ref().map(Result::unwrap).find(|line| line.contains("flushed ")).expect("it writes");
            flushed = line.rsplit(' ').next().unwrap().parse().unwrap();
        }
        std::thread::sleep(Duration::from_micros(u64::from(random.whole(0, 4_000))));
        child.kill().unwrap();
        child.wait().unwrap();

        let mut store = Store::open(folder.path()).unwrap_or_else(|error| panic!("round {round}: {error}"));
        store.check().unwrap_or_else(|error| panic!("round {round}: {error}"));
        let newest = store.newest().unwrap().expect("a flush was told of");
        assert_eq!(newest.bytes, bytes(newest.tick), "round {round}");
        let mut tick = newest.tick;
        store
            .records_from(newest.tick + 1, |at, found| {
                tick += 1;
                assert_eq!((at, found), (tick, bytes(tick).as_slice()), "round {round}");
                Ok::<(), StoreError>(())
            })
            .unwrap();
        assert!(tick >= flushed, "round {round}: tick {flushed} was flushed, the store ends at {tick}");
        assert!(tick >= reached, "round {round}: it ended at {reached} before");
        reached = tick;
    }
    assert!(reached > 100, "twenty rounds reached tick {reached} only");
}

/// On a disk of four megabytes that something else fills: keeping pauses, and goes on when there is room again.
#[test]
fn a_real_full_disk_pauses_and_recovers() {
    let folder = tempfile::tempdir().unwrap();
    let mount = format!("mount -t tmpfs -o size=4m none '{}'", folder.path().display());
    let is_possible = Command::new("unshare").args(["-rm", "sh", "-c", &mount]).output();
    if !is_possible.is_ok_and(|output| output.status.success()) {
        println!("skipped: this system lets us mount no small disk; the keeper's own test injects the fault");
        return;
    }
    let program = std::env::current_exe().unwrap();
    let run = format!("{mount} && exec '{}' on_a_small_disk --exact --ignored --nocapture", program.display());
    let output = Command::new("unshare").args(["-rm", "sh", "-c", &run]).env(FOLDER, folder.path()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
    assert!(told.contains("paused") && told.contains("went on"), "{told}");
}

/// A whole server on such a disk: `/healthz` says so, users go on, and it recovers by itself.
#[test]
fn a_server_on_a_full_disk_says_so_and_goes_on() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    let server = env!("CARGO_BIN_EXE_kinesphere");
    let mount = format!("mount -t tmpfs -o size=6m none '{path}'");
    let is_possible = Command::new("unshare").args(["-rm", "sh", "-c", &mount]).output();
    if !is_possible.is_ok_and(|output| output.status.success()) {
        println!("skipped: this system lets us mount no small disk; the keeper's own test injects the fault");
        return;
    }
    const TOKEN: &str = "sixteen-or-more-letters";
    let mut token = tempfile::NamedTempFile::new().unwrap();
    token.write_all(TOKEN.as_bytes()).unwrap();
    let serve = format!(
        "{mount} && exec '{server}' serve --listen 127.0.0.1:0 --crowd 20 --flush-ms 20 \
         --snapshot-seconds 1 --data '{path}/world' --operator-token-file '{}'",
        token.path().display()
    );
    let mut child = Command::new("unshare");
    let child = child.args(["-rm", "sh", "-c", &serve]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = Killed(child.spawn().unwrap());
    let mut first = String::new();
    BufReader::new(child.0.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let http = first.split(' ').find_map(|word| word.strip_prefix("http=")).expect("it says where").to_owned();
    let address = kinesphere::fetch::Address::parse(&format!("http://{http}")).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let get = |path: &str| runtime.block_on(kinesphere::fetch::fetch(&address, path));
    let wait_until = |what: &str, is_so: &dyn Fn() -> bool| {
        let begun = std::time::Instant::now();
        while !is_so() {
            assert!(begun.elapsed() < Duration::from_secs(60), "{what} is not so");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let metric = |name: &str| -> f64 {
        let text = runtime.block_on(kinesphere::fetch::fetch_as(&address, "/metrics", Some(TOKEN))).unwrap();
        text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok()).unwrap_or(0.0)
    };
    wait_until("it keeps", &|| metric("kinesphere_store_flushed_tick ") > 0.0);
    assert_eq!(get("/healthz").unwrap(), "well\n");

    // The disk is in the server's own view of the files; something else fills it.
    let filler = format!("/proc/{}/root{path}/filler", child.0.id());
    let mut file = std::fs::File::create(&filler).unwrap();
    while file.write_all(&[1; 4_096]).is_ok() {}
    wait_until("it pauses", &|| get("/healthz").is_err());
    let said = get("/healthz").unwrap_err().to_string();
    assert!(said.contains("keeping pauses"), "{said}");
    assert_eq!(metric("kinesphere_store_paused "), 1.0);
    let status = runtime.block_on(kinesphere::fetch::post(&address, "/operator", r#"{"do": "status"}"#, Some(TOKEN)));
    let status = status.unwrap();
    assert!(status.contains("Keeping pauses"), "{status}");
    let tick = metric("kinesphere_tick ");
    wait_until("the world goes on", &|| metric("kinesphere_tick ") > tick + 10.0);

    drop(file);
    std::fs::remove_file(&filler).unwrap();
    wait_until("it recovers", &|| get("/healthz").is_ok());
    assert_eq!(metric("kinesphere_store_paused "), 0.0);
    let flushed = metric("kinesphere_store_flushed_tick ");
    wait_until("it keeps again", &|| metric("kinesphere_store_flushed_tick ") > flushed);
    let mut log = String::new();
    let mut stderr = child.0.stderr.take().unwrap();
    drop(child);
    std::io::Read::read_to_string(&mut stderr, &mut log).unwrap();
    assert!(log.contains("keeping pauses") && log.contains("keeping goes on"), "{log}");
}

/// Ends with the test, however that ends.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
#[ignore = "run by the test above, where the disk is small"]
fn on_a_small_disk() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let folder = Path::new(&folder);
    let soon = Duration::from_millis(5);
    let settings = KeeperSettings { flush_every: soon, retry_every: soon, ..KeeperSettings::default() };
    let keeper = StoreKeeper::start(Store::open_or_create(&folder.join("world")).unwrap(), settings);
    let mut tick = 0;
    let mut run_until = |what: &str, holds: &dyn Fn() -> bool| {
        for _ in 0..20_000 {
            if holds() {
                println!("{what}");
                return;
            }
            if keeper.wants_snapshot() {
                keeper.snapshot(tick, bytes(tick));
            }
            tick += 1;
            keeper.append(tick, bytes(tick));
            std::thread::sleep(Duration::from_millis(1));
        }
        panic!("it never {what}; {:?}", keeper.status());
    };
    run_until("wrote", &|| keeper.status().flushed_tick.is_some());
    // Another process takes the rest of the disk.
    let filler = folder.join("filler");
    let mut file = std::fs::File::create(&filler).unwrap();
    while std::io::Write::write_all(&mut file, &[1; 4_096]).is_ok() {}
    run_until("paused", &|| keeper.status().paused.is_some());
    let why = keeper.status().paused.unwrap_or_default();
    println!("it says: {why}");
    // Its space is freed when its last handle is closed.
    drop(file);
    std::fs::remove_file(&filler).unwrap();
    run_until("went on", &|| keeper.status().paused.is_none());
    keeper.stop().unwrap();
    Store::open(&folder.join("world")).unwrap().check().unwrap();
}
