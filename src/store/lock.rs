//! The lock of a store: one process at a time. redb locks its file, too, but cannot name the holder, and this lock
//! stays while the database is closed and opened again after a failure.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;

use super::StoreError;

/// The operating system holds the lock while the file is open, and frees it if the process is killed.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of a folder, and writes the number of this process into it.
    pub(crate) fn take(folder: &Path) -> Result<Lock, StoreError> {
        let path = folder.join("in-use");
        let failed = |error| StoreError::Io { path: path.clone(), error };
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = file.map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let _ = file.take(64).read_to_string(&mut holder);
                let is_number = !holder.is_empty() && holder.bytes().all(|byte| byte.is_ascii_digit());
                let holder = if is_number { format!("process {holder}") } else { "another process".to_owned() };
                return Err(StoreError::InUse { folder: folder.to_owned(), holder });
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        // On a full disk the lock holds without the number.
        let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| write!(file, "{}", std::process::id()));
        Ok(Lock { _file: file })
    }
}
