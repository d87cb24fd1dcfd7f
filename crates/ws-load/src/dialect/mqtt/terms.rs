//! What a plan says of its clients of MQTT.

use super::introduction::{Introduction, LONGEST, TooLong};
use crate::dialect::Variables;
use crate::lines::Lines;
use plan::{DialectFile, Message, MqttTerms, Part, parts};

#[derive(Debug, Default)]
pub(in crate::dialect) struct Terms {
    own: MqttTerms,
    longest_packet: usize,
}

impl Terms {
    /// Those of a plan whose requests carry these lines.
    pub(in crate::dialect) fn new(message: &Message, lines: Option<&Lines>) -> Self {
        let line = lines.map_or(0, Lines::longest);
        let payload = message.longest_padding().max(line);
        Self {
            own: message.mqtt.clone().unwrap_or_default(),
            longest_packet: payload.saturating_add(DialectFile::ENVELOPE) as usize,
        }
    }

    pub(super) const fn subscribe_qos(&self) -> u8 {
        self.own.subscribe_qos
    }

    /// The longest packet that goes on in further messages of WebSocket, in bytes.
    pub(super) const fn longest_packet(&self) -> usize {
        self.longest_packet
    }

    pub(super) const fn names_user(&self) -> bool {
        self.own.username.is_some() || self.own.password.is_some()
    }

    /// # Errors
    /// [`TooLong`] with the key.
    pub(super) fn introduction(&self, variables: &dyn Variables) -> Result<Introduction, TooLong> {
        let mut own = Introduction::default();
        for (key, text) in self.own.texts() {
            let mut out = Vec::new();
            for part in parts(text) {
                match part {
                    Part::Text(text) => out.extend_from_slice(text.as_bytes()),
                    Part::Variable(name) => variables.write(name, &mut out),
                }
            }
            if out.len() > LONGEST {
                return Err(TooLong(key));
            }
            let into = match key {
                "message.mqtt.username" => &mut own.username,
                "message.mqtt.password" => &mut own.password,
                _ => &mut own.client_id,
            };
            *into = Some(out);
        }
        Ok(own)
    }
}
