//! `--set KEY=VALUE`: a value at a place of a plan.

use crate::error::{NoKeys, PlanFileError, SetError};
use crate::words;
use plan::{Load, REDACTED_VALUE};
use std::str::FromStr;
use toml::{Table, Value};

/// Parts of which a plan has one kind, whose name stands between the part and its keys.
const KINDS: [(&str, &[&str]); 2] = [("load", &Load::NAMES), ("clients", &["steps", "search"])];

/// Most parts of a key: those of a plan have fewer.
const MOST_PARTS: usize = 16;

/// One `--set KEY=VALUE`. The value is TOML, and a bare word is a string.
#[derive(Clone, Debug, PartialEq)]
pub struct Set {
    /// As it was given.
    pub text: String,
    key: Vec<String>,
    value: Value,
}

impl FromStr for Set {
    type Err = SetError;

    fn from_str(text: &str) -> Result<Self, SetError> {
        let (key, value) = text.split_once('=').ok_or(SetError::NoValue)?;
        // A message repeats it, and may be shown on a terminal.
        if text.chars().any(|c| c.is_control() && c != '\n') {
            return Err(SetError::Control);
        }
        let parts = key.split('.').count();
        if parts > MOST_PARTS {
            let most = MOST_PARTS;
            return Err(SetError::Deep { parts, most });
        }
        let key: Vec<String> = key.split('.').map(|part| part.trim().to_owned()).collect();
        if key.iter().any(String::is_empty) {
            return Err(SetError::NoKey);
        }
        Ok(Self {
            text: text.to_owned(),
            key,
            value: value_of(value.trim())?,
        })
    }
}

/// Characters of a key that are shown.
const SHOWN_KEY: usize = 100;

/// What messages have of the text of a `--set` that cannot be used: as much of its key as fits a line,
/// and no value, which may be secret.
pub fn shown_key(text: &str) -> String {
    let key = text.split('=').next().unwrap_or_default();
    let short: String = key.chars().take(SHOWN_KEY).collect();
    let more = if short.len() < key.len() { "..." } else { "" };
    format!("{short}{more}")
}

/// A TOML value; what is none and begins like none is a string.
fn value_of(text: &str) -> Result<Value, SetError> {
    let parsed = toml::from_str::<Table>(&format!("value = {text}"));
    match parsed {
        Ok(mut table) if table.len() == 1 => {
            Ok(table.remove("value").unwrap_or_else(|| text.into()))
        }
        Err(error) if text.starts_with(['"', '\'', '[', '{']) => {
            Err(SetError::Value(error.message().to_owned()))
        }
        _ => Ok(text.into()),
    }
}

impl Set {
    /// The setting as messages have it: without what is secret.
    pub(crate) fn shown(&self) -> String {
        let is_figure = matches!(
            self.value,
            Value::Integer(_) | Value::Float(_) | Value::Boolean(_)
        );
        // A key that no plan has may be one of a secret, mistyped.
        match words::is_public(&self.key) || is_figure && !words::is_secret(&self.key) {
            true => self.text.clone(),
            false => format!("{}={REDACTED_VALUE}", self.key.join(".")),
        }
    }

    /// The key with the kind of load or of clients that a plan has where it names none.
    pub(crate) fn place(&self, table: &Table) -> Vec<String> {
        let mut place = self.key.clone();
        let kinds = KINDS.iter().find(|(part, _)| *part == place[0]);
        if let (Some((part, kinds)), Some(second)) = (kinds, place.get(1))
            && !kinds.contains(&second.as_str())
        {
            place.insert(1, kind_of(table, part).unwrap_or(kinds[0]).to_owned());
        }
        place
    }
}

fn kind_of<'a>(table: &'a Table, part: &str) -> Option<&'a str> {
    let kinds = table.get(part)?.as_table()?;
    kinds.keys().next().map(String::as_str)
}

/// Changes a plan. Another kind of load or of clients takes the place of the one that was there.
///
/// # Errors
/// When the place is within something that has no keys.
pub(crate) fn apply(table: &mut Table, set: &Set) -> Result<(), PlanFileError> {
    let place = set.place(table);
    let place: Vec<&str> = place.iter().map(String::as_str).collect();
    if let [part, kind, ..] = place[..]
        && KINDS.iter().any(|(of, _)| *of == part)
        && let Some(Value::Table(kinds)) = table.get_mut(part)
    {
        kinds.retain(|name, _| name == kind);
    }
    let done = match place[..] {
        [list @ "populations", _, ..] => Err(NoKeys::List(list.to_owned())),
        _ => put(table, &place, set.value.clone()),
    };
    done.map_err(|error| PlanFileError::Set {
        set: set.shown(),
        problem: error.to_string(),
    })
}

/// Puts a value at a place; the tables on the way there are made where they are missing.
///
/// # Errors
/// When something on the way is no table.
pub(crate) fn put(table: &mut Table, place: &[&str], value: Value) -> Result<(), NoKeys> {
    let (last, parents) = place.split_last().ok_or(NoKeys::Nothing)?;
    let mut at = table;
    for parent in parents {
        let next = at
            .entry(*parent)
            .or_insert_with(|| Value::Table(Table::new()));
        at = match next {
            Value::Table(next) => next,
            Value::Array(_) => return Err(NoKeys::List((*parent).to_owned())),
            _ => return Err(NoKeys::Value((*parent).to_owned())),
        };
    }
    at.insert((*last).to_owned(), value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(text: &str, sets: &[&str]) -> Result<Table, PlanFileError> {
        let mut table = toml::from_str(text).unwrap();
        for set in sets {
            apply(&mut table, &set.parse().unwrap())?;
        }
        Ok(table)
    }

    #[test]
    fn values_are_toml_and_bare_words_are_strings() {
        for (text, value) in [
            ("a=1", Value::from(1)),
            ("a=1.5", Value::from(1.5)),
            ("a=true", Value::from(true)),
            ("a=\"x y\"", Value::from("x y")),
            ("a=250ms", Value::from("250ms")),
            ("a=1m 30s", Value::from("1m 30s")),
            ("a=binary", Value::from("binary")),
            ("a=[1, 2]", Value::from(vec![1, 2])),
            ("a=ws://h/?a=b", Value::from("ws://h/?a=b")),
            ("a=1\nb=2", Value::from("1\nb=2")),
        ] {
            assert_eq!(text.parse::<Set>().unwrap().value, value, "{text}");
        }
        for text in ["a", "=1", "a.=1", "a=[1", "a=\"x"] {
            assert!(text.parse::<Set>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_key_reaches_into_whichever_kind_there_is() {
        let open = "[load.open]\nrate = 1";
        for (text, set, after) in [
            (open, "load.rate=2", "[load.open]\nrate = 2"),
            (open, "load.open.rate=2", "[load.open]\nrate = 2"),
            ("", "load.samples=2", "[load.closed]\nsamples = 2"),
            ("", "clients.first=2", "[clients.steps]\nfirst = 2"),
            (
                "[clients.search]",
                "clients.first=2",
                "[clients.search]\nfirst = 2",
            ),
            (open, "load.closed.samples=2", "[load.closed]\nsamples = 2"),
            (
                open,
                "load.ramp.to=2",
                "[load.open]\nrate = 1\nramp = { to = 2 }",
            ),
            ("", "audience=sender", "audience = \"sender\""),
        ] {
            let expected = applied(after, &[]).unwrap();
            assert_eq!(applied(text, &[set]).unwrap(), expected, "{set}");
        }
    }

    #[test]
    fn a_key_has_no_more_parts_than_those_of_a_plan() {
        let key = |parts: usize| format!("{}=1", vec!["a"; parts].join("."));
        key(MOST_PARTS).parse::<Set>().unwrap();
        for parts in [MOST_PARTS + 1, 30_000, 1_000_000] {
            let words = key(parts).parse::<Set>().unwrap_err().to_string();
            assert!(words.contains(&format!("{parts} parts")), "{words}");
        }
    }

    #[test]
    fn what_has_no_keys_is_named() {
        for text in ["populations = []", ""] {
            let list = applied(text, &["populations.share=2"]).unwrap_err();
            let list = list.to_string();
            assert!(list.contains("`populations` is a list"), "{list}");
        }
        let value = applied("audience = \"sender\"", &["audience.x=2"]).unwrap_err();
        let value = value.to_string();
        assert!(value.contains("`audience` is a value"), "{value}");
    }
}
