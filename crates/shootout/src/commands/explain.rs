//! `shootout explain`: why a row costs what it costs.

use super::Context;
use crate::cli::ExplainArgs;
use crate::exit::Exit;
use crate::session;
use board::explain::{self, Explanation, text};
use project::Refusal;
use std::fs;
use std::path::{Path, PathBuf};

pub(super) fn explain(context: &Context<'_>, args: &ExplainArgs) -> Result<Exit, Refusal> {
    let dir = match &args.results {
        Some(dir) => dir.clone(),
        None => newest(context)?,
    };
    let explanation = explain::explain(&dir, &args.row)?;
    for problem in &explanation.left_out {
        anstream::eprintln!("shootout: {problem}");
    }
    if let Some(file) = &args.json {
        store(file, &explanation)?;
    }
    say!("{}", text::explanation(&explanation).trim_end());
    Ok(match explanation.is_whole() {
        true => Exit::Ok,
        false => Exit::Invalid,
    })
}

fn newest(context: &Context<'_>) -> Result<PathBuf, Refusal> {
    let results = context.project.results();
    session::newest(&results).ok_or_else(|| {
        Refusal::new(format!(
            "nothing to explain: no run under {}; measure first, or name a directory with --results",
            context.project.shown(&results)
        ))
    })
}

fn store(file: &Path, explanation: &Explanation) -> Result<(), Refusal> {
    let text = serde_json::to_string_pretty(explanation)
        .map_err(|error| Refusal::new(format!("the explanation cannot be written: {error}")))?;
    fs::write(file, text + "\n").map_err(|error| {
        Refusal::new(format!(
            "{}: cannot write the explanation: {error}; choose another place",
            file.display()
        ))
    })
}
