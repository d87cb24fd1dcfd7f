//! Requests over HTTP before the connections.

use super::{Case, Dice, describe};
use plan::Dialect;
use serde_json::json;
use test_servers::Framework;

/// Has the clients of some plans ask for a ticket over HTTP, which their connections show.
pub(super) fn draw(dice: &mut Dice, case: &mut Case) {
    let is_plain =
        case.server.framework == Framework::Plain && case.plan.message.dialect != Dialect::Binary;
    if !dice.once_in(5) || !is_plain {
        return;
    }
    if case.plan.message.definition.is_none() {
        describe(&mut case.plan.message);
    }
    if let Some(file) = &mut case.plan.message.definition {
        let step = json!({
            "url": "/ticket?n={n}",
            "capture": {"ticket": {"json": "/ticket"}},
        });
        let step = serde_json::from_value(step).expect("it is a step of a dialect file");
        file.open.http = vec![step];
        case.server.tickets = true;
        let query = &mut case.plan.connection.query;
        query.push("ticket={ticket}".to_owned());
    }
}
