//! `shootout check`: whether a result directory holds what it says.

use super::Context;
use crate::exit::Exit;
use crate::session;
use board::about;
use board::check;
use board::records;
use project::Project;
use project::Refusal;
use std::io;
use std::path::{Path, PathBuf};

pub(super) fn check(context: &Context<'_>, mut dirs: Vec<PathBuf>) -> Result<Exit, Refusal> {
    let project = &context.project;
    if dirs.is_empty() {
        dirs.extend(session::newest(&project.results()));
    }
    if dirs.is_empty() {
        return Err(Refusal::new(format!(
            "nothing to check: no run under {}; measure first: shootout run",
            project.shown(&project.results())
        )));
    }
    let mut holds = true;
    for dir in runs(project, dirs)? {
        context.stop_if_interrupted()?;
        let shown = project.shown(&dir);
        let checked = check::check(&dir).map_err(|error| unreadable(project, &dir, &error))?;
        for finding in &checked.findings {
            say!("{shown}: {finding}");
        }
        let (rows, measured) = (checked.rows, checked.measured);
        let histograms = checked.histograms;
        let findings = checked.findings.len();
        say!(
            "{shown}: {rows} rows, {measured} with a result, {histograms} histograms: {}",
            match findings {
                0 => "everything holds".to_owned(),
                1 => "1 thing does not hold".to_owned(),
                several => format!("{several} things do not hold"),
            }
        );
        holds &= findings == 0;
    }
    Ok(if holds { Exit::Ok } else { Exit::Failed })
}

/// The directories that are checked: of a round, each of its runs. What is said of a round must be
/// readable.
fn runs(project: &Project, dirs: Vec<PathBuf>) -> Result<Vec<PathBuf>, Refusal> {
    let mut all = Vec::new();
    for dir in dirs {
        about::read(&dir).map_err(Refusal::from_error)?;
        let runs = records::runs(&dir).map_err(|error| unreadable(project, &dir, &error))?;
        match runs.is_empty() {
            true => all.push(dir),
            false => all.extend(runs),
        }
    }
    Ok(all)
}

fn unreadable(project: &Project, dir: &Path, error: &io::Error) -> Refusal {
    let shown = project.shown(dir);
    Refusal::new(format!(
        "{shown}: cannot read this result directory: {error}; `shootout run` makes one"
    ))
}
