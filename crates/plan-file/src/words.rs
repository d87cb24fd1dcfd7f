//! What is wrong with a plan, in one line: the file, the line, the key, and the nearest one.

use crate::error::{FilePlace, PlanFileError};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Error};

/// Names that are less alike than this were not meant for one another (as of `shootout`'s manifests).
const ALIKE: f64 = 0.75;
/// Characters of a file that are shown of a key or of a message.
const SHOWN: usize = 200;

/// True when a key is missing, which a later layer may bring.
pub(super) fn is_about_what_is_missing(error: &Error) -> bool {
    error.message().starts_with("missing field")
}

/// What is wrong with a file.
pub(super) fn of_file(name: &str, text: &str, error: &Error) -> PlanFileError {
    let span = error.span();
    let path = span.as_ref().map(|span| path_at(text, span));
    PlanFileError::Wrong {
        place: FilePlace {
            name: name.to_owned(),
            line: span.map(|span| line_at(text, span.start)),
        },
        problem: told(error, &path.unwrap_or_default()),
    }
}

/// What is wrong with a `--set` of this place.
pub(super) fn of_set(set: String, place: &[String], error: &Error) -> PlanFileError {
    PlanFileError::Set {
        set,
        problem: told(error, place),
    }
}

/// What is wrong with something that stands nowhere.
pub(super) fn plain(error: &Error) -> String {
    told(error, &[])
}

/// The line of a key in a file, from 1.
pub(super) fn line_of(text: &str, key: &str) -> Option<usize> {
    let document = DeTable::parse(text).ok()?;
    let mut table = document.get_ref();
    let mut start = None;
    for part in key.split('.') {
        let (name, value) = table.iter().find(|(name, _)| name.get_ref() == part)?;
        start = Some(name.span().start);
        match value.get_ref() {
            DeValue::Table(next) => table = next,
            _ => break,
        }
    }
    start.map(|start| line_at(text, start))
}

fn line_at(text: &str, offset: usize) -> usize {
    text.bytes()
        .take(offset)
        .filter(|byte| *byte == b'\n')
        .count()
        + 1
}

/// The keys down to the one at a place of a text.
fn path_at(text: &str, span: &Range<usize>) -> Vec<String> {
    let (document, _) = DeTable::parse_recoverable(text);
    let mut path = Vec::new();
    within(document.get_ref(), span, &mut path);
    path
}

fn within(table: &DeTable<'_>, span: &Range<usize>, path: &mut Vec<String>) -> bool {
    for (name, value) in table {
        path.push(name.get_ref().to_string());
        if within_value(value, span, path) || covers(&name.span(), span) {
            return true;
        }
        path.pop();
    }
    false
}

fn within_value(value: &Spanned<DeValue<'_>>, span: &Range<usize>, path: &mut Vec<String>) -> bool {
    match value.get_ref() {
        DeValue::Table(table) => within(table, span, path) || value.span() == *span,
        DeValue::Array(array) => {
            let mut values = array.iter();
            values.any(|value| within_value(value, span, path)) || covers(&value.span(), span)
        }
        _ => covers(&value.span(), span),
    }
}

fn covers(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.start < outer.end
}

/// Keys whose values are shown: no other, and none that is mistyped.
const PUBLIC: [&str; 20] = [
    "audience",
    "clients",
    "connection.at_once",
    "connection.compression",
    "connection.timeout",
    "connection.tls",
    "generator",
    "limits",
    "load",
    "message.dialect",
    "message.padding",
    "message.sizes",
    "message.lines",
    "name",
    "populations",
    "reason",
    "target.local_addrs",
    "target.resolve",
    "target.verify_certificate",
    "warm_up",
];

/// True of a key whose values are no secret, so that messages have them.
pub(super) fn is_public(path: &[String]) -> bool {
    let of = |key: &&str| {
        let parts = key.split('.').count();
        path.len() >= parts && path[..parts].join(".") == **key
    };
    PUBLIC.iter().any(of)
}

/// True of a key whose values are secret, or may be, so that no message has them.
pub(super) fn is_secret(path: &[String]) -> bool {
    let part = |at: usize| path.get(at).map(String::as_str).unwrap_or_default();
    match (part(0), part(1)) {
        ("connection", "headers" | "cookies" | "query" | "subprotocols" | "origin") => true,
        ("target", "proxy" | "url") | ("message", "definition") => true,
        (part, "") => ["connection", "target", "message"].contains(&part),
        _ => false,
    }
}

/// The message with the whole key in the place of its last part, and the nearest one for a typo.
fn told(error: &Error, path: &[String]) -> String {
    let message = error.message().trim().replace('\n', ": ");
    let key = shown(&path.join("."));
    let mut quoted = message.split('`').skip(1).step_by(2);
    if let Some(rest) = message.strip_prefix("missing field ") {
        let name = rest.trim_matches('`');
        return format!("the key `{}` is missing", joined(path, name));
    }
    if message.starts_with("unknown field ") || message.starts_with("unknown variant ") {
        let word = quoted.next().unwrap_or_default();
        let known: Vec<&str> = quoted.collect();
        return match path.iter().position(|part| part == word) {
            Some(at) => unknown("key", &path[..at], word, &known),
            None if message.starts_with("unknown field ") => unknown("key", path, word, &known),
            None => format!("`{key}`: {}", unknown("value", &[], word, &known)),
        };
    }
    if message.contains("more than 1 element") || message.contains("wanted exactly 1 element") {
        return format!("`{key}` has several kinds, or none: keep one");
    }
    let message = match is_secret(path) && message.starts_with("invalid type") {
        true => "has a value of another type: see docs/plan.md".to_owned(),
        false => shown(&message),
    };
    match key.as_str() {
        "" => message,
        key => format!("`{key}`: {message}"),
    }
}

fn unknown(what: &str, parents: &[String], word: &str, known: &[&str]) -> String {
    let name = joined(parents, word);
    let near = known
        .iter()
        .map(|known| (strsim::jaro_winkler(word, known), *known))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match near {
        Some((score, near)) if score > ALIKE => {
            let near = joined(parents, near);
            format!("unknown {what} `{name}`; did you mean `{near}`?")
        }
        _ => format!("unknown {what} `{name}`; known: {}", known.join(", ")),
    }
}

fn joined(parents: &[String], name: &str) -> String {
    let parts = parents.iter().map(String::as_str).chain([name]);
    shown(&parts.collect::<Vec<_>>().join("."))
}

/// Of words of the file, as much as fits a line, and nothing that steers a terminal: keys that are
/// quoted, or that are none, may have any character.
fn shown(words: &str) -> String {
    let mut out = String::new();
    for c in words.chars().take(SHOWN) {
        match c.is_control() {
            true => out.extend(c.escape_default()),
            false => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Plan;

    fn words(text: &str) -> String {
        let error = toml::from_str::<Plan>(text).expect_err(text);
        of_file("p.toml", text, &error).to_string()
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line_and_key() {
        for (text, expected) in [
            (
                "name = \"x\"\n\n[load.open]\nrate = 1.0\nrat = 2\n",
                "p.toml, line 5: unknown key `load.open.rat`; did you mean `load.open.rate`?",
            ),
            (
                "[lod]\n",
                "p.toml, line 1: unknown key `lod`; did you mean `load`?",
            ),
            (
                "[load.opn]\nrate = 1.0\n",
                "p.toml, line 1: unknown key `load.opn`; did you mean `load.open`?",
            ),
            (
                "[message]\ndialect = \"txt\"\n",
                "p.toml, line 2: `message.dialect`: unknown value `txt`; did you mean `text`?",
            ),
            (
                "[message]\n\nzzz = 1\n",
                "p.toml, line 3: unknown key `message.zzz`; known: dialect, padding, sizes, lines, definition, mqtt",
            ),
            (
                "[[populations]]\nshares = 1\n",
                "p.toml, line 2: unknown key `populations.shares`; did you mean `populations.share`?",
            ),
            (
                "[limits]\ntime = 5\n",
                "p.toml, line 2: `limits.time`: invalid type: integer `5`, expected a time like \
                 \"250ms\" or \"1m 30s\"",
            ),
            (
                "[load.open]\narrivals = \"poisson\"\n",
                "p.toml, line 1: the key `load.open.rate` is missing",
            ),
        ] {
            assert_eq!(words(text), expected);
        }
    }

    #[test]
    fn broken_toml_and_two_kinds_are_told_in_one_line() {
        for text in [
            "name = \n",
            "[load\n",
            "a = 1\na = 2\n",
            "[load.open]\nrate = 1.0\n[load.closed]\nsamples = 1\n",
            "[clients]\n",
            "seed = 99999999999999999999\n",
        ] {
            let words = words(text);
            assert!(words.starts_with("p.toml, line "), "{words}");
            assert!(!words.contains('\n'), "{words}");
        }
    }

    #[test]
    fn keys_are_shown_without_control_characters_and_not_at_any_length() {
        let long = "x".repeat(5_000);
        for text in [
            "[load.open]\n\u{f}rate = 1\n",
            "[load.open]\n\"\\u001b[2J\" = 1\n",
            "[message]\ndialect = \"\\u0007\"\n",
            "[message.\"\\u0007\"]\ndialect = \"text\"\n",
            "[\"\\u0007\".x]\n",
            &format!("[message]\n{long} = 1\n"),
            &format!("[message.{long}]\ndialect = \"text\"\n"),
            &format!("[message]\ndialect = \"{long}\"\n"),
        ] {
            let words = words(text);
            assert!(!words.contains(char::is_control), "{words:?}");
            assert!(words.len() < 1_000, "{words}");
        }
    }

    #[test]
    fn keys_are_found_again() {
        let text = "name = \"x\"\n[load.open]\nrate = 1\nramp = { to = 2 }\n";
        assert_eq!(line_of(text, "load.open.rate"), Some(3));
        assert_eq!(line_of(text, "load.open.ramp.to"), Some(4));
        assert_eq!(line_of(text, "load.open.duration"), None);
    }
}
