//! `shootout check`: whether a result directory holds what it says.

use super::Context;
use crate::check;
use crate::exit::{Exit, Refusal};
use crate::session;
use std::path::PathBuf;

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
    for dir in &dirs {
        context.stop_if_interrupted()?;
        let shown = project.shown(dir);
        let checked = check::check(dir).map_err(|error| {
            Refusal::new(format!(
                "{shown}: cannot read this result directory: {error}"
            ))
        })?;
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
