//! Requests over HTTP, answers in parts and dialogues: their counts against one another, against their
//! distributions, and against the faults and latencies of the step.

use super::claim::Claims;
use super::samples::count;
use record::{Dialogues, HttpRequests, HttpUse, RunRecord, StepRecord, Streams};

pub(super) fn check(claims: &mut Claims, step: &StepRecord, run: &RunRecord) {
    if let Some(of) = step.http.as_deref() {
        http(claims, of, step, run);
    }
    if let Some(of) = step.streams.as_deref() {
        streams(claims, of, step, run);
    }
    if let Some(of) = step.dialogues.as_deref() {
        dialogues(claims, of);
    }
}

fn http(claims: &mut Claims, of: &HttpUse, step: &StepRecord, run: &RunRecord) {
    let file = run.plan.message.definition.as_deref();
    let planned = file.map_or(0, |file| file.open.http.len());
    claims.equal(
        "http.steps",
        of.steps.len() as u64,
        "its plan",
        planned as u64,
    );
    for (index, requests) in of.steps.iter().enumerate() {
        http_requests(claims, &format!("http.steps.{index}"), requests);
    }
    // A client that is through with one step makes the next.
    for (index, pair) in of.steps.windows(2).enumerate() {
        let name = format!("http.steps.{}.requests", index + 1);
        let due = pair[0].requests.saturating_sub(pair[0].failed);
        claims.equal(name, pair[1].requests, "the step before", due);
    }
    if let Some(published) = &of.publications {
        http_requests(claims, "http.publications", published);
        // An answer is the sender's result; those of the warm-up are in no latency.
        let (acks, answers) = (count(step.ack.as_ref()), count(published.took.as_ref()));
        claims.at_most("ack.count", acks, "http.publications.took", answers);
    }
}

fn http_requests(claims: &mut Claims, name: &str, of: &HttpRequests) {
    claims.at_most(
        format!("{name}.failed"),
        of.failed,
        "its requests",
        of.requests,
    );
    let done = of.requests.saturating_sub(of.failed);
    claims.equal(
        format!("{name}.took.count"),
        count(of.took.as_ref()),
        "its requests",
        done,
    );
    let answered = of
        .statuses
        .values()
        .fold(0, |sum: u64, of| sum.saturating_add(*of));
    let name_of_all = format!("{name}.statuses");
    claims.at_most(&name_of_all, answered, "its requests", of.requests);
    claims.at_least(&name_of_all, answered, "its took", done);
    claims.equal(
        format!("{name}.first_failure"),
        of.first_failure.is_some(),
        "its failed",
        of.failed > 0,
    );
}

fn streams(claims: &mut Claims, of: &Streams, step: &StepRecord, run: &RunRecord) {
    let first = count(of.first.as_ref());
    claims.equal("streams.answers", of.answers, "first", first);
    let parts = first.saturating_add(count(of.between.as_ref()));
    claims.equal("streams.parts", of.parts, "first and between", parts);
    let broken_off = of.unfinished.saturating_add(of.cut);
    claims.at_most(
        "streams.unfinished and cut",
        broken_off,
        "answers",
        of.answers,
    );
    let ended = of.answers.saturating_sub(broken_off);
    claims.equal(
        "streams.per_answer",
        of.per_answer.is_some(),
        "its answers",
        ended > 0,
    );
    if let Some(each) = of.per_answer {
        claims.at_least("streams.per_answer.min", each.min, "its answers", 1);
        claims.at_most("streams.per_answer.min", each.min, "median", each.median);
        claims.at_most("streams.per_answer.median", each.median, "max", each.max);
        let others = each.min.saturating_mul(ended.saturating_sub(1));
        let least = others.saturating_add(each.max).saturating_add(broken_off);
        claims.at_least("streams.parts", of.parts, "per_answer", least);
        let most = each.max.saturating_mul(ended);
        if broken_off == 0 {
            claims.at_most("streams.parts", of.parts, "per_answer", most);
        }
    }
    if let Some(rates) = of.per_second {
        claims.at_most("streams.per_second.p5", rates.p5, "median", rates.median);
    }
    part_faults(claims, of, step, run);
}

/// Faults of parts are among those of the step.
fn part_faults(claims: &mut Claims, of: &Streams, step: &StepRecord, run: &RunRecord) {
    let (numbers, faults) = (of.numbers, step.faults);
    let file = run.plan.message.definition.as_deref();
    let steps_back = match file.is_none_or(|file| file.keeps_order) {
        true => numbers.steps_back,
        false => 0,
    };
    let repeats = numbers.repeats.saturating_add(numbers.unawaited);
    let twice = faults.duplicate.saturating_add(faults.misdirected);
    for (name, counted, all) in [
        ("missing", numbers.missing, faults.lost),
        ("repeats", numbers.repeats, faults.duplicate),
        ("repeats and unawaited", repeats, twice),
        ("steps_back", steps_back, faults.reordered),
        ("unreadable", numbers.unreadable, faults.malformed),
    ] {
        let name = format!("streams.numbers.{name}");
        claims.at_most(name, counted, "the faults of the step", all);
    }
}

fn dialogues(claims: &mut Claims, of: &Dialogues) {
    let begun = of.finished.saturating_add(of.unfinished);
    claims.equal(
        "dialogues.begun",
        of.begun,
        "finished and unfinished",
        begun,
    );
    let timed = count(of.time.as_ref());
    claims.equal("dialogues.finished", of.finished, "time", timed);
    for (index, kind) in of.kinds.iter().enumerate() {
        let name = format!("dialogues.kinds.{index}.answers");
        claims.equal(name, kind.answers, "its time", count(kind.time.as_ref()));
    }
}
