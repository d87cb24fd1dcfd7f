//! A dialect file becomes an interpreter, and each of its rules is shown to understand its own example.

use super::Interpreter;
use crate::dialect::bytes::{self, Framing};
use crate::dialect::error::DialectError;
use crate::dialect::feed::FeedTerms;
use crate::dialect::heartbeat;
use crate::dialect::kinds::Kinds;
use crate::dialect::payload::Body;
use crate::dialect::place::{OPEN, is_answer};
use crate::dialect::requirements::{self, READY};
use crate::dialect::rules::Rules;
use crate::dialect::template::shown;
use crate::dialect::{Codec as _, Returns, Said, Stamps, Variables};
use plan::{DialectFile, Meaning, MessageType, OriginRule, Rule, Workload};
use std::sync::Arc;
use ws_proto::Opcode;

/// Most characters of an example that are shown.
const SHOWN_EXAMPLE: usize = 300;

/// Checks that requests can be written as a dialect file says, and their answers understood: each
/// rule for an answer has to understand its own example.
///
/// # Errors
/// The first thing that makes no sense, with its key and a remedy.
pub fn check_dialect(file: &DialectFile) -> Result<(), DialectError> {
    let stamps = Stamps::of_run(1);
    for padding in ["", "1234567890"] {
        let body = Body::new(padding.to_owned());
        let interpreter = Interpreter::compile(file, body, "ws://127.0.0.1/", stamps)?;
        let rules = file.receive.iter().enumerate();
        for (index, rule) in rules.filter(|(_, rule)| rule.example.is_some()) {
            interpreter.prove(index, rule, 41)?;
        }
    }
    Ok(())
}

impl Interpreter {
    /// Checks that each answer of a file is understood, whatever line it carries.
    ///
    /// # Errors
    /// The place of the first line that is not, from 0 on, and why.
    pub(in crate::dialect) fn prove_lines(
        &self,
        file: &DialectFile,
    ) -> Result<(), (u64, DialectError)> {
        let Some(lines) = self.body.lines() else {
            return Ok(());
        };
        // JSON has no control character within a string.
        let separates = |of: &str| !of.contains(char::is_control) || self.receive.is_raw();
        if !self.receive.may_cut() && !self.separator.as_deref().is_some_and(separates) {
            return Ok(());
        }
        let rules = file.receive.iter().enumerate();
        for (index, rule) in rules.filter(|(_, rule)| is_answer(rule.means)) {
            for number in 0..lines.count() as u64 {
                let proved = self.prove(index, rule, number);
                proved.map_err(|error| (number, error))?;
            }
        }
        Ok(())
    }

    /// Compiles a file for the requests that carry `body`, to the server at `url`.
    ///
    /// # Errors
    /// As [`check_dialect`], but for examples that are not understood.
    pub(in crate::dialect) fn compile(
        file: &DialectFile,
        body: Body,
        url: &str,
        stamps: Stamps,
    ) -> Result<Self, DialectError> {
        bytes::check(file)?;
        let framing = Framing::new(file)?;
        let outline = file.outlined();
        requirements::check(&outline)?;
        let request = |of: Option<(&str, &str)>| {
            of.map(|(text, key)| bytes::request(file, key, text, &body))
                .transpose()
        };
        let of_topic = |of: Option<(&str, &str)>| {
            of.map(|(text, key)| bytes::of_topic(file, key, text, &body))
                .transpose()
        };
        let (subscribe, unsubscribe) = (&file.send.subscribe, &file.send.unsubscribe);
        let subscribe = subscribe.as_deref().map(|text| (text, "send.subscribe"));
        let unsubscribe = unsubscribe
            .as_deref()
            .map(|text| (text, "send.unsubscribe"));
        let outlines = |rules| framing.map(|_| rules);
        let first = file.open.send.as_deref();
        Ok(Self {
            name: file.name.clone(),
            opcode: match file.opcode {
                MessageType::Text => Opcode::Text,
                MessageType::Binary => Opcode::Binary,
            },
            subprotocol: file.subprotocol.clone(),
            origin: match file.origin {
                OriginRule::None => None,
                OriginRule::Server => origin_of(url),
            },
            ignores_all_else: ignores_all_else(file),
            // Publications over HTTP go out on several connections, which keep no order among each other.
            keeps_order: file.keeps_order && file.send.http.is_none(),
            returns: Returns {
                copy: file.send.reaches_sender,
                result: file.send.is_acknowledged(),
            },
            separator: file.separator.clone(),
            framing,
            first: first
                .map(|first| {
                    let returning = file.open.returning.as_deref();
                    bytes::opening(file, ("open", first), returning)
                })
                .transpose()?,
            ready_after: file.open.ready_after,
            opening: {
                let outlines = outlines(&outline.open.receive[..]);
                Rules::compile(OPEN, &file.open.receive, outlines, file)?
            },
            receive: Rules::compile(READY, &file.receive, outlines(&outline.receive[..]), file)?,
            kinds: Kinds::compile(file, &body)?,
            captures: outline.captured().next().is_some(),
            renews: outline.receive.iter().any(is_renewing),
            kept: outline.kept().into_iter().map(str::to_owned).collect(),
            answers_in_order: file.receive.iter().any(|rule| rule.in_order),
            by_sequence: outline
                .receive
                .iter()
                .filter(|rule| is_answer(rule.means) && rule.has_sequence())
                .map(|rule| rule.means)
                .collect(),
            broadcast: request(file.broadcast())?,
            publish: of_topic(file.publication())?,
            subscribe: of_topic(subscribe)?.map(Arc::new),
            unsubscribe: of_topic(unsubscribe)?,
            topic_prefix: file.topic_prefix.clone(),
            exchanges: file
                .open
                .receive
                .iter()
                .any(|rule| rule.means == Meaning::Ready),
            examples: file.receive.iter().filter_map(example).collect(),
            heartbeat: heartbeat::compile(file, &outline)?,
            feed: FeedTerms::new(&outline.receive),
            has_parts: file.receive.iter().any(is_part),
            body,
            stamps,
        })
    }

    /// The same without the requests that a plan does not make, each of which holds the padding.
    pub(in crate::dialect) fn only(mut self, workload: Workload) -> Self {
        if !matches!(workload, Workload::Echo | Workload::Connect) {
            self.kinds.forget_templates();
        }
        self.broadcast = self.broadcast.filter(|_| workload == Workload::Broadcast);
        self.publish = self.publish.filter(|_| workload == Workload::Rooms);
        self.answers_in_order &= workload == Workload::Echo;
        self.has_parts &= workload == Workload::Echo;
        self.by_sequence.retain(|means| match means {
            Meaning::Echo => workload == Workload::Echo,
            Meaning::Result => workload == Workload::Broadcast,
            _ => workload == Workload::Rooms,
        });
        // Connections that are held hear no requests.
        self.ready_after = self.ready_after.filter(|_| workload != Workload::Connect);
        self
    }

    /// Checks that a rule understands its own example, as an answer to the request of this number.
    fn prove(&self, index: usize, rule: &Rule, number: u64) -> Result<(), DialectError> {
        let key = format!("{READY}[{}].example", index + 1);
        const ROOM: u32 = 17;
        let stamp = self.stamps.stamp(number);
        let mut message = Vec::new();
        let (framing, prefix) = (self.framing, &self.topic_prefix);
        let example = bytes::example(&key, rule, framing, prefix, &self.body)?;
        example.write(ROOM, stamp, &FirstMessage, &mut message);
        let (message, behind) = match framing {
            Some(_) => (&message[..], &[][..]),
            None => self.cut(&message),
        };
        if !behind.is_empty() {
            return Err(DialectError::unfit(
                key,
                "has the `separator` within it",
                "write one message, in which the separator cannot stand",
            ));
        }
        let problem = match self.receive.find(message) {
            Err(why) => why.words(message),
            Ok(found) if found.index != index => {
                format!("rule {} matches it first", found.index + 1)
            }
            Ok(found) if [found.part(), found.parts()].contains(&Said::Unreadable) => {
                "the number of the part, or of the parts, is not found in it".to_owned()
            }
            Ok(_) if rule.in_order => return Ok(()),
            Ok(found) if found.sequence() == Some(1) => return Ok(()),
            Ok(found) => match found.carried(&self.body, self.stamps) {
                Some((carried, true)) if carried == stamp => match self.topic(&found) {
                    Ok(topic) if topic.is_none_or(|room| room == ROOM) => return Ok(()),
                    _ => "the topic is not found in it".to_owned(),
                },
                _ => "what was sent is not found in it".to_owned(),
            },
        };
        Err(DialectError::unfit(
            key,
            format!("is not understood by its own rule: {problem}"),
            "write an answer as the server sends it, with {payload} or {stamp} in its place",
        ))
    }
}

/// Those of the first message of a connection.
struct FirstMessage;

impl Variables for FirstMessage {
    fn write(&self, _name: &str, out: &mut Vec<u8>) {
        out.push(b'1');
    }
}

fn is_part(rule: &Rule) -> bool {
    rule.means == Meaning::Progress
}

fn is_renewing(rule: &Rule) -> bool {
    !rule.capture.is_empty() && rule.means != Meaning::KeepAlive
}

/// True of a rule that tells something for later messages.
/// True of a script whose last rule passes over whatever no other takes.
fn ignores_all_else(file: &DialectFile) -> bool {
    let is_open =
        |rule: &Rule| rule.means == Meaning::Ignored && rule.pattern.as_deref() == Some("{any}");
    !file.send.script.is_empty() && file.receive.last().is_some_and(is_open)
}

fn example(rule: &Rule) -> Option<(Meaning, String)> {
    let shown = shown(rule.example.as_deref()?);
    let says_nothing = !shown.contains(char::is_alphanumeric);
    let words = match says_nothing {
        true => "the text that was sent, as it was sent".to_owned(),
        false => match shown.char_indices().nth(SHOWN_EXAMPLE) {
            Some((end, _)) => format!("{}...", &shown[..end]),
            None => shown,
        },
    };
    Some((rule.means, words))
}

/// The `Origin` of a page of that server: http for ws, https for wss.
fn origin_of(url: &str) -> Option<String> {
    let own = url::Url::parse(url).ok()?.origin().ascii_serialization();
    Some(own.replacen("ws", "http", 1))
}
