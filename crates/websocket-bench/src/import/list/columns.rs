//! What the columns of a list are for, by their names.

/// What is known of a frame. A name that comes earlier is taken where a list has several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Time,
    Direction,
    Text,
    Opcode,
    Connection,
}

impl Column {
    pub(super) const ALL: [Self; 5] = [
        Self::Time,
        Self::Direction,
        Self::Text,
        Self::Opcode,
        Self::Connection,
    ];

    pub(super) const fn names(self) -> &'static [&'static str] {
        match self {
            Self::Time => &["time", "timestamp", "ts"],
            Self::Direction => &["direction", "dir", "type"],
            Self::Text => &["text", "data", "message", "payload"],
            Self::Opcode => &["opcode"],
            Self::Connection => &["connection", "connection_id", "session", "session_id"],
        }
    }

    /// The column with a name, in upper or lower case, and the place of the name among its names.
    pub(super) fn named(name: &str) -> Option<(Self, usize)> {
        Self::ALL.into_iter().find_map(|column| {
            let names = column.names();
            let place = names.iter().position(|of| of.eq_ignore_ascii_case(name))?;
            Some((column, place))
        })
    }

    /// True of a column that only a list of frames is likely to have.
    pub(super) const fn tells(self) -> bool {
        matches!(self, Self::Direction | Self::Text)
    }
}

/// Who says a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Sent,
    Heard,
    /// The row is about the connection.
    Neither,
}

impl Direction {
    /// The words for it, in upper or lower case. `None` of another word.
    pub(super) fn named(word: &str) -> Option<Self> {
        match &*word.trim().to_ascii_lowercase() {
            "send" | "sent" | "out" | "tx" | ">" | "client" => Some(Self::Sent),
            "receive" | "received" | "in" | "rx" | "<" | "server" => Some(Self::Heard),
            "" | "open" | "close" | "connect" | "disconnect" | "ping" | "pong" | "error" => {
                Some(Self::Neither)
            }
            _ => None,
        }
    }
}
