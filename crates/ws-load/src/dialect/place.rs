//! Where an answer carries what was sent, and which keys a rule of each meaning has.

use super::error::DialectError;
use super::feed;
use super::pattern::Pattern;
use super::placeholders::Hole;
use super::pointers::{PointerId, Pointers, pointer};
use super::progress;
use crate::lines::Form;
use plan::{Meaning, PayloadForm, Rule};

/// The key of the rules for a client that is not ready yet.
pub(super) const OPEN: &str = "open.receive";

/// Where a message carries the stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StampPlace {
    /// It is no answer.
    Nowhere,
    /// In the payload, which a pointer leads to.
    Payload(PointerId, PayloadForm),
    /// A pointer leads to the stamp alone.
    Stamp(PointerId),
    /// A pointer leads to the number of the request.
    Number(PointerId),
    /// A pointer leads to the sequence of the request alone, or a pattern has it.
    Sequence(Option<PointerId>),
    /// In the holes of a pattern.
    Captured,
    /// Nowhere: it is the answer to the oldest request of its connection that has none.
    Order,
}

/// What a message carries of the padding of its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carries {
    Nothing,
    /// All of it, in this form.
    Padding(Form),
}

/// True for a message that ends a latency.
pub(super) const fn is_answer(means: Meaning) -> bool {
    matches!(
        means,
        Meaning::Echo | Meaning::Delivery | Meaning::Result | Meaning::Message | Meaning::Published
    )
}

/// True of a message that belongs to a request.
const fn belongs(means: Meaning) -> bool {
    is_answer(means) || matches!(means, Meaning::Progress)
}

/// Where a message of a rule carries the stamp.
///
/// # Errors
/// When a rule does not name the place, names it twice, or has a key that its meaning does not use.
pub(super) fn place_of(
    key: &str,
    rule: &Rule,
    pattern: Option<&Pattern>,
    pointers: &mut Pointers,
) -> Result<StampPlace, DialectError> {
    check_keys(key, rule)?;
    if !belongs(rule.means) {
        return Ok(StampPlace::Nowhere);
    }
    let mut at =
        |name: &str, text: &str, whole| pointer(&format!("{key}.{name}"), text, whole, pointers);
    let is_whole = rule.payload_form == PayloadForm::Json;
    // Where clients are told of a request, its result need not repeat it; an echo is told to the
    // client alone that asked, and what it does not repeat is not checked.
    let may_be_bare =
        rule.line.is_some() || !matches!(rule.means, Meaning::Delivery | Meaning::Message);
    let has = |hole| pattern.is_some_and(|pattern| pattern.has(hole));
    let captured = has(Hole::Payload) || has(Hole::Stamp) && (has(Hole::Padding) || may_be_bare);
    let names_place = rule.payload.is_some() || rule.stamp.is_some() || rule.number.is_some();
    if rule.has_sequence() && may_be_bare && !rule.in_order && !names_place && !captured {
        let pointer = rule.sequence.as_deref();
        let id = pointer
            .map(|text| at("sequence", text, false))
            .transpose()?;
        return Ok(StampPlace::Sequence(id));
    }
    let names_place = names_place || rule.has_sequence();
    if rule.in_order && !names_place && !captured {
        return Ok(StampPlace::Order);
    }
    let unclear = || {
        DialectError::unfit(
            key,
            "does not say in one way where an answer carries what was sent",
            match may_be_bare {
                true if rule.means == Meaning::Progress => {
                    "write `stamp`, `number` or `sequence`, a pattern with {stamp} or {sequence}, or \
                     `in_order = true`"
                }
                true if rule.means == Meaning::Echo => {
                    "write `payload`, `stamp`, `number` or `sequence`, a pattern with {payload}, \
                     {stamp} or {sequence}, or `in_order = true`"
                }
                true => {
                    "write `payload`, `stamp`, `number` or `sequence`, or a pattern with {payload}, \
                     {stamp} or {sequence}"
                }
                false => {
                    "write `payload`, or `stamp` and `line`, or a pattern with {payload} or with {stamp} \
                     and {padding}"
                }
            },
        )
    };
    match (&rule.payload, &rule.stamp, &rule.number) {
        _ if rule.in_order => Err(DialectError::unfit(
            key,
            "says that answers carry nothing of a request, and where they carry it",
            "leave `in_order` out, or the other",
        )),
        _ if rule.sequence.is_some() => Err(unclear()),
        (Some(payload), None, None) => Ok(StampPlace::Payload(
            at("payload", payload, is_whole)?,
            rule.payload_form,
        )),
        (None, Some(stamp), None) if may_be_bare => {
            Ok(StampPlace::Stamp(at("stamp", stamp, false)?))
        }
        (None, None, Some(number)) if may_be_bare => {
            Ok(StampPlace::Number(at("number", number, false)?))
        }
        (None, None, None) if captured => Ok(StampPlace::Captured),
        _ => Err(unclear()),
    }
}

/// Which keys a rule has to have and may have, by its meaning.
pub(super) fn check_keys(key: &str, rule: &Rule) -> Result<(), DialectError> {
    feed::check_keys(key, rule)?;
    progress::check_keys(key, rule)?;
    let answers = is_answer(rule.means);
    let belongs = belongs(rule.means);
    let sends = matches!(rule.means, Meaning::Send | Meaning::KeepAlive);
    let captures = !matches!(rule.means, Meaning::Refused | Meaning::Missed);
    let echoes = matches!(rule.means, Meaning::Echo | Meaning::Progress);
    let feeds = rule.means == Meaning::Feed;
    let refuses = rule.means == Meaning::Refused && key.starts_with(OPEN);
    let of_topic = matches!(
        rule.means,
        Meaning::Message | Meaning::Published | Meaning::Subscribed | Meaning::Unsubscribed
    );
    let names_request = rule.stamp.is_some() || rule.number.is_some();
    let needs_topic = of_topic && rule.means != Meaning::Published;
    let keys = [
        ("topic", rule.topic.is_some(), of_topic, needs_topic),
        (
            "topic_in_string",
            rule.topic_in_string.is_some(),
            rule.topic.is_some(),
            false,
        ),
        ("payload", rule.payload.is_some(), answers, false),
        ("stamp", rule.stamp.is_some(), belongs, false),
        ("number", rule.number.is_some(), belongs, false),
        ("sequence", rule.sequence.is_some(), belongs || feeds, false),
        ("capture", !rule.capture.is_empty(), captures, false),
        (
            "capture_in_string",
            rule.capture_in_string.is_some(),
            !rule.capture.is_empty(),
            false,
        ),
        ("kind", rule.kind.is_some(), echoes, false),
        ("line", rule.line.is_some(), answers && names_request, false),
        ("in_order", rule.in_order, echoes, false),
        ("example", rule.example.is_some(), belongs, belongs),
        (
            "send",
            rule.send.is_some(),
            sends || rule.means == Meaning::Ready,
            sends,
        ),
        ("words", rule.words.is_some(), refuses, false),
        ("reason", rule.reason.is_some(), refuses, false),
    ];
    for (name, there, permitted, required) in keys {
        if there && !permitted {
            let problem =
                format!("has no use for `{name}`, given what it means and when it applies");
            return Err(DialectError::unfit(key, problem, "leave it out"));
        }
        if required && !there {
            let remedy = format!("write `{name} = '...'`");
            return Err(DialectError::unfit(key, format!("has no `{name}`"), remedy));
        }
    }
    Ok(())
}
