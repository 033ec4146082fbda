//! Keeps out: an overwritten page of `world.redb` made redb panic, and with it every command that reads a
//! store. After any change of the file, a command either says that it is damaged or finds what was there before.

mod shell;

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use kinesphere::kept;
use kinesphere::store::{Commit, FILE, Retention, Snapshot, Store, StoreError, StoredRecord};
use shell::{kinesphere, stderr};
use world::{Plaza, World};

const PAGE: usize = 4_096;

/// One test at a time: a process that one starts holds, until it is itself, the locks of stores that another has open.
static ALONE: Mutex<()> = Mutex::new(());

type Contents = (Vec<(u64, Vec<u8>)>, Vec<(u64, Vec<u8>)>, Vec<(String, Vec<u8>)>);

/// All that a store holds.
fn read(folder: &Path) -> Result<Contents, StoreError> {
    let store = Store::open(folder)?;
    store.reach()?;
    store.summary()?;
    let (mut snapshots, mut records) = (Vec::new(), Vec::new());
    while let Some(found) = store.snapshot_from(snapshots.last().map_or(0, |(tick, _)| tick + 1))? {
        snapshots.push((found.tick, found.bytes));
    }
    store.records_from(0, |tick, bytes| {
        records.push((tick, bytes.to_vec()));
        Ok::<(), StoreError>(())
    })?;
    Ok((snapshots, records, store.notes()?))
}

fn write(folder: &Path) {
    let store = Store::open_or_create(folder).unwrap();
    for stretch in 0..6 {
        let bytes = vec![stretch as u8 + 1; 9_000];
        let snapshot = Snapshot { tick: stretch * 100, stored_at_s: 5, bytes };
        let records =
            (1..=100).map(|at| StoredRecord { tick: stretch * 100 + at, bytes: vec![at as u8; 200] }).collect();
        let notes = (0..20).map(|number| (format!("session/{stretch}{number}"), vec![7; 40])).collect();
        let batch = Commit { snapshot: Some(snapshot), records, notes };
        store.commit(&batch, &Retention::default(), 6).unwrap();
    }
}

/// What is done to a page.
fn damaged(sound: &[u8], page: usize, with: Option<u8>) -> Vec<u8> {
    let mut bytes = sound.to_vec();
    let end = bytes.len().min((page + 1) * PAGE);
    for (at, byte) in bytes[page * PAGE..end].iter_mut().enumerate() {
        *byte = with.unwrap_or((at as u8).wrapping_mul(31) ^ page as u8);
    }
    bytes
}

#[test]
fn a_page_that_was_overwritten_is_no_panic() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let path = folder.path().join(FILE);
    let before = read(folder.path()).unwrap();
    let sound = fs::read(&path).unwrap();
    let (mut refused, mut noticed) = (0, 0);
    // Most of a young file is empty; what is used are its pages with something in them.
    let used = (0..sound.len() / PAGE).filter(|page| sound[page * PAGE..][..PAGE].iter().any(|byte| *byte != 0));
    for page in used {
        for with in [Some(0), Some(0xff), None] {
            fs::write(&path, damaged(&sound, page, with)).unwrap();
            match read(folder.path()) {
                // redb trusts its pages: bytes of ours that were changed come out changed. They have sums of their own.
                Ok(found) => noticed += usize::from(found != before),
                Err(StoreError::Damaged { .. } | StoreError::Io { .. }) => refused += 1,
                Err(other) => panic!("page {page}: {other}"),
            }
            fs::write(&path, damaged(&sound, page, with)).unwrap();
            match Store::open(folder.path()).and_then(|mut store| store.check()) {
                Ok(_) => assert_eq!(read(folder.path()).unwrap(), before, "page {page} is called sound"),
                Err(StoreError::Damaged { .. } | StoreError::Io { .. }) => noticed += 1,
                Err(other) => panic!("page {page}: {other}"),
            }
            // What a server does besides: it writes.
            fs::write(&path, damaged(&sound, page, with)).unwrap();
            let batch = Commit { records: vec![StoredRecord { tick: 700, bytes: vec![1] }], ..Commit::default() };
            let _ = Store::open(folder.path()).and_then(|store| store.commit(&batch, &Retention::default(), 7));
        }
    }
    assert!(refused > 20 && noticed > 20, "{refused} were refused, {noticed} noticed");
}

#[test]
fn commands_say_that_it_is_damaged_and_what_to_do() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let spec = Arc::new(Plaza { seekers: 5, ..Plaza::default() }.spec());
    let mut world = World::new(spec.clone()).unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let (mut bytes, mut records) = (Vec::new(), Vec::new());
    world.snapshot(&mut bytes);
    for _ in 0..200 {
        world.step(&[]);
        let mut bytes = Vec::new();
        world::journal::write(world.tick(), &[], &mut bytes);
        records.push(StoredRecord { tick: world.tick().number(), bytes });
    }
    let snapshot = Some(Snapshot { tick: 0, stored_at_s: 0, bytes });
    store.commit(&Commit { snapshot, records, notes: Vec::new() }, &Retention::default(), 0).unwrap();
    assert_eq!(kept::find(&store, spec).unwrap().world.hash(), world.hash());
    drop(store);
    let path = folder.path().join(FILE);
    let sound = fs::read(&path).unwrap();
    let place = folder.path().display().to_string();
    let mut refused = 0;
    let used = (0..sound.len() / PAGE).filter(|page| sound[page * PAGE..][..PAGE].iter().any(|byte| *byte != 0));
    for page in used {
        for command in [
            format!("store check --data {place}"),
            format!("replay {place} --crowd 5"),
            // It comes to the port last, and this one it cannot have.
            format!("serve --data {place} --crowd 5 --listen 192.0.2.1:1"),
        ] {
            fs::write(&path, damaged(&sound, page, Some(0))).unwrap();
            let output = kinesphere(&command);
            let said = stderr(&output);
            assert!(matches!(output.status.code(), Some(0 | 1)), "page {page}, {command}: {:?}: {said}", output.status);
            assert!(!said.contains("panicked"), "page {page}, {command}: {said}");
            let is_damaged = said.contains("is damaged") && said.contains("restore a backup");
            let is_refused = output.status.code() == Some(1) && !said.contains("192.0.2.1");
            assert!(!is_refused || is_damaged || said.contains("store check"), "page {page}, {command}: {said}");
            refused += usize::from(is_refused);
        }
    }
    assert!(refused > 5, "{refused} were refused");
}
