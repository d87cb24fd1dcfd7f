//! The board: a static site made of a results directory.
//!
//! Purpose: everything that was measured and checked, as pages that open from disk and from any web
//! server. It measures nothing and uses no network; each page holds its style and its script and
//! loads nothing. What is read and readable without the script, the script sorts, filters and
//! compares.

mod again;
mod ancestor;
mod board;
mod chart;
mod field;
mod gather;
mod history;
mod names;
mod origin;
mod output;
mod pages;
mod repeats;
mod rounds;
mod text;

use crate::report::ReportError;
use project::{LOCAL, Project};
use std::io;
use std::path::{Path, PathBuf};

/// What a site is made of.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a> {
    /// The project: manifests, workloads, conformance, documents.
    pub project: &'a Project,
    /// The results directory. Each directory in it that holds measurements, or directories of
    /// these, is a round.
    pub results: &'a Path,
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteSummary {
    /// Pages.
    pub pages: usize,
    /// Rounds that were found.
    pub rounds: usize,
    /// What was left out, each with the reason.
    pub warnings: Vec<String>,
}

/// A site that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// The results cannot be read.
    #[error(transparent)]
    Results(#[from] ReportError),
    /// The project cannot be read.
    #[error("{0}")]
    Project(String),
    /// The folder holds something else.
    #[error(
        "{}: this folder is not empty and holds no site of this program; name a new folder with \
         --out, or empty this one",
        .0.display()
    )]
    Occupied(PathBuf),
    /// A file cannot be written.
    #[error("{}: cannot write the site: {source}; choose another place with --out", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A page could not be put together.
    #[error("cannot put a page together: {0}")]
    Page(#[from] askama::Error),
}

/// Makes the site and writes it to the folder `out`, which is new, empty or holds an earlier site.
///
/// # Errors
/// [`SiteError`] when results or project cannot be read, or the folder cannot be written.
pub fn write(sources: &Sources<'_>, out: &Path) -> Result<SiteSummary, SiteError> {
    let gathered = gather::gather(sources)?;
    let workloads = sources.project.workloads();
    let mut files = pages::all(&gathered, &gathered.published, &workloads)?;
    if let Some(local) = &gathered.local {
        files.add_folder(LOCAL, pages::all(&gathered, local, &workloads)?);
    }
    files.write(out)?;
    Ok(SiteSummary {
        pages: files.len(),
        rounds: gathered.rounds,
        warnings: gathered.warnings,
    })
}

#[cfg(test)]
mod failures_tests;
#[cfg(test)]
mod front_tests;
#[cfg(test)]
mod repeats_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod told_tests;
