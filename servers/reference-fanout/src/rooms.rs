//! Which clients follow which topics.

use crate::outbox::RoomLog;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The places of the clients that follow a topic, and the frames that some of them wait for.
#[derive(Default)]
pub(crate) struct Room {
    pub(crate) members: HashSet<u32>,
    pub(crate) log: RoomLog,
}

/// A room is there while it has a member.
#[derive(Default)]
pub(crate) struct Rooms {
    rooms: HashMap<Rc<str>, Room>,
}

impl Rooms {
    /// Returns the topic's name as the room has it.
    pub(crate) fn join(&mut self, topic: &str, client: u32) -> Rc<str> {
        let name = match self.rooms.get_key_value(topic) {
            Some((name, _)) => Rc::clone(name),
            None => topic.into(),
        };
        let room = self.rooms.entry(Rc::clone(&name)).or_default();
        room.members.insert(client);
        name
    }

    pub(crate) fn leave(&mut self, topic: &str, client: u32) {
        if let Some(room) = self.rooms.get_mut(topic) {
            room.members.remove(&client);
            if room.members.is_empty() {
                self.rooms.remove(topic);
            }
        }
    }

    pub(crate) fn get(&mut self, topic: &str) -> Option<&mut Room> {
        self.rooms.get_mut(topic)
    }
}
