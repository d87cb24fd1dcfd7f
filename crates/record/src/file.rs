//! Results as files: the place is checked before the run, and a file is written whole or not at all.

use super::Json;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Where a record goes.
#[derive(Debug)]
pub struct RecordFile(OutputFile);

/// Where a result goes that is written anew from time to time: whole, or not at all.
#[derive(Debug)]
pub struct OutputFile {
    what: &'static str,
    path: PathBuf,
    place: Destination,
}

#[derive(Debug)]
enum Destination {
    /// An ordinary file, replaced by a draft beside it, so that a full disk leaves the old one.
    File { target: PathBuf, draft: PathBuf },
    /// A pipe or a device: cannot be replaced and takes one result only, the last.
    Stream(File),
}

impl RecordFile {
    /// Checks that a record like `sample` can be written to `path`, and leaves what is there.
    ///
    /// # Errors
    /// When it cannot.
    pub fn new(path: &Path, sample: &impl Json) -> Result<Self, Unwritable> {
        OutputFile::new("the record", path, |out| sample.write_json(out)).map(Self)
    }

    /// Writes the record of a run that goes on; a stream waits for the last one.
    ///
    /// # Errors
    /// When the disk does not take it; an earlier record is kept then.
    pub fn save(&self, record: &impl Json) -> io::Result<()> {
        self.0.save(|out| record.write_json(out))
    }

    /// Writes the record of a run that has ended.
    ///
    /// # Errors
    /// When the disk or the reader does not take it; an earlier record is kept then.
    pub fn finish(&self, record: &impl Json) -> io::Result<()> {
        self.0.finish(|out| record.write_json(out))
    }
}

impl OutputFile {
    /// Checks that what `sample` writes can be written to `path`, and leaves what is there. Errors name
    /// it as `what`.
    ///
    /// # Errors
    /// When it cannot.
    pub fn new(
        what: &'static str,
        path: &Path,
        sample: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<Self, Unwritable> {
        let place =
            Destination::new(path, sample).map_err(|error| Unwritable::new(what, path, error))?;
        Ok(Self {
            what,
            path: path.to_owned(),
            place,
        })
    }

    /// Writes the result of a run that goes on; a stream waits for the last one.
    ///
    /// # Errors
    /// When the disk does not take it; the earlier result is kept then.
    pub fn save(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        match &self.place {
            Destination::File { .. } => self.finish(write),
            Destination::Stream(_) => Ok(()),
        }
    }

    /// Writes the result of a run that has ended.
    ///
    /// # Errors
    /// When the disk or the reader does not take it; the earlier result is kept then.
    pub fn finish(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let written = match &self.place {
            Destination::Stream(stream) => buffered(stream, write),
            Destination::File { target, draft } => {
                let replaced = write_draft(draft, write).and_then(|()| fs::rename(draft, target));
                replaced.inspect_err(|_| {
                    let _ = fs::remove_file(draft);
                })
            }
        };
        written.map_err(|error| {
            let kind = error.kind();
            io::Error::new(kind, Unwritable::new(self.what, &self.path, error))
        })
    }
}

impl Destination {
    fn new(path: &Path, sample: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<Self> {
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

fn write_draft(
    draft: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let file = File::create(draft)?;
    buffered(&file, write)?;
    file.sync_all()
}

fn buffered(file: &File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    write(&mut out)?;
    out.flush()
}

/// An output cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {what} to {}: {source}{}", path.display(), remedy(source))]
pub struct Unwritable {
    what: &'static str,
    path: PathBuf,
    source: io::Error,
}

impl Unwritable {
    /// What cannot be written, where to, and why.
    pub fn new(what: &'static str, path: &Path, source: io::Error) -> Self {
        Self {
            what,
            path: path.to_owned(),
            source,
        }
    }
}

fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "; create its folder first",
        io::ErrorKind::IsADirectory => "; name a file in it",
        io::ErrorKind::StorageFull => "; make room or choose another place",
        _ => "",
    }
}
