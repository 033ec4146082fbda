//! Turns the panics of redb on a damaged file into errors.
//!
//! redb checks the pages that a crash may have left half written and trusts all others, so that an overwritten page
//! makes it panic. To the operator that is a damaged store and no bug: it becomes a [`StoreError::Damaged`]. This is
//! sound, as a transaction that is dropped while unwinding writes nothing and marks the file for repair, as after a
//! crash.

use std::any::Any;
use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Once;

use redb::Database;

use super::StoreError;

thread_local! {
    /// Whether a panic of this thread will become an error, so that it is not printed.
    static IS_EXPECTED: Cell<bool> = const { Cell::new(false) };
}

/// Does work with a file of redb's. A panic means that the file is damaged.
pub(super) fn caught<T>(path: &Path, work: impl FnOnce() -> T) -> Result<T, StoreError> {
    keep_expected_panics_quiet();
    let before = IS_EXPECTED.replace(true);
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    IS_EXPECTED.set(before);
    done.map_err(|panic| StoreError::Damaged { path: path.to_owned(), why: words(&*panic) })
}

/// Panics within `caught` are not printed; all others are printed as before.
fn keep_expected_panics_quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let tell = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !IS_EXPECTED.try_with(Cell::get).unwrap_or(false) {
                tell(panic);
            }
        }));
    });
}

/// The first line of a panic's message.
fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(String::as_str));
    let line = text.unwrap_or_default().lines().next().unwrap_or_default();
    if line.is_empty() { "a page makes no sense".to_owned() } else { format!("a page makes no sense: {line}") }
}

/// An open database. It writes when it is closed, which may meet a damaged page, too.
#[derive(Debug)]
pub(super) struct Pages(Option<Database>);

impl Pages {
    pub fn new(database: Database) -> Pages {
        Pages(Some(database))
    }
}

impl Deref for Pages {
    type Target = Database;

    fn deref(&self) -> &Database {
        self.0.as_ref().expect("it is open until it is dropped")
    }
}

impl DerefMut for Pages {
    fn deref_mut(&mut self) -> &mut Database {
        self.0.as_mut().expect("it is open until it is dropped")
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // There is no caller to report an error to; the next one to open the file gets it.
        let _ = caught(Path::new(""), || self.0.take());
    }
}
