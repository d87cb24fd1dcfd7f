//! What the sender of a broadcast or a publication gets: a copy or none, a result or none.

use super::case::bytes::are_bytes;
use super::case::{Dice, describe};
use plan::{Audience, Dialect, Meaning, Plan, built_in_dialect};
use test_servers::oracle::{OracleOptions, Strikes};

/// What a sender gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Returns {
    copy: bool,
    result: bool,
}

impl Returns {
    const BOTH: Self = Self {
        copy: true,
        result: true,
    };

    /// Has some plans have a dialect file which says that senders do not get both.
    pub(super) fn draw(dice: &mut Dice, plan: &mut Plan) -> Self {
        let message = &mut plan.message;
        let to_itself = plan.audience == Audience::Sender;
        if !dice.once_in(3) || to_itself || are_bytes(message) {
            return Self::BOTH;
        }
        let [copy, result] = dice.one_of(&[[true, false], [false, true], [false, false]]);
        match message.dialect {
            Dialect::Phoenix => {
                let is_2 = plan.target.url.contains("vsn=2");
                let name = if is_2 { "phoenix-2" } else { "phoenix" };
                message.definition = built_in_dialect(name).map(|file| Box::new(file.clone()));
                message.dialect = Dialect::File;
            }
            Dialect::File => {}
            _ => describe(message),
        }
        if let Some(file) = &mut message.definition {
            file.send.reaches_sender = copy;
            file.send.acknowledged = Some(result);
            let is_result = |means: Meaning| matches!(means, Meaning::Result | Meaning::Published);
            file.receive.retain(|rule| result || !is_result(rule.means));
        }
        Self { copy, result }
    }

    /// The server that gives them that.
    pub(super) fn given_by(self, server: OracleOptions) -> OracleOptions {
        let mut server = OracleOptions {
            passes_sender_over: !self.copy,
            acknowledges_nothing: !self.result,
            ..server
        };
        if !self.result {
            server.unanswered = Strikes::default();
            // What goes to the wrong clients is not read with the last copy, and no result ends a sample
            // later.
            server.misdirected = Strikes::default();
        }
        server
    }
}
