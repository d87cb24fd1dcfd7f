//! What clients of MQTT say of themselves, and what they ask for.

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
}
