//! One pass of the suite's fuzzing client against an address.

use super::broken::Broken;
use super::tally;
use crate::interrupt::Interrupt;
use crate::process::{Job, JobError, describe_exit};
use record::AutobahnRecord;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A pass takes half a minute; a server that stays silent costs some seconds a case.
const TIMEOUT: Duration = Duration::from_secs(1800);
const LOOK: Duration = Duration::from_millis(500);
/// Name under which the suite files the one server of a pass.
const AGENT: &str = "server";

/// The installed suite, and where its passes leave their files.
#[derive(Clone, Debug)]
pub struct Suite<'a> {
    /// The suite's program.
    pub program: &'a Path,
    /// Folder of this pass: the suite's own report and log. Emptied first.
    pub dir: &'a Path,
}

/// Why a pass has no result.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// The suite ended badly.
    #[error("the suite failed: {0}")]
    Failed(Broken),
    /// The user wants to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Suite<'_> {
    /// Runs the sections of `record` against `url` and counts their cases in it. `progress` is told how
    /// many cases have begun, and of how many.
    ///
    /// # Errors
    /// [`SuiteError`] when the suite does not come to an end or leaves cases out.
    pub fn run(
        &self,
        url: &str,
        record: &mut AutobahnRecord,
        interrupt: &Interrupt,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<(), SuiteError> {
        let log = self.dir.join("suite.log");
        let failed = |reason: String| SuiteError::Failed(Broken::new(reason, &log));
        let spec = self
            .prepare(url, &record.sections)
            .map_err(|error| failed(error.to_string()))?;
        let command = [
            self.program.to_string_lossy().into_owned(),
            "--mode=fuzzingclient".to_owned(),
            format!("--spec={}", spec.display()),
        ];
        let job = Job {
            command: &command,
            dir: self.dir,
            env: &BTreeMap::from([("PYTHONUNBUFFERED".to_owned(), "1".to_owned())]),
            log: &log,
            timeout: TIMEOUT,
        };
        let over = AtomicBool::new(false);
        let ended = std::thread::scope(|scope| {
            scope.spawn(|| watch(&log, &over, progress));
            let ended = job.run(interrupt);
            over.store(true, Ordering::Relaxed);
            ended
        });
        match ended {
            Ok(status) if status.success() => {}
            Ok(status) => return Err(failed(describe_exit(status))),
            Err(JobError::Interrupted) => return Err(SuiteError::Interrupted),
            Err(error) => return Err(failed(error.to_string())),
        }
        let index = fs::read_to_string(self.dir.join("index.json"))
            .map_err(|error| failed(format!("it left no report: {error}")))?;
        tally::count(&index, AGENT, record).map_err(|error| failed(error.to_string()))?;
        let (_, planned) = begun(&log);
        if record.cases as usize != planned {
            return Err(failed(format!(
                "{} of {planned} cases have a result",
                record.cases
            )));
        }
        Ok(())
    }

    fn prepare(&self, url: &str, sections: &[String]) -> io::Result<PathBuf> {
        if self.dir.exists() {
            fs::remove_dir_all(self.dir)?;
        }
        fs::create_dir_all(self.dir)?;
        let spec = json!({
            "outdir": self.dir,
            "servers": [{ "agent": AGENT, "url": url }],
            "cases": sections,
            "exclude-cases": [],
            "exclude-agent-cases": {},
        });
        let path = self.dir.join("spec.json");
        fs::write(&path, spec.to_string())?;
        Ok(path)
    }
}

fn watch(log: &Path, over: &AtomicBool, progress: &dyn Fn(usize, usize)) {
    while !over.load(Ordering::Relaxed) {
        let (done, planned) = begun(log);
        progress(done, planned);
        std::thread::sleep(LOOK);
    }
}

/// Cases that have begun, and all that will run, as the log of the suite says.
fn begun(log: &Path) -> (usize, usize) {
    const PLANNED: &str = "Ok, will run ";
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let planned = text
        .lines()
        .find_map(|line| line.strip_prefix(PLANNED)?.split(' ').next()?.parse().ok());
    let begun = text
        .lines()
        .filter(|line| line.starts_with("Running test case ID "))
        .count();
    (begun, planned.unwrap_or(0))
}
