//! `shootout explain`: why a row costs what it costs.

use super::{Context, read_again};
use crate::cli::ExplainArgs;
use crate::exit::Exit;
use board::explain::{self, text};
use project::Refusal;

pub(super) fn explain(context: &Context<'_>, args: &ExplainArgs) -> Result<Exit, Refusal> {
    let dir = match &args.results {
        Some(dir) => dir.clone(),
        None => read_again::newest(
            context,
            "explain",
            "measure first, or name a directory with --results",
        )?,
    };
    let explanation = explain::explain(&dir, &args.row)?;
    for problem in &explanation.left_out {
        anstream::eprintln!("shootout: {problem}");
    }
    if let Some(file) = &args.json {
        read_again::store(file, "explanation", &explanation)?;
    }
    say!("{}", text::explanation(&explanation).trim_end());
    Ok(match explanation.is_whole() {
        true => Exit::Ok,
        false => Exit::Invalid,
    })
}
