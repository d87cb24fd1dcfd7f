//! `shootout site`: the board, as a static site.

use super::Context;
use crate::exit::Exit;
use crate::progress;
use board::site::{self, Sources};
use project::Refusal;
use std::path::PathBuf;

pub(super) fn site(
    context: &Context<'_>,
    results: Option<PathBuf>,
    out: Option<PathBuf>,
) -> Result<Exit, Refusal> {
    let project = &context.project;
    let results = results.unwrap_or_else(|| project.root().join("results"));
    let out = out.unwrap_or_else(|| PathBuf::from("site"));
    let sources = Sources {
        project,
        results: &results,
    };
    let busy = progress::busy(&format!(
        "reading {} and writing pages; a large round takes half a minute",
        project.shown(&results)
    ));
    let written = site::write(&sources, &out);
    busy.finish_and_clear();
    let summary = written.map_err(|error| Refusal::new(error.to_string()))?;
    for warning in &summary.warnings {
        anstream::eprintln!("shootout: {warning}");
    }
    let rounds = match summary.rounds {
        0 => "no round yet".to_owned(),
        1 => "1 round".to_owned(),
        several => format!("{several} rounds"),
    };
    say!(
        "{} pages, {rounds}\n{}",
        summary.pages,
        project.shown(&out.join("index.html"))
    );
    Ok(Exit::Ok)
}
