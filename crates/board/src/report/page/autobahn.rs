//! The table of Autobahn|Testsuite summaries.

use super::Entry;
use project::contestant;
use record::AutobahnRecord;

/// A server that was tested.
pub(super) struct Tested<'a> {
    pub(super) contestant: String,
    pub(super) library_version: &'a str,
    pub(super) suite: &'a str,
    pub(super) finished: &'a str,
    /// Cases: ok, non-strict, informational, failed.
    pub(super) counts: [u32; 4],
    pub(super) failed: Vec<String>,
}

/// The summaries of the servers that the report names.
pub(super) fn tested<'a>(
    entries: &[Entry<'_>],
    summaries: &'a [AutobahnRecord],
) -> Vec<Tested<'a>> {
    let is_named = |summary: &&AutobahnRecord| {
        let named = |entry: &Entry<'_>| entry.row.server().name == summary.server.name;
        entries.iter().any(named)
    };
    summaries
        .iter()
        .filter(is_named)
        .map(|summary| Tested {
            contestant: contestant(&summary.server.name, &summary.server.variant),
            library_version: summary.server.library_version.as_deref().unwrap_or("–"),
            suite: &summary.suite,
            finished: &summary.finished,
            counts: [
                summary.ok,
                summary.non_strict,
                summary.informational,
                summary.failed.len() as u32,
            ],
            failed: summary
                .failed
                .iter()
                .map(|case| {
                    format!(
                        "{} ({})",
                        case.id,
                        worst(&case.behavior, &case.behavior_close)
                    )
                })
                .collect(),
        })
        .collect()
}

/// The word that made a case fail.
fn worst(behavior: &str, close: &str) -> String {
    match behavior {
        "OK" | "NON-STRICT" | "INFORMATIONAL" => format!("close: {}", close.to_lowercase()),
        other => other.to_lowercase(),
    }
}
