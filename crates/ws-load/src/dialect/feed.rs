//! What a message says of itself that a server sends without being asked: its number, the sequence that
//! the number is of, and when it was sent.

use super::error::DialectError;
use super::pattern::Pattern;
use super::placeholders::Hole;
use super::pointers::{PointerId, Pointers, pointer};
use super::rules::Match;
use plan::{FEED_NAMES, Meaning, Rule, SentUnit};
use serde_json::Value;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::UNIX_EPOCH;

/// A message of a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FeedMessage {
    pub(crate) number: Said<FeedNumber>,
    /// When it was sent, in nanoseconds since 1970.
    pub(crate) sent_ns: Said<u64>,
}

/// The number of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FeedNumber {
    /// Tells the sequences of a connection apart: the rule and the key.
    pub(crate) sequence: u64,
    pub(crate) number: u64,
    /// The sequence goes on where the client's previous connection ended.
    pub(crate) resumes: bool,
}

/// What a message says at a place that its rule may name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Said<T> {
    /// The rule names no place.
    #[default]
    NotAsked,
    /// There is nothing at that place, or not what has to be there.
    Unreadable,
    This(T),
}

impl<T> From<Option<T>> for Said<T> {
    fn from(found: Option<T>) -> Self {
        found.map_or(Self::Unreadable, Self::This)
    }
}

/// What the rules for feeds look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FeedTerms {
    pub(crate) is_numbered: bool,
    pub(crate) is_dated: bool,
}

impl FeedTerms {
    /// `None` where no rule is for a feed.
    pub(super) fn new(rules: &[Rule]) -> Option<Self> {
        let feeds = rules.iter().filter(|rule| rule.means == Meaning::Feed);
        feeds.clone().next()?;
        Some(Self {
            is_numbered: feeds.clone().any(Rule::has_sequence),
            is_dated: feeds.clone().any(Rule::has_sent_at),
        })
    }
}

/// Where a text is in a message.
#[derive(Clone, Copy, Debug)]
pub(super) enum At {
    Pointer(PointerId),
    /// In the hole of a pattern for the sequence.
    Sequence,
    /// Under the name of this place among those of a pattern.
    Named(usize),
}

/// Where the messages of a rule say all that.
#[derive(Debug)]
pub(super) struct FeedPlaces {
    sequence: Option<At>,
    key: Option<At>,
    sent_at: Option<At>,
    sent_unit: SentUnit,
    resumes: bool,
}

impl FeedPlaces {
    /// `None` of a rule that is not for a feed.
    ///
    /// # Errors
    /// A pointer that is none, or a pattern with a name that has no meaning there.
    pub(super) fn new(
        key: &str,
        rule: &Rule,
        pattern: Option<&Pattern>,
        pointers: &mut Pointers,
    ) -> Result<Option<Self>, DialectError> {
        if rule.means != Meaning::Feed {
            return Ok(None);
        }
        if let Some(pattern) = pattern {
            check_pattern(key, pattern)?;
        }
        let named = |name: &str| {
            let mut names = pattern.into_iter().flat_map(Pattern::names);
            names.position(|known| known == name).map(At::Named)
        };
        let mut at = |name: &str, text: &Option<String>| match text.as_deref() {
            Some(text) => pointer(&format!("{key}.{name}"), text, false, pointers)
                .map(At::Pointer)
                .map(Some),
            None => Ok(named(name)),
        };
        let in_pattern = pattern.is_some_and(|pattern| pattern.has(Hole::Sequence));
        Ok(Some(Self {
            sequence: match in_pattern {
                true => Some(At::Sequence),
                false => at("sequence", &rule.sequence)?,
            },
            key: at("key", &rule.key)?,
            sent_at: at("sent_at", &rule.sent_at)?,
            sent_unit: rule.sent_unit.unwrap_or_default(),
            resumes: rule.resumes,
        }))
    }
}

/// A pattern of a feed names nothing but what is read of it.
fn check_pattern(key: &str, pattern: &Pattern) -> Result<(), DialectError> {
    let known = "{sequence}, {key}, {sent_at} and {any}";
    let carried = [Hole::Payload, Hole::Stamp, Hole::Padding];
    let problem = match pattern.names().find(|name| !FEED_NAMES.contains(name)) {
        Some(name) => format!("has {{{name}}}, which means nothing in a feed"),
        None if carried.into_iter().any(|hole| pattern.has(hole)) => {
            "looks for what a request carried, and a feed answers none".to_owned()
        }
        None => return Ok(()),
    };
    Err(DialectError::unfit(
        format!("{key}.pattern"),
        problem,
        format!("write {known} alone"),
    ))
}

/// Which keys of feeds a rule may have.
pub(super) fn check_keys(key: &str, rule: &Rule) -> Result<(), DialectError> {
    let feeds = rule.means == Meaning::Feed;
    let (numbered, dated) = (rule.has_sequence(), rule.has_sent_at());
    let keys = [
        ("key", rule.key.is_some(), feeds, "means = \"feed\""),
        ("sent_at", rule.sent_at.is_some(), feeds, "means = \"feed\""),
        ("resumes", rule.resumes, feeds, "means = \"feed\""),
        (
            "sent_unit",
            rule.sent_unit.is_some(),
            feeds,
            "means = \"feed\"",
        ),
        (
            "key",
            rule.has_key(),
            !feeds || numbered,
            "sequence = '/...'",
        ),
        ("resumes", rule.resumes, numbered, "sequence = '/...'"),
        (
            "sent_unit",
            rule.sent_unit.is_some(),
            dated,
            "sent_at = '/...'",
        ),
    ];
    match keys.into_iter().find(|(_, there, may, _)| *there && !may) {
        None => Ok(()),
        Some((name, _, _, needed)) => Err(DialectError::unfit(
            format!("{key}.{name}"),
            format!("has no sense without `{needed}`"),
            "write that too, or leave it out",
        )),
    }
}

impl Match<'_, '_> {
    /// What a message of a feed says of itself. Only to be asked of such a message.
    pub(super) fn feed(&self) -> FeedMessage {
        if let Some(message) = self.fed_bytes() {
            return message;
        }
        let Some(places) = &self.rule.feed else {
            unreachable!("a rule that means `feed` is compiled with its places");
        };
        FeedMessage {
            number: match places.sequence {
                None => Said::NotAsked,
                Some(at) => self.feed_number(places, at).into(),
            },
            sent_ns: match places.sent_at {
                None => Said::NotAsked,
                Some(at) => self
                    .text_at(at)
                    .and_then(|text| moment(text, places.sent_unit))
                    .into(),
            },
        }
    }

    fn feed_number(&self, places: &FeedPlaces, at: At) -> Option<FeedNumber> {
        let number = match self.text_at(at)? {
            Text::Raw(text) => text.parse().ok()?,
            Text::Number(number) => number.as_u64()?,
        };
        let mut hasher = DefaultHasher::new();
        self.index.hash(&mut hasher);
        if let Some(at) = places.key {
            match self.text_at(at)? {
                Text::Raw(text) => text.hash(&mut hasher),
                Text::Number(number) => number.hash(&mut hasher),
            }
        }
        Some(FeedNumber {
            sequence: hasher.finish(),
            number,
            resumes: places.resumes,
        })
    }

    pub(super) fn text_at(&self, at: At) -> Option<Text<'_>> {
        match at {
            At::Sequence => self.captured.sequence.map(Text::Raw),
            At::Named(place) => self.captured.named.get(place).copied().map(Text::Raw),
            At::Pointer(id) => match &self.values.as_ref()?.get(id)?.value {
                Value::String(text) => Some(Text::Raw(text)),
                Value::Number(number) => Some(Text::Number(number)),
                _ => None,
            },
        }
    }
}

/// A string, or what a pattern found; or a number of JSON.
#[derive(Clone, Copy, Debug)]
pub(super) enum Text<'m> {
    Raw(&'m str),
    Number(&'m serde_json::Number),
}

/// The moment of a whole number.
pub(super) fn moment_of_number(number: u64, unit: SentUnit) -> Option<u64> {
    u64::checked_mul(number, unit.ns()?)
}

/// The moment of a text.
pub(super) fn moment_of_text(text: &str, unit: SentUnit) -> Option<u64> {
    moment(Text::Raw(text), unit)
}

/// Nanoseconds since 1970. A whole number is taken exactly; a fraction as exactly as a float has it.
fn moment(text: Text<'_>, unit: SentUnit) -> Option<u64> {
    let Some(unit_ns) = unit.ns() else {
        let Text::Raw(date) = text else { return None };
        let at = humantime::parse_rfc3339(date).ok()?;
        let since = at.duration_since(UNIX_EPOCH).ok()?;
        return u64::try_from(since.as_nanos()).ok();
    };
    let (whole, fraction) = match text {
        Text::Raw(text) => (text.parse().ok(), text.parse().ok()),
        Text::Number(number) => (number.as_u64(), number.as_f64()),
    };
    if let Some(whole) = whole {
        return u64::checked_mul(whole, unit_ns);
    }
    let ns: f64 = fraction.map(|of: f64| of * unit_ns as f64)?;
    (0.0..u64::MAX as f64).contains(&ns).then_some(ns as u64)
}
