//! Connections that ended, by how and when, against the counts of the step.

use super::claim::Claims;
use record::{DropHow, DropTimes, StepRecord};

const SECOND_NS: u64 = 1_000_000_000;
const MOST_INTERVALS: u64 = 3_600;

pub(super) fn check(claims: &mut Claims, step: &StepRecord) {
    // Records from before have none, whatever ended.
    let Some(drops) = step.drops.as_deref() else {
        return;
    };
    for (index, cause) in drops.causes.iter().enumerate() {
        let sum = cause.intervals.values().copied();
        let sum = sum.fold(0, u64::saturating_add);
        let name = format!("drops.causes.{index}.count");
        claims.equal(name, cause.count, "its intervals", sum);
    }
    let counts = drops.causes.iter().map(|cause| cause.count);
    if !counts.is_sorted_by(|before, next| before >= next) {
        claims.no("drops.causes are not in the order of their counts");
    }
    intervals(claims, drops, step);
    let slow = step.slow_readers.as_ref().map_or(0, |of| of.cut_off);
    let counted = step.faults.disconnected.saturating_add(slow);
    claims.at_least("drops", drops.count(), "what else counts them", counted);
    if let Some(of) = step.connections.as_deref().map(|of| of.drops) {
        let told = |how: &[DropHow]| {
            let causes = drops.causes.iter().filter(|cause| how.contains(&cause.how));
            causes.fold(0, |sum: u64, cause| sum.saturating_add(cause.count))
        };
        // There are more codes of close frames than are told apart.
        let closed = told(&[DropHow::Closed, DropHow::Other]);
        for (name, counted, told) in [
            ("closed", of.closed, closed),
            ("reset", of.reset, told(&[DropHow::Reset])),
            ("unanswered", of.unanswered, told(&[DropHow::Unanswered])),
            ("broken", of.broken, told(&[DropHow::Broken])),
        ] {
            let name = format!("connections.drops.{name}");
            claims.equal(name, counted, "drops", told);
        }
    }
}

/// A second, or so many that there are no more intervals than a record has.
fn intervals(claims: &mut Claims, drops: &DropTimes, step: &StepRecord) {
    let Some(last) = drops.by_interval().into_keys().next_back() else {
        return claims.no("drops have no interval");
    };
    let mut due_ns = SECOND_NS;
    let last_ns = last.saturating_mul(drops.interval_ns);
    while last_ns / due_ns >= MOST_INTERVALS {
        due_ns = due_ns.saturating_mul(2);
    }
    claims.equal("drops.interval_ns", drops.interval_ns, "the last", due_ns);
    claims.at_most("the last of drops", last_ns, "elapsed_ns", latest_ns(step));
}

/// A minute after the end: when the requests of a step are over, clients that read slowly are listened to for
/// up to 25 seconds, and a busy machine reads the clock late.
const fn latest_ns(step: &StepRecord) -> u64 {
    step.elapsed_ns.saturating_add(60 * SECOND_NS)
}
