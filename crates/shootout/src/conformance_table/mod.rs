//! The conformance table of the documentation: what every server was seen to do, check by check.
//!
//! Purpose: keep one line per server and variant in a file beside the page, so that a server whose
//! toolchain is missing here keeps what was seen where it is not; make the page from the lines;
//! and tell where a fresh verification differs. Verifies nothing.

mod line;
mod page;

pub use line::{Exception, Line};

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The command that brings the table up to date.
pub const REMEDY: &str = "shootout verify --write-table";

/// The table's two files.
#[derive(Clone, Debug)]
pub struct Files {
    /// One JSON object a line.
    pub lines: PathBuf,
    /// The page.
    pub page: PathBuf,
}

/// A table that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The file system's word.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A line that is none.
    #[error("{path}, line {number}: {problem}; make the table again with `{REMEDY}`", path = path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        number: usize,
        /// What is wrong with it.
        problem: String,
    },
}

impl Files {
    /// Where the table is in the project at `root`.
    pub fn of(root: &Path) -> Self {
        Self {
            lines: root.join("docs/conformance.jsonl"),
            page: root.join("docs/conformance.md"),
        }
    }

    /// The lines, none when there is no table yet.
    ///
    /// # Errors
    /// [`TableError`].
    pub fn read(&self) -> Result<Vec<Line>, TableError> {
        let text = match fs::read_to_string(&self.lines) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(|source| TableError::Io {
                path: self.lines.clone(),
                source,
            })?,
        };
        text.lines()
            .enumerate()
            .map(|(index, line)| {
                serde_json::from_str(line).map_err(|error| TableError::Broken {
                    path: self.lines.clone(),
                    number: index + 1,
                    problem: error.to_string(),
                })
            })
            .collect()
    }

    /// Writes the lines and the page.
    ///
    /// # Errors
    /// [`TableError`].
    pub fn write(&self, lines: &[Line]) -> Result<(), TableError> {
        let mut text = String::new();
        for line in lines {
            let line = serde_json::to_string(line).unwrap_or_default();
            let _ = writeln!(text, "{line}");
        }
        let put = |path: &PathBuf, text: String| {
            fs::write(path, text).map_err(|source| TableError::Io {
                path: path.clone(),
                source,
            })
        };
        put(&self.lines, text)?;
        put(&self.page, page::render(lines))
    }

    /// True when the page is the one that the lines make.
    pub fn page_is_current(&self, lines: &[Line]) -> bool {
        fs::read_to_string(&self.page).is_ok_and(|text| text == page::render(lines))
    }
}

/// The table with `fresh` lines in place of older ones of the same servers, without the lines of
/// variants that `exists` denies, in the order of names.
pub fn merged(
    stored: Vec<Line>,
    fresh: Vec<Line>,
    exists: impl Fn(&str, &str) -> bool,
) -> Vec<Line> {
    let is_fresh = |line: &Line| fresh.iter().any(|new| new.is_of(line));
    let mut lines: Vec<Line> = stored
        .into_iter()
        .filter(|line| !is_fresh(line) && exists(&line.server, &line.variant))
        .collect();
    lines.extend(fresh);
    lines.sort_by(|a, b| (&a.server, a.place).cmp(&(&b.server, b.place)));
    lines
}

/// What is different between the stored table and these fresh lines, in words. `variants` are all
/// that the project has.
pub fn differences(stored: &[Line], fresh: &[Line], variants: &[(&str, &str)]) -> Vec<String> {
    let mut found = Vec::new();
    for line in fresh {
        match stored.iter().find(|old| old.is_of(line)) {
            Some(old) => found.extend(old.differences(line)),
            None => found.push(format!("{}: no line in the table", line.name())),
        }
    }
    for line in stored {
        let exists = variants
            .iter()
            .any(|&(server, variant)| line.server == server && line.variant == variant);
        if !exists {
            found.push(format!("{}: a line of no server", line.name()));
        }
    }
    for &(server, variant) in variants {
        let named = |line: &&Line| line.server == server && line.variant == variant;
        if stored.iter().find(named).is_none() && fresh.iter().find(named).is_none() {
            let name = crate::rows::contestant(server, variant);
            found.push(format!("{name}: never verified, no line in the table"));
        }
    }
    found
}

#[cfg(test)]
mod tests;
