//! The rows of a list, sorted into its connections.

use super::super::frames::{Frames, Raw};
use super::super::har::Connection;
use super::super::limits::MOST_CONNECTIONS;
use super::super::loose::{Collect as _, Loose, Object};
use super::columns::Direction;
use super::error::{ListError, Why};
use std::collections::HashMap;

/// What a row says.
#[derive(Debug, Default)]
pub(super) struct Row {
    pub(super) time: Loose,
    pub(super) text: Loose,
    pub(super) opcode: Loose,
    pub(super) connection: String,
}

/// A connection, and the lines that its frames are in.
#[derive(Debug, Default)]
struct Talk {
    frames: Frames,
    lines: Vec<u64>,
}

/// The connections so far.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// The line of the last row.
    pub(super) line: u64,
    by_name: HashMap<String, usize>,
    talks: Vec<Talk>,
}

impl Rows {
    /// Adds a row of the list.
    ///
    /// # Errors
    /// When there are too many connections.
    pub(super) fn take(&mut self, direction: Direction, row: Row) -> Result<(), ListError> {
        let next = self.talks.len();
        let place = *self.by_name.entry(row.connection).or_insert(next);
        if place == next {
            if next == MOST_CONNECTIONS {
                return Err(Why::Connections(MOST_CONNECTIONS).at(self.line));
            }
            self.talks.push(Talk::default());
        }
        let talk = &mut self.talks[place];
        talk.lines.push(self.line);
        let is_sent = match direction {
            Direction::Sent => true,
            Direction::Heard => false,
            Direction::Neither => {
                talk.frames.take(Object(None));
                return Ok(());
            }
        };
        let raw = Raw::new(is_sent, row.time, row.opcode, row.text);
        talk.frames.take(Object(Some(raw)));
        Ok(())
    }

    /// The direction that a word in the column of this name says.
    ///
    /// # Errors
    /// When it says none.
    pub(super) fn direction(&self, name: &'static str, word: &str) -> Result<Direction, ListError> {
        Direction::named(word).ok_or_else(|| Why::NoDirection(name).at(self.line))
    }

    /// # Errors
    /// When there is no frame, or the list begins with its end.
    pub(super) fn into_connections(self, url: Option<&str>) -> Result<Vec<Connection>, ListError> {
        let mut connections = Vec::new();
        for mut talk in self.talks {
            talk.frames.end();
            if talk.frames.all.is_empty()
                && talk.frames.binary_heard == 0
                && talk.frames.unfit.is_none()
            {
                continue;
            }
            if is_backwards(&talk.frames) {
                return Err(Why::Backwards.at(talk.lines[0]));
            }
            if let Some((number, why)) = &mut talk.frames.unfit {
                *why = format!("(line {}) {why}", talk.lines[*number - 1]);
            }
            connections.push(Connection {
                number: connections.len() + 1,
                url: url.map(str::to_owned),
                headers: Vec::new(),
                is_compressed: false,
                frames: talk.frames,
            });
        }
        match connections.is_empty() {
            true => Err(Why::NoFrame.at(self.line)),
            false => Ok(connections),
        }
    }
}

/// True of frames whose times never rise and do fall: a list that has the latest on top.
fn is_backwards(frames: &Frames) -> bool {
    let times = || frames.all.iter().map(|frame| frame.time);
    let steps = || times().zip(times().skip(1));
    steps().any(|(one, next)| next < one) && !steps().any(|(one, next)| next > one)
}
