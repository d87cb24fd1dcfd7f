//! A record as a file: its place is checked before the run, and it is written whole or not at all.

use serde::Serialize;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Where a record goes.
#[derive(Debug)]
pub struct RecordFile {
    path: PathBuf,
    place: Place,
}

#[derive(Debug)]
enum Place {
    /// An ordinary file, replaced by a draft beside it, so that a full disk leaves the old one.
    File { target: PathBuf, draft: PathBuf },
    /// A pipe or a device: cannot be replaced and takes one record only, the last.
    Stream(File),
}

impl RecordFile {
    /// Checks that a record like `sample` can be written to `path`, and leaves what is there.
    ///
    /// # Errors
    /// In words, when it cannot.
    pub fn new(path: &Path, sample: &impl Serialize) -> Result<Self, String> {
        let place =
            Place::of(path, sample).map_err(|error| unwritable("the record", path, &error))?;
        Ok(Self {
            path: path.to_owned(),
            place,
        })
    }

    /// Writes the record of a run that goes on; a stream waits for the last one.
    ///
    /// # Errors
    /// When the disk does not take it; an earlier record is kept then.
    pub fn save(&self, record: &impl Serialize) -> io::Result<()> {
        match &self.place {
            Place::File { .. } => self.finish(record),
            Place::Stream(_) => Ok(()),
        }
    }

    /// Writes the record of a run that has ended.
    ///
    /// # Errors
    /// When the disk or the reader does not take it; an earlier record is kept then.
    pub fn finish(&self, record: &impl Serialize) -> io::Result<()> {
        let written = match &self.place {
            Place::Stream(stream) => write(stream, record),
            Place::File { target, draft } => {
                let replaced = write_draft(draft, record).and_then(|()| fs::rename(draft, target));
                replaced.inspect_err(|_| {
                    let _ = fs::remove_file(draft);
                })
            }
        };
        written.map_err(|error| {
            io::Error::new(error.kind(), unwritable("the record", &self.path, &error))
        })
    }
}

impl Place {
    fn of(path: &Path, sample: &impl Serialize) -> io::Result<Self> {
        // A link is kept: the file that it leads to is the one to replace.
        let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        match fs::metadata(&target) {
            Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(found) if !found.is_file() => {
                let stream = File::options().write(true).open(&target)?;
                // Nothing is written, but a device that can take nothing says so.
                let _ = (&stream).write(b"")?;
                Ok(Self::Stream(stream))
            }
            _ => {
                let mut draft = target.as_os_str().to_owned();
                draft.push(format!(".{}.tmp", std::process::id()));
                let draft = PathBuf::from(draft);
                let rehearsed = write_draft(&draft, sample);
                let removed = fs::remove_file(&draft);
                rehearsed.and(removed)?;
                Ok(Self::File { target, draft })
            }
        }
    }
}

fn write_draft(draft: &Path, record: &impl Serialize) -> io::Result<()> {
    let file = File::create(draft)?;
    write(&file, record)?;
    file.sync_all()
}

fn write(file: &File, record: &impl Serialize) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    serde_json::to_writer_pretty(&mut out, record)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// Why an output cannot be written, with the remedy.
pub fn unwritable(what: &str, path: &Path, error: &io::Error) -> String {
    let remedy = match error.kind() {
        io::ErrorKind::NotFound => "; create its folder first",
        io::ErrorKind::IsADirectory => "; name a file in it",
        io::ErrorKind::StorageFull => "; make room or choose another place",
        _ => "",
    };
    format!("cannot write {what} to {}: {error}{remedy}", path.display())
}
