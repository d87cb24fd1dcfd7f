//! Answers that come in parts.

use super::bytes::are_bytes;
use super::{Case, Dice, describe};
use plan::{Audience, Clients, Load, Rule};
use serde_json::json;
use test_servers::Framework;
use test_servers::oracle::{Parting, Strikes};

/// Has the servers of some plans of echoes answer in parts, with faults by number that never meet.
pub(super) fn draw(dice: &mut Dice, case: &mut Case) {
    let (every, each) = (dice.one_of(&[0, 12, 15, 40]), dice.one_of(&[3, 4, 9]));
    let is_plain = case.server.framework == Framework::Plain && !are_bytes(&case.plan.message);
    let has_echoes =
        case.plan.audience == Audience::Sender && !matches!(case.plan.load, Load::Connect(_));
    if !dice.once_in(2) || !is_plain || !has_echoes {
        return;
    }
    // A search takes a load with faults for one that the server does not carry.
    let is_wrong = !matches!(case.plan.clients, Clients::Search(_));
    let strikes = |first| Strikes {
        every: every * u64::from(is_wrong),
        first,
    };
    case.server.parts = Some(Parting {
        each,
        lost: strikes(2),
        repeated: strikes(5),
        swapped: strikes(8),
    });
    if case.plan.message.definition.is_none() {
        describe(&mut case.plan.message);
    }
    if let Some(file) = &mut case.plan.message.definition {
        file.receive.insert(0, rule());
    }
}

fn rule() -> Rule {
    let rule = json!({
        "means": "progress",
        "when": {"/type": "part"},
        "stamp": "/id",
        "part": "/index",
        "example": r#"{"type":"part","id":"{stamp}","index":1}"#,
    });
    serde_json::from_value(rule).expect("it is a rule of a dialect file")
}
