//! The run record as a file: checked before the run, written whole or not at all.

use run_record::RunRecord;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

/// Where a run record goes.
#[derive(Debug)]
pub(crate) struct RecordFile {
    path: PathBuf,
    /// Written first and then renamed over `path`, so that a full disk leaves the old file.
    draft: PathBuf,
}

impl RecordFile {
    /// Checks that a record can be written to `path`.
    ///
    /// # Errors
    /// In words, when it cannot.
    pub(crate) fn new(path: &Path) -> Result<Self, String> {
        let failed =
            |error: io::Error| format!("cannot write the record to {}: {error}", path.display());
        if path.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        let mut draft = path.as_os_str().to_owned();
        draft.push(format!(".{}.tmp", std::process::id()));
        let draft = PathBuf::from(draft);
        File::create(&draft).map_err(failed)?;
        fs::remove_file(&draft).map_err(failed)?;
        Ok(Self {
            path: path.to_owned(),
            draft,
        })
    }

    /// Writes the record in place of what was there.
    ///
    /// # Errors
    /// When the disk does not take it; an earlier record is kept then.
    pub(crate) fn save(&self, record: &RunRecord) -> io::Result<()> {
        let written = self.write_draft(record).and_then(|()| fs::rename(&self.draft, &self.path));
        written.map_err(|error| {
            let _ = fs::remove_file(&self.draft);
            io::Error::new(
                error.kind(),
                format!("cannot write the record to {}: {error}", self.path.display()),
            )
        })
    }

    fn write_draft(&self, record: &RunRecord) -> io::Result<()> {
        let mut file = BufWriter::new(File::create(&self.draft)?);
        serde_json::to_writer_pretty(&mut file, record)?;
        file.write_all(b"\n")?;
        file.into_inner()?.sync_all()
    }
}
