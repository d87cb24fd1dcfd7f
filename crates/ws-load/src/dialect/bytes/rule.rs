//! A rule of a file in bytes: which messages it matches, and what they carry.

use super::check;
use super::compose::Role;
use super::fed::FedBytes;
use super::shape::{self, Extent, Held, Keep, Part, Shape};
use crate::dialect::Stamps;
use crate::dialect::error::{DialectError, at_most};
use crate::dialect::pattern::Captured;
use crate::dialect::payload::{Body, stamp_of};
use crate::dialect::place::{StampPlace, is_answer};
use crate::dialect::placeholders::check_variable;
use crate::dialect::progress::Places;
use crate::dialect::question::Answer;
use crate::dialect::rules::{Compiled, How, Match, Rules};
use crate::dialect::template::Template;
use crate::dialect::{Malformed, Told, Variables};
use plan::{Meaning, Rule};
use std::cmp::Ordering;
use std::ops::Range;

/// Most places of a rule that are compared.
const MOST_PLACES: usize = 16;

/// Which messages a rule matches.
#[derive(Debug)]
pub(in crate::dialect) struct ByteRule {
    pub(super) shape: Shape,
    /// Bytes that have to be at these places, from the end where they are negative.
    at: Vec<(i64, Vec<u8>)>,
    /// Of a rule that means `feed`.
    pub(super) fed: Option<FedBytes>,
}

impl ByteRule {
    fn compile(key: &str, rule: &Rule, outline: &Rule) -> Result<Self, DialectError> {
        let ways = [&rule.text, &rule.prefix, &rule.pattern];
        let ways = ways.into_iter().flatten().count();
        if ways > 1 || ways == 0 && rule.at.is_empty() {
            return Err(DialectError::unfit(
                key,
                "does not say in one way which messages it matches",
                "write one of `text`, `prefix` and `pattern`, and `at` beside it or alone",
            ));
        }
        let literal = |name: &str, text: &str| {
            let bytes = super::literal(&format!("{key}.{name}"), text)?;
            let part = (!bytes.is_empty()).then_some(Part::Literal(bytes));
            Ok::<Vec<Part>, DialectError>(part.into_iter().collect())
        };
        let rest = Part::Hole(Keep::Nothing, Extent::Open);
        let plain = |parts| Shape {
            parts,
            names: Vec::new(),
        };
        let shape = match (&rule.text, &rule.prefix, &rule.pattern) {
            (Some(text), ..) => plain(literal("text", text)?),
            (_, Some(prefix), _) => {
                let mut parts = literal("prefix", prefix)?;
                parts.push(rest);
                plain(parts)
            }
            (.., Some(pattern)) => {
                let key = format!("{key}.pattern");
                shape::compile(&key, &check::parts(&key, pattern)?)?
            }
            _ => plain(vec![rest]),
        };
        at_most(&format!("{key}.at"), rule.at.len(), "places", MOST_PLACES)?;
        let at = rule.at.iter().map(|(place, bytes)| {
            let key = format!("{key}.at.\"{place}\"");
            let Ok(place) = place.parse() else {
                return Err(DialectError::unfit(
                    key,
                    "is no place of a message",
                    "write a number of bytes, as \"0\" for the first and \"-1\" for the last",
                ));
            };
            Ok((place, super::literal(&key, bytes)?))
        });
        Ok(Self {
            at: at.collect::<Result<_, _>>()?,
            fed: match rule.means {
                Meaning::Feed => Some(FedBytes::new(key, rule, outline, &shape.names)?),
                _ => None,
            },
            shape,
        })
    }

    /// What stands in the holes of a message that the rule matches, and what follows.
    fn take<'m>(&self, message: &'m [u8], is_whole: bool) -> Option<(Held<'m>, &'m [u8])> {
        let (held, rest) = self.shape.take(message, is_whole)?;
        let own = &message[..message.len() - rest.len()];
        let holds = |(place, due): &(i64, Vec<u8>)| {
            range(*place, due.len(), own.len()).is_some_and(|range| own[range] == due[..])
        };
        self.at.iter().all(holds).then_some((held, rest))
    }

    /// True where no message that begins with `head` is of this rule, or none of `whole` bytes.
    fn differs_from(&self, head: &[u8], whole: Option<usize>) -> bool {
        let is_other = |(place, due): &(i64, Vec<u8>)| {
            let range = usize::try_from(*place).ok().map(|at| at..at + due.len());
            let seen = range.and_then(|range| head.get(range));
            seen.is_some_and(|seen| seen != due)
        };
        self.shape.differs_from(head, whole) || self.at.iter().any(is_other)
    }

    /// True where a place that is compared is in a part of a message of `whole` bytes.
    fn looks_at(&self, part: &Range<usize>, whole: usize) -> bool {
        let overlaps = |(place, due): &(i64, Vec<u8>)| {
            let range = range(*place, due.len(), whole);
            range.is_none_or(|of| of.start < part.end && part.start < of.end)
        };
        self.at.iter().any(overlaps)
    }

    /// True where it has a place for the padding.
    pub(in crate::dialect) fn has_padding(&self) -> bool {
        let is_padding = |part: &Part| matches!(part, Part::Hole(Keep::Padding, _));
        check::any_part(&self.shape.parts, &is_padding)
    }
}

/// Where bytes of a message begin and end, if it has them.
fn range(place: i64, length: usize, whole: usize) -> Option<Range<usize>> {
    let magnitude = usize::try_from(place.unsigned_abs()).ok()?;
    let start = match place < 0 {
        true => whole.checked_sub(magnitude)?,
        false => magnitude,
    };
    let end = start.checked_add(length)?;
    (end <= whole).then_some(start..end)
}

/// Compiles a rule, which `outline` has as one of a file in text.
///
/// # Errors
/// The first thing that makes no sense.
pub(in crate::dialect) fn compile(
    key: &str,
    (rule, outline): (&Rule, &Rule),
    kind: Option<u32>,
) -> Result<Compiled, DialectError> {
    check::check_rule(key, rule, outline)?;
    let how = ByteRule::compile(key, rule, outline)?;
    for (name, _) in &how.shape.names {
        if rule.means != Meaning::Feed {
            check_variable(&format!("{key}.pattern"), name)?;
        }
    }
    let send = format!("{key}.send");
    let answer = match rule.send.as_deref() {
        Some(text) if rule.means == Meaning::KeepAlive => {
            let names = &how.shape.names;
            check::check_repeated(&send, text, names)?;
            let body = Body::new(String::new());
            let template = super::template(&send, text, Role::Answer(names), "", &body)?;
            Some(Answer::Bytes(template))
        }
        _ => None,
    };
    let opening = match rule.send.as_deref() {
        Some(text) if matches!(rule.means, Meaning::Send | Meaning::Ready) => {
            let returning = rule.returning.as_deref();
            Some(super::opening_in_bytes((key, text), returning)?)
        }
        _ => None,
    };
    Ok(Compiled {
        means: rule.means,
        place: place_of(key, rule, outline)?,
        how: How::Bytes(how),
        line: None,
        send: opening,
        answer,
        feed: None,
        places: Places::default(),
        words: rule.words.clone().unwrap_or_default(),
        reason: None,
        topic: None,
        kind,
        captures: Vec::new(),
    })
}

/// Where an answer says which request it is of.
fn place_of(key: &str, rule: &Rule, outline: &Rule) -> Result<StampPlace, DialectError> {
    if !is_answer(rule.means) {
        return Ok(StampPlace::Nowhere);
    }
    let has = |hole| {
        let pattern = outline.pattern.as_deref();
        pattern.is_some_and(|of| of.contains(hole))
    };
    let by_stamp = has("{stamp}");
    let by_number = outline.number.is_some();
    let ways = [by_stamp, by_number, has("{sequence}"), rule.in_order];
    let may_be_bare = !matches!(rule.means, Meaning::Delivery | Meaning::Message);
    let is_whole = (by_stamp || by_number) && has("{padding}");
    if ways.into_iter().filter(|way| *way).count() != 1 || !(may_be_bare || is_whole) {
        return Err(DialectError::unfit(
            key,
            "does not say in one way which request it is of",
            match may_be_bare {
                true => {
                    "write one of {stamp}, {number} and {sequence} in the pattern, or, of an \
                         echo, `in_order = true`"
                }
                false => "write a pattern with {padding} and one of {stamp} and {number}",
            },
        ));
    }
    Ok(match rule.in_order {
        true => StampPlace::Order,
        false if has("{sequence}") => StampPlace::Sequence(None),
        false => StampPlace::Captured,
    })
}

impl Rules {
    /// The rule of bytes that a message matches.
    pub(in crate::dialect) fn find_bytes<'r, 'm>(
        &'r self,
        message: &'m [u8],
    ) -> Result<Match<'r, 'm>, Malformed> {
        let found = self.byte_rules().find_map(|(index, of)| {
            let (held, rest) = of.take(message, !self.is_packed)?;
            rest.is_empty().then_some((index, held))
        });
        let Some((index, held)) = found else {
            return Err(Malformed("no rule matches".to_owned()));
        };
        Ok(Match {
            index,
            rule: &self.rules[index],
            values: None,
            captured: Captured {
                bytes: Some(held),
                ..Captured::default()
            },
        })
    }

    /// Where the first of several messages ends, if a rule matches it.
    pub(super) fn end_of_first(&self, message: &[u8]) -> Option<usize> {
        self.byte_rules().find_map(|(_, of)| {
            let (_, rest) = of.take(message, false)?;
            Some(message.len() - rest.len()).filter(|end| *end > 0)
        })
    }

    /// True where no rule before one matches what begins with `head`.
    pub(in crate::dialect) fn is_first_for(&self, head: &[u8], index: usize) -> bool {
        let mut before = self.byte_rules().take_while(|(at, _)| *at < index);
        before.all(|(_, of)| of.differs_from(head, None))
    }

    /// True where a message stays what it is whatever stamp has its place in it.
    pub(in crate::dialect) fn is_the_same(&self, message: &[u8], stamp: &Range<usize>) -> bool {
        let Ok(found) = self.find_bytes(message) else {
            return false;
        };
        let (head, whole) = (&message[..stamp.start], message.len());
        let alone = (!self.is_packed).then_some(whole);
        self.byte_rules()
            .all(|(index, of)| match index.cmp(&found.index) {
                Ordering::Less => of.differs_from(head, alone),
                Ordering::Equal => !of.looks_at(stamp, whole),
                Ordering::Greater => true,
            })
    }

    fn byte_rules(&self) -> impl Iterator<Item = (usize, &ByteRule)> {
        let rules = self.rules.iter().enumerate();
        rules.filter_map(|(index, rule)| match &rule.how {
            How::Bytes(of) => Some((index, of)),
            _ => None,
        })
    }
}

impl Held<'_> {
    /// The stamp that an answer carries, and whether the padding is as it was sent.
    pub(in crate::dialect) fn carried(&self, body: &Body, stamps: Stamps) -> Option<(u64, bool)> {
        let stamp = match (self.stamp, self.number) {
            (Some(stamp), _) => stamp,
            (None, number) => stamp_of(number?, stamps)?,
        };
        let due = body.padding(stamp).text.as_bytes();
        Some((stamp, self.padding.is_none_or(|padding| padding == due)))
    }

    pub(in crate::dialect) const fn sequence(&self) -> Option<u64> {
        self.sequence
    }

    pub(in crate::dialect) fn topic(&self) -> Option<&[u8]> {
        self.topic
    }
}

/// What a keep-alive holds, for its answer.
struct Repeated<'a> {
    of: &'a ByteRule,
    held: &'a Held<'a>,
}

impl Variables for Repeated<'_> {
    fn write(&self, name: &str, out: &mut Vec<u8>) {
        for ((of, _), value) in self.of.shape.names.iter().zip(&self.held.named) {
            if of == name {
                out.extend_from_slice(value);
            }
        }
    }
}

impl Match<'_, '_> {
    /// Names and values that a message in bytes tells for later ones; `None` of one in text.
    pub(in crate::dialect) fn told(&self) -> Option<Vec<Told>> {
        let (of, held) = self.in_bytes()?;
        let values = of.shape.names.iter().zip(&held.named);
        Some(
            values
                .map(|((name, _), value)| (name.clone(), value.to_vec()))
                .collect(),
        )
    }

    /// The answer to a keep-alive in bytes; the second is true where it repeats something of it.
    pub(in crate::dialect) fn answer_in_bytes(&self, template: &Template) -> (Box<[u8]>, bool) {
        let mut answer = Vec::new();
        if let Some((of, held)) = self.in_bytes() {
            template.write(0, 0, &Repeated { of, held }, &mut answer);
        }
        (answer.into(), template.has_variables())
    }

    pub(super) fn in_bytes(&self) -> Option<(&ByteRule, &Held<'_>)> {
        match (&self.rule.how, &self.captured.bytes) {
            (How::Bytes(of), Some(held)) => Some((of, held)),
            _ => None,
        }
    }
}
