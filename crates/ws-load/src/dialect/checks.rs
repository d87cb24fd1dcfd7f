//! What must hold of a JSON message.

use super::error::{DialectError, at_most};
use super::pointers::{PointerId, Pointers, Seen, Values, pointer};
use plan::{Condition, JsonType, Scalar};
use serde_json::Value;
use std::collections::BTreeMap;

/// Most conditions of a rule.
const MOST_CONDITIONS: usize = 16;
/// Most characters of a value that are shown.
const SHOWN: usize = 40;

#[derive(Debug)]
pub(super) struct Check {
    pub(super) pointer: String,
    pub(super) id: PointerId,
    pub(super) condition: Condition,
}

/// The rule that came nearest: how many of its conditions held, and the first that did not.
pub(super) type Miss<'r> = Option<(usize, &'r Check)>;

/// How many of the conditions hold, and the first that does not.
pub(super) fn first_broken<'r>(checks: &'r [Check], values: &Values) -> Miss<'r> {
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
    pub(super) fn found(&self, values: &Values) -> String {
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

/// The conditions of a file at a key.
pub(super) fn checks(
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
