//! The frameworks whose message formats the servers of this crate can speak.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// A family of message formats (docs/protocol.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Framework {
    /// Text and binary.
    #[default]
    Plain,
    /// Phoenix channels; the query parameter `vsn` chooses the serializer of a connection.
    Phoenix,
    /// Action Cable.
    ActionCable,
    /// Socket.IO.
    SocketIo,
    /// MQTT; the query parameters `mqtt=5` and `qos=1` choose the version and the QoS of deliveries.
    Mqtt,
}

impl Framework {
    /// The subprotocol that a server of this framework chooses.
    pub(crate) const fn subprotocol(self) -> Option<&'static str> {
        match self {
            Self::ActionCable => Some("actioncable-v1-json"),
            Self::Mqtt => Some("mqtt"),
            Self::Plain | Self::Phoenix | Self::SocketIo => None,
        }
    }

    /// A handshake without an `Origin` is refused.
    pub(crate) const fn needs_origin(self) -> bool {
        matches!(self, Self::ActionCable)
    }
}
