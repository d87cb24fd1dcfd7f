//! `shootout report`: a report over runs that were made before.

use super::Context;
use crate::exit::Exit;
use crate::session;
use board::autobahn;
use board::report;
use project::Project;
use project::Refusal;
use record::AutobahnRecord;
use std::path::{Path, PathBuf};

pub(super) fn report(
    context: &Context<'_>,
    mut dirs: Vec<PathBuf>,
    html: Option<PathBuf>,
    markdown: Option<PathBuf>,
) -> Result<Exit, Refusal> {
    let project = &context.project;
    if dirs.is_empty() {
        dirs.extend(session::newest(&project.results()));
    }
    let Some(first) = dirs.first().cloned() else {
        return Err(Refusal::new(format!(
            "nothing to report: no run under {}; measure first: shootout run",
            project.shown(&project.results())
        )));
    };
    let html = html.map_or_else(|| within(&first, "report.html"), Ok)?;
    let markdown = markdown.map_or_else(|| within(&first, "report.md"), Ok)?;
    let summary = report::write(&dirs, &autobahn_summaries(project), &html, &markdown)
        .map_err(|error| Refusal::new(error.to_string()))?;
    for warning in &summary.warnings {
        anstream::eprintln!("shootout: {warning}");
    }
    for headline in &summary.headlines {
        say!("{headline}");
    }
    say!("{}\n{}", project.shown(&html), project.shown(&markdown));
    Ok(Exit::Ok)
}

/// A file of a directory that a stranger may have made: a link there could lead to a file of the user,
/// which would be overwritten.
fn within(dir: &Path, name: &str) -> Result<PathBuf, Refusal> {
    let path = dir.join(name);
    match path.is_symlink() {
        true => Err(Refusal::new(format!(
            "{}: is a symbolic link, which is not written through; remove it, or name another place",
            path.display()
        ))),
        false => Ok(path),
    }
}

/// The project's summaries of the Autobahn|Testsuite.
pub(super) fn autobahn_summaries(project: &Project) -> Vec<AutobahnRecord> {
    autobahn::summaries(&project.autobahn(), &mut |warning| {
        anstream::eprintln!("shootout: {warning}");
    })
}
