//! The tables of 2016, as they were given.

use crate::records;
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};

/// Steps of a block are below this p95, as they were then.
const LIMIT: &str = "500 ms";
/// Most files that are looked at: there are 4.
const MOST_FILES: usize = 1_000;

/// What the folder holds.
#[derive(Debug, Default)]
pub(super) struct Ancestor {
    pub(super) tables: Vec<Table>,
    /// What the folder says of itself, as Markdown.
    pub(super) about: Option<String>,
}

/// A file of the folder.
#[derive(Debug)]
pub(super) struct Table {
    /// Its name without the ending.
    pub(super) name: String,
    pub(super) blocks: Vec<Block>,
}

/// The output of one run.
#[derive(Debug, Deserialize)]
pub(super) struct Block {
    pub(super) server: String,
    pub(super) hardware: String,
    pub(super) generator: String,
    pub(super) message: String,
    pub(super) server_command: Option<String>,
    pub(super) bench_command: String,
    pub(super) memory_mb_approx: Option<u64>,
    pub(super) connections_per_ms: Option<f64>,
    pub(super) connections_per_mb: Option<f64>,
    pub(super) steps: Vec<Step>,
}

/// A line of the output.
#[derive(Debug, Deserialize)]
pub(super) struct Step {
    pub(super) clients: u64,
    pub(super) p95_ms: f64,
    pub(super) min_ms: f64,
    pub(super) median_ms: f64,
    pub(super) max_ms: f64,
}

impl Ancestor {
    /// What its steps were limited to.
    pub(super) const fn limit() -> &'static str {
        LIMIT
    }
}

/// Reads a folder; what is broken is named.
pub(super) fn read(dir: &Path, warnings: &mut Vec<String>) -> Ancestor {
    let listing = fs::read_dir(dir).into_iter().flatten();
    let files = listing.take(MOST_FILES);
    let files = files.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .collect();
    files.sort();
    let mut tables = Vec::new();
    for path in files {
        let text = records::beside(&path).unwrap_or_else(|error| {
            warnings.push(format!("{}: {error}; left out", path.display()));
            String::new()
        });
        let mut blocks = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            match serde_json::from_str(line) {
                Ok(block) => blocks.push(block),
                Err(error) => {
                    warnings.push(format!(
                        "{}, line {number}: {error}; left out",
                        path.display()
                    ));
                }
            }
        }
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if !blocks.is_empty() {
            tables.push(Table { name, blocks });
        }
    }
    Ancestor {
        tables,
        about: records::beside(&dir.join("README.md")).ok(),
    }
}
