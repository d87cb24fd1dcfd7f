//! The topics of rooms.

/// A topic is this and the number of its room.
pub(super) const TOPIC: &str = "room-";

/// The topic of a room.
pub(crate) fn topic_of(room: u32) -> String {
    format!("{TOPIC}{room}")
}

/// The room of a topic, if it is one of a run.
pub(super) fn room_of(topic: &str) -> Option<u32> {
    let digits = topic.strip_prefix(TOPIC)?;
    let room = digits.parse().ok()?;
    // One spelling: no sign, no leading zeros.
    (u32::to_string(&room) == digits).then_some(room)
}
