//! Requests over HTTP for people.

use crate::format::spread;
use record::{HttpRequests, HttpUse};
use ws_proto::escaped;

/// A line for the requests of each kind that there were.
pub(crate) fn http(of: &HttpUse) -> String {
    let several = of.steps.len() > 1;
    let steps = of
        .steps
        .iter()
        .enumerate()
        .filter(|(_, of)| of.requests > 0);
    let steps = steps.map(|(at, of)| match several {
        true => line(&format!("step {}: ", at + 1), of),
        false => line("", of),
    });
    let publications = of.publications.iter().map(|of| line("publications: ", of));
    steps.chain(publications).collect()
}

fn line(what: &str, of: &HttpRequests) -> String {
    let failed = match (of.failed, &of.first_failure) {
        (0, _) => String::new(),
        (failed, first) => {
            let first = first
                .as_ref()
                .map(|words| format!("; the first: {}", escaped(words)));
            let first = first.unwrap_or_default();
            format!(", {failed} failed{}{first}", statuses(of))
        }
    };
    let count = of.requests;
    format!(
        "    http         {what}{count} requests{failed}{}\n",
        spread(&of.took)
    )
}

/// The statuses of more than one kind of answer.
fn statuses(of: &HttpRequests) -> String {
    let unusual = of
        .statuses
        .iter()
        .filter(|(status, _)| !status.starts_with('2'));
    let all: Vec<String> = unusual
        .map(|(status, count)| format!("{status}: {count}"))
        .collect();
    match all.is_empty() {
        true => String::new(),
        false => format!(" ({})", all.join(", ")),
    }
}
