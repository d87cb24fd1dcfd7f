//! Connections that were opened and held.

use super::claim::Claims;
use super::samples::count;
use record::StepRecord;

/// How much later than the last upgrade all workers are known to have theirs, in nanoseconds: a tick of
/// the controller, on a busy machine.
const LATE_NS: u64 = 500_000_000;

pub(super) fn check(claims: &mut Claims, step: &StepRecord) {
    let Some(of) = step.connections.as_deref() else {
        return;
    };
    let (opened, upgraded) = (of.opened, count(step.completion.as_ref()));
    claims.equal("connections.opened", opened, "completion", upgraded);
    claims.at_most("connections.opened", opened, "samples", step.samples);
    claims.equal(
        "connections.planned",
        of.planned,
        "samples_planned",
        step.samples_planned,
    );
    let pings = &of.pings;
    let ended = pings.answered + pings.unanswered + pings.cut_off;
    claims.equal(
        "connections.pings.sent",
        pings.sent,
        "what became of them",
        ended,
    );
    let answered = count(pings.round_trip.as_ref());
    claims.equal(
        "connections.pings.answered",
        pings.answered,
        "round_trip",
        answered,
    );
    let dropped = of.drops.total();
    claims.equal(
        "connections.drops",
        dropped,
        "faults",
        step.faults.disconnected,
    );
    let rate = |ns: u64| opened as f64 * 1e9 / ns.max(1) as f64;
    let name = "connections.opened_per_second";
    // The clock of the two is read at one moment; rounding is left to it.
    let least = rate(step.connecting_ns) * (1.0 - 1e-9);
    claims.at_least(name, of.opened_per_second, "connecting_ns", least);
    let most = rate(step.connecting_ns.saturating_sub(LATE_NS));
    claims.at_most(name, of.opened_per_second, "connecting_ns", most);
}
