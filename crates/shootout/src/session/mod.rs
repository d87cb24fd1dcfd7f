//! A run's directory: its options, its measurements, and what is still to be done.
//!
//! Measures nothing; of a measurement it reads the status only.

mod lock;
mod origin;

pub use origin::Origin;

use crate::options::RunOptions;
use crate::rows::Row;
use board::records::{self, SESSION_FILE};
use lock::Locked;
use project::Project;
use project::Refusal;
use record::{Json, Measurement, Status, Tool};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Value of `format` in session.json.
pub const FORMAT: &str = "websocket-shootout/session";
const VERSION: u32 = 3;
const LOGS: &str = "logs";

/// A run's directory.
#[derive(Debug)]
pub struct Session {
    /// The directory.
    pub dir: PathBuf,
    /// What was asked for.
    pub options: RunOptions,
    /// What session.json says, of a run that is resumed.
    resumed: Option<Stored>,
    /// Held from [`Session::store`] on.
    _lock: Option<File>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Stored {
    format: String,
    version: u32,
    tool: Tool,
    started: String,
    options: RunOptions,
    /// Absent in files that were written before it was known.
    #[serde(default)]
    origin: Option<Origin>,
    /// The names of its measurements. Absent in files that were written before they were kept.
    #[serde(default)]
    rows: Option<Vec<String>>,
}

/// What every version of the file has.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u32,
    tool: Tool,
}

impl Session {
    /// A new run with these options in `out`, or in a directory named by the time under
    /// results/local/. Nothing is written before [`Session::store`].
    ///
    /// # Errors
    /// When the directory holds a run already.
    pub fn create(
        project: &Project,
        out: Option<&Path>,
        options: RunOptions,
    ) -> Result<Self, Refusal> {
        let dir = match out {
            Some(dir) => absolute(dir)?,
            None => fresh(&project.results()),
        };
        refuse_a_run_in(&dir, project)?;
        Ok(Self {
            dir,
            options,
            resumed: None,
            _lock: None,
        })
    }

    /// Locks the directory for this process, shows before anything is measured that it can be
    /// written, and stores there what the rows are measured with.
    ///
    /// # Errors
    /// When it cannot be written, another process has it, or rows are there that were measured with
    /// something else.
    pub fn store(
        &mut self,
        project: &Project,
        rows: &[Row],
        origin: Origin,
    ) -> Result<(), Refusal> {
        let shown = project.shown(&self.dir);
        let unwritable = |error: std::io::Error| {
            Refusal::new(format!(
                "{shown}: cannot write the results there: {error}; name another directory with --out"
            ))
        };
        fs::create_dir_all(self.logs()).map_err(unwritable)?;
        self._lock = Some(lock::lock(&self.dir).map_err(|locked| match locked {
            Locked::Unwritable(error) => unwritable(error),
            Locked::By(pid) => Refusal::new(format!(
                "{shown}: another run{} is measuring into this directory; wait for its end, or name \
                 another --out",
                pid.map_or_else(String::new, |pid| format!(" (process {pid})"))
            )),
        })?);
        match &self.resumed {
            // Another process may have begun one since.
            None => refuse_a_run_in(&self.dir, project)?,
            Some(before) => self.refuse_a_mixture(before, rows, &origin, &shown)?,
        }
        let stored = Stored {
            format: FORMAT.into(),
            version: VERSION,
            tool: tool(),
            started: match &self.resumed {
                Some(before) => before.started.clone(),
                None => now(),
            },
            options: self.options.clone(),
            origin: Some(origin),
            rows: Some(rows.iter().map(Row::file_name).collect()),
        };
        self.write_json(SESSION_FILE, &stored).map_err(unwritable)
    }

    fn refuse_a_mixture(
        &self,
        before: &Stored,
        rows: &[Row],
        origin: &Origin,
        shown: &str,
    ) -> Result<(), Refusal> {
        let kept: Vec<(String, String)> = rows
            .iter()
            .map(|row| (row.entry.name.clone(), row.file_name()))
            .filter(|(_, name)| self.finished(name).is_some())
            .map(|(server, name)| (server, format!("{name}.json")))
            .collect();
        let Some(then) = before.origin.as_ref().filter(|_| !kept.is_empty()) else {
            return Ok(());
        };
        let differences = origin.differences(then, &kept);
        if differences.is_empty() {
            return Ok(());
        }
        Err(Refusal::new(format!(
            "{shown}: cannot resume, its rows would not be comparable: {}; start a new run \
             with another --out",
            differences.join("; ")
        )))
    }

    /// The session in `dir`, or the newest under results/local/.
    ///
    /// # Errors
    /// When there is none, it cannot be read, or its directory has what no run makes.
    pub fn open(project: &Project, dir: Option<&Path>) -> Result<Self, Refusal> {
        let dir = match dir {
            Some(dir) => absolute(dir)?,
            None => newest(&project.results()).ok_or_else(|| {
                Refusal::new(format!(
                    "nothing to resume: no run under {}",
                    project.shown(&project.results())
                ))
            })?,
        };
        refuse_links(&dir, project)?;
        let path = dir.join(SESSION_FILE);
        let text = records::text(&path).map_err(|error| {
            Refusal::new(format!(
                "nothing to resume: {}: {error}",
                project.shown(&path)
            ))
        })?;
        let wrong =
            |error: serde_json::Error| Refusal::new(format!("{}: {error}", project.shown(&path)));
        let head: Head = serde_json::from_str(&text).map_err(wrong)?;
        if head.format != FORMAT || head.version != VERSION {
            return Err(Refusal::new(format!(
                "{}: written by another version ({} {}); start a new run",
                project.shown(&path),
                head.tool.name,
                head.tool.version
            )));
        }
        let stored: Stored = serde_json::from_str(&text).map_err(wrong)?;
        Ok(Self {
            dir,
            options: stored.options.clone(),
            resumed: Some(stored),
            _lock: None,
        })
    }

    /// Where logs go.
    pub fn logs(&self) -> PathBuf {
        self.dir.join(LOGS)
    }

    /// Writes a measurement. A failure leaves the file as it was.
    ///
    /// # Errors
    /// When the directory cannot be written.
    pub fn write(&self, name: &str, measurement: &Measurement) -> std::io::Result<PathBuf> {
        let file = format!("{name}.json");
        self.write_json(&file, measurement)?;
        Ok(self.dir.join(file))
    }

    /// The measurement of that name, when it is finished: measured, or with a verdict about the
    /// server. Rows that were interrupted, could not be built or did not apply are done again.
    pub fn finished(&self, name: &str) -> Option<Measurement> {
        let of = |ending: &str| records::text(&self.dir.join(format!("{name}{ending}")));
        let text = of(".json").or_else(|_| of(".json.gz")).ok()?;
        let measurement = Measurement::from_json(&text).ok()?;
        let again = matches!(
            measurement.status,
            Status::Interrupted
                | Status::MissingToolchain
                | Status::BuildFailed
                | Status::NotApplicable
        );
        (!again).then_some(measurement)
    }

    fn write_json<T: Serialize>(&self, file: &str, value: &T) -> std::io::Result<()> {
        let temporary = self.dir.join(format!(".{file}.tmp"));
        let mut out = File::create(&temporary)?;
        serde_json::to_writer_pretty(&mut out, value)?;
        out.write_all(b"\n")?;
        out.sync_all()?;
        fs::rename(temporary, self.dir.join(file))
    }
}

/// Refuses a run whose directory has anything but files and directories: what is read would have no end,
/// and what is written would go where a link leads.
fn refuse_links(dir: &Path, project: &Project) -> Result<(), Refusal> {
    for place in [dir, &dir.join(LOGS)] {
        for entry in fs::read_dir(place).into_iter().flatten().flatten() {
            let kind = entry.file_type();
            if kind.is_ok_and(|kind| !kind.is_file() && !kind.is_dir()) {
                return Err(Refusal::new(format!(
                    "nothing to resume: {}: is no file and no directory, and no run has made it; \
                     start a new run",
                    project.shown(&entry.path())
                )));
            }
        }
    }
    Ok(())
}

fn refuse_a_run_in(dir: &Path, project: &Project) -> Result<(), Refusal> {
    if dir.join(SESSION_FILE).exists() {
        return Err(Refusal::new(format!(
            "{}: this directory has a run already; continue it with --resume {0}, or name another with --out",
            project.shown(dir)
        )));
    }
    Ok(())
}

/// The newest directory with a session under `results`.
pub fn newest(results: &Path) -> Option<PathBuf> {
    fs::read_dir(results)
        .ok()?
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter_map(|dir| {
            let written = fs::metadata(dir.join(SESSION_FILE)).ok()?.modified().ok()?;
            Some((written, dir))
        })
        .max()
        .map(|(_, dir)| dir)
}

/// The time of day as records write it.
pub fn now() -> String {
    humantime::format_rfc3339_millis(SystemTime::now()).to_string()
}

/// This program, for records.
pub fn tool() -> Tool {
    Tool {
        name: env!("CARGO_PKG_NAME").into(),
        version: env!("CARGO_PKG_VERSION").into(),
    }
}

fn fresh(results: &Path) -> PathBuf {
    let stamp = humantime::format_rfc3339_seconds(SystemTime::now())
        .to_string()
        .replace(['-', ':'], "");
    let mut dir = results.join(&stamp);
    let mut number = 2;
    while dir.exists() {
        dir = results.join(format!("{stamp}-{number}"));
        number += 1;
    }
    dir
}

fn absolute(dir: &Path) -> Result<PathBuf, Refusal> {
    std::path::absolute(dir).map_err(|error| Refusal::new(format!("{}: {error}", dir.display())))
}
