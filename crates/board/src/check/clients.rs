//! Clients that are not like the others: those that leave and come back, those that read slowly; and
//! what compression did to what all of them heard.

use super::claim::Claims;
use super::samples::{count, together};
use plan::{Audience, Dialect, Life};
use record::{
    Churn, CompressionUse, CutRecord, Latency, Recorder, RunRecord, SlowReaders, StepRecord,
    time_until,
};

/// Most bytes around the payload of a message that was taken from the wire: the header of its frame.
const HEADER: u64 = 14;
/// Bytes of pings and close frames, which are no messages.
const CONTROL: u64 = 64 << 10;
/// Bytes by which a delivered message may differ from its request, beside half or twice as many.
const ENVELOPE: f64 = 512.0;

pub(super) fn check(claims: &mut Claims, step: &StepRecord, run: &RunRecord) {
    if let Some(churn) = step.churn.as_deref() {
        left(claims, churn, step, run);
        if let Some(cut) = &churn.cut {
            cut_off(claims, cut, churn, step, run);
        }
    }
    if let Some(slow) = &step.slow_readers {
        read_slowly(claims, slow, step);
    }
    if let Some(used) = step.compression {
        compressed(claims, used, step);
    }
}

fn left(claims: &mut Claims, churn: &Churn, step: &StepRecord, run: &RunRecord) {
    let ended = churn.failures.total() + churn.reconnected + churn.unfinished;
    claims.equal(
        "churn.attempts",
        churn.attempts,
        "what became of them",
        ended,
    );
    for (name, stored, of, by) in [
        (
            "churn.reconnected",
            churn.reconnected,
            &churn.handshake,
            "handshake",
        ),
        (
            "churn.attempts",
            churn.attempts,
            &churn.attempt_lag,
            "attempt_lag",
        ),
    ] {
        claims.equal(name, stored, by, count(of.as_ref()));
    }
    let mut leaving = run.plan.populations.iter().filter(|of| of.leaves());
    if leaving.all(|of| matches!(of.life, Life::ComesAndGoes(_))) {
        let returned = count(churn.reconnect.as_ref());
        claims.equal(
            "churn.reconnected",
            churn.reconnected,
            "reconnect",
            returned,
        );
    }
    for (name, stored, all) in [
        ("churn.lost", churn.lost, step.faults.lost),
        ("churn.duplicate", churn.duplicate, step.faults.duplicate),
        (
            "churn.disconnected",
            churn.disconnected,
            step.faults.disconnected,
        ),
        ("churn.messages", churn.messages, step.generator.messages),
    ] {
        claims.at_most(name, stored, "the whole step", all);
    }
    if let Some(taken) = taken_by_others(churn, step, run) {
        let by = "the messages of all clients";
        claims.equal("churn.messages", churn.messages, by, taken);
    }
    if let Some(rooms) = &churn.rooms {
        let confirmed = count(rooms.join.as_ref());
        claims.equal("churn.rooms.joined", rooms.joined, "join", confirmed);
        claims.at_most("churn.rooms.joined", rooms.joined, "asked", rooms.asked);
    }
}

/// How many messages the clients that do not stay must have taken: all that the generator received, less
/// what the clients that stay received, less the confirmations of requests. `None` where something else may
/// have come: in other dialects, rooms, with slow readers, and in a step that has faults or was cut short.
fn taken_by_others(churn: &Churn, step: &StepRecord, run: &RunRecord) -> Option<u64> {
    let is_known = matches!(run.plan.message.dialect, Dialect::Text | Dialect::Binary)
        && run.plan.audience == Audience::Everyone
        && step.samples == step.samples_planned
        && step.faults.is_empty()
        && step.slow_readers.is_none()
        && churn.rooms.is_none();
    let sent = step.throughput?.sent;
    let to_each = step.delivery.as_ref()?.count.checked_div(step.samples)?;
    let others = sent.checked_mul(to_each.checked_add(1)?)?;
    is_known.then(|| step.generator.messages.saturating_sub(others))
}

/// The times until clients were back are exact for the last of them alone; those of the histogram are
/// rounded up.
fn cut_off(
    claims: &mut Claims,
    cut: &CutRecord,
    churn: &Churn,
    step: &StepRecord,
    run: &RunRecord,
) {
    let leaving = || run.plan.populations.iter().filter(|of| of.leaves());
    if leaving().all(|of| matches!(of.life, Life::Cut(_))) {
        let whole = churn.clients.saturating_sub(step.faults.disconnected);
        claims.at_least("churn.cut.clients", cut.clients, "churn.clients", whole);
        claims.equal("churn.cut.back", cut.back, "reconnected", churn.reconnected);
    }
    claims.at_most(
        "churn.cut.clients",
        cut.clients,
        "churn.clients",
        churn.clients,
    );
    let back = count(cut.back_time.as_ref());
    claims.equal("churn.cut.back", cut.back, "back_time", back);
    let planned = leaving().find_map(|of| match of.life {
        Life::Cut(cut) => Some(cut.at.ns()),
        _ => None,
    });
    claims.equal("churn.cut.at_ns", Some(cut.at_ns), "its plan", planned);
    let came = cut.back_time.as_ref().map(Latency::recorder);
    if let Ok(came) = came.unwrap_or_else(|| Ok(Recorder::default())) {
        for (name, percent, stored) in [
            ("churn.cut.back_50_ns", 50, cut.back_50_ns),
            ("churn.cut.back_95_ns", 95, cut.back_95_ns),
            ("churn.cut.back_100_ns", 100, cut.back_100_ns),
        ] {
            let made = time_until(percent, cut.clients, &came);
            let is_same = match (stored, made) {
                (Some(stored), Some(made)) => came.is_same(stored, made),
                (stored, made) => stored == made,
            };
            if !is_same {
                claims.equal(name, stored, "back_time", made);
            }
        }
    }
    let phases = together([&cut.before, &cut.during, &cut.after]);
    let whole = together([&step.completion, &None, &None]);
    if let (Some(phases), Some(whole)) = (phases, whole)
        && !phases.samples().eq(whole.samples())
    {
        claims.no("churn.cut: before, during and after are not completion together");
    }
}

fn read_slowly(claims: &mut Claims, slow: &SlowReaders, step: &StepRecord) {
    let at_most = |claims: &mut Claims, name: &str, stored: u64, by: &str, most: u64| {
        claims.at_most(format!("slow_readers.{name}"), stored, by, most);
    };
    at_most(claims, "clients", slow.clients, "clients", step.clients);
    at_most(claims, "cut_off", slow.cut_off, "its clients", slow.clients);
    let messages = step.generator.messages;
    at_most(
        claims,
        "messages",
        slow.messages,
        "the whole step",
        messages,
    );
    let is_told = slow.first_cut_off.is_some();
    claims.equal(
        "slow_readers.first_cut_off",
        is_told,
        "cut_off",
        slow.cut_off > 0,
    );
    let (is_known, is_told) = (slow.kept_bytes.is_some(), slow.most_kept_bytes.is_some());
    claims.equal(
        "slow_readers.most_kept_bytes",
        is_told,
        "kept_bytes",
        is_known,
    );
    if let (Some(most), Some(all)) = (slow.most_kept_bytes, slow.kept_bytes) {
        at_most(claims, "most_kept_bytes", most, "kept_bytes", all);
        let all_as_much = most.saturating_mul(slow.clients);
        at_most(claims, "kept_bytes", all, "most_kept_bytes", all_as_much);
    }
}

/// What was counted of compressed messages against what went over the wire. A message that came as it is,
/// or inflated, is about as long as a request.
fn compressed(claims: &mut Claims, used: CompressionUse, step: &StepRecord) {
    let Some(wire) = step.throughput else {
        return;
    };
    for (name, stored, all) in [
        ("received", used.received, wire.received),
        ("received_bytes", used.received_bytes, wire.received_bytes),
        ("sent", used.sent, wire.sent),
        ("sent_bytes", used.sent_bytes, wire.sent_bytes),
    ] {
        claims.at_most(format!("compression.{name}"), stored, "throughput", all);
    }
    if used.sent == 0 {
        return;
    }
    let asked = used.sent_inflated_bytes as f64 / used.sent as f64;
    let (least, most) = (asked / 2.0 - ENVELOPE, 2.0f64.mul_add(asked, ENVELOPE));
    let (name, by) = ("compression.received_inflated_bytes", "its requests");
    let (inflated, heard) = (used.received_inflated_bytes as f64, used.received as f64);
    claims.at_most(name, inflated, by, heard * most);
    claims.at_least(name, inflated, by, heard * least);
    let plain = wire.received.saturating_sub(used.received) as f64;
    let around = (wire.received * HEADER + CONTROL) as f64;
    let rest = wire.received_bytes.saturating_sub(used.received_bytes) as f64;
    let (name, by) = ("the bytes beside compression.received_bytes", "throughput");
    claims.at_most(name, rest, by, plain.mul_add(most, around));
    claims.at_least(name, rest, by, plain * least);
}
