//! What the messages of a server mean: rules, of which the first that matches decides.
//!
//! A message is parsed at most once, whatever the rules are: JSON pointers apply to what follows one
//! prefix, the longest that it begins with.

use super::Malformed;
use super::Stamps;
use super::error::DialectError;
use super::pattern::{Captured, Pattern, differ};
use super::payload::{Body, read_stamp, stamp_of};
use super::place::{Carries, Place, place_of};
use super::pointers::{PointerId, Pointers, Seen, Values, parse_whole};
use super::template::{Hole, plain, with_variables};
use crate::lines::Form;
use run_record::{
    Condition, DialectFile, JsonType, Meaning, PLACEHOLDERS, PayloadForm, Rule, Scalar, is_variable,
};
use serde_json::Value;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// Most rules of a list.
const MOST_RULES: usize = 64;
/// Most conditions of a rule.
const MOST_CONDITIONS: usize = 16;
/// Most characters of a value that are shown.
const SHOWN: usize = 40;

/// The rules of one list.
#[derive(Debug, Default)]
pub(super) struct Rules {
    rules: Vec<Compiled>,
    /// The prefixes of all rules, longest first.
    prefixes: Vec<String>,
    shape: Vec<Check>,
    pointers: Pointers,
}

/// A compiled rule.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) means: Meaning,
    how: How,
    pub(super) place: Place,
    /// The padding that stands beside the stamp or the number.
    line: Option<PointerId>,
    pub(super) send: String,
    pub(super) words: String,
    pub(super) reason: Option<PointerId>,
    topic: Option<Topic>,
    /// The kind of the requests that it answers, if it answers one kind alone.
    pub(super) kind: Option<u32>,
    /// What is kept of it for later messages: a name, the pointer and its number.
    captures: Vec<(String, String, PointerId)>,
}

/// Where a message names its topic.
#[derive(Debug)]
struct Topic {
    id: PointerId,
    /// A pointer within the JSON that the string there holds.
    within: Option<String>,
}

#[derive(Debug)]
enum How {
    Text(String),
    Pattern(Pattern),
    Json {
        prefix: String,
        checks: Vec<Check>,
        /// The rule looks at what follows the prefix.
        parses: bool,
    },
}

#[derive(Debug)]
struct Check {
    pointer: String,
    id: PointerId,
    condition: Condition,
}

/// A message and the rule that it matches.
#[derive(Debug)]
pub(super) struct Match<'r, 'm> {
    pub(super) index: usize,
    pub(super) rule: &'r Compiled,
    values: Option<Values>,
    captured: Captured<'m>,
}

/// The rule that came nearest: how many of its conditions held, and the first that did not.
type Miss<'r> = Option<(usize, &'r Check)>;

impl Rules {
    /// # Errors
    /// The first rule that makes no sense; `list` is the key of the rules.
    pub(super) fn compile(
        list: &str,
        rules: &[Rule],
        file: &DialectFile,
    ) -> Result<Self, DialectError> {
        at_most(list, rules.len(), "rules", MOST_RULES)?;
        let mut compiled = Self::default();
        compiled.shape = checks("shape", &file.shape, &mut compiled.pointers)?;
        for (index, rule) in rules.iter().enumerate() {
            let key = format!("{list}[{}]", index + 1);
            let kind = |name: &str| file.send.kinds.iter().position(|of| of.name == name);
            let kind = rule.kind.as_deref().and_then(kind);
            let rule = compiled.rule(&key, rule, kind.map(|index| index as u32))?;
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
        let captures = rule.capture.iter().map(|(name, text)| {
            let key = format!("{key}.capture.{name}");
            if !is_variable(name) || PLACEHOLDERS.contains(&name.as_str()) || name == "client" {
                return Err(DialectError::unfit(
                    key,
                    "is no name of a variable, or has another meaning",
                    "write letters, digits, `_`, `-` and `.`",
                ));
            }
            let id = pointer(&key, text, false, &mut self.pointers)?;
            Ok((name.clone(), text.clone(), id))
        });
        Ok(Compiled {
            captures: captures.collect::<Result<_, _>>()?,
            means: rule.means,
            place: place_of(key, rule, pattern, &mut self.pointers)?,
            line: at("line", &rule.line, &mut self.pointers)?,
            how,
            send: match &rule.send {
                Some(text) if rule.means == Meaning::Send => {
                    with_variables(&format!("{key}.send"), text)?
                }
                send => optional(&format!("{key}.send"), send)?,
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
        let places = [&rule.payload, &rule.stamp, &rule.number, &rule.line];
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
            return Pattern::compile(&format!("{key}.pattern"), pattern).map(How::Pattern);
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
    pub(super) fn find<'r, 'm>(&'r self, message: &'m str) -> Result<Match<'r, 'm>, Malformed> {
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
    pub(super) fn decides_by(&self, head: &str, index: usize) -> bool {
        let is_json = matches!(self.rules[index].how, How::Json { .. });
        self.rules[..index].iter().all(|rule| match &rule.how {
            How::Text(_) => true,
            How::Pattern(pattern) => pattern.differs_from(head),
            How::Json { prefix, .. } => is_json || differ(prefix, head),
        })
    }

    /// True where a padding stands in an answer as it is.
    pub(super) fn is_raw(&self) -> bool {
        self.patterns().any(|pattern| pattern.has(Hole::Padding))
    }

    fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        self.rules.iter().filter_map(|rule| match &rule.how {
            How::Pattern(pattern) => Some(pattern),
            _ => None,
        })
    }

    /// True where a line within an answer may hide the rest of it from a pattern.
    pub(super) fn may_cut(&self) -> bool {
        self.patterns().any(Pattern::may_cut)
    }

    fn parse(&self, text: &str) -> Result<Values, Malformed> {
        let values = self.pointers.find(text)?;
        match first_broken(&self.shape, &values) {
            None => Ok(values),
            Some((_, check)) => Err(Malformed(check.found(&values))),
        }
    }
}

/// How many of the conditions hold, and the first that does not.
fn first_broken<'r>(checks: &'r [Check], values: &Values) -> Miss<'r> {
    let mut broken = checks
        .iter()
        .filter(|check| !holds(&check.condition, values.get(check.id)));
    let first = broken.next()?;
    Some((checks.len() - 1 - broken.count(), first))
}

fn holds(condition: &Condition, seen: Option<&Seen>) -> bool {
    let is_one =
        |of: &[Scalar]| seen.is_some_and(|seen| of.iter().any(|scalar| equal(scalar, &seen.value)));
    let is_of = |kind: &JsonType| match (kind, seen) {
        (JsonType::Absent, None) => true,
        (_, None) => false,
        (JsonType::Present, Some(_)) => true,
        (kind, Some(seen)) => *kind == seen.kind,
    };
    let has_length = |length: u32| {
        seen.is_some_and(|seen| {
            matches!(seen.kind, JsonType::Array | JsonType::Object)
                && seen.length == length as usize
        })
    };
    (condition.one_of.is_empty() || is_one(&condition.one_of))
        && !is_one(&condition.none_of)
        && (condition.is.is_empty() || condition.is.iter().any(is_of))
        && condition.length.is_none_or(has_length)
}

/// Numbers are equal when their values are: 1 is 1.0.
fn equal(scalar: &Scalar, value: &Value) -> bool {
    match (scalar, value) {
        (Scalar::Text(text), Value::String(of)) => text == of,
        (Scalar::Boolean(boolean), Value::Bool(of)) => boolean == of,
        (Scalar::Integer(integer), Value::Number(of)) => {
            of.as_i64() == Some(*integer) || of.is_f64() && of.as_f64() == Some(*integer as f64)
        }
        _ => false,
    }
}

impl Check {
    /// What stands in the place that is checked, in words.
    fn found(&self, values: &Values) -> String {
        let place = match self.pointer.as_str() {
            "" => "the message".to_owned(),
            pointer => format!("`{pointer}`"),
        };
        let Some(seen) = values.get(self.id) else {
            return format!("there is no {place}");
        };
        match seen.kind {
            JsonType::Array => format!("{place} is an array of {}", seen.length),
            JsonType::Object => format!("{place} is an object of {}", seen.length),
            JsonType::String => {
                let text = seen.value.as_str().unwrap_or_default();
                let shown: String = text.chars().take(SHOWN).collect();
                let rest = if shown.len() < text.len() { "..." } else { "" };
                format!("{place} is `{shown}{rest}`")
            }
            _ => format!("{place} is {}", seen.value),
        }
    }
}

impl Match<'_, '_> {
    /// The stamp that an answer carries, and whether the payload is as it was sent.
    pub(super) fn carried(&self, body: &Body, stamps: Stamps) -> Option<(u64, bool)> {
        let values = self.values.as_ref();
        match self.rule.place {
            Place::Nowhere | Place::Order => None,
            Place::Payload(id, PayloadForm::Json) => {
                let seen = values?.get(id)?;
                let (stamp, intact) = body.read(&seen.value)?;
                Some((stamp, intact && !seen.repeats))
            }
            Place::Payload(id, PayloadForm::String) => read_text(values?.text(id)?, body),
            Place::Stamp(id) => {
                let stamp = read_stamp(values?.text(id)?)?;
                Some((stamp, self.has_line(body, stamp)))
            }
            Place::Number(id) => {
                let number = values?.get(id)?.value.as_u64()?;
                let stamp = stamp_of(number, stamps)?;
                Some((stamp, self.has_line(body, stamp)))
            }
            Place::Captured => {
                if let Some(payload) = self.captured.payload {
                    return read_text(payload, body);
                }
                let stamp = read_stamp(self.captured.stamp?)?;
                let padding = self.captured.padding;
                Some((
                    stamp,
                    padding.is_none_or(|padding| padding == body.padding(stamp).text),
                ))
            }
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
            _ => false,
        };
        match self.rule.place {
            Place::Payload(_, PayloadForm::Json) => Carries::Padding(Form::InString),
            Place::Payload(_, PayloadForm::String) => Carries::Padding(Form::InNestedString),
            Place::Stamp(_) | Place::Number(_) if self.rule.line.is_some() => {
                Carries::Padding(Form::InString)
            }
            Place::Captured if has(Hole::Payload) => Carries::Padding(Form::InString),
            Place::Captured if has(Hole::Padding) => Carries::Padding(Form::AsIs),
            _ => Carries::Nothing,
        }
    }

    /// The topic that a message names; `None` where its rule has none, an empty one where the message
    /// has none.
    pub(super) fn topic(&self) -> Option<Cow<'_, str>> {
        let topic = self.rule.topic.as_ref()?;
        let text = self
            .values
            .as_ref()
            .and_then(|values| values.text(topic.id));
        let named = match &topic.within {
            None => text.map(Cow::Borrowed),
            Some(pointer) => text.and_then(|text| text_within(text, pointer).map(Cow::Owned)),
        };
        Some(named.unwrap_or_default())
    }

    /// What is kept of a message, or why it cannot be, in words.
    pub(super) fn captures(&self) -> Result<Vec<(String, String)>, String> {
        let of = |(name, pointer, id): &(String, String, PointerId)| {
            let seen = self.values.as_ref().and_then(|values| values.get(*id));
            let value = match seen.map(|seen| &seen.value) {
                Some(Value::String(text)) => text.clone(),
                Some(Value::Number(number)) => number.to_string(),
                _ => {
                    return Err(format!(
                        "there is no text or number at `{pointer}` for `{name}`"
                    ));
                }
            };
            let is_special = |c: char| matches!(c, '"' | '\\') || c.is_control();
            match value.contains(is_special) {
                true => Err(format!(
                    "`{name}` has a quote, a backslash or a control character"
                )),
                false => Ok((name.clone(), value)),
            }
        };
        self.rule.captures.iter().map(of).collect()
    }

    /// The server's own words.
    pub(super) fn reason(&self) -> Option<&str> {
        self.values.as_ref()?.text(self.rule.reason?)
    }
}

/// The string at a pointer of JSON in a string, if no name stands twice in that.
fn text_within(text: &str, pointer: &str) -> Option<String> {
    let (value, repeats) = parse_whole(text).ok()?;
    let found = value.pointer(pointer)?.as_str()?;
    (!repeats).then(|| found.to_owned())
}

fn read_text(text: &str, body: &Body) -> Option<(u64, bool)> {
    let (payload, repeats) = parse_whole(text).ok()?;
    let (stamp, intact) = body.read(&payload)?;
    Some((stamp, intact && !repeats))
}

fn checks(
    key: &str,
    conditions: &BTreeMap<String, Condition>,
    pointers: &mut Pointers,
) -> Result<Vec<Check>, DialectError> {
    at_most(key, conditions.len(), "conditions", MOST_CONDITIONS)?;
    conditions
        .iter()
        .map(|(at, condition)| {
            if *condition == Condition::default() {
                return Err(DialectError::unfit(
                    format!("{key}.\"{at}\""),
                    "tests nothing",
                    "write a value, or one of `one_of`, `none_of`, `is` and `length`",
                ));
            }
            Ok(Check {
                pointer: at.clone(),
                id: pointer(key, at, false, pointers)?,
                condition: condition.clone(),
            })
        })
        .collect()
}

/// The number of a pointer of a file.
pub(super) fn pointer(
    key: &str,
    pointer: &str,
    whole: bool,
    pointers: &mut Pointers,
) -> Result<PointerId, DialectError> {
    pointers.add(pointer, whole).map_err(|problem| {
        let shown: String = pointer.chars().take(SHOWN).collect();
        DialectError::unfit(
            key,
            format!("has `{shown}`, which {problem}"),
            "write one like `/payload/body` or `/3` (RFC 6901)",
        )
    })
}

fn at_most(key: &str, count: usize, unit: &str, most: usize) -> Result<(), DialectError> {
    match count > most {
        false => Ok(()),
        true => Err(DialectError::TooMuch {
            key: key.to_owned(),
            count: format!("{count} {unit}"),
            most,
        }),
    }
}
