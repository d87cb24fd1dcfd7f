//! Names of fields that say what a message is.

/// What the value of such a field says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Says {
    /// Which kind of message it is: messages of one kind have the same value.
    Kind,
    /// What the message is for or about: messages of one kind may have others.
    Purpose,
}

const NAMES: [(&str, Says); 32] = [
    ("type", Says::Kind),
    ("event", Says::Kind),
    ("op", Says::Kind),
    ("method", Says::Kind),
    ("action", Says::Kind),
    ("kind", Says::Kind),
    ("cmd", Says::Kind),
    ("command", Says::Kind),
    ("status", Says::Kind),
    ("t", Says::Kind),
    ("e", Says::Kind),
    ("opcode", Says::Kind),
    ("messageType", Says::Kind),
    ("msg", Says::Purpose),
    ("ch", Says::Purpose),
    ("name", Says::Purpose),
    ("request", Says::Purpose),
    ("service", Says::Purpose),
    ("fn", Says::Purpose),
    ("func", Says::Purpose),
    ("m", Says::Purpose),
    ("target", Says::Purpose),
    ("procedure", Says::Purpose),
    ("topic", Says::Purpose),
    ("channel", Says::Purpose),
    ("subject", Says::Purpose),
    ("route", Says::Purpose),
    ("path", Says::Purpose),
    ("url", Says::Purpose),
    ("uri", Says::Purpose),
    ("grant_type", Says::Purpose),
    ("function", Says::Purpose),
];

/// True of a field whose value is the same in all messages of a kind.
pub(super) fn says_kind(name: &str) -> bool {
    NAMES.contains(&(name, Says::Kind))
}

/// True of a field that says what a message is, or what it is for.
pub(super) fn says_purpose(name: &str) -> bool {
    NAMES.iter().any(|(known, _)| *known == name)
}
