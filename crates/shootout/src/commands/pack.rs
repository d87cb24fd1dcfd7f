//! `shootout pack`: result directories made small for a repository.

use super::Context;
use crate::exit::{Exit, Refusal};
use crate::records;
use crate::report::figures;
use std::io;
use std::path::PathBuf;

pub(super) fn pack(context: &Context<'_>, dirs: &[PathBuf]) -> Result<Exit, Refusal> {
    let project = &context.project;
    for dir in dirs {
        context.stop_if_interrupted()?;
        let shown = project.shown(dir);
        let failed = |error: io::Error| {
            Refusal::new(format!(
                "{shown}: cannot pack this result directory: {error}"
            ))
        };
        let runs = records::runs(dir).map_err(failed)?;
        if runs.is_empty() {
            return Err(Refusal::new(format!(
                "{shown}: nothing to pack: no record in this directory; shootout run writes them"
            )));
        }
        for run in runs {
            let packed = records::pack(&run).map_err(failed)?;
            say!(
                "{}: {} files packed, {} to {}",
                project.shown(&run),
                packed.files,
                figures::bytes(packed.before as f64),
                figures::bytes(packed.after as f64)
            );
        }
    }
    Ok(Exit::Ok)
}
