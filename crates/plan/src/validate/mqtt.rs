//! What clients of MQTT may say of themselves.

use crate::error::{PlanError, contradiction};
use crate::variables::{Part, parts};
use crate::{Dialect, PLACEHOLDERS, Plan, Workload};

impl Plan {
    /// # Errors
    /// [`PlanError`] with the key.
    pub(super) fn validate_mqtt(&self) -> Result<(), PlanError> {
        let Some(terms) = &self.message.mqtt else {
            return Ok(());
        };
        let dialect = self.message.dialect;
        if !matches!(dialect, Dialect::Mqtt | Dialect::Mqtt5) {
            return Err(contradiction(
                "message.mqtt",
                "belongs to the dialects `mqtt` and `mqtt5`, and to no other: leave it out, or write \
                 dialect = \"mqtt\"",
            ));
        }
        for (key, text) in terms.texts() {
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
        if lacks_variable(&terms.password) {
            return Err(contradiction(
                "message.mqtt.password",
                "is a text as it stands, and the record holds the plan: put the password into the column \
                 of a data file (connection.data), and write {column} here",
            ));
        }
        if lacks_variable(&terms.client_id) {
            return Err(contradiction(
                "message.mqtt.client_id",
                "is the same for all clients, and a broker closes the connection of the one before: \
                 write {client} or {column} in it",
            ));
        }
        if dialect == Dialect::Mqtt && terms.password.is_some() && terms.username.is_none() {
            return Err(contradiction(
                "message.mqtt.password",
                "has no message.mqtt.username beside it, which MQTT 3.1.1 wants (3.1.2.9): write it too",
            ));
        }
        if terms.subscribe_qos > 1 {
            return Err(contradiction(
                "message.mqtt.subscribe_qos",
                "is neither 0 nor 1: write one of these; there is no QoS 2",
            ));
        }
        let is_published = matches!(self.workload(), Workload::Broadcast | Workload::Rooms);
        if terms.subscribe_qos == 1 && !is_published {
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
