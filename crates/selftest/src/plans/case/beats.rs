//! Heartbeats of the clients, and questions of the server.

use super::{Case, Dice};
use plan::{Dialect, DialectFile, Heartbeat, Rule, built_in_dialect};
use serde_json::json;
use std::time::Duration;
use test_servers::Framework;

/// A server ends connections that are silent for so long: much longer than a busy machine keeps a
/// heartbeat back.
const SILENCE: Duration = Duration::from_secs(5);

/// What a dialect file of text has besides where clients beat and are asked.
fn of_text() -> (Heartbeat, Vec<Rule>) {
    let heartbeat = json!({
        "every": "300ms",
        "send": r#"{"type":"heartbeat","client":{client}}"#,
    });
    let receive = json!([
        {"means": "heartbeat", "when": {"/type": "heard"}},
        {
            "means": "keep-alive",
            "when": {"/type": "question"},
            "capture": {"what": "/what"},
            "send": r#"{"type":"answer","to":{what}}"#,
        },
    ]);
    const READ: &str = "these are parts of a dialect file";
    (
        serde_json::from_value(heartbeat).expect(READ),
        serde_json::from_value(receive).expect(READ),
    )
}

/// Has the clients of some plans beat, whose server ends those that do not.
pub(super) fn draw(dice: &mut Dice, case: &mut Case) {
    let (jitter, asks) = (dice.one_of(&[0.0, 0.5]), dice.one_of(&[0, 1, 3]));
    let message = &mut case.plan.message;
    let of_text = message
        .definition
        .as_deref()
        .filter(|file| file.name == "text");
    let Some(mut file) = (match (case.server.framework, of_text) {
        (Framework::Plain, Some(file)) => {
            case.server.asks = asks;
            Some(with_heartbeats(file))
        }
        (Framework::Phoenix, _) if dice.once_in(2) => {
            let is_2 = case.plan.target.url.contains("vsn=2.");
            let own = message.definition.as_deref().cloned();
            Some(own.unwrap_or_else(|| phoenix(is_2)))
        }
        _ => None,
    }) else {
        return;
    };
    if let Some(beat) = &mut file.heartbeat {
        beat.every = "300ms".to_owned();
        beat.jitter = jitter;
    }
    case.server.silence = Some(SILENCE);
    message.dialect = Dialect::File;
    message.definition = Some(Box::new(file));
}

fn with_heartbeats(file: &DialectFile) -> DialectFile {
    let (heartbeat, rules) = of_text();
    let mut file = file.clone();
    file.heartbeat = Some(heartbeat);
    file.receive.extend(rules);
    file
}

fn phoenix(is_2: bool) -> DialectFile {
    let name = if is_2 { "phoenix-2" } else { "phoenix" };
    let file = built_in_dialect(name);
    file.cloned().expect("dialects/ has both of Phoenix")
}
