//! What servers send by themselves.

use super::bytes::are_bytes;
use super::{Case, Dice, describe};
use plan::{Clients, Population, Rule};
use serde_json::json;
use std::time::Duration;
use test_servers::Framework;
use test_servers::oracle::{Feeding, Strikes};

/// Has the servers of some plans send a feed, with faults by number that never meet.
pub(super) fn draw(dice: &mut Dice, case: &mut Case) {
    let (every, keys) = (dice.one_of(&[0, 12, 15, 40]), dice.one_of(&[1, 1, 2, 3]));
    let (burst, resumes) = (dice.one_of(&[1, 2, 3]), dice.once_in(2));
    let silent = dice.one_of(&[0, 0, 3]);
    let is_plain = case.server.framework == Framework::Plain && !are_bytes(&case.plan.message);
    // What is watched is what clients publish.
    if !dice.once_in(3) || !is_plain || case.plan.watch().is_some() {
        return;
    }
    // A search takes a load with faults for one that the server does not carry.
    let is_wrong = !matches!(case.plan.clients, Clients::Search(_));
    let strikes = |first| Strikes {
        every: every * u64::from(is_wrong),
        first,
    };
    case.server.feed = Some(Feeding {
        burst,
        keys,
        stale: Duration::ZERO,
        early: Duration::ZERO,
        silent: Strikes {
            every: silent,
            first: 1,
        },
        lost: strikes(2),
        repeated: strikes(5),
        swapped: strikes(8),
    });
    if case.plan.message.definition.is_none() {
        describe(&mut case.plan.message);
    }
    // The numbers of this server begin anew with each connection.
    let returns = case.plan.populations.iter().any(Population::leaves);
    if let Some(file) = &mut case.plan.message.definition {
        file.receive.insert(0, rule(keys, resumes && !returns));
    }
}

fn rule(keys: u32, resumes: bool) -> Rule {
    let mut rule = json!({
        "means": "feed",
        "when": {"/type": "feed"},
        "sequence": "/seq",
        "sent_at": "/sent",
        "sent_unit": "us",
    });
    if keys > 1 {
        rule["key"] = json!("/of");
    }
    rule["resumes"] = json!(resumes);
    serde_json::from_value(rule).expect("it is a rule of a dialect file")
}
