//! What the commands share that read a run again and say something of it.

use super::Context;
use crate::session;
use project::Refusal;
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};

/// The newest run under results/local/, `to` do something with; `remedy` where there is none.
pub(super) fn newest(context: &Context<'_>, to: &str, remedy: &str) -> Result<PathBuf, Refusal> {
    let results = context.project.results();
    session::newest(&results).ok_or_else(|| {
        Refusal::new(format!(
            "nothing to {to}: no run under {}; {remedy}",
            context.project.shown(&results)
        ))
    })
}

/// Writes what was found, called `what`, as JSON.
pub(super) fn store(file: &Path, what: &str, found: &impl Serialize) -> Result<(), Refusal> {
    let text = serde_json::to_string_pretty(found)
        .map_err(|error| Refusal::new(format!("the {what} cannot be written: {error}")))?;
    fs::write(file, text + "\n").map_err(|error| {
        Refusal::new(format!(
            "{}: cannot write the {what}: {error}; choose another place",
            file.display()
        ))
    })
}
