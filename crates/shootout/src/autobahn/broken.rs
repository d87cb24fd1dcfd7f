//! A program of the suite, or of its installation, that ended badly.

use crate::process::tail;
use std::fmt;
use std::path::{Path, PathBuf};

const LOG_LINES: usize = 10;

/// What went wrong, with the end of the log.
#[derive(Debug)]
pub struct Broken {
    reason: String,
    log: PathBuf,
    tail: Option<String>,
}

impl Broken {
    pub(super) fn new(reason: impl fmt::Display, log: &Path) -> Self {
        Self {
            reason: reason.to_string(),
            log: log.to_owned(),
            tail: tail(log, LOG_LINES),
        }
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; the log is {}", self.reason, self.log.display())?;
        self.tail.iter().try_for_each(|tail| write!(f, "\n{tail}"))
    }
}
