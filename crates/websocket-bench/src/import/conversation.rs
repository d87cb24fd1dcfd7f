//! What was said on a connection: the texts of both sides and their times, without control frames and
//! without the heartbeats that a dialect answers by itself.

use super::error::ImportError;
use super::har::Connection;
use super::leaves::leaves;
use super::limits::MOST_SENDS;
use super::purposes::says_purpose;
use super::secrets::{is_demand, is_secret_name};

/// Longest last line of a text that asks for a secret, in bytes.
const LONGEST_PROMPT: usize = 120;

/// What the server said before a message of the client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Asked {
    #[default]
    Nothing,
    /// A message that asks who the client is: `auth_required`.
    WhoItIs,
    /// A prompt: `Password:`.
    ByPrompt,
}

/// A message of a conversation.
#[derive(Debug)]
pub(super) struct Said<'c> {
    /// Nanoseconds since the first message of the connection.
    pub(super) at_ns: u64,
    pub(super) text: &'c str,
    /// Its number in the capture's list, from 1 on.
    pub(super) number: u32,
    pub(super) is_sent: bool,
    /// What the server last asked for, of a message of the client.
    pub(super) asked: Asked,
}

/// A conversation.
#[derive(Debug)]
pub(super) struct Conversation<'c> {
    pub(super) said: Vec<Said<'c>>,
    /// The server speaks Engine.IO 4.
    pub(super) is_engine_io: bool,
    /// The server's heartbeats of Engine.IO (`2`), which are answered with `3`.
    pub(super) heartbeats: usize,
    /// The longest message of the server, in bytes at most.
    pub(super) longest_heard: usize,
}

impl<'c> Conversation<'c> {
    /// # Errors
    /// When a message cannot be carried by a plan.
    pub(super) fn new(connection: &'c Connection) -> Result<Self, ImportError> {
        let frames = &connection.frames;
        let number = connection.number;
        if let Some((message, why)) = &frames.unfit {
            return Err(ImportError::Message {
                message: *message,
                number,
                why: why.clone(),
            });
        }
        let first = frames.all.iter().map(|frame| frame.time);
        let first = first.clone().find(|time| !time.is_nan()).unwrap_or(0.0);
        let mut at_ns = 0;
        let mut said = Vec::with_capacity(frames.all.len());
        for frame in &frames.all {
            // A float above a day's nanoseconds becomes one that no plan has, and is refused there.
            // Of no number the greater is 0.
            let since = ((frame.time - first).max(0.0) * 1e6).round() as u64;
            at_ns = since.saturating_mul(1000).max(at_ns);
            said.push(Said {
                at_ns,
                text: frames.text(frame),
                number: frame.number,
                is_sent: frame.is_sent,
                asked: Asked::Nothing,
            });
        }
        let mut asked = Asked::Nothing;
        for said in &mut said {
            if said.is_sent {
                said.asked = asked;
            } else {
                asked = asks(said.text);
            }
        }
        let is_engine_io = is_engine_io(connection.url.as_deref().unwrap_or_default(), &said);
        let mut conversation = Self {
            said,
            is_engine_io,
            heartbeats: 0,
            longest_heard: frames.longest_binary,
        };
        let heard = conversation.heard().map(|said| said.text.len()).max();
        conversation.longest_heard = frames.longest_binary.max(heard.unwrap_or(0));
        if is_engine_io {
            conversation.take_heartbeats();
        }
        let sends = conversation.sends().count();
        if sends == 0 {
            return Err(ImportError::Silent { number });
        }
        if sends > MOST_SENDS {
            return Err(ImportError::ManySends { number, sends });
        }
        Ok(conversation)
    }

    pub(super) fn sends(&self) -> impl Iterator<Item = &Said<'c>> {
        self.said.iter().filter(|said| said.is_sent)
    }

    pub(super) fn heard(&self) -> impl Iterator<Item = &Said<'c>> {
        self.said.iter().filter(|said| !said.is_sent)
    }

    /// Engine.IO 4: the server says `2` and the client answers `3`.
    fn take_heartbeats(&mut self) {
        let is_question = |said: &Said<'_>| !said.is_sent && said.text == "2";
        self.heartbeats = self.said.iter().filter(|said| is_question(said)).count();
        if self.heartbeats > 0 {
            self.said
                .retain(|said| !(is_question(said) || said.is_sent && said.text == "3"));
        }
    }
}

/// What a message of the server asks for.
fn asks(text: &str) -> Asked {
    let mut asked = match is_prompt(text) {
        true => Asked::ByPrompt,
        false if is_demand(text.trim()) => Asked::WhoItIs,
        false => Asked::Nothing,
    };
    for leaf in leaves(text).filter(|leaf| leaf.is_string) {
        let value = &text[leaf.range];
        let said = value.replace("\\n", "\n").replace("\\r", "\r");
        if is_prompt(&said) {
            return Asked::ByPrompt;
        }
        if (says_purpose(leaf.key) || leaf.key == "value") && is_demand(value) {
            asked = Asked::WhoItIs;
        }
    }
    asked
}

/// True of a text whose last line asks for a secret, as `Password for ann:` does.
fn is_prompt(text: &str) -> bool {
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || c == '\0');
    let line = text.rsplit(['\n', '\r']).next().unwrap_or_default();
    let words = || line.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
    line.len() <= LONGEST_PROMPT
        && line.ends_with([':', '?', '>', '：'])
        && words().any(|word| is_secret_name(word) || word.eq_ignore_ascii_case("login"))
}

/// The URL asks for a version of Engine.IO, or the server begins with the packet that opens it.
fn is_engine_io(url: &str, said: &[Said<'_>]) -> bool {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let opens = |said: &&Said<'_>| !said.is_sent;
    let first = said.iter().find(opens).map_or("", |said| said.text);
    query.split(['&', '#']).any(|pair| pair.starts_with("EIO="))
        || first.starts_with("0{") && first.contains("\"pingInterval\"")
}
