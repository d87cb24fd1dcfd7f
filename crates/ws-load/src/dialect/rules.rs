//! What the messages of a server mean: rules, of which the first that matches decides.
//!
//! A message is parsed at most once, whatever the rules are: JSON pointers apply to what follows one
//! prefix, the longest that it begins with.

use super::bytes::{self, ByteRule};
use super::checks::{Check, Miss, checks, first_broken};
use super::error::{DialectError, at_most};
use super::feed::FeedPlaces;
use super::pattern::{Captured, Pattern, differ};
use super::payload::{Body, parse_payload, read_stamp, stamp_of};
use super::place::{Carries, StampPlace, place_of};
use super::placeholders::{Hole, check_variable, plain};
use super::pointers::{PointerId, Pointers, Values, parse_whole, pointer};
use super::progress;
use super::question::{self, Answer};
use super::{Malformed, Opening, Stamps, Told};
use crate::lines::Form;
use plan::{Condition, DialectFile, Meaning, PayloadForm, Rule, TemplateForm};
use serde_json::Value;
use std::borrow::Cow;
use std::cell::OnceCell;

/// Most rules of a list.
const MOST_RULES: usize = 64;

/// The rules of one list.
#[derive(Debug, Default)]
pub(super) struct Rules {
    pub(super) rules: Vec<Compiled>,
    is_in_bytes: bool,
    /// Messages show their own ends.
    pub(super) is_packed: bool,
    /// The prefixes of all rules, longest first.
    prefixes: Vec<String>,
    shape: Vec<Check>,
    pointers: Pointers,
}

/// A compiled rule.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) means: Meaning,
    pub(super) how: How,
    pub(super) place: StampPlace,
    /// The padding that stands beside the stamp or the number.
    pub(super) line: Option<PointerId>,
    /// What is sent in the exchange.
    pub(super) send: Option<Opening>,
    /// What a keep-alive is answered with.
    pub(super) answer: Option<Answer>,
    /// What a message of a feed says of itself.
    pub(super) feed: Option<FeedPlaces>,
    /// Of an answer in parts.
    pub(super) places: progress::Places,
    pub(super) words: String,
    pub(super) reason: Option<PointerId>,
    pub(super) topic: Option<Topic>,
    /// The kind of the requests that it answers, if it answers one kind alone.
    pub(super) kind: Option<u32>,
    pub(super) captures: Vec<Capture>,
}

/// What is kept of a message for later ones.
#[derive(Debug)]
pub(super) struct Capture {
    name: String,
    pointer: String,
    /// Of the value, or of the string that holds the JSON which the pointer applies to.
    id: PointerId,
    is_in_string: bool,
}

/// Where a message names its topic.
#[derive(Debug)]
pub(super) struct Topic {
    id: PointerId,
    /// A pointer within the JSON that the string there holds.
    within: Option<String>,
}

#[derive(Debug)]
pub(super) enum How {
    Text(String),
    Pattern(Pattern),
    Bytes(ByteRule),
    Json {
        prefix: String,
        checks: Vec<Check>,
        /// The rule looks at what follows the prefix.
        parses: bool,
    },
}

/// A message and the rule that it matches.
#[derive(Debug)]
pub(super) struct Match<'r, 'm> {
    pub(super) index: usize,
    pub(super) rule: &'r Compiled,
    pub(super) values: Option<Values>,
    pub(super) captured: Captured<'m>,
}

impl Rules {
    /// # Errors
    /// The first rule that makes no sense; `list` is the key of the rules, and `outlines` has them of a
    /// file in bytes as a text has them.
    pub(super) fn compile(
        list: &str,
        rules: &[Rule],
        outlines: Option<&[Rule]>,
        file: &DialectFile,
    ) -> Result<Self, DialectError> {
        at_most(list, rules.len(), "rules", MOST_RULES)?;
        let mut compiled = Self {
            is_in_bytes: file.form == TemplateForm::Hex,
            is_packed: file.packed,
            ..Self::default()
        };
        compiled.shape = checks("shape", &file.shape, &mut compiled.pointers)?;
        for (index, rule) in rules.iter().enumerate() {
            let key = format!("{list}[{}]", index + 1);
            let kind = |name: &str| file.send.kinds.iter().position(|of| of.name == name);
            let kind = rule.kind.as_deref().and_then(kind);
            let kind = kind.map(|index| index as u32);
            let rule = match outlines {
                None => compiled.rule(&key, rule, kind)?,
                Some(of) => bytes::compile(&key, (rule, &of[index]), kind)?,
            };
            compiled.rules.push(rule);
        }
        compiled
            .prefixes
            .sort_by_key(|prefix| std::cmp::Reverse(prefix.len()));
        compiled.prefixes.dedup();
        compiled.refuse_known_stamps(list, rules)?;
        Ok(compiled)
    }

    fn rule(
        &mut self,
        key: &str,
        rule: &Rule,
        kind: Option<u32>,
    ) -> Result<Compiled, DialectError> {
        let how = self.how(key, rule)?;
        let pattern = match &how {
            How::Pattern(pattern) => Some(pattern),
            _ => None,
        };
        let at = |name: &str, text: &Option<String>, pointers: &mut Pointers| {
            let text = text.as_deref();
            text.map(|text| pointer(&format!("{key}.{name}"), text, false, pointers))
                .transpose()
        };
        let optional = |key: &str, text: &Option<String>| {
            text.as_deref()
                .map_or(Ok(String::new()), |text| plain(key, text))
        };
        let string = at(
            "capture_in_string",
            &rule.capture_in_string,
            &mut self.pointers,
        )?;
        let captures = rule.capture.iter().map(|(name, text)| {
            let key = format!("{key}.capture.{name}");
            check_variable(&key, name)?;
            let within = &mut Pointers::default();
            let pointers = string.map_or(&mut self.pointers, |_| within);
            let is_whole = rule.means == Meaning::KeepAlive;
            let id = pointer(&key, text, is_whole, pointers)?;
            Ok(Capture {
                name: name.clone(),
                pointer: text.clone(),
                id: string.unwrap_or(id),
                is_in_string: string.is_some(),
            })
        });
        let captures = captures.collect::<Result<Vec<Capture>, _>>()?;
        let answer = match rule.send.as_deref() {
            Some(send) if rule.means == Meaning::KeepAlive => {
                let told = captures.iter().map(|capture| capture.name.as_str());
                let named = pattern.into_iter().flat_map(Pattern::names);
                let names: Vec<&str> = told.chain(named).collect();
                Some(Answer::compile(key, send, &names, pattern.is_some())?)
            }
            _ => None,
        };
        Ok(Compiled {
            captures,
            answer,
            means: rule.means,
            place: place_of(key, rule, pattern, &mut self.pointers)?,
            feed: FeedPlaces::new(key, rule, pattern, &mut self.pointers)?,
            places: progress::Places::new(key, rule, pattern, &mut self.pointers)?,
            line: at("line", &rule.line, &mut self.pointers)?,
            how,
            send: match &rule.send {
                Some(text) if matches!(rule.means, Meaning::Send | Meaning::Ready) => {
                    let returning = rule.returning.as_deref();
                    Some(bytes::opening_in_text((key, text), returning)?)
                }
                _ => None,
            },
            words: optional(&format!("{key}.words"), &rule.words)?,
            reason: at("reason", &rule.reason, &mut self.pointers)?,
            topic: match at("topic", &rule.topic, &mut self.pointers)? {
                None => None,
                Some(id) => {
                    let within = &rule.topic_in_string;
                    at("topic_in_string", within, &mut Pointers::default())?;
                    let within = within.clone();
                    Some(Topic { id, within })
                }
            },
            kind,
        })
    }

    fn how(&mut self, key: &str, rule: &Rule) -> Result<How, DialectError> {
        let places = [
            &rule.payload,
            &rule.stamp,
            &rule.number,
            &rule.sequence,
            &rule.line,
            &rule.key,
            &rule.sent_at,
            &rule.part,
            &rule.parts,
        ];
        let looks_into = places.into_iter().any(Option::is_some);
        let has_json = rule.prefix.is_some()
            || !rule.when.is_empty()
            || !rule.capture.is_empty()
            || looks_into;
        let ways = [rule.text.is_some(), rule.pattern.is_some(), has_json];
        if ways.iter().filter(|way| **way).count() != 1 {
            return Err(DialectError::unfit(
                key,
                "does not say in one way which messages it matches",
                "write `text`, or `pattern`, or `prefix` and `when`",
            ));
        }
        if let Some(text) = &rule.text {
            return Ok(How::Text(plain(&format!("{key}.text"), text)?));
        }
        if let Some(pattern) = &rule.pattern {
            let key = format!("{key}.pattern");
            return match progress::takes_names(rule) {
                true => Pattern::with_names(&key, pattern),
                false => Pattern::compile(&key, pattern),
            }
            .map(How::Pattern);
        }
        let prefix = rule.prefix.as_deref().unwrap_or_default();
        let prefix = plain(&format!("{key}.prefix"), prefix)?;
        let when = format!("{key}.when");
        let checks = checks(&when, &rule.when, &mut self.pointers)?;
        self.prefixes.push(prefix.clone());
        Ok(How::Json {
            prefix,
            parses: looks_into
                || rule.reason.is_some()
                || rule.topic.is_some()
                || !rule.capture.is_empty()
                || !checks.is_empty(),
            checks,
        })
    }

    /// Messages are recognised by comparing all bytes but the stamp and the line, so that no condition
    /// may depend on these.
    fn refuse_known_stamps(&mut self, list: &str, rules: &[Rule]) -> Result<(), DialectError> {
        let mut stamps = Vec::new();
        for rule in rules {
            let within = |name: &str| rule.payload.as_ref().map(|at| format!("{at}/{name}"));
            let of_payload = [within("stamp"), within("padding")];
            let others = [rule.stamp.clone(), rule.line.clone()];
            for place in of_payload.into_iter().chain(others).flatten() {
                stamps.push(pointer(list, &place, false, &mut self.pointers)?);
            }
        }
        let of_rules = self.rules.iter().flat_map(|rule| match &rule.how {
            How::Json { checks, .. } => &checks[..],
            _ => &[],
        });
        let compares = |c: &Condition| !c.one_of.is_empty() || !c.none_of.is_empty();
        let bad = of_rules
            .chain(&self.shape)
            .find(|check| stamps.contains(&check.id) && compares(&check.condition));
        match bad {
            None => Ok(()),
            Some(check) => Err(DialectError::unfit(
                list,
                format!("compares the stamp or the padding, at `{}`", check.pointer),
                "leave that condition out; they are others in each request",
            )),
        }
    }

    /// The rule that a message matches.
    ///
    /// # Errors
    /// Why there is none, in words.
    pub(super) fn find<'r, 'm>(&'r self, message: &'m [u8]) -> Result<Match<'r, 'm>, Malformed> {
        if self.is_in_bytes {
            return self.find_bytes(message);
        }
        let message = text_of(message)?;
        let prefix = self
            .prefixes
            .iter()
            .find(|of| message.starts_with(of.as_str()));
        let parsed = OnceCell::new();
        let parse = || parsed.get_or_init(|| self.parse(&message[prefix.map_or(0, String::len)..]));
        let mut nearest: Miss<'_> = None;
        for (index, rule) in self.rules.iter().enumerate() {
            let captured = match &rule.how {
                How::Text(text) => (text == message).then(Captured::default),
                How::Pattern(pattern) => pattern.captures(message),
                How::Bytes(_) => None,
                How::Json { prefix: own, .. } if Some(own) != prefix => None,
                How::Json { parses: false, .. } => Some(Captured::default()),
                How::Json { checks, .. } => match parse() {
                    Err(_) => None,
                    Ok(values) => match first_broken(checks, values) {
                        None => Some(Captured::default()),
                        Some(miss) => {
                            if nearest.is_none_or(|(held, _)| miss.0 > held) {
                                nearest = Some(miss);
                            }
                            None
                        }
                    },
                },
            };
            if let Some(captured) = captured {
                return Ok(Match {
                    index,
                    rule,
                    values: parsed.into_inner().and_then(Result::ok),
                    captured,
                });
            }
        }
        Err(match (parsed.into_inner(), nearest) {
            (Some(Err(why)), _) => why,
            (Some(Ok(values)), Some((_, check))) => {
                Malformed(format!("no rule matches: {}", check.found(&values)))
            }
            _ => Malformed("no rule matches".to_owned()),
        })
    }

    /// True where no pattern before a rule can match what begins with `head`, which the rule matches.
    pub(super) fn decides_by(&self, head: &[u8], index: usize) -> bool {
        let head = match text_of(head) {
            _ if self.is_in_bytes => return self.is_first_for(head, index),
            Ok(head) => head,
            Err(_) => return false,
        };
        let is_json = matches!(self.rules[index].how, How::Json { .. });
        self.rules[..index].iter().all(|rule| match &rule.how {
            How::Text(_) | How::Bytes(_) => true,
            How::Pattern(pattern) => pattern.differs_from(head),
            How::Json { prefix, .. } => is_json || differ(prefix, head),
        })
    }

    /// True where a padding stands in an answer as it is.
    pub(super) fn is_raw(&self) -> bool {
        self.is_in_bytes || self.patterns().any(|pattern| pattern.has(Hole::Padding))
    }

    fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        self.rules.iter().filter_map(|rule| match &rule.how {
            How::Pattern(pattern) => Some(pattern),
            _ => None,
        })
    }

    /// True where a line within an answer may hide the rest of it from a pattern.
    pub(super) fn may_cut(&self) -> bool {
        self.is_in_bytes || self.patterns().any(Pattern::may_cut)
    }

    fn parse(&self, text: &str) -> Result<Values, Malformed> {
        let values = self.pointers.find(text)?;
        match first_broken(&self.shape, &values) {
            None => Ok(values),
            Some((_, check)) => Err(Malformed(check.found(&values))),
        }
    }
}

impl Match<'_, '_> {
    /// The stamp that an answer carries, and whether the payload is as it was sent.
    pub(super) fn carried(&self, body: &Body, stamps: Stamps) -> Option<(u64, bool)> {
        let values = self.values.as_ref();
        match self.rule.place {
            StampPlace::Nowhere | StampPlace::Order | StampPlace::Sequence(_) => None,
            StampPlace::Payload(id, PayloadForm::Json) => {
                let seen = values?.get(id)?;
                let (stamp, intact) = body.read(&seen.value)?;
                Some((stamp, intact && !seen.repeats))
            }
            StampPlace::Payload(id, PayloadForm::String) => parse_payload(values?.text(id)?, body),
            StampPlace::Stamp(id) => {
                let stamp = read_stamp(values?.text(id)?)?;
                Some((stamp, self.has_line(body, stamp)))
            }
            StampPlace::Number(id) => {
                let number = values?.get(id)?.value.as_u64()?;
                let stamp = stamp_of(number, stamps)?;
                Some((stamp, self.has_line(body, stamp)))
            }
            StampPlace::Captured => self.captured.carried(body, stamps),
        }
    }

    /// The sequence of the request that it answers, if it says one that can be read.
    pub(super) fn sequence(&self) -> Option<u64> {
        match self.rule.place {
            StampPlace::Sequence(Some(id)) => match &self.values.as_ref()?.get(id)?.value {
                Value::String(text) => text.parse().ok(),
                value => value.as_u64(),
            },
            StampPlace::Sequence(None) => self.captured.sequence(),
            _ => None,
        }
    }

    /// The padding stands where its rule looks for it, if it does.
    fn has_line(&self, body: &Body, stamp: u64) -> bool {
        let found = |id| self.values.as_ref().and_then(|values| values.text(id));
        let due = |id| found(id) == Some(body.padding(stamp).text);
        self.rule.line.is_none_or(due)
    }

    /// What the message carries of the padding of its request.
    pub(super) fn carries(&self) -> Carries {
        let has = |hole| match &self.rule.how {
            How::Pattern(pattern) => pattern.has(hole),
            How::Bytes(rule) => hole == Hole::Padding && rule.has_padding(),
            _ => false,
        };
        match self.rule.place {
            StampPlace::Payload(_, PayloadForm::Json) => Carries::Padding(Form::InString),
            StampPlace::Payload(_, PayloadForm::String) => Carries::Padding(Form::InNestedString),
            StampPlace::Stamp(_) | StampPlace::Number(_) if self.rule.line.is_some() => {
                Carries::Padding(Form::InString)
            }
            StampPlace::Captured if has(Hole::Payload) => Carries::Padding(Form::InString),
            StampPlace::Captured if has(Hole::Padding) => Carries::Padding(Form::AsIs),
            _ => Carries::Nothing,
        }
    }

    /// The topic that a message names; `None` where its rule has none, an empty one where the message
    /// has none.
    pub(super) fn topic(&self) -> Option<Cow<'_, str>> {
        if let Some(held) = &self.captured.bytes {
            return held.topic().map(String::from_utf8_lossy);
        }
        let topic = self.rule.topic.as_ref()?;
        let text = self
            .values
            .as_ref()
            .and_then(|values| values.text(topic.id));
        let named = match &topic.within {
            None => text.map(Cow::Borrowed),
            Some(pointer) => match text.and_then(|text| value_within(text, pointer)) {
                Some(Value::String(topic)) => Some(Cow::Owned(topic)),
                _ => None,
            },
        };
        Some(named.unwrap_or_default())
    }

    /// What a keep-alive is to be answered with; the second is true where that repeats something of it.
    ///
    /// # Errors
    /// Something that the answer is to repeat is not there.
    pub(super) fn answer(&self) -> Result<(Box<[u8]>, bool), Malformed> {
        let pieces = match &self.rule.answer {
            None => return Ok((Box::default(), false)),
            Some(Answer::Bytes(template)) => return Ok(self.answer_in_bytes(template)),
            Some(Answer::Fixed(text)) => return Ok((text.as_bytes().into(), false)),
            Some(Answer::Repeats(pieces)) => pieces,
        };
        let of = |capture: &Capture| {
            let value = self.value_of(capture);
            value.ok_or_else(|| question::lacks(&capture.name, &capture.pointer))
        };
        let mut values: Vec<Value> = self
            .rule
            .captures
            .iter()
            .map(of)
            .collect::<Result<_, _>>()?;
        let named = self.captured.named.iter().copied();
        values.extend(named.map(Value::from));
        let answer = Answer::with(pieces, &values);
        Ok((answer.into_bytes().into(), true))
    }

    /// A value that is captured, if it is there and no name stands twice in it.
    fn value_of(&self, capture: &Capture) -> Option<Value> {
        let seen = self.values.as_ref()?.get(capture.id)?;
        match capture.is_in_string {
            false => (!seen.repeats).then(|| seen.value.clone()),
            true => value_within(seen.value.as_str()?, &capture.pointer),
        }
    }

    /// What is kept of a message.
    ///
    /// # Errors
    /// When a value is not there, or cannot stand in a message.
    pub(super) fn captures(&self) -> Result<Vec<Told>, NoCapture> {
        if let Some(told) = self.told() {
            return Ok(told);
        }
        let of = |capture: &Capture| {
            let Capture { name, pointer, .. } = capture;
            let value = match self.value_of(capture) {
                Some(Value::String(text)) => text,
                Some(Value::Number(number)) => number.to_string(),
                _ => {
                    return Err(NoCapture::NotThere {
                        pointer: pointer.clone(),
                        name: name.clone(),
                    });
                }
            };
            let is_special = |c: char| matches!(c, '"' | '\\') || c.is_control();
            match value.contains(is_special) {
                true => Err(NoCapture::Special(name.clone())),
                false => Ok((name.clone(), value.into_bytes())),
            }
        };
        self.rule.captures.iter().map(of).collect()
    }

    /// The server's own words.
    pub(super) fn reason(&self) -> Option<&str> {
        self.values.as_ref()?.text(self.rule.reason?)
    }
}

/// A value that cannot be kept of a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoCapture {
    #[error("there is no text or number at `{pointer}` for `{name}`")]
    NotThere { pointer: String, name: String },
    #[error("`{0}` has a quote, a backslash or a control character")]
    Special(String),
}

/// The value at a pointer of JSON in a string, if no name stands twice in that.
fn value_within(text: &str, pointer: &str) -> Option<Value> {
    let (value, repeats) = parse_whole(text).ok()?;
    let found = value.pointer(pointer)?;
    (!repeats).then(|| found.clone())
}

fn text_of(message: &[u8]) -> Result<&str, Malformed> {
    std::str::from_utf8(message).map_err(|_| Malformed("not UTF-8".to_owned()))
}
