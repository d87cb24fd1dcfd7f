//! The conformance table of the documentation: the results of every server, check by check.
//!
//! Purpose: keep one line for each server and variant in a file beside the page, so that a machine
//! that lacks a server's toolchain keeps the line that another machine wrote; make the page from
//! the lines; and say where a new verification differs. Verifies nothing.

mod line;
mod page;

pub use line::{Exception, Line};

use project::Refusal;
use project::contestant;
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

impl Files {
    /// Where the table is in the project at `root`.
    pub fn new(root: &Path) -> Self {
        Self {
            lines: root.join("docs/conformance.jsonl"),
            page: root.join("docs/conformance.md"),
        }
    }

    /// The lines, none when there is no table yet.
    ///
    /// # Errors
    /// When the file cannot be read, or a line of it is broken; with the remedy.
    pub fn read(&self) -> Result<Vec<Line>, Refusal> {
        let shown = self.lines.display();
        let text = match fs::read_to_string(&self.lines) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(|error| Refusal::new(format!("{shown}: {error}")))?,
        };
        let parsed = text.lines().zip(1..).map(|(line, number)| {
            serde_json::from_str(line).map_err(|error| {
                Refusal::new(format!(
                    "{shown}, line {number}: {error}; make the table again with `{REMEDY}`"
                ))
            })
        });
        parsed.collect()
    }

    /// Writes the lines and the page.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self, lines: &[Line]) -> Result<(), Refusal> {
        let mut text = String::new();
        for line in lines {
            let line = serde_json::to_string(line).unwrap_or_default();
            let _ = writeln!(text, "{line}");
        }
        for (path, text) in [(&self.lines, text), (&self.page, page::render(lines))] {
            fs::write(path, text)
                .map_err(|error| Refusal::new(format!("{}: {error}", path.display())))?;
        }
        Ok(())
    }

    /// True when the page has been made from these lines.
    pub fn page_is_current(&self, lines: &[Line]) -> bool {
        fs::read_to_string(&self.page).is_ok_and(|text| text == page::render(lines))
    }
}

/// The table with `fresh` lines in place of older ones of the same servers, without the lines of
/// variants that are not among `variants`, in the order of names.
pub fn merged(stored: Vec<Line>, fresh: Vec<Line>, variants: &[(&str, &str)]) -> Vec<Line> {
    let is_fresh = |line: &Line| fresh.iter().any(|new| new.is_of(line));
    let mut lines: Vec<Line> = stored
        .into_iter()
        .filter(|line| !is_fresh(line) && line.is_among(variants))
        .collect();
    lines.extend(fresh);
    lines.sort_by(|a, b| (&a.server, a.place).cmp(&(&b.server, b.place)));
    lines
}

/// How a table of the documentation stands to the project.
#[derive(Debug, Default)]
pub struct Compared {
    /// What it says otherwise, in words.
    pub drift: Vec<String>,
    /// Servers that it does not know yet, each once.
    pub unknown: Vec<String>,
}

impl Compared {
    /// Takes over what was found in another table.
    pub fn add(&mut self, other: Self) {
        self.drift.extend(other.drift);
        self.unknown.extend(other.unknown);
        self.unknown.sort();
        self.unknown.dedup();
    }
}

/// The stored table beside these fresh lines. `variants` are all that the project has. A server
/// that the table has no line of is new.
pub fn compared(stored: &[Line], fresh: &[Line], variants: &[(&str, &str)]) -> Compared {
    let mut found = Compared::default();
    for line in fresh {
        if let Some(old) = stored.iter().find(|old| old.is_of(line)) {
            found.drift.extend(old.differences(line));
        }
    }
    for line in stored.iter().filter(|line| !line.is_among(variants)) {
        let name = line.name();
        found.drift.push(format!("{name}: a line of no server"));
    }
    for &(server, variant) in variants {
        if !stored.iter().any(|line| line.server == server) {
            found.unknown.push(server.to_owned());
        } else if !stored
            .iter()
            .any(|line| line.is_among(&[(server, variant)]))
        {
            let name = contestant(server, variant);
            found.drift.push(format!("{name}: no line in the table"));
        }
    }
    found.unknown.dedup();
    found
}

#[cfg(test)]
mod tests;
