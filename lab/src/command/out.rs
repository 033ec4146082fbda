//! Where a report goes. Looked at before the work begins: an hour's results are not to be lost for a folder that cannot
//! be written.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use lab::experiment::Document;

use kinesphere::failure::Failure;

/// A folder that can be written. Those that had to be made for it are gone again if nothing is put there.
pub struct Out {
    folder: PathBuf,
    made: Vec<PathBuf>,
}

impl Out {
    /// Makes the folder, and tries to write there.
    pub fn prepare(folder: &Path) -> Result<Out, Failure> {
        let is_new = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let made = folder.ancestors().take_while(is_new).map(Path::to_path_buf).collect();
        let out = Out { folder: folder.to_owned(), made };
        let probe = folder.join(format!(".kinesphere-{}", std::process::id()));
        fs::create_dir_all(folder)
            .and_then(|()| OpenOptions::new().write(true).create(true).truncate(true).open(&probe))
            .and_then(|_| fs::remove_file(&probe))
            .map_err(|error| refused(folder, error))?;
        Ok(out)
    }

    /// Writes all files of a report.
    pub fn write(&self, documents: Vec<Document>) -> Result<(), Failure> {
        for document in documents {
            let path = self.folder.join(&document.name);
            fs::write(&path, document.contents).map_err(|error| refused(&path, error))?;
        }
        Ok(())
    }

    /// The page to begin with.
    pub fn index(&self) -> PathBuf {
        self.folder.join("index.html")
    }
}

impl Drop for Out {
    fn drop(&mut self) {
        // The innermost first; a folder with something in it stays.
        for folder in &self.made {
            if fs::remove_dir(folder).is_err() {
                break;
            }
        }
    }
}

fn refused(path: &Path, error: io::Error) -> Failure {
    Failure::Machine(format!("cannot write {}: {error}\nName another folder with --out.", path.display()))
}
