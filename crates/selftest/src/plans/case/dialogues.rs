//! Clients that carry out a dialogue: each request waits for the answer before it, and says what that told.

use super::bytes::are_bytes;
use super::{Case, Dice, built_in_dialect};
use plan::{
    Arrivals, Audience, Clients, Dialect, DialectFile, Load, Meaning, Nanos, OpenLoop, Population,
};
use serde_json::{Value, json};
use test_servers::Framework;
use test_servers::oracle::Strikes;

/// The kind of a dialogue's first request, and that of the others, which repeat the stamp of the answer
/// before.
pub(in crate::plans) const FIRST: &str = "first";
pub(in crate::plans) const NEXT: &str = "next";

/// Has the clients of some plans of echoes carry out a dialogue.
pub(super) fn draw(dice: &mut Dice, case: &mut Case) {
    let (after_ms, jitter, turns) = (
        dice.one_of(&[0, 20, 150]),
        dice.one_of(&[0.0, 0.5, 1.0]),
        dice.between(1, 4),
    );
    let plan = &mut case.plan;
    let is_text = case.server.framework == Framework::Plain && !are_bytes(&plan.message);
    let has_echoes = plan.audience == Audience::Sender
        && !matches!(plan.load, Load::Connect(_))
        && case.server.parts.is_none();
    let Clients::Steps(steps) = plan.clients else {
        return;
    };
    if !dice.once_in(2) || !is_text || !has_echoes {
        return;
    }
    let file = plan.message.definition.take();
    let mut file = file.unwrap_or_else(|| Box::new(text()));
    converse(&mut file, turns, after_ms, jitter);
    plan.message.dialect = Dialect::File;
    plan.message.definition = Some(file);
    plan.populations = vec![Population::default()];
    plan.limits.back = None;
    // All of them begin within the second.
    let most = steps
        .first
        .saturating_add(steps.add.saturating_mul(steps.count.unwrap_or(1)));
    plan.load = Load::Open(OpenLoop {
        rate: f64::from(most),
        ramp: None,
        arrivals: Arrivals::Recorded,
        duration: Nanos::secs(1),
        warm_up: Nanos(0),
    });
    case.server.closes_door = None;
    // Answers belong to requests by their order: what comes twice answers the next one, and the content is
    // not looked at.
    case.server.duplicate = Strikes::default();
    case.server.corrupt = Strikes::default();
    if case.server.lost.every > 0 {
        plan.limits.sample_timeout = Nanos::secs(6);
        plan.limits.time = Nanos(plan.limits.sample_timeout.ns() - 1);
    }
}

fn text() -> DialectFile {
    let file = built_in_dialect("text");
    file.cloned().expect("dialects/ has the text dialect")
}

/// Has a file of the text dialect ask in turns.
fn converse(file: &mut DialectFile, turns: u64, after_ms: u64, jitter: f64) {
    const READ: &str = "these are parts of a dialect file";
    let of = |value: Value| serde_json::from_value(value).expect(READ);
    let kinds = json!([
        {"name": FIRST, "message": r#"{"type":"echo","kind":"first","payload":{payload}}"#},
        {"name": NEXT, "message": r#"{"type":"echo","kind":"next","last":"{last}","payload":{payload}}"#},
    ]);
    let next = json!({"kind": NEXT, "after": format!("{after_ms}ms"), "jitter": jitter});
    let first = json!({"kind": FIRST, "after": "0s"});
    let mut script = vec![first];
    script.extend((0..turns).map(|_| next.clone()));
    file.send.echo = None;
    file.send.kinds = serde_json::from_value(kinds).expect(READ);
    file.send.script = serde_json::from_value(script.into()).expect(READ);
    file.receive.retain(|rule| rule.means != Meaning::Echo);
    file.receive.push(of(json!({
        "means": "echo",
        "when": {"/type": "echo"},
        "capture": {"last": "/payload/stamp"},
        "in_order": true,
        "example": r#"{"type":"echo","payload":{"stamp":"00000000000000ab","padding":""}}"#,
    })));
}
