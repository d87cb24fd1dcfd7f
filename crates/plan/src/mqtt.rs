//! What clients of MQTT say of themselves, and what they ask for.

use super::error::{PlanError, contradiction};
use super::variables::{Part, parts};
use super::{Dialect, PLACEHOLDERS, Plan, Workload};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of the dialects `mqtt` and `mqtt5`. `{column}` in a text is the column of that name in
/// `connection.data`, of the client's row; `{client}` is the number of the client in the run, from 0 on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MqttTerms {
    /// The name of the user in CONNECT (MQTT 3.1.1, 3.1.3.4).
    pub username: Option<String>,
    /// The password in CONNECT (3.1.3.5), as `{password}` for that column. The record holds the plan:
    /// a password may not be in it.
    pub password: Option<String>,
    /// The identifier of the client in CONNECT (3.1.3.1), another one for each, as `bench-{client}`. Without
    /// it the broker chooses.
    pub client_id: Option<String>,
    /// The QoS of the subscriptions, 0 or 1. With 1 the broker delivers each message with QoS 1, and the
    /// client answers it with PUBACK.
    #[schemars(range(max = 1))]
    pub subscribe_qos: u8,
}

impl MqttTerms {
    /// The texts with variables, each with its key.
    pub fn texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = [
            ("message.mqtt.username", &self.username),
            ("message.mqtt.password", &self.password),
            ("message.mqtt.client_id", &self.client_id),
        ];
        let given = |(key, text): (&'static str, _)| Some((key, Option::as_deref(text)?));
        all.into_iter().filter_map(given)
    }

    /// # Errors
    /// [`PlanError`] with the key.
    pub(crate) fn validate(&self, plan: &Plan) -> Result<(), PlanError> {
        let dialect = plan.message.dialect;
        if !matches!(dialect, Dialect::Mqtt | Dialect::Mqtt5) {
            return Err(contradiction(
                "message.mqtt",
                "belongs to the dialects `mqtt` and `mqtt5`, and to no other: leave it out, or write \
                 dialect = \"mqtt\"",
            ));
        }
        for (key, text) in self.texts() {
            let is_of_request = |name: &str| PLACEHOLDERS.contains(&name);
            if variables(text).any(is_of_request) {
                return Err(contradiction(
                    key,
                    "has a placeholder that only requests have: write {client} or {column}, and {{ for a \
                     brace",
                ));
            }
        }
        let lacks_variable = |text: &Option<String>| {
            let text = text.as_deref();
            text.is_some_and(|text| variables(text).next().is_none())
        };
        if lacks_variable(&self.password) {
            return Err(contradiction(
                "message.mqtt.password",
                "is a text as it stands, and the record holds the plan: put the password into the column \
                 of a data file (connection.data), and write {column} here",
            ));
        }
        if lacks_variable(&self.client_id) {
            return Err(contradiction(
                "message.mqtt.client_id",
                "is the same for all clients, and a broker closes the connection of the one before: \
                 write {client} or {column} in it",
            ));
        }
        if dialect == Dialect::Mqtt && self.password.is_some() && self.username.is_none() {
            return Err(contradiction(
                "message.mqtt.password",
                "has no message.mqtt.username beside it, which MQTT 3.1.1 wants (3.1.2.9): write it too",
            ));
        }
        if self.subscribe_qos > 1 {
            return Err(contradiction(
                "message.mqtt.subscribe_qos",
                "is neither 0 nor 1: QoS 2 is not implemented",
            ));
        }
        let is_published = matches!(plan.workload(), Workload::Broadcast | Workload::Rooms);
        if self.subscribe_qos == 1 && !is_published {
            return Err(contradiction(
                "message.mqtt.subscribe_qos",
                "is for broadcasts and rooms: an echo is published with QoS 0, and comes back with it",
            ));
        }
        Ok(())
    }
}

fn variables(text: &str) -> impl Iterator<Item = &str> {
    parts(text).into_iter().filter_map(|part| match part {
        Part::Variable(name) => Some(name),
        Part::Text(_) => None,
    })
}
