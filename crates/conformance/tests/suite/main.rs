//! The checks against servers, honest and not, in one program: each more is linked anew.

use conformance::{CheckRun, Found};
use std::time::Duration;

mod liars;
mod nodes;
mod tls;
mod verify;

/// How long an answer is waited for, one after the other until the outcomes are those that are due: what
/// is silent is waited for each time, and only a machine that is busy needs more than the first.
const PATIENCE: [Duration; 3] = [
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(20),
];

/// Whether the first check that failed, but for that of a rule that is broken, had waited a whole patience,
/// or was not run because no connection was opened in that time: that alone excuses a wrong blame, by a
/// machine that is busy.
fn is_late(outcomes: &[CheckRun], patience: Duration, broken: Option<&str>) -> bool {
    let is_wrong = |of: &&CheckRun| of.failed() && Some(of.check.id) != broken;
    let first = outcomes.iter().find(is_wrong);
    first.is_none_or(|first| first.elapsed >= patience || was_not_run(first))
}

fn was_not_run(outcome: &CheckRun) -> bool {
    matches!(&outcome.verdict, Found::Fail { observed } if observed.starts_with("not run: "))
}
