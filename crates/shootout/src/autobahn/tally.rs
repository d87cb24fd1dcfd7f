//! Reads the suite's index of cases.

use record::{AutobahnCase, AutobahnRecord};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CaseResult {
    behavior: String,
    behavior_close: String,
}

/// A report of the suite that cannot be counted.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoTally {
    #[error("its report is not what it should be: {0}")]
    Broken(#[from] serde_json::Error),
    #[error("its report does not name the server")]
    NoServer,
}

/// Counts the cases of `agent` in `index`, the text of the suite's index.json, in the order of
/// their numbers.
///
/// # Errors
/// When the report is broken, or is about other servers.
pub(super) fn count(index: &str, agent: &str, record: &mut AutobahnRecord) -> Result<(), NoTally> {
    let mut index: BTreeMap<String, BTreeMap<String, CaseResult>> = serde_json::from_str(index)?;
    let Some(cases) = index.remove(agent) else {
        return Err(NoTally::NoServer);
    };
    let mut cases: Vec<AutobahnCase> = cases
        .into_iter()
        .map(|(id, verdict)| AutobahnCase {
            id,
            behavior: verdict.behavior,
            behavior_close: verdict.behavior_close,
        })
        .collect();
    cases.sort_by_key(|case| {
        let parts = case.id.split('.').map(|part| part.parse().unwrap_or(0));
        parts.collect::<Vec<u32>>()
    });
    cases.into_iter().for_each(|case| record.count(case));
    Ok(())
}
