//! What became of watched messages: counts against one another and against the plan, and faults against
//! their timetable.
//!
//! Messages that came twice or out of order are bounded alone: a record does not have the sum that would
//! give them away.

use super::claim::Claims;
use super::samples::{count, together};
use plan::{DialectFile, Fault, Nanos, Plan};
use record::{DropTimes, Fates, FaultDone, Measurement, StepRecord, Timeline, Watched};

pub(super) fn check(claims: &mut Claims, step: &StepRecord, plan: &Plan) {
    let is_asked = plan.watch().is_some();
    claims.equal("watched", step.watched.is_some(), "its plan", is_asked);
    let Some(of) = step.watched.as_deref() else {
        return;
    };
    messages(claims, of, step, plan);
    deliveries(claims, of, step, plan);
    clients(claims, of, step);
    over_time(claims, of, plan);
    latencies(claims, of, step);
}

/// The faults of a measurement against those of its plan.
pub(super) fn faults(of: &Measurement, plan: &Plan) -> Vec<String> {
    // With a jitter, two may have changed places.
    let mut planned: Vec<&Fault> = plan.faults.iter().collect();
    let mut claims = Claims::new("");
    let (stored, made) = (of.faults.len() as u64, planned.len() as u64);
    claims.equal("the number of faults", stored, "its plan", made);
    let mut wrong = claims.wrong();
    for (index, done) in of.faults.iter().enumerate() {
        let mut claims = Claims::new(format!("faults.{index}"));
        match planned.iter().position(|fault| **fault == done.planned) {
            Some(place) => drop(planned.remove(place)),
            None => claims.no("is none of its plan"),
        }
        timetable(&mut claims, done);
        wrong.extend(claims.wrong());
    }
    wrong
}

fn timetable(claims: &mut Claims, done: &FaultDone) {
    let (Nanos(at), Nanos(jitter)) = (done.planned.at, done.planned.jitter);
    claims.at_least("due_ns", done.due_ns, "its plan", at);
    claims.at_most("due_ns", done.due_ns, "its plan", at.saturating_add(jitter));
    if let Some(began_ns) = done.began_ns {
        claims.at_least("began_ns", began_ns, "due_ns", done.due_ns);
    }
    if let Some(ended_ns) = done.ended_ns {
        claims.at_least("ended_ns", Some(ended_ns), "began_ns", done.began_ns);
        claims.equal("began_ns", done.began_ns.is_some(), "ended_ns", true);
    }
}

fn messages(claims: &mut Claims, of: &Watched, step: &StepRecord, plan: &Plan) {
    let planned = plan.watch().map(|watch| watch.messages());
    claims.equal("watched.planned", Some(of.planned), "its plan", planned);
    claims.at_most("watched.sent", of.sent, "planned", of.planned);
    claims.at_most("watched.confirmed", of.confirmed, "sent", of.sent);
    if of.has_no_results {
        claims.equal("watched.confirmed", of.confirmed, "has_no_results", 0);
    }
    if let Some(file) = plan.message.definition.as_deref() {
        let has_none = !file.send.is_acknowledged();
        claims.equal(
            "watched.has_no_results",
            of.has_no_results,
            "its dialect",
            has_none,
        );
    }
    let heard = [&of.of_confirmed, &of.of_unconfirmed].map(Fates::came);
    let least = heard.into_iter().chain([of.duplicate, of.repeated]);
    let least = least.fold(0, u64::saturating_add);
    let messages = step.generator.messages;
    claims.at_least("generator.messages", messages, "watched", least);
    let heard = heard[0].saturating_add(heard[1]);
    claims.at_most("watched.reordered", of.reordered, "what came", heard);
}

/// Each message is due to every client, or to all but its publisher.
fn deliveries(claims: &mut Claims, of: &Watched, step: &StepRecord, plan: &Plan) {
    let file = plan.message.definition.as_deref();
    let to_sender = file.is_none_or(|file: &DialectFile| file.send.reaches_sender);
    let listeners = step.clients.saturating_sub(u64::from(!to_sender));
    let unconfirmed = of.sent.saturating_sub(of.confirmed);
    for (name, fates, messages) in [
        ("of_confirmed", &of.of_confirmed, of.confirmed),
        ("of_unconfirmed", &of.of_unconfirmed, unconfirmed),
    ] {
        let due = messages.saturating_mul(listeners);
        let all = fates.all();
        claims.equal(
            format!("watched.{name}"),
            all,
            "its messages and clients",
            due,
        );
    }
}

fn clients(claims: &mut Claims, of: &Watched, step: &StepRecord) {
    let all = step.clients;
    claims.at_most("watched.bystanders", of.bystanders, "clients", all);
    claims.at_most("watched.silent_clients", of.silent_clients, "clients", all);
    let silent = of.of_confirmed.lost_silent;
    let silent = silent.saturating_add(of.of_unconfirmed.lost_silent);
    claims.at_most(
        "watched.silent_clients",
        of.silent_clients,
        "what was lost",
        silent,
    );
    let by = "what was lost";
    claims.equal(
        "watched.silent_clients",
        of.silent_clients > 0,
        by,
        silent > 0,
    );
    let ended = step.drops.as_deref().map_or(0, DropTimes::count);
    let gone = all.saturating_sub(of.bystanders);
    let name = "the clients without watched.bystanders";
    claims.at_most(name, gone, "drops", ended);
    let mut before = all;
    let mut left = 0u64;
    for (part, &ready) in of.timeline.ready.iter().enumerate() {
        let name = format!("watched.timeline.ready.{part}");
        claims.at_most(name, ready, "clients", all);
        left = left.saturating_add(before.saturating_sub(ready));
        before = ready;
    }
    claims.at_most("what watched.timeline.ready lost", left, "drops", ended);
}

fn over_time(claims: &mut Claims, of: &Watched, plan: &Plan) {
    let timeline = &of.timeline;
    length(claims, timeline, plan);
    let of_both =
        |kind: fn(&Fates) -> u64| kind(&of.of_confirmed).saturating_add(kind(&of.of_unconfirmed));
    for (name, list, made) in [
        ("sent", &timeline.sent, of.sent),
        ("confirmed", &timeline.confirmed, of.confirmed),
        ("live", &timeline.live, of_both(|of| of.live)),
        ("made_good", &timeline.made_good, of_both(|of| of.made_good)),
        (
            "lost_silent",
            &timeline.lost_silent,
            of_both(|of| of.lost_silent),
        ),
        (
            "lost_joining",
            &timeline.lost_joining,
            of_both(|of| of.lost_joining),
        ),
        ("lost_cut", &timeline.lost_cut, of_both(|of| of.lost_cut)),
        ("lost_away", &timeline.lost_away, of_both(|of| of.lost_away)),
    ] {
        let stored = list.iter().copied().fold(0, u64::saturating_add);
        let by = "the whole step";
        claims.equal(format!("watched.timeline.{name}"), stored, by, made);
        parts(claims, name, list, timeline);
    }
    parts(claims, "ready", &timeline.ready, timeline);
    parts(claims, "slowest_ns", &timeline.slowest_ns, timeline);
}

fn parts(claims: &mut Claims, name: &str, list: &[u64], timeline: &Timeline) {
    let (stored, all) = (list.len() as u64, timeline.parts() as u64);
    let name = format!("the number of parts of watched.timeline.{name}");
    claims.equal(name, stored, "sent", all);
}

/// Its parts reach from the first message to the last, and not beyond the time in which they may come.
fn length(claims: &mut Claims, timeline: &Timeline, plan: &Plan) {
    let Some(watch) = plan.watch() else {
        return;
    };
    let last_ns = watch.due_ns(watch.messages().saturating_sub(1));
    let longest_ns = watch.duration.ns().saturating_add(watch.patience.ns());
    let parts = timeline.parts() as u64;
    let end_ns = parts.saturating_mul(timeline.tick_ns);
    let name = "the end of watched.timeline";
    claims.at_least(name, end_ns, "its last message", last_ns);
    let begin_ns = parts.saturating_sub(1).saturating_mul(timeline.tick_ns);
    let name = "the last part of watched.timeline";
    claims.at_most(name, begin_ns, "its plan", longest_ns);
}

/// Every message that came live came to a client of the same node or of another.
fn latencies(claims: &mut Claims, of: &Watched, step: &StepRecord) {
    let live = of.of_confirmed.live.saturating_add(of.of_unconfirmed.live);
    let [same, cross] = [&of.same_node, &of.cross_node].map(|of| count(of.as_ref()));
    let by = "same_node and cross_node";
    claims.equal("watched live", live, by, same.saturating_add(cross));
    let delivered = count(step.delivery.as_ref());
    claims.equal("watched live", live, "delivery", delivered);
    let bystanders = count(of.bystander_latency.as_ref());
    let most = of.bystanders.saturating_mul(of.sent);
    let name = "watched.bystander_latency.count";
    claims.at_most(name, bystanders, "bystanders", most);
    claims.at_most(name, bystanders, "what came live", live);
    let slowest = of
        .timeline
        .slowest_ns
        .iter()
        .copied()
        .max()
        .unwrap_or_default();
    if let Some(all) = together([&of.same_node, &of.cross_node, &None]) {
        let made = all.latency().map_or(0, |latency| latency.max_ns);
        if !all.is_same(slowest, made) {
            let name = "the largest of watched.timeline.slowest_ns";
            claims.equal(name, slowest, by, made);
        }
    }
}
